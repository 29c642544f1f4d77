/* gst-spdl: detection of image formats, from the first bytes
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What the container says before any decoder has memory for it: what it is, how
 * large, which side is up, and whether data is missing. Decoders are not asked
 * for the last: some let a file pass that is cut off. */
typedef struct {
  const gchar *type; /* media type; NULL: none that is known here */
  guint width;       /* of the whole image; 0: not found */
  guint height;
  guint orientation; /* EXIF's, 1 to 8 */
  const gchar
      *corruption; /* how it is that pixels must be missing; else NULL */
  gboolean rare;   /* its samples are not those that most decoders take */
  gboolean opaque; /* what looks like alpha is none */
} SpdlImageProbe;

/* Knows BMP, PNM, OpenEXR and Sun raster. */
void spdl_image_probe (SpdlImageProbe *self, const guint8 *data, gsize size);

/* Reads the size of a format without a mark, whose type is set. */
void spdl_image_probe_find_size (
    SpdlImageProbe *self, const guint8 *data, gsize size);

G_END_DECLS
