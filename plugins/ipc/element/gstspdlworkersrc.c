/* gst-spdl: spdlworkersrc, a pipeline in a process of its own
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:element-spdlworkersrc
 * @title: spdlworkersrc
 * @short_description: runs a pipeline in a process of its own
 *
 * Runs `pipeline` in a child process, gst-spdl-worker, and sends on what comes
 * out of its open source pad, as if its elements were here: buffers with their
 * metas, caps, custom events, the end of the stream, and messages. What is
 * done there takes no lock, no allocator and no turn of the scheduler from the
 * threads of this process.
 *
 * Batches are not copied. They lie in `slabs` pieces of memory, which both
 * processes map once; `spdlbatch` writes straight into them, and each goes back
 * when nobody here refers to any of its tensors any more. When all of them are
 * in use the worker waits. A consumer that keeps so many batches that only two
 * slabs are left gets copies of all further ones (`num-unpooled` in
 * `stage-stats` counts them), so that it never waits for itself. Whatever else
 * comes to the worker's end, not in such memory, is copied there, once.
 *
 * The process ends with the run, and whenever this one does. It has the
 * variables of the environment that docs/interface.md lists, none of the
 * descriptors, `nice` more and the CPUs of `cpu-affinity`, of which it keeps
 * within the share `cpu-budget`. Its stages whose `concurrency` was not set
 * have as many tasks at a time as a loader gives them. What it writes to its
 * terminal comes out of this one's, with its name.
 *
 * A process that dies before the end of the stream is an error, which says how,
 * behind all that it had sent. With `restarts` that is a warning, and another
 * one goes on behind the last batch that went into this pipeline: each item
 * comes once, as from `resume-state`.
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

#include "gst/spdl/common/stringarrays.h"
#include "plugins/ipc/element/workersrc-private.h"
#include "plugins/ipc/ipc.h"

GST_DEBUG_CATEGORY (spdl_worker_src_debug);
#define GST_CAT_DEFAULT spdl_worker_src_debug

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

enum {
  PROP_STATS_INTERVAL = SPDL_N_WORKER_SETTINGS,
  PROP_STAGE_STATS,
};

G_DEFINE_FINAL_TYPE (
    GstSpdlWorkerSrcElement, gst_spdl_worker_src_element, GST_TYPE_PUSH_SRC)
GST_ELEMENT_REGISTER_DEFINE (spdlworkersrc, "spdlworkersrc", GST_RANK_NONE,
    GST_TYPE_SPDL_WORKER_SRC_ELEMENT)

/* States */

/* As in spdlsrc, not in GstBaseSrc's start(). */
static GstStateChangeReturn
gst_spdl_worker_src_element_change_state (
    GstElement *element, GstStateChange transition)
{
  GstSpdlWorkerSrcElement *self = GST_SPDL_WORKER_SRC_ELEMENT (element);
  GstStateChangeReturn ret = GST_STATE_CHANGE_FAILURE;

  if (transition != GST_STATE_CHANGE_READY_TO_PAUSED ||
      gst_spdl_worker_src_element_open (self))
    ret = GST_ELEMENT_CLASS (gst_spdl_worker_src_element_parent_class)
              ->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY ||
      (transition == GST_STATE_CHANGE_READY_TO_PAUSED &&
          ret == GST_STATE_CHANGE_FAILURE))
    gst_spdl_worker_src_element_close (self);
  return ret;
}

static gboolean
gst_spdl_worker_src_element_is_seekable (GstBaseSrc *src)
{
  return FALSE;
}

static gboolean
gst_spdl_worker_src_element_unlock (GstBaseSrc *src)
{
  gst_spdl_worker_src_element_set_flushing (
      GST_SPDL_WORKER_SRC_ELEMENT (src), TRUE);
  return TRUE;
}

static gboolean
gst_spdl_worker_src_element_unlock_stop (GstBaseSrc *src)
{
  gst_spdl_worker_src_element_set_flushing (
      GST_SPDL_WORKER_SRC_ELEMENT (src), FALSE);
  return TRUE;
}

/* Downstream's memory would never be written: buffers have their own. */
static gboolean
gst_spdl_worker_src_element_decide_allocation (GstBaseSrc *src, GstQuery *query)
{
  while (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_remove_nth_allocation_pool (query, 0);
  return TRUE;
}

/* Properties */

static void
add_figures (GstElement *element, const SpdlFigures *figures, GstStructure *s)
{
  GstSpdlWorkerSrcElement *self = GST_SPDL_WORKER_SRC_ELEMENT (element);

  gst_structure_set (s, "num-restarts", G_TYPE_UINT,
      (guint) g_atomic_int_get (&self->n_restarts), NULL);
}

static void
gst_spdl_worker_src_element_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstSpdlWorkerSrcElement *self = GST_SPDL_WORKER_SRC_ELEMENT (object);
  gboolean known;

  if (id == PROP_STATS_INTERVAL) {
    gst_spdl_plain_stats_set_interval (self->stats, value);
    return;
  }
  GST_OBJECT_LOCK (self);
  if (id == SPDL_WORKER_SETTING_CLASSES)
    g_clear_pointer (&self->classes, g_strfreev);
  known = spdl_worker_settings_set (&self->settings, id, value);
  GST_OBJECT_UNLOCK (self);
  if (!known)
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  if (id == SPDL_WORKER_SETTING_CPU_BUDGET)
    gst_spdl_worker_src_element_tell_cpu_budget (self);
}

static void
gst_spdl_worker_src_element_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstSpdlWorkerSrcElement *self = GST_SPDL_WORKER_SRC_ELEMENT (object);
  gboolean known;

  if (id == PROP_STATS_INTERVAL) {
    gst_spdl_plain_stats_get_interval (self->stats, value);
    return;
  }
  if (id == PROP_STAGE_STATS) {
    gst_spdl_plain_stats_get_stats (self->stats, value);
    gst_spdl_worker_src_element_add_stages (self, g_value_get_boxed (value));
    return;
  }
  GST_OBJECT_LOCK (self);
  if (id == SPDL_WORKER_SETTING_CLASSES && self->classes) {
    gst_spdl_names_set (value, (const gchar *const *) self->classes);
    known = TRUE;
  } else {
    known = spdl_worker_settings_get (&self->settings, id, value);
  }
  GST_OBJECT_UNLOCK (self);
  if (!known)
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
gst_spdl_worker_src_element_finalize (GObject *object)
{
  GstSpdlWorkerSrcElement *self = GST_SPDL_WORKER_SRC_ELEMENT (object);

  g_clear_pointer (&self->figures, g_ptr_array_unref);
  spdl_restart_clear (&self->restart);
  spdl_worker_settings_clear (&self->run);
  spdl_worker_settings_clear (&self->settings);
  g_strfreev (self->classes);
  gst_spdl_plain_stats_free (self->stats);
  spdl_mutex_clear (&self->lock);
  G_OBJECT_CLASS (gst_spdl_worker_src_element_parent_class)->finalize (object);
}

static void
gst_spdl_worker_src_element_class_init (GstSpdlWorkerSrcElementClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *base_class = GST_BASE_SRC_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      spdl_worker_src_debug, "spdlworkersrc", 0, "Worker process");
  object_class->set_property = gst_spdl_worker_src_element_set_property;
  object_class->get_property = gst_spdl_worker_src_element_get_property;
  object_class->finalize = gst_spdl_worker_src_element_finalize;
  spdl_worker_settings_install (object_class);
  gst_spdl_install_stats_properties (object_class, PROP_STATS_INTERVAL);

  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Worker process",
      "Source", "Runs a pipeline in a process of its own",
      "the gst-spdl developers");
  element_class->change_state = gst_spdl_worker_src_element_change_state;
  base_class->is_seekable = gst_spdl_worker_src_element_is_seekable;
  base_class->unlock = gst_spdl_worker_src_element_unlock;
  base_class->unlock_stop = gst_spdl_worker_src_element_unlock_stop;
  base_class->decide_allocation = gst_spdl_worker_src_element_decide_allocation;
  GST_PUSH_SRC_CLASS (klass)->create = gst_spdl_worker_src_element_create;
}

static void
gst_spdl_worker_src_element_init (GstSpdlWorkerSrcElement *self)
{
  spdl_worker_settings_init (&self->settings);
  spdl_worker_settings_init (&self->run);
  spdl_restart_init (&self->restart);
  spdl_mutex_init (&self->lock);
  self->stats = gst_spdl_plain_stats_new (GST_ELEMENT (self),
      GST_SPDL_FIELDS_BATCHES | GST_SPDL_FIELDS_UNPOOLED | GST_SPDL_FIELDS_GET);
  self->stats->add_figures = add_figures;
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
}
