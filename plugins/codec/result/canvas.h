/* gst-spdl: canvas that resizes and rotates decoded rows
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

/* Resizes the rows of an image, applies its orientation, and returns the buffer
 * with the result. Scratch memory is kept between images. Not thread-safe: use
 * from one thread at a time.
 *
 *     rows = spdl_canvas_begin (), or planes = spdl_canvas_begin_planes ()
 *     ... write all rows ...
 *     spdl_canvas_end (), or spdl_canvas_cancel () */

typedef struct _SpdlCanvas SpdlCanvas;

SpdlCanvas *spdl_canvas_new (void);
void spdl_canvas_free (SpdlCanvas *self);

/* Starts an image.
 * @transform: must stay valid until the image is ended or cancelled
 * @reduction: the decoder divides both sides by this, rounding up
 * Returns NULL with @error set if the result cannot be allocated or its size is
 * not allowed. */
const SpdlRows *
spdl_canvas_begin (SpdlCanvas *self, const SpdlDecodeConfig *config,
    const SpdlImageTransform *transform, guint reduction, GError **error);

/* Same for planes. Call it only if spdl_canvas_takes_planes() returns TRUE: the
 * image is resized, and resizing planes costs less. */
gboolean spdl_canvas_takes_planes (const SpdlDecodeConfig *config,
    const SpdlImageTransform *transform, guint reduction,
    const SpdlSampling *sampling);
const SpdlPlanes *spdl_canvas_begin_planes (SpdlCanvas *self,
    const SpdlDecodeConfig *config, const SpdlImageTransform *transform,
    guint reduction, const SpdlSampling *sampling, GError **error);

/* Sets the color conversion of the planes in use; the default is that of JPEG.
 * @colors: must stay valid until the image is ended or cancelled */
void spdl_canvas_set_colors (SpdlCanvas *self, const SpdlColors *colors);

/* @caps: (out) (transfer none): valid until the next call
 * Returns: (transfer full) */
GstBuffer *spdl_canvas_end (SpdlCanvas *self, GstCaps **caps);
void spdl_canvas_cancel (SpdlCanvas *self);

G_END_DECLS
