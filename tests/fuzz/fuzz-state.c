/* gst-spdl: fuzz target of resume states
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/progress/reshard.h"
#include "plugins/core/src/resume.h"
#include "tests/fuzz/fuzz.h"

static gchar *
write_state (const SpdlState *state, guint32 source)
{
  GString *text = g_string_new (NULL);

  spdl_state_begin (text);
  spdl_state_write (text, source, state);
  return g_string_free (text, FALSE);
}

/* Checks that a state is the same after it is written and read again. */
static void
check_text (const SpdlState *state, guint32 source)
{
  g_autofree gchar *text = write_state (state, source);
  g_autofree gchar *again = NULL, *flaw = NULL;
  g_auto (SpdlState) other = { 0 };

  spdl_state_init (&other);
  g_assert_true (spdl_state_read (&other, text, source, &flaw));
  g_assert_cmpuint (other.progress.n_done, ==, state->progress.n_done);
  again = write_state (&other, source);
  g_assert_cmpstr (again, ==, text);
}

/* Runs are in order, with gaps between them. */
static void
check_progress (const SpdlProgress *progress)
{
  guint64 last = progress->mark, n = progress->mark;

  for (guint i = 0; i < progress->runs->len; i++) {
    const SpdlRun *run = &g_array_index (progress->runs, SpdlRun, i);

    g_assert_cmpuint (run->begin, >, last);
    g_assert_cmpuint (run->end, >, run->begin);
    n += run->end - run->begin;
    last = run->end;
  }
  g_assert_cmpuint (progress->n_done, ==, n);
}

typedef struct {
  GString *text; /* the serialized copy */
  guint source;
  guint n_sources;
  gboolean has_source;
} Visit;

static void
visit_source (guint32 source, SpdlState *state, gpointer user_data)
{
  Visit *self = user_data;

  check_progress (&state->progress);
  spdl_state_write (self->text, source, state);
  self->n_sources++;
  self->has_source |= source == self->source;
}

static gboolean
visit_text (const gchar *text, Visit *visit)
{
  spdl_state_begin (visit->text);
  return spdl_state_visit (text, visit_source, visit);
}

static void
check_part (guint32 source, SpdlState *state, gpointer user_data)
{
  check_progress (&state->progress);
}

static gboolean
visit_part (const gchar *text)
{
  return spdl_state_visit (text, check_part, NULL);
}

static gboolean
is_source (guint32 source, gconstpointer user_data)
{
  return source == *(const guint *) user_data;
}

/* Checks that all sources of a text survive serialization, and that the text
 * without @source belongs to other sources. */
static void
check_sources (const gchar *text, guint source)
{
  g_autoptr (GString) written = g_string_new (NULL);
  g_autoptr (GString) again = g_string_new (NULL);
  g_autoptr (GString) others = g_string_new (NULL);
  Visit first = { written, source }, second = { again, source };

  if (!visit_text (text, &first)) {
    g_assert_false (spdl_state_is_of_others (text, source));
    return;
  }
  g_assert_cmpuint (first.n_sources, >, 0);
  g_assert_true (visit_text (written->str, &second));
  g_assert_cmpuint (second.n_sources, ==, first.n_sources);
  g_assert_cmpstr (again->str, ==, written->str);
  g_assert_cmpint (
      spdl_state_is_of_others (text, source), ==, !first.has_source);

  spdl_state_begin (others);
  spdl_state_write_others (others, text, is_source, &source);
  g_assert_false (first.has_source && g_str_equal (others->str, text));
  if (!first.has_source)
    g_assert_true (spdl_state_is_of_others (others->str, source));
}

/* Reads @text as the resume state of a source, of which it may have the
 * identity, and checks the progress. */
static void
resume (const gchar *text, guint32 source, SpdlState *state, guint64 n_items)
{
  g_autoptr (GError) error = NULL;

  if (!spdl_resume_read (state, text, source, n_items, n_items, "a", &error)) {
    fuzz_check_error (error);
    return;
  }
  g_assert_no_error (error);
  check_progress (&state->progress);
  g_assert_cmpuint (state->progress.mark, <=, n_items);
  g_assert_cmpuint (state->progress.n_done, <=, n_items);
}

/* Divides the states of all ranks in @text among @world_size ranks, and checks
 * that these can be joined and divided again. */
static void
divide (const gchar *text, guint world_size)
{
  const gchar *const states[] = { text, NULL };
  g_autofree gchar *problem = NULL;
  g_autoptr (GPtrArray) ranks = spdl_ranks_read (states, &problem);
  g_autoptr (GPtrArray) again = NULL;
  g_autoptr (SpdlReshard) reshard = NULL;
  g_auto (GStrv) parts = g_new0 (gchar *, world_size + 1);

  if (ranks)
    reshard = spdl_reshard_new (ranks, world_size, &problem);
  g_assert_cmpint (reshard == NULL, ==, problem != NULL);
  if (!reshard) {
    fuzz_check_text (problem);
    return;
  }
  for (guint rank = 0; rank < world_size; rank++) {
    parts[rank] = spdl_reshard_dup_state (reshard, rank);
    g_assert_true (visit_part (parts[rank]));
  }
  again = spdl_ranks_read ((const gchar *const *) parts, &problem);
  g_assert_nonnull (again);
  g_clear_pointer (&reshard, spdl_reshard_free);
  reshard = spdl_reshard_new (again, world_size % 5 + 1, &problem);
  g_assert_true (reshard || problem);
}

/* Chooses a rank's part, as a source does. */
static void
pick (const gchar *text, guint32 source, guint64 rank, guint64 world_size)
{
  g_autofree gchar *problem = NULL;
  g_autofree gchar *part =
      spdl_reshard_pick (text, source, rank, world_size, &problem);

  g_assert_cmpint (part == NULL, ==, problem != NULL);
  if (problem)
    fuzz_check_text (problem);
}

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  fuzz_init ();
  return 0;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput input = { data, size };
  const guint8 source = fuzz_take (&input), change = fuzz_take (&input);
  const guint64 n_items = fuzz_take_64 (&input) >> change % 64;
  g_autofree gchar *text = g_strndup ((const gchar *) input.data, input.size);
  g_autofree gchar *flaw = NULL;
  g_auto (SpdlState) state = { 0 };

  spdl_state_init (&state);
  if (spdl_state_read (&state, text, source, &flaw)) {
    check_progress (&state.progress);
    check_text (&state, source);
  } else {
    g_assert_nonnull (flaw);
    g_assert_true (g_utf8_validate (flaw, -1, NULL));
  }
  check_sources (text, source);
  divide (text, change % 8 + 1);
  pick (text, source, n_items % (change % 8 + 1), change % 8 + 1);
  /* A bit of the identity may differ. */
  state.identity.count ^= change == 64;
  state.identity.hash ^= change == 65;
  state.identity.shuffle ^= change == 66;
  state.identity.seed ^= change == 67;
  state.identity.rank ^= change == 68;
  state.identity.world_size ^= change == 69;
  state.identity.shard_mode[0] ^= change == 70;
  state.identity.weights[0] ^= change == 71;
  state.identity.items_per_epoch ^= change == 72;
  state.identity.classes ^= change == 73;
  resume (text, source, &state, n_items);
  return 0;
}
