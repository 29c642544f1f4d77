/* gst-spdl: stored states of all ranks, some of which have not begun
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/progress/storedranks.h"

#include "gst/spdl/progress/reshard.h"

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

GPtrArray *
spdl_stored_ranks_read (const gchar *const *states, gchar **problem)
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
