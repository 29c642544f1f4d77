/* gst-spdl: tests of samples of several media
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/video/video.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "rig.h"
#include "run.h"
#include "server.h"

#define GRAY(w, h)                                       \
  "video/x-raw,format=GRAY8,width=" #w ",height=" #h "," \
  "framerate=0/1"
#define SIDE 24

static GstBuffer *
make_bytes (gsize size, guint8 value)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);

  gst_buffer_memset (buffer, 0, value, size);
  return buffer;
}

/* Appends @size bytes of @value. */
static gboolean
append (GstBuffer *sample, const gchar *name, gsize size, guint8 value,
    const gchar *caps_string)
{
  g_autoptr (GstBuffer) part = make_bytes (size, value);
  g_autoptr (GstCaps) caps =
      caps_string ? gst_caps_from_string (caps_string) : NULL;

  return gst_spdl_buffer_append_part (sample, name, part, caps);
}

/* In words: "data 4*1, mask 2*9 video/x-raw": names, sizes, first bytes and
 * types. */
static gchar *
describe (GstBuffer *sample)
{
  GstSpdlPartsMeta *parts = gst_spdl_buffer_get_parts_meta (sample);
  GString *text = g_string_new (parts ? "" : "none");

  for (guint i = 0; parts && i < parts->num_parts; i++) {
    const GstSpdlPart *part = gst_spdl_parts_meta_get_part (parts, i);
    g_autoptr (GstBuffer) bytes = gst_spdl_buffer_dup_part (sample, part->name);
    guint8 first = 0;

    fail_unless_equals_int (gst_buffer_get_size (bytes), part->size);
    gst_buffer_extract (bytes, 0, &first, 1);
    g_string_append_printf (text, "%s%s %" G_GSIZE_FORMAT "*%u", i ? ", " : "",
        part->name, part->size, first);
    if (part->caps)
      g_string_append_printf (text, " %s",
          gst_structure_get_name (gst_caps_get_structure (part->caps, 0)));
  }
  return g_string_free (text, FALSE);
}

#define assert_sample(sample, expected)          \
  G_STMT_START                                   \
  {                                              \
    g_autofree gchar *text_ = describe (sample); \
    fail_unless_equals_string (text_, expected); \
  }                                              \
  G_STMT_END

/* The meta */

static GstBuffer *
make_sample (void)
{
  GstBuffer *sample = gst_buffer_new ();

  fail_unless (append (sample, "data", 4, 1, NULL));
  fail_unless (append (sample, "note", 0, 0, "text/plain"));
  fail_unless (append (sample, "mask", 2, 9, GRAY (2, 1)));
  return sample;
}

#define SAMPLE "data 4*1, note 0*0 text/plain, mask 2*9 video/x-raw"

GST_START_TEST (test_append)
{
  GstBuffer *sample = make_sample (), *whole = make_bytes (3, 0);
  GstSpdlPartsMeta *parts = gst_spdl_buffer_get_parts_meta (sample);
  gchar name[8];

  assert_sample (sample, SAMPLE);
  fail_unless_equals_int (gst_buffer_n_memory (sample), 2);
  fail_unless (gst_spdl_parts_meta_get_part (parts, 3) == NULL);
  fail_unless (gst_spdl_parts_meta_find_part (parts, "no") == NULL);
  fail_unless (gst_spdl_buffer_dup_part (sample, "no") == NULL);
  /* A name is given once; what has other bytes is no sample. */
  fail_if (append (sample, "mask", 1, 0, NULL));
  fail_if (append (whole, "data", 1, 0, NULL));
  fail_unless (gst_spdl_buffer_get_parts_meta (whole) == NULL);
  fail_unless (gst_spdl_buffer_dup_part (whole, "data") == NULL);
  fail_unless (
      gst_spdl_buffer_replace_part (whole, "data", sample, NULL) == NULL);

  for (guint i = 3; i < GST_SPDL_MAX_PARTS; i++) {
    g_snprintf (name, sizeof name, "p%u", i);
    fail_unless (append (sample, name, 1, i, NULL));
  }
  fail_if (append (sample, "more", 1, 0, NULL));
  gst_buffer_unref (whole);
  gst_buffer_unref (sample);
}

GST_END_TEST;

/* It goes where the memory goes. */
GST_START_TEST (test_copies)
{
  GstBuffer *sample = make_sample (), *copy;
  GstMapInfo map;

  copy = gst_buffer_copy (sample);
  assert_sample (copy, SAMPLE);
  gst_buffer_unref (copy);
  copy = gst_buffer_copy_deep (sample);
  assert_sample (copy, SAMPLE);
  gst_buffer_unref (copy);
  copy = gst_buffer_make_writable (gst_buffer_ref (sample));
  fail_if (copy == sample);
  assert_sample (copy, SAMPLE);
  /* Bytes are what a part is told by, not memories. */
  gst_buffer_replace_all_memory (copy, gst_buffer_get_all_memory (copy));
  fail_unless_equals_int (gst_buffer_n_memory (copy), 1);
  assert_sample (copy, SAMPLE);
  fail_unless (append (copy, "more", 5, 3, NULL));
  assert_sample (copy, SAMPLE ", more 5*3");
  assert_sample (sample, SAMPLE);
  fail_unless (gst_buffer_map (copy, &map, GST_MAP_READ));
  fail_unless_equals_int (map.size, 11);
  gst_buffer_unmap (copy, &map);
  gst_buffer_unref (copy);

  copy = gst_buffer_copy_region (sample, GST_BUFFER_COPY_ALL, 0, 4);
  assert_sample (copy, "none");
  gst_buffer_unref (copy);
  copy = make_bytes (6, 0);
  gst_buffer_copy_into (copy, sample, GST_BUFFER_COPY_METADATA, 0, -1);
  assert_sample (copy, "none");
  gst_buffer_unref (copy);
  gst_buffer_unref (sample);
}

GST_END_TEST;

static const guint8 *
get_address (GstBuffer *buffer)
{
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  gst_buffer_unmap (buffer, &map);
  return map.data;
}

GST_START_TEST (test_replace)
{
  GstBuffer *sample = make_sample (), *other = make_bytes (3, 7), *next;
  GstBuffer *before, *after;
  GstSpdlItemMeta *item = gst_spdl_buffer_add_item_meta (sample);
  GstCaps *caps = gst_caps_from_string ("image/png");

  item->index = 5;
  next = gst_spdl_buffer_replace_part (sample, "data", other, caps);
  assert_sample (
      next, "data 3*7 image/png, note 0*0 text/plain, mask 2*9 video/x-raw");
  fail_unless_equals_int (gst_spdl_buffer_get_item_meta (next)->index, 5);
  fail_unless (
      gst_spdl_buffer_replace_part (sample, "no", other, caps) == NULL);
  /* Nothing is copied. */
  before = gst_spdl_buffer_dup_part (sample, "mask");
  after = gst_spdl_buffer_dup_part (next, "mask");
  fail_unless (get_address (before) == get_address (after));
  gst_buffer_unref (before);
  gst_buffer_unref (after);
  after = gst_spdl_buffer_dup_part (next, "data");
  fail_unless (get_address (other) == get_address (after));
  gst_buffer_unref (after);
  assert_sample (sample, SAMPLE);
  gst_buffer_unref (sample);

  sample = next;
  next = gst_spdl_buffer_replace_part (sample, "note", other, NULL);
  assert_sample (next, "data 3*7 image/png, note 3*7, mask 2*9 video/x-raw");
  gst_buffer_unref (sample);
  sample = next;
  gst_buffer_set_size (other, 0);
  next = gst_spdl_buffer_replace_part (sample, "mask", other, NULL);
  assert_sample (next, "data 3*7 image/png, note 3*7, mask 0*0");
  gst_buffer_unref (sample);
  gst_buffer_unref (next);
  gst_buffer_unref (other);
  gst_caps_unref (caps);
}

GST_END_TEST;

/* A part has no GstVideoMeta: rows lie as the caps say. */
GST_START_TEST (test_rows)
{
  GstBuffer *sample = gst_buffer_new (), *frame = make_bytes (3 + 20, 0);
  g_autoptr (GstCaps) caps = gst_caps_from_string (GRAY (5, 2));
  gsize offsets[GST_VIDEO_MAX_PLANES] = { 3 };
  gint strides[GST_VIDEO_MAX_PLANES] = { 12 };
  guint8 bytes[16];
  GstBuffer *part;

  gst_buffer_memset (frame, 3, 1, 5);
  gst_buffer_memset (frame, 15, 2, 5);
  gst_buffer_add_video_meta_full (
      frame, 0, GST_VIDEO_FORMAT_GRAY8, 5, 2, 1, offsets, strides);
  fail_unless (gst_spdl_buffer_append_part (sample, "mask", frame, caps));
  part = gst_spdl_buffer_dup_part (sample, "mask");
  fail_unless_equals_int (gst_buffer_extract (part, 0, bytes, 16), 16);
  fail_unless (memcmp (bytes, "\1\1\1\1\1", 5) == 0);
  fail_unless (memcmp (bytes + 8, "\2\2\2\2\2", 5) == 0);
  gst_buffer_unref (part);
  gst_buffer_unref (frame);
  gst_buffer_unref (sample);
}

GST_END_TEST;

/* spdlbatch */

/* An image of 4 by 2 gray pixels, a mask of 3 by 1, a text of @number bytes. */
static GstBuffer *
make_item (guint64 number, const gchar *caption)
{
  GstBuffer *item = rig_make_item (number, 0);

  append (item, "data", 8, number, GRAY (4, 2));
  append (item, "mask", 4, 100 + number, GRAY (3, 1));
  if (caption) {
    g_autoptr (GstBuffer) text =
        *caption ? gst_buffer_new_memdup (caption, strlen (caption))
                 : gst_buffer_new ();

    gst_spdl_buffer_append_part (item, "caption", text, NULL);
  }
  return item;
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

/* The tensors of batch @i: "data uint8 1:4:2:3, ...". */
static gchar *
describe_batch (Rig *rig, guint i)
{
  GstBuffer *buffer = g_ptr_array_index (rig->buffers, i);
  GstSpdlBatchMeta *batch = gst_spdl_buffer_get_batch_meta (buffer);
  g_autofree gchar *types = get_field (rig, "types");
  g_autofree gchar *dims = get_field (rig, "dimensions");
  g_auto (GStrv) all_types = g_strsplit (types, ",", -1);
  g_auto (GStrv) all_dims = g_strsplit (dims, ",", -1);
  GString *text = g_string_new (NULL);

  fail_unless_equals_int (g_strv_length (all_types), batch->num_tensors);
  fail_unless_equals_int (gst_buffer_n_memory (buffer), batch->num_tensors);
  for (guint t = 0; t < batch->num_tensors; t++)
    g_string_append_printf (text, "%s%s %s %s", t ? ", " : "",
        gst_spdl_batch_meta_get_name (batch, t), all_types[t], all_dims[t]);
  return g_string_free (text, FALSE);
}

#define assert_batch(rig, i, expected)                   \
  G_STMT_START                                           \
  {                                                      \
    g_autofree gchar *text_ = describe_batch (rig, (i)); \
    fail_unless_equals_string (text_, expected);         \
  }                                                      \
  G_STMT_END

/* The bytes of the tensor of that name. */
static GBytes *
get_tensor (GstBuffer *buffer, const gchar *name)
{
  GstSpdlBatchMeta *batch = gst_spdl_buffer_get_batch_meta (buffer);

  for (guint t = 0; t < batch->num_tensors; t++) {
    GstMapInfo map;
    GBytes *bytes;

    if (!g_str_equal (gst_spdl_batch_meta_get_name (batch, t), name))
      continue;
    fail_unless (gst_buffer_map_range (buffer, t, 1, &map, GST_MAP_READ));
    bytes = g_bytes_new (map.data, map.size);
    gst_buffer_unmap (buffer, &map);
    return bytes;
  }
  fail ("there is no tensor %s", name);
  return NULL;
}

static void
assert_tensor (
    Rig *rig, guint i, const gchar *name, gconstpointer expected, gsize size)
{
  g_autoptr (GBytes) bytes =
      get_tensor (g_ptr_array_index (rig->buffers, i), name);
  g_autoptr (GBytes) wanted = g_bytes_new (expected, size);

  fail_unless (g_bytes_equal (bytes, wanted), "%s", name);
}

/* Of the last item that failed. */
static gchar *
get_reason (Rig *rig)
{
  GError *error = NULL;
  gchar *text;

  gst_structure_get (rig_find_message (rig, "spdl-item-failed"), "error",
      G_TYPE_ERROR, &error, NULL);
  text = g_strdup (error->message);
  g_error_free (error);
  return text;
}

/* Pushes @item, which fails with @reason in the text. */
static void
assert_fails (Rig *rig, GstBuffer *item, const gchar *reason)
{
  const guint n = rig->messages->len;
  g_autofree gchar *text = NULL;

  gst_pad_push (rig->src, item);
  fail_unless_equals_int (rig->messages->len, n + 1);
  text = get_reason (rig);
  fail_unless (strstr (text, reason) != NULL, "%s", text);
}

GST_START_TEST (test_batch)
{
  Rig *rig =
      rig_new ("spdlbatch", "size", 2, "labels", TRUE, "indices", TRUE, NULL);
  const gint64 indices[] = { 3, 4 };

  rig_start (rig, GST_SPDL_SAMPLE_CAPS);
  gst_pad_push (rig->src, make_item (3, NULL));
  gst_pad_push (rig->src, make_item (4, NULL));
  rig_assert_log (rig, "batch");
  assert_batch (rig, 0,
      "data uint8 1:4:2:2, mask uint8 1:3:1:2, labels int64 2, "
      "indices int64 2");
  assert_tensor (rig, 0, "data", "\3\3\3\3\3\3\3\3\4\4\4\4\4\4\4\4", 16);
  assert_tensor (rig, 0, "mask", "ggghhh", 6);
  assert_tensor (rig, 0, "indices", indices, sizeof indices);
  rig_free (rig);
}

GST_END_TEST;

/* Text is padded to the longest of its batch. */
GST_START_TEST (test_padding)
{
  static const gchar *captions[] = { "a dog", "", "cat" };
  const gint64 lengths[] = { 5, 0, 3 };
  Rig *rig =
      rig_new ("spdlbatch", "size", 3, "pad", TRUE, "labels", TRUE, NULL);

  rig_start (rig, GST_SPDL_SAMPLE_CAPS);
  for (guint i = 0; i < 3; i++)
    gst_pad_push (rig->src, make_item (i, captions[i]));
  assert_batch (rig, 0,
      "data uint8 1:4:2:3, mask uint8 1:3:1:3, caption_lengths int64 3, "
      "labels int64 3, caption uint8 5:3");
  assert_tensor (rig, 0, "caption_lengths", lengths, sizeof lengths);
  assert_tensor (rig, 0, "caption", "a dog\0\0\0\0\0cat\0", 15);
  /* A smaller batch, and one in which all are empty. */
  gst_pad_push (rig->src, make_item (3, "ab"));
  gst_pad_push_event (rig->src, gst_spdl_event_new_epoch (0, 0, 4));
  assert_tensor (rig, 1, "caption", "ab", 2);
  gst_pad_push (rig->src, make_item (4, ""));
  rig_push_eos (rig);
  rig_assert_log (rig, "batch batch epoch 0 batch eos");
  assert_tensor (rig, 2, "caption", "\0", 1);
  assert_tensor (rig, 2, "caption_lengths", "\0\0\0\0\0\0\0\0", 8);
  rig_free (rig);
}

GST_END_TEST;

/* Of a batch that is flushed or dropped nothing is left for the next one. */
GST_START_TEST (test_padding_dropped)
{
  Rig *rig =
      rig_new ("spdlbatch", "size", 3, "pad", TRUE, "drop-last", TRUE, NULL);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  rig_start (rig, GST_SPDL_SAMPLE_CAPS);
  gst_pad_push (rig->src, make_item (0, "a long one"));
  gst_pad_push_event (rig->src, gst_event_new_flush_start ());
  gst_pad_push_event (rig->src, gst_event_new_flush_stop (TRUE));
  gst_pad_push_event (rig->src, gst_event_new_segment (&segment));
  gst_pad_push (rig->src, make_item (1, "another one"));
  gst_pad_push_event (rig->src, gst_spdl_event_new_epoch (0, 0, 1));
  for (guint i = 2; i < 5; i++)
    gst_pad_push (rig->src, make_item (i, "abc"));
  rig_assert_log (rig, "flush-start flush-stop gone dropped 1 epoch 0 batch");
  assert_tensor (rig, 0, "caption", "abcabcabc", 9);
  rig_free (rig);
}

GST_END_TEST;

/* Only the part that is asked for is converted. */
GST_START_TEST (test_conversion)
{
  static const gchar *parts[] = { NULL, "data", "mask" };

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    Rig *rig = rig_new ("spdlbatch", "size", 1, "part", parts[i], NULL);
    const float unit = 1 / 255.0, a = 5 * unit, b = 105 * unit;
    const float data[] = { a, a, a, a, a, a, a, a };
    const float mask[] = { b, b, b };

    gst_util_set_object_arg (G_OBJECT (rig->element), "type", "float32");
    gst_util_set_object_arg (G_OBJECT (rig->element), "layout", "nchw");
    rig_start (rig, GST_SPDL_SAMPLE_CAPS);
    gst_pad_push (rig->src, make_item (5, NULL));
    if (i < 2) {
      assert_batch (rig, 0, "data float32 4:2:1:1, mask uint8 1:3:1:1");
      assert_tensor (rig, 0, "data", data, sizeof data);
      assert_tensor (rig, 0, "mask", "iii", 3);
    } else {
      assert_batch (rig, 0, "data uint8 1:4:2:1, mask float32 3:1:1:1");
      assert_tensor (rig, 0, "mask", mask, sizeof mask);
    }
    rig_free (rig);
  }
}

GST_END_TEST;

/* Several tensors of one part, apart or in one memory. */
GST_START_TEST (test_tensors)
{
  static const gchar *caps =
      "other/tensors,format=static,num_tensors=2,types=(string)\"uint8,int16\","
      "dimensions=(string)\"3,1:2\",framerate=0/1";

  for (guint apart = 0; apart < 2; apart++) {
    Rig *rig = rig_new ("spdlbatch", "size", 1, NULL);
    GstBuffer *item = rig_make_item (0, 0);
    g_autoptr (GstBuffer) part = make_bytes (apart ? 3 : 7, 1);
    g_autoptr (GstCaps) part_caps = gst_caps_from_string (caps);

    if (apart)
      part = gst_buffer_append (part, make_bytes (4, 2));
    else
      gst_buffer_memset (part, 3, 2, 4);
    append (item, "data", 4, 9, GRAY (4, 1));
    fail_unless (gst_spdl_buffer_append_part (item, "box", part, part_caps));
    rig_start (rig, GST_SPDL_SAMPLE_CAPS);
    gst_pad_push (rig->src, item);
    assert_batch (
        rig, 0, "data uint8 1:4:1:1, box uint8 3:1, box1 int16 1:2:1");
    assert_tensor (rig, 0, "box", "\1\1\1", 3);
    assert_tensor (rig, 0, "box1", "\2\2\2\2", 4);
    rig_free (rig);
  }
}

GST_END_TEST;

GST_START_TEST (test_batch_failures)
{
  Rig *rig = rig_new ("spdlbatch", "size", 2, "part", "mask", NULL);
  GstBuffer *item;

  gst_util_set_object_arg (G_OBJECT (rig->element), "type", "float32");
  rig_start (rig, GST_SPDL_SAMPLE_CAPS);
  assert_fails (rig, make_item (0, "text"),
      "Its part \"caption\" is no tensor, but bytes: decode it, with "
      "part=caption of spdldecode, say, or set pad=true");
  item = rig_make_item (1, 0);
  append (item, "data", 9, 0, "image/png");
  append (item, "mask", 4, 0, GRAY (3, 1));
  assert_fails (rig, item, "Its part \"data\" is no tensor, but image/png");
  item = rig_make_item (2, 0);
  append (item, "data", 8, 0, GRAY (4, 2));
  assert_fails (rig, item, "It has no part \"mask\"");
  assert_fails (rig, rig_make_item (3, 8), "It has no parts");

  gst_pad_push (rig->src, make_item (4, NULL));
  item = rig_make_item (5, 0);
  append (item, "data", 8, 0, GRAY (4, 2));
  append (item, "mask", 8, 0, GRAY (5, 1));
  assert_fails (rig, item,
      "Its tensor \"mask\": It is float32 1:5:1, but its batch began with "
      "float32 1:3:1");
  item = rig_make_item (6, 0);
  append (item, "depth", 8, 0, GRAY (4, 2));
  append (item, "mask", 4, 0, GRAY (3, 1));
  assert_fails (rig, item,
      "Its tensor 0 is named \"depth\", but its batch began with \"data\"");
  item = rig_make_item (7, 0);
  append (item, "data", 8, 0, GRAY (4, 2));
  append (item, "mask", 3, 0, GRAY (3, 2));
  assert_fails (rig, item, "but its batch began with");
  item = rig_make_item (8, 0);
  append (item, "data", 3, 0, GRAY (4, 2));
  append (item, "mask", 4, 0, GRAY (3, 1));
  assert_fails (rig, item,
      "Its part \"data\": Tensor 0 has 3 bytes, but its shape needs 8");
  gst_pad_push (rig->src, make_item (9, NULL));
  rig_assert_log (rig,
      "failed 0 gone failed 0 failed 1 gone failed 1 failed 2 gone failed 2 "
      "failed 3 gone failed 3 failed 5 gone failed 5 failed 6 gone failed 6 "
      "failed 7 gone failed 7 failed 8 gone failed 8 batch");
  fail_unless_equals_int (
      gst_spdl_buffer_get_batch_meta (g_ptr_array_index (rig->buffers, 0))
          ->num_items,
      2);
  rig_free (rig);

  /* Bytes are not what a conversion is for. */
  rig = rig_new ("spdlbatch", "size", 1, "pad", TRUE, NULL);
  gst_util_set_object_arg (G_OBJECT (rig->element), "mean", "<0.5>");
  rig_start (rig, GST_SPDL_SAMPLE_CAPS);
  item = rig_make_item (0, 0);
  append (item, "text", 4, 0, "text/plain");
  append (item, "data", 8, 0, GRAY (4, 2));
  assert_fails (rig, item, "Its part \"text\" is text/plain, which type");
  rig_free (rig);
}

GST_END_TEST;

/* Between items of one medium, and back. */
GST_START_TEST (test_caps_change)
{
  Rig *rig = rig_new ("spdlbatch", "size", 2, "pad", TRUE, NULL);
  g_autoptr (GstCaps) sample = gst_caps_from_string (GST_SPDL_SAMPLE_CAPS);
  g_autoptr (GstCaps) gray = gst_caps_from_string (GRAY (4, 2));

  rig_start (rig, GST_SPDL_SAMPLE_CAPS);
  gst_pad_push (rig->src, make_item (0, "ab"));
  gst_pad_push_event (rig->src, gst_event_new_caps (gray));
  gst_pad_push (rig->src, rig_make_item (1, 8));
  gst_pad_push_event (rig->src, gst_event_new_caps (sample));
  gst_pad_push (rig->src, make_item (2, "abc"));
  gst_pad_push_event (rig->src, gst_event_new_caps (gray));
  gst_pad_push (rig->src, rig_make_item (3, 8));
  gst_pad_push (rig->src, rig_make_item (4, 8));
  rig_assert_log (rig, "failed 1 gone failed 1 batch batch");
  assert_tensor (rig, 0, "caption", "ab\0abc", 6);
  assert_batch (rig, 1, "data uint8 1:4:2:2");
  rig_free (rig);
}

GST_END_TEST;

/* Pipelines */

#define N_ITEMS 14
#define AUGMENT                                                        \
  "augment=random-resized-crop flip=0.5 seed=7 interpolation=nearest " \
  "width=24 "                                                          \
  "height=24"

static guint8
class_of (guint x, guint y, guint i)
{
  return (x * 7 + y * 13 + i) % 21;
}

/* An image whose pixels say where they are, or a mask of its classes. */
static void
write_image (const gchar *folder, const gchar *name, guint i, gboolean mask)
{
  const guint width = 40 + i, height = 52 - i;
  g_autoptr (GByteArray) file = g_byte_array_new ();
  g_autofree gchar *header =
      g_strdup_printf ("P%u\n%u %u\n255\n", mask ? 5 : 6, width, height);

  g_byte_array_append (file, (const guint8 *) header, strlen (header));
  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < width; x++) {
      const guint8 pixel[] = { x, y, i }, class = class_of (x, y, i);

      g_byte_array_append (file, mask ? &class : pixel, mask ? 1 : 3);
    }
  files_write (folder, name, file->data, file->len);
}

/* A list of N_ITEMS pairs, whose masks lie below @base. */
static gchar *
make_pairs (const gchar *base)
{
  gchar *folder = files_make_folder ();
  g_autoptr (GString) list = g_string_new ("uri,label,mask,caption,text\n");
  g_autoptr (GString) masks = g_string_new ("uri\n");

  for (guint i = 0; i < N_ITEMS; i++) {
    g_autofree gchar *image = g_strdup_printf ("i %u.ppm", i);
    g_autofree gchar *mask = g_strdup_printf ("masks/%u.pgm", i);
    g_autofree gchar *text = g_strdup_printf ("texts/%u.txt", i);

    write_image (folder, image, i, FALSE);
    write_image (folder, mask, i, TRUE);
    files_write_text (folder, text, "a picture of nothing" + i);
    g_string_append_printf (
        list, "%s,%u,%s%s,\"picture, %u\",%s\n", image, i, base, mask, i, text);
    g_string_append_printf (masks, "%s\n", mask);
  }
  files_write (folder, "list.csv", list->str, list->len);
  files_write (folder, "masks.csv", masks->str, masks->len);
  return folder;
}

/* Adds a line to the list. */
static void
add_line (const gchar *folder, const gchar *line)
{
  g_autofree gchar *path = g_build_filename (folder, "list.csv", NULL);
  g_autofree gchar *old = NULL, *text = NULL;

  fail_unless (g_file_get_contents (path, &old, NULL, NULL));
  text = g_strconcat (old, line, "\n", NULL);
  files_write_text (folder, "list.csv", text);
}

/* Each pixel of the mask is that of the image's pixel: the same box of both was
 * taken, and no class was changed. */
static void
check_pair (const guint8 *image, const guint8 *mask, guint i)
{
  for (guint k = 0; k < SIDE * SIDE; k++) {
    const guint8 *pixel = image + 3 * k;

    fail_unless_equals_int (pixel[2], i);
    fail_unless_equals_int (mask[k], class_of (pixel[0], pixel[1], i));
  }
}

/* The masks alone, as a stream of their own: by epoch and index. */
static void
decode_masks (const gchar *folder, GBytes *masks[2][N_ITEMS])
{
  Run *run = run_pipeline ("spdlsrc location=\"%s/masks.csv\" epochs=2 ! "
                           "spdlfetch ! spdldecode format=GRAY8 " AUGMENT
                           " ! fakesink name=sink",
      folder);

  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 2 * N_ITEMS);
  for (guint k = 0; k < run->buffers->len; k++) {
    const GstSpdlItemMeta *item = run_item (run, k);
    GstMapInfo map;

    gst_buffer_map (g_ptr_array_index (run->buffers, k), &map, GST_MAP_READ);
    masks[item->epoch][item->index] = g_bytes_new (map.data, SIDE * SIDE);
    gst_buffer_unmap (g_ptr_array_index (run->buffers, k), &map);
  }
  run_free (run);
}

static gboolean
is_same_draw (const GstSpdlItemMeta *item)
{
  static const gchar *fields[] = { "crop-x", "crop-y", "crop-width",
    "crop-height", "flip" };

  for (guint i = 0; i < G_N_ELEMENTS (fields); i++) {
    g_autofree gchar *data = g_strconcat ("data.", fields[i], NULL);
    g_autofree gchar *mask = g_strconcat ("mask.", fields[i], NULL);
    const GValue *a = gst_structure_get_value (item->extra, data);
    const GValue *b = gst_structure_get_value (item->extra, mask);

    if (!a || !b || gst_value_compare (a, b) != GST_VALUE_EQUAL)
      return FALSE;
  }
  return TRUE;
}

/* Returns how many pairs came; each is right. */
static guint
check_pairs (Run *run, GBytes *masks[2][N_ITEMS])
{
  guint n = 0;

  for (guint k = 0; k < run->buffers->len; k++) {
    GstBuffer *buffer = g_ptr_array_index (run->buffers, k);
    GstSpdlBatchMeta *batch = run_batch (run, k);
    g_autoptr (GBytes) data = get_tensor (buffer, "data");
    g_autoptr (GBytes) mask = get_tensor (buffer, "mask");
    const guint8 *image = g_bytes_get_data (data, NULL);
    const guint8 *classes = g_bytes_get_data (mask, NULL);

    for (guint b = 0; b < batch->num_items; b++, n++) {
      const GstSpdlItemMeta *item = gst_spdl_batch_meta_get_item (batch, b);
      const guint8 *alone =
          g_bytes_get_data (masks[item->epoch][item->index], NULL);

      check_pair (
          image + b * SIDE * SIDE * 3, classes + b * SIDE * SIDE, item->index);
      fail_unless (memcmp (alone, classes + b * SIDE * SIDE, SIDE * SIDE) == 0);
      fail_unless (is_same_draw (item));
    }
  }
  return n;
}

static void
check_run (const gchar *folder, guint concurrency, const gchar *order,
    const gchar *between, GBytes *masks[2][N_ITEMS])
{
  Run *run = run_pipeline (
      "spdlsrc location=\"%s/list.csv\" epochs=2 ! %s "
      "spdlfetch parts=mask concurrency=%u output-order=%s ! %s "
      "spdldecode part=data concurrency=%u output-order=%s " AUGMENT " ! %s "
      "spdldecode part=mask format=GRAY8 concurrency=%u "
      "output-order=%s " AUGMENT
      " ! spdlbatch size=4 labels=true ! fakesink name=sink",
      folder, between, concurrency, order, between, concurrency, order, between,
      concurrency, order);

  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->failures->len, 0);
  fail_unless_equals_int (run->n_epochs, 2);
  fail_unless_equals_int (check_pairs (run, masks), 2 * N_ITEMS);
  run_free (run);
}

GST_START_TEST (test_pairs)
{
  /* What stands between the stages; the samples pass them as they are. */
  static const gchar *between[] = { "", "spdlaggregate size=3 !",
    "spdlaggregate size=3 ! queue ! spdldisaggregate !",
    "identity ! tee ! queue !", "spdlpipe chain=identity !" };
  gchar *folder = make_pairs ("");
  GBytes *masks[2][N_ITEMS];

  decode_masks (folder, masks);
  for (guint i = 0; i < G_N_ELEMENTS (between); i++) {
    check_run (folder, 1, "input", between[i], masks);
    check_run (folder, 4, i % 2 ? "input" : "completion", between[i], masks);
  }
  for (guint i = 0; i < 2 * N_ITEMS; i++)
    g_bytes_unref (masks[i / N_ITEMS][i % N_ITEMS]);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Masks from a server, images from the disk. */
GST_START_TEST (test_server)
{
  Server *server = server_new (FALSE);
  g_autofree gchar *base =
      g_strconcat (server_get_base (server), "/file/0/0/", NULL);
  gchar *folder = make_pairs (base);
  g_autofree gchar *masks = g_build_filename (folder, "masks", NULL);
  ServerCounts counts;
  Run *run;

  server_set_root (server, masks);
  run = run_pipeline (
      "spdlsrc location=\"%s/list.csv\" ! spdlfetch parts=mask concurrency=4 ! "
      "spdldecode part=mask format=GRAY8 interpolation=nearest width=24 "
      "height=24 ! spdldecode part=data interpolation=nearest width=24 "
      "height=24 ! spdlbatch size=7 ! fakesink name=sink",
      folder);
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 2);
  for (guint i = 0; i < 2; i++) {
    GstBuffer *buffer = g_ptr_array_index (run->buffers, i);
    g_autoptr (GBytes) data = get_tensor (buffer, "data");
    g_autoptr (GBytes) mask = get_tensor (buffer, "mask");

    for (guint b = 0; b < 7; b++)
      check_pair ((guint8 *) g_bytes_get_data (data, NULL) + b * 1728,
          (guint8 *) g_bytes_get_data (mask, NULL) + b * 576,
          gst_spdl_batch_meta_get_item (run_batch (run, i), b)->index);
  }
  server_get_counts (server, &counts);
  fail_unless_equals_int (counts.requests, N_ITEMS);
  run_free (run);
  server_free (server);
  files_remove_folder (folder);
}

GST_END_TEST;

/* What fails, and what its reason says. */
static const struct {
  const gchar *line;
  const gchar *stage;
  const gchar *reason;
} flaws[] = {
  { "bad.ppm,0,masks/0.pgm,,", "image", "Its part \"data\": " },
  { "i 0.ppm,1,bad.pgm,,", "mask", "Its part \"mask\": " },
  { "i 1.ppm,2,masks/none.pgm,,", "fetch",
      "/masks/none.pgm: It cannot be opened" },
  { "i 2.ppm,3,,,", "fetch", "It has no part \"mask\"" },
  { "none.ppm,4,masks/3.pgm,,", "fetch", "It cannot be opened" },
  { "i 4.ppm,5,http://127.0.0.1:1/x.pgm,,", "fetch",
      "Its part \"mask\", http://127.0.0.1:1/x.pgm: " },
  { "i 5.ppm,6,text:nothing,,", "fetch", "/text:nothing: It cannot be opened" },
  { "i 6.ppm,7,file://%s/masks/6.pgm#bytes=0-10,,", "mask",
      "Its part \"mask\": " },
};

static void
check_flaw (Run *run, guint i)
{
  const GstStructure *failure = g_ptr_array_index (run->failures, i);
  guint64 index;

  fail_unless (gst_structure_get_uint64 (failure, "index", &index));
  fail_unless (index >= N_ITEMS && index < N_ITEMS + G_N_ELEMENTS (flaws));
  index -= N_ITEMS;
  fail_unless_equals_string (
      gst_structure_get_string (failure, "stage"), flaws[index].stage);
  fail_unless (strstr (run_failure_text (run, i), flaws[index].reason), "%s",
      run_failure_text (run, i));
}

/* One part that fails is its item's failure, and costs no other item. */
GST_START_TEST (test_flaws)
{
  static const gchar *orders[] = { "input", "completion" };
  gchar *folder = make_pairs ("");

  files_write_text (folder, "bad.ppm", "P6\n40 40\n255\nno pixels");
  files_write_text (folder, "bad.pgm", "");
  for (guint i = 0; i < G_N_ELEMENTS (flaws); i++) {
    g_auto (GStrv) pieces = g_strsplit (flaws[i].line, "%s", 2);
    g_autofree gchar *line = g_strjoinv (folder, pieces);

    add_line (folder, line);
  }
  for (guint k = 0; k < 4; k++) {
    Run *run = run_pipeline (
        "spdlsrc location=\"%s/list.csv\" ! %s spdlfetch name=fetch "
        "parts=mask concurrency=4 retries=0 output-order=%s ! "
        "spdldecode name=image part=data concurrency=2 width=24 height=24 ! "
        "spdldecode name=mask part=mask concurrency=2 format=GRAY8 width=24 "
        "height=24 ! spdlbatch size=7 ! fakesink name=sink",
        folder, k / 2 ? "spdlaggregate size=5 !" : "", orders[k % 2]);

    fail_unless (run->error == NULL, "%s", run->error);
    fail_unless_equals_int (run->failures->len, G_N_ELEMENTS (flaws));
    fail_unless_equals_int (run->n_gone, G_N_ELEMENTS (flaws));
    for (guint i = 0; i < run->failures->len; i++)
      check_flaw (run, i);
    fail_unless_equals_int (run->buffers->len, 2);
    fail_unless_equals_int (run_batch (run, 0)->num_items, 7);
    fail_unless_equals_int (run_batch (run, 1)->num_items, 7);
    run_free (run);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* Text of a column is in extra; text of a file is a part. */
GST_START_TEST (test_text)
{
  gchar *folder = make_pairs ("");
  Run *run = run_pipeline (
      "spdlsrc location=\"%s/list.csv\" ! spdlfetch parts=\"mask, text\" ! "
      "spdldecode part=mask format=GRAY8 width=8 height=8 ! "
      "spdldecode part=data width=8 height=6 ! "
      "spdlbatch size=14 pad=true ! fakesink name=sink",
      folder);
  g_autoptr (GBytes) text = NULL, lengths = NULL;

  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 1);
  text = get_tensor (g_ptr_array_index (run->buffers, 0), "text");
  lengths = get_tensor (g_ptr_array_index (run->buffers, 0), "text_lengths");
  for (guint i = 0; i < N_ITEMS; i++) {
    const GstSpdlItemMeta *item =
        gst_spdl_batch_meta_get_item (run_batch (run, 0), i);
    const gchar *row = (const gchar *) g_bytes_get_data (text, NULL) + i * 20;
    const gchar *wanted = "a picture of nothing" + item->index;
    g_autofree gchar *caption =
        g_strdup_printf ("picture, %u", (guint) item->index);

    fail_unless_equals_string (
        gst_structure_get_string (item->extra, "caption"), caption);
    fail_unless (strncmp (row, wanted, 20) == 0, "%.20s", row);
    fail_unless_equals_int64 (
        ((const gint64 *) g_bytes_get_data (lengths, NULL))[i],
        strlen (wanted));
  }
  run_free (run);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Chains take a part, too: of bytes they know what they are. */
GST_START_TEST (test_chain)
{
  static const gchar *orders[] = { "input", "completion" };
  gchar *folder = make_pairs ("");

  for (guint i = 0; i < 2; i++) {
    Run *run = run_pipeline (
        "spdlsrc location=\"%s/list.csv\" ! %s spdlfetch parts=mask ! "
        "spdlpipe part=mask concurrency=4 output-order=%s "
        "chain=\"image/x-portable-graymap ! avdec_pgm ! "
        "video/x-raw,format=GRAY8\" ! "
        "spdldecode part=data ! spdlpipe part=data chain=\"videoconvert ! "
        "video/x-raw,format=BGRx\" ! spdlpipe part=mask chain=\"videocrop "
        "right=3 ! identity\" ! spdlbatch size=1 ! fakesink name=sink",
        folder, i ? "spdlaggregate size=4 !" : "", orders[i]);

    fail_unless (run->error == NULL, "%s", run->error);
    fail_unless_equals_int (run->failures->len, 0);
    fail_unless_equals_int (run->buffers->len, N_ITEMS);
    for (guint k = 0; k < N_ITEMS; k++) {
      GstBuffer *buffer = g_ptr_array_index (run->buffers, k);
      g_autoptr (GBytes) data = get_tensor (buffer, "data");
      g_autoptr (GBytes) mask = get_tensor (buffer, "mask");
      const guint8 *pixels = g_bytes_get_data (data, NULL);
      const guint8 *classes = g_bytes_get_data (mask, NULL);
      const guint index = run_batch (run, k)->items[0].index;
      const guint width = 40 + index, height = 52 - index;

      fail_unless_equals_int (g_bytes_get_size (data), 4 * width * height);
      fail_unless_equals_int (g_bytes_get_size (mask), (width - 3) * height);
      for (guint y = 0; y < height; y++)
        for (guint x = 0; x < width - 3; x++) {
          const guint8 *pixel = pixels + 4 * (y * width + x);

          fail_unless (pixel[2] == x && pixel[1] == y && pixel[0] == index);
          fail_unless_equals_int (
              classes[y * (width - 3) + x], class_of (x, y, index));
        }
    }
    run_free (run);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* A chain that fails, filters or gives too much. */
GST_START_TEST (test_chain_failures)
{
  static const struct {
    const gchar *chain;
    guint n_failures;
    const gchar *reason;
  } lines[] = {
    { "part=no chain=identity", N_ITEMS, "It has no part \"no\"" },
    { "part=mask chain=\"identity drop-probability=1\"", 0, NULL },
    { "part=mask chain=\"identity error-after=1\"", N_ITEMS, NULL },
    { "part=text chain=\"rndbuffersize min=1 max=1\"", N_ITEMS,
        "The chain made 20 buffers of its part \"text\", but a part is one" },
  };
  gchar *folder = make_pairs ("");

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    Run *run = run_pipeline (
        "spdlsrc location=\"%s/list.csv\" ! spdlfetch parts=\"mask,text\" ! "
        "spdlpipe %s ! fakesink name=sink",
        folder, lines[i].chain);

    fail_unless (run->error == NULL, "%s", run->error);
    fail_unless (run->failures->len == lines[i].n_failures, "%s: %u",
        lines[i].chain, run->failures->len);
    fail_unless_equals_int (run->buffers->len + run->n_gone, N_ITEMS);
    if (lines[i].reason)
      fail_unless_equals_string (run_failure_text (run, 0), lines[i].reason);
    run_free (run);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* What does not fit together is an error that says what to set. */
GST_START_TEST (test_refused)
{
  static const gchar *lines[][2] = {
    { "spdlfetch parts=mask ! spdldecode", "set part to the name" },
    { "spdlfetch ! spdldecode part=data", "parts of spdlfetch" },
    { "spdlfetch parts=mask ! spdldecode part=data ! video/x-raw",
        "Downstream takes no samples of several media" },
    { "spdlfetch parts=mask ! avdec_mjpeg",
        "parts is set, but downstream takes no samples of several media" },
    { "spdlfetch parts=mask ! spdlpipe chain=jpegdec", "does not take" },
    { "spdlfetch ! spdlpipe part=mask chain=identity",
        "name the fields of the others in the property parts" },
    { "spdlfetch caps=image/jpeg ! spdlpipe part=mask chain=identity",
        "part=mask is set, but the items are no samples of several media: they "
        "are image/jpeg" },
    { "spdlfetch parts=mask ! spdldecode part=nothing max-failures=0",
        "It has no part \"nothing\": it has data, mask" },
    { "spdlfetch parts=\"mask,data\"", "parts has the name \"data\"" },
    { "spdlfetch parts=\"mask,text,mask\"", "parts has the name \"mask\"" },
    { "spdlfetch parts=\",\"", "parts has the name \"\"" },
    { "spdlfetch parts=\"a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p\"",
        "parts names 16 fields, but 1 to 15" },
  };
  gchar *folder = make_pairs ("");

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    Run *run = run_pipeline (
        "spdlsrc location=\"%s/list.csv\" ! %s ! fakesink name=sink", folder,
        lines[i][0]);

    fail_unless (run->error != NULL, "%s", lines[i][0]);
    fail_unless (strstr (run->error, lines[i][1]) != NULL, "%s", run->error);
    run_free (run);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* An item that no list has is put together by the application. */
GST_START_TEST (test_application)
{
  Rig *rig = rig_new ("spdldecode", "part", "mask", "format", "GRAY8", "width",
      2, "height", 2, NULL);
  GstBuffer *item = rig_make_item (3, 0);
  static const gchar mask[] = "P5 2 2 255\n\1\2\3\4";
  g_autoptr (GstBuffer) bytes = gst_buffer_new_memdup (mask, sizeof mask - 1);
  GstBuffer *result;

  append (item, "sound", 5, 8, "audio/x-raw");
  fail_unless (gst_spdl_buffer_append_part (item, "mask", bytes, NULL));
  rig_start (rig, GST_SPDL_SAMPLE_CAPS);
  gst_pad_push (rig->src, item);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  rig_assert_log (rig, "3 eos");
  result = g_ptr_array_index (rig->buffers, 0);
  assert_sample (result, "sound 5*8 audio/x-raw, mask 8*1 video/x-raw");
  rig_free (rig);
}

GST_END_TEST;

static GstBuffer *
make_photo (guint64 number, gsize size)
{
  g_autoptr (GBytes) jpeg = files_make_jpeg (64, 48, number);
  g_autoptr (GstBuffer) bytes = gst_buffer_new_wrapped_bytes (jpeg);
  GstBuffer *item = rig_make_item (number, 0);

  append (item, "note", 3, number, NULL);
  if (size > 0)
    gst_buffer_set_size (bytes, size);
  gst_spdl_buffer_append_part (item, "photo", bytes, NULL);
  return item;
}

/* A part that is broken fails, or is kept, as an item is. */
GST_START_TEST (test_broken)
{
  static const gchar *modes[] = { "fail", "keep" };

  for (guint i = 0; i < 2; i++) {
    Rig *rig =
        rig_new ("spdldecode", "part", "photo", "width", 8, "height", 8, NULL);

    gst_util_set_object_arg (G_OBJECT (rig->element), "corrupt", modes[i]);
    rig_start (rig, GST_SPDL_SAMPLE_CAPS);
    gst_pad_push (rig->src, make_photo (0, 0));
    gst_pad_push (rig->src, make_photo (1, 700));
    gst_pad_push (rig->src, make_photo (2, 0));
    rig_push_eos (rig);
    rig_wait_eos (rig);
    fail_unless_equals_int (rig->buffers->len, i == 0 ? 2 : 3);
    fail_unless_equals_int (
        rig_find_message (rig, "spdl-item-failed") != NULL, i == 0);
    if (i == 0) {
      g_autofree gchar *reason = get_reason (rig);

      fail_unless (
          g_str_has_prefix (reason, "Its part \"photo\": "), "%s", reason);
    }
    for (guint k = 0; k < rig->buffers->len; k++) {
      GstSpdlPartsMeta *parts =
          gst_spdl_buffer_get_parts_meta (g_ptr_array_index (rig->buffers, k));

      fail_unless_equals_int (
          gst_spdl_parts_meta_find_part (parts, "note")->size, 3);
      fail_unless_equals_int (
          gst_spdl_parts_meta_find_part (parts, "photo")->size, 8 * 24);
    }
    rig_free (rig);
  }
}

GST_END_TEST;

typedef struct {
  GHashTable *addresses;
  GstBuffer *kept; /* the first photo */
} Seen;

/* In the thread to which the sample belongs. */
static GstPadProbeReturn
see_photo (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Seen *seen = user_data;
  GstBuffer *photo =
      gst_spdl_buffer_dup_part (GST_PAD_PROBE_INFO_BUFFER (info), "photo");

  fail_if (seen->kept && get_address (photo) == get_address (seen->kept));
  g_hash_table_add (seen->addresses, (gpointer) get_address (photo));
  if (seen->kept)
    gst_buffer_unref (photo);
  else
    seen->kept = photo;
  return GST_PAD_PROBE_OK;
}

/* Memory of a part goes back to the pool when nobody has it any more. */
GST_START_TEST (test_pool)
{
  Rig *rig =
      rig_new ("spdldecode", "part", "photo", "width", 64, "height", 64, NULL);
  Seen seen = { g_hash_table_new (NULL, NULL) };

  gst_pad_add_probe (
      rig->sink, GST_PAD_PROBE_TYPE_BUFFER, see_photo, &seen, NULL);
  rig_start (rig, GST_SPDL_SAMPLE_CAPS);
  for (guint i = 0; i < 12; i++) {
    gst_pad_push (rig->src, make_photo (i, 0));
    rig_wait_items (rig, i + 1);
    g_mutex_lock (&rig->lock);
    g_ptr_array_set_size (rig->buffers, 0);
    g_mutex_unlock (&rig->lock);
  }
  rig_free (rig);
  /* The one that is kept, and as many as are under way at a time. */
  fail_unless (g_hash_table_size (seen.addresses) <= 4, "%u addresses",
      g_hash_table_size (seen.addresses));
  gst_buffer_unref (seen.kept);
  g_hash_table_unref (seen.addresses);
}

GST_END_TEST;

static Suite *
samples_suite (void)
{
  Suite *s = suite_create ("samples");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_append);
  tcase_add_test (tc, test_copies);
  tcase_add_test (tc, test_replace);
  tcase_add_test (tc, test_rows);
  tcase_add_test (tc, test_batch);
  tcase_add_test (tc, test_padding);
  tcase_add_test (tc, test_padding_dropped);
  tcase_add_test (tc, test_conversion);
  tcase_add_test (tc, test_tensors);
  tcase_add_test (tc, test_batch_failures);
  tcase_add_test (tc, test_caps_change);
  tcase_add_test (tc, test_pairs);
  tcase_add_test (tc, test_server);
  tcase_add_test (tc, test_flaws);
  tcase_add_test (tc, test_text);
  tcase_add_test (tc, test_chain);
  tcase_add_test (tc, test_chain_failures);
  tcase_add_test (tc, test_refused);
  tcase_add_test (tc, test_application);
  tcase_add_test (tc, test_broken);
  tcase_add_test (tc, test_pool);
  return s;
}

GST_CHECK_MAIN (samples);
