/* gst-spdl: fingerprint that identifies a dataset
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* XXH3's 64 bits of @data, with @hash as their seed: 0, or what was hashed
 * before. They are the same on every machine. They detect accidental
 * changes, and do not protect against deliberate ones. */
guint64 spdl_fingerprint_add (guint64 hash, gconstpointer data, gsize size);

/* The same, with the seed 0, of data that come in pieces. */
typedef struct _SpdlFingerprint SpdlFingerprint;

SpdlFingerprint *spdl_fingerprint_new (void);
void
spdl_fingerprint_append (SpdlFingerprint *self, gconstpointer data, gsize size);

/* Returns the hash, and frees @self. */
guint64 spdl_fingerprint_finish (SpdlFingerprint *self);

G_END_DECLS
