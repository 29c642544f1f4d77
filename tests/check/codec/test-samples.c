/* gst-spdl: tests of spdldecode and spdlbatch with samples of several parts
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/video/video.h>
#include <string.h>

#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/rig.h"
#include "tests/check/support/run.h"
#include "tests/check/support/suite.h"

#define GRAY(w, h)                                       \
  "video/x-raw,format=GRAY8,width=" #w ",height=" #h "," \
  "framerate=0/1"

static GstBuffer *
make_bytes (gsize size, guint8 value)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);

  gst_buffer_memset (buffer, 0, value, size);
  return buffer;
}

/* Appends a part with @size bytes of @value. */
static gboolean
append (GstBuffer *sample, const gchar *name, gsize size, guint8 value,
    const gchar *caps_string)
{
  g_autoptr (GstBuffer) part = make_bytes (size, value);
  g_autoptr (GstCaps) caps =
      caps_string ? gst_caps_from_string (caps_string) : NULL;

  return gst_spdl_buffer_append_part (sample, name, part, caps);
}

/* Returns names, sizes, first bytes and media types of the parts, as in "data
 * 4*1, mask 2*9 video/x-raw". */
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

/* GstSpdlPartsMeta */

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
  /* A name is unique in a sample, and a buffer that already has bytes gets no
   * parts. */
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

static gpointer
count_wrong_names (gpointer data)
{
  guint n_wrong = 0;

  for (guint i = 0; i < 100000; i++) {
    GstBuffer *sample = gst_buffer_new ();
    const GstSpdlPart *part;

    append (sample, "data", 4, 1, NULL);
    part = gst_spdl_parts_meta_get_part (
        gst_spdl_buffer_get_parts_meta (sample), 0);
    n_wrong += !g_str_equal (part->name, "data");
    gst_buffer_unref (sample);
  }
  return GUINT_TO_POINTER (n_wrong);
}

/* Tests names that threads create and free at the same time. Names that GLib
 * interns can be freed while another thread gets them. */
GST_START_TEST (test_names_of_threads)
{
  GThread *threads[4];

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("names", count_wrong_names, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    fail_unless_equals_int (GPOINTER_TO_UINT (g_thread_join (threads[i])), 0);
}

GST_END_TEST;

/* Tests that the meta is copied along with the memory. */
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
  /* Parts are ranges of bytes, so they survive merging the memories. */
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
  const guint8 *data;
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  data = map.data;
  gst_buffer_unmap (buffer, &map);
  return data;
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
  /* The other parts share their memory. */
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

/* Tests that the rows of a part have the default strides of its caps, as it has
 * no GstVideoMeta. */
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

/* Returns a sample with an image of 4 by 2 gray pixels, a mask of 3 by 1 and
 * @caption. @number also sets the values. */
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

/* Describes the tensors of batch @i, as in "data uint8 1:4:2:3, ...". */
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

static void
assert_tensor (
    Rig *rig, guint i, const gchar *name, gconstpointer expected, gsize size)
{
  g_autoptr (GBytes) bytes =
      run_get_tensor (g_ptr_array_index (rig->buffers, i), name);
  g_autoptr (GBytes) wanted = g_bytes_new (expected, size);

  fail_unless (g_bytes_equal (bytes, wanted), "%s", name);
}

/* Returns the error message of the last item that failed. */
static gchar *
get_reason (Rig *rig)
{
  GError *error = NULL;
  gchar *text;

  gst_structure_get (rig_find_message (rig, "spdl-item-failed"), "error",
      G_TYPE_ERROR, &error, NULL);
  text = errors_format (error);
  g_error_free (error);
  return text;
}

/* Pushes @item and checks that it fails with @reason in the message. */
static void
assert_fails (Rig *rig, GstBuffer *item, const gchar *reason)
{
  const guint n = rig->messages->len;
  g_autofree gchar *text = NULL;

  gst_pad_push (rig->src, item);
  fail_unless_equals_int (rig->messages->len, n + 1);
  text = get_reason (rig);
  fail_unless (errors_text_has (text, reason), "%s", text);
}

GST_START_TEST (test_batch)
{
  Rig *rig = rig_new (
      "spdlbatch", "batch-size", 2, "labels", TRUE, "indices", TRUE, NULL);
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

/* Tests that text is padded to the longest in its batch. */
GST_START_TEST (test_padding)
{
  static const gchar *captions[] = { "a dog", "", "cat" };
  const gint64 lengths[] = { 5, 0, 3 };
  Rig *rig = rig_new ("spdlbatch", "batch-size", 3, "pad-to-longest", TRUE,
      "labels", TRUE, NULL);

  rig_start (rig, GST_SPDL_SAMPLE_CAPS);
  for (guint i = 0; i < 3; i++)
    gst_pad_push (rig->src, make_item (i, captions[i]));
  assert_batch (rig, 0,
      "data uint8 1:4:2:3, mask uint8 1:3:1:3, caption_lengths int64 3, "
      "labels int64 3, caption uint8 5:3");
  assert_tensor (rig, 0, "caption_lengths", lengths, sizeof lengths);
  assert_tensor (rig, 0, "caption", "a dog\0\0\0\0\0cat\0", 15);
  /* A smaller batch, and one whose captions are all empty. */
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

/* Tests that no two tensors of a batch have the same name. */
GST_START_TEST (test_names_of_lengths)
{
  Rig *rig =
      rig_new ("spdlbatch", "batch-size", 1, "pad-to-longest", TRUE, NULL);

  rig_start (rig, GST_SPDL_SAMPLE_CAPS);
  for (guint i = 0; i < 2; i++) {
    /* The part with the name is before or after the text. */
    GstBuffer *item = make_item (i, i == 0 ? "a dog" : NULL);

    append (item, "caption_lengths", 8, 0, GRAY (4, 2));
    if (i == 1)
      append (item, "caption", 3, 0, NULL);
    assert_fails (rig, item, "[stream-error format]|\"caption_lengths\"");
  }
  gst_pad_push (rig->src, make_item (2, "cat"));
  rig_push_eos (rig);
  rig_assert_log (
      rig, "failed 0 gone failed 0 failed 1 gone failed 1 batch eos");
  rig_free (rig);
}

GST_END_TEST;

/* Tests that a flushed or dropped batch leaves no data for the next one. */
GST_START_TEST (test_padding_dropped)
{
  Rig *rig = rig_new ("spdlbatch", "batch-size", 3, "pad-to-longest", TRUE,
      "drop-last", TRUE, NULL);
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

#define SOUND(format, channels)                                 \
  "audio/x-raw,format=" format ",rate=8000,channels=" #channels \
  ",layout=interleaved"

/* Silence is 128 in U8 audio. */
GST_START_TEST (test_padding_of_u8_audio)
{
  Rig *rig =
      rig_new ("spdlbatch", "batch-size", 2, "pad-to-longest", TRUE, NULL);

  rig_start (rig, GST_SPDL_SAMPLE_CAPS);
  for (guint i = 0; i < 2; i++) {
    GstBuffer *item = rig_make_item (i, 0);

    append (item, "sound", 2 + 2 * i, 7, SOUND ("U8", 1));
    gst_pad_push (rig->src, item);
  }
  rig_assert_log (rig, "batch");
  assert_batch (rig, 0, "sound_lengths int64 2, sound uint8 1:4:2");
  assert_tensor (rig, 0, "sound", "\7\7\200\200\7\7\7\7", 8);
  rig_free (rig);
}

GST_END_TEST;

/* Sounds of another number of channels or type do not fit into a batch. */
GST_START_TEST (test_sounds)
{
  static const gchar *sounds[] = { SOUND ("F32LE", 1), SOUND ("F32LE", 2),
    SOUND ("S16LE", 1), SOUND ("F32LE", 1) };
  Rig *rig =
      rig_new ("spdlbatch", "batch-size", 2, "pad-to-longest", TRUE, NULL);

  gst_util_set_object_arg (
      G_OBJECT (rig->element), "on-shape-mismatch", "skip");
  rig_start (rig, GST_SPDL_SAMPLE_CAPS);
  for (guint i = 0; i < 4; i++) {
    GstBuffer *item = rig_make_item (i, 0);

    append (item, "sound", 16, i, sounds[i]);
    gst_pad_push (rig->src, item);
  }
  rig_assert_log (rig, "failed 1 gone failed 1 failed 2 gone failed 2 batch");
  assert_batch (rig, 0, "sound_lengths int64 2, sound float32 1:4:2");
  rig_free (rig);
}

GST_END_TEST;

/* Tests that only the selected part is converted. */
GST_START_TEST (test_conversion)
{
  static const gchar *parts[] = { NULL, "data", "mask" };

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    Rig *rig = rig_new ("spdlbatch", "batch-size", 1, "part", parts[i], NULL);
    const float unit = 1 / 255.0, a = 5 * unit, b = 105 * unit;
    const float data[] = { a, a, a, a, a, a, a, a };
    const float mask[] = { b, b, b };

    gst_util_set_object_arg (G_OBJECT (rig->element), "dtype", "float32");
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

/* Tests several tensors in one part, in separate memories or in one. */
GST_START_TEST (test_tensors)
{
  static const gchar *caps =
      "other/tensors,format=static,num_tensors=2,types=(string)\"uint8,int16\","
      "dimensions=(string)\"3,1:2\",framerate=0/1";

  for (guint apart = 0; apart < 2; apart++) {
    Rig *rig = rig_new ("spdlbatch", "batch-size", 1, NULL);
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
  Rig *rig = rig_new ("spdlbatch", "batch-size", 2, "part", "mask", NULL);
  GstBuffer *item;

  gst_util_set_object_arg (
      G_OBJECT (rig->element), "on-shape-mismatch", "skip");
  gst_util_set_object_arg (G_OBJECT (rig->element), "dtype", "float32");
  rig_start (rig, GST_SPDL_SAMPLE_CAPS);
  assert_fails (
      rig, make_item (0, "text"), "[stream-error format]|\"caption\"");
  item = rig_make_item (1, 0);
  append (item, "data", 9, 0, "image/png");
  append (item, "mask", 4, 0, GRAY (3, 1));
  assert_fails (rig, item, "[stream-error format]|\"data\"|image/png");
  item = rig_make_item (2, 0);
  append (item, "data", 8, 0, GRAY (4, 2));
  assert_fails (rig, item, "\"mask\"|part");
  assert_fails (rig, rig_make_item (3, 8), "[stream-error format]|parts");

  gst_pad_push (rig->src, make_item (4, NULL));
  item = rig_make_item (5, 0);
  append (item, "data", 8, 0, GRAY (4, 2));
  append (item, "mask", 8, 0, GRAY (5, 1));
  assert_fails (
      rig, item, "[stream-error format]|\"mask\"|float32|(1, 5, 1)|(1, 3, 1)");
  item = rig_make_item (6, 0);
  append (item, "depth", 8, 0, GRAY (4, 2));
  append (item, "mask", 4, 0, GRAY (3, 1));
  assert_fails (rig, item, "[stream-error format]|0|\"depth\"|\"data\"");
  item = rig_make_item (7, 0);
  append (item, "data", 8, 0, GRAY (4, 2));
  append (item, "mask", 3, 0, GRAY (3, 2));
  assert_fails (rig, item, "[stream-error format]");
  item = rig_make_item (8, 0);
  append (item, "data", 3, 0, GRAY (4, 2));
  append (item, "mask", 4, 0, GRAY (3, 1));
  assert_fails (rig, item, "[stream-error format]|\"data\"|0|3|8");
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

  /* Bytes cannot be converted. */
  rig = rig_new ("spdlbatch", "batch-size", 1, "pad-to-longest", TRUE, NULL);
  gst_util_set_object_arg (G_OBJECT (rig->element), "mean", "<0.5>");
  rig_start (rig, GST_SPDL_SAMPLE_CAPS);
  item = rig_make_item (0, 0);
  append (item, "text", 4, 0, "text/plain");
  append (item, "data", 8, 0, GRAY (4, 2));
  assert_fails (rig, item, "[stream-error format]|\"text\"|text/plain|dtype");
  rig_free (rig);
}

GST_END_TEST;

/* Tests a change from samples to items of one medium and back. */
GST_START_TEST (test_caps_change)
{
  Rig *rig =
      rig_new ("spdlbatch", "batch-size", 2, "pad-to-longest", TRUE, NULL);
  g_autoptr (GstCaps) sample = gst_caps_from_string (GST_SPDL_SAMPLE_CAPS);
  g_autoptr (GstCaps) gray = gst_caps_from_string (GRAY (4, 2));

  gst_util_set_object_arg (
      G_OBJECT (rig->element), "on-shape-mismatch", "skip");
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

/* spdldecode */

/* Tests samples that the application assembles. */
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

/* Tests that a corrupt part fails or is kept according to on-corrupt. */
GST_START_TEST (test_broken)
{
  static const gchar *modes[] = { "fail", "keep" };

  for (guint i = 0; i < 2; i++) {
    Rig *rig =
        rig_new ("spdldecode", "part", "photo", "width", 8, "height", 8, NULL);

    gst_util_set_object_arg (G_OBJECT (rig->element), "on-corrupt", modes[i]);
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

      fail_unless (errors_text_has (reason, "[stream-error decode]|\"photo\""),
          "%s", reason);
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

/* Runs in the streaming thread that owns the sample. */
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

/* Tests that the memory of a part returns to the pool after its last unref. */
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
  /* One buffer is kept, and a few are in flight. */
  fail_unless (g_hash_table_size (seen.addresses) <= 4, "%u addresses",
      g_hash_table_size (seen.addresses));
  gst_buffer_unref (seen.kept);
  g_hash_table_unref (seen.addresses);
}

GST_END_TEST;

CHECK_SUITE (samples, TEST (test_append), TEST (test_names_of_threads),
    TEST (test_copies), TEST (test_replace), TEST (test_rows),
    TEST (test_batch), TEST (test_padding), TEST (test_names_of_lengths),
    TEST (test_padding_dropped), TEST (test_padding_of_u8_audio),
    TEST (test_sounds), TEST (test_conversion), TEST (test_tensors),
    TEST (test_batch_failures), TEST (test_caps_change),
    TEST (test_application), TEST (test_broken), TEST (test_pool))
