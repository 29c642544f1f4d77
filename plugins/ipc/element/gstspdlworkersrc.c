/* gst-spdl: element spdlworkersrc
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:element-spdlworkersrc
 * @title: spdlworkersrc
 * @short_description: runs a pipeline in another process
 *
 * Runs `pipeline` in a child process, gst-spdl-worker, and forwards the output
 * of its open source pad: buffers with their metas, caps, custom events, the
 * end of the stream, and messages. The work there shares no lock, no allocator
 * and no CPU scheduling with the threads of this process.
 *
 * ## Memory
 * Batches are not copied. They are stored in `slabs` pieces of memory that both
 * processes map once. `spdlbatch` writes directly into a slab, and the slab is
 * reused when no tensor of the batch is referenced here any more. If all slabs
 * are in use, the worker waits. When only two slabs are free, further batches
 * are copied, so a consumer that keeps many batches does not block itself;
 * `num-unpooled` in `stage-stats` counts the copies. Other data is copied once
 * in the worker.
 *
 * ## Process
 * The process ends with the run and when this process ends. It gets the
 * environment variables that docs/reference/spdlworkersrc.md lists and no file
 * descriptors. `nice` lowers its priority, `cpu-affinity` selects its CPUs, and
 * `cpu-budget` is the share of them that it may use. Stages without
 * `concurrency` choose it as in a loader. The worker's output to stderr and
 * stdout is forwarded to the stderr of this process, with the name of the
 * worker before each line.
 *
 * The change from READY to PAUSED is asynchronous: it ends when the pipeline of
 * the process plays, or after an error message.
 *
 * A process that neither answers nor uses CPU time for `worker-timeout`,
 * because it was stopped or its storage hangs, is killed.
 *
 * If the process ends before the end of the stream, the element posts an error
 * after all data that it had received. With `restarts`, it posts a warning
 * instead, and a new process resumes after the last batch that was sent into
 * this pipeline: each item comes once, as with `resume-state`.
 *
 * ## Example
 * |[
 * gst-launch-1.0 spdlworkersrc nice=10
 *     pipeline="spdlsrc location=/usr/share/icons pattern=*.png ! spdlfetch"
 *     ! fakesink
 * ]|
 *
 * Since: 0.1
 */

#include <gst/base/gstpushsrc.h>
#include <gst/spdl/spdl.h>
#include <unistd.h>

#include "gst/spdl/common/asyncstart.h"
#include "gst/spdl/common/propertytable.h"
#include "gst/spdl/common/sourcenumber.h"
#include "gst/spdl/stage/taskthread.h"
#include "gst/spdl/process/processwatch.h"
#include "gst/spdl/progress/state.h"
#include "gst/spdl/stage/failure.h"
#include "gst/spdl/stage/plain.h"
#include "plugins/ipc/element/restart.h"
#include "plugins/ipc/element/workerconnection.h"
#include "plugins/ipc/element/workerprocess.h"
#include "plugins/ipc/ipc.h"
#include "plugins/ipc/wire/workerconfig.h"

/* One slab being written, one in transit, and one in use. */
#define MIN_SLABS 3

typedef struct {
  SpdlWorkerConfig config;
  guint restarts;
  guint64 worker_timeout;
  gint rank;
  gint world_size;
} SpdlWorkerSettings;

static const SpdlProperty properties[] = {
  SPDL_PROPERTY_STRING (SpdlWorkerSettings, config.description, READY,
      "pipeline", "Pipeline",
      "Pipeline of the worker process, in gst-launch syntax; must end in one "
      "open source pad",
      NULL),
  SPDL_PROPERTY_INT (SpdlWorkerSettings, config.nice, READY, "nice", "Nice",
      "Value to add to the nice value of this process; 19 is the lowest "
      "priority",
      -20, 19, 0),
  SPDL_PROPERTY_STRING (SpdlWorkerSettings, config.affinity, READY,
      "cpu-affinity", "CPU affinity",
      "CPUs that the worker process may use, such as 0,2-5 (unset = those of "
      "this process)",
      NULL),
  SPDL_PROPERTY_UINT (SpdlWorkerSettings, restarts, READY, "restarts",
      "Restarts",
      "Number of times to replace a worker process that died in a run; the new "
      "process continues after the last batch",
      0, G_MAXUINT, 0),
  SPDL_PROPERTY_UINT64 (SpdlWorkerSettings, worker_timeout, READY,
      "worker-timeout", "Worker timeout",
      "Time in nanoseconds after which a worker process that neither answers "
      "nor uses CPU time is killed (0 = no limit)",
      0, G_MAXUINT64, SPDL_PROCESS_WATCH_TIMEOUT),
  SPDL_PROPERTY_UINT (SpdlWorkerSettings, config.n_slabs, READY, "slabs",
      "Slabs",
      "Number of shared memory blocks, for batches that are written, queued "
      "and in use. When all but two are in use, batches are copied",
      MIN_SLABS, SPDL_WORKER_CONFIG_MAX_SLABS, 8),
  SPDL_PROPERTY_INT64 (SpdlWorkerSettings, config.epochs, READY, "epochs",
      "Epochs",
      "Number of epochs of the pipeline's sources (0 = as set in the pipeline)",
      -1, G_MAXINT64, 0),
  SPDL_PROPERTY_INT (SpdlWorkerSettings, rank, READY, "rank", "Rank",
      "Rank of this process, for the pipeline's sources (-1 = from the "
      "environment)",
      -1, G_MAXINT, -1),
  SPDL_PROPERTY_INT (SpdlWorkerSettings, world_size, READY, "world-size",
      "World size",
      "Number of ranks, for the pipeline's sources (-1 = from the environment)",
      -1, G_MAXINT, -1),
  SPDL_PROPERTY_STRING (SpdlWorkerSettings, config.resume_state, READY,
      "resume-state", "Resume state",
      "Resume state at which the pipeline's sources start (unset = at the "
      "beginning)",
      NULL),
  SPDL_PROPERTY_NAMES (SpdlWorkerSettings, config.classes, READY, "classes",
      "Classes",
      "Names of the classes in the order of their numbers, for all of the "
      "pipeline's sources (unset = as set in the pipeline). From PAUSED on, "
      "reads as the classes in use"),
  SPDL_PROPERTY_DOUBLE (SpdlWorkerSettings, config.cpu_budget, PLAYING,
      "cpu-budget", "CPU budget",
      "Share of all its cores that the worker process may use (0 = no limit); "
      "a change from 0 takes effect at the next start, others at once",
      0, 1, 0),
  SPDL_PROPERTY_END
};

#define GST_TYPE_SPDL_WORKER_SRC (gst_spdl_worker_src_get_type ())
G_DECLARE_FINAL_TYPE (
    GstSpdlWorkerSrc, gst_spdl_worker_src, GST, SPDL_WORKER_SRC, GstPushSrc)

struct _GstSpdlWorkerSrc {
  GstPushSrc parent;

  GstSpdlPlainStats *stats;
  SpdlWorkerSettings settings; /* protected by the object lock */
  GStrv
      classes; /* nullable: class names in use; protected by the object lock */

  /* Copies for a run, from READY to PAUSED on. */
  SpdlWorkerSettings run;
  guint32 base;
  guint n_restarts; /* atomic */

  /* Used only by the streaming thread. */
  SpdlRestart restart; /* only if restarts are enabled */
  GstMessage *error;   /* nullable: to be posted at the end of the stream */
  gboolean warned_of_slabs; /* that slabs are short; warns once */
  gboolean has_pushed;      /* pushed a buffer in this run */
  gboolean has_played;      /* the worker's pipeline played in this run */

  SpdlMutex lock;
  /* Protected by `lock`: */
  SpdlWorkerConnection *connection; /* nullable */
  gboolean flushing;
  GPtrArray
      *figures; /* nullable: last statistics of a process that has ended */
};

GST_DEBUG_CATEGORY (spdl_worker_src_debug);
#define GST_CAT_DEFAULT spdl_worker_src_debug

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

enum {
  PROP_0,
  PROP_SETTINGS, /* the first property of the table */
  PROP_CPU_BUDGET = PROP_SETTINGS + G_N_ELEMENTS (properties) -
                    2, /* the last property of the table */
  PROP_CLASSES = PROP_CPU_BUDGET - 1,
  PROP_STATS_INTERVAL = PROP_CPU_BUDGET + 1,
  PROP_STAGE_STATS,
};

G_DEFINE_FINAL_TYPE (GstSpdlWorkerSrc, gst_spdl_worker_src, GST_TYPE_PUSH_SRC)
GST_ELEMENT_REGISTER_DEFINE (
    spdlworkersrc, "spdlworkersrc", GST_RANK_NONE, GST_TYPE_SPDL_WORKER_SRC)

/* Worker process */

/* Sends the current cpu-budget to the worker. */
static void
send_cpu_budget (GstSpdlWorkerSrc *self)
{
  gdouble budget;

  spdl_mutex_lock (&self->lock);
  GST_OBJECT_LOCK (self);
  budget = self->settings.config.cpu_budget;
  GST_OBJECT_UNLOCK (self);
  if (self->connection)
    spdl_worker_connection_set_cpu_budget (self->connection, budget);
  spdl_mutex_unlock (&self->lock);
}

/* Extracts the part of @state that belongs to the worker, with its own
 * numbering.
 * Returns: (transfer full) (nullable): NULL if there is none, and the worker
 * starts from the beginning. An invalid state is returned unchanged. */
static gchar *
take_state (const gchar *state, guint32 base)
{
  g_autoptr (GString) text = g_string_new (NULL);
  gint n = 0;

  if (state)
    n = spdl_state_renumber (text, state, base, SPDL_SOURCE_NUMBER_STEP, 0);
  return n == 0 ? NULL : g_strdup (n > 0 ? text->str : state);
}

/* Starts a worker process. Returns FALSE with @error set if that fails.
 * @state: (nullable): resume state */
static gboolean
open_link (GstSpdlWorkerSrc *self, const gchar *state, GError **error)
{
  SpdlWorkerConfig config = self->run.config;
  g_autofree gchar *own_state = take_state (state, self->base);
  SpdlWorkerConnection *connection;

  config.resume_state = own_state;
  connection = spdl_worker_connection_new (GST_ELEMENT (self),
      spdl_environment_select (
          (const gchar *const *) environ, self->run.rank, self->run.world_size),
      &config, self->base, self->run.worker_timeout,
      self->run.restarts > 0 ? &self->restart : NULL, error);
  if (!connection)
    return FALSE;
  spdl_mutex_lock (&self->lock);
  self->connection = connection;
  spdl_worker_connection_interrupt (connection, self->flushing);
  spdl_mutex_unlock (&self->lock);
  send_cpu_budget (self);
  return TRUE;
}

static void
close_link (GstSpdlWorkerSrc *self)
{
  GPtrArray *figures, *old;
  SpdlWorkerConnection *connection;

  spdl_mutex_lock (&self->lock);
  connection = self->connection;
  spdl_mutex_unlock (&self->lock);
  if (!connection)
    return;
  /* The worker reports its statistics a last time. */
  spdl_worker_connection_stop (connection);
  figures = spdl_worker_connection_dup_figures (connection);
  spdl_mutex_lock (&self->lock);
  self->connection = NULL;
  old = self->figures;
  self->figures = figures;
  spdl_mutex_unlock (&self->lock);
  g_clear_pointer (&old, g_ptr_array_unref);
  spdl_worker_connection_free (connection);
}

/* Checks the configuration before a process is started. */
static gboolean
check_config (const SpdlWorkerConfig *config, GError **error)
{
  if (!config->description || !*config->description) {
    g_set_error_literal (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "pipeline is not set: set it to a chain of elements in gst-launch "
        "syntax, without a sink");
    return FALSE;
  }
  return !config->affinity || !*config->affinity ||
         spdl_affinity_check (config->affinity, error);
}

static gboolean
begin_run (GstSpdlWorkerSrc *self, GError **error)
{
  gst_spdl_property_table_clear (properties, &self->run);
  GST_OBJECT_LOCK (self);
  self->run = self->settings;
  gst_spdl_property_table_own (properties, &self->run);
  GST_OBJECT_UNLOCK (self);
  self->base = spdl_source_number_take (GST_ELEMENT (self));
  g_atomic_int_set (&self->n_restarts, 0);
  spdl_restart_reset (&self->restart);
  self->warned_of_slabs = self->has_pushed = self->has_played = FALSE;
  return check_config (&self->run.config, error) &&
         spdl_source_number_check_state (
             GST_ELEMENT (self), self->run.config.resume_state, error);
}

static void
take_classes (GstSpdlWorkerSrc *self)
{
  GStrv classes = spdl_worker_connection_dup_classes (self->connection);

  GST_OBJECT_LOCK (self);
  g_strfreev (self->classes);
  self->classes = classes;
  GST_OBJECT_UNLOCK (self);
}

/* Starts a run: starts the process, which the streaming thread waits for.
 * Returns the result of the change of state. After a failure, an error has been
 * posted. */
static GstStateChangeReturn
gst_spdl_worker_src_open (GstSpdlWorkerSrc *self)
{
  g_autoptr (GError) error = NULL;

  if (begin_run (self, &error)) {
    gst_spdl_plain_stats_start (self->stats);
    if (open_link (self, self->run.config.resume_state, &error))
      return spdl_async_start_begin (GST_ELEMENT (self));
  }
  gst_spdl_post_error (GST_ELEMENT (self), error);
  return GST_STATE_CHANGE_FAILURE;
}

/* Ends a run. */
static void
gst_spdl_worker_src_close (GstSpdlWorkerSrc *self)
{
  spdl_source_number_release (GST_ELEMENT (self));
  spdl_async_start_clear (GST_ELEMENT (self));
  close_link (self);
  gst_clear_message (&self->error);
  gst_spdl_plain_stats_stop (self->stats);
}

static void
gst_spdl_worker_src_set_flushing (GstSpdlWorkerSrc *self, gboolean flushing)
{
  spdl_mutex_lock (&self->lock);
  self->flushing = flushing;
  if (self->connection)
    spdl_worker_connection_interrupt (self->connection, flushing);
  spdl_mutex_unlock (&self->lock);
}

/* Adds the pid and the statistics of the worker's elements to @s, in order from
 * the sources to the sink. */
static void
gst_spdl_worker_src_add_stages (GstSpdlWorkerSrc *self, GstStructure *s)
{
  GValue stages = G_VALUE_INIT, stage = G_VALUE_INIT;
  GPtrArray *figures = NULL;

  spdl_mutex_lock (&self->lock);
  if (self->connection)
    figures = spdl_worker_connection_dup_figures (self->connection);
  else if (self->figures)
    figures = g_ptr_array_ref (self->figures);
  gst_structure_set (s, "pid", G_TYPE_UINT,
      self->connection ? spdl_worker_connection_get_pid (self->connection) : 0,
      NULL);
  spdl_mutex_unlock (&self->lock);
  gst_value_array_init (&stages, 0);
  for (guint i = 0; figures && i < figures->len; i++) {
    g_value_init (&stage, GST_TYPE_STRUCTURE);
    g_value_set_boxed (&stage, g_ptr_array_index (figures, i));
    gst_value_array_append_and_take_value (&stages, &stage);
  }
  gst_structure_take_value (s, "stages", &stages);
  g_clear_pointer (&figures, g_ptr_array_unref);
}

/* Stream */

static void
count_copy (GstSpdlWorkerSrc *self, guint max)
{
  spdl_mutex_lock (&self->stats->lock);
  self->stats->meter.interval.unpooled++;
  spdl_mutex_unlock (&self->stats->lock);
  if (self->warned_of_slabs)
    return;
  self->warned_of_slabs = TRUE;
  GST_ELEMENT_WARNING (self, RESOURCE, NO_SPACE_LEFT,
      ("More than %u batches are in use at the same time: each additional "
       "batch is copied, which costs time",
          max),
      ("num-unpooled in stage-stats counts them; release batches, and all "
       "tensors made from them, as soon as they are not needed, or raise "
       "slabs"));
}

static void
count_buffer (GstSpdlWorkerSrc *self, GstBuffer *buffer)
{
  const GstSpdlBatchMeta *batch = gst_spdl_buffer_get_batch_meta (buffer);
  const gsize size = gst_buffer_get_size (buffer);
  SpdlMeter *meter = &self->stats->meter;

  spdl_mutex_lock (&self->stats->lock);
  meter->interval.items += batch ? batch->num_items : 1;
  meter->interval.batches += batch != NULL;
  meter->interval.bytes_out += size;
  spdl_mutex_unlock (&self->stats->lock);
}

/* Returns: (transfer full) (nullable): NULL, after posting an error, if memory
 * cannot be allocated */
static GstBuffer *
take_buffer (GstSpdlWorkerSrc *self, SpdlWorkerMessage *worker_message)
{
  const guint max = self->run.config.n_slabs - 2;
  GstBuffer *buffer = g_steal_pointer (&worker_message->object);
  gboolean lent = TRUE;

  if (!spdl_worker_message_give_memory (worker_message, buffer, max, &lent)) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("Not enough memory for a copy of a batch: keep fewer than %u of them",
            max),
        (NULL));
    gst_buffer_unref (buffer);
    return NULL;
  }
  if (!lent)
    count_copy (self, max);
  count_buffer (self, buffer);
  self->has_pushed = TRUE;
  if (self->run.restarts > 0)
    spdl_restart_add_buffer (&self->restart, buffer);
  return buffer;
}

static void
push_event (GstSpdlWorkerSrc *self, GstEvent *event)
{
  if (self->run.restarts == 0 || spdl_restart_add_event (&self->restart, event))
    gst_pad_push_event (GST_BASE_SRC_PAD (self), event);
  else
    gst_event_unref (event);
}

/* End of the stream, and restarts */

/* Ends the stream after everything that was received. */
static GstFlowReturn
end_stream (GstSpdlWorkerSrc *self)
{
  if (self->error)
    gst_element_post_message (
        GST_ELEMENT (self), g_steal_pointer (&self->error));
  gst_spdl_plain_stats_finish (self->stats);
  return GST_FLOW_EOS;
}

static GstFlowReturn
give_up (GstSpdlWorkerSrc *self, const gchar *why, const gchar *when)
{
  g_autoptr (GError) error = g_error_new (
      GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED, "%s, %s", why, when);

  /* An error from the worker's pipeline takes precedence. */
  if (!self->error)
    gst_spdl_post_error (GST_ELEMENT (self), error);
  return end_stream (self);
}

/* Returns the reason why the worker cannot be restarted, or NULL. */
static const gchar *
find_hindrance (GstSpdlWorkerSrc *self)
{
  if (self->error || self->run.restarts == 0)
    return "before the end of the stream";
  if ((guint) g_atomic_int_get (&self->n_restarts) >= self->run.restarts)
    return "before the end of the stream, and the limit of restarts is reached";
  if (self->has_pushed && self->restart.sources->len == 0)
    return "before the end of the stream, and cannot be replaced, because its "
           "pipeline has no spdlsrc to resume";
  return NULL;
}

/* Starts another process, which resumes after the last buffer that was pushed.
 * @why: (inout): reason why the previous process ended; set again if the new
 * one fails */
static SpdlWorkerConnectionStatus
begin_again (GstSpdlWorkerSrc *self, gchar **why)
{
  g_autofree gchar *state = spdl_restart_dup_state (&self->restart);
  const guint n = g_atomic_int_add (&self->n_restarts, 1) + 1;
  g_autoptr (GError) error = NULL;

  GST_ELEMENT_WARNING (self, RESOURCE, FAILED,
      ("%s, before the end of the stream: a new process continues (restart %u "
       "of %u)",
          *why, n, self->run.restarts),
      (NULL));
  g_clear_pointer (why, g_free);
  close_link (self);
  spdl_restart_end_process (&self->restart);
  if (open_link (self, state ? state : self->run.config.resume_state, &error))
    return spdl_worker_connection_wait (self->connection, &self->error, why);
  *why = g_strdup (error->message);
  return SPDL_WORKER_CONNECTION_DIED;
}

static GstFlowReturn
worker_died (GstSpdlWorkerSrc *self, const gchar *text)
{
  g_autofree gchar *why = g_strdup (text);
  const gchar *hindrance;
  GstEvent *event;

  while (!(hindrance = find_hindrance (self))) {
    switch (begin_again (self, &why)) {
      case SPDL_WORKER_CONNECTION_PLAYS:
        while ((event = spdl_restart_next_epoch (&self->restart)))
          gst_pad_push_event (GST_BASE_SRC_PAD (self), event);
        return GST_FLOW_OK;
      case SPDL_WORKER_CONNECTION_FAILED:
        return end_stream (self);
      case SPDL_WORKER_CONNECTION_INTERRUPTED:
        return GST_FLOW_FLUSHING;
      default:
        break;
    }
  }
  return give_up (self, why, hindrance);
}

/* Waits until the worker's pipeline is in PLAYING, which ends the change to
 * PAUSED. Returns GST_FLOW_EOS after posting an error. */
static GstFlowReturn
finish_start (GstSpdlWorkerSrc *self)
{
  g_autofree gchar *why = NULL;
  SpdlWorkerConnectionStatus status;

  spdl_async_start_open (GST_ELEMENT (self));
  status = spdl_worker_connection_wait (self->connection, &self->error, &why);
  while (status == SPDL_WORKER_CONNECTION_DIED && !find_hindrance (self))
    status = begin_again (self, &why);
  self->has_played = status == SPDL_WORKER_CONNECTION_PLAYS;
  if (self->has_played)
    take_classes (self);
  else if (status != SPDL_WORKER_CONNECTION_INTERRUPTED)
    give_up (self, why, "before its pipeline played");
  spdl_async_start_end (GST_ELEMENT (self),
      self->has_played || status == SPDL_WORKER_CONNECTION_INTERRUPTED);
  if (self->has_played)
    return GST_FLOW_OK;
  return status == SPDL_WORKER_CONNECTION_INTERRUPTED ? GST_FLOW_FLUSHING
                                                      : GST_FLOW_EOS;
}

/* Messages from the worker */

/* Returns GST_FLOW_CUSTOM_SUCCESS if there is a buffer. */
static GstFlowReturn
open_message (GstSpdlWorkerSrc *self, SpdlWorkerMessage *worker_message,
    GstBuffer **buffer)
{
  switch (worker_message->kind) {
    case SPDL_WORKER_MESSAGE_BUFFER:
      *buffer = take_buffer (self, worker_message);
      return *buffer ? GST_FLOW_CUSTOM_SUCCESS : GST_FLOW_ERROR;
    case SPDL_WORKER_MESSAGE_CAPS:
      return gst_base_src_set_caps (GST_BASE_SRC (self), worker_message->object)
                 ? GST_FLOW_OK
                 : GST_FLOW_NOT_NEGOTIATED;
    case SPDL_WORKER_MESSAGE_EVENT:
      push_event (self, g_steal_pointer (&worker_message->object));
      return GST_FLOW_OK;
    case SPDL_WORKER_MESSAGE_ERROR:
      self->error = g_steal_pointer (&worker_message->object);
      return GST_FLOW_OK;
    case SPDL_WORKER_MESSAGE_EOS:
      return end_stream (self);
    default:
      return worker_died (self, worker_message->text);
  }
}

static SpdlWorkerMessage *
take_next_message (GstSpdlWorkerSrc *self)
{
  SpdlMeter *meter = &self->stats->meter;
  const guint64 before = spdl_meter_now (meter);
  SpdlWorkerMessage *worker_message =
      spdl_worker_connection_take (self->connection);

  if (!worker_message || worker_message->kind != SPDL_WORKER_MESSAGE_BUFFER)
    return worker_message;
  spdl_mutex_lock (&self->stats->lock);
  spdl_histogram_add (
      &meter->interval.get_time, spdl_meter_now (meter) - before);
  spdl_mutex_unlock (&self->stats->lock);
  return worker_message;
}

/* Implements GstPushSrcClass::create(). */
static GstFlowReturn
gst_spdl_worker_src_create (GstPushSrc *src, GstBuffer **buffer)
{
  GstSpdlWorkerSrc *self = GST_SPDL_WORKER_SRC (src);
  GstFlowReturn ret = self->has_played ? GST_FLOW_OK : finish_start (self);
  SpdlWorkerMessage *worker_message;

  while (ret == GST_FLOW_OK) {
    if (!(worker_message = take_next_message (self)))
      return GST_FLOW_FLUSHING;
    ret = open_message (self, worker_message, buffer);
    spdl_worker_message_free (worker_message);
  }
  return ret == GST_FLOW_CUSTOM_SUCCESS ? GST_FLOW_OK : ret;
}

/* State changes */

/* Opens and closes in change_state() like spdlsrc, not in GstBaseSrc's
 * start(). */
static GstStateChangeReturn
gst_spdl_worker_src_change_state (
    GstElement *element, GstStateChange transition)
{
  GstSpdlWorkerSrc *self = GST_SPDL_WORKER_SRC (element);
  const gboolean starts = transition == GST_STATE_CHANGE_READY_TO_PAUSED;
  const GstStateChangeReturn start =
      starts ? gst_spdl_worker_src_open (self) : GST_STATE_CHANGE_SUCCESS;
  GstStateChangeReturn ret = start;

  if (start != GST_STATE_CHANGE_FAILURE)
    ret = GST_ELEMENT_CLASS (gst_spdl_worker_src_parent_class)
              ->change_state (element, transition);
  ret = spdl_task_thread_check_start (gst_spdl_worker_src_parent_class, element,
      GST_BASE_SRC_PAD (self), transition, ret);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY ||
      (starts && ret == GST_STATE_CHANGE_FAILURE))
    gst_spdl_worker_src_close (self);
  return starts && ret == GST_STATE_CHANGE_SUCCESS ? start : ret;
}

static gboolean
gst_spdl_worker_src_post_message (GstElement *element, GstMessage *message)
{
  return spdl_task_thread_post_message (
      GST_ELEMENT_CLASS (gst_spdl_worker_src_parent_class), element, message);
}

static gboolean
gst_spdl_worker_src_is_seekable (GstBaseSrc *src)
{
  return FALSE;
}

static gboolean
gst_spdl_worker_src_unlock (GstBaseSrc *src)
{
  gst_spdl_worker_src_set_flushing (GST_SPDL_WORKER_SRC (src), TRUE);
  return TRUE;
}

static gboolean
gst_spdl_worker_src_unlock_stop (GstBaseSrc *src)
{
  gst_spdl_worker_src_set_flushing (GST_SPDL_WORKER_SRC (src), FALSE);
  return TRUE;
}

/* Removes pools offered by downstream: buffers have memory of the worker. */
static gboolean
gst_spdl_worker_src_decide_allocation (GstBaseSrc *src, GstQuery *query)
{
  while (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_remove_nth_allocation_pool (query, 0);
  return TRUE;
}

/* Properties */

static void
add_figures (GstElement *element, const SpdlMeterStats *stats, GstStructure *s)
{
  GstSpdlWorkerSrc *self = GST_SPDL_WORKER_SRC (element);

  guint64 silent = 0;

  spdl_mutex_lock (&self->lock);
  if (self->connection)
    silent = spdl_worker_connection_get_silence (self->connection);
  spdl_mutex_unlock (&self->lock);
  gst_structure_set (s, "num-restarts", G_TYPE_UINT,
      (guint) g_atomic_int_get (&self->n_restarts), "silent-time",
      G_TYPE_UINT64, silent, NULL);
}

static void
gst_spdl_worker_src_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstSpdlWorkerSrc *self = GST_SPDL_WORKER_SRC (object);

  if (id == PROP_STATS_INTERVAL) {
    gst_spdl_plain_stats_set_interval (self->stats, value);
    return;
  }
  gst_spdl_property_table_set (
      properties, &self->settings, id - PROP_SETTINGS, value, object, pspec);
  if (id == PROP_CPU_BUDGET)
    send_cpu_budget (self);
  if (id == PROP_CLASSES) {
    GST_OBJECT_LOCK (self);
    g_clear_pointer (&self->classes, g_strfreev);
    GST_OBJECT_UNLOCK (self);
  }
}

static void
gst_spdl_worker_src_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstSpdlWorkerSrc *self = GST_SPDL_WORKER_SRC (object);

  switch (id) {
    case PROP_STATS_INTERVAL:
      gst_spdl_plain_stats_get_interval (self->stats, value);
      break;
    case PROP_STAGE_STATS:
      gst_spdl_plain_stats_get_stats (self->stats, value);
      gst_spdl_worker_src_add_stages (self, g_value_get_boxed (value));
      break;
    default:
      if (id != PROP_CLASSES ||
          !gst_spdl_names_set_locked (value, &self->classes, object))
        gst_spdl_property_table_get (properties, &self->settings,
            id - PROP_SETTINGS, value, object, pspec);
      break;
  }
}

static void
gst_spdl_worker_src_finalize (GObject *object)
{
  GstSpdlWorkerSrc *self = GST_SPDL_WORKER_SRC (object);

  g_clear_pointer (&self->figures, g_ptr_array_unref);
  spdl_restart_clear (&self->restart);
  gst_spdl_property_table_clear (properties, &self->run);
  gst_spdl_property_table_clear (properties, &self->settings);
  g_strfreev (self->classes);
  gst_spdl_plain_stats_free (self->stats);
  spdl_mutex_clear (&self->lock);
  G_OBJECT_CLASS (gst_spdl_worker_src_parent_class)->finalize (object);
}

static void
gst_spdl_worker_src_class_init (GstSpdlWorkerSrcClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *base_class = GST_BASE_SRC_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      spdl_worker_src_debug, "spdlworkersrc", 0, "Worker process");
  object_class->set_property = gst_spdl_worker_src_set_property;
  object_class->get_property = gst_spdl_worker_src_get_property;
  object_class->finalize = gst_spdl_worker_src_finalize;
  gst_spdl_property_table_install (properties, object_class, PROP_SETTINGS);
  gst_spdl_install_stats_properties (object_class, PROP_STATS_INTERVAL);

  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Worker process",
      "Source", "Runs a pipeline in a worker process",
      "the gst-spdl developers");
  element_class->change_state = gst_spdl_worker_src_change_state;
  element_class->post_message = gst_spdl_worker_src_post_message;
  base_class->is_seekable = gst_spdl_worker_src_is_seekable;
  base_class->unlock = gst_spdl_worker_src_unlock;
  base_class->unlock_stop = gst_spdl_worker_src_unlock_stop;
  base_class->decide_allocation = gst_spdl_worker_src_decide_allocation;
  GST_PUSH_SRC_CLASS (klass)->create = gst_spdl_worker_src_create;
}

static void
gst_spdl_worker_src_init (GstSpdlWorkerSrc *self)
{
  gst_spdl_property_table_init (properties, &self->settings);
  gst_spdl_property_table_init (properties, &self->run);
  spdl_restart_init (&self->restart);
  spdl_mutex_init (&self->lock);
  self->stats = gst_spdl_plain_stats_new (GST_ELEMENT (self),
      GST_SPDL_FIELDS_BATCHES | GST_SPDL_FIELDS_UNPOOLED | GST_SPDL_FIELDS_GET);
  self->stats->add_figures = add_figures;
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
}
