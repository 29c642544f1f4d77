/* gst-spdl: a running worker process, and what comes from it
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/element/link.h"

#include <poll.h>
#include <unistd.h>

#include "plugins/ipc/element/sourcebase.h"
#include "plugins/ipc/element/workerprocess.h"
#include "plugins/ipc/wire/parcelmessage.h"

struct _SpdlLink {
  GstElement *element;
  GStrv environment;
  GByteArray *order;
  guint32 base; /* of the sources' numbers */
  GThread *thread;

  /* The thread's. */
  SpdlProcess process;
  SpdlWireReader reader;
  SpdlOutput output;
  gboolean got_eos;
  gboolean got_end;

  SpdlMutex lock;
  SpdlCond cond; /* when any of what follows has changed */
  /* Under the lock: */
  SpdlWire *wire;   /* NULL until the process runs */
  SpdlShelf *shelf; /* likewise */
  guint pid;
  gboolean ordered; /* it has been told what to run */
  gdouble cpu_budget;
  gboolean plays;
  GStrv classes; /* (nullable): of the sources, once it plays */
  gboolean over; /* no more comes */
  gboolean has_error;
  gboolean stopping;
  gboolean interrupted;
  GQueue letters;
  guint n_events;     /* taken, and not told */
  GPtrArray *figures; /* nullable */
  guint n_answers;
};

static gpointer run (gpointer self);
static void send_cpu_budget (SpdlWire *wire, gdouble budget);
static void add_letter (SpdlLink *self, SpdlLetter *letter);
static gboolean
handle (SpdlLink *self, const SpdlWireMessage *message, GError **error);

/* How long the process has to stop its pipeline when it is asked to. */
#define STOP_TIME (5 * GST_SECOND)
/* How long figures are waited for. */
#define ASK_TIME (200 * GST_MSECOND)

static void
free_structure (gpointer s)
{
  gst_structure_free (s);
}

/* Returns: (transfer full) (element-type GstStructure): none yet */
static GPtrArray *
new_figures (void)
{
  return g_ptr_array_new_with_free_func (free_structure);
}

SpdlLink *
spdl_link_new (GstElement *element, GStrv environment, const SpdlOrder *order,
    guint32 base)
{
  SpdlLink *self = g_new0 (SpdlLink, 1);

  self->element = element;
  self->base = base;
  self->environment = environment;
  self->order = g_byte_array_new ();
  spdl_put_order (self->order, order);
  self->cpu_budget = order->cpu_budget;
  spdl_mutex_init (&self->lock);
  spdl_cond_init (&self->cond);
  g_queue_init (&self->letters);
  self->thread = g_thread_new ("spdl-worker", run, self);
  return self;
}

static void
drop_letters (SpdlLink *self)
{
  GQueue letters;

  spdl_mutex_lock (&self->lock);
  letters = self->letters;
  g_queue_init (&self->letters);
  spdl_mutex_unlock (&self->lock);
  g_queue_clear_full (&letters, (GDestroyNotify) spdl_letter_free);
}

/* Until it has ended by itself, or has had its time. */
static void
stop (SpdlLink *self)
{
  const GstClockTime end = gst_util_get_timestamp () + STOP_TIME;
  GstClockTime now;
  SpdlWire *wire;

  spdl_mutex_lock (&self->lock);
  self->stopping = TRUE;
  while (!self->wire && !self->over)
    spdl_cond_wait_for (&self->cond, &self->lock, GST_MSECOND);
  wire = self->wire;
  spdl_mutex_unlock (&self->lock);
  if (!wire)
    return;
  spdl_wire_send (wire, SPDL_WIRE_STOP, NULL, 0, -1);
  spdl_mutex_lock (&self->lock);
  while (!self->over && (now = gst_util_get_timestamp ()) < end)
    spdl_cond_wait_for (&self->cond, &self->lock, end - now);
  spdl_mutex_unlock (&self->lock);
  spdl_wire_shut (wire);
}

void
spdl_link_stop (SpdlLink *self)
{
  if (!self->thread)
    return;
  stop (self);
  g_thread_join (g_steal_pointer (&self->thread));
}

void
spdl_link_free (SpdlLink *self)
{
  spdl_link_stop (self);
  drop_letters (self);
  if (self->wire) {
    spdl_shelf_close (self->shelf);
    spdl_shelf_unref (self->shelf);
    spdl_wire_close (self->wire);
    spdl_wire_unref (self->wire);
  }
  spdl_wire_reader_clear (&self->reader);
  g_clear_pointer (&self->figures, g_ptr_array_unref);
  g_strfreev (self->classes);
  g_byte_array_unref (self->order);
  g_strfreev (self->environment);
  spdl_cond_clear (&self->cond);
  spdl_mutex_clear (&self->lock);
  g_free (self);
}

/* Why it has ended before it played. */
static SpdlLinkStatus
take_failure (SpdlLink *self, GstMessage **failure, gchar **why)
{
  SpdlLinkStatus status = SPDL_LINK_PLAYS;
  SpdlLetter *letter;

  do {
    spdl_mutex_lock (&self->lock);
    letter = g_queue_pop_head (&self->letters);
    spdl_mutex_unlock (&self->lock);
    if (letter && letter->kind == SPDL_LETTER_ERROR) {
      *failure = g_steal_pointer (&letter->object);
      status = SPDL_LINK_FAILED;
    } else if (!letter || letter->kind == SPDL_LETTER_DEATH) {
      *why = letter ? g_steal_pointer (&letter->text)
                    : g_strdup ("The worker process ended");
      status = SPDL_LINK_DIED;
    }
    g_clear_pointer (&letter, spdl_letter_free);
  } while (status == SPDL_LINK_PLAYS);
  return status;
}

SpdlLinkStatus
spdl_link_wait (SpdlLink *self, GstMessage **failure, gchar **why)
{
  gboolean plays, over;

  spdl_mutex_lock (&self->lock);
  while (!self->plays && !self->over && !self->interrupted)
    spdl_cond_wait (&self->cond, &self->lock);
  plays = self->plays;
  over = self->over;
  spdl_mutex_unlock (&self->lock);
  if (plays)
    return SPDL_LINK_PLAYS;
  return over ? take_failure (self, failure, why) : SPDL_LINK_INTERRUPTED;
}

GStrv
spdl_link_dup_classes (SpdlLink *self)
{
  GStrv classes;

  spdl_mutex_lock (&self->lock);
  classes = g_strdupv (self->classes);
  spdl_mutex_unlock (&self->lock);
  return classes;
}

/* Lock held. Returns how many events the worker may send in their place. */
static guint
count_event (SpdlLink *self)
{
  const guint n = ++self->n_events;

  if (n < SPDL_ORDER_MAX_EVENTS / 2)
    return 0;
  self->n_events = 0;
  return n;
}

SpdlLetter *
spdl_link_take (SpdlLink *self)
{
  SpdlLetter *letter = NULL;
  guint credit = 0;

  spdl_mutex_lock (&self->lock);
  while (!self->interrupted && g_queue_is_empty (&self->letters))
    spdl_cond_wait (&self->cond, &self->lock);
  if (!self->interrupted)
    letter = g_queue_pop_head (&self->letters);
  if (letter && spdl_letter_needs_credit (letter))
    credit = count_event (self);
  spdl_mutex_unlock (&self->lock);
  if (credit > 0)
    spdl_wire_send_u32 (self->wire, SPDL_WIRE_CREDIT, credit);
  return letter;
}

void
spdl_link_interrupt (SpdlLink *self, gboolean interrupted)
{
  spdl_mutex_lock (&self->lock);
  self->interrupted = interrupted;
  spdl_cond_broadcast (&self->cond);
  spdl_mutex_unlock (&self->lock);
}

void
spdl_link_set_cpu_budget (SpdlLink *self, gdouble budget)
{
  SpdlWire *wire = NULL;

  spdl_mutex_lock (&self->lock);
  if (self->ordered && budget != self->cpu_budget)
    wire = spdl_wire_ref (self->wire);
  self->cpu_budget = budget;
  spdl_mutex_unlock (&self->lock);
  if (!wire)
    return;
  send_cpu_budget (wire, budget);
  spdl_wire_unref (wire);
}

guint
spdl_link_get_pid (SpdlLink *self)
{
  guint pid;

  spdl_mutex_lock (&self->lock);
  pid = self->pid;
  spdl_mutex_unlock (&self->lock);
  return pid;
}

/* Lock held. */
static void
ask (SpdlLink *self)
{
  const GstClockTime end = gst_util_get_timestamp () + ASK_TIME;
  const guint n = self->n_answers;
  SpdlWire *wire = spdl_wire_ref (self->wire);
  GstClockTime now;

  spdl_mutex_unlock (&self->lock);
  spdl_wire_send (wire, SPDL_WIRE_ASK, NULL, 0, -1);
  spdl_wire_unref (wire);
  spdl_mutex_lock (&self->lock);
  while (!self->over && self->n_answers == n &&
         (now = gst_util_get_timestamp ()) < end)
    spdl_cond_wait_for (&self->cond, &self->lock, end - now);
}

GPtrArray *
spdl_link_dup_figures (SpdlLink *self)
{
  GPtrArray *copy = new_figures ();

  spdl_mutex_lock (&self->lock);
  if (self->plays && !self->over && !self->stopping)
    ask (self);
  for (guint i = 0; self->figures && i < self->figures->len; i++)
    g_ptr_array_add (
        copy, gst_structure_copy (g_ptr_array_index (self->figures, i)));
  spdl_mutex_unlock (&self->lock);
  return copy;
}

/* The thread with the process */

GST_DEBUG_CATEGORY_EXTERN (spdl_worker_src_debug);
#define GST_CAT_DEFAULT spdl_worker_src_debug

/* How long the process has to end when it has closed its socket. */
#define END_MS 1000

static void
add_text (SpdlLink *self, SpdlLetterKind kind, gchar *text)
{
  SpdlLetter *letter = spdl_letter_new (kind, NULL);

  letter->text = text;
  add_letter (self, letter);
}

/* FALSE: no more comes from the process. */
static gboolean
read_socket (SpdlLink *self, GError **error)
{
  SpdlWireMessage message;
  SpdlWireStatus status;

  if (spdl_wire_reader_fill (&self->reader, self->process.socket) <= 0)
    return FALSE;
  while ((status = spdl_wire_reader_next (
              &self->reader, FALSE, &message, error)) == SPDL_WIRE_ONE)
    if (!handle (self, &message, error))
      return FALSE;
  return status == SPDL_WIRE_NONE;
}

static void
read_all (SpdlLink *self, GError **error)
{
  struct pollfd fds[2] = { { .events = POLLIN }, { .events = POLLIN } };

  fds[0].fd = self->process.socket;
  do {
    fds[1].fd = self->output.fd;
    if (poll (fds, 2, -1) < 0 && errno != EINTR)
      return;
    if (fds[1].revents)
      spdl_output_read (&self->output);
  } while (!fds[0].revents || read_socket (self, error));
}

static gboolean
is_stopping (SpdlLink *self)
{
  gboolean stopping;

  spdl_mutex_lock (&self->lock);
  stopping = self->stopping;
  spdl_mutex_unlock (&self->lock);
  return stopping;
}

/* With the process's end, or with the word that none can be started. */
static void
end (SpdlLink *self)
{
  spdl_mutex_lock (&self->lock);
  self->over = TRUE;
  spdl_cond_broadcast (&self->cond);
  spdl_mutex_unlock (&self->lock);
}

static void
end_process (SpdlLink *self, const GError *flaw)
{
  const int pid = self->process.pid;
  /* Who sends what cannot be is not waited for. */
  g_autofree gchar *how = spdl_process_wait (&self->process, flaw ? 0 : END_MS);

  while (spdl_output_read (&self->output)) {
  }
  GST_INFO_OBJECT (self->element, "process %s", how);
  if (flaw)
    add_text (self, SPDL_LETTER_DEATH,
        g_strdup_printf ("What came from the worker process %d makes no sense: "
                         "%s",
            pid, flaw->message));
  else if (!(self->got_eos && self->got_end) && !is_stopping (self))
    add_text (self, SPDL_LETTER_DEATH,
        g_strdup_printf ("The worker process %s", how));
}

/* The process keeps that budget from now on. */
static void
send_cpu_budget (SpdlWire *wire, gdouble budget)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();

  spdl_put_cpu_budget (bytes, budget);
  spdl_wire_send (wire, SPDL_WIRE_BUDGET, bytes->data, bytes->len, -1);
}

static void
begin_process (SpdlLink *self)
{
  gdouble budget;
  SpdlWire *wire = spdl_wire_new (self->process.socket);
  SpdlMailbox *mailbox = spdl_mailbox_new ();

  spdl_output_init (&self->output, self->process.output, self->process.pid);
  spdl_mutex_lock (&self->lock);
  self->wire = wire;
  self->shelf = spdl_shelf_new (wire, mailbox);
  self->pid = self->process.pid;
  spdl_mutex_unlock (&self->lock);
  spdl_wire_send (wire, SPDL_WIRE_START, self->order->data, self->order->len,
      mailbox ? spdl_mailbox_get_fd (mailbox) : -1);
  spdl_mutex_lock (&self->lock);
  self->ordered = TRUE;
  budget = self->cpu_budget;
  spdl_mutex_unlock (&self->lock);
  /* It may have become another one meanwhile. */
  send_cpu_budget (wire, budget);
}

/* The thread. Its process is killed when it ends, so it lives as long. */
static gpointer
run (gpointer user_data)
{
  SpdlLink *self = user_data;
  g_autoptr (GError) error = NULL;

  if (spdl_process_start (
          &self->process, (const gchar *const *) self->environment, &error)) {
    begin_process (self);
    read_all (self, &error);
    end_process (self, error);
    spdl_output_clear (&self->output);
  } else {
    add_text (self, SPDL_LETTER_DEATH, g_strdup (error->message));
  }
  end (self);
  return NULL;
}

/* What the process sends */

/* A buffer may bring caps. */
#define MAX_LETTERS (2 * SPDL_ORDER_MAX_SLABS + 2 * SPDL_ORDER_MAX_EVENTS)

/* What is told of the process */

/* For the stream; letters of a link that stops are dropped. */
static void
add_letter (SpdlLink *self, SpdlLetter *letter)
{
  spdl_mutex_lock (&self->lock);
  if (!self->stopping) {
    g_queue_push_tail (&self->letters, letter);
    letter = NULL;
    spdl_cond_broadcast (&self->cond);
  }
  spdl_mutex_unlock (&self->lock);
  if (letter)
    spdl_letter_free (letter);
}

/* Only the first one ends the stream; others are its consequences. */
static void
add_error (SpdlLink *self, GstMessage *message)
{
  gboolean first;

  spdl_mutex_lock (&self->lock);
  first = !self->has_error;
  self->has_error = TRUE;
  spdl_mutex_unlock (&self->lock);
  if (first)
    add_letter (self, spdl_letter_new (SPDL_LETTER_ERROR, message));
  else
    gst_message_unref (message);
}

/* Messages of the process */

static gboolean
read_slab (SpdlLink *self, const SpdlWireMessage *message, GError **error)
{
  SpdlParcel parcel = spdl_parcel (message->data, message->size);
  const guint32 id = spdl_get_u32 (&parcel);
  const guint64 size = spdl_get_u64 (&parcel);

  if (spdl_parcel_is_read (&parcel))
    return spdl_shelf_add (self->shelf, id, size, message->fd, error);
  if (message->fd >= 0)
    close (message->fd);
  spdl_letter_set_broken (error, "a slab");
  return FALSE;
}

static gboolean
read_retire (SpdlLink *self, SpdlParcel *parcel, GError **error)
{
  const guint32 id = spdl_get_u32 (parcel);

  if (spdl_parcel_is_read (parcel))
    return spdl_shelf_retire (self->shelf, id, error);
  spdl_letter_set_broken (error, "a slab's number");
  return FALSE;
}

static gboolean
read_message (SpdlLink *self, SpdlParcel *parcel, GError **error)
{
  GstMessage *message =
      spdl_get_message (parcel, GST_OBJECT (self->element), self->process.pid);

  if (!message) {
    spdl_letter_set_broken (error, "a message");
    return FALSE;
  }
  spdl_source_base_shift_message (message, self->base);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    add_error (self, message);
  else
    gst_element_post_message (self->element, message);
  return TRUE;
}

static gboolean
read_figures (SpdlLink *self, SpdlParcel *parcel, GError **error)
{
  GPtrArray *figures = new_figures (), *old;
  const guint32 n = spdl_get_u32 (parcel);

  for (guint32 i = 0; i < n && !parcel->broken; i++) {
    GstStructure *s = spdl_get_structure (parcel);

    if (!s)
      break;
    gst_structure_set (s, "pid", G_TYPE_UINT, (guint) self->process.pid, NULL);
    g_ptr_array_add (figures, s);
  }
  if (!spdl_parcel_is_read (parcel)) {
    g_ptr_array_unref (figures);
    spdl_letter_set_broken (error, "figures");
    return FALSE;
  }
  spdl_mutex_lock (&self->lock);
  old = self->figures;
  self->figures = figures;
  self->n_answers++;
  spdl_cond_broadcast (&self->cond);
  spdl_mutex_unlock (&self->lock);
  g_clear_pointer (&old, g_ptr_array_unref);
  return TRUE;
}

/* No honest worker has more on their way. */
static gboolean
has_room (SpdlLink *self, GError **error)
{
  guint n;

  spdl_mutex_lock (&self->lock);
  n = self->letters.length;
  spdl_mutex_unlock (&self->lock);
  if (n < MAX_LETTERS)
    return TRUE;
  spdl_letter_set_broken (error, "so much at a time");
  return FALSE;
}

static gboolean
read_letter (SpdlLink *self, const SpdlWireMessage *message, GError **error)
{
  SpdlLetter *letter;

  if (!has_room (self, error) ||
      !(letter = spdl_letter_open (message, self->shelf, error)))
    return FALSE;
  spdl_letter_shift (letter, self->base);
  self->got_eos |= letter->kind == SPDL_LETTER_EOS;
  add_letter (self, letter);
  return TRUE;
}

static gboolean
read_started (SpdlLink *self, SpdlParcel *parcel, GError **error)
{
  g_auto (GStrv) classes = spdl_get_strings (parcel);

  if (!spdl_parcel_is_read (parcel)) {
    spdl_letter_set_broken (error, "the classes");
    return FALSE;
  }
  spdl_mutex_lock (&self->lock);
  g_strfreev (self->classes);
  self->classes = g_steal_pointer (&classes);
  self->plays = TRUE;
  spdl_cond_broadcast (&self->cond);
  spdl_mutex_unlock (&self->lock);
  return TRUE;
}

/* A message of the process. FALSE with @error set if it makes no sense. */
static gboolean
handle (SpdlLink *self, const SpdlWireMessage *message, GError **error)
{
  SpdlParcel parcel = spdl_parcel (message->data, message->size);

  if (message->fd >= 0 && message->type != SPDL_WIRE_SLAB)
    close (message->fd);
  switch (message->type) {
    case SPDL_WIRE_STARTED:
      return read_started (self, &parcel, error);
    case SPDL_WIRE_SLAB:
      return read_slab (self, message, error);
    case SPDL_WIRE_RETIRE:
      return read_retire (self, &parcel, error);
    case SPDL_WIRE_MESSAGE:
      return read_message (self, &parcel, error);
    case SPDL_WIRE_FIGURES:
      return read_figures (self, &parcel, error);
    case SPDL_WIRE_END:
      self->got_end = TRUE;
      return TRUE;
    default:
      return read_letter (self, message, error);
  }
}
