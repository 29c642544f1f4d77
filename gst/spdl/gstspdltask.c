/* gst-spdl: task of a stage
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/gstspdltask.h"

#include <string.h>

#include "gst/spdl/common/bufferitems.h"
#include "gst/spdl/gstspdlbatchmeta.h"
#include "gst/spdl/stage/stage-private.h"
#include "gst/spdl/common/carried.h"
#include "gst/spdl/gstspdlitemmeta.h"
#include "gst/spdl/gstspdlpartsmeta.h"

/* Timestamps, flags and metas that a result keeps */

/* The flags that do not depend on the media type, without those about memory
 * and about references between encoded frames. */
#define FLAGS                                                 \
  ((GST_BUFFER_FLAG_LAST - 1) & ~(GST_BUFFER_FLAG_LIVE - 1) & \
      ~(GST_BUFFER_FLAG_TAG_MEMORY | GST_BUFFER_FLAG_DELTA_UNIT))

/* Returns TRUE if a meta describes the item, whatever its bytes become. Tasks
 * give results the metas of gst-spdl. */
static gboolean
is_inherited (const GstMeta *meta)
{
  const GType api = meta->info->api;
  const gchar *const *tags;

  if (api == GST_SPDL_ITEM_META_API_TYPE ||
      api == GST_SPDL_BATCH_META_API_TYPE ||
      api == GST_SPDL_PARTS_META_API_TYPE ||
      api == gst_spdl_carried_meta_api_get_type ())
    return FALSE;
  tags = gst_meta_api_type_get_tags (api);
  return meta->info->transform_func && (!tags || !tags[0]) &&
         !GST_META_FLAG_IS_SET (meta, GST_META_FLAG_POOLED);
}

static gboolean
has_inherited_meta (GstBuffer *item)
{
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta (item, &state)))
    if (is_inherited (meta))
      return TRUE;
  return FALSE;
}

/* Returns TRUE if @item has timestamps, flags or metas that its results get. An
 * item of `spdlsrc` has none. */
static gboolean
has_heritage (GstBuffer *item)
{
  return GST_BUFFER_PTS_IS_VALID (item) || GST_BUFFER_DTS_IS_VALID (item) ||
         GST_BUFFER_DURATION_IS_VALID (item) ||
         GST_BUFFER_OFFSET_IS_VALID (item) ||
         GST_BUFFER_OFFSET_END_IS_VALID (item) ||
         (GST_BUFFER_FLAGS (item) & FLAGS) || has_inherited_meta (item);
}

static void
inherit_timestamps (GstBuffer *result, GstBuffer *item, guint n)
{
  if (!GST_BUFFER_PTS_IS_VALID (result) && !GST_BUFFER_DTS_IS_VALID (result)) {
    GST_BUFFER_PTS (result) = GST_BUFFER_PTS (item);
    GST_BUFFER_DTS (result) = GST_BUFFER_DTS (item);
  }
  if (n > 1)
    return;
  if (!GST_BUFFER_DURATION_IS_VALID (result))
    GST_BUFFER_DURATION (result) = GST_BUFFER_DURATION (item);
  if (!GST_BUFFER_OFFSET_IS_VALID (result) &&
      !GST_BUFFER_OFFSET_END_IS_VALID (result)) {
    GST_BUFFER_OFFSET (result) = GST_BUFFER_OFFSET (item);
    GST_BUFFER_OFFSET_END (result) = GST_BUFFER_OFFSET_END (item);
  }
}

/* A buffer may have several metas of one kind, which are copied together. */
static void
inherit_metas (GstBuffer *result, GstBuffer *item)
{
  GstMetaTransformCopy copy = { FALSE, 0, -1 };
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta (item, &state))) {
    const GType api = meta->info->api;

    if (is_inherited (meta) &&
        gst_buffer_get_n_meta (result, api) < gst_buffer_get_n_meta (item, api))
      meta->info->transform_func (
          result, meta, item, _gst_meta_transform_copy, &copy);
  }
}

/* Gives @result (transfer full) the timestamps, offsets, flags and metas of
 * @item that it lacks, as GstVideoDecoder does. Metas whose tags say that they
 * describe the memory, the size or the format of @item are not copied, nor
 * those of gst-spdl.
 *
 * @n: number of results of @item: with several, duration and offsets of none
 *     are known, and only the @i-th with @i = 0 has the timestamps
 *
 * Returns: (transfer full): @result, or a copy of it */
static GstBuffer *
inherit (GstBuffer *result, GstBuffer *item, guint i, guint n)
{
  if (result == item || !has_heritage (item))
    return result;
  result = gst_buffer_make_writable (result);
  if (i == 0) {
    inherit_timestamps (result, item, n);
    GST_BUFFER_FLAG_SET (result, GST_BUFFER_FLAGS (item) & FLAGS);
  }
  inherit_metas (result, item);
  return result;
}

static void
clear_result (gpointer data)
{
  GstSpdlResult *result = data;

  gst_clear_buffer (&result->buffer);
  gst_clear_caps (&result->caps);
}

static void
clear_item (gpointer data)
{
  if (data)
    gst_buffer_unref (data);
}

GstSpdlTask *
gst_spdl_task_new (void)
{
  GstSpdlTask *self = g_new0 (GstSpdlTask, 1);

  self->items = g_ptr_array_new_with_free_func (clear_item);
  self->parts = g_ptr_array_new ();
  self->results = g_array_new (FALSE, FALSE, sizeof (GstSpdlResult));
  g_array_set_clear_func (self->results, clear_result);
  gst_spdl_dropped_items_init (&self->dropped_items);
  return self;
}

static void
forget_taken (GstSpdlTask *self)
{
  gst_clear_buffer (&self->taken);
  if (self->has_taken_meta)
    gst_spdl_item_meta_unassign (&self->taken_meta);
  self->has_taken_meta = FALSE;
}

void
gst_spdl_task_reset (GstSpdlTask *self)
{
  forget_taken (self);
  gst_clear_event (&self->event);
  gst_clear_caps (&self->caps);
  g_ptr_array_set_size (self->items, 0);
  g_array_set_size (self->results, 0);
  gst_spdl_dropped_items_reset (&self->dropped_items);
  if (G_UNLIKELY (self->failures))
    g_clear_pointer (&self->failures, g_ptr_array_unref);
  g_assert (self->parts->len == 0);
  memset (&self->task, 0, sizeof self->task);
}

void
gst_spdl_task_free (GstSpdlTask *self)
{
  gst_spdl_task_reset (self);
  g_ptr_array_unref (self->items);
  g_ptr_array_unref (self->parts);
  g_array_unref (self->results);
  gst_spdl_dropped_items_clear (&self->dropped_items);
  g_free (self);
}

/* Entries for reuse */

/* Takes all recycled entries at once, so that no entry can come back between
 * reading the first one and removing it. */
GstSpdlTask *
gst_spdl_task_store_take (GstSpdlTaskStore *self)
{
  GstSpdlTask *task;

  if (!self->unused)
    self->unused = g_atomic_pointer_exchange (&self->spare, NULL);
  if (!self->unused)
    return gst_spdl_task_new ();
  task = self->unused;
  self->unused = task->next_free;
  return task;
}

void
gst_spdl_task_store_put (GstSpdlTaskStore *self, GstSpdlTask *task)
{
  GstSpdlTask *head;

  for (guint i = 0; i < task->parts->len; i++)
    gst_spdl_task_store_put (self, g_ptr_array_index (task->parts, i));
  g_ptr_array_set_size (task->parts, 0);
  gst_spdl_task_reset (task);
  head = g_atomic_pointer_get (&self->spare);
  do
    task->next_free = head;
  while (!g_atomic_pointer_compare_and_exchange_full (
      &self->spare, head, task, &head));
}

static void
free_chain (GstSpdlTask *task)
{
  for (GstSpdlTask *next; task; task = next) {
    next = task->next_free;
    gst_spdl_task_free (task);
  }
}

void
gst_spdl_task_store_clear (GstSpdlTaskStore *self)
{
  free_chain (g_steal_pointer (&self->unused));
  free_chain (g_atomic_pointer_exchange (&self->spare, NULL));
}

/* Content */

static void
add_item (GstSpdlTask *self, GstBuffer *item)
{
  g_ptr_array_add (self->items, item);
  self->task.entry.bytes += gst_buffer_get_size (item);
}

void
gst_spdl_task_set_item (GstSpdlTask *self, GstBuffer *item)
{
  self->is_group = FALSE;
  add_item (self, item);
}

void
gst_spdl_task_set_group (GstSpdlTask *self, GstBufferList *list)
{
  const guint n = gst_buffer_list_length (list);

  self->is_group = TRUE;
  for (guint i = 0; i < n; i++)
    add_item (self, gst_buffer_ref (gst_buffer_list_get (list, i)));
  /* If no other references exist, the items become writable. */
  gst_buffer_list_unref (list);
}

void
gst_spdl_task_add_part (GstSpdlTask *self, GstSpdlTask *part)
{
  g_ptr_array_add (self->parts, part);
  self->task.entry.bytes += part->task.entry.bytes;
  self->task.parts = (SpdlTask **) self->parts->pdata;
  self->task.n_parts = self->parts->len;
}

void
gst_spdl_task_gather_parts (GstSpdlTask *self)
{
  for (guint i = 0; i < self->parts->len; i++) {
    GstSpdlTask *part = g_ptr_array_index (self->parts, i);
    const guint n = part->results->len;

    gst_spdl_dropped_items_move (&self->dropped_items, &part->dropped_items);
    if (part->failures) /* of its only item */
      gst_spdl_failure_add_to (
          g_ptr_array_steal_index (part->failures, 0), i, &self->failures);
    if (n == 0)
      continue;
    g_array_append_vals (self->results, part->results->data, n);
    /* The results were moved. */
    memset (part->results->data, 0, n * sizeof (GstSpdlResult));
    g_array_set_size (part->results, 0);
  }
}

void
gst_spdl_task_begin_item (GstSpdlTask *self, guint i)
{
  forget_taken (self);
  self->current = i;
}

void
gst_spdl_task_release_items (GstSpdlTask *self)
{
  for (guint i = 0; i < self->items->len; i++)
    gst_clear_buffer ((GstBuffer **) &self->items->pdata[i]);
}

GstBuffer *
gst_spdl_task_get_bearer (GstSpdlTask *self)
{
  GstBuffer *item = g_ptr_array_index (self->items, self->current);

  return item ? item : self->taken;
}

/**
 * gst_spdl_task_get_item:
 * @task: a task
 *
 * Gets the item to process. It must not be changed.
 *
 * Returns: (transfer none): the item, owned by @task
 *
 * Since: 0.1
 */
GstBuffer *
gst_spdl_task_get_item (GstSpdlTask *task)
{
  g_return_val_if_fail (task != NULL, NULL);

  return g_ptr_array_index (task->items, task->current);
}

/**
 * gst_spdl_task_take_item:
 * @task: a task
 *
 * Takes the item, so that the caller may change it if it is writable, and push
 * it as the result. Call it once per item.
 *
 * Returns: (transfer full): the item
 *
 * Since: 0.1
 */
GstBuffer *
gst_spdl_task_take_item (GstSpdlTask *task)
{
  GstBuffer *item;
  const GstSpdlItemMeta *meta;

  g_return_val_if_fail (task != NULL, NULL);

  item = g_ptr_array_index (task->items, task->current);
  g_return_val_if_fail (item != NULL, NULL);

  if ((meta = gst_spdl_buffer_get_item_meta (item))) {
    gst_spdl_item_meta_assign (&task->taken_meta, meta);
    task->has_taken_meta = TRUE;
  }
  if (!meta || has_heritage (item)) {
    task->taken = gst_buffer_new ();
    if (!meta)
      spdl_buffer_copy_items (task->taken, item);
    task->taken = inherit (task->taken, item, 0, 1);
  }
  g_ptr_array_index (task->items, task->current) = NULL;
  return item;
}

/**
 * gst_spdl_task_get_item_meta:
 * @task: a task
 *
 * Gets the metadata of the item.
 *
 * Returns: (transfer none) (nullable): the metadata; %NULL if the buffer is a
 *     batch
 *
 * Since: 0.1
 */
const GstSpdlItemMeta *
gst_spdl_task_get_item_meta (GstSpdlTask *task)
{
  GstBuffer *item;

  g_return_val_if_fail (task != NULL, NULL);

  if (task->has_taken_meta)
    return &task->taken_meta;
  item = g_ptr_array_index (task->items, task->current);
  return item ? gst_spdl_buffer_get_item_meta (item) : NULL;
}

/**
 * gst_spdl_task_get_caps:
 * @task: a task
 *
 * Gets the caps of the item.
 *
 * Returns: (transfer none) (nullable): the caps, or %NULL
 *
 * Since: 0.1
 */
GstCaps *
gst_spdl_task_get_caps (GstSpdlTask *task)
{
  g_return_val_if_fail (task != NULL, NULL);

  return task->caps;
}

/**
 * gst_spdl_task_get_stage:
 * @task: a task
 *
 * Gets the stage of the task.
 *
 * Returns: (transfer none): the stage
 *
 * Since: 0.1
 */
GstSpdlStage *
gst_spdl_task_get_stage (GstSpdlTask *task)
{
  g_return_val_if_fail (task != NULL, NULL);

  return task->stage;
}

/**
 * gst_spdl_task_get_cancellable:
 * @task: a task
 *
 * Gets the cancellable that is cancelled when the stage flushes or stops. Pass
 * it to each function that waits.
 *
 * Returns: (transfer none): the cancellable
 *
 * Since: 0.1
 */
GCancellable *
gst_spdl_task_get_cancellable (GstSpdlTask *task)
{
  g_return_val_if_fail (task != NULL, NULL);

  return task->cancellable;
}

/**
 * gst_spdl_task_push:
 * @task: a task
 * @result: (transfer full): a result of the current item. It gets the item's
 *     meta if it has none
 * @caps: (transfer none) (nullable): caps of the result; %NULL: those of the
 *     item
 *
 * Adds a result, any number of times per item. Results leave the stage when the
 * task has ended, unless it fails.
 *
 * Since: 0.1
 */
void
gst_spdl_task_push (GstSpdlTask *task, GstBuffer *result, GstCaps *caps)
{
  GstSpdlResult entry = { result, caps ? gst_caps_ref (caps) : NULL };

  g_return_if_fail (task != NULL && GST_IS_BUFFER (result));

  g_array_append_val (task->results, entry);
}

void
gst_spdl_task_drop_results (GstSpdlTask *self, guint first)
{
  g_array_set_size (self->results, first);
}

static gboolean
same_meta (gconstpointer a, gconstpointer b)
{
  const GstSpdlItemMeta *x = a, *y = b;

  return x->sequence == y->sequence && x->epoch == y->epoch &&
         x->source == y->source;
}

/* Makes @own number @part of @parts that the buffer with @meta became. */
static void
number_part (
    GstSpdlItemMeta *own, const GstSpdlItemMeta *meta, guint part, guint parts)
{
  const guint64 product = (guint64) MAX (meta->parts, 1) * parts;

  own->part = meta->part * parts + part;
  own->parts = MIN (product, G_MAXUINT32);
}

/* Gives @result the meta of the batch @bearer, unless it has one. */
static void
adopt_batch (GstBuffer **result, GstBuffer *bearer)
{
  if (bearer == *result || gst_spdl_buffer_get_batch_meta (*result))
    return;
  *result = gst_buffer_make_writable (*result);
  spdl_buffer_copy_items (*result, bearer);
}

/* Gives a result the item or the batch of the task.
 *
 * @meta: (nullable): the item of the task
 * @own: (nullable): that of @result */
static void
adopt_metas (GstSpdlTask *self, GstBuffer **result, const GstSpdlItemMeta *meta,
    GstSpdlItemMeta *own, guint part, guint parts)
{
  GstBuffer *bearer;

  if (parts == 1 && own)
    return;
  if (!meta) {
    if ((bearer = gst_spdl_task_get_bearer (self)))
      adopt_batch (result, bearer);
    return;
  }

  *result = gst_buffer_make_writable (*result);
  own = gst_spdl_buffer_get_item_meta (*result);
  if (!own) {
    own = gst_spdl_buffer_add_item_meta (*result);
    gst_spdl_item_meta_assign (own, meta);
  }
  if (parts > 1)
    number_part (own, meta, part, parts);
}

/* Groups */

/* An input of a group. If an item has several, the first one has their list. */
typedef struct _Input Input;
struct _Input {
  const GstSpdlItemMeta *meta;
  GstBuffer *buffer;
  Input *next;      /* (nullable): of the same item */
  gboolean is_used; /* by a result of the item */

  /* Only used in the first input of an item: */
  guint n_inputs, n_results;
  Input *last;
  Input *current; /* becomes the next result */
  guint n_split;  /* results of the last input */
  guint n_inherited;
};

/**
 * gst_spdl_task_dup_group:
 * @task: a task
 *
 * Gets all items of the task.
 *
 * Returns: (transfer full): the items of the group, or the only item
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

static void
add_input (GHashTable *items, Input *input)
{
  Input *first = g_hash_table_lookup (items, input->meta);

  if (first) {
    first->last->next = input;
  } else {
    first = input;
    first->current = input;
    g_hash_table_insert (items, (gpointer) input->meta, input);
  }
  first->last = input;
  first->n_inputs++;
}

/* Appends the items of @buffer. */
static void
list_inputs (GArray *inputs, GstBuffer *buffer)
{
  guint n;
  const GstSpdlItemMeta *metas = spdl_buffer_get_items (buffer, &n);

  for (guint i = 0; i < n; i++) {
    const Input input = { &metas[i], buffer };

    g_array_append_val (inputs, input);
  }
}

/* Calls @func for the item of @result, or for all items of a batch. */
static void
foreach_item (GstBuffer *result, GHashTable *items,
    void (*func) (Input *first, GstSpdlItemMeta *item))
{
  guint n;
  GstSpdlItemMeta *metas = spdl_buffer_get_items (result, &n);

  for (guint i = 0; i < n; i++) {
    Input *first = g_hash_table_lookup (items, &metas[i]);

    if (first)
      func (first, &metas[i]);
  }
}

static void
count_result (Input *first, GstSpdlItemMeta *item)
{
  first->n_results++;
}

/* Counts the results from @first on of each of the inputs. Returns the inputs
 * by item. */
static GHashTable *
count_results (GstSpdlTask *self, GArray *inputs, guint first)
{
  GHashTable *items = g_hash_table_new (hash_meta, same_meta);

  for (guint i = 0; i < inputs->len; i++)
    add_input (items, &g_array_index (inputs, Input, i));
  for (guint i = first; i < self->results->len; i++)
    foreach_item (g_array_index (self->results, GstSpdlResult, i).buffer, items,
        count_result);
  return items;
}

/* Numbers a result. Each one takes the share of one input. If there are more
 * results, the last input is split; if there are fewer, the rest was
 * filtered. */
static void
number_result (Input *first, GstSpdlItemMeta *item)
{
  Input *input = first->current;

  input->is_used = TRUE;
  if (input->next) {
    item->part = input->meta->part;
    item->parts = input->meta->parts;
    first->current = input->next;
  } else {
    number_part (item, input->meta, first->n_split++,
        first->n_results - first->n_inputs + 1);
  }
}

static void
number_results (GstSpdlTask *self, GHashTable *items, guint begin)
{
  for (guint i = begin; i < self->results->len; i++) {
    GstBuffer **result =
        &g_array_index (self->results, GstSpdlResult, i).buffer;

    *result = gst_buffer_make_writable (*result);
    foreach_item (*result, items, number_result);
  }
}

/* Numbers the items of the results from @first on that the batch became: each
 * item by the number of results that have it. */
static void
number_batches (GstSpdlTask *self, GstBuffer *bearer, guint first)
{
  g_autoptr (GArray) inputs = g_array_new (FALSE, TRUE, sizeof (Input));
  g_autoptr (GHashTable) items = NULL;

  list_inputs (inputs, bearer);
  items = count_results (self, inputs, first);
  number_results (self, items, first);
}

/* Returns TRUE unless a function that keeps items returned an earlier one.
 *
 * @own: (nullable): the item of the result */
static gboolean
is_of_item (const GstSpdlItemMeta *meta, const GstSpdlItemMeta *own)
{
  return !meta || !own || same_meta (own, meta);
}

static guint
count_parts (GstSpdlTask *self, const GstSpdlItemMeta *meta, guint first)
{
  guint n = 0;

  for (guint i = first; i < self->results->len; i++)
    n += is_of_item (
        meta, gst_spdl_buffer_get_item_meta (
                  g_array_index (self->results, GstSpdlResult, i).buffer));
  return n;
}

void
gst_spdl_task_adopt_results (GstSpdlTask *self, guint first)
{
  const GstSpdlItemMeta *meta = gst_spdl_task_get_item_meta (self);
  const guint n = self->results->len - first;
  const guint parts = n == 1 ? 1 : count_parts (self, meta, first);
  GstBuffer *bearer = gst_spdl_task_get_bearer (self);

  for (guint i = 0, part = 0; i < n; i++) {
    GstBuffer **result =
        &g_array_index (self->results, GstSpdlResult, first + i).buffer;
    GstSpdlItemMeta *own = gst_spdl_buffer_get_item_meta (*result);

    if (!is_of_item (meta, own))
      continue;
    adopt_metas (self, result, meta, own, part, parts);
    if (bearer)
      *result = inherit (*result, bearer, part, parts);
    part++;
  }
  if (!meta && n > 1 && bearer && gst_spdl_buffer_get_batch_meta (bearer))
    number_batches (self, bearer, first);
}

/* Results that are batches of a group inherit nothing. */
static void
inherit_results (GstSpdlTask *self, GHashTable *items)
{
  for (guint i = 0; i < self->results->len; i++) {
    GstBuffer **result =
        &g_array_index (self->results, GstSpdlResult, i).buffer;
    const GstSpdlItemMeta *item = gst_spdl_buffer_get_item_meta (*result);
    Input *input = item ? g_hash_table_lookup (items, item) : NULL;

    if (input)
      *result = inherit (
          *result, input->buffer, input->n_inherited++, input->n_results);
  }
}

guint
gst_spdl_task_adopt_group (GstSpdlTask *self)
{
  g_autoptr (GArray) inputs = g_array_new (FALSE, TRUE, sizeof (Input));
  g_autoptr (GHashTable) items = NULL;
  gboolean several = FALSE;
  guint n_filtered = 0;

  for (guint i = 0; i < self->items->len; i++)
    list_inputs (inputs, g_ptr_array_index (self->items, i));
  items = count_results (self, inputs, 0);
  for (guint i = 0; i < inputs->len; i++) {
    const Input *input = &g_array_index (inputs, Input, i);

    several |= input->n_inputs > 1 || input->n_results > 1;
  }
  if (several)
    number_results (self, items, 0);
  inherit_results (self, items);
  for (guint i = 0; i < inputs->len; i++) {
    const Input *input = &g_array_index (inputs, Input, i);

    if (input->is_used || input->n_results > 0)
      continue;
    gst_spdl_dropped_items_add (
        &self->dropped_items, input->meta, GST_SPDL_DROP_REASON_FILTERED);
    n_filtered++;
  }
  return n_filtered;
}
