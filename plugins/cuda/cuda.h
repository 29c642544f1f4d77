/* gst-spdl: the elements of the CUDA plugin
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_CUDA_H__
#define __SPDL_CUDA_H__

#include <gst/gst.h>

G_BEGIN_DECLS

GST_ELEMENT_REGISTER_DECLARE (spdlcudanormalize)
GST_ELEMENT_REGISTER_DECLARE (spdlcudaupload)

G_END_DECLS

#endif /* __SPDL_CUDA_H__ */
