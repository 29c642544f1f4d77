/* gst-spdl: still images of all formats for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/stills.h"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jpeglib.h>
#include <zlib.h>

static const struct {
  const gchar *name;
  const gchar *encoder;
} kinds[N_STILLS] = {
  { "jpeg", "jpegenc quality=95 idct-method=islow" },
  { "png", "pngenc" },
  { "webp", "webpenc lossless=true" },
  { "gif", NULL },
  { "bmp", "avenc_bmp" },
  { "tiff", "avenc_tiff" },
  { "pnm", "pnmenc" },
  { "jp2", "openjpegenc ! image/jp2" },
};

const gchar *
stills_get_name (StillKind kind)
{
  return kinds[kind].name;
}

/* Write @n bytes, unaligned. */

static void
write_le (guint8 *at, guint n, guint32 value)
{
  for (guint i = 0; i < n; i++)
    at[i] = value >> 8 * i;
}

static void
write_be (guint8 *at, guint n, guint32 value)
{
  for (guint i = 0; i < n; i++)
    at[i] = value >> 8 * (n - 1 - i);
}

/* Makes rows with GStreamer's stride. */
static GstBuffer *
make_pixels (guint width, guint height)
{
  const gsize stride = GST_ROUND_UP_4 (width * 3);
  guint8 *pixels = g_malloc0 (stride * height);
  guint32 state = 1;

  for (guint y = 0; y < height; y++) {
    for (guint x = 0; x < width; x++) {
      guint8 *p = pixels + y * stride + x * 3;

      state = state * 1664525 + 1013904223;
      for (guint c = 0; c < 3; c++)
        p[c] = y < height / 2 ? state >> (8 + c * 8)
                              : (STILLS_COLOR >> (16 - c * 8)) & 0xff;
    }
  }
  return gst_buffer_new_wrapped (pixels, stride * height);
}

static GBytes *
encode (const gchar *encoder, guint width, guint height)
{
  g_autofree gchar *line = g_strdup_printf (
      "appsrc name=src format=time "
      "caps=video/x-raw,format=RGB,width=%u,height=%u,framerate=1/1 "
      "! videoconvert ! %s ! appsink name=sink sync=false",
      width, height, encoder);
  GstElement *pipeline = gst_parse_launch (line, NULL);
  GstElement *src = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstBuffer *pixels = make_pixels (width, height);
  GstSample *sample;
  GBytes *bytes;
  GstMapInfo map;

  GST_BUFFER_PTS (pixels) = 0;
  GST_BUFFER_DURATION (pixels) = GST_SECOND;
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_app_src_push_buffer (GST_APP_SRC (src), pixels);
  gst_app_src_end_of_stream (GST_APP_SRC (src));
  sample = gst_app_sink_pull_sample (GST_APP_SINK (sink));
  g_assert_nonnull (sample);
  gst_buffer_map (gst_sample_get_buffer (sample), &map, GST_MAP_READ);
  bytes = g_bytes_new (map.data, map.size);
  gst_buffer_unmap (gst_sample_get_buffer (sample), &map);
  gst_sample_unref (sample);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (src);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  return bytes;
}

/* Writer of an uncompressed GIF with nine-bit codes: it clears the table before
 * codes would get longer. */

typedef struct {
  GByteArray *pieces;
  guint8 piece[256];
  guint32 bits;
  guint n_bits;
} Codes;

static void
end_piece (Codes *codes)
{
  if (codes->piece[0] > 0)
    g_byte_array_append (codes->pieces, codes->piece, codes->piece[0] + 1);
  codes->piece[0] = 0;
}

static void
put_code (Codes *codes, guint code)
{
  codes->bits |= code << codes->n_bits;
  codes->n_bits += 9;
  while (codes->n_bits >= 8) {
    codes->piece[++codes->piece[0]] = codes->bits;
    codes->bits >>= 8;
    codes->n_bits -= 8;
    if (codes->piece[0] == 255)
      end_piece (codes);
  }
}

static void
put_size (guint8 *at, guint width, guint height)
{
  write_le (at, 2, width);
  write_le (at + 2, 2, height);
}

static GBytes *
make_gif (guint width, guint height)
{
  guint8 header[13] = "GIF89a\0\0\0\0\xf7\0";
  guint8 table[768] = { 0 };
  guint8 image[11] = { 0x2c, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8 };
  Codes codes = { g_byte_array_new () };

  for (guint i = 0; i < 256; i++)
    for (guint c = 0; c < 3; c++)
      table[3 * i + c] = i == 7 ? STILLS_COLOR >> (16 - c * 8) : i * (c + 1u);
  put_size (header + 6, width, height);
  put_size (image + 5, width, height);
  g_byte_array_append (codes.pieces, header, sizeof header);
  g_byte_array_append (codes.pieces, table, sizeof table);
  g_byte_array_append (codes.pieces, image, sizeof image);
  for (guint i = 0; i < width * height; i++) {
    if (i % 250 == 0)
      put_code (&codes, 256);
    put_code (&codes, i / width < height / 2 ? i * 31 % 251 : 7);
  }
  put_code (&codes, 257);
  put_code (&codes, 0); /* flushes the last bits */
  end_piece (&codes);
  g_byte_array_append (codes.pieces, (const guint8 *) "\0;", 2);
  return g_byte_array_free_to_bytes (codes.pieces);
}

GBytes *
stills_make (StillKind kind, guint width, guint height)
{
  return kind == STILL_GIF ? make_gif (width, height)
                           : encode (kinds[kind].encoder, width, height);
}

/* Headers without data */

static void
put_tiff_tag (guint8 *at, guint tag, guint value)
{
  write_le (at, 2, tag);
  write_le (at + 2, 2, 4);
  write_le (at + 4, 4, 1);
  write_le (at + 8, 4, value);
}

GBytes *
stills_make_header (StillKind kind, guint width, guint height)
{
  static const guint8 jpeg[] = "\xff\xd8\xff\xc0\0\x0b\x08\0\0\0\0\x01\x01\x11"
                               "\0\xff\xda\0\x08\x01\x01\0\0\x3f";
  static const guint8 png[] = "\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR";
  /* An animation with smaller frames. */
  static const guint8 webp[] = "RIFF\x4a\0\0\0WEBPVP8X\x0a\0\0\0\2\0\0\0";
  static const guint8 frame[] = "ANIM\6\0\0\0\0\0\0\0\0\0ANMF\x1e\0\0\0"
                                "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                "VP8L\5\0\0\0\x2f\0\0\0\0";
  static const guint8 codestream[] = "\xff\x4f\xff\x51\0\x29";
  guint8 *data = g_malloc0 (200);

  switch (kind) {
    case STILL_JPEG:
      memcpy (data, jpeg, sizeof jpeg);
      write_be (data + 7, 2, height);
      write_be (data + 9, 2, width);
      break;
    case STILL_PNG:
      memcpy (data, png, sizeof png);
      write_be (data + 16, 4, width);
      write_be (data + 20, 4, height);
      data[24] = 8;
      write_be (data + 29, 4, crc32 (0, data + 12, 17));
      write_be (data + 33, 4, 100);
      memcpy (data + 37, "IDAT", 4);
      break;
    case STILL_WEBP:
      memcpy (data, webp, sizeof webp);
      write_le (data + 24, 3, width - 1);
      write_le (data + 27, 3, height - 1);
      memcpy (data + 30, frame, sizeof frame);
      break;
    case STILL_GIF:
      memcpy (data, "GIF89a", 6);
      put_size (data + 6, width, height);
      data[13] = 0x2c; /* image with one pixel */
      put_size (data + 18, 1, 1);
      break;
    case STILL_BMP:
      memcpy (data, "BM", 2);
      data[10] = 54;
      data[14] = 40;
      write_le (data + 18, 4, width);
      write_le (data + 22, 4, -height);
      data[26] = 1;
      data[28] = 24;
      break;
    case STILL_TIFF:
      memcpy (data, "II*\0\x08\0\0\0\x06", 9);
      put_tiff_tag (data + 10, 256, width);
      put_tiff_tag (data + 22, 257, height);
      put_tiff_tag (data + 34, 258, 8);
      put_tiff_tag (data + 46, 262, 1);
      put_tiff_tag (data + 58, 273, 120);
      put_tiff_tag (data + 70, 279, 80);
      break;
    case STILL_PNM:
      g_snprintf ((gchar *) data, 200, "P6 %u %u 255\n", width, height);
      break;
    default:
      memcpy (data, codestream, sizeof codestream);
      write_be (data + 8, 4, width);
      write_be (data + 12, 4, height);
      data[41] = 3;
      break;
  }
  return g_bytes_new_take (data, 200);
}

GBytes *
stills_make_cmyk (gboolean ycck, guint width, guint height, const guint8 *color)
{
  struct jpeg_compress_struct cinfo;
  struct jpeg_error_mgr errors;
  unsigned char *data = NULL;
  unsigned long size = 0;
  g_autofree JSAMPLE *row = g_new (JSAMPLE, width * 4);
  GBytes *bytes;

  for (guint i = 0; i < width * 4; i++)
    row[i] = color[i % 4];
  cinfo.err = jpeg_std_error (&errors);
  jpeg_create_compress (&cinfo);
  jpeg_mem_dest (&cinfo, &data, &size);
  cinfo.image_width = width;
  cinfo.image_height = height;
  cinfo.input_components = 4;
  cinfo.in_color_space = JCS_CMYK;
  jpeg_set_defaults (&cinfo);
  jpeg_set_colorspace (&cinfo, ycck ? JCS_YCCK : JCS_CMYK);
  jpeg_set_quality (&cinfo, 100, TRUE);
  jpeg_start_compress (&cinfo, TRUE);
  for (guint y = 0; y < height; y++)
    jpeg_write_scanlines (&cinfo, &row, 1);
  jpeg_finish_compress (&cinfo);
  jpeg_destroy_compress (&cinfo);
  bytes = g_bytes_new (data, size);
  free (data);
  return bytes;
}

/* Makes a JPEG with a scan for each bit of each coefficient. */
GBytes *
stills_make_scans (guint n)
{
  struct jpeg_compress_struct cinfo;
  struct jpeg_error_mgr errors;
  jpeg_scan_info scans[STILLS_MAX_SCANS];
  unsigned char *data = NULL;
  unsigned long size = 0;
  JSAMPLE row[8] = { 0, 200, 90, 17, 255, 3, 99, 128 };
  JSAMPROW rows[] = { row };
  GBytes *bytes;

  for (gint i = 0; i < STILLS_MAX_SCANS; i++)
    scans[i] = (jpeg_scan_info){ 1, { 0 }, i / 11, i / 11,
      i % 11 > 0 ? 11 - i % 11 : 0, 10 - i % 11 };
  cinfo.err = jpeg_std_error (&errors);
  jpeg_create_compress (&cinfo);
  jpeg_mem_dest (&cinfo, &data, &size);
  cinfo.image_width = cinfo.image_height = 8;
  cinfo.input_components = 1;
  cinfo.in_color_space = JCS_GRAYSCALE;
  jpeg_set_defaults (&cinfo);
  cinfo.scan_info = scans;
  cinfo.num_scans = n;
  jpeg_start_compress (&cinfo, TRUE);
  for (guint y = 0; y < 8; y++)
    jpeg_write_scanlines (&cinfo, rows, 1);
  jpeg_finish_compress (&cinfo);
  jpeg_destroy_compress (&cinfo);
  bytes = g_bytes_new (data, size);
  free (data);
  return bytes;
}
