/* gst-spdl: kernels of augmentations, AVX2
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/augment/pixelkernels.h"

#ifdef SPDL_PIXEL_KERNELS_X86

/* The target attribute is set per function, so that the file needs no compiler
 * flags. */
#define LOOP __attribute__ ((target ("avx2")))
#define LOOP_KERNELS spdl_pixel_kernels_avx2
#define LOOP_NAME "avx2"
#define LOOP_INTERPOLATE interpolate_avx2
#include "plugins/core/augment/pixelloops.h"

#endif
