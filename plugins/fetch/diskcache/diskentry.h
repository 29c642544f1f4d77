/* gst-spdl: file format of a disk cache entry
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "plugins/fetch/http/validator.h"

G_BEGIN_DECLS

/* An entry consists of a header followed by the content. All numbers are
 * little-endian:
 *
 *     offset  size
 *          0     8  "spdlitm", and a byte 1: the version
 *          8    32  SHA-256 of the key, which identifies the request
 *         40    32  SHA-256 of the URI that responded
 *         72     8  size of the content
 *         80     8  hash of the content
 *         88     4  kind of the validator: 0 none, 1 an ETag, 2 a date
 *         92     4  n, the size of the validator
 *         96     8  hash of the bytes 0 to 95 and of the validator
 *        104     n  the validator
 *
 * An entry is valid only if its hashes match, so files that are truncated, or
 * were written partially before a power failure, are rejected. URIs are not
 * stored, since they may contain passwords. */

#define SPDL_DISK_ENTRY_HEADER 104
#define SPDL_DISK_ENTRY_MAX_TEXT 4096
/* Number of bytes that always suffice to read the header. */
#define SPDL_DISK_ENTRY_MAX_HEAD \
  (SPDL_DISK_ENTRY_HEADER + SPDL_DISK_ENTRY_MAX_TEXT)

typedef struct {
  guint8 name[SPDL_DIGEST_SIZE];
  SpdlValidator validator;
  guint64 size; /* of the content */
  guint64 hash; /* of the content */
} SpdlDiskEntry;

/* Returns whether the validator fits in the header. */
gboolean spdl_disk_entry_fits (const SpdlDiskEntry *self);

/* Writes the header to @data, which has SPDL_DISK_ENTRY_MAX_HEAD bytes. Returns
 * its size. */
gsize spdl_disk_entry_write (const SpdlDiskEntry *self, guint8 *data);

/* Parses the header in the first @n bytes of a file with @file_size bytes. @n
 * is SPDL_DISK_ENTRY_MAX_HEAD, or the size of a smaller file.
 * @name: expected key
 * @problem: (out): reason why the entry is invalid, for the log
 * Returns the size of the header, or 0 if the entry is invalid. If it is valid,
 * the caller must clear @self->validator. */
gsize spdl_disk_entry_read (SpdlDiskEntry *self, const guint8 *data, gsize n,
    guint64 file_size, const guint8 name[SPDL_DIGEST_SIZE],
    const gchar **problem);

guint64 spdl_disk_entry_hash (gconstpointer content, gsize size);

G_END_DECLS
