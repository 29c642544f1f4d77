/* gst-spdl: samples on their way between two processes
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/engine/visibility.h"
#include "gst/spdl/process/processwatch.h"
#include "gst/spdl/process/slab.h"

G_BEGIN_DECLS

/* One end of a connection, whose other end is in another process. A sample is
 * written into a slab: the bytes of its buffers, then its text, which is its
 * caps and metas. The socket (SOCK_SEQPACKET) only carries where the text is.
 * Bytes that lie in a slab already, of the other process or of a third one, are
 * not copied. They may be sent back only in the response to the message that
 * brought them.
 *
 * One thread at a time uses a link. Samples that came through it may outlive
 * it. */
typedef struct {
  int socket;
  SpdlSlabs own;     /* slabs that this process writes */
  SpdlSlabs other;   /* slabs that the other process writes */
  GArray *forwarded; /* slabs of third processes that the other one mapped */
  GByteArray *text;
  GArray *origins; /* of the buffers of the sample that is sent */
  /* The last caps that came, and their text: most samples have the same. */
  GByteArray *caps_text;
  GstCaps *caps;
  guint64 cpu_time; /* of the other process when it sent the last sample, ns */
  SpdlProcessWatch watch; /* of the other process, if it is a worker */
} SpdlProcessLink;

/* @socket: (transfer full) */
SPDL_PRIVATE_API
SpdlProcessLink *gst_spdl_process_link_new (int socket);
SPDL_PRIVATE_API
void gst_spdl_process_link_free (SpdlProcessLink *self);

/* Returns: (transfer full) (nullable): a buffer of shared memory, which is sent
 * without a copy if it is the only one of its sample; NULL if there is no
 * memory */
SPDL_PRIVATE_API
GstBuffer *gst_spdl_process_link_alloc (SpdlProcessLink *self, gsize size);

/* Sends an item, a group, a failure, or, with NULL, no result. Waits while the
 * socket is full.
 *
 * @sample: (transfer full) (nullable)
 * Returns FALSE with @error set: G_IO_ERROR_CLOSED if the other process has
 * ended, G_IO_ERROR_TIMED_OUT if it was killed, because it made no progress */
SPDL_PRIVATE_API
gboolean gst_spdl_process_link_send (
    SpdlProcessLink *self, GstSample *sample, GError **error);

/* Called from time to time while a worker owes an answer. The first call after
 * @restart begins to count.
 *
 * Returns: (transfer full) (nullable): what happened to the worker, if it made
 * no progress for the timeout and was killed */
SPDL_PRIVATE_API
gchar *gst_spdl_process_link_look (SpdlProcessLink *self, gboolean restart);

/* Waits for a sample.
 *
 * @sample: (out) (transfer full) (nullable)
 * Returns FALSE with @error set: G_IO_ERROR_CLOSED if the other process has
 * ended */
SPDL_PRIVATE_API
gboolean gst_spdl_process_link_receive (
    SpdlProcessLink *self, GstSample **sample, GError **error);

G_END_DECLS
