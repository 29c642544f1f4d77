/* gst-spdl: test of 1,000 images in mixed formats over HTTP, of which 200 are
 * bad
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/video/video.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/run.h"
#include "tests/check/support/server.h"
#include "tests/check/support/suite.h"

/* A part of the error message of each kind. */
static const struct {
  const gchar *kind;
  const gchar *reason;
} kinds[] = {
  { "truncated", NULL },
  { "empty", "[stream-error wrong-type]" },
  { "random", NULL },
  { "text", NULL },
  { "entropy50", NULL },
  { "entropy90", NULL },
  { "crc", "IDAT" },
  { "404", "[resource-error not-found]|404" },
  { "break", "[resource-error read]|2" },
  { "short", "[resource-error read]|2" },
};

static void
make_files (const gchar *folder, const gchar *base)
{
  const gchar *argv[] = { "/usr/bin/python3", MAKE_MIXED, folder, base, NULL };
  g_autoptr (GError) error = NULL;
  gint status;

  fail_unless (g_spawn_sync (NULL, (gchar **) argv, NULL, 0, NULL, NULL, NULL,
                   NULL, &status, &error),
      "%s", error ? error->message : "");
  fail_unless_equals_int (status, 0);
}

static guint
number_of (const gchar *uri)
{
  const gchar *dash = strrchr (uri, '-');

  fail_unless (dash != NULL);
  return atoi (dash + 1);
}

/* Checks that the image has the size and the color of its number. */
static void
check_good (Run *run, guint i, gboolean *seen)
{
  const gchar *uri = run_item (run, i)->uri;
  const guint n = number_of (uri);
  const guint expected[] = { n * 37 % 256, n * 91 % 256, n * 17 % 256 };
  GstVideoInfo info;
  GstMapInfo map;
  const guint8 *pixel;

  fail_unless (strstr (uri, "/good-") != NULL, "%s", uri);
  fail_if (seen[n], "%s came twice", uri);
  seen[n] = TRUE;
  fail_unless (
      gst_video_info_from_caps (&info, g_ptr_array_index (run->caps, i)));
  fail_unless_equals_int (info.width, 48 + n % 33);
  fail_unless_equals_int (info.height, 40 + n % 21);
  fail_unless (
      gst_buffer_map (g_ptr_array_index (run->buffers, i), &map, GST_MAP_READ));
  pixel = map.data + info.height / 2 * info.stride[0] + info.width * 3 / 4 * 3;
  for (guint c = 0; c < 3; c++)
    fail_unless (abs ((gint) pixel[c] - (gint) expected[c]) <= 12,
        "%s: %u, not %u", uri, pixel[c], expected[c]);
  gst_buffer_unmap (g_ptr_array_index (run->buffers, i), &map);
}

/* Checks the failure and returns its kind. */
static guint
check_bad (Run *run, guint i)
{
  const gchar *uri =
      gst_structure_get_string (g_ptr_array_index (run->failures, i), "uri");
  const gchar *reason = run_failure_text (run, i);

  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++) {
    g_autofree gchar *name = g_strdup_printf ("/bad-%s-", kinds[k].kind);

    if (!strstr (uri, name))
      continue;
    fail_unless (!kinds[k].reason || errors_text_has (reason, kinds[k].reason),
        "%s: %s", uri, reason);
    fail_unless (strlen (reason) > 10, "%s: %s", uri, reason);
    return k;
  }
  fail ("%s failed: %s", uri, reason);
  return 0;
}

static void
check_run (const gchar *folder, guint concurrency, const gchar *order)
{
  gboolean seen[800] = { FALSE };
  guint bad[G_N_ELEMENTS (kinds)] = { 0 };
  Run *run = run_pipeline (
      "spdlsrc location=%s/list.txt ! spdlaggregate size=32 ! "
      "spdlfetch concurrency=16 retries=1 output-order=%s ! spdldisaggregate ! "
      "spdldecode resize=none concurrency=%u output-order=%s ! "
      "fakesink name=sink",
      folder, order, concurrency, order);

  fail_unless (run->error == NULL, "%s", run->error);
  for (guint i = 0; i < run->failures->len; i++)
    bad[check_bad (run, i)]++;
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    fail_unless (bad[k] == 20, "%s: %u", kinds[k].kind, bad[k]);
  fail_unless_equals_int (run->buffers->len, 800);
  for (guint i = 0; i < 800; i++)
    check_good (run, i, seen);
  fail_unless_equals_int (run->n_dropped, 200);
  run_free (run);
}

GST_START_TEST (test_mixed)
{
  Server *server = server_new (FALSE);
  gchar *folder = files_make_folder ();

  make_files (folder, server_get_base (server));
  server_set_root (server, folder);
  check_run (folder, 1, "input");
  check_run (folder, 4, "completion");
  server_free (server);
  files_remove_folder (folder);
}

GST_END_TEST;

CHECK_SUITE (mixed_formats, TEST (test_mixed))
