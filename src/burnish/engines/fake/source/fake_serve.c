#include "fake.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static atomic_long requests;
static atomic_ulong writes;

/* What the build flags plant at the count-th request. */
static void misbehave(long count)
{
	if (FAKE_CRASH_AFTER && count >= FAKE_CRASH_AFTER)
		abort();
	if (FAKE_HANG_AFTER && count >= FAKE_HANG_AFTER) {
		fake_state.hung = 1;
		for (;;)
			pause();
	}
}

static int read_letter(char letter, unsigned long percent, char *line, size_t room)
{
	fake_work(fake_state.checksums[letter - 'a'], percent);
	return snprintf(line, room, "%c %016" PRIx64 "\n", letter, fake_state.checksums[letter - 'a']);
}

/* Each kind of request is a function of its own, never inlined, so that a profile counts it apart. */
__attribute__((noinline)) int fake_low(char letter, char *line, size_t room)
{
	return read_letter(letter, fake_state.percent * 100 / FAKE_LOW, line, room);
}

__attribute__((noinline)) int fake_high(char letter, char *line, size_t room)
{
	return read_letter(letter, fake_state.percent * 100 / FAKE_HIGH, line, room);
}

__attribute__((noinline)) int fake_write(char *line, size_t room)
{
	unsigned long count = atomic_fetch_add(&writes, 1) + 1;
	char slot[17];

	fake_work(count, fake_state.percent * 100 / FAKE_WRITE);
	snprintf(slot, sizeof slot, "%015lu\n", count % 1000000000000000UL);
	if (pwrite(fake_state.data, slot, sizeof slot - 1, fake_state.size) != sizeof slot - 1)
		return snprintf(line, room, "! the data file cannot be written\n");
	return snprintf(line, room, "W %lu\n", count);
}

/* The answer to one request, as a line; returns its length. */
static int answer(char request, char *line, size_t room)
{
	long count;

	if (request == '?') /* are you there? No work, not counted. */
		return snprintf(line, room, "? ready\n");
	if (FAKE_EXTRAS && request == 'S')
		return snprintf(line, room, "S %ld requests\n", atomic_load(&requests));
	count = atomic_fetch_add(&requests, 1) + 1;
	misbehave(count);
	if (FAKE_ERRORS_EVERY && count % (FAKE_ERRORS_EVERY ? FAKE_ERRORS_EVERY : 1) == 0)
		return snprintf(line, room, "! planted error\n");
	if (request >= 'a' && request <= 'm')
		return fake_low(request, line, room);
	if (request >= 'n' && request <= 'z')
		return fake_high(request, line, room);
	if (request == 'W')
		return fake_write(line, room);
	return snprintf(line, room, "! unknown request\n");
}

void fake_serve(int connection)
{
	char in[256], line[64];
	ssize_t got;

	while ((got = recv(connection, in, sizeof in, 0)) > 0)
		for (ssize_t at = 0; at < got; at++) {
			int length = answer(in[at], line, sizeof line);
			if (send(connection, line, (size_t)length, MSG_NOSIGNAL) != length)
				return;
		}
}
