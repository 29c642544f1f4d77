/* gst-spdl: loader helpers for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/check/gstcheck.h>
#include <gst/spdl/spdl.h>

G_BEGIN_DECLS

/* Batches of 8 from a folder, for a number of epochs. */
#define LOADER_JOB                                                  \
  "spdlsrc location=%s label=folder epochs=%d "                     \
  "! spdlfetch output-order=input ! spdldecode output-order=input " \
  "width=16 height=12 ! spdlbatch batch-size=8 labels=true ! spdlsink"

/* The following functions abort on failure. */

GstSpdlLoader *loader_make (const gchar *format, ...) G_GNUC_PRINTF (1, 2);
void loader_start (GstSpdlLoader *loader);

/* Returns the number of items in the next batch; 0 at the end of an epoch. */
guint loader_take (GstSpdlLoader *loader);

/* Takes all batches up to an error, and returns the error. */
GError *loader_take_until_error (GstSpdlLoader *loader, guint *n_items);

void loader_assert_next_fails (GstSpdlLoader *loader, GstSpdlLoaderError code);

G_END_DECLS
