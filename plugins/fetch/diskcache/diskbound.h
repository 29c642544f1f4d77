/* gst-spdl: size of the disk cache
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/fetch/diskcache/diskfolder.h"

G_BEGIN_DECLS

/* FOLDER/.spdl-size holds the total size of all entries. Each process adds what
 * it writes, and corrects the total by counting the files when it starts.
 * FOLDER/.spdl-lock is locked with flock() while a process counts or removes
 * files. */
typedef struct {
  const SpdlDiskFolder *folder;
  guint64 max_size; /* 0: no limit */
  gint quit; /* atomic: stops counting and removal soon after it is set */
} SpdlDiskBound;

/* Counts all files, removes temporary files of killed processes, and enforces
 * the limit. */
void spdl_disk_bound_count (SpdlDiskBound *self);

/* Adds @grown bytes to the total. If it exceeds the limit, removes the least
 * recently used files until 7/8 of the limit remain, unless another process is
 * doing that. */
void spdl_disk_bound_add (SpdlDiskBound *self, gint64 grown);

/* Enforces the limit at the end, when no other thread of this process counts:
 * one that `quit` stopped may have held the lock while others added files. */
void spdl_disk_bound_end (SpdlDiskBound *self);

G_END_DECLS
