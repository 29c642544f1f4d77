/* gst-spdl: tests of spdldecode with images of all formats
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>
#include <sys/resource.h>

#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/rig.h"
#include "tests/check/support/run.h"
#include "tests/check/support/stills.h"
#include "tests/check/support/suite.h"

#define WIDTH 61
#define HEIGHT 48

static void
push_data (Rig *rig, guint64 number, gconstpointer data, gsize size)
{
  GstBuffer *item = rig_make_item (number, size);

  gst_buffer_fill (item, 0, data, size);
  gst_pad_push (rig->src, item);
}

static void
push_bytes (Rig *rig, guint64 number, GBytes *bytes)
{
  gsize size;
  gconstpointer data = g_bytes_get_data (bytes, &size);

  push_data (rig, number, data, size);
}

static void
assert_near (const guint8 *pixel, guint32 rgb, guint64 number)
{
  for (guint c = 0; c < 3; c++) {
    const gint expected = rgb >> (16 - 8 * c) & 0xff;

    fail_unless (ABS (pixel[c] - expected) <= 3,
        "item %" G_GUINT64_FORMAT ", channel %u: %d, not %d", number, c,
        pixel[c], expected);
  }
}

/* Checks that the lower half of a result has the color of all test images. */
static void
assert_color (GstBuffer *buffer, guint width, guint height)
{
  const GstSpdlItemMeta *item = gst_spdl_buffer_get_item_meta (buffer);
  const gsize stride = GST_ROUND_UP_4 (width * 3);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_READ);
  fail_unless_equals_int (map.size, stride * height);
  /* jpegenc writes noise beyond the right edge. */
  for (guint y = height / 2 + 12; y < height; y++) {
    assert_near (map.data + y * stride, STILLS_COLOR, item->index);
    assert_near (
        map.data + y * stride + width / 2 * 3, STILLS_COLOR, item->index);
  }
  gst_buffer_unmap (buffer, &map);
}

static guint
count_failures (Rig *rig)
{
  guint n = 0;

  for (guint i = 0; i < rig->messages->len; i++) {
    const GstStructure *s =
        gst_message_get_structure (g_ptr_array_index (rig->messages, i));

    n += s && gst_structure_has_name (s, "spdl-item-failed");
  }
  return n;
}

/* Returns the error message of item @number. */
static gchar *
dup_failure (Rig *rig, guint64 number)
{
  for (guint i = 0; i < rig->messages->len; i++) {
    const GstStructure *s =
        gst_message_get_structure (g_ptr_array_index (rig->messages, i));
    g_autoptr (GError) error = NULL;
    guint64 index;

    if (!s || !gst_structure_has_name (s, "spdl-item-failed") ||
        !gst_structure_get_uint64 (s, "index", &index) || index != number)
      continue;
    fail_unless (gst_structure_get_string (s, "uri") != NULL);
    gst_structure_get (s, "error", G_TYPE_ERROR, &error, NULL);
    return errors_format (error);
  }
  fail ("item %" G_GUINT64_FORMAT " did not fail", number);
  return NULL;
}

static void
assert_failure (Rig *rig, guint64 number, const gchar *part)
{
  g_autofree gchar *text = dup_failure (rig, number);

  fail_unless (
      errors_text_has (text, part), "%" G_GUINT64_FORMAT ": %s", number, text);
}

/* Pushes intact and broken files of one kind in turn; the intact ones have even
 * numbers. Returns the next number. */
static guint64
push_kind (Rig *rig, StillKind kind, guint64 number)
{
  g_autoptr (GBytes) bytes = stills_make (kind, WIDTH, HEIGHT);
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  const gsize cuts[] = { size - 40, size * 9 / 10, size / 2, size / 4, 60, 20,
    9 };

  for (guint i = 0; i < G_N_ELEMENTS (cuts); i++) {
    push_data (rig, number++, data, size);
    push_data (rig, number++, data, cuts[i]);
  }
  return number;
}

/* Pushes data other than images, and PNGs with a flipped bit, each followed by
 * an intact image. */
static guint64
push_others (Rig *rig, guint64 number)
{
  static const gchar text[] = "No picture, but a page about pictures.";
  static const gchar svg[] =
      "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'></svg>";
  g_autoptr (GBytes) good = stills_make (STILL_PNG, WIDTH, HEIGHT);
  gsize size;
  const guint8 *data = g_bytes_get_data (good, &size);
  g_autofree guint8 *flipped = g_memdup2 (data, size);
  g_autofree guint8 *noise = g_malloc (3000);

  for (guint i = 0; i < 3000; i++)
    noise[i] = i * 7919 >> 3;
  flipped[size / 2] ^= 0x10;
  push_bytes (rig, number++, good);
  push_data (rig, number++, text, sizeof text);
  push_bytes (rig, number++, good);
  push_data (rig, number++, noise, 3000);
  push_bytes (rig, number++, good);
  push_data (rig, number++, "", 0);
  push_bytes (rig, number++, good);
  push_data (rig, number++, flipped, size);
  push_bytes (rig, number++, good);
  push_data (rig, number++, "RIFF\x24\0\0\0WAVEfmt \x10\0\0\0", 20);
  push_bytes (rig, number++, good);
  push_data (rig, number++, svg, sizeof svg - 1);
  return number;
}

static void
check_mixed (guint concurrency, const gchar *caps)
{
  Rig *rig = rig_new (
      "spdldecode", "concurrency", concurrency, "max-failure-rate", 1.0, NULL);
  guint64 number = 0;

  rig_start (rig, caps);
  for (StillKind kind = 0; kind < N_STILLS; kind++)
    number = push_kind (rig, kind, number);
  number = push_others (rig, number);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  fail_unless_equals_int (rig_count_items (rig), number / 2);
  fail_unless_equals_int (count_failures (rig), number / 2);
  for (guint i = 0; i < rig->buffers->len; i++) {
    GstBuffer *buffer = g_ptr_array_index (rig->buffers, i);

    fail_unless_equals_int (
        gst_spdl_buffer_get_item_meta (buffer)->index % 2, 0);
    assert_color (buffer, WIDTH, HEIGHT);
  }
  assert_failure (rig, number - 11, "is not ");
  assert_failure (rig, number - 7, "[stream-error wrong-type]");
  assert_failure (rig, number - 5, "IDAT");
  assert_failure (rig, number - 3, "[stream-error decode]");
  assert_failure (rig, number - 1, "[stream-error wrong-type]|image/svg+xml");
  rig_free (rig);
}

GST_START_TEST (test_mixed)
{
  check_mixed (1, "application/octet-stream");
  check_mixed (4, "application/octet-stream");
  check_mixed (1, "image/png");
  check_mixed (4, "image/png");
}

GST_END_TEST;

/* Tests image data that is invalid although the checksum is right. */
GST_START_TEST (test_wrong_data)
{
  static const guint8 png[] = "\x89PNG\r\n\x1a\n"
                              "\0\0\0\x0dIHDR\0\0\0\x10\0\0\0\x10\x08\0\0\0\0"
                              "\x3a\x98\xa0\xbd"
                              "\0\0\0\x04IDATabcd"
                              "\x26\xe5\xf5\x0a"
                              "\0\0\0\0IEND\xae\x42\x60\x82";
  Rig *rig = rig_new ("spdldecode", "concurrency", 1, NULL);
  g_autoptr (GBytes) good = stills_make (STILL_PNG, WIDTH, HEIGHT);

  rig_start (rig, "application/octet-stream");
  for (guint i = 0; i < 6; i += 2) {
    push_data (rig, i, png, sizeof png - 1);
    push_bytes (rig, i + 1, good);
  }
  /* Two invalid files in a row. */
  push_data (rig, 6, png, sizeof png - 1);
  push_data (rig, 8, png, sizeof png - 1);
  push_bytes (rig, 9, good);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  fail_unless_equals_int (rig_count_items (rig), 4);
  for (guint i = 0; i < 4; i++)
    assert_color (g_ptr_array_index (rig->buffers, i), WIDTH, HEIGHT);
  assert_failure (rig, 0, "IDAT");
  assert_failure (rig, 8, "IDAT");
  rig_free (rig);
}

GST_END_TEST;

static guint64
get_peak_kib (void)
{
  struct rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

/* Tests that a header of two gigapixels costs no memory. The files include a
 * JPEG with an excess byte, which GStreamer's typefinder accepts, and
 * OpenEXR. */
GST_START_TEST (test_huge_headers)
{
  static const gchar jpeg[] = "\xff\xd8\x00\xff\xc0\x00\x0b\x08\xb5\x05\xb5\x05"
                              "\x01\x01\x11\x00"
                              "\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00";
  static const gchar exr[] = "\x76\x2f\x31\x01\x02\x00\x00\x00"
                             "dataWindow\0box2i\0\x10\x00\x00\x00"
                             "\x00\x00\x00\x00\x00\x00\x00\x00"
                             "\x04\xb5\x00\x00\x04\xb5\x00\x00";
  Rig *rig = rig_new ("spdldecode", "concurrency", 1, NULL);
  g_autoptr (GBytes) good = stills_make (STILL_PNG, WIDTH, HEIGHT);
  guint64 before;

  rig_start (rig, "application/octet-stream");
  push_bytes (rig, 100, good);
  rig_wait_items (rig, 1);
  before = get_peak_kib ();
  for (StillKind kind = 0; kind < N_STILLS; kind++) {
    g_autoptr (GBytes) bytes = stills_make_header (kind, 46341, 46341);

    push_bytes (rig, kind, bytes);
  }
  push_data (rig, N_STILLS, jpeg, sizeof jpeg - 1);
  push_data (rig, N_STILLS + 1, exr, sizeof exr);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  for (guint kind = 0; kind < N_STILLS + 2; kind++)
    assert_failure (rig, kind, "[stream-error decode]|46341|max-pixels");
  fail_unless (get_peak_kib () < before + 32 * 1024, "%" G_GUINT64_FORMAT,
      get_peak_kib () - before);
  rig_free (rig);
}

GST_END_TEST;

/* Tests that PNGs with two headers or an invalid bit depth fail before memory
 * is allocated. */
GST_START_TEST (test_false_headers)
{
  static const gchar second[] = "\x89PNG\r\n\x1a\n"
                                "\x00\x00\x00\x0dIHDR"
                                "\x00\x00\xb5\x05\x00\x00\xb5\x05"
                                "\x08\x02\x00\x00\x00"
                                "\x5e\x9c\x03\x74"
                                "\x00\x00\x00\x0dIHDR"
                                "\x00\x00\x00\x02\x00\x00\x00\x02"
                                "\x08\x02\x00\x00\x00"
                                "\xfd\xd4\x9a\x73";
  static const gchar deep[] = "\x89PNG\r\n\x1a\n"
                              "\x00\x00\x00\x0dIHDR"
                              "\x00\x00\x03\xe8\x00\x00\x03\xe8"
                              "\xff\x06\x00\x00\x00"
                              "\xb7\xb7\x58\xa9";
  Rig *rig = rig_new ("spdldecode", "on-corrupt", 1, NULL);
  g_autoptr (GBytes) good = stills_make (STILL_PNG, WIDTH, HEIGHT);
  guint64 before;

  rig_start (rig, "application/octet-stream");
  push_bytes (rig, 100, good);
  rig_wait_items (rig, 1);
  before = get_peak_kib ();
  push_data (rig, 0, second, sizeof second - 1);
  push_data (rig, 1, deep, sizeof deep - 1);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  assert_failure (rig, 0, "IHDR");
  assert_failure (rig, 1, "IHDR");
  fail_unless (get_peak_kib () < before + 32 * 1024, "%" G_GUINT64_FORMAT,
      get_peak_kib () - before);
  rig_free (rig);
}

GST_END_TEST;

/* Tests that max-pixels holds for each format and for the size after the
 * resize. */
GST_START_TEST (test_max_pixels)
{
  Rig *rig =
      rig_new ("spdldecode", "max-pixels", (guint64) WIDTH * HEIGHT, NULL);

  rig_start (rig, "application/octet-stream");
  for (StillKind kind = 0; kind < N_STILLS; kind++) {
    g_autoptr (GBytes) fits = stills_make (kind, WIDTH, HEIGHT);
    g_autoptr (GBytes) exceeds = stills_make (kind, WIDTH, HEIGHT + 1);

    push_bytes (rig, 2 * kind, fits);
    push_bytes (rig, 2 * kind + 1, exceeds);
  }
  rig_push_eos (rig);
  rig_wait_eos (rig);
  fail_unless_equals_int (rig_count_items (rig), N_STILLS);
  for (StillKind kind = 0; kind < N_STILLS; kind++)
    assert_failure (rig, 2 * kind + 1, "max-pixels");
  rig_free (rig);

  rig = rig_new ("spdldecode", "width", 3000, "max-pixels",
      (guint64) WIDTH * HEIGHT, NULL);
  rig_start (rig, "application/octet-stream");
  g_autoptr (GBytes) png = stills_make (STILL_PNG, WIDTH, HEIGHT);
  push_bytes (rig, 0, png);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  assert_failure (rig, 0, "[stream-error format]|3000|48");
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_huge_results)
{
  static const gchar *const stages[] = {
    "spdldecode width=100000 height=100000",
    "spdldecode ! video/x-raw,width=100000,height=100000",
    "spdldecode width=20000 height=20000",
    "spdldecode width=2147483647 height=1",
  };
  gchar *folder = files_make_folder ();
  const guint64 before = get_peak_kib ();

  files_write_jpeg (folder, "a.jpg", 60, 40, 1);
  for (guint i = 0; i < G_N_ELEMENTS (stages); i++) {
    Run *run = run_pipeline (
        "spdlsrc location=%s ! spdlfetch ! %s ! fakesink name=sink", folder,
        stages[i]);

    fail_unless (
        run->error && errors_text_has (run->error, "[stream-error format]"),
        "%s", run->error);
    run_free (run);
  }
  fail_unless (get_peak_kib () < before + 64 * 1024, "%" G_GUINT64_FORMAT,
      get_peak_kib () - before);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests that a decoder does not depend on the files before. */
GST_START_TEST (test_reuse)
{
  Rig *rig =
      rig_new ("spdldecode", "concurrency", 3, "width", 16, "height", 16, NULL);
  GBytes *stills[N_STILLS];

  for (StillKind kind = 0; kind < N_STILLS; kind++)
    stills[kind] = stills_make (kind, WIDTH, HEIGHT);
  rig_start (rig, "application/octet-stream");
  for (guint i = 0; i < 1000; i++) {
    gsize size;
    const guint8 *data = g_bytes_get_data (stills[i * 7 % N_STILLS], &size);

    push_data (rig, i, data, i % 10 == 3 ? size / 2 : size);
  }
  rig_push_eos (rig);
  rig_wait_eos (rig);
  fail_unless_equals_int (rig_count_items (rig), 900);
  rig_free (rig);
  for (StillKind kind = 0; kind < N_STILLS; kind++)
    g_bytes_unref (stills[kind]);
}

GST_END_TEST;

/* Pushes a PNM of 9 by 2 pixels, whose samples are 0, 7919, 15838 and so on. */
static void
push_pnm (Rig *rig, guint64 number, gchar kind, guint largest)
{
  const guint n_channels = kind == '3' || kind == '6' ? 3 : 1;
  g_autoptr (GString) file = g_string_new (NULL);

  g_string_printf (file, "P%c 9 2\n", kind);
  if (kind != '1' && kind != '4')
    g_string_append_printf (file, "%u\n", largest);
  for (guint i = 0; kind != '4' && i < 18 * n_channels; i++) {
    const guint sample = i * 7919 % (largest + 1);

    if (kind <= '3')
      g_string_append_printf (file, "%u ", sample);
    else if (largest > 255)
      g_string_append_c (file, sample >> 8);
    if (kind > '3')
      g_string_append_c (file, sample & 0xff);
  }
  if (kind == '4')
    g_string_append_len (file, "\x55\x00\xaa\x80", 4);
  push_data (rig, number, file->str, file->len);
}

/* Tests that all kinds of PNM have the levels of their samples, exactly
 * rounded. Two files with colors of 16 bits as text, after one of 8 bits, once
 * aborted the process. */
GST_START_TEST (test_pnm)
{
  static const guint largest[] = { 1, 100, 254, 255, 1000, 65535 };
  static const gchar kinds[] = "123456";
  const gsize stride = GST_ROUND_UP_4 (9 * 3);
  Rig *rig =
      rig_new ("spdldecode", "output-order", GST_SPDL_OUTPUT_ORDER_INPUT, NULL);
  guint n = 0;

  rig_start (rig, "application/octet-stream");
  for (guint i = 0; i < G_N_ELEMENTS (largest); i++)
    for (const gchar *kind = kinds; *kind; kind++)
      push_pnm (rig, n++, *kind, *kind % 3 == 1 ? 1 : largest[i]);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  fail_unless_equals_int (rig_count_items (rig), n);
  for (guint i = 0; i < n; i++) {
    const gboolean is_bitmap = i % 3 == 0, has_colors = i % 3 == 2;
    const guint most = is_bitmap ? 1 : largest[i / 6];
    GstMapInfo map;

    gst_buffer_map (g_ptr_array_index (rig->buffers, i), &map, GST_MAP_READ);
    for (guint j = 0; j < 18 * 3; j++) {
      const guint sample = (has_colors ? j : j / 3) * 7919ull % (most + 1);
      const guint level = (sample * 510 + most) / (2 * most);

      fail_unless_equals_int (
          map.data[j / 27 * stride + j % 27], is_bitmap ? 255 - level : level);
    }
    gst_buffer_unmap (g_ptr_array_index (rig->buffers, i), &map);
  }
  rig_free (rig);
}

GST_END_TEST;

/* Tests that a sample that is not a number, or is above the maximum, fails its
 * item. */
GST_START_TEST (test_pnm_samples)
{
  static const gchar *const good[] = { "P1 4 2 0110 1 0 0 1", "P2 2 1 9 0 9",
    "P3 1 1 255 1 2 3 # the end" };
  static const gchar *const bad[] = { "P1 4 2 0110 1 0 2 1", "P2 2 1 9 0 10",
    "P2 2 1 9 x 1", "P3 1 1 255 1 2 -3", "P3 1 1 255 1 2 0x3" };
  Rig *rig =
      rig_new ("spdldecode", "output-order", GST_SPDL_OUTPUT_ORDER_INPUT, NULL);

  rig_start (rig, "application/octet-stream");
  for (guint i = 0; i < G_N_ELEMENTS (good); i++)
    push_data (rig, i, (const guint8 *) good[i], strlen (good[i]));
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    push_data (rig, 3 + i, (const guint8 *) bad[i], strlen (bad[i]));
  rig_push_eos (rig);
  rig_wait_eos (rig);
  fail_unless_equals_int (rig_count_items (rig), G_N_ELEMENTS (good));
  rig_free (rig);
}

GST_END_TEST;

/* Tests that missing rows of a Sun raster are found, with and without
 * run-length encoding, and that the others are kept. */
GST_START_TEST (test_sun)
{
  guint8 file[32 + 2 * 18] = { 0x59, 0xa6, 0x6a,
    0x95, [7] = 6, [11] = 2, [15] = 24, [19] = 36, [23] = 1 };
  Rig *rig = rig_new ("spdldecode", "on-corrupt", 1, "background", 0x102030,
      "output-order", GST_SPDL_OUTPUT_ORDER_INPUT, NULL);
  Rig *strict = rig_new ("spdldecode", "concurrency", 1, NULL);
  GstMapInfo map;

  memset (file + 32, 0xc0, 36);
  rig_start (rig, "application/octet-stream");
  push_data (rig, 0, file, sizeof file);
  push_data (rig, 1, file, sizeof file - 1);
  rig_start (strict, "application/octet-stream");
  push_data (strict, 0, file, sizeof file - 1);
  file[23] = 2; /* runs of 18 bytes, for each row */
  memcpy (file + 32, "\x80\x11\xc0\x80\x11\xc0", 6);
  push_data (rig, 2, file, 38);
  push_data (rig, 3, file, 37);
  push_data (strict, 1, file, 37);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  rig_push_eos (strict);
  rig_wait_eos (strict);
  assert_failure (strict, 0, "[stream-error decode]");
  assert_failure (strict, 1, "[stream-error decode]");
  fail_unless_equals_int (rig_count_items (rig), 4);
  for (guint i = 0; i < 4; i++) {
    gst_buffer_map (g_ptr_array_index (rig->buffers, i), &map, GST_MAP_READ);
    fail_unless_equals_int (map.data[0], 0xc0);
    fail_unless_equals_int (map.data[20], i % 2 ? 0x10 : 0xc0);
    gst_buffer_unmap (g_ptr_array_index (rig->buffers, i), &map);
  }
  rig_free (rig);
  rig_free (strict);
}

GST_END_TEST;

/* Tests a flush in the middle of the stream, then the states NULL and
 * PLAYING. */
GST_START_TEST (test_restart)
{
  Rig *rig = rig_new ("spdldecode", "concurrency", 2, NULL);
  g_autoptr (GBytes) png = stills_make (STILL_PNG, WIDTH, HEIGHT);
  g_autoptr (GBytes) tiff = stills_make (STILL_TIFF, WIDTH, HEIGHT);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  for (guint round = 0; round < 2; round++) {
    const guint n = rig_count_items (rig);

    rig_start (rig, "image/png");
    for (guint i = 0; i < 20; i++)
      push_bytes (rig, i, i % 2 ? png : tiff);
    gst_pad_push_event (rig->src, gst_event_new_flush_start ());
    gst_pad_push_event (rig->src, gst_event_new_flush_stop (TRUE));
    gst_pad_push_event (rig->src, gst_event_new_segment (&segment));
    const guint flushed = rig_count_items (rig);
    fail_unless (flushed <= n + 20);
    for (guint i = 0; i < 6; i++)
      push_bytes (rig, i, i % 2 ? png : tiff);
    rig_push_eos (rig);
    rig_wait_eos (rig);
    fail_unless_equals_int (rig_count_items (rig), flushed + 6);
    fail_unless_equals_int (count_failures (rig), 0);
    gst_element_set_state (rig->element, GST_STATE_NULL);
  }
  rig_free (rig);
}

GST_END_TEST;

/* Tests the limit on the scans of a JPEG, each of which costs a pass over the
 * image. */
GST_START_TEST (test_scans)
{
  Rig *rig = rig_new ("spdldecode", "width", 8, NULL);
  g_autoptr (GBytes) fits = stills_make_scans (500);
  g_autoptr (GBytes) exceeds = stills_make_scans (501);

  rig_start (rig, "image/jpeg");
  push_bytes (rig, 0, fits);
  push_bytes (rig, 1, exceeds);
  push_bytes (rig, 2, fits);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  fail_unless_equals_int (rig_count_items (rig), 2);
  assert_failure (rig, 1, "[stream-error decode]|500");
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_cmyk)
{
  static const guint8 colors[][4] = { { 200, 100, 50, 128 },
    { 255, 255, 255, 255 }, { 0, 0, 0, 255 }, { 255, 10, 90, 250 } };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (colors); i++) {
    const guint8 *c = colors[i / 2];
    g_autoptr (GBytes) bytes = stills_make_cmyk (i % 2, 33, 17, c);
    Rig *rig = rig_new ("spdldecode", "width", i < 4 ? 33 : 8, NULL);
    const guint32 rgb = (c[0] * c[3] / 255) << 16 | (c[1] * c[3] / 255) << 8 |
                        c[2] * c[3] / 255;
    GstMapInfo map;

    rig_start (rig, "image/jpeg");
    push_bytes (rig, i, bytes);
    rig_push_eos (rig);
    rig_wait_eos (rig);
    fail_unless_equals_int (rig_count_items (rig), 1);
    gst_buffer_map (g_ptr_array_index (rig->buffers, 0), &map, GST_MAP_READ);
    assert_near (map.data, rgb, i);
    assert_near (map.data + map.size / 17 * 16 + 3 * 7, rgb, i);
    gst_buffer_unmap (g_ptr_array_index (rig->buffers, 0), &map);
    rig_free (rig);
  }
}

GST_END_TEST;

/* Tests that missing pixels get the background color with on-corrupt=keep, and
 * that decoded ones are unchanged. */
GST_START_TEST (test_keep)
{
  static const StillKind kinds[] = { STILL_JPEG, STILL_PNG };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    g_autoptr (GBytes) bytes = stills_make (kinds[i], WIDTH, HEIGHT);
    const gsize stride = GST_ROUND_UP_4 (WIDTH * 3);
    Rig *rig = rig_new ("spdldecode", "on-corrupt", 1, "background", 0xff8000,
        "output-order", GST_SPDL_OUTPUT_ORDER_INPUT, NULL);
    GstMapInfo whole, part;
    gsize size;
    const guint8 *data = g_bytes_get_data (bytes, &size);
    guint n_same = 0;

    rig_start (rig, "application/octet-stream");
    push_data (rig, 0, data, size);
    push_data (rig, 1, data, size / 2);
    push_data (rig, 2, data, size);
    push_data (rig, 3, data, 5); /* too short for a header */
    rig_push_eos (rig);
    rig_wait_eos (rig);
    fail_unless_equals_int (rig_count_items (rig), 3);
    fail_unless_equals_int (count_failures (rig), 1);
    gst_buffer_map (g_ptr_array_index (rig->buffers, 0), &whole, GST_MAP_READ);
    gst_buffer_map (g_ptr_array_index (rig->buffers, 1), &part, GST_MAP_READ);
    while (n_same < HEIGHT && memcmp (whole.data + n_same * stride,
                                  part.data + n_same * stride, WIDTH * 3) == 0)
      n_same++;
    fail_unless (n_same > HEIGHT / 8 && n_same < HEIGHT / 2 + 8, "%s: %u",
        stills_get_name (kinds[i]), n_same);
    assert_near (part.data + (HEIGHT - 1) * stride, 0xff8000, 1);
    assert_near (
        part.data + (HEIGHT - 1) * stride + (WIDTH - 1) * 3, 0xff8000, 1);
    gst_buffer_unmap (g_ptr_array_index (rig->buffers, 0), &whole);
    gst_buffer_unmap (g_ptr_array_index (rig->buffers, 1), &part);
    assert_color (g_ptr_array_index (rig->buffers, 2), WIDTH, HEIGHT);
    rig_free (rig);
  }
}

GST_END_TEST;

/* Tests that every format gives an image if truncated anywhere after its
 * header. */
GST_START_TEST (test_keep_any)
{
  Rig *rig = rig_new ("spdldecode", "on-corrupt", 1, NULL);
  guint n = 0;

  rig_start (rig, "application/octet-stream");
  for (StillKind kind = 0; kind < N_STILLS; kind++) {
    g_autoptr (GBytes) bytes = stills_make (kind, WIDTH, HEIGHT);
    gsize size;
    const guint8 *data = g_bytes_get_data (bytes, &size);

    for (guint tenths = 4; tenths <= 10; tenths += 2, n++)
      push_data (rig, n, data, size * tenths / 10);
  }
  rig_push_eos (rig);
  rig_wait_eos (rig);
  /* A TIFF has its directory at the end, so some truncated ones fail. */
  fail_unless_equals_int (rig_count_items (rig) + count_failures (rig), n);
  fail_unless (count_failures (rig) <= 3, "%u", count_failures (rig));
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_resize_none)
{
  static const gchar *const bad[][2] = { { "spdldecode resize=none width=30",
                                             "[stream-error format]|width=30" },
    { "spdldecode resize=none ! video/x-raw,height=30",
        "[stream-error format]|30" } };
  gchar *folder = files_make_folder ();
  Run *run;
  gint width;

  files_write_jpeg (folder, "a.jpg", 60, 40, 1);
  run = run_pipeline ("spdlsrc location=%s ! spdlfetch ! "
                      "spdldecode resize=none ! fakesink name=sink",
      folder);
  fail_unless (run->error == NULL, "%s", run->error);
  gst_structure_get_int (
      gst_caps_get_structure (g_ptr_array_index (run->caps, 0), 0), "width",
      &width);
  fail_unless_equals_int (width, 60);
  run_free (run);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    run = run_pipeline (
        "spdlsrc location=%s ! spdlfetch ! %s ! fakesink name=sink", folder,
        bad[i][0]);
    fail_unless (
        run->error &&
            errors_text_has (run->error, "[stream-error format]|resize") &&
            errors_text_has (run->error, bad[i][1]),
        "%s", run->error);
    run_free (run);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests that spdlfetch outputs application/octet-stream, although spdldecode
 * accepts other caps too. */
GST_START_TEST (test_fetch_caps)
{
  gchar *folder = files_make_folder ();
  Run *run;

  files_write_jpeg (folder, "a.jpg", 60, 40, 1);
  run = run_pipeline ("spdlsrc location=%s ! spdlfetch ! "
                      "identity name=sink ! spdldecode ! fakesink",
      folder);
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless (gst_structure_has_name (
      gst_caps_get_structure (g_ptr_array_index (run->caps, 0), 0),
      "application/octet-stream"));
  run_free (run);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests that an item fails with an error that names the missing decoder. This
 * test is last, as it removes an element. */
GST_START_TEST (test_no_decoder)
{
  static const gchar exr[] = "\x76\x2f\x31\x01\x02\x00\x00\x00"
                             "dataWindow\0box2i\0\x10\x00\x00\x00"
                             "\x00\x00\x00\x00\x00\x00\x00\x00"
                             "\x0f\x00\x00\x00\x0f\x00\x00\x00";
  g_autoptr (GBytes) jpeg = stills_make (STILL_JPEG, WIDTH, HEIGHT);
  GstRegistry *registry = gst_registry_get ();
  GstPluginFeature *feature =
      gst_registry_lookup_feature (registry, "openexrdec");
  Rig *rig;

  if (feature) {
    gst_registry_remove_feature (registry, feature);
    gst_object_unref (feature);
  }
  rig = rig_new ("spdldecode", "on-corrupt", 1, NULL);
  rig_start (rig, "application/octet-stream");
  push_data (rig, 0, exr, sizeof exr);
  push_bytes (rig, 1, jpeg);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  fail_unless_equals_int (rig_count_items (rig), 1);
  assert_failure (rig, 0, "[core-error missing-plugin]|image/x-exr");
  assert_failure (rig, 0, "gstreamer1.0-");
  rig_free (rig);
}

GST_END_TEST;

CHECK_SUITE (stills, TEST (test_mixed), TEST (test_wrong_data),
    TEST (test_huge_headers), TEST (test_false_headers), TEST (test_max_pixels),
    TEST (test_huge_results), TEST (test_reuse), TEST (test_pnm),
    TEST (test_pnm_samples), TEST (test_sun), TEST (test_restart),
    TEST (test_scans), TEST (test_cmyk), TEST (test_keep), TEST (test_keep_any),
    TEST (test_resize_none), TEST (test_fetch_caps), TEST (test_no_decoder))
