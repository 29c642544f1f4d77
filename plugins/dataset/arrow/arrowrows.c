/* gst-spdl: rows of an Arrow stream, by number
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/arrow/arrowrows.h"

#include <string.h>

#include "plugins/common/fail.h"
#include "plugins/common/fingerprint.h"

typedef struct {
  SpdlArrowBatch *batch;
  SpdlArrowView *views; /* two per column */
  guint64 first;        /* first row */
  guint64 n_rows;
} Part;

/* More columns are probably a mistake. */
#define MAX_COLUMNS 4096

/* Deeper types cannot be read, see arrowlists.h. */
#define MAX_TYPE_DEPTH 8

static void
clear_column (gpointer data)
{
  SpdlArrowColumn *column = data;

  g_free (column->name);
  g_free (column->format);
}

void
spdl_arrow_rows_init (
    SpdlArrowRows *self, SpdlArrowReader *reader, const gchar *name)
{
  *self = (SpdlArrowRows){ g_strdup (name), reader };
  self->parts = g_array_new (FALSE, FALSE, sizeof (Part));
}

static void
drop_parts (SpdlArrowRows *self)
{
  for (guint i = 0; i < self->parts->len; i++) {
    const Part *part = &g_array_index (self->parts, Part, i);

    for (guint c = 0; c < 2 * self->columns->len; c++)
      spdl_arrow_view_clear (&part->views[c]);
    g_free (part->views);
    spdl_arrow_batch_unref (part->batch);
  }
  g_array_set_size (self->parts, 0);
  self->last = 0;
}

void
spdl_arrow_rows_clear (SpdlArrowRows *self)
{
  drop_parts (self);
  g_array_unref (self->parts);
  g_clear_pointer (&self->columns, g_array_unref);
  g_clear_error (&self->broken);
  spdl_arrow_reader_free (self->reader);
  g_free (self->name);
}

/* Appends an Arrow type, with the types of its children. */
static void
append_type (GString *to, const struct ArrowSchema *schema, guint depth)
{
  g_string_append (to, schema->format ? schema->format : "");
  for (gint64 i = 0; depth > 0 && schema->children && i < schema->n_children;
       i++) {
    const struct ArrowSchema *child = schema->children[i];

    g_string_append_printf (to, "%c%s:", i == 0 ? '<' : ',',
        child && child->name ? child->name : "");
    if (child)
      append_type (to, child, depth - 1);
    if (i == schema->n_children - 1)
      g_string_append_c (to, '>');
  }
}

/* Returns the type of a column (transfer full), with its children if they may
 * be lists. */
static gchar *
make_format (const struct ArrowSchema *schema, const SpdlArrowType *type)
{
  g_autoptr (GString) text = g_string_new (NULL);

  append_type (
      text, schema, type->kind == SPDL_ARROW_OTHER ? MAX_TYPE_DEPTH : 0);
  return g_utf8_make_valid (text->str, text->len);
}

static gboolean
read_columns (
    SpdlArrowRows *self, const struct ArrowSchema *schema, GError **error)
{
  if (g_strcmp0 (schema->format, "+s") != 0 || schema->n_children < 0 ||
      (schema->n_children > 0 && !schema->children))
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        "\"%s\" is a column of Arrow's type \"%s\", not a table: make a table "
        "of it, for example with pyarrow.table({\"image\": column})",
        self->name, schema->format ? schema->format : "");
  if (schema->n_children > MAX_COLUMNS)
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        "\"%s\" has %" G_GINT64_FORMAT
        " columns, more than the limit of %d: select those that are needed",
        self->name, schema->n_children, MAX_COLUMNS);
  self->columns = g_array_new (FALSE, FALSE, sizeof (SpdlArrowColumn));
  g_array_set_clear_func (self->columns, clear_column);
  for (gint64 i = 0; i < schema->n_children; i++) {
    const struct ArrowSchema *child = schema->children[i];
    SpdlArrowColumn column = { NULL, NULL, { SPDL_ARROW_OTHER } };

    column.name =
        g_utf8_make_valid (child && child->name ? child->name : "", -1);
    if (child)
      spdl_arrow_type_init (&column.type, child);
    column.format = child ? make_format (child, &column.type) : g_strdup ("");
    g_array_append_val (self->columns, column);
  }
  return TRUE;
}

guint64
spdl_arrow_rows_hash_columns (const SpdlArrowRows *self)
{
  guint64 hash = 0;

  for (guint i = 0; i < self->columns->len; i++) {
    const SpdlArrowColumn *column = spdl_arrow_rows_get_column (self, i);

    hash = spdl_fingerprint_add (hash, column->name, strlen (column->name) + 1);
    hash = spdl_fingerprint_add (
        hash, column->format, strlen (column->format) + 1);
  }
  return hash;
}

static GError *
make_broken (
    const SpdlArrowRows *self, const gchar *column, const gchar *problem)
{
  return g_error_new (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
      "The record batch of \"%s\" from row %" G_GUINT64_FORMAT
      ", is broken: %s%s%s%s. Create the table again",
      self->name, self->first + self->n_rows, column ? "column \"" : "",
      column ? column : "", column ? "\": " : "", problem);
}

static gchar *
init_views (const SpdlArrowRows *self, Part *part,
    const struct ArrowArray *array, const gchar **column)
{
  gchar *problem = NULL;

  for (guint i = 0; i < self->columns->len && !problem; i++) {
    const SpdlArrowColumn *of = spdl_arrow_rows_get_column (self, i);

    *column = of->name;
    if (of->type.kind == SPDL_ARROW_OTHER)
      continue;
    if (!array->children[i])
      return g_strdup ("it is missing");
    problem =
        spdl_arrow_view_init (&part->views[2 * i], &part->views[2 * i + 1],
            &of->type, array->children[i], array->offset, array->length);
  }
  return problem;
}

/* Takes ownership of @batch. */
static void
add_batch (SpdlArrowRows *self, SpdlArrowBatch *batch)
{
  const struct ArrowArray *array = spdl_arrow_batch_get_array (batch);
  Part part = { batch, g_new0 (SpdlArrowView, 2 * self->columns->len),
    self->n_rows };
  const gchar *column = NULL;
  g_autofree gchar *problem = NULL;

  if (array->length < 0 || array->offset < 0 ||
      array->length > G_MAXINT64 - array->offset ||
      (guint64) array->length > G_MAXINT64 - self->n_rows)
    problem = g_strdup ("its length or offset is not valid");
  else if (array->null_count > 0)
    problem = g_strdup ("whole rows are null");
  else if (array->n_children != self->columns->len ||
           (self->columns->len > 0 && !array->children))
    problem = g_strdup_printf ("it has %" G_GINT64_FORMAT
                               " columns, but the schema has %u",
        array->n_children, self->columns->len);
  else
    problem = init_views (self, &part, array, &column);
  if (problem)
    self->broken = make_broken (self, column, problem);
  part.n_rows = MAX (array->length, 0);
  g_array_append_val (self->parts, part);
  self->n_rows += part.n_rows;
}

static void
prefix_error (const SpdlArrowRows *self, GError **error)
{
  if (error && !g_error_matches (*error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    g_prefix_error (error,
        "\"%s\" cannot be read at row %" G_GUINT64_FORMAT ": ", self->name,
        self->first + self->n_rows);
}

gboolean
spdl_arrow_rows_load_columns (
    SpdlArrowRows *self, GCancellable *cancellable, GError **error)
{
  const struct ArrowSchema *schema =
      spdl_arrow_reader_get_schema (self->reader, cancellable, error);

  if (schema)
    return self->columns || read_columns (self, schema, error);
  prefix_error (self, error);
  return FALSE;
}

/* Reads a batch, or notes the end. */
static gboolean
read_batch (SpdlArrowRows *self, GCancellable *cancellable, GError **error)
{
  SpdlArrowBatch *batch = NULL;

  if (!self->broken &&
      !spdl_arrow_reader_next (self->reader, &batch, cancellable, error)) {
    prefix_error (self, error);
    return FALSE;
  }
  if (batch)
    add_batch (self, batch);
  if (self->broken)
    g_propagate_error (error, g_error_copy (self->broken));
  self->is_loaded = !batch && !self->broken;
  return !self->broken;
}

gboolean
spdl_arrow_rows_load (
    SpdlArrowRows *self, GCancellable *cancellable, GError **error)
{
  if (!spdl_arrow_rows_load_columns (self, cancellable, error))
    return FALSE;
  while (!self->is_loaded)
    if (!read_batch (self, cancellable, error))
      return FALSE;
  return TRUE;
}

gboolean
spdl_arrow_rows_advance (
    SpdlArrowRows *self, guint64 row, GCancellable *cancellable, GError **error)
{
  while (row >= self->n_rows && !self->is_loaded) {
    drop_parts (self);
    if (!read_batch (self, cancellable, error))
      return FALSE;
  }
  return row < self->n_rows;
}

static inline const Part *
get_part (const SpdlArrowRows *self, guint i)
{
  return &g_array_index (self->parts, Part, i);
}

static guint
find_part (const SpdlArrowRows *self, guint64 row)
{
  guint begin = 0, end = self->parts->len;

  while (end - begin > 1) {
    const guint middle = begin + (end - begin) / 2;

    if (get_part (self, middle)->first <= row)
      begin = middle;
    else
      end = middle;
  }
  return begin;
}

const SpdlArrowView *
spdl_arrow_rows_find (SpdlArrowRows *self, guint64 *row, SpdlArrowBatch **batch)
{
  const Part *part = get_part (self, self->last);

  if (*row < part->first || *row - part->first >= part->n_rows) {
    self->last = find_part (self, *row);
    part = get_part (self, self->last);
  }
  *row -= part->first;
  if (batch)
    *batch = part->batch;
  return part->views;
}

void
spdl_arrow_rows_set_error (const SpdlArrowRows *self, guint column, guint64 row,
    GError **error, const gchar *format, ...)
{
  g_autofree gchar *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
      "\"%s\" row %" G_GUINT64_FORMAT ", column \"%s\": %s", self->name, row,
      spdl_arrow_rows_get_column (self, column)->name, text);
}
