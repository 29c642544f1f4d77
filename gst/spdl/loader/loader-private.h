/* gst-spdl: private parts of the loader
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <unistd.h>

#include "gst/spdl/loader/buswatch.h"
#include "gst/spdl/tensor/layout.h"

G_BEGIN_DECLS

/* gstspdlloader.c is the object: how it is made, properties and signals.
 * loaderstatus.c is what it can be asked, and its state.
 * loaderrun.c is its runs: start, next, stop.
 * loadersource.c is the source in the program.
 * loaderparts.c finds in a pipeline what the loader needs. */

/* What a loader knows of its pipeline's elements, owned. */
typedef struct {
  GstPipeline *pipeline;
  GstSpdlLoaderSink *sink;
  GPtrArray *sources; /* GstElement: spdlsrc */
  GstElement *appsrc; /* nullable: of the loader's own */
} GstSpdlLoaderParts;

struct _GstSpdlLoader {
  GObject parent;

  pid_t pid; /* a child of that process must touch nothing */
  GstSpdlLoaderParts parts;
  gboolean sets_epochs; /* the description did */

  /* Over a start and a stop, before `lock`. */
  SpdlMutex state_lock;
  gboolean running;
  gint n_starts; /* atomic: calls of start() */
  gulong probe;  /* of the source */
  gdouble cpu_budget;

  SpdlMutex lock;
  GstSpdlBusWatch *bus_watch; /* of the last run, nullable */
  gint max_failures;
  guint64 epoch;
  gboolean finished;
  GStrv classes;       /* (nullable): that were given */
  gchar *restored;     /* where runs begin; NULL: at the beginning */
  gchar *begun_at;     /* where this one began, or the next one will */
  gboolean handed_out; /* a batch of this run */
  gboolean in_epoch;   /* a batch of the epoch was, and its end was not told */
  gboolean any_ended;  /* an epoch of this run; */
  guint64 next_epoch;  /* then the one behind it */

  /* Notices for gst_spdl_binding_loader_pop_notice(), used by the thread that
   * takes batches. */
  gboolean keeps_notices;
  GQueue kept_notices; /* GstSpdlNotice */

  gint in_next; /* atomic */
  /* The thread's in next(). */
  GstSpdlLayout layout;
  guint wakes;
  gboolean error_was_returned; /* the error, at the end of its epoch */
  /* Number of epochs that were reached. Failures of later ones, which are
   * loaded ahead, are not reported yet. */
  guint64 n_epochs;
  gboolean between; /* an epoch was ended, and the next one not begun */

  gint in_push; /* atomic */
  /* Over what a push does when there is room, and a start forgets. */
  SpdlMutex push_lock;
  guint64 push_epoch;
  guint64 n_pushed;
  gboolean push_ended;
};

/* Takes @pipeline apart; adds a source where it has an open sink pad. */
gboolean gst_spdl_loader_parts_init (
    GstSpdlLoaderParts *self, GstPipeline *pipeline, GError **error);
void gst_spdl_loader_parts_clear (GstSpdlLoaderParts *self);

/* Finds the sources of the pipeline. */
SPDL_PRIVATE_API
void gst_spdl_loader_parts_find_sources (GstSpdlLoaderParts *self);

/* Returns: (transfer full): the pipeline of a description, NULL with @error
 * set */
GstPipeline *gst_spdl_loader_parse (const gchar *description, GError **error);

/* Gives stages their concurrency where they were given none. */
SPDL_PRIVATE_API
void gst_spdl_loader_parts_tune (GstSpdlLoaderParts *self);

/* The share of the machine that loading may take; 0: all. */
void gst_spdl_loader_set_cpu_budget (GstSpdlLoader *self, gdouble budget);

/* Whether @epoch is known to be the last. */
gboolean
gst_spdl_loader_parts_is_last (const GstSpdlLoaderParts *self, guint64 epoch);

/* Has each source begin where @state says, nullable. */
gboolean gst_spdl_loader_parts_set_state (
    const GstSpdlLoaderParts *self, const gchar *state, GError **error);

/* The same for one start: returns (transfer full) what was set before, which is
 * put back, and freed, when the sources have started. */
GPtrArray *gst_spdl_loader_parts_exchange_states (
    const GstSpdlLoaderParts *self, const gchar *state);
void gst_spdl_loader_parts_put_back_states (
    const GstSpdlLoaderParts *self, GPtrArray *states);

/* How many sources are to announce themselves at the sink: a worker's are not
 * known here. */
guint gst_spdl_loader_parts_count_sources (const GstSpdlLoaderParts *self);

/* Finds the class names that all sources share. FALSE with @error set: they
 * have different ones.
 *
 * @classes: (out) (transfer full): NULL: there are none */
SPDL_PRIVATE_API
gboolean gst_spdl_loader_parts_dup_classes (
    const GstSpdlLoaderParts *self, GStrv *classes, GError **error);

/* Gives each source the class names, nullable. */
SPDL_PRIVATE_API
void gst_spdl_loader_parts_set_classes (
    const GstSpdlLoaderParts *self, const gchar *const *classes);

/* Returns: (transfer full) (nullable): the `stage-stats` of all elements,
 * sources first */
SPDL_PRIVATE_API
GList *gst_spdl_loader_parts_dup_stats (const GstSpdlLoaderParts *self);

/* A child of the loader's process does not have its threads, and their locks
 * may be held for ever there: nothing may be touched. */
static inline gboolean
gst_spdl_loader_is_own_process (const GstSpdlLoader *self)
{
  return self->pid == getpid ();
}

/* FALSE with @error set where it is not. */
gboolean gst_spdl_loader_check_process (GstSpdlLoader *self, GError **error);

/* Returns: (transfer full) (nullable): the last run's, NULL with @error set */
GstSpdlBusWatch *
gst_spdl_loader_get_bus_watch (GstSpdlLoader *self, GError **error);

/* Tells what went wrong with items of the epochs that were reached, and
 * warnings: by signals, now. @state: (nullable): of the batch that is about to
 * be returned */
void gst_spdl_loader_emit_notices (
    GstSpdlLoader *self, GstSpdlBusWatch *bus_watch, const gchar *state);

/* State lock held. Ends a run that was stopped by one of its own threads, which
 * cannot wait for its end. Returns whether none runs now. */
gboolean gst_spdl_loader_end_stopped_run (GstSpdlLoader *self);

/* At a start, and after a stop.
 * @epoch: which is pushed first */
void gst_spdl_loader_open_source (
    GstSpdlLoader *self, GstSpdlBusWatch *bus_watch, guint64 epoch);
void gst_spdl_loader_close_source (GstSpdlLoader *self);

G_END_DECLS
