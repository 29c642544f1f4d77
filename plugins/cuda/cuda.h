/* gst-spdl: element registration of the CUDA plugin
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>
#include <gst/spdl/spdl.h>

G_BEGIN_DECLS

GST_ELEMENT_REGISTER_DECLARE (spdlcudanormalize)
GST_ELEMENT_REGISTER_DECLARE (spdlcudaupload)

#define SPDL_CUDA_CAPS                                     \
  "other/tensors(" GST_SPDL_CAPS_FEATURE_CUDA_MEMORY "), " \
  "format=(string)static"

/* Returns: (transfer full): @caps with the memory feature for the device, or
 * for system memory */
static inline GstCaps *
spdl_cuda_caps_move (const GstCaps *caps, gboolean on_device)
{
  GstCaps *moved = gst_caps_copy (caps);

  gst_caps_set_features_simple (moved,
      on_device
          ? gst_caps_features_new (GST_SPDL_CAPS_FEATURE_CUDA_MEMORY, NULL)
          : NULL);
  return moved;
}

/* Answers a caps query on @pad with the tensors that @other supports, in device
 * memory if @on_device is set, else in system memory. */
static inline void
spdl_cuda_caps_answer (
    GstPad *pad, GstPad *other, gboolean on_device, GstQuery *query)
{
  g_autoptr (GstCaps) own = gst_pad_get_pad_template_caps (pad);
  g_autoptr (GstCaps) theirs = gst_pad_peer_query_caps (other, NULL);
  g_autoptr (GstCaps) moved = spdl_cuda_caps_move (theirs, on_device);
  g_autoptr (GstCaps) both = gst_caps_intersect (moved, own);
  GstCaps *filter;

  gst_query_parse_caps (query, &filter);
  if (filter) {
    GstCaps *some =
        gst_caps_intersect_full (filter, both, GST_CAPS_INTERSECT_FIRST);

    gst_query_set_caps_result (query, some);
    gst_caps_unref (some);
  } else {
    gst_query_set_caps_result (query, both);
  }
}

G_END_DECLS
