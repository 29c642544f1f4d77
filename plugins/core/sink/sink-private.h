/* gst-spdl: spdlsink's inside, which its files share
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_SINK_PRIVATE_H__
#define __SPDL_SINK_PRIVATE_H__

#include <gst/app/gstappsink.h>
#include <gst/spdl/spdl.h>

#include "gst/spdl/loader/outlet.h"
#include "gst/spdl/stage/plainstats.h"
#include "plugins/common/tallies.h"
#include "plugins/core/outcome.h"
#include "plugins/core/sink/arrivals.h"

G_BEGIN_DECLS

/* gstspdlsink.c is the element: properties and states.
 * sinkintake.c is what comes down the stream.
 * sinkpulls.c is what is taken: by the action signals, or by a loader. */

#define GST_TYPE_SPDL_SINK_ELEMENT (gst_spdl_sink_element_get_type ())
G_DECLARE_FINAL_TYPE (GstSpdlSinkElement, gst_spdl_sink_element, GST,
    SPDL_SINK_ELEMENT, GstAppSink)

struct _GstSpdlSinkElement {
  GstAppSink parent;

  GstSpdlPlainStats *stats;
  /* Under the statistics' lock. */
  gint n_waiting; /* rendered and not pulled */

  SpdlMutex tallies_lock;
  SpdlTallies tallies; /* under it */
  gboolean warned;     /* of too many gaps */

  /* Where a loader pulls. Then all of appsink is passed by. */
  gboolean is_outlet;
  SpdlArrivals arrivals;
  GstCaps *caps; /* under the stream lock */

  /* Likewise. */
  SpdlOutcome outcome;
  gboolean has_ended; /* with an error: nothing is taken any more */
};

/* Lock held. */
static inline void
gst_spdl_sink_element_set_waiting (
    GstSpdlSinkElement *self, gint n, guint64 now)
{
  self->n_waiting = n;
  spdl_meter_set_occupied (&self->stats->meter, n > 0, now);
}

/* What the classes have for it. */

void gst_spdl_sink_element_init_intake (GstBaseSinkClass *base_class);
void gst_spdl_sink_element_init_pulls (GstAppSinkClass *app_class);
void gst_spdl_sink_element_outlet_init (GstSpdlOutletInterface *iface);

G_END_DECLS

#endif /* __SPDL_SINK_PRIVATE_H__ */
