/* gst-spdl: extra fields that a function gives to an item
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* A function that chooses a branch returns no sample. The item keeps the extra
 * fields that it leaves with its sample. */

static inline GQuark
spdl_new_extra_quark (void)
{
  return g_quark_from_static_string ("spdl-new-extra");
}

/* @extra: (transfer full) */
static inline void
spdl_sample_set_new_extra (GstSample *sample, GstStructure *extra)
{
  gst_mini_object_set_qdata (GST_MINI_OBJECT (sample), spdl_new_extra_quark (),
      extra, (GDestroyNotify) gst_structure_free);
}

/* Returns: (transfer full) (nullable) */
static inline GstStructure *
spdl_sample_steal_new_extra (GstSample *sample)
{
  return gst_mini_object_steal_qdata (
      GST_MINI_OBJECT (sample), spdl_new_extra_quark ());
}

G_END_DECLS
