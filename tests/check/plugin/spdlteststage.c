/* gst-spdl: spdlteststage, a stage with configurable faults, for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Passes items on, with behavior that its properties set: it waits, sleeps,
 * spins, fails, drops or multiplies items. It counts the tasks that run at
 * once. */

#include <gst/spdl/spdl.h>

#include "tests/check/plugin/spdltestbatches.h"
#include "tests/check/plugin/spdltestfilter.h"
#include "tests/check/support/wait.h"

#define TEST_TYPE_STAGE (test_stage_get_type ())
G_DECLARE_FINAL_TYPE (TestStage, test_stage, TEST, STAGE, GstSpdlStage)

struct _TestStage {
  GstSpdlStage parent;

  guint64 sleep;
  guint64 sleep_more;
  guint sleep_more_every;
  gint wait;
  gint wait_first;
  guint64 jitter;
  guint64 spin;
  guint fail_every;
  guint64 fail_at;
  guint filter_every;
  guint yield;
  gboolean cancellable;
  gboolean fail_open;
  gboolean copy;

  gint running;
  gint max_running;
  gint n_begun;
  gint n_workers;
};

enum {
  PROP_0,
  PROP_SLEEP,
  PROP_SLEEP_MORE,
  PROP_SLEEP_MORE_EVERY,
  PROP_WAIT,
  PROP_WAIT_FIRST,
  PROP_JITTER,
  PROP_SPIN,
  PROP_FAIL_EVERY,
  PROP_FAIL_AT,
  PROP_FILTER_EVERY,
  PROP_YIELD,
  PROP_CANCELLABLE,
  PROP_FAIL_OPEN,
  PROP_COPY,
  PROP_MAX_RUNNING,
  PROP_N_BEGUN,
  PROP_N_WORKERS,
  N_PROPS,
};

static GParamSpec *properties[N_PROPS];

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

G_DEFINE_FINAL_TYPE (TestStage, test_stage, GST_TYPE_SPDL_STAGE)

static void
raise_to (gint *highest, gint value)
{
  gint seen = g_atomic_int_get (highest);

  while (value > seen &&
         !g_atomic_int_compare_and_exchange_full (highest, seen, value, &seen))
    ;
}

static void
sleep_for (TestStage *self, guint64 ns, GCancellable *cancellable)
{
  const gint64 end = g_get_monotonic_time () + ns / 1000;
  gint64 left;

  while ((left = end - g_get_monotonic_time ()) > 0) {
    if (self->cancellable && g_cancellable_is_cancelled (cancellable))
      return;
    g_usleep (MIN (left, 2000));
  }
}

static void
spin_for (guint64 ns)
{
  const gint64 end = g_get_monotonic_time () + ns / 1000;

  while (g_get_monotonic_time () < end)
    ;
}

static gpointer
test_stage_open_worker (GstSpdlStage *stage, GError **error)
{
  TestStage *self = TEST_STAGE (stage);

  if (self->fail_open) {
    g_set_error_literal (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_INIT,
        "Requested failure when opening a worker");
    return NULL;
  }
  g_atomic_int_inc (&self->n_workers);
  return g_malloc (1);
}

static void
test_stage_close_worker (GstSpdlStage *stage, gpointer worker)
{
  g_atomic_int_add (&TEST_STAGE (stage)->n_workers, -1);
  g_free (worker);
}

static gboolean
is_nth (guint64 index, guint every)
{
  return every > 0 && index % every == every - 1;
}

static gboolean
work (TestStage *self, GstSpdlTask *task, GError **error)
{
  const GstSpdlItemMeta *meta = gst_spdl_task_get_item_meta (task);
  const guint64 index = meta ? meta->index : 0;
  const gint n_begun =
      index == 0 ? MAX (self->wait, self->wait_first) : self->wait;
  guint64 ns = self->sleep;

  wait_until (g_atomic_int_get (&self->n_begun) >= n_begun);
  if (self->jitter > 0)
    ns += g_random_double () * self->jitter;
  if (is_nth (index, self->sleep_more_every))
    ns += self->sleep_more;
  if (ns > 0)
    sleep_for (self, ns, gst_spdl_task_get_cancellable (task));
  if (self->spin > 0)
    spin_for (self->spin);
  if (is_nth (index, self->fail_every) || index == self->fail_at) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
        "Requested failure at item %" G_GUINT64_FORMAT, index);
    return FALSE;
  }
  if (self->yield == 0 || is_nth (index, self->filter_every))
    return TRUE;

  GstBuffer *item = gst_spdl_task_take_item (task);
  if (self->copy) {
    GstBuffer *copy = gst_buffer_copy_region (
        item, GST_BUFFER_COPY_MEMORY | GST_BUFFER_COPY_DEEP, 0, -1);
    gst_buffer_unref (item);
    item = copy;
  }
  for (guint i = 1; i < self->yield; i++)
    gst_spdl_task_push (task, gst_buffer_copy (item), NULL);
  gst_spdl_task_push (task, item, NULL);
  return TRUE;
}

static gboolean
test_stage_process (
    GstSpdlStage *stage, gpointer worker, GstSpdlTask *task, GError **error)
{
  TestStage *self = TEST_STAGE (stage);
  gboolean ret;

  raise_to (&self->max_running, g_atomic_int_add (&self->running, 1) + 1);
  g_atomic_int_inc (&self->n_begun);
  ret = work (self, task, error);
  g_atomic_int_add (&self->running, -1);
  return ret;
}

static void
test_stage_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  TestStage *self = TEST_STAGE (object);

  switch (id) {
    case PROP_SLEEP:
      self->sleep = g_value_get_uint64 (value);
      break;
    case PROP_SLEEP_MORE:
      self->sleep_more = g_value_get_uint64 (value);
      break;
    case PROP_SLEEP_MORE_EVERY:
      self->sleep_more_every = g_value_get_uint (value);
      break;
    case PROP_WAIT:
      self->wait = g_value_get_uint (value);
      break;
    case PROP_WAIT_FIRST:
      self->wait_first = g_value_get_uint (value);
      break;
    case PROP_JITTER:
      self->jitter = g_value_get_uint64 (value);
      break;
    case PROP_SPIN:
      self->spin = g_value_get_uint64 (value);
      break;
    case PROP_FAIL_EVERY:
      self->fail_every = g_value_get_uint (value);
      break;
    case PROP_FAIL_AT:
      self->fail_at = g_value_get_uint64 (value);
      break;
    case PROP_FILTER_EVERY:
      self->filter_every = g_value_get_uint (value);
      break;
    case PROP_YIELD:
      self->yield = g_value_get_uint (value);
      break;
    case PROP_CANCELLABLE:
      self->cancellable = g_value_get_boolean (value);
      break;
    case PROP_FAIL_OPEN:
      self->fail_open = g_value_get_boolean (value);
      break;
    case PROP_COPY:
      self->copy = g_value_get_boolean (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
}

static void
test_stage_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  TestStage *self = TEST_STAGE (object);

  switch (id) {
    case PROP_MAX_RUNNING:
      g_value_set_int (value, g_atomic_int_get (&self->max_running));
      break;
    case PROP_N_BEGUN:
      g_value_set_int (value, g_atomic_int_get (&self->n_begun));
      break;
    case PROP_N_WORKERS:
      g_value_set_int (value, g_atomic_int_get (&self->n_workers));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
}

static void
install_properties (GObjectClass *object_class)
{
  const GParamFlags w = G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS;
  const GParamFlags r = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

#define UINT64(name, blurb, init) \
  g_param_spec_uint64 (name, name, blurb, 0, G_MAXUINT64, init, w)
#define UINT(name, blurb, init) \
  g_param_spec_uint (name, name, blurb, 0, G_MAXUINT, init, w)
#define BOOLEAN(name, blurb, init) \
  g_param_spec_boolean (name, name, blurb, init, w)
#define COUNT(name, blurb) \
  g_param_spec_int (name, name, blurb, 0, G_MAXINT, 0, r)
  properties[PROP_SLEEP] = UINT64 ("sleep", "ns to sleep for an item", 0);
  properties[PROP_SLEEP_MORE] =
      UINT64 ("sleep-more", "ns to sleep for some items, in addition", 0);
  properties[PROP_SLEEP_MORE_EVERY] =
      UINT ("sleep-more-every", "sleep more for every nth item", 0);
  properties[PROP_WAIT] = UINT ("wait", "wait until so many have begun", 0);
  properties[PROP_WAIT_FIRST] =
      UINT ("wait-first", "let item 0 wait until so many have begun", 0);
  properties[PROP_JITTER] =
      UINT64 ("jitter", "up to so many ns to sleep, at random", 0);
  properties[PROP_SPIN] = UINT64 ("spin", "ns to compute for an item", 0);
  properties[PROP_FAIL_EVERY] = UINT ("fail-every", "fail every nth item", 0);
  properties[PROP_FAIL_AT] =
      UINT64 ("fail-at", "fail the item of that index", G_MAXUINT64);
  properties[PROP_FILTER_EVERY] =
      UINT ("filter-every", "filter every nth item", 0);
  properties[PROP_YIELD] = UINT ("yield", "results for an item", 1);
  properties[PROP_CANCELLABLE] =
      BOOLEAN ("cancellable", "let a flush end the sleep", TRUE);
  properties[PROP_FAIL_OPEN] =
      BOOLEAN ("fail-open", "fail to open a worker", FALSE);
  properties[PROP_COPY] =
      BOOLEAN ("copy", "yield new buffers, without metas", FALSE);
  properties[PROP_MAX_RUNNING] = COUNT ("max-running", "most tasks at once");
  properties[PROP_N_BEGUN] = COUNT ("n-begun", "items begun");
  properties[PROP_N_WORKERS] = COUNT ("n-workers", "workers open");
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
test_stage_class_init (TestStageClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstSpdlStageClass *stage_class = GST_SPDL_STAGE_CLASS (klass);

  object_class->set_property = test_stage_set_property;
  object_class->get_property = test_stage_get_property;
  install_properties (object_class);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Test stage", "Generic",
      "Passes items on, or fails or delays them", "the gst-spdl developers");

  stage_class->open_worker = test_stage_open_worker;
  stage_class->close_worker = test_stage_close_worker;
  stage_class->process = test_stage_process;
}

static void
test_stage_init (TestStage *self)
{
  self->yield = 1;
  self->fail_at = G_MAXUINT64;
  self->cancellable = TRUE;
  GST_PAD_SET_PROXY_CAPS (gst_spdl_stage_get_sink_pad (GST_SPDL_STAGE (self)));
}

static gboolean
plugin_init (GstPlugin *plugin)
{
  return gst_element_register (
             plugin, "spdlteststage", GST_RANK_NONE, TEST_TYPE_STAGE) &&
         test_filter_register (plugin) && test_batches_register (plugin);
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, spdltest,
    "Elements for the tests of gst-spdl", plugin_init, PACKAGE_VERSION,
    GST_LICENSE, GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
