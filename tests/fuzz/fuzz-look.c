/* gst-spdl: fuzzes the first look at still images
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/still/look.h"
#include "tests/fuzz/fuzz-worker.h"
#include "tests/fuzz/fuzz.h"

static void
check (const SpdlLook *look)
{
  g_assert_cmpuint (look->orientation, >=, 1);
  g_assert_cmpuint (look->orientation, <=, 8);
  g_assert_true (look->type || !look->damage);
}

/* Formats that only caps tell. */
static void
look_for_size (const guint8 *data, gsize size)
{
  static const gchar *const types[] = { "image/x-tga", "image/x-sgi",
    "image/x-pcx" };

  for (guint i = 0; i < G_N_ELEMENTS (types); i++) {
    SpdlLook look = { .type = types[i] };

    spdl_look_for_size (&look, data, size);
  }
}

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  fuzz_init ();
  return 0;
}

/* What a worker makes of broken files without a decoder is a part of it: images
 * of the background. */
static void
keep (const guint8 *data, gsize size)
{
  static const guint8 settings[] = { 0, 4, 20, 30 };

  fuzz_worker_run (&(FuzzInput){ settings, sizeof settings }, data, size);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  SpdlLook look;

  spdl_look (&look, data, size);
  check (&look);
  look_for_size (data, size);
  if (look.damage)
    keep (data, size);
  return 0;
}
