/* gst-spdl: failed items of an epoch and the warnings about them
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/gstspdlitemmeta.h>
#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* Name of the details that these warnings carry: `stage` (string), `epoch`,
 * `num-items` and `num-failures` (uint64: of that epoch, so far), `uri`
 * (string, if it is known) and `summary` (boolean). */
#define GST_SPDL_LOSSES_DETAILS "spdl-items-failed"

/* An item that failed. */
typedef struct {
  guint64 epoch;
  gchar *uri;    /* nullable */
  gchar *name;   /* for messages */
  GError *error; /* reason */
} GstSpdlLoss;

/* Failed items of one element in the current epoch. Used only by the thread
 * that pushes. */
typedef struct {
  guint64 num_items; /* number of processed items; counted by the element */
  guint64 num_failures;
  GstSpdlLoss *last; /* nullable, owned */
} GstSpdlLosses;

/* Creates a loss.
 *
 * @item: (nullable): the item, if it is known
 * @name: (nullable): name of the item if @item is NULL
 * Returns: (transfer full) */
SPDL_PRIVATE_API
GstSpdlLoss *gst_spdl_loss_new (const GstSpdlItemMeta *item, const gchar *name,
    guint64 epoch, const GError *error);
SPDL_PRIVATE_API
void gst_spdl_loss_free (GstSpdlLoss *self);

/* Counts @loss (transfer full). Posts a warning with its domain and code if it
 * is one of the first three of the epoch, or the 10th, 100th, 1000th ... */
SPDL_PRIVATE_API
void gst_spdl_losses_add (
    GstSpdlLosses *self, GstElement *element, GstSpdlLoss *loss);

/* Ends @epoch: posts a summary as a warning if an item failed, and starts again
 * at 0. */
SPDL_PRIVATE_API
void gst_spdl_losses_end_epoch (
    GstSpdlLosses *self, GstElement *element, guint64 epoch);
/* Ends the epoch like gst_spdl_losses_end_epoch() when the stream ends within
 * it. */
SPDL_PRIVATE_API
void gst_spdl_losses_end_stream (GstSpdlLosses *self, GstElement *element);

/* Removes all losses. */
SPDL_PRIVATE_API
void gst_spdl_losses_reset (GstSpdlLosses *self);

G_END_DECLS
