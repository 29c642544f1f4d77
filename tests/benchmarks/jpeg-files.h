/* gst-spdl: JPEGs in memory
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

typedef struct {
  gchar *data;
  gsize size;
} JpegFile;

/* Loads all files named *.jpg below @folder, and exits if there are none.
 * Returns: an array of JpegFile */
GArray *jpeg_files_load (const gchar *folder);
