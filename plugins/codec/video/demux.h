/* gst-spdl: reads the video stream of a container
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "plugins/codec/video/packets.h"

G_BEGIN_DECLS

/* A demuxer element that is held open, and pulls a file's bytes where they lie.
 * What it does in a streaming thread it does in the calling one. One thread at
 * a time. */

typedef struct _SpdlDemux SpdlDemux;

/* NULL with @error set if it cannot be made. */
SpdlDemux *spdl_demux_new (GstElementFactory *factory, GError **error);
void spdl_demux_free (SpdlDemux *self);

/* The demuxer for what typefind calls @caps.
 *
 * Returns: (transfer full) (nullable) */
GstElementFactory *spdl_demux_find (GstCaps *caps);

/* Adds the packets of @file's first video to @packets, which share its memory,
 * until @packets says that there are enough. FALSE with @error set if it has
 * none, or is broken: then there may be packets all the same. @name: what the
 * file is, for the error. @cancellable: (nullable) */
gboolean spdl_demux_run (SpdlDemux *self, GstBuffer *file, const gchar *name,
    SpdlPackets *packets, GCancellable *cancellable, GError **error);

G_END_DECLS
