/* gst-spdl: streaming tasks in the calling thread
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_TASKS_H__
#define __SPDL_TASKS_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* What an element would do in a streaming thread of its own, it does in the
 * thread that calls spdl_tasks_run(). To be set as the pool of the tasks that
 * the element makes. One thread at a time. */

#define SPDL_TYPE_TASKS (spdl_tasks_get_type ())
G_DECLARE_FINAL_TYPE (SpdlTasks, spdl_tasks, SPDL, TASKS, GstTaskPool)

SpdlTasks *spdl_tasks_new (void);

/* Lets each task that is started take one turn. FALSE if there is none. */
gboolean spdl_tasks_run (SpdlTasks *self);

/* Ends all tasks, so that whoever joins them does not wait. */
void spdl_tasks_stop (SpdlTasks *self);

G_END_DECLS

#endif /* __SPDL_TASKS_H__ */
