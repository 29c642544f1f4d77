/* gst-spdl: a program with one suite of tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/check/gstcheck.h>

/* Defines main(), which runs the tests:
 *
 *     CHECK_SUITE (route, TIMEOUT (180), FIXTURE (set_up, tear_down),
 *         TEST (test_conditions), LOOP (test_joined, 5))
 *
 * LOOP calls a test with each __i__ below the number. FIXTURE has functions
 * that are called before and after each test, TIMEOUT the seconds that a test
 * may take. Other calls, such as of g_unsetenv(), are made before the first
 * test. */
#define CHECK_SUITE(name, ...)               \
  static Suite *name##_suite (void)          \
  {                                          \
    Suite *suite = suite_create (#name);     \
    TCase *tests = tcase_create ("general"); \
                                             \
    suite_add_tcase (suite, tests);          \
    __VA_ARGS__;                             \
    return suite;                            \
  }                                          \
                                             \
  GST_CHECK_MAIN (name)

#define TEST(test) tcase_add_test (tests, test)
#define LOOP(test, n) tcase_add_loop_test (tests, test, 0, n)
#define FIXTURE(set_up, tear_down) \
  tcase_add_checked_fixture (tests, set_up, tear_down)
#define TIMEOUT(seconds) tcase_set_timeout (tests, seconds)
