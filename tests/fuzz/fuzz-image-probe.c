/* gst-spdl: fuzz target of rare image formats
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/still/imagedecoder.h"
#include "tests/fuzz/fuzz-decoder.h"
#include "tests/fuzz/fuzz.h"

#define MAX_PIXELS (1 << 14)

/* Formats that only the caps tell. */
static void
read_header (const SpdlImageDecoder *format, const guint8 *data, gsize size)
{
  gpointer decoder = g_malloc0 (format->size);
  g_autoptr (GError) error = NULL;
  SpdlImageHeader header;

  if (format->read_header (decoder, data, size, MAX_PIXELS, &header, &error)) {
    g_assert_cmpuint (header.orientation, >=, 1);
    g_assert_cmpuint (header.orientation, <=, 8);
  } else {
    fuzz_check_error (error);
  }
  format->close (decoder);
  format->destroy (decoder);
}

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  fuzz_init ();
  return 0;
}

/* Keeps what could be decoded of broken files. */
static void
keep (const guint8 *data, gsize size)
{
  static const guint8 settings[] = { 0, 4, 20, 30 };

  fuzz_decoder_run (&(FuzzInput){ settings, sizeof settings }, data, size);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  if (spdl_pnm_decoder.accepts (data, size) ||
      spdl_bmp_decoder.accepts (data, size) ||
      spdl_sun_decoder.accepts (data, size) ||
      spdl_exr_decoder.accepts (data, size))
    keep (data, size);
  read_header (&spdl_tga_decoder, data, size);
  read_header (&spdl_sgi_decoder, data, size);
  read_header (&spdl_pcx_decoder, data, size);
  return 0;
}
