/* gst-spdl: tests of spdlbatch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/rig.h"
#include "tests/check/support/run.h"

#define RGB(w, h) \
  "video/x-raw,format=RGB,width=" #w ",height=" #h ",framerate=0/1"

static void
push_image (Rig *rig, guint64 number, guint width, guint height)
{
  const gsize stride = GST_ROUND_UP_4 (width * 3);

  gst_pad_push (rig->src, rig_make_item (number, stride * height));
}

static gchar *
get_field (Rig *rig, const gchar *field)
{
  GstCaps *caps = gst_pad_get_current_caps (rig->sink);
  gchar *value = g_strdup (
      gst_structure_get_string (gst_caps_get_structure (caps, 0), field));

  gst_caps_unref (caps);
  return value;
}

static GstSpdlBatchMeta *
get_batch (Rig *rig, guint i)
{
  return gst_spdl_buffer_get_batch_meta (g_ptr_array_index (rig->buffers, i));
}

/* Row padding to 4 bytes is removed; each tensor has a separate memory. */
GST_START_TEST (test_layout)
{
  Rig *rig = rig_new (
      "spdlbatch", "batch-size", 3, "labels", TRUE, "indices", TRUE, NULL);
  g_autofree gchar *types = NULL, *dims = NULL;
  gint64 numbers[3];

  rig_start (rig, RGB (5, 2)); /* 15 bytes per row, padded to 16 */
  for (guint i = 0; i < 4; i++)
    push_image (rig, i + 11, 5, 2);
  rig_assert_log (rig, "batch");
  types = get_field (rig, "types");
  dims = get_field (rig, "dimensions");
  fail_unless_equals_string (types, "uint8,int64,int64");
  fail_unless_equals_string (dims, "3:5:2:3,3,3");

  GstBuffer *buffer = g_ptr_array_index (rig->buffers, 0);
  fail_unless_equals_int (gst_buffer_n_memory (buffer), 3);
  fail_unless_equals_int (
      gst_memory_get_sizes (gst_buffer_peek_memory (buffer, 0), NULL, NULL),
      90);
  for (guint i = 0; i < 90; i++) {
    guint8 byte;

    gst_buffer_extract (buffer, i, &byte, 1);
    fail_unless_equals_int (byte, 11 + i / 30);
  }
  gst_buffer_extract (buffer, 90, numbers, sizeof numbers);
  fail_unless (numbers[0] == 1 && numbers[1] == 2 && numbers[2] == 3);
  gst_buffer_extract (buffer, 114, numbers, sizeof numbers);
  fail_unless (numbers[0] == 11 && numbers[1] == 12 && numbers[2] == 13);

  GstSpdlBatchMeta *batch = get_batch (rig, 0);
  fail_unless_equals_int (batch->num_items, 3);
  fail_unless_equals_string (
      gst_spdl_batch_meta_get_item (batch, 1)->uri, "test:12");
  fail_unless (gst_spdl_batch_meta_get_item (batch, 3) == NULL);
  fail_unless_equals_int (batch->num_tensors, 3);
  fail_unless_equals_string (gst_spdl_batch_meta_get_name (batch, 0), "data");
  fail_unless_equals_string (gst_spdl_batch_meta_get_name (batch, 1), "labels");
  fail_unless_equals_string (
      gst_spdl_batch_meta_get_name (batch, 2), "indices");

  /* The last batch is smaller and has other caps. */
  rig_push_eos (rig);
  rig_assert_log (rig, "batch eos");
  g_free (dims);
  dims = get_field (rig, "dimensions");
  fail_unless_equals_string (dims, "3:5:2:1,1,1");
  fail_unless_equals_int (get_batch (rig, 1)->num_items, 1);
  fail_unless_equals_int (
      gst_buffer_get_size (g_ptr_array_index (rig->buffers, 1)), 30 + 8 + 8);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_epochs_and_drop)
{
  for (guint drop = 0; drop < 2; drop++) {
    Rig *rig = rig_new ("spdlbatch", "batch-size", 4, "drop-last", drop, NULL);

    rig_start (rig, RGB (4, 4));
    for (guint epoch = 0; epoch < 2; epoch++) {
      for (guint i = 0; i < 6; i++)
        push_image (rig, i, 4, 4);
      gst_pad_push_event (rig->src, gst_spdl_event_new_epoch (0, epoch, 6));
    }
    rig_push_eos (rig);
    rig_assert_log (rig, drop ? "batch gone dropped 4 5 epoch 0 batch gone "
                                "dropped 4 5 epoch 1 eos"
                              : "batch batch epoch 0 batch batch epoch 1 eos");
    fail_unless_equals_int (get_batch (rig, 1)->num_items, drop ? 4 : 2);
    rig_free (rig);
  }
}

GST_END_TEST;

/* An item of another shape fails with a message that has both shapes; the batch
 * is filled by other items. */
GST_START_TEST (test_shapes)
{
  Rig *rig =
      rig_new ("spdlbatch", "batch-size", 3, "on-shape-mismatch", 2, NULL);
  GstCaps *other = gst_caps_from_string (RGB (8, 4));
  GstCaps *caps = gst_caps_from_string (RGB (4, 4));
  const GstStructure *s;
  GError *error = NULL;

  rig_start (rig, RGB (4, 4));
  push_image (rig, 0, 4, 4);
  gst_pad_push_event (rig->src, gst_event_new_caps (other));
  push_image (rig, 1, 8, 4);
  gst_pad_push_event (rig->src, gst_event_new_caps (caps));
  push_image (rig, 2, 4, 4);
  /* An item smaller than its caps fails as well. */
  gst_pad_push (rig->src, rig_make_item (3, 47));
  push_image (rig, 4, 4, 4);
  rig_assert_log (rig, "failed 1 gone failed 1 failed 3 gone failed 3 batch");
  fail_unless_equals_int (get_batch (rig, 0)->items[1].index, 2);
  fail_unless_equals_int (get_batch (rig, 0)->items[2].index, 4);
  gst_structure_get (
      gst_message_get_structure (g_ptr_array_index (rig->messages, 0)), "error",
      G_TYPE_ERROR, &error, NULL);
  fail_unless (errors_has (error, "uint8 (4, 8, 3)") &&
                   errors_has (error, "uint8 (4, 4, 3)"),
      "%s", error->message);
  g_error_free (error);

  /* An invalid first item does not determine the shape of the next batch. */
  gst_pad_push_event (rig->src, gst_event_new_caps (other));
  gst_pad_push (rig->src, rig_make_item (5, 1));
  gst_pad_push_event (rig->src, gst_event_new_caps (caps));
  push_image (rig, 6, 4, 4);
  rig_push_eos (rig);
  rig_assert_log (rig, "failed 5 gone failed 5 batch eos");
  s = rig_find_message (rig, "spdl-stage-stats");
  guint64 n;
  fail_unless (gst_structure_get_uint64 (s, "num-failures", &n) && n == 3);
  fail_unless (gst_structure_get_uint64 (s, "num-batches", &n) && n == 2);
  gst_caps_unref (caps);
  gst_caps_unref (other);
  rig_free (rig);
}

GST_END_TEST;

/* Tensors of items are stacked, each to a separate tensor. */
GST_START_TEST (test_tensors)
{
  Rig *rig = rig_new ("spdlbatch", "batch-size", 2, NULL);
  g_autofree gchar *types = NULL, *dims = NULL;

  rig_start (rig,
      "other/tensors,format=static,num_tensors=2,"
      "types=(string)\"float32,uint8\",dimensions=(string)\"2:3,5\","
      "framerate=0/1");
  for (guint i = 0; i < 2; i++) {
    GstBuffer *item = rig_make_item (i, 24);
    GstMemory *second = gst_allocator_alloc (NULL, 5, NULL);
    GstMapInfo map;

    gst_memory_map (second, &map, GST_MAP_WRITE);
    memset (map.data, 100 + i, 5);
    gst_memory_unmap (second, &map);
    gst_buffer_append_memory (item, second);
    gst_pad_push (rig->src, item);
  }
  rig_assert_log (rig, "batch");
  types = get_field (rig, "types");
  dims = get_field (rig, "dimensions");
  fail_unless_equals_string (types, "float32,uint8");
  fail_unless_equals_string (dims, "2:3:2,5:2");
  GstBuffer *buffer = g_ptr_array_index (rig->buffers, 0);
  guint8 bytes[58];
  gst_buffer_extract (buffer, 0, bytes, 58);
  fail_unless (bytes[0] == 0 && bytes[23] == 0 && bytes[24] == 1);
  fail_unless (bytes[48] == 100 && bytes[53] == 101);
  fail_unless_equals_string (
      gst_spdl_batch_meta_get_name (get_batch (rig, 0), 1), "data1");
  rig_free (rig);
}

GST_END_TEST;

/* Memory returns to the pool only when the last tensor is dropped, and a batch
 * that is kept is not overwritten. */
GST_START_TEST (test_memory)
{
  Rig *rig = rig_new ("spdlbatch", "batch-size", 1, NULL);
  GstMemory *kept;
  GstMapInfo map;
  gconstpointer address;

  rig_start (rig, RGB (4, 1));
  push_image (rig, 1, 4, 1);
  kept = gst_buffer_get_memory (g_ptr_array_index (rig->buffers, 0), 0);
  g_ptr_array_set_size (rig->buffers, 0); /* the batch itself is freed */
  for (guint i = 2; i < 6; i++)
    push_image (rig, i, 4, 1);
  fail_unless (gst_memory_map (kept, &map, GST_MAP_READWRITE));
  fail_unless_equals_int (map.data[0], 1);
  address = map.data;
  gst_memory_unmap (kept, &map);
  gst_memory_unref (kept);
  g_ptr_array_set_size (rig->buffers, 0);

  /* The memory may be reused now. */
  gboolean again = FALSE;
  for (guint i = 6; i < 12; i++) {
    push_image (rig, i, 4, 1);
    gst_buffer_map (
        g_ptr_array_index (rig->buffers, i - 6), &map, GST_MAP_READ);
    again |= map.data == address;
    gst_buffer_unmap (g_ptr_array_index (rig->buffers, i - 6), &map);
  }
  fail_unless (again);
  rig_free (rig);
}

GST_END_TEST;

/* The result of several items is not treated as one item. */
GST_START_TEST (test_batches)
{
  Rig *rig = rig_new ("spdlbatch", "batch-size", 2, NULL);
  GstBuffer *batch = gst_buffer_new_allocate (NULL, 12, NULL);

  gst_spdl_buffer_add_batch_meta (batch, 1);
  rig_start (rig, RGB (4, 1));
  fail_unless_equals_int (gst_pad_push (rig->src, batch), GST_FLOW_ERROR);
  fail_unless (
      errors_text_has (rig_get_error (rig), "[stream-error wrong-type]"));
  rig_free (rig);
}

GST_END_TEST;

/* Tests that caps which cannot be stacked cause one error, which names the
 * remedy, whatever element is in front. */
GST_START_TEST (test_refused_caps)
{
  static const gchar *const refused[][2] = {
    { "image/jpeg", "[stream-error wrong-type]|image/jpeg|! spdldecode" },
    { "text/uri-list", "[stream-error wrong-type]|spdlfetch ! spdldecode" },
    { "video/x-raw,format=I420,width=4,height=4,framerate=0/1",
        "[stream-error format]|I420|videoconvert" },
    { "audio/x-raw,format=S24_32LE,rate=8000,channels=1,layout=interleaved",
        "[stream-error format]|S24_32LE|audioconvert" },
    { "other/tensors,format=flexible,framerate=0/1",
        "[stream-error format]|flexible" },
  };
  static const gchar *const before[] = { "spdlaggregate size=2 ! spdlcache",
    "spdlmix ! spdlroute", "queue ! spdldisaggregate ! queue" };
  gchar *folder = files_make_dataset (6);

  for (guint i = 0; i < G_N_ELEMENTS (refused); i++) {
    Rig *rig = rig_new ("spdlbatch", "batch-size", 2, NULL);

    rig_start (rig, refused[i][0]);
    for (guint k = 0; k < 2; k++)
      fail_unless_equals_int (
          gst_pad_push (rig->src, rig_make_item (k, 24)), GST_FLOW_EOS);
    fail_unless (errors_text_has (rig_get_error (rig), refused[i][1]), "%s",
        rig_get_error (rig));
    rig_assert_log (rig, "error");
    rig_free (rig);
  }
  for (guint i = 0; i < G_N_ELEMENTS (before); i++)
    run_expect_error (
        run_pipeline ("spdlsrc location=%s ! spdlfetch caps=image/jpeg ! %s "
                      "! spdlbatch ! fakesink name=sink",
            folder, before[i]),
        refused[0][1]);
  files_remove_folder (folder);
}

GST_END_TEST;

GST_START_TEST (test_flush)
{
  Rig *rig = rig_new ("spdlbatch", "batch-size", 2, NULL);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  rig_start (rig, RGB (4, 1));
  push_image (rig, 0, 4, 1);
  gst_pad_push_event (rig->src, gst_event_new_flush_start ());
  gst_pad_push_event (rig->src, gst_event_new_flush_stop (TRUE));
  gst_pad_push_event (rig->src, gst_event_new_segment (&segment));
  push_image (rig, 5, 4, 1);
  push_image (rig, 6, 4, 1);
  rig_push_eos (rig);
  rig_assert_log (rig, "flush-start flush-stop batch eos");
  fail_unless_equals_int (get_batch (rig, 0)->items[0].index, 5);
  rig_free (rig);
}

GST_END_TEST;

/* Items from elements of other projects get their numbers here. */
GST_START_TEST (test_foreign)
{
  Run *run =
      run_pipeline ("videotestsrc num-buffers=10 ! "
                    "video/x-raw,format=GRAY8,width=6,height=5 ! "
                    "spdlbatch batch-size=4 indices=true ! fakesink name=sink");
  gint64 index;

  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 3);
  gst_buffer_extract (
      g_ptr_array_index (run->buffers, 2), 6 * 5 * 2 + 8, &index, 8);
  fail_unless_equals_int64 (index, 9);
  run_free (run);
}

GST_END_TEST;

static float
get_float (Rig *rig, guint i)
{
  float value;

  gst_buffer_extract (g_ptr_array_index (rig->buffers, 0), i * sizeof value,
      &value, sizeof value);
  return value;
}

/* Makes an image with samples @first, @first + 1, ..., with rows padded to 4
 * bytes. */
static GstBuffer *
make_ramp (guint width, guint height, guint8 first)
{
  const gsize stride = GST_ROUND_UP_4 (width * 3);
  GstBuffer *buffer = rig_make_item (0, stride * height);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < width * 3; x++)
      map.data[y * stride + x] = first + y * width * 3 + x;
  gst_buffer_unmap (buffer, &map);
  return buffer;
}

GST_START_TEST (test_normalized_planes)
{
  static const double mean[] = { 0.485, 0.456, 0.406 };
  static const double std[] = { 0.229, 0.224, 0.225 };
  GstElement *element = gst_element_factory_make ("spdlbatch", NULL);
  g_autofree gchar *types = NULL, *dims = NULL;
  Rig *rig;

  gst_util_set_object_arg (G_OBJECT (element), "batch-size", "2");
  gst_util_set_object_arg (G_OBJECT (element), "dtype", "float32");
  gst_util_set_object_arg (G_OBJECT (element), "layout", "nchw");
  gst_util_set_object_arg (G_OBJECT (element), "mean", "<0.485, 0.456, 0.406>");
  gst_util_set_object_arg (G_OBJECT (element), "std", "<0.229, 0.224, 0.225>");
  rig = rig_new_for (element);
  rig_start (rig, RGB (5, 3));
  gst_pad_push (rig->src, make_ramp (5, 3, 10));
  gst_pad_push (rig->src, make_ramp (5, 3, 90));
  rig_assert_log (rig, "batch");
  types = get_field (rig, "types");
  dims = get_field (rig, "dimensions");
  fail_unless_equals_string (types, "float32");
  fail_unless_equals_string (dims, "5:3:3:2");
  for (guint n = 0; n < 2; n++)
    for (guint c = 0; c < 3; c++)
      for (guint i = 0; i < 15; i++) {
        const double sample = (n == 0 ? 10 : 90) + 3 * i + c;
        const double expected = (sample / 255 - mean[c]) / std[c];

        fail_unless (
            ABS (get_float (rig, n * 45 + c * 15 + i) - expected) < 1e-5);
      }
  rig_free (rig);
}

GST_END_TEST;

#define LARGE_IMAGES 43
#define LARGE_ROW (162 * 120 * 3 * sizeof (float))

/* Runs a pipeline and returns the rows of its batches, by index. */
static GPtrArray *
run_large_images (const gchar *stage)
{
  GPtrArray *rows =
      g_ptr_array_new_full (LARGE_IMAGES, (GDestroyNotify) g_bytes_unref);
  Run *run = run_pipeline (
      "videotestsrc num-buffers=%d pattern=ball background-color=0xff305080 ! "
      "video/x-raw,format=RGB,width=162,height=120 ! %s spdlbatch batch-size=8 "
      "dtype=float32 layout=nchw indices=true ! fakesink name=sink",
      LARGE_IMAGES, stage);

  fail_unless (run->error == NULL, "%s", run->error);
  g_ptr_array_set_size (rows, LARGE_IMAGES);
  for (guint i = 0; i < run->buffers->len; i++) {
    GstBuffer *batch = g_ptr_array_index (run->buffers, i);
    const guint n = gst_spdl_buffer_get_batch_meta (batch)->num_items;

    for (guint k = 0; k < n; k++) {
      gpointer data = g_malloc (LARGE_ROW);
      gint64 index;

      gst_buffer_extract (
          batch, n * LARGE_ROW + k * sizeof index, &index, sizeof index);
      gst_buffer_extract (batch, k * LARGE_ROW, data, LARGE_ROW);
      fail_unless (index >= 0 && index < LARGE_IMAGES);
      fail_unless (rows->pdata[index] == NULL);
      rows->pdata[index] = g_bytes_new_take (data, LARGE_ROW);
    }
  }
  run_free (run);
  return rows;
}

/* The workers of the stage before write large items. */
GST_START_TEST (test_workers_write)
{
  static const gchar *const stages[] = {
    "spdlteststage concurrency=3 output-order=input !",
    "spdlteststage concurrency=3 jitter=300000 output-order=completion !",
    "spdlteststage concurrency=2 ! queue ! identity !",
    "spdlteststage concurrency=1 spin=2000000 !",
  };
  g_autoptr (GPtrArray) expected = run_large_images ("");

  for (guint i = 0; i < G_N_ELEMENTS (stages); i++) {
    g_autoptr (GPtrArray) rows = run_large_images (stages[i]);

    for (guint k = 0; k < LARGE_IMAGES; k++)
      fail_unless (
          g_bytes_equal (rows->pdata[k], expected->pdata[k]), "%u of %u", k, i);
  }
}

GST_END_TEST;

/* A clip consists of frames, each with planes. */
GST_START_TEST (test_planes_of_clips)
{
  Rig *rig = rig_new ("spdlbatch", "batch-size", 1, NULL);
  g_autofree gchar *types = NULL, *dims = NULL;
  GstBuffer *clip = rig_make_item (0, 3 * 2 * 1 * 2);
  guint8 bytes[12];

  for (guint8 i = 0; i < 12; i++)
    gst_buffer_fill (clip, i, &i, 1);
  gst_util_set_object_arg (G_OBJECT (rig->element), "layout", "nchw");
  rig_start (rig, "other/tensors,format=static,num_tensors=1,types=uint8,"
                  "dimensions=3:2:1:2,framerate=0/1");
  gst_pad_push (rig->src, clip);
  types = get_field (rig, "types");
  dims = get_field (rig, "dimensions");
  fail_unless_equals_string (types, "uint8");
  fail_unless_equals_string (dims, "2:1:3:2:1");
  gst_buffer_extract (g_ptr_array_index (rig->buffers, 0), 0, bytes, 12);
  fail_unless (memcmp (bytes, "\0\3\1\4\2\5\6\11\7\12\10\13", 12) == 0);
  rig_free (rig);
}

GST_END_TEST;

/* Sounds have channels before samples, also a single one; images likewise. */
GST_START_TEST (test_planes_of_one_channel)
{
  static const struct {
    const gchar *caps, *dims;
  } items[] = {
    { "audio/x-raw,format=F32LE,rate=8000,channels=1,layout=interleaved",
        "2:1:2" },
    { "audio/x-raw,format=F32LE,rate=8000,channels=2,layout=interleaved",
        "1:2:2" },
    { "video/x-raw,format=GRAY8,width=4,height=2,framerate=0/1", "4:2:1:2" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (items); i++) {
    Rig *rig = rig_new ("spdlbatch", "batch-size", 2, NULL);
    g_autofree gchar *dims = NULL;
    guint8 bytes[16];

    gst_util_set_object_arg (G_OBJECT (rig->element), "layout", "nchw");
    rig_start (rig, items[i].caps);
    for (guint n = 0; n < 2; n++)
      gst_pad_push (rig->src, rig_make_item (n + 1, 8));
    dims = get_field (rig, "dimensions");
    fail_unless_equals_string (dims, items[i].dims);
    gst_buffer_extract (g_ptr_array_index (rig->buffers, 0), 0, bytes, 16);
    fail_unless (memcmp (bytes, "\1\1\1\1\1\1\1\1\2\2\2\2\2\2\2\2", 16) == 0);
    rig_free (rig);
  }
}

GST_END_TEST;

GST_START_TEST (test_conversion_refused)
{
  static const gchar *settings[][4] = {
    { "mean", "<0.5, 0.5>", RGB (4, 4), "[stream-error format]|float32|dtype" },
    { "dtype", "float16",
        "other/tensors,format=static,num_tensors=1,types=int64,"
        "dimensions=(string)3,framerate=0/1",
        "[stream-error format]|uint8|float32" },
    { "layout", "nchw",
        "other/tensors,format=static,num_tensors=1,types=uint8,"
        "dimensions=(string)3:4,framerate=0/1",
        "[stream-error format]|3" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    Rig *rig = rig_new ("spdlbatch", "batch-size", 1, NULL);

    gst_util_set_object_arg (
        G_OBJECT (rig->element), settings[i][0], settings[i][1]);
    rig_start (rig, settings[i][2]);
    fail_unless (errors_text_has (rig_get_error (rig), settings[i][3]), "%s",
        rig_get_error (rig));
    rig_free (rig);
  }
}

GST_END_TEST;

#if GLIB_SIZEOF_VOID_P == 8 && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
/* Tests batches of more than 4 GiB, only part of which is written; sanitizers
 * and MALLOC_PERTURB_ would write everything. */
GST_START_TEST (test_huge)
{
  const guint size = 1 << 16, n = (1 << 16) + 1;
  Rig *rig = rig_new ("spdlbatch", "batch-size", n, NULL);
  GstBuffer *batch;

  rig_start (rig, "other/tensors,format=static,num_tensors=1,"
                  "types=(string)uint8,dimensions=(string)65536,"
                  "framerate=0/1");
  for (guint i = 0; i < 8; i++)
    gst_pad_push (rig->src, rig_make_item (i, size));
  rig_push_eos (rig);
  rig_wait_eos (rig);
  rig_assert_log (rig, "batch eos");
  batch = g_ptr_array_index (rig->buffers, 0);
  fail_unless_equals_int (gst_buffer_get_size (batch), 8 * size);
  for (guint i = 0; i < 8; i++) {
    guint8 bytes[2];

    gst_buffer_extract (batch, i * size, bytes, 1);
    gst_buffer_extract (batch, i * size + size - 1, bytes + 1, 1);
    fail_unless (bytes[0] == i && bytes[1] == i);
  }
  rig_free (rig);
}

GST_END_TEST;
#endif

static Suite *
batch_suite (void)
{
  Suite *s = suite_create ("batch");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_layout);
#if GLIB_SIZEOF_VOID_P == 8 && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
  tcase_add_test (tc, test_huge);
#endif
  tcase_add_test (tc, test_epochs_and_drop);
  tcase_add_test (tc, test_shapes);
  tcase_add_test (tc, test_tensors);
  tcase_add_test (tc, test_memory);
  tcase_add_test (tc, test_batches);
  tcase_add_test (tc, test_refused_caps);
  tcase_add_test (tc, test_flush);
  tcase_add_test (tc, test_foreign);
  tcase_add_test (tc, test_normalized_planes);
  tcase_add_test (tc, test_workers_write);
  tcase_add_test (tc, test_planes_of_clips);
  tcase_add_test (tc, test_planes_of_one_channel);
  tcase_add_test (tc, test_conversion_refused);
  return s;
}

GST_CHECK_MAIN (batch);
