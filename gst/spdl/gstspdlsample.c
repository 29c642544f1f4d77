/* gst-spdl: failures that an application's function reports
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:gstspdlsample
 * @title: Samples of functions
 * @short_description: failures that an application's function reports
 *
 * `spdlpipe` hands an item to its signal `process` as a #GstSample, and takes
 * one back: that of the result, %NULL where the item is filtered, or one of
 * gst_spdl_sample_new_failed() where it has failed.
 *
 * Since: 0.1
 */

#include "gst/spdl/gstspdlsample.h"

#define NAME "spdl-failed"
#define FIELD "message"

/**
 * gst_spdl_sample_new_failed:
 * @message: why, for a person
 *
 * Makes what a handler of `spdlpipe`'s signal `process` returns of an item that
 * has failed: a sample whose info is the structure `spdl-failed` with the
 * string `message`.
 *
 * Returns: (transfer full): the sample
 *
 * Since: 0.1
 */
GstSample *
gst_spdl_sample_new_failed (const gchar *message)
{
  g_return_val_if_fail (message != NULL, NULL);

  return gst_sample_new (NULL, NULL, NULL,
      gst_structure_new (NAME, FIELD, G_TYPE_STRING, message, NULL));
}

/**
 * gst_spdl_sample_get_failure:
 * @sample: (transfer none): a sample
 *
 * Returns: (transfer none) (nullable): why the item failed, or %NULL if it did
 *     not
 *
 * Since: 0.1
 */
const gchar *
gst_spdl_sample_get_failure (GstSample *sample)
{
  const GstStructure *info;

  g_return_val_if_fail (GST_IS_SAMPLE (sample), NULL);

  info = gst_sample_get_info (sample);
  return info && gst_structure_has_name (info, NAME)
             ? gst_structure_get_string (info, FIELD)
             : NULL;
}
