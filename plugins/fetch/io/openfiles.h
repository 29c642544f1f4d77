/* gst-spdl: files that stay open between reads
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>
#include <sys/stat.h>

G_BEGIN_DECLS

/* Files whose ranges were read last, such as shards or files of tokens. Each
 * read checks by stat() that the path still names the same file, and that it
 * did not change, or opens it again. Thread-safe. */
typedef struct _SpdlOpenFiles SpdlOpenFiles;

/* Largest number of files that are open between reads. */
#define SPDL_OPEN_FILES_MAX 16

typedef struct {
  gchar *path;
  int fd;
  struct stat st;
} SpdlOpenFile;

SpdlOpenFiles *spdl_open_files_new (void);
/* Closes the files that were given back. */
void spdl_open_files_free (SpdlOpenFiles *self);

/* Takes a file from @self (nullable), or opens it. Only the caller has it.
 * Returns FALSE with errno set, and nothing to close, if that fails. */
gboolean spdl_open_files_take (
    SpdlOpenFiles *self, const gchar *path, SpdlOpenFile *file);
/* Gives a file back to @self, from which the file is closed that was not used
 * for the longest time. */
void spdl_open_files_give (SpdlOpenFiles *self, const SpdlOpenFile *file);
void spdl_open_file_close (SpdlOpenFile *self);

G_END_DECLS
