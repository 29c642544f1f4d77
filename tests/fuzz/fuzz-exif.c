/* gst-spdl: fuzz target of the EXIF parser
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/common/exif.h"
#include "tests/fuzz/fuzz.h"

static void
check_orientation (guint orientation)
{
  g_assert_cmpuint (orientation, >=, 1);
  g_assert_cmpuint (orientation, <=, 8);
}

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  return 0;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  check_orientation (spdl_exif_find_in_jpeg (data, size));
  check_orientation (spdl_exif_get_orientation (data, size));
  return 0;
}
