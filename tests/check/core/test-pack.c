/* gst-spdl: tests of spdlpack
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <math.h>
#include <string.h>

#include "tests/check/support/rig.h"
#include "tests/check/support/suite.h"

#define EOS 9

/* Numbers of a part of a row. */
static const gint32 *
get_numbers (GstBuffer *row, const guint8 *data, const gchar *name)
{
  const GstSpdlPart *part = gst_spdl_parts_meta_find_part (
      gst_spdl_buffer_get_parts_meta (row), name);

  return (const gint32 *) (gconstpointer) (data + part->offset);
}

/* Writes the row's tokens, with "." for padding and "$" for the end token, and
 * its items: "N" or "N:PART/PARTS@FIRST-END". Checks that the other parts fit
 * to the tokens. */
static void
describe_row (GString *text, GstBuffer *row, guint length)
{
  const GstSpdlBatchMeta *batch = gst_spdl_buffer_get_batch_meta (row);
  const gint64 *tokens;
  const gint32 *segments, *positions, *ends;
  const guint8 *mask;
  GstMapInfo map;

  fail_unless (gst_buffer_map (row, &map, GST_MAP_READ));
  tokens = (gconstpointer) get_numbers (row, map.data, "tokens");
  segments = get_numbers (row, map.data, "segment_ids");
  positions = get_numbers (row, map.data, "positions");
  mask = (gconstpointer) get_numbers (row, map.data, "loss_mask");
  ends = get_numbers (row, map.data, "cu_seqlens");
  fail_unless_equals_int (
      *get_numbers (row, map.data, "num_documents"), batch->num_items);
  for (guint i = 0; i < length; i++) {
    const gint32 segment = segments[i];

    g_string_append_c (text, segment == 0       ? '.'
                             : tokens[i] == EOS ? '$'
                                                : '0' + tokens[i]);
    fail_unless (segment >= 0 && segment <= (gint32) batch->num_items);
    fail_unless_equals_int (mask[i], segment > 0);
    if (segment > 0) {
      fail_unless_equals_int (positions[i], i - ends[segment - 1]);
      fail_unless ((gint32) i < ends[segment]);
    } else {
      fail_unless_equals_int (positions[i], 0);
      fail_unless_equals_int (tokens[i], 0);
      fail_unless ((gint32) i >= ends[batch->num_items]);
    }
  }
  fail_unless_equals_int (ends[batch->num_items + 1], length);
  gst_buffer_unmap (row, &map);
  for (guint i = 0; i < batch->num_items; i++) {
    const GstSpdlItemMeta *item = &batch->items[i];

    g_string_append_printf (text, " %" G_GUINT64_FORMAT, item->index);
    if (item->parts > 1 || item->end_token > 0)
      g_string_append_printf (text, ":%u/%u@%u-%u", item->part, item->parts,
          item->first_token, item->end_token);
  }
}

/* Returns the rows that have arrived since the last call. */
static gchar *
take_rows (Rig *rig, guint length)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < rig->buffers->len; i++) {
    g_string_append (text, i > 0 ? " | " : "");
    describe_row (text, g_ptr_array_index (rig->buffers, i), length);
  }
  g_ptr_array_set_size (rig->buffers, 0);
  return g_string_free (text, FALSE);
}

#define assert_rows(rig, length, expected)                 \
  G_STMT_START                                             \
  {                                                        \
    g_autofree gchar *rows_ = take_rows ((rig), (length)); \
    fail_unless_equals_string (rows_, (expected));         \
  }                                                        \
  G_STMT_END

/* Pushes documents of these lengths; the tokens of number i are all i. */
static void
push_documents (Rig *rig, const guint *lengths, guint n)
{
  for (guint i = 0; i < n; i++)
    fail_unless (
        gst_pad_push (rig->src, rig_make_item (i, lengths[i])) == GST_FLOW_OK);
}

#define PUSH(rig, ...)                                   \
  push_documents ((rig), (const guint[]){ __VA_ARGS__ }, \
      G_N_ELEMENTS (((const guint[]){ __VA_ARGS__ })))

static Rig *
start (const gchar *mode, const gchar *first_property, gint64 value)
{
  Rig *rig = rig_new ("spdlpack", "row-length", 8, "max-documents", 4, NULL);

  gst_util_set_object_arg (G_OBJECT (rig->element), "mode", mode);
  g_object_set (rig->element, "token-type", "uint8", NULL);
  if (first_property)
    g_object_set (rig->element, first_property, value, NULL);
  rig_start (rig, "application/octet-stream");
  return rig;
}

GST_START_TEST (test_concat)
{
  Rig *rig = start ("concat", "eos-id", (gint64) EOS);

  PUSH (rig, 3, 2, 0, 20, 1);
  rig_push_eos (rig);
  assert_rows (rig, 8,
      "000$11$3 0 1 3:0/4@0-1 | 33333333 3:1/4@1-9 | 33333333 3:2/4@9-17 | "
      "333$4$.. 3:3/4@17-21 4");
  rig_assert_log (rig, "gone filtered 2 batch batch batch batch eos");
  rig_free (rig);

  /* A row has at most so many documents. */
  rig = start ("concat", NULL, 0);
  PUSH (rig, 1, 1, 1, 1, 8, 3);
  rig_push_eos (rig);
  assert_rows (rig, 8, "0123.... 0 1 2 3 | 44444444 4 | 555..... 5");
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_best_fit)
{
  Rig *rig = start ("best-fit", "window", 2);

  /* 0 and 1 have rows. 2 fits best into that of 0, 3 into that of 1. 4 fits
   * into none, so the fullest is sent. */
  PUSH (rig, 5, 4, 2, 3, 6, 1);
  assert_rows (rig, 8, "0000022. 0 2 | 11113335 1 3 5");
  rig_push_eos (rig);
  assert_rows (rig, 8, "444444.. 4");
  rig_free (rig);

  /* A document that is too long fails, or is cut. */
  rig = start ("best-fit", NULL, 0);
  PUSH (rig, 9, 8);
  rig_push_eos (rig);
  assert_rows (rig, 8, "11111111 1");
  fail_unless_equals_int (rig_get_stat (rig->element, "num-failures"), 1);
  rig_free (rig);
  rig = start ("best-fit", "on-too-long", 1);
  PUSH (rig, 9, 2);
  rig_push_eos (rig);
  assert_rows (rig, 8, "00000000 0 | 11...... 1");
  fail_unless_equals_int (rig_get_stat (rig->element, "num-cut"), 1);
  fail_unless_equals_int (rig_get_stat (rig->element, "num-rows"), 2);
  fail_unless_equals_int (rig_get_stat (rig->element, "num-tokens"), 10);
  fail_unless_equals_int (rig_get_stat (rig->element, "num-padding"), 6);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_pad)
{
  Rig *rig = start ("pad", "eos-id", (gint64) EOS);

  PUSH (rig, 2, 7, 8);
  assert_rows (rig, 8, "00$..... 0 | 1111111$ 1");
  fail_unless_equals_int (rig_get_stat (rig->element, "num-failures"), 1);
  rig_free (rig);
}

GST_END_TEST;

/* Rows end with the epoch, and other events pass them. */
GST_START_TEST (test_events)
{
  Rig *rig = start ("concat", NULL, 0);

  PUSH (rig, 3);
  gst_pad_push_event (
      rig->src, gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
                    gst_structure_new_empty ("other")));
  PUSH (rig, 2);
  gst_pad_push_event (rig->src, gst_spdl_event_new_epoch (0, 0, 2));
  PUSH (rig, 1);
  assert_rows (rig, 8, "00000... 0 0");
  gst_pad_push_event (rig->src, gst_event_new_flush_start ());
  gst_pad_push_event (rig->src, gst_event_new_flush_stop (TRUE));
  rig_push_eos (rig);
  assert_rows (rig, 8, "");
  rig_free (rig);

  rig = start ("concat", "drop-last", TRUE);
  PUSH (rig, 7, 2, 1);
  g_free (rig_take_log (rig));
  rig_push_eos (rig);
  assert_rows (rig, 8, "00000001 0 1:0/2@0-1");
  rig_assert_log (rig, "gone dropped 1/2 gone dropped 2 warning eos");
  rig_free (rig);
}

GST_END_TEST;

/* A later run continues a document after the tokens that were delivered. */
GST_START_TEST (test_cut)
{
  Rig *rig = start ("concat", "eos-id", (gint64) EOS);
  const gchar *state =
      "spdl1;source=0,count=5,hash=0000000000000000,shuffle=0,seed=0,rank=0,"
      "world-size=1,shard-mode=pad,epoch=0,mark=1,done=,cut=ABD;";
  GstEvent *event = gst_spdl_event_new_source (0, 5, state);

  gst_pad_push_event (rig->src, gst_event_ref (event));
  PUSH (rig, 1, 15, 2);
  /* Pads that are linked again send it again. */
  gst_pad_push_event (rig->src, event);
  PUSH (rig, 1, 5);
  rig_push_eos (rig);
  assert_rows (rig, 8,
      "0$111111 0 1:0/2@3-9 | 111111$2 1:1/2@9-16 2:0/2@0-1 | "
      "2$0$1111 2:1/2@1-3 0 1:0/2@0-4 | 1$...... 1:1/2@4-6");
  rig_free (rig);

  /* The state is of other tokens. */
  rig = start ("concat", NULL, 0);
  gst_pad_push_event (rig->src, gst_spdl_event_new_source (0, 5, state));
  PUSH (rig, 1, 3);
  fail_unless_equals_int (rig_get_stat (rig->element, "num-failures"), 1);
  rig_free (rig);
}

GST_END_TEST;

static GstBuffer *
make_sample (const guint16 *tokens, guint n, const guint8 *mask, guint n_mask)
{
  GstBuffer *sample = gst_buffer_new ();
  g_autoptr (GstBuffer) first = gst_buffer_new_memdup (tokens, n * 2);
  g_autoptr (GstBuffer) second = gst_buffer_new_memdup (mask, n_mask);
  g_autofree gchar *one = g_strdup_printf (GST_SPDL_TENSORS_CAPS
      ",num_tensors=1,types=uint16,dimensions=(string)%u",
      n);
  g_autofree gchar *other = g_strdup_printf (GST_SPDL_TENSORS_CAPS
      ",num_tensors=1,types=uint8,dimensions=(string)%u",
      n_mask);
  g_autoptr (GstCaps) caps = gst_caps_from_string (one);
  g_autoptr (GstCaps) mask_caps = gst_caps_from_string (other);

  gst_spdl_buffer_append_part (sample, "loss_mask", second, mask_caps);
  gst_spdl_buffer_append_part (sample, "ids", first, caps);
  return sample;
}

/* Samples have a mask, and rows the type of their tokens. */
GST_START_TEST (test_samples)
{
  static const guint16 tokens[] = { 60000, 2, 3 };
  static const guint8 mask[] = { 0, 1, 0 };
  Rig *rig = rig_new ("spdlpack", "row-length", 4, "tokens", "ids", NULL);
  GstBuffer *row;
  guint16 out[4];
  guint8 out_mask[4];

  gst_util_set_object_arg (G_OBJECT (rig->element), "dtype", "as-is");
  rig_start (rig, GST_SPDL_SAMPLE_CAPS);
  gst_pad_push (rig->src, make_sample (tokens, 3, mask, 3));
  /* The mask has another length; the part is missing. */
  gst_pad_push (rig->src, make_sample (tokens, 3, mask, 2));
  gst_pad_push (rig->src, rig_make_item (2, 16));
  rig_push_eos (rig);
  fail_unless_equals_int (rig_get_stat (rig->element, "num-failures"), 2);
  fail_unless_equals_int (rig->buffers->len, 1);
  row = g_ptr_array_index (rig->buffers, 0);
  gst_buffer_extract (row, 0, out, sizeof out);
  fail_unless (memcmp (out, tokens, sizeof tokens) == 0 && out[3] == 0);
  gst_buffer_extract (row,
      gst_spdl_parts_meta_find_part (
          gst_spdl_buffer_get_parts_meta (row), "loss_mask")
          ->offset,
      out_mask, sizeof out_mask);
  fail_unless (memcmp (out_mask, mask, sizeof mask) == 0 && out_mask[3] == 0);
  rig_free (rig);
}

GST_END_TEST;

/* Adds a part of pairs of numbers to a sample. */
static GstBuffer *
add_pairs (GstBuffer *sample, const gchar *name, guint n)
{
  g_autoptr (GstBuffer) pairs = gst_buffer_new_allocate (NULL, n * 8, NULL);
  g_autofree gchar *text = g_strdup_printf (GST_SPDL_TENSORS_CAPS
      ",num_tensors=1,types=int32,dimensions=(string)2:%u%s",
      n, n == 0 ? ",rank=(int)<2>" : "");
  g_autoptr (GstCaps) caps = gst_caps_from_string (text);

  gst_buffer_memset (pairs, 0, n, n * 8);
  gst_spdl_buffer_append_part (sample, name, pairs, caps);
  return sample;
}

/* Pushes a document of two tokens with a part of four bytes. */
static void
push_with_part (Rig *rig, const gchar *name, const gchar *caps)
{
  static const guint16 tokens[] = { 1, 2 };
  GstBuffer *sample = gst_buffer_new ();
  g_autoptr (GstBuffer) bytes = gst_buffer_new_memdup (tokens, 4);
  g_autoptr (GstCaps) token_caps = gst_caps_from_string (
      GST_SPDL_TENSORS_CAPS ",num_tensors=1,types=uint16,dimensions=(string)2");
  g_autoptr (GstCaps) part_caps = gst_caps_from_string (caps);

  gst_spdl_buffer_append_part (sample, "ids", bytes, token_caps);
  gst_spdl_buffer_append_part (sample, name, bytes, part_caps);
  gst_pad_push (rig->src, sample);
}

/* A document fails if a part has less data than its caps say, or parts of its
 * own, or if its mask is bytes. */
GST_START_TEST (test_wrong_parts)
{
  Rig *rig = rig_new ("spdlpack", "row-length", 4, "tokens", "ids", NULL);

  gst_util_set_object_arg (G_OBJECT (rig->element), "mode", "pad");
  rig_start (rig, GST_SPDL_SAMPLE_CAPS);
  push_with_part (rig, "boxes",
      GST_SPDL_TENSORS_CAPS ",num_tensors=1,types=int8,dimensions=(string)2:2");
  push_with_part (rig, "boxes",
      GST_SPDL_TENSORS_CAPS ",num_tensors=1,types=int8,dimensions=(string)2:3");
  push_with_part (rig, "boxes",
      GST_SPDL_TENSORS_CAPS
      ",num_tensors=1,types=int8,dimensions=(string)2:4294967295");
  push_with_part (rig, "boxes", GST_SPDL_SAMPLE_CAPS);
  push_with_part (rig, "loss_mask", "text/plain");
  rig_push_eos (rig);
  fail_unless (rig_get_error (rig) == NULL);
  fail_unless_equals_int (rig_get_stat (rig->element, "num-failures"), 4);
  fail_unless_equals_int (rig->buffers->len, 1);
  rig_free (rig);
}

GST_END_TEST;

static void
assert_bytes (GstBuffer *row, const gchar *name, const gchar *expected)
{
  g_autoptr (GstBuffer) part = gst_spdl_buffer_dup_part (row, name);
  g_autoptr (GString) text = g_string_new (NULL);
  GstMapInfo map;

  fail_unless (part != NULL && gst_buffer_map (part, &map, GST_MAP_READ));
  for (gsize i = 0; i < map.size; i += 4)
    g_string_append_printf (text, "%x ", map.data[i]);
  gst_buffer_unmap (part, &map);
  fail_unless_equals_string (text->str, expected);
}

/* Rows join what documents have besides their tokens. */
GST_START_TEST (test_others)
{
  static const guint16 tokens[] = { 1, 2, 3, 4, 5 };
  static const guint8 mask[] = { 1, 1, 1, 1, 1 };
  Rig *rig = rig_new (
      "spdlpack", "row-length", 4, "tokens", "ids", "max-documents", 4, NULL);
  GstBuffer *row;

  gst_util_set_object_arg (G_OBJECT (rig->element), "mode", "best-fit");
  gst_util_set_object_arg (G_OBJECT (rig->element), "on-too-long", "cut");
  rig_start (rig, GST_SPDL_SAMPLE_CAPS);
  gst_pad_push (
      rig->src, add_pairs (make_sample (tokens, 2, mask, 2), "boxes", 2));
  gst_pad_push (
      rig->src, add_pairs (make_sample (tokens, 1, mask, 1), "boxes", 0));
  /* Another name; no such part; not cut. */
  gst_pad_push (
      rig->src, add_pairs (make_sample (tokens, 1, mask, 1), "points", 1));
  gst_pad_push (rig->src, make_sample (tokens, 1, mask, 1));
  gst_pad_push (
      rig->src, add_pairs (make_sample (tokens, 5, mask, 5), "boxes", 1));
  gst_pad_push (
      rig->src, add_pairs (make_sample (tokens, 1, mask, 1), "boxes", 1));
  fail_unless_equals_int (rig_get_stat (rig->element, "num-failures"), 3);
  fail_unless_equals_int (rig_get_stat (rig->element, "num-cut"), 0);
  fail_unless_equals_int (rig->buffers->len, 1);
  row = g_ptr_array_index (rig->buffers, 0);
  assert_bytes (row, "boxes", "2 2 2 2 1 1 ");
  assert_bytes (row, "boxes_lengths", "2 0 1 0 ");
  rig_free (rig);

  /* A document that may be split has only tokens. */
  rig = rig_new ("spdlpack", "row-length", 4, "tokens", "ids", NULL);
  rig_start (rig, GST_SPDL_SAMPLE_CAPS);
  gst_pad_push (
      rig->src, add_pairs (make_sample (tokens, 2, mask, 2), "boxes", 2));
  gst_pad_push (rig->src, make_sample (tokens, 4, mask, 4));
  fail_unless_equals_int (rig_get_stat (rig->element, "num-failures"), 1);
  fail_unless_equals_int (rig->buffers->len, 1);
  rig_free (rig);

  /* Rows have the name themselves. */
  rig = rig_new ("spdlpack", "row-length", 4, "tokens", "ids", NULL);
  gst_util_set_object_arg (G_OBJECT (rig->element), "mode", "best-fit");
  rig_start (rig, GST_SPDL_SAMPLE_CAPS);
  gst_pad_push (
      rig->src, add_pairs (make_sample (tokens, 2, mask, 2), "positions", 2));
  fail_unless (rig_get_error (rig) != NULL);
  rig_free (rig);
}

GST_END_TEST;

static void
push_tensor (Rig *rig, const gchar *type, gpointer data, gsize size)
{
  g_autofree gchar *text = g_strdup_printf (GST_SPDL_TENSORS_CAPS
      ",num_tensors=1,types=%s,dimensions=(string)2",
      type);
  GstCaps *caps = gst_caps_from_string (text);

  gst_pad_push_event (rig->src, gst_event_new_caps (caps));
  gst_caps_unref (caps);
  gst_pad_push (rig->src, gst_buffer_new_memdup (data, size));
}

/* Tokens of all types become int64; other types fail. */
GST_START_TEST (test_types)
{
  guint16 u16[] = { 65535, 1 };
  gint32 i32[] = { -2, 2 };
  guint32 u32[] = { 4294967295u, 3 };
  gint64 i64[] = { -4, G_MAXINT64 };
  float f32[] = { 1, 2 };
  const gint64 expected[] = { 65535, 1, -2, 2, 4294967295, 3, -4, G_MAXINT64 };
  gint64 out[8];
  Rig *rig = rig_new ("spdlpack", "row-length", 8, "max-documents", 8, NULL);

  rig_start (rig, "application/octet-stream");
  push_tensor (rig, "uint16", u16, sizeof u16);
  push_tensor (rig, "int32", i32, sizeof i32);
  push_tensor (rig, "float32", f32, sizeof f32);
  push_tensor (rig, "uint32", u32, sizeof u32);
  push_tensor (rig, "int64", i64, sizeof i64);
  fail_unless_equals_int (rig->buffers->len, 1);
  gst_buffer_extract (g_ptr_array_index (rig->buffers, 0), 0, out, sizeof out);
  fail_unless (memcmp (out, expected, sizeof out) == 0);
  fail_unless_equals_int (rig_get_stat (rig->element, "num-failures"), 1);
  rig_free (rig);

  /* Rows of one type. */
  rig = rig_new ("spdlpack", "row-length", 8, NULL);
  gst_util_set_object_arg (G_OBJECT (rig->element), "dtype", "as-is");
  rig_start (rig, "application/octet-stream");
  push_tensor (rig, "uint16", u16, sizeof u16);
  push_tensor (rig, "int32", i32, sizeof i32);
  fail_unless_equals_int (rig_get_stat (rig->element, "num-failures"), 1);
  rig_free (rig);

  /* An end token that is none. */
  rig = rig_new ("spdlpack", "eos-id", (gint64) 65536, NULL);
  gst_util_set_object_arg (G_OBJECT (rig->element), "dtype", "as-is");
  rig_start (rig, "application/octet-stream");
  push_tensor (rig, "uint16", u16, sizeof u16);
  fail_unless (rig_get_error (rig) != NULL);
  rig_free (rig);
}

GST_END_TEST;

/* spdlbatch stacks rows, and its batches have all documents. */
GST_START_TEST (test_batches)
{
  Rig *pack = start ("concat", NULL, 0);
  Rig *rig = rig_new ("spdlbatch", "batch-size", 2, NULL);
  const GstSpdlBatchMeta *batch;
  GstBuffer *buffer;
  gint64 tokens[16];

  PUSH (pack, 3, 4, 5, 6);
  rig_push_eos (pack);
  rig_start (rig, GST_SPDL_SAMPLE_CAPS);
  for (guint i = 0; i < pack->buffers->len; i++)
    gst_pad_push (
        rig->src, gst_buffer_ref (g_ptr_array_index (pack->buffers, i)));
  rig_push_eos (rig);
  fail_unless_equals_int (rig->buffers->len, 2);
  buffer = g_ptr_array_index (rig->buffers, 0);
  batch = gst_spdl_buffer_get_batch_meta (buffer);
  fail_unless_equals_int (batch->num_tensors, 6);
  fail_unless_equals_string (batch->names[0], "tokens");
  fail_unless_equals_int (batch->num_items, 5);
  fail_unless_equals_int (batch->items[2].end_token, 1);
  fail_unless_equals_int (batch->items[3].first_token, 1);
  gst_buffer_extract (buffer, 0, tokens, sizeof tokens);
  for (guint i = 0; i < 16; i++)
    fail_unless_equals_int (tokens[i], i < 3 ? 0 : i < 7 ? 1 : i < 12 ? 2 : 3);
  rig_free (rig);

  /* Rows have no label, and cannot be packed. */
  rig = rig_new ("spdlbatch", "labels", TRUE, NULL);
  rig_start (rig, GST_SPDL_SAMPLE_CAPS);
  gst_pad_push (
      rig->src, gst_buffer_ref (g_ptr_array_index (pack->buffers, 0)));
  fail_unless (rig_get_error (rig) != NULL);
  rig_free (rig);
  rig = rig_new ("spdlpack", "row-length", 8, NULL);
  rig_start (rig, GST_SPDL_SAMPLE_CAPS);
  gst_pad_push (
      rig->src, gst_buffer_ref (g_ptr_array_index (pack->buffers, 0)));
  fail_unless (rig_get_error (rig) != NULL);
  rig_free (rig);
  rig_free (pack);
}

GST_END_TEST;

static gdouble
draw_normal (GRand *rand)
{
  gdouble sum = -6;

  for (guint i = 0; i < 12; i++)
    sum += g_rand_double (rand);
  return sum;
}

/* Packs the lengths offline, longest first, each into the fullest row that has
 * room. Returns the number of rows. */
static guint
pack_offline (GArray *lengths, guint length)
{
  g_autoptr (GArray) rooms = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = lengths->len; i > 0; i--) {
    const guint n = g_array_index (lengths, guint, i - 1);
    guint best = rooms->len;

    for (guint k = 0; k < rooms->len; k++)
      if (g_array_index (rooms, guint, k) >= n &&
          (best == rooms->len || g_array_index (rooms, guint, k) <
                                     g_array_index (rooms, guint, best)))
        best = k;
    if (best == rooms->len)
      g_array_append_val (rooms, length);
    g_array_index (rooms, guint, best) -= n;
  }
  return rooms->len;
}

static gint
compare_numbers (gconstpointer a, gconstpointer b)
{
  return (gint) * (const guint *) a - (gint) * (const guint *) b;
}

/* Best fit needs at most 2 % more than the tokens, as the offline packer does,
 * on documents whose lengths have a long tail. */
GST_START_TEST (test_padding)
{
  Rig *rig = rig_new ("spdlpack", "row-length", 32768, NULL);
  g_autoptr (GArray) lengths = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  guint64 n_tokens = 0, n_rows;
  guint n_offline;

  gst_util_set_object_arg (G_OBJECT (rig->element), "mode", "best-fit");
  g_object_set (rig->element, "token-type", "uint8", NULL);
  rig_start (rig, "application/octet-stream");
  for (guint i = 0; i < 10000; i++) {
    /* The mean is 900. */
    const guint n = CLAMP (
        exp (log (900) - 1.2 * 1.2 / 2 + 1.2 * draw_normal (rand)), 1, 32768);

    g_array_append_val (lengths, n);
    n_tokens += n;
    gst_pad_push (rig->src, rig_make_item (i, n));
    /* The rows need not be kept. */
    g_mutex_lock (&rig->lock);
    g_ptr_array_set_size (rig->buffers, 0);
    g_mutex_unlock (&rig->lock);
  }
  rig_push_eos (rig);
  n_rows = rig_get_stat (rig->element, "num-rows");
  fail_unless_equals_uint64 (
      rig_get_stat (rig->element, "num-tokens"), n_tokens);
  g_array_sort (lengths, compare_numbers);
  n_offline = pack_offline (lengths, 32768);
  g_test_message ("%" G_GUINT64_FORMAT " rows, offline %u, of tokens %.1f",
      n_rows, n_offline, n_tokens / 32768.0);
  fail_unless (n_rows * 32768 * 0.98 <= n_tokens);
  fail_unless (n_rows <= n_offline + 1);
  rig_free (rig);
}

GST_END_TEST;

CHECK_SUITE (pack, TEST (test_others), TEST (test_wrong_parts),
    TEST (test_concat), TEST (test_best_fit), TEST (test_pad),
    TEST (test_events), TEST (test_cut), TEST (test_samples), TEST (test_types),
    TEST (test_batches), TEST (test_padding))
