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
SPDL_BEGIN_PRIVATE_API

/* Adds a folder whose subfolders may contain the runtime as lib/libcudart.so.*,
 * like NVIDIA's Python packages. Must be called before the runtime is first
 * used. */
void gst_spdl_cudart_add_folder (const gchar *folder);

/* Returns the functions of the runtime, which is loaded at the first call: the
 * file that GST_SPDL_CUDART names, otherwise one that is already loaded in the
 * process (for example by PyTorch), otherwise one in the added folders,
 * otherwise the newest one of the system. It is never unloaded. Callable from
 * any thread. Returns NULL with @error set if there is none; the next call
 * tries again. */
const GstSpdlCudart *gst_spdl_cudart_get (GError **error);

/* Checks that the device and a driver exist. Otherwise sets @error to a
 * sentence that names what is missing. */
gboolean gst_spdl_cudart_check_device (
    const GstSpdlCudart *self, gint device_id, GError **error);

/* Returns TRUE if @code is success. Otherwise sets @error and resets the last
 * error of the thread, which other code may check. */
gboolean gst_spdl_cudart_check (const GstSpdlCudart *self, cudaError_t code,
    const gchar *what, GError **error);

/* The following functions make a device the current one of a thread. They also
 * allow calls such as cudaMalloc() while another thread of the trainer captures
 * a CUDA graph, which would otherwise fail and invalidate the capture.
 *
 * Since CUDA 12, cudaSetDevice() creates a context, which takes device memory.
 * A thread that has not chosen a device has device 0, and to restore it creates
 * a context on a device that the process may not use at all. */

typedef struct {
  gint device_id; /* -1: unchanged */
  enum cudaStreamCaptureMode mode;
} GstSpdlCudartSaved;

/* For a thread that may be one of the trainer. Returns the value for
 * gst_spdl_cudart_leave(). */
GstSpdlCudartSaved
gst_spdl_cudart_enter (const GstSpdlCudart *self, gint device_id);
void
gst_spdl_cudart_leave (const GstSpdlCudart *self, GstSpdlCudartSaved saved);

/* For a thread of the pipeline; nothing is restored. */
void gst_spdl_cudart_join (const GstSpdlCudart *self, gint device_id);

/* Runs a function in a new thread, or in this thread if the device is current
 * in it, and waits for its end. For rare calls in any thread. */
void gst_spdl_cudart_call (const GstSpdlCudart *self, gint device_id,
    void (*func) (gpointer user_data), gpointer user_data);

SPDL_END_PRIVATE_API
G_END_DECLS
