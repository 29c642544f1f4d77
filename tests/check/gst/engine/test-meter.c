/* gst-spdl: tests of the meter with virtual time
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/engine/meter.h"

static guint64 now;

static guint64
get_now (gpointer user_data)
{
  return now;
}

static SpdlMeter *
new_meter (void)
{
  const SpdlClock clock = { get_now, NULL };
  SpdlMeter *m = g_new0 (SpdlMeter, 1);

  now = 1000;
  spdl_meter_start (m, &clock);
  return m;
}

static SpdlMeterStats
interval (SpdlMeter *m, guint64 at, guint64 cpu)
{
  SpdlMeterStats f;

  spdl_meter_snapshot (m, TRUE, at, cpu, &f);
  spdl_meter_end_interval (m, at, cpu);
  return f;
}

static SpdlMeterStats
total (SpdlMeter *m, guint64 at, guint64 cpu)
{
  SpdlMeterStats f;

  spdl_meter_snapshot (m, FALSE, at, cpu, &f);
  return f;
}

/* A schedule with known statistics. */
static void
test_schedule (void)
{
  SpdlMeter *m = new_meter ();
  SpdlMeterStats f;

  spdl_meter_set_occupied (m, TRUE, 1100);
  spdl_meter_set_occupied (m, TRUE, 1150);  /* no change */
  spdl_meter_set_occupied (m, FALSE, 1400); /* 300 occupied */
  m->interval.items += 4;
  m->interval.tasks += 4;
  m->interval.failures += 1;
  for (guint i = 1; i <= 3; i++)
    spdl_histogram_add (&m->interval.task_time, i * 10);
  f = interval (m, 2000, 700);
  g_assert_true (f.interval);
  g_assert_cmpuint (f.elapsed, ==, 1000);
  g_assert_cmpfloat (f.occupancy_rate, ==, 0.3);
  g_assert_cmpfloat (f.qps, ==, 4e6);
  g_assert_cmpuint (f.num_tasks, ==, 4);
  g_assert_cmpuint (f.num_failures, ==, 1);
  g_assert_cmpuint (f.ave_time, ==, 20);
  g_assert_cmpuint (f.p99_time, ==, 30);
  g_assert_cmpuint (f.cpu_time, ==, 700);

  m->interval.items += 1;
  spdl_histogram_add (&m->interval.task_time, 100);
  f = interval (m, 3000, 900);
  g_assert_cmpuint (f.num_items, ==, 1);
  g_assert_cmpuint (f.ave_time, ==, 100);
  g_assert_cmpuint (f.cpu_time, ==, 200);
  g_assert_cmpfloat (f.occupancy_rate, ==, 0);

  f = total (m, 5000, 900);
  g_assert_false (f.interval);
  g_assert_cmpuint (f.elapsed, ==, 4000);
  g_assert_cmpuint (f.num_items, ==, 5);
  g_assert_cmpuint (f.ave_time, ==, 40);
  g_assert_cmpuint (f.cpu_time, ==, 900);
  g_assert_cmpfloat (f.occupancy_rate, ==, 300.0 / 4000);
  g_free (m);
}

/* Time that is still running at the end of an interval is counted in that
 * interval. */
static void
test_running_time (void)
{
  SpdlMeter *m = new_meter ();

  spdl_meter_set_occupied (m, TRUE, 1500);
  g_assert_cmpfloat (interval (m, 2000, 0).occupancy_rate, ==, 0.5);
  /* The queue is occupied during the whole interval. */
  g_assert_cmpfloat (interval (m, 3000, 0).occupancy_rate, ==, 1.0);
  spdl_meter_set_occupied (m, FALSE, 3250);
  g_assert_cmpfloat (interval (m, 4000, 0).occupancy_rate, ==, 0.25);
  /* No data. */
  g_assert_cmpfloat (interval (m, 5000, 0).occupancy_rate, ==, 0.0);
  g_assert_cmpfloat (total (m, 5000, 0).occupancy_rate, ==, 0.4375);
  g_free (m);
}

/* A thread may report a time shortly before the end of the previous
 * interval. */
static void
test_late_news (void)
{
  SpdlMeter *m = new_meter ();

  interval (m, 2000, 0);
  spdl_meter_set_occupied (m, TRUE, 1990);
  spdl_meter_set_occupied (m, FALSE, 2100);
  g_assert_cmpfloat (interval (m, 3000, 0).occupancy_rate, ==, 0.1);
  spdl_meter_set_occupied (m, TRUE, 3100);
  spdl_meter_set_occupied (m, FALSE, 3050);
  g_assert_cmpfloat (interval (m, 4000, 0).occupancy_rate, ==, 0.0);
  g_free (m);
}

/* A trainer with known waits and steps. */
static void
test_steps (void)
{
  SpdlMeter *m = new_meter ();
  SpdlMeterStats f;

  /* There is no step before the first batch. */
  spdl_meter_pulled (m, 1100, 1500);
  f = interval (m, 1600, 0);
  g_assert_cmpuint (f.ave_get_time, ==, 400);
  g_assert_cmpuint (f.ave_step_time, ==, 0);
  /* Steps of 20, 22 and 60; the end of the interval does not count. */
  spdl_meter_pulled (m, 1520, 1521);
  spdl_meter_pulled (m, 1543, 1550);
  spdl_meter_pulled (m, 1610, 1613);
  f = total (m, 1700, 0);
  g_assert_cmpuint (f.ave_step_time, ==, 34);
  g_assert_cmpuint (f.p50_step_time, ==, 22);
  g_assert_cmpuint (f.p99_step_time, ==, 60);
  f = interval (m, 1700, 0);
  g_assert_cmpuint (f.ave_get_time, ==, 3);

  /* A wait in slices, with pauses of 2 between them. */
  spdl_meter_waited (m, 1623, 1633);
  spdl_meter_waited (m, 1635, 1645);
  spdl_meter_pulled (m, 1647, 1650);
  f = interval (m, 1700, 0);
  g_assert_cmpuint (f.ave_get_time, ==, 23);
  g_assert_cmpuint (f.ave_step_time, ==, 14);
  /* The end of an epoch, with a wait of 5 + 10. */
  spdl_meter_waited (m, 1660, 1665);
  spdl_meter_passed (m, 1665, 1675);
  spdl_meter_pulled (m, 1680, 1690);
  f = interval (m, 1700, 0);
  g_assert_cmpuint (f.ave_get_time, ==, 10);
  g_assert_cmpuint (f.ave_step_time, ==, 15);
  g_free (m);
}

/* Two threads pull: the second one waits while the first has its batch. */
static void
test_steps_of_several (void)
{
  SpdlMeter *m = new_meter ();
  SpdlMeterStats f;

  spdl_meter_pulled (m, 1100, 1200);
  spdl_meter_pulled (m, 1100, 1300);
  f = interval (m, 1400, 0);
  g_assert_cmpuint (f.ave_get_time, ==, 150);
  g_assert_cmpuint (f.ave_step_time, ==, 0);
  g_free (m);
}

static void
test_stop (void)
{
  SpdlMeter *m = new_meter ();

  m->interval.items = 10;
  spdl_meter_set_occupied (m, TRUE, 1000);
  spdl_meter_stop (m, 2000);
  spdl_meter_stop (m, 9000);
  const SpdlMeterStats f = total (m, 50000, 0);
  g_assert_cmpuint (f.elapsed, ==, 1000);
  g_assert_cmpfloat (f.occupancy_rate, ==, 1.0);
  g_assert_cmpfloat (f.qps, ==, 1e7);
  g_free (m);
}

static void
test_nothing (void)
{
  SpdlMeter *m = g_new0 (SpdlMeter, 1);
  SpdlMeterStats f = total (m, 12345, 0);

  /* A meter that was never started. */
  g_assert_cmpuint (f.elapsed, ==, 0);
  g_assert_cmpfloat (f.qps, ==, 0);
  g_free (m);
  m = new_meter ();
  f = total (m, 1000, 0);
  g_assert_cmpfloat (f.qps, ==, 0);
  g_assert_cmpfloat (f.occupancy_rate, ==, 0);
  g_free (m);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/meter/schedule", test_schedule);
  g_test_add_func ("/meter/running-time", test_running_time);
  g_test_add_func ("/meter/late-news", test_late_news);
  g_test_add_func ("/meter/steps", test_steps);
  g_test_add_func ("/meter/steps-of-several", test_steps_of_several);
  g_test_add_func ("/meter/stop", test_stop);
  g_test_add_func ("/meter/nothing", test_nothing);
  return g_test_run ();
}
