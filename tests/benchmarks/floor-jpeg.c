/* gst-spdl: JPEG decode with libjpeg-turbo alone, the lower bound
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Decodes all JPEGs below a folder in order, repeatedly for some seconds, and
 * prints the CPU time per image. It reuses one decompressor and one row buffer,
 * reads from memory, and decodes with the accurate IDCT and fancy upsampling to
 * RGB.
 *
 *     floor-jpeg FOLDER SECONDS
 *     floor-jpeg --version */

#include <glib.h>
#include <stdio.h>
#include <jpeglib.h>

#include <stdlib.h>

#include "tests/benchmarks/cpu-seconds.h"
#include "tests/benchmarks/jpeg-files.h"

static void
decode (
    struct jpeg_decompress_struct *cinfo, const JpegFile *file, JSAMPROW row)
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
  g_autoptr (GArray) files = NULL;
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
  files = jpeg_files_load (argv[1]);
  cinfo.err = jpeg_std_error (&errors);
  jpeg_create_decompress (&cinfo);

  const double before = cpu_seconds (), end = before + atof (argv[2]);
  while (cpu_seconds () < end)
    for (guint i = 0; i < files->len; i++, n++)
      decode (&cinfo, &g_array_index (files, JpegFile, i), row);
  printf ("%.2f\n", (cpu_seconds () - before) * 1e6 / n);
  jpeg_destroy_decompress (&cinfo);
  return 0;
}
