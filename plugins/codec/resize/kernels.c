/* gst-spdl: selection of the resizer's kernels
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/resize/kernels.h"

#include <string.h>

/* Best first. */
static const SpdlKernels *const sets[] = {
#ifdef SPDL_KERNELS_X86
  &spdl_kernels_avx2,
  &spdl_kernels_sse2,
#endif
#ifdef SPDL_KERNELS_NEON
  &spdl_kernels_neon,
#endif
  &spdl_kernels_c,
};

static gboolean
can_run (const SpdlKernels *set)
{
#ifdef SPDL_KERNELS_X86
  if (set == &spdl_kernels_avx2)
    return __builtin_cpu_supports ("avx2") != 0;
  if (set == &spdl_kernels_sse2)
    return __builtin_cpu_supports ("sse2") != 0;
#endif
  return TRUE;
}

const SpdlKernels *
spdl_kernels_find (const gchar *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (sets); i++)
    if (strcmp (sets[i]->name, name) == 0)
      return can_run (sets[i]) ? sets[i] : NULL;
  return NULL;
}

static const SpdlKernels *
choose_kernels (void)
{
  const gchar *name = g_getenv ("SPDL_KERNELS");
  const SpdlKernels *set = name ? spdl_kernels_find (name) : NULL;

  for (guint i = 0; !set; i++)
    if (can_run (sets[i]))
      set = sets[i];
  return set;
}

const SpdlKernels *
spdl_kernels_get (void)
{
  static gsize chosen;

  if (g_once_init_enter (&chosen))
    g_once_init_leave (&chosen, (gsize) choose_kernels ());
  return (const SpdlKernels *) chosen;
}
