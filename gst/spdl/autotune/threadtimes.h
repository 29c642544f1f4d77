/* gst-spdl: the CPU time of a pipeline's streaming threads
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __GST_SPDL_THREAD_TIMES_H__
#define __GST_SPDL_THREAD_TIMES_H__

#include <gst/gst.h>

#include "gst/spdl/engine/sync.h"

G_BEGIN_DECLS

/* Streaming threads are of pools that many pipelines use: what counts is what a
 * thread does between its entering a pipeline and its leaving it, and both it
 * says itself, by a STREAM_STATUS message. */
typedef struct {
  SpdlMutex lock; /* innermost */
  GArray *running;
  guint64 of_ended; /* ns */
} GstSpdlThreadTimes;

void gst_spdl_thread_times_init (GstSpdlThreadTimes *self);
void gst_spdl_thread_times_clear (GstSpdlThreadTimes *self);

/* In the thread that posts @message. */
void gst_spdl_thread_times_take_message (
    GstSpdlThreadTimes *self, GstMessage *message);

/* Of all threads since the first message, in ns. From any thread. */
guint64 gst_spdl_thread_times_get (GstSpdlThreadTimes *self);

G_END_DECLS

#endif /* __GST_SPDL_THREAD_TIMES_H__ */
