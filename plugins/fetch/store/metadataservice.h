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
 * service fails or closes the connection. */

/* Limit for a request to a service of this machine or network, including its
 * retry: less than the 2 s that a pipeline may wait in vain. */
#define SPDL_METADATA_TIME_LIMIT (1900 * G_TIME_SPAN_MILLISECOND)

typedef struct _SpdlMetadataClient SpdlMetadataClient;

typedef struct {
  const gchar *method;
  const gchar *uri;
  const gchar *header;         /* nullable */
  const gchar *header_value;   /* nullable, like header */
  const gchar *form;           /* nullable: encoded form for the body */
  SoupMessageHeaders *headers; /* nullable: further headers */
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

/* @time_limit: for each request, in us
 * @public_network: whether to use the proxy of the environment; requests to
 *     services of this machine or network bypass it */
SpdlMetadataClient *spdl_metadata_client_new (
    gint64 time_limit, gboolean public_network, GError **error);

void spdl_metadata_client_free (SpdlMetadataClient *self);

/* Returns FALSE with @error set if there is no response. A response may have
 * any status. The error names only the origin of the URI, because paths may be
 * secret. */
gboolean spdl_metadata_client_ask (SpdlMetadataClient *self,
    const SpdlMetadataRequest *request, SpdlMetadataAnswer *answer,
    GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SpdlMetadataClient, spdl_metadata_client_free)

/* Returns scheme, host and port of @uri. (transfer full) */
gchar *spdl_metadata_dup_origin (const gchar *uri);

G_END_DECLS
