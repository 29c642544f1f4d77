/* gst-spdl: fuzz target of the image format probe
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/still/imageprobe.h"
#include "tests/fuzz/fuzz-decoder.h"
#include "tests/fuzz/fuzz.h"

static void
check (const SpdlImageProbe *probe)
{
  g_assert_cmpuint (probe->orientation, >=, 1);
  g_assert_cmpuint (probe->orientation, <=, 8);
  g_assert_true (probe->type || !probe->corruption);
}

/* Formats for which only the caps have the size. */
static void
look_for_size (const guint8 *data, gsize size)
{
  static const gchar *const types[] = { "image/x-tga", "image/x-sgi",
    "image/x-pcx" };

  for (guint i = 0; i < G_N_ELEMENTS (types); i++) {
    SpdlImageProbe probe = { .type = types[i] };

    spdl_image_probe_find_size (&probe, data, size);
  }
}

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  fuzz_init ();
  return 0;
}

/* Checks the result for broken files that reach no decoder: images of the
 * background color. */
static void
keep (const guint8 *data, gsize size)
{
  static const guint8 settings[] = { 0, 4, 20, 30 };

  fuzz_decoder_run (&(FuzzInput){ settings, sizeof settings }, data, size);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  SpdlImageProbe probe;

  spdl_image_probe (&probe, data, size);
  check (&probe);
  look_for_size (data, size);
  if (probe.corruption)
    keep (data, size);
  return 0;
}
