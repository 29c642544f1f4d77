/* gst-spdl: order of the streams of spdlmix
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/marks.h"
#include "plugins/core/mix/mix-private.h"
#include "plugins/core/mix/proportion.h"

/* All functions are called with the lock held. */

static GstSpdlMixPad *
get_pad (const GstSpdlMix *self, guint i)
{
  return g_ptr_array_index (self->base.pads, i);
}

static gboolean
is_weighted (const GstSpdlMix *self)
{
  return self->used.order == SPDL_MIX_WEIGHTED;
}

gboolean
spdl_mix_has_ends_in_turn (const GstSpdlMix *self)
{
  return is_weighted (self) && self->used.stop != SPDL_MIX_ALL;
}

GstFlowReturn
spdl_mix_get_result (const GstSpdlMix *self, const GstSpdlMixPad *pad)
{
  if (pad->flushing)
    return GST_FLOW_FLUSHING;
  return self->over ? GST_FLOW_EOS : self->result;
}

/* Source pad */

void
spdl_mix_take_source_pad (GstSpdlMix *self)
{
  while (self->pushing)
    spdl_cond_wait (&self->idle, &self->base.lock);
  self->pushing = TRUE;
}

void
spdl_mix_give_source_pad (GstSpdlMix *self)
{
  self->pushing = FALSE;
  spdl_cond_broadcast (&self->idle);
  if (self->turn)
    spdl_cond_signal (&self->turn->called);
}

GstFlowReturn
spdl_mix_await_turn (GstSpdlMix *self, GstSpdlMixPad *pad)
{
  GstFlowReturn ret;

  pad->seen = pad->waiting = TRUE;
  pad->ticket = self->next_ticket++;
  spdl_mix_schedule (self);
  while ((ret = spdl_mix_get_result (self, pad)) == GST_FLOW_OK &&
         (self->turn != pad || self->pushing))
    spdl_cond_wait (&pad->called, &self->base.lock);
  pad->waiting = FALSE;
  if (ret == GST_FLOW_OK)
    self->pushing = TRUE;
  else if (self->turn == pad)
    self->turn = NULL;
  return ret;
}

/* Positions */

/* Returns the number of items of @pad that reached spdlmix before this run,
 * according to the resume states of the sources: in the current epoch or, if
 * ends are handled in turn, in all epochs. */
static guint64
find_place (const GstSpdlMix *self, const GstSpdlMixPad *pad)
{
  const gboolean all = spdl_mix_has_ends_in_turn (self);
  guint64 n = 0;

  for (guint i = 0; i < pad->sources->len; i++) {
    const SpdlMixSource *source =
        &g_array_index (pad->sources, SpdlMixSource, i);

    if (all)
      n += source->n_came_before + source->n_came;
    else if (source->epoch == self->epoch)
      n += source->n_came;
  }
  return n;
}

void
spdl_mix_update_due (GstSpdlMix *self, GstSpdlMixPad *pad)
{
  /* A schedule has a stage of weight 1 for the place of the item. */
  pad->due =
      self->stages
          ? spdl_mix_stages_get_due (self->stages, pad->place,
                spdl_proportion_get_due (pad->key, 1, pad->count))
          : spdl_proportion_get_due (pad->key, pad->used_weight, pad->count);
}

static void
begin_epoch (GstSpdlMix *self)
{
  const guint64 epoch = spdl_mix_has_ends_in_turn (self) ? 0 : self->epoch;

  for (guint i = 0; i < self->base.pads->len; i++) {
    GstSpdlMixPad *pad = get_pad (self, i);

    pad->count = find_place (self, pad);
    pad->key =
        spdl_proportion_get_key (self->used.seed, epoch, pad->base.number);
    spdl_mix_update_due (self, pad);
  }
}

/* Ends of epochs that all pads wait for */

static guint64
get_held_epoch (const GstSpdlMixPad *pad)
{
  guint64 epoch = 0;

  gst_spdl_event_parse_epoch (
      g_queue_peek_tail ((GQueue *) &pad->pending_ends), NULL, &epoch, NULL);
  return epoch;
}

static gboolean
is_closed (const GstSpdlMixPad *pad)
{
  return !g_queue_is_empty ((GQueue *) &pad->pending_ends);
}

/* Returns the epoch of @pad's items, or the one whose end it has reached. */
static guint64
get_epoch (const GstSpdlMixPad *pad)
{
  return is_closed (pad) ? get_held_epoch (pad) : pad->epoch;
}

/* Returns the lowest epoch of the pads that have not ended, or G_MAXUINT64. */
static guint64
find_lowest_epoch (const GstSpdlMix *self)
{
  guint64 lowest = G_MAXUINT64;

  for (guint i = 0; i < self->base.pads->len; i++) {
    const GstSpdlMixPad *pad = get_pad (self, i);

    if (pad->is_part && (is_closed (pad) || !pad->ended))
      lowest = MIN (lowest, get_epoch (pad));
  }
  return lowest;
}

static gboolean
is_past (const GstSpdlMixPad *pad, guint64 epoch)
{
  return !pad->is_part || pad->ended || is_closed (pad) || pad->epoch > epoch;
}

/* Returns TRUE if all pads have reached the end of @epoch, and not all of them
 * have ended. */
static gboolean
has_come_to_end (const GstSpdlMix *self, guint64 epoch)
{
  gboolean any = FALSE;

  for (guint i = 0; i < self->base.pads->len; i++) {
    const GstSpdlMixPad *pad = get_pad (self, i);

    if (!is_past (pad, epoch))
      return FALSE;
    any |= pad->is_part && (is_closed (pad) || !pad->ended);
  }
  return any;
}

/* Ends of epochs in order of arrival. The branches of spdlroute have the same
 * sources, whose ends reach all of them in the same order, but not at the same
 * time: an end waits until each branch has come to it. */

SpdlMixSource *
spdl_mix_find_source (const GstSpdlMixPad *pad, guint32 number)
{
  for (guint i = 0; i < pad->sources->len; i++)
    if (g_array_index (pad->sources, SpdlMixSource, i).number == number)
      return &g_array_index (pad->sources, SpdlMixSource, i);
  return NULL;
}

/* Returns TRUE if all sources of the pad joined in a later epoch of the mix
 * than their own. Their ends are partial, and ends of other sources do not wait
 * for them, which would stop all other pads for the epochs in between. */
static gboolean
is_late (const GstSpdlMixPad *pad)
{
  for (guint i = 0; i < pad->sources->len; i++)
    if (!g_array_index (pad->sources, SpdlMixSource, i).late)
      return FALSE;
  return pad->sources->len > 0;
}

gboolean
spdl_mix_is_late_end (
    const GstSpdlMix *self, const GstSpdlMixPad *pad, GstEvent *event)
{
  const SpdlMixSource *source;
  guint32 number;
  guint64 epoch;

  gst_spdl_event_parse_epoch (event, &number, &epoch, NULL);
  if (is_weighted (self) || !(source = spdl_mix_find_source (pad, number)) ||
      !source->late)
    return FALSE;
  /* When the others are gone, the mix has the epochs of the one that is
   * furthest ahead. */
  for (guint i = 0; i < self->base.pads->len; i++) {
    const GstSpdlMixPad *other = get_pad (self, i);

    if (other->is_part && !other->ended &&
        (!is_late (other) || get_epoch (other) > epoch))
      return TRUE;
  }
  return FALSE;
}

static GstEvent *
get_held (const GstSpdlMixPad *pad)
{
  return g_queue_peek_tail ((GQueue *) &pad->pending_ends);
}

/* Returns TRUE if no item before the end @event of another pad may come on
 * @pad. */
static gboolean
has_come_to (const GstSpdlMixPad *pad, GstEvent *event)
{
  const gboolean partial = gst_spdl_event_is_partial_epoch (event);
  GstEvent *held = get_held (pad);
  const SpdlMixSource *source;
  guint32 number, other;
  guint64 epoch, held_epoch = 0;

  if (!pad->is_part || pad->ended)
    return TRUE;
  gst_spdl_event_parse_epoch (event, &number, &epoch, NULL);
  if (held)
    gst_spdl_event_parse_epoch (held, &other, &held_epoch, NULL);
  if (held && other == number && held_epoch >= epoch)
    return TRUE;
  if ((source = spdl_mix_find_source (pad, number)))
    return source->n_ended > epoch;
  /* A pad with other sources is not affected by a partial end. */
  if ((partial && pad->sources->len > 0) || is_late (pad))
    return TRUE;
  return pad->epoch > epoch || (held && held_epoch >= epoch &&
                                   !gst_spdl_event_is_partial_epoch (held));
}

static gboolean
have_all_come_to (const GstSpdlMix *self, GstEvent *event)
{
  for (guint i = 0; i < self->base.pads->len; i++)
    if (!has_come_to (get_pad (self, i), event))
      return FALSE;
  return TRUE;
}

static gboolean
have_all_closed (const GstSpdlMix *self)
{
  for (guint i = 0; i < self->base.pads->len; i++) {
    const GstSpdlMixPad *pad = get_pad (self, i);

    if (pad->is_part && !pad->ended && !is_closed (pad))
      return FALSE;
  }
  return TRUE;
}

/* Returns the lowest epoch of the ends that need not wait any more, or
 * G_MAXUINT64. */
static guint64
find_arrived_epoch (const GstSpdlMix *self)
{
  guint64 lowest = G_MAXUINT64;

  for (guint i = 0; i < self->base.pads->len; i++) {
    const GstSpdlMixPad *pad = get_pad (self, i);

    if (is_closed (pad) && get_held_epoch (pad) < lowest &&
        have_all_come_to (self, get_held (pad)))
      lowest = get_held_epoch (pad);
  }
  return lowest;
}

static gboolean
find_end (const GstSpdlMix *self, guint64 *epoch)
{
  /* During a flush, downstream drops what arrives. */
  if (self->n_flushing > 0 || spdl_mix_has_ends_in_turn (self) ||
      self->used.stop != SPDL_MIX_ALL || (is_weighted (self) && !self->begun))
    return FALSE;
  if (is_weighted (self)) {
    *epoch = self->epoch;
    return has_come_to_end (self, *epoch);
  }
  *epoch = find_arrived_epoch (self);
  /* Branches with ends in different orders would wait for each other. */
  if (*epoch == G_MAXUINT64 && have_all_closed (self))
    *epoch = find_lowest_epoch (self);
  return *epoch != G_MAXUINT64;
}

/* Returns TRUE if @events contains the end of the same epoch of the same
 * source. */
static gboolean
has_event (GPtrArray *events, GstEvent *event)
{
  guint32 source, other;
  guint64 epoch, other_epoch;

  gst_spdl_event_parse_epoch (event, &source, &epoch, NULL);
  for (guint i = 0; i < events->len; i++) {
    gst_spdl_event_parse_epoch (
        g_ptr_array_index (events, i), &other, &other_epoch, NULL);
    if (source == other && epoch == other_epoch)
      return TRUE;
  }
  return FALSE;
}

/* Returns the pads with ends of epochs up to @epoch that need not wait. */
static GPtrArray *
find_closed (const GstSpdlMix *self, guint64 epoch)
{
  const gboolean all =
      is_weighted (self) || find_arrived_epoch (self) == G_MAXUINT64;
  GPtrArray *pads = g_ptr_array_new ();

  for (guint i = 0; i < self->base.pads->len; i++) {
    GstSpdlMixPad *pad = get_pad (self, i);

    if (is_closed (pad) && get_held_epoch (pad) <= epoch &&
        (all || have_all_come_to (self, get_held (pad))))
      g_ptr_array_add (pads, pad);
  }
  return pads;
}

/* Opens a pad after the end @event that it held. */
static void
open_pad (GstSpdlMixPad *pad, GstEvent *event)
{
  SpdlMixSource *source;
  guint32 number;
  guint64 epoch;

  gst_spdl_event_parse_epoch (event, &number, &epoch, NULL);
  if ((source = spdl_mix_find_source (pad, number)))
    source->n_ended = MAX (source->n_ended, epoch + 1);
  /* After a partial end, other sources are still in the epoch. */
  if (!gst_spdl_event_is_partial_epoch (event))
    pad->epoch = MAX (pad->epoch, epoch + 1);
  /* The thread may wait to add a further end. */
  spdl_cond_signal (&pad->called);
}

/* Takes the pending ends of epochs up to @epoch, without duplicates from
 * several pads. */
static GPtrArray *
take_held (GstSpdlMix *self, guint64 epoch)
{
  GPtrArray *events =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_event_unref);
  g_autoptr (GPtrArray) pads = find_closed (self, epoch);

  for (guint i = 0; i < pads->len; i++) {
    GstSpdlMixPad *pad = g_ptr_array_index (pads, i);
    GstEvent *event = g_queue_pop_head (&pad->pending_ends);

    open_pad (pad, event);
    if (has_event (events, event))
      gst_event_unref (event);
    else
      g_ptr_array_add (events, event);
  }
  return events;
}

/* Releases the lock to push the events. All but the last one are marked as
 * partial, so the epoch of the mix ends with the last one. */
static void
push_ends (GstSpdlMix *self, GPtrArray *events)
{
  gboolean partial = TRUE;

  for (guint i = 0; i < events->len; i++)
    partial &= gst_spdl_event_is_partial_epoch (g_ptr_array_index (events, i));
  spdl_mutex_unlock (&self->base.lock);
  for (guint i = 0; i < events->len; i++) {
    GstEvent *event = gst_event_ref (g_ptr_array_index (events, i));

    gst_spdl_caps_gate_push_event (
        &self->gate, gst_spdl_event_set_partial_epoch (
                         event, partial || i + 1 < events->len));
  }
  spdl_mutex_lock (&self->base.lock);
}

/* Pushes the pending ends of an epoch, and starts the next one. Releases the
 * lock meanwhile. */
static void
end_epoch (GstSpdlMix *self)
{
  GPtrArray *events;
  guint64 epoch;

  self->turn = NULL;
  spdl_mix_take_source_pad (self);
  /* The lock was released, so check again. */
  if (find_end (self, &epoch)) {
    events = take_held (self, epoch);
    push_ends (self, events);
    self->epoch = events->len > 0 ? MAX (self->epoch, epoch + 1)
                                  : find_lowest_epoch (self);
    g_ptr_array_unref (events);
    begin_epoch (self);
  }
  spdl_mix_give_source_pad (self);
}

/* End of the stream */

static gboolean
have_all_ended (const GstSpdlMix *self)
{
  gboolean any = FALSE;

  for (guint i = 0; i < self->base.pads->len; i++) {
    const GstSpdlMixPad *pad = get_pad (self, i);

    if (pad->is_part && !pad->ended)
      return FALSE;
    any |= pad->is_part;
  }
  return any;
}

static void
call_all (GstSpdlMix *self)
{
  for (guint i = 0; i < self->base.pads->len; i++)
    spdl_cond_signal (&get_pad (self, i)->called);
}

/* Pushes the end of the stream. Releases the lock meanwhile; waiting threads
 * return GST_FLOW_EOS. */
static void
end_stream (GstSpdlMix *self)
{
  self->over = TRUE;
  self->turn = NULL;
  call_all (self);
  spdl_mix_take_source_pad (self);
  spdl_mutex_unlock (&self->base.lock);
  gst_spdl_plain_stats_finish (self->base.parent.stats);
  gst_spdl_caps_gate_push_event (&self->gate, gst_event_new_eos ());
  spdl_mutex_lock (&self->base.lock);
  spdl_mix_give_source_pad (self);
}

/* Returns the number of epochs that were completed by the pad that is furthest
 * ahead with `first-exhausted`, or by the unfinished pad that is furthest
 * behind with `all-exhausted`. */
static guint64
find_extreme_epoch (const GstSpdlMix *self)
{
  const gboolean first = self->used.stop == SPDL_MIX_FIRST;
  guint64 extreme = first ? 0 : G_MAXUINT64;

  for (guint i = 0; i < self->base.pads->len; i++) {
    const GstSpdlMixPad *pad = get_pad (self, i);

    if (!pad->is_part)
      continue;
    if (first)
      extreme = MAX (extreme, pad->epoch);
    else if (!pad->ended)
      extreme = MIN (extreme, pad->epoch);
  }
  return extreme;
}

/* Returns TRUE if with `all-exhausted` all pads have completed as many epochs
 * as a pad whose stream has ended. */
static gboolean
have_all_come_round (const GstSpdlMix *self)
{
  const guint64 behind = find_extreme_epoch (self);

  for (guint i = 0; i < self->base.pads->len; i++) {
    const GstSpdlMixPad *pad = get_pad (self, i);

    if (pad->is_part && pad->ended && pad->epoch <= behind)
      return TRUE;
  }
  return FALSE;
}

static gboolean
has_any_ended (const GstSpdlMix *self)
{
  for (guint i = 0; i < self->base.pads->len; i++)
    if (get_pad (self, i)->is_part && get_pad (self, i)->ended)
      return TRUE;
  return FALSE;
}

static gboolean
is_over (const GstSpdlMix *self)
{
  if (have_all_ended (self))
    return TRUE;
  switch (self->used.stop) {
    case SPDL_MIX_FIRST:
      return has_any_ended (self);
    case SPDL_MIX_REPEAT:
      return have_all_come_round (self);
    default:
      return FALSE;
  }
}

gboolean
spdl_mix_pass_end (GstSpdlMix *self, GstSpdlMixPad *pad, guint64 epoch)
{
  const guint64 before = find_extreme_epoch (self);

  pad->epoch = epoch + 1;
  pad->in_epoch = FALSE;
  return find_extreme_epoch (self) == before;
}

void
spdl_mix_end_pad (GstSpdlMix *self, GstSpdlMixPad *pad)
{
  pad->seen = pad->ended = TRUE;
  pad->epoch += pad->in_epoch;
  pad->in_epoch = FALSE;
  if (self->turn == pad)
    self->turn = NULL;
  spdl_mix_schedule (self);
}

/* Turns */

/* Returns the pad whose item is due first, among those that have not ended. */
static GstSpdlMixPad *
find_due (const GstSpdlMix *self)
{
  const gboolean in_turn = spdl_mix_has_ends_in_turn (self);
  GstSpdlMixPad *first = NULL;

  for (guint i = 0; i < self->base.pads->len; i++) {
    GstSpdlMixPad *pad = get_pad (self, i);

    if (!pad->is_part || pad->ended || (!in_turn && is_past (pad, self->epoch)))
      continue;
    if (!first || pad->due < first->due ||
        (pad->due == first->due && pad->base.number < first->base.number))
      first = pad;
  }
  return first;
}

static GstSpdlMixPad *
find_waiting (const GstSpdlMix *self)
{
  GstSpdlMixPad *first = NULL;

  for (guint i = 0; i < self->base.pads->len; i++) {
    GstSpdlMixPad *pad = get_pad (self, i);

    if (pad->waiting && !is_closed (pad) &&
        (!first || pad->ticket < first->ticket))
      first = pad;
  }
  return first;
}

static void
begin_order (GstSpdlMix *self)
{
  for (guint i = 0; i < self->base.pads->len; i++)
    if (get_pad (self, i)->is_part && !get_pad (self, i)->seen)
      return;
  self->begun = TRUE;
  begin_epoch (self);
}

void
spdl_mix_schedule (GstSpdlMix *self)
{
  guint64 epoch;

  /* The thread that is settling repeats its checks. */
  if (self->settling || self->over || !self->base.started)
    return;
  self->settling = TRUE;
  if (!self->begun && is_weighted (self))
    begin_order (self);
  while (find_end (self, &epoch))
    end_epoch (self);
  self->settling = FALSE;
  if (self->n_flushing > 0) {
    self->turn = NULL;
    return;
  }
  if ((self->begun || !is_weighted (self)) && is_over (self)) {
    end_stream (self);
    return;
  }
  if (is_weighted (self))
    self->turn = self->begun ? find_due (self) : NULL;
  else
    self->turn = find_waiting (self);
  if (self->turn && !self->pushing)
    spdl_cond_signal (&self->turn->called);
}
