/* gst-spdl: index computation of the normalization kernels
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <stddef.h>
#include <stdint.h>

/* This header is valid C and CUDA, so that the index computation can be tested
 * on the CPU.
 *
 * A job is a kernel launch that converts interleaved uint8 images to planar
 * floating point,
 *
 *     out = in * scale + shift
 *
 * with both operations rounded as in spdlbatch. A thread processes a run of
 * pixels in a row. Runs are aligned for vector accesses of 4 to 16 bytes. */

#ifdef __CUDACC__
#define SPDL_NORMALIZE_INLINE static __host__ __device__ __forceinline__
#else
#define SPDL_NORMALIZE_INLINE static inline
#endif

#define SPDL_NORMALIZE_MAX_CHANNELS 16
#define SPDL_NORMALIZE_MAX_IMAGES 2048
/* Maximum number of threads in a job, and threads per block. */
#define SPDL_NORMALIZE_MAX_THREADS 0x7fffff00u
#define SPDL_NORMALIZE_BLOCK 256

typedef struct {
  const uint8_t *in;
  void *out;
  uint32_t n_images, width, height, n_channels;
  uint32_t run; /* pixels per run; divides the width */
  float scale[SPDL_NORMALIZE_MAX_CHANNELS];
  float shift[SPDL_NORMALIZE_MAX_CHANNELS];
  uint32_t flips[SPDL_NORMALIZE_MAX_IMAGES / 32]; /* a bit per image */
} SpdlNormalizeJob;

typedef struct {
  uint64_t in;    /* sample where the input run starts */
  uint64_t out;   /* sample in plane 0 where the output run starts */
  uint64_t plane; /* samples per plane */
  int flipped;    /* the input run is read in reverse order */
} SpdlNormalizePlace;

SPDL_NORMALIZE_INLINE uint32_t
spdl_normalize_count_threads (const SpdlNormalizeJob *job)
{
  return job->n_images * job->height * (job->width / job->run);
}

SPDL_NORMALIZE_INLINE SpdlNormalizePlace
spdl_normalize_place (const SpdlNormalizeJob *job, uint32_t thread)
{
  const uint32_t n_runs = job->width / job->run;
  const uint32_t row = thread / n_runs;
  const uint32_t x = (thread - row * n_runs) * job->run;
  const uint32_t image = row / job->height;
  const uint32_t y = row - image * job->height;
  SpdlNormalizePlace place;

  place.flipped = job->flips[image / 32] >> image % 32 & 1;
  place.plane = (uint64_t) job->width * job->height;
  place.in = ((uint64_t) row * job->width +
                 (place.flipped ? job->width - job->run - x : x)) *
             job->n_channels;
  place.out = (uint64_t) image * job->n_channels * place.plane +
              (uint64_t) y * job->width + x;
  return place;
}

/* Returns the input offset of pixel @i of the output run, relative to the
 * place's `in`. */
SPDL_NORMALIZE_INLINE uint32_t
spdl_normalize_source (
    const SpdlNormalizeJob *job, const SpdlNormalizePlace *place, uint32_t i)
{
  return (place->flipped ? job->run - 1 - i : i) * job->n_channels;
}

/* Returns the name of the kernel, and sets the run that it requires: 16 bytes
 * of output if the width allows.
 * @half: output is float16 */
static inline const char *
spdl_normalize_choose (
    uint32_t n_channels, uint32_t width, int half, uint32_t *run)
{
  static const char *const names[2][5] = {
    { "spdl_normalize_f32", "spdl_normalize_f32_1", NULL,
        "spdl_normalize_f32_3", "spdl_normalize_f32_4" },
    { "spdl_normalize_f16", "spdl_normalize_f16_1", NULL,
        "spdl_normalize_f16_3", "spdl_normalize_f16_4" },
  };
  const uint32_t longest = half ? 8 : 4;

  *run = 1;
  if (n_channels > 4 || !names[0][n_channels] || width % longest != 0)
    return names[half][0];
  *run = longest;
  return names[half][n_channels];
}
