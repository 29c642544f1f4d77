/* gst-spdl: which CPUs a worker process may use
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_AFFINITY_H__
#define __SPDL_AFFINITY_H__

#include <gst/gst.h>
#include <sched.h>

G_BEGIN_DECLS

/* Reads a list of CPUs as taskset's: `0,2-5`. FALSE with @error set, in the
 * domain of GST_RESOURCE_ERROR, if it is none. */
gboolean
spdl_affinity_parse (const gchar *text, cpu_set_t *cpus, GError **error);

G_END_DECLS

#endif /* __SPDL_AFFINITY_H__ */
