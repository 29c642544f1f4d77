/* gst-spdl: how a loader's run stands, and where it would go on
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/loader/loader-private.h"

/**
 * gst_spdl_loader_is_running:
 * @loader: a loader
 *
 * Returns: whether it was started, and not stopped since
 *
 * Since: 0.1
 */
gboolean
gst_spdl_loader_is_running (GstSpdlLoader *loader)
{
  gboolean running = FALSE;
  GstSpdlNews *news;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), FALSE);

  if (gst_spdl_loader_is_own_process (loader) &&
      (news = gst_spdl_loader_get_news (loader, NULL))) {
    spdl_mutex_lock (&news->lock);
    running = !news->stopped;
    spdl_mutex_unlock (&news->lock);
    gst_spdl_news_unref (news);
  }
  return running;
}

/**
 * gst_spdl_loader_is_finished:
 * @loader: a loader
 *
 * Where a single spdlsrc says how many epochs there are, the end of the last
 * one and that of the stream are told together.
 *
 * Returns: whether gst_spdl_loader_next() has come to the end of the stream: no
 *     further epoch will come
 *
 * Since: 0.1
 */
gboolean
gst_spdl_loader_is_finished (GstSpdlLoader *loader)
{
  gboolean finished;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), FALSE);

  if (!gst_spdl_loader_is_own_process (loader))
    return FALSE;
  spdl_mutex_lock (&loader->lock);
  finished = loader->finished;
  spdl_mutex_unlock (&loader->lock);
  return finished;
}

/**
 * gst_spdl_loader_get_epoch:
 * @loader: a loader
 *
 * Returns: the epoch of the batch that was handed out last; after an epoch's
 *     end, that of the next one
 *
 * Since: 0.1
 */
guint64
gst_spdl_loader_get_epoch (GstSpdlLoader *loader)
{
  guint64 epoch;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), 0);

  if (!gst_spdl_loader_is_own_process (loader))
    return 0;
  spdl_mutex_lock (&loader->lock);
  epoch = loader->epoch;
  spdl_mutex_unlock (&loader->lock);
  return epoch;
}

/**
 * gst_spdl_loader_get_num_failures:
 * @loader: a loader
 *
 * Returns: how many items have failed since the start, in all elements, of the
 *     epochs that gst_spdl_loader_next() has reached: what is loaded ahead does
 *     not count yet
 *
 * Since: 0.1
 */
guint64
gst_spdl_loader_get_num_failures (GstSpdlLoader *loader)
{
  guint64 n = 0;
  GstSpdlNews *news;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), 0);

  if (gst_spdl_loader_is_own_process (loader) &&
      (news = gst_spdl_loader_get_news (loader, NULL))) {
    spdl_mutex_lock (&news->lock);
    n = news->n_told;
    spdl_mutex_unlock (&news->lock);
    gst_spdl_news_unref (news);
  }
  return n;
}

/**
 * gst_spdl_loader_dup_error:
 * @loader: a loader
 *
 * What gst_spdl_loader_next() will end with, known before the batches that
 * precede it were taken.
 *
 * Returns: (transfer full) (nullable): the error; %NULL if there is none so far
 *
 * Since: 0.1
 */
GError *
gst_spdl_loader_dup_error (GstSpdlLoader *loader)
{
  GError *error = NULL;
  GstSpdlNews *news;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), NULL);

  if (gst_spdl_loader_is_own_process (loader) &&
      (news = gst_spdl_loader_get_news (loader, NULL))) {
    error = gst_spdl_news_dup_error (news);
    gst_spdl_news_unref (news);
  }
  return error;
}

/**
 * gst_spdl_loader_get_error_item:
 * @loader: a loader
 * @stage: (out) (optional) (nullable) (transfer full): the name of the element
 * @uri: (out) (optional) (nullable) (transfer full): the URI of the item
 *
 * Where the error of gst_spdl_loader_dup_error() was: of failed items, the one
 * that was one too many, which the error's message names.
 *
 * Returns: %FALSE if there is no error so far
 *
 * Since: 0.1
 */
gboolean
gst_spdl_loader_get_error_item (
    GstSpdlLoader *loader, gchar **stage, gchar **uri)
{
  g_autoptr (GstSpdlNews) news = NULL;
  g_autofree gchar *at = NULL;
  g_autofree gchar *item = NULL;
  gboolean any = FALSE;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), FALSE);

  if (gst_spdl_loader_is_own_process (loader) &&
      (news = gst_spdl_loader_get_news (loader, NULL))) {
    spdl_mutex_lock (&news->lock);
    any = news->error != NULL;
    at = g_strdup (news->error_stage);
    item = g_strdup (news->error_uri);
    spdl_mutex_unlock (&news->lock);
  }
  if (stage)
    *stage = g_steal_pointer (&at);
  if (uri)
    *uri = g_steal_pointer (&item);
  return any;
}

/**
 * gst_spdl_loader_dup_stats:
 * @loader: a loader
 *
 * The elements' figures, as their property `stage-stats` has them, while the
 * loader runs and after.
 *
 * Returns: (transfer full) (element-type GstStructure): one for each element
 *     that has figures, from the source to the sink
 *
 * Since: 0.1
 */
GList *
gst_spdl_loader_dup_stats (GstSpdlLoader *loader)
{
  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), NULL);

  if (!gst_spdl_loader_is_own_process (loader))
    return NULL;
  return gst_spdl_loader_parts_dup_stats (&loader->parts);
}

/**
 * gst_spdl_loader_dup_state:
 * @loader: a loader
 *
 * With the last batch of an epoch it comes to stand at the beginning of the
 * next one, when it is known that no more of its items will come.
 *
 * Returns: (transfer full) (nullable): where to begin after the batch that was
 *     handed out last; before the first one, where this run began; %NULL if
 * that is not known
 *
 * Since: 0.1
 */
gchar *
gst_spdl_loader_dup_state (GstSpdlLoader *loader)
{
  gchar *state;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), NULL);

  if (!gst_spdl_loader_is_own_process (loader))
    return NULL;
  spdl_mutex_lock (&loader->lock);
  state = loader->handed_out ? NULL : g_strdup (loader->begun_at);
  spdl_mutex_unlock (&loader->lock);
  if (!state)
    g_object_get (loader->parts.sink, "resume-state", &state, NULL);
  return state;
}

/* State lock held. */
static gboolean
restore_state (GstSpdlLoader *self, const gchar *state, GError **error)
{
  if (!gst_spdl_loader_end_stopped_run (self)) {
    g_set_error_literal (error, GST_SPDL_LOADER_ERROR,
        GST_SPDL_LOADER_ERROR_STARTED,
        "A state is restored before the loader starts: stop it first");
    return FALSE;
  }
  if (!gst_spdl_loader_parts_set_state (&self->parts, state, error))
    return FALSE;
  spdl_mutex_lock (&self->lock);
  g_free (self->restored);
  g_free (self->begun_at);
  self->restored = g_strdup (state);
  self->begun_at = g_strdup (state);
  self->handed_out = self->in_epoch = FALSE;
  self->epoch = 0;
  spdl_mutex_unlock (&self->lock);
  return TRUE;
}

/**
 * gst_spdl_loader_restore_state:
 * @loader: a loader that does not run
 * @state: (nullable): a state; %NULL: the beginning
 * @error: (nullable): %GST_SPDL_LOADER_ERROR_STATE,
 *     %GST_SPDL_LOADER_ERROR_STARTED
 *
 * Says where the following starts begin. Whether @state fits the dataset is
 * found out when the loader starts.
 *
 * Returns: %FALSE with @error set if that is not possible
 *
 * Since: 0.1
 */
gboolean
gst_spdl_loader_restore_state (
    GstSpdlLoader *loader, const gchar *state, GError **error)
{
  gboolean ok;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), FALSE);

  if (!gst_spdl_loader_check_process (loader, error))
    return FALSE;
  spdl_mutex_lock (&loader->state_lock);
  ok = restore_state (loader, state, error);
  spdl_mutex_unlock (&loader->state_lock);
  return ok;
}

/**
 * gst_spdl_loader_dup_classes:
 * @loader: a loader
 * @error: (nullable): %GST_SPDL_LOADER_ERROR_PIPELINE if sources have different
 *     classes
 *
 * Says what the labels of items mean: label i is the class of the name i. With
 * `label=folder` these are the top-level folders, and with text labels of a
 * list these labels, both sorted by their bytes. They are known once the loader
 * was started; those of gst_spdl_loader_set_classes() at once.
 *
 * Returns: (transfer full) (nullable) (array zero-terminated=1): the names of
 *     the classes; %NULL without @error set if labels are mere numbers
 *
 * Since: 0.1
 */
gchar **
gst_spdl_loader_dup_classes (GstSpdlLoader *loader, GError **error)
{
  GStrv classes;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), NULL);

  if (!gst_spdl_loader_check_process (loader, error))
    return NULL;
  spdl_mutex_lock (&loader->lock);
  classes = g_strdupv (loader->classes);
  spdl_mutex_unlock (&loader->lock);
  if (!classes)
    gst_spdl_loader_parts_dup_classes (&loader->parts, &classes, error);
  return classes;
}

/* State lock held. */
static gboolean
set_classes (GstSpdlLoader *self, const gchar *const *classes, GError **error)
{
  if (self->running) {
    g_set_error_literal (error, GST_SPDL_LOADER_ERROR,
        GST_SPDL_LOADER_ERROR_STARTED,
        "Classes are set before the loader starts: stop it first");
    return FALSE;
  }
  gst_spdl_loader_parts_set_classes (&self->parts, classes);
  spdl_mutex_lock (&self->lock);
  g_strfreev (self->classes);
  self->classes = classes && *classes ? g_strdupv ((GStrv) classes) : NULL;
  spdl_mutex_unlock (&self->lock);
  return TRUE;
}

/**
 * gst_spdl_loader_set_classes:
 * @loader: a loader that does not run
 * @classes: (nullable) (array zero-terminated=1): the names of the classes, in
 *     the order of their numbers; %NULL: those of the dataset
 * @error: (nullable): %GST_SPDL_LOADER_ERROR_STARTED
 *
 * Numbers the text labels of all sources by @classes: their property `classes`.
 * Whether all labels are among them is found out when the loader starts, or as
 * items come. The labels of gst_spdl_loader_push() are numbers in any case.
 *
 * Returns: %FALSE with @error set if that is not possible
 *
 * Since: 0.1
 */
gboolean
gst_spdl_loader_set_classes (
    GstSpdlLoader *loader, const gchar *const *classes, GError **error)
{
  gboolean ok;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), FALSE);

  if (!gst_spdl_loader_check_process (loader, error))
    return FALSE;
  spdl_mutex_lock (&loader->state_lock);
  ok = set_classes (loader, classes, error);
  spdl_mutex_unlock (&loader->state_lock);
  return ok;
}
