/* gst-spdl: creation of GStreamer's plugin registry
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Under a sanitizer, the process that scans for plugins loads all plugins of
 * the system, whose leaks are not ours. This program scans first, with the
 * sanitizer silenced, and the tests read the registry that it writes. */

#include <gst/gst.h>

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  return gst_registry_check_feature_version (
             gst_registry_get (), "spdlsrc", 0, 1, 0)
             ? 0
             : 1;
}
