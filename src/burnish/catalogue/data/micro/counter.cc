/* InnoDB's counters: one of them, incremented by several threads at once. */
#include "univ.i"
#include "my_atomic_wrapper.h"
#include "tpool.h"
#include "ut0counter.h"
#include "micro.h"

static ib_counter_t<ulint> counter;

void micro_prepare(void) {}

uint64_t micro_check(void)
{
  const ulint before= counter;
  for (ulint number= 0; number < 1000; number++)
    counter.inc();
  counter.add(7);
  counter.add(3, 5);
  return ulint{counter} - before;
}

uint64_t micro_run(uint64_t calls, unsigned)
{
  for (uint64_t left= calls; left--; )
    counter.inc();
  return calls;
}
