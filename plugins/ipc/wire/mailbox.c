/* gst-spdl: mailbox in shared memory
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/wire/mailbox.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gst/spdl/wire/memfd.h"

/* States of the word. Other values are a number plus FIRST. */
#define EMPTY 0
#define WAITING 1
#define FIRST 2

struct _SpdlMailbox {
  guint32 *word;
  gsize size;
  int fd; /* -1: not shared with another process */
};

static guint32 *
map_word (int fd, gsize size)
{
  const int flags = fd >= 0 ? MAP_SHARED : MAP_SHARED | MAP_ANONYMOUS;
  gpointer word = mmap (NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);

  return word == MAP_FAILED ? NULL : word;
}

static SpdlMailbox *
make_mailbox (int fd)
{
  const gsize size = sysconf (_SC_PAGESIZE);
  guint32 *word = map_word (fd, size);
  SpdlMailbox *self;

  if (!word)
    return NULL;
  self = g_new0 (SpdlMailbox, 1);
  self->word = word;
  self->size = size;
  self->fd = fd;
  return self;
}

SpdlMailbox *
spdl_mailbox_new (void)
{
  const int fd = spdl_memfd_open (sysconf (_SC_PAGESIZE));
  SpdlMailbox *self = fd >= 0 ? make_mailbox (fd) : NULL;

  if (!self && fd >= 0)
    close (fd);
  return self;
}

/* Checks the size, since access past the end of the file would raise SIGBUS. */
static gboolean
is_mailbox (int fd)
{
  struct stat status;

  return fd >= 0 && fstat (fd, &status) == 0 &&
         status.st_size >= sysconf (_SC_PAGESIZE);
}

SpdlMailbox *
spdl_mailbox_open (int fd)
{
  SpdlMailbox *self = is_mailbox (fd) ? make_mailbox (fd) : NULL;

  if (self)
    return self;
  if (fd >= 0)
    close (fd);
  self = make_mailbox (-1);
  if (!self)
    g_error ("Not enough memory for a message");
  return self;
}

void
spdl_mailbox_free (SpdlMailbox *self)
{
  munmap (self->word, self->size);
  if (self->fd >= 0)
    close (self->fd);
  g_free (self);
}

int
spdl_mailbox_get_fd (const SpdlMailbox *self)
{
  return self->fd;
}

static gboolean
exchange_word (SpdlMailbox *self, guint32 from, guint32 to)
{
  return __atomic_compare_exchange_n (
      self->word, &from, to, FALSE, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* Replaces WAITING by @value and wakes the waiting thread. */
static gboolean
end_waiting (SpdlMailbox *self, guint32 value)
{
  if (!exchange_word (self, WAITING, value))
    return FALSE;
  syscall (SYS_futex, self->word, FUTEX_WAKE, 1, NULL, NULL, 0);
  return TRUE;
}

gboolean
spdl_mailbox_put (SpdlMailbox *self, guint32 number)
{
  return number <= G_MAXUINT32 - FIRST && end_waiting (self, FIRST + number);
}

void
spdl_mailbox_begin (SpdlMailbox *self)
{
  __atomic_store_n (self->word, WAITING, __ATOMIC_SEQ_CST);
}

gboolean
spdl_mailbox_wait (SpdlMailbox *self, guint32 *number)
{
  guint32 value;

  while (__atomic_load_n (self->word, __ATOMIC_SEQ_CST) == WAITING)
    syscall (SYS_futex, self->word, FUTEX_WAIT, WAITING, NULL, NULL, 0);
  value = __atomic_exchange_n (self->word, EMPTY, __ATOMIC_SEQ_CST);
  *number = value - FIRST;
  return value >= FIRST;
}

void
spdl_mailbox_wake (SpdlMailbox *self)
{
  end_waiting (self, EMPTY);
}
