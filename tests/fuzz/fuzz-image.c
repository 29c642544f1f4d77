/* gst-spdl: fuzz target of images, but JPEG
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>
#include <zlib.h>

#include "plugins/codec/still/imagedecoder.h"
#include "plugins/common/bytes.h"
#include "tests/fuzz/fuzz-decoder.h"
#include "tests/fuzz/fuzz.h"

/* Recomputes the checksums of a PNG, which a fuzzer does not find. */
static void
put_right (guint8 *data, gsize size)
{
  gsize at = 8;

  while (at < size && size - at >= 12) {
    const gsize length = spdl_read_32_be (data + at);
    guint8 *checksum;
    guint32 value;

    if (length > size - at - 12)
      return;
    checksum = data + at + 8 + length;
    value = crc32 (0, data + at + 4, length + 4);
    for (guint i = 0; i < 4; i++)
      checksum[i] = value >> (24 - 8 * i);
    at += 12 + length;
  }
}

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
  g_autofree guint8 *file = NULL;

  data += settings.size;
  size -= settings.size;
  if (size < 12)
    return 0;
  file = g_memdup2 (data, size);
  if (spdl_png_decoder.accepts (file, size))
    put_right (file, size);
  else if (!spdl_gif_decoder.accepts (file, size) &&
           !spdl_jp2_decoder.accepts (file, size) &&
           !spdl_webp_decoder.accepts (file, size) &&
           !spdl_tiff_decoder.accepts (file, size) &&
           !spdl_avif_decoder.accepts (file, size) &&
           !spdl_heif_decoder.accepts (file, size) &&
           !spdl_jxl_decoder.accepts (file, size))
    return 0;
  fuzz_decoder_run (&settings, file, size);
  return 0;
}
