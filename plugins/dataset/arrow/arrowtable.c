/* gst-spdl: Arrow tables as lists of items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/arrow/arrowtable.h"

#include <math.h>
#include <string.h>

#include "gst/spdl/common/shapes.h"
#include "plugins/common/fail.h"
#include "plugins/common/fingerprint.h"
#include "plugins/dataset/arrow/arrowlists.h"
#include "plugins/dataset/arrow/arrowrows.h"
#include "plugins/dataset/list/columns.h"

/* Number of items whose content is part of the hash, and their largest part. */
#define N_HASHED 64
#define MAX_HASHED 4096

/* Largest number of rows of a stream. */
#define MAX_STREAMED (G_GUINT64_CONSTANT (1) << 62)

#define NO_COLUMN G_MAXUINT

/* A column that is a field of the item's extra. */
typedef struct {
  guint column;
  gchar *prefix;         /* (nullable): URIs of files: this and the row */
  SpdlArrowLists *lists; /* (nullable): lists of numbers */
  const gchar *name;     /* interned: of the lists */
} Extra;

struct _SpdlArrowTable {
  SpdlArrowOpener *opener; /* (nullable): of the stream or the parts */
  gboolean was_read;       /* a row of the stream was requested */
  gboolean in_parts;
  SpdlArrowParts *parts; /* (nullable): set while the table is open */
  SpdlArrowRows *at;     /* with the current row: `rows`, or those of a part */
  SpdlArrowRows rows;    /* without any if the table is in parts */
  SpdlArrowRows order;
  gboolean has_order;
  guint item;
  SpdlArrowLists tokens;   /* of the items, if they are lists of token ids */
  const gchar *token_type; /* (nullable): set if they are */
  guint label;             /* NO_COLUMN: none */
  guint weight;            /* NO_COLUMN: none */
  gboolean labels;         /* whether labels are read */
  gchar *prefix;           /* of the URIs of items */
  gboolean has_key;        /* a column is named `key` */
  GArray *extras;          /* Extra */
  guint64 n_items;
  guint64 hash;
  GArray *weights;      /* (nullable): double */
  guint64 n_unlabelled; /* items that were checked and have no label */
  guint64 first_unlabelled;
  const SpdlClasses *classes; /* (nullable): set by the caller */
  SpdlClasses *found;         /* (nullable): classes of text labels */
  gboolean has_numbers;       /* whether text labels are numbers */
  SpdlDatasetOptions options; /* valid while the table is open */
  gboolean told_text;         /* warned of a text that is not UTF-8 */
};

static inline const SpdlArrowColumn *
get_column (const SpdlArrowTable *self, guint i)
{
  return spdl_arrow_rows_get_column (&self->rows, i);
}

static void
clear_extra (gpointer data)
{
  g_free (((Extra *) data)->prefix);
  g_free (((Extra *) data)->lists);
}

static SpdlArrowTable *
new_table (SpdlArrowReader *reader, const gchar *name)
{
  SpdlArrowTable *self = g_new0 (SpdlArrowTable, 1);

  spdl_arrow_rows_init (&self->rows, reader, name);
  self->at = &self->rows;
  self->extras = g_array_new (FALSE, FALSE, sizeof (Extra));
  g_array_set_clear_func (self->extras, clear_extra);
  return self;
}

SpdlArrowTable *
spdl_arrow_table_new (struct ArrowArrayStream *rows,
    struct ArrowArrayStream *order, const gchar *name)
{
  SpdlArrowTable *self = new_table (spdl_arrow_reader_new (rows), name);

  if (order)
    spdl_arrow_rows_init (
        &self->order, spdl_arrow_reader_new (order), "indices");
  self->has_order = order != NULL;
  return self;
}

/* Returns a reader of the stream, or of one with the columns of the parts. */
static SpdlArrowReader *
new_reader (SpdlArrowOpener *opener, const gchar *const *columns)
{
  SpdlArrowOpener *part;
  SpdlArrowReader *reader;
  guint n_parts;

  if (!spdl_arrow_opener_get_parts (opener, &n_parts))
    return spdl_arrow_reader_new_lazy (opener);
  part = spdl_arrow_opener_new_part (opener, -1, columns);
  reader = spdl_arrow_reader_new_lazy (part);
  spdl_arrow_opener_unref (part);
  return reader;
}

SpdlArrowTable *
spdl_arrow_table_new_lazy (SpdlArrowOpener *opener, const gchar *name)
{
  SpdlArrowTable *self = new_table (new_reader (opener, NULL), name);
  guint n_parts;

  self->opener = opener;
  self->in_parts = spdl_arrow_opener_get_parts (opener, &n_parts) != NULL;
  return self;
}

void
spdl_arrow_table_free (SpdlArrowTable *self)
{
  spdl_arrow_rows_clear (&self->rows);
  if (self->has_order)
    spdl_arrow_rows_clear (&self->order);
  spdl_arrow_table_close (self);
  g_array_unref (self->extras);
  g_clear_pointer (&self->weights, g_array_unref);
  g_clear_pointer (&self->found, spdl_classes_free);
  g_clear_pointer (&self->opener, spdl_arrow_opener_unref);
  g_free (self->prefix);
  g_free (self);
}

gboolean
spdl_arrow_table_is_streamed (const SpdlArrowTable *self)
{
  return self->opener && !self->in_parts;
}

const GstSpdlArrowPart *
spdl_arrow_table_get_parts (const SpdlArrowTable *self, guint *n_parts)
{
  return self->in_parts ? spdl_arrow_opener_get_parts (self->opener, n_parts)
                        : NULL;
}

void
spdl_arrow_table_close (SpdlArrowTable *self)
{
  g_clear_pointer (&self->parts, spdl_arrow_parts_free);
}

void
spdl_arrow_table_plan (SpdlArrowTable *self, const SpdlReadPlan *plan)
{
  spdl_arrow_parts_plan (self->parts, plan);
}

/* Replaces the rows by those of another stream. */
static void
reopen (SpdlArrowTable *self, const gchar *const *columns)
{
  g_autofree gchar *name = g_strdup (self->rows.name);

  spdl_arrow_rows_clear (&self->rows);
  spdl_arrow_rows_init (&self->rows, new_reader (self->opener, columns), name);
  self->was_read = FALSE;
}

void
spdl_arrow_table_begin_epoch (SpdlArrowTable *self)
{
  if (self->was_read)
    reopen (self, NULL);
}

const gchar *
spdl_arrow_table_get_name (const SpdlArrowTable *self)
{
  return self->rows.name;
}

/* Columns */

static guint
find_column (const SpdlArrowTable *self, const gchar *name)
{
  for (guint i = 0; i < self->rows.columns->len; i++)
    if (g_str_equal (get_column (self, i)->name, name))
      return i;
  return NO_COLUMN;
}

static gboolean
find_lists (
    const SpdlArrowTable *self, const gchar *name, SpdlArrowLists *lists)
{
  return spdl_arrow_lists_find (lists,
      spdl_arrow_reader_get_schema (self->rows.reader, NULL, NULL), name);
}

static gboolean
has_bytes (const SpdlArrowColumn *column)
{
  return column->type.kind == SPDL_ARROW_BINARY ||
         column->type.kind == SPDL_ARROW_FILE;
}

static gboolean
find_tokens (SpdlArrowTable *self, const gchar *name)
{
  if (find_lists (self, name, &self->tokens))
    self->token_type = spdl_arrow_lists_get_token_type (&self->tokens);
  if (self->token_type)
    self->item = self->tokens.column;
  return self->token_type != NULL;
}

/* Finds the column of the items: the first one of bytes, or else `uri`, or else
 * lists of token ids. */
static gboolean
find_item (SpdlArrowTable *self, GError **error)
{
  g_autoptr (GString) columns = g_string_new (NULL);

  self->token_type = NULL;
  for (guint i = 0; i < self->rows.columns->len; i++) {
    const SpdlArrowColumn *column = get_column (self, i);

    self->item = i;
    if (has_bytes (column))
      return TRUE;
    g_string_append_printf (columns, "%s\"%s\" (%s)", i > 0 ? ", " : "",
        column->name, column->format);
  }
  self->item = find_column (self, "uri");
  if (self->item != NO_COLUMN &&
      get_column (self, self->item)->type.kind == SPDL_ARROW_TEXT)
    return TRUE;
  if (find_tokens (self, "input_ids") || find_tokens (self, "tokens"))
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "\"%s\" has no column of items: it needs a binary column, a structure of "
      "bytes and path, a text column \"uri\", or \"input_ids\" or \"tokens\" "
      "with lists of uint8, uint16, int32, uint32 or int64, but it has the "
      "columns %s (with Arrow's types). Convert one, or rename a column of "
      "paths to uri",
      self->rows.name, columns->len > 0 ? columns->str : "of an empty table");
}

/* Finds the column of the items that the user named. */
static gboolean
find_named_item (SpdlArrowTable *self, const gchar *name, GError **error)
{
  self->token_type = NULL;
  self->item = find_column (self, name);
  if (self->item != NO_COLUMN &&
      (has_bytes (get_column (self, self->item)) ||
          get_column (self, self->item)->type.kind == SPDL_ARROW_TEXT ||
          find_tokens (self, name)))
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "\"%s\" has no column \"%s\" of bytes, text or lists of token ids "
      "(uint8, uint16, int32, uint32 or int64): set uri-column to the name of "
      "a "
      "column with the items, or leave it unset",
      self->rows.name, name);
}

/* Returns the URI of an item without a path (transfer full). */
static gchar *
make_item_uri (const SpdlArrowTable *self, guint64 i)
{
  return g_strdup_printf ("%s%" G_GUINT64_FORMAT, self->prefix, i);
}

static gchar *
describe_columns (const SpdlArrowTable *self)
{
  GString *text = g_string_new ("columns ");

  for (guint i = 0; i < self->rows.columns->len; i++)
    g_string_append_printf (
        text, "%s\"%s\"", i > 0 ? ", " : "", get_column (self, i)->name);
  return g_string_free (text, FALSE);
}

/* Reports the items without a label that were counted. A table without the
 * column has none with one. */
static gboolean
check_labels (const SpdlArrowTable *self, const SpdlDatasetOptions *options,
    GError **error)
{
  SpdlLabelCount count = { .n_items = self->n_items,
    .n_missing = self->n_unlabelled };
  g_autofree gchar *first =
      self->prefix ? make_item_uri (self, self->first_unlabelled) : NULL;
  g_autofree gchar *fields = describe_columns (self);

  if (self->label == NO_COLUMN)
    count.n_missing = count.n_items = 1;
  count.first = first;
  count.fields = fields;
  return spdl_labels_check (options, &count, self->rows.name, error);
}

static gboolean
find_label (
    SpdlArrowTable *self, const SpdlDatasetOptions *options, GError **error)
{
  const gchar *name = spdl_labels_get_column (&options->labels);

  /* It is empty if the column "label" is a target. */
  self->label = *name ? find_column (self, name) : NO_COLUMN;
  if (self->label == NO_COLUMN || self->label == self->item)
    self->label = NO_COLUMN;
  if (self->label == NO_COLUMN)
    return !options->labels.read || check_labels (self, options, error);
  if (!options->labels.read)
    return TRUE;
  switch (get_column (self, self->label)->type.kind) {
    case SPDL_ARROW_NOTHING:
    case SPDL_ARROW_TEXT:
    case SPDL_ARROW_INTEGER:
    case SPDL_ARROW_REAL:
    case SPDL_ARROW_BOOLEAN:
      return TRUE;
    default:
      break;
  }
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "Column \"%s\" of \"%s\" has Arrow's type \"%s\", but a label must be "
      "a number or text: convert or rename the column, or set label=none",
      name, self->rows.name, get_column (self, self->label)->format);
}

static gboolean
find_weight (
    SpdlArrowTable *self, const SpdlDatasetOptions *options, GError **error)
{
  SpdlArrowKind kind = SPDL_ARROW_OTHER;

  self->weight =
      options->weights ? find_column (self, options->weights) : NO_COLUMN;
  if (!options->weights)
    return TRUE;
  if (self->weight != NO_COLUMN)
    kind = get_column (self, self->weight)->type.kind;
  if (kind == SPDL_ARROW_REAL || kind == SPDL_ARROW_INTEGER)
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "\"%s\" has no column \"%s\" of numbers: set weight-column to the name "
      "of a column with the weights",
      self->rows.name, options->weights);
}

static gchar *
make_prefix (const SpdlArrowColumn *column)
{
  g_autofree gchar *name = g_uri_escape_string (column->name, NULL, FALSE);

  return g_strdup_printf ("arrow:///%s/", name);
}

static gboolean
is_target (const gchar *name, gconstpointer user_data)
{
  const SpdlArrowTable *self = user_data;
  const guint i = find_column (self, name);
  SpdlArrowLists lists;

  if (i == NO_COLUMN || i == self->item || i == self->label)
    return FALSE;
  switch (get_column (self, i)->type.kind) {
    case SPDL_ARROW_INTEGER:
    case SPDL_ARROW_REAL:
    case SPDL_ARROW_BOOLEAN:
      return TRUE;
    default:
      return find_lists (self, name, &lists) && lists.n_lists == 1;
  }
}

static const Extra *
find_lists_extra (const SpdlArrowTable *self, guint column, const gchar *name)
{
  for (guint e = 0; e < self->extras->len; e++) {
    const Extra *extra = &g_array_index (self->extras, Extra, e);

    if (extra->lists && (extra->column == column || extra->name == name))
      return extra;
  }
  return NULL;
}

/* Adds lists of numbers as a field, if @name has them. */
static void
add_lists (SpdlArrowTable *self, const gchar *name)
{
  Extra extra = { .lists = g_new (SpdlArrowLists, 1),
    .name = g_intern_string (name) };

  if (find_lists (self, name, extra.lists) &&
      spdl_columns_is_field_name (name) &&
      !find_lists_extra (self, NO_COLUMN, extra.name)) {
    extra.column = extra.lists->column;
    g_array_append_val (self->extras, extra);
  } else {
    g_free (extra.lists);
  }
}

/* Adds the lists that are targets, boxes or keypoints. */
static void
find_list_extras (SpdlArrowTable *self, const SpdlLabelOptions *labels)
{
  for (guint i = 0; labels->lists && i < SPDL_SHAPES_N_FIELDS; i++)
    if (labels->lists[i])
      add_lists (self, g_quark_to_string (labels->lists[i]));
  for (guint i = 0; i < self->rows.columns->len; i++)
    if (spdl_targets_has (labels->targets, get_column (self, i)->name))
      add_lists (self, get_column (self, i)->name);
}

/* Checks that columns of boxes and keypoints can be. One that does not exist
 * may be a field that a function sets, and text may be JSON. */
static gboolean
check_lists (const SpdlArrowTable *self, const SpdlDatasetOptions *options,
    GError **error)
{
  for (guint i = 0; options->labels.lists && i < SPDL_SHAPES_N_FIELDS; i++) {
    const gchar *name = g_quark_to_string (options->labels.lists[i]);
    const SpdlArrowColumn *column;
    SpdlArrowLists lists;

    if (!name || find_lists (self, name, &lists) || lists.column == NO_COLUMN)
      continue;
    column = get_column (self, lists.column);
    if (column->type.kind == SPDL_ARROW_TEXT ||
        column->type.kind == SPDL_ARROW_NOTHING)
      continue;
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        "\"%s\" has no lists of numbers \"%s\", but column \"%s\" of Arrow's "
        "type \"%s\": set box-column, box-label-columns and keypoint-column to "
        "columns with lists of numbers, or to their members, such as "
        "objects.bbox",
        self->rows.name, name, column->name, column->format);
  }
  return TRUE;
}

/* Returns why a column cannot be a field of the extra, "" if its lists are one
 * already; NULL: it can. */
static const gchar *
check_extra (SpdlArrowTable *self, guint i)
{
  const SpdlArrowColumn *column = get_column (self, i);

  if (column->type.kind == SPDL_ARROW_OTHER)
    return find_lists_extra (self, i, NULL) ? "" : column->format;
  if (!spdl_columns_is_field_name (column->name))
    return "it has no name that a field can have";
  return find_column (self, column->name) < i ? "its name occurs twice" : NULL;
}

static void
find_extras (SpdlArrowTable *self, const SpdlDatasetOptions *options)
{
  g_autoptr (GString) others = g_string_new (NULL);

  find_list_extras (self, &options->labels);
  for (guint i = 0; i < self->rows.columns->len; i++) {
    const SpdlArrowColumn *column = get_column (self, i);
    const Extra extra = { i, has_bytes (column) ? make_prefix (column) : NULL };
    const gchar *problem = check_extra (self, i);

    if (i == self->item || i == self->label)
      problem = "";
    else if (problem && *problem)
      g_string_append_printf (others, "%s\"%s\" (%s)",
          others->len > 0 ? ", " : "", column->name, problem);
    if (problem)
      g_free (extra.prefix);
    else
      g_array_append_val (self->extras, extra);
  }
  self->has_key = find_column (self, "key") != NO_COLUMN;
  if (others->len > 0)
    spdl_dataset_warn (options,
        "Columns of \"%s\" are left out of each item's extra: %s. Only binary, "
        "text, numbers and booleans can be read, and lists of numbers as "
        "targets, boxes or keypoints; convert or remove the others",
        self->rows.name, others->str);
}

/* Rows */

/* Converts the number of an item to the row of the table. The order has been
 * checked. */
static guint64
get_row (SpdlArrowTable *self, guint64 i)
{
  const SpdlArrowView *views;
  gint64 row = 0;

  if (!self->has_order)
    return i;
  views = spdl_arrow_rows_find (&self->order, &i, NULL);
  spdl_arrow_view_get_integer (&views[0], i, &row);
  return row;
}

/* Returns the views of item @i in its batch, and sets its row there. */
static const SpdlArrowView *
find_views (
    SpdlArrowTable *self, guint64 i, guint64 *row, SpdlArrowBatch **batch)
{
  *row = get_row (self, i) - self->at->first;
  return spdl_arrow_rows_find (self->at, row, batch);
}

/* Gets the bytes of item @i, and sets its row as find_views() does. */
static SpdlArrowResult
get_item_bytes (
    SpdlArrowTable *self, guint64 i, const guint8 **data, gsize *size)
{
  SpdlArrowBatch *batch;
  guint64 row;
  const SpdlArrowView *view =
      &find_views (self, i, &row, &batch)[2 * self->item];

  *size = 0;
  if (self->token_type)
    return spdl_arrow_lists_get_bytes (
        &self->tokens, spdl_arrow_batch_get_array (batch), row, data, size);
  return view->leaf.kind == SPDL_ARROW_NOTHING
             ? SPDL_ARROW_NULL
             : spdl_arrow_view_get_bytes (view, row, data, size);
}

static gboolean
load_order (SpdlArrowTable *self, GCancellable *cancellable, GError **error)
{
  SpdlArrowRows *order = &self->order;

  self->n_items = self->rows.n_rows;
  if (!self->has_order)
    return TRUE;
  if (!spdl_arrow_rows_load (order, cancellable, error))
    return FALSE;
  if (order->columns->len != 1 ||
      spdl_arrow_rows_get_column (order, 0)->type.kind != SPDL_ARROW_INTEGER)
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        "The indices of \"%s\" are not one column of integers",
        self->rows.name);
  self->n_items = order->n_rows;
  for (guint64 i = 0; i < order->n_rows; i++) {
    guint64 at = i;
    const SpdlArrowView *views = spdl_arrow_rows_find (order, &at, NULL);
    gint64 row;

    if (spdl_arrow_view_get_integer (&views[0], at, &row) == SPDL_ARROW_VALUE &&
        row >= 0 && (guint64) row < self->rows.n_rows)
      continue;
    spdl_arrow_rows_set_error (order, 0, i, error,
        "the index is not one of the %" G_GUINT64_FORMAT " rows of \"%s\"",
        self->rows.n_rows, self->rows.name);
    return FALSE;
  }
  return TRUE;
}

/* Labels */

/* Gets the label of a column of numbers. A real number that is not an integer
 * is broken, and NaN is null. */
static SpdlArrowResult
get_number_label (const SpdlArrowView *view, guint64 row, gint64 *label)
{
  SpdlArrowResult result;
  gdouble real;

  if (view->leaf.kind == SPDL_ARROW_REAL) {
    result = spdl_arrow_view_get_real (view, row, &real);
    if (result != SPDL_ARROW_VALUE || isnan (real))
      return result == SPDL_ARROW_BROKEN ? result : SPDL_ARROW_NULL;
    return spdl_line_convert_label (real, label) == SPDL_PARSE_ERROR_NONE
               ? SPDL_ARROW_VALUE
               : SPDL_ARROW_BROKEN;
  }
  result = spdl_arrow_view_get_integer (view, row, label);
  return result == SPDL_ARROW_VALUE && *label == SPDL_NO_LABEL
             ? SPDL_ARROW_BROKEN
             : result;
}

/* Gets the label of a column of text, as the label of a line that is not parsed
 * yet. An empty text is null. */
static SpdlArrowResult
get_text_label (const SpdlArrowView *view, guint64 row, SpdlLine *line)
{
  const guint8 *data;
  gsize size;
  const SpdlArrowResult result =
      spdl_arrow_view_get_bytes (view, row, &data, &size);

  spdl_line_init (line, NULL);
  if (result != SPDL_ARROW_VALUE || size == 0)
    return result == SPDL_ARROW_VALUE ? SPDL_ARROW_NULL : result;
  line->name = (SpdlField){ (const gchar *) data, size, SPDL_FIELD_PLAIN };
  return SPDL_ARROW_VALUE;
}

/* Check of all rows */

static gboolean
set_broken (const SpdlArrowTable *self, guint column, guint64 i, GError **error)
{
  spdl_arrow_rows_set_error (&self->rows, column, i, error,
      "the value is outside of its buffer, dictionary or range: create the "
      "table again");
  return FALSE;
}

/* Checks the bytes and paths of a column, and adds their lengths to the hash.
 */
static gboolean
check_bytes (SpdlArrowTable *self, const SpdlArrowView *views, guint column,
    guint64 i, guint64 row, gboolean hash, GError **error)
{
  gint64 sizes[2] = { -1, -1 };

  for (guint v = 0; v < 2; v++) {
    const SpdlArrowView *view = &views[2 * column + v];
    const guint8 *data;
    gsize size;

    if (view->leaf.kind != SPDL_ARROW_BINARY &&
        view->leaf.kind != SPDL_ARROW_TEXT)
      continue;
    switch (spdl_arrow_view_get_bytes (view, row, &data, &size)) {
      case SPDL_ARROW_BROKEN:
        return set_broken (self, column, i, error);
      case SPDL_ARROW_VALUE:
        sizes[v] = size;
        break;
      default:
        break;
    }
  }
  if (hash)
    self->hash = spdl_fingerprint_add (self->hash, sizes, sizeof sizes);
  return TRUE;
}

/* Checks the list of an item, and adds its length to the hash. */
static gboolean
check_tokens (SpdlArrowTable *self, guint64 i, GError **error)
{
  gint64 sizes[2] = { -1, -1 };
  const guint8 *data;
  gsize size;

  switch (get_item_bytes (self, i, &data, &size)) {
    case SPDL_ARROW_BROKEN:
      return set_broken (self, self->item, i, error);
    case SPDL_ARROW_VALUE:
      sizes[0] = size;
      break;
    default:
      break;
  }
  self->hash = spdl_fingerprint_add (self->hash, sizes, sizeof sizes);
  return TRUE;
}

static gboolean
set_unknown (
    const SpdlArrowTable *self, guint64 i, const gchar *label, GError **error)
{
  spdl_arrow_rows_set_error (&self->rows, self->label, i, error,
      "the label %s is not among the %u classes: correct it, or add it to "
      "classes",
      label, spdl_classes_get_size (self->classes));
  return FALSE;
}

static gboolean
count_unlabelled (SpdlArrowTable *self, guint64 i)
{
  if (self->n_unlabelled++ == 0)
    self->first_unlabelled = i;
  return TRUE;
}

static gboolean
set_no_class (const SpdlArrowTable *self, guint64 i, GError **error)
{
  spdl_arrow_rows_set_error (&self->rows, self->label, i, error,
      "the label is not an integer, so it is not the number of a class: name "
      "the column in target-columns to get its numbers as a tensor");
  return FALSE;
}

static gboolean
set_text_error (const SpdlArrowTable *self, guint64 i, const SpdlLine *line,
    SpdlParseErrorKind kind, GError **error)
{
  g_autofree gchar *label =
      spdl_parse_error_quote (line->name.text, line->name.length);

  switch (kind) {
    case SPDL_PARSE_ERROR_LABEL_UNKNOWN:
      return set_unknown (self, i, label, error);
    case SPDL_PARSE_ERROR_LABEL_FRACTION:
    case SPDL_PARSE_ERROR_LABEL_TOO_LARGE:
      return set_no_class (self, i, error);
    case SPDL_PARSE_ERROR_LABEL_TOO_MANY:
      spdl_arrow_rows_set_error (&self->rows, self->label, i, error,
          "there are more than %u different labels, the limit of classes: use "
          "label=none, or rename the column",
          SPDL_CLASSES_MAX);
      return FALSE;
    default:
      spdl_arrow_rows_set_error (&self->rows, self->label, i, error,
          "the label %s is %s: correct it, or set classes to the names of the "
          "classes",
          label,
          kind == SPDL_PARSE_ERROR_LABEL_INTEGER
              ? "a number, but labels before it are text"
              : "text, but labels before it are numbers");
      return FALSE;
  }
}

/* Checks a text, which is read like the label of a list. */
static gboolean
check_text_label (SpdlArrowTable *self, const SpdlArrowView *view, guint64 i,
    guint64 row, GError **error)
{
  SpdlParseErrorKind kind;
  SpdlLine line;

  switch (get_text_label (view, row, &line)) {
    case SPDL_ARROW_NULL:
      return count_unlabelled (self, i);
    case SPDL_ARROW_BROKEN:
      return set_broken (self, self->label, i, error);
    default:
      break;
  }
  self->hash =
      spdl_fingerprint_add (self->hash, line.name.text, line.name.length);
  if (!spdl_line_is_utf8 (line.name.text, line.name.length)) {
    spdl_arrow_rows_set_error (
        &self->rows, self->label, i, error, "the label is not UTF-8 text");
    return FALSE;
  }
  spdl_line_read_label (&line);
  if (!line.name.text)
    return count_unlabelled (self, i);
  if (!self->classes)
    kind = spdl_classes_collect (&self->found, &self->has_numbers, &line);
  else
    kind = spdl_classes_number_line (self->classes, &line)
               ? SPDL_PARSE_ERROR_NONE
               : SPDL_PARSE_ERROR_LABEL_UNKNOWN;
  return kind == SPDL_PARSE_ERROR_NONE ||
         set_text_error (self, i, &line, kind, error);
}

/* Checks a label. An integer is the number of a class. */
static gboolean
check_label (SpdlArrowTable *self, const SpdlArrowView *view, guint64 i,
    guint64 row, GError **error)
{
  gint64 label, hashed;

  if (view->leaf.kind == SPDL_ARROW_NOTHING)
    return count_unlabelled (self, i);
  if (view->leaf.kind == SPDL_ARROW_TEXT)
    return check_text_label (self, view, i, row, error);
  switch (get_number_label (view, row, &label)) {
    case SPDL_ARROW_BROKEN:
      return view->leaf.kind == SPDL_ARROW_REAL
                 ? set_no_class (self, i, error)
                 : set_broken (self, self->label, i, error);
    case SPDL_ARROW_NULL:
      hashed = -1;
      self->hash = spdl_fingerprint_add (self->hash, &hashed, sizeof hashed);
      return count_unlabelled (self, i);
    default:
      break;
  }
  self->hash = spdl_fingerprint_add (self->hash, &label, sizeof label);
  if (!self->classes || label == -1 ||
      (label >= 0 && label < (gint64) spdl_classes_get_size (self->classes)))
    return TRUE;
  g_autofree gchar *text = g_strdup_printf ("%" G_GINT64_FORMAT, label);
  return set_unknown (self, i, text, error);
}

static gboolean
check_weight (SpdlArrowTable *self, const SpdlArrowView *view, guint64 i,
    guint64 row, GError **error)
{
  gdouble weight = NAN;

  if (spdl_arrow_view_get_real (view, row, &weight) == SPDL_ARROW_BROKEN)
    return set_broken (self, self->weight, i, error);
  if (isfinite (weight) && weight >= 0) {
    g_array_append_val (self->weights, weight);
    return TRUE;
  }
  spdl_arrow_rows_set_error (&self->rows, self->weight, i, error,
      "a weight must be a finite number of at least 0, not %s",
      isnan (weight) ? "null or NaN" : "negative or infinite");
  return FALSE;
}

static gboolean
check_row (SpdlArrowTable *self, guint64 i, GError **error)
{
  guint64 row;
  const SpdlArrowView *views = find_views (self, i, &row, NULL);

  if (!(self->token_type
              ? check_tokens (self, i, error)
              : check_bytes (self, views, self->item, i, row, TRUE, error)) ||
      (self->labels &&
          !check_label (self, &views[2 * self->label], i, row, error)) ||
      (self->weights &&
          !check_weight (self, &views[2 * self->weight], i, row, error)))
    return FALSE;
  for (guint e = 0; e < self->extras->len; e++) {
    const guint column = g_array_index (self->extras, Extra, e).column;

    if (!check_bytes (self, views, column, i, row, FALSE, error))
      return FALSE;
  }
  return TRUE;
}

/* Adds the content of some items to the hash. */
static void
hash_content (SpdlArrowTable *self)
{
  const guint64 n = MIN (self->n_items, N_HASHED);

  for (guint64 k = 0; k < n; k++) {
    const guint8 *data;
    gsize size;

    if (get_item_bytes (self, k * (self->n_items / n), &data, &size) ==
            SPDL_ARROW_VALUE &&
        size > 0)
      self->hash =
          spdl_fingerprint_add (self->hash, data, MIN (size, MAX_HASHED));
  }
}

static void
prepare_labels (SpdlArrowTable *self, const SpdlDatasetOptions *options)
{
  self->labels = options->labels.read && self->label != NO_COLUMN;
  self->classes = options->labels.read ? options->labels.classes : NULL;
  g_clear_pointer (&self->found, spdl_classes_free);
}

static gboolean
check_rows (
    SpdlArrowTable *self, const SpdlDatasetOptions *options, GError **error)
{
  self->hash = self->n_unlabelled = 0;
  g_clear_pointer (&self->weights, g_array_unref);
  if (self->weight != NO_COLUMN)
    self->weights = g_array_new (FALSE, FALSE, sizeof (gdouble));
  self->has_numbers = FALSE;
  for (guint64 i = 0; i < self->n_items; i++) {
    if (i % 65536 == 0 &&
        g_cancellable_set_error_if_cancelled (options->cancellable, error))
      return FALSE;
    if (!check_row (self, i, error))
      return FALSE;
  }
  hash_content (self);
  if (self->found)
    spdl_classes_sort (self->found);
  return TRUE;
}

static gboolean
has_rows (const SpdlArrowTable *self, GError **error)
{
  if (spdl_arrow_table_is_streamed (self) ? self->rows.n_rows > 0
                                          : self->n_items > 0)
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_NOT_FOUND,
      "\"%s\" has no rows: pass a table with a row for each item",
      self->rows.name);
}

static gboolean
load_rows (SpdlArrowTable *self, GCancellable *cancellable, GError **error)
{
  if (!self->opener)
    return spdl_arrow_rows_load (&self->rows, cancellable, error);
  if (self->was_read || self->in_parts)
    reopen (self, NULL);
  return spdl_arrow_rows_load_columns (&self->rows, cancellable, error);
}

/* Checks the settings of a table whose rows are checked as they are read. */
static gboolean
check_lazy (const SpdlArrowTable *self, const SpdlDatasetOptions *options,
    GError **error)
{
  const gchar *name = self->rows.name;

  if (options->weights)
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        "weight-column=%s needs all rows, but the rows of \"%s\" are only read "
        "when they are sent: pass a table in memory, or leave weight-column "
        "unset",
        options->weights, name);
  if (!self->labels || self->classes ||
      get_column (self, self->label)->type.kind != SPDL_ARROW_TEXT)
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "The labels of \"%s\" are text, but its rows are only read when they are "
      "sent, so its classes are not known in advance: set classes, or "
      "label=none",
      name);
}

static void
add_column (const SpdlArrowTable *self, guint column, GPtrArray *names)
{
  const gchar *name = get_column (self, column)->name;

  /* Several fields may be members of one. */
  if (!g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL))
    g_ptr_array_add (names, g_strdup (name));
}

/* Returns the columns that are used. */
static GStrv
list_columns (const SpdlArrowTable *self)
{
  GPtrArray *names = g_ptr_array_new ();

  add_column (self, self->item, names);
  if (self->labels)
    add_column (self, self->label, names);
  for (guint e = 0; e < self->extras->len; e++)
    add_column (self, g_array_index (self->extras, Extra, e).column, names);
  g_ptr_array_add (names, NULL);
  return (GStrv) g_ptr_array_free (names, FALSE);
}

static void
measure_parts (SpdlArrowTable *self)
{
  guint n_parts;
  const GstSpdlArrowPart *parts = spdl_arrow_table_get_parts (self, &n_parts);

  self->n_items = 0;
  for (guint i = 0; i < n_parts; i++)
    self->n_items += parts[i].n_rows;
  self->hash =
      spdl_fingerprint_add (self->hash, parts, n_parts * sizeof *parts);
}

static gboolean
check_targets (const SpdlArrowTable *self, const SpdlDatasetOptions *options,
    GError **error)
{
  g_autofree gchar *columns = describe_columns (self);

  return spdl_targets_check (options->labels.targets, is_target, self, columns,
      self->rows.name, error);
}

static gboolean
find_columns (
    SpdlArrowTable *self, const SpdlDatasetOptions *options, GError **error)
{
  const guint item = self->item;

  if (!(options->uri ? find_named_item (self, options->uri, error)
                     : find_item (self, error)) ||
      !find_label (self, options, error) ||
      !find_weight (self, options, error) ||
      !check_targets (self, options, error) ||
      !check_lists (self, options, error))
    return FALSE;
  if (item != self->item || self->in_parts || options->labels.targets ||
      options->labels.lists) {
    g_clear_pointer (&self->prefix, g_free);
    g_array_set_size (self->extras, 0);
  }
  if (!self->prefix) {
    self->prefix = make_prefix (get_column (self, self->item));
    find_extras (self, options);
  }
  prepare_labels (self, options);
  return TRUE;
}

/* Prepares a table whose parts have only the columns that are used. */
static gboolean
open_parts (
    SpdlArrowTable *self, const SpdlDatasetOptions *options, GError **error)
{
  g_auto (GStrv) columns = list_columns (self);
  SpdlDatasetOptions quiet = *options;

  quiet.warn = NULL; /* the columns that are left out were named */
  reopen (self, (const gchar *const *) columns);
  if (!spdl_arrow_rows_load_columns (
          &self->rows, options->cancellable, error) ||
      !find_columns (self, &quiet, error))
    return FALSE;
  self->hash = spdl_arrow_rows_hash_columns (&self->rows);
  measure_parts (self);
  spdl_arrow_table_close (self);
  self->parts = spdl_arrow_parts_new (
      self->opener, g_steal_pointer (&columns), &self->rows);
  return has_rows (self, error);
}

gboolean
spdl_arrow_table_open (
    SpdlArrowTable *self, const SpdlDatasetOptions *options, GError **error)
{
  self->options = *options;
  if (!load_rows (self, options->cancellable, error) ||
      !find_columns (self, options, error))
    return FALSE;
  if (!self->opener)
    return load_order (self, options->cancellable, error) &&
           has_rows (self, error) && check_rows (self, options, error) &&
           check_labels (self, options, error);
  if (!check_lazy (self, options, error))
    return FALSE;
  if (self->in_parts)
    return open_parts (self, options, error);
  self->n_items = MAX_STREAMED;
  self->hash = spdl_arrow_rows_hash_columns (&self->rows);
  return TRUE;
}

guint64
spdl_arrow_table_get_size (const SpdlArrowTable *self)
{
  return self->n_items;
}

guint64
spdl_arrow_table_get_hash (const SpdlArrowTable *self)
{
  return self->hash;
}

const SpdlClasses *
spdl_arrow_table_get_classes (const SpdlArrowTable *self)
{
  return self->classes ? self->classes : self->found;
}

GArray *
spdl_arrow_table_steal_weights (SpdlArrowTable *self)
{
  return g_steal_pointer (&self->weights);
}

/* Items */

/* Opens the stream, unless it is open. All must have the same columns. */
static gboolean
open_stream (SpdlArrowTable *self, GCancellable *cancellable, GError **error)
{
  self->was_read = TRUE;
  if (self->rows.columns)
    return TRUE;
  if (!spdl_arrow_rows_load_columns (&self->rows, cancellable, error))
    return FALSE;
  if (spdl_arrow_rows_hash_columns (&self->rows) == self->hash)
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_READ,
      "\"%s\" has other columns in this epoch than in the first one: give all "
      "streams the same columns",
      self->rows.name);
}

/* Checks a row that was read, without a change of the hash. */
static gboolean
check_read (SpdlArrowTable *self, guint64 i, GError **error)
{
  const guint64 hash = self->hash;
  const gboolean ok = check_row (self, i, error);

  self->hash = hash;
  return ok;
}

/* Reads and checks row @i of a stream. Returns FALSE if there is none, or with
 * @error set. */
static gboolean
read_row (
    SpdlArrowTable *self, guint64 i, GCancellable *cancellable, GError **error)
{
  GError *problem = NULL;

  if (!open_stream (self, cancellable, error))
    return FALSE;
  if (spdl_arrow_rows_advance (&self->rows, i, cancellable, &problem))
    return check_read (self, i, error);
  if (problem)
    g_propagate_error (error, problem);
  else
    has_rows (self, error);
  return FALSE;
}

/* Returns the URI of an item of a part that cannot be read, which then fails
 * like a missing file. */
static gchar *
fail_item (const SpdlArrowTable *self, guint64 i, GstSpdlCarried **carried,
    GError *why)
{
  *carried = gst_spdl_carried_new ();
  gst_spdl_carried_set_error (*carried, why);
  return make_item_uri (self, i);
}

static gint64
get_label (const SpdlArrowTable *self, const SpdlArrowView *views, guint64 row)
{
  const SpdlArrowView *view;
  gint64 label;
  SpdlLine line;

  if (!self->labels)
    return SPDL_NO_LABEL;
  view = &views[2 * self->label];
  if (view->leaf.kind != SPDL_ARROW_TEXT)
    return get_number_label (view, row, &label) == SPDL_ARROW_VALUE
               ? label
               : SPDL_NO_LABEL;
  if (get_text_label (view, row, &line) == SPDL_ARROW_VALUE)
    spdl_classes_number_line (spdl_arrow_table_get_classes (self), &line);
  return line.label;
}

static gchar *
dup_text (const SpdlArrowView *view, guint64 row)
{
  const guint8 *data;
  gsize size;

  if (view->leaf.kind != SPDL_ARROW_TEXT ||
      spdl_arrow_view_get_bytes (view, row, &data, &size) != SPDL_ARROW_VALUE ||
      size == 0)
    return NULL;
  return g_utf8_make_valid ((const gchar *) data, size);
}

static gchar *
path_to_uri (gchar *path)
{
  gchar *uri =
      g_path_is_absolute (path) ? g_filename_to_uri (path, NULL, NULL) : NULL;

  if (!uri)
    return path;
  g_free (path);
  return uri;
}

typedef struct {
  SpdlArrowTable *table;
  SpdlArrowBatch *batch;
  const SpdlArrowView *views;
  guint64 i;
  guint64 row;
  GstSpdlCarried **carried;
} Reading;

/* Returns a URI (transfer full), to which the content is attached. */
static gchar *
attach_content (
    const Reading *self, const gchar *prefix, const guint8 *data, gsize size)
{
  gchar *uri = g_strdup_printf ("%s%" G_GUINT64_FORMAT, prefix, self->i);
  GstBuffer *content = gst_buffer_new ();

  if (size > 0)
    gst_buffer_append_memory (
        content, spdl_arrow_batch_wrap (self->batch, data, size));
  if (!*self->carried)
    *self->carried = gst_spdl_carried_new ();
  gst_spdl_carried_add (*self->carried, g_strdup (uri), content);
  return uri;
}

/* Returns the URI of a value (transfer full). Attaches its content if the table
 * contains it. A file without bytes has the URI of its path. Returns NULL
 * without either. */
static gchar *
read_file (const Reading *self, guint column, const gchar *prefix)
{
  const SpdlArrowView *view = &self->views[2 * column];
  const guint8 *data;
  gchar *uri;
  gsize size;

  if (view->leaf.kind != SPDL_ARROW_BINARY ||
      spdl_arrow_view_get_bytes (view, self->row, &data, &size) !=
          SPDL_ARROW_VALUE) {
    uri = dup_text (
        view->leaf.kind == SPDL_ARROW_TEXT ? view : view + 1, self->row);
    return uri ? path_to_uri (uri) : NULL;
  }
  return attach_content (self, prefix, data, size);
}

/* Returns the URI of a list of token ids (transfer full), whose content is
 * their bytes. One with a null fails. */
static gchar *
read_tokens (const Reading *self)
{
  SpdlArrowTable *table = self->table;
  const guint8 *data;
  GError *why = NULL;
  gsize size;

  if (get_item_bytes (table, self->i, &data, &size) == SPDL_ARROW_VALUE)
    return attach_content (self, table->prefix, data, size);
  if (size == 0)
    return make_item_uri (table, self->i);
  spdl_arrow_rows_set_error (&table->rows, table->item, self->i, &why,
      "the list has a null, which is not a token id: fill it in or remove the "
      "row");
  return fail_item (table, self->i, self->carried, why);
}

static void
add_text (GstStructure *extra, const gchar *name, gchar *text)
{
  GValue value = G_VALUE_INIT;

  g_value_init (&value, G_TYPE_STRING);
  g_value_take_string (&value, text);
  gst_structure_take_value (extra, name, &value);
}

/* Warns of the first text that is not UTF-8, so that the field's @value differs
 * from the table's. */
static void
check_text (const Reading *self, const SpdlArrowView *view, guint column,
    const gchar *value)
{
  SpdlArrowTable *table = self->table;
  const guint8 *data;
  gsize size;

  if (table->told_text || view->leaf.kind != SPDL_ARROW_TEXT ||
      spdl_arrow_view_get_bytes (view, self->row, &data, &size) !=
          SPDL_ARROW_VALUE ||
      (strlen (value) == size &&
          (size == 0 || memcmp (value, data, size) == 0)))
    return;
  table->told_text = TRUE;
  spdl_dataset_warn (&table->options,
      "Row %" G_GUINT64_FORMAT " of \"%s\", column \"%s\", is not UTF-8, or "
      "contains a NUL character: U+FFFD replaces the "
      "invalid bytes, also in further texts. Convert "
      "the texts to UTF-8",
      self->i, table->rows.name, get_column (table, column)->name);
}

static void
read_extra (const Reading *self, const Extra *extra, GstStructure *to)
{
  const gchar *name = get_column (self->table, extra->column)->name;
  const SpdlArrowView *view = &self->views[2 * extra->column];
  GValue value = G_VALUE_INIT;
  gchar *uri;

  if (extra->lists) {
    if (spdl_arrow_lists_get (extra->lists,
            spdl_arrow_batch_get_array (self->batch), self->row,
            &value) == SPDL_ARROW_VALUE)
      gst_structure_take_value (to, extra->name, &value);
  } else if (extra->prefix) {
    if ((uri = read_file (self, extra->column, extra->prefix)))
      add_text (to, name, uri);
  } else if (spdl_arrow_view_get_value (&self->views[2 * extra->column],
                 self->row, &value) == SPDL_ARROW_VALUE) {
    if (G_VALUE_HOLDS_STRING (&value))
      check_text (self, view, extra->column, g_value_get_string (&value));
    gst_structure_take_value (to, name, &value);
  }
}

/* Reads the other fields. The path of an item that the table contains is its
 * key, as the name of a sample in a shard. */
static GstStructure *
read_extras (const Reading *self)
{
  const SpdlArrowTable *table = self->table;
  GstStructure *extra = gst_structure_new_empty ("extra");
  gchar *key = NULL;

  if (!table->has_key && *self->carried)
    key = dup_text (&self->views[2 * table->item + 1], self->row);
  if (key) {
    check_text (self, &self->views[2 * table->item + 1], table->item, key);
    add_text (extra, "key", key);
  }
  for (guint e = 0; e < table->extras->len; e++)
    read_extra (self, &g_array_index (table->extras, Extra, e), extra);
  if (table->token_type)
    gst_structure_set (
        extra, "token-type", G_TYPE_STRING, table->token_type, NULL);
  if (gst_structure_n_fields (extra) == 0)
    g_clear_pointer (&extra, gst_structure_free);
  return extra;
}

/* Reads item @i, whose row has been read and checked. */
static gchar *
read_item (SpdlArrowTable *self, guint64 i, gint64 *label, GstStructure **extra,
    GstSpdlCarried **carried)
{
  Reading reading = { .table = self, .i = i, .carried = carried };
  gchar *uri;

  reading.views = find_views (self, i, &reading.row, &reading.batch);
  uri = self->token_type ? read_tokens (&reading)
                         : read_file (&reading, self->item, self->prefix);
  *extra = read_extras (&reading);
  *label = get_label (self, reading.views, reading.row);
  return uri ? uri : make_item_uri (self, i);
}

gchar *
spdl_arrow_table_get_item (SpdlArrowTable *self, guint64 i, gint64 *label,
    GstStructure **extra, GstSpdlCarried **carried, GCancellable *cancellable,
    GError **error)
{
  GError *problem = NULL;

  *extra = NULL;
  *carried = NULL;
  if (self->in_parts) {
    self->at = spdl_arrow_parts_find (self->parts, i, cancellable, &problem);
    if (!self->at) {
      if (!g_error_matches (problem, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        return fail_item (self, i, carried, problem);
      g_propagate_error (error, problem);
      return NULL;
    }
    if (!check_read (self, i, error))
      return NULL;
  } else if (self->opener && !read_row (self, i, cancellable, error)) {
    return NULL;
  }
  return read_item (self, i, label, extra, carried);
}
