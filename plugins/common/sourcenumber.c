/* gst-spdl: number of a source in its pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/common/sourcenumber.h"

static GstBin *
find_top (GstElement *source)
{
  GstObject *top = gst_object_ref (GST_OBJECT (source)), *parent;

  while ((parent = gst_object_get_parent (top))) {
    gst_object_unref (top);
    top = parent;
  }
  if (GST_IS_BIN (top))
    return GST_BIN (top);
  gst_object_unref (top);
  return NULL;
}

/* Lists the children of a bin in the order in which they were added; GStreamer
 * lists the last one first. */
static GList *
list_children (GstBin *bin)
{
  GList *children;

  GST_OBJECT_LOCK (bin);
  children = g_list_copy_deep (
      bin->children, (GCopyFunc) (void (*) (void)) gst_object_ref, NULL);
  GST_OBJECT_UNLOCK (bin);
  return g_list_reverse (children);
}

/* Counts in @n the sources before @source; returns TRUE if @source was found.
 */
static gboolean
count_before (GstBin *bin, GstElement *source, guint32 *n)
{
  GList *children = list_children (bin);
  gboolean found = FALSE;

  for (GList *l = children; l && !found; l = l->next) {
    if (l->data == source)
      found = TRUE;
    else if (GST_IS_BIN (l->data))
      found = count_before (l->data, source, n);
    else if (G_OBJECT_TYPE (l->data) == G_OBJECT_TYPE (source))
      ++*n;
  }
  g_list_free_full (children, gst_object_unref);
  return found;
}

guint32
spdl_source_number_find (GstElement *source)
{
  GstBin *top = find_top (source);
  guint32 n = 0;

  if (!top)
    return 0;
  count_before (top, source, &n);
  gst_object_unref (top);
  return n;
}
