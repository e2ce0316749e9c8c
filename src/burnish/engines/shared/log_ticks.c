/*
 * Preloaded into a load program that can log each transaction but tells its progress too rarely to cut a turn: the
 * log's lines are counted here instead of written. What fopen gives the program for a path with BURNISH_LOG in it is no
 * file. Field BURNISH_LOG_FIELD of a line (from 1, blanks between them) has the transaction's microseconds; one with
 * another word there failed, but for those that were `skipped`. A thread writes a tick at each multiple of
 * BURNISH_TICK_S.
 *
 * A transaction that took longer than the program has been going on for since it was last stopped (SIGSTOP, for the
 * other side's turn) was under way meanwhile. That wait is none of the server's: its latency is left out, and a tick
 * has the share of those.
 *
 * The server may be many processes. Its CPU time is that of the first one (BURNISH_SERVER_PID) and of each child that
 * lives, by their own clocks (nanoseconds; a child that ended keeps its clock until its parent has waited for it), and
 * of those that are gone the larger of two: what was last read of their clocks, and what the kernel has added to the
 * parent's "children" (exact, but shown in steps of 10 ms for user and system each). Neither is ever too large, so that
 * no child's time is lost but for 20 ms in all, however short it lived and however many there were; and the sum never
 * falls.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { CHILDREN = 4096, STEPS = 32, BUCKETS = 40 * STEPS, LINE = 256 };

static atomic_long done, failed, counts[BUCKETS]; /* latencies: STEPS buckets for each doubling, from 1 us */
static struct child {
	pid_t pid;
	double last;
} children[CHILDREN];
static int living;
static double ended;
static pid_t parent;
static int log_field;
static char newest[32]; /* the last process that the system has started, as /proc/loadavg tells it */

static double seconds(clockid_t clock)
{
	struct timespec now;
	return clock_gettime(clock, &now) ? -1 : (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The clock of another process; -1 when there is none. */
static double clock_of(pid_t pid)
{
	return seconds((clockid_t)((~(unsigned)pid) << 3 | 2));
}

static int read_file(const char *path, char *text, size_t size)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = file < 0 ? -1 : read(file, text, size - 1);
	if (file >= 0)
		close(file);
	text[length > 0 ? length : 0] = 0;
	return length > 0;
}

/* Field `number` of /proc/PID/stat, the state being the first; -1 when the process is gone. */
static long stat_field(const char *pid, int number, int sum)
{
	char path[64], text[1024], *at, *rest;
	long total = 0;
	snprintf(path, sizeof path, "/proc/%s/stat", pid);
	if (!read_file(path, text, sizeof text) || !(at = strrchr(text, ')')))
		return -1;
	at = strtok_r(at + 1, " ", &rest);
	for (int field = 1; at && field < number + sum; field++, at = strtok_r(NULL, " ", &rest))
		if (field >= number)
			total += atol(at);
	return total;
}

/* CPU time of children that the parent has waited for. */
static double waited(void)
{
	char pid[16];
	snprintf(pid, sizeof pid, "%d", (int)parent);
	long ticks = stat_field(pid, 14, 2); /* cutime and cstime */
	return ticks < 0 ? 0 : (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

/* Finds new children, if any process has been started since the last time. */
static void look(void)
{
	char text[128], *last;
	if (!read_file("/proc/loadavg", text, sizeof text) || !(last = strrchr(text, ' ')) || !strcmp(last, newest))
		return;
	snprintf(newest, sizeof newest, "%.31s", last);
	DIR *folder = opendir("/proc");
	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		pid_t pid = isdigit((unsigned char)*entry->d_name) ? (pid_t)atol(entry->d_name) : 0;
		int known = pid == 0 || living == CHILDREN;
		for (int at = 0; at < living && !known; at++)
			known = children[at].pid == pid;
		if (!known && stat_field(entry->d_name, 2, 1) == parent)
			children[living++] = (struct child){pid, 0};
	}
	if (folder)
		closedir(folder);
}

/* CPU seconds of the whole server so far; -1 when it is gone. */
static double server_cpu(void)
{
	static double earlier; /* as of the last tick: whose time is in it has no clock any more */
	double now = waited(), total = clock_of(parent);
	if (total < 0)
		return -1;
	look();
	for (int at = 0; at < living;) {
		double clock = clock_of(children[at].pid);
		if (clock >= children[at].last) {
			total += children[at++].last = clock;
		} else {
			ended += children[at].last;
			children[at] = children[--living];
		}
	}
	ended = fmax(ended, earlier);
	earlier = now;
	return total + ended;
}

static int bucket_of(double microseconds)
{
	double bucket = STEPS * log2(fmax(1, microseconds));
	return bucket < BUCKETS ? (int)bucket : BUCKETS - 1;
}

/* Seconds in the middle of a bucket, on the logarithmic scale. */
static double middle_of(int bucket)
{
	return exp2((bucket + 0.5) / STEPS) * 1e-6;
}

static double percentile(const long *taken, long all, double share)
{
	long below = 0;
	for (int at = 0; at < BUCKETS; at++)
		if ((below += taken[at]) >= share * (double)all && below > 0)
			return middle_of(at);
	return 0;
}

/* Buckets that are not empty, so that the reader can put those of several ticks together. */
static void print_times(FILE *file, const long *taken)
{
	const char *between = "";
	fprintf(file, "\"times\": {\"width\": %.9f, \"counts\": [", log(2) / STEPS);
	for (int at = 0; at < BUCKETS; at++)
		if (taken[at] > 0) {
			fprintf(file, "%s[%.9f, %ld]", between, middle_of(at), taken[at]);
			between = ", ";
		}
	fprintf(file, "]}, ");
}

static void *tick(void *unused)
{
	double every = atof(getenv("BURNISH_TICK_S")), resumed = 0;
	FILE *file = fdopen(open(getenv("BURNISH_TICKS"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600), "a");
	for (;;) {
		double next = (floor(seconds(CLOCK_MONOTONIC) / every) + 1) * every;
		struct timespec until = {(time_t)next, (long)((next - floor(next)) * 1e9)};
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL)) {
		}
		char cpu[32] = "null";
		double at = seconds(CLOCK_MONOTONIC), server = server_cpu();
		long finished = atomic_load(&done), taken[BUCKETS], all = 0, left_out = 0;
		if (at - next > every)
			resumed = at;
		int longest = bucket_of((at - resumed) * 1e6);
		for (int bucket = 0; bucket < BUCKETS; bucket++) {
			taken[bucket] = atomic_exchange(&counts[bucket], 0);
			if (bucket <= longest) {
				all += taken[bucket];
			} else {
				left_out += taken[bucket];
				taken[bucket] = 0;
			}
		}
		if (server >= 0)
			snprintf(cpu, sizeof cpu, "%.9f", server);
		fprintf(file, "{\"at\": %.9f, \"done\": %ld, \"errors\": %ld, \"server_cpu\": %s, \"client_cpu\": %.9f, ", at,
			finished, atomic_load(&failed), cpu, seconds(CLOCK_PROCESS_CPUTIME_ID));
		if (all > 0) {
			print_times(file, taken);
			fprintf(file,
				"\"latency\": {\"p50\": %.6f, \"p95\": %.6f, \"p99\": %.6f, \"max\": %.6f, \"left_out\": %.6f}}\n",
				percentile(taken, all, 0.5), percentile(taken, all, 0.95), percentile(taken, all, 0.99),
				percentile(taken, all, 1), (double)left_out / (double)(all + left_out));
		} else {
			fprintf(file, "\"latency\": {}}\n");
		}
		fflush(file);
	}
	return unused;
}

static void count(char *line)
{
	char *rest, *word = strtok_r(line, " ", &rest);
	for (int field = 1; word && field < log_field; field++)
		word = strtok_r(NULL, " ", &rest);
	if (!word)
		return;
	if (isdigit((unsigned char)*word)) {
		atomic_fetch_add(&done, 1);
		atomic_fetch_add(&counts[bucket_of(atof(word))], 1);
	} else if (strcmp(word, "skipped"))
		atomic_fetch_add(&failed, 1);
}

struct partial {
	char text[LINE];
	size_t length;
};

static ssize_t take(void *cookie, const char *text, size_t size)
{
	struct partial *line = cookie;
	for (size_t at = 0; at < size; at++) {
		if (text[at] != '\n') {
			if (line->length < LINE - 1)
				line->text[line->length++] = text[at];
			continue;
		}
		line->text[line->length] = 0;
		count(line->text);
		line->length = 0;
	}
	return (ssize_t)size;
}

static void begin(void)
{
	sigset_t all, before;
	pthread_t thread;
	parent = (pid_t)atol(getenv("BURNISH_SERVER_PID"));
	log_field = atoi(getenv("BURNISH_LOG_FIELD"));
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before); /* the program's signals are for its own threads */
	pthread_create(&thread, NULL, tick, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

FILE *fopen(const char *path, const char *mode)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	FILE *(*next)(const char *, const char *) = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");
	const char *log = getenv("BURNISH_LOG");
	if (!log || !strstr(path, log))
		return next(path, mode);
	pthread_once(&once, begin);
	FILE *file = fopencookie(calloc(1, sizeof(struct partial)), "w", (cookie_io_functions_t){.write = take});
	if (file)
		setvbuf(file, NULL, _IOLBF, 1024);
	return file;
}

FILE *fopen64(const char *path, const char *mode)
{
	return fopen(path, mode);
}
