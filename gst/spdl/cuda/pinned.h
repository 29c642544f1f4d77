/* gst-spdl: registry of page-locked host memory
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/cuda/cudart.h"

G_BEGIN_DECLS
SPDL_BEGIN_PRIVATE_API

/* Devices can copy asynchronously only from page-locked memory. This list
 * contains the locked ranges of the process, and those that are locked on
 * demand. It is meant for few, large ranges. All functions may be called from
 * any thread. */

typedef struct {
  const guint8 *base;
  gsize size;
} GstSpdlPinnedRange;

/* Adds memory that is locked already. */
void gst_spdl_pinned_add (gconstpointer base, gsize size);

/* Adds memory that stays at its address until gst_spdl_pinned_withdraw(), such
 * as a shared mapping. The whole range is locked by the first upload from
 * it. */
void gst_spdl_pinned_announce (gpointer base, gsize size);

/* Removes a range before its memory is freed or unmapped, when it is not used
 * any more. Unlocks memory that was announced. */
void gst_spdl_pinned_withdraw (gconstpointer base);

/* Returns TRUE if @size bytes at @data lie in one locked range of the list.
 * @range: (out) (optional): the whole range */
gboolean gst_spdl_pinned_find (const GstSpdlCudart *cudart, gint device_id,
    gconstpointer data, gsize size, GstSpdlPinnedRange *range);

SPDL_END_PRIVATE_API
G_END_DECLS
