/* gst-spdl: loaders, for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/check/gstcheck.h>
#include <gst/spdl/spdl.h>

G_BEGIN_DECLS

/* Batches of 8, of a folder and for a number of epochs. */
#define LOADER_JOB                                                  \
  "spdlsrc location=%s label=folder epochs=%d "                     \
  "! spdlfetch output-order=input ! spdldecode output-order=input " \
  "width=16 height=12 ! spdlbatch batch-size=8 labels=true ! spdlsink"

/* What is asked for must succeed. */

GstSpdlLoader *loader_make (const gchar *format, ...) G_GNUC_PRINTF (1, 2);
void loader_start (GstSpdlLoader *loader);

/* Returns how many items the next batch has; 0 at an end. */
guint loader_take (GstSpdlLoader *loader);

/* Takes all batches up to an error, which it returns. */
GError *loader_take_until_error (GstSpdlLoader *loader, guint *n_items);

void loader_assert_next_fails (GstSpdlLoader *loader, GstSpdlLoaderError code);

G_END_DECLS
