/* gst-spdl: fuzz target of the Huffman decoder, compared with libjpeg
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/both-ways.h"
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
  FuzzInput input = { data, size };
  const Wish wish = {
    .reduction = 1 << fuzz_take (&input) % 4,
    .x_part = fuzz_take (&input),
    .y_part = fuzz_take (&input),
    .width_part = 1 + fuzz_take (&input),
  };

  decode_both_ways (input.data, input.size, &wish);
  return 0;
}
