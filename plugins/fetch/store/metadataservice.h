/* gst-spdl: requests to services that issue credentials
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <libsoup/soup.h>

G_BEGIN_DECLS

/* A small synchronous HTTP client for the thread that looks up credentials. It
 * follows no redirects, reads at most 64 KiB, and repeats a request once if the
 * service fails or closes the connection. A service of this machine or network
 * has less than the 2 s that a pipeline may wait in vain. */

typedef struct {
  const gchar *method;
  const gchar *uri;
  const gchar *header;         /* nullable */
  const gchar *header_value;   /* nullable, like header */
  const gchar *form;           /* nullable: encoded form for the body */
  SoupMessageHeaders *headers; /* nullable: further headers */
  gboolean is_public; /* whether the service is not on this machine or network,
                         so that the proxy of the environment is used */
} SpdlMetadataRequest;

typedef struct {
  guint status;
  gchar *body; /* NUL-terminated */
  gsize size;
  SoupMessage *message;
} SpdlMetadataAnswer;

void spdl_metadata_answer_clear (SpdlMetadataAnswer *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (
    SpdlMetadataAnswer, spdl_metadata_answer_clear)

/* Returns FALSE with @error set if there is no response. A response may have
 * any status. The error names only the origin of the URI, because paths may be
 * secret. */
gboolean spdl_metadata_ask (const SpdlMetadataRequest *request,
    SpdlMetadataAnswer *answer, GError **error);

/* Returns scheme, host and port of @uri. (transfer full) */
gchar *spdl_metadata_dup_origin (const gchar *uri);

G_END_DECLS
