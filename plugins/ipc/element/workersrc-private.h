/* gst-spdl: spdlworkersrc's inside, which its files share
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_WORKER_SRC_PRIVATE_H__
#define __SPDL_WORKER_SRC_PRIVATE_H__

#include <gst/base/gstpushsrc.h>
#include <gst/spdl/spdl.h>

#include "gst/spdl/stage/plainstats.h"
#include "plugins/ipc/element/link.h"
#include "plugins/ipc/element/restart.h"
#include "plugins/ipc/element/workersettings.h"

G_BEGIN_DECLS

/* gstspdlworkersrc.c is the element: properties and states.
 * workersrcprocess.c is its process: one, and another in its place.
 * workersrcstream.c is what comes from it, and goes on behind a death */

#define GST_TYPE_SPDL_WORKER_SRC_ELEMENT \
  (gst_spdl_worker_src_element_get_type ())
G_DECLARE_FINAL_TYPE (GstSpdlWorkerSrcElement, gst_spdl_worker_src_element, GST,
    SPDL_WORKER_SRC_ELEMENT, GstPushSrc)

struct _GstSpdlWorkerSrcElement {
  GstPushSrc parent;

  GstSpdlPlainStats *stats;
  SpdlWorkerSettings settings; /* under the object's lock */
  GStrv classes;               /* (nullable): in use; under the object's lock */

  /* Of a run, from READY to PAUSED on. */
  SpdlWorkerSettings run;
  guint32 base;
  guint n_restarts; /* atomic */

  /* The stream's. */
  SpdlRestart restart; /* where restarts are allowed */
  GstMessage *error;   /* nullable: to be posted at the end */
  gboolean told;       /* that slabs are short */
  gboolean has_pushed; /* a buffer of this run */

  SpdlMutex lock;
  /* Under it: */
  SpdlLink *link; /* nullable */
  gboolean flushing;
  GPtrArray *figures; /* nullable: the last of a worker that is gone */
};

/* The process */

/* Of a run that begins: starts one, and waits until its pipeline plays. FALSE
 * if it does not; why has been posted. */
gboolean gst_spdl_worker_src_element_open (GstSpdlWorkerSrcElement *self);
/* Of a run that ends. */
void gst_spdl_worker_src_element_close (GstSpdlWorkerSrcElement *self);

/* Another one in its place, which begins at @state.
 *
 * @failure: (out) (transfer full): as in spdl_link_wait()
 * @why: (out) (transfer full): likewise */
SpdlLinkStatus
gst_spdl_worker_src_element_reopen (GstSpdlWorkerSrcElement *self,
    const gchar *state, GstMessage **failure, gchar **why);

void gst_spdl_worker_src_element_set_flushing (
    GstSpdlWorkerSrcElement *self, gboolean flushing);

/* The one that is set now. */
void
gst_spdl_worker_src_element_tell_cpu_budget (GstSpdlWorkerSrcElement *self);

/* The figures of the worker's elements, too, from its sources to its end. */
void gst_spdl_worker_src_element_add_stages (
    GstSpdlWorkerSrcElement *self, GstStructure *s);

/* An error: @why, and @when it died. */
void gst_spdl_worker_src_element_post_death (
    GstSpdlWorkerSrcElement *self, const gchar *why, const gchar *when);

/* The stream: GstPushSrc's. */
GstFlowReturn
gst_spdl_worker_src_element_create (GstPushSrc *src, GstBuffer **buffer);

G_END_DECLS

#endif /* __SPDL_WORKER_SRC_PRIVATE_H__ */
