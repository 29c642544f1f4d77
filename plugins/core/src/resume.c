/* gst-spdl: validation of a resume state
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/src/resume.h"

#include "plugins/common/fail.h"

#define NUMBER "%" G_GUINT64_FORMAT
#define REFUSED "The resume state cannot be used: "

/* Checks that classes have the same numbers as before; with other numbers,
 * labels would have another meaning for the model. */
static gboolean
is_same_classes (const SpdlIdentity *was, const SpdlIdentity *is,
    const gchar *location, GError **error)
{
  if (was->classes == is->classes)
    return TRUE;
  if (was->classes == 0)
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        REFUSED
        "the state was made without class names, but the labels of \"%s\" "
        "have them: set label and classes as they were",
        location);
  if (is->classes == 0)
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        REFUSED
        "the state was made with class names, but the labels of \"%s\" now "
        "have none: set label and classes as they were",
        location);
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      REFUSED
      "the state was made with other class names, or another order of them, "
      "than the labels of \"%s\" now have: their hash is "
      "%016" G_GINT64_MODIFIER "x, not %016" G_GINT64_MODIFIER
      "x. Set label and classes as they were",
      location, is->classes, was->classes);
}

static gboolean
is_same_dataset (const SpdlIdentity *was, const SpdlIdentity *is,
    const gchar *location, GError **error)
{
  if (was->count != is->count)
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        REFUSED "the state belongs to a dataset of " NUMBER
                " items, but \"%s\" has " NUMBER,
        was->count, location, is->count);
  if (was->hash == is->hash)
    return is_same_classes (was, is, location, error);
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      REFUSED "the state belongs to another dataset of " NUMBER " items than "
              "\"%s\", whose hash is %016" G_GINT64_MODIFIER
              "x, not %016" G_GINT64_MODIFIER "x",
      was->count, location, is->hash, was->hash);
}

static gboolean
is_same_text (
    const gchar *name, const gchar *was, const gchar *is, GError **error)
{
  return g_str_equal (was, is) ||
         spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
             REFUSED "the state was made with %s=%s, but %s is %s", name, was,
             name, is);
}

static gboolean
is_same_number (const gchar *name, guint64 was, guint64 is, GError **error)
{
  g_autofree gchar *was_text = g_strdup_printf (NUMBER, was);
  g_autofree gchar *is_text = g_strdup_printf (NUMBER, is);

  return is_same_text (name, was_text, is_text, error);
}

static const gchar *
quote_text (const gchar *weights)
{
  return *weights ? weights : "(unset)";
}

static gboolean
is_same_order (const SpdlIdentity *was, const SpdlIdentity *is, GError **error)
{
  return is_same_text ("shuffle", was->shuffle ? "true" : "false",
             is->shuffle ? "true" : "false", error) &&
         is_same_number ("seed", was->seed, is->seed, error) &&
         is_same_number ("shuffle-buffer", was->shuffle_buffer,
             is->shuffle_buffer, error) &&
         is_same_text ("weight-column", quote_text (was->weights),
             quote_text (is->weights), error) &&
         is_same_number ("items-per-epoch", was->items_per_epoch,
             is->items_per_epoch, error);
}

static gboolean
is_same_part (const SpdlState *before, const SpdlIdentity *is, GError **error)
{
  const SpdlIdentity *was = &before->identity;
  g_autoptr (GError) reason = NULL;

  return spdl_state_is_beginning (before) ||
         (is_same_number (
              "world-size", was->world_size, is->world_size, &reason) &&
             is_same_number ("rank", was->rank, is->rank, &reason) &&
             is_same_number (
                 "shard-run", was->shard_run, is->shard_run, &reason) &&
             is_same_text (
                 "shard-mode", was->shard_mode, is->shard_mode, &reason)) ||
         spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
             "%s; in the middle of an epoch, such as epoch " NUMBER
             ", world size and rank may change only with the states of all "
             "ranks, and shard-mode and shard-run may not change",
             reason->message, before->progress.epoch);
}

static gboolean
is_within (const SpdlProgress *progress, guint64 n_items, GError **error)
{
  const guint n = progress->runs->len;
  const guint64 end = n > 0 ? g_array_index (progress->runs, SpdlRun, n - 1).end
                            : progress->mark;

  return end <= n_items ||
         spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
             REFUSED "the state counts " NUMBER
                     " items sent of an epoch, which has only " NUMBER,
             end, n_items);
}

/* Checks that what is left of interrupted epochs is a part of this source. */
static gboolean
is_left_within (
    const GPtrArray *lefts, guint64 n_items, guint64 n_places, GError **error)
{
  for (guint i = 0; lefts && i < lefts->len; i++) {
    const SpdlLeft *left = g_ptr_array_index (lefts, i);

    if (spdl_left_get_size (left) != n_items ||
        spdl_left_get_last_place (left) >= n_places)
      return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
          REFUSED
          "the state has places of an epoch of another size than " NUMBER
          " items, " NUMBER " of them on this rank",
          n_places, n_items);
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
  if (!spdl_state_read (&before, text, source, &problem))
    return spdl_fail (
        error, GST_RESOURCE_ERROR_SETTINGS, REFUSED "%s", problem);
  if (!is_same_dataset (&before.identity, is, location, error) ||
      !is_same_order (&before.identity, is, error) ||
      !is_same_part (&before, is, error) ||
      !is_within (&before.progress, n_items, error) ||
      !is_left_within (before.left, n_items, n_places, error))
    return FALSE;
  spdl_progress_copy (&state->progress, &before.progress);
  state->change = before.change;
  g_clear_pointer (&state->left, g_ptr_array_unref);
  state->left = g_steal_pointer (&before.left);
  g_clear_pointer (&state->cuts, g_array_unref);
  state->cuts = g_steal_pointer (&before.cuts);
  return TRUE;
}
