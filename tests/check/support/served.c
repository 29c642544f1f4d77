/* gst-spdl: folder on an HTTP server, for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/served.h"

#include "tests/check/support/files.h"

Served served;

void
served_setup (void)
{
  served.server = server_new (FALSE);
  served.folder = files_make_folder ();
  server_set_root (served.server, served.folder);
  served.cache = files_make_folder ();
  g_setenv ("XDG_CACHE_HOME", served.cache, TRUE);
}

void
served_teardown (void)
{
  server_free (served.server);
  files_remove_folder (served.folder);
  files_remove_folder (served.cache);
}
