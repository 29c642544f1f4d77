/* gst-spdl: element registration of the CUDA plugin
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

GST_ELEMENT_REGISTER_DECLARE (spdlcudanormalize)
GST_ELEMENT_REGISTER_DECLARE (spdlcudaupload)

G_END_DECLS
