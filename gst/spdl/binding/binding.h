/* gst-spdl: C interface of the Python package
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/engine/visibility.h"
#include "gst/spdl/gstspdldecoder.h"
#include "gst/spdl/gstspdlloader.h"
#include "gst/spdl/gstspdltask.h"
#include "gst/spdl/process/processpool.h"

G_BEGIN_DECLS

/* The Python package calls this library through ctypes. These functions take
 * and return only pointers, numbers and strings, so that the package needs
 * neither PyGObject nor other libraries. They are private: package and library
 * have the same version, which the package checks. */

#define GST_SPDL_BINDING_VERSION 1

SPDL_PRIVATE_API
guint gst_spdl_binding_get_version (void);

/* Returns: (transfer full): alternating names and versions: of this project,
 * GStreamer and GLib */
SPDL_PRIVATE_API
gchar **gst_spdl_binding_list_versions (void);

/* See gst_spdl_cudart_add_folder(). */
SPDL_PRIVATE_API
void gst_spdl_binding_add_cuda_folder (const gchar *folder);

/* See spdl_trace_start() and spdl_trace_stop(). */
SPDL_PRIVATE_API
gboolean gst_spdl_binding_trace_start (const gchar *path, GError **error);
/* Returns the number of dropped events. */
SPDL_PRIVATE_API
guint64 gst_spdl_binding_trace_stop (GError **error);

/* A Python function that opens a stream of Arrow. Sets @problem with
 * gst_spdl_binding_set_problem() on failure. */
typedef void (*GstSpdlBindingOpen) (
    gpointer stream, gpointer id, gchar **problem);

SPDL_PRIVATE_API
void gst_spdl_binding_set_problem (gchar **problem, const gchar *text);

/* See gst_spdl_loader_set_arrow_stream(). @id is returned by
 * gst_spdl_binding_pop_finished() when @function is no longer needed. */
SPDL_PRIVATE_API
gboolean gst_spdl_binding_loader_set_arrow_stream (GstSpdlLoader *loader,
    GstSpdlBindingOpen function, gpointer id, const gchar *name,
    GError **error);

/* A Python function that opens a part of a table. Sets @problem like
 * GstSpdlBindingOpen. */
typedef void (*GstSpdlBindingOpenPart) (gint part, const gchar *const *columns,
    gpointer stream, gpointer id, gchar **problem);

/* See gst_spdl_loader_set_arrow_parts(). @id is as for
 * gst_spdl_binding_loader_set_arrow_stream(). */
SPDL_PRIVATE_API
gboolean gst_spdl_binding_loader_set_arrow_parts (GstSpdlLoader *loader,
    const GstSpdlArrowPart *parts, guint n_parts,
    GstSpdlBindingOpenPart function, gpointer id, const gchar *name,
    GError **error);

/* Returns `location`, `pattern` and `label-column` of each spdlsrc (transfer
 * full); "": unset. */
SPDL_PRIVATE_API
gchar **gst_spdl_binding_loader_list_locations (GstSpdlLoader *loader);

/* Returns a number that is a property of the only element of a type, such as
 * `batch-size` of spdlbatch; %G_MAXUINT64 if there is none, or several. */
SPDL_PRIVATE_API
guint64 gst_spdl_binding_loader_get_number (
    GstSpdlLoader *loader, const gchar *factory, const gchar *property);

/* Returns `seed` of the first source that has one, else 0. */
SPDL_PRIVATE_API
guint64 gst_spdl_binding_loader_get_seed (GstSpdlLoader *loader);

/* See spdl_arrow_end(). */
SPDL_PRIVATE_API
void gst_spdl_binding_arrow_end (guint64 timeout);

/* Memory */

SPDL_PRIVATE_API
void gst_spdl_binding_free (gpointer memory);

SPDL_PRIVATE_API
void gst_spdl_binding_free_strings (gchar **strings);

/* See spdl_show_line(). */
SPDL_PRIVATE_API
gchar *gst_spdl_binding_show_line (const gchar *text);

SPDL_PRIVATE_API
void gst_spdl_binding_free_error (GError *error);

/* For a loader or a decoder. */
SPDL_PRIVATE_API
void gst_spdl_binding_unref_object (gpointer object);

/* For a sample or caps. */
SPDL_PRIVATE_API
gpointer gst_spdl_binding_ref (gpointer mini_object);

SPDL_PRIVATE_API
void gst_spdl_binding_unref (gpointer mini_object);

/* Returns: (transfer none) (nullable): the nick of a #GstSpdlLoaderError */
SPDL_PRIVATE_API
const gchar *gst_spdl_binding_get_error_nick (gint code);

/* Returns: (transfer none): the name of an error's domain */
SPDL_PRIVATE_API
const gchar *gst_spdl_binding_get_error_domain (GQuark domain);

/* Returns: (transfer none): the nick of a loader's error; "source-error" for
 * that of gst_spdl_binding_loader_fail_source(); "pipeline-error" for others */
SPDL_PRIVATE_API
const gchar *gst_spdl_binding_get_error_code (const GError *error);

/* Loaders */

typedef struct {
  gboolean ready;       /* there is a result; reset by the caller */
  gboolean has_notices; /* notices for gst_spdl_binding_loader_pop_notice() */
  GstSpdlBatch *batch;  /* (transfer full) (nullable) */
  GError *error;        /* (transfer full) (nullable) */
} GstSpdlBindingPull;

/* Calls gst_spdl_loader_next() without blocking. Does nothing while @pull is
 * still `ready`, because a signal may interrupt the caller before it has taken
 * the result. */
SPDL_PRIVATE_API
void gst_spdl_binding_loader_try_next (
    GstSpdlLoader *loader, GstSpdlBindingPull *pull);

/* Returns whether a batch of an epoch was returned, but not its end, which
 * gst_spdl_loader_next_epoch() changes if it skips the rest. */
SPDL_PRIVATE_API
gboolean gst_spdl_binding_loader_is_in_epoch (GstSpdlLoader *loader);

/* Calls gst_spdl_loader_continue(). */
SPDL_PRIVATE_API
gboolean gst_spdl_binding_loader_continue (
    GstSpdlLoader *loader, guint64 n_repeated, GError **error);

/* Keeps failures and warnings for gst_spdl_binding_loader_pop_notice(). */
SPDL_PRIVATE_API
void gst_spdl_binding_loader_keep_notices (GstSpdlLoader *loader);

/* Returns: (transfer full) (nullable): the state of
 * gst_spdl_loader_dup_state(), without reporting the failures that it counts */
SPDL_PRIVATE_API
gchar *gst_spdl_binding_loader_read_state (GstSpdlLoader *loader);

/* Returns: (transfer full) (nullable): the next failure or warning, a
 * #GstSpdlNotice */
SPDL_PRIVATE_API
gpointer gst_spdl_binding_loader_pop_notice (GstSpdlLoader *loader);

SPDL_PRIVATE_API
void gst_spdl_binding_free_notice (gpointer notice);

SPDL_PRIVATE_API
gint gst_spdl_binding_loader_get_max_failures (GstSpdlLoader *loader);

SPDL_PRIVATE_API
void gst_spdl_binding_loader_set_max_failures (
    GstSpdlLoader *loader, gint max_failures);

SPDL_PRIVATE_API
gdouble gst_spdl_binding_loader_get_cpu_budget (GstSpdlLoader *loader);

SPDL_PRIVATE_API
void
gst_spdl_binding_loader_set_cpu_budget (GstSpdlLoader *loader, gdouble budget);

/* Returns: (transfer full): the statistics of all elements, an array in JSON */
SPDL_PRIVATE_API
gchar *gst_spdl_binding_loader_dup_stats (GstSpdlLoader *loader);

/* Returns: (transfer full): the diagnosis, an object in JSON */
SPDL_PRIVATE_API
gchar *gst_spdl_binding_loader_dup_verdict (GstSpdlLoader *loader);

/* Ends the source with an error. Returns FALSE with @error set, like
 * gst_spdl_loader_end_source(). */
SPDL_PRIVATE_API
gboolean gst_spdl_binding_loader_fail_source (
    GstSpdlLoader *loader, const gchar *reason, GError **error);

/* Calls gst_spdl_loader_push() with the buffer and caps of a sample. */
SPDL_PRIVATE_API
gboolean gst_spdl_binding_loader_push (GstSpdlLoader *loader, GstSample *sample,
    gint64 label, const gchar *uri, GstClockTime timeout, GError **error);

/* Functions */

/* Values of PyGILState_STATE. */
#define GST_SPDL_BINDING_LOCKED 0
#define GST_SPDL_BINDING_UNLOCKED 1

/* Functions of Python's C API. This library is not linked to Python. */
typedef struct {
  int (*ensure) (void);        /* PyGILState_Ensure */
  void (*release) (int state); /* PyGILState_Release */
  gpointer (*save_thread) (void);
  void (*restore_thread) (gpointer state);
  void (*clear_state) (gpointer state);
  void (*delete_current_state) (void);
  int (*is_initialized) (void);
  int (*is_finalizing) (void);
} GstSpdlBindingPython;

/* Sets these functions, before the first call of
 * gst_spdl_binding_set_function(). */
SPDL_PRIVATE_API
void gst_spdl_binding_set_python (const GstSpdlBindingPython *functions);

/* Returns: (transfer full) (nullable): the result, as for the signal `process`
 * of spdlpipe */
typedef GstSample *(*GstSpdlBindingFunction) (GstSample *sample, gpointer id);

/* A Python function that chooses a branch. Sets @problem with
 * gst_spdl_binding_set_problem() on failure. */
typedef gint (*GstSpdlBindingSelect) (
    GstSample *sample, gpointer id, gchar **problem);

typedef enum {
  GST_SPDL_BINDING_OK,
  GST_SPDL_BINDING_NO_ELEMENT,
  GST_SPDL_BINDING_OTHER_ELEMENT, /* the element is of another type */
} GstSpdlBindingStatus;

/* Sets @function as the function of the spdlpipe @name in @pipeline. Once it
 * will not be called again, gst_spdl_binding_pop_finished() returns @id. */
SPDL_PRIVATE_API
GstSpdlBindingStatus gst_spdl_binding_set_function (GstBin *pipeline,
    const gchar *name, GstSpdlBindingFunction function, gpointer id);

/* The same for the spdlroute @name. */
SPDL_PRIVATE_API
GstSpdlBindingStatus gst_spdl_binding_set_select (GstBin *pipeline,
    const gchar *name, GstSpdlBindingSelect function, gpointer id);

/* Has @pool do the work of the spdlpipe @name, whose concurrency becomes @size.
 * Once the pool will not be used again, gst_spdl_binding_pop_finished() returns
 * @id. */
SPDL_PRIVATE_API
GstSpdlBindingStatus gst_spdl_binding_set_process_pool (GstBin *pipeline,
    const gchar *name, SpdlProcessPool *pool, guint size, gpointer id);

/* Sets the number of items that the spdlpipe @name processes at the same
 * time. */
SPDL_PRIVATE_API
GstSpdlBindingStatus gst_spdl_binding_set_concurrency (
    GstBin *pipeline, const gchar *name, guint concurrency);

/* Returns: (nullable): the id of a function that will not be called again */
SPDL_PRIVATE_API
gpointer gst_spdl_binding_pop_finished (void);
void gst_spdl_binding_push_finished (gpointer id);

/* Returns: (transfer full) (nullable) */
GstElement *gst_spdl_binding_find (GstBin *pipeline, const gchar *name,
    const gchar *factory, GstSpdlBindingStatus *status);

/* Coroutines: items that wait for an event loop */

typedef struct _GstSpdlBindingQueue GstSpdlBindingQueue;

/* Makes the calling thread one of a pipeline: in it, gst_spdl_loader_stop()
 * does not wait for the end. */
SPDL_PRIVATE_API
void gst_spdl_binding_thread_set_loading (void);

/* Returns: NULL if no file descriptor is left */
SPDL_PRIVATE_API
GstSpdlBindingQueue *gst_spdl_binding_queue_new (gpointer id);
SPDL_PRIVATE_API
void gst_spdl_binding_queue_unref (GstSpdlBindingQueue *self);

/* Has the items of the spdlpipe @name wait in a queue. Once it has gone,
 * gst_spdl_binding_pop_finished() returns the id of the queue. */
SPDL_PRIVATE_API
GstSpdlBindingStatus gst_spdl_binding_set_queue (
    GstBin *pipeline, const gchar *name, GstSpdlBindingQueue *self);

/* Returns: a descriptor that is readable when there is something to do */
SPDL_PRIVATE_API
int gst_spdl_binding_queue_get_fd (GstSpdlBindingQueue *self);

/* Makes the descriptor not readable. Call it before taking all items.
 *
 * @timeout: (out): for each item, in ns, 0: none
 * Returns TRUE if the items that were taken before are to be cancelled */
SPDL_PRIVATE_API
gboolean
gst_spdl_binding_queue_clear (GstSpdlBindingQueue *self, guint64 *timeout);

/* Returns: (transfer full) (nullable): the next task with its item in @sample
 * (transfer full); NULL if there is none, or items are to be cancelled first */
SPDL_PRIVATE_API
GstSpdlTask *
gst_spdl_binding_queue_take (GstSpdlBindingQueue *self, GstSample **sample);

/* @task: (transfer full)
 * @result: (transfer full) (nullable): as for the signal `process` of spdlpipe
 * @cpu_time: that the item took, in ns */
SPDL_PRIVATE_API
void gst_spdl_binding_task_finish (
    GstSpdlTask *task, GstSample *result, guint64 cpu_time);

/* Worker processes: the package also calls the functions of processpool.h and
 * processlink.h. */

/* Returns: (transfer none): the socket, to poll */
SPDL_PRIVATE_API
int gst_spdl_binding_process_link_get_socket (SpdlProcessLink *link);

/* @address: (out): of the memory
 * Returns: (transfer full) (nullable): a sample of memory that is sent without
 * a copy */
SPDL_PRIVATE_API
GstSample *gst_spdl_binding_process_link_alloc (
    SpdlProcessLink *link, gsize size, gpointer *address);

/* Returns: (nullable): the address of the bytes of a sample that came through a
 * link as one memory, valid as long as the sample */
SPDL_PRIVATE_API
gpointer gst_spdl_binding_sample_get_bytes (GstSample *sample, gsize *size);

/* Samples: items, groups and batches in the pipeline */

/* Returns: (transfer full) */
SPDL_PRIVATE_API
GstCaps *gst_spdl_binding_caps_new (const gchar *description);

/* Copies @data.
 *
 * @caps: (nullable): caps of the original
 * @link: (nullable): to the process that gets the sample. The copy is in memory
 *     that this process shares.
 * Returns: (transfer full) */
SPDL_PRIVATE_API
GstSample *gst_spdl_binding_sample_new (
    gconstpointer data, gsize size, GstCaps *caps, SpdlProcessLink *link);

/* Returns: (transfer full) */
SPDL_PRIVATE_API
GstSample *gst_spdl_binding_sample_new_from_buffer (GstBuffer *buffer);

/* Creates an item of several media.
 *
 * Returns: (transfer full) (nullable): NULL: there are too many parts */
SPDL_PRIVATE_API
GstSample *gst_spdl_binding_sample_new_from_parts (
    guint n, const gchar *const *names, GstSample *const *parts);

/* Creates a group.
 *
 * Returns: (transfer full) (nullable): NULL: the items have different caps */
SPDL_PRIVATE_API
GstSample *
gst_spdl_binding_sample_new_from_items (guint n, GstSample *const *items);

/* Returns: whether @sample is a group */
SPDL_PRIVATE_API
gboolean gst_spdl_binding_sample_is_group (GstSample *sample, guint *n_items);

/* Returns: (transfer full) (nullable): an item of a group */
SPDL_PRIVATE_API
GstSample *gst_spdl_binding_sample_dup_item (GstSample *sample, guint i);

typedef struct {
  guint64 epoch;
  guint64 index;
  gint64 label;
  const gchar *uri; /* nullable, of the sample */
} GstSpdlBindingItem;

/* Returns: whether the sample has an item meta, which is stored in @item */
SPDL_PRIVATE_API
gboolean
gst_spdl_binding_sample_get_item (GstSample *sample, GstSpdlBindingItem *item);

/* Returns: (transfer full) */
SPDL_PRIVATE_API
gchar *gst_spdl_binding_sample_dup_caps (GstSample *sample);

SPDL_PRIVATE_API
gsize gst_spdl_binding_sample_get_size (GstSample *sample);

SPDL_PRIVATE_API
void gst_spdl_binding_sample_copy_data (
    GstSample *sample, gpointer dest, gsize size);

/* Returns: (transfer full) (nullable): the extra fields of an item as a JSON
 * object */
SPDL_PRIVATE_API
gchar *gst_spdl_binding_sample_dup_extra (GstSample *sample);

/* Creates a sample with the data of @sample, and with its item, or else that of
 * @item, whose extra fields change.
 *
 * @changes: new fields, as spdl_put_structure() writes them
 * @gone: (array zero-terminated=1): names of the fields to remove
 * Returns: (transfer full) (nullable): NULL: @changes are invalid, or there is
 *     no item */
SPDL_PRIVATE_API
GstSample *
gst_spdl_binding_sample_with_extra (GstSample *sample, GstSample *item,
    gconstpointer changes, gsize size, const gchar *const *gone);

/* Leaves the extra fields of the item @sample, with changes, to the element
 * that asked for a branch. */
SPDL_PRIVATE_API
gboolean gst_spdl_binding_sample_keep_extra (GstSample *sample,
    gconstpointer changes, gsize size, const gchar *const *gone);

/* Returns: (transfer full): a view of its tensors, NULL with @error set */
SPDL_PRIVATE_API
GstSpdlBatch *gst_spdl_binding_sample_view (GstSample *sample, GError **error);

/* Batches */

/* PyArrayInterface of NumPy, which a capsule passes in `__array_struct__`. */
typedef struct {
  gint two; /* 2; 0: NumPy cannot view the tensor */
  gint n_dims;
  gchar kind;
  gint itemsize;
  gint flags;
  const gint64 *shape;
  const gint64 *strides;
  gpointer data;
  gpointer descr; /* NULL */
} SpdlArrayInterface;

typedef struct {
  SpdlArrayInterface array;
  GstSpdlTensor *tensor; /* (transfer none) */
  const gchar *typestr;
  const gint64 *shape;
  gpointer address;
  guint n_dims;
  gint device_type;
  gint device_id;
  gboolean contiguous;
  gboolean writable;
} GstSpdlBindingTensor;

/* @view: valid as long as @tensor */
SPDL_PRIVATE_API
void gst_spdl_binding_tensor_describe (
    GstSpdlTensor *tensor, GstSpdlBindingTensor *view);

/* Returns: whether the tensor exists; if so, @view describes it */
SPDL_PRIVATE_API
gboolean gst_spdl_binding_batch_find_tensor (
    GstSpdlBatch *batch, const gchar *name, GstSpdlBindingTensor *view);

SPDL_PRIVATE_API
gboolean gst_spdl_binding_batch_get_tensor (
    GstSpdlBatch *batch, guint i, GstSpdlBindingTensor *view);

/* Returns: (transfer full) (nullable): the extra fields of an item as a JSON
 * object */
SPDL_PRIVATE_API
gchar *gst_spdl_binding_batch_dup_extra (const GstSpdlBatch *batch, guint i);

/* Returns: (transfer full): a copy with separate memory */
SPDL_PRIVATE_API
GstSpdlBatch *
gst_spdl_binding_batch_copy (const GstSpdlBatch *batch, GError **error);

/* Calls gst_spdl_decoder_decode() with a copy of @data. */
SPDL_PRIVATE_API
GstSpdlBatch *
gst_spdl_binding_decode (GstSpdlDecoder *decoder, gconstpointer data,
    gsize size, guint64 epoch, guint64 index, GError **error);

/* Capsules of DLPack */

/* A capsule that was not consumed must free its tensor. Its destructor is in C,
 * because it may run while the interpreter is being finalized. This library is
 * not linked to Python, which therefore passes the two functions that the
 * destructor needs. */

typedef int (*SpdlCapsuleIsValid) (gpointer capsule, const char *name);
typedef gpointer (*SpdlCapsuleGetPointer) (gpointer capsule, const char *name);

/* Sets Python's PyCapsule_IsValid and PyCapsule_GetPointer. Called once, with
 * the GIL held. */
SPDL_PRIVATE_API
void gst_spdl_capsule_init (
    SpdlCapsuleIsValid is_valid, SpdlCapsuleGetPointer get_pointer);

/* Implements PyCapsule_Destructor: frees the content of a capsule named
 * `dltensor`. A consumer renames the capsule. */
SPDL_PRIVATE_API
void gst_spdl_capsule_free (gpointer capsule);

G_END_DECLS
