/* gst-spdl: page-locked memory for who makes the batches
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/cuda/allocationoffer.h"

#include <gst/spdl/spdl.h>

/* Tensors begin at multiples of so many bytes, in spdlbatch's memory, too. */
#define ALIGNMENT 64

/* What a batch of such caps needs; 0 if that is not known. */
static gsize
get_size (const GstCaps *caps)
{
  GstSpdlTensorsInfo info;
  gsize size = 0;

  if (!caps || !gst_caps_is_fixed (caps) ||
      !gst_spdl_tensors_info_from_caps (&info, caps, NULL))
    return 0;
  for (guint i = 0; i < info.num_tensors; i++) {
    const gsize one = gst_spdl_tensor_info_get_size (&info.tensors[i]);

    if (one > G_MAXSSIZE / GST_SPDL_MAX_TENSORS)
      return 0;
    size += (one + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }
  return size;
}

static void
add_pool (GstQuery *query, GstCaps *caps, gsize size, guint n_buffers,
    GstAllocator *pinned, const GstAllocationParams *params)
{
  GstBufferPool *pool = gst_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);

  gst_buffer_pool_config_set_params (config, caps, size, n_buffers, 0);
  gst_buffer_pool_config_set_allocator (config, pinned, params);
  gst_buffer_pool_set_config (pool, config);
  gst_query_add_allocation_pool (query, pool, size, n_buffers, 0);
  gst_object_unref (pool);
}

void
spdl_cuda_offer (GstQuery *query, GstAllocator *pinned, guint n_buffers)
{
  GstAllocationParams params;
  gboolean need_pool;
  GstCaps *caps;
  gsize size;

  gst_query_parse_allocation (query, &caps, &need_pool);
  size = get_size (caps);
  gst_allocation_params_init (&params);
  params.align = ALIGNMENT - 1;
  gst_query_add_allocation_param (query, pinned, &params);
  /* A pool counts in 32 bits. */
  if (need_pool && size > 0 && size <= G_MAXUINT32)
    add_pool (query, caps, size, n_buffers, pinned, &params);
}
