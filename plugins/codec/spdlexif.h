/* gst-spdl: what is read of EXIF and TIFF directories
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_EXIF_H__
#define __SPDL_EXIF_H__

#include <glib.h>

G_BEGIN_DECLS

/* The first directory of a TIFF file, or of the one inside an EXIF block. All
 * reads are bounded by the block: hostile numbers lead nowhere. */
typedef struct {
  const guint8 *data;
  gsize size;
  gboolean big_endian;
  gsize entries; /* where the first is */
  guint n_entries;
} SpdlTiff;

#define SPDL_TIFF_WIDTH 256
#define SPDL_TIFF_HEIGHT 257
#define SPDL_TIFF_BITS 258
#define SPDL_TIFF_COMPRESSION 259
#define SPDL_TIFF_PHOTOMETRIC 262
#define SPDL_TIFF_STRIP_OFFSETS 273
#define SPDL_TIFF_ORIENTATION 274
#define SPDL_TIFF_SAMPLES 277
#define SPDL_TIFF_STRIP_SIZES 279
#define SPDL_TIFF_TILE_OFFSETS 324
#define SPDL_TIFF_TILE_SIZES 325

/* Returns FALSE if there is no directory. */
gboolean spdl_tiff_open (SpdlTiff *self, const guint8 *data, gsize size);

/* The whole numbers of a tag, all of them within the block. */
typedef struct {
  gsize at;
  guint size; /* of each, in bytes */
  guint32 n;
} SpdlTiffValues;

/* Returns FALSE without such a tag, or where not all of it is there. */
gboolean
spdl_tiff_find (const SpdlTiff *self, guint16 tag, SpdlTiffValues *values);
/* @i: below the number of values. */
guint32
spdl_tiff_get (const SpdlTiff *self, const SpdlTiffValues *values, guint32 i);
/* The first value of @tag, or 0. */
guint32 spdl_tiff_get_first (const SpdlTiff *self, guint16 tag);

/* All below return 1 to 8; 1, upright, where nothing else is said. */
guint spdl_tiff_get_orientation (const SpdlTiff *self);
/* @data: an EXIF block, with or without "Exif\0\0" before it. */
guint spdl_exif_get_orientation (const guint8 *data, gsize size);
/* Looks through the segments before the first scan. */
guint spdl_exif_find_in_jpeg (const guint8 *data, gsize size);

G_END_DECLS

#endif /* __SPDL_EXIF_H__ */
