/* gst-spdl: common code of the fuzz targets
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/fuzz/fuzz.h"

#include <gst/gst.h>

#include "gst/spdl/common/showntext.h"

void
fuzz_init (void)
{
  g_setenv ("GST_REGISTRY_DISABLE", "yes", TRUE);
  gst_init (NULL, NULL);
  g_log_set_always_fatal (
      G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING);
}

static void
check_printable (const gchar *text)
{
  g_assert_true (g_utf8_validate (text, -1, NULL));
  for (; *text; text = g_utf8_next_char (text))
    g_assert_false (g_unichar_iscntrl (g_utf8_get_char (text)));
}

void
fuzz_check_text (const gchar *text)
{
  g_autofree gchar *line = NULL, *again = NULL, *shown = NULL;

  g_assert_nonnull (text);
  line = spdl_show_line (text);
  again = spdl_show_line (line);
  shown = spdl_show_text (text);
  check_printable (line);
  g_assert_cmpstr (line, ==, again);
  g_assert_true (g_utf8_validate (shown, -1, NULL));
}

void
fuzz_check_error (const GError *error)
{
  g_assert_nonnull (error);
  g_assert_true (g_utf8_validate (error->message, -1, NULL));
  fuzz_check_text (error->message);
}
