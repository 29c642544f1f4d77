/* gst-spdl: execution of drawn augmentations on pixels
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/core/augment/pixelkernels.h"

G_BEGIN_DECLS

/* Scratch memory of one worker. It grows to the size of the largest image. */
typedef struct _SpdlPainter SpdlPainter;

/* @kernels: (nullable): NULL: the best for this CPU */
SpdlPainter *spdl_painter_new (const SpdlPixelKernels *kernels);
void spdl_painter_free (SpdlPainter *self);

/* Applies @steps to @in and writes the result to @out, which has the size of
 * the plan that the steps are from. Both may be the same pixels. Returns FALSE
 * with @error set if memory is exhausted. */
gboolean spdl_painter_run (SpdlPainter *self, const SpdlStep *steps,
    guint n_steps, const SpdlRaster *in, const SpdlRaster *out, GError **error);

G_END_DECLS
