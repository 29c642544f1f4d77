/* gst-spdl: fuzz target of the safetensors reader
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "tests/fuzz/fuzz-arrays.h"

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  fuzz_init ();
  return 0;
}

/* The length of the header is set to the position of the first zero byte, as a
 * fuzzer does not keep it correct. */
int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput input = { data, size };
  const guint8 failing = fuzz_take (&input);
  g_autofree guint8 *file = g_malloc0 (8 + input.size);
  const guint8 *end =
      input.size > 0 ? memchr (input.data, 0, input.size) : NULL;
  const gsize length = end ? (gsize) (end - input.data) : input.size;

  for (guint i = 0; i < 8; i++)
    file[i] = (guint64) length >> 8 * i;
  if (input.size > 0)
    memcpy (file + 8, input.data, input.size);
  /* The zero byte is not part of the data. */
  if (end)
    memmove (file + 8 + length, file + 9 + length, input.size - length - 1);
  fuzz_arrays_run (SPDL_ARRAYS_SAFETENSORS, file,
      8 + input.size - (end ? 1 : 0), failing & 7);
  return 0;
}
