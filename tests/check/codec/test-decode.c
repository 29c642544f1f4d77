/* gst-spdl: tests of spdldecode with JPEGs
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <stdio.h>
#include <stdlib.h>
#include <jpeglib.h>

#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/rig.h"
#include "tests/check/support/run.h"
#include "tests/check/support/suite.h"

static GstBuffer *
make_item (guint64 number, gconstpointer data, gsize size)
{
  GstBuffer *buffer = rig_make_item (number, size);

  gst_buffer_fill (buffer, 0, data, size);
  return buffer;
}

static void
push_jpeg (Rig *rig, guint64 number, guint width, guint height, gssize cut)
{
  g_autoptr (GBytes) bytes = files_make_jpeg (width, height, number);
  gsize size;
  gconstpointer data = g_bytes_get_data (bytes, &size);

  gst_pad_push (
      rig->src, make_item (number, data, cut < 0 ? size + cut : size));
}

/* The reference: libjpeg's own pixels, or its samples of Y, Cb and Cr. */
static guint8 *
decode_plainly (guint width, guint height, guint seed, J_COLOR_SPACE space)
{
  g_autoptr (GBytes) bytes = files_make_jpeg (width, height, seed);
  struct jpeg_decompress_struct cinfo;
  struct jpeg_error_mgr errors;
  guint8 *pixels = g_malloc (width * height * 3);
  gsize size;
  gconstpointer data = g_bytes_get_data (bytes, &size);

  cinfo.err = jpeg_std_error (&errors);
  jpeg_create_decompress (&cinfo);
  jpeg_mem_src (&cinfo, data, size);
  jpeg_read_header (&cinfo, TRUE);
  cinfo.out_color_space = space;
  jpeg_start_decompress (&cinfo);
  while (cinfo.output_scanline < height) {
    JSAMPROW row = pixels + cinfo.output_scanline * width * 3;

    jpeg_read_scanlines (&cinfo, &row, 1);
  }
  jpeg_finish_decompress (&cinfo);
  jpeg_destroy_decompress (&cinfo);
  return pixels;
}

/* The reference resize in floating point: a triangle filter, widened for
 * downscaling and normalized at the edges. */
static double
stretch_sample (const guint8 *pixels, guint in_w, guint in_h, double scale_x,
    double scale_y, guint ox, guint oy, guint channel)
{
  const double rx = MAX (scale_x, 1), ry = MAX (scale_y, 1);
  const double cx = (ox + 0.5) * scale_x, cy = (oy + 0.5) * scale_y;
  double sum = 0, weights = 0;

  for (guint y = 0; y < in_h; y++) {
    const double wy = 1 - ABS (y + 0.5 - cy) / ry;

    if (wy <= 0)
      continue;
    for (guint x = 0; x < in_w; x++) {
      const double wx = 1 - ABS (x + 0.5 - cx) / rx;

      if (wx <= 0)
        continue;
      sum += wx * wy * pixels[(y * in_w + x) * 3 + channel];
      weights += wx * wy;
    }
  }
  return sum / weights;
}

static double
to_colour (const double ycc[3], guint channel)
{
  static const double factors[3][2] = { { 0, 1.402 }, { -0.344136, -0.714136 },
    { 1.772, 0 } };
  const double value = ycc[0] + factors[channel][0] * (ycc[1] - 128) +
                       factors[channel][1] * (ycc[2] - 128);

  return CLAMP (value, 0, 255);
}

/* Planes are rounded to integers, and one step of a plane is up to 1.8 steps of
 * a color. With fewer than three chroma samples in a row, libjpeg repeats them
 * instead of interpolating, and pixels are resized instead of planes. */
static void
assert_stretched (Rig *rig, guint i, guint in_w, guint in_h, guint seed,
    guint out_w, guint out_h, gboolean bgr)
{
  const gboolean as_planes = in_w > 4;
  g_autofree guint8 *pixels =
      decode_plainly (in_w, in_h, seed, as_planes ? JCS_YCbCr : JCS_RGB);
  const gsize stride = GST_ROUND_UP_4 (out_w * 3);
  GstMapInfo map;

  gst_buffer_map (g_ptr_array_index (rig->buffers, i), &map, GST_MAP_READ);
  fail_unless_equals_int (map.size, stride * out_h);
  for (guint y = 0; y < out_h; y++) {
    for (guint x = 0; x < out_w; x++) {
      double planes[3];

      for (guint c = 0; c < 3; c++)
        planes[c] = stretch_sample (pixels, in_w, in_h, (double) in_w / out_w,
            (double) in_h / out_h, x, y, c);
      for (guint c = 0; c < 3; c++) {
        const double expected = as_planes ? to_colour (planes, c) : planes[c];
        const gint got = map.data[y * stride + 3 * x + (bgr ? 2 - c : c)];

        fail_unless (ABS (got - expected) <= 3.0,
            "%ux%u to %ux%u, %u %u %u: %d, expected %f", in_w, in_h, out_w,
            out_h, x, y, c, got, expected);
      }
    }
  }
  gst_buffer_unmap (g_ptr_array_index (rig->buffers, i), &map);
}

GST_START_TEST (test_stretch)
{
  static const guint sizes[][4] = { { 90, 60, 33, 22 }, { 10, 10, 37, 41 },
    { 100, 7, 5, 70 }, { 1, 1, 9, 9 }, { 64, 64, 64, 64 }, { 64, 65, 64, 64 },
    { 200, 300, 1, 1 }, { 333, 500, 224, 224 }, { 3, 2, 2, 3 },
    { 601, 9, 2, 3 } };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    const guint *s = sizes[i];
    Rig *rig = rig_new ("spdldecode", "width", s[2], "height", s[3], "format",
        i % 2 ? "BGR" : "RGB", "fast-scale", FALSE, NULL);

    rig_start (rig, "image/jpeg");
    push_jpeg (rig, i, s[0], s[1], 0);
    rig_push_eos (rig);
    rig_wait_eos (rig);
    assert_stretched (rig, 0, s[0], s[1], i, s[2], s[3], i % 2);
    rig_free (rig);
  }
}

GST_END_TEST;

/* Tests that white stays white and black stays black with any number of
 * taps. */
GST_START_TEST (test_flat)
{
  struct jpeg_compress_struct cinfo;
  struct jpeg_error_mgr errors;

  for (guint white = 0; white < 2; white++) {
    unsigned char *data = NULL;
    unsigned long size = 0;
    g_autofree guint8 *row = g_malloc (3000);
    Rig *rig = rig_new ("spdldecode", "width", 7, "height", 2, NULL);
    GstMapInfo map;

    memset (row, white ? 255 : 0, 3000);
    cinfo.err = jpeg_std_error (&errors);
    jpeg_create_compress (&cinfo);
    jpeg_mem_dest (&cinfo, &data, &size);
    cinfo.image_width = 1000;
    cinfo.image_height = 3000;
    cinfo.input_components = 3;
    cinfo.in_color_space = JCS_RGB;
    jpeg_set_defaults (&cinfo);
    jpeg_start_compress (&cinfo, TRUE);
    for (guint y = 0; y < 3000; y++)
      jpeg_write_scanlines (&cinfo, &row, 1);
    jpeg_finish_compress (&cinfo);
    jpeg_destroy_compress (&cinfo);

    rig_start (rig, "application/octet-stream");
    gst_pad_push (rig->src, make_item (0, data, size));
    rig_push_eos (rig);
    rig_wait_eos (rig);
    gst_buffer_map (g_ptr_array_index (rig->buffers, 0), &map, GST_MAP_READ);
    for (guint i = 0; i < 21; i++)
      fail_unless_equals_int (map.data[i], white ? 255 : 0);
    gst_buffer_unmap (g_ptr_array_index (rig->buffers, 0), &map);
    rig_free (rig);
    free (data);
  }
}

GST_END_TEST;

GST_START_TEST (test_own_size)
{
  Rig *rig = rig_new ("spdldecode", "output-order", GST_SPDL_OUTPUT_ORDER_INPUT,
      "concurrency", 2, NULL);
  GstCaps *caps;
  gint width;

  rig_start (rig, "image/jpeg");
  push_jpeg (rig, 0, 31, 20, 0);
  push_jpeg (rig, 1, 31, 20, 0);
  push_jpeg (rig, 2, 50, 21, 0);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  assert_stretched (rig, 0, 31, 20, 0, 31, 20, FALSE);
  assert_stretched (rig, 2, 50, 21, 2, 50, 21, FALSE);
  caps = gst_pad_get_current_caps (rig->sink);
  gst_structure_get_int (gst_caps_get_structure (caps, 0), "width", &width);
  fail_unless_equals_int (width, 50);
  gst_caps_unref (caps);
  /* The two sizes need two caps events. */
  guint n_caps = 0;
  for (guint i = 0; i < rig->log->len; i++)
    n_caps += g_str_equal (g_ptr_array_index (rig->log, i), "caps");
  fail_unless_equals_int (n_caps, 2);
  rig_free (rig);
}

GST_END_TEST;

/* Tests that a file without an EOI marker is decoded if its pixels are
 * complete, and that a truncated one fails. */
GST_START_TEST (test_corrupt)
{
  static const gchar text[] = "This is a README, and no picture.";
  Rig *rig = rig_new ("spdldecode", "width", 8, "height", 8, "fast-scale",
      FALSE, "output-order", GST_SPDL_OUTPUT_ORDER_INPUT, NULL);
  g_autofree guint8 *noise = g_malloc (5000);

  for (guint i = 0; i < 5000; i++)
    noise[i] = i * 7919 >> 3;
  rig_start (rig, "application/octet-stream");
  push_jpeg (rig, 0, 200, 100, 0);
  push_jpeg (rig, 1, 200, 100, -2);   /* without EOI marker */
  push_jpeg (rig, 2, 200, 100, -300); /* truncated */
  gst_pad_push (rig->src, make_item (3, text, sizeof text));
  gst_pad_push (rig->src, make_item (4, noise, 5000));
  gst_pad_push (rig->src, make_item (5, "", 0));
  gst_pad_push (rig->src, make_item (6, "\xff\xd8\xff", 3));
  gst_pad_push (rig->src, make_item (7, "\xff\xd8\xff\xd9", 4));
  push_jpeg (rig, 8, 100, 200, 0);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  fail_unless_equals_int (rig_count_items (rig), 3);
  assert_stretched (rig, 1, 200, 100, 1, 8, 8, FALSE);
  assert_stretched (rig, 2, 100, 200, 8, 8, 8, FALSE);
  GError *error = NULL;
  static const gchar *reasons[] = { "[stream-error decode]",
    "[stream-error type-not-found]", "is not ", "[stream-error wrong-type]",
    "[stream-error decode]", "[stream-error decode]" };
  guint n = 0;
  for (guint i = 0; i < rig->messages->len; i++) {
    const GstStructure *s =
        gst_message_get_structure (g_ptr_array_index (rig->messages, i));

    if (!gst_structure_has_name (s, "spdl-item-failed"))
      continue;
    gst_structure_get (s, "error", G_TYPE_ERROR, &error, NULL);
    fail_unless (errors_has (error, reasons[n]), "%u: %s", n, error->message);
    g_clear_error (&error);
    n++;
  }
  fail_unless_equals_int (n, 6);
  rig_free (rig);
}

GST_END_TEST;

/* Returns a JPEG of @size by @size pixels with three components, in which all
 * Huffman codes are zeros. @process is the number of its SOF marker. */
static GstBuffer *
make_unusual (guint64 number, guint8 process, guint8 precision, guint size)
{
  const gboolean lossless = process == 3;
  const guint8 begin[] = { 0xff, 0xd8, 0xff, 0xdb, 0, 67, 0 };
  const guint8 header[] = { 0xff, 0xc0 + process, 0, 17, precision, size >> 8,
    size & 0xff, size >> 8, size & 0xff, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11,
    0 };
  const guint8 scan[] = { 0xff, 0xda, 0, 12, 3, 1, 0, 2, 0, 3, 0, lossless,
    lossless ? 0 : 63, 0 };
  GByteArray *file = g_byte_array_new ();
  GstBuffer *item;

  g_byte_array_append (file, begin, sizeof begin);
  for (guint i = 0; i < 64; i++)
    g_byte_array_append (file, (const guint8[]){ 1 }, 1);
  g_byte_array_append (file, header, sizeof header);
  for (guint i = 0; i < 2; i++) {
    /* One code of one bit, for the symbol 0. */
    const guint8 table[22] = { 0xff, 0xc4, 0, 20, i << 4, 1 };

    g_byte_array_append (file, table, sizeof table);
  }
  g_byte_array_append (file, scan, sizeof scan);
  g_byte_array_set_size (file, file->len + size * size * 3 / 8);
  memset (file->data + file->len - size * size * 3 / 8, 0, size * size * 3 / 8);
  g_byte_array_append (file, (const guint8[]){ 0xff, 0xd9 }, 2);
  item = make_item (number, file->data, file->len);
  g_byte_array_unref (file);
  return item;
}

/* Tests that lossless and 12-bit JPEGs fail with an error that names the
 * process, also with libjpeg-turbo 3. That version could decode them, but would
 * write rows of full width into buffers for an image scaled by 1/8. */
GST_START_TEST (test_unusual)
{
  static const guint8 kinds[][2] = { { 3, 8 }, { 1, 12 }, { 3, 12 }, { 3, 16 },
    { 3, 2 } };
  guint n_failed = 0;
  Rig *rig = rig_new ("spdldecode", "width", 64, "height", 64, "output-order",
      GST_SPDL_OUTPUT_ORDER_INPUT, NULL);

  rig_start (rig, "image/jpeg");
  gst_pad_push (rig->src, make_unusual (0, 1, 8, 512));
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    gst_pad_push (
        rig->src, make_unusual (1 + i, kinds[i][0], kinds[i][1], 512));
  rig_push_eos (rig);
  rig_wait_eos (rig);
  /* The same file with 8 bits is an ordinary JPEG. */
  fail_unless_equals_int (rig_count_items (rig), 1);
  for (guint i = 0; i < rig->messages->len; i++) {
    const GstStructure *s =
        gst_message_get_structure (g_ptr_array_index (rig->messages, i));
    GError *error = NULL;

    if (!gst_structure_has_name (s, "spdl-item-failed"))
      continue;
    gst_structure_get (s, "error", G_TYPE_ERROR, &error, NULL);
    fail_unless (
        g_error_matches (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE));
    g_error_free (error);
    n_failed++;
  }
  fail_unless_equals_int (n_failed, G_N_ELEMENTS (kinds));
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_limits)
{
  Rig *rig = rig_new ("spdldecode", "max-pixels", (guint64) 1000, NULL);
  guint8 huge[] = { 0xff, 0xd8, 0xff, 0xc0, 0, 11, 8, 0xff, 0xdc, 0xff, 0xdc, 1,
    1, 0x11, 0, 0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0 };

  rig_start (rig, "image/jpeg");
  push_jpeg (rig, 0, 100, 11, 0);
  push_jpeg (rig, 1, 100, 10, 0);
  gst_pad_push (rig->src, make_item (2, huge, sizeof huge));
  rig_push_eos (rig);
  rig_wait_eos (rig);
  fail_unless_equals_int (rig_count_items (rig), 1);
  fail_unless (rig_find_message (rig, "spdl-item-failed") != NULL);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_negotiation)
{
  gchar *folder = files_make_folder ();
  Run *run;
  gint width, height;

  files_write_jpeg (folder, "a.jpg", 60, 40, 1);
  /* Properties that are not set follow the caps of downstream. */
  run = run_pipeline (
      "spdlsrc location=%s ! spdlfetch ! spdldecode ! "
      "video/x-raw,format=BGR,width=20,height=10 ! fakesink name=sink",
      folder);
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 1);
  GstStructure *s =
      gst_caps_get_structure (g_ptr_array_index (run->caps, 0), 0);
  fail_unless_equals_string (gst_structure_get_string (s, "format"), "BGR");
  gst_structure_get_int (s, "width", &width);
  gst_structure_get_int (s, "height", &height);
  fail_unless (width == 20 && height == 10);
  run_free (run);

  /* A property that contradicts the caps ends the stream with an error that
   * names it. */
  static const gchar *contradictions[][2] = { { "width=30", "width" },
    { "height=11", "height" }, { "format=RGB", "format" } };
  for (guint i = 0; i < G_N_ELEMENTS (contradictions); i++) {
    g_autofree gchar *expected =
        g_strdup_printf ("[stream-error format]|%s", contradictions[i][1]);

    run = run_pipeline (
        "spdlsrc location=%s ! spdlfetch ! spdldecode %s ! "
        "video/x-raw,format=BGR,width=20,height=10 ! fakesink name=sink",
        folder, contradictions[i][0]);
    fail_unless (
        run->error && errors_text_has (run->error, expected), "%s", run->error);
    run_free (run);
  }
  run = run_pipeline ("spdlsrc location=%s ! spdlfetch ! spdldecode "
                      "format=I420 ! fakesink name=sink",
      folder);
  fail_unless (
      run->error && errors_text_has (run->error, "format"), "%s", run->error);
  run_free (run);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests spdldecode after GStreamer's own elements. */
GST_START_TEST (test_with_stock_elements)
{
  gchar *folder = files_make_dataset (3);
  Run *run = run_pipeline (
      "multifilesrc location=%s/class-a/%%04u.jpg "
      "stop-index=0 caps=image/jpeg ! spdldecode width=8 height=8 ! "
      "videoconvert ! video/x-raw,format=I420 ! fakesink name=sink",
      folder);

  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 1);
  /* The element numbers the item, and the index survives videoconvert. */
  fail_unless_equals_uint64 (run_item (run, 0)->index, 0);
  run_free (run);
  files_remove_folder (folder);
}

GST_END_TEST;

static guint
count_piece_warnings (const Run *run)
{
  guint n = 0;

  for (guint i = 0; i < run->warnings->len; i++)
    n += errors_text_has (g_ptr_array_index (run->warnings, i),
        "[stream-error format]|filesrc|spdlfetch|jpegparse");
  return n;
}

/* Pieces of a file fail, with one hint. Corrupt whole files do not get it, also
 * if their offsets continue. */
GST_START_TEST (test_pieces)
{
  gchar *folder = files_make_folder ();
  g_autofree gchar *noise = g_malloc (3000);
  Run *run;

  files_write_jpeg (folder, "image.jpg", 1000, 1000, 1);
  memset (noise, 'x', 3000);
  for (guint i = 0; i < 3; i++) {
    g_autofree gchar *name = g_strdup_printf ("%u.bin", i);

    files_write (folder, name, noise, 2000 + 500 * i);
  }
  run = run_pipeline ("filesrc location=%s/image.jpg ! spdldecode ! "
                      "fakesink name=sink",
      folder);
  fail_unless (run->failures->len > 1);
  fail_unless_equals_int (count_piece_warnings (run), 1);
  run_free (run);
  run = run_pipeline ("filesrc location=%s/image.jpg blocksize=1000000 ! "
                      "spdldecode ! fakesink name=sink",
      folder);
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 1);
  run_free (run);
  run = run_pipeline (
      "multifilesrc location=%s/%%u.bin ! spdldecode ! fakesink name=sink",
      folder);
  fail_unless_equals_int (run->failures->len, 3);
  fail_unless_equals_int (count_piece_warnings (run), 0);
  run_free (run);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Runs all transforms on images of many sizes under the sanitizers.
 * tests/python/test_transforms.py compares the pixels with Pillow's. */
GST_START_TEST (test_transforms)
{
  static const gchar *lines[] = {
    "width=20 height=31 augment=random-resized-crop flip=0.5",
    "width=64 height=64 augment=random-resized-crop interpolation=lanczos",
    "width=30 height=30 augment=random-crop flip=1.0 fast-scale=false",
    "width=50 height=20 resize=cover interpolation=bicubic",
    "width=50 height=20 resize=cover crop-fraction=0.5 fast-scale=false",
    "height=16 resize=cover crop-fraction=0.875",
    "width=50 height=20 resize=contain background=255 interpolation=nearest",
    "width=7 height=9 resize=cover augment=random-resized-crop",
    "height=16 resize=contain flip=0.5",
    "width=3 height=3 crop-scale=<0.001,0.01> augment=random-resized-crop",
  };
  gchar *folder = files_make_dataset (60);

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    Run *run = run_pipeline (
        "spdlsrc location=%s ! spdlfetch ! spdldecode concurrency=2 %s ! "
        "fakesink name=sink",
        folder, lines[i]);

    fail_unless (run->error == NULL, "%s", run->error);
    fail_unless_equals_int (run->buffers->len, 60);
    for (guint b = 0; b < 60; b++) {
      const GstStructure *s =
          gst_caps_get_structure (g_ptr_array_index (run->caps, b), 0);
      gint width, height, w = 0, h = 16;

      fail_unless (gst_structure_get_int (s, "width", &width));
      fail_unless (gst_structure_get_int (s, "height", &height));
      sscanf (lines[i], "width=%d height=%d", &w, &h);
      fail_unless (w == 0 || width == w, "%s: %d", lines[i], width);
      fail_unless (height == h, "%s: %d", lines[i], height);
      fail_unless (
          !strstr (lines[i], "flip") ||
          gst_structure_has_field (run_item (run, b)->extra, "crop-width"));
    }
    run_free (run);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

CHECK_SUITE (decode, TEST (test_stretch), TEST (test_flat),
    TEST (test_own_size), TEST (test_corrupt), TEST (test_unusual),
    TEST (test_limits), TEST (test_negotiation),
    TEST (test_with_stock_elements), TEST (test_pieces), TEST (test_transforms))
