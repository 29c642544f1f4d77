/* gst-spdl: tests of Arrow tables as lists of items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "plugins/dataset/arrow/arrowtable.h"
#include "tests/check/support/arrowtables.h"
#include "tests/check/support/errors.h"
#include "tests/check/support/wait.h"

#define LONG "a value that is longer than twelve bytes, "

static const gchar *const bytes[] = { LONG "0", "short", NULL, "", LONG "4",
  LONG "4", "twelve bytes", LONG "7" };
static const gchar *const fixed[] = { "01234567", "12345678", NULL, "34567890",
  "45678901", "45678901", "67890123", "78901234" };
static const gchar *const numbers[] = { "0", "1", NULL, "3", "100", "5", "6",
  "7" };
static const gchar *const texts[] = { "dog", "cat", NULL, "", "dog", "eel",
  "cat", "cat" };

#define N_ROWS G_N_ELEMENTS (bytes)

/* Opens a table of @n columns. Returns NULL with @error set on failure. */
static SpdlArrowTable *
open_table (
    ArrowTable *made, const ArrowTableColumn *columns, guint n, GError **error)
{
  const SpdlDatasetOptions options = { .labels = { TRUE } };
  struct ArrowArrayStream stream;
  SpdlArrowTable *table;

  made->columns = columns;
  made->n_columns = n;
  made->n_rows = made->n_rows ? made->n_rows : N_ROWS;
  arrow_table_open (made, &stream);
  table = spdl_arrow_table_new (&stream, NULL, "table");
  g_assert_null (stream.release);
  if (spdl_arrow_table_open (table, &options, error))
    return table;
  spdl_arrow_table_free (table);
  return NULL;
}

/* Frees @table, and checks that one thread released everything. */
static void
close_table (ArrowTable *made, SpdlArrowTable *table)
{
  spdl_arrow_table_free (table);
  arrow_table_wait (made);
  g_assert_cmpint (made->n_foreign, ==, 0);
  g_assert_true (made->thread != g_thread_self ());
}

static void
assert_error (ArrowTable *made, const ArrowTableColumn *columns, guint n,
    const gchar *parts)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (open_table (made, columns, n, &error));
  if (!errors_has (error, parts))
    g_error ("not \"%s\": %s", parts, error->message);
  arrow_table_wait (made);
  g_assert_cmpint (made->n_foreign, ==, 0);
}

/* Reads item @i into a buffer of its URI. */
static GstBuffer *
read_item (SpdlArrowTable *table, guint64 i, gchar **uri, gint64 *label,
    GstStructure **extra)
{
  GstBuffer *item = gst_buffer_new ();
  GstSpdlCarried *carried;

  *uri =
      spdl_arrow_table_get_item (table, i, label, extra, &carried, NULL, NULL);
  if (carried)
    gst_spdl_buffer_set_carried (item, carried);
  return item;
}

/* Checks that @uri has the content @wanted, which is in the producer's memory.
 */
static void
assert_content (GstBuffer *item, const gchar *uri, const gchar *wanted)
{
  GstBuffer *content = gst_spdl_buffer_dup_carried (item, uri);
  GstMapInfo map;

  if (!wanted) {
    g_assert_null (content);
    return;
  }
  g_assert_nonnull (content);
  g_assert_true (gst_buffer_map (content, &map, GST_MAP_READ));
  g_assert_cmpmem (map.data, map.size, wanted, strlen (wanted));
  g_assert_true (map.size == 0 || arrow_table_has (map.data));
  gst_buffer_unmap (content, &map);
  gst_buffer_unref (content);
}

static void
check_items (
    const gchar *format, const gchar *index, guint batch_rows, guint offset)
{
  const gchar *const *values = format[0] == 'w' ? fixed : bytes;
  const ArrowTableColumn columns[] = {
    { "number", "s", NULL, numbers },
    { "image", format, index, values },
  };
  ArrowTable made = { .batch_rows = batch_rows, .offset = offset };
  g_autoptr (GError) error = NULL;
  SpdlArrowTable *table = open_table (&made, columns, 2, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (spdl_arrow_table_get_size (table), ==, N_ROWS);
  for (guint i = 0; i < N_ROWS; i++) {
    const guint row = i * 5 % N_ROWS;
    g_autofree gchar *name = g_strdup_printf ("arrow:///image/%u", row);
    g_autofree gchar *uri = NULL;
    gint64 label, number;
    GstStructure *extra;
    GstBuffer *item = read_item (table, row, &uri, &label, &extra);

    g_assert_cmpstr (uri, ==, name);
    assert_content (item, uri, values[row]);
    g_assert_cmpint (label, ==, SPDL_NO_LABEL);
    g_assert_true ((extra != NULL) == (numbers[row] != NULL));
    if (extra) {
      g_assert_true (gst_structure_get_int64 (extra, "number", &number));
      g_assert_cmpint (number, ==, atoi (numbers[row]));
      gst_structure_free (extra);
    }
    gst_buffer_unref (item);
  }
  close_table (&made, table);
}

static void
test_layouts (void)
{
  static const gchar *const formats[] = { "z", "Z", "vz", "w:8" };
  static const gchar *const indices[] = { NULL, "c", "S", "i", "L" };
  static const guint batches[] = { 0, 1, 3 }, offsets[] = { 0, 1, 9 };

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++)
    for (guint i = 0; i < G_N_ELEMENTS (indices); i++)
      for (guint b = 0; b < G_N_ELEMENTS (batches); b++)
        for (guint o = 0; o < G_N_ELEMENTS (offsets); o++)
          check_items (formats[f], indices[i], batches[b], offsets[o]);
}

/* Numbers of each type become fields of the extra. */
static void
test_extras (void)
{
  static const gchar *const bits[] = { "0", "1", NULL, "1", "0", "0", "1",
    "1" };
  static const gchar *const large[] = { "0", "18446744073709551615", NULL, "3",
    "4", "5", "6", "7" };
  const ArrowTableColumn columns[] = {
    { "image", "z", NULL, bytes },
    { "c", "c", NULL, numbers },
    { "C", "C", NULL, numbers },
    { "i", "i", "c", numbers },
    { "I", "I", NULL, numbers },
    { "l", "l", NULL, numbers },
    { "L", "L", NULL, large },
    { "f", "f", NULL, numbers },
    { "g", "g", NULL, numbers },
    { "b", "b", NULL, bits },
    { "u", "u", NULL, texts },
    { "U", "U", "s", texts },
    { "v", "vu", NULL, bytes },
    { "mask", "Z", NULL, bytes },
  };
  ArrowTable made = { .batch_rows = 3, .offset = 3 };
  g_autoptr (GError) error = NULL;
  SpdlArrowTable *table =
      open_table (&made, columns, G_N_ELEMENTS (columns), &error);
  g_autofree gchar *uri = NULL, *text = NULL;
  GstStructure *extra;
  gint64 label;

  g_assert_no_error (error);
  GstBuffer *item = read_item (table, 1, &uri, &label, &extra);
  text = gst_structure_to_string (extra);
  g_assert_cmpstr (text, ==,
      "extra, c=(gint64)1, C=(gint64)1, i=(gint64)1, I=(gint64)1, "
      "l=(gint64)1, L=(guint64)18446744073709551615, f=(double)1, "
      "g=(double)1, b=(boolean)true, u=(string)cat, U=(string)cat, "
      "v=(string)short, mask=(string)arrow:///mask/1;");
  assert_content (item, "arrow:///mask/1", "short");
  gst_structure_free (extra);
  gst_buffer_unref (item);
  g_free (uri);
  /* All other values are null. */
  item = read_item (table, 2, &uri, &label, &extra);
  g_assert_null (extra);
  assert_content (item, uri, NULL);
  gst_buffer_unref (item);
  close_table (&made, table);
}

/* A file without bytes has the URI of its path. */
static void
test_files (void)
{
  static const gchar *const values[] = { "x", NULL, NULL, NULL };
  static const gchar *const paths[] = { "a/b.jpg", "/c d.jpg", "s3://e/f",
    NULL };
  static const gchar *const uris[] = { "arrow:///image/0", "file:///c%20d.jpg",
    "s3://e/f", "arrow:///image/3" };
  const ArrowTableColumn columns[] = { { "image", "+s", NULL, values, paths } };

  for (guint offset = 0; offset < 20; offset += 3) {
    ArrowTable made = { .n_rows = 4, .batch_rows = 3, .offset = offset };
    g_autoptr (GError) error = NULL;
    SpdlArrowTable *table = open_table (&made, columns, 1, &error);

    g_assert_no_error (error);
    for (guint i = 0; i < 4; i++) {
      g_autofree gchar *uri = NULL;
      GstStructure *extra;
      gint64 label;
      GstBuffer *item = read_item (table, i, &uri, &label, &extra);

      g_assert_cmpstr (uri, ==, uris[i]);
      assert_content (item, uri, values[i]);
      g_assert_true ((extra != NULL) == (i == 0));
      if (extra)
        g_assert_cmpstr (
            gst_structure_get_string (extra, "key"), ==, "a/b.jpg");
      g_clear_pointer (&extra, gst_structure_free);
      gst_buffer_unref (item);
    }
    close_table (&made, table);
  }
}

/* Text labels are numbered in byte order. */
static void
test_labels (void)
{
  static const gint64 text_labels[] = { 1, 0, -1, -1, 1, 2, 0, 0 };
  static const gchar *const formats[] = { "u", "U", "vu", "l", "C", "g" };
  static const gchar *const indices[] = { NULL, "c" };

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++)
    for (guint d = 0; d < G_N_ELEMENTS (indices); d++) {
      const gboolean is_text = f < 3;
      const ArrowTableColumn columns[] = {
        { "label", formats[f], indices[d], is_text ? texts : numbers },
        { "image", "z", NULL, bytes },
      };
      ArrowTable made = { .batch_rows = 3 };
      g_autoptr (GError) error = NULL;
      SpdlArrowTable *table = open_table (&made, columns, 2, &error);
      const SpdlClasses *classes;

      g_assert_no_error (error);
      classes = spdl_arrow_table_get_classes (table);
      g_assert_true ((classes != NULL) == is_text);
      if (classes)
        g_assert_cmpstr (spdl_classes_get_names (classes)[2], ==, "eel");
      for (guint i = 0; i < N_ROWS; i++) {
        g_autofree gchar *uri = NULL;
        GstStructure *extra;
        gint64 label;

        gst_buffer_unref (read_item (table, i, &uri, &label, &extra));
        g_assert_null (extra);
        g_assert_cmpint (label == SPDL_NO_LABEL ? -1 : label, ==,
            is_text      ? text_labels[i]
            : numbers[i] ? atoi (numbers[i])
                         : -1);
      }
      close_table (&made, table);
    }
}

static void
test_weights (void)
{
  const ArrowTableColumn columns[] = {
    { "image", "z", NULL, fixed },
    { "often", "g", NULL, numbers },
  };
  static const gchar *const kinds[] = { "-1", "nan", "inf", NULL };
  const SpdlDatasetOptions options = { .weights = "often" };
  ArrowTable made = { columns, 2, 2 };
  struct ArrowArrayStream stream;
  g_autoptr (GArray) weights = NULL;
  SpdlArrowTable *table;

  arrow_table_open (&made, &stream);
  table = spdl_arrow_table_new (&stream, NULL, "table");
  g_assert_true (spdl_arrow_table_open (table, &options, NULL));
  weights = spdl_arrow_table_steal_weights (table);
  g_assert_cmpuint (weights->len, ==, 2);
  g_assert_cmpfloat (g_array_index (weights, double, 1), ==, 1);
  close_table (&made, table);

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    const gchar *const values[] = { "1", kinds[i] };
    const ArrowTableColumn bad[] = {
      { "image", "z", NULL, fixed },
      { "often", "f", NULL, values },
    };
    ArrowTable other = { bad, 2, 2 };
    g_autoptr (GError) error = NULL;

    arrow_table_open (&other, &stream);
    table = spdl_arrow_table_new (&stream, NULL, "table");
    g_assert_false (spdl_arrow_table_open (table, &options, &error));
    g_assert_true (errors_has (error, "[resource-error read]|\"often\"|row 1"));
    close_table (&other, table);
  }
}

/* A second stream has the rows to use. */
static void
test_order (void)
{
  static const gchar *const indices[] = { "7", "0", "0", "4" };
  const ArrowTableColumn columns[] = { { "image", "z", NULL, bytes } };
  const SpdlDatasetOptions options = { 0 };

  for (guint large = 0; large < 2; large++) {
    const gchar *const wrong[] = { "7", large ? "8" : "-1" };
    const ArrowTableColumn order_columns[] = { { "indices", "l", NULL,
        indices } };
    const ArrowTableColumn wrong_columns[] = { { "indices", "l", NULL,
        wrong } };
    ArrowTable made = { columns, 1, N_ROWS, 3 };
    ArrowTable order = { order_columns, 1, 4, 3, 2 };
    ArrowTable bad = { wrong_columns, 1, 2 };
    struct ArrowArrayStream rows, others;
    g_autoptr (GError) error = NULL;
    SpdlArrowTable *table;

    arrow_table_open (&made, &rows);
    arrow_table_open (&order, &others);
    table = spdl_arrow_table_new (&rows, &others, "table");
    g_assert_true (spdl_arrow_table_open (table, &options, NULL));
    g_assert_cmpuint (spdl_arrow_table_get_size (table), ==, 4);
    for (guint i = 0; i < 4; i++) {
      g_autofree gchar *uri = NULL;
      GstStructure *extra;
      gint64 label;
      GstBuffer *item = read_item (table, i, &uri, &label, &extra);

      assert_content (item, uri, bytes[atoi (indices[i])]);
      gst_buffer_unref (item);
    }
    close_table (&made, table);
    arrow_table_wait (&order);

    arrow_table_open (&made, &rows);
    arrow_table_open (&bad, &others);
    table = spdl_arrow_table_new (&rows, &others, "table");
    g_assert_false (spdl_arrow_table_open (table, &options, &error));
    g_assert_true (
        errors_has (error, "[resource-error read]|\"indices\"|row 1"));
    spdl_arrow_table_free (table);
    arrow_table_wait (&made);
    arrow_table_wait (&bad);
  }
}

/* The hash depends on rows and their order, not on batches and layouts. */
static guint64
get_hash (const gchar *format, const gchar *const *values, guint batch_rows,
    guint offset)
{
  const ArrowTableColumn columns[] = {
    { "image", format, NULL, values },
    { "label", "i", NULL, numbers },
  };
  ArrowTable made = { .batch_rows = batch_rows, .offset = offset };
  SpdlArrowTable *table = open_table (&made, columns, 2, NULL);
  const guint64 hash = spdl_arrow_table_get_hash (table);

  close_table (&made, table);
  return hash;
}

static void
test_hash (void)
{
  static const gchar *const other[] = { LONG "0", "short", NULL, "", LONG "4",
    LONG "4", "twelve bytez", LONG "7" };
  static const gchar *const moved[] = { "short", LONG "0", NULL, "", LONG "4",
    LONG "4", "twelve bytes", LONG "7" };
  const guint64 hash = get_hash ("z", bytes, 0, 0);

  g_assert_cmpuint (get_hash ("z", bytes, 3, 5), ==, hash);
  g_assert_cmpuint (get_hash ("Z", bytes, 1, 1), ==, hash);
  g_assert_cmpuint (get_hash ("vz", bytes, 2, 0), ==, hash);
  g_assert_cmpuint (get_hash ("z", other, 0, 0), !=, hash);
  g_assert_cmpuint (get_hash ("z", moved, 0, 0), !=, hash);
}

static gchar *warning;

static void
keep_warning (const gchar *text, gpointer user_data)
{
  g_assert_null (warning);
  warning = g_strdup (text);
}

/* Columns that cannot be read are named in one warning. */
static void
test_left_out (void)
{
  const ArrowTableColumn columns[] = {
    { "image", "z", NULL, bytes },
    { "box", "tdD", NULL, numbers },
    { "", "i", NULL, numbers },
    { "a b", "i", NULL, numbers },
    { "twice", "i", NULL, numbers },
    { "twice", "i", NULL, numbers },
  };
  const SpdlDatasetOptions options = { .labels = { TRUE },
    .warn = keep_warning };
  ArrowTable made = { columns, G_N_ELEMENTS (columns), N_ROWS };
  struct ArrowArrayStream stream;
  SpdlArrowTable *table;

  arrow_table_open (&made, &stream);
  table = spdl_arrow_table_new (&stream, NULL, "table");
  g_assert_true (spdl_arrow_table_open (table, &options, NULL));
  g_assert_true (errors_text_has (warning, "\"box\"|tdD|\"\"|\"twice\""));
  g_assert_null (strstr (warning, "a b"));
  g_clear_pointer (&warning, g_free);
  close_table (&made, table);
}

static void
test_wrong_tables (void)
{
  const ArrowTableColumn image = { "image", "z", NULL, bytes };
  const ArrowTableColumn no_items[] = { { "a", "u", NULL, texts },
    { "b", "i", NULL, numbers } };
  static const gchar *const fractions[] = { "0", "1", NULL, "3", "4", "0.5",
    "6", "7" };
  const ArrowTableColumn labels[] = { image,
    { "label", "g", NULL, fractions } };
  ArrowTable made = { 0 }, other = { 0 };

  assert_error (
      &made, no_items, 2, "[resource-error settings]|\"a\" (u)|\"b\" (i)");
  assert_error (&other, labels, 2, "[resource-error read]|\"label\"|5");
}

/* A producer that fails at a batch. */
static void
test_failing_producer (void)
{
  const ArrowTableColumn columns[] = { { "image", "z", NULL, bytes } };

  for (guint at = 1; at <= 4; at++) {
    ArrowTable made = { .batch_rows = 3, .fail_at = at };
    g_autofree gchar *parts = g_strdup_printf (
        "[resource-error read]|row %u|on fire", MIN (3 * (at - 1), 8));

    assert_error (&made, columns, 1, parts);
  }
}

static struct ArrowArray *
get_image (struct ArrowArray *batch)
{
  return batch->children[0];
}

static void
damage_format (struct ArrowArray *batch, struct ArrowSchema *schema)
{
  if (schema)
    schema->format = "z";
}

static void
damage_length (struct ArrowArray *batch, struct ArrowSchema *schema)
{
  if (batch)
    get_image (batch)->length--;
}

static void
damage_offset (struct ArrowArray *batch, struct ArrowSchema *schema)
{
  if (batch)
    get_image (batch)->offset = -1;
}

static void
damage_sum (struct ArrowArray *batch, struct ArrowSchema *schema)
{
  if (batch)
    get_image (batch)->offset = G_MAXINT64;
}

static void
damage_batch_length (struct ArrowArray *batch, struct ArrowSchema *schema)
{
  if (batch)
    batch->length = -1;
}

static void
damage_buffers (struct ArrowArray *batch, struct ArrowSchema *schema)
{
  if (batch)
    get_image (batch)->n_buffers = 1;
}

static void
damage_slots (struct ArrowArray *batch, struct ArrowSchema *schema)
{
  if (batch)
    get_image (batch)->buffers[1] = NULL;
}

static void
damage_validity (struct ArrowArray *batch, struct ArrowSchema *schema)
{
  if (batch) {
    get_image (batch)->buffers[0] = NULL;
    get_image (batch)->null_count = 1;
  }
}

static void
damage_values (struct ArrowArray *batch, struct ArrowSchema *schema)
{
  if (batch)
    ((gint32 *) get_image (batch)->buffers[1])[1] = 1000000;
}

static void
damage_begin (struct ArrowArray *batch, struct ArrowSchema *schema)
{
  if (batch)
    ((gint32 *) get_image (batch)->buffers[1])[0] = -1;
}

static void
damage_data (struct ArrowArray *batch, struct ArrowSchema *schema)
{
  if (batch)
    get_image (batch)->buffers[2] = NULL;
}

static void
damage_rows (struct ArrowArray *batch, struct ArrowSchema *schema)
{
  if (batch)
    batch->null_count = 1;
}

/* Arrays that contradict the schema or themselves. */
static void
test_broken_arrays (void)
{
  static void (*const damages[]) (struct ArrowArray *,
      struct ArrowSchema *) = { damage_length, damage_offset, damage_sum,
    damage_batch_length, damage_buffers, damage_slots, damage_validity,
    damage_values, damage_begin, damage_data, damage_rows };
  const ArrowTableColumn columns[] = { { "image", "z", NULL, bytes } };
  ArrowTable no_table = { .damage = damage_format };

  for (guint i = 0; i < G_N_ELEMENTS (damages); i++) {
    ArrowTable made = { .batch_rows = 3, .damage = damages[i] };

    assert_error (&made, columns, 1, "[resource-error read]|row 0");
  }
  assert_error (&no_table, columns, 1, "[resource-error settings]|\"z\"");
}

static void
damage_view (struct ArrowArray *batch, struct ArrowSchema *schema)
{
  if (batch)
    ((gint32 *) get_image (batch)->buffers[1])[2] = 1;
}

static void
damage_view_offset (struct ArrowArray *batch, struct ArrowSchema *schema)
{
  if (batch)
    ((gint32 *) get_image (batch)->buffers[1])[3] = 4;
}

static void
damage_view_size (struct ArrowArray *batch, struct ArrowSchema *schema)
{
  if (batch)
    ((gint32 *) get_image (batch)->buffers[1])[0] = -1;
}

static void
damage_view_sizes (struct ArrowArray *batch, struct ArrowSchema *schema)
{
  if (batch)
    get_image (batch)->buffers[3] = NULL;
}

static void
damage_index (struct ArrowArray *batch, struct ArrowSchema *schema)
{
  if (batch)
    ((guint8 *) get_image (batch)->buffers[1])[0] = 3;
}

static void
damage_dictionary (struct ArrowArray *batch, struct ArrowSchema *schema)
{
  if (batch)
    get_image (batch)->dictionary->length = -1;
}

static void
test_broken_views (void)
{
  static void (*const damages[]) (struct ArrowArray *,
      struct ArrowSchema *) = { damage_view, damage_view_offset,
    damage_view_size, damage_view_sizes, damage_index, damage_dictionary };
  static const gchar *const values[] = { LONG, "b", "c" };

  for (guint i = 0; i < G_N_ELEMENTS (damages); i++) {
    const ArrowTableColumn columns[] = { { "image", i < 4 ? "vz" : "z",
        i < 4 ? NULL : "c", values } };
    ArrowTable made = { .n_rows = 3, .damage = damages[i] };

    assert_error (&made, columns, 1, "[resource-error read]|row 0");
  }
}

/* A buffer keeps its batch after the table is freed. */
static void
test_held_buffer (void)
{
  const ArrowTableColumn columns[] = { { "image", "z", NULL, bytes } };
  ArrowTable made = { .batch_rows = 3 };
  SpdlArrowTable *table = open_table (&made, columns, 1, NULL);
  g_autofree gchar *uri = NULL;
  GstStructure *extra;
  gint64 label;
  GstBuffer *item = read_item (table, 4, &uri, &label, &extra);

  spdl_arrow_table_free (table);
  /* All but the batch of the item. */
  wait_until (g_atomic_int_get (&made.n_open) <= 1);
  wait_until_asleep ();
  g_assert_cmpint (g_atomic_int_get (&made.n_open), ==, 1);
  assert_content (item, uri, bytes[4]);
  gst_buffer_unref (item);
  arrow_table_wait (&made);
  g_assert_cmpint (made.n_foreign, ==, 0);
}

int
main (int argc, char **argv)
{
  gst_init (NULL, NULL);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/arrow-table/layouts", test_layouts);
  g_test_add_func ("/arrow-table/extras", test_extras);
  g_test_add_func ("/arrow-table/files", test_files);
  g_test_add_func ("/arrow-table/labels", test_labels);
  g_test_add_func ("/arrow-table/weights", test_weights);
  g_test_add_func ("/arrow-table/order", test_order);
  g_test_add_func ("/arrow-table/hash", test_hash);
  g_test_add_func ("/arrow-table/left-out", test_left_out);
  g_test_add_func ("/arrow-table/wrong-tables", test_wrong_tables);
  g_test_add_func ("/arrow-table/failing-producer", test_failing_producer);
  g_test_add_func ("/arrow-table/broken-arrays", test_broken_arrays);
  g_test_add_func ("/arrow-table/broken-views", test_broken_views);
  g_test_add_func ("/arrow-table/held-buffer", test_held_buffer);
  return g_test_run ();
}
