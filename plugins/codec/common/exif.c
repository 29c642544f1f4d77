/* gst-spdl: reader of the EXIF orientation
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/common/exif.h"

#include <string.h>

#include "plugins/common/bytes.h"

#define ENTRY_SIZE 12
#define TAG_ORIENTATION 274

/* First directory of the TIFF structure in an EXIF block. */
typedef struct {
  const guint8 *data;
  gsize size;
  gboolean big_endian;
  gsize entries; /* offset of the first entry */
  guint n_entries;
} Directory;

static guint16
read_16 (const Directory *self, gsize at)
{
  const guint8 *p = self->data + at;

  return self->big_endian ? spdl_read_16_be (p) : spdl_read_16_le (p);
}

static guint32
read_32 (const Directory *self, gsize at)
{
  const guint8 *p = self->data + at;

  return self->big_endian ? spdl_read_32_be (p) : spdl_read_32_le (p);
}

static gboolean
open_directory (Directory *self, const guint8 *data, gsize size)
{
  gsize at;

  if (size < 8)
    return FALSE;
  self->data = data;
  self->size = size;
  self->big_endian = memcmp (data, "MM\0*", 4) == 0;
  if (!self->big_endian && memcmp (data, "II*\0", 4) != 0)
    return FALSE;
  at = read_32 (self, 4);
  if (at > size - 2)
    return FALSE;
  self->entries = at + 2;
  self->n_entries = read_16 (self, at);
  return self->n_entries * (gsize) ENTRY_SIZE <= size - self->entries;
}

/* Returns 0 if there is no orientation. Some programs write it with another
 * integer type than the standard's. */
static guint32
find_orientation (const Directory *self)
{
  enum { BYTE = 1, SHORT = 3, LONG = 4, SIGNED_SHORT = 8, SIGNED_LONG = 9 };

  for (guint i = 0; i < self->n_entries; i++) {
    const gsize at = self->entries + i * (gsize) ENTRY_SIZE;

    /* A single value is stored in the entry itself. */
    if (read_16 (self, at) != TAG_ORIENTATION || read_32 (self, at + 4) != 1)
      continue;
    switch (read_16 (self, at + 2)) {
      case BYTE:
        return self->data[at + 8];
      case SHORT:
      case SIGNED_SHORT:
        return read_16 (self, at + 8);
      case LONG:
      case SIGNED_LONG:
        return read_32 (self, at + 8);
      default:
        break;
    }
  }
  return 0;
}

guint
spdl_exif_get_orientation (const guint8 *data, gsize size)
{
  Directory directory = { NULL };
  guint32 value;

  if (size >= 6 && memcmp (data, "Exif\0\0", 6) == 0) {
    data += 6;
    size -= 6;
  }
  if (!open_directory (&directory, data, size))
    return 1;
  value = find_orientation (&directory);
  return value >= 1 && value <= 8 ? value : 1;
}

guint
spdl_exif_find_in_jpeg (const guint8 *data, gsize size)
{
  gsize at = 2;

  while (at < size && size - at >= 4 && data[at] == 0xff) {
    const guint8 marker = data[at + 1];
    const gsize length = data[at + 2] << 8 | data[at + 3];

    if (marker == 0xff) {
      at++; /* a fill byte */
      continue;
    }
    /* After SOS, segments cannot be skipped by their length. */
    if (marker == 0xda || marker == 0xd9 || length < 2 ||
        length > size - at - 2)
      return 1;
    if (marker == 0xe1 && length >= 8 &&
        memcmp (data + at + 4, "Exif\0\0", 6) == 0)
      return spdl_exif_get_orientation (data + at + 4, length - 2);
    at += 2 + length;
  }
  return 1;
}

guint
spdl_exif_find_turn (guint angle, gint axis)
{
  static const guint8 orientations[4][3] = {
    { 1, 4, 2 },
    { 8, 5, 7 },
    { 3, 2, 4 },
    { 6, 7, 5 },
  };

  return orientations[angle & 3][axis < 0 ? 0 : 1 + (axis & 1)];
}
