/* Checksums of pages and of the redo log: my_crc32c() of MICRO_SIZE bytes. */
#include "micro.h"
#include <my_global.h>

extern "C" uint32 my_crc32c(uint32 crc, const void *data, size_t size);

static unsigned char data[MICRO_SIZE + 4096];

void micro_prepare(void) { micro_fill(data, sizeof data); }

uint64_t micro_check(void)
{
  uint64_t digest= 0;
  for (size_t offset= 0; offset < 16; offset++)
    for (size_t size= 0; size <= 1100; size++)
      digest= micro_mix(digest, my_crc32c(uint32(size), data + offset, size));
  for (size_t size= 1; size <= sizeof data; size*= 2)
    digest= micro_mix(digest, my_crc32c(0, data, size));
  return micro_mix(digest, my_crc32c(0, data, sizeof data));
}

uint64_t micro_run(uint64_t calls, unsigned)
{
  uint32 crc= 0;
  while (calls--)
    crc= my_crc32c(crc, data, MICRO_SIZE);
  return crc;
}
