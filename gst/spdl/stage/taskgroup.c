/* gst-spdl: a group that is worked on whole
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/stage/task-private.h"

#include "gst/spdl/gstspdlbatchmeta.h"

/* What became of the items of a group, found by which item they are. */
typedef struct {
  const GstSpdlItemMeta *meta; /* the item's own */
  guint n_results;
  guint n_numbered;
} Fate;

/**
 * gst_spdl_task_dup_group:
 * @task: a task
 *
 * Returns: (transfer full): the items of @task's group, or its only item
 *
 * Since: 0.1
 */
GstBufferList *
gst_spdl_task_dup_group (GstSpdlTask *task)
{
  GstBufferList *list;

  g_return_val_if_fail (task != NULL, NULL);

  list = gst_buffer_list_new_sized (task->items->len);
  for (guint i = 0; i < task->items->len; i++)
    gst_buffer_list_add (
        list, gst_buffer_ref (g_ptr_array_index (task->items, i)));
  return list;
}

static guint
hash_meta (gconstpointer key)
{
  const GstSpdlItemMeta *meta = key;

  return meta->sequence * 31 + meta->epoch * 7 + meta->source;
}

static gboolean
same_meta (gconstpointer a, gconstpointer b)
{
  const GstSpdlItemMeta *x = a, *y = b;

  return x->sequence == y->sequence && x->epoch == y->epoch &&
         x->source == y->source;
}

static void
count_result (GHashTable *fates, const GstSpdlItemMeta *meta)
{
  Fate *fate = g_hash_table_lookup (fates, meta);

  if (fate)
    fate->n_results++;
}

static void
count_results (GHashTable *fates, GstBuffer *result)
{
  const GstSpdlItemMeta *item = gst_spdl_buffer_get_item_meta (result);
  const GstSpdlBatchMeta *batch = gst_spdl_buffer_get_batch_meta (result);

  if (item)
    count_result (fates, item);
  for (guint i = 0; !item && batch && i < batch->num_items; i++)
    count_result (fates, &batch->items[i]);
}

/* An item that became several says so in each. */
static void
number_result (GHashTable *fates, GstBuffer **result)
{
  GstSpdlItemMeta *item = gst_spdl_buffer_get_item_meta (*result);
  Fate *fate = item ? g_hash_table_lookup (fates, item) : NULL;

  if (!fate || fate->n_results < 2)
    return;
  *result = gst_buffer_make_writable (*result);
  item = gst_spdl_buffer_get_item_meta (*result);
  item->part = fate->n_numbered++;
  item->parts = fate->n_results;
}

guint
gst_spdl_task_adopt_group (GstSpdlTask *self)
{
  const guint n = self->items->len;
  g_autoptr (GHashTable) fates = g_hash_table_new (hash_meta, same_meta);
  g_autofree Fate *all = g_new0 (Fate, n);
  guint n_filtered = 0;

  for (guint i = 0; i < n; i++) {
    all[i].meta =
        gst_spdl_buffer_get_item_meta (g_ptr_array_index (self->items, i));
    if (all[i].meta)
      g_hash_table_insert (fates, (gpointer) all[i].meta, &all[i]);
  }
  for (guint i = 0; i < self->results->len; i++)
    count_results (
        fates, g_array_index (self->results, GstSpdlResult, i).buffer);
  for (guint i = 0; i < self->results->len; i++)
    number_result (
        fates, &g_array_index (self->results, GstSpdlResult, i).buffer);
  for (guint i = 0; i < n; i++) {
    if (all[i].n_results > 0 || !all[i].meta)
      continue;
    gst_spdl_gone_add (&self->gone, all[i].meta, GST_SPDL_GONE_FILTERED);
    n_filtered++;
  }
  return n_filtered;
}
