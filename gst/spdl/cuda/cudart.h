/* gst-spdl: the CUDA Runtime, loaded on first use
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "gst/spdl/cuda/cudaapi.h"
#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* The runtime's functions, which it loads the first time: what GST_SPDL_CUDART
 * names, else one that the process has already (PyTorch's, say), else the
 * newest that is found. It stays loaded. On any thread. Returns NULL with
 * @error set if there is none; a later call tries again. */
SPDL_PRIVATE_API
const GstSpdlCudart *gst_spdl_cudart_get (GError **error);

/* Whether there is a device of that number, and a driver. Else @error says in a
 * sentence what is missing. */
SPDL_PRIVATE_API
gboolean gst_spdl_cudart_check_device (
    const GstSpdlCudart *self, gint device_id, GError **error);

/* Whether @code is no error. Else @error says what could not be done. The
 * thread's last error, which others look at, is taken back. */
SPDL_PRIVATE_API
gboolean gst_spdl_cudart_check (const GstSpdlCudart *self, cudaError_t code,
    const gchar *what, GError **error);

/* Makes a device the thread's current one, for as long as it takes: the thread
 * may be a trainer's. Returns what to leave with. */
SPDL_PRIVATE_API
gint gst_spdl_cudart_enter (const GstSpdlCudart *self, gint device_id);
SPDL_PRIVATE_API
void gst_spdl_cudart_leave (const GstSpdlCudart *self, gint previous);

G_END_DECLS
