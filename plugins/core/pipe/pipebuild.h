/* gst-spdl: the elements of a chain, made from its description
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_PIPE_BUILD_H__
#define __SPDL_PIPE_BUILD_H__

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct {
  GstElement *bin; /* floating */
  GstPad *first;   /* where the chain begins and ends; owned */
  GstPad *last;
} SpdlPipeEnds;

/* Makes the elements of @chain, in gst-launch's syntax, and finds its ends.
 * FALSE with @error set where they cannot be made, are not linked from one end
 * to the other, or have pads that come only with data. */
gboolean
spdl_pipe_build (const gchar *chain, SpdlPipeEnds *ends, GError **error);

/* Whether no element in @bin, which plays, has a thread of its own; else @error
 * names it. */
gboolean spdl_pipe_check_threads (GstElement *bin, GError **error);

G_END_DECLS

#endif /* __SPDL_PIPE_BUILD_H__ */
