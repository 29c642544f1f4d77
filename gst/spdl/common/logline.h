/* gst-spdl: log lines
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "gst/spdl/common/showntext.h"

G_BEGIN_DECLS

/* Replacements of GST_INFO() and its relatives, for lines with parts that
 * servers, lists and archives supply: see showntext.h. */

static inline void G_GNUC_PRINTF (7, 8) spdl_log (GstDebugCategory *category,
    GstDebugLevel level, const gchar *file, const gchar *function, gint line,
    gpointer object, const gchar *format, ...)
{
  g_autofree gchar *text = NULL, *shown = NULL;
  va_list args;

  va_start (args, format);
  text = gst_info_strdup_vprintf (format, args);
  va_end (args);
  shown = spdl_show_line (text);
  gst_debug_log_literal (category, level, file, function, line, object, shown);
}

#define SPDL_LOG_AT(level, object, ...)                                     \
  G_STMT_START                                                              \
  {                                                                         \
    if (G_UNLIKELY (                                                        \
            (level) <= _gst_debug_min &&                                    \
            (level) <= gst_debug_category_get_threshold (GST_CAT_DEFAULT))) \
      spdl_log (GST_CAT_DEFAULT, level, __FILE__, GST_FUNCTION, __LINE__,   \
          object, __VA_ARGS__);                                             \
  }                                                                         \
  G_STMT_END

#define SPDL_WARNING_OBJECT(object, ...) \
  SPDL_LOG_AT (GST_LEVEL_WARNING, object, __VA_ARGS__)
#define SPDL_INFO_OBJECT(object, ...) \
  SPDL_LOG_AT (GST_LEVEL_INFO, object, __VA_ARGS__)
#define SPDL_WARNING(...) SPDL_WARNING_OBJECT (NULL, __VA_ARGS__)
#define SPDL_INFO(...) SPDL_INFO_OBJECT (NULL, __VA_ARGS__)
#define SPDL_DEBUG(...) SPDL_LOG_AT (GST_LEVEL_DEBUG, NULL, __VA_ARGS__)
#define SPDL_LOG(...) SPDL_LOG_AT (GST_LEVEL_LOG, NULL, __VA_ARGS__)

G_END_DECLS
