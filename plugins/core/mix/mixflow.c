/* gst-spdl: data flow of spdlmix
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/bufferitems.h"
#include "gst/spdl/common/marks.h"
#include "gst/spdl/progress/state.h"
#include "gst/spdl/stage/capsgate.h"
#include "gst/spdl/stage/failure.h"
#include "plugins/core/mix/mix-private.h"
#include "plugins/core/pack/document.h"

static gboolean
is_same_segment (GstEvent *a, GstEvent *b)
{
  const GstSegment *one, *other;

  if (!a || !b)
    return a == b;
  gst_event_parse_segment (a, &one);
  gst_event_parse_segment (b, &other);
  return gst_segment_is_equal (one, other);
}

/* Items */

/* Sends the segment and caps of @pad before its item, if they differ from the
 * previous ones. */
static void
prepare_pad (GstSpdlMix *self, GstSpdlMixPad *pad)
{
  if (pad->segment && !is_same_segment (pad->segment, self->segment)) {
    gst_event_replace (&self->segment, pad->segment);
    gst_spdl_caps_gate_push_event (&self->gate, gst_event_ref (pad->segment));
  }
  gst_spdl_caps_gate_open (&self->gate, pad->caps);
}

/* A buffer or a group, which is pushed in one turn. */
typedef struct {
  GstBuffer *buffer;   /* or */
  GstBufferList *list; /* alternatively: a group */
  GstBuffer *first;
  guint n_items;
  gsize bytes;
  guint64 n_units; /* items or tokens, for the proportions */
} Load;

static GstFlowReturn
push_load (GstSpdlMix *self, const Load *load)
{
  return load->list ? gst_pad_push_list (self->base.parent.srcpad, load->list)
                    : gst_pad_push (self->base.parent.srcpad, load->buffer);
}

static void
drop_load (const Load *load)
{
  if (load->list)
    gst_buffer_list_unref (load->list);
  else
    gst_buffer_unref (load->buffer);
}

/* Lock held. Handles GST_FLOW_FLUSHING from a push. If another pad was flushed,
 * the item is lost but this pad continues: waits until the flush has ended and
 * returns GST_FLOW_OK. */
static GstFlowReturn
look_at_flush (GstSpdlMix *self, GstSpdlMixPad *pad, guint n_flushes)
{
  if (self->n_flushing == 0 && self->n_flushes == n_flushes)
    return GST_FLOW_FLUSHING;
  while (self->n_flushing > 0 && !pad->flushing)
    spdl_cond_wait (&self->idle, &self->base.lock);
  return pad->flushing ? GST_FLOW_FLUSHING : GST_FLOW_OK;
}

/* Lock held. Updates counts and turns after a push. */
static GstFlowReturn
finish_pass (GstSpdlMix *self, GstSpdlMixPad *pad, const Load *load,
    GstFlowReturn ret, guint n_flushes)
{
  pad->count += load->n_units;
  spdl_numbered_pad_count (&pad->base, load->n_items);
  pad->in_epoch = TRUE;
  spdl_mix_update_due (self, pad);
  spdl_mix_give_source_pad (self);
  if (ret == GST_FLOW_FLUSHING)
    ret = look_at_flush (self, pad, n_flushes);
  else if (ret != GST_FLOW_OK && self->result == GST_FLOW_OK)
    self->result = ret;
  spdl_mix_schedule (self);
  if (self->result != GST_FLOW_OK)
    for (guint i = 0; i < self->base.pads->len; i++)
      spdl_cond_signal (
          &GST_SPDL_MIX_PAD (g_ptr_array_index (self->base.pads, i))->called);
  return ret;
}

static void
note_wait (GstSpdlMix *self, const Load *load, guint64 since)
{
  GstSpdlPlainStats *stats = self->base.parent.stats;

  spdl_mutex_lock (&stats->lock);
  spdl_histogram_add (
      &stats->meter.interval.put_time, spdl_meter_now (&stats->meter) - since);
  stats->meter.interval.items += load->n_items;
  stats->meter.interval.bytes_in += load->bytes;
  stats->meter.interval.bytes_out += load->bytes;
  spdl_mutex_unlock (&stats->lock);
}

/* Lock held. Notes the epoch of an item. */
static void
note_item (GstSpdlMixPad *pad, const GstSpdlItemMeta *item)
{
  SpdlMixSource *source = spdl_mix_find_source (pad, item->source);

  pad->epoch = MAX (pad->epoch, item->epoch);
  if (source)
    source->n_ended = MAX (source->n_ended, item->epoch);
}

/* Pushes a buffer or a group in the pad's turn. The lock is not held during the
 * push; `pushing` keeps other threads from the source pad. */
static GstFlowReturn
pass_load (GstSpdlMix *self, GstSpdlMixPad *pad, const Load *load)
{
  const guint64 since = spdl_meter_now (&self->base.parent.stats->meter);
  const GstSpdlItemMeta *item = spdl_buffer_get_first_item (load->first);
  GstFlowReturn ret;
  guint n_flushes;

  spdl_mutex_lock (&self->base.lock);
  pad->is_part = TRUE;
  if (item)
    note_item (pad, item);
  ret = spdl_mix_await_turn (self, pad);
  n_flushes = self->n_flushes;
  spdl_mutex_unlock (&self->base.lock);
  if (ret != GST_FLOW_OK) {
    drop_load (load);
    return ret;
  }
  note_wait (self, load, since);
  prepare_pad (self, pad);
  ret = push_load (self, load);
  spdl_mutex_lock (&self->base.lock);
  ret = finish_pass (self, pad, load, ret, n_flushes);
  spdl_mutex_unlock (&self->base.lock);
  return ret;
}

/* Counts the tokens of an item for the proportions, and notes them for the
 * resume state. @buffer: (inout) */
static gboolean
count_tokens (
    GstSpdlMixPad *pad, GstBuffer **buffer, Load *load, GError **error)
{
  GstSpdlItemMeta *item;
  guint64 n;

  if (!spdl_document_count (*buffer, pad->caps, &n, error))
    return FALSE;
  load->n_units += n;
  *buffer = gst_buffer_make_writable (*buffer);
  if ((item = gst_spdl_buffer_get_item_meta (*buffer)))
    item->num_tokens = MIN (n, G_MAXUINT32);
  return TRUE;
}

static gboolean
count_units (GstSpdlMix *self, GstSpdlMixPad *pad, Load *load, GError **error)
{
  gboolean ok = TRUE;

  load->n_units = load->n_items;
  if (G_LIKELY (self->used.unit == SPDL_MIX_ITEMS))
    return TRUE;
  load->n_units = 0;
  if (!load->list) {
    ok = count_tokens (pad, &load->buffer, load, error);
    load->first = load->buffer;
    return ok;
  }
  load->list = gst_buffer_list_make_writable (load->list);
  for (guint i = 0; i < gst_buffer_list_length (load->list) && ok; i++) {
    GstBuffer *buffer = gst_buffer_ref (gst_buffer_list_get (load->list, i));

    ok = count_tokens (pad, &buffer, load, error);
    gst_buffer_list_remove (load->list, i, 1);
    gst_buffer_list_insert (load->list, i, buffer);
  }
  load->first = gst_buffer_list_get (load->list, 0);
  return ok;
}

/* Counts and passes. An item without a number of tokens ends the stream of the
 * pad with an error. */
static GstFlowReturn
count_and_pass (GstSpdlMix *self, GstSpdlMixPad *pad, Load *load)
{
  g_autoptr (GError) error = NULL;

  if (count_units (self, pad, load, &error))
    return pass_load (self, pad, load);
  gst_spdl_post_error (GST_ELEMENT (self), error);
  drop_load (load);
  return GST_FLOW_EOS;
}

static GstFlowReturn
mix_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  Load load = { buffer, NULL, buffer, spdl_buffer_count_items (buffer),
    gst_buffer_get_size (buffer), 0 };

  return count_and_pass (GST_SPDL_MIX (parent), GST_SPDL_MIX_PAD (pad), &load);
}

static GstFlowReturn
mix_chain_list (GstPad *pad, GstObject *parent, GstBufferList *list)
{
  const guint n = gst_buffer_list_length (list);
  Load load = { NULL, list, NULL, 0, 0, 0 };

  if (n == 0) {
    gst_buffer_list_unref (list);
    return GST_FLOW_OK;
  }
  load.first = gst_buffer_list_get (list, 0);
  for (guint i = 0; i < n; i++) {
    load.n_items += spdl_buffer_count_items (gst_buffer_list_get (list, i));
    load.bytes += gst_buffer_get_size (gst_buffer_list_get (list, i));
  }
  return count_and_pass (GST_SPDL_MIX (parent), GST_SPDL_MIX_PAD (pad), &load);
}

/* Events */

/* Lock held, source pad taken. Pushes the event and gives the source pad back.
 * @event: (transfer full) */
static void
push_event_and_give (GstSpdlMix *self, GstEvent *event)
{
  spdl_mutex_unlock (&self->base.lock);
  gst_spdl_caps_gate_push_event (&self->gate, event);
  spdl_mutex_lock (&self->base.lock);
  spdl_mix_give_source_pad (self);
}

/* Lock held. Takes the source pad, after the flushes of other pads: downstream
 * would drop an event before their end. */
static void
take_open_source_pad (GstSpdlMix *self, const GstSpdlMixPad *pad)
{
  while (self->pushing || (self->n_flushing > 0 && !pad->flushing))
    spdl_cond_wait (&self->idle, &self->base.lock);
  self->pushing = TRUE;
}

/* Pushes an event immediately, between two items. @event: (transfer full) */
static gboolean
push_event (GstSpdlMix *self, GstSpdlMixPad *pad, GstEvent *event)
{
  spdl_mutex_lock (&self->base.lock);
  take_open_source_pad (self, pad);
  push_event_and_give (self, event);
  spdl_mutex_unlock (&self->base.lock);
  return TRUE;
}

/* Lock held, source pad taken. Pushes an event that arrives on several pads
 * only the first time. The other pads wait until it was sent, so that no item
 * overtakes it. @event: (transfer full) */
static void
push_event_once (GstSpdlMix *self, GstEvent *event, gboolean is_first)
{
  if (is_first) {
    push_event_and_give (self, event);
  } else {
    spdl_mix_give_source_pad (self);
    gst_event_unref (event);
  }
}

/* Sends only the first stream-start event. */
static gboolean
handle_stream_start (GstSpdlMix *self, GstSpdlMixPad *pad, GstEvent *event)
{
  gboolean first;

  spdl_mutex_lock (&self->base.lock);
  pad->is_part = TRUE;
  pad->ended &= self->over;
  take_open_source_pad (self, pad);
  first = !self->has_stream;
  self->has_stream = TRUE;
  push_event_once (self, event, first);
  spdl_mutex_unlock (&self->base.lock);
  return TRUE;
}

static gboolean
handle_caps (GstSpdlMixPad *pad, GstEvent *event)
{
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  gst_caps_replace (&pad->caps, caps);
  gst_event_unref (event);
  return TRUE;
}

/* Lock held. Records the start position of a source, from which the position of
 * the mix is derived. Returns FALSE if it is unknown. */
static gboolean
note_source (GstSpdlMix *self, GstSpdlMixPad *pad, guint32 number,
    guint64 n_items, const gchar *text)
{
  g_auto (SpdlState) state = { 0 };
  g_autofree gchar *problem = NULL;
  const SpdlProgress *progress = &state.progress;
  SpdlMixSource source = { .number = number };
  gboolean known = TRUE;

  for (guint i = pad->sources->len; i > 0; i--)
    if (g_array_index (pad->sources, SpdlMixSource, i - 1).number == number)
      g_array_remove_index (pad->sources, i - 1);
  spdl_state_init (&state);
  if (spdl_state_read (&state, text, number, &problem)) {
    source.epoch = progress->epoch;
    source.n_came = progress->n_done - progress->n_dropped_upstream;
    known = progress->epoch == 0 || n_items != GST_SPDL_ITEMS_UNKNOWN;
    source.n_came_before =
        known ? progress->epoch * n_items - progress->n_dropped_upstream_before
              : 0;
    if (self->used.unit == SPDL_MIX_TOKENS) {
      source.n_came = progress->n_tokens;
      source.n_came_before = progress->n_tokens_before;
      known = TRUE;
    }
  }
  source.late = source.epoch < self->epoch;
  g_array_append_val (pad->sources, source);
  if (pad->seen)
    return known;
  pad->epoch = G_MAXUINT64;
  for (guint i = 0; i < pad->sources->len; i++)
    pad->epoch =
        MIN (pad->epoch, g_array_index (pad->sources, SpdlMixSource, i).epoch);
  return known;
}

/* Sends a source event once, even if it arrives on several pads after
 * spdlroute. */
static gboolean
handle_source (GstSpdlMix *self, GstSpdlMixPad *pad, GstEvent *event)
{
  const gpointer seqnum = GUINT_TO_POINTER (gst_event_get_seqnum (event));
  const gchar *state;
  guint32 number;
  guint64 n_items;
  gboolean known, placed;

  gst_spdl_event_parse_source (event, &number, &n_items, &state);
  spdl_mutex_lock (&self->base.lock);
  placed = note_source (self, pad, number, n_items, state);
  take_open_source_pad (self, pad);
  known = g_hash_table_lookup (self->announced, GUINT_TO_POINTER (number)) ==
          seqnum;
  g_hash_table_insert (self->announced, GUINT_TO_POINTER (number), seqnum);
  push_event_once (self, event, !known);
  /* A partial end may have waited to know the sources of the pad. */
  spdl_mix_schedule (self);
  spdl_mutex_unlock (&self->base.lock);
  if (!placed)
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
        ("Source %u streams shards, so the number of items in its epochs "
         "before the resume state is unknown: all items are sent, but mixed in "
         "a different order than without the interruption",
            number),
        (NULL));
  return TRUE;
}

/* Lock held. Sends an end of epoch in the pad's turn, in order with the items
 * of the other pads. @event: (transfer full) */
static void
pass_end_in_turn (GstSpdlMix *self, GstSpdlMixPad *pad, GstEvent *event)
{
  gboolean partial = TRUE;
  guint64 epoch;

  if (spdl_mix_await_turn (self, pad) != GST_FLOW_OK) {
    gst_event_unref (event);
    return;
  }
  gst_spdl_event_parse_epoch (event, NULL, &epoch, NULL);
  if (spdl_mix_has_ends_in_turn (self) &&
      !gst_spdl_event_is_partial_epoch (event))
    partial = spdl_mix_pass_end (self, pad, epoch);
  push_event_and_give (self, gst_spdl_event_set_partial_epoch (event, partial));
  spdl_mix_schedule (self);
}

/* Lock held. Sends an end of epoch immediately. @event: (transfer full) */
static void
pass_end_at_once (GstSpdlMix *self, GstSpdlMixPad *pad, GstEvent *event)
{
  gboolean partial = gst_spdl_event_is_partial_epoch (event);
  guint64 epoch;

  gst_spdl_event_parse_epoch (event, NULL, &epoch, NULL);
  partial = partial || spdl_mix_pass_end (self, pad, epoch);
  take_open_source_pad (self, pad);
  push_event_and_give (self, gst_spdl_event_set_partial_epoch (event, partial));
}

/* Lock held. Keeps an end of epoch until all pads have reached it. @event:
 * (transfer full) */
static void
hold_end (GstSpdlMix *self, GstSpdlMixPad *pad, GstEvent *event)
{
  while (!g_queue_is_empty (&pad->pending_ends) &&
         spdl_mix_get_result (self, pad) == GST_FLOW_OK)
    spdl_cond_wait (&pad->called, &self->base.lock);
  if (spdl_mix_get_result (self, pad) != GST_FLOW_OK) {
    gst_event_unref (event);
    return;
  }
  pad->seen = TRUE;
  g_queue_push_tail (&pad->pending_ends, event);
  if (self->turn == pad)
    self->turn = NULL;
  spdl_mix_schedule (self);
}

/* Returns TRUE if all pads wait for this end of epoch. With proportions they do
 * not wait for a partial end, which an upstream spdlmix sends for a source in
 * the middle of its epoch, nor for an epoch before the current one. */
static gboolean
is_waited_for (GstSpdlMix *self, GstEvent *event)
{
  guint64 epoch;

  if (self->used.stop != SPDL_MIX_ALL)
    return FALSE;
  if (self->used.order == SPDL_MIX_ARRIVAL)
    return TRUE;
  gst_spdl_event_parse_epoch (event, NULL, &epoch, NULL);
  return !gst_spdl_event_is_partial_epoch (event) && epoch >= self->epoch;
}

static gboolean
handle_epoch (GstSpdlMix *self, GstSpdlMixPad *pad, GstEvent *event)
{
  spdl_mutex_lock (&self->base.lock);
  pad->is_part = TRUE;
  if (spdl_mix_is_late_end (self, pad, event))
    event = gst_spdl_event_set_partial_epoch (event, TRUE);
  if (is_waited_for (self, event))
    hold_end (self, pad, event);
  else if (self->used.order == SPDL_MIX_WEIGHTED)
    pass_end_in_turn (self, pad, event);
  else
    pass_end_at_once (self, pad, event);
  spdl_mutex_unlock (&self->base.lock);
  return TRUE;
}

/* Ends the pad. If ends are handled in turn, waits for the pad's turn first. */
static gboolean
handle_eos (GstSpdlMix *self, GstSpdlMixPad *pad, GstEvent *event)
{
  spdl_mutex_lock (&self->base.lock);
  pad->is_part = TRUE;
  if (spdl_mix_has_ends_in_turn (self) &&
      spdl_mix_await_turn (self, pad) == GST_FLOW_OK)
    spdl_mix_give_source_pad (self);
  if (!pad->flushing)
    spdl_mix_end_pad (self, pad);
  spdl_mutex_unlock (&self->base.lock);
  gst_event_unref (event);
  return TRUE;
}

/* Downstream gets one flush from the first pad that begins one to the last that
 * ends one. */
static gboolean
handle_flush_start (GstSpdlMix *self, GstSpdlMixPad *pad, GstEvent *event)
{
  gboolean first;

  spdl_mutex_lock (&self->base.lock);
  while (self->ending)
    spdl_cond_wait (&self->idle, &self->base.lock);
  first = self->n_flushing == 0;
  self->n_flushing += !pad->in_flush;
  pad->flushing = pad->in_flush = TRUE;
  spdl_cond_signal (&pad->called);
  spdl_cond_broadcast (&self->idle);
  spdl_mutex_unlock (&self->base.lock);
  if (first)
    return gst_pad_push_event (self->base.parent.srcpad, event);
  gst_event_unref (event);
  return TRUE;
}

/* Lock held. Resets the pad after a flush. */
static void
end_flush (GstSpdlMix *self, GstSpdlMixPad *pad)
{
  g_queue_clear_full (&pad->pending_ends, (GDestroyNotify) gst_event_unref);
  gst_clear_event (&pad->segment);
  pad->ended = FALSE;
  /* Ends may come again. */
  for (guint i = 0; i < pad->sources->len; i++)
    g_array_index (pad->sources, SpdlMixSource, i).n_ended = 0;
  self->n_flushing -= pad->in_flush;
  self->n_flushes++;
  pad->flushing = pad->in_flush = self->over = FALSE;
  self->result = GST_FLOW_OK;
}

/* Ends a flush. The source pad is taken first, so that no push overlaps the
 * event. */
static gboolean
handle_flush_stop (GstSpdlMix *self, GstSpdlMixPad *pad, GstEvent *event)
{
  gboolean ret = TRUE;

  spdl_mutex_lock (&self->base.lock);
  spdl_mix_take_source_pad (self);
  if (self->n_flushing == (pad->in_flush ? 1 : 0)) {
    self->ending = TRUE;
    spdl_mutex_unlock (&self->base.lock);
    gst_spdl_caps_gate_flush (&self->gate);
    gst_clear_event (&self->segment);
    ret = gst_pad_push_event (self->base.parent.srcpad, event);
    spdl_mutex_lock (&self->base.lock);
    self->ending = FALSE;
  } else {
    gst_event_unref (event);
  }
  end_flush (self, pad);
  spdl_mix_give_source_pad (self);
  spdl_mix_schedule (self);
  spdl_mutex_unlock (&self->base.lock);
  return ret;
}

/* Sends dropped items downstream. With proportions, marks them as dropped
 * upstream of the mix, because they do not count in its position. */
static gboolean
handle_dropped_items (GstSpdlMix *self, GstSpdlMixPad *pad, GstEvent *event)
{
  return push_event (self, pad,
      self->used.order == SPDL_MIX_WEIGHTED
          ? gst_spdl_event_set_dropped_upstream (event)
          : event);
}

static gboolean
mix_event (GstPad *gst_pad, GstObject *parent, GstEvent *event)
{
  GstSpdlMix *self = GST_SPDL_MIX (parent);
  GstSpdlMixPad *pad = GST_SPDL_MIX_PAD (gst_pad);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
      return handle_stream_start (self, pad, event);
    case GST_EVENT_CAPS:
      return handle_caps (pad, event);
    case GST_EVENT_SEGMENT:
      gst_event_take (&pad->segment, event);
      return TRUE;
    case GST_EVENT_EOS:
      return handle_eos (self, pad, event);
    case GST_EVENT_FLUSH_START:
      return handle_flush_start (self, pad, event);
    case GST_EVENT_FLUSH_STOP:
      return handle_flush_stop (self, pad, event);
    default:
      if (gst_spdl_event_parse_source (event, NULL, NULL, NULL))
        return handle_source (self, pad, event);
      if (gst_spdl_event_parse_epoch (event, NULL, NULL, NULL))
        return handle_epoch (self, pad, event);
      if (gst_spdl_event_parse_items_dropped (
              event, NULL, NULL, NULL, NULL, NULL))
        return handle_dropped_items (self, pad, event);
      if (GST_EVENT_IS_SERIALIZED (event))
        return push_event (self, pad, event);
      return gst_pad_push_event (self->base.parent.srcpad, event);
  }
}

/* Wakes the pad's thread when the pad is deactivated, so that it returns
 * GST_FLOW_FLUSHING. */
static gboolean
mix_activate_mode (
    GstPad *gst_pad, GstObject *parent, GstPadMode mode, gboolean active)
{
  GstSpdlMix *self = GST_SPDL_MIX (parent);
  GstSpdlMixPad *pad = GST_SPDL_MIX_PAD (gst_pad);

  if (mode != GST_PAD_MODE_PUSH)
    return FALSE;
  spdl_mutex_lock (&self->base.lock);
  self->n_flushing -= pad->in_flush;
  pad->in_flush = FALSE;
  pad->flushing = !active;
  spdl_cond_signal (&pad->called);
  spdl_cond_broadcast (&self->idle);
  spdl_mutex_unlock (&self->base.lock);
  return TRUE;
}

void
spdl_mix_flow_init_pad (GstSpdlMixPad *pad)
{
  GstPad *gst_pad = GST_PAD (pad);

  gst_pad_set_chain_function (gst_pad, mix_chain);
  gst_pad_set_chain_list_function (gst_pad, mix_chain_list);
  gst_pad_set_event_function (gst_pad, mix_event);
  gst_pad_set_activatemode_function (gst_pad, mix_activate_mode);
  GST_PAD_SET_PROXY_CAPS (gst_pad);
  gst_spdl_pad_take_all_caps_events (gst_pad);
}

void
spdl_mix_flow_reset (GstSpdlMix *self)
{
  gst_spdl_caps_gate_clear (&self->gate);
  gst_clear_event (&self->segment);
  g_hash_table_remove_all (self->announced);
  self->has_stream = FALSE;
}
