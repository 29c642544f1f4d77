/* gst-spdl: settings and a service for tests of credentials
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/fetch/credentials-rig.h"

#include <string.h>

#include "tests/check/support/files.h"
#include "tests/check/support/logged.h"

GST_DEBUG_CATEGORY (spdl_fetch_debug);

gchar *home;
Service *service;
static GString *shown; /* all errors */

/* Environment, folder and service */

static void
setup (void)
{
  g_auto (GStrv) names = g_listenv ();

  for (guint i = 0; names[i]; i++)
    if (g_str_has_prefix (names[i], "AWS_") ||
        g_str_has_prefix (names[i], "HF_") ||
        g_str_has_prefix (names[i], "GOOGLE_") ||
        g_str_has_prefix (names[i], "CLOUDSDK_") ||
        g_str_has_prefix (names[i], "GCE_") ||
        g_str_has_prefix (names[i], "XDG_") ||
        g_ascii_strcasecmp (names[i], "http_proxy") == 0)
      g_unsetenv (names[i]);
  home = files_make_folder ();
  g_setenv ("HOME", home, TRUE);
  service = service_new ();
  g_setenv (
      "AWS_EC2_METADATA_SERVICE_ENDPOINT", service_get_base (service), TRUE);
  /* Requests to metadata services bypass the proxy. */
  g_setenv ("http_proxy", "http://127.0.0.1:1", TRUE);
  shown = g_string_new (NULL);
  gst_debug_set_active (TRUE);
  gst_debug_set_threshold_for_name ("spdlfetch", GST_LEVEL_LOG);
}

static void
teardown (void)
{
  g_autofree gchar *log = logged_dup_log ();

  fail_if (strstr (log, SECRET), "%s", log);
  fail_if (strstr (shown->str, SECRET), "%s", shown->str);
  g_string_free (shown, TRUE);
  service_free (service);
  files_remove_folder (home);
}

Suite *
credentials_rig_make_suite (const gchar *name, TCase **tc)
{
  Suite *suite = suite_create (name);

  GST_DEBUG_CATEGORY_INIT (spdl_fetch_debug, "spdlfetch", 0, "Fetching");
  *tc = tcase_create ("general");
  suite_add_tcase (suite, *tc);
  tcase_add_checked_fixture (*tc, setup, teardown);
  return suite;
}

gchar *
format_time (gint64 seconds)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autoptr (GDateTime) then = g_date_time_add_seconds (now, seconds);

  return g_date_time_format (then, "%Y-%m-%dT%H:%M:%SZ");
}

gchar *
make_json (guint n, gint64 seconds)
{
  g_autofree gchar *time = format_time (seconds);

  return g_strdup_printf (
      "{\"Code\": \"Success\", \"Version\": 1, \"AccessKeyId\": \"KEY%u\", "
      "\"SecretAccessKey\": \"" SECRET "-%u\", \"Token\": \"" SECRET
      "-token\", \"SessionToken\": \"" SECRET
      "-token\", \"Expiration\": \"%s\"}",
      n, n, time);
}

void
set_instance (guint n, gint64 seconds)
{
  g_autofree gchar *json = make_json (n, seconds);

  service_set (service, TOKEN, 200, NULL, SECRET "-imds");
  service_set (service, ROLES, 200, NULL, "trainer\n");
  service_set (service, ROLE, 200, NULL, json);
}

/* Requests for secrets */

void
on_ready (gpointer user_data)
{
  *(gboolean *) user_data = TRUE;
}

SpdlSecrets *
ask (SpdlCredentials *credentials, GError **error)
{
  GMainContext *context = g_main_context_new ();
  GError *fault = NULL;
  SpdlSecrets *secrets;
  gboolean ready = FALSE;

  g_main_context_push_thread_default (context);
  while (!(secrets = spdl_credentials_dup_secrets (
               credentials, on_ready, &ready, &fault)) &&
         !fault) {
    while (!ready)
      g_main_context_iteration (context, TRUE);
    ready = FALSE;
  }
  g_main_context_pop_thread_default (context);
  g_main_context_unref (context);
  if (fault) {
    g_string_append_printf (shown, "%s\n", fault->message);
    g_propagate_error (error, fault);
  }
  return secrets;
}
