/* gst-spdl: text files in memory
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* By what a file is known to be as it was. */
typedef struct {
  guint64 size;
  gint64 seconds;      /* of the last change */
  guint32 nanoseconds; /* likewise */
} SpdlStamp;

/* A file that is mapped into memory, of any size. Pages that are mapped count
 * as the process's own memory, so they are given back where they add up; they
 * stay in the system's cache. Only one thread at a time. */
typedef struct {
  gchar *location;
  int fd;
  SpdlStamp stamp; /* of when it was opened */
  guint mode;      /* the file's permissions */
  const gchar *begin;
  const gchar *end;
  gsize window; /* the last one that was visited */
  guint n_windows;
} SpdlMappedFile;

/* Returns FALSE with @error set, in the domain of GST_RESOURCE_ERROR. */
gboolean spdl_mapped_file_open (
    SpdlMappedFile *self, const gchar *location, GError **error);
void spdl_mapped_file_close (SpdlMappedFile *self);

/* Whether the file is as it was when it was opened; else @error says what has
 * changed. To be asked before each reading: of a file that was cut off, what is
 * gone must not be touched. */
gboolean spdl_mapped_file_check (const SpdlMappedFile *self, GError **error);

/* Whether the file has been left alone for so long that a further change would
 * show in its stamp: file systems count time in steps of up to two seconds. */
gboolean spdl_mapped_file_is_settled (const SpdlMappedFile *self);

/* It is about to be read from the beginning to the end, or in any order. */
void spdl_mapped_file_expect (SpdlMappedFile *self, gboolean in_order);

/* What is between the two was read: too much of it is given back. */
void spdl_mapped_file_visit (
    SpdlMappedFile *self, const gchar *from, const gchar *to);

/* Reads a part of it without mapping it, for which the kernel may map a good
 * deal more. FALSE: the file is shorter. */
gboolean spdl_mapped_file_copy (
    const SpdlMappedFile *self, guint64 offset, gsize size, gchar *buffer);

/* Gives all back. */
void spdl_mapped_file_forget (SpdlMappedFile *self);

/* The hash of some pieces of it, by which to know a file whose stamp was made
 * to look like another's. */
guint64 spdl_mapped_file_hash_samples (const SpdlMappedFile *self);

G_END_DECLS
