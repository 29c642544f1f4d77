/* gst-spdl: metadata of samples of several media
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __GST_SPDL_PARTS_META_H__
#define __GST_SPDL_PARTS_META_H__

#include <gst/spdl/spdl-prelude.h>

G_BEGIN_DECLS

/**
 * GST_SPDL_MAX_PARTS:
 *
 * Maximum number of parts of a sample, which is the maximum number of memories
 * of a #GstBuffer.
 *
 * Since: 0.1
 */
#define GST_SPDL_MAX_PARTS 16

/**
 * GST_SPDL_SAMPLE_CAPS:
 *
 * Caps of samples of several media.
 *
 * Since: 0.1
 */
#define GST_SPDL_SAMPLE_CAPS "application/x-spdl-sample"

/**
 * GST_SPDL_MAIN_PART:
 *
 * Name of the part that the item's own URI refers to.
 *
 * Since: 0.1
 */
#define GST_SPDL_MAIN_PART "data"

typedef struct _GstSpdlPart GstSpdlPart;
typedef struct _GstSpdlPartsMeta GstSpdlPartsMeta;

/**
 * GstSpdlPart:
 * @name: name of the part
 * @caps: (nullable): format of the part; %NULL: bytes of an unknown format
 * @offset: start of the part in the buffer, in bytes
 * @size: size of the part, in bytes
 *
 * One part of a sample. The memory layout of raw video is that of its caps,
 * without a #GstVideoMeta.
 *
 * Only #GstSpdlPartsMeta has this structure, whose array is private, so new
 * fields can follow the last one.
 *
 * Since: 0.1
 */
struct _GstSpdlPart {
  gchar *name;
  GstCaps *caps;
  gsize offset;
  gsize size;
};

/**
 * GstSpdlPartsMeta:
 * @meta: the parent
 * @num_parts: number of parts
 *
 * Describes the parts of a buffer and their positions, in the order of their
 * memory. gst_spdl_parts_meta_get_part() gets a part. Copies of the whole
 * buffer keep the meta. Copies of a part of the bytes, or of the metas alone,
 * do not.
 *
 * Since: 0.1
 */
struct _GstSpdlPartsMeta {
  GstMeta meta;

  guint num_parts;

  /*< private >*/
  GstSpdlPart parts[GST_SPDL_MAX_PARTS];
};

/**
 * GST_SPDL_PARTS_META_API_TYPE:
 *
 * The API type of #GstSpdlPartsMeta.
 *
 * Since: 0.1
 */
#define GST_SPDL_PARTS_META_API_TYPE (gst_spdl_parts_meta_api_get_type ())

GST_SPDL_API
GType gst_spdl_parts_meta_api_get_type (void);

GST_SPDL_API
const GstMetaInfo *gst_spdl_parts_meta_get_info (void);

GST_SPDL_API
GstSpdlPartsMeta *gst_spdl_buffer_get_parts_meta (GstBuffer *buffer);

GST_SPDL_API
const GstSpdlPart *
gst_spdl_parts_meta_get_part (GstSpdlPartsMeta *parts, guint i);

GST_SPDL_API
const GstSpdlPart *
gst_spdl_parts_meta_find_part (GstSpdlPartsMeta *parts, const gchar *name);

GST_SPDL_API
gboolean gst_spdl_buffer_append_part (
    GstBuffer *buffer, const gchar *name, GstBuffer *part, GstCaps *caps);

GST_SPDL_API
GstBuffer *gst_spdl_buffer_dup_part (GstBuffer *buffer, const gchar *name);

GST_SPDL_API
GstBuffer *gst_spdl_buffer_replace_part (
    GstBuffer *buffer, const gchar *name, GstBuffer *part, GstCaps *caps);

G_END_DECLS

#endif /* __GST_SPDL_PARTS_META_H__ */
