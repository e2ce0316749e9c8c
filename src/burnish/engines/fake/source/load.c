/* load SOCKET SERVER_PID THREADS SEED WRITE_EVERY TIMEOUT_S INTERVAL_S [LETTERS [RATE]]
 *
 * Loads the fake server over THREADS connections until SIGTERM. Each INTERVAL_S one JSON line with counters
 * since the start (done, errors, CPU seconds of server and load) and latencies over the interval, but for the share of
 * requests that were under way while this process was stopped (SIGSTOP).
 * Every WRITE_EVERY-th request of a connection is a write; 0: none. The others are of LETTERS, all where not said or
 * empty. No answer for TIMEOUT_S ends it with exit code 1; 0: it waits for ever. With a RATE, all connections together
 * ask so often in a second, in turn; a latency then counts from when a request was due. */
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define ROOM 65536

static struct sockaddr_un address = { .sun_family = AF_UNIX };
static uint64_t seed;
static unsigned long write_every;
static const char *letters = "abcdefghijklmnopqrstuvwxyz";
static double timeout_s;
static double rate, first_due;
static long connections;
static atomic_ulong done, errors;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Whoever gives up holds it to the end, so that the others' last words don't get into its own. */
static pthread_mutex_t last_words = PTHREAD_MUTEX_INITIALIZER;
static double latencies[ROOM];
static size_t measured;

static double read_clock(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now) < 0)
		err(1, "the server's CPU clock");
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int connect_now(void)
{
	struct timeval limit = { (time_t)timeout_s, (suseconds_t)(1e6 * (timeout_s - (double)(time_t)timeout_s)) };
	int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connection < 0 || connect(connection, (struct sockaddr *)&address, sizeof address) < 0)
		err(1, "%s", address.sun_path);
	setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	return connection;
}

#define GIVE_UP(...) (pthread_mutex_lock(&last_words), errx(1, __VA_ARGS__))

/* One request and its answer; whether the server answered what was asked. */
static int ask(int connection, char request)
{
	char line[64];
	size_t have = 0;

	if (send(connection, &request, 1, MSG_NOSIGNAL) != 1)
		GIVE_UP("the server closed the connection");
	do {
		ssize_t got;
		do
			got = recv(connection, line + have, sizeof line - have, 0);
		while (got < 0 && errno == EINTR); /* it was stopped for a while */
		if (got < 0 && errno == EAGAIN)
			GIVE_UP("no answer for %g s", timeout_s);
		if (got <= 0) /* reset where it had not read all requests */
			GIVE_UP("the server closed the connection");
		have += (size_t)got;
	} while (line[have - 1] != '\n' && have < sizeof line);
	return line[0] == request;
}

/* Waits until a request is due. */
static void wait_until(double due)
{
	struct timespec at = { (time_t)due, 0 };

	at.tv_nsec = (long)(1e9 * (due - (double)at.tv_sec));
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

static void *drive(void *argument)
{
	uint64_t number = (uint64_t)(uintptr_t)argument;
	uint64_t random = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ (number << 32);
	int connection = connect_now();

	for (unsigned long count = 1;; count++) {
		double began;
		int write = write_every > 0 && count % write_every == 0;

		if (rate > 0) {
			began = first_due + ((double)(count * (unsigned long)connections) + (double)number) / rate;
			wait_until(began);
		} else {
			began = read_clock(CLOCK_MONOTONIC);
		}
		random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		if (ask(connection, write ? 'W' : letters[(random >> 33) % strlen(letters)]))
			atomic_fetch_add(&done, 1);
		else
			atomic_fetch_add(&errors, 1);
		pthread_mutex_lock(&lock);
		if (measured < ROOM)
			latencies[measured++] = read_clock(CLOCK_MONOTONIC) - began;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static int ascending(const void *left, const void *right)
{
	double difference = *(const double *)left - *(const double *)right;
	return (difference > 0) - (difference < 0);
}

/* The smallest latency that `share` of all do not exceed (nearest rank). */
static double rank(const double *sorted, size_t count, double share)
{
	size_t at = (size_t)(share * (double)count);

	if (count == 0)
		return 0;
	return sorted[at < count ? at : count - 1];
}

static void report(clockid_t server, double resumed)
{
	static double sorted[ROOM];
	double at = read_clock(CLOCK_MONOTONIC), cpu = read_clock(server);
	unsigned long good = atomic_load(&done), bad = atomic_load(&errors);
	size_t all, count;

	pthread_mutex_lock(&lock);
	count = all = measured;
	memcpy(sorted, latencies, count * sizeof *sorted);
	measured = 0;
	pthread_mutex_unlock(&lock);
	qsort(sorted, count, sizeof *sorted, ascending);
	while (count > 0 && sorted[count - 1] > at - resumed) /* it was under way while this process was stopped */
		count--;
	printf("{\"at\": %.9f, \"done\": %lu, \"errors\": %lu, \"server_cpu\": %.9f, \"client_cpu\": %.9f, "
	       "\"p50\": %.9f, \"p95\": %.9f, \"p99\": %.9f, \"max\": %.9f, \"left_out\": %.6f}\n",
	       at, good, bad, cpu, read_clock(CLOCK_PROCESS_CPUTIME_ID), rank(sorted, count, 0.50),
	       rank(sorted, count, 0.95), rank(sorted, count, 0.99), count ? sorted[count - 1] : 0,
	       all ? (double)(all - count) / (double)all : 0);
	fflush(stdout);
}

int main(int count, char **words)
{
	clockid_t server;
	sigset_t ends;
	pthread_t thread;
	double interval, next, resumed = 0;

	if (count < 8 || count > 10)
		errx(2, "usage: load SOCKET SERVER_PID THREADS SEED WRITE_EVERY TIMEOUT_S INTERVAL_S [LETTERS [RATE]]");
	if (count > 8 && *words[8])
		letters = words[8];
	if (count > 9)
		rate = atof(words[9]);
	if (strlen(words[1]) >= sizeof address.sun_path)
		errx(1, "%s: too long for a socket's name", words[1]);
	strcpy(address.sun_path, words[1]);
	/* A process's CPU clock, as clock_getcpuclockid(3) makes it; in nanoseconds where /proc has ticks. */
	server = (clockid_t)(~(unsigned)atoi(words[2]) << 3 | 2);
	seed = strtoull(words[4], NULL, 10);
	write_every = strtoul(words[5], NULL, 10);
	timeout_s = atof(words[6]);
	interval = atof(words[7]);
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	pthread_sigmask(SIG_BLOCK, &ends, NULL); /* threads inherit it: only sigtimedwait below sees them */
	connections = atol(words[3]);
	first_due = read_clock(CLOCK_MONOTONIC);
	for (long number = 0; number < connections; number++)
		if (pthread_create(&thread, NULL, drive, (void *)(uintptr_t)number) != 0)
			errx(1, "cannot make a thread");
	/* On the clock that all processes share, so that two sides are read at the same instants. */
	next = interval * (double)(long)(read_clock(CLOCK_MONOTONIC) / interval);
	for (;;) {
		struct timespec pause = { 0, 0 };
		double left;

		if (read_clock(CLOCK_MONOTONIC) - next > interval)
			resumed = read_clock(CLOCK_MONOTONIC);
		report(server, resumed);
		next += interval;
		left = next - read_clock(CLOCK_MONOTONIC);
		if (left > 0) {
			pause.tv_sec = (time_t)left;
			pause.tv_nsec = (long)(1e9 * (left - (double)pause.tv_sec));
		}
		if (sigtimedwait(&ends, NULL, &pause) > 0)
			break;
	}
	report(server, resumed);
	return 0;
}
