/* gst-spdl: validators of HTTP resources
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <libsoup/soup.h>
#include <string.h>

G_BEGIN_DECLS

#define SPDL_DIGEST_SIZE 32

typedef enum {
  SPDL_VALIDATOR_NONE,
  SPDL_VALIDATOR_TAG,  /* strong ETag: identifies the bytes */
  SPDL_VALIDATOR_DATE, /* date of the last modification */
} SpdlValidatorKind;

/* Validator from a response, for conditional requests. */
typedef struct {
  SpdlValidatorKind kind;
  gchar *text; /* as in the header; NULL: none */
  /* Digest of the URI that responded, after all redirects: an ETag is valid
   * only for its own URI. */
  guint8 place[SPDL_DIGEST_SIZE];
  /* The content may be cached: it is known to be complete and of one version,
   * and the server does not forbid it. */
  gboolean keepable;
} SpdlValidator;

static inline void
spdl_validator_clear (SpdlValidator *self)
{
  g_clear_pointer (&self->text, g_free);
  memset (self, 0, sizeof *self);
}

/* Sets the validator from a successful response.
 * @has_size: the response declares its size
 * @goes_on: the response has the rest of a resource that @self already
 * describes */
void spdl_validator_take (SpdlValidator *self, SoupMessage *message,
    gboolean has_size, gboolean goes_on);

/* Makes @message conditional, if it requests the URI that @self belongs to;
 * else makes it unconditional. */
void spdl_validator_put (const SpdlValidator *self, SoupMessage *message);

/* Returns whether a 304 response confirms the version of @self. */
gboolean
spdl_validator_is_confirmed (const SpdlValidator *self, SoupMessage *message);

/* Computes the SHA-256 digest of @text. */
static inline void
spdl_digest (const gchar *text, guint8 digest[SPDL_DIGEST_SIZE])
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  gsize size = SPDL_DIGEST_SIZE;

  g_checksum_update (sum, (const guchar *) text, -1);
  g_checksum_get_digest (sum, digest, &size);
}

G_END_DECLS
