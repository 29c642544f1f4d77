/* gst-spdl: recursive listing of a folder
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  /* A file: its path below the root, and the number of the top-level folder
   * that it lies in, among all of these in sorted order (-1: in none). FALSE
   * ends the walk. */
  gboolean (*add) (const gchar *path, gint folder, gpointer user_data);
  /* (nullable): the next of the top-level folders, before what is in it. */
  void (*add_folder) (const gchar *name, gpointer user_data);
  /* (nullable): what was left out, and why. */
  void (*warn) (const gchar *text, gpointer warn_data);
  gpointer user_data;
  gpointer warn_data;
} SpdlFolderFuncs;

/* Walks through @root and all below it. Names are sorted by their bytes, so
 * the order is the same on every machine, whatever its locale. Names that
 * begin with a dot are passed over, as a shell does; so are files that are not
 * regular ones. Symbolic links are followed, but never back into a folder that
 * they lie in.
 *
 * @pattern: a glob as fnmatch() knows it, with `@(a|b)`, case-insensitive
 * @n_others: (out): how many files did not match
 *
 * Returns FALSE with @error set if @root cannot be read. */
gboolean spdl_folder_walk (const gchar *root, const gchar *pattern,
    const SpdlFolderFuncs *funcs, guint64 *n_others, GError **error);

G_END_DECLS
