/* gst-spdl: the floor: what libjpeg-turbo alone takes
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Decodes all JPEGs below a folder, in order, again and again for some seconds,
 * and prints the CPU time an image: one decompressor and one row buffer,
 * reused; bytes in memory; accurate IDCT, fancy upsampling, RGB.
 *
 *     floor-jpeg FOLDER SECONDS
 *     floor-jpeg --version
 */

#include <glib.h>
#include <stdio.h>
#include <jpeglib.h>

#include <stdlib.h>

#include "cpu-seconds.h"

typedef struct {
  gchar *data;
  gsize size;
} File;

static void
load (GArray *files, const gchar *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const gchar *name;

  while (dir && (name = g_dir_read_name (dir))) {
    g_autofree gchar *path = g_build_filename (folder, name, NULL);
    File file;

    if (g_file_test (path, G_FILE_TEST_IS_DIR))
      load (files, path);
    else if (g_str_has_suffix (name, ".jpg") &&
             g_file_get_contents (path, &file.data, &file.size, NULL))
      g_array_append_val (files, file);
  }
}

static void
decode (struct jpeg_decompress_struct *cinfo, const File *file, JSAMPROW row)
{
  jpeg_mem_src (cinfo, (const guint8 *) file->data, file->size);
  jpeg_read_header (cinfo, TRUE);
  cinfo->out_color_space = JCS_RGB;
  jpeg_start_decompress (cinfo);
  while (cinfo->output_scanline < cinfo->output_height)
    jpeg_read_scanlines (cinfo, &row, 1);
  jpeg_finish_decompress (cinfo);
}

int
main (int argc, char **argv)
{
  struct jpeg_decompress_struct cinfo;
  struct jpeg_error_mgr errors;
  g_autoptr (GArray) files = g_array_new (FALSE, FALSE, sizeof (File));
  static JSAMPLE row[65536 * 3];
  guint64 n = 0;

  if (argc == 2 && g_str_equal (argv[1], "--version")) {
    printf ("%s\n", G_STRINGIFY (LIBJPEG_TURBO_VERSION));
    return 0;
  }
  if (argc != 3) {
    g_printerr ("usage: floor-jpeg FOLDER SECONDS\n");
    return 2;
  }
  load (files, argv[1]);
  if (files->len == 0) {
    g_printerr ("no .jpg below %s\n", argv[1]);
    return 1;
  }
  cinfo.err = jpeg_std_error (&errors);
  jpeg_create_decompress (&cinfo);

  const double before = cpu_seconds (), end = before + atof (argv[2]);
  while (cpu_seconds () < end)
    for (guint i = 0; i < files->len; i++, n++)
      decode (&cinfo, &g_array_index (files, File, i), row);
  printf ("%.2f\n", (cpu_seconds () - before) * 1e6 / n);
  jpeg_destroy_decompress (&cinfo);
  return 0;
}
