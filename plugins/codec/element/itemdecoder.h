/* gst-spdl: the work on one image
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/result/view.h"

G_BEGIN_DECLS

/* The state of one worker: JPEGs go through libjpeg-turbo, other images through
 * GStreamer's decoders, and both to the same canvas, frames of videos, too;
 * arrays become tensors. One thread at a time. */

typedef struct _SpdlWorker SpdlWorker;

SpdlWorker *spdl_worker_new (void);
void spdl_worker_free (SpdlWorker *self);

/* Makes of @source what @target says, and in @view how that was done; its width
 * is 0 where it was no image. NULL with
 * @error set if it cannot be; with the target's on-corrupt=keep, @error may be
 * set though there is a result. @result_caps: (transfer none), until the next.
 */
GstBuffer *spdl_worker_decode (SpdlWorker *self, const SpdlTarget *target,
    const SpdlSource *source, SpdlView *view, GstCaps **result_caps,
    GError **error);

/* When the frames of the last item are shown, in ns, if it was a video; else
 * NULL. @n_own: how many are of the video; those behind them are the last one
 * again. */
const GArray *spdl_worker_get_times (const SpdlWorker *self, guint *n_own);

G_END_DECLS
