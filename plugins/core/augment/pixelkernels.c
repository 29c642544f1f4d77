/* gst-spdl: kernels of augmentations for any CPU, and the selection of a set
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/augment/pixelkernels.h"

/* Compiled with the instructions that all CPUs of the architecture have, such
 * as SSE2 and NEON. */
#define LOOP
#define LOOP_KERNELS spdl_pixel_kernels_c
#define LOOP_NAME "c"
#include "plugins/core/augment/pixelloops.h"

const SpdlPixelKernels *
spdl_pixel_kernels_find (const gchar *name)
{
#ifdef SPDL_PIXEL_KERNELS_X86
  if (g_str_equal (name, "avx2"))
    return __builtin_cpu_supports ("avx2") ? &spdl_pixel_kernels_avx2 : NULL;
#endif
  /* The names of the resizer's sets. */
  if (g_str_equal (name, "c") || g_str_equal (name, "sse2") ||
      g_str_equal (name, "neon"))
    return &spdl_pixel_kernels_c;
  return NULL;
}

static const SpdlPixelKernels *
choose_kernels (void)
{
  const gchar *name = g_getenv ("SPDL_KERNELS");
  const SpdlPixelKernels *set = name ? spdl_pixel_kernels_find (name) : NULL;

  if (!set)
    set = spdl_pixel_kernels_find ("avx2");
  return set ? set : &spdl_pixel_kernels_c;
}

const SpdlPixelKernels *
spdl_pixel_kernels_get (void)
{
  static gsize chosen;

  if (g_once_init_enter (&chosen))
    g_once_init_leave (&chosen, (gsize) choose_kernels ());
  return (const SpdlPixelKernels *) chosen;
}
