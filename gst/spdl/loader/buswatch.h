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
#include "gst/spdl/loader/drain.h"
#include "gst/spdl/loader/loadersink.h"
#include "gst/spdl/stage/failure.h"

G_BEGIN_DECLS

/* Collects errors, warnings and failures of one run from the bus, and records
 * whether the run was stopped. Each run has a separate, reference-counted bus
 * watch, so that a late message has no effect on the next run. */

/* A failed item or a warning. */
typedef struct {
  GstSpdlFailure *failure; /* NULL: a warning */
  gchar *stage;            /* of the warning, as the others */
  gchar *text;
  gboolean is_summary; /* of the failures of an epoch */
  guint64 epoch; /* also of the failure; G_MAXUINT64: unknown, or of none */
  guint64 n_forgotten; /* number of earlier failures that were not kept */
} GstSpdlNotice;

/* Number of failures and warnings that are kept for the trainer. The oldest
 * ones are dropped. */
#define GST_SPDL_MAX_NOTICES 10000

typedef struct _GstSpdlBusWatch {
  gint n_refs;
  GstElement *pipeline; /* owned */
  GstBus *bus;          /* owned */
  /* Of `sync-message`, since the sync handler of a bus cannot be read, so that
   * of the application could not be restored. 0: the loader's own pipeline. */
  gulong handler;
  gboolean was_flushing;   /* the bus, before the run */
  gint any_message;        /* atomic */
  gint n_unread;           /* atomic: messages that the application has */
  gint has_dropped;        /* atomic: some of them */
  GstSpdlLoaderSink *sink; /* owned */
  /* (nullable): owned; set before the pipeline starts, and freed when it is
   * detached. */
  GstSpdlGovernor *governor;
  GstSpdlThreadTimes threads;
  GstStructure *first_cpus; /* counters at the start of the run */
  GstSpdlDrain drain;       /* after an error */

  SpdlMutex lock;    /* innermost, except for those of sink and sources */
  SpdlCond has_room; /* space for pushed items; also start and end */
  gboolean stopped;
  GstStructure *last_cpus; /* nullable: counters at the end of the run */
  GError *error;           /* first error */
  /* Element and item of the error; nullable. */
  gchar *error_stage;
  gchar *error_uri;
  /* Epoch of the failure that exceeded the limit; otherwise G_MAXUINT64. */
  guint64 error_epoch;
  gboolean no_more; /* not even an end of the stream will arrive */
  gint max_failures;
  guint64 n_failures;
  guint64 last_epoch; /* last epoch with a failure */
  GArray *n_failures_of;
  GQueue notices; /* GstSpdlNotice */
  /* Number of failures that were reported to the trainer. */
  guint64 n_reported;
  gboolean source_begun; /* the source's thread has started the stream */
  /* Items that were pushed but have not left the source yet. */
  guint n_queued;
  gsize bytes_queued;
} GstSpdlBusWatch;

/* Handles the messages on the bus of @pipeline.
 *
 * @is_own: the loader made the pipeline, so nobody else gets the messages */
GstSpdlBusWatch *gst_spdl_bus_watch_new (GstPipeline *pipeline, gboolean is_own,
    GstSpdlLoaderSink *sink, gint max_failures);
GstSpdlBusWatch *gst_spdl_bus_watch_ref (GstSpdlBusWatch *self);
void gst_spdl_bus_watch_unref (GstSpdlBusWatch *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstSpdlBusWatch, gst_spdl_bus_watch_unref)

/* Returns FALSE with @error set if no message has arrived, although the state
 * of the pipeline was changed. */
gboolean gst_spdl_bus_watch_check (GstSpdlBusWatch *self, GError **error);

/* Joins the threads that act on the pipeline, which must be in the NULL state,
 * and stops handling messages. The run must have been stopped. */
void gst_spdl_bus_watch_detach (GstSpdlBusWatch *self);

/* Returns TRUE if the run ends because of an item of @epoch or of an earlier
 * epoch. */
gboolean gst_spdl_bus_watch_failed_in (GstSpdlBusWatch *self, guint64 epoch);

/* Drops the failures of @epoch and of later epochs, which will occur again in a
 * run that starts at @epoch. Returns the number of remaining failures. */
guint64 gst_spdl_bus_watch_leave_epoch (GstSpdlBusWatch *self, guint64 epoch);

/* Marks the run as stopped, and wakes all waiting threads. */
void gst_spdl_bus_watch_stop (GstSpdlBusWatch *self);
gboolean gst_spdl_bus_watch_is_stopped (GstSpdlBusWatch *self);

void
gst_spdl_bus_watch_set_max_failures (GstSpdlBusWatch *self, gint max_failures);

/* Wakes the threads that wait for the start. */
void gst_spdl_bus_watch_note_start (gpointer self);

/* Sets the error that ends the run, unless there is one already. Does not end
 * the sources.
 *
 * @error: (transfer full) */
void gst_spdl_bus_watch_set_error (GstSpdlBusWatch *self, GError *error);

/* Returns: (transfer full) (nullable) */
GError *gst_spdl_bus_watch_dup_error (GstSpdlBusWatch *self);

/* Moves to @notices those that are due for the trainer: of the first @n_epochs
 * epochs, and of items that @state counts as done. Others, which were loaded
 * ahead, are kept.
 *
 * @state: (nullable): state of the batch that is about to be returned */
void gst_spdl_bus_watch_take_notices (GstSpdlBusWatch *self, guint64 n_epochs,
    const gchar *state, GQueue *notices);
void gst_spdl_notice_free (GstSpdlNotice *self);

G_END_DECLS
