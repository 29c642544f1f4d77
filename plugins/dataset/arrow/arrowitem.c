/* gst-spdl: items of Arrow tables
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/arrow/arrowtable-private.h"

#include <math.h>
#include <string.h>

SpdlArrowResult
spdl_arrow_item_get_number (
    const SpdlArrowView *view, guint64 row, gint64 *label)
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

SpdlArrowResult
spdl_arrow_item_get_text (
    const SpdlArrowView *view, guint64 row, SpdlLine *line)
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
    return spdl_arrow_item_get_number (view, row, &label) == SPDL_ARROW_VALUE
               ? label
               : SPDL_NO_LABEL;
  if (spdl_arrow_item_get_text (view, row, &line) == SPDL_ARROW_VALUE)
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

/* Returns the URI of a value (transfer full). Attaches its content if the table
 * contains it. A file without bytes has the URI of its path. Returns NULL
 * without either. */
static gchar *
read_file (const Reading *self, guint column, const gchar *prefix)
{
  const SpdlArrowView *view = &self->views[2 * column];
  GstBuffer *content;
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
  uri = g_strdup_printf ("%s%" G_GUINT64_FORMAT, prefix, self->i);
  content = gst_buffer_new ();
  if (size > 0)
    gst_buffer_append_memory (
        content, spdl_arrow_batch_wrap (self->batch, data, size));
  if (!*self->carried)
    *self->carried = gst_spdl_carried_new ();
  gst_spdl_carried_add (*self->carried, g_strdup (uri), content);
  return uri;
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
  g_autofree gchar *text = NULL;

  if (table->told_text || !table->warn || view->leaf.kind != SPDL_ARROW_TEXT ||
      spdl_arrow_view_get_bytes (view, self->row, &data, &size) !=
          SPDL_ARROW_VALUE ||
      (strlen (value) == size && memcmp (value, data, size) == 0))
    return;
  table->told_text = TRUE;
  text = g_strdup_printf ("Row %" G_GUINT64_FORMAT
                          " of \"%s\", column \"%s\", is not UTF-8, or "
                          "contains a NUL character: U+FFFD replaces what is "
                          "not, in other such texts too. Convert them to UTF-8",
      self->i, table->rows.name, get_column (table, column)->name);
  table->warn (text, table->warn_data);
}

static void
read_extra (const Reading *self, const Extra *extra, GstStructure *to)
{
  const gchar *name = get_column (self->table, extra->column)->name;
  const SpdlArrowView *view = &self->views[2 * extra->column];
  GValue value = G_VALUE_INIT;
  gchar *uri;

  if (extra->prefix) {
    if ((uri = read_file (self, extra->column, extra->prefix)))
      add_text (to, name, uri);
  } else if (view->leaf.kind == SPDL_ARROW_LIST) {
    if (spdl_arrow_view_get_list (view, view + 1, self->row, &value) ==
        SPDL_ARROW_VALUE)
      gst_structure_take_value (to, name, &value);
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
  if (gst_structure_n_fields (extra) == 0)
    g_clear_pointer (&extra, gst_structure_free);
  return extra;
}

gchar *
spdl_arrow_item_make_uri (const SpdlArrowTable *self, guint64 i)
{
  return g_strdup_printf ("%s%" G_GUINT64_FORMAT, self->prefix, i);
}

gchar *
spdl_arrow_item_read (SpdlArrowTable *self, guint64 i, gint64 *label,
    GstStructure **extra, GstSpdlCarried **carried)
{
  Reading reading = { .table = self, .i = i, .carried = carried };
  gchar *uri;

  reading.views =
      spdl_arrow_table_find_views (self, i, &reading.row, &reading.batch);
  uri = read_file (&reading, self->item, self->prefix);
  *extra = read_extras (&reading);
  *label = get_label (self, reading.views, reading.row);
  return uri ? uri : spdl_arrow_item_make_uri (self, i);
}
