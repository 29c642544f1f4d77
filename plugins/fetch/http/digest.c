/* gst-spdl: digests for validators
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "plugins/fetch/http/validator.h"

void
spdl_validator_clear (SpdlValidator *self)
{
  g_clear_pointer (&self->text, g_free);
  memset (self, 0, sizeof *self);
}

void
spdl_digest (const gchar *text, guint8 digest[SPDL_DIGEST_SIZE])
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  gsize size = SPDL_DIGEST_SIZE;

  g_checksum_update (sum, (const guchar *) text, -1);
  g_checksum_get_digest (sum, digest, &size);
}
