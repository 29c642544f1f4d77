/* gst-spdl: elements of the core plugin
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

GST_ELEMENT_REGISTER_DECLARE (spdlaggregate);
GST_ELEMENT_REGISTER_DECLARE (spdlaugment);
GST_ELEMENT_REGISTER_DECLARE (spdlbatch);
GST_ELEMENT_REGISTER_DECLARE (spdlcache);
GST_ELEMENT_REGISTER_DECLARE (spdldisaggregate);
GST_ELEMENT_REGISTER_DECLARE (spdlmix);
GST_ELEMENT_REGISTER_DECLARE (spdlpack);
GST_ELEMENT_REGISTER_DECLARE (spdlpipe);
GST_ELEMENT_REGISTER_DECLARE (spdlroute);
GST_ELEMENT_REGISTER_DECLARE (spdlsink);
GST_ELEMENT_REGISTER_DECLARE (spdlsrc);

G_END_DECLS
