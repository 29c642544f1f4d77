/* gst-spdl: spdltestfilter, a filter with configurable faults, for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Passes buffers on, with faults that its properties enable: it hangs until a
 * flush or forever, fails with or without a message, drops or multiplies
 * buffers, or holds a buffer until the next one. */

#include "tests/check/plugin/spdltestfilter.h"

#define TEST_TYPE_FILTER (test_filter_get_type ())
G_DECLARE_FINAL_TYPE (TestFilter, test_filter, TEST, FILTER, GstElement)

struct _TestFilter {
  GstElement parent;

  GstPad *sinkpad;
  GstPad *srcpad;
  guint hang_every;
  gboolean stubborn;
  guint fail_every;
  gboolean silent;
  gboolean fails_for_good;
  guint yield;
  gboolean late;

  guint64 n_buffers;
  gboolean failed;
  gboolean flushing; /* protected by all_lock */
  GstBuffer *held;
};

enum {
  PROP_0,
  PROP_HANG_EVERY,
  PROP_STUBBORN,
  PROP_FAIL_EVERY,
  PROP_SILENT,
  PROP_FAILS_FOR_GOOD,
  PROP_YIELD,
  PROP_LATE,
  PROP_RELEASED,
  PROP_N_HANGING,
  N_PROPS,
};

static GParamSpec *properties[N_PROPS];

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

G_DEFINE_FINAL_TYPE (TestFilter, test_filter, GST_TYPE_ELEMENT)

/* Shared by all instances, as a test has no access to those in a chain. */
static GMutex all_lock;
static GCond all_cond;
static gboolean all_released;
static gint n_hanging;

static gboolean
is_nth (guint64 n, guint every)
{
  return every > 0 && n % every == every - 1;
}

static void
hang (TestFilter *self)
{
  g_mutex_lock (&all_lock);
  n_hanging++;
  g_cond_broadcast (&all_cond);
  while (!all_released && (self->stubborn || !self->flushing))
    g_cond_wait (&all_cond, &all_lock);
  n_hanging--;
  g_mutex_unlock (&all_lock);
}

static GstFlowReturn
fail (TestFilter *self)
{
  if (!self->silent)
    GST_ELEMENT_ERROR (self, STREAM, DECODE, ("Requested failure"),
        ("by a property of the test filter"));
  self->failed = self->fails_for_good;
  return GST_FLOW_ERROR;
}

static GstFlowReturn
test_filter_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  TestFilter *self = TEST_FILTER (parent);
  const guint64 n = self->n_buffers++;
  GstFlowReturn ret = GST_FLOW_OK;

  if (is_nth (n, self->hang_every))
    hang (self);
  if (self->failed || is_nth (n, self->fail_every)) {
    gst_buffer_unref (buffer);
    return fail (self);
  }
  if (self->late) {
    GstBuffer *held = self->held;

    self->held = buffer;
    return held ? gst_pad_push (self->srcpad, held) : GST_FLOW_OK;
  }
  for (guint i = 0; i < self->yield && ret == GST_FLOW_OK; i++)
    ret = gst_pad_push (self->srcpad, gst_buffer_copy (buffer));
  gst_buffer_unref (buffer);
  return ret;
}

static void
set_flushing (TestFilter *self, gboolean flushing)
{
  g_mutex_lock (&all_lock);
  self->flushing = flushing;
  g_cond_broadcast (&all_cond);
  g_mutex_unlock (&all_lock);
}

static gboolean
test_filter_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  TestFilter *self = TEST_FILTER (parent);

  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_START)
    set_flushing (self, TRUE);
  else if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP) {
    set_flushing (self, FALSE);
    gst_clear_buffer (&self->held);
  } else if (GST_EVENT_TYPE (event) == GST_EVENT_EOS && self->held)
    gst_pad_push (self->srcpad, g_steal_pointer (&self->held));
  return gst_pad_event_default (pad, parent, event);
}

static GstStateChangeReturn
test_filter_change_state (GstElement *element, GstStateChange transition)
{
  TestFilter *self = TEST_FILTER (element);
  GstStateChangeReturn ret = GST_ELEMENT_CLASS (test_filter_parent_class)
                                 ->change_state (element, transition);

  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    gst_clear_buffer (&self->held);
    self->failed = FALSE;
    set_flushing (self, FALSE);
  }
  return ret;
}

static void
test_filter_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  TestFilter *self = TEST_FILTER (object);

  switch (id) {
    case PROP_HANG_EVERY:
      self->hang_every = g_value_get_uint (value);
      break;
    case PROP_STUBBORN:
      self->stubborn = g_value_get_boolean (value);
      break;
    case PROP_FAIL_EVERY:
      self->fail_every = g_value_get_uint (value);
      break;
    case PROP_SILENT:
      self->silent = g_value_get_boolean (value);
      break;
    case PROP_FAILS_FOR_GOOD:
      self->fails_for_good = g_value_get_boolean (value);
      break;
    case PROP_YIELD:
      self->yield = g_value_get_uint (value);
      break;
    case PROP_LATE:
      self->late = g_value_get_boolean (value);
      break;
    case PROP_RELEASED:
      g_mutex_lock (&all_lock);
      all_released = g_value_get_boolean (value);
      g_cond_broadcast (&all_cond);
      g_mutex_unlock (&all_lock);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
}

static void
test_filter_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  if (id != PROP_N_HANGING) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    return;
  }
  g_mutex_lock (&all_lock);
  g_value_set_int (value, n_hanging);
  g_mutex_unlock (&all_lock);
}

static void
install_properties (GObjectClass *object_class)
{
  const GParamFlags w = G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS;
  const GParamFlags r = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

#define UINT(name, blurb, init) \
  g_param_spec_uint (name, name, blurb, 0, G_MAXUINT, init, w)
#define BOOLEAN(name, blurb, init) \
  g_param_spec_boolean (name, name, blurb, init, w)
  properties[PROP_HANG_EVERY] = UINT ("hang-every", "hang at every nth", 0);
  properties[PROP_STUBBORN] =
      BOOLEAN ("stubborn", "hang on when it is flushed", FALSE);
  properties[PROP_FAIL_EVERY] = UINT ("fail-every", "fail at every nth", 0);
  properties[PROP_SILENT] = BOOLEAN ("silent", "fail without a word", FALSE);
  properties[PROP_FAILS_FOR_GOOD] =
      BOOLEAN ("fails-for-good", "fail on until it is stopped", FALSE);
  properties[PROP_YIELD] = UINT ("yield", "buffers for each that comes", 1);
  properties[PROP_LATE] =
      BOOLEAN ("late", "give a buffer when the next has come", FALSE);
  properties[PROP_RELEASED] =
      BOOLEAN ("released", "let all in the process that hang go on", FALSE);
  properties[PROP_N_HANGING] = g_param_spec_int ("n-hanging", "n-hanging",
      "how many in the process hang", 0, G_MAXINT, 0, r);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
test_filter_class_init (TestFilterClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  object_class->set_property = test_filter_set_property;
  object_class->get_property = test_filter_get_property;
  install_properties (object_class);
  element_class->change_state = test_filter_change_state;
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Test filter",
      "Generic", "Passes buffers on, or fails or delays them",
      "the gst-spdl developers");
}

static void
test_filter_init (TestFilter *self)
{
  self->yield = 1;
  self->sinkpad = gst_pad_new_from_static_template (&sink_template, "sink");
  gst_pad_set_chain_function (self->sinkpad, test_filter_chain);
  gst_pad_set_event_function (self->sinkpad, test_filter_event);
  GST_PAD_SET_PROXY_CAPS (self->sinkpad);
  gst_element_add_pad (GST_ELEMENT (self), self->sinkpad);
  self->srcpad = gst_pad_new_from_static_template (&src_template, "src");
  GST_PAD_SET_PROXY_CAPS (self->srcpad);
  gst_element_add_pad (GST_ELEMENT (self), self->srcpad);
}

gboolean
test_filter_register (GstPlugin *plugin)
{
  return gst_element_register (
      plugin, "spdltestfilter", GST_RANK_NONE, TEST_TYPE_FILTER);
}
