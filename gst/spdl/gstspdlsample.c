/* gst-spdl: what functions of an application return
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
 * `spdlpipe` passes each item to its signal `process` as a #GstSample. The
 * handler returns the sample with the result, %NULL to filter the item, or the
 * sample of gst_spdl_sample_new_failed() to fail it.
 *
 * Since: 0.1
 */

#include "gst/spdl/gstspdlgroupingpolicy.h"
#include "gst/spdl/gstspdlsample.h"

#define NAME "spdl-failed"
#define FIELD "message"

/**
 * gst_spdl_sample_new_failed:
 * @message: reason of the failure
 *
 * Creates the sample that a handler of `spdlpipe`'s signal `process` returns to
 * fail an item: its info is the structure `spdl-failed` with the string
 * `message`.
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
 * Gets the reason of a failure.
 *
 * Returns: (transfer none) (nullable): the reason, valid as long as @sample;
 *     %NULL if the item did not fail
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

/* Answers of functions that group items */

G_DEFINE_ENUM_TYPE (GstSpdlGroupingPolicy, gst_spdl_grouping_policy,
    { GST_SPDL_GROUPING_POLICY_TAKE, "Add the item to the group", "take" },
    { GST_SPDL_GROUPING_POLICY_EMIT_BEFORE,
        "Continue the group without the item", "emit-before" },
    { GST_SPDL_GROUPING_POLICY_EMIT_AFTER, "Continue the group with the item",
        "emit-after" })
