/* gst-spdl: the batch that is being filled
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/batch/batchrows.h"

static gsize
align (gsize size)
{
  return (size + SPDL_SLAB_ALIGNMENT - 1) & ~(gsize) (SPDL_SLAB_ALIGNMENT - 1);
}

guint
spdl_batch_rows_count_tensors (const SpdlBatchRows *self)
{
  return self->stacker.info.num_tensors + self->lengths + self->labels +
         self->indices;
}

/* Of @n rows. */
static void
get_info (const SpdlBatchRows *self, guint n, GstSpdlTensorsInfo *info)
{
  const guint32 dims[] = { n };

  *info = self->stacker.info;
  for (guint i = 0; i < info->num_tensors; i++)
    info->tensors[i].dims[info->tensors[i].rank++] = n;
  for (guint i = info->num_tensors; i < spdl_batch_rows_count_tensors (self);
       i++)
    gst_spdl_tensors_info_add (info, GST_SPDL_TENSOR_INT64, 1, dims);
}

/* Says what the batch will be when it is full, and where its tensors lie;
 * returns the size of all, or G_MAXSIZE if that is too large. */
gsize
spdl_batch_rows_plan (SpdlBatchRows *self, GstSpdlTensorsInfo *info)
{
  gsize end = 0;

  get_info (self, self->size, info);
  self->n_tensors = info->num_tensors;
  for (guint i = 0; i < info->num_tensors; i++) {
    const gsize size = gst_spdl_tensor_info_get_size (&info->tensors[i]);

    if (size > G_MAXSSIZE / GST_SPDL_MAX_TENSORS)
      return G_MAXSIZE;
    self->offsets[i] = end;
    self->item_sizes[i] = size / self->size;
    end += align (size);
  }
  return end;
}

static void
add_names (SpdlBatchRows *self)
{
  for (guint i = 0; i < self->stacker.info.num_tensors; i++) {
    const gchar *given = self->stacker.names[i];
    g_autofree gchar *name =
        i == 0 ? g_strdup ("data") : g_strdup_printf ("data%u", i);

    gst_spdl_batch_meta_add_name (self->meta, given ? given : name);
  }
  if (self->lengths)
    gst_spdl_batch_meta_add_name (self->meta, "data_lengths");
  if (self->labels)
    gst_spdl_batch_meta_add_name (self->meta, "labels");
  if (self->indices)
    gst_spdl_batch_meta_add_name (self->meta, "indices");
}

/* Takes @memory, which is as large as was planned. FALSE: it cannot be mapped.
 */
gboolean
spdl_batch_rows_begin (SpdlBatchRows *self, GstBuffer *memory)
{
  if (!(self->slab = spdl_slab_new (memory)))
    return FALSE;
  self->batch = gst_buffer_new ();
  self->meta = gst_spdl_buffer_add_batch_meta (self->batch, self->size);
  add_names (self);
  return TRUE;
}

static gboolean
is_free (const SpdlStacker *item, const gchar *name, GError **error)
{
  for (guint i = 0; i < item->info.num_tensors; i++) {
    if (g_strcmp0 (item->names[i], name) != 0)
      continue;
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "It has a tensor named \"%s\", to which %s=true would add another one",
        name, name);
    return FALSE;
  }
  return TRUE;
}

/* Whether the item has no tensor that is called as one of the batch's own. */
gboolean
spdl_batch_rows_has_free_names (
    const SpdlBatchRows *self, const SpdlStacker *item, GError **error)
{
  return (!self->labels || is_free (item, "labels", error)) &&
         (!self->indices || is_free (item, "indices", error));
}

/* Where the data of the item that comes next belongs. */
void
spdl_batch_rows_get_places (const SpdlBatchRows *self, guint8 **places)
{
  for (guint k = 0; k < self->stacker.info.num_tensors; k++)
    places[k] = self->slab->map.data + self->offsets[k] +
                self->meta->num_items * self->item_sizes[k];
}

static void
write_number (SpdlBatchRows *self, guint tensor, gint64 number)
{
  memcpy (self->slab->map.data + self->offsets[tensor] +
              self->meta->num_items * sizeof number,
      &number, sizeof number);
}

/* After an item's data: the numbers beside it. */
void
spdl_batch_rows_end_row (
    SpdlBatchRows *self, const GstSpdlItemMeta *item, gint64 length)
{
  guint t = self->stacker.info.num_tensors;

  if (self->lengths)
    write_number (self, t++, length);
  if (self->labels)
    write_number (self, t++, item->label);
  if (self->indices)
    write_number (self, t++, item->index);
  gst_spdl_batch_meta_append (self->meta, item);
}

/* The rows that are filled; 0 also where no batch was begun. */
guint
spdl_batch_rows_get_n (const SpdlBatchRows *self)
{
  return self->meta ? self->meta->num_items : 0;
}

/* Gives the batch its memories, and says what it has become. */
void
spdl_batch_rows_end (SpdlBatchRows *self, GstSpdlTensorsInfo *info)
{
  const guint n = self->meta->num_items;

  for (guint i = 0; i < self->n_tensors; i++)
    gst_buffer_append_memory (
        self->batch, spdl_slab_get_part (self->slab, self->offsets[i],
                         self->item_sizes[i] * n));
  get_info (self, n, info);
}

void
spdl_batch_rows_clear (SpdlBatchRows *self)
{
  gst_clear_buffer (&self->batch);
  g_clear_pointer (&self->slab, spdl_slab_unref);
  self->meta = NULL;
}
