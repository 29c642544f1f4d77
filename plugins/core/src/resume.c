/* gst-spdl: validation of a resume state
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/src/resume.h"

#include <gst/gst.h>

#define NUMBER "%" G_GUINT64_FORMAT
#define REFUSED "The resume state cannot be used: "

static void
set_error (GError **error, const gchar *format, ...) G_GNUC_PRINTF (2, 3);

static void
set_error (GError **error, const gchar *format, ...)
{
  va_list args;

  va_start (args, format);
  g_propagate_error (error, g_error_new_valist (GST_RESOURCE_ERROR,
                                GST_RESOURCE_ERROR_SETTINGS, format, args));
  va_end (args);
}

/* Checks that classes have the same numbers as before; with other numbers,
 * labels would have another meaning for the model. */
static gboolean
is_same_classes (const SpdlIdentity *was, const SpdlIdentity *is,
    const gchar *location, GError **error)
{
  if (was->classes == is->classes)
    return TRUE;
  if (was->classes == 0)
    set_error (error,
        REFUSED
        "the state was made without class names, but the labels of \"%s\" "
        "have them: set label and classes as they were",
        location);
  else if (is->classes == 0)
    set_error (error,
        REFUSED
        "the state was made with class names, but the labels of \"%s\" now "
        "have none: set label and classes as they were",
        location);
  else
    set_error (error,
        REFUSED
        "the state was made with other class names, or another order of them, "
        "than the labels of \"%s\" now have: their hash is "
        "%016" G_GINT64_MODIFIER "x, not %016" G_GINT64_MODIFIER
        "x. Set label and classes as they were",
        location, is->classes, was->classes);
  return FALSE;
}

static gboolean
is_same_dataset (const SpdlIdentity *was, const SpdlIdentity *is,
    const gchar *location, GError **error)
{
  if (was->count != is->count) {
    set_error (error,
        REFUSED "the state belongs to a dataset of " NUMBER
                " items, but \"%s\" has " NUMBER,
        was->count, location, is->count);
    return FALSE;
  }
  if (was->hash == is->hash)
    return is_same_classes (was, is, location, error);
  set_error (error,
      REFUSED "the state belongs to another dataset of " NUMBER " items than "
              "\"%s\", whose hash is %016" G_GINT64_MODIFIER
              "x, not %016" G_GINT64_MODIFIER "x",
      was->count, location, is->hash, was->hash);
  return FALSE;
}

static gboolean
is_same_order (const SpdlIdentity *was, const SpdlIdentity *is, GError **error)
{
  if (was->shuffle != is->shuffle) {
    set_error (error,
        REFUSED "the state was made with shuffle=%s, but shuffle is %s",
        was->shuffle ? "true" : "false", is->shuffle ? "true" : "false");
    return FALSE;
  }
  if (was->seed != is->seed) {
    set_error (error,
        REFUSED "the state was made with seed=" NUMBER ", but seed is " NUMBER,
        was->seed, is->seed);
    return FALSE;
  }
  if (was->shuffle_buffer != is->shuffle_buffer) {
    set_error (error,
        REFUSED "the state was made with shuffle-buffer=" NUMBER
                ", but shuffle-buffer is " NUMBER,
        was->shuffle_buffer, is->shuffle_buffer);
    return FALSE;
  }
  return TRUE;
}

static const gchar *
quote_text (const gchar *weights)
{
  return *weights ? weights : "(unset)";
}

static gboolean
is_same_draw (const SpdlIdentity *was, const SpdlIdentity *is, GError **error)
{
  if (!g_str_equal (was->weights, is->weights)) {
    set_error (error,
        REFUSED
        "the state was made with weight-column=%s, but weight-column is %s",
        quote_text (was->weights), quote_text (is->weights));
    return FALSE;
  }
  if (was->items_per_epoch == is->items_per_epoch)
    return TRUE;
  set_error (error,
      REFUSED "the state was made with items-per-epoch=" NUMBER
              ", but items-per-epoch is " NUMBER,
      was->items_per_epoch, is->items_per_epoch);
  return FALSE;
}

static void
set_other_part (GError **error, const SpdlProgress *progress, const gchar *name,
    const gchar *was, const gchar *is)
{
  set_error (error,
      REFUSED
      "the state was made with %s=%s, but %s is %s; in the middle of an epoch, "
      "here " NUMBER
      ", world size and rank may change only with the states of all ranks, and "
      "shard-mode and shard-run not at all",
      name, was, name, is, progress->epoch);
}

static gboolean
is_same_number (GError **error, const SpdlProgress *progress, const gchar *name,
    guint64 was, guint64 is)
{
  g_autofree gchar *was_text = g_strdup_printf (NUMBER, was);
  g_autofree gchar *is_text = g_strdup_printf (NUMBER, is);

  if (was != is)
    set_other_part (error, progress, name, was_text, is_text);
  return was == is;
}

static gboolean
is_same_part (const SpdlState *before, const SpdlIdentity *is, GError **error)
{
  const SpdlIdentity *was = &before->identity;
  const SpdlProgress *progress = &before->progress;

  if (spdl_state_is_beginning (before))
    return TRUE;
  if (!is_same_number (
          error, progress, "world-size", was->world_size, is->world_size) ||
      !is_same_number (error, progress, "rank", was->rank, is->rank) ||
      !is_same_number (
          error, progress, "shard-run", was->shard_run, is->shard_run))
    return FALSE;
  if (g_str_equal (was->shard_mode, is->shard_mode))
    return TRUE;
  set_other_part (
      error, progress, "shard-mode", was->shard_mode, is->shard_mode);
  return FALSE;
}

static gboolean
is_within (const SpdlProgress *progress, guint64 n_items, GError **error)
{
  const guint n = progress->runs->len;
  const guint64 end = n > 0 ? g_array_index (progress->runs, SpdlRun, n - 1).end
                            : progress->mark;

  if (end <= n_items)
    return TRUE;
  set_error (error,
      REFUSED "the state counts " NUMBER " items sent of an epoch, which has "
              "only " NUMBER,
      end, n_items);
  return FALSE;
}

/* Checks that what is left of interrupted epochs is a part of this source. */
static gboolean
is_left_within (
    const GPtrArray *lefts, guint64 n_items, guint64 n_places, GError **error)
{
  for (guint i = 0; lefts && i < lefts->len; i++) {
    const SpdlLeft *left = g_ptr_array_index (lefts, i);

    if (spdl_left_get_size (left) == n_items &&
        spdl_left_get_last_place (left) < n_places)
      continue;
    set_error (error,
        REFUSED "the state has places of an epoch of another size than " NUMBER
                " items, " NUMBER " of them on this rank",
        n_places, n_items);
    return FALSE;
  }
  return TRUE;
}

gboolean
spdl_resume_read (SpdlState *state, const gchar *text, guint32 source,
    guint64 n_items, guint64 n_places, const gchar *location, GError **error)
{
  const SpdlIdentity *is = &state->identity;
  g_auto (SpdlState) before = { 0 };
  g_autofree gchar *problem = NULL;

  /* With order=arrival, a state may be saved before all sources are
   * announced. */
  if (spdl_state_is_of_others (text, source)) {
    spdl_progress_reset (&state->progress, 0);
    return TRUE;
  }
  spdl_state_init (&before);
  if (!spdl_state_read (&before, text, source, &problem)) {
    set_error (error, REFUSED "%s", problem);
    return FALSE;
  }
  if (!is_same_dataset (&before.identity, is, location, error) ||
      !is_same_order (&before.identity, is, error) ||
      !is_same_draw (&before.identity, is, error) ||
      !is_same_part (&before, is, error) ||
      !is_within (&before.progress, n_items, error) ||
      !is_left_within (before.left, n_items, n_places, error))
    return FALSE;
  spdl_progress_copy (&state->progress, &before.progress);
  state->change = before.change;
  g_clear_pointer (&state->left, g_ptr_array_unref);
  state->left = g_steal_pointer (&before.left);
  return TRUE;
}
