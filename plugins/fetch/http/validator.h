/* gst-spdl: validators of HTTP resources
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <libsoup/soup.h>

G_BEGIN_DECLS

#define SPDL_DIGEST_SIZE 32

typedef enum {
  SPDL_VALIDATOR_NONE,
  SPDL_VALIDATOR_TAG,  /* a strong ETag: the same tag is the same bytes */
  SPDL_VALIDATOR_DATE, /* a date of the last change */
} SpdlValidatorKind;

/* What an answer says of the resource, so that a later request can ask whether
 * it is still the same. */
typedef struct {
  SpdlValidatorKind kind;
  gchar *text; /* as the server wrote it; NULL: none */
  /* Digest of the URI that answered, behind all redirects: a tag says nothing
   * of what is elsewhere. */
  guint8 place[SPDL_DIGEST_SIZE];
  /* Whether what came may be kept: it is known to be whole and of one version,
   * and the server does not forbid it. */
  gboolean keepable;
} SpdlValidator;

void spdl_validator_clear (SpdlValidator *self);

/* Takes over what a good answer says.
 *
 * @has_size: whether the answer tells its size
 * @goes_on: whether it is the rest of what @self is of */
void spdl_validator_take (SpdlValidator *self, SoupMessage *message,
    gboolean has_size, gboolean goes_on);

/* Lets @message ask for the resource only if it has changed, where @message
 * goes to the place that @self is of; else lets it ask in any case. */
void spdl_validator_put (const SpdlValidator *self, SoupMessage *message);

/* Whether the answer 304 means that the resource is what @self is of. */
gboolean
spdl_validator_is_confirmed (const SpdlValidator *self, SoupMessage *message);

/* SHA-256 of @text. */
void spdl_digest (const gchar *text, guint8 digest[SPDL_DIGEST_SIZE]);

G_END_DECLS
