/* gst-spdl: what has come to the sink, for a loader
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
} SpdlArrival;

typedef struct {
  SpdlMutex lock;
  SpdlCond arrived;
  GQueue queue; /* SpdlArrival */
  guint n_buffers;
  gboolean eos;       /* behind them all */
  guint64 next_epoch; /* that has not ended yet */
  gboolean is_full;   /* somebody waits for room */
  guint n_wakes;
} SpdlArrivals;

typedef enum {
  SPDL_ARRIVED_NOTHING, /* in time */
  SPDL_ARRIVED_WAKE,
  SPDL_ARRIVED_BUFFER,
  SPDL_ARRIVED_EPOCH,
  SPDL_ARRIVED_EOS,
} SpdlArrived;

void spdl_arrivals_init (SpdlArrivals *self);
void spdl_arrivals_clear (SpdlArrivals *self);

/* Forgets all that came. */
void spdl_arrivals_reset (SpdlArrivals *self);

/* Whether there are fewer than @max buffers (0: no limit). If not, take() will
 * tell when there are. */
gboolean spdl_arrivals_has_room (SpdlArrivals *self, guint max);

/* Forgets the oldest buffer. */
void spdl_arrivals_drop (SpdlArrivals *self);

/* @buffer: (transfer none)
 * @caps: (transfer none) (nullable) */
void spdl_arrivals_add_buffer (
    SpdlArrivals *self, GstBuffer *buffer, GstCaps *caps, gboolean exclusive);
void spdl_arrivals_add_epoch (SpdlArrivals *self, guint64 epoch);
void spdl_arrivals_add_eos (SpdlArrivals *self);

/* Takes what comes first, and waits for it, @timeout ns at most. A buffer and
 * its caps are the caller's then; the end of the stream stays.
 * @wakes: how many calls of wake() were seen.
 * @made_room: whether somebody waited for the room that there is now. */
SpdlArrived spdl_arrivals_take (SpdlArrivals *self, GstClockTime timeout,
    guint *wakes, SpdlArrival *arrival, gboolean *made_room);

/* Waits until a take() with as many @wakes would not wait, @timeout ns at most.
 * Returns whether that is so. */
gboolean
spdl_arrivals_wait (SpdlArrivals *self, GstClockTime timeout, guint wakes);

/* Ends a take() or wait() that waits, or the next one that would. */
void spdl_arrivals_wake (SpdlArrivals *self);

G_END_DECLS
