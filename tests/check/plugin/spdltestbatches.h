/* gst-spdl: spdltestbatches, a source of batches for benchmarks
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Registers the source. It sends batches of `items` images of `side` by `side`
 * in memory that downstream allocates. Each block is filled once, and later
 * sent unchanged, so that the source costs almost nothing. */
gboolean test_batches_register (GstPlugin *plugin);

G_END_DECLS
