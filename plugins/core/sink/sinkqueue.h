/* gst-spdl: queue of batches and ends of epochs in spdlsink
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

/* Removes all entries. */
void spdl_sink_queue_reset (SpdlSinkQueue *self);

/* Returns TRUE if there are fewer than @max buffers (0: no limit). If not,
 * take() reports when there are. */
gboolean spdl_sink_queue_has_room (SpdlSinkQueue *self, guint max);

/* Drops the oldest buffer. */
void spdl_sink_queue_drop (SpdlSinkQueue *self);

/* @buffer: (transfer none)
 * @caps: (transfer none) (nullable) */
void spdl_sink_queue_add_buffer (
    SpdlSinkQueue *self, GstBuffer *buffer, GstCaps *caps, gboolean exclusive);
void spdl_sink_queue_add_epoch (SpdlSinkQueue *self, guint64 epoch);
void spdl_sink_queue_add_eos (SpdlSinkQueue *self);

/* Takes the first entry, waiting at most @timeout ns. The caller owns a buffer
 * and its caps; the end of the stream stays in the queue.
 *
 * @wakes: number of wake() calls that were seen
 *
 * @made_room: whether a thread waited for the space that there is now */
SpdlSinkQueueResult
spdl_sink_queue_take (SpdlSinkQueue *self, GstClockTime timeout, guint *wakes,
    SpdlSinkItem *sink_item, gboolean *made_room);

/* Waits, at most @timeout ns, until take() with the same @wakes would not wait.
 * Returns TRUE if so. */
gboolean
spdl_sink_queue_wait (SpdlSinkQueue *self, GstClockTime timeout, guint wakes);

/* Wakes up a waiting take() or wait(), or the next one that would wait. */
void spdl_sink_queue_wake (SpdlSinkQueue *self);

G_END_DECLS
