#include "fake.h"

/* A chain of dependent multiplications, each of which waits for the one before. It is written in assembly
 * so that it costs the same at every optimisation level, with every compiler and with counters for a
 * profile. 4000 rounds are some 0.4 ms.
 *
 * The system calls of a request cost about as much as 60 rounds (6 us where it was measured), whatever the
 * speed: they are taken into account, so that the whole request's cost is what FAKE_SPEED says. */
#define ROUNDS 4000UL
#define OVERHEAD 60UL

#if defined(__x86_64__)
#define ROUND(value) __asm__ volatile(".rept 128\n\timulq %0, %0\n\t.endr" : "+r"(value))
#elif defined(__aarch64__)
#define ROUND(value) __asm__ volatile(".rept 128\n\tmul %0, %0, %0\n\t.endr" : "+r"(value))
#else
#define ROUND(value)                                  \
	for (int step = 0; step < 128; step++) {      \
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
