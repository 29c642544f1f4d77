/* gst-spdl: images that are decoded as a whole: BMP, OpenEXR, PCX, SGI, Sun
 * raster, TGA
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "gst/spdl/common/harness.h"
#include "gst/spdl/common/tryallocator.h"
#include "plugins/codec/ffmpeg/ffmpegfuncs.h"
#include "plugins/codec/still/imagedecoder.h"
#include "plugins/common/bytes.h"

/* FFmpeg's libraries decode all but OpenEXR. The size is read here, before a
 * decoder allocates memory, as are defects that FFmpeg's decoders do not
 * report. */

/* The element openexrdec, which is kept between files. FFmpeg's decoder cannot
 * replace it: it reads no luminance and chroma, no files of a single other
 * channel, and no gray with the compressions DWAA and DWAB. */

#define EXR_ELEMENT "openexrdec"

typedef struct {
  GstSpdlHarness *harness; /* NULL: not open */
  GstCaps *caps;           /* of files */

  /* The current file. */
  GstVideoInfo info;
  GstBuffer *frame;
} ExrElement;

static GstStaticPadTemplate in_template = GST_STATIC_PAD_TEMPLATE (
    "in", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw"));

static gboolean
take_caps (gpointer user_data, GstCaps *caps)
{
  ExrElement *self = user_data;

  return gst_video_info_from_caps (&self->info, caps);
}

/* Lets frames have memory whose allocation may fail, in any layout. */
static gboolean
answer_query (gpointer user_data, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION)
    return FALSE;
  gst_query_add_allocation_param (query, gst_spdl_try_allocator_get (), NULL);
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

static GstFlowReturn
take_frame (gpointer user_data, GstBuffer *frame)
{
  ExrElement *self = user_data;

  gst_clear_buffer (&self->frame);
  self->frame = frame;
  return GST_FLOW_OK;
}

static const GstSpdlHarnessFuncs exr_funcs = { &in_template, take_caps,
  take_frame, answer_query };

static ExrElement *
exr_element_new (void)
{
  ExrElement *self = g_new0 (ExrElement, 1);

  self->caps =
      gst_caps_new_simple ("image/x-exr", "parsed", G_TYPE_BOOLEAN, TRUE, NULL);
  return self;
}

static void
exr_element_free (ExrElement *self)
{
  g_clear_pointer (&self->harness, gst_spdl_harness_free);
  gst_caps_unref (self->caps);
  g_free (self);
}

static gboolean
open_element (ExrElement *self, GError **error)
{
  GstElement *element;

  if (self->harness)
    return TRUE;
  element = gst_element_factory_make (EXR_ELEMENT, NULL);
  if (element) {
    gst_spdl_harness_configure (element, TRUE);
    self->harness = gst_spdl_harness_new (element,
        gst_element_get_static_pad (element, "sink"),
        gst_element_get_static_pad (element, "src"), &exr_funcs, self);
  }
  if (self->harness && gst_spdl_harness_start (self->harness, self->caps))
    return TRUE;
  g_clear_pointer (&self->harness, gst_spdl_harness_free);
  g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
      "File is image/x-exr, whose decoder " EXR_ELEMENT
      " is not installed or does not start; Debian has it in "
      "gstreamer1.0-plugins-bad");
  return FALSE;
}

/* Decodes the file @data.
 * @info: (out): describes the frame
 * Returns: (transfer full): the frame, or NULL with @error set */
static GstBuffer *
exr_element_decode (ExrElement *self, const guint8 *data, gsize size,
    GstVideoInfo *info, GError **error)
{
  g_autofree gchar *message = NULL;
  GstFlowReturn ret;
  GstBuffer *file;

  if (!open_element (self, error))
    return NULL;
  file = gst_buffer_new_wrapped_full (
      GST_MEMORY_FLAG_READONLY, (gpointer) data, size, 0, size, NULL, NULL);
  GST_BUFFER_PTS (file) = 0;
  ret = gst_spdl_harness_push (self->harness, file, self->caps);
  if (ret == GST_FLOW_OK && !self->frame)
    gst_spdl_harness_drain (self->harness);
  message = gst_spdl_harness_take_message (self->harness, NULL);
  gst_spdl_harness_flush (self->harness);
  *info = self->info;
  if (ret == GST_FLOW_OK && !message && self->frame)
    return g_steal_pointer (&self->frame);
  gst_clear_buffer (&self->frame);
  /* After an error, the element may not recover. */
  g_clear_pointer (&self->harness, gst_spdl_harness_free);
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "Corrupt image: " EXR_ELEMENT " reported %s",
      message ? message : "no image");
  return NULL;
}

#define CUT_OFF "the file ends before the end of its last row"

typedef struct {
  SpdlPicture *picture; /* NULL: not used yet */
  ExrElement *exr;      /* NULL: not used yet */

  /* The current file. */
  const gchar *type;
  const guint8 *data;
  gsize size;
  guint width, height;
  guint n_rows;            /* that are not missing */
  gboolean opaque;         /* the alpha channel is unused */
  gboolean is_gray_alpha;  /* pixels are pairs of gray and alpha */
  const gchar *corruption; /* nullable */
  GstBuffer *frame;        /* NULL: not decoded */
  GstVideoInfo info;
  GError *error;
} Bitmap;

static void
close_file (gpointer decoder)
{
  Bitmap *self = decoder;

  gst_clear_buffer (&self->frame);
  g_clear_error (&self->error);
}

static void
bitmap_destroy (gpointer decoder)
{
  Bitmap *self = decoder;

  close_file (self);
  g_clear_pointer (&self->picture, spdl_picture_free);
  g_clear_pointer (&self->exr, exr_element_free);
  g_free (self);
}

/* Frames */

static GstBuffer *
decode_frame (Bitmap *self, const gchar *codec, GError **error)
{
  const SpdlFfmpegFuncs *funcs;

  if (!codec) {
    if (!self->exr)
      self->exr = exr_element_new ();
    return exr_element_decode (
        self->exr, self->data, self->size, &self->info, error);
  }
  funcs = spdl_ffmpeg_get_funcs (error);
  return funcs ? funcs->decode_still (
                     codec, self->data, self->size, &self->info, error)
               : NULL;
}

static void
describe_frame (const Bitmap *self, SpdlImageHeader *header)
{
  header->width = GST_VIDEO_INFO_WIDTH (&self->info);
  header->height = GST_VIDEO_INFO_HEIGHT (&self->info);
  spdl_picture_describe (
      &self->info, &header->depth, &header->channels, &header->has_palette);
  if (self->is_gray_alpha) {
    header->depth = 8;
    header->channels = 2;
  }
}

/* Decodes the file, whose size was read, unless it is too large. The error of a
 * corrupt file is left to read_rows(). */
static gboolean
read_frame (Bitmap *self, const gchar *codec, guint64 max_pixels,
    SpdlImageHeader *header, GError **error)
{
  *header = (SpdlImageHeader){
    .width = self->width, .height = self->height, .orientation = 1
  };
  if (self->width == 0 || self->height == 0 ||
      (guint64) self->width * self->height > max_pixels)
    return TRUE;
  self->frame = decode_frame (self, codec, &self->error);
  if (self->frame) {
    describe_frame (self, header);
  } else if (!g_error_matches (
                 self->error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE)) {
    g_propagate_error (error, g_steal_pointer (&self->error));
    return FALSE;
  }
  return TRUE;
}

static void
set_corrupt (const Bitmap *self, GError **error)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "Corrupt %s: %s", self->type, self->corruption);
}

/* Reads a header with @look, which sets what it finds in @self, and decodes the
 * file. */
static gboolean
read_file (Bitmap *self, const guint8 *data, gsize size, const gchar *type,
    void (*look) (Bitmap *self), const gchar *codec, guint64 max_pixels,
    SpdlImageHeader *header, GError **error)
{
  self->type = type;
  self->data = data;
  self->size = size;
  self->width = self->height = 0;
  self->n_rows = G_MAXUINT;
  self->opaque = self->is_gray_alpha = FALSE;
  self->corruption = NULL;
  look (self);
  if (!self->corruption || (self->width > 0 && self->height > 0))
    return read_frame (self, codec, max_pixels, header, error);
  set_corrupt (self, error);
  return FALSE;
}

/* Writes a frame whose pixels FFmpeg takes for colors of 16 bits. */
static void
write_gray_alpha (
    const Bitmap *self, const GstVideoFrame *frame, const SpdlRows *rows)
{
  g_autofree guint8 *pixels = g_malloc (4 * (gsize) rows->width);

  for (guint y = 0; y < rows->height; y++) {
    const guint8 *from =
        (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (frame, 0) +
        (gssize) y * GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0);

    for (gsize x = 0; x < rows->width; x++) {
      memset (pixels + 4 * x, from[2 * x], 3);
      pixels[4 * x + 3] = from[2 * x + 1];
    }
    spdl_rows_put_rgba (rows, rows->get_row (rows->user_data, y), pixels,
        rows->width, SPDL_ALPHA_STRAIGHT);
    rows->rows_done (rows->user_data, y + 1);
  }
}

static gboolean
write_frame (Bitmap *self, const SpdlRows *rows, GError **error)
{
  const SpdlFrame frame = { .buffer = self->frame,
    .info = &self->info,
    .n_rows = MIN (self->n_rows, self->height),
    .opaque = self->opaque };
  GstVideoFrame map;

  if (!self->picture)
    self->picture = spdl_picture_new ();
  if (!self->is_gray_alpha)
    return spdl_picture_write (self->picture, &frame, rows, error);
  if (gst_video_frame_map (&map, &self->info, self->frame, GST_MAP_READ)) {
    write_gray_alpha (self, &map, rows);
    gst_video_frame_unmap (&map);
  }
  return TRUE;
}

static gboolean
read_rows (
    gpointer decoder, const SpdlRows *rows, gboolean keep, GError **error)
{
  Bitmap *self = decoder;

  if (self->corruption) {
    g_clear_error (&self->error);
    set_corrupt (self, &self->error);
  }
  if (!self->error || keep) {
    if (!self->frame)
      spdl_rows_fill (rows, 0);
    else if (!write_frame (self, rows, self->error ? NULL : error))
      return FALSE;
  }
  if (!self->error)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&self->error));
  return FALSE;
}

/* Defines the decoder of a format.
 * @accepts: NULL if it has no signature
 * @codec: name in libavcodec; NULL: OpenEXR */
#define DEFINE_DECODER(name, type, accepts, codec)                             \
  static gboolean read_##name##_header (gpointer decoder, const guint8 *data,  \
      gsize size, guint64 max_pixels, SpdlImageHeader *header, GError **error) \
  {                                                                            \
    return read_file (decoder, data, size, type, look_at_##name, codec,        \
        max_pixels, header, error);                                            \
  }                                                                            \
  const SpdlImageDecoder spdl_##name##_decoder = { type, accepts,              \
    sizeof (Bitmap), bitmap_destroy, read_##name##_header, read_rows,          \
    close_file };

/* BMP */

#define CORE_HEADER 12
#define INFO_HEADER 40
#define RLE8 1
#define RLE4 2

static gboolean
bmp_accepts (const guint8 *data, gsize size)
{
  const guint32 header = size >= 18 ? spdl_read_32_le (data + 14) : 0;

  return header > 0 && memcmp (data, "BM", 2) == 0 &&
         ((header == CORE_HEADER && size >= 14 + CORE_HEADER) ||
             (header >= INFO_HEADER && header <= 256));
}

/* Returns whether run-length data is complete: it has an end-of-bitmap mark, or
 * @height end-of-line marks. */
static gboolean
runs_are_complete (
    const guint8 *data, gsize size, guint height, guint pixels_a_byte)
{
  guint rows = 0;

  for (gsize at = 0; at + 1 < size;) {
    const guint8 n = data[at];
    const guint8 code = data[at + 1];

    at += 2;
    if (n > 0)
      continue; /* a run of one color */
    if (code == 1 || (code == 0 && ++rows == height))
      return TRUE;
    if (code == 2)
      at += 2; /* delta: moves the position */
    else if (code > 2)
      at += ((code + pixels_a_byte - 1) / pixels_a_byte + 1) & ~(gsize) 1;
  }
  return FALSE;
}

/* Returns whether the file has all rows. FFmpeg's decoder fills missing runs
 * with the first color of the palette. */
static gboolean
has_bmp_rows (const Bitmap *self, guint depth, guint compression)
{
  const gsize at = spdl_read_32_le (self->data + 10);
  const guint64 stride = ((guint64) self->width * depth + 31) / 32 * 4;

  if (at > self->size)
    return FALSE;
  return compression == RLE8 || compression == RLE4
             ? runs_are_complete (
                   self->data + at, self->size - at, self->height, compression)
             : stride <= (self->size - at) / MAX (self->height, 1);
}

static void
look_at_bmp (Bitmap *self)
{
  const guint8 *data = self->data;
  const gboolean is_core = spdl_read_32_le (data + 14) == CORE_HEADER;
  gint32 height;

  if (self->size < 14 + (is_core ? CORE_HEADER : INFO_HEADER)) {
    self->corruption = "the file ends within its header";
    return;
  }
  if (is_core) {
    self->width = spdl_read_16_le (data + 18);
    self->height = spdl_read_16_le (data + 20);
    if (!has_bmp_rows (self, spdl_read_16_le (data + 24), 0))
      self->corruption = CUT_OFF;
  } else {
    height = spdl_read_32_le (data + 22);
    self->width = spdl_read_32_le (data + 18);
    /* A negative height means that rows are stored from the top. */
    self->height = height < 0 ? -(guint32) height : (guint32) height;
    /* The fourth byte of uncompressed 32-bit pixels is unused, whatever its
     * value. */
    self->opaque = spdl_read_32_le (data + 30) == 0;
    if (!has_bmp_rows (
            self, spdl_read_16_le (data + 28), spdl_read_32_le (data + 30)))
      self->corruption = CUT_OFF;
  }
}

DEFINE_DECODER (bmp, "image/bmp", bmp_accepts, "bmp")

/* Sun raster */

#define SUN_HEADER 32
#define SUN_RUNS 2
#define SUN_ESCAPE 0x80

static gboolean
sun_accepts (const guint8 *data, gsize size)
{
  return size >= 12 && memcmp (data, "\x59\xa6\x6a\x95", 4) == 0;
}

/* Returns the number of bytes that run-length data expands to, up to @most. */
static guint64
measure_runs (const guint8 *data, gsize size, guint64 most)
{
  guint64 n = 0;

  for (gsize at = 0; at < size && n < most; at++) {
    if (data[at] == SUN_ESCAPE && ++at < size && data[at] > 0)
      n += data[at++]; /* copies of the next byte, and one more */
    n += at < size;
  }
  return n;
}

/* Returns how many rows the file has. The last one needs no padding. FFmpeg's
 * decoder does not report that some are missing. */
static guint
count_sun_rows (const Bitmap *self)
{
  const guint8 *data = self->data;
  const guint64 bits = (guint64) self->width * spdl_read_32_be (data + 12);
  const guint64 row = (bits + 7) / 8, stride = (bits + 15) / 16 * 2;
  const gsize at =
      MIN (SUN_HEADER + (guint64) spdl_read_32_be (data + 28), self->size);
  guint64 n = self->size - at;

  if (spdl_read_32_be (data + 20) == SUN_RUNS)
    n = measure_runs (data + at, n, stride * self->height);
  return MIN ((n + stride - row) / MAX (stride, 1), self->height);
}

static void
look_at_sun (Bitmap *self)
{
  const guint8 *data = self->data;

  self->width = spdl_read_32_be (data + 4);
  self->height = spdl_read_32_be (data + 8);
  if (self->size >= SUN_HEADER) {
    self->n_rows = count_sun_rows (self);
    if (self->n_rows < self->height)
      self->corruption = CUT_OFF;
  }
}

DEFINE_DECODER (sun, "image/x-sun-raster", sun_accepts, "sunrast")

/* OpenEXR: attributes, each a name, a type, a size and a value */

static gboolean
exr_accepts (const guint8 *data, gsize size)
{
  return size >= 12 && memcmp (data, "\x76\x2f\x31\x01", 4) == 0;
}

/* Returns the text at *@at and moves *@at past its terminator, or returns
 * NULL. */
static const gchar *
read_exr_text (const guint8 *data, gsize size, gsize *at)
{
  const gchar *text = (const gchar *) data + *at;
  const gsize length = strnlen (text, size - *at);

  if (length == size - *at)
    return NULL;
  *at += length + 1;
  return text;
}

/* Takes the maximum of the data window and the display window. */
static void
note_exr_window (Bitmap *self, const guint8 *box)
{
  const gint64 left = (gint32) spdl_read_32_le (box);
  const gint64 top = (gint32) spdl_read_32_le (box + 4);
  const gint64 width = (gint32) spdl_read_32_le (box + 8) - left + 1;
  const gint64 height = (gint32) spdl_read_32_le (box + 12) - top + 1;

  self->width = MAX (self->width, CLAMP (width, 0, G_MAXUINT32));
  self->height = MAX (self->height, CLAMP (height, 0, G_MAXUINT32));
}

static void
look_at_exr (Bitmap *self)
{
  const guint8 *data = self->data;
  const gchar *name, *type;
  gsize at = 8;

  while ((name = read_exr_text (data, self->size, &at)) && *name) {
    guint32 length;

    if (!(type = read_exr_text (data, self->size, &at)) || self->size - at < 4)
      break;
    length = spdl_read_32_le (data + at);
    at += 4;
    if (length > self->size - at)
      break;
    if (g_str_equal (type, "box2i") && length == 16)
      note_exr_window (self, data + at);
    at += length;
  }
  if (!name || *name)
    self->corruption = "the header is incomplete";
}

DEFINE_DECODER (exr, "image/x-exr", exr_accepts, NULL)

/* The other formats have no signature. FFmpeg's decoders do not report that the
 * last packet of run-length data is cut off. */

/* PCX */

#define PCX_HEADER 128
#define PCX_RUN 0xc0

/* A packet does not continue in the next row. */
static gboolean
has_pcx_rows (const Bitmap *self)
{
  const gsize row = self->data[65] * (gsize) spdl_read_16_le (self->data + 66);
  gsize at = PCX_HEADER;

  if (self->data[2] == 0)
    return self->size - at >= row * self->height;
  for (guint y = 0; y < self->height && at <= self->size; y++)
    for (gsize x = 0; x < row && at <= self->size; at++) {
      const guint8 code = at < self->size ? self->data[at] : 0;

      at += code >= PCX_RUN;
      x += code >= PCX_RUN ? code - PCX_RUN : 1;
    }
  return at <= self->size;
}

static void
look_at_pcx (Bitmap *self)
{
  const guint8 *data = self->data;

  if (self->size >= 12) {
    self->width = spdl_read_16_le (data + 8) - spdl_read_16_le (data + 4) + 1;
    self->height = spdl_read_16_le (data + 10) - spdl_read_16_le (data + 6) + 1;
  }
  if (self->size >= PCX_HEADER && !has_pcx_rows (self))
    self->corruption = CUT_OFF;
}

DEFINE_DECODER (pcx, "image/x-pcx", NULL, "pcx")

/* SGI */

#define SGI_HEADER 512

/* Run-length data has tables of the offsets and the sizes of all rows. */
static gboolean
has_sgi_rows (const Bitmap *self)
{
  const gsize n = self->height * (gsize) spdl_read_16_be (self->data + 10);
  const guint8 *table = self->data + SGI_HEADER;

  if (self->data[2] == 0)
    return TRUE;
  if (n > (self->size - SGI_HEADER) / 8)
    return FALSE;
  for (gsize i = 0; i < n; i++)
    if ((guint64) spdl_read_32_be (table + 4 * i) +
            spdl_read_32_be (table + 4 * (n + i)) >
        self->size)
      return FALSE;
  return TRUE;
}

static void
look_at_sgi (Bitmap *self)
{
  const guint8 *data = self->data;

  if (self->size >= 12) {
    self->width = spdl_read_16_be (data + 6);
    self->height = spdl_read_16_be (data + 8);
  }
  if (self->size >= SGI_HEADER && !has_sgi_rows (self))
    self->corruption = CUT_OFF;
}

DEFINE_DECODER (sgi, "image/x-sgi", NULL, "sgi")

/* TGA */

#define TGA_HEADER 18
#define TGA_GRAY 3
#define TGA_RUNS 8

static gboolean
has_tga_pixels (const Bitmap *self)
{
  const guint8 *data = self->data;
  const gsize pixel = (data[16] + 7) / 8;
  guint64 left = (guint64) self->width * self->height;
  gsize at = TGA_HEADER + data[0] +
             (data[7] + 7) / 8 * (gsize) spdl_read_16_le (data + 5);

  while (left > 0 && at < self->size) {
    const guint length = (data[at] & 0x7f) + 1;

    at += 1 + (data[at] & 0x80 ? 1 : MIN (length, left)) * pixel;
    left -= MIN (length, left);
  }
  return left == 0 && at <= self->size;
}

static void
look_at_tga (Bitmap *self)
{
  const guint8 *data = self->data;

  if (self->size >= TGA_HEADER) {
    self->width = spdl_read_16_le (data + 12);
    self->height = spdl_read_16_le (data + 14);
    /* FFmpeg's decoder takes the pixels for colors of 16 bits. */
    self->is_gray_alpha = data[16] == 16 && (data[2] & ~TGA_RUNS) == TGA_GRAY;
    if (data[2] & TGA_RUNS && !has_tga_pixels (self))
      self->corruption = CUT_OFF;
  }
}

DEFINE_DECODER (tga, "image/x-tga", NULL, "targa")
