/* gst-spdl: detection of an epoch without a batch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/outcome.h"

#include "gst/spdl/common/marks.h"
#include "gst/spdl/progress/state.h"

typedef struct {
  guint32 number;
  guint64 next_epoch;   /* the first epoch whose end has not arrived */
  SpdlProgress dropped; /* of the current epoch; each item counts once */
} Source;

/* Items that a stage lost for the same reason. */
typedef struct {
  gchar *stage; /* nullable */
  GstSpdlDropReason reason;
  guint64 n;
  gchar *last; /* nullable: last item that failed, and why */
} Fate;

static void
free_source (gpointer data)
{
  Source *source = data;

  spdl_progress_clear (&source->dropped);
  g_free (source);
}

static void
free_fate (gpointer data)
{
  Fate *fate = data;

  g_free (fate->stage);
  g_free (fate->last);
  g_free (fate);
}

void
spdl_outcome_init (SpdlOutcome *self)
{
  *self = (SpdlOutcome){ 0 };
  self->sources = g_ptr_array_new_with_free_func (free_source);
  self->fates = g_ptr_array_new_with_free_func (free_fate);
}

void
spdl_outcome_clear (SpdlOutcome *self)
{
  g_clear_pointer (&self->sources, g_ptr_array_unref);
  g_clear_pointer (&self->fates, g_ptr_array_unref);
}

static void
begin_epoch (SpdlOutcome *self)
{
  g_ptr_array_set_size (self->fates, 0);
  self->n_sent = self->n_dropped = 0;
  self->arrived = self->is_partial = FALSE;
}

void
spdl_outcome_reset (SpdlOutcome *self)
{
  begin_epoch (self);
  g_ptr_array_set_size (self->sources, 0);
  self->n_announced = 0;
  self->is_resumed = FALSE;
}

void
spdl_outcome_flush (SpdlOutcome *self)
{
  begin_epoch (self);
  self->is_partial = TRUE;
}

/* Counters */

static Source *
get_source (SpdlOutcome *self, guint32 number)
{
  Source *source;

  for (guint i = 0; i < self->sources->len; i++) {
    source = g_ptr_array_index (self->sources, i);
    if (source->number == number)
      return source;
  }
  source = g_new0 (Source, 1);
  source->number = number;
  spdl_progress_init (&source->dropped, 0);
  g_ptr_array_add (self->sources, source);
  return source;
}

/* Adds a source. With several mixed sources, one may be in a later epoch than
 * the mix. */
static void
add_source (SpdlOutcome *self, guint32 number, const gchar *text)
{
  g_auto (SpdlState) state = { 0 };
  g_autofree gchar *problem = NULL;

  get_source (self, number);
  self->n_announced++;
  spdl_state_init (&state);
  if (!spdl_state_read (&state, text, number, &problem))
    return;
  self->is_resumed |= state.progress.epoch > 0 || state.progress.n_done > 0;
  self->is_partial |= state.progress.n_done > 0;
  self->is_partial |= self->is_resumed && self->n_announced > 1;
}

static Fate *
get_fate (SpdlOutcome *self, const gchar *stage, GstSpdlDropReason reason)
{
  Fate *fate;

  for (guint i = 0; i < self->fates->len; i++) {
    fate = g_ptr_array_index (self->fates, i);
    if (fate->reason == reason && g_strcmp0 (fate->stage, stage) == 0)
      return fate;
  }
  fate = g_new0 (Fate, 1);
  fate->stage = g_strdup (stage);
  fate->reason = reason;
  g_ptr_array_add (self->fates, fate);
  return fate;
}

static void
add_dropped (SpdlOutcome *self, GstEvent *event, guint32 number, guint64 epoch,
    const guint64 *sequences, guint n, GstSpdlDropReason reason)
{
  const GstStructure *s = gst_event_get_structure (event);
  const gchar *last = gst_structure_get_string (s, "last");
  Source *source = get_source (self, number);
  Fate *fate = get_fate (self, gst_structure_get_string (s, "stage"), reason);

  if (epoch > source->dropped.epoch)
    spdl_progress_reset (&source->dropped, epoch);
  for (guint i = 0; i < n && epoch == source->dropped.epoch; i++) {
    if (!spdl_progress_add (&source->dropped, sequences[i]))
      continue;
    fate->n++;
    self->n_dropped++;
  }
  if (last) {
    g_free (fate->last);
    fate->last = g_strdup (last);
  }
}

void
spdl_outcome_add_event (SpdlOutcome *self, GstEvent *event)
{
  g_autofree guint64 *sequences = NULL;
  GstSpdlDropReason reason;
  guint64 epoch, n_items;
  const gchar *state;
  Source *source;
  guint32 number;
  guint n;

  if (gst_spdl_event_parse_items_dropped (
          event, &number, &epoch, &sequences, &n, &reason)) {
    add_dropped (self, event, number, epoch, sequences, n, reason);
  } else if (gst_spdl_event_parse_source (event, &number, NULL, &state)) {
    add_source (self, number, state);
  } else if (gst_spdl_event_parse_epoch (event, &number, &epoch, &n_items)) {
    /* The event may arrive several times, through several branches of
     * spdlroute. */
    source = get_source (self, number);
    if (epoch >= source->next_epoch && n_items != GST_SPDL_ITEMS_UNKNOWN)
      self->n_sent += n_items;
    source->next_epoch = MAX (source->next_epoch, epoch + 1);
  }
}

/* Error */

static void
describe_fate (const Fate *fate, GString *text)
{
  const gchar *stage = fate->stage ? fate->stage : "a stage";

  g_string_append_printf (text, "%" G_GUINT64_FORMAT " ", fate->n);
  if (fate->reason == GST_SPDL_DROP_REASON_FAILED)
    g_string_append_printf (text, "failed in %s", stage);
  else if (fate->reason == GST_SPDL_DROP_REASON_DROPPED)
    g_string_append_printf (text,
        "were dropped in %s, too few for a batch or group (set drop-last=false, "
        "or its size to %" G_GUINT64_FORMAT " or less)",
        stage, fate->n);
  else
    g_string_append (text, "were left out by a function, chain or condition");
}

/* Creates the error. @when: the epoch or stream that ended. The reason of the
 * last failure is at the end, since it may have several lines. */
static GError *
make_error (const SpdlOutcome *self, const gchar *when)
{
  g_autoptr (GString) text = g_string_new (NULL);
  const gchar *last = NULL;

  g_string_printf (text,
      "No item arrived in %s. Of %" G_GUINT64_FORMAT " that were sent, ", when,
      self->n_dropped);
  for (guint i = 0; i < self->fates->len; i++) {
    const Fate *fate = g_ptr_array_index (self->fates, i);

    if (i > 0)
      g_string_append (text, "; ");
    describe_fate (fate, text);
    last = fate->last ? fate->last : last;
  }
  if (last)
    g_string_append_printf (text,
        ". Correct the cause that the failures share; the last one was %s",
        last);
  return g_error_new_literal (
      GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, text->str);
}

static gboolean
is_loss (const SpdlOutcome *self)
{
  if (self->arrived || self->is_partial || self->n_dropped < self->n_sent)
    return FALSE;
  for (guint i = 0; i < self->fates->len; i++) {
    const Fate *fate = g_ptr_array_index (self->fates, i);

    if (fate->reason != GST_SPDL_DROP_REASON_FILTERED)
      return TRUE;
  }
  return FALSE;
}

/* Returns TRUE if there are gaps between the lost items, for a source that does
 * not report its number of items. */
static gboolean
has_gaps (const SpdlOutcome *self)
{
  for (guint i = 0; i < self->sources->len; i++) {
    const Source *source = g_ptr_array_index (self->sources, i);

    if (source->dropped.mark < source->dropped.n_done)
      return TRUE;
  }
  return FALSE;
}

GError *
spdl_outcome_end_epoch (SpdlOutcome *self, GstEvent *event)
{
  g_autofree gchar *when = NULL;
  GError *error = NULL;
  guint64 epoch;

  if (!gst_spdl_event_parse_epoch (event, NULL, &epoch, NULL) ||
      gst_spdl_event_is_partial_epoch (event))
    return NULL;
  if (is_loss (self)) {
    when = g_strdup_printf ("epoch %" G_GUINT64_FORMAT, epoch);
    error = make_error (self, when);
  }
  begin_epoch (self);
  return error;
}

GError *
spdl_outcome_end_stream (SpdlOutcome *self)
{
  GError *error = NULL;

  if (self->n_announced == 0 && !has_gaps (self) && is_loss (self))
    error = make_error (self, "the stream");
  begin_epoch (self);
  return error;
}
