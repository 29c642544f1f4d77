/* gst-spdl: an application's function, which the signal process calls
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_PIPE_FUNCTION_H__
#define __SPDL_PIPE_FUNCTION_H__

#include <gst/spdl/spdl.h>

G_BEGIN_DECLS

/* Calls the handler of the signal @signal_id, GstSample (GstSample), with the
 * item, or the whole group, of @task, and gives @task what it returns. */
gboolean spdl_pipe_function_process (
    GstSpdlStage *stage, guint signal_id, GstSpdlTask *task, GError **error);
gboolean spdl_pipe_function_process_group (
    GstSpdlStage *stage, guint signal_id, GstSpdlTask *task, GError **error);

G_END_DECLS

#endif /* __SPDL_PIPE_FUNCTION_H__ */
