/* gst-spdl: page-locked host memory
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/cuda/cudart.h"

G_BEGIN_DECLS

/* Devices copy by themselves only from memory that is locked in its place. The
 * process has one list of what is, and of what may be locked once somebody
 * wants to copy from it. Few and large ranges; all functions may be called from
 * any thread. */

typedef struct {
  const guint8 *base;
  gsize size;
} GstSpdlPinnedRange;

/* Memory that is locked already. */
SPDL_PRIVATE_API
void gst_spdl_pinned_add (gconstpointer base, gsize size);

/* Memory that stays where it is until gst_spdl_pinned_withdraw(): a mapping
 * that processes share, say. It is locked as a whole when the first upload
 * meets it, and not at all where there is none. */
SPDL_PRIVATE_API
void gst_spdl_pinned_announce (gpointer base, gsize size);

/* Before the memory is freed or unmapped, when nobody uses it any more; unlocks
 * what was announced. */
SPDL_PRIVATE_API
void gst_spdl_pinned_withdraw (gconstpointer base);

/* Whether @size bytes from @data on are in one range of the list, and locked.
 * @range: (out) (optional): all of that range. */
SPDL_PRIVATE_API
gboolean gst_spdl_pinned_find (const GstSpdlCudart *cudart, gint device_id,
    gconstpointer data, gsize size, GstSpdlPinnedRange *range);

G_END_DECLS
