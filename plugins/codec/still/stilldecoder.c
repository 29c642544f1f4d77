/* gst-spdl: still image decoder based on GStreamer elements
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/still/stilldecoder.h"

#include <gst/base/gsttypefindhelper.h>
#include <gst/video/video.h>
#include <string.h>

#include "gst/spdl/common/harness.h"
#include "gst/spdl/common/logline.h"
#include "gst/spdl/common/tryallocator.h"
#include "plugins/codec/resize/picture.h"
#include "plugins/common/bytes.h"

GST_DEBUG_CATEGORY_EXTERN (spdl_decode_debug);
#define GST_CAT_DEFAULT spdl_decode_debug

/* A decoder element without a bin, linked to two pads of this struct. It stays
 * in PLAYING between files. A file is pushed as one buffer, and its first frame
 * arrives in the same thread. The element is then flushed, so that no state
 * carries over to the next file. Not thread-safe. */

typedef struct _SpdlElementDecoder SpdlElementDecoder;

typedef enum {
  SPDL_ELEMENT_DECODER_OK,
  SPDL_ELEMENT_DECODER_BROKEN_FILE,
  /* The image has more pixels than allowed. */
  SPDL_ELEMENT_DECODER_TOO_LARGE,
  /* The element cannot decode the file, but another one may. */
  SPDL_ELEMENT_DECODER_UNFIT,
} SpdlElementDecoderResult;

static void spdl_element_decoder_free (SpdlElementDecoder *self);

/* Buffer pool for the frames of one decoder. It fills frames with a pattern
 * that shows which rows the decoder wrote: some decoders ignore errors in
 * compressed data. Not thread-safe. */

#define SPDL_TYPE_FRAME_POOL (spdl_frame_pool_get_type ())
G_DECLARE_FINAL_TYPE (
    SpdlFramePool, spdl_frame_pool, SPDL, FRAME_POOL, GstVideoBufferPool)

static GstStaticPadTemplate in_template = GST_STATIC_PAD_TEMPLATE (
    "in", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw"));

struct _SpdlElementDecoder {
  GstSpdlHarness *harness;
  const gchar *name; /* interned name of the element */
  gboolean suspect;

  /* The current file. */
  guint64 max_pixels;
  gboolean keep;
  GstVideoInfo info;
  gboolean has_info;
  gboolean too_large;
  GstBuffer *frame;
  guint n_rows; /* number of decoded rows */
  SpdlFramePool *pool;
};

/* Pool that detects which rows were written */

/* Minimum row size in bytes. In shorter rows, pixels could equal the pattern by
 * chance. */
#define MIN_ROW 8

struct _SpdlFramePool {
  GstVideoBufferPool parent;

  gboolean all_rows;
  gboolean exhausted;
  GstMemory *memory; /* nullable: of the last frame */
};

G_DEFINE_FINAL_TYPE (SpdlFramePool, spdl_frame_pool, GST_TYPE_VIDEO_BUFFER_POOL)

static inline guint8
pattern_of_row (gsize i)
{
  return (i * 0x9e3779b1u) >> 24;
}

static void
fill_pattern (SpdlFramePool *self, GstBuffer *buffer)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);
  GstMapInfo map;
  gsize first = 0;

  if (!gst_memory_map (self->memory, &map, GST_MAP_WRITE))
    return;
  if (meta && !self->all_rows && meta->height > 2)
    first = MIN (meta->offset[0] + (gsize) meta->stride[0] * (meta->height - 2),
        map.size);
  for (gsize i = first; i < map.size; i++)
    map.data[i] = pattern_of_row (i);
  gst_memory_unmap (self->memory, &map);
}

/* Decoders without an allocator would use GStreamer's default one. */
static gboolean
spdl_frame_pool_set_config (GstBufferPool *pool, GstStructure *config)
{
  GstAllocator *allocator = NULL;
  GstAllocationParams params;

  gst_allocation_params_init (&params);
  gst_buffer_pool_config_get_allocator (config, &allocator, &params);
  if (!allocator)
    gst_buffer_pool_config_set_allocator (
        config, gst_spdl_try_allocator_get (), &params);
  return GST_BUFFER_POOL_CLASS (spdl_frame_pool_parent_class)
      ->set_config (pool, config);
}

static GstFlowReturn
spdl_frame_pool_acquire_buffer (
    GstBufferPool *pool, GstBuffer **buffer, GstBufferPoolAcquireParams *params)
{
  SpdlFramePool *self = SPDL_FRAME_POOL (pool);
  const GstFlowReturn ret = GST_BUFFER_POOL_CLASS (spdl_frame_pool_parent_class)
                                ->acquire_buffer (pool, buffer, params);

  if (ret == GST_FLOW_ERROR)
    self->exhausted = TRUE;
  if (ret != GST_FLOW_OK || gst_buffer_n_memory (*buffer) != 1)
    return ret;
  g_clear_pointer (&self->memory, gst_memory_unref);
  self->memory = gst_buffer_get_memory (*buffer, 0);
  fill_pattern (self, *buffer);
  return ret;
}

static SpdlFramePool *
spdl_frame_pool_new (void)
{
  return gst_object_ref_sink (g_object_new (SPDL_TYPE_FRAME_POOL, NULL));
}

/* Starts a new image and forgets the last frame.
 * @all_rows: fill all rows with the pattern, not only the last two, one of
 * which is written last */
static void
spdl_frame_pool_begin (SpdlFramePool *self, gboolean all_rows)
{
  g_clear_pointer (&self->memory, gst_memory_unref);
  self->all_rows = all_rows;
  self->exhausted = FALSE;
}

/* Returns whether memory for the frame of this image could not be allocated. */
static gboolean
spdl_frame_pool_is_exhausted (const SpdlFramePool *self)
{
  return self->exhausted;
}

static gboolean
is_written (const guint8 *data, gsize first, gsize n)
{
  for (gsize i = first; i < first + n; i++)
    if (data[i] != pattern_of_row (i))
      return TRUE;
  return FALSE;
}

/* Counts rows up to the last one that was written. Both of the last two rows
 * are tested, because the second to last row of an interlaced image may be
 * written last. */
static guint
count_written (const SpdlFramePool *self, const guint8 *data, gsize stride,
    gsize width, guint height)
{
  guint n = height;

  if (n > 1 && !is_written (data, (n - 2) * stride, width))
    n--;
  while (n > 0 && !is_written (data, (n - 1) * stride, width))
    n--;
  return n;
}

/* Returns how many rows of this image's frame were written, not counting
 * unwritten rows at the end. */
static guint
spdl_frame_pool_count_rows (SpdlFramePool *self, const GstVideoInfo *info)
{
  const gsize stride = GST_VIDEO_INFO_PLANE_STRIDE (info, 0);
  const gsize width = GST_VIDEO_INFO_WIDTH (info) *
                      (gsize) GST_VIDEO_INFO_COMP_PSTRIDE (info, 0);
  guint n = GST_VIDEO_INFO_HEIGHT (info);
  GstMapInfo map;

  if (!self->memory || GST_VIDEO_INFO_N_PLANES (info) != 1 || width < MIN_ROW ||
      !gst_memory_map (self->memory, &map, GST_MAP_READ))
    return n;
  if (map.size >= GST_VIDEO_INFO_SIZE (info))
    n = count_written (self, map.data, stride, width, n);
  gst_memory_unmap (self->memory, &map);
  return n;
}

static void
spdl_frame_pool_finalize (GObject *object)
{
  g_clear_pointer (&SPDL_FRAME_POOL (object)->memory, gst_memory_unref);
  G_OBJECT_CLASS (spdl_frame_pool_parent_class)->finalize (object);
}

static void
spdl_frame_pool_class_init (SpdlFramePoolClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = spdl_frame_pool_finalize;
  GST_BUFFER_POOL_CLASS (klass)->set_config = spdl_frame_pool_set_config;
  GST_BUFFER_POOL_CLASS (klass)->acquire_buffer =
      spdl_frame_pool_acquire_buffer;
}

static void
spdl_frame_pool_init (SpdlFramePool *self)
{
}

/* Output of the element */

/* Rejects the caps of images that are too large. Elements set caps before they
 * allocate a frame. */
static gboolean
take_caps (gpointer user_data, GstCaps *caps)
{
  SpdlElementDecoder *self = user_data;

  self->has_info = gst_video_info_from_caps (&self->info, caps);
  if (!self->has_info)
    return FALSE;
  self->too_large = (guint64) GST_VIDEO_INFO_WIDTH (&self->info) *
                        GST_VIDEO_INFO_HEIGHT (&self->info) >
                    self->max_pixels;
  return !self->too_large;
}

static void
propose_pool (SpdlElementDecoder *self, GstQuery *query)
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

/* Announces the pool and GstVideoMeta: frames are read with GstVideoFrame,
 * which supports any layout. */
static gboolean
answer_query (gpointer user_data, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION)
    return FALSE;
  propose_pool (user_data, query);
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

static GstFlowReturn
take_frame (gpointer user_data, GstBuffer *frame)
{
  SpdlElementDecoder *self = user_data;

  if (self->frame)
    gst_buffer_unref (frame); /* only the first frame of an animation is used */
  else
    self->frame = frame;
  return GST_FLOW_OK;
}

static const GstSpdlHarnessFuncs funcs = { &in_template, take_caps, take_frame,
  answer_query };

/* Construction */

/* @caps: caps of the first file
 * Returns NULL with @error set if the element does not exist or does not
 * start. */
static SpdlElementDecoder *
spdl_element_decoder_new (
    GstElementFactory *factory, GstCaps *caps, GError **error)
{
  const gchar *name = g_intern_string (GST_OBJECT_NAME (factory));
  GstElement *element = gst_element_factory_create (factory, NULL);
  g_autofree gchar *message = NULL;
  SpdlElementDecoder *self;

  if (!element) {
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
        "Failed to create %s", name);
    return NULL;
  }
  self = g_new0 (SpdlElementDecoder, 1);
  self->max_pixels = G_MAXUINT64;
  self->name = name;
  gst_spdl_harness_configure (element, TRUE);
  self->harness = gst_spdl_harness_new (element,
      gst_element_get_static_pad (element, "sink"),
      gst_element_get_static_pad (element, "src"), &funcs, self);
  if (!self->harness || !gst_spdl_harness_start (self->harness, caps)) {
    if (self->harness)
      message = gst_spdl_harness_take_message (self->harness, NULL);
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_NEGOTIATION,
        "Failed to start %s: %s", name,
        message ? message : "the format is not accepted");
    g_clear_pointer (&self, spdl_element_decoder_free);
  } else {
    SPDL_INFO ("%s is open for %" GST_PTR_FORMAT, name, caps);
  }
  return self;
}

static void
spdl_element_decoder_free (SpdlElementDecoder *self)
{
  gst_clear_buffer (&self->frame);
  g_clear_pointer (&self->harness, gst_spdl_harness_free);
  gst_clear_object (&self->pool);
  g_free (self);
}

/* Decoding */

static void
forget_file (SpdlElementDecoder *self)
{
  gst_clear_buffer (&self->frame);
  g_free (gst_spdl_harness_take_message (self->harness, NULL));
  self->too_large = FALSE;
}

/* Also checks the frame, because an element may not send new caps for an
 * image. */
static gboolean
is_too_large (const SpdlElementDecoder *self)
{
  return self->too_large ||
         (self->frame && (guint64) GST_VIDEO_INFO_WIDTH (&self->info) *
                                 GST_VIDEO_INFO_HEIGHT (&self->info) >
                             self->max_pixels);
}

/* Returns the outcome of a file, given the flow return of its push. */
static SpdlElementDecoderResult
classify_result (SpdlElementDecoder *self, GstFlowReturn ret, GError **error)
{
  g_autofree gchar *message =
      gst_spdl_harness_take_message (self->harness, NULL);

  if (is_too_large (self)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
        "Image has %d by %d pixels, more than max-pixels (%" G_GUINT64_FORMAT
        ")",
        GST_VIDEO_INFO_WIDTH (&self->info), GST_VIDEO_INFO_HEIGHT (&self->info),
        self->max_pixels);
    return SPDL_ELEMENT_DECODER_TOO_LARGE;
  }
  if (self->pool && spdl_frame_pool_is_exhausted (self->pool)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
        "Not enough memory to decode an image of %d by %d",
        GST_VIDEO_INFO_WIDTH (&self->info),
        GST_VIDEO_INFO_HEIGHT (&self->info));
    return SPDL_ELEMENT_DECODER_BROKEN_FILE;
  }
  if (ret == GST_FLOW_NOT_NEGOTIATED || ret == GST_FLOW_NOT_SUPPORTED) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_NOT_IMPLEMENTED,
        "%s does not support this variant of the format: %s", self->name,
        message ? message : gst_flow_get_name (ret));
    return SPDL_ELEMENT_DECODER_UNFIT;
  }
  if (ret == GST_FLOW_OK && !message && self->frame &&
      self->n_rows == (guint) GST_VIDEO_INFO_HEIGHT (&self->info) &&
      !GST_BUFFER_FLAG_IS_SET (self->frame, GST_BUFFER_FLAG_CORRUPTED))
    return SPDL_ELEMENT_DECODER_OK;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "Corrupt image: %s reported %s", self->name,
      message       ? message
      : self->frame ? "missing or invalid parts"
      : ret < 0     ? "that decoding failed"
                    : "no image");
  return SPDL_ELEMENT_DECODER_BROKEN_FILE;
}

/* Counts the decoded rows of the frame, if it is from our pool. */
static void
count_rows (SpdlElementDecoder *self)
{
  self->n_rows = self->has_info ? GST_VIDEO_INFO_HEIGHT (&self->info) : 0;
  if (self->frame && self->pool && self->frame->pool == (gpointer) self->pool)
    self->n_rows = spdl_frame_pool_count_rows (self->pool, &self->info);
}

/* Decodes @file (transfer full).
 * @caps: caps of the file; the same object as long as they do not change
 * Returns OK if there is a frame. With another result, @error is set, and there
 * may be a partial frame. */
static SpdlElementDecoderResult
spdl_element_decoder_decode (SpdlElementDecoder *self, GstBuffer *file,
    GstCaps *caps, const SpdlStillLimits *limits, GError **error)
{
  SpdlElementDecoderResult result;
  GstFlowReturn ret;

  forget_file (self);
  self->max_pixels = limits->max_pixels;
  self->keep = limits->keep;
  if (self->pool)
    spdl_frame_pool_begin (self->pool, limits->keep);
  GST_BUFFER_PTS (file) = 0;
  ret = gst_spdl_harness_push (self->harness, file, caps);
  if (ret == GST_FLOW_OK && !self->frame)
    gst_spdl_harness_drain (self->harness);
  count_rows (self);
  result = classify_result (self, ret, error);
  self->suspect = result != SPDL_ELEMENT_DECODER_OK;
  gst_spdl_harness_flush (self->harness);
  return result;
}

/* Gets the frame of the last file, which is valid until the next file. Returns
 * FALSE if there is none. */
static gboolean
spdl_element_decoder_get_frame (SpdlElementDecoder *self, SpdlFrame *frame)
{
  frame->buffer = self->frame;
  frame->info = &self->info;
  frame->n_rows = self->n_rows;
  return self->frame != NULL;
}

/* Returns whether the last file had an error. If so, a failure of the next file
 * may be a consequence of it. */
static gboolean
spdl_element_decoder_is_suspect (const SpdlElementDecoder *self)
{
  return self->suspect;
}

/* Selection of decoders */

/* A decoder for an image type; may not be open. */
typedef struct {
  GstElementFactory *factory;
  GstCaps *caps;
  SpdlElementDecoder *element_decoder;
  gboolean failed; /* failed to open; not tried again */
} Candidate;

typedef struct {
  gchar *type;
  gboolean rare;
  GArray *candidates; /* in order of preference */
} Kind;

struct _SpdlStillDecoder {
  GArray *kinds;
};

/* Decoders that take precedence over the rank, because pnmdec reads past the
 * end of a file. Their caps are specific to gst-libav and differ from those of
 * typefind. (gst-libav decoders with unknown/unknown caps, such as avdec_webp,
 * do not accept any caps.) */
static const struct {
  const gchar *type;
  const gchar *caps;
  const gchar *factory;
} detours[] = {
  { "image/x-portable-graymap", "image/x-portable-graymap", "avdec_pgm" },
  { "image/x-portable-pixmap", "image/ppm", "avdec_ppm" },
  { "image/x-portable-anymap", "image/x-portable-anymap", "avdec_pam" },
};

/* Decoder used only for formats that the other decoders decode wrongly. It has
 * no rank in GStreamer 1.22, and a higher rank than FFmpeg's decoders in
 * 1.26. */
#define FOR_RARE "gdkpixbufdec"

static void
clear_candidate (gpointer data)
{
  Candidate *candidate = data;

  g_clear_pointer (&candidate->element_decoder, spdl_element_decoder_free);
  gst_clear_object (&candidate->factory);
  gst_clear_caps (&candidate->caps);
}

static void
clear_kind (gpointer data)
{
  Kind *kind = data;

  g_array_unref (kind->candidates);
  g_free (kind->type);
}

static void
add_candidate (Kind *kind, GstElementFactory *factory, GstCaps *caps)
{
  const Candidate candidate = { gst_object_ref (factory), gst_caps_ref (caps) };

  g_array_append_val (kind->candidates, candidate);
}

/* Adds all decoders with a rank that accept @caps (transfer full), except
 * FOR_RARE. */
static void
add_by_rank (Kind *kind, GstCaps *caps)
{
  GList *all = gst_element_factory_list_get_elements (
      GST_ELEMENT_FACTORY_TYPE_DECODER, GST_RANK_MARGINAL);
  GList *fit = gst_element_factory_list_filter (all, caps, GST_PAD_SINK, TRUE);

  fit = g_list_sort (fit, gst_plugin_feature_rank_compare_func);
  for (GList *l = fit; l; l = l->next)
    if (!g_str_equal (GST_OBJECT_NAME (l->data), FOR_RARE))
      add_candidate (kind, l->data, caps);
  gst_plugin_feature_list_free (fit);
  gst_plugin_feature_list_free (all);
  gst_caps_unref (caps);
}

static void
add_by_name (Kind *kind, const gchar *name, GstCaps *caps)
{
  GstElementFactory *factory = gst_element_factory_find (name);

  if (factory) {
    add_candidate (kind, factory, caps);
    gst_object_unref (factory);
  }
  gst_caps_unref (caps);
}

static void
add_detours (Kind *kind)
{
  for (guint i = 0; i < G_N_ELEMENTS (detours); i++)
    if (g_str_equal (detours[i].type, kind->type))
      add_by_name (
          kind, detours[i].factory, gst_caps_from_string (detours[i].caps));
}

static GstCaps *
caps_of (const Kind *kind)
{
  return gst_caps_new_simple (kind->type, "parsed", G_TYPE_BOOLEAN, TRUE, NULL);
}

static Kind *
get_kind (SpdlStillDecoder *self, const SpdlImageProbe *probe)
{
  Kind new_kind = { NULL };

  for (guint i = 0; i < self->kinds->len; i++) {
    Kind *kind = &g_array_index (self->kinds, Kind, i);

    if (g_str_equal (kind->type, probe->type) && kind->rare == probe->rare)
      return kind;
  }
  new_kind.type = g_strdup (probe->type);
  new_kind.rare = probe->rare;
  new_kind.candidates = g_array_new (FALSE, FALSE, sizeof (Candidate));
  g_array_set_clear_func (new_kind.candidates, clear_candidate);
  if (probe->rare) {
    add_by_name (&new_kind, FOR_RARE, caps_of (&new_kind));
  } else {
    add_detours (&new_kind);
    add_by_rank (&new_kind, caps_of (&new_kind));
  }
  g_array_append_val (self->kinds, new_kind);
  return &g_array_index (self->kinds, Kind, self->kinds->len - 1);
}

SpdlStillDecoder *
spdl_still_decoder_new (void)
{
  SpdlStillDecoder *self = g_new0 (SpdlStillDecoder, 1);

  self->kinds = g_array_new (FALSE, FALSE, sizeof (Kind));
  g_array_set_clear_func (self->kinds, clear_kind);
  return self;
}

void
spdl_still_decoder_free (SpdlStillDecoder *self)
{
  g_array_unref (self->kinds);
  g_free (self);
}

/* Type detection */

static void
set_from_caps (SpdlImageProbe *probe, GstCaps *caps)
{
  const GstStructure *s = gst_caps_get_structure (caps, 0);
  gint width, height;

  probe->type = g_intern_string (gst_structure_get_name (s));
  if (gst_structure_get_int (s, "width", &width) &&
      gst_structure_get_int (s, "height", &height)) {
    probe->width = width;
    probe->height = height;
  }
}

/* Returns whether @type is a still image. SVG is excluded, because rsvgdec
 * crashes on some files. */
static gboolean
is_still (const gchar *type)
{
  return type && g_str_has_prefix (type, "image/") &&
         !g_str_has_prefix (type, "image/svg");
}

/* Returns whether the format has no signature, so that it is only known from
 * the caps. */
static gboolean
is_markless (GstCaps *caps)
{
  static const gchar *const types[] = { "image/x-pcx", "image/x-tga",
    "image/x-sgi", NULL };

  return caps && gst_caps_is_fixed (caps) &&
         g_strv_contains (
             types, gst_structure_get_name (gst_caps_get_structure (caps, 0)));
}

gboolean
spdl_still_decoder_find_type (SpdlImageProbe *probe, const guint8 *data,
    gsize size, GstCaps *caps, GError **error)
{
  g_autoptr (GstCaps) found = NULL;

  if (probe->type)
    return TRUE;
  if (size == 0) {
    g_set_error (
        error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE, "Item is empty");
    return FALSE;
  }
  found = gst_type_find_helper_for_data (NULL, data, size, NULL);
  if (found)
    set_from_caps (probe, found);
  if (!is_still (probe->type) && is_markless (caps)) {
    set_from_caps (probe, caps);
    spdl_image_probe_find_size (probe, data, size);
  }
  if (is_still (probe->type))
    return TRUE;
  if (probe->type)
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
        "File is %s, not a still image; exclude such files with the pattern of "
        "spdlsrc",
        probe->type);
  else
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_TYPE_NOT_FOUND,
        "File is not an image of a known format: its first byte is 0x%02x, of "
        "%" G_GSIZE_FORMAT,
        data[0], size);
  return FALSE;
}

/* TGA with gray and alpha */

/* FFmpeg's decoder reads 16-bit gray with alpha as 16-bit color with 5 bits per
 * component. */

/* Size of the header, and offsets of its fields. */
#define TGA_HEADER 18
#define TGA_ID_SIZE 0
#define TGA_COLOR_MAP_LENGTH 5
#define TGA_COLOR_MAP_DEPTH 7
#define TGA_IMAGE_TYPE 2
#define TGA_WIDTH 12
#define TGA_HEIGHT 14
#define TGA_DEPTH 16

#define TGA_TYPE_COLORS 2
#define TGA_TYPE_GRAY 3
#define TGA_TYPE_GRAY_RUNS 11

static gboolean
is_gray_alpha_tga (const gchar *type, const guint8 *data, gsize size)
{
  return g_strcmp0 (type, "image/x-tga") == 0 && size >= TGA_HEADER &&
         data[TGA_DEPTH] == 16 &&
         (data[TGA_IMAGE_TYPE] == TGA_TYPE_GRAY ||
             data[TGA_IMAGE_TYPE] == TGA_TYPE_GRAY_RUNS);
}

static guint8 *
put_pixel (guint8 *to, const guint8 *gray_alpha)
{
  memset (to, gray_alpha[0], 3);
  to[3] = gray_alpha[1];
  return to + 4;
}

/* Write at most @n pixels, and return the end of the written data. */

static guint8 *
expand_plain (guint8 *to, const guint8 *from, const guint8 *end, gsize n)
{
  for (; n > 0 && end - from >= 2; n--, from += 2)
    to = put_pixel (to, from);
  return to;
}

/* Expands run-length packets: a count, followed by one pixel or by as many as
 * the count. */
static guint8 *
expand_runs (guint8 *to, const guint8 *from, const guint8 *end, gsize n)
{
  while (n > 0 && end - from >= 3) {
    const gsize length = MIN ((gsize) (*from & 0x7f) + 1, n);
    const gboolean is_run = *from++ & 0x80;

    for (gsize i = 0; i < length && end - from >= 2; i++) {
      to = put_pixel (to, from);
      if (!is_run)
        from += 2;
    }
    if (is_run)
      from += 2;
    n -= length;
  }
  return to;
}

/* Returns the image as a 32-bit TGA, truncated where @data is; NULL if there is
 * no memory for it. */
static GstBuffer *
expand_tga (const guint8 *data, gsize size)
{
  const guint8 *end = data + size;
  const gsize n = spdl_read_16_le (data + TGA_WIDTH) *
                  (gsize) spdl_read_16_le (data + TGA_HEIGHT);
  const gsize map = (data[TGA_COLOR_MAP_DEPTH] + 7) / 8 *
                    (gsize) spdl_read_16_le (data + TGA_COLOR_MAP_LENGTH);
  const gsize at = MIN (TGA_HEADER + data[TGA_ID_SIZE] + map, size);
  guint8 *file = g_try_malloc (TGA_HEADER + 4 * n);
  guint8 *to;

  if (!file)
    return NULL;
  memset (file, 0, TGA_HEADER);
  memcpy (file + TGA_WIDTH, data + TGA_WIDTH, TGA_HEADER - TGA_WIDTH);
  file[TGA_IMAGE_TYPE] = TGA_TYPE_COLORS;
  file[TGA_DEPTH] = 32;
  to = (data[TGA_IMAGE_TYPE] == TGA_TYPE_GRAY ? expand_plain : expand_runs) (
      file + TGA_HEADER, data + at, end, n);
  return gst_buffer_new_wrapped_full (
      0, file, TGA_HEADER + 4 * n, 0, to - file, file, g_free);
}

GstBuffer *
spdl_still_decoder_adapt (const SpdlImageProbe *probe, GstBuffer *file,
    const GstMapInfo *in, GError **error)
{
  GstBuffer *expanded;

  if (!is_gray_alpha_tga (probe->type, in->data, in->size))
    return gst_buffer_ref (file);
  expanded = expand_tga (in->data, in->size);
  if (!expanded)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
        "Not enough memory for a copy of the file's %" G_GSIZE_FORMAT " bytes",
        in->size);
  return expanded;
}

/* Decoding */

static gboolean
ensure_element_decoder (Candidate *candidate)
{
  g_autoptr (GError) error = NULL;

  if (candidate->element_decoder || candidate->failed)
    return !candidate->failed;
  candidate->element_decoder =
      spdl_element_decoder_new (candidate->factory, candidate->caps, &error);
  if (candidate->element_decoder)
    return TRUE;
  candidate->failed = TRUE;
  SPDL_WARNING ("%s cannot be used: %s", GST_OBJECT_NAME (candidate->factory),
      error->message);
  return FALSE;
}

static SpdlElementDecoderResult
try_once (Candidate *candidate, GstBuffer *file, const SpdlStillLimits *limits,
    GError **error)
{
  /* A new GstBuffer with the same memory, since the caller keeps @file. */
  return spdl_element_decoder_decode (candidate->element_decoder,
      gst_buffer_copy_region (file, GST_BUFFER_COPY_MEMORY, 0, -1),
      candidate->caps, limits, error);
}

/* Decodes the file. If it fails directly after a corrupt file, it is tried
 * again with a new decoder, since the old one may not have recovered. */
static SpdlElementDecoderResult
try_candidate (Candidate *candidate, GstBuffer *file,
    const SpdlStillLimits *limits, GError **error)
{
  const gboolean suspect =
      spdl_element_decoder_is_suspect (candidate->element_decoder);
  const SpdlElementDecoderResult result =
      try_once (candidate, file, limits, error);

  if (result != SPDL_ELEMENT_DECODER_BROKEN_FILE || !suspect)
    return result;
  g_clear_pointer (&candidate->element_decoder, spdl_element_decoder_free);
  if (!ensure_element_decoder (candidate))
    return SPDL_ELEMENT_DECODER_UNFIT;
  g_clear_error (error);
  return try_once (candidate, file, limits, error);
}

gboolean
spdl_still_decoder_decode (SpdlStillDecoder *self, const SpdlImageProbe *probe,
    GstBuffer *file, const SpdlStillLimits *limits, SpdlFrame *frame,
    GError **error)
{
  Kind *kind = get_kind (self, probe);
  GError *reason = NULL;

  frame->buffer = NULL;
  /* Without a known size, max-pixels cannot be enforced before decoding. */
  if (kind->candidates->len > 0 && (probe->width == 0 || probe->height == 0)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
        "The header of this %s does not declare a size", probe->type);
    return FALSE;
  }
  for (guint i = 0; i < kind->candidates->len; i++) {
    Candidate *candidate = &g_array_index (kind->candidates, Candidate, i);
    SpdlElementDecoderResult result;

    if (!ensure_element_decoder (candidate))
      continue;
    /* The error of the preferred decoder is reported. */
    result = try_candidate (candidate, file, limits, reason ? NULL : &reason);
    if (result == SPDL_ELEMENT_DECODER_UNFIT)
      continue;
    spdl_element_decoder_get_frame (candidate->element_decoder, frame);
    /* The element may assume that its caps were accepted. */
    if (result == SPDL_ELEMENT_DECODER_TOO_LARGE) {
      frame->buffer = NULL;
      g_clear_pointer (&candidate->element_decoder, spdl_element_decoder_free);
    }
    if (result != SPDL_ELEMENT_DECODER_OK)
      break;
    g_clear_error (&reason);
    return TRUE;
  }
  if (!reason)
    reason = g_error_new (GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
        "File is %s, for which no decoder is installed; Debian has them in "
        "gstreamer1.0-libav, gstreamer1.0-plugins-good and "
        "gstreamer1.0-plugins-bad",
        probe->type);
  g_propagate_error (error, reason);
  return FALSE;
}
