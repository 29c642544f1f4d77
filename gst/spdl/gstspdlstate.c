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
 * @state: (nullable): state of a batch or a loader; %NULL: the beginning
 * @source: number of the source, as in #GstSpdlItemMeta
 * @epoch: epoch of the item
 * @sequence: position of the item in the delivery order of the epoch
 *
 * Checks whether a run that starts at @state skips an item, because it was
 * delivered or lost before. Use it to keep an exact record of failed items: an
 * item belongs to the first state that counts it as done.
 *
 * Returns: %TRUE if the item is done; %FALSE also if @state is malformed
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
 * @state: (nullable): state of a batch or a loader
 * @epoch: (out): epoch of its first source
 * @is_beginning: (out) (optional): whether all sources are at the beginning of
 *     that epoch
 *
 * Gets the epoch in which a run that starts at @state begins.
 *
 * Returns: %FALSE if @state is malformed or has no source; the results are then
 *     not set
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
 * @state: state of a batch or a loader
 * @epoch: an epoch
 *
 * Creates a state of the same sources at the first item of @epoch.
 *
 * Returns: (transfer full) (nullable): the state; %NULL if @state is malformed
 *     or has no source
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
