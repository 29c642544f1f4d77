/* gst-spdl: fingerprint that identifies a dataset
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Calculates the 64-bit XXH3 hash of @data with the seed @hash: 0, or the hash
 * of the previous data. It is the same on every machine. It detects accidental
 * changes only, not deliberate ones. */
guint64 spdl_fingerprint_add (guint64 hash, gconstpointer data, gsize size);

/* State of a hash with the seed 0 over data in several pieces. */
typedef struct _SpdlFingerprint SpdlFingerprint;

SpdlFingerprint *spdl_fingerprint_new (void);
void
spdl_fingerprint_append (SpdlFingerprint *self, gconstpointer data, gsize size);

/* Returns the hash and frees @self. */
guint64 spdl_fingerprint_finish (SpdlFingerprint *self);

G_END_DECLS
