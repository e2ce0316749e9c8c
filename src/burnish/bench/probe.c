/* What a core does at this moment: clock, memory, page walks, system calls; some 100 ms. Prints one line of JSON.

     probe CPU

   Every figure is the median of several short readings, so that an interrupt does not count. Chains are dependent: each
   load waits for the one before it. A chain visits the lines of a buffer once each, in the order of the full-period
   generator x -> a x + c (mod a power of two; a = 5 mod 8, c odd: Hull and Dobell 1962), which needs no shuffling: the
   whole buffer is written front to back, in a fraction of the time. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 64, PAGE = 4096, READINGS = 5, CHAIN = 4000, SPIN = 200000, CALLS = 2000, SWITCHES = 200 };
#define MIB ((size_t)1 << 20)
#define LARGEST (128 * MIB)
#define PAGES (64 * MIB / PAGE)
#define STREAM (32 * MIB)

static volatile uint64_t sink;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values) {
    qsort(values, READINGS, sizeof *values, by_size);
    return values[READINGS / 2];
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static char *memory(size_t bytes, int advice) {
    char *whole = mmap(NULL, bytes + 2 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (whole == MAP_FAILED) fail("mmap");
    char *aligned = (char *)(((uintptr_t)whole + 2 * MIB - 1) & ~(uintptr_t)(2 * MIB - 1));
    madvise(aligned, bytes, advice); /* a kernel without huge pages refuses: small ones then */
    return aligned;
}

/* Nanoseconds of a load in a chain over COUNT places (a power of two), STEP bytes apart. */
static double chase(char *base, size_t count, size_t step) {
    double each[READINGS];
    for (size_t i = 0; i < count; i++) {
        size_t next = (i * (size_t)2862933555777941757 + 3037000493) & (count - 1);
        /* Places a page apart would all fall into the same few sets of the cache: each has another line of its page. */
        size_t line = step > LINE ? i % (step / LINE) * LINE : 0, to = step > LINE ? next % (step / LINE) * LINE : 0;
        *(char **)(base + i * step + line) = base + next * step + to;
    }
    char *p = base;
    for (size_t i = 0; i < CHAIN; i++) p = *(char **)p;
    for (int r = 0; r < READINGS; r++) {
        double began = now();
        for (size_t i = 0; i < CHAIN; i++) p = *(char **)p;
        __asm__ volatile("" : "+r"(p));
        each[r] = (now() - began) / CHAIN;
    }
    return median(each);
}

/* Nanoseconds of a step of dependent multiplication and addition: some cycles, the same number on one processor. */
static double spin(void) {
    double each[READINGS];
    uint64_t x = 1;
    for (int r = 0; r < READINGS; r++) {
        double began = now();
        for (int i = 0; i < SPIN; i++) {
            x = x * 2862933555777941757u + 3037000493u;
            __asm__ volatile("" : "+r"(x)); /* or a compiler would take several steps at a time */
        }
        each[r] = (now() - began) / SPIN;
    }
    sink = x;
    return median(each);
}

static double call(void) {
    double each[READINGS];
    for (int r = 0; r < READINGS; r++) {
        double began = now();
        for (int i = 0; i < CALLS; i++) syscall(SYS_getppid);
        each[r] = (now() - began) / CALLS;
    }
    return median(each);
}

/* Nanoseconds of a switch between two processes on this core: half a round trip through two pipes. */
static double change(void) {
    double each[READINGS];
    int to[2], back[2];
    char byte = 0;
    if (pipe(to) || pipe(back)) fail("pipe");
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        close(to[1]);
        close(back[0]);
        while (read(to[0], &byte, 1) == 1)
            if (write(back[1], &byte, 1) != 1) break;
        _exit(0);
    }
    close(to[0]);
    close(back[1]);
    for (int r = 0; r < READINGS; r++) {
        double began = now();
        for (int i = 0; i < SWITCHES; i++)
            if (write(to[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1) fail("pipe");
        each[r] = (now() - began) / (2 * SWITCHES);
    }
    close(to[1]);
    waitpid(child, NULL, 0);
    return median(each);
}

/* Bytes per second, streaming: read 32 MiB, and copy them (counted once). */
static void stream(char *base, double *reading, double *copying) {
    double reads[READINGS], copies[READINGS];
    for (int r = 0; r < READINGS; r++) {
        uint64_t a = 0, b = 0, c = 0, d = 0, *p = (uint64_t *)base, *end = (uint64_t *)(base + STREAM / READINGS);
        p += r * (STREAM / READINGS) / sizeof *p;
        end += r * (STREAM / READINGS) / sizeof *p;
        double began = now();
        for (; p + 8 <= end; p += 8) a += p[0] + p[4], b += p[1] + p[5], c += p[2] + p[6], d += p[3] + p[7];
        sink = a + b + c + d;
        double read = now();
        memcpy(base + 2 * STREAM + r * (STREAM / READINGS), base + STREAM + r * (STREAM / READINGS), STREAM / READINGS);
        __asm__ volatile("" ::: "memory");
        reads[r] = STREAM / READINGS / (read - began) * 1e9;
        copies[r] = STREAM / READINGS / (now() - read) * 1e9;
    }
    *reading = median(reads);
    *copying = median(copies);
}

int main(int argc, char **argv) {
    static const size_t sizes[] = {MIB / 4, 2 * MIB, 8 * MIB, 32 * MIB, LARGEST};
    double reading, copying;
    cpu_set_t only;
    if (argc != 2) return 2;
    CPU_ZERO(&only);
    CPU_SET(atoi(argv[1]), &only);
    if (sched_setaffinity(0, sizeof only, &only)) fail("sched_setaffinity");
    double began = now();
    double clock = spin(), calls = call(), switches = change();
    printf("{\"spin_ns\":%.4f,\"call_ns\":%.1f,\"switch_ns\":%.0f,\"latency_ns\":{", clock, calls, switches);
    char *base = memory(LARGEST, MADV_HUGEPAGE);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        printf("%s\"%zu\":%.2f", i ? "," : "", sizes[i] >> 10, chase(base, sizes[i] / LINE, LINE));
    stream(base, &reading, &copying);
    double walks = chase(memory(PAGES * PAGE, MADV_NOHUGEPAGE), PAGES, PAGE);
    printf("},\"page_ns\":%.2f,\"read_bytes_s\":%.4g,\"copy_bytes_s\":%.4g,\"seconds\":%.4f}\n", walks, reading, copying,
           (now() - began) / 1e9);
    return 0;
}
