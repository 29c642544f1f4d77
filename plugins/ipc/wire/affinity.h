/* gst-spdl: CPU affinity of a worker process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Lists of CPUs are written as for taskset: `0,2-5`. Errors are in the domain
 * of GST_RESOURCE_ERROR. */

/* Returns FALSE with @error set if @text is not such a list. */
gboolean spdl_affinity_check (const gchar *text, GError **error);

/* Restricts the calling thread, and threads that it starts from now on, to
 * these CPUs. Returns FALSE with @error set if that fails. */
gboolean spdl_affinity_apply (const gchar *text, GError **error);

G_END_DECLS
