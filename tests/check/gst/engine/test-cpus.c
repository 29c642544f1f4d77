/* gst-spdl: tests of CPU limits and counters on fake system files
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/engine/cpus.h"

#include <math.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "tests/check/gst/engine/systemfiles.h"

#define SECOND G_GUINT64_CONSTANT (1000000000)
#define V1_CPU "/sys/fs/cgroup/cpu,cpuacct"

typedef struct {
  const gchar *name;
  double quota;
  File files[MAX_FILES];
} Tree;

static guint64
ticks (guint n)
{
  return n * (SECOND / sysconf (_SC_CLK_TCK));
}

static const Tree trees[] = {
  { "v2", 4,
      { { "/proc/self/cgroup", "0::/jobs/a\n" },
          { "/proc/self/mountinfo", V2_MOUNT },
          { "/sys/fs/cgroup/jobs/a/cpu.max", "400000 100000\n" } } },
  { "v2/max", INFINITY,
      { { "/proc/self/cgroup", "0::/jobs/a\n" },
          { "/proc/self/mountinfo", V2_MOUNT },
          { "/sys/fs/cgroup/jobs/a/cpu.max", "max 100000\n" },
          { "/sys/fs/cgroup/jobs/cpu.max", "max 100000\n" } } },
  { "v2/fraction", 0.25,
      { { "/proc/self/cgroup", "0::/a\n" },
          { "/proc/self/mountinfo", V2_MOUNT },
          { "/sys/fs/cgroup/a/cpu.max", "50000 200000\n" } } },
  /* The lowest limit in the hierarchy applies. */
  { "v2/parent", 2,
      { { "/proc/self/cgroup", "0::/x/y/z\n" },
          { "/proc/self/mountinfo", V2_MOUNT },
          { "/sys/fs/cgroup/x/y/z/cpu.max", "800000 100000\n" },
          { "/sys/fs/cgroup/x/y/cpu.max", "200000 100000\n" },
          { "/sys/fs/cgroup/x/cpu.max", "300000 100000\n" } } },
  { "v2/grandparent", 1.5,
      { { "/proc/self/cgroup", "0::/x/y/z\n" },
          { "/proc/self/mountinfo", V2_MOUNT },
          { "/sys/fs/cgroup/x/y/cpu.max", "max 100000\n" },
          { "/sys/fs/cgroup/x/cpu.max", "150000 100000\n" } } },
  { "v2/own", 3,
      { { "/proc/self/cgroup", "0::/x/y\n" },
          { "/proc/self/mountinfo", V2_MOUNT },
          { "/sys/fs/cgroup/x/y/cpu.max", "300000 100000\n" },
          { "/sys/fs/cgroup/x/cpu.max", "1600000 100000\n" } } },
  /* Other cgroups are ignored. */
  { "v2/sibling", INFINITY,
      { { "/proc/self/cgroup", "0::/x/y\n" },
          { "/proc/self/mountinfo", V2_MOUNT },
          { "/sys/fs/cgroup/x/yz/cpu.max", "100000 100000\n" },
          { "/sys/fs/cgroup/x/y/z/cpu.max", "100000 100000\n" } } },
  /* With a cgroup namespace, as in most containers, the process's cgroup is
   * `/`. */
  { "v2/namespace", 2,
      { { "/proc/self/cgroup", "0::/\n" }, { "/proc/self/mountinfo", V2_MOUNT },
          { "/sys/fs/cgroup/cpu.max", "200000 100000\n" } } },
  { "v2/namespace and below", 1,
      { { "/proc/self/cgroup", "0::/init\n" },
          { "/proc/self/mountinfo", V2_MOUNT },
          { "/sys/fs/cgroup/init/cpu.max", "max 100000\n" },
          { "/sys/fs/cgroup/cpu.max", "100000 100000\n" } } },
  /* The namespace differs from that of the mount. */
  { "v2/outside", 2,
      { { "/proc/self/cgroup", "0::/../b\n" },
          { "/proc/self/mountinfo", V2_MOUNT },
          { "/sys/fs/cgroup/cpu.max", "200000 100000\n" },
          { "/sys/fs/b/cpu.max", "100000 100000\n" } } },
  /* Without a namespace, the container's cgroup is mounted in place of the
   * root. */
  { "v2/bind", 2,
      { { "/proc/self/cgroup", "0::/docker/1a/sub\n" },
          { "/proc/self/mountinfo",
              "30 24 0:26 /docker/1a /sys/fs/cgroup ro - cgroup2 cgroup rw\n" },
          { "/sys/fs/cgroup/sub/cpu.max", "max 100000\n" },
          { "/sys/fs/cgroup/cpu.max", "200000 100000\n" } } },
  { "v2/bind of another", 3,
      { { "/proc/self/cgroup", "0::/docker/1ab\n" },
          { "/proc/self/mountinfo",
              "30 24 0:26 /docker/1a /sys/fs/cgroup ro - cgroup2 cgroup rw\n" },
          { "/sys/fs/cgroup/b/cpu.max", "100000 100000\n" },
          { "/sys/fs/cgroup/cpu.max", "300000 100000\n" } } },
  { "v2/two mounts", 2,
      { { "/proc/self/cgroup", "0::/docker/1a\n" },
          { "/proc/self/mountinfo",
              "29 24 0:26 /lxc /mnt ro - cgroup2 cgroup rw\n" V2_MOUNT },
          { "/mnt/cpu.max", "100000 100000\n" },
          { "/sys/fs/cgroup/docker/1a/cpu.max", "200000 100000\n" } } },
  { "v2/elsewhere", 2,
      { { "/proc/self/cgroup", "0::/a b\n" },
          { "/proc/self/mountinfo",
              "30 24 0:26 / /my\\040groups rw - cgroup2 cgroup2 rw\n" },
          { "/my groups/a b/cpu.max", "200000 100000\n" } } },
  { "v2/no mountinfo", 2,
      { { "/proc/self/cgroup", "0::/a\n" },
          { "/sys/fs/cgroup/a/cpu.max", "200000 100000\n" } } },
  { "v2/no cgroup", INFINITY,
      { { "/proc/self/mountinfo", V2_MOUNT },
          { "/sys/fs/cgroup/cpu.max", "200000 100000\n" } } },

  { "v1", 2.5,
      { { "/proc/self/cgroup", "9:memory:/m\n4:cpu,cpuacct:/jobs/a\n0::/\n" },
          { "/proc/self/mountinfo", V1_MOUNT },
          { V1_CPU "/jobs/a/cpu.cfs_quota_us", "250000\n" },
          { V1_CPU "/jobs/a/cpu.cfs_period_us", "100000\n" },
          { V1_CPU "/m/cpu.cfs_quota_us", "100000\n" },
          { V1_CPU "/m/cpu.cfs_period_us", "100000\n" } } },
  { "v1/none", INFINITY,
      { { "/proc/self/cgroup", "4:cpu,cpuacct:/\n" },
          { "/proc/self/mountinfo", V1_MOUNT },
          { V1_CPU "/cpu.cfs_quota_us", "-1\n" },
          { V1_CPU "/cpu.cfs_period_us", "100000\n" } } },
  { "v1/parent", 2,
      { { "/proc/self/cgroup", "4:cpu,cpuacct:/jobs/a\n" },
          { "/proc/self/mountinfo", V1_MOUNT },
          { V1_CPU "/jobs/a/cpu.cfs_quota_us", "-1\n" },
          { V1_CPU "/jobs/a/cpu.cfs_period_us", "100000\n" },
          { V1_CPU "/jobs/cpu.cfs_quota_us", "200000\n" },
          { V1_CPU "/jobs/cpu.cfs_period_us", "100000\n" } } },
  { "v1/bind", 4,
      { { "/proc/self/cgroup", "4:cpu,cpuacct:/docker/1a\n" },
          { "/proc/self/mountinfo", "33 24 0:29 /docker/1a " V1_CPU
                                    " ro - cgroup cgroup rw,cpu,cpuacct\n" },
          { V1_CPU "/cpu.cfs_quota_us", "400000\n" },
          { V1_CPU "/cpu.cfs_period_us", "100000\n" } } },
  /* cpuset and cpuacct do not limit CPU time. */
  { "v1/other controllers", INFINITY,
      { { "/proc/self/cgroup", "4:cpuset:/a\n3:cpuacct:/a\n" },
          { "/proc/self/mountinfo",
              "33 24 0:29 / /sys/fs/cgroup/cpu rw - cgroup c rw,cpuset\n" },
          { "/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "100000\n" },
          { "/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n" } } },
  { "v1/no mountinfo", 1,
      { { "/proc/self/cgroup", "4:cpu:/a\n" },
          { "/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "100000\n" },
          { "/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n" } } },
  { "v1/no period", INFINITY,
      { { "/proc/self/cgroup", "4:cpu:/a\n" },
          { "/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "100000\n" } } },
  { "v1 and v2", 3,
      { { "/proc/self/cgroup", "4:cpu,cpuacct:/a\n0::/b\n" },
          { "/proc/self/mountinfo",
              V1_MOUNT "35 24 0:31 / /sys/fs/cgroup/unified rw - cgroup2 c "
                       "rw\n" },
          { V1_CPU "/a/cpu.cfs_quota_us", "500000\n" },
          { V1_CPU "/a/cpu.cfs_period_us", "100000\n" },
          { "/sys/fs/cgroup/unified/b/cpu.max", "300000 100000\n" } } },

  { "nothing", INFINITY, { { NULL } } },
};

static void
test_quota (gconstpointer data)
{
  const Tree *tree = data;
  gchar *root = make_tree (tree->files);

  g_assert_cmpfloat (spdl_cpus_read_quota (root), ==, tree->quota);
  remove_tree (root);
}

/* An invalid quota is ignored; limits above it still apply. */
static void
test_broken_quota (void)
{
  static const gchar *texts[] = { "", "\n", "max", "100000", "x 100000",
    "100000 x", "0 100000", "100000 0", "-100000 100000", "100000 -1",
    "100000 100000 100000", "1e5 100000", "99999999999999999999 100000",
    "100000,100000", "\xff\xfe 1" };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    const File files[MAX_FILES] = { { "/proc/self/cgroup", "0::/x/y\n" },
      { "/proc/self/mountinfo", V2_MOUNT },
      { "/sys/fs/cgroup/x/y/cpu.max", texts[i] },
      { "/sys/fs/cgroup/x/cpu.max", "500000 100000\n" } };
    gchar *root = make_tree (files);

    g_assert_cmpfloat (spdl_cpus_read_quota (root), ==, 5);
    remove_tree (root);
  }
}

static void
test_broken_tables (void)
{
  static const gchar *cgroups[] = { "", "0", "0:", "0::", "0::x/y",
    "::", "0:cpu:", "zero::/x", ":::::::", "0::/x/y\xff" };
  static const gchar *mounts[] = { "", "-", "30 24 0:26 / /sys",
    "30 24 0:26 / /sys/fs/cgroup rw -", "30 24 0:26 / /x rw - cgroup2 a",
    "- - - - - - - - - - -", "30 24 0:26 / /sys/fs/cgroup rw cgroup2 a rw" };

  for (guint i = 0; i < G_N_ELEMENTS (cgroups); i++) {
    const File files[MAX_FILES] = { { "/proc/self/cgroup", cgroups[i] },
      { "/proc/self/mountinfo", V2_MOUNT V1_MOUNT },
      { "/sys/fs/cgroup/x/y/cpu.max", "500000 100000\n" } };
    gchar *root = make_tree (files);

    g_assert_cmpfloat (spdl_cpus_read_quota (root), ==, INFINITY);
    remove_tree (root);
  }
  /* Without mount information, cgroups are searched in the usual place. */
  for (guint i = 0; i < G_N_ELEMENTS (mounts); i++) {
    const File files[MAX_FILES] = { { "/proc/self/cgroup", "0::/x/y\n" },
      { "/proc/self/mountinfo", mounts[i] },
      { "/sys/fs/cgroup/x/y/cpu.max", "500000 100000\n" } };
    gchar *root = make_tree (files);

    g_assert_cmpfloat (spdl_cpus_read_quota (root), ==, 5);
    remove_tree (root);
  }
}

/* The lower of affinity and quota applies; fractions are rounded up. */
static void
test_limit (void)
{
  static const struct {
    guint n_cpus;
    const gchar *max;
    double limit;
    guint count;
  } cases[] = {
    { 64, "400000 100000", 4, 4 },
    { 2, "400000 100000", 2, 2 },
    { 64, "max 100000", 64, 64 },
    { 64, "250000 100000", 2.5, 3 },
    { 64, "10000 100000", 0.1, 1 },
    { 1, "max 100000", 1, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const File files[MAX_FILES] = { { "/proc/self/cgroup", "0::/\n" },
      { "/proc/self/mountinfo", V2_MOUNT },
      { "/sys/fs/cgroup/cpu.max", cases[i].max } };
    gchar *root = make_tree (files);

    spdl_cpus_pretend (root, cases[i].n_cpus);
    g_assert_cmpfloat (spdl_cpus_get_limit (), ==, cases[i].limit);
    g_assert_cmpuint (spdl_cpus_count (), ==, cases[i].count);
    spdl_cpus_pretend (NULL, 0);
    remove_tree (root);
  }
}

/* Tests the affinity of this process, which is changed permanently. */
static void
test_affinity (void)
{
  g_autofree gchar *stat = NULL;
  File files[MAX_FILES] = { { "/proc/stat" } };
  gchar *root;
  SpdlCpuTimes times;
  cpu_set_t cpus;
  guint n, first = 0;

  g_assert_cmpint (sched_getaffinity (0, sizeof cpus, &cpus), ==, 0);
  n = CPU_COUNT (&cpus);
  while (!CPU_ISSET (first, &cpus))
    first++;
  stat = g_strdup_printf (
      "cpu%u 1 0 0 5 0 0 0 0\ncpu9000 9 0 0 9 0 0 0 0\n", first);
  files[0].text = stat;
  root = make_tree (files);
  spdl_cpus_pretend (root, 0);
  g_assert_cmpuint (spdl_cpus_count (), ==, n);
  CPU_ZERO (&cpus);
  CPU_SET (first, &cpus);
  g_assert_cmpint (sched_setaffinity (0, sizeof cpus, &cpus), ==, 0);
  g_assert_cmpuint (spdl_cpus_count (), ==, 1);
  g_assert_cmpfloat (spdl_cpus_get_limit (), ==, 1);
  spdl_cpus_get_times (&times);
  g_assert_cmpuint (times.n_cpus, ==, 1);
  g_assert_cmpuint (times.idle, ==, ticks (5));
  spdl_cpus_pretend (NULL, 0);
  remove_tree (root);
}

/* Counters */

static SpdlCpuTimes
read_times (const File *files, const gboolean *allowed, guint n)
{
  gchar *root = make_tree (files);
  SpdlCpuTimes times;

  spdl_cpus_read_times (root, allowed, n, &times);
  remove_tree (root);
  return times;
}

static const gchar stat_text[] =
    "cpu  1111 2222 3333 4444 5555 6666 7777 8888 0 0\n"
    "cpu0 100 20 30 4000 500 6 7 8 99 9\n"
    "cpu1 1000 0 0 70 0 0 0 0 0 0\n"
    "cpu3 1 2 3 4\n"
    "intr 1 2 3\nctxt 5\n";

static void
test_stat (void)
{
  const File files[MAX_FILES] = { { "/proc/stat", stat_text } };
  const gboolean first[] = { TRUE, FALSE },
                 last[] = { FALSE, FALSE, FALSE, TRUE },
                 none[] = { FALSE, FALSE, TRUE };
  SpdlCpuTimes t = read_times (files, NULL, 0);

  g_assert_cmpuint (t.n_cpus, ==, 3);
  g_assert_cmpuint (t.idle, ==, ticks (4000 + 500 + 70 + 4));
  g_assert_cmpuint (
      t.busy, ==, ticks (100 + 20 + 30 + 6 + 7 + 8 + 1000 + 1 + 2 + 3));
  g_assert_false (t.has_pressure);
  t = read_times (files, first, G_N_ELEMENTS (first));
  g_assert_cmpuint (t.n_cpus, ==, 1);
  g_assert_cmpuint (t.idle, ==, ticks (4500));
  g_assert_cmpuint (t.busy, ==, ticks (171));
  t = read_times (files, last, G_N_ELEMENTS (last));
  g_assert_cmpuint (t.n_cpus, ==, 1);
  g_assert_cmpuint (t.idle, ==, ticks (4));
  /* If CPUs are numbered differently, all of them count. */
  t = read_times (files, none, G_N_ELEMENTS (none));
  g_assert_cmpuint (t.n_cpus, ==, 3);
}

static void
test_broken_stat (void)
{
  static const gchar *texts[] = { "", "cpu", "cpu 1 2 3 4", "cpux 1 2 3 4",
    "cpu0", "cpu0 1 2 3", "cpu0 a b c d", "\xff\xff" };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    const File files[MAX_FILES] = { { "/proc/stat", texts[i] } };
    const SpdlCpuTimes t = read_times (files, NULL, 0);

    g_assert_cmpuint (t.n_cpus, ==, 0);
    g_assert_cmpuint (t.busy, ==, 0);
    g_assert_cmpuint (t.idle, ==, 0);
  }
}

#define PRESSURE(us)                                      \
  "some avg10=1.00 avg60=2.00 avg300=3.00 total=" us "\n" \
  "full avg10=0.00 avg60=0.00 avg300=0.00 total=77\n"

/* The pressure is that of the process's cgroup, or else of the machine. */
static void
test_pressure (void)
{
  File files[MAX_FILES] = { { "/proc/self/cgroup", "0::/x\n" },
    { "/proc/self/mountinfo", V2_MOUNT },
    { "/sys/fs/cgroup/x/cpu.pressure", PRESSURE ("1234") },
    { "/sys/fs/cgroup/cpu.pressure", PRESSURE ("5") },
    { "/proc/pressure/cpu", PRESSURE ("6000000") } };
  SpdlCpuTimes t = read_times (files, NULL, 0);

  g_assert_true (t.has_pressure);
  g_assert_cmpuint (t.pressure, ==, 1234 * 1000);
  files[2].text = "";
  t = read_times (files, NULL, 0);
  g_assert_true (t.has_pressure);
  g_assert_cmpuint (t.pressure, ==, 6 * SECOND);
  files[0] = files[4];
  files[1] = (File){ NULL };
  t = read_times (files, NULL, 0);
  g_assert_true (t.has_pressure);
  g_assert_cmpuint (t.pressure, ==, 6 * SECOND);
}

static void
test_broken_pressure (void)
{
  static const gchar *texts[] = { "", "some", "some total=5",
    "full avg10=0.00 avg60=0.00 avg300=0.00 total=5",
    "some avg10=0.00 avg60=0.00 avg300=0.00 total=",
    "some avg10=0.00 avg60=0.00 avg300=0.00 total=-1",
    "some avg10=0.00 avg60=0.00 avg300=0.00 total=5x",
    "some avg10=0.00 avg60=0.00 avg300=0.00\nfull total=5" };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    const File files[MAX_FILES] = { { "/proc/pressure/cpu", texts[i] } };

    g_assert_false (read_times (files, NULL, 0).has_pressure);
  }
}

/* Sums the delays of all threads, each of which has a file. */
static void
test_delay (void)
{
  const File files[MAX_FILES] = { { "/proc/self/task/7/schedstat",
                                      "1 2000 3\n" },
    { "/proc/self/task/81/schedstat", "100 50 1\n" },
    { "/proc/self/task/82/schedstat", "" },
    { "/proc/self/task/83/schedstat", "5\n" },
    { "/proc/self/task/84/schedstat", "a b c\n" },
    { "/proc/self/task/85/status", "1 1 1\n" } };
  const File broken[MAX_FILES] = { { "/proc/self/task/7/schedstat", "x" } };
  SpdlCpuTimes t = read_times (files, NULL, 0);

  g_assert_true (t.has_delay);
  g_assert_cmpuint (t.delay, ==, 2050);
  g_assert_false (read_times (broken, NULL, 0).has_delay);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (trees); i++) {
    g_autofree gchar *path = g_strconcat ("/cpus/quota/", trees[i].name, NULL);

    g_test_add_data_func (path, &trees[i], test_quota);
  }
  g_test_add_func ("/cpus/quota/broken", test_broken_quota);
  g_test_add_func ("/cpus/quota/broken tables", test_broken_tables);
  g_test_add_func ("/cpus/limit", test_limit);
  g_test_add_func ("/cpus/stat", test_stat);
  g_test_add_func ("/cpus/stat/broken", test_broken_stat);
  g_test_add_func ("/cpus/pressure", test_pressure);
  g_test_add_func ("/cpus/pressure/broken", test_broken_pressure);
  g_test_add_func ("/cpus/delay", test_delay);
  g_test_add_func ("/cpus/affinity", test_affinity);
  return g_test_run ();
}
