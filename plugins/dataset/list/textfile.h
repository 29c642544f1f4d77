/* gst-spdl: text file that is read in parts
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>
#include <sys/stat.h>

G_BEGIN_DECLS

/* A part of a file that others may write, which is read because the process
 * would be killed if a mapped file became shorter. */
typedef struct {
  gchar *data;
  gsize size;
  guint64 offset; /* in the file */
  gsize room;     /* allocated bytes */
} SpdlFileWindow;

/* Loads the @size bytes at @offset. Keeps what the window already has of
 * them. Returns 0, an errno, or ENODATA if the file ends before. */
int spdl_file_window_load (
    SpdlFileWindow *self, int fd, guint64 offset, gsize size);

void spdl_file_window_clear (SpdlFileWindow *self);

/* Size and modification time, which show whether a file has changed. */
typedef struct {
  guint64 size;
  gint64 seconds;      /* modification time */
  guint32 nanoseconds; /* its nanoseconds */
} SpdlStamp;

gboolean spdl_stamp_is_of (const SpdlStamp *self, const struct stat *st);
gboolean spdl_stamp_is_equal (const SpdlStamp *self, const SpdlStamp *other);

/* Returns TRUE if the file is so old that a further change would alter its
 * stamp. File systems store times in steps of up to two seconds. */
gboolean spdl_stamp_is_settled (const SpdlStamp *self);

/* Opens a regular file. Returns its descriptor, or -1 with errno set.
 *
 * @mode: (nullable): gets the file's permissions */
int spdl_file_open_stamped (const gchar *path, SpdlStamp *stamp, guint *mode);

/* Returns 0 if everything was written, or an errno. */
int spdl_file_write_all (int fd, gconstpointer data, gsize size);

/* An open file of any size. It is not mapped, because a file that somebody
 * truncates while it is mapped kills the process. Not thread-safe. */
typedef struct {
  gchar *location;
  int fd;
  SpdlStamp stamp; /* when the file was opened */
  guint mode;      /* the file's permissions */
} SpdlTextFile;

/* Returns FALSE with @error set, in the domain of GST_RESOURCE_ERROR. */
gboolean
spdl_text_file_open (SpdlTextFile *self, const gchar *location, GError **error);
void spdl_text_file_close (SpdlTextFile *self);

/* Checks that the file has not changed since it was opened; sets @error
 * otherwise. Must be called after reading: the kernel sets the new time before
 * it changes the content. */
gboolean spdl_text_file_check (const SpdlTextFile *self, GError **error);

/* Advises the kernel of sequential or random access. */
void spdl_text_file_expect (const SpdlTextFile *self, gboolean in_order);

/* Loads the part of @size bytes at @offset, or up to the end of the file, into
 * @window. Keeps what @window already has of it. Returns FALSE with @error set
 * if the file cannot be read or is shorter than it was. */
gboolean spdl_text_file_load (const SpdlTextFile *self, SpdlFileWindow *window,
    guint64 offset, gsize size, GError **error);

/* Calculates a hash of excerpts of the file, which detects another file with
 * the same size and modification time. */
guint64 spdl_text_file_hash_samples (const SpdlTextFile *self);

G_END_DECLS
