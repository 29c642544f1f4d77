/* gst-spdl: fingerprint that identifies a dataset
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/common/fingerprint.h"

/* Avoids a dependency on the xxhash library. */
#define XXH_INLINE_ALL
#include <xxhash.h>

guint64
spdl_fingerprint_add (guint64 hash, gconstpointer data, gsize size)
{
  return XXH3_64bits_withSeed (data, size, hash);
}

struct _SpdlFingerprint {
  XXH3_state_t state;
};

SpdlFingerprint *
spdl_fingerprint_new (void)
{
  SpdlFingerprint *self =
      g_aligned_alloc (1, sizeof *self, G_ALIGNOF (SpdlFingerprint));

  XXH3_64bits_reset (&self->state);
  return self;
}

void
spdl_fingerprint_append (SpdlFingerprint *self, gconstpointer data, gsize size)
{
  XXH3_64bits_update (&self->state, data, size);
}

guint64
spdl_fingerprint_finish (SpdlFingerprint *self)
{
  const guint64 hash = XXH3_64bits_digest (&self->state);

  g_aligned_free (self);
  return hash;
}
