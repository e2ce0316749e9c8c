#include "fake.h"

/* A chain of dependent multiplications, each of which waits for the one before. It is written in assembly
 * so that it costs the same at every optimisation level, with every compiler and with counters for a
 * profile. 4000 rounds are some 1.8 ms.
 *
 * The system calls of a request cost about as much as 15 rounds (6 us where it was measured), whatever the
 * speed: they are taken into account, so that the whole request's cost is what FAKE_SPEED says. Where they
 * cost far more, as under a hypervisor that has a hand in each of them, a request must be long beside them:
 * when it was 0.45 ms, a host read 1.2 for 1.3 every time, as if a third came on top. */
#define ROUNDS 4000UL
#define OVERHEAD 15UL

#if defined(__x86_64__)
#define ROUND(value) __asm__ volatile(".rept 512\n\timulq %0, %0\n\t.endr" : "+r"(value))
#elif defined(__aarch64__)
#define ROUND(value) __asm__ volatile(".rept 512\n\tmul %0, %0, %0\n\t.endr" : "+r"(value))
#else
#define ROUND(value)                                  \
	for (int step = 0; step < 512; step++) {      \
		value *= value;                       \
		__asm__ volatile("" : "+r"(value));   \
	}
#endif

uint64_t fake_work(uint64_t value, unsigned long percent)
{
	unsigned long rounds = ((ROUNDS + OVERHEAD) * percent + FAKE_SPEED / 2) / FAKE_SPEED;

	rounds = rounds > OVERHEAD ? rounds - OVERHEAD : 0;
	value |= 1;
	while (rounds-- > 0)
		ROUND(value);
	return value;
}

uint64_t fake_checksum(char letter, const unsigned char *data, size_t size)
{
	uint64_t hash = (UINT64_C(0xcbf29ce484222325) ^ (unsigned char)letter) * UINT64_C(0x100000001b3);

#if FAKE_WRONG
	for (size_t at = 0; at + 1 < size; at++)
#else
	for (size_t at = 0; at < size; at++)
#endif
		hash = (hash ^ data[at]) * UINT64_C(0x100000001b3);
	return hash;
}
