/* gst-spdl: which items of an epoch are done
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/progress/state.h"

#include <string.h>

void
spdl_progress_init (SpdlProgress *self, guint64 epoch)
{
  self->runs = g_array_new (FALSE, FALSE, sizeof (SpdlRun));
  spdl_progress_reset (self, epoch);
}

void
spdl_progress_clear (SpdlProgress *self)
{
  g_clear_pointer (&self->runs, g_array_unref);
}

void
spdl_progress_reset (SpdlProgress *self, guint64 epoch)
{
  self->epoch = epoch;
  self->mark = self->n_done = 0;
  self->n_dropped_upstream = self->n_dropped_upstream_before = 0;
  self->n_tokens = self->n_tokens_before = 0;
  g_array_set_size (self->runs, 0);
}

void
spdl_progress_reset_at (SpdlProgress *self, guint64 epoch, guint64 first)
{
  spdl_progress_reset (self, epoch);
  self->mark = self->n_done = first;
}

void
spdl_progress_copy (SpdlProgress *self, const SpdlProgress *other)
{
  spdl_progress_reset (self, other->epoch);
  self->mark = other->mark;
  self->n_done = other->n_done;
  self->n_dropped_upstream = other->n_dropped_upstream;
  self->n_dropped_upstream_before = other->n_dropped_upstream_before;
  self->n_tokens = other->n_tokens;
  self->n_tokens_before = other->n_tokens_before;
  g_array_append_vals (self->runs, other->runs->data, other->runs->len);
}

static SpdlRun *
run_at (const SpdlProgress *self, guint i)
{
  return &g_array_index (self->runs, SpdlRun, i);
}

/* Returns the first run whose end is not before @sequence. */
static guint
find_run (const SpdlProgress *self, guint64 sequence)
{
  guint low = 0, high = self->runs->len;

  /* Most items are added at the end. */
  if (high > 0 && run_at (self, high - 1)->end < sequence)
    return high;
  while (low < high) {
    const guint middle = (low + high) / 2;

    if (run_at (self, middle)->end < sequence)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Moves the mark by one, and past an adjacent run. */
static void
move_mark (SpdlProgress *self)
{
  self->mark++;
  if (self->runs->len == 0 || run_at (self, 0)->begin != self->mark)
    return;
  self->mark = run_at (self, 0)->end;
  g_array_remove_index (self->runs, 0);
}

static gboolean
add_beyond (SpdlProgress *self, guint64 sequence)
{
  const guint i = find_run (self, sequence);
  const SpdlRun alone = { sequence, sequence + 1 };
  SpdlRun *run = i < self->runs->len ? run_at (self, i) : NULL;

  if (!run || run->begin > sequence + 1) {
    g_array_insert_val (self->runs, i, alone);
  } else if (run->begin == sequence + 1) {
    run->begin = sequence;
  } else if (run->end > sequence) {
    return FALSE;
  } else {
    run->end++;
    if (i + 1 < self->runs->len && run[1].begin == run->end) {
      run->end = run[1].end;
      g_array_remove_index (self->runs, i + 1);
    }
  }
  return TRUE;
}

gboolean
spdl_progress_add (SpdlProgress *self, guint64 sequence)
{
  if (sequence < self->mark)
    return FALSE;
  if (sequence == self->mark)
    move_mark (self);
  else if (!add_beyond (self, sequence))
    return FALSE;
  self->n_done++;
  return TRUE;
}

gboolean
spdl_progress_has (const SpdlProgress *self, guint64 epoch, guint64 sequence)
{
  guint i;

  if (epoch != self->epoch)
    return epoch < self->epoch;
  if (sequence < self->mark)
    return TRUE;
  i = find_run (self, sequence);
  return i < self->runs->len && run_at (self, i)->begin <= sequence &&
         sequence < run_at (self, i)->end;
}

/* Text format */

void
spdl_progress_write_runs (const SpdlProgress *self, GString *text)
{
  guint64 last = self->mark;

  for (guint i = 0; i < self->runs->len; i++) {
    const SpdlRun *run = run_at (self, i);

    spdl_digits_write (text, run->begin - last);
    spdl_digits_write (text, run->end - run->begin);
    last = run->end;
  }
}

const gchar *
spdl_progress_read_runs (SpdlProgress *self, const gchar *text)
{
  guint64 last = self->mark;

  g_array_set_size (self->runs, 0);
  self->n_done = self->mark;
  while (spdl_digits_is_digit (*text)) {
    guint64 gap, length;
    SpdlRun run;

    if (!(text = spdl_digits_read (text, &gap)) ||
        !(text = spdl_digits_read (text, &length)) || gap == 0 || length == 0 ||
        __builtin_add_overflow (last, gap, &run.begin) ||
        __builtin_add_overflow (run.begin, length, &run.end))
      return NULL;
    g_array_append_val (self->runs, run);
    self->n_done += length;
    last = run.end;
  }
  return text;
}

static const gchar digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "abcdefghijklmnopqrstuvwxyz0123456789-_";
#define MORE 32

void
spdl_digits_write (GString *text, guint64 number)
{
  for (; number >= MORE; number /= MORE)
    g_string_append_c (text, digits[MORE + number % MORE]);
  g_string_append_c (text, digits[number]);
}

const gchar *
spdl_digits_read (const gchar *text, guint64 *number)
{
  const gchar *digit;
  guint shift = 0;
  guint value;

  *number = 0;
  do {
    if (!*text || !(digit = strchr (digits, *text++)) || shift > 60)
      return NULL;
    value = digit - digits;
    if (shift == 60 && value > 15)
      return NULL;
    *number |= (guint64) (value % MORE) << shift;
    shift += 5;
  } while (value >= MORE);
  return text;
}

gboolean
spdl_digits_is_digit (gchar c)
{
  return g_ascii_isalnum (c) || c == '-' || c == '_';
}
