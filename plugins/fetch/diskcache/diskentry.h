/* gst-spdl: a file of the disk cache
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "plugins/fetch/http/validator.h"

G_BEGIN_DECLS

/* An entry is a head and the content behind it. All numbers are little-endian:
 *
 *     byte  size
 *        0     8  "spdlitm", and a byte 1: the version
 *        8    32  SHA-256 of the name: what was asked for
 *       40    32  SHA-256 of the URI that answered
 *       72     8  size of the content
 *       80     8  hash of the content
 *       88     4  kind of the validator: 0 none, 1 an ETag, 2 a date
 *       92     4  n, its size
 *       96     8  hash of the bytes 0 to 95 and of the validator
 *      104     n  the validator
 *
 * Nothing is believed that its hash does not confirm: so a file that was cut
 * off, or of which a machine that lost its power wrote only parts, is none. No
 * URI is in it, since there may be a password in one. */

#define SPDL_DISK_ENTRY_HEADER 104
#define SPDL_DISK_ENTRY_MAX_TEXT 4096
/* As much of a file as has the head. */
#define SPDL_DISK_ENTRY_MAX_HEAD \
  (SPDL_DISK_ENTRY_HEADER + SPDL_DISK_ENTRY_MAX_TEXT)

typedef struct {
  guint8 name[SPDL_DIGEST_SIZE];
  SpdlValidator validator;
  guint64 size; /* of the content */
  guint64 hash; /* likewise */
} SpdlDiskEntry;

/* Whether the validator can be written. */
gboolean spdl_disk_entry_fits (const SpdlDiskEntry *self);

/* Writes the head to @data, of SPDL_DISK_ENTRY_MAX_HEAD bytes.
 *
 * Returns its size */
gsize spdl_disk_entry_write (const SpdlDiskEntry *self, guint8 *data);

/* Reads the head from the first @n bytes of a file of @file_size bytes. @n is
 * SPDL_DISK_ENTRY_MAX_HEAD, or all of a smaller file.
 *
 * @name: what the entry must be of
 * @problem: (out): why it is none, for the log
 *
 * Returns the head's size, 0 if it is none; if it is one, clear
 * @self->validator. */
gsize spdl_disk_entry_read (SpdlDiskEntry *self, const guint8 *data, gsize n,
    guint64 file_size, const guint8 name[SPDL_DIGEST_SIZE],
    const gchar **problem);

guint64 spdl_disk_entry_hash (gconstpointer content, gsize size);

G_END_DECLS
