/* gst-spdl: one decoder element that is held open
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlchain.h"

#include "spdlframepool.h"

GST_DEBUG_CATEGORY_EXTERN (spdl_decode_debug);
#define GST_CAT_DEFAULT spdl_decode_debug

static GstStaticPadTemplate out_template = GST_STATIC_PAD_TEMPLATE (
    "out", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate in_template = GST_STATIC_PAD_TEMPLATE (
    "in", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw"));

struct _SpdlChain {
  GstElement *element;
  GstBus *bus;
  GstPad *to_element;
  GstPad *from_element;
  GstCaps *caps; /* of what goes in */
  gboolean suspect;
  gboolean remembers; /* things of a file, until it is stopped */

  /* Of the file in hand. */
  guint64 max_pixels;
  gboolean keep;
  GstVideoInfo info;
  gboolean has_info;
  gboolean too_large;
  GstBuffer *frame;
  guint n_rows; /* of it that are there */
  SpdlFramePool *pool;

  /* An element may post from a thread of its own. */
  GMutex lock;
  gchar *message;
};

/* What comes out of the element */

/* Elements set their caps before they take memory for a frame: those of images
 * too large are refused. */
static gboolean
take_caps (SpdlChain *self, GstCaps *caps)
{
  self->has_info = gst_video_info_from_caps (&self->info, caps);
  if (!self->has_info)
    return FALSE;
  self->too_large = (guint64) GST_VIDEO_INFO_WIDTH (&self->info) *
                        GST_VIDEO_INFO_HEIGHT (&self->info) >
                    self->max_pixels;
  return !self->too_large;
}

static gboolean
on_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  SpdlChain *self = gst_pad_get_element_private (pad);
  gboolean ok = TRUE;
  GstCaps *caps;

  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS) {
    gst_event_parse_caps (event, &caps);
    ok = take_caps (self, caps);
  }
  gst_event_unref (event);
  return ok;
}

static void
propose_pool (SpdlChain *self, GstQuery *query)
{
  GstVideoInfo info;
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, NULL);
  if (!caps || !gst_video_info_from_caps (&info, caps))
    return;
  gst_clear_object (&self->pool);
  self->pool = spdl_frame_pool_new ();
  spdl_frame_pool_begin (self->pool, self->keep);
  gst_query_add_allocation_pool (
      query, GST_BUFFER_POOL (self->pool), GST_VIDEO_INFO_SIZE (&info), 0, 0);
}

/* Frames are read by GstVideoFrame, so they may be laid out in any way. */
static gboolean
on_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION)
    return gst_pad_query_default (pad, parent, query);
  propose_pool (gst_pad_get_element_private (pad), query);
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

static GstFlowReturn
on_frame (GstPad *pad, GstObject *parent, GstBuffer *frame)
{
  SpdlChain *self = gst_pad_get_element_private (pad);

  if (self->frame)
    gst_buffer_unref (frame); /* of an animation only the first counts */
  else
    self->frame = frame;
  return GST_FLOW_OK;
}

static GstBusSyncReply
on_message (GstBus *bus, GstMessage *message, gpointer user_data)
{
  SpdlChain *self = user_data;
  g_autoptr (GError) error = NULL;
  g_autofree gchar *debug = NULL;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error (message, &error, &debug);
    GST_DEBUG ("%s: %s (%s)", GST_MESSAGE_SRC_NAME (message), error->message,
        GST_STR_NULL (debug));
    g_mutex_lock (&self->lock);
    if (!self->message)
      self->message = g_strdup (error->message);
    g_mutex_unlock (&self->lock);
  }
  gst_message_unref (message);
  return GST_BUS_DROP;
}

/* Making and ending it */

/* A decoder with threads of its own would give a frame later, and one that
 * tolerates errors would tell nobody. gst-libav's direct rendering makes a pool
 * for each size, and falls over frames in a format that GStreamer lacks. */
static void
configure (GstElement *element)
{
  static const gchar *settings[][2] = { { "max-threads", "1" },
    { "max-errors", "0" }, { "use-threads", "false" },
    { "direct-rendering", "false" } };
  GObjectClass *klass = G_OBJECT_GET_CLASS (element);

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    if (g_object_class_find_property (klass, settings[i][0]))
      gst_util_set_object_arg (
          G_OBJECT (element), settings[i][0], settings[i][1]);
}

static gboolean
link_pads (SpdlChain *self)
{
  g_autoptr (GstPad) sink = gst_element_get_static_pad (self->element, "sink");
  g_autoptr (GstPad) src = gst_element_get_static_pad (self->element, "src");

  self->to_element = gst_object_ref_sink (
      gst_pad_new_from_static_template (&out_template, "out"));
  self->from_element = gst_object_ref_sink (
      gst_pad_new_from_static_template (&in_template, "in"));
  gst_pad_set_element_private (self->from_element, self);
  gst_pad_set_chain_function (self->from_element, on_frame);
  gst_pad_set_event_function (self->from_element, on_event);
  gst_pad_set_query_function (self->from_element, on_query);
  return sink && src &&
         gst_pad_link (self->to_element, sink) == GST_PAD_LINK_OK &&
         gst_pad_link (src, self->from_element) == GST_PAD_LINK_OK;
}

static gboolean
push_segment (SpdlChain *self)
{
  GstSegment segment;

  /* In TIME: a buffer is a whole image. */
  gst_segment_init (&segment, GST_FORMAT_TIME);
  return gst_pad_push_event (
      self->to_element, gst_event_new_segment (&segment));
}

static gboolean
push_caps (SpdlChain *self, GstCaps *caps)
{
  if (self->caps == caps)
    return TRUE;
  gst_caps_replace (&self->caps, caps);
  return gst_pad_push_event (self->to_element, gst_event_new_caps (caps));
}

static gboolean
start (SpdlChain *self, GstCaps *caps)
{
  gst_pad_set_active (self->from_element, TRUE);
  if (gst_element_set_state (self->element, GST_STATE_PLAYING) ==
      GST_STATE_CHANGE_FAILURE)
    return FALSE;
  gst_pad_set_active (self->to_element, TRUE);
  gst_pad_push_event (self->to_element, gst_event_new_stream_start ("spdl"));
  return push_caps (self, caps) && push_segment (self);
}

/* Elements that a flush does not suffice for: gdkpixbufdec does not take one,
 * nor a second size, and FFmpeg's TIFF decoder keeps tags, such as the palette
 * and the predictor, for files that lack them. */
static gboolean
is_remembering (const gchar *name)
{
  return g_str_equal (name, "gdkpixbufdec") || g_str_equal (name, "avdec_tiff");
}

SpdlChain *
spdl_chain_new (GstElementFactory *factory, GstCaps *caps, GError **error)
{
  const gchar *name = GST_OBJECT_NAME (factory);
  GstElement *element = gst_element_factory_create (factory, NULL);
  SpdlChain *self;

  if (!element) {
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
        "%s cannot be made", name);
    return NULL;
  }
  self = g_new0 (SpdlChain, 1);
  g_mutex_init (&self->lock);
  self->max_pixels = G_MAXUINT64;
  self->element = gst_object_ref_sink (element);
  configure (element);
  /* Without a queue of messages, and the file descriptors that it has. */
  self->bus = g_object_new (GST_TYPE_BUS, "enable-async", FALSE, NULL);
  gst_object_ref_sink (self->bus);
  gst_bus_set_sync_handler (self->bus, on_message, self, NULL);
  gst_element_set_bus (element, self->bus);
  self->remembers = is_remembering (name);
  if (!link_pads (self) || !start (self, caps)) {
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_NEGOTIATION,
        "%s does not start: %s", name,
        self->message ? self->message : "it refuses the format");
    g_clear_pointer (&self, spdl_chain_free);
  } else {
    GST_INFO ("%s is open for %" GST_PTR_FORMAT, name, caps);
  }
  return self;
}

void
spdl_chain_free (SpdlChain *self)
{
  gst_clear_buffer (&self->frame);
  gst_element_set_state (self->element, GST_STATE_NULL);
  if (self->to_element)
    gst_pad_set_active (self->to_element, FALSE);
  if (self->from_element)
    gst_pad_set_active (self->from_element, FALSE);
  gst_element_set_bus (self->element, NULL);
  gst_bus_set_sync_handler (self->bus, NULL, NULL, NULL);
  gst_clear_object (&self->element);
  gst_clear_object (&self->bus);
  gst_clear_object (&self->to_element);
  gst_clear_object (&self->from_element);
  gst_clear_caps (&self->caps);
  gst_clear_object (&self->pool);
  g_free (self->message);
  g_mutex_clear (&self->lock);
  g_free (self);
}

/* Decoding */

static void
restart (SpdlChain *self)
{
  g_autoptr (GstCaps) caps = g_steal_pointer (&self->caps);

  gst_element_set_state (self->element, GST_STATE_READY);
  start (self, caps);
}

static void
flush (SpdlChain *self)
{
  if (self->remembers) {
    restart (self);
    return;
  }
  gst_pad_push_event (self->to_element, gst_event_new_flush_start ());
  gst_pad_push_event (self->to_element, gst_event_new_flush_stop (TRUE));
  push_segment (self);
}

static void
forget_file (SpdlChain *self)
{
  gst_clear_buffer (&self->frame);
  g_mutex_lock (&self->lock);
  g_clear_pointer (&self->message, g_free);
  g_mutex_unlock (&self->lock);
  self->too_large = FALSE;
}

static gchar *
take_message (SpdlChain *self)
{
  gchar *message;

  g_mutex_lock (&self->lock);
  message = g_steal_pointer (&self->message);
  g_mutex_unlock (&self->lock);
  return message;
}

/* An element may also keep its caps from one image to the next. */
static gboolean
is_too_large (const SpdlChain *self)
{
  return self->too_large ||
         (self->frame && (guint64) GST_VIDEO_INFO_WIDTH (&self->info) *
                                 GST_VIDEO_INFO_HEIGHT (&self->info) >
                             self->max_pixels);
}

/* What became of the file whose push gave @ret. */
static SpdlChainResult
judge (SpdlChain *self, GstFlowReturn ret, GError **error)
{
  g_autofree gchar *message = take_message (self);
  const gchar *name = GST_OBJECT_NAME (gst_element_get_factory (self->element));

  if (is_too_large (self)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
        "It has %d by %d pixels, more than max-pixels (%" G_GUINT64_FORMAT ")",
        GST_VIDEO_INFO_WIDTH (&self->info), GST_VIDEO_INFO_HEIGHT (&self->info),
        self->max_pixels);
    return SPDL_CHAIN_TOO_LARGE;
  }
  if (ret == GST_FLOW_NOT_NEGOTIATED || ret == GST_FLOW_NOT_SUPPORTED) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_NOT_IMPLEMENTED,
        "%s does not decode this kind of it: %s", name,
        message ? message : gst_flow_get_name (ret));
    return SPDL_CHAIN_UNFIT;
  }
  if (ret == GST_FLOW_OK && !message && self->frame &&
      self->n_rows == (guint) GST_VIDEO_INFO_HEIGHT (&self->info) &&
      !GST_BUFFER_FLAG_IS_SET (self->frame, GST_BUFFER_FLAG_CORRUPTED))
    return SPDL_CHAIN_OK;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "It is broken: %s found %s", name,
      message       ? message
      : self->frame ? "parts of it missing or wrong"
      : ret < 0     ? "that it cannot be decoded"
                    : "no picture in it");
  return SPDL_CHAIN_BROKEN_FILE;
}

/* Those that are there of the frame that came, if it is of our pool. */
static void
count_rows (SpdlChain *self)
{
  self->n_rows = self->has_info ? GST_VIDEO_INFO_HEIGHT (&self->info) : 0;
  if (self->frame && self->pool && self->frame->pool == (gpointer) self->pool)
    self->n_rows = spdl_frame_pool_count_rows (self->pool, &self->info);
}

SpdlChainResult
spdl_chain_decode (SpdlChain *self, GstBuffer *file, GstCaps *caps,
    const SpdlChainLimits *limits, GError **error)
{
  SpdlChainResult result;
  GstFlowReturn ret;

  forget_file (self);
  self->max_pixels = limits->max_pixels;
  self->keep = limits->keep;
  if (self->pool)
    spdl_frame_pool_begin (self->pool, limits->keep);
  if (push_caps (self, caps)) {
    GST_BUFFER_PTS (file) = 0;
    ret = gst_pad_push (self->to_element, file);
  } else {
    gst_buffer_unref (file);
    ret = GST_FLOW_NOT_NEGOTIATED;
  }
  if (ret == GST_FLOW_OK && !self->frame)
    gst_pad_push_event (self->to_element, gst_event_new_eos ());
  count_rows (self);
  result = judge (self, ret, error);
  self->suspect = result != SPDL_CHAIN_OK;
  flush (self);
  return result;
}

gboolean
spdl_chain_get_frame (SpdlChain *self, SpdlFrame *frame)
{
  frame->buffer = self->frame;
  frame->info = &self->info;
  frame->n_rows = self->n_rows;
  return self->frame != NULL;
}

gboolean
spdl_chain_is_suspect (const SpdlChain *self)
{
  return self->suspect;
}
