/* gst-spdl: fuzzes what is read of EXIF and TIFF directories
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "fuzz.h"
#include "spdlexif.h"

static void
check_orientation (guint orientation)
{
  g_assert_cmpuint (orientation, >=, 1);
  g_assert_cmpuint (orientation, <=, 8);
}

/* Some of the values of a tag, the last one among them. */
static void
read_values (const SpdlTiff *tiff, guint16 tag)
{
  SpdlTiffValues values;

  if (!spdl_tiff_find (tiff, tag, &values))
    return;
  g_assert_cmpuint (values.n, >, 0);
  for (guint32 i = 0; i < values.n; i += 1 + values.n / 16)
    spdl_tiff_get (tiff, &values, i);
  spdl_tiff_get (tiff, &values, values.n - 1);
}

static void
read_tags (const guint8 *data, gsize size)
{
  static const guint16 tags[] = { SPDL_TIFF_WIDTH, SPDL_TIFF_HEIGHT,
    SPDL_TIFF_BITS, SPDL_TIFF_COMPRESSION, SPDL_TIFF_PHOTOMETRIC,
    SPDL_TIFF_STRIP_OFFSETS, SPDL_TIFF_SAMPLES, SPDL_TIFF_STRIP_SIZES,
    SPDL_TIFF_TILE_OFFSETS, SPDL_TIFF_TILE_SIZES };
  SpdlTiff tiff;

  if (!spdl_tiff_open (&tiff, data, size))
    return;
  check_orientation (spdl_tiff_get_orientation (&tiff));
  for (guint i = 0; i < G_N_ELEMENTS (tags); i++)
    read_values (&tiff, tags[i]);
}

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  return 0;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  check_orientation (spdl_exif_find_in_jpeg (data, size));
  check_orientation (spdl_exif_get_orientation (data, size));
  read_tags (data, size);
  return 0;
}
