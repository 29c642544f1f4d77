/* gst-spdl: tests of the renewal of credentials for object stores
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/fetch/credentials-rig.h"
#include "tests/check/support/files.h"
#include "tests/check/support/logged.h"
#include "tests/check/support/wait.h"

/* Waits until the service has received @n requests for a role's credentials,
 * and no more. */
static void
wait_for_questions (guint n)
{
  wait_until (service_count (service, ROLE) >= n);
  wait_until_asleep ();
  fail_unless_equals_int (service_count (service, ROLE), n);
}

/* Checks that the key is available immediately, or only after a wait with
 * @wait. */
static void
assert_now (SpdlCredentials *credentials, gboolean wait, const gchar *key)
{
  GMainContext *context = g_main_context_new ();
  gboolean ready = FALSE;
  g_autoptr (SpdlSecrets) secrets = NULL;

  g_main_context_push_thread_default (context);
  secrets = spdl_credentials_dup_secrets (credentials, on_ready, &ready, NULL);
  fail_unless ((secrets == NULL) == wait, "%s", key);
  if (!secrets) {
    while (!ready)
      g_main_context_iteration (context, TRUE);
    secrets =
        spdl_credentials_dup_secrets (credentials, on_ready, &ready, NULL);
  }
  g_main_context_pop_thread_default (context);
  g_main_context_unref (context);
  fail_unless_equals_string (secrets->access_key, key);
}

static gboolean
has_key (SpdlCredentials *credentials, const gchar *key)
{
  g_autoptr (SpdlSecrets) secrets = ask (credentials, NULL);

  return g_strcmp0 (secrets->access_key, key) == 0;
}

#define MINUTE G_TIME_SPAN_MINUTE
#define SECOND G_TIME_SPAN_SECOND

GST_START_TEST (test_renewal)
{
  SpdlCredentials *credentials = spdl_credentials_new (AWS, NULL);

  set_instance (1, 3600);
  assert_now (credentials, TRUE, "KEY1");
  set_instance (2, 7200);
  spdl_credentials_advance (credentials, 54 * MINUTE);
  assert_now (credentials, FALSE, "KEY1");
  wait_for_questions (1);
  /* Less than five minutes before expiry, renewal starts in the background. */
  spdl_credentials_advance (credentials, 90 * SECOND);
  assert_now (credentials, FALSE, "KEY1");
  wait_until (has_key (credentials, "KEY2"));
  fail_unless_equals_int (service_count (service, ROLE), 2);

  /* Less than 10 s before expiry, callers wait for the renewal. */
  set_instance (3, 3 * 3600);
  spdl_credentials_advance (credentials, 64 * MINUTE + 25 * SECOND);
  assert_now (credentials, TRUE, "KEY3");
  fail_unless_equals_int (service_count (service, ROLE), 3);

  /* With a lifetime of 8 minutes, renewal starts after half of it. */
  spdl_credentials_advance (credentials, 60 * MINUTE);
  set_instance (4, 3 * 3600 + 480);
  assert_now (credentials, TRUE, "KEY4");
  set_instance (5, 4 * 3600);
  spdl_credentials_advance (credentials, 3 * MINUTE);
  assert_now (credentials, FALSE, "KEY4");
  wait_for_questions (4);
  spdl_credentials_advance (credentials, 90 * SECOND);
  assert_now (credentials, FALSE, "KEY4");
  wait_until (has_key (credentials, "KEY5"));
  spdl_credentials_free (credentials);
}

GST_END_TEST;

/* Tests that a failed renewal has no effect while the old credentials are
 * valid. */
GST_START_TEST (test_renewal_fails)
{
  SpdlCredentials *credentials = spdl_credentials_new (AWS, NULL);
  g_autoptr (GError) error = NULL;
  guint n;

  set_instance (1, 3600);
  assert_now (credentials, TRUE, "KEY1");
  service_set (service, ROLE, 403, NULL, SECRET);
  spdl_credentials_advance (credentials, 56 * MINUTE);
  assert_now (credentials, FALSE, "KEY1");
  wait_for_questions (2);
  for (guint i = 0; i < 20; i++)
    assert_now (credentials, FALSE, "KEY1");
  wait_for_questions (2);
  spdl_credentials_advance (credentials, SPDL_CREDENTIALS_PAUSE);
  assert_now (credentials, FALSE, "KEY1");
  wait_for_questions (3);

  /* After they expire, the failure is reported, and cached for some seconds. */
  spdl_credentials_advance (credentials, 4 * MINUTE);
  fail_unless (ask (credentials, &error) == NULL);
  fail_unless (g_error_matches (error, GST_RESOURCE_ERROR, NOT_AUTHORIZED));
  n = service_count (service, ROLE);
  for (guint i = 0; i < 100; i++)
    fail_unless (ask (credentials, NULL) == NULL);
  fail_unless_equals_int (service_count (service, ROLE), n);
  set_instance (2, 3 * 3600);
  spdl_credentials_advance (credentials, SPDL_CREDENTIALS_PAUSE);
  assert_now (credentials, TRUE, "KEY2");
  fail_unless_equals_int (service_count (service, ROLE), n + 1);
  spdl_credentials_free (credentials);
}

GST_END_TEST;

/* Tests that refusals of the same credentials cause exactly one new request. */
GST_START_TEST (test_refuse)
{
  SpdlCredentials *credentials = spdl_credentials_new (AWS, NULL);
  SpdlSecrets *old, *same, *other;

  set_instance (1, 3600);
  old = ask (credentials, NULL);
  set_instance (2, 3600);
  fail_unless (spdl_credentials_refuse (credentials, old));
  fail_unless (spdl_credentials_refuse (credentials, old));
  assert_now (credentials, TRUE, "KEY2");
  fail_unless (spdl_credentials_refuse (credentials, old));
  assert_now (credentials, FALSE, "KEY2");
  fail_unless_equals_int (service_count (service, ROLE), 2);

  /* The service sends the same credentials again: there is no other request for
   * some seconds. */
  other = ask (credentials, NULL);
  fail_unless (spdl_credentials_refuse (credentials, other));
  same = ask (credentials, NULL);
  fail_unless_equals_string (same->access_key, "KEY2");
  fail_unless_equals_int (service_count (service, ROLE), 3);
  fail_if (spdl_credentials_refuse (credentials, same));
  fail_if (spdl_credentials_refuse (credentials, same));
  assert_now (credentials, FALSE, "KEY2");
  fail_unless_equals_int (service_count (service, ROLE), 3);
  spdl_credentials_advance (credentials, SPDL_CREDENTIALS_PAUSE);
  fail_unless (spdl_credentials_refuse (credentials, same));
  assert_now (credentials, TRUE, "KEY2");
  fail_unless_equals_int (service_count (service, ROLE), 4);
  spdl_secrets_unref (old);
  spdl_secrets_unref (same);
  spdl_secrets_unref (other);
  spdl_credentials_free (credentials);
}

GST_END_TEST;

static gpointer
ask_many (gpointer data)
{
  for (guint i = 0; i < 1000; i++) {
    SpdlSecrets *secrets =
        ask (spdl_credentials_get (AWS, i % 2 ? "x" : NULL), NULL);

    g_assert_nonnull (secrets);
    g_assert_cmpstr (secrets->access_key, ==, "KEY1");
    /* One call in a thousand reports a refusal. */
    if (i == 500)
      spdl_credentials_refuse (spdl_credentials_get (AWS, NULL), data);
    spdl_secrets_unref (secrets);
  }
  return NULL;
}

/* Tests that all threads share one request per profile, and one after a
 * refusal. */
GST_START_TEST (test_threads)
{
  GThread *threads[8];
  SpdlSecrets *first;

  files_write_text (home, ".aws/config", "[profile x]\nregion=a\n");
  set_instance (1, 3600);
  fail_unless (
      spdl_credentials_get (AWS, NULL) == spdl_credentials_get (AWS, NULL));
  fail_if (spdl_credentials_get (AWS, NULL) == spdl_credentials_get (AWS, "x"));
  fail_if (spdl_credentials_get (AWS, NULL) ==
           spdl_credentials_get (SPDL_CREDENTIALS_GOOGLE, NULL));
  first = ask (spdl_credentials_get (AWS, NULL), NULL);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("ask", ask_many, first);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  spdl_secrets_unref (first);
  fail_unless_equals_int (service_count (service, ROLE), 3);
  fail_unless_equals_int (service_count (service, TOKEN), 3);
}

GST_END_TEST;

/* Tests that a caller that has stopped waiting is not called back, before or
 * after the response. */
GST_START_TEST (test_stop_waiting)
{
  SpdlCredentials *credentials = spdl_credentials_new (AWS, NULL);
  gboolean ready[3] = { FALSE };

  set_instance (1, 3600);
  for (guint i = 0; i < G_N_ELEMENTS (ready); i++)
    fail_if (
        spdl_credentials_dup_secrets (credentials, on_ready, &ready[i], NULL));
  spdl_credentials_stop_waiting (credentials, &ready[0]);
  wait_for_questions (1);
  spdl_credentials_stop_waiting (credentials, &ready[1]);
  spdl_credentials_stop_waiting (credentials, &ready[1]);
  while (!ready[2])
    g_main_context_iteration (NULL, TRUE);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  fail_if (ready[0] || ready[1]);
  assert_now (credentials, FALSE, "KEY1");
  fail_unless_equals_int (service_count (service, ROLE), 1);
  spdl_credentials_free (credentials);
}

GST_END_TEST;

/* Tests that threads exist only while a request is in flight. */
GST_START_TEST (test_no_threads)
{
  SpdlCredentials *credentials = spdl_credentials_new (AWS, NULL);
  guint n;

  set_instance (1, 3600);
  assert_now (credentials, TRUE, "KEY1");
  wait_until_asleep ();
  n = files_count_threads ();
  spdl_credentials_advance (credentials, 56 * MINUTE);
  assert_now (credentials, FALSE, "KEY1");
  wait_for_questions (2);
  wait_until (files_count_threads () <= n);
  spdl_credentials_free (credentials);
}

GST_END_TEST;

static Suite *
credentials_renewal_suite (void)
{
  TCase *tc;
  Suite *suite = credentials_rig_make_suite ("credentials-renewal", &tc);

  tcase_add_test (tc, test_renewal);
  tcase_add_test (tc, test_renewal_fails);
  tcase_add_test (tc, test_refuse);
  tcase_add_test (tc, test_threads);
  tcase_add_test (tc, test_stop_waiting);
  tcase_add_test (tc, test_no_threads);
  return suite;
}

int
main (int argc, char **argv)
{
  return logged_run (
      argc, argv, credentials_renewal_suite, "credentials-renewal");
}
