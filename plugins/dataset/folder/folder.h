/* gst-spdl: recursive listing of a folder
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/dataset/list/datasetoptions.h"

G_BEGIN_DECLS

typedef struct {
  /* Receives a file: its path relative to the root, and the number of its
   * top-level folder in sorted order (-1: none). Returns FALSE to stop the
   * walk. */
  gboolean (*add) (const gchar *path, gint folder, gpointer user_data);
  /* (nullable): receives the name of a top-level folder, before its files. */
  void (*add_folder) (const gchar *name, gpointer user_data);
  const SpdlDatasetOptions
      *options; /* for warnings of entries that are skipped */
  gpointer user_data;
} SpdlFolderFuncs;

/* Lists the files in @root recursively. Names are sorted by their bytes, so
 * that the order does not depend on the locale. Skips names that begin with a
 * dot and files that are not regular. Follows symbolic links, but not to a
 * folder that contains the link.
 *
 * @pattern: case-insensitive glob for fnmatch(), which may contain `@(a|b)`
 * @n_others: (out): number of files that did not match
 *
 * Returns FALSE with @error set if @root cannot be read. */
gboolean spdl_folder_walk (const gchar *root, const gchar *pattern,
    const SpdlFolderFuncs *funcs, guint64 *n_others, GError **error);

/* Returns @path (transfer full) as an absolute path. In it, ".." is the folder
 * above the target of a link, as for the kernel, while
 * g_canonicalize_filename() takes "link/../a" for "a". */
gchar *spdl_folder_dup_absolute (const gchar *path);

G_END_DECLS
