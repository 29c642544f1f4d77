/* gst-spdl-launch: list of the elements in a pipeline, and their settings
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/run/parts.h"

#include <gio/gio.h>
#include <gst/spdl/spdl.h>

#include <string.h>

static void
part_free (gpointer data)
{
  Part *part = data;

  gst_object_unref (part->element);
  g_free (part->name);
  g_clear_pointer (&part->interval, gst_structure_free);
  g_clear_pointer (&part->total, gst_structure_free);
  g_free (part);
}

static gboolean
has_property (GstElement *element, const gchar *name)
{
  return g_object_class_find_property (G_OBJECT_GET_CLASS (element), name) !=
         NULL;
}

static Part *
part_new (GstElement *element)
{
  Part *part = g_new0 (Part, 1);

  part->element = gst_object_ref (element);
  part->name = gst_object_get_name (GST_OBJECT (element));
  part->has_stats = has_property (element, "stage-stats");
  return part;
}

/* Returns whether @name is a default name: the factory name and a number. */
static gboolean
is_default_name (const gchar *name, const gchar *kind)
{
  if (!g_str_has_prefix (name, kind))
    return FALSE;
  name += strlen (kind);
  return *name != 0 && strspn (name, "0123456789") == strlen (name);
}

/* Returns `decode` for `spdldecode0`, or NULL if the user set the name. */
static gchar *
shorten_name (const Part *part)
{
  GstElementFactory *factory = gst_element_get_factory (part->element);
  const gchar *kind = factory ? GST_OBJECT_NAME (factory) : NULL;

  if (!kind || !is_default_name (part->name, kind))
    return NULL;
  return g_strdup (g_str_has_prefix (kind, "spdl") ? kind + 4 : kind);
}

/* Finds an element by display name or element name. */
static Part *
find_part (GPtrArray *parts, const gchar *name)
{
  for (guint i = 0; i < parts->len; i++) {
    Part *part = g_ptr_array_index (parts, i);

    if (g_str_equal (part->name, name) ||
        g_strcmp0 (GST_OBJECT_NAME (part->element), name) == 0)
      return part;
  }
  return NULL;
}

/* Numbers elements of the same kind: the second one is `decode2`. GStreamer's
 * numbers continue from one pipeline to the next. */
static void
shorten_names (GPtrArray *parts)
{
  for (guint i = 0; i < parts->len; i++) {
    Part *part = g_ptr_array_index (parts, i);
    g_autofree gchar *shorter = shorten_name (part);
    gchar *name = g_strdup (shorter);

    for (guint n = 2; name && find_part (parts, name); n++) {
      g_free (name);
      name = g_strdup_printf ("%s%u", shorter, n);
    }
    if (name) {
      g_free (part->name);
      part->name = name;
    }
  }
}

static GList *list_elements (GstBin *bin);

/* Prepends the element, or the elements of a bin that the user wrote. Those in
 * a bin that a factory makes, such as decodebin, are not listed. */
static void
prepend_element (const GValue *item, gpointer user_data)
{
  GstElement *element = g_value_get_object (item);
  GList **elements = user_data;

  if (G_OBJECT_TYPE (element) == GST_TYPE_BIN)
    *elements = g_list_concat (list_elements (GST_BIN (element)), *elements);
  else
    *elements = g_list_prepend (*elements, gst_object_ref (element));
}

/* Returns (transfer full) the elements from the sources to the sinks. */
static GList *
list_elements (GstBin *bin)
{
  /* The iterator starts at the sinks. */
  GstIterator *it = gst_bin_iterate_sorted (bin);
  GList *elements = NULL;

  while (gst_iterator_foreach (it, prepend_element, &elements) ==
         GST_ITERATOR_RESYNC) {
    g_list_free_full (g_steal_pointer (&elements), gst_object_unref);
    gst_iterator_resync (it);
  }
  gst_iterator_free (it);
  return elements;
}

GPtrArray *
parts_new (GstElement *pipeline)
{
  GPtrArray *parts = g_ptr_array_new_with_free_func (part_free);
  GList *elements = GST_IS_BIN (pipeline)
                        ? list_elements (GST_BIN (pipeline))
                        : g_list_prepend (NULL, gst_object_ref (pipeline));

  for (GList *l = elements; l; l = l->next)
    g_ptr_array_add (parts, part_new (l->data));
  g_list_free_full (elements, gst_object_unref);
  shorten_names (parts);
  return parts;
}

Part *
parts_find_element (GPtrArray *parts, GstObject *element)
{
  for (guint i = 0; i < parts->len; i++) {
    Part *part = g_ptr_array_index (parts, i);

    if (GST_OBJECT (part->element) == element)
      return part;
  }
  return NULL;
}

void
parts_set_interval (GPtrArray *parts, guint64 interval)
{
  for (guint i = 0; i < parts->len; i++) {
    Part *part = g_ptr_array_index (parts, i);

    if (part->has_stats)
      g_object_set (part->element, "stats-interval", interval, NULL);
  }
}

/* Returns whether the element has the properties of a source with epochs. */
static gboolean
has_epochs (const Part *part)
{
  return has_property (part->element, "num-items") &&
         has_property (part->element, "epochs");
}

guint64
parts_count_expected (GPtrArray *parts)
{
  guint64 sum = 0;

  for (guint i = 0; i < parts->len; i++) {
    const Part *part = g_ptr_array_index (parts, i);
    guint64 n = 0;
    gint64 epochs = 1;

    if (!has_epochs (part))
      continue;
    g_object_get (part->element, "num-items", &n, "epochs", &epochs, NULL);
    if (epochs < 0 || n == 0 || n == GST_SPDL_ITEMS_UNKNOWN)
      return 0;
    sum += n * epochs;
  }
  return sum;
}

void
parts_repeat (GPtrArray *parts)
{
  for (guint i = 0; i < parts->len; i++) {
    const Part *part = g_ptr_array_index (parts, i);

    if (has_epochs (part))
      g_object_set (part->element, "epochs", (gint64) -1, NULL);
  }
}

GstStructure *
part_copy_structure (const Part *part, const GstStructure *stats)
{
  GstStructure *copy = gst_structure_copy (stats);

  gst_structure_set (copy, "stage", G_TYPE_STRING, part->name, NULL);
  return copy;
}

void
part_take_interval (Part *part, const GstStructure *stats)
{
  g_clear_pointer (&part->interval, gst_structure_free);
  part->interval = part_copy_structure (part, stats);
}

void
parts_take_totals (GPtrArray *parts)
{
  for (guint i = 0; i < parts->len; i++) {
    Part *part = g_ptr_array_index (parts, i);
    GstStructure *stats = NULL;

    if (!part->has_stats)
      continue;
    g_object_get (part->element, "stage-stats", &stats, NULL);
    if (!stats)
      continue;
    g_clear_pointer (&part->total, gst_structure_free);
    part->total = part_copy_structure (part, stats);
    gst_structure_free (stats);
  }
}

const GstStructure *
part_get_stats (const Part *part, gboolean interval)
{
  return interval && part->interval ? part->interval : part->total;
}

/* Settings of the form ELEMENT.PROPERTY=VALUE */

gboolean
setting_split (const gchar *text, gchar **element, gchar **property,
    gchar **value, GError **error)
{
  const gchar *equals = strchr (text, '=');
  const gchar *dot = equals ? g_strrstr_len (text, equals - text, ".") : NULL;

  if (!dot || dot == text || equals == dot + 1) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        "\"%.*s%s\" is not ELEMENT.PROPERTY=VALUE",
        (int) (equals ? equals + 1 - text : (gssize) strlen (text)), text,
        equals ? "..." : "");
    return FALSE;
  }
  *element = g_strndup (text, dot - text);
  *property = g_strndup (dot + 1, equals - dot - 1);
  *value = g_strdup (equals + 1);
  return TRUE;
}

static gboolean
set_property (Part *part, const gchar *name, const gchar *text, GError **error)
{
  GParamSpec *pspec =
      g_object_class_find_property (G_OBJECT_GET_CLASS (part->element), name);
  GValue value = G_VALUE_INIT;

  if (!pspec || !(pspec->flags & G_PARAM_WRITABLE)) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        "%s has no writable property \"%s\"", part->name, name);
    return FALSE;
  }
  g_value_init (&value, pspec->value_type);
  if (!gst_value_deserialize_with_pspec (&value, text, pspec) ||
      (g_param_value_validate (pspec, &value) &&
          !(pspec->flags & G_PARAM_LAX_VALIDATION))) {
    g_value_unset (&value);
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        "\"%s\" is not a value of %s.%s",
        g_str_equal (name, "extra-headers") ? "***" : text, part->name, name);
    return FALSE;
  }
  g_object_set_property (G_OBJECT (part->element), name, &value);
  g_value_unset (&value);
  return TRUE;
}

Part *
setting_find_element (const gchar *element, GPtrArray *parts, GError **error)
{
  Part *part = find_part (parts, element);
  g_autoptr (GString) names = NULL;

  if (part)
    return part;
  names = g_string_new (NULL);
  for (guint i = 0; i < parts->len; i++)
    g_string_append_printf (names, "%s%s", i > 0 ? ", " : "",
        ((const Part *) g_ptr_array_index (parts, i))->name);
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
      "the pipeline has no element \"%s\"; it has: %s", element, names->str);
  return NULL;
}

gboolean
setting_apply (const gchar *text, GPtrArray *parts, GError **error)
{
  g_autofree gchar *element = NULL, *property = NULL, *value = NULL;
  Part *part;

  return setting_split (text, &element, &property, &value, error) &&
         (part = setting_find_element (element, parts, error)) &&
         set_property (part, property, value, error);
}
