/* gst-spdl: fake files of /proc and cgroups
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/gst/engine/systemfiles.h"

#include <glib/gstdio.h>

gchar *
make_tree (const File files[MAX_FILES])
{
  gchar *root = g_dir_make_tmp ("spdl-system-XXXXXX", NULL);

  for (guint i = 0; i < MAX_FILES && files[i].path; i++) {
    g_autofree gchar *path = g_strconcat (root, files[i].path, NULL);
    g_autofree gchar *folder = g_path_get_dirname (path);

    g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
    g_assert_true (g_file_set_contents_full (
        path, files[i].text, -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
  }
  return root;
}

static void
remove_folder (const gchar *path)
{
  GDir *dir = g_dir_open (path, 0, NULL);
  const gchar *name;

  while (dir && (name = g_dir_read_name (dir))) {
    g_autofree gchar *child = g_build_filename (path, name, NULL);

    remove_folder (child);
  }
  if (dir)
    g_dir_close (dir);
  g_remove (path);
}

void
remove_tree (gchar *root)
{
  remove_folder (root);
  g_free (root);
}
