/* gst-spdl: serialization of buffers
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/wire/serializerbuffer.h"

#include <gst/video/video.h>

#include "gst/spdl/common/marks.h"

/* Flags for the metas that follow. */
enum {
  HAS_ITEM = 1 << 0,
  HAS_BATCH = 1 << 1,
  HAS_PARTS = 1 << 2,
  HAS_VIDEO = 1 << 3,
  IS_CACHED = 1 << 4,
};

typedef struct {
  guint32 slab;
  guint32 n_memories;
  guint32 has;
  guint32 flags;
  guint64 pts, dts, duration, offset, offset_end;
} Head;

/* Fixed-size part of an item meta, written at once because a batch has hundreds
 * of items. The URI and `extra` follow, if present. */
typedef struct {
  guint32 source, part, parts, uri_size;
  guint64 epoch, index, sequence, label, created;
  guint32 first_token, end_token;
  guint32 has_extra, num_tokens;
} Item;

#define NO_URI G_MAXUINT32
/* Buffer flags that describe the content. */
#define KEPT_FLAGS                                                            \
  (GST_BUFFER_FLAG_DISCONT | GST_BUFFER_FLAG_CORRUPTED |                      \
      GST_BUFFER_FLAG_MARKER | GST_BUFFER_FLAG_HEADER | GST_BUFFER_FLAG_GAP | \
      GST_BUFFER_FLAG_DELTA_UNIT)

/* Writers */

static void
put_item (GByteArray *bytes, const GstSpdlItemMeta *item)
{
  const Item fixed = {
    .source = item->source,
    .part = item->part,
    .parts = item->parts,
    .uri_size = item->uri ? g_ref_string_length (item->uri) : NO_URI,
    .epoch = item->epoch,
    .index = item->index,
    .sequence = item->sequence,
    .label = item->label,
    .created = item->created,
    .first_token = item->first_token,
    .end_token = item->end_token,
    .has_extra = item->extra != NULL,
    .num_tokens = item->num_tokens,
  };

  spdl_put (bytes, &fixed, sizeof fixed);
  if (item->uri)
    spdl_put (bytes, item->uri, fixed.uri_size);
  if (item->extra)
    spdl_put_structure (bytes, item->extra);
}

static void
put_batch (GByteArray *bytes, const GstSpdlBatchMeta *batch)
{
  spdl_put_u32 (bytes, batch->num_items);
  spdl_put_u32 (bytes, batch->num_tensors);
  for (guint i = 0; i < batch->num_tensors; i++)
    spdl_put_string (bytes, batch->names[i]);
  for (guint i = 0; i < batch->num_items; i++)
    put_item (bytes, &batch->items[i]);
}

static void
put_parts (GByteArray *bytes, const GstSpdlPartsMeta *parts)
{
  spdl_put_u32 (bytes, parts->num_parts);
  for (guint i = 0; i < parts->num_parts; i++) {
    const GstSpdlPart *part = &parts->parts[i];

    spdl_put_string (bytes, part->name);
    spdl_put_u32 (bytes, part->caps != NULL);
    if (part->caps)
      spdl_put_caps (bytes, part->caps);
    spdl_put_u64 (bytes, part->offset);
    spdl_put_u64 (bytes, part->size);
  }
}

static void
put_video (GByteArray *bytes, const GstVideoMeta *video)
{
  spdl_put_string (bytes, gst_video_format_to_string (video->format));
  spdl_put_u32 (bytes, video->width);
  spdl_put_u32 (bytes, video->height);
  spdl_put_u32 (bytes, video->n_planes);
  for (guint i = 0; i < video->n_planes; i++) {
    spdl_put_u64 (bytes, video->offset[i]);
    spdl_put_u32 (bytes, video->stride[i]);
  }
}

void
spdl_put_buffer (GByteArray *bytes, GstBuffer *buffer, const SpdlPlaces *places)
{
  const GstSpdlBatchMeta *batch = gst_spdl_buffer_get_batch_meta (buffer);
  const GstSpdlItemMeta *item = gst_spdl_buffer_get_item_meta (buffer);
  const GstSpdlPartsMeta *parts = gst_spdl_buffer_get_parts_meta (buffer);
  const GstVideoMeta *video = gst_buffer_get_video_meta (buffer);
  const Head head = {
    .slab = places->slab,
    .n_memories = places->n_memories,
    .has = (item ? HAS_ITEM : 0) | (batch ? HAS_BATCH : 0) |
           (parts ? HAS_PARTS : 0) | (video ? HAS_VIDEO : 0) |
           (gst_spdl_buffer_is_cached (buffer) ? IS_CACHED : 0),
    .flags = GST_BUFFER_FLAGS (buffer) & KEPT_FLAGS,
    .pts = GST_BUFFER_PTS (buffer),
    .dts = GST_BUFFER_DTS (buffer),
    .duration = GST_BUFFER_DURATION (buffer),
    .offset = GST_BUFFER_OFFSET (buffer),
    .offset_end = GST_BUFFER_OFFSET_END (buffer),
  };
  const gsize size = places->n_memories * sizeof *places->offsets;

  spdl_put (bytes, &head, sizeof head);
  spdl_put (bytes, places->offsets, size);
  spdl_put (bytes, places->sizes, size);
  if (batch)
    put_batch (bytes, batch);
  if (item)
    put_item (bytes, item);
  if (parts)
    put_parts (bytes, parts);
  if (video)
    put_video (bytes, video);
}

/* Readers */

/* @item: empty; the caller must clear it even if the data is invalid */
static void
get_item (SpdlPayload *self, GstSpdlItemMeta *item)
{
  const guint8 *at = spdl_get (self, sizeof (Item));
  const gchar *uri = NULL;
  Item fixed;

  if (!at)
    return;
  memcpy (&fixed, at, sizeof fixed);
  item->source = fixed.source;
  item->part = fixed.part;
  item->parts = fixed.parts;
  item->epoch = fixed.epoch;
  item->index = fixed.index;
  item->sequence = fixed.sequence;
  item->label = fixed.label;
  item->created = fixed.created;
  item->first_token = fixed.first_token;
  item->end_token = fixed.end_token;
  item->num_tokens = fixed.num_tokens;
  self->broken |= fixed.has_extra > 1;
  if (fixed.uri_size != NO_URI)
    uri = (const gchar *) spdl_get (self, fixed.uri_size);
  if (uri) {
    self->broken |= !spdl_is_text (uri, fixed.uri_size);
    item->uri = g_ref_string_new_len (uri, fixed.uri_size);
  }
  if (fixed.has_extra == 1)
    item->extra = spdl_get_structure (self);
}

static void
get_names (SpdlPayload *self, GstSpdlBatchMeta *batch, guint32 n)
{
  for (guint32 i = 0; i < n; i++) {
    g_autofree gchar *name = spdl_get_string (self);

    if (!name) {
      self->broken = TRUE;
      return;
    }
    gst_spdl_batch_meta_add_name (batch, name);
  }
}

static void
get_batch (SpdlPayload *self, GstBuffer *buffer)
{
  const guint32 n_items = spdl_get_u32 (self);
  const guint32 n_tensors = spdl_get_u32 (self);
  GstSpdlBatchMeta *batch;

  if (self->broken || n_tensors > GST_SPDL_MAX_TENSORS ||
      n_items > self->left / sizeof (Item)) {
    self->broken = TRUE;
    return;
  }
  batch = gst_spdl_buffer_add_batch_meta (buffer, n_items);
  get_names (self, batch, n_tensors);
  while (batch->num_items < n_items && !self->broken)
    get_item (self, &batch->items[batch->num_items++]);
}

static void
get_part (SpdlPayload *self, GstBuffer *buffer, guint64 *end)
{
  g_autofree gchar *name = spdl_get_string (self);
  const guint32 has_caps = spdl_get_u32 (self);
  g_autoptr (GstCaps) caps = has_caps ? spdl_get_caps (self) : NULL;
  const guint64 offset = spdl_get_u64 (self), size = spdl_get_u64 (self);
  GstSpdlPartsMeta *parts = gst_spdl_buffer_get_parts_meta (buffer);
  GstSpdlPart *part;

  /* Parts must be consecutive. */
  self->broken |= !name || !*name || offset != *end ||
                  size > G_MAXINT64 - offset ||
                  (parts && gst_spdl_parts_meta_find_part (parts, name));
  if (self->broken)
    return;
  if (!parts)
    parts = (GstSpdlPartsMeta *) gst_buffer_add_meta (
        buffer, gst_spdl_parts_meta_get_info (), NULL);
  part = &parts->parts[parts->num_parts++];
  part->name = g_ref_string_new (name);
  part->caps = g_steal_pointer (&caps);
  part->offset = offset;
  part->size = size;
  *end = offset + size;
}

static void
get_parts (SpdlPayload *self, GstBuffer *buffer, guint64 total)
{
  const guint32 n = spdl_get_u32 (self);
  guint64 end = 0;

  self->broken |= n == 0 || n > GST_SPDL_MAX_PARTS;
  for (guint32 i = 0; i < n && !self->broken; i++)
    get_part (self, buffer, &end);
  self->broken |= end > total;
}

/* Returns whether the planes fit in the memory, with GStreamer's default
 * strides or larger ones. */
static gboolean
fits_memory (const GstVideoInfo *info, const gsize *offsets,
    const gint *strides, guint64 total)
{
  for (guint i = 0; i < GST_VIDEO_INFO_N_PLANES (info); i++) {
    gint comp[GST_VIDEO_MAX_COMPONENTS];
    guint64 rows;

    gst_video_format_info_component (info->finfo, i, comp);
    rows = GST_VIDEO_INFO_COMP_HEIGHT (info, comp[0]);
    if (strides[i] < GST_VIDEO_INFO_PLANE_STRIDE (info, i) - 3 ||
        offsets[i] > total || strides[i] * rows > total - offsets[i])
      return FALSE;
  }
  return TRUE;
}

static void
get_video (SpdlPayload *self, GstBuffer *buffer, guint64 total)
{
  g_autofree gchar *name = spdl_get_string (self);
  const GstVideoFormat format =
      name ? gst_video_format_from_string (name) : GST_VIDEO_FORMAT_UNKNOWN;
  const guint32 width = spdl_get_u32 (self), height = spdl_get_u32 (self);
  const guint32 n = spdl_get_u32 (self);
  gsize offsets[GST_VIDEO_MAX_PLANES] = { 0 };
  gint strides[GST_VIDEO_MAX_PLANES] = { 0 };
  GstVideoInfo info;

  self->broken |= n > GST_VIDEO_MAX_PLANES || width == 0 || height == 0 ||
                  width > 1 << 16 || height > 1 << 16;
  for (guint32 i = 0; i < n && !self->broken; i++) {
    offsets[i] = spdl_get_u64 (self);
    strides[i] = spdl_get_u32 (self);
  }
  if (self->broken || format <= GST_VIDEO_FORMAT_ENCODED ||
      !gst_video_info_set_format (&info, format, width, height) ||
      GST_VIDEO_INFO_N_PLANES (&info) != n ||
      !fits_memory (&info, offsets, strides, total)) {
    self->broken = TRUE;
    return;
  }
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, format,
      width, height, n, offsets, strides);
}

static guint64
get_places (SpdlPayload *self, SpdlPlaces *places)
{
  const gsize size = places->n_memories * sizeof *places->offsets;
  const guint8 *offsets = spdl_get (self, size);
  const guint8 *sizes = spdl_get (self, size);
  guint64 total = 0;

  if (!sizes)
    return 0;
  memcpy (places->offsets, offsets, size);
  memcpy (places->sizes, sizes, size);
  for (guint i = 0; i < places->n_memories; i++)
    self->broken |= __builtin_add_overflow (total, places->sizes[i], &total) ||
                    total > G_MAXINT64;
  return total;
}

static void
get_metas (SpdlPayload *self, GstBuffer *buffer, guint32 has, guint64 total)
{
  self->broken |= has >= IS_CACHED << 1;
  if (!self->broken && (has & HAS_BATCH))
    get_batch (self, buffer);
  if (!self->broken && (has & HAS_ITEM))
    get_item (self, gst_spdl_buffer_add_item_meta (buffer));
  if (!self->broken && (has & HAS_PARTS))
    get_parts (self, buffer, total);
  if (!self->broken && (has & HAS_VIDEO))
    get_video (self, buffer, total);
  if (has & IS_CACHED)
    gst_spdl_buffer_mark_cached (buffer);
}

GstBuffer *
spdl_get_buffer (SpdlPayload *self, SpdlPlaces *places)
{
  const guint8 *at = spdl_get (self, sizeof (Head));
  GstBuffer *buffer;
  guint64 total;
  Head head;

  if (!at)
    return NULL;
  memcpy (&head, at, sizeof head);
  places->slab = head.slab;
  places->n_memories = head.n_memories;
  self->broken |= head.n_memories > SPDL_PAYLOAD_MAX_MEMORIES;
  total = self->broken ? 0 : get_places (self, places);
  if (self->broken)
    return NULL;
  buffer = gst_buffer_new ();
  GST_BUFFER_FLAG_SET (buffer, head.flags & KEPT_FLAGS);
  GST_BUFFER_PTS (buffer) = head.pts;
  GST_BUFFER_DTS (buffer) = head.dts;
  GST_BUFFER_DURATION (buffer) = head.duration;
  GST_BUFFER_OFFSET (buffer) = head.offset;
  GST_BUFFER_OFFSET_END (buffer) = head.offset_end;
  get_metas (self, buffer, head.has, total);
  if (!spdl_payload_is_read (self))
    gst_clear_buffer (&buffer);
  return buffer;
}
