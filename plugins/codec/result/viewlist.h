/* gst-spdl: list of the views of an image
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Views are parts of a sample. */
#define SPDL_MAX_VIEWS 16

/* Returns the name of the part that view number @view is: data, view1, ... */
const gchar *spdl_view_get_name (guint view);

typedef struct {
  guint width, height; /* 0: those of the element */
  double scale[2];     /* range of the crop's area; 0: that of the element */
} SpdlViewSpec;

/* Parses groups such as "2(size=224,scale=0.4..1); 8(size=96)" into one entry
 * per view.
 * @views: (out): of SPDL_MAX_VIEWS
 * Returns the number of views; 0 with @error set if @text is wrong. */
guint
spdl_view_list_parse (const gchar *text, SpdlViewSpec *views, GError **error);

G_END_DECLS
