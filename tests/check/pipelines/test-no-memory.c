/* gst-spdl: tests of failing allocations
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Makes large allocations fail in all plugins. Each test thereby also checks
 * that no large block comes from a function that aborts the process. */

#include <gst/video/video.h>
#include <string.h>

#include "gst/spdl/common/tryallocator.h"
#include "tests/check/support/arrays.h"
#include "tests/check/support/failing-memory.h"
#include "tests/check/support/files.h"
#include "tests/check/support/rig.h"
#include "tests/check/support/run.h"
#include "tests/check/support/stills.h"
#include "tests/check/support/suite.h"

#define MB ((gsize) 1 << 20)
#define SIDE 1024

/* Pushes @bytes without a copy, as the allocation of a buffer may fail in
 * GStreamer 1.28. */
static void
push_bytes (Rig *rig, guint64 number, GBytes *bytes)
{
  GstBuffer *item = rig_make_item (number, 0);
  gsize size;
  gpointer data = (gpointer) g_bytes_get_data (bytes, &size);

  gst_buffer_append_memory (
      item, gst_memory_new_wrapped (GST_MEMORY_FLAG_READONLY, data, size, 0,
                size, g_bytes_ref (bytes), (GDestroyNotify) g_bytes_unref));
  gst_pad_push (rig->src, item);
}

static void
assert_no_space (const GstStructure *failure)
{
  g_autoptr (GError) error = NULL;

  fail_unless (
      gst_structure_get (failure, "error", G_TYPE_ERROR, &error, NULL));
  fail_unless (g_error_matches (
                   error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT),
      "%s", error->message);
}

/* Pushes @small and @large through @rig. Allocations of @n_bytes and more fail
 * for the first @large and succeed for the second one. */
static void
check_decode (Rig *rig, GBytes *small, GBytes *large, gsize n_bytes)
{
  rig_start (rig, "application/octet-stream");
  push_bytes (rig, 0, small);
  rig_wait_items (rig, 1);
  failing_memory_let_large_fail (n_bytes);
  push_bytes (rig, 1, large);
  push_bytes (rig, 2, small);
  rig_wait_items (rig, 2);
  failing_memory_let_large_fail (0);
  push_bytes (rig, 3, large);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  rig_assert_log (rig, "0 failed 1 gone failed 1 2 3 eos");
  assert_no_space (rig_find_message (rig, "spdl-item-failed"));
  rig_free (rig);
}

static Rig *
make_decode (const gchar *settings)
{
  g_autofree gchar *description = g_strdup_printf (
      "spdldecode concurrency=1 output-order=input %s", settings);
  g_autoptr (GError) error = NULL;
  GstElement *element = gst_parse_launch (description, &error);

  fail_unless (error == NULL, "%s", error ? error->message : "");
  return rig_new_for (element);
}

/* Tests results of an image's own size, and color results that are then
 * converted to gray. */
GST_START_TEST (test_results)
{
  g_autoptr (GBytes) small = stills_make (STILL_JPEG, 16, 16);
  g_autoptr (GBytes) large = stills_make (STILL_JPEG, SIDE, SIDE);

  check_decode (make_decode (""), small, large, 3 * MB);
  check_decode (make_decode ("format=GRAY8"), small, large, 3 * MB);
}

GST_END_TEST;

/* Tests decoded frames and the buffers for whole images in libraries. PNG and
 * PNM need none, and OpenJPEG allocates its own. */
GST_START_TEST (test_frames)
{
  static const struct {
    StillKind kind;
    gsize size;
  } stills[] = { { STILL_WEBP, 3 * MB }, { STILL_GIF, MB },
    { STILL_BMP, 3 * MB } };

  for (guint i = 0; i < G_N_ELEMENTS (stills); i++) {
    g_autoptr (GBytes) small = stills_make (stills[i].kind, 61, 48);
    g_autoptr (GBytes) large = stills_make (stills[i].kind, SIDE, SIDE);

    check_decode (
        make_decode ("width=16 height=16"), small, large, stills[i].size);
  }
}

GST_END_TEST;

/* Returns a BMP with a palette of two colors. */
static GBytes *
make_bmp (guint side)
{
  enum { PALETTE = 54, PIXELS = PALETTE + 8 };
  const gsize size = PIXELS + (gsize) side * side;
  guint32 fields[] = { size, 0, PIXELS, 40, side, side, 1 | 8 << 16, 0, 0, 0, 0,
    2, 0 };
  guint8 *data = g_malloc0 (size);

  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    fields[i] = GUINT32_TO_LE (fields[i]);
  memcpy (data, "BM", 2);
  memcpy (data + 2, fields, sizeof fields);
  return g_bytes_new_take (data, size);
}

/* Tests a frame of 1 MiB that is converted to one of 4 MiB before the
 * resize. */
GST_START_TEST (test_conversion)
{
  g_autoptr (GBytes) small = make_bmp (16);
  g_autoptr (GBytes) large = make_bmp (SIDE);

  check_decode (make_decode ("width=16 height=16"), small, large, 4 * MB);
}

GST_END_TEST;

/* Tests that on-corrupt=keep does not deliver a frame without pixels if memory
 * is missing. */
GST_START_TEST (test_kept)
{
  g_autoptr (GBytes) small = stills_make (STILL_GIF, 16, 16);
  g_autoptr (GBytes) whole = stills_make (STILL_GIF, SIDE, SIDE);
  g_autoptr (GBytes) large =
      g_bytes_new_from_bytes (whole, 0, g_bytes_get_size (whole) - 20);

  check_decode (
      make_decode ("width=16 height=16 on-corrupt=keep"), small, large, MB);
}

GST_END_TEST;

static GBytes *
make_npy (const gchar *descr, const gchar *shape, gsize size)
{
  g_autofree guint8 *data = g_malloc0 (size);

  return arrays_make_npy (1, descr, FALSE, shape, data, size);
}

/* Tests arrays that are copied, because they are byte-swapped or deflated. */
GST_START_TEST (test_arrays)
{
  const gchar *swapped = G_BYTE_ORDER == G_LITTLE_ENDIAN ? "'>f4'" : "'<f4'";
  g_autoptr (GBytes) small = make_npy (swapped, "(4,)", 16);
  g_autoptr (GBytes) large = make_npy (swapped, "(262144,)", MB);
  g_autoptr (GBytes) small_zip = arrays_make_zip (
      ARRAYS_DEFLATED, "x.npy", make_npy ("'|u1'", "(16,)", 16), NULL);
  g_autoptr (GBytes) large_zip = arrays_make_zip (
      ARRAYS_DEFLATED, "x.npy", make_npy ("'|u1'", "(1048576,)", MB), NULL);

  check_decode (make_decode (""), small, large, MB);
  check_decode (make_decode (""), small_zip, large_zip, MB);
}

GST_END_TEST;

/* Tests a buffer pool without memory for any buffer. */
GST_START_TEST (test_pools)
{
  g_autoptr (GBytes) bytes = stills_make (STILL_JPEG, 16, 16);
  Rig *rig = make_decode ("width=1024 height=1024");

  rig_start (rig, "application/octet-stream");
  failing_memory_let_large_fail (3 * MB);
  push_bytes (rig, 0, bytes);
  push_bytes (rig, 1, bytes);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  failing_memory_let_large_fail (0);
  fail_unless_equals_int (rig_count_items (rig), 0);
  assert_no_space (rig_find_message (rig, "spdl-item-failed"));
  rig_free (rig);
}

GST_END_TEST;

/* Checks that one of @n_items items of @location is too large. */
static void
check_fetch (const gchar *location, guint n_items)
{
  Run *run;

  failing_memory_let_large_fail (MB);
  run = run_pipeline (
      "spdlsrc location=%s ! spdlfetch ! fakesink name=sink", location);
  failing_memory_let_large_fail (0);
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->buffers->len, n_items - 1);
  fail_unless_equals_int (run->n_dropped, 1);
  fail_unless_equals_int (run->failures->len, 1);
  assert_no_space (g_ptr_array_index (run->failures, 0));
  run_free (run);
}

/* Tests files and deflated members of a ZIP. */
GST_START_TEST (test_fetch)
{
  gchar *folder = files_make_folder ();
  g_autofree gchar *zeros = g_malloc0 (2 * MB);
  g_autoptr (GBytes) zip =
      arrays_make_zip (ARRAYS_DEFLATED, "a.jpg", g_bytes_new ("a", 1), "b.jpg",
          g_bytes_new (zeros, 2 * MB), "c.jpg", g_bytes_new ("c", 1), NULL);
  g_autofree gchar *shard = g_build_filename (folder, "s.zip", NULL);
  gsize size;
  gconstpointer data = g_bytes_get_data (zip, &size);

  files_write (folder, "a", "a", 1);
  files_write (folder, "b", zeros, 2 * MB);
  files_write (folder, "c", "c", 1);
  check_fetch (folder, 3);
  files_write (folder, "s.zip", data, size);
  check_fetch (shard, 3);
  files_remove_folder (folder);
}

GST_END_TEST;

#define BYTES_CAPS                                           \
  "other/tensors,format=static,num_tensors=1,types=(string)" \
  "uint8,dimensions=(string)%u,framerate=0/1"

static void
start_tensors (Rig *rig, gsize size)
{
  g_autofree gchar *caps = g_strdup_printf (BYTES_CAPS, (guint) size);

  rig_start (rig, caps);
}

static void
assert_error (Rig *rig)
{
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < rig->messages->len; i++) {
    GstMessage *message = g_ptr_array_index (rig->messages, i);

    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
      gst_message_parse_error (message, &error, NULL);
  }
  fail_unless (g_error_matches (
      error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT));
}

/* Tests that a batch without memory ends the stream with an error, as it
 * belongs to no single item. */
GST_START_TEST (test_batch)
{
  Rig *rig = rig_new ("spdlbatch", "batch-size", 4, NULL);

  start_tensors (rig, MB);
  failing_memory_let_large_fail (4 * MB);
  gst_pad_push (rig->src, rig_make_item (0, MB));
  failing_memory_let_large_fail (0);
  assert_error (rig);
  rig_free (rig);
}

GST_END_TEST;

/* Tests both copies in spdlcache, that of a batch's parts and the stored
 * one. */
GST_START_TEST (test_cache)
{
  GstBuffer *batch = gst_buffer_new_allocate (NULL, MB, NULL);
  GstSpdlBatchMeta *meta = gst_spdl_buffer_add_batch_meta (batch, 1);
  const GstSpdlItemMeta item = { .label = -1, .parts = 1 };
  Rig *rig =
      rig_new ("spdlcache", "num-caches", 1, "return-caches-after", 1, NULL);

  gst_buffer_memset (batch, 0, 0, -1);
  gst_spdl_batch_meta_append (meta, &item);
  gst_spdl_batch_meta_add_name (meta, "data");
  rig_start (rig,
      "other/tensors,format=static,num_tensors=1,types=(string)uint8,"
      "dimensions=(string)1048576:1,framerate=0/1");
  failing_memory_let_large_fail (MB);
  gst_pad_push (rig->src, batch);
  failing_memory_let_large_fail (0);
  assert_error (rig);
  rig_free (rig);
}

GST_END_TEST;

/* Tests an image with other strides than the caps give. */
GST_START_TEST (test_parts)
{
  const guint stride = SIDE + 4;
  GstBuffer *sample = gst_buffer_new ();
  GstBuffer *frame = gst_buffer_new_allocate (NULL, stride * SIDE, NULL);
  g_autoptr (GstCaps) caps = gst_caps_from_string (
      "video/x-raw,format=GRAY8,width=1024,height=1024,framerate=0/1");
  gsize offsets[GST_VIDEO_MAX_PLANES] = { 0 };
  gint strides[GST_VIDEO_MAX_PLANES] = { stride };

  gst_buffer_memset (frame, 0, 0, -1);
  gst_buffer_add_video_meta_full (
      frame, 0, GST_VIDEO_FORMAT_GRAY8, SIDE, SIDE, 1, offsets, strides);
  failing_memory_let_large_fail (MB);
  fail_if (gst_spdl_buffer_append_part (sample, "mask", frame, caps));
  failing_memory_let_large_fail (0);
  fail_unless (gst_spdl_buffer_append_part (sample, "mask", frame, caps));
  gst_buffer_unref (sample);
  gst_buffer_unref (frame);
}

GST_END_TEST;

/* Tests that a read-only tensor is copied for DLPack. */
GST_START_TEST (test_dlpack)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, MB, NULL);
  g_autofree gchar *text = g_strdup_printf (BYTES_CAPS, (guint) MB);
  g_autoptr (GstCaps) caps = gst_caps_from_string (text);
  g_autoptr (GstSpdlTensor) tensor = NULL;
  g_autoptr (GstSpdlBatch) batch = NULL;
  gpointer managed;

  gst_buffer_memset (buffer, 0, 7, -1);
  /* The second reference makes it read-only. */
  gst_buffer_ref (buffer);
  batch = gst_spdl_batch_new (buffer, caps, NULL);
  gst_buffer_unref (buffer);
  tensor = gst_spdl_batch_dup_tensor (batch, 0);
  fail_if (gst_spdl_tensor_is_writable (tensor));
  failing_memory_let_large_fail (MB);
  fail_unless (gst_spdl_tensor_to_dlpack (tensor) == NULL);
  failing_memory_let_large_fail (0);
  managed = gst_spdl_tensor_to_dlpack (tensor);
  fail_unless (managed != NULL);
  gst_spdl_dlpack_free (managed);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

/* Tests each allocation in turn with items of all kinds. A failed allocation
 * drops its item; one for a batch ends the stream. */
GST_START_TEST (test_each)
{
  gchar *folder = files_make_folder ();
  const guint n_items = N_STILLS + 3;
  guint n_allocations = 0, n_failed = 0;
  Run *run;

  for (StillKind kind = 0; kind < N_STILLS; kind++) {
    g_autofree gchar *name = g_strdup_printf ("%u", kind);
    g_autoptr (GBytes) bytes = stills_make (kind, 61, 48);
    gsize size;
    gconstpointer data = g_bytes_get_data (bytes, &size);

    files_write (folder, name, data, size);
  }
  for (guint i = 0; i < 3; i++) {
    g_autofree gchar *name = g_strdup_printf ("cut-%u", i);
    g_autoptr (GBytes) bytes = stills_make (STILL_PNG, 40, 30);
    gconstpointer data = g_bytes_get_data (bytes, NULL);

    files_write (folder, name, data, g_bytes_get_size (bytes) - 7 * i);
  }
  for (guint i = 0; i == 0 || i <= n_allocations; i++) {
    const guint before = failing_memory_count ();
    guint n = 0;

    failing_memory_let_fail (i);
    run = run_pipeline (
        "spdlsrc location=%s ! spdlfetch concurrency=1 ! "
        "spdldecode concurrency=1 width=32 height=24 on-corrupt=keep "
        "max-failure-rate=1 ! spdlbatch batch-size=4 ! fakesink name=sink",
        folder);
    failing_memory_let_fail (0);
    if (i == 0)
      n_allocations = failing_memory_count () - before;
    for (guint k = 0; k < run->buffers->len; k++)
      n += run_batch (run, k)->num_items;
    n_failed += run->failures->len;
    fail_unless (i > 0 || n == n_items, "%u", n);
    fail_unless (run->error || n + run->n_dropped == n_items,
        "allocation %u: %u items and %u lost", i, n, run->n_dropped);
    for (guint k = 0; k < run->failures->len; k++)
      assert_no_space (g_ptr_array_index (run->failures, k));
    run_free (run);
  }
  fail_unless (n_failed > n_items, "%u of %u", n_failed, n_allocations);
  files_remove_folder (folder);
}

GST_END_TEST;

static void
assert_bytes (GstMemory *memory, const gchar *expected)
{
  GstMapInfo map;

  fail_unless (gst_memory_map (memory, &map, GST_MAP_READ));
  fail_unless_equals_int (map.size, strlen (expected));
  fail_unless (memcmp (map.data, expected, map.size) == 0);
  gst_memory_unmap (memory, &map);
}

/* Tests that memory from the fallible allocator otherwise behaves like
 * GStreamer's own. */
GST_START_TEST (test_allocator)
{
  GstAllocator *allocator = gst_spdl_try_allocator_get ();
  GstAllocationParams params = {
    .flags = GST_MEMORY_FLAG_ZERO_PREFIXED | GST_MEMORY_FLAG_ZERO_PADDED,
    .align = 255,
    .prefix = 256,
    .padding = 100,
  };
  GstMemory *memory = gst_allocator_alloc (allocator, 10, &params);
  GstMemory *front, *back, *copy;
  gsize offset, maxsize;
  GstMapInfo map;

  fail_unless (gst_memory_is_type (memory, GST_ALLOCATOR_SYSMEM));
  fail_unless_equals_int (gst_memory_get_sizes (memory, &offset, &maxsize), 10);
  fail_unless_equals_int (offset, 256);
  fail_unless_equals_int (maxsize, 366);
  fail_unless (gst_memory_map (memory, &map, GST_MAP_WRITE));
  fail_unless_equals_int ((gsize) map.data % 256, 0);
  for (guint i = 1; i <= 100; i++)
    fail_unless (map.data[-(gint) i] == 0 && map.data[9 + i] == 0);
  memcpy (map.data, "0123456789", 10);
  gst_memory_unmap (memory, &map);

  front = gst_memory_share (memory, 2, 3);
  back = gst_memory_share (memory, 5, -1);
  assert_bytes (front, "234");
  assert_bytes (back, "56789");
  fail_unless (gst_memory_is_span (front, back, &offset));
  fail_unless_equals_int (offset, 2);
  fail_if (gst_memory_is_span (back, front, NULL));
  fail_if (gst_memory_map (front, &map, GST_MAP_WRITE));
  copy = gst_memory_copy (back, 1, -1);
  assert_bytes (copy, "6789");
  fail_unless (gst_memory_map (copy, &map, GST_MAP_WRITE));
  map.data[0] = 'x';
  gst_memory_unmap (copy, &map);
  assert_bytes (memory, "0123456789");

  failing_memory_let_large_fail (1);
  fail_unless (gst_memory_copy (back, 0, -1) == NULL);
  fail_unless (gst_allocator_alloc (allocator, 0, NULL) == NULL);
  fail_unless (gst_spdl_buffer_try_new (10) == NULL);
  failing_memory_let_large_fail (0);
  /* The size exceeds the address space. */
  params.padding = 0;
  fail_unless (
      gst_allocator_alloc (allocator, G_MAXSIZE - 100, &params) == NULL);
  params.prefix = 0;
  fail_unless (gst_allocator_alloc (allocator, G_MAXSSIZE, &params) == NULL);
  gst_memory_unref (copy);
  gst_memory_unref (front);
  gst_memory_unref (memory);
  assert_bytes (back, "56789");
  gst_memory_unref (back);
}

GST_END_TEST;

CHECK_SUITE (no_memory, TEST (test_allocator), TEST (test_results),
    TEST (test_frames), TEST (test_conversion), TEST (test_kept),
    TEST (test_arrays), TEST (test_pools), TEST (test_fetch), TEST (test_batch),
    TEST (test_cache), TEST (test_parts), TEST (test_dlpack), TEST (test_each))
