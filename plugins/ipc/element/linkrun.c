/* gst-spdl: the thread that starts a worker process, reads and ends it
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/element/link-private.h"

#include <poll.h>

GST_DEBUG_CATEGORY_EXTERN (spdl_worker_src_debug);
#define GST_CAT_DEFAULT spdl_worker_src_debug

/* How long the process has to end when it has closed its socket. */
#define END_MS 1000

static void
add_text (SpdlLink *self, SpdlLetterKind kind, gchar *text)
{
  SpdlLetter *letter = spdl_letter_new (kind, NULL);

  letter->text = text;
  spdl_link_add_letter (self, letter);
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
    if (!spdl_link_handle (self, &message, error))
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

void
spdl_link_send_cpu_budget (SpdlWire *wire, gdouble budget)
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
  spdl_link_send_cpu_budget (wire, budget);
}

gpointer
spdl_link_run (gpointer user_data)
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
