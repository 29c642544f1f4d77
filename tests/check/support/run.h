/* gst-spdl: pipeline runs in tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/check/gstcheck.h>
#include <gst/spdl/spdl.h>

G_BEGIN_DECLS

/* Output of a pipeline, whose sink is named `sink`. Texts of errors begin with
 * their domain and code, see errors.h. */
typedef struct {
  GPtrArray
      *stream; /* of GstMiniObject: buffers and events, in order of arrival */
  GPtrArray *buffers;  /* of GstBuffer */
  GPtrArray *caps;     /* of GstCaps, per buffer */
  GPtrArray *failures; /* of GstStructure: spdl-item-failed messages */
  GPtrArray *warnings; /* of gchar */
  gchar *error;        /* nullable */
  guint n_epochs;
  guint n_dropped;
} Run;

/* Runs a gst-launch description until EOS, or until no more messages arrive
 * after an error; 60 s at most. */
Run *run_pipeline (const gchar *format, ...) G_GNUC_PRINTF (1, 2);
void run_free (Run *run);

/* Return the item meta, or the batch meta, of buffer @i. */
const GstSpdlItemMeta *run_item (Run *run, guint i);
GstSpdlBatchMeta *run_batch (Run *run, guint i);
/* Checks that the run failed before its first buffer, with the @parts of
 * errors_text_has() in the error. Frees the run. */
void run_expect_error (Run *run, const gchar *parts);
const gchar *run_failure_text (Run *run, guint i);

/* Returns the bytes of the tensor with that name, which must exist. */
GBytes *run_get_tensor (GstBuffer *buffer, const gchar *name);

G_END_DECLS
