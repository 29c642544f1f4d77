/* gst-spdl: fuzz target of JPEG images
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/jpeg/jpeg.h"
#include "tests/fuzz/fuzz-decoder.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  fuzz_init ();
  return 0;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput settings = { data, MIN (size, FUZZ_WORKER_SETTINGS) };

  data += settings.size;
  size -= settings.size;
  if (spdl_jpeg_is_jpeg (data, size))
    fuzz_decoder_run (&settings, data, size);
  return 0;
}
