/* gst-spdl: what a video track of MP4 says of its presentation
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/video/mp4track.h"

#include <math.h>
#include <string.h>

#include "plugins/codec/common/mp4box.h"
#include "plugins/common/bytes.h"

/* The part of a matrix that turns and mirrors: a point (x, y) is shown at
 * (a x + c y, b x + d y). */
typedef struct {
  gdouble a, b, c, d;
} Matrix;

/* Reads the matrix at the end of a header, whose times have 64 bits in version
 * 1. */
static Matrix
read_matrix (const SpdlMp4Box *header, gsize at)
{
  Matrix matrix = { 1, 0, 0, 1 };

  if (header->size > 0 && header->data[0] == 1)
    at += 12;
  if (at + 20 > header->size)
    return matrix;
  matrix.a = (gint32) spdl_read_32_be (header->data + at);
  matrix.b = (gint32) spdl_read_32_be (header->data + at + 4);
  matrix.c = (gint32) spdl_read_32_be (header->data + at + 12);
  matrix.d = (gint32) spdl_read_32_be (header->data + at + 16);
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

static gboolean
has_edits (const SpdlMp4Box *track)
{
  SpdlMp4Box box;

  return spdl_mp4_box_find (track, "edts", &box) &&
         spdl_mp4_box_find (&box, "elst", &box) && box.size >= 8 &&
         spdl_read_32_be (box.data + 4) > 0;
}

/* Returns the offset of the low 32 bits of the track's duration, or 0. */
static gsize
find_duration (const SpdlMp4Box *file, const SpdlMp4Box *track)
{
  SpdlMp4Box box;
  gsize at;

  if (!spdl_mp4_box_find (track, "mdia", &box) ||
      !spdl_mp4_box_find (&box, "mdhd", &box) || box.size == 0)
    return 0;
  at = box.data[0] == 1 ? 28 : 16;
  return at + 4 <= box.size ? box.data + at - file->data : 0;
}

gboolean
spdl_mp4_track_find (SpdlMp4Track *self, const guint8 *data, gsize size)
{
  const SpdlMp4Box file = { data, size };
  SpdlMp4Box movie, rest, track, box, header = { NULL, 0 };
  gchar type[4];

  *self = (SpdlMp4Track){ 0 };
  if (!spdl_mp4_box_find (&file, "moov", &movie))
    return FALSE;
  spdl_mp4_box_find (&movie, "mvhd", &header);
  for (rest = movie; spdl_mp4_box_next (&rest, &track, type);) {
    if (memcmp (type, "trak", 4) != 0 ||
        !spdl_mp4_box_find (&track, "mdia", &box) ||
        !spdl_mp4_box_find (&box, "hdlr", &box) || box.size < 12 ||
        memcmp (box.data + 8, "vide", 4) != 0 ||
        !spdl_mp4_box_find (&track, "tkhd", &box))
      continue;
    self->orientation =
        find_orientation (read_matrix (&box, 40), read_matrix (&header, 36));
    if (!has_edits (&track))
      self->duration_at = find_duration (&file, &track);
    return TRUE;
  }
  return FALSE;
}
