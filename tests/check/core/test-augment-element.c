/* gst-spdl: tests of spdlaugment
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/rig.h"
#include "tests/check/support/run.h"
#include "tests/check/support/wait.h"

#define N_IMAGES 12
#define OPS                                                              \
  "color-jitter(brightness=0.4,hue=0.1); rand-m9-mstd0.5-inc1; augmix; " \
  "rotate(degrees=20,interpolation=bilinear); random-crop(size=24,padding=2)"
#define IMAGE_CAPS "video/x-raw,format=%s,width=12,height=9,framerate=0/1"
#define CLIP_CAPS                                                     \
  "other/tensors,format=static,num_tensors=1,types=uint8,dimensions=" \
  "3:12:9:4,framerate=0/1"

static const gchar *
get_note (GstBuffer *buffer, const gchar *field)
{
  const GstSpdlItemMeta *item = gst_spdl_buffer_get_item_meta (buffer);

  fail_unless (item && item->extra);
  return gst_structure_get_string (item->extra, field);
}

/* Items */

static GstBuffer *
make_image (guint64 number, gsize size)
{
  GstBuffer *buffer = rig_make_item (number, size);
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  for (gsize i = 0; i < map.size; i++)
    map.data[i] = i * 7 % 251;
  gst_buffer_unmap (buffer, &map);
  return buffer;
}

static Rig *
start_rig (const gchar *ops, const gchar *caps_format, const gchar *format)
{
  Rig *rig = rig_new ("spdlaugment", "ops", ops, NULL);
  GString *caps = g_string_new (caps_format);

  g_string_replace (caps, "%s", format, 0);
  rig_start (rig, caps->str);
  g_string_free (caps, TRUE);
  return rig;
}

static GstBuffer *
take_result (Rig *rig)
{
  rig_push_eos (rig);
  rig_wait_eos (rig);
  fail_unless_equals_int (rig->buffers->len, 1);
  return g_ptr_array_index (rig->buffers, 0);
}

/* The item is changed in place, unless somebody else has it too. */
GST_START_TEST (test_in_place)
{
  for (guint shared = 0; shared < 2; shared++) {
    Rig *rig = start_rig ("invert(p=1)", IMAGE_CAPS, "RGB");
    GstBuffer *item = make_image (5, 36 * 9), *result;
    guint8 *before, after[36 * 9];
    gpointer copy;
    gsize size;

    gst_buffer_extract_dup (item, 0, -1, &copy, &size);
    before = copy;
    if (shared)
      gst_buffer_ref (item);
    fail_unless_equals_int (gst_pad_push (rig->src, item), GST_FLOW_OK);
    result = take_result (rig);
    gst_buffer_extract (result, 0, after, sizeof after);
    for (gsize i = 0; i < size; i++)
      fail_unless_equals_int (after[i], 255 - before[i]);
    fail_unless_equals_string (get_note (result, "augment"), "invert(p=1)");
    if (shared) {
      fail_unless_equals_int (gst_buffer_memcmp (item, 0, before, size), 0);
      gst_buffer_unref (item);
    }
    g_free (copy);
    rig_free (rig);
  }
}
GST_END_TEST;

/* The record of two elements is one list. */
GST_START_TEST (test_two_elements)
{
  gchar *folder = files_make_dataset (1);
  Run *run = run_pipeline (
      "spdlsrc location=%s ! spdlfetch ! spdldecode width=12 height=9 ! "
      "spdlaugment ops=\"invert(p=1)\" ! spdlaugment ops=\"invert(p=0)\" ! "
      "spdlaugment ops=\"crop(x=0,y=0,width=5,height=4)\" ! "
      "fakesink name=sink",
      folder);

  fail_unless_equals_string (run->error, NULL);
  fail_unless_equals_string (get_note (run->buffers->pdata[0], "augment"),
      "invert(p=1); crop(x=0,y=0,width=5,height=4)");
  run_free (run);
  files_remove_folder (folder);
}
GST_END_TEST;

/* All frames of a clip get the same values, and its new size is in the caps. */
GST_START_TEST (test_clip)
{
  Rig *rig = start_rig (
      "hue(factor=-0.5..0.5); erase(p=1,value=random); pad(padding=1)",
      CLIP_CAPS, "");
  GstBuffer *item = rig_make_item (3, 4 * 36 * 9), *result;
  GstCaps *caps;
  guint8 frames[4][14 * 11 * 3];
  GstSpdlTensorsInfo info;

  gst_buffer_memset (item, 0, 90, -1);
  for (guint i = 0; i < 4 * 36 * 9; i += 3)
    gst_buffer_memset (item, i, 200, 1);
  gst_pad_push (rig->src, item);
  result = take_result (rig);
  fail_unless_equals_int (gst_buffer_get_size (result), sizeof frames);
  gst_buffer_extract (result, 0, frames, sizeof frames);
  for (guint i = 1; i < 4; i++)
    fail_unless (memcmp (frames[0], frames[i], sizeof frames[0]) == 0);
  caps = gst_pad_get_current_caps (rig->sink);
  fail_unless (gst_spdl_tensors_info_from_caps (&info, caps, NULL));
  fail_unless_equals_int (info.tensors[0].dims[1], 14);
  fail_unless_equals_int (info.tensors[0].dims[2], 11);
  fail_unless_equals_int (info.tensors[0].dims[3], 4);
  gst_caps_unref (caps);
  rig_free (rig);
}
GST_END_TEST;

/* Rows of raw images are padded to 4 bytes. */
GST_START_TEST (test_stride)
{
  Rig *rig = start_rig ("crop(x=1,y=0,width=3,height=2)", IMAGE_CAPS, "GRAY8");
  GstBuffer *result;
  guint8 pixels[8];
  static const guint8 rows[2][3] = { { 7, 14, 21 }, { 91, 98, 105 } };

  gst_pad_push (rig->src, make_image (0, 12 * 9));
  result = take_result (rig);
  fail_unless_equals_int (gst_buffer_get_size (result), sizeof pixels);
  gst_buffer_extract (result, 0, pixels, sizeof pixels);
  fail_unless (memcmp (pixels, rows[0], 3) == 0);
  fail_unless (memcmp (pixels + 4, rows[1], 3) == 0);
  rig_free (rig);
}
GST_END_TEST;

/* Results of one size have the frame rate of their items. */
GST_START_TEST (test_new_caps)
{
  Rig *rig = start_rig ("center-crop(size=4)", IMAGE_CAPS, "RGB");
  GstCaps *caps = gst_caps_from_string (
      "video/x-raw,format=RGB,width=8,height=8,framerate=25/1");
  GstCaps *last;
  gint fps = 0, divisor = 0;

  gst_pad_push (rig->src, make_image (0, 36 * 9));
  gst_pad_push_event (rig->src, gst_event_new_caps (caps));
  gst_pad_push (rig->src, make_image (1, 24 * 8));
  rig_push_eos (rig);
  rig_wait_eos (rig);
  last = gst_pad_get_current_caps (rig->sink);
  gst_structure_get_fraction (
      gst_caps_get_structure (last, 0), "framerate", &fps, &divisor);
  fail_unless_equals_int (fps, 25);
  gst_caps_unref (last);
  gst_caps_unref (caps);
  rig_free (rig);
}
GST_END_TEST;

/* Samples of several media */

static GstBuffer *
make_sample (void)
{
  GstBuffer *sample = rig_make_item (8, 0);
  GstBuffer *image = make_image (0, 36 * 9), *text = make_image (0, 5);
  GstCaps *caps = gst_caps_from_string (
      "video/x-raw,format=RGB,width=12,height=9,framerate=0/1");

  gst_buffer_remove_all_memory (sample);
  fail_unless (gst_spdl_buffer_append_part (sample, "data", image, caps));
  fail_unless (gst_spdl_buffer_append_part (sample, "text", text, NULL));
  gst_buffer_unref (image);
  gst_buffer_unref (text);
  gst_caps_unref (caps);
  return sample;
}

GST_START_TEST (test_part)
{
  Rig *rig = rig_new ("spdlaugment", "ops",
      "center-crop(size=4x2); invert(p=1)", "part", "data", NULL);
  GstBuffer *result;
  GstSpdlPartsMeta *parts;

  rig_start (rig, GST_SPDL_SAMPLE_CAPS);
  gst_pad_push (rig->src, make_sample ());
  result = take_result (rig);
  parts = gst_spdl_buffer_get_parts_meta (result);
  fail_unless_equals_int (parts->num_parts, 2);
  fail_unless_equals_int (gst_spdl_parts_meta_get_part (parts, 0)->size, 24);
  fail_unless_equals_int (gst_spdl_parts_meta_get_part (parts, 1)->size, 5);
  fail_unless_equals_string (get_note (result, "data.augment"),
      "crop(x=4,y=4,width=4,height=2); invert(p=1)");
  rig_free (rig);
}
GST_END_TEST;

/* Errors */

static void
assert_error (const gchar *caps, const gchar *part, const gchar *ops,
    const gchar *expected)
{
  Rig *rig = rig_new ("spdlaugment", "ops", ops, "part", part, NULL);

  rig_start (rig, caps);
  rig_push (rig, 0);
  rig_push_eos (rig);
  wait_until (rig_get_error (rig) != NULL);
  fail_unless (errors_text_has (rig_get_error (rig), expected), "%s: %s", caps,
      rig_get_error (rig));
  rig_free (rig);
}

GST_START_TEST (test_formats)
{
  assert_error ("video/x-raw,format=I420,width=12,height=9,framerate=0/1", NULL,
      "invert", "spdldecode|format=RGB");
  assert_error ("other/tensors,format=static,num_tensors=1,types=float32,"
                "dimensions=3:12:9,framerate=0/1",
      NULL, "invert", "uint8|float32");
  assert_error (GST_SPDL_SAMPLE_CAPS, NULL, "invert", "part");
  assert_error ("video/x-raw,format=RGB,width=12,height=9,framerate=0/1",
      "data", "invert", "part=data");
}
GST_END_TEST;

GST_START_TEST (test_settings)
{
  gchar *folder = files_make_dataset (1);

  run_expect_error (run_pipeline ("spdlsrc location=%s ! spdlfetch ! "
                                  "spdldecode ! spdlaugment ! fakesink "
                                  "name=sink",
                        folder),
      "ops");
  run_expect_error (
      run_pipeline ("spdlsrc location=%s ! spdlfetch ! spdldecode ! "
                    "spdlaugment ops=\"invert; bright\" ! fakesink name=sink",
          folder),
      "character 9|bright|brightness, contrast");
  files_remove_folder (folder);
}
GST_END_TEST;

/* An image that is too small fails alone. */
GST_START_TEST (test_too_small)
{
  Rig *rig = start_rig ("random-crop(size=10)", IMAGE_CAPS, "RGB");
  g_autofree gchar *log = NULL;

  gst_pad_push (rig->src, make_image (4, 36 * 9));
  rig_push_eos (rig);
  rig_wait_eos (rig);
  log = rig_take_log (rig);
  fail_unless_equals_string (log, "failed 4 gone failed 4 eos");
  rig_free (rig);
}
GST_END_TEST;

/* Random values */

static GHashTable *
run_epochs (const gchar *folder, guint concurrency, const gchar *order)
{
  Run *run = run_pipeline (
      "spdlsrc location=%s epochs=2 shuffle=true ! spdlfetch ! spdldecode "
      "width=30 height=26 ! spdlaugment seed=3 concurrency=%u output-order=%s "
      "ops=\"" OPS "\" ! fakesink name=sink",
      folder, concurrency, order);
  GHashTable *results = g_hash_table_new_full (
      g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_bytes_unref);

  fail_unless_equals_string (run->error, NULL);
  for (guint i = 0; i < run->buffers->len; i++) {
    GstBuffer *buffer = g_ptr_array_index (run->buffers, i);
    const GstSpdlItemMeta *item = run_item (run, i);
    gpointer data;
    gsize size;

    gst_buffer_extract_dup (buffer, 0, -1, &data, &size);
    fail_unless_equals_int (size, 24 * 24 * 3);
    fail_unless (get_note (buffer, "augment") != NULL);
    g_hash_table_insert (results,
        g_strdup_printf ("%" G_GUINT64_FORMAT "/%" G_GUINT64_FORMAT,
            item->epoch, item->index),
        g_bytes_new_take (data, size));
  }
  run_free (run);
  fail_unless_equals_int (g_hash_table_size (results), 2 * N_IMAGES);
  return results;
}

/* An item's result does not depend on the workers and on the order. */
GST_START_TEST (test_reproducible)
{
  gchar *folder = files_make_dataset (N_IMAGES);
  GHashTable *first = run_epochs (folder, 1, "input");

  for (guint i = 0; i < 3; i++) {
    GHashTable *other =
        run_epochs (folder, i == 0 ? 1 : 4, i == 1 ? "input" : "completion");
    GHashTableIter iter;
    gpointer key, value;

    g_hash_table_iter_init (&iter, first);
    while (g_hash_table_iter_next (&iter, &key, &value))
      fail_unless (g_bytes_equal (value, g_hash_table_lookup (other, key)),
          "item %s", (const gchar *) key);
    g_hash_table_unref (other);
  }
  fail_if (g_bytes_equal (
      g_hash_table_lookup (first, "0/0"), g_hash_table_lookup (first, "1/0")));
  g_hash_table_unref (first);
  files_remove_folder (folder);
}
GST_END_TEST;

static Suite *
augment_suite (void)
{
  Suite *s = suite_create ("augment");
  TCase *tc = tcase_create ("augment");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_in_place);
  tcase_add_test (tc, test_two_elements);
  tcase_add_test (tc, test_clip);
  tcase_add_test (tc, test_stride);
  tcase_add_test (tc, test_new_caps);
  tcase_add_test (tc, test_part);
  tcase_add_test (tc, test_formats);
  tcase_add_test (tc, test_settings);
  tcase_add_test (tc, test_too_small);
  tcase_add_test (tc, test_reproducible);
  return s;
}

GST_CHECK_MAIN (augment);
