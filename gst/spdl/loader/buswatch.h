/* gst-spdl: errors, warnings and failures from the pipeline's bus
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/autotune/pipelinegovernor.h"
#include "gst/spdl/engine/sync.h"
#include "gst/spdl/gstspdlloader.h"
#include "gst/spdl/loader/loadersink.h"

G_BEGIN_DECLS

/* One run's errors, warnings and failures, from the bus; and whether the run
 * was stopped. Each run has a bus watch of its own, counted, so that a message
 * that comes late harms nobody.
 *
 * After an error the pipeline is brought to its end, so that what was done
 * comes to the sink, and behind it the end of the stream: sources end, and so
 * does what lies behind the element that failed, since it will push no more. */

typedef struct {
  gchar *stage;
  gchar *uri;    /* nullable: of an item that failed */
  GError *error; /* nullable: why it failed */
  gchar *text;   /* nullable: of a warning */
  /* Of an item that failed; G_MAXUINT64 where nobody numbered it. */
  guint source;
  guint64 epoch; /* of a warning, too, that sums up an epoch */
  guint64 index;
  guint64 sequence;
  guint64 num_items; /* of a warning that sums up an epoch; else 0 */
  guint64 num_failures;
  guint64 n_forgotten; /* failures before it that were not kept */
} GstSpdlNotice;

/* Of failures, and of warnings, only the last ones are kept for the trainer. */
#define GST_SPDL_MAX_NOTICES 10000

typedef struct {
  gint n_refs;
  GstElement *pipeline;    /* owned */
  GstSpdlLoaderSink *sink; /* owned */
  /* Nullable, owned: set before the pipeline starts, gone when it was
   * detached. */
  GstSpdlGovernor *governor;

  SpdlMutex lock; /* innermost, but for the sink's */
  SpdlCond
      has_room; /* for who pushes items; when it begins, and when it ends */
  gboolean stopped;
  GError *error; /* the first one */
  /* Where it was, and the item that it is about; nullable. */
  gchar *error_stage;
  gchar *error_uri;
  /* The epoch of the item that was one too many; else none. */
  guint64 error_epoch;
  gboolean no_more; /* not even an end of the stream will come */
  gint max_failures;
  guint64 n_failures;
  guint64 last_epoch; /* in which an item failed */
  GArray *n_failures_of;
  GQueue notices; /* GstSpdlNotice */
  /* Failures that were reported to the trainer. */
  guint64 n_reported;
  GSList *jobs;      /* that bring parts of the pipeline to their end */
  guint n_jobs;      /* that run */
  gboolean eos_sent; /* by one of them */

  gboolean source_begun; /* the stream, by the source's thread */
  /* Items that were pushed, and have not left the source yet. */
  guint n_queued;
  gsize bytes_queued;
} GstSpdlBusWatch;

/* Listens to the bus of @pipeline from now on. */
GstSpdlBusWatch *gst_spdl_bus_watch_new (
    GstPipeline *pipeline, GstSpdlLoaderSink *sink, gint max_failures);
GstSpdlBusWatch *gst_spdl_bus_watch_ref (GstSpdlBusWatch *self);
void gst_spdl_bus_watch_unref (GstSpdlBusWatch *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstSpdlBusWatch, gst_spdl_bus_watch_unref)

/* Listens no more, and waits for what still acts on the pipeline, which must be
 * in the NULL state. */
void gst_spdl_bus_watch_detach (GstSpdlBusWatch *self);

/* Whether it is an item of @epoch, or of an earlier one, that ends the run. */
gboolean gst_spdl_bus_watch_failed_in (GstSpdlBusWatch *self, guint64 epoch);

/* Forgets the failures of @epoch and of later ones, which come again in a run
 * that begins there. Returns how many are left. */
guint64 gst_spdl_bus_watch_leave_epoch (GstSpdlBusWatch *self, guint64 epoch);

/* Wakes all who wait, for good. */
void gst_spdl_bus_watch_stop (GstSpdlBusWatch *self);

void
gst_spdl_bus_watch_set_max_failures (GstSpdlBusWatch *self, gint max_failures);

/* @error: (transfer full): what the run ends with, unless it has an error
 * already. Sources are left alone. */
void gst_spdl_bus_watch_set_error (GstSpdlBusWatch *self, GError *error);

/* Returns: (transfer full) (nullable) */
GError *gst_spdl_bus_watch_dup_error (GstSpdlBusWatch *self);

/* Moves to @notices what the trainer is to be told: of the first @n_epochs
 * epochs, and what @state (nullable), of the batch that it is about to be
 * given, counts as done. What was loaded ahead stays. */
void gst_spdl_bus_watch_take_notices (GstSpdlBusWatch *self, guint64 n_epochs,
    const gchar *state, GQueue *notices);
void gst_spdl_notice_free (GstSpdlNotice *self);

G_END_DECLS
