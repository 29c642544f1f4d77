/* gst-spdl: bell in shared memory
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/wire/bell.h"

#include <linux/futex.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "gst/spdl/wire/memfd.h"

#define SIZE sizeof (guint32)
/* States of the word. */
#define IDLE 0
#define WAITING 1

/* Access past the end of a file would raise SIGBUS. */
SpdlBell *
spdl_bell_open (int fd)
{
  struct stat status;
  guint32 *word = NULL;
  SpdlBell *self;

  if (fd >= 0 && fstat (fd, &status) == 0 && status.st_size >= (off_t) SIZE &&
      spdl_memfd_keeps_size (fd))
    word = spdl_memfd_map_populated (fd, SIZE);
  if (!word) {
    if (fd >= 0)
      close (fd);
    return NULL;
  }
  self = g_new (SpdlBell, 1);
  *self = (SpdlBell){ word, fd };
  return self;
}

SpdlBell *
spdl_bell_new (void)
{
  return spdl_bell_open (spdl_memfd_open (SIZE));
}

void
spdl_bell_free (SpdlBell *self)
{
  munmap (self->word, SIZE);
  close (self->fd);
  g_free (self);
}

void
spdl_bell_begin (SpdlBell *self)
{
  __atomic_store_n (self->word, WAITING, __ATOMIC_SEQ_CST);
}

void
spdl_bell_wait (SpdlBell *self)
{
  while (__atomic_load_n (self->word, __ATOMIC_SEQ_CST) == WAITING)
    syscall (SYS_futex, self->word, FUTEX_WAIT, WAITING, NULL, NULL, 0);
}

void
spdl_bell_ring (SpdlBell *self)
{
  guint32 waiting = WAITING;

  if (__atomic_compare_exchange_n (self->word, &waiting, IDLE, FALSE,
          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
    syscall (SYS_futex, self->word, FUTEX_WAKE, 1, NULL, NULL, 0);
}
