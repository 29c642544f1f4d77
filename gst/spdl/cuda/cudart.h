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

/* Adds a folder whose subfolders may have the runtime as lib/libcudart.so.*, as
 * NVIDIA's Python packages have it. To be called before the runtime is first
 * used. */
SPDL_PRIVATE_API
void gst_spdl_cudart_add_folder (const gchar *folder);

/* Gets the runtime's functions, and loads the runtime the first time: the file
 * that GST_SPDL_CUDART names, else one that the process has already (PyTorch's,
 * say), else one of the added folders, else the newest one of the system. It
 * stays loaded. On any thread. Returns NULL with @error set if there is none; a
 * later call tries again. */
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
