/* gst-spdl-launch: end of a pipeline without spdlsink
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/loader/loadersink.h"

G_BEGIN_DECLS

/* Lets a loader run a pipeline whose data go to other sinks: it learns the end
 * of the stream from this object, which is in no pipeline. */

/* Returns: (transfer full) (floating) */
GstSpdlLoaderSink *end_sink_new (void);

/* Tells the loader that all sinks have got the end of the stream. */
void end_sink_end (GstSpdlLoaderSink *self);

G_END_DECLS
