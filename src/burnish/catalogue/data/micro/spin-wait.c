/* One wait in a spin loop of InnoDB's: ut_delay() with innodb_spin_wait_delay's default, 4. */
#include "micro.h"
#include <my_global.h>
#include <my_cpu.h>
#include <my_rdtsc.h>

void micro_prepare(void) { my_cpu_init(); }

uint64_t micro_check(void)
{
  ut_delay(1);
  return (uint64_t) LF_BACKOFF();
}

uint64_t micro_run(uint64_t calls, unsigned thread)
{
  uint64_t left= calls;
  while (left--)
    ut_delay(4);
  return calls + thread;
}
