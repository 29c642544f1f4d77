/* gst-spdl: loader helpers for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/loaders.h"

GstSpdlLoader *
loader_make (const gchar *format, ...)
{
  g_autofree gchar *description = NULL;
  g_autoptr (GError) error = NULL;
  GstSpdlLoader *loader;
  va_list args;

  va_start (args, format);
  description = g_strdup_vprintf (format, args);
  va_end (args);
  loader = gst_spdl_loader_new (description, &error);
  fail_unless (
      loader != NULL, "%s: %s", description, error ? error->message : "");
  return loader;
}

void
loader_start (GstSpdlLoader *loader)
{
  g_autoptr (GError) error = NULL;

  fail_unless (gst_spdl_loader_start (loader, &error), "%s",
      error ? error->message : "");
}

guint
loader_take (GstSpdlLoader *loader)
{
  g_autoptr (GError) error = NULL;
  GstSpdlBatch *batch =
      gst_spdl_loader_next (loader, GST_CLOCK_TIME_NONE, &error);
  guint n;

  fail_unless (error == NULL, "%s", error ? error->message : "");
  if (!batch)
    return 0;
  n = gst_spdl_batch_get_n_items (batch);
  gst_spdl_batch_unref (batch);
  return n;
}

GError *
loader_take_until_error (GstSpdlLoader *loader, guint *n_items)
{
  GError *error = NULL;
  GstSpdlBatch *batch;

  *n_items = 0;
  while (!error) {
    batch = gst_spdl_loader_next (loader, GST_CLOCK_TIME_NONE, &error);
    if (batch) {
      *n_items += gst_spdl_batch_get_n_items (batch);
      gst_spdl_batch_unref (batch);
    }
    fail_unless (batch || error || !gst_spdl_loader_is_finished (loader));
  }
  return error;
}

void
loader_assert_next_fails (GstSpdlLoader *loader, GstSpdlLoaderError code)
{
  g_autoptr (GError) error = NULL;

  fail_unless (gst_spdl_loader_next (loader, 0, &error) == NULL);
  fail_unless (g_error_matches (error, GST_SPDL_LOADER_ERROR, code), "%s",
      error ? error->message : "no error");
}
