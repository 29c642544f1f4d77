/* gst-spdl: private parts of the loader
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>
#include <unistd.h>

#include "gst/spdl/common/asyncstart.h"
#include "gst/spdl/engine/sync.h"
#include "gst/spdl/gstspdlloader.h"
#include "gst/spdl/loader/loadersink.h"
#include "gst/spdl/tensor/layout.h"

G_BEGIN_DECLS

/* gstspdlloader.c has the object: creation, properties, signals, status and
 * resume state. loaderrun.c starts and stops runs, loadernext.c takes their
 * batches, loaderepochs.c goes to another epoch, and loadersource.c lets the
 * application be the source. loaderparts.c finds the elements of a pipeline
 * that the loader needs, and buswatch.c collects what they report. */

typedef struct _GstSpdlBusWatch GstSpdlBusWatch;

/* Position of gst_spdl_loader_next() in the epochs of a run:
 *
 *     NO_EPOCH ---batch---> IN_EPOCH ---end---> BETWEEN ---batch---> IN_EPOCH
 *
 * The end of the last epoch leads to NO_EPOCH; the end of the stream, or an
 * error of an epoch that has ended, from any of them to FINISHED. */
typedef enum {
  GST_SPDL_LOADER_NO_EPOCH, /* also after a replayed batch, which has none */
  GST_SPDL_LOADER_IN_EPOCH,
  GST_SPDL_LOADER_BETWEEN,
  GST_SPDL_LOADER_FINISHED,
} GstSpdlLoaderPhase;

/* The elements that a loader needs, owned. */
typedef struct {
  GstPipeline *pipeline;
  GstSpdlLoaderSink *sink;
  GPtrArray *sources; /* GstElement: spdlsrc */
  /* (nullable): the application's source, which is linked to the open pad
   * during a run. */
  GstElement *appsrc;
  GstPad *open_pad;

  /* Changes of the elements that the loader reverts; NULL in a worker process.
   * The first list is the property async, until the end of a run. The others
   * last until the loader ends, because the next run and the statistics of the
   * last one need them: epochs, rank, world-size, resume-state, classes and
   * cpu-budget of sources, and the stages (GstSpdlStage) whose default
   * concurrency is that for loaders; NULL if the loader leaves it as it is. */
  GPtrArray *run_changes;
  GPtrArray *changes;
  GPtrArray *tuned;
} GstSpdlLoaderParts;

struct _GstSpdlLoader {
  GObject parent;

  pid_t pid; /* the loader must not be used in a child process */
  GstSpdlLoaderParts parts;
  gboolean made_pipeline; /* from a description */
  gboolean sets_epochs;   /* the description sets `epochs` */

  /* Held during a start or a stop; taken before `lock`. */
  SpdlMutex state_lock;
  gboolean running;
  gint n_starts; /* atomic: number of calls of start() */
  gint starting; /* atomic: an asynchronous start is in progress */
  gulong probe;  /* on the source pad */
  gdouble cpu_budget;
  /* (nullable): CPU time that the budget limits; NULL: that of the pipeline */
  guint64 (*get_cpu_time) (void);

  SpdlMutex lock;
  GstSpdlBusWatch *bus_watch; /* of the last run; nullable */
  guint n_stopping;           /* calls of stop() that wait for the state lock */
  gint max_failures;
  guint64 epoch;
  GstSpdlLoaderPhase phase;
  GStrv classes;       /* (nullable): set by the caller */
  gchar *restored;     /* state in which runs begin; NULL: beginning */
  gchar *begun_at;     /* start state of the current or next run */
  gboolean handed_out; /* a batch or an end of epoch of this run was returned */
  guint64 next_epoch;  /* after the last one that ended; G_MAXUINT64: none */

  /* Notices for gst_spdl_binding_loader_pop_notice(). */
  gboolean keeps_notices; /* set before the start */
  GQueue kept_notices;    /* GstSpdlNotice */

  gint in_next; /* atomic */
  /* Only used by the thread in next(). */
  GstSpdlLayout layout;
  guint wakes;
  /* Number of epochs that were reached. Failures of later ones, which are
   * loaded ahead, are not reported yet. */
  guint64 n_epochs;

  gint in_push; /* atomic */
  /* Serializes the end of a push with a start. */
  SpdlMutex push_lock;
  guint64 push_epoch;
  guint64 n_pushed;
  gboolean push_ended;
};

/* Finds the elements of @pipeline. Creates a source if it has an open sink
 * pad. */
gboolean gst_spdl_loader_parts_init (
    GstSpdlLoaderParts *self, GstPipeline *pipeline, GError **error);
/* Does so for a pipeline of any kind, which runs as it is: it gets no source,
 * and its stages keep their concurrency.
 *
 * @sink: takes what arrives; an element of @pipeline, or one without a parent,
 *     which only learns the end */
void gst_spdl_loader_parts_init_as_is (
    GstSpdlLoaderParts *self, GstPipeline *pipeline, GstSpdlLoaderSink *sink);
void gst_spdl_loader_parts_clear (GstSpdlLoaderParts *self);

/* Creates a loader for a program that only runs a pipeline and measures it, see
 * gst_spdl_loader_parts_init_as_is().
 *
 * @get_cpu_time: CPU time that `cpu-budget` limits, in ns */
SPDL_PRIVATE_API
GstSpdlLoader *gst_spdl_loader_new_as_is (GstPipeline *pipeline,
    GstSpdlLoaderSink *sink, guint64 (*get_cpu_time) (void));

/* Returns: (transfer full): gst_spdl_dup_cpu_stats() with the CPU time of the
 * threads that load in the last run, as `loading-time` */
SPDL_PRIVATE_API
GstStructure *gst_spdl_loader_dup_cpu_stats (GstSpdlLoader *self);

/* Prepares the elements for a run, before the pipeline leaves NULL. Returns
 * FALSE with @error set if the application has linked the open pad meanwhile.
 */
gboolean
gst_spdl_loader_parts_begin_run (GstSpdlLoaderParts *self, GError **error);

/* Reverts this when the pipeline is in NULL again. */
void gst_spdl_loader_parts_end_run (GstSpdlLoaderParts *self);

/* Finds the sources of the pipeline. */
SPDL_PRIVATE_API
void gst_spdl_loader_parts_find_sources (GstSpdlLoaderParts *self);

/* Sets the function that each source calls when its start ends, see
 * spdl_async_start_set_func(). */
SPDL_PRIVATE_API
void gst_spdl_loader_parts_watch_starts (const GstSpdlLoaderParts *self,
    void (*func) (gpointer user_data), gpointer user_data);

/* Waits until the sources have opened their datasets, which may be on servers.
 * @cond is signaled when a source has started, when *@stopped changes, or when
 * @cancellable (nullable) is cancelled. Returns FALSE if a source failed, or if
 * the wait was stopped or cancelled. */
SPDL_PRIVATE_API
gboolean gst_spdl_loader_parts_wait_for_starts (const GstSpdlLoaderParts *self,
    SpdlMutex *lock, SpdlCond *cond, const gboolean *stopped,
    GCancellable *cancellable);

/* Returns: (transfer full): the pipeline of a description, NULL with @error
 * set */
SPDL_PRIVATE_API
GstPipeline *gst_spdl_loader_parse (const gchar *description, GError **error);

/* Sets the concurrency of stages for which none was set. */
SPDL_PRIVATE_API
void gst_spdl_loader_parts_tune (GstSpdlLoaderParts *self);

/* Starts a stopped loader after the last batch that was taken. Returns FALSE
 * with @error set if its state is not known.
 *
 * @n_repeated: number of reported failures that the state does not count, so
 *     that they occur again */
gboolean gst_spdl_loader_continue (
    GstSpdlLoader *self, guint64 n_repeated, GError **error);

/* Sets the share of the CPU cores that loading may use. 0: no limit. */
void gst_spdl_loader_set_cpu_budget (GstSpdlLoader *self, gdouble budget);

/* Returns TRUE if @epoch is known to be the last one. */
gboolean
gst_spdl_loader_parts_is_last (const GstSpdlLoaderParts *self, guint64 epoch);

/* Sets the resume state of each source. @state: (nullable) */
gboolean gst_spdl_loader_parts_set_state (
    const GstSpdlLoaderParts *self, const gchar *state, GError **error);

/* Sets the resume state of each source for one start. Returns (transfer full)
 * the previous states for gst_spdl_loader_parts_put_back_states(), which must
 * be called when the sources have started. */
GPtrArray *gst_spdl_loader_parts_exchange_states (
    const GstSpdlLoaderParts *self, const gchar *state);
void gst_spdl_loader_parts_put_back_states (
    const GstSpdlLoaderParts *self, GPtrArray *states, const gchar *state);

/* Returns the number of sources that announce themselves at the sink. Sources
 * in worker processes are not included. */
guint gst_spdl_loader_parts_count_sources (const GstSpdlLoaderParts *self);

/* Finds the class names that all sources share. Returns FALSE with @error set
 * if they differ.
 *
 * @classes: (out) (transfer full): NULL: none */
SPDL_PRIVATE_API
gboolean gst_spdl_loader_parts_dup_classes (
    const GstSpdlLoaderParts *self, GStrv *classes, GError **error);

/* Sets the class names (nullable) of each source. */
SPDL_PRIVATE_API
void gst_spdl_loader_parts_set_classes (
    const GstSpdlLoaderParts *self, const gchar *const *classes);

/* Sets the CPU budget of worker processes, which keep it themselves. */
void gst_spdl_loader_parts_set_cpu_budget (
    const GstSpdlLoaderParts *self, gdouble budget);

/* Returns: (transfer full) (nullable): the `stage-stats` of all elements,
 * sources first
 *
 * @foreign: with elements of other projects, as for gst_spdl_diagnose() */
SPDL_PRIVATE_API
GList *gst_spdl_loader_parts_dup_stats (
    const GstSpdlLoaderParts *self, gboolean foreign);

/* Returns FALSE in a child process. A child does not have the threads of its
 * parent, and locks may stay locked, so the loader must not be used there. */
static inline gboolean
gst_spdl_loader_is_own_process (const GstSpdlLoader *self)
{
  return self->pid == getpid ();
}

/* Returns FALSE with @error set in a child process. */
gboolean gst_spdl_loader_check_process (GstSpdlLoader *self, GError **error);

/* Start of a run that continues after a skipped epoch. */
typedef struct {
  const gchar *state; /* nullable: positions of the sources are unknown */
  guint64 epoch;
  guint64 n_failures; /* so far */
} GstSpdlLoaderPlace;

/* State lock held. Starts a run.
 *
 * @place: (nullable): its start, if it differs from that of the loader
 * @cancellable: (nullable): ends the wait for a server */
gboolean gst_spdl_loader_run_from (GstSpdlLoader *self,
    const GstSpdlLoaderPlace *place, GCancellable *cancellable, GError **error);

/* State lock held. Stops and ends the run, if there is one. */
void gst_spdl_loader_end_run (GstSpdlLoader *self);

/* Returns: (transfer full): the task of an asynchronous call */
GTask *gst_spdl_loader_new_task (GstSpdlLoader *self, GCancellable *cancellable,
    GAsyncReadyCallback callback, gpointer user_data, gpointer tag);

/* Implements gst_spdl_loader_start(). @cancellable: (nullable) */
gboolean gst_spdl_loader_start_run (
    GstSpdlLoader *self, GCancellable *cancellable, GError **error);

/* Admits one thread or asynchronous call at a time, until end_taking().
 *
 * Returns: (transfer full): NULL with @error set */
GstSpdlBusWatch *
gst_spdl_loader_begin_taking (GstSpdlLoader *self, GError **error);
void
gst_spdl_loader_end_taking (GstSpdlLoader *self, GstSpdlBusWatch *bus_watch);

/* Implement gst_spdl_loader_next() and gst_spdl_loader_wait() after this. */
GstSpdlBatch *gst_spdl_loader_pull (GstSpdlLoader *self,
    GstSpdlBusWatch *bus_watch, GstClockTime timeout, GError **error);
gboolean gst_spdl_loader_wait_for_next (
    GstSpdlLoader *self, GstSpdlBusWatch *bus_watch, GstClockTime timeout);

/* Returns: (transfer full): the bus watch of the last run, NULL with @error
 * set */
GstSpdlBusWatch *
gst_spdl_loader_get_bus_watch (GstSpdlLoader *self, GError **error);

/* Emits signals for failed items of the epochs that were reached, and for
 * warnings.
 *
 * @state: (nullable): state of the batch that is about to be returned */
void gst_spdl_loader_emit_notices (
    GstSpdlLoader *self, GstSpdlBusWatch *bus_watch, const gchar *state);

/* Returns what gst_spdl_loader_dup_state() returns, but reports no failures. */
gchar *gst_spdl_loader_read_state (GstSpdlLoader *self);

/* Sets %GST_SPDL_LOADER_ERROR_STOPPED. */
void gst_spdl_loader_set_stopped (GError **error);

/* State lock held. Ends a run that was stopped by one of its threads, which
 * could not wait for its end. Returns TRUE if no run is active now. */
gboolean gst_spdl_loader_end_stopped_run (GstSpdlLoader *self);

G_END_DECLS
