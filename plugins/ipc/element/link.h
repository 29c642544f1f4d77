/* gst-spdl: a running worker process, and what comes from it
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/ipc/element/letter.h"
#include "plugins/ipc/wire/order.h"

G_BEGIN_DECLS

/* One process from its start to its end, and a thread here that starts it,
 * reads what it sends, and learns how it ended. What is for the stream waits as
 * letters, of which there are no more than slabs and SPDL_ORDER_MAX_EVENTS;
 * what is for the bus is posted at once. */
typedef struct _SpdlLink SpdlLink;

/* Starts the thread, and by it the process.
 *
 * @element: which posts messages; outlives the link
 * @environment: (transfer full): of the process
 * @order: copied into a message
 * @base: what is added to the numbers of its sources */
SpdlLink *spdl_link_new (GstElement *element, GStrv environment,
    const SpdlOrder *order, guint32 base);
/* Ends the process: asks it to stop, so that it reports, and kills it if it has
 * not done so after a while. */
void spdl_link_stop (SpdlLink *self);
/* Stops it; what waits is given back. */
void spdl_link_free (SpdlLink *self);

typedef enum {
  SPDL_LINK_PLAYS,
  SPDL_LINK_FAILED, /* its pipeline cannot */
  SPDL_LINK_DIED,
  SPDL_LINK_INTERRUPTED,
} SpdlLinkStatus;

/* Waits until the worker's pipeline plays.
 *
 * @failure: (out) (transfer full): the message to post, if it has failed
 * @why: (out) (transfer full): how it died, if it has */
SpdlLinkStatus
spdl_link_wait (SpdlLink *self, GstMessage **failure, gchar **why);

/* Returns: (transfer full) (nullable): the class names of the sources of a
 * pipeline that plays */
GStrv spdl_link_dup_classes (SpdlLink *self);

/* Waits for what comes next. Returns: (transfer full): NULL if it was
 * interrupted */
SpdlLetter *spdl_link_take (SpdlLink *self);

/* From any thread: whoever waits does not, and nor do later calls, until it is
 * taken back. */
void spdl_link_interrupt (SpdlLink *self, gboolean interrupted);

/* Where the process keeps a budget, another one; at once. */
void spdl_link_set_cpu_budget (SpdlLink *self, gdouble budget);

guint spdl_link_get_pid (SpdlLink *self);

/* The figures of the worker's elements: of now, or the last that it told.
 *
 * Returns: (transfer full) (element-type GstStructure) */
GPtrArray *spdl_link_dup_figures (SpdlLink *self);

G_END_DECLS
