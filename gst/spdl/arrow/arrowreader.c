/* gst-spdl: opener and reader of an Arrow stream
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/arrow/arrowreader.h"

#include "gst/spdl/engine/newthread.h"
#include "gst/spdl/engine/sync.h"

struct _SpdlArrowOpener {
  gint ref_count; /* atomic */
  GstSpdlArrowFunc func;
  GstSpdlArrowPartFunc part_func; /* (nullable): of the parts of a table */
  gpointer user_data;
  GDestroyNotify notify;   /* nullable */
  GstSpdlArrowPart *parts; /* nullable */
  guint n_parts;
};

/* A part as a stream. */
typedef struct {
  SpdlArrowOpener *table;
  gint part;
  GStrv columns; /* nullable */
} Part;

SpdlArrowOpener *
spdl_arrow_opener_new (
    GstSpdlArrowFunc func, gpointer user_data, GDestroyNotify notify)
{
  SpdlArrowOpener *self = g_new (SpdlArrowOpener, 1);

  *self = (SpdlArrowOpener){
    .ref_count = 1, .func = func, .user_data = user_data, .notify = notify
  };
  return self;
}

SpdlArrowOpener *
spdl_arrow_opener_new_parts (const GstSpdlArrowPart *parts, guint n_parts,
    GstSpdlArrowPartFunc func, gpointer user_data, GDestroyNotify notify)
{
  SpdlArrowOpener *self = spdl_arrow_opener_new (NULL, user_data, notify);

  self->part_func = func;
  self->parts = g_new (GstSpdlArrowPart, MAX (n_parts, 1));
  self->n_parts = n_parts;
  for (guint i = 0; i < n_parts; i++)
    self->parts[i] = parts[i];
  return self;
}

SpdlArrowOpener *
spdl_arrow_opener_ref (SpdlArrowOpener *self)
{
  g_atomic_int_inc (&self->ref_count);
  return self;
}

void
spdl_arrow_opener_unref (SpdlArrowOpener *self)
{
  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;
  if (self->notify)
    self->notify (self->user_data);
  g_free (self->parts);
  g_free (self);
}

const GstSpdlArrowPart *
spdl_arrow_opener_get_parts (const SpdlArrowOpener *self, guint *n_parts)
{
  *n_parts = self->n_parts;
  return self->parts;
}

static gboolean
open_part (gpointer stream, gpointer user_data, GError **error)
{
  const Part *self = user_data;

  return self->table->part_func (self->part,
      (const gchar *const *) self->columns, stream, self->table->user_data,
      error);
}

static void
free_part (gpointer data)
{
  Part *self = data;

  spdl_arrow_opener_unref (self->table);
  g_strfreev (self->columns);
  g_free (self);
}

SpdlArrowOpener *
spdl_arrow_opener_new_part (
    SpdlArrowOpener *self, gint part, const gchar *const *columns)
{
  Part *made = g_new (Part, 1);

  *made =
      (Part){ spdl_arrow_opener_ref (self), part, g_strdupv ((GStrv) columns) };
  return spdl_arrow_opener_new (open_part, made, free_part);
}

static gboolean
open_stream (
    SpdlArrowOpener *self, struct ArrowArrayStream *stream, GError **error)
{
  GError *reason = NULL;

  if (self->func (stream, self->user_data, &reason))
    return TRUE;
  stream->release = NULL;
  if (!reason)
    reason = g_error_new_literal (GST_RESOURCE_ERROR,
        GST_RESOURCE_ERROR_OPEN_READ, "The producer did not open it");
  g_propagate_error (error, reason);
  return FALSE;
}

/* Interval in ns at which a waiting caller checks its cancellable. */
#define CHECK_INTERVAL (50 * G_GUINT64_CONSTANT (1000000))

typedef enum { REQUEST_NONE, REQUEST_SCHEMA, REQUEST_BATCH } Request;

struct _SpdlArrowBatch {
  gint ref_count; /* atomic */
  SpdlArrowReader *reader;
  struct ArrowArray array;
};

struct _SpdlArrowReader {
  SpdlArrowOpener *opener;        /* (nullable): of a stream that is not open */
  struct ArrowArrayStream stream; /* only used by the thread */
  gboolean has_thread;            /* FALSE: it could not be created */

  SpdlMutex lock; /* guards the following fields */
  SpdlCond wake;
  SpdlCond answered;
  struct ArrowSchema schema; /* released: not read yet */
  Request request;
  SpdlArrowBatch *batch; /* (nullable): read but not taken yet */
  gboolean at_end;
  GError *error;   /* (nullable): of the producer; lasts */
  guint n_batches; /* including those in `released` */
  GQueue released; /* SpdlArrowBatch without references */
  gboolean is_freed;
  gboolean is_closed; /* the stream has been released */
};

/* Calls of producers */

static SpdlMutex calls_lock = PTHREAD_MUTEX_INITIALIZER;
static guint n_calls;    /* calls that are pending or running */
static gboolean is_over; /* no more calls */

/* Announces calls, so that spdl_arrow_end() waits for them. */
static void
add_calls (gint n)
{
  spdl_mutex_lock (&calls_lock);
  n_calls += n;
  spdl_mutex_unlock (&calls_lock);
}

static gboolean
may_call (void)
{
  gboolean may;

  spdl_mutex_lock (&calls_lock);
  may = !is_over;
  spdl_mutex_unlock (&calls_lock);
  return may;
}

void
spdl_arrow_end (guint64 timeout)
{
  const gint64 end = g_get_monotonic_time () + (gint64) (timeout / 1000);

  spdl_mutex_lock (&calls_lock);
  while (n_calls > 0 && g_get_monotonic_time () < end) {
    spdl_mutex_unlock (&calls_lock);
    g_usleep (1000);
    spdl_mutex_lock (&calls_lock);
  }
  is_over = TRUE;
  spdl_mutex_unlock (&calls_lock);
}

/* Thread */

/* Returns the error of a call that returned @code. */
static GError *
make_error (SpdlArrowReader *self, int code)
{
  const gchar *text = self->stream.get_last_error
                          ? self->stream.get_last_error (&self->stream)
                          : NULL;
  g_autofree gchar *valid = text ? g_utf8_make_valid (text, -1) : NULL;

  return g_error_new (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ, "%s",
      valid && *valid ? valid : g_strerror (code));
}

static GError *
make_over_error (void)
{
  return g_error_new_literal (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
      "The interpreter of the producer has ended");
}

static GError *
read_schema (SpdlArrowReader *self, struct ArrowSchema *schema)
{
  GError *error = NULL;
  int code;

  if (self->opener && !open_stream (self->opener, &self->stream, &error))
    return error;
  code = self->stream.get_schema (&self->stream, schema);
  if (code != 0) {
    schema->release = NULL;
    return make_error (self, code);
  }
  return schema->release
             ? NULL
             : g_error_new_literal (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
                   "The producer returned no schema");
}

/* @batch: (out) (nullable): NULL: there are no more */
static GError *
read_batch (SpdlArrowReader *self, SpdlArrowBatch **batch)
{
  struct ArrowArray array = { 0 };
  const int code = self->stream.get_next (&self->stream, &array);

  if (code != 0)
    return make_error (self, code);
  if (!array.release)
    return NULL;
  *batch = g_new (SpdlArrowBatch, 1);
  **batch = (SpdlArrowBatch){ 1, self, array };
  return NULL;
}

/* Lock held; released during the call. */
static void
answer (SpdlArrowReader *self)
{
  const Request request = self->request;
  struct ArrowSchema schema = { 0 };
  SpdlArrowBatch *batch = NULL;
  GError *error;

  spdl_mutex_unlock (&self->lock);
  if (!may_call ())
    error = make_over_error ();
  else if (request == REQUEST_SCHEMA)
    error = read_schema (self, &schema);
  else
    error = read_batch (self, &batch);
  spdl_mutex_lock (&self->lock);
  self->error = error;
  if (request == REQUEST_SCHEMA)
    self->schema = schema;
  else
    self->at_end = !batch;
  self->batch = batch;
  self->n_batches += batch != NULL;
  self->request = REQUEST_NONE;
  spdl_cond_broadcast (&self->answered);
  add_calls (-1);
}

/* Lock held; released during the call. */
static void
release_batch (SpdlArrowReader *self, SpdlArrowBatch *batch)
{
  spdl_mutex_unlock (&self->lock);
  if (may_call ())
    batch->array.release (&batch->array);
  g_free (batch);
  spdl_mutex_lock (&self->lock);
  self->n_batches--;
  add_calls (-1);
}

/* Lock held. Releases a batch that was read but not taken. */
static void
discard_batch (SpdlArrowReader *self)
{
  add_calls (1);
  g_queue_push_tail (&self->released, g_steal_pointer (&self->batch));
}

/* Lock held; released during the call. */
static void
release_stream (SpdlArrowReader *self)
{
  struct ArrowSchema schema = self->schema;

  spdl_mutex_unlock (&self->lock);
  if (may_call ()) {
    if (schema.release)
      schema.release (&schema);
    if (self->stream.release)
      self->stream.release (&self->stream);
  }
  g_clear_pointer (&self->opener, spdl_arrow_opener_unref);
  self->stream.release = NULL;
  spdl_mutex_lock (&self->lock);
  self->is_closed = TRUE;
  add_calls (-1);
}

static void
destroy (SpdlArrowReader *self)
{
  spdl_mutex_clear (&self->lock);
  spdl_cond_clear (&self->wake);
  spdl_cond_clear (&self->answered);
  g_clear_error (&self->error);
  g_free (self);
}

static gpointer
run (gpointer data)
{
  SpdlArrowReader *self = data;

  spdl_mutex_lock (&self->lock);
  for (;;) {
    /* The answer to a cancelled call. */
    if (self->is_freed && self->batch)
      discard_batch (self);
    else if (!g_queue_is_empty (&self->released))
      release_batch (self, g_queue_pop_head (&self->released));
    else if (self->request != REQUEST_NONE)
      answer (self);
    else if (self->is_freed && !self->is_closed)
      release_stream (self);
    else if (self->is_freed && self->n_batches == 0)
      break;
    else
      spdl_cond_wait (&self->wake, &self->lock);
  }
  spdl_mutex_unlock (&self->lock);
  destroy (self);
  return NULL;
}

static SpdlArrowReader *
start_reader (struct ArrowArrayStream stream, SpdlArrowOpener *opener)
{
  SpdlArrowReader *self = g_new0 (SpdlArrowReader, 1);
  GThread *thread;

  self->stream = stream;
  self->opener = opener;
  spdl_mutex_init (&self->lock);
  spdl_cond_init (&self->wake);
  spdl_cond_init (&self->answered);
  g_queue_init (&self->released);
  thread =
      spdl_thread_try_new ("spdl-arrow", "a table", run, self, &self->error);
  self->has_thread = thread != NULL;
  if (thread)
    g_thread_unref (thread);
  return self;
}

SpdlArrowReader *
spdl_arrow_reader_new (struct ArrowArrayStream *stream)
{
  const struct ArrowArrayStream moved = *stream;

  stream->release = NULL;
  return start_reader (moved, NULL);
}

SpdlArrowReader *
spdl_arrow_reader_new_lazy (SpdlArrowOpener *opener)
{
  return start_reader (
      (struct ArrowArrayStream){ 0 }, spdl_arrow_opener_ref (opener));
}

void
spdl_arrow_reader_free (SpdlArrowReader *self)
{
  /* The thread frees the reader as soon as it has the lock. */
  const gboolean has_thread = self->has_thread;

  add_calls (1);
  spdl_mutex_lock (&self->lock);
  self->is_freed = TRUE;
  if (!has_thread)
    release_stream (self);
  spdl_cond_signal (&self->wake);
  spdl_mutex_unlock (&self->lock);
  if (!has_thread)
    destroy (self);
}

/* Lock held. */
static void
begin_request (SpdlArrowReader *self, Request request)
{
  if (self->request != REQUEST_NONE)
    return;
  add_calls (1);
  self->request = request;
  spdl_cond_signal (&self->wake);
}

/* Lock held. Waits until the thread has answered @request. Returns FALSE if the
 * call was cancelled; the answer then waits for the next call. */
static gboolean
ask (SpdlArrowReader *self, Request request, GCancellable *cancellable,
    GError **error)
{
  begin_request (self, request);
  while (self->request != REQUEST_NONE) {
    if (g_cancellable_set_error_if_cancelled (cancellable, error))
      return FALSE;
    spdl_cond_wait_for (&self->answered, &self->lock, CHECK_INTERVAL);
  }
  return TRUE;
}

static gboolean
check_error (const SpdlArrowReader *self, GError **error)
{
  if (self->error)
    g_propagate_error (error, g_error_copy (self->error));
  return !self->error;
}

void
spdl_arrow_reader_begin (SpdlArrowReader *self)
{
  spdl_mutex_lock (&self->lock);
  if (!self->schema.release && !self->error)
    begin_request (self, REQUEST_SCHEMA);
  spdl_mutex_unlock (&self->lock);
}

gboolean
spdl_arrow_reader_is_busy (SpdlArrowReader *self)
{
  gboolean busy;

  spdl_mutex_lock (&self->lock);
  busy = self->request != REQUEST_NONE;
  spdl_mutex_unlock (&self->lock);
  return busy;
}

const struct ArrowSchema *
spdl_arrow_reader_get_schema (
    SpdlArrowReader *self, GCancellable *cancellable, GError **error)
{
  gboolean ok;

  spdl_mutex_lock (&self->lock);
  ok = (self->schema.release || self->error ||
           ask (self, REQUEST_SCHEMA, cancellable, error)) &&
       check_error (self, error);
  spdl_mutex_unlock (&self->lock);
  return ok ? &self->schema : NULL;
}

gboolean
spdl_arrow_reader_next (SpdlArrowReader *self, SpdlArrowBatch **batch,
    GCancellable *cancellable, GError **error)
{
  gboolean ok;

  spdl_mutex_lock (&self->lock);
  ok = (self->batch || self->at_end || self->error ||
           ask (self, REQUEST_BATCH, cancellable, error)) &&
       check_error (self, error);
  *batch = g_steal_pointer (&self->batch);
  spdl_mutex_unlock (&self->lock);
  return ok;
}

/* Batches */

void
spdl_arrow_batch_unref (SpdlArrowBatch *self)
{
  SpdlArrowReader *reader = self->reader;

  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;
  add_calls (1);
  spdl_mutex_lock (&reader->lock);
  g_queue_push_tail (&reader->released, self);
  spdl_cond_signal (&reader->wake);
  spdl_mutex_unlock (&reader->lock);
}

const struct ArrowArray *
spdl_arrow_batch_get_array (const SpdlArrowBatch *self)
{
  return &self->array;
}

static void
unref_batch (gpointer batch)
{
  spdl_arrow_batch_unref (batch);
}

GstMemory *
spdl_arrow_batch_wrap (SpdlArrowBatch *self, gconstpointer data, gsize size)
{
  g_atomic_int_inc (&self->ref_count);
  return gst_memory_new_wrapped (GST_MEMORY_FLAG_READONLY, (gpointer) data,
      size, 0, size, self, unref_batch);
}
