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

/* Queue of buffers and ends of epochs, from one thread to another. Consecutive
 * ends of epochs share an entry, so there are at most 2 n + 1 entries for n
 * buffers. If several sources end the same epoch, the first end counts. */

typedef struct {
  GstBuffer *buffer;  /* NULL: end of an epoch */
  GstCaps *caps;      /* nullable */
  gboolean exclusive; /* no other references exist */
  guint64 epoch;      /* epoch that ended; in the queue, the first one */
  guint64 n_epochs;   /* number of consecutive epochs, in the queue only */
  gchar *state;       /* nullable: resume state after the last of them */
} SpdlSinkItem;

typedef struct {
  SpdlMutex lock;
  SpdlCond arrived;
  GQueue queue; /* SpdlSinkItem */
  guint n_buffers;
  gboolean eos;       /* after all entries */
  guint64 next_epoch; /* first epoch that has not ended */
  gboolean is_full;   /* a thread waits for space */
  guint n_wakes;
} SpdlSinkQueue;

typedef enum {
  SPDL_SINK_QUEUE_RESULT_NOTHING, /* timeout */
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
 * spdl_sink_queue_take() will report when there is space again. */
gboolean spdl_sink_queue_has_room (SpdlSinkQueue *self, guint max);

/* Drops the oldest buffer. */
void spdl_sink_queue_drop (SpdlSinkQueue *self);

/* @buffer: (transfer none)
 * @caps: (transfer none) (nullable) */
void spdl_sink_queue_add_buffer (
    SpdlSinkQueue *self, GstBuffer *buffer, GstCaps *caps, gboolean exclusive);
/* @state: (transfer full) (nullable): resume state at the end of @epoch */
void
spdl_sink_queue_add_epoch (SpdlSinkQueue *self, guint64 epoch, gchar *state);
void spdl_sink_queue_add_eos (SpdlSinkQueue *self);

/* Takes the first entry, waiting at most @timeout ns. The caller owns the
 * buffer, its caps and the state; the end of the stream stays in the queue.
 *
 * @wakes: (inout): number of spdl_sink_queue_wake() calls that were seen
 * @made_room: (out): whether a thread waited for space that is available now */
SpdlSinkQueueResult
spdl_sink_queue_take (SpdlSinkQueue *self, GstClockTime timeout, guint *wakes,
    SpdlSinkItem *sink_item, gboolean *made_room);

/* Waits at most @timeout ns until spdl_sink_queue_take() with the same @wakes
 * would not block. Returns TRUE if it would not. */
gboolean
spdl_sink_queue_wait (SpdlSinkQueue *self, GstClockTime timeout, guint wakes);

/* Interrupts a blocked spdl_sink_queue_take() or spdl_sink_queue_wait(), or the
 * next one that would block. */
void spdl_sink_queue_wake (SpdlSinkQueue *self);

G_END_DECLS
