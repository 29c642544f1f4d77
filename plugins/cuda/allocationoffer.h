/* gst-spdl: page-locked memory for who makes the batches
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_CUDA_OFFER_H__
#define __SPDL_CUDA_OFFER_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* Answers an allocation query: with @pinned, and where a pool is asked for,
 * with one of at least @n_buffers batches. */
void spdl_cuda_offer (GstQuery *query, GstAllocator *pinned, guint n_buffers);

G_END_DECLS

#endif /* __SPDL_CUDA_OFFER_H__ */
