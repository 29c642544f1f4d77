/* gst-spdl: kernels of the fake CUDA Runtime, found by their names in
 * normalize.cu
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/cuda/fake-private.h"

#include <string.h>

#pragma GCC visibility push(default)

cudaError_t
cudaLibraryLoadData (void **library, const void *code, void *jit_options,
    void **jit_values, unsigned n_jit_options, void *options, void **values,
    unsigned n_options)
{
  CALL (fake_enter ("cudaLibraryLoadData"));
  *library = g_strdup ("library");
  return fake_leave (cudaSuccess);
}

cudaError_t
cudaLibraryGetKernel (void **kernel, void *library, const char *name)
{
  CALL (fake_enter ("cudaLibraryGetKernel"));
  if (!g_str_has_prefix (name, "spdl_normalize_f"))
    return fake_leave (cudaErrorSymbolNotFound);
  *kernel = (void *) g_intern_string (name);
  return fake_leave (cudaSuccess);
}

cudaError_t
cudaLibraryUnload (void *library)
{
  int code = fake_enter ("cudaLibraryUnload");

  g_free (library);
  return fake_leave (code);
}

static gboolean
check_launch (const SpdlNormalizeJob *job, dim3 grid, dim3 block)
{
  const uint64_t n = (uint64_t) grid.x * block.x;
  const size_t n_samples =
      (size_t) job->n_images * job->width * job->height * job->n_channels;

  if (n < spdl_normalize_count_threads (job) ||
      !fake_find_piece (job->in, n_samples)) {
    fake_misuse ("a kernel has %" G_GUINT64_FORMAT " threads for %zu samples",
        n, n_samples);
    return FALSE;
  }
  return TRUE;
}

cudaError_t
cudaLaunchKernel (const void *kernel, dim3 grid, dim3 block, void **arguments,
    size_t shared, cudaStream_t handle)
{
  const char *name = kernel;
  Op op = { .kind = OP_KERNEL };
  Stream *stream;

  CALL (fake_enter ("cudaLaunchKernel"));
  stream = fake_find_stream (handle);
  op.job = *(SpdlNormalizeJob *) arguments[0];
  op.half = strstr (name, "_f16") != NULL;
  if (!stream || !check_launch (&op.job, grid, block))
    return fake_leave (cudaErrorInvalidValue);
  if (stream->device != fake_current ())
    fake_misuse ("a kernel is launched on another device's stream");
  op.from = op.job.in;
  op.size = (size_t) op.job.n_images * op.job.width * op.job.height *
            op.job.n_channels;
  op.to = op.job.out;
  op.to_size = op.size * (op.half ? 2 : 4);
  if (!fake_find_piece (op.to, op.to_size))
    fake_misuse ("a kernel writes beyond its memory");
  else
    fake_give (stream, &op);
  return fake_leave (cudaSuccess);
}
