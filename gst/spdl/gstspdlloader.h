/* gst-spdl: loader: a pipeline that returns batches to a trainer
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __GST_SPDL_LOADER_H__
#define __GST_SPDL_LOADER_H__

#include <gio/gio.h>
#include <gst/spdl/gstspdlbatch.h>
#include <gst/spdl/gstspdldiagnose.h>

G_BEGIN_DECLS

/**
 * GST_SPDL_LOADER_ERROR:
 *
 * Error domain of the loader. Errors that the pipeline posts keep their domain
 * and code.
 *
 * Since: 0.1
 */
#define GST_SPDL_LOADER_ERROR (gst_spdl_loader_error_quark ())

/**
 * GstSpdlLoaderError:
 * @GST_SPDL_LOADER_ERROR_FAILED: another error
 * @GST_SPDL_LOADER_ERROR_PIPELINE: the pipeline does not fit a loader: it needs
 *     one `spdlsink` and no other appsink
 * @GST_SPDL_LOADER_ERROR_TIMED_OUT: the timeout expired; nothing is lost
 * @GST_SPDL_LOADER_ERROR_NOT_STARTED: gst_spdl_loader_start() was not called
 * @GST_SPDL_LOADER_ERROR_STARTED: the function requires a stopped loader
 * @GST_SPDL_LOADER_ERROR_STOPPED: gst_spdl_loader_stop() was called
 * @GST_SPDL_LOADER_ERROR_BUSY: another thread is in the same function
 * @GST_SPDL_LOADER_ERROR_FORKED: the loader belongs to the parent process
 * @GST_SPDL_LOADER_ERROR_FAILURES: more items failed than
 *     #GstSpdlLoader:max-failures allows
 * @GST_SPDL_LOADER_ERROR_STATE: the state cannot be restored
 * @GST_SPDL_LOADER_ERROR_SOURCE: the loader has no source to push into, the
 *     source has ended, or the first element does not accept its items
 *
 * Error codes of the loader.
 *
 * Since: 0.1
 */
typedef enum {
  GST_SPDL_LOADER_ERROR_FAILED,
  GST_SPDL_LOADER_ERROR_PIPELINE,
  GST_SPDL_LOADER_ERROR_TIMED_OUT,
  GST_SPDL_LOADER_ERROR_NOT_STARTED,
  GST_SPDL_LOADER_ERROR_STARTED,
  GST_SPDL_LOADER_ERROR_STOPPED,
  GST_SPDL_LOADER_ERROR_BUSY,
  GST_SPDL_LOADER_ERROR_FORKED,
  GST_SPDL_LOADER_ERROR_FAILURES,
  GST_SPDL_LOADER_ERROR_STATE,
  GST_SPDL_LOADER_ERROR_SOURCE,
} GstSpdlLoaderError;

GST_SPDL_API
GQuark gst_spdl_loader_error_quark (void);

#define GST_TYPE_SPDL_LOADER_ERROR (gst_spdl_loader_error_get_type ())
GST_SPDL_API
GType gst_spdl_loader_error_get_type (void);

#define GST_TYPE_SPDL_LOADER (gst_spdl_loader_get_type ())
GST_SPDL_API
G_DECLARE_FINAL_TYPE (GstSpdlLoader, gst_spdl_loader, GST, SPDL_LOADER, GObject)

GST_SPDL_API
GstSpdlLoader *gst_spdl_loader_new (const gchar *description, GError **error);

GST_SPDL_API
GstSpdlLoader *gst_spdl_loader_new_in_process (
    const gchar *description, const gchar *properties, GError **error);

GST_SPDL_API
GstSpdlLoader *
gst_spdl_loader_new_from_pipeline (GstPipeline *pipeline, GError **error);

GST_SPDL_API
GstPipeline *gst_spdl_loader_get_pipeline (GstSpdlLoader *loader);

GST_SPDL_API
void gst_spdl_loader_set_default_epochs (GstSpdlLoader *loader, gint64 epochs);

GST_SPDL_API
void gst_spdl_loader_set_default_rank (
    GstSpdlLoader *loader, gint rank, gint world_size);

GST_SPDL_API
guint64
gst_spdl_loader_get_num_batches (GstSpdlLoader *loader, guint64 num_items);

/* Running */

GST_SPDL_API
gboolean gst_spdl_loader_start (GstSpdlLoader *loader, GError **error);

GST_SPDL_API
void
gst_spdl_loader_start_async (GstSpdlLoader *loader, GCancellable *cancellable,
    GAsyncReadyCallback callback, gpointer user_data);

GST_SPDL_API
gboolean gst_spdl_loader_start_finish (
    GstSpdlLoader *loader, GAsyncResult *result, GError **error);

GST_SPDL_API
GstSpdlBatch *gst_spdl_loader_next (
    GstSpdlLoader *loader, GstClockTime timeout, GError **error);

GST_SPDL_API
void
gst_spdl_loader_next_async (GstSpdlLoader *loader, GCancellable *cancellable,
    GAsyncReadyCallback callback, gpointer user_data);

GST_SPDL_API
GstSpdlBatch *gst_spdl_loader_next_finish (
    GstSpdlLoader *loader, GAsyncResult *result, GError **error);

GST_SPDL_API
gboolean gst_spdl_loader_next_epoch (GstSpdlLoader *loader, GError **error);

GST_SPDL_API
gboolean gst_spdl_loader_wait (GstSpdlLoader *loader, GstClockTime timeout);

GST_SPDL_API
void gst_spdl_loader_stop (GstSpdlLoader *loader);

GST_SPDL_API
gboolean gst_spdl_loader_is_running (GstSpdlLoader *loader);

GST_SPDL_API
gboolean gst_spdl_loader_is_finished (GstSpdlLoader *loader);

GST_SPDL_API
guint64 gst_spdl_loader_get_epoch (GstSpdlLoader *loader);

/* Status and statistics */

GST_SPDL_API
guint64 gst_spdl_loader_get_num_failures (GstSpdlLoader *loader);

GST_SPDL_API
GError *gst_spdl_loader_dup_error (GstSpdlLoader *loader);

GST_SPDL_API
gboolean gst_spdl_loader_get_error_item (
    GstSpdlLoader *loader, gchar **stage, gchar **uri);

GST_SPDL_API
GList *gst_spdl_loader_dup_stats (GstSpdlLoader *loader);

GST_SPDL_API
GstSpdlDiagnosis *gst_spdl_loader_diagnose (GstSpdlLoader *loader);

/* Classes */

GST_SPDL_API
gchar **gst_spdl_loader_dup_classes (GstSpdlLoader *loader, GError **error);

GST_SPDL_API
gboolean gst_spdl_loader_set_classes (
    GstSpdlLoader *loader, const gchar *const *classes, GError **error);

/* Resuming */

GST_SPDL_API
gchar *gst_spdl_loader_dup_state (GstSpdlLoader *loader);

GST_SPDL_API
gboolean gst_spdl_loader_restore_state (
    GstSpdlLoader *loader, const gchar *state, GError **error);

/* Application as the source */

GST_SPDL_API
gboolean gst_spdl_loader_has_source (GstSpdlLoader *loader);

/**
 * GstSpdlArrowFunc:
 * @stream: `struct ArrowArrayStream *` to initialize
 * @user_data: data of the function
 * @error: (nullable): why there is no stream
 *
 * Opens a stream of Arrow's C stream interface at its first row. Called by the
 * thread that also calls the functions of the stream.
 *
 * Returns: %FALSE with @error set if there is no stream
 *
 * Since: 0.1
 */
typedef gboolean (*GstSpdlArrowFunc) (
    gpointer stream, gpointer user_data, GError **error);

/**
 * GstSpdlArrowPart:
 * @n_rows: number of rows
 * @n_bytes: approximate size in memory
 *
 * A part of a table, such as a row group of a Parquet file.
 *
 * Since: 0.1
 */
typedef struct {
  guint64 n_rows;
  guint64 n_bytes;
} GstSpdlArrowPart;

/**
 * GstSpdlArrowPartFunc:
 * @part: number of the part, -1 for a stream without rows
 * @columns: (nullable) (array zero-terminated=1): names of the columns to read;
 *     %NULL: all
 * @stream: `struct ArrowArrayStream *` to initialize
 * @user_data: data of the function
 * @error: (nullable): why there is no stream
 *
 * Opens a part of a table as a stream of Arrow's C stream interface. Several
 * threads call it for several parts at the same time, each of which also calls
 * the functions of its stream.
 *
 * Returns: %FALSE with @error set if there is no stream
 *
 * Since: 0.1
 */
typedef gboolean (*GstSpdlArrowPartFunc) (gint part,
    const gchar *const *columns, gpointer stream, gpointer user_data,
    GError **error);

GST_SPDL_API
gboolean gst_spdl_loader_set_arrow_parts (GstSpdlLoader *loader,
    const GstSpdlArrowPart *parts, guint n_parts, GstSpdlArrowPartFunc func,
    gpointer user_data, GDestroyNotify notify, const gchar *name,
    GError **error);

GST_SPDL_API
gboolean gst_spdl_loader_set_arrow_stream (GstSpdlLoader *loader,
    GstSpdlArrowFunc func, gpointer user_data, GDestroyNotify notify,
    const gchar *name, GError **error);

GST_SPDL_API
gboolean gst_spdl_loader_set_arrow_table (GstSpdlLoader *loader, gpointer rows,
    gpointer order, const gchar *name, GError **error);

GST_SPDL_API
gboolean
gst_spdl_loader_push (GstSpdlLoader *loader, GstBuffer *item, GstCaps *caps,
    gint64 label, const gchar *uri, GstClockTime timeout, GError **error);

GST_SPDL_API
gboolean
gst_spdl_loader_push_bytes (GstSpdlLoader *loader, GBytes *item, GstCaps *caps,
    gint64 label, const gchar *uri, GstClockTime timeout, GError **error);

GST_SPDL_API
gboolean gst_spdl_loader_push_uri (GstSpdlLoader *loader, const gchar *uri,
    gint64 label, GstClockTime timeout, GError **error);

GST_SPDL_API
gboolean gst_spdl_loader_end_epoch (GstSpdlLoader *loader, GError **error);

GST_SPDL_API
gboolean gst_spdl_loader_end_source (
    GstSpdlLoader *loader, const GError *cause, GError **error);

G_END_DECLS

#endif /* __GST_SPDL_LOADER_H__ */
