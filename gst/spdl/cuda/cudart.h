/* gst-spdl: run-time loader of the CUDA Runtime
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

/* Adds a folder whose subfolders may contain the runtime as lib/libcudart.so.*,
 * like NVIDIA's Python packages. Must be called before the runtime is first
 * used. */
SPDL_PRIVATE_API
void gst_spdl_cudart_add_folder (const gchar *folder);

/* Returns the functions of the runtime, which is loaded at the first call: the
 * file that GST_SPDL_CUDART names, otherwise one that is already loaded in the
 * process (for example by PyTorch), otherwise one in the added folders,
 * otherwise the newest one of the system. It is never unloaded. Callable from
 * any thread. Returns NULL with @error set if there is none; the next call
 * tries again. */
SPDL_PRIVATE_API
const GstSpdlCudart *gst_spdl_cudart_get (GError **error);

/* Checks that the device and a driver exist. Otherwise sets @error to a
 * sentence that names what is missing. */
SPDL_PRIVATE_API
gboolean gst_spdl_cudart_check_device (
    const GstSpdlCudart *self, gint device_id, GError **error);

/* Returns TRUE if @code is success. Otherwise sets @error and resets the last
 * error of the thread, which other code may check. */
SPDL_PRIVATE_API
gboolean gst_spdl_cudart_check (const GstSpdlCudart *self, cudaError_t code,
    const gchar *what, GError **error);

/* Makes a device the current one of the thread, which may be a thread of the
 * trainer. Returns the value for gst_spdl_cudart_leave(). */
SPDL_PRIVATE_API
gint gst_spdl_cudart_enter (const GstSpdlCudart *self, gint device_id);
SPDL_PRIVATE_API
void gst_spdl_cudart_leave (const GstSpdlCudart *self, gint previous);

G_END_DECLS
