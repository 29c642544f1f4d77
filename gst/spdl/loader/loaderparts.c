/* gst-spdl: sources, stages and sink of a loader's pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/loader/loader-private.h"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>

#include "gst/spdl/common/asyncstart.h"
#include "gst/spdl/common/propertytable.h"
#include "gst/spdl/common/showntext.h"
#include "gst/spdl/diagnose/analysis.h"
#include "gst/spdl/loader/parse.h"
#include "gst/spdl/stage/stage-private.h"

/* Elements */

/* Returns: (transfer full): all elements of @bin and its child bins, without
 * bins, from the sources to the sinks */
static GPtrArray *
list_elements (GstBin *bin)
{
  GPtrArray *list = g_ptr_array_new_with_free_func (gst_object_unref);
  GPtrArray *children = g_ptr_array_new_with_free_func (gst_object_unref);
  GstIterator *sorted = gst_bin_iterate_sorted (bin);
  GValue item = G_VALUE_INIT;
  GstIteratorResult result;

  while ((result = gst_iterator_next (sorted, &item)) == GST_ITERATOR_OK ||
         result == GST_ITERATOR_RESYNC) {
    if (result == GST_ITERATOR_RESYNC) {
      g_ptr_array_set_size (children, 0);
      gst_iterator_resync (sorted);
      continue;
    }
    g_ptr_array_add (children, g_value_dup_object (&item));
    g_value_reset (&item);
  }
  gst_iterator_free (sorted);

  for (guint i = children->len; i > 0; i--) {
    GstElement *child = g_ptr_array_index (children, i - 1);

    if (GST_IS_BIN (child))
      g_ptr_array_extend_and_steal (list, list_elements (GST_BIN (child)));
    else
      g_ptr_array_add (list, gst_object_ref (child));
  }
  g_ptr_array_unref (children);
  return list;
}

static gboolean
is_made_by (GstElement *element, const gchar *factory_name)
{
  GstElementFactory *factory = gst_element_get_factory (element);

  return factory && g_str_equal (GST_OBJECT_NAME (factory), factory_name);
}

/* Returns TRUE for elements with a resume state. A worker process passes it to
 * its sources. */
static gboolean
is_source (GstElement *element)
{
  return is_made_by (element, "spdlsrc") ||
         is_made_by (element, "spdlworkersrc");
}

static gboolean
find_sink (GstSpdlLoaderParts *self, GPtrArray *elements, GError **error)
{
  for (guint i = 0; i < elements->len; i++) {
    GstElement *element = g_ptr_array_index (elements, i);

    if (GST_IS_SPDL_LOADER_SINK (element)) {
      if (self->sink) {
        g_set_error_literal (error, GST_SPDL_LOADER_ERROR,
            GST_SPDL_LOADER_ERROR_PIPELINE,
            "The pipeline has more than one spdlsink: keep the one that the "
            "loader is to read from");
        return FALSE;
      }
      self->sink = gst_object_ref ((GstSpdlLoaderSink *) element);
    } else if (GST_IS_APP_SINK (element)) {
      g_set_error (error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_PIPELINE,
          "The pipeline ends in an appsink, \"%s\", which a loader does not "
          "read from: write spdlsink instead",
          GST_OBJECT_NAME (element));
      return FALSE;
    }
  }
  if (self->sink)
    return TRUE;
  g_set_error_literal (error, GST_SPDL_LOADER_ERROR,
      GST_SPDL_LOADER_ERROR_PIPELINE,
      "The pipeline has no spdlsink: end it in \"! spdlsink\"");
  return FALSE;
}

/* Properties of the caller's elements */

/* A property that the loader has set, and restores unless the application has
 * set it since, also to the same value. */
typedef struct {
  GObject *object; /* owned */
  GParamSpec *pspec;
  GValue before;
  gulong handler;
  /* (atomic): the application has set the property. Shared with the handler,
   * which may still run in another thread when it is disconnected. */
  gint *overtaken;
} Change;

static void
on_notify (GObject *object, GParamSpec *pspec, gpointer overtaken)
{
  g_atomic_int_set ((gint *) overtaken, TRUE);
}

static void
release_flag (gpointer overtaken, GClosure *closure)
{
  g_atomic_rc_box_release (overtaken);
}

static void
undo_change (gpointer data)
{
  Change *self = data;

  g_signal_handler_disconnect (self->object, self->handler);
  if (!g_atomic_int_get (self->overtaken))
    g_object_set_property (self->object, self->pspec->name, &self->before);
  g_atomic_rc_box_release (self->overtaken);
  g_value_unset (&self->before);
  g_object_unref (self->object);
  g_free (self);
}

/* Removes and returns the change of a property, or NULL if there is none. One
 * that the application has overtaken is forgotten. */
static Change *
steal_change (GPtrArray *changes, GObject *object, const gchar *name)
{
  for (guint i = 0; i < changes->len; i++) {
    Change *change = g_ptr_array_index (changes, i);

    if (change->object != object || !g_str_equal (change->pspec->name, name))
      continue;
    if (!g_atomic_int_get (change->overtaken))
      return g_ptr_array_steal_index_fast (changes, i);
    g_ptr_array_remove_index_fast (changes, i);
    break;
  }
  return NULL;
}

/* Called before a property is set, until @changes is cleared.
 *
 * @changes: (nullable): NULL: it is set for good
 *
 * Returns: (transfer full) (nullable): for end_change() */
static Change *
begin_change (GPtrArray *changes, GObject *object, const gchar *name)
{
  Change *self = changes ? steal_change (changes, object, name) : NULL;

  if (self) {
    g_signal_handler_disconnect (object, self->handler);
  } else if (changes) {
    self = g_new0 (Change, 1);
    self->object = g_object_ref (object);
    self->pspec =
        g_object_class_find_property (G_OBJECT_GET_CLASS (object), name);
    self->overtaken = g_atomic_rc_box_new0 (gint);
    g_value_init (&self->before, self->pspec->value_type);
    g_object_get_property (object, name, &self->before);
  }
  return self;
}

static void
end_change (GPtrArray *changes, Change *self)
{
  g_autofree gchar *signal = NULL;

  if (!self)
    return;
  signal = g_strconcat ("notify::", self->pspec->name, NULL);
  self->handler =
      g_signal_connect_data (self->object, signal, G_CALLBACK (on_notify),
          g_atomic_rc_box_acquire (self->overtaken), release_flag, 0);
  g_ptr_array_add (changes, self);
}

static gboolean
has_property (gpointer object, const gchar *name)
{
  return g_object_class_find_property (G_OBJECT_GET_CLASS (object), name) !=
         NULL;
}

/* Concurrency of stages for which none was set */

static void
untune_stage (gpointer stage)
{
  gst_spdl_stage_default_concurrency (stage, -1);
  gst_object_unref (stage);
}

void
gst_spdl_loader_parts_tune (GstSpdlLoaderParts *self)
{
  GPtrArray *elements = list_elements (GST_BIN (self->pipeline));

  for (guint i = 0; i < elements->len; i++) {
    gpointer element = g_ptr_array_index (elements, i);
    gboolean first;

    if (!GST_IS_SPDL_STAGE (element))
      continue;
    first = !self->tuned || !g_ptr_array_find (self->tuned, element, NULL);
    gst_spdl_stage_default_concurrency (element, first ? 1 : 0);
    if (first && self->tuned)
      g_ptr_array_add (self->tuned, gst_object_ref (element));
  }
  g_ptr_array_unref (elements);
}

/* Runs */

/* Returns TRUE for elements that preroll. */
static gboolean
prerolls (GObject *element)
{
  gboolean async = FALSE;

  if (GST_OBJECT_FLAG_IS_SET (element, GST_ELEMENT_FLAG_SINK) &&
      has_property (element, "async"))
    g_object_get (element, "async", &async, NULL);
  return async;
}

void
gst_spdl_loader_parts_watch_starts (const GstSpdlLoaderParts *self,
    void (*func) (gpointer user_data), gpointer user_data)
{
  for (guint i = 0; i < self->sources->len; i++)
    spdl_async_start_set_func (
        g_ptr_array_index (self->sources, i), func, user_data);
}

/* Disables preroll of all sinks. A loader does not need it, and an error during
 * preroll would prevent the pipeline from reaching PLAYING, so that items that
 * were finished before the error would not be delivered. */
static void
play_at_once (GstSpdlLoaderParts *self)
{
  g_autoptr (GPtrArray) elements = list_elements (GST_BIN (self->pipeline));

  for (guint i = 0; i < elements->len; i++) {
    GObject *element = g_ptr_array_index (elements, i);
    Change *change;

    if (!prerolls (element))
      continue;
    change = begin_change (self->run_changes, element, "async");
    g_object_set (element, "async", FALSE, NULL);
    end_change (self->run_changes, change);
  }
}

/* Adds the application's source to the pipeline, if there is one. */
static gboolean
attach_source (GstSpdlLoaderParts *self, GError **error)
{
  GstPad *src;
  gboolean ok;

  if (!self->appsrc)
    return TRUE;
  src = gst_element_get_static_pad (self->appsrc, "src");
  ok = gst_bin_add (GST_BIN (self->pipeline), self->appsrc);
  if (ok && gst_pad_link (src, self->open_pad) != GST_PAD_LINK_OK) {
    gst_bin_remove (GST_BIN (self->pipeline), self->appsrc);
    ok = FALSE;
  }
  if (!ok)
    g_set_error (error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_PIPELINE,
        "Failed to link a source to the open pad %s:%s",
        GST_DEBUG_PAD_NAME (self->open_pad));
  gst_object_unref (src);
  return ok;
}

static void
detach_source (GstSpdlLoaderParts *self)
{
  if (self->appsrc)
    gst_bin_remove (GST_BIN (self->pipeline), self->appsrc);
}

/* Creates a source for the application if the first element has an open sink
 * pad. */
static gboolean
make_source (GstSpdlLoaderParts *self, GError **error)
{
  self->open_pad =
      gst_bin_find_unlinked_pad (GST_BIN (self->pipeline), GST_PAD_SINK);
  if (!self->open_pad)
    return TRUE;
  self->appsrc =
      gst_object_ref_sink (gst_element_factory_make ("appsrc", NULL));
  g_object_set (self->appsrc, "format", GST_FORMAT_TIME, "emit-signals", FALSE,
      "max-bytes", (guint64) 0, NULL);
  if (!attach_source (self, error))
    return FALSE;
  detach_source (self);
  return TRUE;
}

gboolean
gst_spdl_loader_parts_begin_run (GstSpdlLoaderParts *self, GError **error)
{
  if (!attach_source (self, error))
    return FALSE;
  if (GST_OBJECT_PARENT (self->sink))
    play_at_once (self);
  return TRUE;
}

void
gst_spdl_loader_parts_end_run (GstSpdlLoaderParts *self)
{
  g_ptr_array_set_size (self->run_changes, 0);
  gst_spdl_loader_parts_watch_starts (self, NULL, NULL);
  detach_source (self);
}

static GPtrArray *
find_sources (GPtrArray *elements)
{
  GPtrArray *sources = g_ptr_array_new_with_free_func (gst_object_unref);

  for (guint i = 0; i < elements->len; i++)
    if (is_source (g_ptr_array_index (elements, i)))
      g_ptr_array_add (
          sources, gst_object_ref (g_ptr_array_index (elements, i)));
  return sources;
}

void
gst_spdl_loader_parts_find_sources (GstSpdlLoaderParts *self)
{
  GPtrArray *elements = list_elements (GST_BIN (self->pipeline));

  self->sources = find_sources (elements);
  g_ptr_array_unref (elements);
}

gboolean
gst_spdl_loader_parts_init (
    GstSpdlLoaderParts *self, GstPipeline *pipeline, GError **error)
{
  GPtrArray *elements = list_elements (GST_BIN (pipeline));
  gboolean ok;

  self->pipeline = gst_object_ref (pipeline);
  self->sources = find_sources (elements);
  self->run_changes = g_ptr_array_new_with_free_func (undo_change);
  self->changes = g_ptr_array_new_with_free_func (undo_change);
  self->tuned = g_ptr_array_new_with_free_func (untune_stage);
  ok = find_sink (self, elements, error) && make_source (self, error);
  g_ptr_array_unref (elements);
  return ok;
}

void
gst_spdl_loader_parts_init_as_is (
    GstSpdlLoaderParts *self, GstPipeline *pipeline, GstSpdlLoaderSink *sink)
{
  self->pipeline = gst_object_ref (pipeline);
  self->sink = gst_object_ref (sink);
  self->run_changes = g_ptr_array_new_with_free_func (undo_change);
  self->changes = g_ptr_array_new_with_free_func (undo_change);
  gst_spdl_loader_parts_find_sources (self);
}

void
gst_spdl_loader_parts_clear (GstSpdlLoaderParts *self)
{
  g_clear_pointer (&self->run_changes, g_ptr_array_unref);
  g_clear_pointer (&self->changes, g_ptr_array_unref);
  g_clear_pointer (&self->tuned, g_ptr_array_unref);
  g_clear_pointer (&self->sources, g_ptr_array_unref);
  gst_clear_object (&self->appsrc);
  gst_clear_object (&self->open_pad);
  gst_clear_object (&self->sink);
  gst_clear_object (&self->pipeline);
}

GstPipeline *
gst_spdl_loader_parse (const gchar *description, GError **error)
{
  GstElement *element = gst_spdl_parse_launch (description, error);
  GstElement *pipeline;

  if (!element && error)
    spdl_show_error (*error);
  if (!element || GST_IS_PIPELINE (element))
    return element ? gst_object_ref_sink (GST_PIPELINE (element)) : NULL;
  pipeline = gst_object_ref_sink (gst_pipeline_new (NULL));
  gst_bin_add (GST_BIN (pipeline), element);
  return GST_PIPELINE (pipeline);
}

gboolean
gst_spdl_loader_parts_is_last (const GstSpdlLoaderParts *self, guint64 epoch)
{
  gint64 epochs;

  if (self->sources->len != 1 || self->appsrc ||
      !is_made_by (g_ptr_array_index (self->sources, 0), "spdlsrc"))
    return FALSE;
  g_object_get (g_ptr_array_index (self->sources, 0), "epochs", &epochs, NULL);
  return epochs >= 0 && epoch + 1 >= (guint64) epochs;
}

static void
set_state (GPtrArray *changes, GObject *source, const gchar *state)
{
  Change *change = begin_change (changes, source, "resume-state");

  g_object_set (source, "resume-state", state, NULL);
  end_change (changes, change);
}

gboolean
gst_spdl_loader_parts_set_state (
    const GstSpdlLoaderParts *self, const gchar *state, GError **error)
{
  if (self->sources->len == 0) {
    g_set_error_literal (error, GST_SPDL_LOADER_ERROR,
        GST_SPDL_LOADER_ERROR_STATE,
        "The pipeline cannot resume, because it has no spdlsrc");
    return FALSE;
  }
  for (guint i = 0; i < self->sources->len; i++) {
    GObject *source = g_ptr_array_index (self->sources, i);

    if (!has_property (source, "resume-state")) {
      g_set_error (error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_STATE,
          "\"%s\" cannot resume, because this spdlsrc has no property "
          "resume-state",
          GST_OBJECT_NAME (source));
      return FALSE;
    }
    set_state (self->changes, source, state);
  }
  return TRUE;
}

static gchar *
dup_state (gpointer source)
{
  gchar *state;

  g_object_get (source, "resume-state", &state, NULL);
  return state;
}

GPtrArray *
gst_spdl_loader_parts_exchange_states (
    const GstSpdlLoaderParts *self, const gchar *state)
{
  GPtrArray *states = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < self->sources->len; i++) {
    GObject *source = g_ptr_array_index (self->sources, i);

    g_ptr_array_add (states, dup_state (source));
    set_state (self->changes, source, state);
  }
  return states;
}

void
gst_spdl_loader_parts_put_back_states (
    const GstSpdlLoaderParts *self, GPtrArray *states, const gchar *state)
{
  for (guint i = 0; i < states->len; i++) {
    GObject *source = g_ptr_array_index (self->sources, i);
    g_autofree gchar *now = dup_state (source);

    if (g_strcmp0 (now, state) == 0)
      set_state (self->changes, source, g_ptr_array_index (states, i));
  }
  g_ptr_array_unref (states);
}

static SpdlAsyncStart
get_start (const GstSpdlLoaderParts *self)
{
  SpdlAsyncStart start = SPDL_ASYNC_START_DONE;

  for (guint i = 0; i < self->sources->len; i++)
    start = MAX (
        start, spdl_async_start_get (g_ptr_array_index (self->sources, i)));
  return start;
}

gboolean
gst_spdl_loader_parts_wait_for_starts (const GstSpdlLoaderParts *self,
    SpdlMutex *lock, SpdlCond *cond, const gboolean *stopped,
    GCancellable *cancellable)
{
  SpdlAsyncStart start;

  spdl_mutex_lock (lock);
  while ((start = get_start (self)) == SPDL_ASYNC_START_ACTIVE && !*stopped &&
         !g_cancellable_is_cancelled (cancellable))
    spdl_cond_wait (cond, lock);
  spdl_mutex_unlock (lock);
  return start == SPDL_ASYNC_START_DONE;
}

guint
gst_spdl_loader_parts_count_sources (const GstSpdlLoaderParts *self)
{
  guint n = 0;

  for (guint i = 0; i < self->sources->len; i++)
    n += is_made_by (g_ptr_array_index (self->sources, i), "spdlsrc");
  return n;
}

/* Returns: (transfer full) (nullable): the class names of a source */
static GStrv
dup_classes (GObject *source)
{
  GValue array = G_VALUE_INIT;
  GStrv classes;

  if (!has_property (source, "classes"))
    return NULL;
  g_value_init (&array, GST_TYPE_ARRAY);
  g_object_get_property (source, "classes", &array);
  classes = gst_spdl_names_dup (&array);
  g_value_unset (&array);
  return classes;
}

gboolean
gst_spdl_loader_parts_dup_classes (
    const GstSpdlLoaderParts *self, GStrv *classes, GError **error)
{
  GstObject *first = NULL;

  *classes = NULL;
  for (guint i = 0; i < self->sources->len; i++) {
    g_auto (GStrv) names = dup_classes (g_ptr_array_index (self->sources, i));

    if (names && !*classes) {
      first = g_ptr_array_index (self->sources, i);
      *classes = g_steal_pointer (&names);
    } else if (names && !g_strv_equal ((const gchar *const *) names,
                            (const gchar *const *) *classes)) {
      g_set_error (error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_PIPELINE,
          "The sources \"%s\" and \"%s\" have different classes, so the same "
          "label means different things: give all sources the same classes",
          GST_OBJECT_NAME (first),
          GST_OBJECT_NAME (g_ptr_array_index (self->sources, i)));
      g_clear_pointer (classes, g_strfreev);
      return FALSE;
    }
  }
  return TRUE;
}

void
gst_spdl_loader_parts_set_classes (
    const GstSpdlLoaderParts *self, const gchar *const *classes)
{
  GValue array = G_VALUE_INIT;

  g_value_init (&array, GST_TYPE_ARRAY);
  gst_spdl_names_set (&array, classes);
  for (guint i = 0; i < self->sources->len; i++) {
    GObject *source = g_ptr_array_index (self->sources, i);
    Change *change;

    if (!has_property (source, "classes"))
      continue;
    change = begin_change (self->changes, source, "classes");
    g_object_set_property (source, "classes", &array);
    end_change (self->changes, change);
  }
  g_value_unset (&array);
}

void
gst_spdl_loader_parts_set_cpu_budget (
    const GstSpdlLoaderParts *self, gdouble budget)
{
  for (guint i = 0; i < self->sources->len; i++) {
    GObject *source = g_ptr_array_index (self->sources, i);
    Change *change;

    if (!has_property (source, "cpu-budget"))
      continue;
    change = begin_change (self->changes, source, "cpu-budget");
    g_object_set (source, "cpu-budget", budget, NULL);
    end_change (self->changes, change);
  }
}

/* Prepends the statistics of an element to @list, preceded by those of the
 * elements in a worker process. */
static GList *
prepend_stats (GList *list, GstStructure *stats)
{
  const GValue *stages = gst_structure_get_value (stats, "stages");

  list = g_list_prepend (list, stats);
  if (!stages || !GST_VALUE_HOLDS_ARRAY (stages))
    return list;
  for (guint i = gst_value_array_get_size (stages); i > 0; i--)
    list = g_list_prepend (
        list, g_value_dup_boxed (gst_value_array_get_value (stages, i - 1)));
  gst_structure_remove_field (stats, "stages");
  return list;
}

GList *
gst_spdl_loader_parts_dup_stats (
    const GstSpdlLoaderParts *self, gboolean foreign)
{
  GPtrArray *elements = list_elements (GST_BIN (self->pipeline));
  GList *list = NULL;

  for (guint i = elements->len; i > 0; i--) {
    GObject *element = g_ptr_array_index (elements, i - 1);
    GstStructure *stats = NULL;

    if (has_property (element, "stage-stats"))
      g_object_get (element, "stage-stats", &stats, NULL);
    else if (foreign)
      stats = gst_spdl_make_foreign_stats (
          GST_ELEMENT (element), GST_OBJECT_NAME (element));
    if (stats)
      list = prepend_stats (list, stats);
  }
  g_ptr_array_unref (elements);
  return list;
}

/* Defaults */

/**
 * gst_spdl_loader_set_default_epochs:
 * @loader: a stopped loader
 * @epochs: number of epochs, or -1 for no end
 *
 * Sets the property `epochs` of all sources, unless the loader's description
 * sets it.
 *
 * Since: 0.1
 */
void
gst_spdl_loader_set_default_epochs (GstSpdlLoader *loader, gint64 epochs)
{
  g_return_if_fail (GST_IS_SPDL_LOADER (loader));
  g_return_if_fail (epochs >= -1 && epochs != 0);

  if (!gst_spdl_loader_is_own_process (loader))
    return;
  spdl_mutex_lock (&loader->state_lock);
  for (guint i = 0; i < loader->parts.sources->len && !loader->sets_epochs;
       i++) {
    GObject *source = g_ptr_array_index (loader->parts.sources, i);
    Change *change = begin_change (loader->parts.changes, source, "epochs");

    g_object_set (source, "epochs", epochs, NULL);
    end_change (loader->parts.changes, change);
  }
  spdl_mutex_unlock (&loader->state_lock);
}

/* Sets a property of @source that is still negative. */
static void
set_default (GPtrArray *changes, GObject *source, const gchar *name, gint value)
{
  gint now;
  Change *change;

  g_object_get (source, name, &now, NULL);
  if (now >= 0)
    return;
  change = begin_change (changes, source, name);
  g_object_set (source, name, value, NULL);
  end_change (changes, change);
}

/**
 * gst_spdl_loader_set_default_rank:
 * @loader: a stopped loader
 * @rank: the rank of this process, or -1 to leave it to the environment
 * @world_size: the number of processes, or -1
 *
 * Sets the properties `rank` and `world-size` of all sources that have none.
 *
 * Since: 0.1
 */
void
gst_spdl_loader_set_default_rank (
    GstSpdlLoader *loader, gint rank, gint world_size)
{
  g_return_if_fail (GST_IS_SPDL_LOADER (loader));

  if (!gst_spdl_loader_is_own_process (loader))
    return;
  spdl_mutex_lock (&loader->state_lock);
  for (guint i = 0; i < loader->parts.sources->len; i++) {
    GObject *source = g_ptr_array_index (loader->parts.sources, i);

    set_default (loader->parts.changes, source, "rank", rank);
    set_default (loader->parts.changes, source, "world-size", world_size);
  }
  spdl_mutex_unlock (&loader->state_lock);
}

/* Number of batches */

#define UNKNOWN G_MAXUINT64

/* Elements that produce one item per item. */
static const gchar *const one_to_one[] = { "spdlfetch", "spdldecode",
  "spdlaugment", "spdldisaggregate", "spdlsink", "spdlcudaupload",
  "spdlcudanormalize", "appsrc", "queue", "queue2", "identity", "capsfilter",
  "tee", NULL };

static guint64
get_count (GstElement *element, const gchar *property)
{
  GValue value = G_VALUE_INIT;
  guint64 n;

  g_value_init (&value, G_TYPE_UINT64);
  g_object_get_property (G_OBJECT (element), property, &value);
  n = g_value_get_uint64 (&value);
  g_value_unset (&value);
  return n;
}

static gboolean
drops_last (GstElement *element)
{
  gboolean drop_last;

  g_object_get (element, "drop-last", &drop_last, NULL);
  return drop_last;
}

/* Stores @element in @found. Returns FALSE if there is one already. */
static gboolean
note_element (GstElement **found, GstElement *element)
{
  const gboolean first = *found == NULL;

  *found = element;
  return first;
}

typedef struct {
  GstElement *source;    /* nullable */
  GstElement *batch;     /* nullable */
  GstElement *aggregate; /* nullable */
} Counters;

/* Returns FALSE if the number of items is unknown because of @element. */
static gboolean
note_counter (Counters *self, GstElement *element)
{
  const GstElementFactory *factory = gst_element_get_factory (element);
  const gchar *name = factory ? GST_OBJECT_NAME (factory) : "";

  if (g_str_equal (name, "spdlsrc"))
    return note_element (&self->source, element);
  if (g_str_equal (name, "spdlbatch"))
    return note_element (&self->batch, element);
  if (g_str_equal (name, "spdlaggregate"))
    return note_element (&self->aggregate, element) && !drops_last (element);
  return g_strv_contains (one_to_one, name);
}

/**
 * gst_spdl_loader_get_num_batches:
 * @loader: a loader, started if its source is `spdlsrc`
 * @num_items: number of items that the program pushes per epoch, or
 *     %G_MAXUINT64 if it is not known
 *
 * Calculates the number of batches per epoch on this rank if no item fails.
 *
 * Returns: the number of batches; %G_MAXUINT64 if the pipeline filters or
 *     multiplies items, has several sources, or the source does not know its
 *     number of items
 *
 * Since: 0.1
 */
guint64
gst_spdl_loader_get_num_batches (GstSpdlLoader *loader, guint64 num_items)
{
  g_autoptr (GPtrArray) elements = NULL;
  Counters counters = { 0 };
  guint64 size;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), UNKNOWN);

  elements = list_elements (GST_BIN (loader->parts.pipeline));
  for (guint i = 0; i < elements->len; i++)
    if (!note_counter (&counters, g_ptr_array_index (elements, i)))
      return UNKNOWN;
  if (counters.source)
    num_items = get_count (counters.source, "num-items");
  if (num_items == UNKNOWN || !counters.batch)
    return num_items;
  size = get_count (counters.batch, "batch-size");
  return num_items / size +
         (num_items % size > 0 && !drops_last (counters.batch));
}
