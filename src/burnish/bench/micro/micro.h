/* What a driver and the harness of microbenchmarks have in common. A driver is compiled with the tree's own command
   line and headers, and linked with the tree's own objects; the harness is the same for both sides. */
#ifndef BURNISH_MICRO_H
#define BURNISH_MICRO_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A driver defines these three. */

/* Makes the inputs; called once, before anything else. */
void micro_prepare(void);

/* A digest of the function's results over all kinds of inputs; must not depend on time, place or architecture. */
uint64_t micro_check(void);

/* Calls the function so often, in one of the threads that do so at once (the first is 0). What it returns is added
   up over the threads and must depend on nothing but these two numbers. */
uint64_t micro_run(uint64_t calls, unsigned thread);

/* The harness offers these. */

/* Fills memory with bytes that are the same everywhere. */
void micro_fill(void *to, uint64_t bytes);

/* A digest with one more value in it. */
static inline uint64_t micro_mix(uint64_t digest, uint64_t value)
{
  digest^= value + 0x9e3779b97f4a7c15ULL + (digest << 6) + (digest >> 2);
  return digest * 0xff51afd7ed558ccdULL;
}

#ifdef __cplusplus
}
#endif

#endif
