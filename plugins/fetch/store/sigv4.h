/* gst-spdl: AWS Signature Version 4
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <libsoup/soup.h>
#include <nettle/hmac.h>

G_BEGIN_DECLS

/* The secrets and the scope of a signature. The strings belong to the caller.
 */
typedef struct {
  const gchar *access_key;
  const gchar *secret_key;
  const gchar *session_token; /* nullable */
  const gchar *region;
  const gchar *service; /* "s3" or "sts" */

  /* Private: the time of the last signature, and HMACs with the key of its day,
   * which is derived from the fields above. Clear the day when one of those
   * changes. */
  gint64 time;
  gchar stamp[17];
  gchar day[9];
  struct hmac_sha256_ctx keyed;
  /* after the text that is equal for all requests of one second */
  struct hmac_sha256_ctx begun;
} SpdlSigV4Key;

/* Adds the headers that authorise a request without a body: X-Amz-Date,
 * X-Amz-Security-Token, Authorization and, for S3, X-Amz-Content-SHA256. The
 * signature covers the host, the header Range and all headers whose names begin
 * with "x-amz-". Headers added later are not covered.
 *
 * S3 expects the path as in the request: each byte of a key is escaped once,
 * and "." and ".." are kept.
 *
 * @host: as in the header Host: with the port, if that is not the default one
 * @path: as in the request, escaped
 * @query: (nullable): as in the request, escaped
 * @time: seconds since 1970 */
void spdl_sigv4_sign (SpdlSigV4Key *key, const gchar *method, const gchar *host,
    const gchar *path, const gchar *query, gint64 time,
    SoupMessageHeaders *headers);

/* Returns the value of the header Host, as libsoup sends it. (transfer full) */
gchar *spdl_sigv4_dup_host (GUri *uri);

/* Escapes @text as the signature requires: all bytes except letters, digits and
 * "-._~", and with @keep_slashes except "/". (transfer full) */
gchar *spdl_sigv4_escape (const gchar *text, gboolean keep_slashes);

G_END_DECLS
