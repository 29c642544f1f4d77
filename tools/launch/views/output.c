/* gst-spdl-launch: output files and streams
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/views/output.h"

#include <errno.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

gboolean
output_is_stdout (const gchar *file)
{
  return g_strcmp0 (file, "-") == 0;
}

static gboolean
set_write_error (const gchar *file, int problem, GError **error)
{
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (problem),
      "Failed to write %s: %s", file, g_strerror (problem));
  return FALSE;
}

/* Returns whether the file is a device or a pipe, which must not be
 * replaced. */
static gboolean
is_special (const gchar *file)
{
  return g_file_test (file, G_FILE_TEST_EXISTS) &&
         !g_file_test (file, G_FILE_TEST_IS_REGULAR);
}

gboolean
output_check (const gchar *file, GError **error)
{
  g_autofree gchar *folder = g_path_get_dirname (file);

  if (output_is_stdout (file))
    return TRUE;
  if (g_file_test (file, G_FILE_TEST_IS_DIR))
    return set_write_error (file, EISDIR, error);
  if (g_access (is_special (file) ? file : folder, W_OK) != 0)
    return set_write_error (file, errno, error);
  return TRUE;
}

static gboolean
write_special (const gchar *file, const gchar *text, GError **error)
{
  FILE *stream = fopen (file, "w");
  gboolean ok;

  if (!stream)
    return set_write_error (file, errno, error);
  ok = fputs (text, stream) >= 0;
  ok = fclose (stream) == 0 && ok;
  return ok || set_write_error (file, errno, error);
}

gboolean
output_write (const gchar *file, const gchar *text, GError **error)
{
  if (output_is_stdout (file)) {
    fputs (text, stdout);
    return fflush (stdout) == 0 || set_write_error ("the output", errno, error);
  }
  if (is_special (file))
    return write_special (file, text, error);
  return g_file_set_contents (file, text, -1, error);
}
