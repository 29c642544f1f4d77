/* gst-spdl: progress of all sources in a sink, for resume states
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/common/progresstracker.h"

#include "gst/spdl/common/logline.h"
#include "gst/spdl/common/marks.h"

typedef struct {
  SpdlTally *tally;
  guint32 seqnum; /* of the event that announced the source */
  guint64 begun;  /* epoch in which it began */
} Source;

static void
source_free (gpointer data)
{
  Source *source = data;

  spdl_tally_free (source->tally);
  g_free (source);
}

void
spdl_progress_tracker_init (SpdlProgressTracker *self)
{
  *self = (SpdlProgressTracker){ 0 };
  self->sources = g_ptr_array_new_with_free_func (source_free);
  self->text = g_string_new (NULL);
}

void
spdl_progress_tracker_clear (SpdlProgressTracker *self)
{
  g_ptr_array_unref (self->sources);
  g_string_free (self->text, TRUE);
  g_free (self->others);
  g_free (self->pulled);
}

void
spdl_progress_tracker_reset (SpdlProgressTracker *self)
{
  g_ptr_array_set_size (self->sources, 0);
  g_clear_pointer (&self->pulled, g_free);
  g_clear_pointer (&self->others, g_free);
  self->n_batches_waiting = self->n_items_waiting = 0;
  self->has_conflict = FALSE;
}

/* Finds the position of a source by its number, or the position to insert it
 * at. */
static guint
find_place (const SpdlProgressTracker *self, guint32 number, Source **found)
{
  guint i;

  *found = NULL;
  for (i = 0; i < self->sources->len; i++) {
    Source *source = g_ptr_array_index (self->sources, i);
    const guint32 other = spdl_tally_get_source (source->tally);

    if (other == number)
      *found = source;
    if (other >= number)
      break;
  }
  return i;
}

static SpdlTally *
find_tally (const SpdlProgressTracker *self, guint32 number)
{
  Source *source;

  find_place (self, number, &source);
  return source ? source->tally : NULL;
}

static Source *
source_new (guint32 seqnum, SpdlTally *tally)
{
  Source *source = g_new (Source, 1);

  *source = (Source){ tally, seqnum, spdl_tally_get_progress (tally)->epoch };
  return source;
}

/* Adds a source. A sticky event may arrive again when pads are relinked; it
 * does not start the source again. */
static void
add_source (SpdlProgressTracker *self, GstEvent *event, guint32 number,
    guint64 n_items, const gchar *state)
{
  const guint32 seqnum = gst_event_get_seqnum (event);
  g_autofree gchar *problem = NULL;
  Source *before;
  SpdlTally *tally;
  const guint i = find_place (self, number, &before);

  if (before && before->seqnum == seqnum)
    return;
  tally = spdl_tally_new (number, state, n_items, &problem);
  if (!tally)
    SPDL_WARNING ("source %u sent an invalid state: %s", number, problem);
  else if (before && !spdl_tally_is_same_dataset (before->tally, tally)) {
    self->has_conflict = TRUE;
    self->conflict = number;
  }
  if (before)
    g_ptr_array_remove_index (self->sources, i);
  if (!tally)
    return;
  g_ptr_array_insert (self->sources, i, source_new (seqnum, tally));
  g_free (self->others);
  self->others = g_strdup (state);
}

static void
end_epoch (
    SpdlProgressTracker *self, guint32 number, guint64 epoch, guint64 n_items)
{
  SpdlTally *tally = find_tally (self, number);
  guint64 n_lost;

  /* Items that wait were not delivered yet. */
  if (!tally || self->n_items_waiting > 0)
    return;
  n_lost = spdl_tally_end_epoch (tally, epoch, n_items);
  if (n_lost > 0)
    SPDL_WARNING ("%" G_GUINT64_FORMAT " items of epoch %" G_GUINT64_FORMAT
                  " did not arrive, and no element reported why",
        n_lost, epoch);
}

static void
count_dropped_items (SpdlProgressTracker *self, GstEvent *event)
{
  g_autofree guint64 *sequences = NULL;
  SpdlTally *tally;
  guint32 number;
  guint64 epoch;
  guint n, parts;
  gboolean upstream;

  gst_spdl_event_parse_items_dropped (
      event, &number, &epoch, &sequences, &n, NULL);
  if (!(tally = find_tally (self, number)))
    return;
  upstream = gst_spdl_event_is_dropped_upstream (event);
  parts = gst_spdl_event_get_dropped_parts (event);
  for (guint i = 0; i < n; i++) {
    if (upstream)
      spdl_tally_pass_by (tally, epoch, sequences[i], parts);
    else
      spdl_tally_drop (tally, epoch, sequences[i], parts);
  }
}

gboolean
spdl_progress_tracker_handle_event (SpdlProgressTracker *self, GstEvent *event)
{
  const gchar *state;
  guint32 number;
  guint64 value, n_items;

  if (gst_spdl_event_parse_source (event, &number, &value, &state))
    add_source (self, event, number, value, state);
  else if (gst_spdl_event_parse_epoch (event, &number, &value, &n_items))
    end_epoch (self, number, value, n_items);
  else if (gst_spdl_event_parse_items_dropped (
               event, NULL, NULL, NULL, NULL, NULL))
    count_dropped_items (self, event);
  else
    return FALSE;
  return TRUE;
}

static void
count_delivered (SpdlProgressTracker *self, const GstSpdlItemMeta *item)
{
  SpdlTally *tally = find_tally (self, item->source);

  if (!tally)
    return;
  spdl_tally_deliver_tokens (
      tally, item->epoch, item->sequence, item->parts, item->num_tokens);
  if (G_UNLIKELY (item->end_token > 0))
    spdl_tally_cut (tally, item->epoch, item->index, item->first_token,
        item->end_token, item->part + 1 == item->parts);
}

gboolean
spdl_progress_tracker_is_full_of_gaps (const SpdlProgressTracker *self)
{
  for (guint i = 0; i < self->sources->len; i++) {
    const Source *source = g_ptr_array_index (self->sources, i);

    if (spdl_tally_get_progress (source->tally)->runs->len > self->max_gaps)
      return TRUE;
  }
  return FALSE;
}

static gboolean
is_known (guint32 number, gconstpointer self)
{
  return find_tally (self, number) != NULL;
}

/* Formats the state, including the start of sources that have not announced
 * themselves. */
static gchar *
write_state (SpdlProgressTracker *self)
{
  if (self->sources->len == 0 || self->has_conflict ||
      spdl_progress_tracker_is_full_of_gaps (self))
    return NULL;
  g_string_truncate (self->text, 0);
  spdl_state_begin (self->text);
  for (guint i = 0; i < self->sources->len; i++) {
    const Source *source = g_ptr_array_index (self->sources, i);

    spdl_tally_write (source->tally, self->text);
  }
  if (self->others)
    spdl_state_write_others (self->text, self->others, is_known, self);
  return g_strndup (self->text->str, self->text->len);
}

gchar *
spdl_progress_tracker_add_batch (
    SpdlProgressTracker *self, const GstSpdlBatchMeta *batch, gboolean cached)
{
  self->n_batches_waiting++;
  for (guint i = 0; i < batch->num_items && !cached; i++)
    count_delivered (self, &batch->items[i]);
  return write_state (self);
}

void
spdl_progress_tracker_add_item (SpdlProgressTracker *self)
{
  self->n_items_waiting++;
}

static void
restore_states (SpdlProgressTracker *self, const gchar *state)
{
  for (guint i = self->sources->len; i > 0; i--) {
    const Source *source = g_ptr_array_index (self->sources, i - 1);

    if (!state || !spdl_tally_restore (source->tally, state))
      g_ptr_array_remove_index (self->sources, i - 1);
  }
}

static void
pull_batch (SpdlProgressTracker *self, const GstSpdlBatchMeta *batch)
{
  g_free (self->pulled);
  self->pulled = g_strdup (batch->resume_state);
  if (self->n_batches_waiting > 0)
    self->n_batches_waiting--;
  else /* pulled just before a flush */
    restore_states (self, self->pulled);
}

void
spdl_progress_tracker_pull (SpdlProgressTracker *self, GstBuffer *buffer)
{
  const GstSpdlBatchMeta *batch = gst_spdl_buffer_get_batch_meta (buffer);
  const GstSpdlItemMeta *item = gst_spdl_buffer_get_item_meta (buffer);

  if (batch) {
    pull_batch (self, batch);
    return;
  }
  if (self->n_items_waiting > 0)
    self->n_items_waiting--;
  if (item && !gst_spdl_buffer_is_cached (buffer))
    count_delivered (self, item);
}

void
spdl_progress_tracker_pull_end (SpdlProgressTracker *self, gchar *state)
{
  /* Items of the epoch may have been dropped after its last batch. */
  if (!state)
    return;
  g_free (self->pulled);
  self->pulled = state;
}

gchar *
spdl_progress_tracker_dup_end_state (SpdlProgressTracker *self)
{
  /* Items that wait are not delivered. */
  return self->n_items_waiting > 0 ? NULL : write_state (self);
}

/* Handles a flush. If the last delivered state is unknown, no further states
 * are given, rather than wrong ones. */
void
spdl_progress_tracker_flush (SpdlProgressTracker *self)
{
  if (self->n_batches_waiting > 0)
    restore_states (self, self->pulled);
  self->n_batches_waiting = self->n_items_waiting = 0;
}

guint
spdl_progress_tracker_count_sources (const SpdlProgressTracker *self)
{
  return self->sources->len;
}

gboolean
spdl_progress_tracker_get_first_epoch (
    const SpdlProgressTracker *self, guint64 *epoch)
{
  for (guint i = 0; i < self->sources->len; i++) {
    const Source *source = g_ptr_array_index (self->sources, i);

    if (i > 0 && source->begun != *epoch)
      return FALSE;
    *epoch = source->begun;
  }
  return self->sources->len > 0;
}

gchar *
spdl_progress_tracker_dup_epoch_state (SpdlProgressTracker *self, guint64 epoch)
{
  const gboolean mixed = self->sources->len > 1;

  if (self->sources->len == 0 || self->has_conflict)
    return NULL;
  /* Batches that wait may be of the next epoch, which is not entered yet. */
  if (self->n_batches_waiting > 0 && self->pulled)
    for (guint i = 0; i < self->sources->len; i++) {
      const Source *source = g_ptr_array_index (self->sources, i);

      spdl_tally_restore (source->tally, self->pulled);
    }
  g_string_truncate (self->text, 0);
  spdl_state_begin (self->text);
  for (guint i = 0; i < self->sources->len; i++) {
    const Source *source = g_ptr_array_index (self->sources, i);

    spdl_tally_write_epoch (source->tally, epoch, mixed, self->text);
  }
  return g_strndup (self->text->str, self->text->len);
}

gchar *
spdl_progress_tracker_dup_state (SpdlProgressTracker *self)
{
  gchar *state;

  /* After the last pull, the state includes items that were lost since then, so
   * that an epoch whose last item failed is completed. It is kept, so that no
   * later state is behind it: these items were perhaps reported with it. */
  if (self->n_batches_waiting > 0)
    return g_strdup (self->pulled);
  state = write_state (self);
  if (state) {
    g_free (self->pulled);
    self->pulled = g_strdup (state);
  }
  return state;
}
