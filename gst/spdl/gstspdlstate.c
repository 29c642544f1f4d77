/* gst-spdl: resume states
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/gstspdlstate.h"

#include "gst/spdl/progress/state.h"

/**
 * gst_spdl_state_is_done:
 * @state: (nullable): a batch's or a loader's state; %NULL: of a beginning
 * @source: which source, as #GstSpdlItemMeta counts them
 * @epoch: an item's epoch
 * @sequence: its place in what is delivered of that epoch
 *
 * Whether a run that begins at @state leaves out that item: because it was
 * delivered before, or because it was known that it will not come. So who keeps
 * a record of the items that failed, beside a state, can keep it as exactly as
 * that of the items that came: with each state those which it counts, and the
 * state before did not.
 *
 * Returns: whether the item is done; %FALSE too if @state is malformed
 *
 * Since: 0.1
 */
gboolean
gst_spdl_state_is_done (
    const gchar *state, guint source, guint64 epoch, guint64 sequence)
{
  g_auto (SpdlState) self = { 0 };
  g_autofree gchar *problem = NULL;

  if (!state)
    return FALSE;
  spdl_state_init (&self);
  return spdl_state_read (&self, state, source, &problem) &&
         spdl_progress_has (&self.progress, epoch, sequence);
}

typedef struct {
  guint n_sources;
  guint64 epoch;
  gboolean is_beginning;
} Place;

static void
find_place (guint32 source, SpdlState *state, gpointer user_data)
{
  const SpdlProgress *progress = &state->progress;
  Place *place = user_data;

  if (place->n_sources++ == 0)
    place->epoch = progress->epoch;
  place->is_beginning &= progress->epoch == place->epoch &&
                         progress->mark == 0 && progress->n_done == 0;
}

/**
 * gst_spdl_state_get_epoch:
 * @state: (nullable): a batch's or a loader's state
 * @epoch: (out): the epoch of its first source
 * @is_beginning: (out) (optional): whether all of its sources are at the
 *     beginning of that epoch
 *
 * Gets the epoch in which a run that begins at @state begins.
 *
 * Returns: %FALSE if @state is malformed or names no source; then nothing is
 *     written
 *
 * Since: 0.1
 */
gboolean
gst_spdl_state_get_epoch (
    const gchar *state, guint64 *epoch, gboolean *is_beginning)
{
  Place place = { .is_beginning = TRUE };

  g_return_val_if_fail (epoch != NULL, FALSE);
  if (!state || !spdl_state_visit (state, find_place, &place))
    return FALSE;
  *epoch = place.epoch;
  if (is_beginning)
    *is_beginning = place.is_beginning;
  return TRUE;
}

typedef struct {
  GString *text;
  guint64 epoch;
} Rewriting;

static void
write_at_epoch (guint32 source, SpdlState *state, gpointer user_data)
{
  Rewriting *self = user_data;

  spdl_progress_reset (&state->progress, self->epoch);
  spdl_state_write_identity (self->text, source, &state->identity);
  spdl_state_write_progress (self->text, &state->progress);
}

/**
 * gst_spdl_state_dup_at_epoch:
 * @state: a batch's or a loader's state
 * @epoch: an epoch
 *
 * Makes a state of the same sources with which a run begins at the first item
 * of @epoch.
 *
 * Returns: (transfer full) (nullable): the state; %NULL if @state is malformed
 *     or names no source
 *
 * Since: 0.1
 */
gchar *
gst_spdl_state_dup_at_epoch (const gchar *state, guint64 epoch)
{
  Rewriting self = { g_string_new (NULL), epoch };

  g_return_val_if_fail (state != NULL, NULL);
  spdl_state_begin (self.text);
  return g_string_free (
      self.text, !spdl_state_visit (state, write_at_epoch, &self));
}
