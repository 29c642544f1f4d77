/* gst-spdl: the elements of the codec plugin
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_CODEC_H__
#define __SPDL_CODEC_H__

#include <gst/gst.h>

G_BEGIN_DECLS

GST_ELEMENT_REGISTER_DECLARE (spdldecode);

G_END_DECLS

#endif /* __SPDL_CODEC_H__ */
