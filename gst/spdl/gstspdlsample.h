/* gst-spdl: failed results of spdlpipe's signal process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __GST_SPDL_SAMPLE_H__
#define __GST_SPDL_SAMPLE_H__

#include <gst/spdl/spdl-prelude.h>

G_BEGIN_DECLS

GST_SPDL_API
GstSample *gst_spdl_sample_new_failed (const gchar *message);

GST_SPDL_API
const gchar *gst_spdl_sample_get_failure (GstSample *sample);

G_END_DECLS

#endif /* __GST_SPDL_SAMPLE_H__ */
