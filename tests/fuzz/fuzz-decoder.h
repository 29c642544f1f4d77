/* gst-spdl: decoder of one file for fuzz targets
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "tests/fuzz/fuzz.h"

G_BEGIN_DECLS

/* So many bytes of settings are looked at. */
#define FUZZ_WORKER_SETTINGS 8

/* Runs a file through a worker as @settings say, and checks what comes out;
 * decoders other than libjpeg-turbo there are none. */
void fuzz_decoder_run (FuzzInput *settings, const guint8 *data, gsize size);

G_END_DECLS
