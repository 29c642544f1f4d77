/* gst-spdl: fuzzes resume states
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/src/resume.h"
#include "tests/fuzz/fuzz.h"

static gchar *
write_state (const SpdlState *state, guint32 source)
{
  GString *text = g_string_new (NULL);

  spdl_state_begin (text);
  spdl_state_write_identity (text, source, &state->identity);
  spdl_state_write_progress (text, &state->progress);
  return g_string_free (text, FALSE);
}

/* What was read is written in one way only, and is read as the same. */
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

/* It goes on only where it was made, which the text itself may say. */
static void
resume (const gchar *text, guint32 source, SpdlState *state, guint64 n_items)
{
  g_autoptr (GError) error = NULL;

  if (!spdl_resume_read (state, text, source, n_items, "a", &error)) {
    fuzz_check_error (error);
    return;
  }
  g_assert_no_error (error);
  check_progress (&state->progress);
  g_assert_cmpuint (state->progress.mark, <=, n_items);
  g_assert_cmpuint (state->progress.n_done, <=, n_items);
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
