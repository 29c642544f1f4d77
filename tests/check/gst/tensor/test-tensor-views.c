/* gst-spdl: tests of batches and tensors, without a loader
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/check/gstcheck.h>
#include <gst/spdl/spdl.h>
#include <gst/video/video.h>
#include <stdint.h>

#include "tests/check/support/suite.h"

/* DLPack's structures, as defined for consumers. */
typedef struct Managed {
  struct {
    void *data;
    struct {
      int32_t device_type;
      int32_t device_id;
    } device;
    int32_t ndim;
    struct {
      uint8_t code;
      uint8_t bits;
      uint16_t lanes;
    } dtype;
    int64_t *shape;
    int64_t *strides;
    uint64_t byte_offset;
  } dl_tensor;
  void *manager_ctx;
  void (*deleter) (struct Managed *self);
} Managed;

typedef struct {
  guint8 *data;
  gboolean *freed;
} Block;

static void
free_block (gpointer data)
{
  Block *block = data;

  *block->freed = TRUE;
  g_free (block->data);
  g_free (block);
}

/* Makes memory with @size bytes 0, 1, 2 ... and sets @freed when it is
 * freed. */
static GstMemory *
make_memory (gsize size, gboolean *freed)
{
  Block *block = g_new (Block, 1);

  *freed = FALSE;
  *block = (Block){ g_malloc (size), freed };
  for (gsize i = 0; i < size; i++)
    block->data[i] = i;
  return gst_memory_new_wrapped (
      0, block->data, size, 0, size, block, free_block);
}

static GstBuffer *
make_buffer (gsize size, gboolean *freed)
{
  GstBuffer *buffer = gst_buffer_new ();

  gst_buffer_append_memory (buffer, make_memory (size, freed));
  return buffer;
}

static GstSpdlBatch *
view (GstBuffer *buffer, const gchar *caps_string)
{
  g_autoptr (GstCaps) caps =
      caps_string ? gst_caps_from_string (caps_string) : NULL;
  g_autoptr (GError) error = NULL;
  GstSpdlBatch *batch = gst_spdl_batch_new (buffer, caps, &error);

  fail_unless (batch != NULL, "%s", error ? error->message : "");
  return batch;
}

static void
check_numbers (const gint64 *numbers, guint n, const gchar *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "%s%d", i ? " " : "", (gint) numbers[i]);
  fail_unless_equals_string (text->str, expected);
}

static void
check_view (GstSpdlBatch *batch, guint i, const gchar *name,
    const gchar *typestr, const gchar *shape, const gchar *strides)
{
  g_autoptr (GstSpdlTensor) tensor = gst_spdl_batch_dup_tensor (batch, i);
  const gint64 *numbers;
  guint n;

  fail_unless_equals_string (gst_spdl_tensor_get_name (tensor), name);
  fail_unless_equals_string (gst_spdl_tensor_get_typestr (tensor), typestr);
  numbers = gst_spdl_tensor_get_shape (tensor, &n);
  check_numbers (numbers, n, shape);
  numbers = gst_spdl_tensor_get_strides (tensor, &n);
  check_numbers (numbers, n, strides);
}

GST_START_TEST (test_bytes)
{
  gboolean freed;
  GstBuffer *buffer = make_buffer (10, &freed);
  GstSpdlBatch *batch = view (buffer, NULL);

  check_view (batch, 0, "data", "|u1", "10", "1");
  fail_unless_equals_int (gst_spdl_batch_get_n_tensors (batch), 1);
  fail_unless_equals_int (gst_spdl_batch_get_n_items (batch), 0);
  fail_unless (gst_spdl_batch_get_state (batch) == NULL);
  fail_unless (gst_spdl_batch_dup_tensor (batch, 1) == NULL);
  fail_unless (gst_spdl_batch_find_tensor (batch, "labels") == NULL);
  gst_buffer_unref (buffer);
  fail_if (freed);
  gst_spdl_batch_unref (batch);
  fail_unless (freed);

  buffer = gst_buffer_new ();
  batch = view (buffer, "application/octet-stream");
  check_view (batch, 0, "data", "|u1", "0", "1");
  gst_buffer_unref (buffer);
  gst_spdl_batch_unref (batch);
}

GST_END_TEST;

/* Shapes of images by format: rows, columns, channels. */
GST_START_TEST (test_images)
{
  static const struct {
    const gchar *format;
    const gchar *typestr;
    const gchar *shape;
    const gchar *strides;
  } images[] = {
    { "RGB", "|u1", "3 5 3", "16 3 1" },
    { "BGRA", "|u1", "3 5 4", "20 4 1" },
    { "xRGB", "|u1", "3 5 4", "20 4 1" },
    { "GRAY8", "|u1", "3 5 1", "8 1 1" },
    { "GRAY16_LE", "<u2", "3 5 1", "12 2 2" },
    { "ARGB64_LE", "<u2", "3 5 4", "40 8 2" },
    /* Formats whose pixels are not arrays of numbers become bytes. */
    { "GRAY16_BE", "|u1", "36", "1" },
    { "RGB16", "|u1", "36", "1" },
    { "YUY2", "|u1", "36", "1" },
    { "I420", "|u1", "48", "1" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (images); i++) {
    g_autofree gchar *caps =
        g_strdup_printf ("video/x-raw,format=%s,width=5,height=3,framerate=0/1",
            images[i].format);
    GstVideoInfo info;
    GstBuffer *buffer;
    GstSpdlBatch *batch;
    gboolean freed;

    gst_video_info_set_format (
        &info, gst_video_format_from_string (images[i].format), 5, 3);
    buffer = make_buffer (GST_VIDEO_INFO_SIZE (&info), &freed);
    batch = view (buffer, caps);
    check_view (batch, 0, "data", images[i].typestr, images[i].shape,
        images[i].strides);
    gst_spdl_batch_unref (batch);
    gst_buffer_unref (buffer);
    fail_unless (freed);
  }
}

GST_END_TEST;

/* The layout follows the buffer's video meta. */
GST_START_TEST (test_video_meta)
{
  gsize offset[GST_VIDEO_MAX_PLANES] = { 7 };
  gint stride[GST_VIDEO_MAX_PLANES] = { 50 };
  gboolean freed;
  GstBuffer *buffer = make_buffer (7 + 2 * 50 + 15, &freed);
  g_autoptr (GstCaps) caps = gst_caps_from_string (
      "video/x-raw,format=RGB,width=5,height=3,framerate=0/1");
  g_autoptr (GstCaps) higher = gst_caps_from_string (
      "video/x-raw,format=RGB,width=5,height=4,framerate=0/1");
  g_autoptr (GError) error = NULL;
  GstSpdlTensor *tensor;
  GstSpdlBatch *batch;

  gst_buffer_add_video_meta_full (
      buffer, 0, GST_VIDEO_FORMAT_RGB, 5, 3, 1, offset, stride);
  batch = gst_spdl_batch_new (buffer, caps, NULL);
  check_view (batch, 0, "data", "|u1", "3 5 3", "50 3 1");
  tensor = gst_spdl_batch_dup_tensor (batch, 0);
  fail_unless_equals_int (*(guint8 *) gst_spdl_tensor_get_address (tensor), 7);
  fail_unless_equals_int (gst_spdl_tensor_get_size (tensor), 115);
  fail_if (gst_spdl_tensor_is_contiguous (tensor));
  gst_spdl_tensor_unref (tensor);
  gst_spdl_batch_unref (batch);
  fail_unless (gst_spdl_batch_new (buffer, higher, &error) == NULL);
  fail_unless (
      g_error_matches (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT));
  gst_buffer_unref (buffer);
}

GST_END_TEST;

#define PAIR                                                                   \
  "other/tensors,format=static,num_tensors=2,types=(string)\"float32,int64\"," \
  "dimensions=(string)\"3:2,2\",framerate=0/1"

/* One memory per tensor, one for all, or any other division. */
GST_START_TEST (test_tensors)
{
  for (guint way = 0; way < 3; way++) {
    GstBuffer *buffer = gst_buffer_new ();
    GstSpdlTensor *first, *second;
    gboolean freed[3];
    GstSpdlBatch *batch;

    if (way == 0) {
      gst_buffer_append_memory (buffer, make_memory (24, &freed[0]));
      gst_buffer_append_memory (buffer, make_memory (16, &freed[1]));
    } else if (way == 1) {
      gst_buffer_append_memory (buffer, make_memory (40, &freed[0]));
    } else {
      for (guint i = 0; i < 3; i++)
        gst_buffer_append_memory (buffer, make_memory (16, &freed[i]));
    }
    batch = view (buffer, PAIR);
    check_view (batch, 0, "data", "<f4", "2 3", "12 4");
    check_view (batch, 1, "data1", "<i8", "2", "8");
    first = gst_spdl_batch_dup_tensor (batch, 0);
    second = gst_spdl_batch_find_tensor (batch, "data1");
    fail_unless (gst_spdl_tensor_is_writable (first));
    fail_unless (gst_spdl_tensor_is_writable (second));
    fail_unless_equals_int (
        *(guint8 *) gst_spdl_tensor_get_address (second), way == 0   ? 0
                                                          : way == 1 ? 24
                                                                     : 8);
    gst_spdl_batch_unref (batch);
    gst_buffer_unref (buffer);
    gst_spdl_tensor_unref (first);
    fail_if (freed[0]);
    gst_spdl_tensor_unref (second);
    fail_unless (freed[0]);
  }
}

GST_END_TEST;

GST_START_TEST (test_mismatches)
{
  static const gchar *const bad[] = {
    PAIR,
    "other/tensors,format=flexible,framerate=0/1",
    ("other/tensors,format=static,num_tensors=1,types=(string)complex64,"
     "dimensions=(string)2,framerate=0/1"),
  };
  gboolean freed;
  GstBuffer *buffer = make_buffer (39, &freed);

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GstCaps) caps = gst_caps_from_string (bad[i]);
    g_autoptr (GError) error = NULL;

    fail_unless (gst_spdl_batch_new (buffer, caps, &error) == NULL);
    fail_unless (
        g_error_matches (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT));
  }
  gst_buffer_unref (buffer);
  fail_unless (freed);
}

GST_END_TEST;

/* Item metas of a buffer. */
GST_START_TEST (test_items)
{
  gboolean freed;
  GstBuffer *buffer = make_buffer (8, &freed);
  GstSpdlBatchMeta *meta = gst_spdl_buffer_add_batch_meta (buffer, 2);
  GstSpdlItemMeta item = { .epoch = 3,
    .index = 7,
    .label = -1,
    .uri = g_ref_string_new ("file:///a"),
    .extra = gst_structure_new ("extra", "key", G_TYPE_INT, 5, NULL) };
  g_autofree guint64 *indices = NULL;
  g_autofree gint64 *labels = NULL;
  g_auto (GStrv) keys = NULL;
  GstStructure *extra;
  GstSpdlBatch *batch;
  guint n;
  gint key;

  gst_spdl_batch_meta_append (meta, &item);
  gst_spdl_item_meta_unassign (&item);
  item.index = 9;
  item.label = 2;
  gst_spdl_batch_meta_append (meta, &item);
  gst_spdl_batch_meta_add_name (meta, "pixels");
  meta->resume_state = g_strdup ("spdl1;x");
  batch = view (buffer, NULL);
  gst_buffer_unref (buffer);

  fail_unless_equals_string (gst_spdl_batch_get_name (batch, 0), "pixels");
  fail_unless (gst_spdl_batch_get_name (batch, 1) == NULL);
  fail_unless_equals_string (gst_spdl_batch_get_state (batch), "spdl1;x");
  fail_unless_equals_int (gst_spdl_batch_get_epoch (batch), 3);
  labels = gst_spdl_batch_dup_labels (batch, &n);
  fail_unless (n == 2 && labels[0] == -1 && labels[1] == 2);
  indices = gst_spdl_batch_dup_indices (batch, &n);
  fail_unless (n == 2 && indices[0] == 7 && indices[1] == 9);
  keys = gst_spdl_batch_dup_keys (batch);
  fail_unless_equals_string (keys[0], "file:///a");
  fail_unless_equals_string (keys[1], "");
  fail_unless (keys[2] == NULL);
  extra = gst_spdl_batch_dup_extra (batch, 0);
  fail_unless (gst_structure_get_int (extra, "key", &key) && key == 5);
  gst_structure_free (extra);
  fail_unless (gst_spdl_batch_dup_extra (batch, 1) == NULL);
  fail_unless_equals_int (gst_spdl_batch_get_item (batch, 1)->index, 9);
  fail_unless (gst_spdl_batch_get_item (batch, 2) == NULL);
  gst_spdl_batch_unref (batch);
}

GST_END_TEST;

static gpointer delete (gpointer user_data)
{
  Managed *managed = user_data;

  managed->deleter (managed);
  return NULL;
}

/* A DLPack consumer keeps the memory alive and may free it on any thread. */
GST_START_TEST (test_dlpack)
{
  gboolean freed;
  GstBuffer *buffer = make_buffer (24 + 16, &freed);
  GstSpdlBatch *batch = view (buffer, PAIR);
  GstSpdlTensor *tensor = gst_spdl_batch_dup_tensor (batch, 0);
  GstSpdlTensor *second = gst_spdl_batch_dup_tensor (batch, 1);
  Managed *managed = gst_spdl_tensor_to_dlpack (tensor);
  Managed *other = gst_spdl_tensor_to_dlpack (second);
  gpointer unused = gst_spdl_tensor_to_dlpack (tensor);

  fail_unless (managed->dl_tensor.data == gst_spdl_tensor_get_address (tensor));
  fail_unless_equals_int (managed->dl_tensor.device.device_type, 1);
  fail_unless_equals_int (managed->dl_tensor.device.device_id, 0);
  fail_unless_equals_int (managed->dl_tensor.dtype.code, 2);
  fail_unless_equals_int (managed->dl_tensor.dtype.bits, 32);
  fail_unless_equals_int (managed->dl_tensor.dtype.lanes, 1);
  fail_unless_equals_int (managed->dl_tensor.byte_offset, 0);
  check_numbers (managed->dl_tensor.shape, managed->dl_tensor.ndim, "2 3");
  check_numbers (managed->dl_tensor.strides, 2, "3 1");
  fail_unless_equals_int (other->dl_tensor.dtype.code, 0);
  fail_unless_equals_int (other->dl_tensor.dtype.bits, 64);

  gst_spdl_tensor_unref (tensor);
  gst_spdl_tensor_unref (second);
  gst_spdl_batch_unref (batch);
  gst_buffer_unref (buffer);
  gst_spdl_dlpack_free (unused);
  other->deleter (other);
  fail_if (freed);
  fail_unless_equals_int (((guint8 *) managed->dl_tensor.data)[23], 23);
  g_thread_join (g_thread_new ("delete", delete, managed));
  fail_unless (freed);
}

GST_END_TEST;

/* Memory that is not writable is copied without its padding. */
GST_START_TEST (test_dlpack_copy)
{
  gboolean freed;
  GstBuffer *buffer = make_buffer (48, &freed);
  g_autoptr (GstCaps) caps = gst_caps_from_string (
      "video/x-raw,format=RGB,width=5,height=3,framerate=0/1");
  GstBuffer *held = gst_buffer_ref (buffer);
  GstSpdlBatch *batch = gst_spdl_batch_new (buffer, caps, NULL);
  GstSpdlTensor *tensor = gst_spdl_batch_dup_tensor (batch, 0);
  Managed *managed = gst_spdl_tensor_to_dlpack (tensor);
  const guint8 *data = managed->dl_tensor.data;

  fail_if (gst_spdl_tensor_is_writable (tensor));
  fail_if (managed->dl_tensor.data == gst_spdl_tensor_get_address (tensor));
  check_numbers (managed->dl_tensor.strides, 3, "15 3 1");
  for (guint y = 0; y < 3; y++)
    for (guint x = 0; x < 15; x++)
      fail_unless_equals_int (data[y * 15 + x], y * 16 + x);
  managed->deleter (managed);
  gst_spdl_tensor_unref (tensor);
  gst_spdl_batch_unref (batch);
  gst_buffer_unref (held);
  gst_buffer_unref (buffer);
  fail_unless (freed);
}

GST_END_TEST;

CHECK_SUITE (tensor_views, TEST (test_bytes), TEST (test_images),
    TEST (test_video_meta), TEST (test_tensors), TEST (test_mismatches),
    TEST (test_items), TEST (test_dlpack), TEST (test_dlpack_copy))
