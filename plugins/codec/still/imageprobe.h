/* gst-spdl: detection of image formats from the first bytes
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/resize/rows.h"

G_BEGIN_DECLS

/* Properties from the file header, found before a decoder allocates memory:
 * type, size, orientation and missing data. Missing data is detected here
 * because some decoders accept truncated files without an error. */
typedef struct {
  const gchar *type; /* media type; NULL: unknown */
  guint width;       /* of the whole image; 0: unknown */
  guint height;
  guint orientation;       /* EXIF orientation, 1 to 8 */
  const gchar *corruption; /* reason why pixels must be missing; else NULL */
  gboolean rare;           /* few decoders support its sample format */
  gboolean opaque;         /* the alpha channel is unused */

  /* Of PNM. */
  guint largest;     /* maximum of the samples; 0: unknown */
  gboolean is_gray;  /* spdl_image_probe_read_gray() can read it */
  gsize samples_at;  /* offset of the samples */
  gboolean has_text; /* they are numbers in text */
} SpdlImageProbe;

/* Detects BMP, PNM, OpenEXR and Sun raster. */
void spdl_image_probe (SpdlImageProbe *self, const guint8 *data, gsize size);

/* Reads the size of a file whose format has no signature and whose type is
 * set. */
void spdl_image_probe_find_size (
    SpdlImageProbe *self, const guint8 *data, gsize size);

/* Writes the samples of a gray PNM file as they are stored. Missing ones become
 * background. */
void spdl_image_probe_read_gray (const SpdlImageProbe *self, const guint8 *data,
    gsize size, const SpdlRows *rows);

G_END_DECLS
