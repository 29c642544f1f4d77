/* gst-spdl: lets GStreamer look for its plugins, and nothing else
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Under a sanitizer the plugins of the whole system are loaded into the process
 * that looks for them; what they leak is not ours. So this one goes first, with
 * the sanitizer silent, and the tests read the registry that it writes. */

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
