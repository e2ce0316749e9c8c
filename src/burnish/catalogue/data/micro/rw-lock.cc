/* InnoDB's read-write lock, taken and given back in shared mode by several threads at once: its lock word. Nobody
   writes, so nobody waits. */
#include "srw_lock.h"
#include "micro.h"

alignas(256) static srw_lock_low latch;

void micro_prepare(void) { latch.init(); }

uint64_t micro_check(void)
{
  uint64_t digest= 0;
  for (unsigned number= 0; number < 100; number++)
  {
    digest= micro_mix(digest, latch.rd_lock_try());
    digest= micro_mix(digest, latch.wr_lock_try());
    latch.rd_unlock();
    digest= micro_mix(digest, latch.wr_lock_try());
    digest= micro_mix(digest, latch.rd_lock_try());
    latch.wr_unlock();
  }
  return digest;
}

uint64_t micro_run(uint64_t calls, unsigned)
{
  for (uint64_t left= calls; left--; )
  {
    latch.rd_lock();
    latch.rd_unlock();
  }
  return calls;
}
