/* gst-spdl: memory-mapped text file
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Size and modification time, which show whether a file has changed. */
typedef struct {
  guint64 size;
  gint64 seconds;      /* modification time */
  guint32 nanoseconds; /* its nanoseconds */
} SpdlStamp;

/* A memory-mapped file of any size. Mapped pages count as resident memory of
 * the process, so they are released once there are many; they stay in the page
 * cache. Not thread-safe. */
typedef struct {
  gchar *location;
  int fd;
  SpdlStamp stamp; /* when the file was opened */
  guint mode;      /* the file's permissions */
  const gchar *begin;
  const gchar *end;
  gsize window; /* the last window that was visited */
  guint n_windows;
} SpdlTextFile;

/* Returns FALSE with @error set, in the domain of GST_RESOURCE_ERROR. */
gboolean
spdl_text_file_open (SpdlTextFile *self, const gchar *location, GError **error);
void spdl_text_file_close (SpdlTextFile *self);

/* Checks that the file has not changed since it was opened; sets @error
 * otherwise. Must be called before each access, because pages after the end of
 * a truncated file must not be accessed. */
gboolean spdl_text_file_check (const SpdlTextFile *self, GError **error);

/* Returns TRUE if the file is so old that a further change would alter its
 * stamp. File systems store times in steps of up to two seconds. */
gboolean spdl_text_file_is_settled (const SpdlTextFile *self);

/* Advises the kernel of sequential or random access. */
void spdl_text_file_expect (SpdlTextFile *self, gboolean in_order);

/* Records an access to the range from @from to @to. Releases all pages once too
 * many are mapped. */
void
spdl_text_file_visit (SpdlTextFile *self, const gchar *from, const gchar *to);

/* Copies a part of the file without mapping it, since the kernel may map much
 * more than is read. Returns FALSE if the file is shorter. */
gboolean spdl_text_file_copy (
    const SpdlTextFile *self, guint64 offset, gsize size, gchar *buffer);

/* Releases all pages. */
void spdl_text_file_forget (SpdlTextFile *self);

/* Calculates a hash of excerpts of the file, which detects another file with
 * the same size and modification time. */
guint64 spdl_text_file_hash_samples (const SpdlTextFile *self);

G_END_DECLS
