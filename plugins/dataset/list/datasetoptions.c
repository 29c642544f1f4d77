/* gst-spdl: settings of a dataset
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/list/datasetoptions.h"

#include "plugins/common/fail.h"

void
spdl_dataset_warn (const SpdlDatasetOptions *options, const gchar *format, ...)
{
  g_autofree gchar *text = NULL;
  va_list args;

  if (!options->warn)
    return;
  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  options->warn (text, options->user_data);
}

/* Without any label, the items are not those that the user thinks of, unless
 * the user has said that they need none. */
static gboolean
are_absent (const SpdlLabelOptions *self, const SpdlLabelCount *count)
{
  return count->n_missing == count->n_items &&
         (self->column ||
             (self->wanted && self->missing != SPDL_LABEL_MISSING_KEEP));
}

gboolean
spdl_labels_check (const SpdlDatasetOptions *options,
    const SpdlLabelCount *count, const gchar *location, GError **error)
{
  const SpdlLabelOptions *self = &options->labels;
  g_autofree gchar *what = NULL;

  if (!self->read || count->n_missing == 0)
    return TRUE;
  if (are_absent (self, count))
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        "No item of \"%s\" has a label \"%s\"%s%s: %s, or set label=none to "
        "load without labels",
        location, count->name ? count->name : spdl_labels_get_column (self),
        count->fields ? ", but there are the " : "",
        count->fields ? count->fields : "",
        count->fields ? "set label-column to the name of the labels"
                      : "write it after a tab on the line of each item");
  if (self->missing == SPDL_LABEL_MISSING_KEEP ||
      count->n_missing == count->n_items)
    return TRUE;
  what = g_strdup_printf ("%" G_GUINT64_FORMAT " of the %" G_GUINT64_FORMAT
                          " items in \"%s\" %s no label; the first is \"%s\"",
      count->n_missing, count->n_items, location,
      count->n_missing == 1 ? "has" : "have", count->first ? count->first : "");
  if (self->missing == SPDL_LABEL_MISSING_FAIL)
    return spdl_fail (error, GST_RESOURCE_ERROR_READ,
        "%s: label them, remove them, or set label-missing=warn to load them "
        "with the label -1",
        what);
  spdl_dataset_warn (options,
      "%s. The label of such an item is -1: label them, or set "
      "label-missing=keep if that is intended",
      what);
  return TRUE;
}

gchar *
spdl_labels_describe_fields (const GstStructure *fields)
{
  GString *text = g_string_new ("fields ");
  const gint n = fields ? gst_structure_n_fields (fields) : 0;

  for (gint i = 0; i < n; i++)
    g_string_append_printf (text, "%s\"%s\"", i > 0 ? ", " : "",
        gst_structure_nth_field_name (fields, i));
  return g_string_free (text, FALSE);
}
