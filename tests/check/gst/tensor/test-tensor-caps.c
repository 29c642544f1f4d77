/* gst-spdl: tests of tensor caps, metas and events
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/check/gstcheck.h>
#include <gst/spdl/spdl.h>

#include "tests/check/support/suite.h"

/* Checks caps against NNStreamer's grammar, written from its documentation:
 * `other/tensors` with format=static, num_tensors as int, framerate as
 * fraction, types as comma-separated names, dimensions as comma-separated
 * shapes, each of which has up to 16 positive numbers separated by colons. */
static void
assert_nnstreamer (const GstCaps *caps)
{
  const GstStructure *s = gst_caps_get_structure (caps, 0);
  gint n, rate_n, rate_d;

  fail_unless (gst_structure_has_name (s, "other/tensors"));
  /* Further fields do not change those of NNStreamer. */
  fail_unless_equals_int (
      gst_structure_n_fields (s), 5 + gst_structure_has_field (s, "rank") +
                                      gst_structure_has_field (s, "bool"));
  fail_unless_equals_string (gst_structure_get_string (s, "format"), "static");
  fail_unless (
      gst_structure_get_int (s, "num_tensors", &n) && n > 0 && n <= 16);
  fail_unless (gst_structure_get_fraction (s, "framerate", &rate_n, &rate_d));
  fail_unless (rate_n == 0 && rate_d == 1);

  g_autofree gchar *types =
      g_strdup_printf ("^(float(16|32|64)|u?int(8|16|32|64))"
                       "(,(float(16|32|64)|u?int(8|16|32|64))){%d}$",
          n - 1);
  g_autofree gchar *dims = g_strdup_printf (
      "^[1-9][0-9]*(:[1-9][0-9]*){0,15}(,[1-9][0-9]*(:[1-9][0-9]*){0,15}){%d}$",
      n - 1);
  fail_unless (g_regex_match_simple (
      types, gst_structure_get_string (s, "types"), 0, 0));
  fail_unless (g_regex_match_simple (
      dims, gst_structure_get_string (s, "dimensions"), 0, 0));
}

GST_START_TEST (test_version)
{
  g_autofree gchar *version = g_strdup_printf ("%d.%d.%d",
      GST_SPDL_VERSION_MAJOR, GST_SPDL_VERSION_MINOR, GST_SPDL_VERSION_MICRO);

  fail_unless_equals_string (version, PACKAGE_VERSION);
  for (gint major = -1; major <= 1; major++)
    for (gint minor = -1; minor <= 1; minor++)
      for (gint micro = -1; micro <= 1; micro++) {
        const gint order = major ? major : minor ? minor : micro;

        fail_unless_equals_int (
            GST_SPDL_CHECK_VERSION (GST_SPDL_VERSION_MAJOR + major,
                GST_SPDL_VERSION_MINOR + minor, GST_SPDL_VERSION_MICRO + micro),
            order <= 0);
      }
}

GST_END_TEST;

GST_START_TEST (test_round_trip)
{
  GstSpdlTensorsInfo info, parsed;
  GRand *rand = g_rand_new_with_seed (9);

  for (guint round = 0; round < 500; round++) {
    const guint n = g_rand_int_range (rand, 1, GST_SPDL_MAX_TENSORS + 1);
    GError *error = NULL;

    gst_spdl_tensors_info_init (&info);
    for (guint i = 0; i < n; i++) {
      const guint rank = g_rand_int_range (rand, 0, GST_SPDL_MAX_RANK + 1);
      const guint type =
          g_rand_int_range (rand, 0, GST_SPDL_TENSOR_FLOAT64 + 2);
      guint32 dims[GST_SPDL_MAX_RANK];

      for (guint k = 0; k < rank; k++)
        dims[k] =
            g_rand_int_range (rand, 1, 1 << g_rand_int_range (rand, 1, 31));
      gst_spdl_tensors_info_add (&info,
          type > GST_SPDL_TENSOR_FLOAT64 ? GST_SPDL_TENSOR_BOOL : type, rank,
          dims);
    }
    g_autoptr (GstCaps) caps = gst_spdl_tensors_info_to_caps (&info);
    assert_nnstreamer (caps);
    /* The caps survive conversion to a string, as in a pipeline description. */
    g_autofree gchar *string = gst_caps_to_string (caps);
    g_autoptr (GstCaps) again = gst_caps_from_string (string);
    fail_unless (gst_spdl_tensors_info_from_caps (&parsed, again, &error));
    fail_unless_equals_int (parsed.num_tensors, n);
    for (guint i = 0; i < n; i++)
      fail_unless (
          gst_spdl_tensor_info_is_equal (&parsed.tensors[i], &info.tensors[i]));
  }
  g_rand_free (rand);
}

GST_END_TEST;

/* Strings have the documented format. */
GST_START_TEST (test_strings)
{
  const guint32 dims[] = { 3, 224, 224, 32 }, n[] = { 32 };
  GstSpdlTensorsInfo info;
  GError *error = NULL;

  gst_spdl_tensors_info_init (&info);
  gst_spdl_tensors_info_add (&info, GST_SPDL_TENSOR_UINT8, 4, dims);
  gst_spdl_tensors_info_add (&info, GST_SPDL_TENSOR_INT64, 1, n);
  g_autoptr (GstCaps) caps = gst_spdl_tensors_info_to_caps (&info);
  g_autoptr (GstCaps) expected = gst_caps_from_string (
      "other/tensors,format=static,num_tensors=2,types=(string)\"uint8,int64\","
      "dimensions=(string)\"3:224:224:32,32\",framerate=0/1");
  fail_unless (gst_caps_is_equal (caps, expected));
  fail_unless_equals_int (
      gst_spdl_tensor_info_get_size (&info.tensors[0]), 3 * 224 * 224 * 32);
  fail_unless_equals_int (
      gst_spdl_tensor_info_get_size (&info.tensors[1]), 256);

  /* NNStreamer pads with 0 or 1, and may add blanks. */
  g_autoptr (GstCaps) padded = gst_caps_from_string (
      "other/tensors,format=static,num_tensors=2,"
      "types=(string)\"uint8, int64\",dimensions=(string)\"3:2:1:1, 4:0:0:0\","
      "framerate=30/1");
  fail_unless (gst_spdl_tensors_info_from_caps (&info, padded, &error));
  fail_unless_equals_int (info.tensors[0].rank, 4);
  fail_unless_equals_int (info.tensors[1].rank, 1);
  fail_unless_equals_int (info.tensors[1].dims[0], 4);

  /* Numbers and bool, which NNStreamer reads as uint8 and one element. */
  gst_spdl_tensors_info_init (&info);
  gst_spdl_tensors_info_add (&info, GST_SPDL_TENSOR_FLOAT32, 0, NULL);
  gst_spdl_tensors_info_add (&info, GST_SPDL_TENSOR_BOOL, 1, n);
  g_autoptr (GstCaps) marked = gst_spdl_tensors_info_to_caps (&info);
  g_autoptr (GstCaps) fields = gst_caps_from_string (
      "other/tensors,format=static,num_tensors=2,"
      "types=(string)\"float32,uint8\",dimensions=(string)\"1,32\","
      "framerate=0/1,rank=(int)<0,1>,bool=(boolean)<false,true>");
  fail_unless (gst_caps_is_equal (marked, fields));
  fail_unless (gst_spdl_tensors_info_from_caps (&info, marked, &error));
  fail_unless_equals_int (info.tensors[0].rank, 0);
  fail_unless_equals_int (gst_spdl_tensor_info_get_size (&info.tensors[0]), 4);
  fail_unless_equals_int (info.tensors[1].type, GST_SPDL_TENSOR_BOOL);

  /* An array of shape (0, 4). */
  static const guint32 empty_dims[] = { 4, 0 };
  gst_spdl_tensors_info_init (&info);
  gst_spdl_tensors_info_add (&info, GST_SPDL_TENSOR_FLOAT32, 2, empty_dims);
  g_autoptr (GstCaps) empty = gst_spdl_tensors_info_to_caps (&info);
  g_autoptr (GstCaps) empty_fields =
      gst_caps_from_string ("other/tensors,format=static,num_tensors=1,"
                            "types=(string)float32,dimensions=(string)\"4:0\","
                            "framerate=0/1,rank=(int)<2>");
  fail_unless (gst_caps_is_equal (empty, empty_fields));
  fail_unless (gst_spdl_tensors_info_from_caps (&info, empty, &error));
  fail_unless_equals_int (info.tensors[0].rank, 2);
  fail_unless_equals_int (info.tensors[0].dims[0], 4);
  fail_unless_equals_int (gst_spdl_tensor_info_get_size (&info.tensors[0]), 0);

  static const gchar *bad[] = {
    "other/tensors,format=static,num_tensors=1,types=(string)uint8,"
    "dimensions=(string)\"2\",rank=(int)<0>",
    "other/tensors,format=static,num_tensors=1,types=(string)int8,"
    "dimensions=(string)\"1\",bool=(boolean)<true>",
    "other/tensors,format=static,num_tensors=1,types=(string)uint8,"
    "dimensions=(string)\"1\",bool=(boolean)true",
    "other/tensors,format=static,num_tensors=1,types=(string)uint8,"
    "dimensions=(string)\"1\",rank=(int)<0,1>",
    "other/tensors,format=static,num_tensors=1,types=(string)uint8,"
    "dimensions=(string)\"4:0\",rank=(int)<3>",
    "other/tensors,format=static,num_tensors=1,types=(string)uint8,"
    "dimensions=(string)\"4\",rank=(int)<-1>",
    "other/tensors,format=static,num_tensors=1,types=(string)uint8,"
    "dimensions=(string)\"4\",rank=(int)1",
    "other/tensors,format=static,num_tensors=1,types=(string)bool,"
    "dimensions=(string)\"1\"",
    "other/tensors,format=flexible,framerate=0/1",
    "other/tensors,format=static,num_tensors=1,types=uint8",
    "other/tensors,format=static,num_tensors=2,types=(string)uint8,"
    "dimensions=(string)\"3,4\"",
    "other/tensors,format=static,num_tensors=1,types=(string)uint9,"
    "dimensions=(string)\"3\"",
    "other/tensors,format=static,num_tensors=1,types=(string)uint8,"
    "dimensions=(string)\"3:x\"",
    "other/tensors,format=static,num_tensors=1,types=(string)uint8,"
    "dimensions=(string)\"0\"",
    "other/tensors,format=static,num_tensors=1,types=(string)uint8,"
    "dimensions=(string)\"1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1\"",
    "other/tensors,format=static,num_tensors=99,types=(string)uint8,"
    "dimensions=(string)\"1\"",
    "video/x-raw",
  };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GstCaps) wrong = gst_caps_from_string (bad[i]);

    fail_if (
        gst_spdl_tensors_info_from_caps (&info, wrong, &error), "%s", bad[i]);
    fail_unless (error != NULL && error->message[0] != '\0');
    g_clear_error (&error);
  }
  /* A size that exceeds 64 bits. */
  const guint32 huge[] = { G_MAXUINT32, G_MAXUINT32, G_MAXUINT32 };
  gst_spdl_tensors_info_init (&info);
  gst_spdl_tensors_info_add (&info, GST_SPDL_TENSOR_INT64, 3, huge);
  fail_unless (gst_spdl_tensor_info_get_size (&info.tensors[0]) == G_MAXSIZE);
}

GST_END_TEST;

GST_START_TEST (test_item_meta)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 10, NULL), *copy, *part;
  GstSpdlItemMeta *item = gst_spdl_buffer_add_item_meta (buffer);

  fail_unless_equals_int64 (item->label, -1);
  fail_unless_equals_int (item->parts, 1);
  fail_if (GST_CLOCK_TIME_IS_VALID (item->created));
  item->index = 42;
  item->uri = g_ref_string_new ("file:///x");
  item->extra = gst_structure_new ("extra", "k", G_TYPE_INT, 1, NULL);
  copy = gst_buffer_copy (buffer);
  part = gst_buffer_copy_region (buffer, GST_BUFFER_COPY_ALL, 2, 3);
  gst_buffer_unref (buffer);
  for (guint i = 0; i < 2; i++) {
    GstBuffer *b = i ? part : copy;
    g_autofree gchar *name = NULL;

    item = gst_spdl_buffer_get_item_meta (b);
    fail_unless_equals_int (item->index, 42);
    fail_unless_equals_string (item->uri, "file:///x");
    fail_unless (gst_structure_has_field (item->extra, "k"));
    name = gst_spdl_item_meta_describe (item);
    fail_unless_equals_string (name, "file:///x");
    /* Copying it onto itself or twice does not duplicate it. */
    gst_buffer_copy_into (b, b, GST_BUFFER_COPY_META, 0, -1);
    fail_unless_equals_int (
        gst_buffer_get_n_meta (b, GST_SPDL_ITEM_META_API_TYPE), 1);
    gst_buffer_unref (b);
  }
}

GST_END_TEST;

/* Sizes of the structures that programs allocate, or of which there are arrays.
 * New fields take the place of reserved ones. */
GST_START_TEST (test_sizes)
{
#if GLIB_SIZEOF_VOID_P == 8
  fail_unless_equals_int (sizeof (GstSpdlItemMeta), 104);
  fail_unless_equals_int (G_STRUCT_OFFSET (GstSpdlItemMeta, parts), 84);
  fail_unless_equals_int (sizeof (GstSpdlTensorInfo), 104);
  fail_unless_equals_int (G_STRUCT_OFFSET (GstSpdlTensorInfo, dims), 8);
  fail_unless_equals_int (sizeof (GstSpdlTensorsInfo), 8 + 16 * 104 + 32);
  fail_unless_equals_int (sizeof (GstSpdlArrowPart), 16);
#endif
}

GST_END_TEST;

GST_START_TEST (test_batch_meta)
{
  GstBuffer *buffer = gst_buffer_new (), *copy;
  GstSpdlBatchMeta *batch = gst_spdl_buffer_add_batch_meta (buffer, 2);
  GstSpdlItemMeta item = { .index = 3, .uri = g_ref_string_new ("u") };

  gst_spdl_batch_meta_append (batch, &item);
  g_ref_string_release (item.uri);
  gst_spdl_batch_meta_add_name (batch, "data");
  batch->resume_state = g_strdup ("spdl1;");
  copy = gst_buffer_copy (buffer);
  gst_buffer_unref (buffer);
  batch = gst_spdl_buffer_get_batch_meta (copy);
  fail_unless_equals_int (batch->num_items, 1);
  fail_unless_equals_string (batch->items[0].uri, "u");
  fail_unless_equals_string (gst_spdl_batch_meta_get_name (batch, 0), "data");
  fail_unless_equals_string (batch->resume_state, "spdl1;");
  gst_buffer_unref (copy);
}

GST_END_TEST;

GST_START_TEST (test_events)
{
  const guint64 numbers[] = { 1, G_MAXUINT64, 3 };
  GstEvent *event = gst_spdl_event_new_items_dropped (
      7, 8, numbers, 3, GST_SPDL_DROP_REASON_FILTERED);
  guint64 *sequences, epoch, n_items;
  guint32 source;
  guint n;
  GstSpdlDropReason reason;

  fail_unless (
      GST_EVENT_IS_SERIALIZED (event) && GST_EVENT_IS_DOWNSTREAM (event));
  fail_if (gst_spdl_event_parse_epoch (event, NULL, NULL, NULL));
  fail_unless (gst_spdl_event_parse_items_dropped (
      event, &source, &epoch, &sequences, &n, &reason));
  fail_unless (source == 7 && epoch == 8 && n == 3 &&
               reason == GST_SPDL_DROP_REASON_FILTERED &&
               sequences[1] == G_MAXUINT64);
  g_free (sequences);
  gst_event_unref (event);

  event = gst_spdl_event_new_epoch (1, 2, 3);
  fail_unless (gst_spdl_event_parse_epoch (event, &source, &epoch, &n_items));
  fail_unless (source == 1 && epoch == 2 && n_items == 3);
  fail_if (
      gst_spdl_event_parse_items_dropped (event, NULL, NULL, NULL, NULL, NULL));
  gst_event_unref (event);
}

GST_END_TEST;

CHECK_SUITE (tensor_caps, TEST (test_version), TEST (test_round_trip),
    TEST (test_strings), TEST (test_item_meta), TEST (test_sizes),
    TEST (test_batch_meta), TEST (test_events))
