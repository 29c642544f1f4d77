/* gst-spdl: benchmark of Huffman decoding, compared with libjpeg-turbo
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Decodes only the coefficients of all JPEGs below a folder, in turns with
 * libjpeg-turbo and with the project's decoder. It measures full decoding, and
 * skipping of coefficients as for blocks outside of a crop. It prints the
 * minimum CPU time per image over some rounds.
 *
 *     bench-entropy FOLDER [ROUNDS] */

#include <glib.h>
#include <stdio.h>
#include <jpeglib.h>

#include <stdlib.h>
#include <string.h>

#include "plugins/codec/jpeg/entropy.h"
#include "plugins/codec/jpeg/entropycheck.h"
#include "plugins/codec/jpeg/libjpeg.h"
#include "tests/benchmarks/cpu-seconds.h"
#include "tests/benchmarks/jpeg-files.h"

static SpdlEntropy *entropy;

static boolean
decode_mcu (j_decompress_ptr cinfo, JBLOCKROW *blocks)
{
  return spdl_entropy_decode (entropy, cinfo, blocks);
}

/* Returns the time spent on MCUs. */
static double
decode (struct jpeg_decompress_struct *cinfo, const JpegFile *file,
    gboolean ours, gboolean wanted)
{
  static JBLOCK blocks[D_MAX_BLOCKS_IN_MCU];
  JBLOCKROW rows[D_MAX_BLOCKS_IN_MCU];
  double begun, taken;
  guint n;

  for (guint i = 0; i < D_MAX_BLOCKS_IN_MCU; i++)
    rows[i] = &blocks[i];
  jpeg_mem_src (cinfo, (const guint8 *) file->data, file->size);
  jpeg_read_header (cinfo, TRUE);
  if (cinfo->progressive_mode) {
    jpeg_abort_decompress (cinfo);
    return 0;
  }
  jpeg_start_decompress (cinfo);
  begun = cpu_seconds ();
  if (ours)
    spdl_entropy_begin (entropy, cinfo, decode_mcu);
  n = cinfo->MCUs_per_row * cinfo->MCU_rows_in_scan;
  for (guint i = 0; i < n; i++) {
    memset (blocks, 0, sizeof (JBLOCK) * cinfo->blocks_in_MCU);
    spdl_libjpeg_get_entropy (cinfo)->decode_mcu (cinfo, wanted ? rows : NULL);
  }
  taken = cpu_seconds () - begun;
  jpeg_abort_decompress (cinfo);
  return taken;
}

static double
decode_all (struct jpeg_decompress_struct *cinfo, const GArray *files,
    gboolean ours, gboolean wanted)
{
  double taken = 0;

  for (guint i = 0; i < files->len; i++)
    taken += decode (cinfo, &g_array_index (files, JpegFile, i), ours, wanted);
  return taken * 1e6 / files->len;
}

static void
compare (struct jpeg_decompress_struct *cinfo, const GArray *files,
    guint n_rounds, gboolean wanted)
{
  double least[2] = { G_MAXDOUBLE, G_MAXDOUBLE };

  for (guint i = 0; i < n_rounds * 2; i++) {
    const gboolean ours = i % 4 == 1 || i % 4 == 2;
    const double taken = decode_all (cinfo, files, ours, wanted);

    least[ours] = MIN (least[ours], taken);
  }
  printf ("%-8s libjpeg-turbo %8.1f us  ours %8.1f us  ratio %.2f\n",
      wanted ? "all" : "skipped", least[0], least[1], least[1] / least[0]);
}

int
main (int argc, char **argv)
{
  struct jpeg_decompress_struct cinfo;
  struct jpeg_error_mgr errors;
  g_autoptr (GArray) files = NULL;
  guint n_rounds;

  if (argc < 2 || argc > 3) {
    g_printerr ("usage: bench-entropy FOLDER [ROUNDS]\n");
    return 2;
  }
  if (spdl_entropy_choose ()->reason) {
    g_printerr ("Entropy decoding by gst-spdl is off: %s\n",
        spdl_entropy_choose ()->reason);
    return 1;
  }
  files = jpeg_files_load (argv[1]);
  n_rounds = argc > 2 ? atoi (argv[2]) : 20;
  entropy = spdl_entropy_new ();
  cinfo.err = jpeg_std_error (&errors);
  jpeg_create_decompress (&cinfo);
  compare (&cinfo, files, n_rounds, TRUE);
  compare (&cinfo, files, n_rounds, FALSE);
  jpeg_destroy_decompress (&cinfo);
  spdl_entropy_free (entropy);
  return 0;
}
