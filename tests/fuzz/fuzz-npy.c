/* gst-spdl: fuzz target of the NPY reader
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "plugins/codec/array/array.h"
#include "tests/fuzz/fuzz-arrays.h"

/* Returns the offset of element @n in C order. */
static gsize
find_element (const SpdlArray *array, gsize n)
{
  gsize place = 0;

  if (!array->fortran)
    return n;
  for (guint i = array->rank; i-- > 0;) {
    gsize step = 1;

    for (guint k = 0; k < i; k++)
      step *= array->shape[k];
    place += n % array->shape[i] * step;
    n /= array->shape[i];
  }
  return place;
}

/* The reference, element by element. */
static void
check_order (const SpdlArray *array, const guint8 *in)
{
  const gsize size = gst_spdl_tensor_type_get_size (array->type);
  g_autofree guint8 *out = NULL;
  gsize n_bytes;

  g_assert_true (spdl_array_get_size (array, &n_bytes, NULL));
  if (n_bytes == 0)
    return;
  out = g_malloc (n_bytes);
  spdl_array_write (array, in, out);
  for (gsize i = 0; i < n_bytes / size; i++) {
    const guint8 *element = in + find_element (array, i) * size;

    for (gsize k = 0; k < size; k++)
      g_assert_cmpuint (
          out[i * size + k], ==, element[array->swapped ? size - 1 - k : k]);
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
  FuzzInput input = { data, size };
  const guint8 failing = fuzz_take (&input);
  SpdlArray array = { NULL };
  gsize at;

  fuzz_arrays_run (SPDL_ARRAYS_NPY, input.data, input.size, failing & 1);
  at = spdl_npy_read (&array, input.data, input.size, NULL);
  if (at > 0)
    check_order (&array, input.data + at);
  return 0;
}
