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

/* All files named *.jpg below @folder, of JpegFile; where there are none, ends
 * the program. */
GArray *jpeg_files_load (const gchar *folder);
