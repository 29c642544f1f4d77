/* gst-spdl: byte ranges in URIs
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/io/range.h"

#include <gst/gst.h>

#include <string.h>

#include "gst/spdl/common/storeuri.h"

gchar *
spdl_range_find (gchar *uri)
{
  return spdl_uri_has_scheme (uri) ? strstr (uri, "#bytes=") : NULL;
}

gboolean
spdl_range_split (gchar *uri, SpdlRange *range, GError **error)
{
  gchar *fragment = spdl_range_find (uri);
  g_auto (GStrv) ends = NULL;

  range->first = 0;
  range->last = G_MAXUINT64;
  if (!fragment)
    return TRUE;

  ends = g_strsplit (fragment + strlen ("#bytes="), "-", -1);
  if (g_strv_length (ends) != 2 ||
      !g_ascii_string_to_unsigned (
          ends[0], 10, 0, G_MAXINT64, &range->first, NULL) ||
      !g_ascii_string_to_unsigned (
          ends[1], 10, range->first, G_MAXINT64, &range->last, NULL)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "\"%s\" is not a byte range: write #bytes=FIRST-LAST, counted from 0, "
        "including the last byte",
        fragment);
    return FALSE;
  }
  *fragment = '\0';
  return TRUE;
}

gboolean
spdl_range_get_size (
    const SpdlRange *self, guint64 whole, guint64 *size, GError **error)
{
  if (spdl_range_is_open (self)) {
    *size = whole - MIN (self->first, whole);
    return TRUE;
  }
  if (self->last >= whole) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "Item ends after %" G_GUINT64_FORMAT
        " bytes, before byte %" G_GUINT64_FORMAT ", which was requested",
        whole, self->last);
    return FALSE;
  }
  *size = self->last - self->first + 1;
  return TRUE;
}

static gboolean
check_max_size (
    guint64 size, const gchar *more, guint64 max_size, GError **error)
{
  if (max_size == 0 || size <= max_size)
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
      "Item has %" G_GUINT64_FORMAT
      " bytes%s, which is over max-size (%" G_GUINT64_FORMAT
      "): to read it, set max-size, by default a quarter of the memory, to at "
      "least the item's size",
      size, more, max_size);
  return FALSE;
}

gboolean
spdl_check_max_size (guint64 size, guint64 max_size, GError **error)
{
  return check_max_size (size, "", max_size, error);
}

gboolean
spdl_check_max_part (guint64 size, guint64 max_size, GError **error)
{
  return check_max_size (size, " or more", max_size, error);
}
