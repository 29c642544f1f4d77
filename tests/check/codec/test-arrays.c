/* gst-spdl: tests of spdldecode with arrays
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "tests/check/support/arrays.h"
#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/rig.h"
#include "tests/check/support/run.h"
#include "tests/check/support/stills.h"
#include "tests/check/support/suite.h"

/* Pushes @file and returns its buffer, of which the test keeps a reference. */
static GstBuffer *
push_file (Rig *rig, guint64 number, GBytes *file)
{
  GstBuffer *item = rig_make_item (number, g_bytes_get_size (file));

  gst_buffer_fill (
      item, 0, g_bytes_get_data (file, NULL), g_bytes_get_size (file));
  gst_buffer_ref (item);
  fail_unless_equals_int (gst_pad_push (rig->src, item), GST_FLOW_OK);
  return item;
}

/* The result of decoding one file, and the rig that decoded it. */
typedef struct {
  Rig *rig;
  GstBuffer *item;
  GstBuffer *result;
  GstCaps *caps;
} Decoded;

static Decoded
decode (GBytes *file)
{
  Decoded self = { rig_new ("spdldecode", NULL, NULL) };

  rig_start (self.rig, "application/octet-stream");
  self.item = push_file (self.rig, 7, file);
  rig_push_eos (self.rig);
  rig_wait_eos (self.rig);
  rig_assert_log (self.rig, "7 eos");
  self.result = g_ptr_array_index (self.rig->buffers, 0);
  self.caps = gst_pad_get_current_caps (self.rig->sink);
  g_bytes_unref (file);
  return self;
}

static void
decoded_clear (Decoded *self)
{
  gst_caps_unref (self->caps);
  gst_buffer_unref (self->item);
  rig_free (self->rig);
}

static void
assert_caps (const Decoded *self, const gchar *types, const gchar *dims)
{
  const GstStructure *s = gst_caps_get_structure (self->caps, 0);
  g_autoptr (GError) error = NULL;
  GstSpdlTensorsInfo info;

  fail_unless_equals_string (gst_structure_get_name (s), "other/tensors");
  fail_unless_equals_string (gst_structure_get_string (s, "types"), types);
  fail_unless_equals_string (gst_structure_get_string (s, "dimensions"), dims);
  fail_unless (gst_spdl_tensors_info_from_caps (&info, self->caps, &error));
  fail_unless_equals_int (gst_buffer_n_memory (self->result), info.num_tensors);
}

/* Checks the bytes of tensor @i, and whether it shares the item's memory
 * (@shared is -1 if that depends on the alignment of the data). */
static void
assert_tensor (
    const Decoded *self, guint i, gint shared, gconstpointer data, gsize size)
{
  GstMemory *memory = gst_buffer_peek_memory (self->result, i);
  GstMapInfo in, out;

  gst_buffer_map (self->item, &in, GST_MAP_READ);
  gst_memory_map (memory, &out, GST_MAP_READ);
  fail_unless_equals_uint64 (out.size, size);
  fail_unless (memcmp (out.data, data, size) == 0);
  if (shared >= 0)
    fail_unless_equals_int (
        out.data >= in.data && out.data + out.size <= in.data + in.size,
        shared);
  gst_memory_unmap (memory, &out);
  gst_buffer_unmap (self->item, &in);
}

static void
assert_name (const Decoded *self, guint i, const gchar *name)
{
  fail_unless_equals_string (
      gst_spdl_caps_get_tensor_name (self->caps, i), name);
}

static const float floats[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
static const gint64 longs[] = { -1, 2, G_MAXINT64 };
static const guint8 bytes[] = { 5, 4, 3, 2, 1, 0 };

static GBytes *
make_floats (void)
{
  return arrays_make_npy (1, "'<f4'", FALSE, "(3, 4)", floats, sizeof floats);
}

static GBytes *
make_longs (void)
{
  return arrays_make_npy (1, "'<i8'", FALSE, "(3,)", longs, sizeof longs);
}

static GBytes *
make_bytes (void)
{
  return arrays_make_npy (1, "'|u1'", FALSE, "(1, 6)", bytes, sizeof bytes);
}

GST_START_TEST (test_npy)
{
  for (guint version = 1; version <= 3; version++) {
    Decoded decoded = decode (arrays_make_npy (
        version, "'<f4'", FALSE, "(3, 4)", floats, sizeof floats));
    const GstSpdlItemMeta *item =
        gst_spdl_buffer_get_item_meta (decoded.result);

    assert_caps (&decoded, "float32", "4:3");
    assert_tensor (&decoded, 0, TRUE, floats, sizeof floats);
    assert_name (&decoded, 0, NULL);
    fail_unless_equals_string (item->uri, "test:7");
    fail_unless_equals_int (item->label, 7);
    decoded_clear (&decoded);
  }
}

GST_END_TEST;

/* Tests that stored members of an NPZ are not copied. */
GST_START_TEST (test_npz)
{
  for (guint flags = 0; flags < 4; flags++) {
    const gboolean stored = !(flags & ARRAYS_DEFLATED);
    Decoded decoded =
        decode (arrays_make_zip (flags, "image.npy", make_bytes (),
            "ids/of it.npy", make_longs (), "z.npy", make_floats (), NULL));

    assert_caps (&decoded, "uint8,int64,float32", "6:1,3,4:3");
    assert_tensor (&decoded, 0, stored, bytes, sizeof bytes);
    assert_tensor (&decoded, 1, stored ? -1 : 0, longs, sizeof longs);
    assert_tensor (&decoded, 2, stored ? -1 : 0, floats, sizeof floats);
    assert_name (&decoded, 0, "image");
    assert_name (&decoded, 1, "ids/of it");
    assert_name (&decoded, 2, "z");
    assert_name (&decoded, 3, NULL);
    decoded_clear (&decoded);
  }
}

GST_END_TEST;

/* Tests that a member whose data happens to be aligned is not copied. */
GST_START_TEST (test_aligned_member)
{
  guint n_shared = 0;

  for (guint i = 0; i < 8; i++) {
    g_autofree gchar *name = g_strnfill (1 + i, 'x');
    g_autofree gchar *file_name = g_strconcat (name, ".npy", NULL);
    Decoded decoded =
        decode (arrays_make_zip (0, file_name, make_longs (), NULL));
    GstMemory *memory = gst_buffer_peek_memory (decoded.result, 0);
    GstMapInfo in, out;

    gst_buffer_map (decoded.item, &in, GST_MAP_READ);
    gst_memory_map (memory, &out, GST_MAP_READ);
    fail_unless_equals_int ((gsize) out.data % sizeof (gint64), 0);
    n_shared += out.data >= in.data && out.data < in.data + in.size;
    gst_memory_unmap (memory, &out);
    gst_buffer_unmap (decoded.item, &in);
    decoded_clear (&decoded);
  }
  fail_unless_equals_int (n_shared, 1);
}

GST_END_TEST;

/* Tests that tensors come in the order of the data, not of the header. */
GST_START_TEST (test_safetensors)
{
  guint8 data[sizeof longs + sizeof floats + sizeof bytes];
  Decoded decoded;

  memcpy (data, longs, sizeof longs);
  memcpy (data + sizeof longs, floats, sizeof floats);
  memcpy (data + sizeof longs + sizeof floats, bytes, sizeof bytes);
  decoded = decode (arrays_make_safetensors (
      "{'__metadata__':{'format':'\\ud83d\\ude00'},\n"
      "'a \\u00e4\\'\\n':{'dtype':'U8','shape':[2,3],'data_offsets':[72,78]},"
      " 'ids' : { 'shape' : [ 3 ] , 'dtype' : 'I64' ,"
      " 'data_offsets' : [ 0 , 24 ] },"
      "'x':{'dtype':'F32','shape':[3,4],'data_offsets':[24,72]}}   \n   ",
      data, sizeof data));
  assert_caps (&decoded, "int64,float32,uint8", "3,4:3,3:2");
  assert_tensor (&decoded, 0, TRUE, longs, sizeof longs);
  assert_tensor (&decoded, 1, TRUE, floats, sizeof floats);
  assert_tensor (&decoded, 2, TRUE, bytes, sizeof bytes);
  assert_name (&decoded, 0, "ids");
  assert_name (&decoded, 2, "a \303\244\"\n");
  decoded_clear (&decoded);
}

GST_END_TEST;

/* Array order */

GST_START_TEST (test_orders)
{
  static const guint16 columns[] = { 1, 4, 2, 5, 3, 6 };
  static const guint16 rows[] = { 1, 2, 3, 4, 5, 6 };
  static const guint8 big[] = { 0, 1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6 };
  /* A (2, 2, 2) array whose values are the octal digits of their indices. */
  static const guint8 cube[] = { 000, 0100, 010, 0110, 001, 0101, 011, 0111 };
  static const guint8 cube_rows[] = { 000, 001, 010, 011, 0100, 0101, 0110,
    0111 };
  Decoded decoded;

  decoded = decode (
      arrays_make_npy (1, "'<u2'", TRUE, "(2, 3)", columns, sizeof columns));
  assert_caps (&decoded, "uint16", "3:2");
  assert_tensor (&decoded, 0, FALSE, rows, sizeof rows);
  decoded_clear (&decoded);

  decoded =
      decode (arrays_make_npy (1, "'>u2'", TRUE, "(2, 3)", big, sizeof big));
  assert_tensor (&decoded, 0, FALSE, rows, sizeof rows);
  decoded_clear (&decoded);

  decoded = decode (
      arrays_make_npy (1, "'|u1'", TRUE, "(2, 2, 2)", cube, sizeof cube));
  assert_tensor (&decoded, 0, FALSE, cube_rows, sizeof cube_rows);
  decoded_clear (&decoded);

  /* For one dimension, C order and Fortran order are the same. */
  decoded = decode (
      arrays_make_npy (1, "'|u1'", TRUE, "(1, 6, 1)", bytes, sizeof bytes));
  assert_tensor (&decoded, 0, TRUE, bytes, sizeof bytes);
  decoded_clear (&decoded);
}

GST_END_TEST;

GST_START_TEST (test_shapes)
{
  static const struct {
    const gchar *shape, *dims;
  } shapes[] = {
    { "()", "1" },
    { "(6,)", "6" },
    { "(6L, 1L)", "1:6" },
    { "(1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3)",
        "3:1:1:1:1:1:1:1:1:1:1:1:1:2:1" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    const gsize size = i == 0 ? 1 : sizeof bytes;
    Decoded decoded = decode (
        arrays_make_npy (1, "\"|b1\"", FALSE, shapes[i].shape, bytes, size));

    assert_caps (&decoded, "uint8", shapes[i].dims);
    assert_tensor (&decoded, 0, TRUE, bytes, size);
    decoded_clear (&decoded);
  }
}

GST_END_TEST;

/* Tests an item whose data is split over several memories. */
GST_START_TEST (test_pieces)
{
  Rig *rig = rig_new ("spdldecode", NULL, NULL);
  g_autoptr (GBytes) file = make_floats ();
  GstBuffer *item = rig_make_item (0, 0), *result;
  float found[12];

  for (gsize at = 0; at < g_bytes_get_size (file); at += 16) {
    g_autoptr (GBytes) piece = g_bytes_new_from_bytes (
        file, at, MIN (16, g_bytes_get_size (file) - at));

    item = gst_buffer_append (item, gst_buffer_new_wrapped_bytes (piece));
  }
  fail_unless (gst_buffer_n_memory (item) > 1);
  rig_start (rig, "application/octet-stream");
  gst_pad_push (rig->src, item);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  result = g_ptr_array_index (rig->buffers, 0);
  gst_buffer_extract (result, 0, found, sizeof found);
  fail_unless (memcmp (found, floats, sizeof floats) == 0);
  rig_free (rig);
}

GST_END_TEST;

/* Arrays and images in one stream */

#define N_ITEMS 240

static GBytes *
make_mixed (guint number)
{
  const gint64 content[] = { number, -1, number };
  const guint8 low[] = { number & 0xff, number >> 8 };

  switch (number % 4) {
    case 0:
      return stills_make (number % 8 ? STILL_JPEG : STILL_PNG, 8, 8);
    case 1:
      return arrays_make_npy (
          1, "'<i8'", FALSE, "(3,)", content, sizeof content);
    case 2:
      return arrays_make_zip (number & 4 ? ARRAYS_DEFLATED : ARRAYS_STORED,
          "low.npy", arrays_make_npy (1, "'<u2'", FALSE, "(1,)", low, 2),
          "content.npy",
          arrays_make_npy (1, "'<i8'", FALSE, "(3,)", content, sizeof content),
          NULL);
    default:
      return arrays_make_safetensors (
          "{'n':{'dtype':'U16','shape':[],'data_offsets':[0,2]}}", low, 2);
  }
}

static void
check_mixed (GstBuffer *result)
{
  const guint64 number = gst_spdl_buffer_get_item_meta (result)->index;
  gint64 content[3] = { 0 };
  guint16 low = 0;

  if (number % 4 == 0) {
    fail_unless_equals_int (gst_buffer_get_size (result), 16 * 16 * 3);
    return;
  }
  if (number % 4 > 1)
    gst_buffer_extract (result, 0, &low, 2);
  if (number % 4 < 3)
    gst_buffer_extract (
        result, number % 4 == 1 ? 0 : 2, content, sizeof content);
  fail_unless (number % 4 == 1 || low == number);
  fail_unless (number % 4 == 3 ||
               (content[0] == (gint64) number && content[2] == content[0]));
}

GST_START_TEST (test_mixed)
{
  for (guint in_order = 0; in_order < 2; in_order++) {
    /* Images are resized, flipped and annotated in GstSpdlItemMeta; arrays pass
     * unchanged. */
    Rig *rig = rig_new ("spdldecode", "concurrency", 4, "width", 16, "height",
        16, "flip", 1.0, NULL);

    gst_util_set_object_arg (G_OBJECT (rig->element), "output-order",
        in_order ? "input" : "completion");
    rig_start (rig, "application/octet-stream");
    for (guint i = 0; i < N_ITEMS; i++) {
      g_autoptr (GBytes) file = make_mixed (i);

      gst_buffer_unref (push_file (rig, i, file));
    }
    rig_push_eos (rig);
    rig_wait_eos (rig);
    fail_unless_equals_int (rig_count_items (rig), N_ITEMS);
    for (guint i = 0; i < N_ITEMS; i++) {
      GstBuffer *result = g_ptr_array_index (rig->buffers, i);
      const GstSpdlItemMeta *item = gst_spdl_buffer_get_item_meta (result);

      fail_unless (!in_order || item->index == i);
      fail_unless_equals_int (item->extra != NULL, item->index % 4 == 0);
      check_mixed (result);
    }
    rig_free (rig);
  }
}

GST_END_TEST;

/* Pipelines */

static void
write_file (const gchar *folder, const gchar *name, GBytes *file)
{
  files_write (
      folder, name, g_bytes_get_data (file, NULL), g_bytes_get_size (file));
  g_bytes_unref (file);
}

static gchar *
make_folder (void)
{
  gchar *folder = files_make_folder ();

  for (guint i = 0; i < 5; i++) {
    g_autofree gchar *name = g_strdup_printf ("%u.npz", i);

    write_file (folder, name,
        arrays_make_zip (
            0, "x.npy", make_floats (), "ids.npy", make_longs (), NULL));
  }
  return folder;
}

GST_START_TEST (test_batches)
{
  gchar *folder = make_folder ();
  Run *run =
      run_pipeline ("spdlsrc location=%s ! spdlfetch ! "
                    "spdldecode width=64 height=64 ! "
                    "spdlbatch batch-size=2 labels=true ! fakesink name=sink",
          folder);
  const GstStructure *s;
  gint64 ids[3];

  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 3);
  s = gst_caps_get_structure (g_ptr_array_index (run->caps, 0), 0);
  fail_unless_equals_string (
      gst_structure_get_string (s, "dimensions"), "4:3:2,3:2,2");
  fail_unless_equals_string (
      gst_spdl_batch_meta_get_name (run_batch (run, 0), 0), "x");
  fail_unless_equals_string (
      gst_spdl_batch_meta_get_name (run_batch (run, 0), 1), "ids");
  fail_unless_equals_string (
      gst_spdl_batch_meta_get_name (run_batch (run, 0), 2), "labels");
  gst_buffer_extract (g_ptr_array_index (run->buffers, 0),
      2 * sizeof floats + sizeof longs, ids, sizeof ids);
  fail_unless (memcmp (ids, longs, sizeof longs) == 0);
  run_free (run);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests that tensors with different names are not stacked in a batch. */
GST_START_TEST (test_other_names)
{
  gchar *folder = make_folder ();
  Run *run;

  write_file (folder, "0-other.npz",
      arrays_make_zip (
          0, "ids.npy", make_longs (), "x.npy", make_floats (), NULL));
  run =
      run_pipeline ("spdlsrc location=%s pattern=0* ! spdlfetch ! spdldecode ! "
                    "spdlbatch batch-size=2 on-shape-mismatch=skip ! "
                    "fakesink name=sink",
          folder);
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->failures->len, 1);
  fail_unless (errors_text_has (
      run_failure_text (run, 0), "[stream-error format]|\"x\""));
  fail_unless (errors_text_has (run_failure_text (run, 0), "with \"ids\""));
  run_free (run);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests that an item fails that has a tensor with the name of one of the
 * batch. */
GST_START_TEST (test_names_of_batches)
{
  static const gchar *cases[][2] = { { "labels", "labels" },
    { "indices", "indices" }, { "data_lengths", "pad-to-longest" } };
  gchar *folder = files_make_folder ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *name = g_strconcat (cases[i][0], ".npz", NULL);
    g_autofree gchar *member = g_strconcat (cases[i][0], ".npy", NULL);
    g_autofree gchar *text =
        g_strdup_printf ("[stream-error format]|\"%s\"", cases[i][0]);
    Run *run;

    write_file (folder, name, arrays_make_zip (0, member, make_longs (), NULL));
    run = run_pipeline (
        "spdlsrc location=%s pattern=%s ! spdlfetch ! spdldecode ! "
        "spdlbatch %s=true ! fakesink name=sink",
        folder, name, cases[i][1]);
    fail_unless (run->error != NULL);
    fail_unless (errors_text_has (run_failure_text (run, 0), text));
    run_free (run);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests that an item of a media type that downstream does not accept fails, and
 * that logging it causes no critical warning. */
GST_START_TEST (test_downstream)
{
  static const struct {
    const gchar *caps;
    guint n_results;
    const gchar *failure;
  } cases[] = {
    { "video/x-raw", 1, "[stream-error wrong-type]" },
    { "other/tensors,format=static", 5, "[stream-error wrong-type]" },
    { "other/tensors,format=static,num_tensors=1", 0,
        "[stream-error wrong-type]" },
    { "video/x-raw;other/tensors,format=static", 6, NULL },
  };
  gchar *folder = make_folder ();

  files_write_jpeg (folder, "0.jpg", 8, 8, 0);
  gst_debug_set_threshold_for_name ("spdldecode", GST_LEVEL_DEBUG);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Run *run = run_pipeline (
        "spdlsrc location=%s ! spdlfetch ! spdldecode output-order=input ! "
        "capsfilter caps=\"%s\" ! fakesink name=sink",
        folder, cases[i].caps);

    fail_unless (run->error == NULL, "%s", run->error);
    fail_unless_equals_int (run->buffers->len, cases[i].n_results);
    fail_unless_equals_int (run->failures->len, 6 - cases[i].n_results);
    fail_unless (!cases[i].failure ||
                 errors_text_has (run_failure_text (run, 0), cases[i].failure));
    if (cases[i].n_results == 0)
      fail_unless (errors_text_has (run_failure_text (run, 1),
          "[stream-error wrong-type]|other/tensors"));
    run_free (run);
  }
  gst_debug_unset_threshold_for_name ("spdldecode");
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests that media that downstream does not accept is an error of the settings,
 * whatever else downstream accepts. */
GST_START_TEST (test_media_of_downstream)
{
  static const gchar *media[] = { "image", "video" };
  static const gchar *caps[] = { "audio/x-raw", "other/tensors,format=static" };
  gchar *folder = make_folder ();

  files_write_jpeg (folder, "0.jpg", 8, 8, 0);
  for (guint i = 0; i < 4; i++) {
    Run *run = run_pipeline ("spdlsrc location=%s ! spdlfetch ! "
                             "spdldecode media=%s ! capsfilter caps=\"%s\" ! "
                             "fakesink name=sink",
        folder, media[i / 2], caps[i % 2]);

    fail_unless (run->error != NULL);
    fail_unless (
        errors_text_has (run->error, "[stream-error format]|media=video"), "%s",
        run->error);
    fail_unless_equals_int (run->buffers->len, 0);
    run_free (run);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests that GstSpdlDecoder names the tensors, without spdlbatch. */
GST_START_TEST (test_decoder)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) file = arrays_make_zip (
      0, "x.npy", make_floats (), "y.npy", make_bytes (), NULL);
  GstSpdlDecoder *decoder = gst_spdl_decoder_new ("spdldecode", &error);
  GstSpdlBatch *batch = gst_spdl_decoder_decode (decoder, file, 0, 0, &error);

  fail_unless (batch != NULL, "%s", error ? error->message : "");
  fail_unless_equals_int (gst_spdl_batch_get_n_tensors (batch), 2);
  fail_unless_equals_string (gst_spdl_batch_get_name (batch, 1), "y");
  gst_spdl_batch_unref (batch);
  g_object_unref (decoder);
}

GST_END_TEST;

CHECK_SUITE (arrays, TEST (test_npy), TEST (test_npz),
    TEST (test_aligned_member), TEST (test_safetensors), TEST (test_orders),
    TEST (test_shapes), TEST (test_pieces), TEST (test_mixed),
    TEST (test_batches), TEST (test_other_names), TEST (test_names_of_batches),
    TEST (test_downstream), TEST (test_media_of_downstream),
    TEST (test_decoder))
