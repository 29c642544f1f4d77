/* gst-spdl: samples, batches, decoders and processes for the Python package
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/binding/binding.h"
#include "gst/spdl/binding/structurejson.h"
#include "gst/spdl/common/bufferitems.h"
#include "gst/spdl/gstspdlitemmeta.h"
#include "gst/spdl/gstspdlpartsmeta.h"
#include "gst/spdl/wire/serializer.h"

gpointer
gst_spdl_binding_ref (gpointer mini_object)
{
  return gst_mini_object_ref (mini_object);
}

void
gst_spdl_binding_unref (gpointer mini_object)
{
  gst_mini_object_unref (mini_object);
}

GstCaps *
gst_spdl_binding_caps_new (const gchar *description)
{
  return gst_caps_from_string (description);
}

/* @buffer: (transfer full) */
static GstSample *
new_sample (GstBuffer *buffer, GstCaps *caps)
{
  GstSample *sample = gst_sample_new (buffer, caps, NULL, NULL);

  gst_buffer_unref (buffer);
  return sample;
}

GstSample *
gst_spdl_binding_sample_new (
    gconstpointer data, gsize size, GstCaps *caps, SpdlProcessLink *link)
{
  GstBuffer *buffer =
      link && size > 0 ? gst_spdl_process_link_alloc (link, size) : NULL;

  if (buffer)
    gst_buffer_fill (buffer, 0, data, size);
  else
    buffer = size > 0 ? gst_buffer_new_memdup (data, size) : gst_buffer_new ();
  return new_sample (buffer, caps);
}

GstSample *
gst_spdl_binding_sample_new_from_buffer (GstBuffer *buffer)
{
  return gst_sample_new (buffer, NULL, NULL, NULL);
}

GstSample *
gst_spdl_binding_sample_new_from_parts (
    guint n, const gchar *const *names, GstSample *const *parts)
{
  GstBuffer *buffer = gst_buffer_new ();
  g_autoptr (GstCaps) caps = gst_caps_from_string (GST_SPDL_SAMPLE_CAPS);

  for (guint i = 0; i < n; i++)
    if (!gst_spdl_buffer_append_part (buffer, names[i],
            gst_sample_get_buffer (parts[i]), gst_sample_get_caps (parts[i]))) {
      gst_buffer_unref (buffer);
      return NULL;
    }
  return new_sample (buffer, caps);
}

GstSample *
gst_spdl_binding_sample_new_from_items (guint n, GstSample *const *items)
{
  g_autoptr (GstBufferList) group = gst_buffer_list_new_sized (MAX (n, 1));
  GstCaps *caps = n > 0 ? gst_sample_get_caps (items[0]) : NULL;
  GstSample *sample;

  for (guint i = 0; i < n; i++) {
    GstCaps *own = gst_sample_get_caps (items[i]);

    if (own != caps && !(own && caps && gst_caps_is_equal (own, caps)))
      return NULL;
    gst_buffer_list_add (
        group, gst_buffer_ref (gst_sample_get_buffer (items[i])));
  }
  sample = gst_sample_new (NULL, caps, NULL, NULL);
  gst_sample_set_buffer_list (sample, group);
  return sample;
}

gboolean
gst_spdl_binding_sample_is_group (GstSample *sample, guint *n_items)
{
  GstBufferList *group = gst_sample_get_buffer_list (sample);

  *n_items = group ? gst_buffer_list_length (group) : 1;
  return group != NULL;
}

GstSample *
gst_spdl_binding_sample_dup_item (GstSample *sample, guint i)
{
  GstBufferList *group = gst_sample_get_buffer_list (sample);

  if (!group || i >= gst_buffer_list_length (group))
    return NULL;
  return gst_sample_new (
      gst_buffer_list_get (group, i), gst_sample_get_caps (sample), NULL, NULL);
}

gboolean
gst_spdl_binding_sample_get_item (GstSample *sample, GstSpdlBindingItem *item)
{
  GstBuffer *buffer = gst_sample_get_buffer (sample);
  const GstSpdlItemMeta *meta =
      buffer ? gst_spdl_buffer_get_item_meta (buffer) : NULL;

  if (!meta)
    return FALSE;
  *item = (GstSpdlBindingItem){
    .epoch = meta->epoch,
    .index = meta->index,
    .label = meta->label,
    .uri = meta->uri,
  };
  return TRUE;
}

gchar *
gst_spdl_binding_sample_dup_caps (GstSample *sample)
{
  GstCaps *caps = gst_sample_get_caps (sample);

  return caps ? gst_caps_to_string (caps) : g_strdup ("");
}

gsize
gst_spdl_binding_sample_get_size (GstSample *sample)
{
  GstBuffer *buffer = gst_sample_get_buffer (sample);

  return buffer ? gst_buffer_get_size (buffer) : 0;
}

void
gst_spdl_binding_sample_copy_data (GstSample *sample, gpointer dest, gsize size)
{
  gst_buffer_extract (gst_sample_get_buffer (sample), 0, dest, size);
}

GstSpdlBatch *
gst_spdl_binding_sample_view (GstSample *sample, GError **error)
{
  GstBuffer *buffer = gst_sample_get_buffer (sample);

  if (buffer)
    return gst_spdl_batch_new (buffer, gst_sample_get_caps (sample), error);
  g_set_error_literal (error, GST_SPDL_LOADER_ERROR,
      GST_SPDL_LOADER_ERROR_FAILED,
      "A group has no tensors: read the tensors of its items");
  return NULL;
}

/* Extra fields */

static gchar *
dup_extra (const GstSpdlItemMeta *item)
{
  GString *json;

  if (!item || !item->extra)
    return NULL;
  json = g_string_new (NULL);
  spdl_json_append_structure (json, item->extra);
  return g_string_free (json, FALSE);
}

static const GstSpdlItemMeta *
get_item (GstSample *sample)
{
  GstBuffer *buffer = gst_sample_get_buffer (sample);

  return buffer ? gst_spdl_buffer_get_item_meta (buffer) : NULL;
}

gchar *
gst_spdl_binding_sample_dup_extra (GstSample *sample)
{
  return dup_extra (get_item (sample));
}

static gboolean
set_field (GQuark field, const GValue *value, gpointer user_data)
{
  gst_structure_id_set_value (user_data, field, value);
  return TRUE;
}

/* Returns (transfer full) (nullable) the fields of @extra (nullable) with
 * changes; NULL if these are invalid. */
static GstStructure *
change_extra (const GstStructure *extra, gconstpointer changes, gsize size,
    const gchar *const *gone)
{
  SpdlPayload payload = spdl_payload (changes, size);
  g_autoptr (GstStructure) fields = spdl_get_structure (&payload);
  GstStructure *changed;

  if (!fields || payload.broken)
    return NULL;
  changed =
      extra ? gst_structure_copy (extra) : gst_structure_new_empty ("extra");
  gst_structure_foreach (fields, set_field, changed);
  for (guint i = 0; gone[i]; i++)
    gst_structure_remove_field (changed, gone[i]);
  return changed;
}

GstSample *
gst_spdl_binding_sample_with_extra (GstSample *sample, GstSample *item,
    gconstpointer changes, gsize size, const gchar *const *gone)
{
  const GstSpdlItemMeta *meta = get_item (item);
  GstBuffer *buffer = gst_sample_get_buffer (sample);
  GstSpdlItemMeta *own;
  GstStructure *extra;

  if (!meta || !buffer)
    return NULL;
  buffer = gst_buffer_copy (buffer);
  if (!(own = gst_spdl_buffer_get_item_meta (buffer))) {
    own = gst_spdl_buffer_add_item_meta (buffer);
    gst_spdl_item_meta_assign (own, meta);
  }
  if (!(extra = change_extra (own->extra, changes, size, gone))) {
    gst_buffer_unref (buffer);
    return NULL;
  }
  g_clear_pointer (&own->extra, gst_structure_free);
  own->extra = extra;
  return new_sample (buffer, gst_sample_get_caps (sample));
}

gboolean
gst_spdl_binding_sample_keep_extra (GstSample *sample, gconstpointer changes,
    gsize size, const gchar *const *gone)
{
  const GstSpdlItemMeta *meta = get_item (sample);
  GstStructure *extra =
      meta ? change_extra (meta->extra, changes, size, gone) : NULL;

  if (extra)
    spdl_sample_set_new_extra (sample, extra);
  return extra != NULL;
}

/* Tensors */

/* NumPy's NPY_ARRAY_NOTSWAPPED and NPY_ARRAY_WRITEABLE. It determines the other
 * flags itself. */
#define NOTSWAPPED 0x200
#define WRITEABLE 0x400

/* NumPy has no bfloat16, and does not read the memory of a device. */
static void
fill_array_interface (GstSpdlTensor *tensor, GstSpdlBindingTensor *view)
{
  SpdlArrayInterface *array = &view->array;
  guint n;

  if (view->device_type != GST_SPDL_DEVICE_CPU || view->typestr[1] == 'V')
    return;
  array->two = 2;
  array->n_dims = (gint) view->n_dims;
  array->kind = view->typestr[1];
  array->itemsize = view->typestr[2] - '0';
  array->flags = NOTSWAPPED | (view->writable ? WRITEABLE : 0);
  array->shape = view->shape;
  array->strides = gst_spdl_tensor_get_strides (tensor, &n);
  array->data = view->address;
}

void
gst_spdl_binding_tensor_describe (
    GstSpdlTensor *tensor, GstSpdlBindingTensor *view)
{
  *view = (GstSpdlBindingTensor){
    .tensor = tensor,
    .typestr = gst_spdl_tensor_get_typestr (tensor),
    .address = gst_spdl_tensor_get_address (tensor),
    .contiguous = gst_spdl_tensor_is_contiguous (tensor),
    .writable = gst_spdl_tensor_is_writable (tensor),
  };
  view->shape = gst_spdl_tensor_get_shape (tensor, &view->n_dims);
  view->device_type =
      (gint) gst_spdl_tensor_get_device (tensor, &view->device_id);
  fill_array_interface (tensor, view);
}

/* @tensor: (transfer full) (nullable): a tensor of a batch that stays */
static gboolean
describe_own (GstSpdlTensor *tensor, GstSpdlBindingTensor *view)
{
  if (!tensor)
    return FALSE;
  gst_spdl_binding_tensor_describe (tensor, view);
  /* The batch keeps the tensor alive. */
  gst_spdl_tensor_unref (tensor);
  return TRUE;
}

gboolean
gst_spdl_binding_batch_find_tensor (
    GstSpdlBatch *batch, const gchar *name, GstSpdlBindingTensor *view)
{
  return describe_own (gst_spdl_batch_find_tensor (batch, name), view);
}

gboolean
gst_spdl_binding_batch_get_tensor (
    GstSpdlBatch *batch, guint i, GstSpdlBindingTensor *view)
{
  return describe_own (gst_spdl_batch_dup_tensor (batch, i), view);
}

/* Batches */

gchar *
gst_spdl_binding_batch_dup_extra (const GstSpdlBatch *batch, guint i)
{
  return dup_extra (gst_spdl_batch_get_item (batch, i));
}

GstSpdlBatch *
gst_spdl_binding_batch_copy (const GstSpdlBatch *batch, GError **error)
{
  g_autoptr (GstBuffer) copy =
      gst_buffer_copy_deep (gst_spdl_batch_get_buffer (batch));

  return gst_spdl_batch_new (copy, gst_spdl_batch_get_caps (batch), error);
}

GstSpdlBatch *
gst_spdl_binding_decode (GstSpdlDecoder *decoder, gconstpointer data,
    gsize size, guint64 epoch, guint64 index, GError **error)
{
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);

  return gst_spdl_decoder_decode (decoder, bytes, epoch, index, error);
}

/* Capsules of DLPack */

#define UNUSED "dltensor"

static SpdlCapsuleIsValid capsule_is_valid;
static SpdlCapsuleGetPointer capsule_get_pointer;

void
gst_spdl_capsule_init (
    SpdlCapsuleIsValid is_valid, SpdlCapsuleGetPointer get_pointer)
{
  capsule_is_valid = is_valid;
  capsule_get_pointer = get_pointer;
}

void
gst_spdl_capsule_free (gpointer capsule)
{
  if (capsule_is_valid (capsule, UNUSED))
    gst_spdl_dlpack_free (capsule_get_pointer (capsule, UNUSED));
}

/* Worker processes */

gpointer
gst_spdl_binding_sample_get_bytes (GstSample *sample, gsize *size)
{
  GstBuffer *buffer = gst_sample_get_buffer (sample);
  GstMapInfo map;

  if (!buffer || gst_buffer_n_memory (buffer) != 1 ||
      !gst_buffer_map (buffer, &map, GST_MAP_READ))
    return NULL;
  *size = map.size;
  /* Mapping shared memory does nothing. */
  gst_buffer_unmap (buffer, &map);
  return map.data;
}

int
gst_spdl_binding_process_link_get_socket (SpdlProcessLink *link)
{
  return link->socket;
}

GstSample *
gst_spdl_binding_process_link_alloc (
    SpdlProcessLink *link, gsize size, gpointer *address)
{
  g_autoptr (GstBuffer) buffer = gst_spdl_process_link_alloc (link, size);
  GstSample *sample;

  if (!buffer)
    return NULL;
  sample = gst_sample_new (buffer, NULL, NULL, NULL);
  *address = gst_spdl_binding_sample_get_bytes (sample, &size);
  return sample;
}
