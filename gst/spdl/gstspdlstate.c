/* gst-spdl: resume states
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/gstspdlstate.h"

#include "gst/spdl/gstspdlloader.h"
#include "gst/spdl/progress/reshard.h"

/* Stored states of all ranks, some of which have not begun */

/* Returns TRUE if the text has all ranks of its sources. */
static gboolean
is_joined (const gchar *text)
{
  const gchar *const states[] = { text, NULL };
  g_autofree gchar *problem = NULL;
  g_autoptr (GPtrArray) ranks = spdl_ranks_read (states, &problem);

  return ranks != NULL;
}

/* The ranks that have begun, by their states of a source. */
typedef struct {
  guint32 source;
  guint64 world_size; /* 0: not known yet */
  GHashTable *ranks;
} Begun;

static void
add_begun (guint32 source, SpdlState *state, gpointer user_data)
{
  Begun *self = user_data;
  const guint64 rank = state->identity.rank;

  /* A source with one rank is loaded completely by each process. */
  if (self->world_size == 0 && state->identity.world_size > 1) {
    self->source = source;
    self->world_size = state->identity.world_size;
  }
  if (source == self->source && rank < self->world_size)
    g_hash_table_add (self->ranks, GSIZE_TO_POINTER (rank));
}

/* Writes the beginning of a rank's part of a state of a single rank. */
typedef struct {
  GString *text;
  guint64 rank;
  guint64 world_size;
} Beginning;

static void
write_beginning (guint32 source, SpdlState *state, gpointer user_data)
{
  const Beginning *self = user_data;

  if (state->identity.world_size == 1) {
    state->identity.rank = self->rank;
    state->identity.world_size = self->world_size;
  }
  spdl_state_write (self->text, source, state);
}

/* Returns the state at which a rank starts if it resumes from @joined, or NULL
 * with @problem set. */
static gchar *
take_part (
    const gchar *joined, const Begun *begun, guint64 rank, gchar **problem)
{
  gchar *part = spdl_reshard_pick (
      joined, begun->source, rank, begun->world_size, problem);
  Beginning beginning = { NULL, rank, begun->world_size };

  if (!part || !g_str_equal (part, joined))
    return part;
  /* Any number of ranks can start at the beginning of an epoch. */
  beginning.text = g_string_new (NULL);
  spdl_state_begin (beginning.text);
  spdl_state_visit (joined, write_beginning, &beginning);
  g_free (part);
  return g_string_free (beginning.text, FALSE);
}

/* Adds the parts of the ranks that have not begun to @own. Returns FALSE if
 * their number is not @n, or with @problem set. */
static gboolean
add_parts (GPtrArray *own, const gchar *joined, guint n, gchar **problem)
{
  g_autoptr (GHashTable) ranks = g_hash_table_new (NULL, NULL);
  Begun begun = { 0, 0, ranks };

  for (guint i = 0; i < own->len; i++)
    if (!spdl_state_visit (g_ptr_array_index (own, i), add_begun, &begun))
      return FALSE;
  if (g_hash_table_size (ranks) + n != begun.world_size)
    return FALSE;
  for (guint64 rank = 0; rank < begun.world_size && !*problem; rank++) {
    gchar *part = g_hash_table_contains (ranks, GSIZE_TO_POINTER (rank))
                      ? NULL
                      : take_part (joined, &begun, rank, problem);

    if (part)
      g_ptr_array_add (own, part);
  }
  return !*problem;
}

static GPtrArray *
read_stored_ranks (const gchar *const *states, gchar **problem)
{
  g_autoptr (GPtrArray) own = g_ptr_array_new_with_free_func (g_free);
  const gchar *joined = NULL;
  gboolean same = TRUE;
  guint n = 0;

  *problem = NULL;
  for (guint i = 0; states[i]; i++) {
    if (!is_joined (states[i])) {
      g_ptr_array_add (own, g_strdup (states[i]));
      continue;
    }
    same &= !joined || g_str_equal (states[i], joined);
    joined = states[i];
    n++;
  }
  if (joined && own->len > 0 && same && add_parts (own, joined, n, problem)) {
    g_ptr_array_add (own, NULL);
    states = (const gchar *const *) own->pdata;
  }
  return *problem ? NULL : spdl_ranks_read (states, problem);
}

/**
 * gst_spdl_state_is_done:
 * @state: (nullable): state of a batch or a loader; %NULL: the beginning
 * @source: number of the source, as in #GstSpdlItemMeta
 * @epoch: epoch of the item
 * @sequence: position of the item in the delivery order of the epoch
 *
 * Checks whether a run that starts at @state skips an item, because it was
 * delivered or lost before. Use it to keep an exact record of failed items: an
 * item belongs to the first state that counts it as done. @state is that of one
 * rank, because ranks number their items separately.
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
  guint32 source; /* the first one */
  guint64 epoch;
  gboolean is_beginning;
} Place;

static void
find_place (guint32 source, SpdlState *state, gpointer user_data)
{
  const SpdlProgress *progress = &state->progress;
  Place *place = user_data;

  if (place->n_sources++ == 0) {
    place->source = source;
    place->epoch = progress->epoch;
  }
  place->is_beginning &=
      progress->epoch == place->epoch && spdl_state_is_beginning (state);
  /* Another rank may be in an earlier epoch. */
  if (source == place->source)
    place->epoch = MIN (place->epoch, progress->epoch);
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
  g_clear_pointer (&state->left, g_ptr_array_unref);
  g_clear_pointer (&state->cuts, g_array_unref);
  spdl_state_write (self->text, source, state);
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

static gpointer
set_error (GError **error, const gchar *failure, const gchar *problem)
{
  g_set_error (error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_STATE,
      "%s: %s", failure, problem);
  return NULL;
}

/**
 * gst_spdl_state_merge:
 * @states: (array zero-terminated=1): the states of all ranks of a run, in any
 *     order. Each may itself be a result of this function; that of a rank that
 *     has resumed from such a result, and has not begun, is one
 * @error: (nullable): %GST_SPDL_LOADER_ERROR_STATE
 *
 * Joins the states of all ranks in one. A run with any number of ranks can
 * resume from it: give it to each of them, and each takes its part. With
 * another number of ranks, what is left of the epoch is divided anew, so that
 * each remaining item is delivered once.
 *
 * Ranks may be at different batches, and even in different epochs. Failures
 * count as they do in a state of one rank.
 *
 * Returns: (transfer full) (nullable): the joined state; %NULL with @error set
 *     if a state is malformed, if one is missing, or if they belong to
 *     different runs
 *
 * Since: 0.1
 */
gchar *
gst_spdl_state_merge (const gchar *const *states, GError **error)
{
  g_autoptr (GPtrArray) ranks = NULL;
  g_autofree gchar *problem = NULL;

  g_return_val_if_fail (states != NULL, NULL);
  ranks = read_stored_ranks (states, &problem);
  return ranks ? spdl_ranks_write (ranks)
               : set_error (error, "The states of the ranks cannot be joined",
                     problem);
}

/**
 * gst_spdl_state_reshard:
 * @states: (array zero-terminated=1): the states of all ranks of a run, as for
 *     gst_spdl_state_merge()
 * @world_size: the new number of ranks
 * @error: (nullable): %GST_SPDL_LOADER_ERROR_STATE
 *
 * Divides what a run has left among another number of ranks. A source that is
 * given the joined state does the same; use this function to store a state for
 * each rank.
 *
 * Within an epoch, streamed shards cannot be divided anew, because their items
 * have no known place.
 *
 * Returns: (transfer full) (array zero-terminated=1) (nullable): a state for
 *     each rank; %NULL with @error set
 *
 * Since: 0.1
 */
gchar **
gst_spdl_state_reshard (
    const gchar *const *states, guint world_size, GError **error)
{
  static const gchar failure[] =
      "The states cannot be divided among another number of ranks";
  g_autoptr (GPtrArray) ranks = NULL;
  g_autoptr (SpdlReshard) reshard = NULL;
  g_autofree gchar *problem = NULL;
  gchar **result;

  g_return_val_if_fail (states != NULL, NULL);
  ranks = read_stored_ranks (states, &problem);
  if (ranks)
    reshard = spdl_reshard_new (ranks, world_size, &problem);
  if (!reshard)
    return set_error (error, failure, problem);
  result = g_new0 (gchar *, world_size + 1);
  for (guint rank = 0; rank < world_size; rank++)
    result[rank] = spdl_reshard_dup_state (reshard, rank);
  return result;
}
