/* gst-spdl: private parts of spdlmix
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

#include "gst/spdl/stage/capsgate.h"
#include "plugins/core/mix/schedule.h"
#include "plugins/core/numberedpads.h"

G_BEGIN_DECLS

/* gstspdlmix.c has the element with its pads, properties and state changes.
 * mixflow.c handles data and events of the sink pads: each upstream thread
 * waits for its pad's turn and then pushes. mixturns.c determines the turns,
 * and ends epochs and the stream. */

typedef enum {
  SPDL_MIX_WEIGHTED,
  SPDL_MIX_ARRIVAL,
} SpdlMixOrder;

typedef enum {
  SPDL_MIX_FIRST,
  SPDL_MIX_ALL,
  SPDL_MIX_REPEAT,
} SpdlMixStop;

typedef enum {
  SPDL_MIX_ITEMS,
  SPDL_MIX_TOKENS,
} SpdlMixUnit;

typedef struct {
  guint64 seed;
  SpdlMixOrder order;
  SpdlMixStop stop;
  SpdlMixUnit unit;
  gdouble temperature;
  gchar *schedule; /* nullable */
} SpdlMixSettings;

/* A source that announced itself on a pad, and its position at the start. */
typedef struct {
  guint32 number;
  guint64 epoch;
  guint64 n_came;        /* items of that epoch that reached spdlmix */
  guint64 n_came_before; /* items of earlier epochs that reached it */
  guint64 n_ended;       /* epochs whose ends have left the pad */
  gboolean late;         /* joined in an epoch that the mix had already ended */
} SpdlMixSource;

#define GST_TYPE_SPDL_MIX_PAD (gst_spdl_mix_pad_get_type ())
G_DECLARE_FINAL_TYPE (
    GstSpdlMixPad, gst_spdl_mix_pad, GST, SPDL_MIX_PAD, GstSpdlNumberedPad)

struct _GstSpdlMixPad {
  GstSpdlNumberedPad base;

  gdouble weight; /* property, guarded by the object lock */

  /* Guarded by the lock of the mix. */
  SpdlCond called;     /* its thread waits on this */
  gboolean is_part;    /* linked at the start, or used later */
  gboolean flushing;   /* flushing or inactive */
  gboolean in_flush;   /* between flush-start and flush-stop */
  gboolean seen;       /* an item or an end has arrived */
  gboolean waiting;    /* its thread waits for its turn */
  guint64 ticket;      /* order of waiting threads */
  guint64 epoch;       /* of the waiting or last item */
  gboolean in_epoch;   /* an item of this epoch has arrived */
  GQueue pending_ends; /* GstEvent: ends that wait for the other pads */
  gboolean ended;
  GArray *sources; /* SpdlMixSource */
  gdouble used_weight;
  guint place; /* among the pads at the start */
  guint64 key;
  guint64 count; /* number of items or tokens, for the proportions */
  gdouble due;

  /* Only used by the streaming thread. */
  GstCaps *caps;
  GstEvent *segment;
};

#define GST_TYPE_SPDL_MIX (gst_spdl_mix_get_type ())
G_DECLARE_FINAL_TYPE (
    GstSpdlMix, gst_spdl_mix, GST, SPDL_MIX, GstSpdlNumberedPads)

struct _GstSpdlMix {
  GstSpdlNumberedPads base;

  SpdlMixSettings settings; /* properties, guarded by the object lock */

  /* Guarded by the lock. */
  SpdlCond idle;        /* the source pad is free, or a flush starts or ends */
  SpdlMixSettings used; /* settings since the start, without the schedule */
  SpdlMixStages *stages; /* nullable */
  gboolean begun;        /* each pad has received an item or an end */
  gboolean pushing;      /* a thread uses the source pad */
  gboolean settling;     /* a thread ends an epoch or the stream */
  guint n_flushing;      /* number of pads that are flushing */
  gboolean ending;       /* the end of a flush is being sent */
  guint n_flushes;       /* number of finished flushes */
  GstSpdlMixPad *turn;   /* nullable: pad whose turn it is */
  guint64 next_ticket;
  guint64 epoch; /* of the output */
  gboolean over;
  GstFlowReturn result; /* first push that failed; GST_FLOW_OK: none */

  /* Only used by the thread that has taken the source pad. */
  GstSpdlCapsGate gate;
  gboolean has_stream;
  GstEvent *segment;     /* last segment that was sent */
  GHashTable *announced; /* source number to seqnum of its event */
};

/* Sets the functions of a pad. */
void spdl_mix_flow_init_pad (GstSpdlMixPad *pad);
/* Resets the state of the output. */
void spdl_mix_flow_reset (GstSpdlMix *self);

/* Turns. All functions are called with the lock held; those that wait or push
 * release it meanwhile. */

/* Returns GST_FLOW_OK if the pad may continue; otherwise the result for its
 * upstream. */
GstFlowReturn
spdl_mix_get_result (const GstSpdlMix *self, const GstSpdlMixPad *pad);

/* Waits for the pad's turn and takes the source pad, or returns the reason why
 * the turn will not come. */
GstFlowReturn spdl_mix_await_turn (GstSpdlMix *self, GstSpdlMixPad *pad);

/* Takes the source pad, after waiting until no other thread uses it; and gives
 * it back. */
void spdl_mix_take_source_pad (GstSpdlMix *self);
void spdl_mix_give_source_pad (GstSpdlMix *self);

/* Returns TRUE if the ends of epochs and pads are handled in the pad's turn, in
 * order with the items of the other pads. */
gboolean spdl_mix_has_ends_in_turn (const GstSpdlMix *self);

/* Updates when the pad's next item is due, after its count has changed. */
void spdl_mix_update_due (GstSpdlMix *self, GstSpdlMixPad *pad);

/* Determines the pad whose turn it is after a change, and ends epochs and the
 * stream. */
void spdl_mix_schedule (GstSpdlMix *self);

/* Returns the source with this number; NULL if it has not announced itself on
 * the pad. */
SpdlMixSource *spdl_mix_find_source (const GstSpdlMixPad *pad, guint32 number);

/* Returns TRUE if the epoch of the mix continues after @event, an end of an
 * epoch in order of arrival, because its source joined later and is behind. */
gboolean spdl_mix_is_late_end (
    const GstSpdlMix *self, const GstSpdlMixPad *pad, GstEvent *event);

/* Records that an epoch ended on @pad, for stopping strategies in which pads do
 * not wait for each other. Returns TRUE if the epoch of the mix continues: with
 * `first-exhausted` it ends with the epoch of the pad that is furthest ahead,
 * with `all-exhausted` with that of the pad that is furthest behind. */
gboolean
spdl_mix_pass_end (GstSpdlMix *self, GstSpdlMixPad *pad, guint64 epoch);

/* Records the end of the pad's stream. */
void spdl_mix_end_pad (GstSpdlMix *self, GstSpdlMixPad *pad);

G_END_DECLS
