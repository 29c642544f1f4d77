/* gst-spdl: tests of Arrow tables in a loader
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "tests/check/support/arrowtables.h"
#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/loaders.h"
#include "tests/check/support/suite.h"
#include "tests/check/support/wait.h"

#define N_ROWS 20
#define FOREVER GST_CLOCK_TIME_NONE

/* A table of arrays in NPY files, whose value is the row; null in row 3. */
static gchar *values[N_ROWS];
static const gchar *labels[N_ROWS];

static const ArrowTableColumn columns[] = {
  { "array", "w:136", NULL, (const gchar *const *) values },
  { "label", "u", "i", labels },
};

/* NPY files contain NULs, so the table gets their bytes from here. */
static void
fill_npy (struct ArrowArray *batch, struct ArrowSchema *schema)
{
  static const gchar header[] =
      "{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }";
  static guint row = 0;

  if (schema)
    row = 0;
  for (gint64 i = 0; batch && i < batch->length; i++, row++) {
    struct ArrowArray *array = batch->children[0];
    guint8 *at = (guint8 *) array->buffers[1] +
                 (array->offset + batch->offset + i) * 136;

    memset (at, ' ', 136);
    memcpy (at, "\x93NUMPY\x01\x00\x76\x00", 10);
    memcpy (at + 10, header, strlen (header));
    at[127] = '\n';
    memset (at + 128, 0, 8);
    at[128] = row;
  }
}

static void
init_rows (void)
{
  for (guint i = 0; i < N_ROWS; i++) {
    values[i] = i == 3 ? NULL : (gchar *) "npy";
    labels[i] = i % 2 ? "cat" : "dog";
  }
}

#define PIPELINE                                                    \
  "spdlsrc name=source epochs=2 %s ! spdlfetch output-order=input " \
  "! spdldecode name=decode output-order=input ! spdlbatch "        \
  "batch-size=8 ! spdlsink"

static GstSpdlLoader *
make_loader (ArrowTable *made, const gchar *properties)
{
  GstSpdlLoader *loader = loader_make (PIPELINE, properties);
  struct ArrowArrayStream stream;
  GError *error = NULL;

  arrow_table_open (made, &stream);
  fail_unless (
      gst_spdl_loader_set_arrow_table (loader, &stream, NULL, "table", &error),
      "%s", error ? error->message : "");
  fail_unless (stream.release == NULL);
  return loader;
}

/* Checks that the buffer of an item is memory of the table. */
static GstPadProbeReturn
on_item (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  fail_unless (map.size == 136 && arrow_table_has (map.data));
  gst_buffer_unmap (buffer, &map);
  g_atomic_int_inc ((gint *) user_data);
  return GST_PAD_PROBE_OK;
}

/* No signal takes raw pointers, which any program could emit. */
GST_START_TEST (test_signals)
{
  GstElement *source = gst_element_factory_make ("spdlsrc", NULL);
  g_autofree guint *ids = NULL;
  guint n_ids;

  ids = g_signal_list_ids (G_OBJECT_TYPE (source), &n_ids);
  for (guint i = 0; i < n_ids; i++) {
    GSignalQuery signal;

    g_signal_query (ids[i], &signal);
    for (guint k = 0; k < signal.n_params; k++)
      fail_unless (
          signal.param_types[k] != G_TYPE_POINTER, "%s", signal.signal_name);
  }
  gst_object_unref (source);
}

GST_END_TEST;

/* Items are decoded from the memory of the table. A null row fails. */
GST_START_TEST (test_no_copy)
{
  ArrowTable made = { columns, 2, N_ROWS, 7, 3, 0, fill_npy };
  GstSpdlLoader *loader = make_loader (&made, "");
  GstElement *decode = gst_bin_get_by_name (
      GST_BIN (gst_spdl_loader_get_pipeline (loader)), "decode");
  GstPad *pad = gst_element_get_static_pad (decode, "sink");
  gint n_items = 0;
  g_auto (GStrv) classes = NULL;

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, on_item, &n_items, NULL);
  loader_start (loader);
  classes = gst_spdl_loader_dup_classes (loader, NULL);
  fail_unless_equals_string (classes[0], "cat");
  for (guint epoch = 0; epoch < 2; epoch++) {
    guint row = 0;

    for (guint b = 0; b < 3; b++) {
      g_autoptr (GstSpdlBatch) batch =
          gst_spdl_loader_next (loader, FOREVER, NULL);
      g_autoptr (GstSpdlTensor) data =
          gst_spdl_batch_find_tensor (batch, "data");
      const gint64 *numbers = gst_spdl_tensor_get_address (data);
      g_autofree gint64 *numbered = NULL;
      guint n;

      numbered = gst_spdl_batch_dup_labels (batch, &n);
      fail_unless_equals_int (n, b < 2 ? 8 : 3);
      for (guint i = 0; i < n; i++, row++) {
        row += row == 3;
        fail_unless_equals_int64 (numbers[i], row);
        fail_unless_equals_int64 (numbered[i], row % 2 ? 0 : 1);
      }
    }
    fail_unless_equals_int (loader_take (loader), 0);
    fail_unless_equals_int (
        gst_spdl_loader_get_num_failures (loader), epoch + 1);
  }
  fail_unless_equals_int (g_atomic_int_get (&n_items), 2 * (N_ROWS - 1));
  gst_object_unref (pad);
  gst_object_unref (decode);
  g_object_unref (loader);
  arrow_table_wait (&made);
  fail_unless_equals_int (made.n_foreign, 0);
}

GST_END_TEST;

/* A stop and a start use the same table, which is read once. */
GST_START_TEST (test_restart)
{
  ArrowTable made = { columns, 2, N_ROWS, 7, 0, 0, fill_npy };
  GstSpdlLoader *loader = make_loader (&made, "shuffle=true");
  struct ArrowArrayStream stream;
  GError *error = NULL;

  for (guint i = 0; i < 5; i++) {
    loader_start (loader);
    fail_unless_equals_int (loader_take (loader), 8);
    arrow_table_open (&made, &stream);
    fail_if (gst_spdl_loader_set_arrow_table (
        loader, &stream, NULL, "table", &error));
    fail_unless (error->code == GST_SPDL_LOADER_ERROR_STARTED);
    g_clear_error (&error);
    made.thread = g_thread_self ();
    stream.release (&stream);
    made.n_foreign = 0;
    gst_spdl_loader_stop (loader);
  }
  g_object_unref (loader);
  arrow_table_wait (&made);
}

GST_END_TEST;

/* Takes a batch. Returns the indices of its items; NULL at the end of an
 * epoch. */
static guint64 *
take_indices (GstSpdlLoader *loader, guint *n)
{
  g_autoptr (GstSpdlBatch) batch = gst_spdl_loader_next (loader, FOREVER, NULL);

  *n = 0;
  return batch ? gst_spdl_batch_dup_indices (batch, n) : NULL;
}

/* Resuming from each batch gives the rest, each row once. */
GST_START_TEST (test_resume)
{
  ArrowTable made = { columns, 2, N_ROWS, 7, 1, 0, fill_npy };
  GstSpdlLoader *loader = make_loader (&made, "shuffle=true seed=3");
  guint64 order[2 * N_ROWS];
  guint n_all = 0;

  loader_start (loader);
  while (!gst_spdl_loader_is_finished (loader)) {
    guint n;
    g_autofree guint64 *indices = take_indices (loader, &n);

    for (guint i = 0; i < n; i++)
      order[n_all++] = indices[i];
  }
  fail_unless_equals_int (n_all, 2 * (N_ROWS - 1));
  gst_spdl_loader_stop (loader);

  for (guint stop = 1; stop < 6; stop++) {
    guint at = 0;

    fail_unless (gst_spdl_loader_restore_state (loader, NULL, NULL));
    for (guint part = 0; part < 2; part++) {
      guint n_batches = 0;

      loader_start (loader);
      while (!gst_spdl_loader_is_finished (loader)) {
        guint n;
        g_autofree guint64 *indices = take_indices (loader, &n);

        for (guint i = 0; i < n; i++)
          fail_unless_equals_uint64 (indices[i], order[at++]);
        if (part == 0 && indices && ++n_batches == stop)
          break;
      }
      g_autofree gchar *state = gst_spdl_loader_dup_state (loader);
      gst_spdl_loader_stop (loader);
      fail_unless (gst_spdl_loader_restore_state (loader, state, NULL));
    }
    fail_unless_equals_int (at, n_all);
  }
  g_object_unref (loader);
  arrow_table_wait (&made);
  fail_unless_equals_int (made.n_foreign, 0);
}

GST_END_TEST;

static void
assert_start_fails (
    ArrowTable *made, const gchar *properties, const gchar *parts)
{
  GstSpdlLoader *loader = make_loader (made, properties);
  GError *error = NULL;

  fail_if (gst_spdl_loader_start (loader, &error));
  fail_unless (errors_has (error, parts), "%s", error->message);
  g_clear_error (&error);
  /* And again. */
  fail_if (gst_spdl_loader_start (loader, &error));
  fail_unless (errors_has (error, parts), "%s", error->message);
  g_clear_error (&error);
  g_object_unref (loader);
  arrow_table_wait (made);
}

GST_START_TEST (test_errors)
{
  static const gchar *const lines[] = { "spdlsrc location=/x ! spdlsink",
    "spdlmix name=m ! spdlsink spdlsrc ! m. spdlsrc ! m.",
    "spdldecode ! spdlsink" };
  ArrowTable failing = { columns, 2, N_ROWS, 7, 0, 3, fill_npy };
  ArrowTable weights = { columns, 2, N_ROWS, 7, 0, 0, fill_npy };
  ArrowTable classes = { columns, 2, N_ROWS, 7, 0, 0, fill_npy };
  ArrowTable unused = { columns, 2, N_ROWS };
  struct ArrowArrayStream stream;

  assert_start_fails (
      &failing, "", "[resource-error read]|table|row 14|on fire");
  assert_start_fails (&weights, "weight-column=none",
      "[resource-error settings]|table|\"none\"");
  assert_start_fails (&classes, "classes=\"<cat, cow>\"",
      "[resource-error read]|table|row 0|\"dog\"");
  arrow_table_open (&unused, &stream);
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    GstSpdlLoader *loader = loader_make ("%s", lines[i]);
    GError *error = NULL;

    fail_if (gst_spdl_loader_set_arrow_table (
        loader, &stream, NULL, "table", &error));
    fail_unless (g_error_matches (
        error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_SOURCE));
    fail_unless (stream.release != NULL);
    g_clear_error (&error);
    g_object_unref (loader);
  }
  stream.release (&stream);
}

GST_END_TEST;

/* A buffer in the program keeps its memory after the loader is freed. */
GST_START_TEST (test_held_item)
{
  ArrowTable made = { columns, 2, N_ROWS, 5, 0, 0, fill_npy };
  GstSpdlLoader *loader =
      loader_make ("spdlsrc ! spdlfetch output-order=input ! spdlsink");
  g_autoptr (GstSpdlBatch) batch = NULL;
  struct ArrowArrayStream stream;
  GstMapInfo map;

  arrow_table_open (&made, &stream);
  fail_unless (
      gst_spdl_loader_set_arrow_table (loader, &stream, NULL, "table", NULL));
  loader_start (loader);
  batch = gst_spdl_loader_next (loader, FOREVER, NULL);
  g_object_unref (loader);
  wait_until (g_atomic_int_get (&made.n_open) <= 1);
  wait_until_asleep ();
  fail_unless_equals_int (g_atomic_int_get (&made.n_open), 1);
  fail_unless (
      gst_buffer_map (gst_spdl_batch_get_buffer (batch), &map, GST_MAP_READ));
  fail_unless (map.size == 136 && arrow_table_has (map.data));
  gst_buffer_unmap (gst_spdl_batch_get_buffer (batch), &map);
  g_clear_pointer (&batch, gst_spdl_batch_unref);
  arrow_table_wait (&made);
  fail_unless_equals_int (made.n_foreign, 0);
}

GST_END_TEST;

typedef struct {
  ArrowTable table;
  gint n_opened;   /* atomic */
  gint n_notified; /* atomic */
} Streams;

/* Opens two streams. */
static gboolean
open_stream (gpointer stream, gpointer user_data, GError **error)
{
  Streams *streams = user_data;

  if (g_atomic_int_add (&streams->n_opened, 1) == 2) {
    g_set_error_literal (error, GST_RESOURCE_ERROR,
        GST_RESOURCE_ERROR_OPEN_READ, "no third stream");
    return FALSE;
  }
  arrow_table_open (&streams->table, stream);
  return TRUE;
}

static void
note_end (gpointer user_data)
{
  g_atomic_int_inc (&((Streams *) user_data)->n_notified);
}

/* Each epoch opens a stream. The third one fails after two epochs. */
GST_START_TEST (test_stream)
{
  Streams streams = { { columns, 2, N_ROWS, 3, 2, 0, fill_npy }, 0, 0 };
  GstSpdlLoader *loader = loader_make (
      "spdlsrc epochs=3 label=none ! spdlfetch output-order=input ! "
      "spdldecode output-order=input ! spdlbatch batch-size=8 ! spdlsink");
  g_autoptr (GError) error = NULL;
  guint n_items = 0;

  fail_unless (gst_spdl_loader_set_arrow_stream (
      loader, open_stream, &streams, note_end, "stream", NULL));
  loader_start (loader);
  for (guint epoch = 0; epoch < 2; epoch++) {
    guint n, n_rows = 0;

    while ((n = loader_take (loader)))
      n_rows += n;
    fail_unless_equals_int (n_rows, N_ROWS - 1);
  }
  error = loader_take_until_error (loader, &n_items);
  fail_unless (errors_has (error, "[resource-error open-read]|stream|no third"),
      "%s", error->message);
  fail_unless_equals_int (n_items, 0);
  fail_unless_equals_int (g_atomic_int_get (&streams.n_notified), 0);
  g_object_unref (loader);
  arrow_table_wait (&streams.table);
  wait_until (g_atomic_int_get (&streams.n_notified) > 0);
  fail_unless_equals_int (g_atomic_int_get (&streams.n_notified), 1);

  /* A refused function is no longer needed. */
  loader = loader_make ("spdlsrc location=/x ! spdlsink");
  fail_if (gst_spdl_loader_set_arrow_stream (
      loader, open_stream, &streams, note_end, "stream", NULL));
  fail_unless_equals_int (g_atomic_int_get (&streams.n_notified), 2);
  g_object_unref (loader);
}

GST_END_TEST;

#define N_PARTS 4

/* A table in parts, whose items are the numbers of their rows. */
typedef struct {
  ArrowTableColumn columns[N_PARTS][2];
  ArrowTable tables[N_PARTS];
  GstSpdlArrowPart sizes[N_PARTS];
  gint n_opened[N_PARTS]; /* atomic */
  gint n_all_columns;     /* atomic: openings with all columns */
  gint failing;           /* part that cannot be opened; -1: none */
  gint n_notified;        /* atomic */
} Parts;

static void
parts_init (Parts *self)
{
  static const guint n_rows[N_PARTS] = { 7, 0, 5, 8 };
  static gchar *numbers[N_ROWS];
  guint first = 0;

  *self = (Parts){ .failing = -1 };
  for (guint i = 0; i < N_ROWS; i++)
    if (!numbers[i])
      numbers[i] = g_strdup_printf ("%u", i);
  for (guint i = 0; i < N_PARTS; i++) {
    const gchar *const *at = (const gchar *const *) numbers + first;

    self->columns[i][0] = (ArrowTableColumn){ "data", "z", NULL, at };
    self->columns[i][1] = (ArrowTableColumn){ "label", "u", NULL, at };
    self->tables[i] = (ArrowTable){ self->columns[i], 2, n_rows[i], 3 };
    self->sizes[i] = (GstSpdlArrowPart){ n_rows[i], 100 };
    first += n_rows[i];
  }
}

static gboolean
open_part (gint part, const gchar *const *names, gpointer stream,
    gpointer user_data, GError **error)
{
  Parts *parts = user_data;
  ArrowTable *table = &parts->tables[MAX (part, 0)];

  if (part >= 0)
    g_atomic_int_inc (&parts->n_opened[part]);
  if (part >= 0 && part == parts->failing) {
    g_set_error_literal (error, GST_RESOURCE_ERROR,
        GST_RESOURCE_ERROR_OPEN_READ, "the part is on fire");
    return FALSE;
  }
  g_atomic_int_add (&parts->n_all_columns, names == NULL);
  table->n_columns = names ? g_strv_length ((GStrv) names) : 2;
  arrow_table_open (table, stream);
  return TRUE;
}

static void
note_end_of_parts (gpointer user_data)
{
  g_atomic_int_inc (&((Parts *) user_data)->n_notified);
}

static GstSpdlLoader *
make_parts_loader (Parts *parts, const gchar *properties)
{
  GstSpdlLoader *loader = loader_make (
      "spdlsrc label=none %s ! spdlfetch output-order=input ! spdlsink",
      properties);

  fail_unless (gst_spdl_loader_set_arrow_parts (loader, parts->sizes, N_PARTS,
      open_part, parts, note_end_of_parts, "parts", NULL));
  return loader;
}

/* Takes the items of an epoch, and checks their content. */
static guint
take_rows (GstSpdlLoader *loader, guint *counts)
{
  GstSpdlBatch *batch;
  guint n = 0;

  while ((batch = gst_spdl_loader_next (loader, FOREVER, NULL))) {
    guint n_indices;
    g_autofree guint64 *indices =
        gst_spdl_batch_dup_indices (batch, &n_indices);
    g_autofree gchar *wanted =
        g_strdup_printf ("%" G_GUINT64_FORMAT, indices[0]);
    GstBuffer *buffer = gst_spdl_batch_get_buffer (batch);

    fail_unless_equals_int (gst_buffer_get_size (buffer), strlen (wanted));
    fail_unless (gst_buffer_memcmp (buffer, 0, wanted, strlen (wanted)) == 0);
    counts[indices[0]]++;
    n++;
    gst_spdl_batch_unref (batch);
  }
  return n;
}

static void
free_parts_loader (GstSpdlLoader *loader, Parts *parts)
{
  g_object_unref (loader);
  for (guint i = 0; i < N_PARTS; i++)
    arrow_table_wait (&parts->tables[i]);
  wait_until (g_atomic_int_get (&parts->n_notified) > 0);
  fail_unless_equals_int (g_atomic_int_get (&parts->n_notified), 1);
}

/* Parts are read once per epoch, and only the columns that are used. */
GST_START_TEST (test_parts)
{
  static const gchar *const properties[] = { "epochs=2",
    "epochs=2 shuffle=true", "epochs=2 shuffle=true shuffle-buffer=9",
    "epochs=2 shuffle=true read-ahead=0" };

  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    guint counts[N_ROWS] = { 0 };
    GstSpdlLoader *loader;
    Parts parts;

    parts_init (&parts);
    loader = make_parts_loader (&parts, properties[i]);
    loader_start (loader);
    for (guint epoch = 1; epoch <= 2; epoch++) {
      fail_unless_equals_int (take_rows (loader, counts), N_ROWS);
      for (guint row = 0; row < N_ROWS; row++)
        fail_unless_equals_int (counts[row], epoch);
    }
    free_parts_loader (loader, &parts);
    for (guint part = 0; part < N_PARTS; part++)
      fail_unless (parts.n_opened[part] <= 2);
    fail_unless_equals_int (parts.n_all_columns, 1);
  }
}

GST_END_TEST;

/* The rows of a part that fails or has another size fail. */
GST_START_TEST (test_failing_parts)
{
  for (guint other_size = 0; other_size < 2; other_size++) {
    guint counts[N_ROWS + 1] = { 0 };
    GstSpdlLoader *loader;
    Parts parts;

    parts_init (&parts);
    if (other_size)
      parts.sizes[3].n_rows++;
    else
      parts.failing = 3;
    loader = make_parts_loader (&parts, "epochs=2 shuffle=true");
    loader_start (loader);
    for (guint epoch = 1; epoch <= 2; epoch++) {
      fail_unless_equals_int (take_rows (loader, counts), 12);
      for (guint row = 0; row < 12; row++)
        fail_unless_equals_int (counts[row], epoch);
    }
    free_parts_loader (loader, &parts);
  }
}

GST_END_TEST;

/* A stop at any moment drops what is read ahead, and a start begins again. */
GST_START_TEST (test_stopped_parts)
{
  GstSpdlLoader *loader;
  Parts parts;

  parts_init (&parts);
  loader = make_parts_loader (&parts, "shuffle=true");
  for (guint i = 0; i < 20; i++) {
    loader_start (loader);
    for (guint k = 0; k < i; k++)
      fail_unless_equals_int (loader_take (loader), 1);
    gst_spdl_loader_stop (loader);
  }
  free_parts_loader (loader, &parts);
}

GST_END_TEST;

CHECK_SUITE (arrow, init_rows (), TEST (test_signals), TEST (test_no_copy),
    TEST (test_restart), TEST (test_resume), TEST (test_errors),
    TEST (test_held_item), TEST (test_stream), TEST (test_parts),
    TEST (test_failing_parts), TEST (test_stopped_parts))
