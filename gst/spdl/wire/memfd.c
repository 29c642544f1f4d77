/* gst-spdl: shared memory of a fixed size
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/wire/memfd.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int
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

gboolean
spdl_memfd_keeps_size (int fd)
{
  const int seals = fcntl (fd, F_GET_SEALS);

  return seals >= 0 && (seals & F_SEAL_SHRINK);
}

gpointer
spdl_memfd_map_populated (int fd, gsize size)
{
  gpointer data = mmap (
      NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);

  return data == MAP_FAILED ? NULL : data;
}
