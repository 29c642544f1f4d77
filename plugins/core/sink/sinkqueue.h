/* gst-spdl: queue of the sink
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "gst/spdl/engine/sync.h"

G_BEGIN_DECLS

/* A queue of buffers and, between them, ends of epochs, from one thread to
 * another. Epochs that end with nothing between them are one entry, so there
 * are never more than twice as many entries as buffers, and one. Of several
 * sources' ends of an epoch the first counts. */

typedef struct {
  GstBuffer *buffer;  /* NULL: an epoch has ended */
  GstCaps *caps;      /* nullable */
  gboolean exclusive; /* nobody else has a hold on the buffer */
  guint64 epoch;      /* that has ended; in the queue, the first of them */
  guint64 n_epochs;   /* in the queue */
} SpdlSinkItem;

typedef struct {
  SpdlMutex lock;
  SpdlCond arrived;
  GQueue queue; /* SpdlSinkItem */
  guint n_buffers;
  gboolean eos;       /* behind them all */
  guint64 next_epoch; /* that has not ended yet */
  gboolean is_full;   /* somebody waits for room */
  guint n_wakes;
} SpdlSinkQueue;

typedef enum {
  SPDL_SINK_QUEUE_RESULT_NOTHING, /* in time */
  SPDL_SINK_QUEUE_RESULT_WAKE,
  SPDL_SINK_QUEUE_RESULT_BUFFER,
  SPDL_SINK_QUEUE_RESULT_EPOCH,
  SPDL_SINK_QUEUE_RESULT_EOS,
} SpdlSinkQueueResult;

void spdl_sink_queue_init (SpdlSinkQueue *self);
void spdl_sink_queue_clear (SpdlSinkQueue *self);

/* Forgets all that came. */
void spdl_sink_queue_reset (SpdlSinkQueue *self);

/* Whether there are fewer than @max buffers (0: no limit). If not, take() will
 * tell when there are. */
gboolean spdl_sink_queue_has_room (SpdlSinkQueue *self, guint max);

/* Forgets the oldest buffer. */
void spdl_sink_queue_drop (SpdlSinkQueue *self);

/* @buffer: (transfer none)
 * @caps: (transfer none) (nullable) */
void spdl_sink_queue_add_buffer (
    SpdlSinkQueue *self, GstBuffer *buffer, GstCaps *caps, gboolean exclusive);
void spdl_sink_queue_add_epoch (SpdlSinkQueue *self, guint64 epoch);
void spdl_sink_queue_add_eos (SpdlSinkQueue *self);

/* Takes what comes first, and waits for it, @timeout ns at most. A buffer and
 * its caps are the caller's then; the end of the stream stays.
 * @wakes: how many calls of wake() were seen.
 * @made_room: whether somebody waited for the room that there is now. */
SpdlSinkQueueResult
spdl_sink_queue_take (SpdlSinkQueue *self, GstClockTime timeout, guint *wakes,
    SpdlSinkItem *sink_item, gboolean *made_room);

/* Waits until a take() with as many @wakes would not wait, @timeout ns at most.
 * Returns whether that is so. */
gboolean
spdl_sink_queue_wait (SpdlSinkQueue *self, GstClockTime timeout, guint wakes);

/* Ends a take() or wait() that waits, or the next one that would. */
void spdl_sink_queue_wake (SpdlSinkQueue *self);

G_END_DECLS
