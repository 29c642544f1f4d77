/* gst-spdl: decoder of one file for fuzz targets
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "tests/fuzz/fuzz.h"

G_BEGIN_DECLS

/* The number of settings. */
#define FUZZ_WORKER_SETTINGS 8

/* Decodes a file with @settings and checks the result. The only decoders of
 * other libraries are those of libjpeg-turbo. */
void fuzz_decoder_run (FuzzInput *settings, const guint8 *data, gsize size);

G_END_DECLS
