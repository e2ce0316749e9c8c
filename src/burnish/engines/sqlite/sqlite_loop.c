/*
** The one program of the SQLite engine: SQLite and all that is run on it, in a single file with a single build
** id, so that what was tested is what is measured.
**
**   burnish-sqlite PROGRAM ARGUMENTS...       one run of speedtest1, kvtest, shell or fuzzcheck
**   burnish-sqlite loop PROGRAM ARGUMENTS...  run after run of it until SIGTERM
**   burnish-sqlite still PROGRAM ARGUMENTS... one run, with SQLite's clock standing still at noon of 2000-01-01, so
**                                             that equal builds say the same on any day
**   burnish-sqlite options                    version, source id and compile options, one a line
**
** The loop says "ready" on standard output, waits for a line on standard input, and then writes one JSON object
** a line for each finished run (a unit):
**
**   at          CLOCK_MONOTONIC at the end of the unit, seconds
**   done        units so far
**   server_cpu  CPU seconds of this process so far (its own CPU clock)
**
** All runs happen in this one process: speedtest1 resets its own state when it is called again (its WASM build
** asks for that: SQLITE_SPEEDTEST1_WASM), kvtest has none but its random numbers, which go on. So there is one
** CPU clock to read, one process to pin, and one profile, written when it ends. A run that fails ends the loop,
** with the run's last words on standard error. SIGTERM lets the current run finish, then the loop ends by
** exit().
*/
#include "sqlite3.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

int speedtest1_main(int argc, char **argv);
int kvtest_main(int argc, char **argv);
int shell_main(int argc, char **argv);
int fuzzcheck_main(int argc, char **argv);

typedef int (*Program)(int argc, char **argv);

static const struct {
  const char *name;
  Program main;
} programs[] = {
    {"speedtest1", speedtest1_main},
    {"kvtest", kvtest_main},
    {"shell", shell_main},
    {"fuzzcheck", fuzzcheck_main},
};

enum { PROGRAMS = sizeof programs / sizeof *programs, LAST_WORDS = 2000 };

static volatile sig_atomic_t asked_to_end;
static int in_unit;
static int unit_output; /* what the current run prints, in memory */

static void on_term(int number) {
  (void)number;
  asked_to_end = 1;
}

static Program program_called(const char *name) {
  for (int i = 0; i < PROGRAMS; i++) {
    if (strcmp(name, programs[i].name) == 0) return programs[i].main;
  }
  return NULL;
}

static double clock_seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Writes all of it; returns 0 when the reader is gone. */
static int tell(int file, const char *text, size_t length) {
  while (length > 0) {
    ssize_t written = write(file, text, length);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return 0;
    text += written;
    length -= (size_t)written;
  }
  return 1;
}

/* The programs end by exit() when something fails, so this is where a failed run is seen. */
static void at_exit(void) {
  char text[LAST_WORDS];
  if (!in_unit) return;
  fflush(stdout);
  off_t end = lseek(unit_output, 0, SEEK_END);
  ssize_t length = pread(unit_output, text, sizeof text, end > LAST_WORDS ? end - LAST_WORDS : 0);
  if (length > 0) tell(STDERR_FILENO, text, (size_t)length);
}

/* One run. The programs cut up their arguments, so each gets copies. */
static int run_unit(Program program, int argc, char **argv) {
  char *copies[argc + 1];
  if (ftruncate(unit_output, 0) != 0 || lseek(unit_output, 0, SEEK_SET) != 0) return 1;
  for (int i = 0; i < argc; i++) copies[i] = strdup(argv[i]);
  copies[argc] = NULL;
  in_unit = 1;
  int result = program(argc, copies);
  if (result != 0) exit(result); /* still in_unit: at_exit() tells what it said */
  in_unit = 0;
  for (int i = 0; i < argc; i++) free(copies[i]);
  return fflush(stdout);
}

static int loop(Program program, int argc, char **argv) {
  struct sigaction action = {.sa_handler = on_term};
  char line[160];
  int report = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  unit_output = memfd_create("unit output", MFD_CLOEXEC);
  if (report < 0 || unit_output < 0 || dup2(unit_output, STDOUT_FILENO) < 0) return 1;
  atexit(at_exit);
  sigaction(SIGTERM, &action, NULL);
  signal(SIGPIPE, SIG_IGN);
  if (!tell(report, "ready\n", 6) || read(STDIN_FILENO, line, sizeof line) <= 0) return 0;
  for (long done = 1; !asked_to_end; done++) {
    if (run_unit(program, argc, argv) != 0) return 1;
    int length = snprintf(line, sizeof line, "{\"at\":%.6f,\"done\":%ld,\"server_cpu\":%.9f}\n",
                          clock_seconds(CLOCK_MONOTONIC), done, clock_seconds(CLOCK_PROCESS_CPUTIME_ID));
    if (!tell(report, line, (size_t)length)) return 1;
  }
  return 0;
}

static int noon_of_2000(sqlite3_vfs *vfs, sqlite3_int64 *milliseconds) {
  (void)vfs;
  *milliseconds = 211813488000000; /* Julian day 2451545.0 */
  return SQLITE_OK;
}

/* The system's VFS objects are static, so that the change outlives the shutdown, after which the programs can
** configure SQLite as they like. */
static void stop_the_clock(void) {
  for (sqlite3_vfs *vfs = sqlite3_vfs_find(NULL); vfs != NULL; vfs = vfs->pNext) {
    vfs->xCurrentTimeInt64 = noon_of_2000;
  }
  sqlite3_shutdown();
}

static int options(void) {
  printf("%s\n%s\n", sqlite3_libversion(), sqlite3_sourceid());
  for (int i = 0; sqlite3_compileoption_get(i) != NULL; i++) printf("%s\n", sqlite3_compileoption_get(i));
  return 0;
}

int main(int argc, char **argv) {
  int looped = argc > 2 && strcmp(argv[1], "loop") == 0;
  int still = argc > 2 && strcmp(argv[1], "still") == 0;
  if (argc == 2 && strcmp(argv[1], "options") == 0) return options();
  argc -= 1 + (looped || still);
  argv += 1 + (looped || still);
  Program program = argc > 0 ? program_called(argv[0]) : NULL;
  if (program == NULL) {
    fprintf(stderr,
            "usage: burnish-sqlite [loop|still] speedtest1|kvtest|shell|fuzzcheck ARGUMENTS... | options\n");
    return 2;
  }
  if (still) stop_the_clock();
  return looped ? loop(program, argc, argv) : program(argc, argv);
}
