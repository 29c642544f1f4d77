/* gst-spdl: array files for fuzz targets
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/fuzz/fuzz-arrays.h"

#include <string.h>

#include "tests/check/support/failing-memory.h"

#define MAX_INFLATED (1 << 16)

typedef struct {
  GstBuffer *buffer;
  GstCaps *caps;
  GError *error;
} Result;

static void
result_clear (Result *self)
{
  gst_clear_buffer (&self->buffer);
  gst_clear_caps (&self->caps);
  g_clear_error (&self->error);
}

/* The file is freed before the result is read, so the result must hold
 * references to the memory that it needs. */
static Result
decode (SpdlArrays *arrays, SpdlArraysKind kind, const guint8 *data, gsize size)
{
  GstBuffer *item = gst_buffer_new_memdup (data, size);
  Result result = { NULL };
  GstCaps *caps = NULL;
  GstMapInfo map;

  gst_buffer_map (item, &map, GST_MAP_READ);
  result.buffer = spdl_arrays_decode (
      arrays, kind, &map, NULL, MAX_INFLATED, &caps, &result.error);
  gst_buffer_unmap (item, &map);
  gst_buffer_unref (item);
  g_assert_true (!result.buffer == !!result.error);
  if (result.buffer)
    result.caps = gst_caps_ref (caps);
  else
    fuzz_check_error (result.error);
  return result;
}

static void
check_tensors (const Result *result)
{
  g_autoptr (GError) error = NULL;
  GstSpdlTensorsInfo info;

  gst_spdl_tensors_info_from_caps (&info, result->caps, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (gst_buffer_n_memory (result->buffer), ==, info.num_tensors);
  for (guint i = 0; i < info.num_tensors; i++) {
    const GstSpdlTensorInfo *tensor = &info.tensors[i];
    const gchar *name = gst_spdl_caps_get_tensor_name (result->caps, i);
    GstMapInfo map;

    g_assert_cmpuint (tensor->rank, <, GST_SPDL_MAX_RANK);
    g_assert_true (!name || (*name && g_utf8_validate (name, -1, NULL)));
    gst_memory_map (
        gst_buffer_peek_memory (result->buffer, i), &map, GST_MAP_READ);
    g_assert_cmpuint (map.size, ==, gst_spdl_tensor_info_get_size (tensor));
    g_assert_cmpuint (
        (gsize) map.data % gst_spdl_tensor_type_get_size (tensor->type), ==, 0);
    gst_memory_unmap (gst_buffer_peek_memory (result->buffer, i), &map);
  }
}

static void
check_same (const Result *a, const Result *b)
{
  GstMapInfo map;

  g_assert_cmpstr (a->error ? a->error->message : NULL, ==,
      b->error ? b->error->message : NULL);
  if (!a->buffer)
    return;
  g_assert_true (gst_caps_is_equal (a->caps, b->caps));
  gst_buffer_map (a->buffer, &map, GST_MAP_READ);
  g_assert_cmpint (gst_buffer_memcmp (b->buffer, 0, map.data, map.size), ==, 0);
  g_assert_cmpuint (gst_buffer_get_size (b->buffer), ==, map.size);
  gst_buffer_unmap (a->buffer, &map);
}

void
fuzz_arrays_run (
    SpdlArraysKind kind, const guint8 *data, gsize size, guint failing)
{
  SpdlArrays *arrays;
  Result first, before, again;

  if (spdl_arrays_look (data, size) != kind)
    return;
  arrays = spdl_arrays_new ();
  first = decode (arrays, kind, data, size);
  if (first.buffer)
    check_tensors (&first);
  failing_memory_let_fail (failing);
  before = decode (arrays, kind, data, size);
  failing_memory_let_fail (0);
  again = decode (arrays, kind, data, size);
  check_same (&first, &again);
  result_clear (&first);
  result_clear (&before);
  result_clear (&again);
  spdl_arrays_free (arrays);
}
