/* gst-spdl: joined requests for neighboring byte ranges
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/element/coalesce.h"

#include <string.h>

#include "gst/spdl/common/carried.h"
#include "gst/spdl/engine/sync.h"
#include "plugins/fetch/element/fetch-private.h"

typedef enum {
  STATE_NEW,
  STATE_READING,
  STATE_DONE,
  STATE_FAILED,
} State;

struct _SpdlJoin {
  gint ref_count; /* atomic */
  gchar *uri;     /* without the range */
  SpdlRange range;

  SpdlMutex lock; /* protects the following fields: */
  State state;
  GstBuffer *content; /* nullable */
  GArray *waiters;    /* of SpdlJoinWaiter */
};

static GQuark
part_quark (void)
{
  return g_quark_from_static_string ("spdl-join-part");
}

static SpdlJoin *
join_new (const gchar *uri, const SpdlRange *range)
{
  SpdlJoin *self = g_new0 (SpdlJoin, 1);

  self->ref_count = 1;
  self->uri = g_strdup (uri);
  self->range = *range;
  self->waiters = g_array_new (FALSE, FALSE, sizeof (SpdlJoinWaiter));
  spdl_mutex_init (&self->lock);
  return self;
}

SpdlJoin *
spdl_join_ref (SpdlJoin *self)
{
  g_atomic_int_inc (&self->ref_count);
  return self;
}

void
spdl_join_unref (SpdlJoin *self)
{
  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;
  gst_clear_buffer (&self->content);
  g_array_unref (self->waiters);
  spdl_mutex_clear (&self->lock);
  g_free (self->uri);
  g_free (self);
}

gchar *
spdl_join_dup_uri (const SpdlJoin *self)
{
  return g_strdup_printf ("%s#bytes=%" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT,
      self->uri, self->range.first, self->range.last);
}

static void
free_part (gpointer data)
{
  SpdlJoinPart *part = data;

  spdl_join_unref (part->join);
  g_free (part);
}

const SpdlJoinPart *
spdl_join_find_part (GstBuffer *item)
{
  return gst_mini_object_get_qdata (GST_MINI_OBJECT_CAST (item), part_quark ());
}

SpdlJoinStatus
spdl_join_part_begin (const SpdlJoinPart *part, SpdlJoinWaiter waiter)
{
  SpdlJoin *self = part->join;
  SpdlJoinStatus status;

  spdl_mutex_lock (&self->lock);
  switch (self->state) {
    case STATE_DONE:
      status = SPDL_JOIN_DONE;
      break;
    case STATE_FAILED:
      status = SPDL_JOIN_FAILED;
      break;
    default:
      status = self->state == STATE_NEW ? SPDL_JOIN_BEGIN : SPDL_JOIN_WAIT;
      self->state = STATE_READING;
      g_array_append_val (self->waiters, waiter);
      break;
  }
  spdl_mutex_unlock (&self->lock);
  return status;
}

GArray *
spdl_join_end (SpdlJoin *self, GstBuffer *content)
{
  GArray *waiters = g_array_new (FALSE, FALSE, sizeof (SpdlJoinWaiter));
  GArray *ended;

  spdl_mutex_lock (&self->lock);
  self->state = content ? STATE_DONE : STATE_FAILED;
  self->content = content;
  ended = self->waiters;
  self->waiters = waiters;
  spdl_mutex_unlock (&self->lock);
  return ended;
}

GstBuffer *
spdl_join_part_dup_content (const SpdlJoinPart *part)
{
  const SpdlJoin *self = part->join;

  /* The content is written once, before any item is notified. */
  return gst_buffer_copy_region (self->content, GST_BUFFER_COPY_MEMORY,
      part->range.first - self->range.first,
      part->range.last - part->range.first + 1);
}

/* Groups */

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
    item.uri = gst_spdl_fetch_dup_uri (buffer, NULL);
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
  SpdlJoin *join = join_new (g_array_index (items, Item, first).uri, range);

  for (guint i = first; i < end; i++) {
    const Item *item = &g_array_index (items, Item, i);
    GstBuffer *buffer = gst_buffer_list_get_writable (group, item->i);
    SpdlJoinPart *part = g_new (SpdlJoinPart, 1);

    *part = (SpdlJoinPart){ spdl_join_ref (join), item->range, item->packing };
    gst_mini_object_set_qdata (
        GST_MINI_OBJECT_CAST (buffer), part_quark (), part, free_part);
  }
  spdl_join_unref (join);
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
