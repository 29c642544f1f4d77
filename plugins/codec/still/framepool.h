/* gst-spdl: frames of which it is known what was written
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_FRAME_POOL_H__
#define __SPDL_FRAME_POOL_H__

#include <gst/video/video.h>

G_BEGIN_DECLS

/* A pool of frames for one decoder. A pattern is put into those that it hands
 * out, by which the rows that the decoder wrote can be told from those that it
 * did not: libpng passes over errors in compressed data without a word. One
 * thread at a time. */

#define SPDL_TYPE_FRAME_POOL (spdl_frame_pool_get_type ())
G_DECLARE_FINAL_TYPE (
    SpdlFramePool, spdl_frame_pool, SPDL, FRAME_POOL, GstVideoBufferPool)

SpdlFramePool *spdl_frame_pool_new (void);

/* A new image begins: forgets the last frame. @all_rows: the pattern is put
 * into all of them, not only into the last two, of which one is written last.
 */
void spdl_frame_pool_begin (SpdlFramePool *self, gboolean all_rows);

/* Whether there was no memory for this image's frame. */
gboolean spdl_frame_pool_is_exhausted (const SpdlFramePool *self);

/* How many rows of this image's frame were written: all, or those before the
 * ones at the end that were not. */
guint
spdl_frame_pool_count_rows (SpdlFramePool *self, const GstVideoInfo *info);

G_END_DECLS

#endif /* __SPDL_FRAME_POOL_H__ */
