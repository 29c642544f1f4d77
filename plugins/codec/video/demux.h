/* gst-spdl: demuxing of the video stream in a container
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "plugins/codec/video/packets.h"

G_BEGIN_DECLS

/* A demuxer element that stays open between files and pulls a file's bytes
 * without a copy. Its streaming task runs in the calling thread. Not
 * thread-safe. */

typedef struct _SpdlDemux SpdlDemux;

/* Returns NULL with @error set if the element cannot be created. */
SpdlDemux *spdl_demux_new (GstElementFactory *factory, GError **error);
void spdl_demux_free (SpdlDemux *self);

/* Returns the demuxer with the highest rank for @caps, which typefinding found.
 * Returns: (transfer full) (nullable) */
GstElementFactory *spdl_demux_find (GstCaps *caps);

/* Adds the packets of the first video stream in @file to @packets until
 * @packets has enough. The packets share the file's memory.
 * @name: name of the file format, for messages
 * @cancellable: (nullable)
 * Returns FALSE with @error set if there is no video or the file is corrupt.
 * @packets may contain packets even then. */
gboolean spdl_demux_run (SpdlDemux *self, GstBuffer *file, const gchar *name,
    SpdlPackets *packets, GCancellable *cancellable, GError **error);

G_END_DECLS
