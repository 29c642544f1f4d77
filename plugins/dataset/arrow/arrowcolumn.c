/* gst-spdl: layouts of Arrow columns
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/arrow/arrowcolumn.h"

#include <gst/gst.h>
#include <string.h>

/* Longest value that a view contains itself. */
#define INLINE_MAX 12

/* Types */

/* Reads a type whose values have a fixed width. */
static gboolean
read_number (SpdlArrowLeaf *self, gchar format)
{
  static const struct {
    gchar format;
    guint8 kind, width;
  } formats[] = {
    { 'c', SPDL_ARROW_INTEGER, 1 },
    { 'C', SPDL_ARROW_INTEGER, 1 },
    { 's', SPDL_ARROW_INTEGER, 2 },
    { 'S', SPDL_ARROW_INTEGER, 2 },
    { 'i', SPDL_ARROW_INTEGER, 4 },
    { 'I', SPDL_ARROW_INTEGER, 4 },
    { 'l', SPDL_ARROW_INTEGER, 8 },
    { 'L', SPDL_ARROW_INTEGER, 8 },
    { 'f', SPDL_ARROW_REAL, 4 },
    { 'g', SPDL_ARROW_REAL, 8 },
    { 'b', SPDL_ARROW_BOOLEAN, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (formats[i].format == format) {
      *self = (SpdlArrowLeaf){ formats[i].kind, format, formats[i].width };
      return TRUE;
    }
  return FALSE;
}

static SpdlArrowLeaf
make_bytes (gchar letter, gchar layout)
{
  return (SpdlArrowLeaf){ g_ascii_tolower (letter) == 'z' ? SPDL_ARROW_BINARY
                                                          : SPDL_ARROW_TEXT,
    layout,
    layout == 'z'   ? 4
    : layout == 'Z' ? 8
                    : 16 };
}

static SpdlArrowLeaf
read_format (const gchar *format)
{
  SpdlArrowLeaf leaf = { SPDL_ARROW_OTHER };
  guint64 width;

  if (!format || !*format)
    return leaf;
  if (!format[1]) {
    if (strchr ("zu", *format))
      return make_bytes (*format, 'z');
    if (strchr ("ZU", *format))
      return make_bytes (*format, 'Z');
    if (*format == 'n')
      return (SpdlArrowLeaf){ SPDL_ARROW_NOTHING, 'n' };
    read_number (&leaf, *format);
  } else if (g_str_equal (format, "vz") || g_str_equal (format, "vu")) {
    return make_bytes (format[1], 'v');
  } else if (g_str_has_prefix (format, "w:") &&
             g_ascii_string_to_unsigned (
                 format + 2, 10, 0, G_MAXINT32, &width, NULL)) {
    return (SpdlArrowLeaf){ SPDL_ARROW_BINARY, 'w', width };
  }
  return leaf;
}

SpdlArrowLeaf
spdl_arrow_leaf_read (const struct ArrowSchema *schema)
{
  SpdlArrowLeaf index = read_format (schema->format), leaf;

  if (!schema->dictionary)
    return index;
  leaf = read_format (schema->dictionary->format);
  if (index.kind != SPDL_ARROW_INTEGER || schema->dictionary->dictionary)
    leaf.kind = SPDL_ARROW_OTHER;
  leaf.index_layout = index.layout;
  leaf.index_width = index.width;
  return leaf;
}

/* Finds the fields of a file: `bytes` must be binary, `path` text. */
static void
read_structure (SpdlArrowType *self, const struct ArrowSchema *schema)
{
  for (gint i = 0; i < MIN (schema->n_children, G_MAXINT); i++) {
    const struct ArrowSchema *child = schema->children[i];

    if (!child || !child->name)
      continue;
    const SpdlArrowLeaf leaf = spdl_arrow_leaf_read (child);
    const gboolean is_nothing = leaf.kind == SPDL_ARROW_NOTHING;

    if (self->bytes < 0 && g_str_equal (child->name, "bytes") &&
        (is_nothing || leaf.kind == SPDL_ARROW_BINARY)) {
      self->bytes = i;
      self->bytes_leaf = leaf;
    } else if (self->path < 0 && g_str_equal (child->name, "path") &&
               (is_nothing || leaf.kind == SPDL_ARROW_TEXT)) {
      self->path = i;
      self->path_leaf = leaf;
    }
  }
  if (self->bytes >= 0)
    self->kind = SPDL_ARROW_FILE;
}

void
spdl_arrow_type_init (SpdlArrowType *self, const struct ArrowSchema *schema)
{
  *self = (SpdlArrowType){ SPDL_ARROW_OTHER, -1, -1 };
  if (g_strcmp0 (schema->format, "+s") == 0) {
    read_structure (self, schema);
    return;
  }
  self->bytes_leaf = spdl_arrow_leaf_read (schema);
  self->kind = self->bytes_leaf.kind;
}

/* Views */

static gboolean
has_length (const struct ArrowArray *array, guint64 n_rows)
{
  return array->length >= 0 && array->offset >= 0 &&
         array->length <= G_MAXINT64 - array->offset &&
         n_rows <= (guint64) array->length;
}

/* Returns the buffer with the validity of slots; NULL if none is null. */
static const guint8 *
get_validity (const struct ArrowArray *array)
{
  return array->null_count != 0 && array->n_buffers > 0 && array->buffers
             ? array->buffers[0]
             : NULL;
}

static gint64
count_buffers (gchar layout)
{
  switch (layout) {
    case 'n':
      return 0;
    case 'z':
    case 'Z':
    case 'v':
      return 3;
    case 'F':
    case '{':
      return 1;
    default:
      return 2;
  }
}

/* Sets the buffers of the slots. */
static gchar *
set_buffers (SpdlArrowView *self, const struct ArrowArray *array)
{
  const gchar layout =
      self->leaf.index_layout ? self->leaf.index_layout : self->leaf.layout;
  const gsize width =
      self->leaf.index_layout ? self->leaf.index_width : self->leaf.width;
  const gint64 n_buffers = count_buffers (layout);

  if (layout == 'n')
    return NULL;
  if (array->n_buffers < n_buffers || !array->buffers)
    return g_strdup_printf ("it has %" G_GINT64_FORMAT
                            " buffers instead of %" G_GINT64_FORMAT,
        array->n_buffers, n_buffers);
  self->validity = get_validity (array);
  if (array->null_count > 0 && !self->validity)
    return g_strdup ("it has nulls, but no buffer for them");
  if (n_buffers == 1)
    return NULL;
  self->values = array->buffers[1];
  if (self->n_slots > 0 && !self->values && (width > 0 || layout == 'b'))
    return g_strdup ("the buffer of its values is missing");
  if (width > 0 && self->n_slots >= G_MAXINT64 / width)
    return g_strdup ("its length and offset are larger than memory");
  if (layout == 'z' || layout == 'Z') {
    self->data = array->buffers[2];
  } else if (layout == 'v') {
    self->n_buffers = array->n_buffers - 3;
    self->buffers = array->buffers + 2;
    self->sizes = array->buffers[array->n_buffers - 1];
    if (self->n_buffers > 0 && !self->sizes)
      return g_strdup ("the sizes of its buffers are missing");
  }
  return NULL;
}

gchar *
spdl_arrow_view_init_leaf (SpdlArrowView *self, const SpdlArrowLeaf *leaf,
    const struct ArrowArray *array, guint64 offset, guint64 length)
{
  gchar *problem;

  self->leaf = *leaf;
  if (!has_length (array, offset + length))
    return g_strdup_printf (
        "its length %" G_GINT64_FORMAT " and offset %" G_GINT64_FORMAT
        " are not those of a column of %" G_GUINT64_FORMAT " rows",
        array->length, array->offset, offset + length);
  self->offset = array->offset + offset;
  self->n_slots = array->offset + array->length;
  if ((problem = set_buffers (self, array)) || !leaf->index_layout)
    return problem;
  if (!array->dictionary)
    return g_strdup ("its dictionary is missing");
  self->dictionary = g_new0 (SpdlArrowView, 1);
  const SpdlArrowLeaf values = { leaf->kind, leaf->layout, leaf->width };
  return spdl_arrow_view_init_leaf (self->dictionary, &values,
      array->dictionary, 0, MAX (array->dictionary->length, 0));
}

gchar *
spdl_arrow_view_init (SpdlArrowView *self, SpdlArrowView *path,
    const SpdlArrowType *type, const struct ArrowArray *array, guint64 offset,
    guint64 length)
{
  gchar *problem;

  *self = *path = (SpdlArrowView){ { SPDL_ARROW_NOTHING, 'n' } };
  if (type->kind != SPDL_ARROW_FILE)
    return spdl_arrow_view_init_leaf (
        self, &type->bytes_leaf, array, offset, length);
  if (!has_length (array, offset + length) || !array->children ||
      array->n_children <= MAX (type->bytes, type->path))
    return g_strdup ("its fields or its length are not those of its type");
  offset += array->offset;
  problem = spdl_arrow_view_init_leaf (
      self, &type->bytes_leaf, array->children[type->bytes], offset, length);
  if (!problem && type->path >= 0)
    problem = spdl_arrow_view_init_leaf (
        path, &type->path_leaf, array->children[type->path], offset, length);
  self->outer = path->outer = get_validity (array);
  self->outer_offset = path->outer_offset = offset;
  return problem;
}

void
spdl_arrow_view_clear (SpdlArrowView *self)
{
  g_clear_pointer (&self->dictionary, g_free);
}

/* Values */

static inline gboolean
has_bit (const guint8 *bits, guint64 i)
{
  return bits[i / 8] >> i % 8 & 1;
}

static gboolean
is_null (const SpdlArrowView *self, guint64 row)
{
  return self->leaf.layout == 'n' ||
         (self->outer && !has_bit (self->outer, self->outer_offset + row)) ||
         (self->validity && !has_bit (self->validity, self->offset + row));
}

gboolean
spdl_arrow_view_has_null (const SpdlArrowView *self, guint64 n_rows)
{
  if (!self->validity && !self->outer && self->leaf.layout != 'n')
    return FALSE;
  for (guint64 row = 0; row < n_rows; row++)
    if (is_null (self, row))
      return TRUE;
  return FALSE;
}

/* Buffers of a producer need no alignment. */
#define READ(type, at, i)                                                     \
  ({                                                                          \
    type value_;                                                              \
    memcpy (                                                                  \
        &value_, (const guint8 *) (at) + (i) * sizeof value_, sizeof value_); \
    value_;                                                                   \
  })

/* Reads an integer; an unsigned one above the range becomes negative. */
static gint64
read_integer (gchar layout, const guint8 *values, guint64 slot)
{
  switch (layout) {
    case 'c':
      return READ (gint8, values, slot);
    case 'C':
      return READ (guint8, values, slot);
    case 's':
      return READ (gint16, values, slot);
    case 'S':
      return READ (guint16, values, slot);
    case 'i':
      return READ (gint32, values, slot);
    case 'I':
      return READ (guint32, values, slot);
    case 'b':
      return has_bit (values, slot);
    default:
      return READ (gint64, values, slot);
  }
}

/* Finds the slot of a value, in the view or in its dictionary. */
static SpdlArrowResult
find_slot (const SpdlArrowView **view, guint64 row, guint64 *slot)
{
  const SpdlArrowView *self = *view;
  gint64 i;

  if (is_null (self, row))
    return SPDL_ARROW_NULL;
  *slot = self->offset + row;
  if (!self->dictionary)
    return SPDL_ARROW_VALUE;
  i = read_integer (self->leaf.index_layout, self->values, *slot);
  *view = self = self->dictionary;
  if (i < 0 || (guint64) i >= self->n_slots - self->offset)
    return SPDL_ARROW_BROKEN;
  if (is_null (self, i))
    return SPDL_ARROW_NULL;
  *slot = self->offset + i;
  return SPDL_ARROW_VALUE;
}

/* Finds bytes between two offsets. Those of the whole column grow, so the last
 * one is the size of the data. */
static gboolean
find_range (
    const SpdlArrowView *self, guint64 slot, const guint8 **data, gsize *size)
{
  const gboolean is_large = self->leaf.layout == 'Z';
  gint64 begin, end, last;

  if (is_large) {
    begin = READ (gint64, self->values, slot);
    end = READ (gint64, self->values, slot + 1);
    last = READ (gint64, self->values, self->n_slots);
  } else {
    begin = READ (gint32, self->values, slot);
    end = READ (gint32, self->values, slot + 1);
    last = READ (gint32, self->values, self->n_slots);
  }
  if (begin < 0 || begin > end || end > last || (!self->data && begin < end))
    return FALSE;
  *data = self->data ? self->data + begin : NULL;
  *size = end - begin;
  return TRUE;
}

/* Finds the bytes of a view: its length, and either the bytes or the first four
 * of them, a buffer and an offset. */
static gboolean
find_viewed (
    const SpdlArrowView *self, guint64 slot, const guint8 **data, gsize *size)
{
  const guint8 *at = self->values + slot * self->leaf.width;
  const gint32 length = READ (gint32, at, 0);
  const gint32 buffer = READ (gint32, at, 2);
  const gint32 offset = READ (gint32, at, 3);

  if (length < 0)
    return FALSE;
  *size = length;
  if (length <= INLINE_MAX) {
    *data = at + 4;
    return TRUE;
  }
  if (buffer < 0 || (guint64) buffer >= self->n_buffers || offset < 0 ||
      !self->buffers[buffer] ||
      (gint64) offset + length > READ (gint64, self->sizes, buffer))
    return FALSE;
  *data = (const guint8 *) self->buffers[buffer] + offset;
  return TRUE;
}

SpdlArrowResult
spdl_arrow_view_get_bytes (
    const SpdlArrowView *self, guint64 row, const guint8 **data, gsize *size)
{
  guint64 slot;
  const SpdlArrowResult result = find_slot (&self, row, &slot);
  gboolean found;

  if (result != SPDL_ARROW_VALUE)
    return result;
  if (self->leaf.layout == 'w') {
    *data = self->values ? self->values + slot * self->leaf.width : NULL;
    *size = self->leaf.width;
    return SPDL_ARROW_VALUE;
  }
  found = self->leaf.layout == 'v' ? find_viewed (self, slot, data, size)
                                   : find_range (self, slot, data, size);
  return found ? SPDL_ARROW_VALUE : SPDL_ARROW_BROKEN;
}

SpdlArrowResult
spdl_arrow_view_get_integer (
    const SpdlArrowView *self, guint64 row, gint64 *value)
{
  guint64 slot;
  const SpdlArrowResult result = find_slot (&self, row, &slot);

  if (result != SPDL_ARROW_VALUE)
    return result;
  *value = read_integer (self->leaf.layout, self->values, slot);
  return self->leaf.layout == 'L' && *value < 0 ? SPDL_ARROW_BROKEN
                                                : SPDL_ARROW_VALUE;
}

SpdlArrowResult
spdl_arrow_view_get_real (
    const SpdlArrowView *self, guint64 row, gdouble *value)
{
  guint64 slot;
  const SpdlArrowResult result = find_slot (&self, row, &slot);

  if (result != SPDL_ARROW_VALUE)
    return result;
  switch (self->leaf.layout) {
    case 'f':
      *value = READ (gfloat, self->values, slot);
      break;
    case 'g':
      *value = READ (gdouble, self->values, slot);
      break;
    case 'L':
      *value = READ (guint64, self->values, slot);
      break;
    default:
      *value = read_integer (self->leaf.layout, self->values, slot);
      break;
  }
  return SPDL_ARROW_VALUE;
}

/* The last offset of a column is not one of its slots. */
SpdlArrowResult
spdl_arrow_view_find_elements (
    const SpdlArrowView *self, gint64 n_elements, guint64 *begin, guint64 *end)
{
  const guint64 slot = self->offset;
  gint64 from, to;

  if (is_null (self, 0))
    return SPDL_ARROW_NULL;
  switch (self->leaf.layout) {
    case '{':
      from = slot;
      to = from + 1;
      break;
    case 'F':
      if (self->leaf.width > 0 && slot >= G_MAXINT64 / self->leaf.width)
        return SPDL_ARROW_BROKEN;
      from = slot * self->leaf.width;
      to = from + self->leaf.width;
      break;
    case 'M':
      from = READ (gint64, self->values, slot);
      to = READ (gint64, self->values, slot + 1);
      break;
    default:
      from = READ (gint32, self->values, slot);
      to = READ (gint32, self->values, slot + 1);
      break;
  }
  *begin = from;
  *end = to;
  return from >= 0 && from <= to && to <= n_elements ? SPDL_ARROW_VALUE
                                                     : SPDL_ARROW_BROKEN;
}

static SpdlArrowResult
get_text (const SpdlArrowView *self, guint64 row, GValue *value)
{
  const guint8 *data;
  gsize size;
  const SpdlArrowResult result =
      spdl_arrow_view_get_bytes (self, row, &data, &size);

  if (result != SPDL_ARROW_VALUE)
    return result;
  g_value_init (value, G_TYPE_STRING);
  g_value_take_string (
      value, size > 0 ? g_utf8_make_valid ((const gchar *) data, size)
                      : g_strdup (""));
  return result;
}

SpdlArrowResult
spdl_arrow_view_get_value (
    const SpdlArrowView *self, guint64 row, GValue *value)
{
  SpdlArrowResult result;
  gdouble real;
  guint64 slot;

  switch (self->leaf.kind) {
    case SPDL_ARROW_TEXT:
      return get_text (self, row, value);
    case SPDL_ARROW_REAL:
      result = spdl_arrow_view_get_real (self, row, &real);
      if (result == SPDL_ARROW_VALUE) {
        g_value_init (value, G_TYPE_DOUBLE);
        g_value_set_double (value, real);
      }
      return result;
    case SPDL_ARROW_INTEGER:
    case SPDL_ARROW_BOOLEAN:
      break;
    default:
      return SPDL_ARROW_NULL;
  }
  result = find_slot (&self, row, &slot);
  if (result != SPDL_ARROW_VALUE)
    return result;
  const gint64 number = read_integer (self->leaf.layout, self->values, slot);
  if (self->leaf.layout == 'b') {
    g_value_init (value, G_TYPE_BOOLEAN);
    g_value_set_boolean (value, number != 0);
  } else if (self->leaf.layout == 'L') {
    g_value_init (value, G_TYPE_UINT64);
    g_value_set_uint64 (value, number);
  } else {
    g_value_init (value, G_TYPE_INT64);
    g_value_set_int64 (value, number);
  }
  return result;
}
