/* gst-spdl: CUDA kernels of spdlcudanormalize
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <cuda_fp16.h>

#include "normalizejob.h"

/* A run is read as 32-bit words, so that the threads of a warp access the same
 * sectors; the samples of each plane are written as one vector of 16 bytes. */

template <typename Sample>
__device__ __forceinline__ Sample
convert (float value);

template <>
__device__ __forceinline__ float
convert<float> (float value)
{
  return value;
}

template <>
__device__ __forceinline__ __half
convert<__half> (float value)
{
  return __float2half_rn (value);
}

/* Rounds both operations as on the CPU, without fused multiply-add. */
template <typename Sample>
__device__ __forceinline__ Sample
normalize (const SpdlNormalizeJob &job, uint32_t channel, uint8_t value)
{
  return convert<Sample> (__fadd_rn (
      __fmul_rn ((float) value, job.scale[channel]), job.shift[channel]));
}

template <typename Sample, int channels>
__device__ __forceinline__ void
do_run (const SpdlNormalizeJob &job)
{
  constexpr int run = 16 / sizeof (Sample);
  constexpr int words = run * channels / 4;
  const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  union {
    uint32_t words[words];
    uint8_t bytes[run * channels];
  } in;

  if (thread >= spdl_normalize_count_threads (&job))
    return;
  const SpdlNormalizePlace place = spdl_normalize_place (&job, thread);
  const uint32_t *from = (const uint32_t *) (job.in + place.in);
#pragma unroll
  for (int i = 0; i < words; i++)
    in.words[i] = __ldg (from + i);
#pragma unroll
  for (int c = 0; c < channels; c++) {
    union {
      uint4 vector;
      Sample samples[run];
    } out;
#pragma unroll
    for (int i = 0; i < run; i++) {
      const uint8_t value =
          place.flipped ? in.bytes[(run - 1 - i) * channels + c]
                        : in.bytes[i * channels + c];

      out.samples[i] = normalize<Sample> (job, c, value);
    }
    *(uint4 *) ((Sample *) job.out + place.out + c * place.plane) = out.vector;
  }
}

/* Any number of channels and any width: one pixel per thread. */
template <typename Sample>
__device__ __forceinline__ void
do_pixel (const SpdlNormalizeJob &job)
{
  const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;

  if (thread >= spdl_normalize_count_threads (&job))
    return;
  const SpdlNormalizePlace place = spdl_normalize_place (&job, thread);
  for (uint32_t c = 0; c < job.n_channels; c++)
    ((Sample *) job.out)[place.out + c * place.plane] =
        normalize<Sample> (job, c, job.in[place.in + c]);
}

#define KERNEL(name, call)                                           \
  extern "C" __global__ void __launch_bounds__ (SPDL_NORMALIZE_BLOCK) \
  name (const __grid_constant__ SpdlNormalizeJob job)                \
  {                                                                  \
    call (job);                                                      \
  }

KERNEL (spdl_normalize_f32, do_pixel<float>)
KERNEL (spdl_normalize_f16, do_pixel<__half>)
KERNEL (spdl_normalize_f32_1, (do_run<float, 1>) )
KERNEL (spdl_normalize_f32_3, (do_run<float, 3>) )
KERNEL (spdl_normalize_f32_4, (do_run<float, 4>) )
KERNEL (spdl_normalize_f16_1, (do_run<__half, 1>) )
KERNEL (spdl_normalize_f16_3, (do_run<__half, 3>) )
KERNEL (spdl_normalize_f16_4, (do_run<__half, 4>) )
