/* gst-spdl: finished items of a source over several epochs
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/progress/tally.h"

/* An announcement of dropped items may overtake the items of whole epochs if
 * the queue of a sink is long, but not of more epochs than this. */
#define MAX_EPOCHS_AHEAD 1000

/* Shares are added with rounding errors, so an item is finished a little before
 * their sum is 1. */
#define WHOLE (1 - 1e-9)

/* An item that became several buffers, not all of which have arrived. */
typedef struct {
  guint64 epoch;
  guint64 sequence;
  gdouble share;    /* that was delivered or dropped */
  gboolean arrived; /* a part has arrived at spdlmix */
} Partial;

struct _SpdlTally {
  guint32 source;
  guint64 n_items;
  gchar *identity;   /* identity as text */
  guint64 hash;      /* of the dataset */
  guint64 change;    /* as in the state */
  GPtrArray *left;   /* SpdlLeft: of interrupted epochs; nullable */
  GPtrArray *epochs; /* SpdlProgress: from the first incomplete epoch to the
                        last one with information */
  GArray *partials;  /* Partial */
  GArray *cuts;      /* SpdlCut; nullable */
  /* Items of the first epoch were delivered, or the run started in it. */
  gboolean is_entered;
};

/* Sets @progress to the beginning of what is left of @epoch. */
static void
begin_epoch (const SpdlTally *self, SpdlProgress *progress, guint64 epoch)
{
  spdl_progress_reset_at (
      progress, epoch, spdl_lefts_get_first (self->left, epoch));
}

static SpdlProgress *
progress_new (const SpdlTally *self, guint64 epoch)
{
  SpdlProgress *progress = g_new (SpdlProgress, 1);

  spdl_progress_init (progress, epoch);
  begin_epoch (self, progress, epoch);
  return progress;
}

static void
progress_free (gpointer progress)
{
  spdl_progress_clear (progress);
  g_free (progress);
}

static SpdlProgress *
first_epoch (const SpdlTally *self)
{
  return g_ptr_array_index (self->epochs, 0);
}

SpdlTally *
spdl_tally_new (
    guint32 source, const gchar *state, guint64 n_items, gchar **problem)
{
  g_auto (SpdlState) start = { 0 };
  SpdlTally *self;
  GString *identity;

  spdl_state_init (&start);
  if (!spdl_state_read (&start, state, source, problem))
    return NULL;
  identity = g_string_new (NULL);
  spdl_state_write_identity (identity, source, &start.identity);
  self = g_new (SpdlTally, 1);
  self->source = source;
  self->n_items = n_items;
  self->identity = g_string_free (identity, FALSE);
  self->hash = start.identity.hash;
  self->change = start.change;
  self->left = g_steal_pointer (&start.left);
  self->cuts = g_steal_pointer (&start.cuts);
  self->is_entered = TRUE;
  self->epochs = g_ptr_array_new_with_free_func (progress_free);
  self->partials = g_array_new (FALSE, FALSE, sizeof (Partial));
  g_ptr_array_add (self->epochs, progress_new (self, 0));
  spdl_progress_copy (first_epoch (self), &start.progress);
  return self;
}

void
spdl_tally_free (SpdlTally *self)
{
  g_free (self->identity);
  g_clear_pointer (&self->left, g_ptr_array_unref);
  g_ptr_array_unref (self->epochs);
  g_array_unref (self->partials);
  g_clear_pointer (&self->cuts, g_array_unref);
  g_free (self);
}

guint32
spdl_tally_get_source (const SpdlTally *self)
{
  return self->source;
}

gboolean
spdl_tally_is_same_dataset (const SpdlTally *a, const SpdlTally *b)
{
  return a->hash == b->hash;
}

const SpdlProgress *
spdl_tally_get_progress (const SpdlTally *self)
{
  return first_epoch (self);
}

static void
drop_old_partials (SpdlTally *self)
{
  for (guint i = self->partials->len; i > 0; i--)
    if (g_array_index (self->partials, Partial, i - 1).epoch <
        first_epoch (self)->epoch)
      g_array_remove_index_fast (self->partials, i - 1);
}

/* Returns the number of items that were lost before spdlmix in the epochs
 * before the epoch with index @n. */
static guint64
count_dropped_upstream (const SpdlTally *self, guint64 n)
{
  guint64 n_dropped_upstream = first_epoch (self)->n_dropped_upstream_before;

  for (guint i = 0; i < self->epochs->len && i < n; i++)
    n_dropped_upstream +=
        ((const SpdlProgress *) g_ptr_array_index (self->epochs, i))
            ->n_dropped_upstream;
  return n_dropped_upstream;
}

/* Moves to @epoch. All earlier epochs are over. */
static void
go_to (SpdlTally *self, guint64 epoch)
{
  SpdlProgress *first = first_epoch (self);
  const guint64 n = epoch - first->epoch;
  const guint64 n_dropped_upstream = count_dropped_upstream (self, n);
  const guint64 n_tokens =
      first->n_tokens_before + (n > 0 ? first->n_tokens : 0);

  if (n < self->epochs->len) {
    g_ptr_array_remove_range (self->epochs, 0, n);
  } else {
    if (self->epochs->len > 1)
      g_ptr_array_remove_range (self->epochs, 1, self->epochs->len - 1);
    begin_epoch (self, first, epoch);
  }
  first_epoch (self)->n_dropped_upstream_before = n_dropped_upstream;
  first_epoch (self)->n_tokens_before = n_tokens;
  self->is_entered = FALSE;
  if (self->partials->len > 0)
    drop_old_partials (self);
  spdl_cuts_drop_before (self->cuts, epoch);
}

static void
pass_complete (SpdlTally *self)
{
  while (self->n_items > 0 && first_epoch (self)->n_done >= self->n_items)
    go_to (self, first_epoch (self)->epoch + 1);
}

/* Counts a part of an item. Returns TRUE if it was the last one.
 *
 * @arrived: (inout): whether it has arrived at spdlmix; then whether a part of
 *     the item has */
static gboolean
add_part (SpdlTally *self, guint64 epoch, guint64 sequence, guint parts,
    gboolean *arrived)
{
  const Partial partial = { epoch, sequence, 1.0 / parts, *arrived };

  for (guint i = self->partials->len; i > 0; i--) {
    Partial *seen = &g_array_index (self->partials, Partial, i - 1);

    if (seen->epoch != epoch || seen->sequence != sequence)
      continue;
    seen->share += partial.share;
    *arrived = seen->arrived |= *arrived;
    if (seen->share < WHOLE)
      return FALSE;
    g_array_remove_index_fast (self->partials, i - 1);
    return TRUE;
  }
  g_array_append_val (self->partials, partial);
  return FALSE;
}

void
spdl_tally_deliver (
    SpdlTally *self, guint64 epoch, guint64 sequence, guint parts)
{
  spdl_tally_deliver_tokens (self, epoch, sequence, parts, 0);
}

void
spdl_tally_deliver_tokens (SpdlTally *self, guint64 epoch, guint64 sequence,
    guint parts, guint64 n_tokens)
{
  gboolean arrived = TRUE;

  if (epoch < first_epoch (self)->epoch || sequence >= self->n_items)
    return;
  if (epoch > first_epoch (self)->epoch)
    go_to (self, epoch);
  self->is_entered = TRUE;
  if (parts > 1 && !add_part (self, epoch, sequence, parts, &arrived))
    return;
  if (spdl_progress_add (first_epoch (self), sequence))
    first_epoch (self)->n_tokens += n_tokens;
  pass_complete (self);
}

void
spdl_tally_cut (SpdlTally *self, guint64 epoch, guint64 index,
    guint64 first_token, guint64 end_token, gboolean is_last)
{
  if (epoch < first_epoch (self)->epoch)
    return;
  /* A part that overtook another one is delivered again. */
  if (is_last || spdl_cuts_find (self->cuts, epoch, index) == first_token)
    spdl_cuts_set (&self->cuts, epoch, index, is_last ? 0 : end_token);
}

static void
count_dropped (SpdlTally *self, guint64 epoch, guint64 sequence, guint parts,
    gboolean arrived)
{
  const guint64 first = first_epoch (self)->epoch;
  SpdlProgress *progress;

  if (epoch < first || epoch - first > MAX_EPOCHS_AHEAD ||
      sequence >= self->n_items)
    return;
  if (parts > 1 && !add_part (self, epoch, sequence, parts, &arrived))
    return;
  while (self->epochs->len <= epoch - first)
    g_ptr_array_add (
        self->epochs, progress_new (self, first + self->epochs->len));
  progress = g_ptr_array_index (self->epochs, epoch - first);
  if (spdl_progress_add (progress, sequence) && !arrived)
    progress->n_dropped_upstream++;
  pass_complete (self);
}

void
spdl_tally_drop (SpdlTally *self, guint64 epoch, guint64 sequence, guint parts)
{
  count_dropped (self, epoch, sequence, parts, TRUE);
}

void
spdl_tally_pass_by (
    SpdlTally *self, guint64 epoch, guint64 sequence, guint parts)
{
  count_dropped (self, epoch, sequence, parts, FALSE);
}

guint64
spdl_tally_end_epoch (SpdlTally *self, guint64 epoch, guint64 n_items)
{
  const SpdlProgress *first = first_epoch (self);
  guint64 n_lost;

  if (epoch < first->epoch)
    return 0;
  n_lost = epoch == first->epoch && first->n_done < n_items
               ? n_items - first->n_done
               : 0;
  go_to (self, epoch + 1);
  pass_complete (self);
  return n_lost;
}

gboolean
spdl_tally_restore (SpdlTally *self, const gchar *state)
{
  g_auto (SpdlState) before = { 0 };
  g_autofree gchar *problem = NULL;

  spdl_state_init (&before);
  if (!spdl_state_read (&before, state, self->source, &problem))
    return FALSE;
  g_ptr_array_set_size (self->epochs, 1);
  g_array_set_size (self->partials, 0);
  spdl_progress_copy (first_epoch (self), &before.progress);
  g_clear_pointer (&self->cuts, g_array_unref);
  self->cuts = g_steal_pointer (&before.cuts);
  /* After the last item of an epoch, the state is the beginning of the next. */
  self->is_entered = before.progress.runs->len > 0 ||
                     before.progress.mark > spdl_lefts_get_first (self->left,
                                                before.progress.epoch);
  return TRUE;
}

void
spdl_tally_write (const SpdlTally *self, GString *text)
{
  g_string_append (text, self->identity);
  spdl_state_write_progress (
      text, first_epoch (self), self->change, self->left, self->cuts);
}

void
spdl_tally_write_epoch (
    const SpdlTally *self, guint64 epoch, gboolean mixed, GString *text)
{
  const guint64 first = first_epoch (self)->epoch;
  /* An epoch that was entered, or passed, begins with all of its items. */
  const gboolean ahead = epoch > first || (epoch == first && !self->is_entered);
  SpdlProgress progress;

  spdl_progress_init (&progress, epoch);
  if (ahead)
    begin_epoch (self, &progress, epoch);
  /* Act as if no item of the previous epochs had reached spdlmix, because a
   * skipped epoch has delivered different numbers of items of each source. */
  if (mixed && self->n_items != G_MAXUINT64 &&
      __builtin_mul_overflow (
          epoch, self->n_items, &progress.n_dropped_upstream_before))
    progress.n_dropped_upstream_before = 0;
  g_string_append (text, self->identity);
  spdl_state_write_progress (
      text, &progress, self->change, ahead ? self->left : NULL, NULL);
  spdl_progress_clear (&progress);
}
