/* gst-spdl: tests of the tally against a simple implementation
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "gst/spdl/engine/random.h"
#include "gst/spdl/progress/tally.h"

#define IDENTITY                                                     \
  "source=3,count=100,hash=0123456789abcdef,shuffle=1,seed=42,rank=" \
  "1,world-size=2,shard-mode=pad,"
#define STATE(progress) "spdl1;" IDENTITY progress ";"

static SpdlTally *
new_tally (const gchar *state, guint64 n_items)
{
  gchar *flaw = NULL;
  SpdlTally *tally = spdl_tally_new (3, state, n_items, &flaw);

  g_assert_cmpstr (flaw, ==, NULL);
  g_assert_cmpuint (spdl_tally_get_source (tally), ==, 3);
  return tally;
}

static gchar *
write_state (const SpdlTally *tally)
{
  GString *text = g_string_new (NULL);

  spdl_state_begin (text);
  spdl_tally_write (tally, text);
  return g_string_free (text, FALSE);
}

static void
assert_state (const SpdlTally *tally, const gchar *wanted)
{
  g_autofree gchar *text = write_state (tally);

  g_assert_cmpstr (text, ==, wanted);
}

static void
test_progress (void)
{
  SpdlTally *tally = new_tally (STATE ("epoch=0,mark=0,done="), 50);

  assert_state (tally, STATE ("epoch=0,mark=0,done="));
  spdl_tally_deliver (tally, 0, 0, 1);
  assert_state (tally, STATE ("epoch=0,mark=1,done="));
  /* A gap of two, then a run of one. */
  spdl_tally_deliver (tally, 0, 3, 1);
  assert_state (tally, STATE ("epoch=0,mark=1,done=CB"));
  spdl_tally_drop (tally, 0, 5, 1);
  spdl_tally_deliver (tally, 0, 4, 1);
  assert_state (tally, STATE ("epoch=0,mark=1,done=CD"));
  /* Repeated reports have no effect. */
  spdl_tally_deliver (tally, 0, 4, 1);
  spdl_tally_drop (tally, 0, 0, 1);
  assert_state (tally, STATE ("epoch=0,mark=1,done=CD"));
  spdl_tally_deliver (tally, 0, 40, 1);
  assert_state (tally, STATE ("epoch=0,mark=1,done=CDiBB"));
  spdl_tally_drop (tally, 0, 2, 1);
  spdl_tally_deliver (tally, 0, 1, 1);
  assert_state (tally, STATE ("epoch=0,mark=6,done=iBB"));
  /* Sequence numbers beyond the end of the epoch are ignored. */
  spdl_tally_deliver (tally, 0, 50, 1);
  assert_state (tally, STATE ("epoch=0,mark=6,done=iBB"));
  spdl_tally_free (tally);
}

static void
test_epochs (void)
{
  SpdlTally *tally = new_tally (STATE ("epoch=7,mark=1,done="), 3);

  spdl_tally_deliver (tally, 7, 2, 1);
  spdl_tally_deliver (tally, 7, 1, 1);
  assert_state (tally, STATE ("epoch=8,mark=0,done="));
  /* The event that follows has no effect. */
  g_assert_cmpuint (spdl_tally_end_epoch (tally, 7, 3), ==, 0);
  assert_state (tally, STATE ("epoch=8,mark=0,done="));
  /* Late and early reports. */
  spdl_tally_drop (tally, 7, 1, 1);
  spdl_tally_drop (tally, 9, 1, 1);
  spdl_tally_drop (tally, 10, 0, 1);
  spdl_tally_drop (tally, G_MAXUINT64, 0, 1);
  spdl_tally_deliver (tally, 8, 1, 1);
  assert_state (tally, STATE ("epoch=8,mark=0,done=BB"));
  g_assert_cmpuint (spdl_tally_end_epoch (tally, 8, 3), ==, 2);
  assert_state (tally, STATE ("epoch=9,mark=0,done=BB"));
  spdl_tally_deliver (tally, 9, 0, 1);
  spdl_tally_deliver (tally, 9, 2, 1);
  assert_state (tally, STATE ("epoch=10,mark=1,done="));
  /* An item of a later epoch: missing items of the previous one are lost. */
  spdl_tally_deliver (tally, 12, 1, 1);
  assert_state (tally, STATE ("epoch=12,mark=0,done=BB"));
  spdl_tally_free (tally);

  /* With an unknown number of items, the end event determines it. */
  tally = new_tally (STATE ("epoch=0,mark=0,done="), G_MAXUINT64);
  spdl_tally_deliver (tally, 0, 0, 1);
  spdl_tally_deliver (tally, 0, 2, 1);
  assert_state (tally, STATE ("epoch=0,mark=1,done=BB"));
  g_assert_cmpuint (spdl_tally_end_epoch (tally, 0, 3), ==, 1);
  assert_state (tally, STATE ("epoch=1,mark=0,done="));
  spdl_tally_free (tally);

  /* A rank without items. */
  tally = new_tally (STATE ("epoch=0,mark=0,done="), 0);
  spdl_tally_deliver (tally, 0, 0, 1);
  assert_state (tally, STATE ("epoch=0,mark=0,done="));
  spdl_tally_end_epoch (tally, 0, 0);
  assert_state (tally, STATE ("epoch=1,mark=0,done="));
  spdl_tally_free (tally);
}

/* An item is done when its last part is. */
static void
test_parts (void)
{
  SpdlTally *tally = new_tally (STATE ("epoch=0,mark=0,done="), 4);

  spdl_tally_deliver (tally, 0, 0, 3);
  spdl_tally_deliver (tally, 0, 1, 2);
  spdl_tally_deliver (tally, 0, 0, 3);
  assert_state (tally, STATE ("epoch=0,mark=0,done="));
  spdl_tally_deliver (tally, 0, 1, 2);
  assert_state (tally, STATE ("epoch=0,mark=0,done=BB"));
  spdl_tally_deliver (tally, 0, 0, 3);
  assert_state (tally, STATE ("epoch=0,mark=2,done="));
  spdl_tally_deliver (tally, 0, 2, 2);
  spdl_tally_deliver (tally, 1, 2, 2);
  assert_state (tally, STATE ("epoch=1,mark=0,done="));
  spdl_tally_deliver (tally, 1, 2, 2);
  assert_state (tally, STATE ("epoch=1,mark=0,done=CB"));
  spdl_tally_free (tally);
}

/* Parts that were split again, unequally, and parts that were dropped. */
static void
test_parts_of_parts (void)
{
  SpdlTally *tally = new_tally (STATE ("epoch=0,mark=0,done="), 4);

  for (guint i = 0; i < 7; i++)
    spdl_tally_deliver (tally, 0, 0, 14);
  spdl_tally_deliver (tally, 0, 0, 6);
  spdl_tally_deliver (tally, 0, 0, 6);
  assert_state (tally, STATE ("epoch=0,mark=0,done="));
  spdl_tally_deliver (tally, 0, 0, 6);
  assert_state (tally, STATE ("epoch=0,mark=1,done="));

  spdl_tally_drop (tally, 0, 1, 3);
  spdl_tally_deliver (tally, 0, 1, 3);
  assert_state (tally, STATE ("epoch=0,mark=1,done="));
  spdl_tally_drop (tally, 0, 1, 3);
  assert_state (tally, STATE ("epoch=0,mark=2,done="));

  /* An item counts as lost before spdlmix if all of its parts were. */
  spdl_tally_pass_by (tally, 0, 2, 2);
  spdl_tally_deliver (tally, 0, 2, 2);
  assert_state (tally, STATE ("epoch=0,mark=3,done="));
  spdl_tally_pass_by (tally, 1, 2, 2);
  spdl_tally_pass_by (tally, 1, 2, 2);
  spdl_tally_deliver (tally, 0, 3, 1);
  assert_state (tally, STATE ("epoch=1,mark=0,done=CB,dropped-upstream=1,"
                              "dropped-upstream-before=0"));
  spdl_tally_free (tally);
}

/* The state names a document that was delivered in part, and how far. */
static void
test_cuts (void)
{
  SpdlTally *tally = new_tally (STATE ("epoch=0,mark=0,done="), 4);

  spdl_tally_deliver (tally, 0, 0, 3);
  spdl_tally_cut (tally, 0, 7, 0, 100, FALSE);
  assert_state (tally, STATE ("epoch=0,mark=0,done=,cut=AHkD"));
  /* A part that overtook another one does not count. */
  spdl_tally_deliver (tally, 0, 0, 3);
  spdl_tally_cut (tally, 0, 7, 101, 102, FALSE);
  spdl_tally_cut (tally, 0, 8, 5, 6, FALSE);
  assert_state (tally, STATE ("epoch=0,mark=0,done=,cut=AHkD"));
  spdl_tally_free (tally);

  /* A later run delivers the rest. */
  tally = new_tally (STATE ("epoch=0,mark=0,done=,cut=AHkDBIB"), 4);
  spdl_tally_deliver (tally, 0, 0, 2);
  spdl_tally_cut (tally, 0, 7, 100, 131, FALSE);
  assert_state (tally, STATE ("epoch=0,mark=0,done=,cut=AHjEBIB"));
  g_assert_true (
      spdl_tally_restore (tally, STATE ("epoch=0,mark=0,done=,cut=AHkDBIB")));
  assert_state (tally, STATE ("epoch=0,mark=0,done=,cut=AHkDBIB"));
  spdl_tally_deliver (tally, 0, 0, 1);
  spdl_tally_cut (tally, 0, 7, 100, 140, TRUE);
  assert_state (tally, STATE ("epoch=0,mark=1,done=,cut=BIB"));
  spdl_tally_end_epoch (tally, 0, 4);
  assert_state (tally, STATE ("epoch=1,mark=0,done=,cut=AIB"));
  spdl_tally_end_epoch (tally, 1, 4);
  assert_state (tally, STATE ("epoch=2,mark=0,done="));
  spdl_tally_free (tally);
}

/* Tokens count once, when the last part of an item was delivered. */
static void
test_tokens (void)
{
  SpdlTally *tally =
      new_tally (STATE ("epoch=0,mark=1,done=,tokens=5,tokens-before=2"), 3);

  spdl_tally_deliver_tokens (tally, 0, 1, 2, 100);
  assert_state (tally, STATE ("epoch=0,mark=1,done=,tokens=5,tokens-before=2"));
  spdl_tally_deliver_tokens (tally, 0, 1, 2, 100);
  spdl_tally_deliver_tokens (tally, 0, 1, 1, 100);
  assert_state (
      tally, STATE ("epoch=0,mark=2,done=,tokens=105,tokens-before=2"));
  spdl_tally_drop (tally, 0, 2, 1);
  assert_state (
      tally, STATE ("epoch=1,mark=0,done=,tokens=0,tokens-before=107"));
  spdl_tally_end_epoch (tally, 1, 3);
  assert_state (
      tally, STATE ("epoch=2,mark=0,done=,tokens=0,tokens-before=107"));
  spdl_tally_free (tally);
}

/* Items dropped before spdlmix are not part of its order. */
static void
test_dropped_upstream (void)
{
  SpdlTally *tally = new_tally (STATE ("epoch=0,mark=0,done="), 4);
  SpdlTally *again;

  spdl_tally_pass_by (tally, 0, 1, 1);
  spdl_tally_pass_by (tally, 0, 1, 1);
  spdl_tally_drop (tally, 0, 2, 1);
  spdl_tally_pass_by (tally, 0, 2, 1);
  assert_state (tally, STATE ("epoch=0,mark=0,done=BC,dropped-upstream=1,"
                              "dropped-upstream-before=0"));
  spdl_tally_pass_by (tally, 1, 0, 1);
  spdl_tally_deliver (tally, 0, 0, 1);
  spdl_tally_deliver (tally, 0, 3, 1);
  assert_state (tally,
      STATE (
          "epoch=1,mark=1,done=,dropped-upstream=1,dropped-upstream-before=1"));
  again = new_tally (
      STATE (
          "epoch=1,mark=1,done=,dropped-upstream=1,dropped-upstream-before=1"),
      4);
  spdl_tally_deliver (again, 3, 0, 1);
  assert_state (again,
      STATE (
          "epoch=3,mark=1,done=,dropped-upstream=0,dropped-upstream-before=2"));
  spdl_tally_free (again);
  spdl_tally_free (tally);
}

static gboolean
is_3 (guint32 source, gconstpointer unused)
{
  return source == 3;
}

/* A state with several sources. */
static void
test_others (void)
{
  static const gchar other[] =
      "source=2,count=1,hash=0000000000000000,shuffle=0,seed=0,rank=0,"
      "world-size=1,shard-mode=drop,epoch=0,mark=0,done=;";
  g_autofree gchar *both =
      g_strconcat (STATE ("epoch=1,mark=5,done=BC"), other, NULL);
  g_autofree gchar *cut = g_strndup (both, strlen (both) - 1);
  g_autofree gchar *alone = g_strconcat ("spdl1;", other, NULL);
  g_autoptr (GString) text = g_string_new (NULL);

  spdl_state_write_others (text, both, is_3, NULL);
  g_assert_cmpstr (text->str, ==, other);
  g_assert_true (spdl_state_is_of_others (alone, 3));
  g_assert_true (spdl_state_is_of_others (both, 4));
  g_assert_false (spdl_state_is_of_others (both, 3));
  g_assert_false (spdl_state_is_of_others (both, 2));
  g_assert_false (spdl_state_is_of_others (cut, 4));
  g_assert_false (spdl_state_is_of_others ("spdl1;", 3));
  g_assert_false (spdl_state_is_of_others ("", 3));
}

static void
test_restore (void)
{
  SpdlTally *tally = new_tally (STATE ("epoch=1,mark=5,done=BC"), 50);
  g_autofree gchar *before = write_state (tally);

  g_assert_cmpstr (before, ==, STATE ("epoch=1,mark=5,done=BC"));
  spdl_tally_deliver (tally, 1, 20, 1);
  spdl_tally_drop (tally, 2, 20, 1);
  spdl_tally_deliver (tally, 1, 21, 2);
  g_assert_true (spdl_tally_restore (tally, before));
  assert_state (tally, before);
  spdl_tally_deliver (tally, 1, 5, 1);
  assert_state (tally, STATE ("epoch=1,mark=8,done="));
  g_assert_false (spdl_tally_restore (tally, "spdl1;"));
  assert_state (tally, STATE ("epoch=1,mark=8,done="));
  spdl_tally_free (tally);
}

/* Any numbers can be written and read. */
static void
test_numbers (void)
{
  g_auto (SpdlState) state = { 0 };
  gchar *flaw = NULL;

  spdl_state_init (&state);
  g_assert_true (spdl_state_read (&state,
      "spdl1;source=0,count=1,hash=0,shuffle=0,seed=0,rank=0,world-size=1,"
      "shard-mode=drop,epoch=0,mark=0,done=;"
      "source=4294967295,count=18446744073709551615,hash=ffffffffffffffff,"
      "shuffle=1,seed=18446744073709551615,rank=18446744073709551615,"
      "world-size=1,shard-mode=uneven,classes=fedcba9876543210,"
      "epoch=18446744073709551615,mark=0,"
      "done=B-___________P;",
      G_MAXUINT32, &flaw));
  g_assert_cmpuint (state.identity.count, ==, G_MAXUINT64);
  g_assert_cmpuint (state.identity.hash, ==, G_MAXUINT64);
  g_assert_cmphex (
      state.identity.classes, ==, G_GUINT64_CONSTANT (0xfedcba9876543210));
  g_assert_cmpuint (state.progress.epoch, ==, G_MAXUINT64);
  g_assert_cmpstr (state.identity.shard_mode, ==, "uneven");
  g_assert_cmpuint (state.progress.n_done, ==, G_MAXUINT64 - 1);

  for (guint i = 0; i < 64; i++) {
    const guint64 number = G_GUINT64_CONSTANT (1) << i;
    g_auto (SpdlState) again = { 0 };
    GString *text = g_string_new (NULL);

    spdl_state_init (&again);
    spdl_progress_reset (&state.progress, number);
    spdl_progress_add (&state.progress, 0);
    spdl_progress_add (&state.progress, number + 1);
    spdl_state_begin (text);
    spdl_state_write_identity (text, 1, &state.identity);
    spdl_state_write_progress (text, &state.progress, 0, NULL, NULL);
    g_assert_true (spdl_state_read (&again, text->str, 1, &flaw));
    g_assert_cmpuint (again.progress.epoch, ==, number);
    g_assert_cmpuint (again.progress.mark, ==, 1);
    g_assert_cmpuint (again.progress.n_done, ==, 2);
    g_assert_cmpuint (again.progress.runs->len, ==, 1);
    g_assert_cmpuint (
        g_array_index (again.progress.runs, SpdlRun, 0).begin, ==, number + 1);
    g_string_free (text, TRUE);
  }
}

/* @wanted: NULL: any error about the format */
static void
assert_flaw (const gchar *text, const gchar *wanted)
{
  g_auto (SpdlState) state = { 0 };
  g_autofree gchar *flaw = NULL;

  spdl_state_init (&state);
  g_assert_false (spdl_state_read (&state, text, 3, &flaw));
  if (wanted)
    g_assert_cmpstr (flaw, ==, wanted);
  else
    g_assert_true (
        g_str_has_prefix (flaw, "the state is malformed from byte "));
}

static void
test_flaws (void)
{
  static const gchar good[] = STATE ("epoch=1,mark=5,done=BC");
  static const gchar *const bad[] = { "epoch=1,mark=5,done=B",
    "epoch=1,mark=5,done=AB", "epoch=1,mark=5,done=BA",
    "epoch=1,mark=5,done=B_", "epoch=1,mark=5,done=B____________Q",
    "epoch=1,mark=18446744073709551615,done=BB",
    "epoch=1,mark=18446744073709551616,done=", "epoch=,mark=5,done=",
    "epoch=-1,mark=5,done=", "epoch=1,mark=5a,done=", "epoch=1,mark=5,done=B C",
    "mark=5,epoch=1,done=",
    "epoch=1,mark=5,done=,dropped-upstream=6,dropped-upstream-before=0",
    "epoch=1,mark=5,done=,dropped-upstream=1",
    "epoch=1,mark=5,done=,dropped-upstream=,dropped-upstream-before=0", "" };

  assert_flaw ("", "the state begins with \"\" instead of \"spdl1;\"");
  assert_flaw ("spdl2;source=0",
      "the state begins with \"spdl2;so\" instead of \"spdl1;\"");
  /* Eight bytes, the last of which is half of a character. */
  assert_flaw ("abcdefg\xc3\xa9",
      "the state begins with \"abcdefg\xef\xbf\xbd\" instead of \"spdl1;\"");
  assert_flaw ("spdl1;", "the state has no source 3");
  assert_flaw ("spdl1;source=2,count=1,hash=0,shuffle=0,seed=0,rank=0,"
               "world-size=1,shard-mode=drop,epoch=0,mark=0,done=;",
      "the state has no source 3");
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autofree gchar *text =
        g_strconcat ("spdl1;", IDENTITY, bad[i], ";", NULL);

    assert_flaw (text, NULL);
  }
  /* Truncated at any position. */
  for (gsize length = 6; length < strlen (good); length++) {
    g_autofree gchar *cut = g_strndup (good, length);

    assert_flaw (cut, length == 6 ? "the state has no source 3" : NULL);
  }
}

/* Simple tally: a byte for each sequence number of the epoch. */
static void
assert_same (const SpdlTally *tally, const guint8 *done, guint n, guint64 epoch)
{
  const SpdlProgress *progress = spdl_tally_get_progress (tally);
  guint64 next = 0;

  g_assert_cmpuint (progress->epoch, ==, epoch);
  for (guint i = 0; i <= progress->runs->len; i++) {
    const SpdlRun mark = { 0, progress->mark };
    const SpdlRun *run =
        i == 0 ? &mark : &g_array_index (progress->runs, SpdlRun, i - 1);

    /* There is a gap before each run except the one below the mark. */
    g_assert_cmpuint (run->begin, >=, next + (i > 0));
    for (; next < run->begin; next++)
      g_assert_false (done[next]);
    if (i > 0)
      g_assert_cmpuint (run->end, >, run->begin);
    for (; next < run->end; next++)
      g_assert_true (done[next]);
  }
  for (; next < n; next++)
    g_assert_false (done[next]);
  for (guint i = 0; i < n; i++)
    g_assert_cmpint (spdl_progress_has (progress, epoch, i), ==, done[i]);
  g_assert_true (epoch == 0 || spdl_progress_has (progress, epoch - 1, n));
  g_assert_false (spdl_progress_has (progress, epoch + 1, 0));
}

static guint
pick_window (SpdlRandom *random, guint n)
{
  static const guint windows[] = { 1, 2, 8, 64, 1000 };

  return MIN (n, windows[spdl_random_below (random, G_N_ELEMENTS (windows))]);
}

/* Epochs in which items are done in random order within a window, some of them
 * by events. At random times, the state is written and read back. */
static void
check_random (guint64 seed)
{
  const guint64 key[] = { seed };
  SpdlRandom random;

  spdl_random_init (&random, key, 1);
  const guint n = 1 + spdl_random_below (&random, 300);
  const guint window = pick_window (&random, n);
  g_autofree guint8 *done = g_malloc0 (n);
  SpdlTally *tally = new_tally (STATE ("epoch=0,mark=0,done="), n);

  for (guint epoch = 0; epoch < 3; epoch++) {
    guint lowest = 0;

    memset (done, 0, n);
    while (lowest < n) {
      const guint i =
          lowest + spdl_random_below (&random, MIN (window, n - lowest));

      if (spdl_random_below (&random, 4) == 0)
        spdl_tally_drop (tally, epoch, i, 1);
      else
        spdl_tally_deliver (tally, epoch, i, 1);
      done[i] = TRUE;
      while (lowest < n && done[lowest])
        lowest++;
      if (lowest < n)
        assert_same (tally, done, n, epoch);
      if (spdl_random_below (&random, 50) == 0) {
        g_autofree gchar *text = write_state (tally);

        spdl_tally_free (tally);
        tally = new_tally (text, n);
        assert_state (tally, text);
      }
    }
  }
  assert_state (tally, STATE ("epoch=3,mark=0,done="));
  spdl_tally_free (tally);
}

static void
test_random (void)
{
  for (guint64 seed = 0; seed < 300; seed++)
    check_random (seed);
}

/* Documented size: 1 KB with 64 gaps of any size below 2^20 and the largest
 * numbers; 8 bytes for each further gap. */
static void
test_size (void)
{
  const guint64 far = (1 << 20) - 1;
  SpdlIdentity identity = { G_MAXUINT64, G_MAXUINT64, TRUE, G_MAXUINT64,
    G_MAXINT, G_MAXINT, "uneven",
    "a-column-whose-name-is-as-long-as-that-of-a-column-may-be-at-mo",
    G_MAXUINT64, G_MAXUINT64 };
  SpdlProgress progress;
  GString *text = g_string_new (NULL);
  guint64 at = G_MAXUINT64 - 1000 * 2 * (far + 1);

  spdl_progress_init (&progress, G_MAXUINT64);
  progress.mark = at;
  for (guint i = 1; i <= 1000; i++) {
    const SpdlRun run = { at + far, at + 2 * far };

    g_array_append_val (progress.runs, run);
    at = run.end;
    if (i < 64)
      continue;
    g_string_truncate (text, 0);
    spdl_state_begin (text);
    spdl_state_write_identity (text, 0, &identity);
    spdl_state_write_progress (text, &progress, 0, NULL, NULL);
    g_assert_cmpuint (text->len, <=, 1024 + (i - 64) * 8);
  }
  spdl_progress_clear (&progress);
  g_string_free (text, TRUE);
}

static gboolean
keeps_left (const SpdlTally *tally, guint64 epoch)
{
  g_autoptr (GString) text = g_string_new (NULL);

  spdl_tally_write_epoch (tally, epoch, FALSE, text);
  return strstr (text->str, ",left=") != NULL;
}

/* Tests that an epoch has what a change of the number of ranks left of it until
 * it is entered, and all of its items after that. */
static void
test_left (void)
{
  static const gchar state[] =
      "spdl1;source=0,count=70,hash=1e0268440ca71253,shuffle=1,seed=4,rank=1,"
      "world-size=3,shard-mode=uneven,epoch=0,mark=13,done=,"
      "change=0641ead61541fd56,left=ANBoCVBCAABEBgCmBAA;";
  gchar *flaw = NULL;
  SpdlTally *tally = spdl_tally_new (0, state, 23, &flaw);

  g_assert_cmpstr (flaw, ==, NULL);
  g_assert_false (keeps_left (tally, 0)); /* the run began in it */
  g_assert_true (keeps_left (tally, 1));
  for (guint64 i = 13; i < 22; i++)
    spdl_tally_deliver (tally, 0, i, 1);
  g_assert_true (keeps_left (tally, 1));
  /* The last item moves to the next epoch, but does not enter it. */
  spdl_tally_deliver (tally, 0, 22, 1);
  g_assert_cmpuint (spdl_tally_get_progress (tally)->epoch, ==, 1);
  g_assert_true (keeps_left (tally, 1));
  spdl_tally_deliver (tally, 1, spdl_tally_get_progress (tally)->mark, 1);
  g_assert_false (keeps_left (tally, 1));
  spdl_tally_free (tally);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tally/progress", test_progress);
  g_test_add_func ("/tally/epochs", test_epochs);
  g_test_add_func ("/tally/parts", test_parts);
  g_test_add_func ("/tally/cuts", test_cuts);
  g_test_add_func ("/tally/tokens", test_tokens);
  g_test_add_func ("/tally/parts-of-parts", test_parts_of_parts);
  g_test_add_func ("/tally/dropped-upstream", test_dropped_upstream);
  g_test_add_func ("/tally/others", test_others);
  g_test_add_func ("/tally/restore", test_restore);
  g_test_add_func ("/tally/numbers", test_numbers);
  g_test_add_func ("/tally/flaws", test_flaws);
  g_test_add_func ("/tally/random", test_random);
  g_test_add_func ("/tally/size", test_size);
  g_test_add_func ("/tally/left", test_left);
  return g_test_run ();
}
