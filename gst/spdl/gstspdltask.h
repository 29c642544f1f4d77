/* gst-spdl: task of a stage
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __GST_SPDL_TASK_H__
#define __GST_SPDL_TASK_H__

#include <gio/gio.h>
#include <gst/spdl/gstspdlitemmeta.h>

G_BEGIN_DECLS

/**
 * GstSpdlTask:
 *
 * One call of a stage's work function, for one item or, one after the other,
 * the items of a group. Opaque. Valid during the call, or until
 * gst_spdl_task_finish() for asynchronous work.
 *
 * Since: 0.1
 */
typedef struct _GstSpdlTask GstSpdlTask;

typedef struct _GstSpdlStage GstSpdlStage;

GST_SPDL_API
GstBuffer *gst_spdl_task_get_item (GstSpdlTask *task);

GST_SPDL_API
GstBuffer *gst_spdl_task_take_item (GstSpdlTask *task);

GST_SPDL_API
GstBufferList *gst_spdl_task_dup_group (GstSpdlTask *task);

GST_SPDL_API
const GstSpdlItemMeta *gst_spdl_task_get_item_meta (GstSpdlTask *task);

GST_SPDL_API
GstCaps *gst_spdl_task_get_caps (GstSpdlTask *task);

GST_SPDL_API
GstSpdlStage *gst_spdl_task_get_stage (GstSpdlTask *task);

GST_SPDL_API
GCancellable *gst_spdl_task_get_cancellable (GstSpdlTask *task);

GST_SPDL_API
void gst_spdl_task_push (GstSpdlTask *task, GstBuffer *result, GstCaps *caps);

GST_SPDL_API
void gst_spdl_task_finish (GstSpdlTask *task, GError *error);

G_END_DECLS

#endif /* __GST_SPDL_TASK_H__ */
