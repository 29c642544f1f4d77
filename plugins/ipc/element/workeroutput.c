/* gst-spdl: what a worker process writes to its terminal
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/element/workeroutput.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A line may be longer, and is then told as several. */
#define MAX_LINE 8192

void
spdl_output_init (SpdlOutput *self, int fd, int pid)
{
  self->fd = fd;
  self->pid = pid;
  self->line = g_string_new (NULL);
  fcntl (fd, F_SETFL, O_NONBLOCK);
}

static void
tell (SpdlOutput *self)
{
  g_printerr ("gst-spdl-worker[%d]: %s\n", self->pid, self->line->str);
  g_string_truncate (self->line, 0);
}

void
spdl_output_clear (SpdlOutput *self)
{
  if (self->line->len > 0)
    tell (self);
  g_string_free (self->line, TRUE);
  if (self->fd >= 0)
    close (self->fd);
  self->fd = -1;
}

static void
add (SpdlOutput *self, const gchar *text, gsize size)
{
  const gchar *const end = text + size;

  while (text < end) {
    const gchar *newline = memchr (text, '\n', end - text);
    const gsize length = (newline ? newline : end) - text;

    g_string_append_len (self->line, text, length);
    if (newline || self->line->len >= MAX_LINE)
      tell (self);
    text += length + (newline != NULL);
  }
}

gboolean
spdl_output_read (SpdlOutput *self)
{
  gchar text[4096];
  gssize n;

  if (self->fd < 0)
    return FALSE;
  do
    n = read (self->fd, text, sizeof text);
  while (n < 0 && errno == EINTR);
  if (n > 0) {
    add (self, text, n);
    return TRUE;
  }
  if (n == 0 || errno != EAGAIN) {
    close (self->fd);
    self->fd = -1;
  }
  return FALSE;
}
