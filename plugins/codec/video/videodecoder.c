/* gst-spdl: video decoder based on GStreamer elements
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/video/videodecoder.h"

#include <gst/video/video.h>

#include "gst/spdl/common/harness.h"
#include "gst/spdl/common/tryallocator.h"
#include "plugins/codec/video/framesize.h"

GST_DEBUG_CATEGORY_EXTERN (spdl_decode_debug);
#define GST_CAT_DEFAULT spdl_decode_debug

static GstStaticPadTemplate in_template = GST_STATIC_PAD_TEMPLATE (
    "in", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw"));

struct _SpdlVideoDecoder {
  GstSpdlHarness *harness;
  GstElementFactory
      *factory; /* factory of the parser or decoder that receives the packets */
  const gchar *name; /* interned name of the decoder */
  const SpdlVideoDecoderSink *sink;
  GstVideoInfo info;
  guint64 max_pixels;
  GstCaps *packet_caps; /* of the last packet */
  SpdlPacketFormat format;
  SpdlFrameSize configured; /* from codec_data; 0: unknown */
  gboolean is_fresh;        /* nothing was pushed since the last flush */
  gboolean in_trouble;
  gchar *message;
};

/* Output */

static gboolean
check_size (SpdlVideoDecoder *self, gint width, gint height)
{
  if ((guint64) width * height <= self->max_pixels)
    return TRUE;
  g_free (self->message);
  self->message = g_strdup_printf (
      "%d by %d pixels, more than max-pixels (%" G_GUINT64_FORMAT ")", width,
      height, self->max_pixels);
  return FALSE;
}

static void
set_colors (GstVideoInfo *info, const GstCaps *caps, const gchar *field)
{
  const gchar *text =
      gst_structure_get_string (gst_caps_get_structure (caps, 0), field);
  GstVideoColorimetry *colors = &info->colorimetry, said;

  if (!text || !GST_VIDEO_INFO_IS_YUV (info) ||
      !gst_video_colorimetry_from_string (&said, text))
    return;
  if (said.range != GST_VIDEO_COLOR_RANGE_UNKNOWN)
    colors->range = said.range;
  if (said.matrix != GST_VIDEO_COLOR_MATRIX_UNKNOWN &&
      said.matrix != GST_VIDEO_COLOR_MATRIX_RGB)
    colors->matrix = said.matrix;
}

/* Sets colorimetry from the bitstream, else from the container, else from
 * GStreamer's default for the frame size. gst_video_info_from_caps() drops the
 * range if the matrix is unknown. */
static gboolean
take_caps (gpointer user_data, GstCaps *caps)
{
  SpdlVideoDecoder *self = user_data;

  if (!gst_video_info_from_caps (&self->info, caps))
    return FALSE;
  if (self->packet_caps)
    set_colors (&self->info, self->packet_caps, SPDL_CONTAINER_COLORS);
  set_colors (&self->info, caps, "colorimetry");
  return check_size (self, GST_VIDEO_INFO_WIDTH (&self->info),
      GST_VIDEO_INFO_HEIGHT (&self->info));
}

static GstFlowReturn
take_frame (gpointer user_data, GstBuffer *buffer)
{
  const SpdlVideoDecoder *self = user_data;
  const SpdlFrame frame = { .buffer = buffer,
    .info = &self->info,
    .n_rows = GST_VIDEO_INFO_HEIGHT (&self->info),
    /* Palettes in AVI files have zeros in place of alpha. */
    .opaque = GST_VIDEO_FORMAT_INFO_HAS_PALETTE (self->info.finfo),
    .is_video = TRUE };

  self->sink->frame (self->sink->user_data, &frame, GST_BUFFER_PTS (buffer));
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

/* Proposes a buffer pool and video alignment, so that gst-libav decodes
 * directly into pooled buffers and does not copy frames that are dropped. */
static gboolean
answer_query (gpointer user_data, GstQuery *query)
{
  GstBufferPool *pool;
  GstVideoInfo info;
  GstCaps *caps;

  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION)
    return FALSE;
  gst_query_parse_allocation (query, &caps, NULL);
  if (caps && gst_video_info_from_caps (&info, caps)) {
    pool = gst_video_buffer_pool_new ();
    gst_query_add_allocation_pool (
        query, pool, GST_VIDEO_INFO_SIZE (&info), 0, 0);
    gst_object_unref (pool);
    gst_query_add_allocation_param (query, gst_spdl_try_allocator_get (), NULL);
  }
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

static const GstSpdlHarnessFuncs funcs = { &in_template, take_caps, take_frame,
  answer_query };

/* Element selection */

/* Returns the factory with the highest rank whose sink pad accepts @caps.
 * @all_of_them: it must accept all of @caps, not only a part
 * Returns: (transfer full) (nullable) */
static GstElementFactory *
find_factory (
    GstElementFactoryListType type, GstCaps *caps, gboolean all_of_them)
{
  GList *all = gst_element_factory_list_get_elements (type, GST_RANK_MARGINAL);
  GList *fit =
      gst_element_factory_list_filter (all, caps, GST_PAD_SINK, all_of_them);
  GstElementFactory *best;

  fit = g_list_sort (fit, gst_plugin_feature_rank_compare_func);
  best = fit ? gst_object_ref (fit->data) : NULL;
  gst_plugin_feature_list_free (fit);
  gst_plugin_feature_list_free (all);
  return best;
}

static void
set_missing (GstCaps *caps, GError **error)
{
  const gchar *type = gst_structure_get_name (gst_caps_get_structure (caps, 0));
  const gchar *package = "gstreamer1.0-libav";

  if (g_str_has_prefix (type, "video/x-vp"))
    package = "gstreamer1.0-plugins-good";
  else if (g_str_equal (type, "video/x-av1"))
    package = "gstreamer1.0-plugins-bad";
  g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
      "Video is %s, for which no decoder is installed: Debian's are in %s",
      type, package);
}

static void
configure_element (GstElement *element, guint n_threads)
{
  static const gchar *const settings[] = { "max-threads", "threads" };
  GObjectClass *klass = G_OBJECT_GET_CLASS (element);
  g_autofree gchar *number = g_strdup_printf ("%u", n_threads);

  gst_spdl_harness_configure (element, TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    if (g_object_class_find_property (klass, settings[i]))
      gst_util_set_object_arg (G_OBJECT (element), settings[i], number);
  if (g_object_class_find_property (klass, "direct-rendering"))
    g_object_set (element, "direct-rendering", TRUE, NULL);
  /* Otherwise frames with missing references are output without an error. */
  if (g_object_class_find_property (klass, "output-corrupt"))
    g_object_set (element, "output-corrupt", FALSE, NULL);
}

static GstElement *
make_element (GstElementFactory *factory, guint n_threads)
{
  GstElement *element =
      factory ? gst_element_factory_create (factory, NULL) : NULL;

  if (element)
    configure_element (element, n_threads);
  return element;
}

/* Creates a decoder, or a parser and a decoder if no decoder accepts the
 * packets directly.
 * @first, @last: (out) (transfer full): their pads
 * Returns: (transfer floating) (nullable) */
static GstElement *
make_chain (SpdlVideoDecoder *self, GstCaps *caps, guint n_threads,
    GstPad **first, GstPad **last)
{
  const gchar *type = gst_structure_get_name (gst_caps_get_structure (caps, 0));
  g_autoptr (GstCaps) any = gst_caps_new_empty_simple (type);
  GstElementFactory *decoder =
      find_factory (GST_ELEMENT_FACTORY_TYPE_DECODER, caps, TRUE);
  GstElementFactory *parser = NULL;
  GstElement *parse = NULL, *decode, *chain = NULL;

  if (!decoder &&
      (parser = find_factory (GST_ELEMENT_FACTORY_TYPE_PARSER, caps, TRUE)))
    decoder = find_factory (GST_ELEMENT_FACTORY_TYPE_DECODER, any, FALSE);
  decode = make_element (decoder, n_threads);
  if (decode && parser)
    parse = make_element (parser, n_threads);
  if (parse) {
    chain = gst_bin_new (NULL);
    gst_bin_add_many (GST_BIN (chain), parse, decode, NULL);
    gst_element_link (parse, decode);
  } else if (decode) {
    chain = decode;
  }
  if (chain) {
    self->name = g_intern_string (GST_OBJECT_NAME (decoder));
    self->factory = gst_object_ref (parse ? parser : decoder);
    *first = gst_element_get_static_pad (parse ? parse : decode, "sink");
    *last = gst_element_get_static_pad (decode, "src");
  }
  gst_clear_object (&decoder);
  gst_clear_object (&parser);
  return chain;
}

/* Returns a ghost pad if @chain is a bin, since pads inside of a bin cannot be
 * linked directly. */
static GstPad *
expose_pad (GstElement *chain, GstPad *pad)
{
  GstPad *ghost;

  if (!GST_IS_BIN (chain))
    return pad;
  ghost = gst_ghost_pad_new (NULL, pad);
  gst_object_unref (pad);
  gst_element_add_pad (chain, ghost);
  return gst_object_ref (ghost);
}

/* Construction */

SpdlVideoDecoder *
spdl_video_decoder_new (GstCaps *caps, guint n_threads,
    const SpdlVideoDecoderSink *sink, GError **error)
{
  SpdlVideoDecoder *self = g_new0 (SpdlVideoDecoder, 1);
  GstPad *first = NULL, *last = NULL;
  GstElement *chain = make_chain (self, caps, n_threads, &first, &last);

  if (!chain) {
    set_missing (caps, error);
    spdl_video_decoder_free (self);
    return NULL;
  }
  self->sink = sink;
  self->max_pixels = G_MAXUINT64;
  self->is_fresh = TRUE;
  self->harness = gst_spdl_harness_new (
      chain, expose_pad (chain, first), expose_pad (chain, last), &funcs, self);
  if (!self->harness || !gst_spdl_harness_start (self->harness, caps)) {
    g_autofree gchar *message =
        self->harness ? spdl_video_decoder_take_message (self) : NULL;

    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_NEGOTIATION,
        "Failed to start %s: %s", self->name,
        message ? message : "the format is not accepted");
    spdl_video_decoder_free (self);
    return NULL;
  }
  GST_INFO ("%s is open for %" GST_PTR_FORMAT, self->name, caps);
  return self;
}

void
spdl_video_decoder_free (SpdlVideoDecoder *self)
{
  g_clear_pointer (&self->harness, gst_spdl_harness_free);
  gst_clear_object (&self->factory);
  gst_clear_caps (&self->packet_caps);
  g_free (self->message);
  g_free (self);
}

gboolean
spdl_video_decoder_takes (const SpdlVideoDecoder *self, const GstCaps *caps)
{
  return gst_element_factory_can_sink_all_caps (self->factory, caps);
}

void
spdl_video_decoder_set_max_pixels (SpdlVideoDecoder *self, guint64 max_pixels)
{
  self->max_pixels = max_pixels;
}

/* Decoding */

/* Checks the size in the caps and in codec_data, since decoders allocate frames
 * before their caps can be rejected. A parser's caps do not suffice: they
 * repeat the size from the container. */

/* Returns whether @caps have headers that are not those of @other. */
static gboolean
has_new_headers (const GstCaps *caps, const GstCaps *other)
{
  const GValue *headers = gst_structure_get_value (
      gst_caps_get_structure (caps, 0), "streamheader");
  const GValue *others = gst_structure_get_value (
      gst_caps_get_structure (other, 0), "streamheader");

  return headers &&
         (!others || gst_value_compare (headers, others) != GST_VALUE_EQUAL);
}

static gboolean
check_packet_caps (SpdlVideoDecoder *self, GstCaps *caps)
{
  const GstStructure *s = gst_caps_get_structure (caps, 0);
  gint width, height;

  if (caps != self->packet_caps) {
    /* Decoders read the headers of the first video only. */
    if (self->packet_caps && has_new_headers (caps, self->packet_caps))
      gst_spdl_harness_restart (self->harness);
    gst_caps_replace (&self->packet_caps, caps);
    self->format = spdl_packet_get_format (caps);
    spdl_frame_size_find_in_caps (caps, &self->configured);
  }
  return (!gst_structure_get_int (s, "width", &width) ||
             !gst_structure_get_int (s, "height", &height) ||
             check_size (self, width, height)) &&
         check_size (self, self->configured.width, self->configured.height);
}

static gboolean
check_packet (SpdlVideoDecoder *self, GstBuffer *packet)
{
  SpdlFrameSize size = { 0 };
  GstMapInfo map;

  if (self->format.codec == SPDL_CODEC_OTHER ||
      !gst_buffer_map (packet, &map, GST_MAP_READ))
    return TRUE;
  spdl_frame_size_find (&self->format, map.data, map.size, &size);
  gst_buffer_unmap (packet, &map);
  return check_size (self, size.width, size.height);
}

gboolean
spdl_video_decoder_push (
    SpdlVideoDecoder *self, GstBuffer *packet, GstCaps *caps)
{
  GstFlowReturn ret;

  if (!check_packet_caps (self, caps) || !check_packet (self, packet)) {
    gst_buffer_unref (packet);
    return FALSE;
  }
  ret = gst_spdl_harness_push (self->harness, packet, caps);
  self->is_fresh = FALSE;
  if (ret == GST_FLOW_OK)
    return TRUE;
  self->in_trouble = TRUE;
  if (!self->message)
    self->message = gst_spdl_harness_take_message (self->harness, NULL);
  if (!self->message)
    self->message = g_strdup (ret == GST_FLOW_NOT_NEGOTIATED
                                  ? "an unsupported variant of the format"
                                  : "that decoding failed");
  return FALSE;
}

void
spdl_video_decoder_drain (SpdlVideoDecoder *self)
{
  if (!self->is_fresh)
    gst_spdl_harness_drain (self->harness);
  spdl_video_decoder_flush (self);
}

void
spdl_video_decoder_flush (SpdlVideoDecoder *self)
{
  if (self->is_fresh)
    return;
  if (self->in_trouble)
    gst_spdl_harness_restart (self->harness);
  else
    gst_spdl_harness_flush (self->harness);
  self->in_trouble = FALSE;
  self->is_fresh = TRUE;
}

gchar *
spdl_video_decoder_take_message (SpdlVideoDecoder *self)
{
  gchar *message = gst_spdl_harness_take_message (self->harness, NULL);

  if (self->message) {
    g_free (message);
    message = g_steal_pointer (&self->message);
  }
  return message;
}

const gchar *
spdl_video_decoder_get_name (const SpdlVideoDecoder *self)
{
  return self->name;
}
