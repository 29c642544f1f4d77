/* gst-spdl: spdlbatch, which stacks items into batches
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:element-spdlbatch
 * @title: spdlbatch
 * @short_description: stacks items into batches of tensors
 *
 * Writes `size` items into one buffer of caps `other/tensors`, each once, and
 * sends it on with a #GstSpdlBatchMeta that names the items and the tensors:
 * `data`, or what the items' caps name them, then `labels` and `indices` where
 * they are asked for. Dimensions are innermost first: what NumPy calls
 * (32, 224, 224, 3) is `3:224:224:32`.
 *
 * An item of another shape than the first one of its batch fails, and is
 * reported with both shapes. At the end of an epoch and of the stream comes a
 * smaller batch, with caps of its own; with `drop-last` its items are announced
 * as gone instead.
 *
 * `type`, `layout`, `mean` and `std` change the first tensor while it is
 * written: with a type of floating point, samples of uint8 are divided by 255,
 * then `mean` is subtracted and `std` divided by, a number for each channel or
 * one for all, as torchvision's Normalize does it; `layout=nchw` gives each
 * channel a plane of its own. Items that come are taken for interleaved.
 *
 * Samples of several media become a tensor a part, named after it. `part` says
 * which of them the conversion is for, if not the first. Parts that are not
 * decoded, such as text, are taken with `pad`: as bytes, padded with zeros to
 * the longest, with a tensor of their lengths, `NAME_lengths`.
 *
 * The memory comes from downstream's pool where it offers one, else from a pool
 * of the element's own; it goes back when nobody refers to any of its tensors.
 *
 * ## Example
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=100 pattern=snow
 *     ! video/x-raw,format=RGB,width=64,height=64
 *     ! spdlbatch size=32 indices=true ! fakesink silent=false -v
 * ]|
 *
 * What most models of torchvision want:
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=100
 *     ! video/x-raw,format=RGB,width=64,height=64
 *     ! spdlbatch type=float32 layout=nchw mean="<0.485,0.456,0.406>"
 *     std="<0.229,0.224,0.225>" ! fakesink
 * ]|
 *
 * Images, and what is written about them:
 * |[
 * gst-launch-1.0 spdlsrc location=pairs.csv ! spdlfetch parts=text
 *     ! spdldecode part=data width=64 height=64
 *     ! spdlbatch pad=true type=float32 ! fakesink
 * ]|
 *
 * Since: 0.1
 */

#include "gst/spdl/gstspdlgone.h"
#include "spdlbatch-private.h"
#include "spdlcore.h"

GST_DEBUG_CATEGORY_STATIC (spdl_batch_debug);
#define GST_CAT_DEFAULT spdl_batch_debug

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE (
        SPDL_STACKER_FORMATS) "; " SPDL_STACKER_SOUND "; " GST_SPDL_TENSORS_CAPS
                              "; " GST_SPDL_SAMPLE_CAPS));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_SPDL_TENSORS_CAPS));

typedef struct {
  GstSpdlFilterClass parent_class;
} GstSpdlBatchElementClass;

G_DEFINE_TYPE (
    GstSpdlBatchElement, gst_spdl_batch_element, GST_TYPE_SPDL_FILTER)
GST_ELEMENT_REGISTER_DEFINE (
    spdlbatch, "spdlbatch", GST_RANK_NONE, GST_TYPE_SPDL_BATCH_ELEMENT)

/* What samples of several media consist of, each says itself. */
static void
begin_parts (GstSpdlBatchElement *self, const SpdlPartSettings *settings)
{
  if (!self->parts)
    self->parts = spdl_part_stack_new ();
  spdl_part_stack_set (self->parts, settings);
}

static gboolean
set_caps (GstSpdlBatchElement *self, GstEvent *event)
{
  g_autoptr (GError) error = NULL;
  SpdlPartSettings settings;
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  GST_OBJECT_LOCK (self);
  settings.stack = self->settings.stack;
  settings.part = self->settings.part;
  settings.pad = self->settings.pad;
  GST_OBJECT_UNLOCK (self);
  self->has_parts = gst_structure_has_name (
      gst_caps_get_structure (caps, 0), GST_SPDL_SAMPLE_CAPS);
  if (self->has_parts)
    begin_parts (self, &settings);
  self->has_caps = self->has_parts || spdl_stacker_init (&self->stacker, caps,
                                          &settings.stack, &error);
  if (!self->has_caps)
    gst_spdl_post_error (GST_ELEMENT (self), error);
  gst_event_unref (event);
  return self->has_caps;
}

static gboolean
gst_spdl_batch_element_event (GstSpdlFilter *filter, GstEvent *event)
{
  GstSpdlBatchElement *self = GST_SPDL_BATCH_ELEMENT (filter);
  GstSpdlFilterClass *parent_class =
      GST_SPDL_FILTER_CLASS (gst_spdl_batch_element_parent_class);

  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS)
    return set_caps (self, event);
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS ||
      gst_spdl_event_parse_epoch (event, NULL, NULL, NULL))
    gst_spdl_batch_element_end_batch (self);
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS || !GST_EVENT_IS_STICKY (event) ||
      !GST_EVENT_IS_SERIALIZED (event)) {
    if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
      gst_spdl_caps_gate_open (&self->gate, NULL);
    return parent_class->event (filter, event);
  }
  gst_spdl_caps_gate_push_event (&self->gate, event);
  return TRUE;
}

static void
gst_spdl_batch_element_reset (GstSpdlFilter *filter)
{
  GstSpdlBatchElement *self = GST_SPDL_BATCH_ELEMENT (filter);

  gst_spdl_batch_element_clear_batch (self);
  spdl_pad_forget (&self->pad);
  gst_spdl_caps_gate_flush (&self->gate);
}

static GstStateChangeReturn
gst_spdl_batch_element_change_state (
    GstElement *element, GstStateChange transition)
{
  GstSpdlBatchElement *self = GST_SPDL_BATCH_ELEMENT (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    self->num_failures = self->next_number = 0;
    self->told = FALSE;
  }
  ret = GST_ELEMENT_CLASS (gst_spdl_batch_element_parent_class)
            ->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    spdl_batch_pool_clear (&self->pool);
    gst_spdl_caps_gate_clear (&self->gate);
    self->has_caps = self->has_parts = FALSE;
    g_clear_pointer (&self->parts, spdl_part_stack_free);
  }
  return ret;
}

static void
gst_spdl_batch_element_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstSpdlBatchElement *self = GST_SPDL_BATCH_ELEMENT (object);
  gboolean known;

  GST_OBJECT_LOCK (self);
  known = spdl_batch_settings_set (&self->settings, id, value);
  GST_OBJECT_UNLOCK (self);
  if (!known)
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
gst_spdl_batch_element_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstSpdlBatchElement *self = GST_SPDL_BATCH_ELEMENT (object);
  gboolean known;

  GST_OBJECT_LOCK (self);
  known = spdl_batch_settings_get (&self->settings, id, value);
  GST_OBJECT_UNLOCK (self);
  if (!known)
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
gst_spdl_batch_element_finalize (GObject *object)
{
  spdl_pad_clear (&GST_SPDL_BATCH_ELEMENT (object)->pad);
  G_OBJECT_CLASS (gst_spdl_batch_element_parent_class)->finalize (object);
}

static void
gst_spdl_batch_element_class_init (GstSpdlBatchElementClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstSpdlFilterClass *filter_class = GST_SPDL_FILTER_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (spdl_batch_debug, "spdlbatch", 0, "Batches");
  object_class->set_property = gst_spdl_batch_element_set_property;
  object_class->get_property = gst_spdl_batch_element_get_property;
  object_class->finalize = gst_spdl_batch_element_finalize;
  spdl_batch_settings_install (object_class);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Item batcher",
      "Generic", "Stacks items into batches of tensors",
      "the gst-spdl developers");
  element_class->change_state = gst_spdl_batch_element_change_state;
  filter_class->fields = GST_SPDL_FIELDS_BATCHES | GST_SPDL_FIELDS_FAILURES |
                         GST_SPDL_FIELDS_UNPOOLED;
  filter_class->chain = gst_spdl_batch_element_chain;
  filter_class->event = gst_spdl_batch_element_event;
  filter_class->reset = gst_spdl_batch_element_reset;
}

static void
gst_spdl_batch_element_init (GstSpdlBatchElement *self)
{
  spdl_batch_settings_init (&self->settings);
  spdl_pad_init (&self->pad);
  gst_spdl_caps_gate_init (&self->gate, self->parent.srcpad);
  gst_pad_use_fixed_caps (self->parent.srcpad);
}
