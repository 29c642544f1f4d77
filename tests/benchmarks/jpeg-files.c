/* gst-spdl: JPEGs in memory
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/benchmarks/jpeg-files.h"

#include <stdlib.h>

static void
load (GArray *files, const gchar *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const gchar *name;

  while (dir && (name = g_dir_read_name (dir))) {
    g_autofree gchar *path = g_build_filename (folder, name, NULL);
    JpegFile file;

    if (g_file_test (path, G_FILE_TEST_IS_DIR))
      load (files, path);
    else if (g_str_has_suffix (name, ".jpg") &&
             g_file_get_contents (path, &file.data, &file.size, NULL))
      g_array_append_val (files, file);
  }
}

GArray *
jpeg_files_load (const gchar *folder)
{
  GArray *files = g_array_new (FALSE, FALSE, sizeof (JpegFile));

  load (files, folder);
  if (files->len == 0) {
    g_printerr ("no .jpg below %s\n", folder);
    exit (1);
  }
  return files;
}
