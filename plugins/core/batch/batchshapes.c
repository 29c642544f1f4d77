/* gst-spdl: boxes, masks and keypoints of a batch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/batch/batchshapes.h"

#include <string.h>

/* Items */

gboolean
spdl_batch_shapes_look (
    GstBuffer **item, const SpdlCollator *collator, GError **error)
{
  GstSpdlItemMeta *meta = gst_spdl_buffer_get_item_meta (*item);
  const SpdlShapes *shapes = spdl_shapes_find (meta->extra);
  g_autoptr (SpdlShapes) own = NULL;
  guint width, height;

  if (G_LIKELY (!shapes))
    return TRUE;
  width = shapes->width;
  height = shapes->height;
  if (collator->is_video) {
    width = GST_VIDEO_INFO_WIDTH (&collator->video);
    height = GST_VIDEO_INFO_HEIGHT (&collator->video);
  }
  if (!spdl_shapes_are_new (shapes, meta->extra))
    return spdl_shapes_check_size (shapes, width, height, error);
  if (width == 0) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "No element has read the boxes and keypoints of the item: decode its "
        "image with spdldecode, or unset box-column and keypoint-column");
    return FALSE;
  }
  if (!(own = spdl_shapes_read (shapes, meta->extra, width, height, error)) ||
      !spdl_masks_check_size (own->masks, width, height, error))
    return FALSE;
  *item = gst_buffer_make_writable (*item);
  spdl_shapes_put (own, gst_spdl_buffer_get_item_meta (*item)->extra);
  return TRUE;
}

gboolean
spdl_batch_shapes_fit (
    const GstStructure *first, const GstStructure *extra, GError **error)
{
  const SpdlShapes *a = spdl_shapes_find (first);
  const SpdlShapes *b = spdl_shapes_find (extra);

  if (a && b && a->masks && b->masks &&
      (a->width != b->width || a->height != b->height)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The masks have %u by %u pixels, but those of the first item of the "
        "batch have %u by %u: resize the images in spdldecode",
        b->width, b->height, a->width, a->height);
    return FALSE;
  }
  if (a == b || (a && b && spdl_shapes_are_alike (a, b)))
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "The item has other boxes or keypoints than the first one of its batch: "
      "set the same box-column, box-label-columns and keypoint-column for all "
      "sources of a batch");
  return FALSE;
}

/* Tensors */

/* One tensor: what it takes of each item. */
typedef struct {
  const GstSpdlBatchMeta *batch;
  guint field; /* number of it in the shapes */
} Rows;

static const SpdlShapes *
get_shapes (const Rows *self, guint i)
{
  return spdl_shapes_find (self->batch->items[i].extra);
}

static gint64
count_rows (const Rows *self, guint i)
{
  const SpdlShapes *shapes = get_shapes (self, i);

  return self->field == SPDL_SHAPES_POINTS ? shapes->n_points : shapes->n_boxes;
}

/* Implements SpdlCopyRow. */
static gsize
copy_numbers (gconstpointer rows, guint i, guint8 *place, gsize size)
{
  const Rows *self = rows;
  const SpdlShapes *shapes = get_shapes (self, i);
  const gboolean is_box = self->field == SPDL_SHAPES_BOXES;
  const gsize n = count_rows (self, i) * sizeof (float) *
                  (is_box ? 4 : spdl_shapes_get_point_row (&shapes->spec));

  memcpy (place, is_box ? shapes->boxes : shapes->points, n);
  return n;
}

/* Implements SpdlCopyRow. */
static gsize
copy_labels (gconstpointer rows, guint i, guint8 *place, gsize size)
{
  const Rows *self = rows;
  const SpdlShapes *shapes = get_shapes (self, i);
  const gint64 *labels = &shapes->labels[self->field - SPDL_SHAPES_LABELS];

  for (guint k = 0; k < shapes->n_boxes; k++, labels += shapes->spec.n_labels)
    memcpy (place + k * sizeof *labels, labels, sizeof *labels);
  return shapes->n_boxes * sizeof *labels;
}

/* Implements SpdlCopyRow. */
static gsize
copy_masks (gconstpointer rows, guint i, guint8 *place, gsize size)
{
  const SpdlShapes *shapes = get_shapes (rows, i);
  const gsize area = (gsize) shapes->width * shapes->height;

  for (guint k = 0; k < shapes->n_boxes; k++)
    spdl_masks_write_plane (shapes->masks, k, place + k * area);
  return shapes->n_boxes * area;
}

/* Implements SpdlCopyRow. */
static gsize
copy_length (gconstpointer rows, guint i, guint8 *place, gsize size)
{
  const gint64 length = count_rows (rows, i);

  memcpy (place, &length, sizeof length);
  return sizeof length;
}

static gboolean
add_name (GstSpdlBatchMeta *meta, const gchar *name, GError **error)
{
  for (guint i = 0; i < meta->num_tensors; i++)
    if (g_str_equal (meta->names[i], name)) {
      g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
          "The batch already has a tensor named \"%s\", which box-column, "
          "box-label-columns, box-mask-column or keypoint-column would add: "
          "rename the column",
          name);
      return FALSE;
    }
  gst_spdl_batch_meta_add_name (meta, name);
  return TRUE;
}

typedef struct {
  GstBuffer *batch;
  GstSpdlBatchMeta *meta;
  GstSpdlTensorsInfo *info;
} Target;

/* Maximum size of a tensor of masks */
#define MAX_MASKS ((gsize) 1 << 32)

/* Adds the tensor @name with rows like @row.
 *
 * @longest: number of rows; 0: one number per item */
static gboolean
add_tensor (const Target *target, const Rows *rows, const gchar *name,
    SpdlCopyRow copy, guint longest, GstSpdlTensorInfo row, GError **error)
{
  const guint n = target->meta->num_items;
  const gsize length =
      gst_spdl_tensor_info_get_size (&row) * MAX ((gsize) longest, 1);
  GstMemory *memory;

  if (!add_name (target->meta, name, error))
    return FALSE;
  /* The bytes 0xff are -1, which is the label of no class. */
  memory = copy == copy_masks && length > MAX_MASKS / n
               ? NULL
               : spdl_pad_rows (
                     copy, rows, n, length, copy == copy_labels ? 0xff : 0);
  if (!memory) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
        "Not enough memory for \"%s\" of %u items: lower batch-size", name, n);
    return FALSE;
  }
  gst_buffer_append_memory (target->batch, memory);
  if (longest > 0)
    row.dims[row.rank++] = longest;
  row.dims[row.rank++] = n;
  gst_spdl_tensors_info_add (target->info, row.type, row.rank, row.dims);
  return TRUE;
}

/* Adds the tensor of a field, and that of its lengths unless it has the lengths
 * of the boxes. */
static gboolean
add_field (
    const Target *target, const SpdlShapes *first, guint field, GError **error)
{
  static const GstSpdlTensorInfo number = { .type = GST_SPDL_TENSOR_INT64 };
  const SpdlShapesSpec *spec = &first->spec;
  const Rows rows = { target->meta, field };
  const gchar *name = g_quark_to_string (spec->fields[field]);
  const gboolean is_points = field == SPDL_SHAPES_POINTS;
  const gboolean is_masks = field == SPDL_SHAPES_MASKS;
  const gboolean is_label =
      field != SPDL_SHAPES_BOXES && !is_points && !is_masks;
  const gboolean has_planes = is_points && spec->points_per_box > 0;
  g_autofree gchar *lengths = g_strconcat (name, "_lengths", NULL);
  const GstSpdlTensorInfo mask = { .type = GST_SPDL_TENSOR_UINT8,
    .rank = 2,
    .dims = { first->width, first->height } };
  const GstSpdlTensorInfo row = { .type = GST_SPDL_TENSOR_FLOAT32,
    .rank = has_planes ? 2 : 1,
    .dims = { is_points ? spec->point_size : 4, spec->points_per_box } };
  guint longest = 1;

  for (guint i = 0; i < target->meta->num_items; i++)
    longest = MAX (longest, count_rows (&rows, i));
  return add_tensor (target, &rows, name,
             is_label   ? copy_labels
             : is_masks ? copy_masks
                        : copy_numbers,
             longest,
             is_label   ? number
             : is_masks ? mask
                        : row,
             error) &&
         (is_label || is_masks || has_planes ||
             add_tensor (
                 target, &rows, lengths, copy_length, 0, number, error));
}

guint
spdl_batch_shapes_count (const GstStructure *extra)
{
  const SpdlShapes *shapes = spdl_shapes_find (extra);
  guint n = 0;

  for (guint i = 0; shapes && i < SPDL_SHAPES_N_FIELDS; i++)
    n += shapes->spec.fields[i] != 0;
  if (shapes && shapes->spec.fields[SPDL_SHAPES_BOXES])
    n++;
  if (shapes && shapes->spec.fields[SPDL_SHAPES_POINTS] &&
      shapes->spec.points_per_box == 0)
    n++;
  return n;
}

gboolean
spdl_batch_shapes_add (GstBuffer *batch, GstSpdlBatchMeta *meta,
    GstSpdlTensorsInfo *info, GError **error)
{
  const Target target = { batch, meta, info };
  const SpdlShapes *first = spdl_shapes_find (meta->items[0].extra);

  for (guint i = 0; first && i < SPDL_SHAPES_N_FIELDS; i++)
    if (first->spec.fields[i] && !add_field (&target, first, i, error))
      return FALSE;
  return TRUE;
}
