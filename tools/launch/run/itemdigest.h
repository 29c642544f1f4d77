/* gst-spdl-launch: hash over the contents of a run's items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

G_BEGIN_DECLS

/* Sum of the hashes of all items. The hash of an item covers its index and the
 * name, type, shape and bytes of each of its tensors, without padding. So the
 * digest depends neither on the order of the items nor on the batches, and the
 * sum of the digests of two parts of a run is that of the whole. */
typedef struct _Digest {
  guint64 low, high;
  guint64 n_items;
  GError *error; /* nullable: why a batch could not be added */
} Digest;

/* Adds the items of a batch. Returns FALSE and sets the error of @self if it
 * has no item numbers or is not in memory of the CPU. */
gboolean digest_add (Digest *self, GstSpdlBatch *batch);
void digest_clear (Digest *self);

/* Returns: (transfer full): 32 hexadecimal digits */
gchar *digest_to_string (const Digest *self);

G_END_DECLS
