/* gst-spdl: turns decoded rows into the result
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/resize/planejoin.h"
#include "plugins/codec/resize/planes.h"
#include "plugins/codec/resize/rows.h"
#include "plugins/codec/result/imagetransform.h"

G_BEGIN_DECLS

/* Brings an image's rows to the size of the result, turns it upright, and gives
 * the buffer that it is in. What it works with is kept from image to image. One
 * thread at a time.
 *
 *     rows = spdl_canvas_begin (), or planes = spdl_canvas_begin_planes ()
 *     ... all rows are written ...
 *     spdl_canvas_end (), or spdl_canvas_cancel ()
 */

typedef struct _SpdlCanvas SpdlCanvas;

SpdlCanvas *spdl_canvas_new (void);
void spdl_canvas_free (SpdlCanvas *self);

/* @transform: must stay until the end. @reduction: rows come of an image whose
 * sides are divided by it, and rounded up. NULL with @error set if the result
 * cannot be made. */
const SpdlRows *
spdl_canvas_begin (SpdlCanvas *self, const SpdlDecodeConfig *config,
    const SpdlImageTransform *transform, guint reduction, GError **error);

/* The same for planes, where spdl_canvas_takes_planes() says so: where there is
 * something to resize, and it costs less. */
gboolean spdl_canvas_takes_planes (const SpdlDecodeConfig *config,
    const SpdlImageTransform *transform, guint reduction,
    const SpdlSampling *sampling);
const SpdlPlanes *spdl_canvas_begin_planes (SpdlCanvas *self,
    const SpdlDecodeConfig *config, const SpdlImageTransform *transform,
    guint reduction, const SpdlSampling *sampling, GError **error);

/* Says what the colours of planes that were begun are, if not those of JPEGs.
 * @colors: must stay until the end. */
void spdl_canvas_set_colors (SpdlCanvas *self, const SpdlColors *colors);

/* @caps: (transfer none), until the next. */
GstBuffer *spdl_canvas_end (SpdlCanvas *self, GstCaps **caps);
void spdl_canvas_cancel (SpdlCanvas *self);

G_END_DECLS
