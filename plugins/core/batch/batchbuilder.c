/* gst-spdl: builder of a batch: rows, padding and parts of samples
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/batch/batchbuilder.h"

#include <stdlib.h>
#include <string.h>

#include "gst/spdl/tensor/audiocaps.h"
#include "plugins/common/viewseed.h"
#include "plugins/core/batch/batchmix.h"
#include "plugins/core/batch/batchpool.h"

/* A part of the current samples. */
typedef struct {
  const gchar *name; /* interned */
  GstCaps *caps;     /* nullable */
  GQuark view;       /* extra field that a view of an image has */
  gboolean is_view;
  gboolean is_bytes;
  GstSpdlTensorInfo row; /* element of a part that is padded: a byte, or one
                            audio sample of all channels */
  SpdlCollator collator; /* for parts that are not padded */
} Slot;

/* A padded tensor of the current batch. */
typedef struct {
  const gchar *name; /* interned */
  GPtrArray *rows;   /* GstBuffer, one per item */
  GstSpdlTensorInfo row;
} Padded;

struct _SpdlBatchBuilder {
  SpdlCollations *collations;
  SpdlPartSettings settings;
  GPtrArray *slots; /* Slot; empty: no sample was examined yet */
  GArray *padded;   /* Padded */
};

/* Padding */

static SpdlPaddedItem *
get_padded (const SpdlPadding *self, guint i)
{
  return &g_array_index (self->items, SpdlPaddedItem, i);
}

static void
clear_pending (gpointer data)
{
  gst_clear_buffer (&((SpdlPaddedItem *) data)->buffer);
}

void
spdl_padding_init (SpdlPadding *self)
{
  self->items = g_array_new (FALSE, FALSE, sizeof (SpdlPaddedItem));
  g_array_set_clear_func (self->items, clear_pending);
}

void
spdl_padding_clear (SpdlPadding *self)
{
  g_clear_pointer (&self->items, g_array_unref);
}

void
spdl_padding_forget (SpdlPadding *self)
{
  g_array_set_size (self->items, 0);
}

static gboolean
is_planar (const SpdlCollator *collator)
{
  return collator->converts && collator->convert.planar;
}

/* Returns the dimension that may differ, or -1. */
static gint
find_dim (const SpdlCollator *collator)
{
  const guint rank = collator->info.tensors[0].rank;

  if (collator->n_channels > 0)
    return is_planar (collator) ? 0 : 1;
  /* Images are not padded; planes would need padding after each of them. */
  if (collator->is_video || (is_planar (collator) && rank == 3))
    return -1;
  return rank - 1;
}

gboolean
spdl_padding_can (const SpdlCollator *collator)
{
  return find_dim (collator) >= 0;
}

static guint32
length_of (const SpdlCollator *collator)
{
  const gint dim = find_dim (collator);

  return dim < 0 ? 0 : collator->info.tensors[0].dims[dim];
}

gboolean
spdl_padding_take (SpdlPadding *self, const SpdlCollator *collator,
    GstBuffer *item, GError **error)
{
  const gint dim = find_dim (collator);
  SpdlPaddedItem padded = { NULL, *collator };

  if (self->items->len > 0) {
    const SpdlCollator *first = &get_padded (self, 0)->collator;

    if (dim >= 0 && find_dim (first) == dim)
      padded.collator.info.tensors[0].dims[dim] = length_of (first);
    /* The error message must contain both original lengths. */
    if (!spdl_collator_is_compatible (first, &padded.collator, NULL))
      return spdl_collator_is_compatible (first, collator, error);
  }
  padded.collator = *collator;
  padded.buffer = gst_buffer_ref (item);
  g_array_append_val (self->items, padded);
  return TRUE;
}

const SpdlCollator *
spdl_padding_get_longest (const SpdlPadding *self)
{
  const SpdlCollator *longest = &get_padded (self, 0)->collator;

  for (guint i = 1; i < self->items->len; i++) {
    const SpdlCollator *collator = &get_padded (self, i)->collator;

    if (length_of (collator) > length_of (longest))
      longest = collator;
  }
  return longest;
}

guint32
spdl_padding_get_length (const SpdlPadding *self, guint i)
{
  return length_of (&get_padded (self, i)->collator);
}

/* Fills the padding of a row: after each channel if the layout is planar,
 * otherwise at the end. Silence of uint8 audio is 0x80. */
static void
fill_slot (
    const SpdlCollator *collator, const SpdlCollator *longest, guint8 *place)
{
  const GstSpdlTensorInfo *own = &collator->info.tensors[0];
  const gboolean silence = collator->n_channels > 0 && !collator->converts &&
                           own->type == GST_SPDL_TENSOR_UINT8;
  const guint n_planes = collator->n_channels > 0 && is_planar (collator)
                             ? collator->n_channels
                             : 1;
  const gsize size = gst_spdl_tensor_info_get_size (own) / n_planes;
  const gsize all =
      gst_spdl_tensor_info_get_size (&longest->info.tensors[0]) / n_planes;

  for (guint i = 0; i < n_planes; i++)
    memset (place + i * all + size, silence ? 0x80 : 0, all - size);
}

gboolean
spdl_padding_write (const SpdlPadding *self, guint i,
    const SpdlCollator *longest, guint8 *const *places,
    SpdlCollations *collations, GError **error)
{
  SpdlPaddedItem *padded = get_padded (self, i);

  padded->collator.plane = longest->n_pixels;
  if (!spdl_collator_write (
          &padded->collator, padded->buffer, places, collations, error))
    return FALSE;
  fill_slot (&padded->collator, longest, places[0]);
  return TRUE;
}

/* Rows */

static guint
count_plain (const SpdlBatchRows *self)
{
  return self->collator.info.num_tensors + self->lengths + self->labels +
         self->indices;
}

guint
spdl_batch_rows_count_tensors (const SpdlBatchRows *self)
{
  return count_plain (self) + self->n_targets;
}

void
spdl_batch_rows_set_targets (SpdlBatchRows *self)
{
  self->n_targets = self->targets->n;
  memcpy (self->target_sizes, self->targets->sizes, sizeof self->target_sizes);
}

/* Describes the tensors of a batch with @n rows. */
static void
get_info (const SpdlBatchRows *self, guint n, GstSpdlTensorsInfo *info)
{
  const guint32 dims[] = { n };

  *info = self->collator.info;
  for (guint i = 0; i < info->num_tensors; i++)
    info->tensors[i].dims[info->tensors[i].rank++] = n;
  if (self->lengths)
    gst_spdl_tensors_info_add (info, GST_SPDL_TENSOR_INT64, 1, dims);
  if (self->labels && self->mix->n_classes > 0)
    gst_spdl_tensors_info_add (info, GST_SPDL_TENSOR_FLOAT32, 2,
        (guint32[]){ self->mix->n_classes, n });
  else if (self->labels)
    gst_spdl_tensors_info_add (info, GST_SPDL_TENSOR_INT64, 1, dims);
  if (self->indices)
    gst_spdl_tensors_info_add (info, GST_SPDL_TENSOR_INT64, 1, dims);
  for (guint i = 0; i < self->n_targets; i++) {
    const guint32 size = self->target_sizes[i];
    const guint32 both[] = { size, n };

    gst_spdl_tensors_info_add (info, GST_SPDL_TENSOR_FLOAT64, size > 0 ? 2 : 1,
        size > 0 ? both : dims);
  }
}

/* Plans a full batch and the positions of its tensors. Returns its size in
 * bytes, or G_MAXSIZE if it is too large. */
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
    end += spdl_slab_align (size);
  }
  return end;
}

static void
add_names (SpdlBatchRows *self)
{
  for (guint i = 0; i < self->collator.info.num_tensors; i++) {
    const gchar *given = self->collator.names[i];
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
  for (guint i = 0; i < self->n_targets; i++)
    gst_spdl_batch_meta_add_name (self->meta, self->targets->names[i]);
}

/* Starts a batch in @memory, which has the planned size. Returns FALSE if it
 * cannot be mapped. */
gboolean
spdl_batch_rows_begin (SpdlBatchRows *self, GstBuffer *memory)
{
  if (!(self->slab = spdl_slab_new (memory)))
    return FALSE;
  self->n = 0;
  self->batch = gst_buffer_new ();
  self->meta = gst_spdl_buffer_add_batch_meta (self->batch, self->size);
  add_names (self);
  return TRUE;
}

static gboolean
has_tensor (const SpdlCollator *item, const gchar *name)
{
  for (guint i = 0; i < item->info.num_tensors; i++)
    if (g_strcmp0 (item->names[i], name) == 0)
      return TRUE;
  return FALSE;
}

/* Returns FALSE if the item has a tensor named @name, which @property adds. */
static gboolean
is_free (const SpdlCollator *item, const gchar *name, const gchar *property,
    GError **error)
{
  if (!has_tensor (item, name))
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "Item already has a tensor named \"%s\", which %s=true would add: "
      "rename the tensor, or unset the property",
      name, property);
  return FALSE;
}

/* A target may not have the name of another tensor of the batch. */
static gboolean
have_free_targets (
    const SpdlBatchRows *self, const SpdlCollator *item, GError **error)
{
  for (guint i = 0; i < self->n_targets; i++) {
    const gchar *name = self->targets->names[i];

    if (!has_tensor (item, name) && !g_str_equal (name, "data") &&
        !(self->labels && g_str_equal (name, "labels")) &&
        !(self->indices && g_str_equal (name, "indices")) &&
        !(self->lengths && g_str_equal (name, "data_lengths")))
      continue;
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The batch already has a tensor named \"%s\", which target-columns "
        "would add: rename the column",
        name);
    return FALSE;
  }
  return TRUE;
}

/* Returns TRUE if no tensor of the item has the name of a tensor that the batch
 * adds. */
gboolean
spdl_batch_rows_has_free_names (
    const SpdlBatchRows *self, const SpdlCollator *item, GError **error)
{
  return (!self->lengths ||
             is_free (item, "data_lengths", "pad-to-longest", error)) &&
         (!self->labels || is_free (item, "labels", "labels", error)) &&
         (!self->indices || is_free (item, "indices", "indices", error)) &&
         have_free_targets (self, item, error);
}

/* Returns the addresses where the tensors of the next item must be written. */
void
spdl_batch_rows_get_places (const SpdlBatchRows *self, guint8 **places)
{
  for (guint k = 0; k < self->collator.info.num_tensors; k++)
    places[k] =
        self->slab->map.data + self->offsets[k] + self->n * self->item_sizes[k];
}

static void
write_number (SpdlBatchRows *self, guint tensor, gint64 number)
{
  memcpy (
      self->slab->map.data + self->offsets[tensor] + self->n * sizeof number,
      &number, sizeof number);
}

/* Writes the targets that were read last. */
static void
write_targets (SpdlBatchRows *self, guint tensor)
{
  const gdouble *at = (const gdouble *) (gpointer) self->targets->values->data;

  for (guint i = 0; i < self->n_targets; i++) {
    const guint n = MAX (self->target_sizes[i], 1);

    memcpy (self->slab->map.data + self->offsets[tensor + i] +
                self->n * n * sizeof *at,
        at, n * sizeof *at);
    at += n;
  }
}

static gboolean
write_label (SpdlBatchRows *self, guint tensor, gint64 label, GError **error)
{
  if (self->mix->n_classes > 0)
    return spdl_mix_write_label (self->mix, label,
        (float *) (gpointer) (self->slab->map.data + self->offsets[tensor]) +
            (gsize) self->n * self->mix->n_classes,
        error);
  write_number (self, tensor, label);
  return TRUE;
}

gboolean
spdl_batch_rows_end_row (SpdlBatchRows *self, const GstSpdlItemMeta *item,
    gint64 length, GError **error)
{
  guint t = self->collator.info.num_tensors;

  if (self->lengths)
    write_number (self, t++, length);
  if (self->labels && !write_label (self, t++, item->label, error))
    return FALSE;
  if (self->indices)
    write_number (self, t++, item->index);
  if (self->n_targets > 0)
    write_targets (self, t);
  gst_spdl_batch_meta_append (self->meta, item);
  self->n++;
  return TRUE;
}

void
spdl_batch_rows_end_documents (SpdlBatchRows *self, GstSpdlBatchMeta *documents)
{
  GstSpdlBatchMeta *meta = self->meta;

  meta->items = g_renew (
      GstSpdlItemMeta, meta->items, meta->num_items + documents->num_items);
  memset (meta->items + meta->num_items, 0,
      documents->num_items * sizeof *meta->items);
  for (guint i = 0; i < documents->num_items; i++)
    gst_spdl_batch_meta_append (meta, &documents->items[i]);
  self->n++;
}

/* Returns the number of completed rows; 0 without a batch. */
guint
spdl_batch_rows_get_n (const SpdlBatchRows *self)
{
  return self->meta ? self->n : 0;
}

/* Finishes the batch: adds its memories, and returns its tensors in @info. */
void
spdl_batch_rows_end (SpdlBatchRows *self, GstSpdlTensorsInfo *info)
{
  const guint n = self->n;

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

static void
free_slot (gpointer data)
{
  Slot *slot = data;

  gst_clear_caps (&slot->caps);
  g_free (slot);
}

static void
clear_padded (gpointer data)
{
  g_ptr_array_unref (((Padded *) data)->rows);
}

SpdlBatchBuilder *
spdl_batch_builder_new (SpdlCollations *collations)
{
  SpdlBatchBuilder *self = g_new0 (SpdlBatchBuilder, 1);

  self->collations = collations;
  self->slots = g_ptr_array_new_with_free_func (free_slot);
  self->padded = g_array_new (FALSE, FALSE, sizeof (Padded));
  g_array_set_clear_func (self->padded, clear_padded);
  return self;
}

void
spdl_batch_builder_free (SpdlBatchBuilder *self)
{
  g_ptr_array_unref (self->slots);
  g_array_unref (self->padded);
  g_free (self);
}

void
spdl_batch_builder_set (
    SpdlBatchBuilder *self, const SpdlPartSettings *settings)
{
  self->settings = *settings;
  g_ptr_array_set_size (self->slots, 0);
}

/* Description of samples */

static gboolean
is_stacked (const GstCaps *caps)
{
  const GstStructure *s = caps ? gst_caps_get_structure (caps, 0) : NULL;

  return s && (gst_structure_has_name (s, "video/x-raw") ||
                  gst_structure_has_name (s, "other/tensors"));
}

static gboolean
converts_items (const SpdlCollateSettings *settings)
{
  return settings->type != SPDL_COLLATE_DTYPE_AS_IS ||
         settings->layout == SPDL_COLLATE_LAYOUT_NCHW || settings->n_mean > 0 ||
         settings->n_std > 0;
}

/* Describes one element of a padded part. */
static void
init_row (GstSpdlTensorInfo *row, const GstCaps *caps)
{
  const GstStructure *s = caps ? gst_caps_get_structure (caps, 0) : NULL;
  GstSpdlTensorType type;
  guint n_channels;

  *row = (GstSpdlTensorInfo){ .type = GST_SPDL_TENSOR_UINT8 };
  if (s && gst_spdl_read_audio_caps (s, &type, &n_channels))
    *row =
        (GstSpdlTensorInfo){ .type = type, .rank = 1, .dims = { n_channels } };
}

/* Checks that a part may be padded.
 *
 * @is_chosen: whether the conversion (dtype, layout, mean, std) applies to
 *     it */
static gboolean
init_bytes (const SpdlBatchBuilder *self, const GstSpdlPart *part,
    gboolean is_chosen, GError **error)
{
  const gchar *type = part->caps ? gst_structure_get_name (
                                       gst_caps_get_structure (part->caps, 0))
                                 : "bytes";

  if (!self->settings.pad) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "Part \"%s\" is %s instead of a tensor: decode it, for example with "
        "part=%s of spdldecode, or set pad-to-longest=true to batch its bytes",
        part->name, type, part->name);
    return FALSE;
  }
  if (is_chosen && converts_items (&self->settings.stack)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "Part \"%s\" is %s, which dtype, layout, mean and std do not support: "
        "set part to the part that they apply to",
        part->name, type);
    return FALSE;
  }
  return TRUE;
}

/* Returns whether a part of @item is a view of its image.
 *
 * @field: of the part */
static gboolean
has_view (GstBuffer *item, GQuark field)
{
  const GstSpdlItemMeta *meta = gst_spdl_buffer_get_item_meta (item);

  return meta && meta->extra && gst_structure_id_has_field (meta->extra, field);
}

static GQuark
get_view_field (const gchar *part)
{
  g_autofree gchar *field = g_strdup_printf ("%s." SPDL_VIEW_FIELD, part);

  return g_quark_from_string (field);
}

static gboolean
init_slot (Slot *self, const SpdlBatchBuilder *builder, const GstSpdlPart *part,
    gboolean is_chosen, GError **error)
{
  static const SpdlCollateSettings as_is = { 0 };

  self->caps = part->caps ? gst_caps_ref (part->caps) : NULL;
  self->is_bytes = !is_stacked (part->caps);
  init_row (&self->row, part->caps);
  if (self->is_bytes)
    return init_bytes (builder, part, is_chosen, error);
  if (spdl_collator_init (&self->collator, part->caps,
          is_chosen ? &builder->settings.stack : &as_is, error))
    return TRUE;
  g_prefix_error (error, "Part \"%s\": ", part->name);
  return FALSE;
}

static const gchar *
name_tensor (const Slot *self, guint i)
{
  const gchar *given = self->collator.names[i];
  g_autofree gchar *name = NULL;

  if (self->collator.info.num_tensors == 1)
    return self->name;
  name = given    ? g_strdup_printf ("%s.%s", self->name, given)
         : i == 0 ? g_strdup (self->name)
                  : g_strdup_printf ("%s%u", self->name, i);
  return g_intern_string (name);
}

static gboolean
has_room (const SpdlCollator *all, guint n, GError **error)
{
  if (all->info.num_tensors + n <= GST_SPDL_MAX_TENSORS)
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "Item has more than %d tensors in its parts", GST_SPDL_MAX_TENSORS);
  return FALSE;
}

/* Adds the tensors of @slot to @all; for a padded part, the tensor of its
 * lengths. */
static gboolean
add_tensors (const Slot *slot, SpdlCollator *all, GError **error)
{
  const GstSpdlTensorsInfo *info = &slot->collator.info;
  g_autofree gchar *lengths = g_strconcat (slot->name, "_lengths", NULL);

  if (!has_room (all, slot->is_bytes ? 1 : info->num_tensors, error))
    return FALSE;
  if (slot->is_bytes) {
    if (!is_free (all, lengths, "pad-to-longest", error))
      return FALSE;
    /* Scalar: the batch adds the only dimension. */
    all->names[all->info.num_tensors] = g_intern_string (lengths);
    all->info.tensors[all->info.num_tensors++] =
        (GstSpdlTensorInfo){ .type = GST_SPDL_TENSOR_INT64 };
    return TRUE;
  }
  for (guint i = 0; i < info->num_tensors; i++) {
    const gchar *name = name_tensor (slot, i);

    if (has_tensor (all, name)) {
      g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
          "Item has two tensors named \"%s\" in its parts: rename a part",
          name);
      return FALSE;
    }
    all->names[all->info.num_tensors] = name;
    all->info.tensors[all->info.num_tensors++] = info->tensors[i];
  }
  return TRUE;
}

/* Returns whether the conversion applies to the part. That of the main image
 * also applies to its other views. */
static gboolean
is_chosen (const SpdlBatchBuilder *self, const GstSpdlPartsMeta *parts,
    const Slot *slot)
{
  const gchar *chosen =
      self->settings.part ? self->settings.part : parts->parts[0].name;

  return g_str_equal (slot->name, chosen) ||
         (slot->is_view && g_str_equal (chosen, GST_SPDL_MAIN_PART));
}

static gboolean
init_slots (SpdlBatchBuilder *self, GstBuffer *item, GstSpdlPartsMeta *parts,
    SpdlCollator *collator, GError **error)
{
  SpdlCollator all = { 0 };

  if (self->settings.part &&
      !gst_spdl_parts_meta_find_part (parts, self->settings.part)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "Item has no part \"%s\", which dtype, layout, mean and std apply to",
        self->settings.part);
    return FALSE;
  }
  for (guint i = 0; i < parts->num_parts; i++) {
    const GstSpdlPart *part = &parts->parts[i];
    Slot *slot = g_new0 (Slot, 1);

    g_ptr_array_add (self->slots, slot);
    slot->name = g_intern_string (part->name);
    slot->view = get_view_field (part->name);
    slot->is_view = has_view (item, slot->view);
    if (!init_slot (slot, self, part, is_chosen (self, parts, slot), error) ||
        !add_tensors (slot, &all, error))
      return FALSE;
  }
  *collator = all;
  return TRUE;
}

static gboolean
are_equal (const GstCaps *a, const GstCaps *b)
{
  return a == b || (a && b && gst_caps_is_equal (a, b));
}

static gboolean
is_known (const SpdlBatchBuilder *self, GstBuffer *item,
    const GstSpdlPartsMeta *parts)
{
  if (self->slots->len != parts->num_parts)
    return FALSE;
  for (guint i = 0; i < parts->num_parts; i++) {
    const Slot *slot = g_ptr_array_index (self->slots, i);

    if (!g_str_equal (slot->name, parts->parts[i].name) ||
        !are_equal (slot->caps, parts->parts[i].caps) ||
        has_view (item, slot->view) != slot->is_view)
      return FALSE;
  }
  return TRUE;
}

gboolean
spdl_batch_builder_look (SpdlBatchBuilder *self, GstBuffer *item,
    SpdlCollator *collator, GError **error)
{
  GstSpdlPartsMeta *parts = gst_spdl_buffer_get_parts_meta (item);

  if (!parts || parts->num_parts == 0) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "Item has no parts, although its caps describe a sample of several "
        "media");
    return FALSE;
  }
  if (G_LIKELY (is_known (self, item, parts)))
    return TRUE;
  spdl_collations_wait (self->collations);
  g_ptr_array_set_size (self->slots, 0);
  if (init_slots (self, item, parts, collator, error))
    return TRUE;
  g_ptr_array_set_size (self->slots, 0);
  return FALSE;
}

gboolean
spdl_batch_builder_is_compatible (const SpdlBatchBuilder *self, GError **error)
{
  for (guint i = 0, n = 0; i < self->slots->len; i++) {
    const Slot *slot = g_ptr_array_index (self->slots, i);
    const Padded *padded;

    if (!slot->is_bytes)
      continue;
    padded = &g_array_index (self->padded, Padded, n++);
    if (gst_spdl_tensor_info_is_equal (&padded->row, &slot->row))
      continue;
    g_autofree gchar *mine = gst_spdl_tensor_info_to_string (&padded->row);
    g_autofree gchar *its = gst_spdl_tensor_info_to_string (&slot->row);
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "Part \"%s\" has rows of %s, but its batch began with rows of %s: set "
        "channels on spdldecode for audio, so that all items have the same "
        "rows, or " SPDL_SKIP_HINT,
        slot->name, its, mine);
    return FALSE;
  }
  return TRUE;
}

/* Writing */

/* Writes the parts of @item, and appends the padded ones to @rows. */
static gboolean
write_parts (SpdlBatchBuilder *self, GstBuffer *item, guint8 *const *places,
    GPtrArray *rows, GError **error)
{
  for (guint i = 0; i < self->slots->len; i++) {
    const Slot *slot = g_ptr_array_index (self->slots, i);
    g_autoptr (GstBuffer) part = gst_spdl_buffer_dup_part (item, slot->name);

    if (!part) {
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
          "Failed to read part \"%s\"", slot->name);
      return FALSE;
    }
    if (slot->is_bytes) {
      const gint64 length = gst_buffer_get_size (part) /
                            gst_spdl_tensor_info_get_size (&slot->row);

      memcpy (*places++, &length, sizeof length);
      g_ptr_array_add (rows, g_steal_pointer (&part));
      continue;
    }
    if (!spdl_collator_write (
            &slot->collator, part, places, self->collations, error)) {
      g_prefix_error (error, "Part \"%s\": ", slot->name);
      return FALSE;
    }
    places += slot->collator.info.num_tensors;
  }
  return TRUE;
}

gboolean
spdl_batch_builder_write (SpdlBatchBuilder *self, GstBuffer *item,
    guint8 *const *places, GError **error)
{
  g_autoptr (GPtrArray) rows =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);

  if (!write_parts (self, item, places, rows, error))
    return FALSE;
  for (guint i = 0; i < rows->len; i++)
    g_ptr_array_add (g_array_index (self->padded, Padded, i).rows,
        gst_buffer_ref (g_ptr_array_index (rows, i)));
  return TRUE;
}

/* Padding */

guint
spdl_batch_builder_count_padded (const SpdlBatchBuilder *self)
{
  guint n = 0;

  for (guint i = 0; i < self->slots->len; i++)
    n += ((const Slot *) g_ptr_array_index (self->slots, i))->is_bytes;
  return n;
}

void
spdl_batch_builder_begin (SpdlBatchBuilder *self, GstSpdlBatchMeta *batch)
{
  spdl_batch_builder_cancel (self);
  for (guint i = 0; i < self->slots->len; i++) {
    const Slot *slot = g_ptr_array_index (self->slots, i);
    Padded padded = { slot->name, NULL, slot->row };

    if (!slot->is_bytes)
      continue;
    padded.rows =
        g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);
    g_array_append_val (self->padded, padded);
    gst_spdl_batch_meta_add_name (batch, slot->name);
  }
}

/* Returns the length in bytes of the longest row, which is at least 1 because
 * dimensions must not be 0. */
static gsize
get_longest (const Padded *self)
{
  gsize longest = 1;

  for (guint i = 0; i < self->rows->len; i++)
    longest =
        MAX (longest, gst_buffer_get_size (g_ptr_array_index (self->rows, i)));
  return longest;
}

GstMemory *
spdl_pad_rows (
    SpdlCopyRow copy, gconstpointer rows, guint n, gsize length, guint8 fill)
{
  void *data;

  if (length > G_MAXUINT32 || length > G_MAXSSIZE / n ||
      posix_memalign (&data, SPDL_SLAB_ALIGNMENT, length * n) != 0)
    return NULL;
  for (guint i = 0; i < n; i++) {
    guint8 *row = (guint8 *) data + i * length;
    const gsize size = copy (rows, i, row, length);

    memset (row + size, fill, length - size);
  }
  return gst_memory_new_wrapped (
      0, data, length * n, 0, length * n, data, free);
}

/* Implements SpdlCopyRow. */
static gsize
copy_row (gconstpointer rows, guint i, guint8 *place, gsize size)
{
  return gst_buffer_extract (
      g_ptr_array_index ((const GPtrArray *) rows, i), 0, place, size);
}

static GstMemory *
pad_rows (const Padded *self, gsize length)
{
  /* Only audio has a dimension of channels. */
  const gboolean is_u8_audio =
      self->row.type == GST_SPDL_TENSOR_UINT8 && self->row.rank > 0;

  return spdl_pad_rows (
      copy_row, self->rows, self->rows->len, length, is_u8_audio ? 0x80 : 0);
}

gboolean
spdl_batch_builder_end (SpdlBatchBuilder *self, GstBuffer *buffer,
    GstSpdlTensorsInfo *info, GError **error)
{
  for (guint i = 0; i < self->padded->len; i++) {
    const Padded *padded = &g_array_index (self->padded, Padded, i);
    const gsize moment = gst_spdl_tensor_info_get_size (&padded->row);
    const gsize longest = get_longest (padded) / moment * moment;
    GstMemory *memory = pad_rows (padded, MAX (longest, moment));
    GstSpdlTensorInfo tensor = padded->row;

    if (!memory) {
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
          "Not enough memory for \"%s\" of %u items, padded to %" G_GSIZE_FORMAT
          " bytes: lower batch-size",
          padded->name, padded->rows->len, longest);
      return FALSE;
    }
    gst_buffer_append_memory (buffer, memory);
    tensor.dims[tensor.rank++] = MAX (longest / moment, 1);
    tensor.dims[tensor.rank++] = padded->rows->len;
    gst_spdl_tensors_info_add (info, tensor.type, tensor.rank, tensor.dims);
  }
  return TRUE;
}

void
spdl_batch_builder_cancel (SpdlBatchBuilder *self)
{
  g_array_set_size (self->padded, 0);
}
