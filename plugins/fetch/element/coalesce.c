/* gst-spdl: coalescing of neighboring byte ranges
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/element/coalesce.h"

#include <string.h>

#include <gst/spdl/spdl.h>

#include "gst/spdl/common/carried.h"
#include "plugins/fetch/element/join.h"

typedef struct {
  guint i; /* index in the group */
  gchar *uri;
  SpdlRange range;
  SpdlPacking packing;
} Item;

static void
clear_item (gpointer data)
{
  g_free (((Item *) data)->uri);
}

gchar *
spdl_coalesce_dup_uri (GstBuffer *item, GError **error)
{
  const GstSpdlItemMeta *meta = gst_spdl_buffer_get_item_meta (item);
  gsize size = gst_buffer_get_size (item);
  g_autofree gchar *uri = g_malloc (size + 1);

  gst_buffer_extract (item, 0, uri, size);
  /* A key in an object store may end in a newline. */
  if ((!meta || !meta->uri) && size > 0 && uri[size - 1] == '\n') {
    size--;
    size -= size > 0 && uri[size - 1] == '\r';
  }
  uri[size] = '\0';
  if (strlen (uri) == size)
    return g_steal_pointer (&uri);
  g_set_error_literal (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
      "The path or URI has a NUL byte, which no file name can contain");
  return NULL;
}

static gint
compare_ranges (gconstpointer a, gconstpointer b)
{
  const Item *x = a, *y = b;
  const gint order = strcmp (x->uri, y->uri);

  if (order != 0)
    return order;
  return x->range.first < y->range.first ? -1 : x->range.first > y->range.first;
}

/* Returns the items with bounded ranges, sorted by file and offset. */
static GArray *
sort_ranges (GstBufferList *group, guint64 max_size)
{
  GArray *items = g_array_new (FALSE, FALSE, sizeof (Item));

  g_array_set_clear_func (items, clear_item);
  for (guint i = 0; i < gst_buffer_list_length (group); i++) {
    GstBuffer *buffer = gst_buffer_list_get (group, i);
    Item item = { .i = i };

    if (gst_spdl_buffer_has_carried (buffer))
      continue; /* already has its content */
    item.uri = spdl_coalesce_dup_uri (buffer, NULL);
    if (item.uri && spdl_packing_split (item.uri, &item.packing, NULL) &&
        spdl_range_split (item.uri, &item.range, NULL) &&
        spdl_check_max_size (item.packing.size, max_size, NULL) &&
        !spdl_range_is_open (&item.range))
      g_array_append_val (items, item);
    else
      g_free (item.uri);
  }
  g_array_sort (items, compare_ranges);
  return items;
}

/* Returns whether @next can be added to the range @all. */
static gboolean
is_near (const Item *item, const SpdlRange *all, const Item *next, guint64 gap,
    guint64 max_size)
{
  const guint64 last = MAX (all->last, next->range.last);

  return strcmp (item->uri, next->uri) == 0 &&
         (next->range.first <= all->last ||
             next->range.first - all->last - 1 <= gap) &&
         (max_size == 0 || last - all->first < max_size);
}

static void
join_ranges (GstBufferList *group, const GArray *items, guint first, guint end,
    const SpdlRange *range)
{
  SpdlJoin *made =
      spdl_join_new (g_array_index (items, Item, first).uri, range);

  for (guint i = first; i < end; i++) {
    const Item *item = &g_array_index (items, Item, i);

    spdl_join_add_item (made, gst_buffer_list_get_writable (group, item->i),
        &item->range, &item->packing);
  }
  spdl_join_unref (made);
}

GstBufferList *
spdl_coalesce_group (GstBufferList *group, guint64 gap, guint64 max_size)
{
  g_autoptr (GArray) items = sort_ranges (group, max_size);

  for (guint first = 0, end; first < items->len; first = end) {
    const Item *item = &g_array_index (items, Item, first);
    SpdlRange range = item->range;

    for (end = first + 1; end < items->len; end++) {
      const Item *next = &g_array_index (items, Item, end);

      if (!is_near (item, &range, next, gap, max_size))
        break;
      range.last = MAX (range.last, next->range.last);
    }
    if (end - first < 2)
      continue;
    group = gst_buffer_list_make_writable (group);
    join_ranges (group, items, first, end, &range);
  }
  return group;
}
