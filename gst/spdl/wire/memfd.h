/* gst-spdl: shared memory of a fixed size
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <fcntl.h>
#include <glib.h>
#include <sys/mman.h>
#include <unistd.h>

G_BEGIN_DECLS

/* Creates a sealed memfd of @size bytes. Returns -1 with errno set on
 * failure. */
static inline int
spdl_memfd_open (gsize size)
{
  const int fd = memfd_create ("spdl-slab", MFD_CLOEXEC | MFD_ALLOW_SEALING);

  if (fd < 0)
    return -1;
  if (ftruncate (fd, size) == 0 &&
      fcntl (fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
    return fd;
  close (fd);
  return -1;
}

/* Returns whether a seal prevents shrinking. Access to a mapping past the end
 * of its file would raise SIGBUS. */
static inline gboolean
spdl_memfd_keeps_size (int fd)
{
  const int seals = fcntl (fd, F_GET_SEALS);

  return seals >= 0 && (seals & F_SEAL_SHRINK);
}

/* Maps a file for reading and writing and populates its pages, so that later
 * accesses cause no page faults. Returns NULL with errno set on failure. */
static inline gpointer
spdl_memfd_map_populated (int fd, gsize size)
{
  gpointer data = mmap (
      NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);

  return data == MAP_FAILED ? NULL : data;
}

G_END_DECLS
