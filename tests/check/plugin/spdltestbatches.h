/* gst-spdl: a source of batches that nobody makes
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Sends batches of `items` images of `side` by `side` in downstream's memory:
 * each piece of it is filled once, and then sent as it is. */
gboolean test_batches_register (GstPlugin *plugin);

G_END_DECLS
