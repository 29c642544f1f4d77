/* gst-spdl: number of usable CPUs and their load
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __GST_SPDL_CPUS_H__
#define __GST_SPDL_CPUS_H__

#include <gst/spdl/spdl-prelude.h>

G_BEGIN_DECLS

GST_SPDL_API
guint gst_spdl_get_num_cores (void);

GST_SPDL_API
GstStructure *gst_spdl_dup_cpu_stats (void);

GST_SPDL_API
void gst_spdl_set_background (gboolean background);

G_END_DECLS

#endif /* __GST_SPDL_CPUS_H__ */
