/* gst-spdl: caps of tensors in host and device memory
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

G_BEGIN_DECLS

#define SPDL_CUDA_CAPS                                     \
  "other/tensors(" GST_SPDL_CAPS_FEATURE_CUDA_MEMORY "), " \
  "format=(string)static"

/* Returns: (transfer full): @caps with the memory feature for the device, or
 * for system memory */
GstCaps *spdl_cuda_caps_move (const GstCaps *caps, gboolean on_device);

/* Answers a caps query on @pad with the tensors that @other supports, in device
 * memory if @on_device is set, else in system memory. */
void spdl_cuda_caps_answer (
    GstPad *pad, GstPad *other, gboolean on_device, GstQuery *query);

G_END_DECLS
