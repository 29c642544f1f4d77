/* gst-spdl: loader: a pipeline that returns batches to a trainer
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:gstspdlloader
 * @title: GstSpdlLoader
 * @short_description: a pipeline that a trainer takes batches from
 *
 * A loader runs a pipeline that ends in one `spdlsink`, and returns its
 * batches:
 *
 * |[
 * GstSpdlLoader *loader = gst_spdl_loader_new (
 *     "spdlsrc location=photos epochs=10 ! spdlfetch "
 *     "! spdldecode width=224 height=224 ! spdlbatch ! spdlsink", &error);
 *
 * gst_spdl_loader_start (loader, &error);
 * while (!gst_spdl_loader_is_finished (loader)) {
 *   GstSpdlBatch *batch;
 *
 *   while ((batch = gst_spdl_loader_next (
 *               loader, GST_CLOCK_TIME_NONE, &error))) {
 *     train (batch);
 *     gst_spdl_batch_unref (batch);
 *   }
 *   if (error)
 *     break;
 *   // the end of an epoch
 * }
 * g_object_unref (loader);
 * ]|
 *
 * Failed items do not end the run. They are counted and reported by
 * #GstSpdlLoader::failed. An error that ends the run is returned by
 * gst_spdl_loader_next() after all earlier batches.
 *
 * Take batches from one thread at a time. All other functions may be called
 * from any thread except those of the pipeline; gst_spdl_loader_stop() may be
 * called from those as well.
 *
 * A loader belongs to the process that created it. In a forked child,
 * gst_spdl_loader_next() returns an error and all other functions do nothing,
 * so the loader of the parent is not affected.
 *
 * Since: 0.1
 */

#include "gst/spdl/gstspdlloader.h"

#include <unistd.h>

#include "gst/spdl/common/init.h"
#include "gst/spdl/loader/buswatch.h"
#include "gst/spdl/loader/description.h"
#include "gst/spdl/loader/loader-private.h"
#include "gst/spdl/loader/parse.h"

GST_DEBUG_CATEGORY_STATIC (spdl_loader_debug);
#define GST_CAT_DEFAULT spdl_loader_debug

enum {
  PROP_0,
  PROP_PIPELINE,
  PROP_MAX_FAILURES,
  PROP_NUM_FAILURES,
  PROP_EPOCH,
  PROP_FINISHED,
  PROP_CPU_BUDGET,
};

enum {
  SIGNAL_FAILED,
  SIGNAL_WARNED,
  N_SIGNALS,
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (GstSpdlLoader, gst_spdl_loader, G_TYPE_OBJECT)

GQuark
gst_spdl_loader_error_quark (void)
{
  static gsize quark = 0;

  if (g_once_init_enter (&quark))
    g_once_init_leave (
        &quark, g_quark_from_static_string ("gst-spdl-loader-error-quark"));
  return quark;
}

G_DEFINE_ENUM_TYPE (GstSpdlLoaderError, gst_spdl_loader_error,
    G_DEFINE_ENUM_VALUE (GST_SPDL_LOADER_ERROR_FAILED, "failed"),
    G_DEFINE_ENUM_VALUE (GST_SPDL_LOADER_ERROR_PIPELINE, "pipeline"),
    G_DEFINE_ENUM_VALUE (GST_SPDL_LOADER_ERROR_TIMED_OUT, "timed-out"),
    G_DEFINE_ENUM_VALUE (GST_SPDL_LOADER_ERROR_NOT_STARTED, "not-started"),
    G_DEFINE_ENUM_VALUE (GST_SPDL_LOADER_ERROR_STARTED, "started"),
    G_DEFINE_ENUM_VALUE (GST_SPDL_LOADER_ERROR_STOPPED, "stopped"),
    G_DEFINE_ENUM_VALUE (GST_SPDL_LOADER_ERROR_BUSY, "busy"),
    G_DEFINE_ENUM_VALUE (GST_SPDL_LOADER_ERROR_FORKED, "forked"),
    G_DEFINE_ENUM_VALUE (GST_SPDL_LOADER_ERROR_FAILURES, "failures"),
    G_DEFINE_ENUM_VALUE (GST_SPDL_LOADER_ERROR_STATE, "state"),
    G_DEFINE_ENUM_VALUE (GST_SPDL_LOADER_ERROR_SOURCE, "source"))

/* Creation */

static GstSpdlLoader *
new_loader (GstPipeline *pipeline, GError **error)
{
  GstSpdlLoader *self = g_object_new (GST_TYPE_SPDL_LOADER, NULL);

  if (gst_spdl_loader_parts_init (&self->parts, pipeline, error))
    return self;
  g_object_unref (self);
  return NULL;
}

GstSpdlLoader *
gst_spdl_loader_new_as_is (GstPipeline *pipeline, GstSpdlLoaderSink *sink,
    guint64 (*get_cpu_time) (void))
{
  GstSpdlLoader *self = g_object_new (GST_TYPE_SPDL_LOADER, NULL);

  gst_spdl_loader_parts_init_as_is (&self->parts, pipeline, sink);
  self->get_cpu_time = get_cpu_time;
  return self;
}

static GstSpdlLoader *
parse_loader (const gchar *description, GError **error)
{
  g_autoptr (GstPipeline) pipeline = NULL;
  GstSpdlLoader *self;

  if (!gst_spdl_init (error))
    return NULL;
  pipeline = gst_spdl_loader_parse (description, error);
  self = pipeline ? new_loader (pipeline, error) : NULL;
  if (self)
    self->made_pipeline = TRUE;
  return self;
}

/**
 * gst_spdl_loader_new: (constructor)
 * @description: a pipeline in the syntax of gst-launch, which ends in
 *     `spdlsink`. If its first element has an unlinked sink pad, the program is
 *     the source and calls gst_spdl_loader_push()
 * @error: (nullable): %GST_PARSE_ERROR, whose message suggests a correction, or
 *     %GST_SPDL_LOADER_ERROR_PIPELINE
 *
 * Creates a loader from a description. A number outside the range of a property
 * is the error %GST_PARSE_ERROR_COULD_NOT_SET_PROPERTY; two elements without a
 * `!` between them are the error %GST_PARSE_ERROR_LINK.
 *
 * Returns: (transfer full): the loader, or %NULL with @error set
 *
 * Since: 0.1
 */
GstSpdlLoader *
gst_spdl_loader_new (const gchar *description, GError **error)
{
  GstSpdlLoader *self;

  g_return_val_if_fail (description != NULL, NULL);

  self = parse_loader (description, error);
  if (self)
    self->sets_epochs = spdl_description_sets (description, "epochs");
  return self;
}

/**
 * gst_spdl_loader_new_in_process: (constructor)
 * @description: a pipeline as for gst_spdl_loader_new(), including its source
 * @properties: (nullable): properties of spdlworkersrc, such as `"nice=10
 *     restarts=3"`
 * @error: (nullable): as for gst_spdl_loader_new(); errors of elements in the
 *     other process come from gst_spdl_loader_start()
 *
 * Creates a loader whose pipeline runs in another process, except the sink. The
 * pipeline in this process is `spdlworkersrc name=worker ! spdlsink ...`; the
 * property `pipeline` of `worker` is the rest of @description.
 *
 * Returns: (transfer full): the loader, or %NULL with @error set
 *
 * Since: 0.1
 */
GstSpdlLoader *
gst_spdl_loader_new_in_process (
    const gchar *description, const gchar *properties, GError **error)
{
  g_autofree gchar *rest = NULL, *sink = NULL, *here = NULL;
  g_autoptr (GstElement) worker = NULL;
  GstSpdlLoader *self;
  guint n;

  g_return_val_if_fail (description != NULL, NULL);

  n = spdl_description_cut (description, "spdlsink", &rest, &sink);
  if (n != 1) {
    g_set_error (error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_PIPELINE,
        "The pipeline for a worker process has %u elements \"! spdlsink\": "
        "write exactly one",
        n);
    return NULL;
  }
  here = g_strdup_printf (
      "spdlworkersrc name=worker %s ! %s", properties ? properties : "", sink);
  if (!(self = parse_loader (here, error)))
    return NULL;
  self->sets_epochs = spdl_description_sets (description, "epochs");
  worker = gst_bin_get_by_name (GST_BIN (self->parts.pipeline), "worker");
  g_object_set (worker, "pipeline", rest, NULL);
  return self;
}

/**
 * gst_spdl_loader_new_from_pipeline: (constructor)
 * @pipeline: (transfer none): a pipeline with one `spdlsink`, in the NULL state
 * @error: (nullable): %GST_SPDL_LOADER_ERROR_PIPELINE, or %GST_PARSE_ERROR_LINK
 *     if an element is not linked to the next one
 *
 * Creates a loader from a pipeline. From gst_spdl_loader_start() to
 * gst_spdl_loader_stop(), the loader owns the state of the pipeline, sets
 * `async` of the sinks to %FALSE, so they do not preroll, and links its own
 * source to an open sink pad. The stop reverts all this.
 *
 * The loader listens to the signal #GstBus::sync-message. The program gets all
 * messages as well, and should read them: of more than 10,000 that it has not
 * read, the oldest ones are dropped. A sync handler of the bus must not drop
 * messages that it does not need.
 *
 * When the loader is freed, it restores the properties that its other functions
 * have set: `concurrency` of stages, and `epochs`, `rank`, `world-size`,
 * `resume-state`, `classes` and `cpu-budget` of sources. A property that the
 * program has set meanwhile keeps the value of the program. A table that a
 * source was given stays there.
 *
 * Returns: (transfer full): the loader, or %NULL with @error set
 *
 * Since: 0.1
 */
GstSpdlLoader *
gst_spdl_loader_new_from_pipeline (GstPipeline *pipeline, GError **error)
{
  g_return_val_if_fail (GST_IS_PIPELINE (pipeline), NULL);

  if (!gst_spdl_parse_check_links (GST_BIN (pipeline), error))
    return NULL;
  return new_loader (pipeline, error);
}

/**
 * gst_spdl_loader_get_pipeline:
 * @loader: a loader
 *
 * Gets the pipeline, to read elements and set their properties. Do not change
 * its state.
 *
 * Returns: (transfer none): the pipeline
 *
 * Since: 0.1
 */
GstPipeline *
gst_spdl_loader_get_pipeline (GstSpdlLoader *loader)
{
  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), NULL);

  return loader->parts.pipeline;
}

void
gst_spdl_loader_emit_notices (
    GstSpdlLoader *self, GstSpdlBusWatch *bus_watch, const gchar *state)
{
  GQueue notices = G_QUEUE_INIT;
  GstSpdlNotice *notice;

  gst_spdl_bus_watch_take_notices (bus_watch, self->n_epochs, state, &notices);
  while ((notice = g_queue_pop_head (&notices))) {
    const GstSpdlFailure *failure = notice->failure;

    if (failure)
      g_signal_emit (self, signals[SIGNAL_FAILED], 0, failure->stage,
          failure->uri, failure->error, failure->source, failure->epoch,
          failure->index, failure->sequence);
    else
      g_signal_emit (
          self, signals[SIGNAL_WARNED], 0, notice->stage, notice->text);
    if (!self->keeps_notices) {
      gst_spdl_notice_free (notice);
      continue;
    }
    spdl_mutex_lock (&self->lock);
    g_queue_push_tail (&self->kept_notices, notice);
    spdl_mutex_unlock (&self->lock);
  }
}

/* Properties */

static void
set_max_failures (GstSpdlLoader *self, gint max_failures)
{
  spdl_mutex_lock (&self->lock);
  self->max_failures = max_failures;
  if (self->bus_watch)
    gst_spdl_bus_watch_set_max_failures (self->bus_watch, max_failures);
  spdl_mutex_unlock (&self->lock);
}

static void
gst_spdl_loader_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstSpdlLoader *self = GST_SPDL_LOADER (object);

  if (!gst_spdl_loader_is_own_process (self))
    return;
  switch (id) {
    case PROP_MAX_FAILURES:
      set_max_failures (self, g_value_get_int (value));
      break;
    case PROP_CPU_BUDGET:
      gst_spdl_loader_set_cpu_budget (self, g_value_get_double (value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
}

static void
gst_spdl_loader_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstSpdlLoader *self = GST_SPDL_LOADER (object);

  switch (id) {
    case PROP_PIPELINE:
      g_value_set_object (value, self->parts.pipeline);
      break;
    case PROP_MAX_FAILURES:
      g_value_set_int (value, self->max_failures);
      break;
    case PROP_NUM_FAILURES:
      g_value_set_uint64 (value, gst_spdl_loader_get_num_failures (self));
      break;
    case PROP_EPOCH:
      g_value_set_uint64 (value, gst_spdl_loader_get_epoch (self));
      break;
    case PROP_FINISHED:
      g_value_set_boolean (value, gst_spdl_loader_is_finished (self));
      break;
    case PROP_CPU_BUDGET:
      g_value_set_double (value, self->cpu_budget);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
}

/* If a thread of the pipeline drops the last reference, the loader lives until
 * that thread has finished. */
static void
gst_spdl_loader_dispose (GObject *object)
{
  gst_spdl_loader_stop (GST_SPDL_LOADER (object));
  G_OBJECT_CLASS (gst_spdl_loader_parent_class)->dispose (object);
}

static void
gst_spdl_loader_finalize (GObject *object)
{
  GstSpdlLoader *self = GST_SPDL_LOADER (object);

  if (gst_spdl_loader_is_own_process (self)) {
    if (self->bus_watch)
      gst_spdl_bus_watch_unref (self->bus_watch);
    gst_spdl_loader_parts_clear (&self->parts);
    gst_spdl_layout_clear (&self->layout);
    g_queue_clear_full (
        &self->kept_notices, (GDestroyNotify) gst_spdl_notice_free);
    g_free (self->restored);
    g_free (self->begun_at);
    g_strfreev (self->classes);
    spdl_mutex_clear (&self->push_lock);
    spdl_mutex_clear (&self->lock);
    spdl_mutex_clear (&self->state_lock);
  }
  G_OBJECT_CLASS (gst_spdl_loader_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *object_class)
{
  const GParamFlags readable = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  g_object_class_install_property (object_class, PROP_PIPELINE,
      g_param_spec_object ("pipeline", "Pipeline",
          "The pipeline that the loader runs", GST_TYPE_PIPELINE, readable));
  g_object_class_install_property (object_class, PROP_MAX_FAILURES,
      g_param_spec_int ("max-failures", "Maximum failures",
          "Number of failed items to tolerate in all elements together; one "
          "more ends the loader with an error (-1 = no limit)",
          -1, G_MAXINT, -1, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS));
  g_object_class_install_property (object_class, PROP_NUM_FAILURES,
      g_param_spec_uint64 ("num-failures", "Number of failures",
          "Number of items that failed since the start, in the epochs that "
          "gst_spdl_loader_next() has reached",
          0, G_MAXUINT64, 0, readable));
  g_object_class_install_property (object_class, PROP_EPOCH,
      g_param_spec_uint64 ("epoch", "Epoch",
          "Epoch of the last batch that was returned; after the end of an "
          "epoch, the next epoch",
          0, G_MAXUINT64, 0, readable));
  g_object_class_install_property (object_class, PROP_FINISHED,
      g_param_spec_boolean ("finished", "Finished",
          "Whether the last epoch has ended", FALSE, readable));
  /**
   * GstSpdlLoader:cpu-budget:
   *
   * The share of all cores that loading may use, from 0 to 1; 0.4 leaves more
   * than half of the machine to the trainer. It limits the CPU time of stage
   * workers and streaming threads, averaged over about 0.1 s. To keep
   * the limit, the stage that uses the most CPU time starts tasks later;
   * running tasks are not interrupted. A change takes effect at once, and a
   * change from 0 at the next start. Each spdlworkersrc gets the value as its
   * `cpu-budget` and keeps it in its process.
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_CPU_BUDGET,
      g_param_spec_double ("cpu-budget", "CPU budget",
          "Share of all cores that loading may use (0 = no limit)", 0.0, 1.0,
          0.0, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS));
}

static void
gst_spdl_loader_class_init (GstSpdlLoaderClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      spdl_loader_debug, "spdlloader", 0, "Loaders of gst-spdl");
  object_class->set_property = gst_spdl_loader_set_property;
  object_class->get_property = gst_spdl_loader_get_property;
  object_class->dispose = gst_spdl_loader_dispose;
  object_class->finalize = gst_spdl_loader_finalize;
  install_properties (object_class);
  /* In a forked child, GLib's lock of quarks may be held by a thread of the
   * parent, and never be released. Register the quark now, so that errors in
   * the child do not need the lock. */
  gst_spdl_loader_error_quark ();

  /**
   * GstSpdlLoader::failed:
   * @loader: the loader
   * @stage: name of the element in which the item failed
   * @uri: (nullable): URI of the item
   * @error: reason of the failure
   * @source: number of the item's source, as in #GstSpdlItemMeta
   * @epoch: epoch of the item; %G_MAXUINT64 if the item has no number, as the
   *     following two
   * @index: index of the item in the dataset
   * @sequence: position of the item in the delivery order of the epoch
   *
   * Reports an item that failed and will not come. gst_spdl_loader_next() emits
   * it in its thread when it has reached the item's epoch, and before it
   * returns the batch whose state counts the item as done
   * (gst_spdl_state_is_done()). If more than 10000 items failed since the last
   * call, the last 10000 are reported.
   *
   * Since: 0.1
   */
  signals[SIGNAL_FAILED] = g_signal_new ("failed", GST_TYPE_SPDL_LOADER,
      G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 7, G_TYPE_STRING,
      G_TYPE_STRING, G_TYPE_ERROR, G_TYPE_UINT, G_TYPE_UINT64, G_TYPE_UINT64,
      G_TYPE_UINT64);
  /**
   * GstSpdlLoader::warned:
   * @loader: the loader
   * @stage: name of the element
   * @text: the warning
   *
   * Reports a warning of an element. gst_spdl_loader_next() emits it in its
   * thread. Warnings about single failed items are reported by
   * #GstSpdlLoader::failed instead. The summary of the failures of an epoch is
   * emitted after them and before gst_spdl_loader_next() returns the end of the
   * epoch.
   *
   * Since: 0.1
   */
  signals[SIGNAL_WARNED] =
      g_signal_new ("warned", GST_TYPE_SPDL_LOADER, G_SIGNAL_RUN_LAST, 0, NULL,
          NULL, NULL, G_TYPE_NONE, 2, G_TYPE_STRING, G_TYPE_STRING);
}

static void
gst_spdl_loader_init (GstSpdlLoader *self)
{
  self->pid = getpid ();
  self->max_failures = -1;
  spdl_mutex_init (&self->lock);
  spdl_mutex_init (&self->push_lock);
  spdl_mutex_init (&self->state_lock);
}

/* State and statistics */

/**
 * gst_spdl_loader_is_running:
 * @loader: a loader
 *
 * Checks whether the loader was started and not stopped since.
 *
 * Returns: %TRUE if the loader is running
 *
 * Since: 0.1
 */
gboolean
gst_spdl_loader_is_running (GstSpdlLoader *loader)
{
  gboolean running = FALSE;
  GstSpdlBusWatch *bus_watch;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), FALSE);

  if (gst_spdl_loader_is_own_process (loader) &&
      (bus_watch = gst_spdl_loader_get_bus_watch (loader, NULL))) {
    spdl_mutex_lock (&bus_watch->lock);
    running = !bus_watch->stopped;
    spdl_mutex_unlock (&bus_watch->lock);
    gst_spdl_bus_watch_unref (bus_watch);
  }
  return running;
}

/**
 * gst_spdl_loader_is_finished:
 * @loader: a loader
 *
 * Checks whether gst_spdl_loader_next() has reached the end of the stream. With
 * a single spdlsrc and a known number of epochs, this is reported together with
 * the end of the last epoch.
 *
 * Returns: %TRUE if no further epoch will come
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
  finished = loader->phase == GST_SPDL_LOADER_FINISHED;
  spdl_mutex_unlock (&loader->lock);
  return finished;
}

/**
 * gst_spdl_loader_get_epoch:
 * @loader: a loader
 *
 * Gets the epoch of the last batch; after the end of an epoch, the next epoch.
 *
 * Returns: the epoch, from 0
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
 * Counts the items that failed since the start in all elements. Only epochs
 * that gst_spdl_loader_next() has reached count, not those that are loaded in
 * advance.
 *
 * Returns: the number of failed items
 *
 * Since: 0.1
 */
guint64
gst_spdl_loader_get_num_failures (GstSpdlLoader *loader)
{
  guint64 n = 0;
  GstSpdlBusWatch *bus_watch;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), 0);

  if (gst_spdl_loader_is_own_process (loader) &&
      (bus_watch = gst_spdl_loader_get_bus_watch (loader, NULL))) {
    spdl_mutex_lock (&bus_watch->lock);
    n = bus_watch->n_reported;
    spdl_mutex_unlock (&bus_watch->lock);
    gst_spdl_bus_watch_unref (bus_watch);
  }
  return n;
}

/**
 * gst_spdl_loader_dup_error:
 * @loader: a loader
 *
 * Gets the error that ends the run. It is known before gst_spdl_loader_next()
 * has returned all batches before it.
 *
 * Returns: (transfer full) (nullable): the error; %NULL if there is none so far
 *
 * Since: 0.1
 */
GError *
gst_spdl_loader_dup_error (GstSpdlLoader *loader)
{
  GError *error = NULL;
  GstSpdlBusWatch *bus_watch;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), NULL);

  if (gst_spdl_loader_is_own_process (loader) &&
      (bus_watch = gst_spdl_loader_get_bus_watch (loader, NULL))) {
    error = gst_spdl_bus_watch_dup_error (bus_watch);
    gst_spdl_bus_watch_unref (bus_watch);
  }
  return error;
}

/**
 * gst_spdl_loader_get_error_item:
 * @loader: a loader
 * @stage: (out) (optional) (nullable) (transfer full): name of the element
 * @uri: (out) (optional) (nullable) (transfer full): URI of the item
 *
 * Gets the place of the error of gst_spdl_loader_dup_error(). If too many items
 * failed, it is the last of them, which the error message names.
 *
 * Returns: %FALSE if there is no error so far
 *
 * Since: 0.1
 */
gboolean
gst_spdl_loader_get_error_item (
    GstSpdlLoader *loader, gchar **stage, gchar **uri)
{
  g_autoptr (GstSpdlBusWatch) bus_watch = NULL;
  g_autofree gchar *at = NULL;
  g_autofree gchar *item = NULL;
  gboolean any = FALSE;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), FALSE);

  if (gst_spdl_loader_is_own_process (loader) &&
      (bus_watch = gst_spdl_loader_get_bus_watch (loader, NULL))) {
    spdl_mutex_lock (&bus_watch->lock);
    any = bus_watch->error != NULL;
    at = g_strdup (bus_watch->error_stage);
    item = g_strdup (bus_watch->error_uri);
    spdl_mutex_unlock (&bus_watch->lock);
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
 * Gets the statistics of all elements, as in their property `stage-stats`,
 * during a run and after it.
 *
 * Returns: (transfer full) (element-type GstStructure): a structure for each
 *     element that has statistics, from the source to the sink
 *
 * Since: 0.1
 */
GList *
gst_spdl_loader_dup_stats (GstSpdlLoader *loader)
{
  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), NULL);

  if (!gst_spdl_loader_is_own_process (loader))
    return NULL;
  return gst_spdl_loader_parts_dup_stats (&loader->parts, FALSE);
}

gchar *
gst_spdl_loader_read_state (GstSpdlLoader *self)
{
  gchar *state;

  spdl_mutex_lock (&self->lock);
  state = self->handed_out ? NULL : g_strdup (self->begun_at);
  spdl_mutex_unlock (&self->lock);
  if (!state)
    g_object_get (self->parts.sink, "resume-state", &state, NULL);
  return state;
}

/* Reports the failures that @state counts as done: a run that resumes from it
 * does not report them. A thread that takes batches does so itself. */
static void
report_failures_of (GstSpdlLoader *self, const gchar *state)
{
  g_autoptr (GstSpdlBusWatch) bus_watch =
      gst_spdl_loader_get_bus_watch (self, NULL);

  if (!state || !bus_watch ||
      !g_atomic_int_compare_and_exchange (&self->in_next, 0, 1))
    return;
  gst_spdl_loader_emit_notices (self, bus_watch, state);
  g_atomic_int_set (&self->in_next, 0);
}

/**
 * gst_spdl_loader_dup_state:
 * @loader: a loader
 *
 * Gets the state with which a run resumes after the last batch. After the last
 * batch of an epoch it becomes the start of the next epoch, as soon as it is
 * known that no more items will come.
 *
 * The state may count items that have failed since the last batch, and would
 * not fail again in a run that resumes. #GstSpdlLoader::failed is emitted for
 * them before the function returns, unless another thread takes batches, which
 * emits it.
 *
 * Returns: (transfer full) (nullable): the state; before the first batch, the
 *     state in which this run started; %NULL if it is not known
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
  state = gst_spdl_loader_read_state (loader);
  report_failures_of (loader, state);
  return state;
}

/* State lock held. Sets the resume state of all sources. */
static gboolean
restore_state (GstSpdlLoader *self, const gchar *state, GError **error)
{
  if (!gst_spdl_loader_end_stopped_run (self)) {
    g_set_error_literal (error, GST_SPDL_LOADER_ERROR,
        GST_SPDL_LOADER_ERROR_STARTED,
        "A resume state can only be set before the loader starts: stop the "
        "loader first");
    return FALSE;
  }
  if (!gst_spdl_loader_parts_set_state (&self->parts, state, error))
    return FALSE;
  spdl_mutex_lock (&self->lock);
  g_free (self->restored);
  g_free (self->begun_at);
  self->restored = g_strdup (state);
  self->begun_at = g_strdup (state);
  self->handed_out = FALSE;
  self->phase = GST_SPDL_LOADER_NO_EPOCH;
  self->epoch = 0;
  spdl_mutex_unlock (&self->lock);
  return TRUE;
}

/**
 * gst_spdl_loader_restore_state:
 * @loader: a stopped loader
 * @state: (nullable): a state; %NULL: the beginning
 * @error: (nullable): %GST_SPDL_LOADER_ERROR_STATE,
 *     %GST_SPDL_LOADER_ERROR_STARTED
 *
 * Sets the state in which further starts begin. gst_spdl_loader_start() checks
 * whether @state fits the dataset.
 *
 * Returns: %FALSE with @error set if @state is malformed or the loader is
 *     running
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
 * Gets the class names: label i is the class with the name i. They are the
 * top-level folders with `label=folder`, and the text labels of a list, both in
 * byte order. They are known after the start; those of
 * gst_spdl_loader_set_classes() are known at once.
 *
 * Returns: (transfer full) (nullable) (array zero-terminated=1): the names;
 *     %NULL without @error set if labels are numbers
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

/* State lock held. Sets the class names of all sources. */
static gboolean
set_classes (GstSpdlLoader *self, const gchar *const *classes, GError **error)
{
  if (self->running) {
    g_set_error_literal (error, GST_SPDL_LOADER_ERROR,
        GST_SPDL_LOADER_ERROR_STARTED,
        "Classes can only be set before the loader starts: stop the loader "
        "first");
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
 * @loader: a stopped loader
 * @classes: (nullable) (array zero-terminated=1): class names in the order of
 *     their numbers; %NULL: those of the dataset
 * @error: (nullable): %GST_SPDL_LOADER_ERROR_STARTED
 *
 * Sets the property `classes` of all sources, which numbers their text labels.
 * Unknown labels are reported at the start or as items come. The labels of
 * gst_spdl_loader_push() are always numbers.
 *
 * Returns: %FALSE with @error set if the loader is running
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
