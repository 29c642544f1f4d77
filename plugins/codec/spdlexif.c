/* gst-spdl: what is read of EXIF and TIFF directories
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlexif.h"

#include <string.h>

#define ENTRY_SIZE 12
#define TYPE_SHORT 3
#define TYPE_LONG 4

static guint16
read_16 (const SpdlTiff *self, gsize at)
{
  const guint8 *p = self->data + at;

  return self->big_endian ? p[0] << 8 | p[1] : p[1] << 8 | p[0];
}

static guint32
read_32 (const SpdlTiff *self, gsize at)
{
  const guint32 first = read_16 (self, at);
  const guint32 second = read_16 (self, at + 2);

  return self->big_endian ? first << 16 | second : second << 16 | first;
}

gboolean
spdl_tiff_open (SpdlTiff *self, const guint8 *data, gsize size)
{
  gsize directory;

  memset (self, 0, sizeof *self);
  if (size < 8)
    return FALSE;
  self->data = data;
  self->size = size;
  if (memcmp (data, "MM\0*", 4) == 0)
    self->big_endian = TRUE;
  else if (memcmp (data, "II*\0", 4) != 0)
    return FALSE;
  directory = read_32 (self, 4);
  if (directory > size - 2)
    return FALSE;
  self->entries = directory + 2;
  self->n_entries = read_16 (self, directory);
  return self->n_entries * (gsize) ENTRY_SIZE <= size - self->entries;
}

gboolean
spdl_tiff_find (const SpdlTiff *self, guint16 tag, SpdlTiffValues *values)
{
  guint64 length;

  for (guint i = 0; i < self->n_entries; i++) {
    const gsize at = self->entries + i * (gsize) ENTRY_SIZE;
    const guint16 type = read_16 (self, at + 2);

    if (read_16 (self, at) != tag || (type != TYPE_SHORT && type != TYPE_LONG))
      continue;
    values->size = type == TYPE_SHORT ? 2 : 4;
    values->n = read_32 (self, at + 4);
    length = values->n * (guint64) values->size;
    /* Up to four bytes stand in the entry itself. */
    values->at = length <= 4 ? at + 8 : read_32 (self, at + 8);
    return values->n > 0 && values->at <= self->size &&
           length <= self->size - values->at;
  }
  return FALSE;
}

guint32
spdl_tiff_get (const SpdlTiff *self, const SpdlTiffValues *values, guint32 i)
{
  const gsize at = values->at + i * (gsize) values->size;

  return values->size == 2 ? read_16 (self, at) : read_32 (self, at);
}

guint32
spdl_tiff_get_first (const SpdlTiff *self, guint16 tag)
{
  SpdlTiffValues values;

  return spdl_tiff_find (self, tag, &values) ? spdl_tiff_get (self, &values, 0)
                                             : 0;
}

guint
spdl_tiff_get_orientation (const SpdlTiff *self)
{
  const guint32 value = spdl_tiff_get_first (self, SPDL_TIFF_ORIENTATION);

  return value >= 1 && value <= 8 ? value : 1;
}

guint
spdl_exif_get_orientation (const guint8 *data, gsize size)
{
  SpdlTiff tiff;

  if (size >= 6 && memcmp (data, "Exif\0\0", 6) == 0) {
    data += 6;
    size -= 6;
  }
  return spdl_tiff_open (&tiff, data, size) ? spdl_tiff_get_orientation (&tiff)
                                            : 1;
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
    /* Behind SOS come no segments that we could step over. */
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
