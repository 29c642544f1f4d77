/* gst-spdl: the folder of the disk cache
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/fetch/diskcache/diskentry.h"
#include "plugins/fetch/io/disk.h"

G_BEGIN_DECLS

/* The entry of a name is FOLDER/ab/abcdef..., the name's digest. Any number of
 * threads and processes may read and write the same folder: an entry comes to
 * its place whole, by a rename, and what is open stays readable when it is
 * replaced or removed. What is written is called `.spdl-XXXXXX` until then, and
 * is locked (flock) by whoever writes it, so that what a killed process left
 * behind can be told from what is being written. */

#define SPDL_DISK_FOLDER_ASIDE ".spdl-"

/* The content of the entry of that name, or NULL if there is none that is
 * whole and within @limits. It counts as used.
 *
 * @validator: (out): as it was kept */
GstBuffer *spdl_disk_folder_load (const gchar *folder,
    const guint8 name[SPDL_DIGEST_SIZE], const SpdlDiskLimits *limits,
    GCancellable *cancellable, SpdlValidator *validator);

/* Makes it one, or replaces it.
 *
 * @grown: (out): by how much the folder grew
 *
 * Returns an errno, 0 if it is there. */
int spdl_disk_folder_store (const gchar *folder,
    const guint8 name[SPDL_DIGEST_SIZE], const SpdlValidator *validator,
    GstBuffer *content, gint64 *grown);

/* What a file of @size bytes counts for: whole blocks. */
static inline guint64
spdl_disk_folder_count (guint64 size)
{
  return (size + 4095) & ~(guint64) 4095;
}

G_END_DECLS
