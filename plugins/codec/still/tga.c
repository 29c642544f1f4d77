/* gst-spdl: TGA files with gray and alpha
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/still/tga.h"

#include <string.h>

#include "plugins/common/bytes.h"

/* Size of the header, and offsets of its fields. */
#define HEADER 18
#define ID_SIZE 0
#define COLOR_MAP_LENGTH 5
#define COLOR_MAP_DEPTH 7
#define IMAGE_TYPE 2
#define WIDTH 12
#define HEIGHT 14
#define DEPTH 16

#define TYPE_COLORS 2
#define TYPE_GRAY 3
#define TYPE_GRAY_RUNS 11

gboolean
spdl_tga_has_gray_alpha (const gchar *type, const guint8 *data, gsize size)
{
  return g_strcmp0 (type, "image/x-tga") == 0 && size >= HEADER &&
         data[DEPTH] == 16 &&
         (data[IMAGE_TYPE] == TYPE_GRAY || data[IMAGE_TYPE] == TYPE_GRAY_RUNS);
}

static guint8 *
put_pixel (guint8 *to, const guint8 *gray_alpha)
{
  memset (to, gray_alpha[0], 3);
  to[3] = gray_alpha[1];
  return to + 4;
}

/* Write at most @n pixels, and return the end of the written data. */

static guint8 *
expand_plain (guint8 *to, const guint8 *from, const guint8 *end, gsize n)
{
  for (; n > 0 && end - from >= 2; n--, from += 2)
    to = put_pixel (to, from);
  return to;
}

/* Expands run-length packets: a count, followed by one pixel or by as many as
 * the count. */
static guint8 *
expand_runs (guint8 *to, const guint8 *from, const guint8 *end, gsize n)
{
  while (n > 0 && end - from >= 3) {
    const gsize length = MIN ((gsize) (*from & 0x7f) + 1, n);
    const gboolean is_run = *from++ & 0x80;

    for (gsize i = 0; i < length && end - from >= 2; i++) {
      to = put_pixel (to, from);
      if (!is_run)
        from += 2;
    }
    if (is_run)
      from += 2;
    n -= length;
  }
  return to;
}

GstBuffer *
spdl_tga_expand (const guint8 *data, gsize size)
{
  const guint8 *end = data + size;
  const gsize n =
      spdl_read_16_le (data + WIDTH) * (gsize) spdl_read_16_le (data + HEIGHT);
  const gsize map = (data[COLOR_MAP_DEPTH] + 7) / 8 *
                    (gsize) spdl_read_16_le (data + COLOR_MAP_LENGTH);
  const gsize at = MIN (HEADER + data[ID_SIZE] + map, size);
  guint8 *file = g_try_malloc (HEADER + 4 * n);
  guint8 *to;

  if (!file)
    return NULL;
  memset (file, 0, HEADER);
  memcpy (file + WIDTH, data + WIDTH, HEADER - WIDTH);
  file[IMAGE_TYPE] = TYPE_COLORS;
  file[DEPTH] = 32;
  to = (data[IMAGE_TYPE] == TYPE_GRAY ? expand_plain : expand_runs) (
      file + HEADER, data + at, end, n);
  return gst_buffer_new_wrapped_full (
      0, file, HEADER + 4 * n, 0, to - file, file, g_free);
}
