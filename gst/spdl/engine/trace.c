/* gst-spdl: trace of tasks and waits
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/engine/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "gst/spdl/engine/newthread.h"
#include "gst/spdl/engine/sync.h"

#define N_EVENTS 512
/* Maximum number of chunks that wait to be written, 24 MB. */
#define MAX_CHUNKS 1200
#define BUFFER_SIZE (1 << 16)

typedef struct {
  const gchar *track;
  guint64 begin;
  guint64 end;
  guint64 number;
  guint n_items;
  SpdlTraceKind kind;
} Event;

typedef struct {
  gint thread;
  guint n;
  Event events[N_EVENTS];
} Chunk;

/* Events of a thread. */
typedef struct {
  SpdlMutex lock;
  gint thread; /* its number */
  gchar name[16];
  Chunk *chunk; /* nullable */
  gboolean ended;
} Log;

typedef struct {
  gchar *path;
  int file;
  int problem; /* errno */
  guint64 started;
  guint64 n_async;
  GString *text;
  pthread_t thread;

  SpdlMutex lock; /* guards the following fields */
  SpdlCond wake;
  GQueue full;       /* Chunk */
  guint64 n_dropped; /* events */
  gboolean ended;
} Writer;

static SpdlMutex trace_lock = PTHREAD_MUTEX_INITIALIZER;
/* guarded by trace_lock */
static Writer *writer;
static GPtrArray *logs;
static gint n_threads;
/* Atomic: the writer that takes chunks, or NULL. It stays valid while the lock
 * of a log is held. */
static Writer *current;

static const gchar *const categories[] = { "task", "task", "push", "wait",
  "wait", "wait", "wait", "step" };
static const gchar *const suffixes[] = { "", "", ": push", ": no item",
  ": no room", ": no result", ": no batch", ": step" };

/* The writing thread */

static void
flush_text (Writer *self)
{
  gsize done = 0;

  while (done < self->text->len && self->problem == 0) {
    const gssize n =
        write (self->file, self->text->str + done, self->text->len - done);

    if (n >= 0)
      done += n;
    else if (errno != EINTR)
      self->problem = errno;
  }
  g_string_truncate (self->text, 0);
}

static void
append_string (GString *text, const gchar *string)
{
  for (const guchar *at = (const guchar *) string; *at; at++) {
    if (*at == '"' || *at == '\\')
      g_string_append_printf (text, "\\%c", *at);
    else if (*at < ' ')
      g_string_append_printf (text, "\\u%04x", *at);
    else
      g_string_append_c (text, *at);
  }
}

/* Appends the fields that all events have. */
static void
append_head (Writer *self, const Event *event, gint thread, const gchar *phase,
    guint64 time)
{
  const guint64 since = time - MIN (time, self->started);

  g_string_append (self->text, ",\n{\"name\":\"");
  append_string (self->text, event->track);
  g_string_append_printf (self->text,
      "%s\",\"cat\":\"%s\",\"ph\":\"%s\",\"pid\":%d,\"tid\":%d,"
      "\"ts\":%" G_GUINT64_FORMAT ".%03u",
      suffixes[event->kind], categories[event->kind], phase, (gint) getpid (),
      thread, since / 1000, (guint) (since % 1000));
}

static void
append_tail (Writer *self, const Event *event)
{
  if (event->n_items > 0) {
    g_string_append_printf (
        self->text, ",\"args\":{\"items\":%u", event->n_items);
    if (event->number != G_MAXUINT64)
      g_string_append_printf (
          self->text, ",\"first\":%" G_GUINT64_FORMAT, event->number);
    g_string_append_c (self->text, '}');
  }
  g_string_append_c (self->text, '}');
}

static void
append_event (Writer *self, const Event *event, gint thread)
{
  const guint64 took = event->end - MIN (event->begin, event->end);

  if (event->kind == SPDL_TRACE_ASYNC_TASK) {
    append_head (self, event, thread, "b", event->begin);
    g_string_append_printf (
        self->text, ",\"id\":%" G_GUINT64_FORMAT, ++self->n_async);
    append_tail (self, event);
    append_head (self, event, thread, "e", event->end);
    g_string_append_printf (
        self->text, ",\"id\":%" G_GUINT64_FORMAT "}", self->n_async);
    return;
  }
  append_head (self, event, thread, "X", event->begin);
  g_string_append_printf (self->text, ",\"dur\":%" G_GUINT64_FORMAT ".%03u",
      took / 1000, (guint) (took % 1000));
  append_tail (self, event);
}

/* Returns the next chunk, or NULL at the end. */
static Chunk *
wait_for_chunk (Writer *self)
{
  Chunk *chunk;

  spdl_mutex_lock (&self->lock);
  while (!(chunk = g_queue_pop_head (&self->full)) && !self->ended)
    spdl_cond_wait (&self->wake, &self->lock);
  spdl_mutex_unlock (&self->lock);
  return chunk;
}

static void *
write_chunks (void *data)
{
  Writer *self = data;
  Chunk *chunk;

  spdl_compat_set_thread_name ("spdl-trace");
  while ((chunk = wait_for_chunk (self))) {
    for (guint i = 0; i < chunk->n; i++)
      append_event (self, &chunk->events[i], chunk->thread);
    if (self->text->len > BUFFER_SIZE)
      flush_text (self);
    g_free (chunk);
  }
  return NULL;
}

/* Events of each thread */

/* Lock of the log held. */
static void
hand_over (Log *self, Writer *to)
{
  Chunk *chunk = g_steal_pointer (&self->chunk);

  if (!chunk)
    return;
  spdl_mutex_lock (&to->lock);
  if (to->full.length < MAX_CHUNKS)
    g_queue_push_tail (&to->full, g_steal_pointer (&chunk));
  else
    to->n_dropped += chunk->n;
  spdl_cond_signal (&to->wake);
  spdl_mutex_unlock (&to->lock);
  g_free (chunk);
}

static void
log_free (Log *self)
{
  spdl_mutex_clear (&self->lock);
  g_free (self);
}

/* Called at the end of a thread. A trace that is being written needs the name
 * of the thread. */
static void
end_log (gpointer data)
{
  Log *self = data;

  spdl_mutex_lock (&trace_lock);
  self->ended = TRUE;
  if (!writer) {
    g_ptr_array_remove_fast (logs, self);
    log_free (self);
  }
  spdl_mutex_unlock (&trace_lock);
}

static GPrivate own_log = G_PRIVATE_INIT (end_log);

static Log *
add_log (void)
{
  Log *self = g_new0 (Log, 1);

  spdl_mutex_init (&self->lock);
  spdl_compat_get_thread_name (self->name, sizeof self->name);
  spdl_mutex_lock (&trace_lock);
  self->thread = ++n_threads;
  g_ptr_array_add (logs, self);
  spdl_mutex_unlock (&trace_lock);
  g_private_set (&own_log, self);
  return self;
}

void
spdl_trace_add (const gchar *track, SpdlTraceKind kind, guint64 begin,
    guint64 end, guint64 number, guint n_items)
{
  Log *log = g_private_get (&own_log);
  Writer *to;

  if (!log)
    log = add_log ();
  spdl_mutex_lock (&log->lock);
  if ((to = __atomic_load_n (&current, __ATOMIC_ACQUIRE))) {
    if (!log->chunk) {
      log->chunk = g_new (Chunk, 1);
      log->chunk->thread = log->thread;
      log->chunk->n = 0;
    }
    log->chunk->events[log->chunk->n++] =
        (Event){ track, begin, end, number, n_items, kind };
    if (log->chunk->n == N_EVENTS)
      hand_over (log, to);
  }
  spdl_mutex_unlock (&log->lock);
}

const gchar *
spdl_trace_get_track (const gchar *element)
{
  gboolean is_on;

  spdl_mutex_lock (&trace_lock);
  is_on = writer != NULL;
  spdl_mutex_unlock (&trace_lock);
  return is_on ? g_intern_string (element) : NULL;
}

/* Start and stop */

static void
writer_free (Writer *self)
{
  spdl_mutex_clear (&self->lock);
  spdl_cond_clear (&self->wake);
  g_string_free (self->text, TRUE);
  g_free (self->path);
  g_free (self);
}

gboolean
spdl_trace_start (const gchar *path, GError **error)
{
  Writer *self = NULL;
  int file, problem;

  spdl_mutex_lock (&trace_lock);
  if (writer) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_BUSY,
        "A trace is being written to \"%s\": stop it before you start another",
        writer->path);
  } else if ((file = g_open (
                  path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0) {
    g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno),
        "Cannot write the trace to \"%s\": %s", path, g_strerror (errno));
  } else {
    self = g_new0 (Writer, 1);
    self->path = g_strdup (path);
    self->file = file;
    self->started = g_get_monotonic_time () * 1000;
    self->text = g_string_new (NULL);
    g_string_append_printf (self->text,
        "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
        "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":0,"
        "\"args\":{\"name\":\"gst-spdl\"}}",
        (gint) getpid ());
    spdl_mutex_init (&self->lock);
    spdl_cond_init (&self->wake);
    problem = pthread_create (&self->thread, NULL, write_chunks, self);
    if (problem != 0) {
      spdl_thread_set_error (error, "spdl-trace", "the trace", problem);
      close (file);
      g_clear_pointer (&self, writer_free);
    } else {
      writer = self;
      if (!logs)
        logs = g_ptr_array_new ();
      __atomic_store_n (&current, self, __ATOMIC_RELEASE);
    }
  }
  spdl_mutex_unlock (&trace_lock);
  return self != NULL;
}

static void
append_name (Writer *self, const Log *log)
{
  g_string_append_printf (self->text,
      ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":%d,"
      "\"args\":{\"name\":\"",
      (gint) getpid (), log->thread);
  append_string (self->text, log->name);
  g_string_append (self->text, "\"}}");
}

/* Writes the names of the threads and forgets those that have ended.
 * trace_lock held. */
static void
append_names (Writer *self)
{
  for (guint i = logs->len; i > 0; i--) {
    Log *log = g_ptr_array_index (logs, i - 1);

    append_name (self, log);
    if (log->ended) {
      g_ptr_array_remove_index_fast (logs, i - 1);
      log_free (log);
    }
  }
}

/* Takes what the logs hold. trace_lock held. */
static void
collect_logs (Writer *self)
{
  __atomic_store_n (&current, NULL, __ATOMIC_RELEASE);
  for (guint i = 0; i < logs->len; i++) {
    Log *log = g_ptr_array_index (logs, i);

    spdl_mutex_lock (&log->lock);
    hand_over (log, self);
    spdl_mutex_unlock (&log->lock);
  }
}

gboolean
spdl_trace_stop (guint64 *n_dropped, GError **error)
{
  Writer *self;
  gint problem;

  spdl_mutex_lock (&trace_lock);
  self = writer;
  if (self) {
    collect_logs (self);
    spdl_mutex_lock (&self->lock);
    self->ended = TRUE;
    spdl_cond_signal (&self->wake);
    spdl_mutex_unlock (&self->lock);
    pthread_join (self->thread, NULL);
    append_names (self);
    writer = NULL;
  }
  spdl_mutex_unlock (&trace_lock);
  if (n_dropped)
    *n_dropped = self ? self->n_dropped : 0;
  if (!self)
    return TRUE;

  g_string_append (self->text, "\n]}\n");
  flush_text (self);
  if (close (self->file) != 0 && self->problem == 0)
    self->problem = errno;
  problem = self->problem;
  if (problem != 0)
    g_set_error (error, G_IO_ERROR, g_io_error_from_errno (problem),
        "Cannot write the trace to \"%s\": %s", self->path,
        g_strerror (problem));
  writer_free (self);
  return problem == 0;
}
