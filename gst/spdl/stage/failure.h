/* gst-spdl: failed items, errors and warnings that elements report
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/gstspdlitemmeta.h>
#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS
SPDL_BEGIN_PRIVATE_API

/* The functions that post a message change its text like spdl_show_text(). The
 * URI of an item stays exact. */

/* The record of a failed item, from the stage to the trainer:
 *
 *     stage --gst_spdl_failure_post()--> bus --gst_spdl_failure_parse()-->
 *         loader, launch tool, parent of a worker process
 *
 * The stage also keeps it for its warnings, and for the error that ends the
 * stream after too many failures. A failed batch has a record without an item,
 * and posts one for each of its items. */
typedef struct {
  gchar *stage; /* name of the element */
  gchar *uri;   /* nullable */
  GError *error;
  guint source;
  /* G_MAXUINT64: the item is not known. */
  guint64 epoch;
  guint64 index;
  guint64 sequence;
  guint64 num_failures; /* of the element, with this one */
  guint place;          /* among the items of the stage's task */
} GstSpdlFailure;

/* @item: (nullable): NULL: a batch, or an item that is not known
 * Returns: (transfer full) */
GstSpdlFailure *gst_spdl_failure_new (GstElement *element,
    const GstSpdlItemMeta *item, const GError *error, guint64 num_failures);
void gst_spdl_failure_free (GstSpdlFailure *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstSpdlFailure, gst_spdl_failure_free)

/* Adds @self (transfer full), of the item at @place of a task, to *@list, which
 * is created if it is NULL. */
void
gst_spdl_failure_add_to (GstSpdlFailure *self, guint place, GPtrArray **list);

/* Posts the record as `spdl-item-failed`. */
void gst_spdl_failure_post (const GstSpdlFailure *self, GstElement *element);

/* Returns: (transfer full) (nullable): the record in a message, NULL for other
 * messages */
GstSpdlFailure *gst_spdl_failure_parse (GstMessage *message);

/* Returns: (transfer full): the item and the reason, for people */
gchar *gst_spdl_failure_describe (const GstSpdlFailure *self);

/* Name of the details that the following warnings carry: `stage` (string),
 * `epoch`, `num-items` and `num-failures` (uint64: of that epoch, so far),
 * `uri` (string, if it is known) and `summary` (boolean). */
#define GST_SPDL_LOSSES_DETAILS "spdl-items-failed"

/* Failed items of one element in the current epoch. Used only by the thread
 * that pushes. */
typedef struct {
  guint64 num_items; /* number of processed items; counted by the element */
  guint64 num_failures;
  GstSpdlFailure *last; /* nullable, owned */
} GstSpdlLosses;

/* Counts @failure (transfer full). Posts a warning with its domain and code if
 * it is one of the first three of the epoch, or the 10th, 100th, 1000th ... */
void gst_spdl_losses_add (
    GstSpdlLosses *self, GstElement *element, GstSpdlFailure *failure);

/* Ends @epoch: posts a summary as a warning if an item failed, and starts again
 * at 0. */
void gst_spdl_losses_end_epoch (
    GstSpdlLosses *self, GstElement *element, guint64 epoch);
/* Ends the epoch like gst_spdl_losses_end_epoch() when the stream ends within
 * it. */
void gst_spdl_losses_end_stream (GstSpdlLosses *self, GstElement *element);

/* Removes all losses. */
void gst_spdl_losses_reset (GstSpdlLosses *self);

/* Returns TRUE for a warning of a single item, whose record is also posted.
 *
 * @is_summary: (out): the warning sums up @epoch
 * @epoch: (out): set if @is_summary is */
gboolean gst_spdl_losses_parse_warning (
    GstMessage *warning, gboolean *is_summary, guint64 *epoch);

/* Posts an error message with the text, the domain and the code of @error. */
void gst_spdl_post_error (GstElement *element, const GError *error);

/* Posts a warning. */
void gst_spdl_post_warning (
    GstElement *element, GQuark domain, gint code, const gchar *text);

/* Posts the error of an item, with its URI in the details of the message. @uri:
 * (nullable) */
void gst_spdl_post_error_of_item (
    GstElement *element, const GError *error, const gchar *uri);

SPDL_END_PRIVATE_API
G_END_DECLS
