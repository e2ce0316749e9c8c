/* The harness of a microbenchmark: one side of it. Started with a number of threads, it reads commands from standard
   input, one a line, and answers each with a line:

     check         check DIGEST
     run CALLS     run WALL_NS CPU_NS VALUE    (CALLS in each thread)

   and ends at the end of its input. CPU time is that of all threads together: on a host with other work on it, it is
   what the function costs, where wall time is what the scheduler made of it. */
#define _GNU_SOURCE
#include "micro.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_THREADS 1024

static unsigned threads= 1;
static uint64_t calls;
static uint64_t values[MOST_THREADS];
static pthread_barrier_t begin, end;

void micro_fill(void *to, uint64_t bytes)
{
  unsigned char *byte= to;
  uint64_t state= 0x853c49e6748fea9bULL;
  while (bytes--)
  {
    state= state * 6364136223846793005ULL + 1442695040888963407ULL;
    *byte++= (unsigned char) (state >> 56);
  }
}

static uint64_t now(clockid_t clock)
{
  struct timespec time;
  clock_gettime(clock, &time);
  return (uint64_t) time.tv_sec * 1000000000ULL + (uint64_t) time.tv_nsec;
}

static void *work(void *argument)
{
  const unsigned number= (unsigned) (uintptr_t) argument;
  for (;;)
  {
    pthread_barrier_wait(&begin);
    values[number]= micro_run(calls, number);
    pthread_barrier_wait(&end);
  }
  return NULL;
}

static void run(void)
{
  const uint64_t wall= now(CLOCK_MONOTONIC), cpu= now(CLOCK_PROCESS_CPUTIME_ID);
  uint64_t sum= 0;
  if (threads > 1)
    pthread_barrier_wait(&begin);
  values[0]= micro_run(calls, 0);
  if (threads > 1)
    pthread_barrier_wait(&end);
  const uint64_t spent= now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  const uint64_t passed= now(CLOCK_MONOTONIC) - wall;
  for (unsigned number= 0; number < threads; number++)
    sum+= values[number];
  printf("run %" PRIu64 " %" PRIu64 " %016" PRIx64 "\n", passed, spent, sum);
}

int main(int argc, char **argv)
{
  char line[64];
  if (argc > 1)
    threads= (unsigned) strtoul(argv[1], NULL, 10);
  if (threads < 1 || threads > MOST_THREADS)
  {
    fprintf(stderr, "from 1 to %d threads\n", MOST_THREADS);
    return 2;
  }
  micro_prepare();
  pthread_barrier_init(&begin, NULL, threads);
  pthread_barrier_init(&end, NULL, threads);
  for (unsigned number= 1; number < threads; number++)
  {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, (void *) (uintptr_t) number))
    {
      perror("pthread_create");
      return 1;
    }
  }
  while (fgets(line, sizeof line, stdin))
  {
    if (!strncmp(line, "check", 5))
      printf("check %016" PRIx64 "\n", micro_check());
    else if (sscanf(line, "run %" SCNu64, &calls) == 1)
      run();
    else
      printf("unknown command: %s", line);
    fflush(stdout);
  }
  return 0;
}
