/* gst-spdl: elements of other projects in a diagnosis
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/diagnose/foreign.h"

static gboolean
only_forwards (GstElement *element)
{
  static const gchar *factories[] = { "queue", "queue2", "multiqueue",
    "capsfilter", "tee", "funnel", NULL };
  GstElementFactory *factory = gst_element_get_factory (element);

  return factory && g_strv_contains (factories, GST_OBJECT_NAME (factory));
}

/* Adds the thread count of an element that is not from gst-spdl, if it has a
 * property for it. */
static void
add_threads (GstStructure *stats, GstElement *element)
{
  static const gchar *properties[] = { "n-threads", "max-threads" };

  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    GValue value = G_VALUE_INIT;
    gint n = 0;

    if (!g_object_class_find_property (
            G_OBJECT_GET_CLASS (element), properties[i]))
      continue;
    g_value_init (&value, G_TYPE_INT);
    g_object_get_property (G_OBJECT (element), properties[i], &value);
    n = g_value_get_int (&value);
    g_value_unset (&value);
    /* 0: chosen automatically. */
    if (n > 0)
      gst_structure_set (stats, "threads-property", G_TYPE_STRING,
          properties[i], "threads", G_TYPE_UINT, (guint) n, NULL);
    return;
  }
}

GstStructure *
gst_spdl_make_foreign_stats (GstElement *element, const gchar *name)
{
  GstStructure *s;

  if (only_forwards (element))
    return NULL;
  s = gst_structure_new ("foreign", "stage", G_TYPE_STRING, name, NULL);
  add_threads (s, element);
  return s;
}
