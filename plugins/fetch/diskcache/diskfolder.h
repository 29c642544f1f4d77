/* gst-spdl: folder of the disk cache
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <sys/types.h>

#include "plugins/fetch/diskcache/diskentry.h"
#include "plugins/fetch/io/disk.h"

G_BEGIN_DECLS

/* An entry is stored as FOLDER/ab/abcdef..., the digest of its key. Any number
 * of threads and processes may use the folder at the same time. Entries are
 * written to a temporary file `.spdl-XXXXXX` and renamed when complete; open
 * files stay readable when they are replaced or removed. The writer locks its
 * temporary file with flock(), which distinguishes it from a leftover of a
 * killed process. */

#define SPDL_DISK_FOLDER_TEMPORARY_PREFIX ".spdl-"

/* The folder, and whose files in it are used. */
typedef struct {
  gchar *path;
  uid_t owner;     /* of the folder */
  gboolean shared; /* others may write the folder and its files */
} SpdlDiskFolder;

/* Creates the folder if necessary. Returns FALSE with @error set if it cannot
 * be used, or if it is not @shared and somebody else could store files in it.
 * @location: as the user wrote it */
gboolean spdl_disk_folder_open (SpdlDiskFolder *self, const gchar *location,
    gboolean shared, GError **error);
void spdl_disk_folder_close (SpdlDiskFolder *self);

/* Opens a file of the cache other than an entry for reading and writing, and
 * creates it if necessary. Something else of that name, such as a symbolic
 * link or another user's file, is removed. Returns -1 with errno set on
 * failure. */
int spdl_disk_folder_open_file (const SpdlDiskFolder *self, const gchar *name);

/* Returns the content of the entry @name and updates its time of use, or
 * returns NULL if there is no valid entry within @limits.
 * @validator: (out): the stored validator */
GstBuffer *spdl_disk_folder_load (const SpdlDiskFolder *self,
    const guint8 name[SPDL_DIGEST_SIZE], const SpdlDiskLimits *limits,
    GCancellable *cancellable, SpdlValidator *validator);

/* Stores an entry, or replaces it.
 * @grown: (out): change of the total size, in bytes
 * Returns 0 or an errno value. */
int spdl_disk_folder_store (const SpdlDiskFolder *self,
    const guint8 name[SPDL_DIGEST_SIZE], const SpdlValidator *validator,
    GstBuffer *content, gint64 *grown);

/* Returns the disk usage of a file with @size bytes, in whole blocks of 4096
 * bytes. */
static inline guint64
spdl_disk_folder_count (guint64 size)
{
  return (size + 4095) & ~(guint64) 4095;
}

G_END_DECLS
