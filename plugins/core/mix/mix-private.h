/* gst-spdl: private parts of spdlmix
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

#include "gst/spdl/stage/capsgate.h"
#include "gst/spdl/stage/plainstats.h"

G_BEGIN_DECLS

/* gstspdlmix.c is the element, its pads, properties and states.
 * mixflow.c is what comes to them: each in its own thread, which waits for
 *   its turn and then pushes.
 * mixturns.c says whose turn it is, ends epochs, and the stream. */

typedef enum {
  SPDL_MIX_WEIGHTED,
  SPDL_MIX_ARRIVAL,
} SpdlMixOrder;

typedef enum {
  SPDL_MIX_FIRST,
  SPDL_MIX_ALL,
  SPDL_MIX_REPEAT,
} SpdlMixStop;

typedef struct {
  guint64 seed;
  SpdlMixOrder order;
  SpdlMixStop stop;
} SpdlMixSettings;

/* A source that announced itself on a pad, and where it began. */
typedef struct {
  guint32 number;
  guint64 epoch;
  guint64 n_came;        /* of that epoch, to spdlmix */
  guint64 n_came_before; /* of the epochs before */
} SpdlMixSource;

#define GST_TYPE_SPDL_MIX_PAD (gst_spdl_mix_pad_get_type ())
G_DECLARE_FINAL_TYPE (
    GstSpdlMixPad, gst_spdl_mix_pad, GST, SPDL_MIX_PAD, GstPad)

struct _GstSpdlMixPad {
  GstPad parent;

  gdouble weight; /* property, under the object's lock */
  guint number;   /* sink_%u */

  /* Under the mix's lock. */
  SpdlCond called;     /* its thread waits for this */
  gboolean is_part;    /* of this run: linked when it began, or later used */
  gboolean flushing;   /* or not active */
  gboolean in_flush;   /* from its start to its stop */
  gboolean seen;       /* it brought something, be it its end */
  gboolean waiting;    /* its thread, for its turn */
  guint64 ticket;      /* since when */
  guint64 epoch;       /* of what waits or came last */
  gboolean in_epoch;   /* an item of it came */
  GQueue pending_ends; /* GstEvent: ends of epochs that wait for other pads */
  gboolean ended;
  GArray *sources; /* SpdlMixSource */
  gdouble used_weight;
  guint64 key;
  guint64 count; /* items that came */
  gdouble due;
  guint64 n_items;          /* for the figures, since the start */
  guint64 n_interval_items; /* and in this interval */

  /* Its thread's. */
  GstCaps *caps;
  GstEvent *segment;
};

#define GST_TYPE_SPDL_MIX (gst_spdl_mix_get_type ())
G_DECLARE_FINAL_TYPE (GstSpdlMix, gst_spdl_mix, GST, SPDL_MIX, GstElement)

struct _GstSpdlMix {
  GstElement parent;

  GstPad *srcpad;
  GstSpdlPlainStats *stats;
  SpdlMixSettings settings; /* properties, under the object's lock */

  SpdlMutex lock;
  SpdlCond idle;        /* nobody pushes, and no flush is under way */
  GPtrArray *pads;      /* GstSpdlMixPad, owned, as they were requested */
  SpdlMixSettings used; /* from the start on */
  gboolean started;
  gboolean begun;      /* all pads have brought something */
  gboolean pushing;    /* a thread is at the source pad */
  gboolean settling;   /* a thread ends an epoch, or the stream */
  guint n_flushing;    /* pads */
  guint n_flushes;     /* that have ended */
  GstSpdlMixPad *turn; /* nullable */
  guint64 next_ticket;
  guint64 epoch; /* of the mix */
  gboolean over;
  GstFlowReturn result; /* of the last push */

  /* Of whoever pushes. */
  GstSpdlCapsGate gate;
  gboolean has_stream;
  GstEvent *segment;     /* the last one that was sent */
  GHashTable *announced; /* number of source to the event's sequence number */
};

/* A pad, and what comes to it. */
/* Forgets all of a run. */
void spdl_mix_pad_reset (GstSpdlMixPad *self);

/* For spdl_mix_pad_new(). */
void spdl_mix_flow_init_pad (GstSpdlMixPad *pad);
/* Forgets what was sent. */
void spdl_mix_flow_reset (GstSpdlMix *self);

/* Turns. All with the lock held, which those that wait or push let go of. */

/* Whether a pad may go on: GST_FLOW_OK, or what to tell its upstream. */
GstFlowReturn
spdl_mix_get_result (const GstSpdlMix *self, const GstSpdlMixPad *pad);

/* Waits for the pad's turn and takes the source pad, or returns the reason why
 * the turn will not come. */
GstFlowReturn spdl_mix_await_turn (GstSpdlMix *self, GstSpdlMixPad *pad);

/* Waits until nobody pushes, and takes the source pad; and gives it back. */
void spdl_mix_take_source_pad (GstSpdlMix *self);
void spdl_mix_give_source_pad (GstSpdlMix *self);

/* Whether ends of epochs, and of pads, have a place among other pads' items,
 * and come when it is the pad's turn. */
gboolean spdl_mix_has_ends_in_turn (const GstSpdlMix *self);

/* Updates when the pad's next item is due, after its count has changed. */
void spdl_mix_update_due (GstSpdlMix *self, GstSpdlMixPad *pad);

/* Determines the pad whose turn it is after a change, and ends epochs and the
 * stream. */
void spdl_mix_schedule (GstSpdlMix *self);

/* Where no pad waits for the others: an epoch has ended on @pad. Whether that
 * of the mix goes on: with `first-exhausted` it ends with that of the pad which
 * is ahead, with `all-exhausted` with that of the one which is behind. */
gboolean
spdl_mix_pass_end (GstSpdlMix *self, GstSpdlMixPad *pad, guint64 epoch);

/* Ends the pad. */
void spdl_mix_end_pad (GstSpdlMix *self, GstSpdlMixPad *pad);

G_END_DECLS
