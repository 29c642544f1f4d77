/* gst-spdl: settings of labels, and the check for missing ones
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/list/labels.h"

#include <gst/gst.h>

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
spdl_labels_check (const SpdlLabelOptions *self, const SpdlLabelCount *count,
    const gchar *location, SpdlWarnFunc warn, gpointer user_data,
    GError **error)
{
  g_autofree gchar *what = NULL;

  if (!self->read || count->n_missing == 0)
    return TRUE;
  if (are_absent (self, count)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "No item of \"%s\" has a label \"%s\"%s%s: %s, or set label=none to "
        "load without labels",
        location, count->name ? count->name : spdl_labels_get_column (self),
        count->fields ? ", but there are the " : "",
        count->fields ? count->fields : "",
        count->fields ? "set label-column to the name of the labels"
                      : "write it behind a tab on the line of each item");
    return FALSE;
  }
  if (self->missing == SPDL_LABEL_MISSING_KEEP ||
      count->n_missing == count->n_items)
    return TRUE;
  what = g_strdup_printf ("%" G_GUINT64_FORMAT " of the %" G_GUINT64_FORMAT
                          " items in \"%s\" %s no label; the first is \"%s\"",
      count->n_missing, count->n_items, location,
      count->n_missing == 1 ? "has" : "have", count->first ? count->first : "");
  if (self->missing == SPDL_LABEL_MISSING_FAIL) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "%s: label them, remove them, or set label-missing=warn to load them "
        "with the label -1",
        what);
    return FALSE;
  }
  if (warn) {
    g_autofree gchar *text = g_strconcat (what,
        ". The label of such an item is -1: label them, or set "
        "label-missing=keep if that is intended",
        NULL);

    warn (text, user_data);
  }
  return TRUE;
}

gboolean
spdl_targets_has (const gchar *targets, const gchar *name)
{
  g_auto (GStrv) names = targets ? g_strsplit (targets, ",", -1) : NULL;

  return names && g_strv_contains ((const gchar *const *) names, name);
}

gboolean
spdl_targets_check (const gchar *targets,
    gboolean (*has) (const gchar *name, gconstpointer user_data),
    gconstpointer user_data, const gchar *fields, const gchar *location,
    GError **error)
{
  g_auto (GStrv) names = targets ? g_strsplit (targets, ",", -1) : NULL;

  for (guint i = 0; names && names[i]; i++) {
    if (has (names[i], user_data))
      continue;
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "target-columns has \"%s\", but \"%s\" has no such column of numbers: "
        "it has the %s",
        names[i], location, fields);
    return FALSE;
  }
  return TRUE;
}
