/* gst-spdl: fuzz target of Arrow tables
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/gst.h>
#include <string.h>

#include "gst/spdl/common/shapes.h"
#include "plugins/dataset/arrow/arrowtable.h"
#include "plugins/dataset/list/columns.h"
#include "tests/fuzz/fuzz.h"

/* The input describes schemas and arrays. Their buffers have exactly the sizes
 * that the interface promises for the lengths and offsets of an array, so that
 * the sanitizer finds reads outside of them. */

static FuzzInput input;
static gint n_open; /* atomic: streams, schemas and batches in use */

typedef struct {
  const gchar *format; /* `[` and letters: lists, see make_lists() */
  const gchar *name;
  const gchar *index; /* nullable */
} Column;

/* Arrays */

#define MAX_BUFFERS 6

typedef struct {
  gboolean counts; /* a batch */
  const void *buffers[MAX_BUFFERS];
  gpointer owned[MAX_BUFFERS];
} Buffers;

static void
release_array (struct ArrowArray *array)
{
  Buffers *data = array->private_data;

  for (gint i = 0; array->children && array->children[i]; i++) {
    release_array (array->children[i]);
    g_free (array->children[i]);
  }
  g_free (array->children);
  if (array->dictionary)
    release_array (array->dictionary);
  g_free (array->dictionary);
  for (guint i = 0; i < MAX_BUFFERS; i++)
    g_free (data->owned[i]);
  if (data->counts)
    g_atomic_int_add (&n_open, -1);
  g_free (data);
  array->release = NULL;
}

static struct ArrowArray *
make_array (gint64 length, guint n_buffers)
{
  struct ArrowArray *array = g_new0 (struct ArrowArray, 1);
  Buffers *data = g_new0 (Buffers, 1);

  array->length = length;
  array->offset = (gint8) fuzz_take (&input);
  array->null_count = (gint8) fuzz_take (&input);
  array->n_buffers = n_buffers;
  array->buffers = data->buffers;
  array->release = release_array;
  array->private_data = data;
  return array;
}

/* Adds a buffer of @size bytes from the input. */
static guint8 *
add_buffer (struct ArrowArray *array, guint i, gsize size)
{
  Buffers *data = array->private_data;
  guint8 *bytes = g_malloc (size);

  for (gsize k = 0; k < size; k++)
    bytes[k] = fuzz_take (&input);
  data->buffers[i] = data->owned[i] = bytes;
  return bytes;
}

static guint
count_slots (const struct ArrowArray *array)
{
  return CLAMP (array->length + array->offset, 0, 1024);
}

/* Adds offsets, which mostly grow, and data that ends at the last one. */
static void
add_offsets (struct ArrowArray *array, gboolean is_large)
{
  const guint n = count_slots (array) + 1;
  const gsize width = is_large ? 8 : 4;
  guint8 *offsets = add_buffer (array, 1, n * width);
  gint64 at = 0;

  for (guint i = 0; i < n; i++) {
    const guint8 step = fuzz_take (&input);
    const gint32 small = at =
        step == 255 ? (gint32) fuzz_take_32 (&input) : at + step % 8;

    memcpy (offsets + i * width, is_large ? (gpointer) &at : (gpointer) &small,
        width);
  }
  if (at >= 0 && at <= 4096)
    add_buffer (array, 2, at);
}

static void
add_views (struct ArrowArray *array)
{
  const guint n = count_slots (array), n_buffers = fuzz_take (&input) % 3;
  gint32 *views = (gint32 *) add_buffer (array, 1, n * 16);
  gint64 *sizes;

  for (guint i = 0; i < n; i++)
    if (fuzz_take (&input) % 4) {
      views[4 * i] &= 31;
      views[4 * i + 2] &= 1;
      views[4 * i + 3] &= 31;
    }
  array->n_buffers = 3 + n_buffers;
  sizes = g_new0 (gint64, MAX (n_buffers, 1));
  for (guint b = 0; b < n_buffers; b++) {
    sizes[b] = fuzz_take (&input);
    add_buffer (array, 2 + b, sizes[b]);
  }
  ((Buffers *) array->private_data)->owned[2 + n_buffers] = sizes;
  array->buffers[2 + n_buffers] = sizes;
}

static gsize
get_width (const gchar *format)
{
  switch (*format) {
    case 'c':
    case 'C':
      return 1;
    case 's':
    case 'S':
      return 2;
    case 'i':
    case 'I':
    case 'f':
      return 4;
    case 'w':
      return format[2] - '0';
    default:
      return 8;
  }
}

static struct ArrowArray *
make_column (const gchar *format, const gchar *index, gint64 length);

static struct ArrowArray *
make_structure (gint64 length)
{
  struct ArrowArray *array = make_array (length, 1);
  const gint64 n = array->length + MAX (array->offset, 0);

  add_buffer (array, 0, (count_slots (array) + 7) / 8);
  array->n_children = 2 - (fuzz_take (&input) == 1);
  array->children = g_new0 (struct ArrowArray *, 3);
  array->children[0] = make_column ("z", NULL, n);
  array->children[1] = make_column ("u", NULL, n);
  return array;
}

static struct ArrowArray *
make_leaf (const gchar *format, gint64 length)
{
  struct ArrowArray *array = make_array (length, 2);
  const guint n = count_slots (array);

  add_buffer (array, 0, (n + 7) / 8);
  if (strchr ("zZuU", *format)) {
    array->n_buffers = 3;
    add_offsets (array, g_ascii_isupper (*format));
  } else if (*format == 'v') {
    add_views (array);
  } else if (*format == 'b') {
    add_buffer (array, 1, (n + 7) / 8);
  } else {
    add_buffer (array, 1, n * get_width (format));
  }
  return array;
}

static gint64
get_last_offset (const struct ArrowArray *array, gboolean is_large)
{
  const guint n = count_slots (array);

  return is_large ? ((const gint64 *) array->buffers[1])[n]
                  : ((const gint32 *) array->buffers[1])[n];
}

/* Makes lists (l), large lists (L), lists of two (w) or structures (s) of what
 * the next letter says, the last of which is a format of numbers. */
static struct ArrowArray *
make_lists (const gchar *types, gint64 length)
{
  const gboolean is_list = strchr ("lL", *types) != NULL;
  struct ArrowArray *array;
  gint64 n;

  if (!types[1])
    return make_leaf (types, length);
  array = make_array (length, is_list ? 2 : 1);
  n = count_slots (array);
  add_buffer (array, 0, (n + 7) / 8);
  if (is_list) {
    add_offsets (array, *types == 'L');
    n = CLAMP (get_last_offset (array, *types == 'L'), 0, 256);
  } else if (*types == 'w') {
    n *= 2;
  }
  array->n_children = 1;
  array->children = g_new0 (struct ArrowArray *, 2);
  array->children[0] =
      make_lists (types + 1, n + (gint8) fuzz_take (&input) / 64);
  return array;
}

static struct ArrowArray *
make_column (const gchar *format, const gchar *index, gint64 length)
{
  const guint8 damage = fuzz_take (&input);
  struct ArrowArray *array;

  if (damage == 1)
    length += (gint8) fuzz_take (&input);
  length = MIN (length, 512);
  if (*format == '+')
    array = make_structure (length);
  else if (*format == '[')
    array = make_lists (format + 1, length);
  else
    array = make_leaf (index ? index : format, length);
  if (index && damage != 2)
    array->dictionary = make_leaf (format, fuzz_take (&input) % 8);
  /* The last buffer of views has the sizes of the others, which cannot be
   * checked. */
  if (damage == 3 && *(index ? index : format) != 'v')
    array->n_buffers--;
  if (damage == 4)
    array->buffers[0] = NULL;
  if (damage == 5)
    array->buffers[1] = NULL;
  if (damage == 6)
    array->buffers[MAX (array->n_buffers, 1) - 1] = NULL;
  if (damage == 8 && *format == '[')
    array->n_children = 0;
  if (damage == 7)
    array->offset = fuzz_take (&input) % 2 ? G_MAXINT64 : G_MININT64;
  return array;
}

/* Streams */

typedef struct {
  Column columns[4];
  guint n_columns;
  gboolean no_table;
  GQueue batches; /* struct ArrowArray */
  gboolean fails;
} Table;

static void
release_schema (struct ArrowSchema *schema)
{
  for (gint64 i = 0; i < schema->n_children; i++) {
    release_schema (schema->children[i]);
    g_free (schema->children[i]);
  }
  g_free (schema->children);
  g_free (schema->dictionary);
  if (schema->private_data)
    g_atomic_int_add (&n_open, -1);
  schema->release = NULL;
}

static struct ArrowSchema *
make_schema (const gchar *format, const gchar *name, guint n_children)
{
  struct ArrowSchema *schema = g_new0 (struct ArrowSchema, 1);

  schema->format = format;
  schema->name = name;
  schema->n_children = n_children;
  schema->children = g_new0 (struct ArrowSchema *, n_children + 1);
  schema->release = release_schema;
  return schema;
}

static struct ArrowSchema *
make_lists_schema (const gchar *types, const gchar *name)
{
  const gchar *format = *types == 'l'   ? "+l"
                        : *types == 'L' ? "+L"
                        : *types == 'w' ? "+w:2"
                                        : "+s";
  struct ArrowSchema *schema;

  if (!types[1])
    return make_schema (types, name, 0);
  schema = make_schema (format, name, 1);
  schema->children[0] = make_lists_schema (types + 1, "x");
  return schema;
}

static struct ArrowSchema *
make_column_schema (const Column *column)
{
  struct ArrowSchema *schema;

  if (*column->format == '[')
    return make_lists_schema (column->format + 1, column->name);
  if (*column->format == '+') {
    schema = make_schema (column->format, column->name, 2);
    schema->children[0] = make_schema ("z", "bytes", 0);
    schema->children[1] = make_schema ("u", "path", 0);
    return schema;
  }
  schema = make_schema (
      column->index ? column->index : column->format, column->name, 0);
  if (column->index) {
    schema->dictionary = g_new0 (struct ArrowSchema, 1);
    schema->dictionary->format = column->format;
  }
  return schema;
}

static int
get_schema (struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
  Table *table = stream->private_data;
  struct ArrowSchema *schema =
      make_schema (table->no_table ? "z" : "+s", NULL, table->n_columns);

  for (guint i = 0; i < table->n_columns; i++)
    schema->children[i] = make_column_schema (&table->columns[i]);
  schema->private_data = table;
  *out = *schema;
  g_free (schema);
  g_atomic_int_inc (&n_open);
  return 0;
}

static int
get_next (struct ArrowArrayStream *stream, struct ArrowArray *out)
{
  Table *table = stream->private_data;
  struct ArrowArray *batch = g_queue_pop_head (&table->batches);

  if (!batch && table->fails)
    return 5;
  out->release = NULL;
  if (!batch)
    return 0;
  *out = *batch;
  ((Buffers *) out->private_data)->counts = TRUE;
  g_atomic_int_inc (&n_open);
  g_free (batch);
  return 0;
}

static const char *
get_last_error (struct ArrowArrayStream *stream)
{
  return ((Table *) stream->private_data)->no_table ? NULL : "a \xff b";
}

static void
release_stream (struct ArrowArrayStream *stream)
{
  Table *table = stream->private_data;
  struct ArrowArray *batch;

  while ((batch = g_queue_pop_head (&table->batches))) {
    release_array (batch);
    g_free (batch);
  }
  g_free (table);
  stream->release = NULL;
  g_atomic_int_add (&n_open, -1);
}

static struct ArrowArray *
make_batch (const Table *table)
{
  const guint8 damage = fuzz_take (&input);
  struct ArrowArray *batch = make_array (fuzz_take (&input) % 16, 1);
  const gint64 n = batch->length + MAX (batch->offset, 0);

  batch->null_count = damage == 1;
  if (damage == 2)
    batch->length = -1;
  batch->n_children = table->n_columns + (damage == 3);
  batch->children = g_new0 (struct ArrowArray *, table->n_columns + 2);
  for (guint i = 0; i < table->n_columns; i++)
    batch->children[i] =
        make_column (table->columns[i].format, table->columns[i].index, n);
  return batch;
}

static void
make_stream (struct ArrowArrayStream *stream)
{
  static const gchar *const formats[] = { "z", "Z", "u", "U", "vz", "vu", "w:0",
    "w:3", "c", "C", "s", "S", "i", "I", "l", "L", "f", "g", "b", "+s", "n",
    "w:x", "e", "", "[lf", "[Lb", "[wg", "[ln", "[lu", "[llf", "[wls", "[sLwC",
    "[lslg", "[lssl", "[slf", "[llllllf" };
  static const gchar *const names[] = { "image", "label", "w", "uri", "key",
    "a b", "caf\xe9", NULL };
  static const gchar *const indices[] = { NULL, NULL, "c", "S", "i", "L", "f" };
  Table *table = g_new0 (Table, 1);
  const guint8 settings = fuzz_take (&input);
  guint n_batches;

  table->no_table = settings == 1;
  table->fails = settings == 2;
  table->n_columns = fuzz_take (&input) % 5;
  for (guint i = 0; i < table->n_columns; i++) {
    Column *column = &table->columns[i];

    column->format = formats[fuzz_take (&input) % G_N_ELEMENTS (formats)];
    column->name = names[fuzz_take (&input) % G_N_ELEMENTS (names)];
    column->index = indices[fuzz_take (&input) % G_N_ELEMENTS (indices)];
    if (*column->format == '+' || *column->format == '[')
      column->index = NULL;
  }
  n_batches = fuzz_take (&input) % 4;
  for (guint i = 0; i < n_batches; i++)
    g_queue_push_tail (&table->batches, make_batch (table));
  *stream = (struct ArrowArrayStream){ get_schema, get_next, get_last_error,
    release_stream, table };
  g_atomic_int_inc (&n_open);
}

static gboolean
open_stream (gpointer stream, gpointer user_data, GError **error)
{
  *(struct ArrowArrayStream *) stream = *(struct ArrowArrayStream *) user_data;
  return TRUE;
}

/* Checks */

static void
check_extra (GstStructure *extra)
{
  for (gint i = 0; i < gst_structure_n_fields (extra); i++) {
    const gchar *name = gst_structure_nth_field_name (extra, i);
    const gchar *text = gst_structure_get_string (extra, name);

    g_assert_true (spdl_columns_is_field_name (name));
    g_assert_true (!text || g_utf8_validate (text, -1, NULL));
  }
  gst_structure_free (extra);
}

/* Reads all bytes, so that the sanitizer checks them. */
static void
check_content (GstBuffer *item, const gchar *uri)
{
  GstBuffer *content = gst_spdl_buffer_dup_carried (item, uri);
  guint8 bytes[256];

  if (!content)
    return;
  for (gsize at = 0; at < gst_buffer_get_size (content); at += sizeof bytes)
    gst_buffer_extract (content, at, bytes, sizeof bytes);
  gst_buffer_unref (content);
}

static void
check_items (SpdlArrowTable *table)
{
  const SpdlClasses *classes = spdl_arrow_table_get_classes (table);
  const gboolean streamed = spdl_arrow_table_is_streamed (table);
  const guint64 n = spdl_arrow_table_get_size (table);

  g_assert_cmpuint (n, >, 0);
  for (guint64 i = 0; i < MIN (n, 50); i++) {
    g_autoptr (GError) error = NULL;
    GstBuffer *item = gst_buffer_new ();
    GstSpdlCarried *carried;
    GstStructure *extra;
    gint64 label;
    g_autofree gchar *uri = spdl_arrow_table_get_item (table,
        streamed ? i : i * 7 % n, &label, &extra, &carried, NULL, &error);

    if (!uri) {
      g_assert_true (streamed);
      if (error)
        fuzz_check_error (error);
      gst_buffer_unref (item);
      return;
    }

    g_assert_true (g_utf8_validate (uri, -1, NULL));
    g_assert_true (
        !classes || label == SPDL_NO_LABEL ||
        (label >= -1 && label < (gint64) spdl_classes_get_size (classes)));
    if (carried)
      gst_spdl_buffer_set_carried (item, carried);
    check_content (item, uri);
    if (extra)
      check_extra (extra);
    gst_buffer_unref (item);
  }
}

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  fuzz_init ();
  return 0;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  static const gchar *const names[] = { "cat", "1", "a", NULL };
  g_autoptr (SpdlClasses) classes = NULL;
  g_autoptr (GError) error = NULL;
  struct ArrowArrayStream rows, order;
  SpdlArrowTable *table;
  guint8 settings;

  input = (FuzzInput){ data, size };
  settings = fuzz_take (&input);
  if (settings & 4)
    classes = spdl_classes_new_from_names (names, NULL);
  const GQuark lists[SPDL_SHAPES_N_FIELDS] = { g_quark_from_static_string ("w"),
    g_quark_from_static_string ("w.x"), g_quark_from_static_string ("w.x.x"),
    g_quark_from_static_string ("key.x") };
  const SpdlDatasetOptions options = {
    { settings & 1, .targets = settings & 64 ? "key" : 0,
        .lists = settings & 128 ? lists : 0, .classes = classes },
    .uri = settings & 32 ? "uri" : NULL, .weights = settings & 2 ? "w" : NULL
  };
  make_stream (&rows);
  if ((settings & 24) == 8)
    make_stream (&order);
  if (settings & 16)
    table = spdl_arrow_table_new_lazy (
        spdl_arrow_opener_new (open_stream, &rows, NULL), "stream");
  else
    table = spdl_arrow_table_new (&rows, settings & 8 ? &order : NULL, "table");
  if (spdl_arrow_table_open (table, &options, &error)) {
    g_autoptr (GArray) weights = spdl_arrow_table_steal_weights (table);

    g_assert_true (
        !weights || weights->len == spdl_arrow_table_get_size (table));
    check_items (table);
  } else {
    fuzz_check_error (error);
  }
  spdl_arrow_table_free (table);
  while (g_atomic_int_get (&n_open) > 0)
    g_thread_yield ();
  return 0;
}
