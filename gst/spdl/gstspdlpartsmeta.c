/* gst-spdl: metadata of samples of several media
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:gstspdlpartsmeta
 * @title: GstSpdlPartsMeta
 * @short_description: metadata of samples of several media
 *
 * A sample of several media, such as an image and its mask, is one #GstBuffer
 * of caps `application/x-spdl-sample`. Each part has a separate memory, and a
 * #GstSpdlPartsMeta gives its name, caps and position. `spdlfetch` creates such
 * samples, and programs can create them:
 *
 * |[<!-- language="C" -->
 * sample = gst_buffer_new ();
 * gst_spdl_buffer_append_part (sample, "data", image, image_caps);
 * gst_spdl_buffer_append_part (sample, "mask", mask, mask_caps);
 * ]|
 *
 * Since: 0.1
 */

#include "gst/spdl/gstspdlpartsmeta.h"

#include <gst/video/video.h>
#include <string.h>

#include "gst/spdl/common/tryallocator.h"
#include "gst/spdl/common/metatype.h"

/* The meta describes the memory, and is invalid for other memory. */
SPDL_DEFINE_META_API (
    GstSpdlPartsMeta, gst_spdl_parts_meta, GST_META_TAG_MEMORY_STR)

static gboolean
parts_meta_init (GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  ((GstSpdlPartsMeta *) meta)->num_parts = 0;
  return TRUE;
}

static void
parts_meta_free (GstMeta *meta, GstBuffer *buffer)
{
  GstSpdlPartsMeta *self = (GstSpdlPartsMeta *) meta;

  for (guint i = 0; i < self->num_parts; i++) {
    g_ref_string_release (self->parts[i].name);
    gst_clear_caps (&self->parts[i].caps);
  }
}

static GstSpdlPartsMeta *
add_meta (GstBuffer *buffer)
{
  return (GstSpdlPartsMeta *) gst_buffer_add_meta (
      buffer, gst_spdl_parts_meta_get_info (), NULL);
}

/* @name: (transfer full): a GRefString */
static void
add_part (GstSpdlPartsMeta *self, gchar *name, GstCaps *caps, gsize offset,
    gsize size)
{
  self->parts[self->num_parts++] =
      (GstSpdlPart){ name, caps ? gst_caps_ref (caps) : NULL, offset, size };
}

static gboolean
parts_meta_transform (GstBuffer *dest, GstMeta *meta, GstBuffer *buffer,
    GQuark type, gpointer data)
{
  const GstSpdlPartsMeta *self = (GstSpdlPartsMeta *) meta;
  GstSpdlPartsMeta *copy;

  /* Only a copy of all bytes has the same parts. */
  if (!GST_META_TRANSFORM_IS_COPY (type) ||
      ((GstMetaTransformCopy *) data)->region ||
      gst_spdl_buffer_get_parts_meta (dest))
    return TRUE;
  if (!(copy = add_meta (dest)))
    return FALSE;
  for (guint i = 0; i < self->num_parts; i++) {
    const GstSpdlPart *part = &self->parts[i];

    add_part (copy, g_ref_string_acquire (part->name), part->caps, part->offset,
        part->size);
  }
  return TRUE;
}

/**
 * gst_spdl_parts_meta_get_info: (skip)
 *
 * Returns: the implementation of #GstSpdlPartsMeta
 *
 * Since: 0.1
 */
SPDL_DEFINE_META_INFO (GstSpdlPartsMeta, gst_spdl_parts_meta,
    sizeof (GstSpdlPartsMeta), parts_meta_init, parts_meta_free,
    parts_meta_transform)

/**
 * gst_spdl_buffer_get_parts_meta:
 * @buffer: (transfer none): a buffer
 *
 * Gets the description of the parts of a buffer.
 *
 * Returns: (transfer none) (nullable): the meta, owned by @buffer; %NULL if
 *     @buffer is not a sample of several media
 *
 * Since: 0.1
 */
GstSpdlPartsMeta *
gst_spdl_buffer_get_parts_meta (GstBuffer *buffer)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  return (GstSpdlPartsMeta *) gst_buffer_get_meta (
      buffer, GST_SPDL_PARTS_META_API_TYPE);
}

/**
 * gst_spdl_parts_meta_get_part:
 * @parts: a meta
 * @i: index of the part, less than `num_parts`
 *
 * Gets a part by its index.
 *
 * Returns: (transfer none) (nullable): the part, valid as long as @parts
 *
 * Since: 0.1
 */
const GstSpdlPart *
gst_spdl_parts_meta_get_part (GstSpdlPartsMeta *parts, guint i)
{
  g_return_val_if_fail (parts != NULL, NULL);

  return i < parts->num_parts ? &parts->parts[i] : NULL;
}

/**
 * gst_spdl_parts_meta_find_part:
 * @parts: a meta
 * @name: name of the part
 *
 * Gets a part by its name.
 *
 * Returns: (transfer none) (nullable): the part, valid as long as @parts; %NULL
 *     if no part has that name
 *
 * Since: 0.1
 */
const GstSpdlPart *
gst_spdl_parts_meta_find_part (GstSpdlPartsMeta *parts, const gchar *name)
{
  g_return_val_if_fail (parts != NULL && name != NULL, NULL);

  for (guint i = 0; i < parts->num_parts; i++)
    if (g_str_equal (parts->parts[i].name, name))
      return &parts->parts[i];
  return NULL;
}

/* Returns TRUE if the rows of @part have other strides or offsets than
 * @info. */
static gboolean
lies_otherwise (GstBuffer *part, GstCaps *caps, GstVideoInfo *info)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (part);

  if (!meta || !caps || !gst_video_info_from_caps (info, caps))
    return FALSE;
  for (guint i = 0; i < meta->n_planes; i++)
    if (meta->stride[i] != GST_VIDEO_INFO_PLANE_STRIDE (info, i) ||
        meta->offset[i] != GST_VIDEO_INFO_PLANE_OFFSET (info, i))
      return TRUE;
  return FALSE;
}

/* Returns: (transfer full) (nullable): the pixels in the default layout of the
 * caps */
static GstBuffer *
lay_out (GstBuffer *part, const GstVideoInfo *info)
{
  GstBuffer *plain = gst_spdl_buffer_try_new (GST_VIDEO_INFO_SIZE (info));
  GstVideoFrame from, to;
  gboolean ok = FALSE;

  if (!plain)
    return NULL;
  if (gst_video_frame_map (&to, info, plain, GST_MAP_WRITE)) {
    if (gst_video_frame_map (&from, info, part, GST_MAP_READ)) {
      ok = gst_video_frame_copy (&to, &from);
      gst_video_frame_unmap (&from);
    }
    gst_video_frame_unmap (&to);
  }
  if (!ok)
    gst_clear_buffer (&plain);
  return plain;
}

/* @name: (transfer full): a GRefString */
static gboolean
append_part (GstBuffer *buffer, GstSpdlPartsMeta *meta, gchar *name,
    GstBuffer *part, GstCaps *caps)
{
  const gsize offset = gst_buffer_get_size (buffer);
  g_autoptr (GstBuffer) plain = NULL;
  GstVideoInfo info;

  if (lies_otherwise (part, caps, &info)) {
    if (!(plain = lay_out (part, &info))) {
      g_ref_string_release (name);
      return FALSE;
    }
    part = plain;
  }
  if (!gst_buffer_copy_into (buffer, part, GST_BUFFER_COPY_MEMORY, 0, -1)) {
    g_ref_string_release (name);
    return FALSE;
  }
  add_part (meta, name, caps, offset, gst_buffer_get_size (part));
  return TRUE;
}

/**
 * gst_spdl_buffer_append_part:
 * @buffer: (transfer none): a writable buffer: an empty one, or a sample of
 *     several media
 * @name: name of the part, which must be unique in @buffer
 * @part: (transfer none): bytes of the part, whose memory @buffer shares
 * @caps: (transfer none) (nullable): format of the part; %NULL: bytes of an
 *     unknown format
 *
 * Appends a part to a sample. Raw video with a #GstVideoMeta that differs from
 * the layout of @caps is copied.
 *
 * Returns: %FALSE if @buffer has bytes without a part, has %GST_SPDL_MAX_PARTS
 *     parts or a part of that name, or if @part cannot be copied
 *
 * Since: 0.1
 */
gboolean
gst_spdl_buffer_append_part (
    GstBuffer *buffer, const gchar *name, GstBuffer *part, GstCaps *caps)
{
  GstSpdlPartsMeta *meta;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), FALSE);
  g_return_val_if_fail (gst_buffer_is_writable (buffer), FALSE);
  g_return_val_if_fail (name != NULL && *name != '\0', FALSE);
  g_return_val_if_fail (GST_IS_BUFFER (part), FALSE);
  g_return_val_if_fail (caps == NULL || gst_caps_is_fixed (caps), FALSE);

  meta = gst_spdl_buffer_get_parts_meta (buffer);
  if (!meta && gst_buffer_get_size (buffer) > 0)
    return FALSE;
  if (meta && (meta->num_parts == GST_SPDL_MAX_PARTS ||
                  gst_spdl_parts_meta_find_part (meta, name)))
    return FALSE;
  if (!meta)
    meta = add_meta (buffer);
  return append_part (buffer, meta, g_ref_string_new (name), part, caps);
}

static GstBuffer *
share_buffer (GstBuffer *buffer, const GstSpdlPart *part)
{
  GstBuffer *shared = gst_buffer_new ();

  if (part->size > 0 && !gst_buffer_copy_into (shared, buffer,
                            GST_BUFFER_COPY_MEMORY, part->offset, part->size))
    gst_clear_buffer (&shared);
  return shared;
}

/**
 * gst_spdl_buffer_dup_part:
 * @buffer: (transfer none): a buffer
 * @name: name of the part
 *
 * Extracts a part.
 *
 * Returns: (transfer full) (nullable): a new buffer that shares the memory of
 *     the part; %NULL if no part has that name
 *
 * Since: 0.1
 */
GstBuffer *
gst_spdl_buffer_dup_part (GstBuffer *buffer, const gchar *name)
{
  GstSpdlPartsMeta *meta;
  const GstSpdlPart *part;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);
  g_return_val_if_fail (name != NULL, NULL);

  meta = gst_spdl_buffer_get_parts_meta (buffer);
  part = meta ? gst_spdl_parts_meta_find_part (meta, name) : NULL;
  return part ? share_buffer (buffer, part) : NULL;
}

static gboolean
append_shared (GstBuffer *to, GstSpdlPartsMeta *meta, GstBuffer *from,
    const GstSpdlPart *part)
{
  const gsize offset = gst_buffer_get_size (to);

  if (part->size > 0 && !gst_buffer_copy_into (to, from, GST_BUFFER_COPY_MEMORY,
                            part->offset, part->size))
    return FALSE;
  add_part (
      meta, g_ref_string_acquire (part->name), part->caps, offset, part->size);
  return TRUE;
}

/**
 * gst_spdl_buffer_replace_part:
 * @buffer: (transfer none): a sample of several media
 * @name: name of the part to replace
 * @part: (transfer none): bytes of the new part, whose memory the new buffer
 *     shares
 * @caps: (transfer none) (nullable): format of the new part
 *
 * Creates a sample in which one part is replaced. The other parts share their
 * memory with @buffer, and flags, times and metas are copied.
 *
 * Returns: (transfer full) (nullable): the new sample; %NULL if no part has
 *     that name or @part cannot be copied
 *
 * Since: 0.1
 */
GstBuffer *
gst_spdl_buffer_replace_part (
    GstBuffer *buffer, const gchar *name, GstBuffer *part, GstCaps *caps)
{
  GstSpdlPartsMeta *meta, *own;
  const GstSpdlPart *old;
  GstBuffer *result;
  gboolean ok = TRUE;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);
  g_return_val_if_fail (name != NULL, NULL);
  g_return_val_if_fail (GST_IS_BUFFER (part), NULL);
  g_return_val_if_fail (caps == NULL || gst_caps_is_fixed (caps), NULL);

  meta = gst_spdl_buffer_get_parts_meta (buffer);
  old = meta ? gst_spdl_parts_meta_find_part (meta, name) : NULL;
  if (!old)
    return NULL;
  result = gst_buffer_new ();
  /* Do not copy metas that describe the memory, including this one. */
  gst_buffer_copy_into (result, buffer, GST_BUFFER_COPY_METADATA, 0, -1);
  own = add_meta (result);
  for (guint i = 0; i < meta->num_parts && ok; i++) {
    const GstSpdlPart *this = &meta->parts[i];

    ok = this == old ? append_part (result, own,
                           g_ref_string_acquire (old->name), part, caps)
                     : append_shared (result, own, buffer, this);
  }
  if (!ok)
    gst_clear_buffer (&result);
  return result;
}
