/* gst-spdl: list of the views of an image
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/result/viewlist.h"

#include <string.h>

const gchar *
spdl_view_get_name (guint view)
{
  static const gchar *const names[SPDL_MAX_VIEWS] = { "data", "view1", "view2",
    "view3", "view4", "view5", "view6", "view7", "view8", "view9", "view10",
    "view11", "view12", "view13", "view14", "view15" };

  return names[view];
}

static gboolean
parse_number (const gchar *text, guint most, guint *number)
{
  guint64 value;

  if (!g_ascii_string_to_unsigned (text, 10, 1, most, &value, NULL))
    return FALSE;
  *number = value;
  return TRUE;
}

/* Parses "96" or "96x64". */
static gboolean
parse_size (const gchar *text, SpdlViewSpec *view)
{
  g_auto (GStrv) sides = g_strsplit (text, "x", 2);

  return parse_number (sides[0], G_MAXINT, &view->width) &&
         parse_number (sides[1] ? sides[1] : sides[0], G_MAXINT, &view->height);
}

/* Parses "0.05..0.4". */
static gboolean
parse_scale (const gchar *text, SpdlViewSpec *view)
{
  g_auto (GStrv) ends = g_strsplit (text, "..", 2);

  for (guint i = 0; i < 2; i++) {
    gchar *end;

    if (!ends[i] || !*ends[i])
      return FALSE;
    view->scale[i] = g_ascii_strtod (ends[i], &end);
    if (*end)
      return FALSE;
  }
  return view->scale[0] > 0 && view->scale[0] <= view->scale[1] &&
         view->scale[1] <= 1;
}

/* Parses "size=96,scale=0.05..0.4". */
static gboolean
parse_arguments (const gchar *text, SpdlViewSpec *view)
{
  g_auto (GStrv) arguments = g_strsplit (text, ",", -1);

  for (guint i = 0; arguments[i]; i++) {
    const gchar *argument = g_strstrip (arguments[i]);

    if (g_str_has_prefix (argument, "size=") && view->width == 0) {
      if (!parse_size (argument + strlen ("size="), view))
        return FALSE;
    } else if (g_str_has_prefix (argument, "scale=") && view->scale[1] == 0) {
      if (!parse_scale (argument + strlen ("scale="), view))
        return FALSE;
    } else {
      return FALSE;
    }
  }
  return TRUE;
}

/* Parses "8" or "8(...)". */
static gboolean
parse_group (const gchar *text, guint *n, SpdlViewSpec *view)
{
  const gchar *open = strchr (text, '(');
  g_autofree gchar *number =
      open ? g_strndup (text, open - text) : g_strdup (text);
  g_autofree gchar *inside = NULL;

  *view = (SpdlViewSpec){ 0 };
  if (!parse_number (g_strstrip (number), SPDL_MAX_VIEWS, n))
    return FALSE;
  if (!open)
    return TRUE;
  if (!g_str_has_suffix (open, ")"))
    return FALSE;
  inside = g_strndup (open + 1, strlen (open) - 2);
  return parse_arguments (inside, view);
}

guint
spdl_view_list_parse (const gchar *text, SpdlViewSpec *views, GError **error)
{
  g_auto (GStrv) groups = g_strsplit (text, ";", -1);
  guint n_views = 0, n;

  /* There are no groups in an empty text. */
  for (guint i = 0; i == 0 || groups[i]; i++) {
    SpdlViewSpec view;

    if (!groups[i] || !parse_group (g_strstrip (groups[i]), &n, &view)) {
      g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
          "The property views has \"%s\", but must list numbers of views from "
          "1 to %u, such as \"2\" or "
          "\"2(size=224,scale=0.4..1); 8(size=96,scale=0.05..0.4)\"",
          groups[i] ? groups[i] : "", SPDL_MAX_VIEWS);
      return 0;
    }
    if (n_views + n > SPDL_MAX_VIEWS) {
      g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
          "The property views has more than %u views, the most parts that a "
          "sample can have",
          SPDL_MAX_VIEWS);
      return 0;
    }
    while (n-- > 0)
      views[n_views++] = view;
  }
  return n_views;
}
