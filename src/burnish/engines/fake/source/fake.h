/* The fake server: it speaks a trivial protocol and its speed is set by a compile flag, so that what
 * Burnish says about a build can be checked against the truth.
 *
 *   FAKE_SPEED=n         capacity in per cent of the default build's (130: 1.30 times as fast)
 *   FAKE_EXTRAS=0|1      whether it answers the request for statistics (a feature that may be left out)
 *   FAKE_RELEASE=n       minor version number, for builds that differ in version
 *   FAKE_LOW=n, FAKE_HIGH=n, FAKE_WRITE=n
 *                        the same for one kind of request: letters up to m, the others, writes
 *   FAKE_BROKEN          does not compile
 *   FAKE_WRONG           answers wrongly
 *   FAKE_ERRORS_EVERY=n  every n-th request is answered with an error
 *   FAKE_CRASH_AFTER=n   dies at the n-th request
 *   FAKE_HANG_AFTER=n    answers nothing from the n-th request on and does not end at SIGTERM
 */
#ifndef FAKE_H
#define FAKE_H

#include <stddef.h>
#include <stdint.h>

#if FAKE_BROKEN
#error "FAKE_BROKEN: this build is meant not to compile"
#endif
#ifndef FAKE_SPEED
#define FAKE_SPEED 100
#endif
#ifndef FAKE_LOW
#define FAKE_LOW 100
#endif
#ifndef FAKE_HIGH
#define FAKE_HIGH 100
#endif
#ifndef FAKE_WRITE
#define FAKE_WRITE 100
#endif
#ifndef FAKE_EXTRAS
#define FAKE_EXTRAS 1
#endif
#ifndef FAKE_RELEASE
#define FAKE_RELEASE 0
#endif
#ifndef FAKE_ERRORS_EVERY
#define FAKE_ERRORS_EVERY 0
#endif
#ifndef FAKE_CRASH_AFTER
#define FAKE_CRASH_AFTER 0
#endif
#ifndef FAKE_HANG_AFTER
#define FAKE_HANG_AFTER 0
#endif

struct fake_state {
	int data;                 /* the data file, open for reading and writing */
	long size;                /* its size at the start; a write goes right behind */
	unsigned long percent;    /* the setting work_percent */
	uint64_t checksums[26];   /* of the data, seeded with each letter */
	volatile int hung;        /* FAKE_HANG_AFTER was reached */
};
extern struct fake_state fake_state;

/* FNV-1a, 64 bits, of a letter and then the data (RFC 9923, section 2). */
uint64_t fake_checksum(char letter, const unsigned char *data, size_t size);

/* The work of one request: its cost in CPU time is the truth that FAKE_SPEED sets. */
uint64_t fake_work(uint64_t value, unsigned long percent);

/* Answers to one request of each kind, as a line; they return its length. */
int fake_low(char letter, char *line, size_t room);
int fake_high(char letter, char *line, size_t room);
int fake_write(char *line, size_t room);

/* Answers one connection's requests, each one byte, until the other end hangs up. */
void fake_serve(int connection);

#endif
