/* gst-spdl: resume states of several ranks in one text
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/progress/reshard.h"

#define NUMBER "%" G_GUINT64_FORMAT

static void
free_rank (gpointer data)
{
  SpdlRankState *rank = data;

  spdl_state_clear (&rank->state);
  g_free (rank->text);
  g_free (rank);
}

static void
write_text (SpdlRankState *self)
{
  GString *text = g_string_new (NULL);

  spdl_state_write (text, self->source, &self->state);
  self->text = g_string_free (text, FALSE);
}

static SpdlRankState *
rank_new (guint32 source)
{
  SpdlRankState *self = g_new0 (SpdlRankState, 1);

  self->source = source;
  spdl_state_init (&self->state);
  return self;
}

static void
add_rank (guint32 source, SpdlState *state, gpointer user_data)
{
  SpdlRankState *rank = rank_new (source);

  rank->state.identity = state->identity;
  rank->state.change = state->change;
  rank->state.left = g_steal_pointer (&state->left);
  rank->state.cuts = g_steal_pointer (&state->cuts);
  spdl_progress_copy (&rank->state.progress, &state->progress);
  write_text (rank);
  g_ptr_array_add (user_data, rank);
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  const SpdlRankState *one = *(SpdlRankState *const *) a;
  const SpdlRankState *other = *(SpdlRankState *const *) b;
  const guint64 rank = one->state.identity.rank;
  const guint64 other_rank = other->state.identity.rank;

  if (one->source != other->source)
    return one->source < other->source ? -1 : 1;
  return rank < other_rank ? -1 : rank > other_rank;
}

static void
remove_repeated (GPtrArray *ranks)
{
  for (guint i = ranks->len; i > 1; i--)
    if (spdl_ranks_get (ranks, i - 1)->source ==
            spdl_ranks_get (ranks, i - 2)->source &&
        g_str_equal (spdl_ranks_get (ranks, i - 1)->text,
            spdl_ranks_get (ranks, i - 2)->text))
      g_ptr_array_remove_index (ranks, i - 1);
}

/* Completeness */

guint
spdl_ranks_find_end (const GPtrArray *ranks, guint begin)
{
  guint i = begin;

  while (i < ranks->len && spdl_ranks_get (ranks, i)->source ==
                               spdl_ranks_get (ranks, begin)->source)
    i++;
  return i;
}

static gboolean
has_rank (const GPtrArray *ranks, guint begin, guint end, guint64 rank)
{
  for (guint i = begin; i < end; i++)
    if (spdl_ranks_get (ranks, i)->state.identity.rank == rank)
      return TRUE;
  return FALSE;
}

/* Adds the beginning of a source on each rank whose state only has other
 * sources, since this one had not been announced there. */
static void
add_beginnings_of_source (GPtrArray *ranks, guint begin, guint end, guint n)
{
  const SpdlRankState *known = spdl_ranks_get (ranks, begin);
  const SpdlIdentity *identity = &known->state.identity;

  if (known->state.change != 0 || end - begin >= identity->world_size)
    return;
  for (guint i = 0; i < n; i++) {
    const SpdlIdentity *other = &spdl_ranks_get (ranks, i)->state.identity;
    SpdlRankState *rank;

    if (other->world_size != identity->world_size ||
        has_rank (ranks, begin, end, other->rank))
      continue;
    rank = rank_new (known->source);
    rank->state.identity = *identity;
    rank->state.identity.rank = other->rank;
    write_text (rank);
    g_ptr_array_add (ranks, rank);
  }
}

static void
add_beginnings (GPtrArray *ranks)
{
  const guint n = ranks->len;

  for (guint i = 0, end; i < n; i = end) {
    end = MIN (spdl_ranks_find_end (ranks, i), n);
    add_beginnings_of_source (ranks, i, end, n);
  }
  if (ranks->len == n)
    return;
  g_ptr_array_sort (ranks, compare);
  remove_repeated (ranks);
}

static gboolean
is_same_identity (const SpdlIdentity *a, const SpdlIdentity *b)
{
  return a->count == b->count && a->hash == b->hash &&
         a->shuffle == b->shuffle && a->seed == b->seed &&
         a->shard_run == b->shard_run && a->streamed == b->streamed &&
         a->shuffle_buffer == b->shuffle_buffer &&
         a->items_per_epoch == b->items_per_epoch && a->classes == b->classes &&
         g_str_equal (a->weights, b->weights) &&
         g_str_equal (a->shard_mode, b->shard_mode);
}

static gchar *
compare_to_first (const SpdlRankState *first, const SpdlRankState *rank)
{
  const SpdlIdentity *is = &rank->state.identity;
  const SpdlIdentity *was = &first->state.identity;

  if (is->world_size != was->world_size)
    return g_strdup_printf ("the states are of different world sizes, " NUMBER
                            " and " NUMBER,
        was->world_size, is->world_size);
  if (!is_same_identity (was, is))
    return g_strdup_printf (
        "the states of rank " NUMBER " and rank " NUMBER
        " of source %u are of different datasets, orders or partitions",
        was->rank, is->rank, rank->source);
  if (first->state.change != rank->state.change)
    return g_strdup_printf (
        "the states of rank " NUMBER " and rank " NUMBER
        " of source %u are of different runs, because the number of ranks "
        "changed between them: use the states of all ranks after the change",
        was->rank, is->rank, rank->source);
  return NULL;
}

static gchar *
find_missing (const SpdlRankState *first, guint64 rank)
{
  return g_strdup_printf ("the state of rank " NUMBER " of " NUMBER
                          " is missing for source %u: "
                          "give the states of all ranks of the run",
      rank, first->state.identity.world_size, first->source);
}

/* Checks that the ranks of a source, from @begin on, are complete and fit to
 * each other. Returns their end. */
static guint
check_source (const GPtrArray *ranks, guint begin, gchar **problem)
{
  const SpdlRankState *first = spdl_ranks_get (ranks, begin);
  const guint end = spdl_ranks_find_end (ranks, begin);
  guint64 next = 0;

  for (guint i = begin; i < end && !*problem; i++) {
    const SpdlRankState *rank = spdl_ranks_get (ranks, i);
    const guint64 number = rank->state.identity.rank;

    if ((*problem = compare_to_first (first, rank)))
      break;
    if (number < next)
      *problem = g_strdup_printf (
          "there are two different states of rank " NUMBER " of source %u",
          number, rank->source);
    else if (number > next)
      *problem = find_missing (first, next);
    next = number + 1;
  }
  if (!*problem && next < first->state.identity.world_size)
    *problem = find_missing (first, next);
  else if (!*problem && next > first->state.identity.world_size)
    *problem = g_strdup_printf ("the state of source %u is of rank " NUMBER
                                " of " NUMBER,
        first->source, next - 1, first->state.identity.world_size);
  return end;
}

GPtrArray *
spdl_ranks_read (const gchar *const *states, gchar **problem)
{
  g_autoptr (GPtrArray) ranks = g_ptr_array_new_with_free_func (free_rank);

  *problem = NULL;
  for (guint i = 0; states[i]; i++) {
    if (!spdl_state_visit (states[i], add_rank, ranks)) {
      *problem = g_strdup_printf ("state %u is malformed", i);
      return NULL;
    }
  }
  if (ranks->len == 0) {
    *problem = g_strdup ("no state was given");
    return NULL;
  }
  g_ptr_array_sort (ranks, compare);
  remove_repeated (ranks);
  add_beginnings (ranks);
  for (guint i = 0; i < ranks->len && !*problem;)
    i = check_source (ranks, i, problem);
  return *problem ? NULL : g_steal_pointer (&ranks);
}

gchar *
spdl_ranks_write (const GPtrArray *ranks)
{
  GString *text = g_string_new (NULL);

  spdl_state_begin (text);
  for (guint i = 0; i < ranks->len; i++)
    g_string_append (text, spdl_ranks_get (ranks, i)->text);
  return g_string_free (text, FALSE);
}
