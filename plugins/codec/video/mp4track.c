/* gst-spdl: what a video track of MP4 says of its presentation
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/video/mp4track.h"

#include <math.h>
#include <string.h>

#include "plugins/common/bytes.h"

typedef struct {
  const guint8 *data;
  gsize size;
} Box;

/* The part of a matrix that turns and mirrors: a point (x, y) is shown at
 * (a x + c y, b x + d y). */
typedef struct {
  gdouble a, b, c, d;
} Matrix;

/* Takes the next box of @rest. Returns FALSE at the end. */
static gboolean
next_box (Box *rest, Box *box, gchar *type)
{
  guint64 size = rest->size >= 8 ? spdl_read_32_be (rest->data) : 0;
  gsize head = 8;

  if (rest->size < 8)
    return FALSE;
  memcpy (type, rest->data + 4, 4);
  if (size == 1 && rest->size >= 16) {
    size = (guint64) spdl_read_32_be (rest->data + 8) << 32 |
           spdl_read_32_be (rest->data + 12);
    head = 16;
  } else if (size == 0) {
    size = rest->size;
  }
  size = MIN (size, rest->size);
  if (size < head)
    return FALSE;
  *box = (Box){ rest->data + head, size - head };
  *rest = (Box){ rest->data + size, rest->size - size };
  return TRUE;
}

static gboolean
find_box (Box in, const gchar *wanted, Box *box)
{
  gchar type[4];

  while (next_box (&in, box, type))
    if (memcmp (type, wanted, 4) == 0)
      return TRUE;
  return FALSE;
}

/* Reads the matrix at the end of a header, whose times have 64 bits in version
 * 1. */
static Matrix
read_matrix (Box header, gsize at)
{
  Matrix matrix = { 1, 0, 0, 1 };

  if (header.size > 0 && header.data[0] == 1)
    at += 12;
  if (at + 20 > header.size)
    return matrix;
  matrix.a = (gint32) spdl_read_32_be (header.data + at);
  matrix.b = (gint32) spdl_read_32_be (header.data + at + 4);
  matrix.c = (gint32) spdl_read_32_be (header.data + at + 12);
  matrix.d = (gint32) spdl_read_32_be (header.data + at + 16);
  return matrix;
}

static guint
find_orientation (Matrix track, Matrix movie)
{
  const gdouble a = track.a * movie.a + track.b * movie.c;
  const gdouble b = track.a * movie.b + track.b * movie.d;
  const gdouble c = track.c * movie.a + track.d * movie.c;
  const gdouble d = track.c * movie.b + track.d * movie.d;

  if (fabs (a) + fabs (d) >= fabs (b) + fabs (c))
    return a >= 0 ? d >= 0 ? 1 : 4 : d >= 0 ? 2 : 3;
  return b >= 0 ? c >= 0 ? 5 : 6 : c >= 0 ? 8 : 7;
}

gboolean
spdl_mp4_track_find (SpdlMp4Track *self, const guint8 *data, gsize size)
{
  Box movie, track, box, header;
  gchar type[4];

  if (!find_box ((Box){ data, size }, "moov", &movie))
    return FALSE;
  for (Box rest = movie; next_box (&rest, &track, type);) {
    if (memcmp (type, "trak", 4) != 0 || !find_box (track, "mdia", &box) ||
        !find_box (box, "hdlr", &box) || box.size < 12 ||
        memcmp (box.data + 8, "vide", 4) != 0 ||
        !find_box (track, "tkhd", &box))
      continue;
    if (!find_box (movie, "mvhd", &header))
      header.size = 0;
    self->orientation =
        find_orientation (read_matrix (box, 40), read_matrix (header, 36));
    self->has_edits = find_box (track, "edts", &box) &&
                      find_box (box, "elst", &box) && box.size >= 8 &&
                      spdl_read_32_be (box.data + 4) > 0;
    return TRUE;
  }
  return FALSE;
}
