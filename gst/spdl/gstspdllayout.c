/* gst-spdl: how tensors lie in buffers of given caps
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gstspdllayout.h"

#include <unistd.h>

#include "gstspdlbatch-private.h"

#define UNLIKE_PIXELS                                            \
  (GST_VIDEO_FORMAT_FLAG_PALETTE | GST_VIDEO_FORMAT_FLAG_TILED | \
      GST_VIDEO_FORMAT_FLAG_COMPLEX)

/* Pixels by their components, all of them in one plane: 8 bits each, or 16 of
 * the machine's byte order. Returns the components of a pixel, padding too, and
 * 0 if it is not so. */
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
  return TRUE;
}

void
gst_spdl_layout_clear (GstSpdlLayout *self)
{
  gst_clear_caps (&self->caps);
  self->kind = GST_SPDL_LAYOUT_BYTES;
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

static const gchar *
name_of (const GstSpdlBatch *self, guint i)
{
  g_autofree gchar *name = NULL;

  if (self->meta && i < self->meta->num_tensors)
    return self->meta->names[i];
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

/* Returns: (transfer full) (nullable): all of @buffer as one memory */
static GstMemory *
get_whole (GstBuffer *buffer)
{
  return gst_buffer_n_memory (buffer) > 0 ? gst_buffer_get_all_memory (buffer)
                                          : NULL;
}

static gboolean
map_whole (
    GstSpdlTensor *tensor, gsize offset, gboolean exclusive, GError **error)
{
  GstBuffer *buffer = tensor->batch->buffer;
  GstMemory *memory = get_whole (buffer);

  if (memory)
    return gst_spdl_tensor_map (tensor, memory, offset,
        exclusive || gst_buffer_n_memory (buffer) > 1, error);
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "tensor \"%s\" has no memory", tensor->name);
  return FALSE;
}

static gboolean
view_bytes (GstSpdlBatch *self, gboolean exclusive, GError **error)
{
  GstSpdlTensor *tensor = name_tensor (self, 0);

  tensor->type = GST_SPDL_TENSOR_UINT8;
  tensor->n_dims = 1;
  tensor->shape[0] = gst_buffer_get_size (self->buffer);
  tensor->strides[0] = 1;
  return tensor->shape[0] == 0 || map_whole (tensor, 0, exclusive, error);
}

static gboolean
view_image (GstSpdlBatch *self, const GstSpdlLayout *layout, gboolean exclusive,
    GError **error)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (self->buffer);
  GstSpdlTensor *tensor = name_tensor (self, 0);
  gint64 stride;

  gst_spdl_tensor_set_info (tensor, &layout->info.tensors[0]);
  stride =
      meta ? meta->stride[0] : GST_VIDEO_INFO_PLANE_STRIDE (&layout->video, 0);
  if (stride < tensor->strides[0]) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "the rows of an image lie %" G_GINT64_FORMAT
        " bytes apart, but have %" G_GINT64_FORMAT,
        stride, tensor->strides[0]);
    return FALSE;
  }
  tensor->strides[0] = stride;
  return map_whole (tensor, meta ? meta->offset[0] : 0, exclusive, error);
}

/* A memory a tensor, as we make them; or all of them one behind the other. */
static gboolean
view_tensors (GstSpdlBatch *self, const GstSpdlLayout *layout,
    gboolean exclusive, GError **error)
{
  const gboolean apart = gst_buffer_n_memory (self->buffer) == self->n_tensors;
  gsize offset = 0;

  for (guint i = 0; i < self->n_tensors; i++) {
    const GstSpdlTensorInfo *info = &layout->info.tensors[i];
    GstSpdlTensor *tensor = name_tensor (self, i);
    gboolean ok;

    gst_spdl_tensor_set_info (tensor, info);
    if (apart)
      ok = gst_spdl_tensor_map (
          tensor, gst_buffer_get_memory (self->buffer, i), 0, exclusive, error);
    else
      ok = map_whole (tensor, offset, exclusive, error);
    if (!ok)
      return FALSE;
    offset += gst_spdl_tensor_info_get_size (info);
  }
  return TRUE;
}

GstSpdlBatch *
gst_spdl_layout_view (const GstSpdlLayout *layout, GstBuffer *buffer,
    gboolean exclusive, GError **error)
{
  const gboolean tensors = layout->kind == GST_SPDL_LAYOUT_TENSORS;
  GstSpdlBatch *self =
      make_batch (buffer, layout->caps, tensors ? layout->info.num_tensors : 1);
  gboolean ok;

  if (tensors)
    ok = view_tensors (self, layout, exclusive, error);
  else if (layout->kind == GST_SPDL_LAYOUT_IMAGE)
    ok = view_image (self, layout, exclusive, error);
  else
    ok = view_bytes (self, exclusive, error);
  if (!ok)
    g_clear_pointer (&self, gst_spdl_batch_unref);
  return self;
}
