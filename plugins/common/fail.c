/* gst-spdl: failure of a function
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/common/fail.h"

gboolean
spdl_fail (GError **error, GstResourceError code, const gchar *format, ...)
{
  va_list args;

  va_start (args, format);
  g_propagate_error (
      error, g_error_new_valist (GST_RESOURCE_ERROR, code, format, args));
  va_end (args);
  return FALSE;
}
