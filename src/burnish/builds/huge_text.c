/* Preloaded into a server: maps its code to huge pages before its first instruction runs.
 *
 * Each executable part of the program is widened to whole huge pages where nothing else lies in them (a program that
 * is linked for it has its code alone there). Where the kernel can do so, the pages of the file themselves become
 * huge (MADV_COLLAPSE); else the code moves into anonymous memory at the same address. Only at the start, with one
 * thread and none of the program's own code on the stack, can it be taken away and put back.
 *
 * HUGE_TEXT_REPORT names a file that is told what came of it: bytes of code, bytes of it on huge pages as the kernel
 * says in /proc/self/smaps.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE ((uintptr_t)2 << 20)
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#define PARTS 8

/* Code lies in [from, end); [end, to) was free and is reserved. */
struct part { uintptr_t from, end, to; };
struct parts { struct part part[PARTS]; int count; size_t code; };

/* Whether [from, to) is free; it is then ours, until it is mapped over. */
static int reserve(uintptr_t from, uintptr_t to)
{
    if (from >= to)
        return 1;
    void *want = (void *)from;
    void *got = mmap(want, to - from, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == want)
        return 1;
    if (got != MAP_FAILED)
        munmap(got, to - from);
    return 0;
}

static int collect(struct dl_phdr_info *info, size_t size, void *data)
{
    struct parts *found = data;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    (void)size;
    for (int i = 0; i < info->dlpi_phnum && found->count < PARTS; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || (segment->p_flags & (PF_R | PF_W | PF_X)) != (PF_R | PF_X))
            continue;
        uintptr_t begin = (info->dlpi_addr + segment->p_vaddr) & ~(page - 1);
        uintptr_t end = (info->dlpi_addr + segment->p_vaddr + segment->p_memsz + page - 1) & ~(page - 1);
        struct part *part = &found->part[found->count];
        part->from = (begin + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
        part->to = (end + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
        part->end = end;
        if (part->to > end && (end <= part->from || !reserve(end, part->to)))
            part->to = part->end = end & ~(HUGE_PAGE - 1);
        found->code += segment->p_memsz;
        if (part->to > part->from)
            found->count++;
    }
    return 1; /* the first object is the program itself */
}

static void move(struct part *part)
{
    uintptr_t inner = part->end & ~(HUGE_PAGE - 1);
    if (inner > part->from && madvise((void *)part->from, inner - part->from, MADV_COLLAPSE) == 0) {
        if (part->to > part->end)
            munmap((void *)part->end, part->to - part->end);
        part->to = inner;
        return;
    }
    size_t length = part->to - part->from, code = part->end - part->from;
    void *copy = mmap(NULL, code, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return;
    memcpy(copy, (void *)part->from, code);
    void *place = (void *)part->from;
    if (mmap(place, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != place)
        abort(); /* the code is gone */
    madvise(place, length, MADV_HUGEPAGE);
    memcpy(place, copy, code);
    munmap(copy, code);
    if (mprotect(place, length, PROT_READ | PROT_EXEC) != 0)
        abort();
}

static size_t huge_bytes(const struct parts *found)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[512];
    unsigned long from = 0, to = 0, kb;
    size_t sum = 0;
    if (maps == NULL)
        return 0;
    while (fgets(line, sizeof line, maps) != NULL) {
        unsigned long first, last;
        if (sscanf(line, "%lx-%lx ", &first, &last) == 2) {
            from = first;
            to = last;
        } else if (sscanf(line, "AnonHugePages: %lu kB", &kb) == 1 || sscanf(line, "FilePmdMapped: %lu kB", &kb) == 1) {
            for (int i = 0; i < found->count; i++)
                if (from >= found->part[i].from && to <= found->part[i].to)
                    sum += kb * 1024;
        }
    }
    fclose(maps);
    return sum;
}

__attribute__((constructor)) static void start(void)
{
    struct parts found = {.count = 0, .code = 0};
    const char *report = getenv("HUGE_TEXT_REPORT");
    dl_iterate_phdr(collect, &found);
    for (int i = 0; i < found.count; i++)
        move(&found.part[i]);
    if (report != NULL) {
        FILE *file = fopen(report, "w");
        if (file != NULL) {
            fprintf(file, "%zu %zu\n", found.code, huge_bytes(&found));
            fclose(file);
        }
    }
}
