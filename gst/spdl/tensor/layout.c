/* gst-spdl: layout of tensors in buffers of given caps
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/tensor/layout.h"

#include <unistd.h>

#include "gst/spdl/gstspdlcudamemory.h"
#include "gst/spdl/gstspdlpartsmeta.h"
#include "gst/spdl/tensor/audiocaps.h"

#define UNLIKE_PIXELS                                            \
  (GST_VIDEO_FORMAT_FLAG_PALETTE | GST_VIDEO_FORMAT_FLAG_TILED | \
      GST_VIDEO_FORMAT_FLAG_COMPLEX)

/* Returns the number of components of a pixel, including padding, if the pixels
 * are in one plane with 8 bits per component, or 16 bits in native byte order;
 * otherwise 0. */
static guint
count_channels (const GstVideoInfo *info)
{
  const GstVideoFormatInfo *format = info->finfo;
  const guint depth = GST_VIDEO_FORMAT_INFO_DEPTH (format, 0);
  const guint size = GST_VIDEO_FORMAT_INFO_PSTRIDE (format, 0);
  const gboolean little =
      (GST_VIDEO_FORMAT_INFO_FLAGS (format) & GST_VIDEO_FORMAT_FLAG_LE) != 0;

  if (GST_VIDEO_FORMAT_INFO_N_PLANES (format) != 1 ||
      (GST_VIDEO_FORMAT_INFO_FLAGS (format) & UNLIKE_PIXELS))
    return 0;
  for (guint i = 0; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format); i++)
    if (GST_VIDEO_FORMAT_INFO_DEPTH (format, i) != depth ||
        GST_VIDEO_FORMAT_INFO_SHIFT (format, i) != 0 ||
        GST_VIDEO_FORMAT_INFO_W_SUB (format, i) != 0 ||
        GST_VIDEO_FORMAT_INFO_H_SUB (format, i) != 0)
      return 0;
  if (depth == 8)
    return size;
  if (depth == 16 && size % 2 == 0 &&
      little == (G_BYTE_ORDER == G_LITTLE_ENDIAN))
    return size / 2;
  return 0;
}

static GstSpdlLayoutKind
read_video (GstSpdlLayout *self)
{
  guint n_channels;

  if (!gst_video_info_from_caps (&self->video, self->caps) ||
      (n_channels = count_channels (&self->video)) == 0)
    return GST_SPDL_LAYOUT_BYTES;

  const guint32 dims[] = { n_channels, GST_VIDEO_INFO_WIDTH (&self->video),
    GST_VIDEO_INFO_HEIGHT (&self->video) };
  gst_spdl_tensors_info_init (&self->info);
  gst_spdl_tensors_info_add (&self->info,
      GST_VIDEO_INFO_COMP_DEPTH (&self->video, 0) == 8 ? GST_SPDL_TENSOR_UINT8
                                                       : GST_SPDL_TENSOR_UINT16,
      G_N_ELEMENTS (dims), dims);
  return GST_SPDL_LAYOUT_IMAGE;
}

static GstSpdlLayoutKind
read_audio (GstSpdlLayout *self, const GstStructure *s)
{
  GstSpdlTensorType type;
  guint32 dims[] = { 0, 1 };

  if (!gst_spdl_read_audio_caps (s, &type, &dims[0]))
    return GST_SPDL_LAYOUT_BYTES;
  gst_spdl_tensors_info_init (&self->info);
  gst_spdl_tensors_info_add (&self->info, type, G_N_ELEMENTS (dims), dims);
  return GST_SPDL_LAYOUT_SOUND;
}

gboolean
gst_spdl_layout_set_caps (GstSpdlLayout *self, GstCaps *caps, GError **error)
{
  const GstStructure *s;

  if (G_LIKELY (self->caps == caps))
    return TRUE;
  gst_spdl_layout_clear (self);
  s = caps && gst_caps_get_size (caps) > 0 ? gst_caps_get_structure (caps, 0)
                                           : NULL;
  if (s && gst_structure_has_name (s, "other/tensors")) {
    if (!gst_spdl_tensors_info_from_caps (&self->info, caps, error))
      return FALSE;
    self->kind = GST_SPDL_LAYOUT_TENSORS;
  }
  self->caps = caps ? gst_caps_ref (caps) : NULL;
  if (s && gst_structure_has_name (s, "video/x-raw"))
    self->kind = read_video (self);
  else if (s && gst_structure_has_name (s, GST_SPDL_SAMPLE_CAPS))
    self->kind = GST_SPDL_LAYOUT_PARTS;
  else if (s && gst_structure_has_name (s, "audio/x-raw"))
    self->kind = read_audio (self, s);
  return TRUE;
}

void
gst_spdl_layout_clear (GstSpdlLayout *self)
{
  gst_clear_caps (&self->caps);
  self->kind = GST_SPDL_LAYOUT_BYTES;
}

/* Memory of a tensor */

/* Sets type and shape, with strides for contiguous elements. */
static void
set_info (GstSpdlTensor *self, const GstSpdlTensorInfo *info)
{
  gint64 stride = gst_spdl_tensor_type_get_size (info->type);

  self->type = info->type;
  self->n_dims = info->rank;
  for (guint i = 0; i < info->rank; i++) {
    const guint k = info->rank - 1 - i;

    self->shape[k] = info->dims[i];
    self->strides[k] = stride;
    stride *= info->dims[i];
  }
}

/* Returns the number of bytes from the first to the last element. */
static gsize
get_span (const GstSpdlTensor *self)
{
  gsize last = 0;

  for (guint i = 0; i < self->n_dims; i++) {
    if (self->shape[i] == 0)
      return 0;
    last += (self->shape[i] - 1) * self->strides[i];
  }
  return last + gst_spdl_tensor_type_get_size (self->type);
}

/* Maps @memory. Does not use gst_memory_is_writable(), which requires that the
 * buffer holds the last reference, since the tensor holds one too. Memory that
 * another buffer shares is mapped read-only. */
static gboolean
map_memory (GstSpdlTensor *self, GstMemory *memory, gboolean exclusive)
{
  self->writable =
      exclusive && gst_memory_map (memory, &self->map, GST_MAP_READWRITE);
  if (self->writable || gst_memory_map (memory, &self->map, GST_MAP_READ))
    return TRUE;
  self->map.memory = NULL;
  return FALSE;
}

/* Takes @memory. Device memory is not mapped, but has an address on the
 * device. */
static void
take_memory (GstSpdlTensor *self, GstMemory *memory, gboolean exclusive)
{
  self->device_type = GST_SPDL_DEVICE_CUDA;
  self->device_id = gst_spdl_cuda_memory_get_device_id (memory);
  self->writable = exclusive;
  self->map = (GstMapInfo){ .memory = memory,
    .data = gst_spdl_cuda_memory_get_address (memory),
    .size = memory->size };
}

static void
unmap_tensor (GstSpdlTensor *self)
{
  GstMemory *memory = self->map.memory;

  if (!memory)
    return;
  if (self->device_type == GST_SPDL_DEVICE_CPU)
    gst_memory_unmap (memory, &self->map);
  gst_memory_unref (memory);
  self->map.memory = NULL;
}

/* Maps @memory (transfer full), in which the tensor begins at @offset. It is
 * writable if it is @exclusive and no other references exist. */
static gboolean
map_tensor (GstSpdlTensor *self, GstMemory *memory, gsize offset,
    gboolean exclusive, GError **error)
{
  const gsize span = get_span (self);

  self->device_type = GST_SPDL_DEVICE_CPU;
  if (gst_spdl_is_cuda_memory (memory)) {
    take_memory (self, memory, exclusive);
  } else if (!map_memory (self, memory, exclusive)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "Failed to map the memory of tensor \"%s\" (%s)", self->name,
        memory->allocator ? memory->allocator->mem_type : "?");
    gst_memory_unref (memory);
    return FALSE;
  }
  if (offset > self->map.size || span > self->map.size - offset) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "Tensor \"%s\" needs %" G_GSIZE_FORMAT
        " bytes, but its buffer has only %" G_GSIZE_FORMAT,
        self->name, span, self->map.size - MIN (offset, self->map.size));
    unmap_tensor (self);
    return FALSE;
  }
  self->data = self->map.data + offset;
  self->size = span;
  return TRUE;
}

/* Views */

static GstSpdlBatch *
make_batch (GstBuffer *buffer, GstCaps *caps, guint n_tensors)
{
  GstSpdlBatch *self =
      g_malloc0 (sizeof (GstSpdlBatch) + n_tensors * sizeof (GstSpdlTensor));

  self->n_refs = 1;
  self->pid = getpid ();
  self->buffer = gst_buffer_ref (buffer);
  self->caps = caps ? gst_caps_ref (caps) : NULL;
  self->n_tensors = n_tensors;
  self->meta = gst_spdl_buffer_get_batch_meta (buffer);
  if (self->meta) {
    self->items = self->meta->items;
    self->n_items = self->meta->num_items;
  } else if ((self->items = gst_spdl_buffer_get_item_meta (buffer))) {
    self->n_items = 1;
  }
  return self;
}

void
gst_spdl_batch_free (GstSpdlBatch *self)
{
  for (guint i = 0; i < self->n_tensors; i++)
    unmap_tensor (&self->tensors[i]);
  gst_buffer_unref (self->buffer);
  gst_clear_caps (&self->caps);
  g_free (self);
}

static const gchar *
name_of (const GstSpdlBatch *self, guint i)
{
  g_autofree gchar *name = NULL;
  const gchar *given;

  if (self->meta && i < self->meta->num_tensors)
    return self->meta->names[i];
  if ((given = gst_spdl_caps_get_tensor_name (self->caps, i)))
    return given;
  if (i == 0)
    return "data";
  name = g_strdup_printf ("data%u", i);
  return g_intern_string (name);
}

static GstSpdlTensor *
name_tensor (GstSpdlBatch *self, guint i)
{
  GstSpdlTensor *tensor = &self->tensors[i];

  tensor->batch = self;
  tensor->name = name_of (self, i);
  tensor->device_type = GST_SPDL_DEVICE_CPU;
  return tensor;
}

/* The bytes of a part, or of the whole buffer. */
typedef struct {
  GstBuffer *buffer;
  const GstSpdlPart *part; /* nullable: NULL: the whole buffer */
  gboolean exclusive;      /* no other references exist */
} Bytes;

static gsize
get_size (const Bytes *bytes)
{
  return bytes->part ? bytes->part->size : gst_buffer_get_size (bytes->buffer);
}

/* Maps the bytes at @offset. */
static gboolean
map_bytes (
    GstSpdlTensor *tensor, const Bytes *bytes, gsize offset, GError **error)
{
  GstBuffer *buffer = bytes->buffer;
  guint first = 0, n = gst_buffer_n_memory (buffer);

  if (bytes->part && bytes->part->size > 0) {
    gsize skip;

    if (!gst_buffer_find_memory (
            buffer, bytes->part->offset, bytes->part->size, &first, &n, &skip))
      n = 0;
    offset += skip;
  }
  /* Several memories are copied into one. */
  if (n > 0)
    return map_tensor (tensor, gst_buffer_get_memory_range (buffer, first, n),
        offset, bytes->exclusive || n > 1, error);
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "Tensor \"%s\" has no memory", tensor->name);
  return FALSE;
}

static gboolean
view_bytes (GstSpdlTensor *tensor, const Bytes *bytes, GError **error)
{
  tensor->type = GST_SPDL_TENSOR_UINT8;
  tensor->n_dims = 1;
  tensor->shape[0] = get_size (bytes);
  tensor->strides[0] = 1;
  return tensor->shape[0] == 0 || map_bytes (tensor, bytes, 0, error);
}

static gboolean
view_image (GstSpdlTensor *tensor, const Bytes *bytes,
    const GstSpdlLayout *layout, GError **error)
{
  const GstVideoMeta *meta =
      bytes->part ? NULL : gst_buffer_get_video_meta (bytes->buffer);
  gint64 stride;

  set_info (tensor, &layout->info.tensors[0]);
  stride =
      meta ? meta->stride[0] : GST_VIDEO_INFO_PLANE_STRIDE (&layout->video, 0);
  if (stride < tensor->strides[0]) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The image has a stride of %" G_GINT64_FORMAT
        " bytes, but its rows need %" G_GINT64_FORMAT,
        stride, tensor->strides[0]);
    return FALSE;
  }
  tensor->strides[0] = stride;
  return map_bytes (tensor, bytes, meta ? meta->offset[0] : 0, error);
}

/* Sets the shape: samples by channels. */
static gboolean
view_sound (GstSpdlTensor *tensor, const Bytes *bytes,
    const GstSpdlLayout *layout, GError **error)
{
  GstSpdlTensorInfo info = layout->info.tensors[0];

  info.dims[1] = get_size (bytes) / gst_spdl_tensor_info_get_size (&info);
  set_info (tensor, &info);
  return map_bytes (tensor, bytes, 0, error);
}

/* Views tensors, which have one memory each, as in batches of this project, or
 * are contiguous. */
static gboolean
view_tensors (GstSpdlTensor *tensors, const Bytes *bytes,
    const GstSpdlLayout *layout, GError **error)
{
  const guint n = layout->info.num_tensors;
  const gboolean apart =
      !bytes->part && gst_buffer_n_memory (bytes->buffer) == n;
  gsize offset = 0;

  for (guint i = 0; i < n; i++) {
    const GstSpdlTensorInfo *info = &layout->info.tensors[i];
    gboolean ok;

    set_info (&tensors[i], info);
    if (apart)
      ok = map_tensor (&tensors[i], gst_buffer_get_memory (bytes->buffer, i), 0,
          bytes->exclusive, error);
    else
      ok = gst_spdl_tensor_info_get_size (info) == 0 ||
           map_bytes (&tensors[i], bytes, offset, error);
    if (!ok)
      return FALSE;
    offset += gst_spdl_tensor_info_get_size (info);
  }
  return TRUE;
}

static guint
count_tensors (const GstSpdlLayout *layout)
{
  return layout->kind == GST_SPDL_LAYOUT_TENSORS ? layout->info.num_tensors : 1;
}

/* Views the tensors of a buffer or part.
 *
 * @tensors: array with the length that count_tensors() returns, with names */
static gboolean
view_tensor (GstSpdlTensor *tensors, const Bytes *bytes,
    const GstSpdlLayout *layout, GError **error)
{
  switch (layout->kind) {
    case GST_SPDL_LAYOUT_TENSORS:
      return view_tensors (tensors, bytes, layout, error);
    case GST_SPDL_LAYOUT_IMAGE:
      return view_image (tensors, bytes, layout, error);
    case GST_SPDL_LAYOUT_SOUND:
      return view_sound (tensors, bytes, layout, error);
    default:
      return view_bytes (tensors, bytes, error);
  }
}

/* Samples of several media */

/* Returns TRUE if a part of @size bytes has all data that its caps require. */
static gboolean
has_all (const GstSpdlLayout *layout, gsize size)
{
  gsize needed = 0;

  if (layout->kind == GST_SPDL_LAYOUT_IMAGE)
    return size >= GST_VIDEO_INFO_SIZE (&layout->video);
  for (guint i = 0; i < count_tensors (layout); i++)
    if (layout->kind == GST_SPDL_LAYOUT_TENSORS &&
        !g_size_checked_add (&needed, needed,
            gst_spdl_tensor_info_get_size (&layout->info.tensors[i])))
      return FALSE;
  return size >= needed;
}

/* Reads the caps of all parts into @layouts, and calculates the number of
 * tensors. */
static gboolean
read_parts (const GstSpdlPartsMeta *parts, GstSpdlLayout *layouts,
    guint *n_tensors, GError **error)
{
  *n_tensors = 0;
  for (guint i = 0; i < parts->num_parts; i++) {
    const GstSpdlPart *part = &parts->parts[i];

    if (!gst_spdl_layout_set_caps (&layouts[i], part->caps, error))
      return FALSE;
    if (!has_all (&layouts[i], part->size)) {
      g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
          "Part \"%s\" has fewer bytes than its caps require", part->name);
      return FALSE;
    }
    *n_tensors += count_tensors (&layouts[i]);
  }
  return TRUE;
}

/* Names tensors after the part; from the second one on, followed by a
 * number. */
static void
name_tensors (GstSpdlBatch *self, guint first, guint n, const gchar *part)
{
  for (guint i = 0; i < n; i++) {
    g_autofree gchar *name =
        i == 0 ? g_strdup (part) : g_strdup_printf ("%s%u", part, i);

    name_tensor (self, first + i)->name = g_intern_string (name);
  }
}

static gboolean
view_parts (GstSpdlBatch *self, const GstSpdlPartsMeta *parts,
    const GstSpdlLayout *layouts, gboolean exclusive, GError **error)
{
  guint first = 0;

  for (guint i = 0; i < parts->num_parts; i++) {
    const Bytes bytes = { self->buffer, &parts->parts[i], exclusive };
    const guint n = count_tensors (&layouts[i]);

    name_tensors (self, first, n, parts->parts[i].name);
    if (!view_tensor (&self->tensors[first], &bytes, &layouts[i], error))
      return FALSE;
    first += n;
  }
  return TRUE;
}

static GstSpdlBatch *
view_sample (const GstSpdlLayout *layout, GstBuffer *buffer, gboolean exclusive,
    GError **error)
{
  const GstSpdlPartsMeta *parts = gst_spdl_buffer_get_parts_meta (buffer);
  const guint n = parts ? parts->num_parts : 0;
  g_autofree GstSpdlLayout *layouts = g_new0 (GstSpdlLayout, n);
  GstSpdlBatch *self = NULL;
  guint n_tensors;

  if (n == 0)
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The sample of several media has no parts");
  else if (read_parts (parts, layouts, &n_tensors, error))
    self = make_batch (buffer, layout->caps, n_tensors);
  if (self && !view_parts (self, parts, layouts, exclusive, error))
    g_clear_pointer (&self, gst_spdl_batch_free);
  for (guint i = 0; i < n; i++)
    gst_spdl_layout_clear (&layouts[i]);
  return self;
}

GstSpdlBatch *
gst_spdl_layout_view (const GstSpdlLayout *layout, GstBuffer *buffer,
    gboolean exclusive, GError **error)
{
  const Bytes bytes = { buffer, NULL, exclusive };
  GstSpdlBatch *self;

  if (layout->kind == GST_SPDL_LAYOUT_PARTS)
    return view_sample (layout, buffer, exclusive, error);
  self = make_batch (buffer, layout->caps, count_tensors (layout));
  for (guint i = 0; i < self->n_tensors; i++)
    name_tensor (self, i);
  if (!view_tensor (self->tensors, &bytes, layout, error))
    g_clear_pointer (&self, gst_spdl_batch_free);
  return self;
}
