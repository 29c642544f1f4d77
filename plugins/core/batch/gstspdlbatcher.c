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
 * An item of another shape, type, or number or names of tensors than the first
 * one of its batch ends the stream with an error that names both shapes, while
 * the first batch of a run is filled; later, and in a run that resumes, the
 * item fails with the same text. `on-shape-mismatch` forces either. At the end
 * of an epoch and of the stream comes a smaller batch, with caps of its own;
 * with `drop-last` its items are announced as gone instead. An epoch in which
 * items were sent and all of them failed or were dropped, before this element
 * or in it, ends the stream with an error; if functions left all of them out,
 * it is empty.
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

#include "gst/spdl/common/epochs.h"
#include "plugins/core/batch/batcher-private.h"
#include "plugins/core/core.h"

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

/* Returns: whether @pad takes this media type, if only in other formats */
static gboolean
has_known_type (GstPad *pad, const GstCaps *caps)
{
  g_autoptr (GstCaps) known = gst_pad_get_pad_template_caps (pad);
  const gchar *name = gst_structure_get_name (gst_caps_get_structure (caps, 0));

  for (guint i = 0; i < gst_caps_get_size (known); i++)
    if (gst_structure_has_name (gst_caps_get_structure (known, i), name))
      return TRUE;
  return FALSE;
}

/* Accepts other media types, so that set_caps() gets them and can report more
 * than "not negotiated". */
static gboolean
sink_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  GstCaps *caps;

  if (GST_QUERY_TYPE (query) != GST_QUERY_ACCEPT_CAPS)
    return gst_pad_query_default (pad, parent, query);
  gst_query_parse_accept_caps (query, &caps);
  if (!gst_caps_is_fixed (caps) || has_known_type (pad, caps))
    return gst_pad_query_default (pad, parent, query);
  gst_query_set_accept_caps_result (query, TRUE);
  return TRUE;
}

static void
refuse_caps (GstSpdlBatchElement *self, const GstCaps *caps)
{
  const gchar *name = gst_structure_get_name (gst_caps_get_structure (caps, 0));

  GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
      ("Items of type %s came, and only decoded items can be stacked: write "
       "\"! %sspdldecode !\", or another decoder, before spdlbatch",
          name, g_str_equal (name, "text/uri-list") ? "spdlfetch ! " : ""),
      (NULL));
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
  if (!has_known_type (self->parent.sinkpad, caps)) {
    refuse_caps (self, caps);
    self->has_caps = FALSE;
    gst_event_unref (event);
    /* Refused caps are sent again before each item, and would be reported
     * again. chain() refuses the items. */
    return TRUE;
  }
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

/* Returns TRUE if @event may continue downstream. The end of an epoch may not
 * after an error: the epoch would look like a good one. */
static gboolean
end_epoch (GstSpdlBatchElement *self, GstEvent *event)
{
  g_autoptr (GError) error = NULL;

  if (!self->has_ended &&
      (error = spdl_outcome_end_epoch (&self->outcome, event)))
    gst_spdl_batch_element_fail (self, error);
  return !self->has_ended ||
         !gst_spdl_event_parse_epoch (event, NULL, NULL, NULL);
}

/* After its last batch. */
static void
sum_up_losses (GstSpdlBatchElement *self, GstEvent *event)
{
  guint64 epoch;

  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    gst_spdl_losses_end_stream (&self->losses, GST_ELEMENT (self));
  else if (gst_spdl_event_parse_epoch (event, NULL, &epoch, NULL) &&
           !gst_spdl_event_is_within_epoch (event))
    gst_spdl_losses_end_epoch (&self->losses, GST_ELEMENT (self), epoch);
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
  sum_up_losses (self, event);
  spdl_outcome_add_event (&self->outcome, event);
  if (!end_epoch (self, event)) {
    gst_event_unref (event);
    return TRUE;
  }
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
  gst_spdl_losses_reset (&self->losses);
  gst_spdl_caps_gate_flush (&self->gate);
  spdl_outcome_flush (&self->outcome);
  self->has_ended = FALSE;
}

static GstStateChangeReturn
gst_spdl_batch_element_change_state (
    GstElement *element, GstStateChange transition)
{
  GstSpdlBatchElement *self = GST_SPDL_BATCH_ELEMENT (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    self->num_failures = self->next_number = 0;
    self->told = self->has_pushed = FALSE;
    spdl_outcome_reset (&self->outcome);
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
  spdl_outcome_clear (&GST_SPDL_BATCH_ELEMENT (object)->outcome);
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
  spdl_outcome_init (&self->outcome);
  gst_spdl_caps_gate_init (&self->gate, self->parent.srcpad);
  gst_pad_set_query_function (self->parent.sinkpad, sink_query);
  gst_pad_use_fixed_caps (self->parent.srcpad);
}
