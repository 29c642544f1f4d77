/* gst-spdl: a pipeline that runs to its end, and what it said
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/check/gstcheck.h>
#include <gst/spdl/spdl.h>

G_BEGIN_DECLS

/* What came to the sink of a pipeline, which is named `sink`. */
typedef struct {
  GPtrArray *stream;   /* GstMiniObject: buffers and events, as they came */
  GPtrArray *buffers;  /* GstBuffer */
  GPtrArray *caps;     /* GstCaps, of each buffer */
  GPtrArray *failures; /* GstStructure, the spdl-item-failed messages */
  GPtrArray *warnings; /* gchar */
  gchar *error;        /* nullable */
  guint n_epochs;
  guint n_dropped;
} Run;

/* Runs @description, as for gst-launch, to its end or its error (then until it
 * is quiet), 60 s at most. */
Run *run_pipeline (const gchar *format, ...) G_GNUC_PRINTF (1, 2);
void run_free (Run *run);

/* The item of buffer @i, or the batch. */
const GstSpdlItemMeta *run_item (Run *run, guint i);
GstSpdlBatchMeta *run_batch (Run *run, guint i);
const gchar *run_failure_text (Run *run, guint i);

/* The bytes of the tensor of that name of a batch, which must have it. */
GBytes *run_get_tensor (GstBuffer *buffer, const gchar *name);

G_END_DECLS
