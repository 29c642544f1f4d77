/* gst-spdl: numbers in the lists and structures of Arrow columns
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/arrow/arrowlists.h"

#include <gst/gst.h>
#include <string.h>

/* Types */

/* Reads a list or a structure. */
static gboolean
read_outer (SpdlArrowLeaf *self, const gchar *format)
{
  guint64 width;

  if (g_str_equal (format, "+s"))
    *self = (SpdlArrowLeaf){ SPDL_ARROW_OTHER, '{' };
  else if (g_str_equal (format, "+l"))
    *self = (SpdlArrowLeaf){ SPDL_ARROW_LIST, '+', 4 };
  else if (g_str_equal (format, "+L"))
    *self = (SpdlArrowLeaf){ SPDL_ARROW_LIST, 'M', 8 };
  else if (g_str_has_prefix (format, "+w:") &&
           g_ascii_string_to_unsigned (
               format + 3, 10, 0, G_MAXINT32, &width, NULL))
    *self = (SpdlArrowLeaf){ SPDL_ARROW_LIST, 'F', width };
  else
    return FALSE;
  return TRUE;
}

static gboolean find_levels (SpdlArrowLists *self, guint level,
    const struct ArrowSchema *schema, const gchar *name);

/* Finds a member whose name is the first @length bytes of @name. */
static gboolean
find_member (SpdlArrowLists *self, guint level,
    const struct ArrowSchema *schema, const gchar *name, gsize length)
{
  const gchar *rest = name + length + (name[length] == '.');

  for (gint64 i = 0; i < schema->n_children; i++) {
    const struct ArrowSchema *child = schema->children[i];

    if (!child || !child->name || strlen (child->name) != length ||
        memcmp (child->name, name, length) != 0)
      continue;
    self->levels[level].child = i;
    if (level == 0)
      self->column = i;
    return find_levels (self, level + 1, child, rest);
  }
  return FALSE;
}

/* Finds the member that the longest part of @name is the name of, so that names
 * may have dots. */
static gboolean
find_members (SpdlArrowLists *self, guint level,
    const struct ArrowSchema *schema, const gchar *name)
{
  for (gsize length = strlen (name); length > 0; length--)
    if ((name[length] == '\0' || name[length] == '.') &&
        find_member (self, level, schema, name, length))
      return TRUE;
  return FALSE;
}

/* @name: of a member within @schema; "": @schema itself */
static gboolean
find_levels (SpdlArrowLists *self, guint level,
    const struct ArrowSchema *schema, const gchar *name)
{
  SpdlArrowLeaf *leaf = &self->levels[level].leaf;

  if (level == SPDL_ARROW_MAX_LEVELS || !schema->format)
    return FALSE;
  self->levels[level].child = 0;
  if (schema->dictionary || !read_outer (leaf, schema->format)) {
    *leaf = spdl_arrow_leaf_read (schema);
    self->n_levels = level + 1;
    self->n_lists = 0;
    for (guint i = 0; i < level; i++)
      self->n_lists += self->levels[i].leaf.kind == SPDL_ARROW_LIST;
    return *name == '\0' && self->n_lists > 0 && !leaf->index_layout &&
           (leaf->kind == SPDL_ARROW_INTEGER || leaf->kind == SPDL_ARROW_REAL ||
               leaf->kind == SPDL_ARROW_BOOLEAN ||
               leaf->kind == SPDL_ARROW_NOTHING);
  }
  if (schema->n_children < 1 || !schema->children)
    return FALSE;
  if (leaf->kind != SPDL_ARROW_LIST)
    return find_members (self, level, schema, name);
  return schema->n_children == 1 && schema->children[0] &&
         find_levels (self, level + 1, schema->children[0], name);
}

gboolean
spdl_arrow_lists_find (
    SpdlArrowLists *self, const struct ArrowSchema *table, const gchar *name)
{
  *self = (SpdlArrowLists){ G_MAXUINT };
  return table && find_levels (self, 0, table, name);
}

const gchar *
spdl_arrow_lists_get_token_type (const SpdlArrowLists *self)
{
  const gboolean is_flat =
      self->n_levels == 3 && self->levels[1].leaf.kind == SPDL_ARROW_LIST;

  switch (is_flat ? self->levels[2].leaf.layout : '\0') {
    case 'C':
      return "uint8";
    case 'S':
      return "uint16";
    case 'i':
      return "int32";
    case 'I':
      return "uint32";
    case 'l':
      return "int64";
    default:
      return NULL;
  }
}

/* Values */

/* Gets a number that is not null and that a double represents exactly. */
static gboolean
get_exact (const SpdlArrowView *self, guint64 row, gdouble *number)
{
  const gint64 limit = G_GINT64_CONSTANT (1) << 53;
  gint64 integer = 0;

  if (self->leaf.kind == SPDL_ARROW_INTEGER &&
      (spdl_arrow_view_get_integer (self, row, &integer) != SPDL_ARROW_VALUE ||
          integer > limit || integer < -limit))
    return FALSE;
  return spdl_arrow_view_get_real (self, row, number) == SPDL_ARROW_VALUE;
}

/* Appends the numbers of slots to an array. */
static SpdlArrowResult
get_numbers (const SpdlArrowLevel *level, const struct ArrowArray *array,
    guint64 begin, guint64 n, GValue *value)
{
  SpdlArrowView view = { { SPDL_ARROW_OTHER } };
  g_autofree gchar *problem =
      spdl_arrow_view_init_leaf (&view, &level->leaf, array, begin, n);

  if (problem)
    return SPDL_ARROW_BROKEN;
  for (guint64 i = 0; i < n; i++) {
    GValue element = G_VALUE_INIT;
    gdouble number = 0;

    if (!get_exact (&view, i, &number))
      return SPDL_ARROW_NULL;
    g_value_init (&element, G_TYPE_DOUBLE);
    g_value_set_double (&element, number);
    gst_value_array_append_and_take_value (value, &element);
  }
  return SPDL_ARROW_VALUE;
}

static SpdlArrowResult get_level (const SpdlArrowLevel *level,
    const struct ArrowArray *array, guint64 slot, GValue *value);

static SpdlArrowResult
get_elements (const SpdlArrowLevel *level, const struct ArrowArray *array,
    guint64 begin, guint64 n, GValue *value)
{
  SpdlArrowResult result = SPDL_ARROW_VALUE;

  if (level->leaf.kind != SPDL_ARROW_LIST && level->leaf.layout != '{')
    return get_numbers (level, array, begin, n, value);
  for (guint64 i = 0; i < n && result == SPDL_ARROW_VALUE; i++) {
    GValue element = G_VALUE_INIT;

    result = get_level (level, array, begin + i, &element);
    if (result == SPDL_ARROW_VALUE)
      gst_value_array_append_and_take_value (value, &element);
  }
  return result;
}

/* Gets a number in a structure. */
static SpdlArrowResult
get_number (const SpdlArrowLevel *level, const struct ArrowArray *array,
    guint64 slot, GValue *value)
{
  SpdlArrowView view = { { SPDL_ARROW_OTHER } };
  gdouble number = 0;
  g_autofree gchar *problem =
      spdl_arrow_view_init_leaf (&view, &level->leaf, array, slot, 1);

  if (problem)
    return SPDL_ARROW_BROKEN;
  if (!get_exact (&view, 0, &number))
    return SPDL_ARROW_NULL;
  g_value_init (value, G_TYPE_DOUBLE);
  g_value_set_double (value, number);
  return SPDL_ARROW_VALUE;
}

/* @slot: of the array, before its offset is added */
static SpdlArrowResult
get_level (const SpdlArrowLevel *level, const struct ArrowArray *array,
    guint64 slot, GValue *value)
{
  const gboolean is_list = level->leaf.kind == SPDL_ARROW_LIST;
  SpdlArrowView view = { { SPDL_ARROW_OTHER } };
  g_autofree gchar *problem = NULL;
  SpdlArrowResult result;
  guint64 begin, end;

  if (!is_list && level->leaf.layout != '{')
    return get_number (level, array, slot, value);
  problem = spdl_arrow_view_init_leaf (&view, &level->leaf, array, slot, 1);
  if (problem || array->n_children <= level->child || !array->children ||
      !array->children[level->child])
    return SPDL_ARROW_BROKEN;
  array = array->children[level->child];
  result = spdl_arrow_view_find_elements (&view, array->length, &begin, &end);
  if (result != SPDL_ARROW_VALUE || !is_list)
    return result != SPDL_ARROW_VALUE
               ? result
               : get_level (level + 1, array, begin, value);
  gst_value_array_init (value, end - begin);
  result = get_elements (level + 1, array, begin, end - begin, value);
  if (result != SPDL_ARROW_VALUE)
    g_value_unset (value);
  return result;
}

SpdlArrowResult
spdl_arrow_lists_get (const SpdlArrowLists *self,
    const struct ArrowArray *table, guint64 row, GValue *value)
{
  return get_level (&self->levels[1], table->children[self->column],
      table->offset + row, value);
}

SpdlArrowResult
spdl_arrow_lists_get_bytes (const SpdlArrowLists *self,
    const struct ArrowArray *table, guint64 row, const guint8 **data,
    gsize *size)
{
  const struct ArrowArray *array = table->children[self->column];
  const SpdlArrowLeaf *leaf = &self->levels[2].leaf;
  SpdlArrowView list = { { SPDL_ARROW_OTHER } }, view = list;
  g_autofree gchar *problem = NULL;
  SpdlArrowResult result;
  guint64 begin, end;

  *data = NULL;
  *size = 0;
  if (!array || array->n_children < 1 || !array->children ||
      !array->children[0] ||
      (problem = spdl_arrow_view_init_leaf (
           &list, &self->levels[1].leaf, array, table->offset + row, 1)))
    return SPDL_ARROW_BROKEN;
  array = array->children[0];
  result = spdl_arrow_view_find_elements (&list, array->length, &begin, &end);
  if (result != SPDL_ARROW_VALUE || begin == end)
    return result;
  problem = spdl_arrow_view_init_leaf (&view, leaf, array, begin, end - begin);
  if (problem)
    return SPDL_ARROW_BROKEN;
  *data = view.values + view.offset * leaf->width;
  *size = (end - begin) * leaf->width;
  return spdl_arrow_view_has_null (&view, end - begin) ? SPDL_ARROW_NULL
                                                       : SPDL_ARROW_VALUE;
}
