/* gst-spdl: several pictures of one image
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/result/canvas.h"
#include "plugins/codec/result/viewlist.h"

G_BEGIN_DECLS

/* Draws one or several pictures of an image, each with its own crop and size,
 * while it is decoded once: what the decoder writes is copied to a canvas for
 * each picture. A single picture is drawn on its canvas without a copy. Used
 * like a canvas; not thread-safe. */

typedef struct _SpdlFanout SpdlFanout;

/* One picture. All of them have the same pixels and interpolation. */
typedef struct {
  const SpdlDecodeConfig *config;
  SpdlImageTransform transform;
  /* The result. */
  GstBuffer *buffer;
  GstCaps *caps; /* not owned: valid until the next image */
} SpdlView;

/* @canvas: (transfer none): that of the first picture */
SpdlFanout *spdl_fanout_new (SpdlCanvas *canvas);
void spdl_fanout_free (SpdlFanout *self);

/* Starts an image.
 * @views: the transforms are set; must stay valid until the image is ended or
 * cancelled
 * @reduction: the decoder divides both sides by this, rounding up */
const SpdlRows *spdl_fanout_begin (SpdlFanout *self, SpdlView *views,
    guint n_views, guint reduction, GError **error);

/* Same for planes. Call it only if spdl_fanout_takes_planes() returns TRUE. */
gboolean spdl_fanout_takes_planes (const SpdlView *views, guint n_views,
    guint reduction, const SpdlSampling *sampling);
const SpdlPlanes *
spdl_fanout_begin_planes (SpdlFanout *self, SpdlView *views, guint n_views,
    guint reduction, const SpdlSampling *sampling, GError **error);

/* Sets the caps of all views, and the buffers of all but the first one.
 * Returns: (transfer full): the buffer of the first one */
GstBuffer *spdl_fanout_end (SpdlFanout *self);
void spdl_fanout_cancel (SpdlFanout *self);

G_END_DECLS
