/* gst-spdl: events and messages of the pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __GST_SPDL_EVENTS_H__
#define __GST_SPDL_EVENTS_H__

#include <gst/spdl/spdl-prelude.h>

G_BEGIN_DECLS

/**
 * GstSpdlDropReason:
 * @GST_SPDL_DROP_REASON_FAILED: an operation on the item failed
 * @GST_SPDL_DROP_REASON_FILTERED: a stage produced no result for the item
 * @GST_SPDL_DROP_REASON_DROPPED: the item belonged to an incomplete group or
 *     batch that was dropped
 *
 * Reason why an item will not come.
 *
 * Since: 0.1
 */
typedef enum {
  GST_SPDL_DROP_REASON_FAILED,
  GST_SPDL_DROP_REASON_FILTERED,
  GST_SPDL_DROP_REASON_DROPPED,
} GstSpdlDropReason;

/**
 * GST_SPDL_ITEMS_UNKNOWN:
 *
 * Number of items of an epoch if it is known only at the end of the epoch, as
 * for shards that are read as streams.
 *
 * Since: 0.1
 */
#define GST_SPDL_ITEMS_UNKNOWN G_MAXUINT64

#define GST_TYPE_SPDL_DROP_REASON (gst_spdl_drop_reason_get_type ())
GST_SPDL_API
GType gst_spdl_drop_reason_get_type (void);

GST_SPDL_API
GstEvent *gst_spdl_event_new_source (
    guint32 source, guint64 num_items, const gchar *resume_state);

GST_SPDL_API
gboolean gst_spdl_event_parse_source (GstEvent *event, guint32 *source,
    guint64 *num_items, const gchar **resume_state);

GST_SPDL_API
void gst_spdl_event_set_base (GstEvent *event, const gchar *base);

GST_SPDL_API
const gchar *gst_spdl_event_get_base (GstEvent *event);

GST_SPDL_API
GstEvent *
gst_spdl_event_new_epoch (guint32 source, guint64 epoch, guint64 num_items);

GST_SPDL_API
gboolean gst_spdl_event_parse_epoch (
    GstEvent *event, guint32 *source, guint64 *epoch, guint64 *num_items);

GST_SPDL_API
GstEvent *gst_spdl_event_new_items_dropped (guint32 source, guint64 epoch,
    const guint64 *sequences, guint n_sequences, GstSpdlDropReason reason);

GST_SPDL_API
gboolean gst_spdl_event_parse_items_dropped (GstEvent *event, guint32 *source,
    guint64 *epoch, guint64 **sequences, guint *n_sequences,
    GstSpdlDropReason *reason);

G_END_DECLS

#endif /* __GST_SPDL_EVENTS_H__ */
