/* Conversion of text for the client: my_convert() of MICRO_SIZE bytes from a set like latin1 to one like utf8mb4. The
   sets are the driver's own, so that nothing but the function comes from the tree. */
#include "micro.h"
#include <my_global.h>
#include <m_ctype.h>
#include <string.h>

static char text[MICRO_SIZE + 512], result[2 * sizeof text];

static int from_latin1(CHARSET_INFO *cs __attribute__((unused)), my_wc_t *wide, const uchar *from, const uchar *end)
{
  if (from >= end)
    return MY_CS_TOOSMALL;
  *wide= *from;
  return 1;
}

static int to_utf8(CHARSET_INFO *cs __attribute__((unused)), my_wc_t wide, uchar *to, uchar *end)
{
  if (to >= end)
    return MY_CS_TOOSMALL;
  if (wide < 0x80)
  {
    *to= (uchar) wide;
    return 1;
  }
  if (to + 2 > end)
    return MY_CS_TOOSMALL2;
  to[0]= (uchar) (0xc0 | (wide >> 6));
  to[1]= (uchar) (0x80 | (wide & 0x3f));
  return 2;
}

static MY_CHARSET_HANDLER latin1_handler= { .mb_wc= from_latin1 }, utf8_handler= { .wc_mb= to_utf8 };
static struct charset_info_st latin1= { .cset= &latin1_handler }, utf8= { .cset= &utf8_handler };

void micro_prepare(void)
{
  size_t place;
  micro_fill(text, sizeof text);
  for (place= 0; place < sizeof text; place++)
    text[place]= (char) (text[place] & 0x7f);
}

static uint64_t converted(uint64_t digest, size_t room, const char *from, size_t size)
{
  uint errors= 0;
  uint32 length;
  size_t place;
  memset(result, 0, sizeof result);
  length= my_convert(result, (uint32) room, &utf8, from, (uint32) size, &latin1, &errors);
  digest= micro_mix(micro_mix(digest, length), errors);
  for (place= 0; place < room + 8; place++)
    digest= micro_mix(digest, (uchar) result[place]);
  return digest;
}

uint64_t micro_check(void)
{
  uint64_t digest= 0;
  size_t offset, size, place;
  for (offset= 0; offset < 8; offset++)
    for (size= 0; size <= 70; size++)
    {
      digest= converted(digest, 2 * size, text + offset, size);
      digest= converted(digest, size / 2, text + offset, size);
    }
  for (place= 0; place < 40; place++)
  {
    char kept= text[place];
    text[place]= (char) 0xe9;
    digest= converted(digest, 120, text, 45);
    digest= converted(digest, 41, text, 45);
    text[place]= kept;
  }
  return digest;
}

uint64_t micro_run(uint64_t calls, unsigned thread)
{
  uint64_t sum= thread;
  uint errors;
  while (calls--)
  {
    sum+= my_convert(result, sizeof result, &utf8, text + (calls & 7), MICRO_SIZE, &latin1, &errors);
    sum+= (uchar) result[calls % MICRO_SIZE];
  }
  return sum;
}
