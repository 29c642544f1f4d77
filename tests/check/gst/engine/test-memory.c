/* gst-spdl: tests of the memory limit on fake system files
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <unistd.h>

#include "gst/spdl/engine/cgroup.h"
#include "tests/check/gst/engine/systemfiles.h"

#define KB G_GUINT64_CONSTANT (1024)
#define GB (KB * KB * KB)
#define V1_MEMORY "/sys/fs/cgroup/memory"
#define UNLIMITED_V1 "9223372036854771712\n"

typedef struct {
  const gchar *name;
  guint64 limit;
  File files[MAX_FILES];
} Tree;

/* A machine with 16 GiB. */
#define MACHINE                                                        \
  {                                                                    \
    "/proc/meminfo", "MemTotal:       16777216 kB\nMemFree: 1024 kB\n" \
  }

static const Tree trees[] = {
  { "machine", 16 * GB, { MACHINE } },
  { "nothing", G_MAXUINT64, { { NULL } } },
  { "v2", 4 * GB,
      { MACHINE, { "/proc/self/cgroup", "0::/jobs/a\n" },
          { "/proc/self/mountinfo", V2_MOUNT },
          { "/sys/fs/cgroup/jobs/a/memory.max", "4294967296\n" } } },
  { "v2/max", 16 * GB,
      { MACHINE, { "/proc/self/cgroup", "0::/jobs/a\n" },
          { "/proc/self/mountinfo", V2_MOUNT },
          { "/sys/fs/cgroup/jobs/a/memory.max", "max\n" },
          { "/sys/fs/cgroup/jobs/a/memory.high", "max\n" } } },
  { "v2/above the machine's", 16 * GB,
      { MACHINE, { "/proc/self/cgroup", "0::/jobs/a\n" },
          { "/proc/self/mountinfo", V2_MOUNT },
          { "/sys/fs/cgroup/jobs/a/memory.max", "68719476736\n" } } },
  { "v2/high", 2 * GB,
      { MACHINE, { "/proc/self/cgroup", "0::/a\n" },
          { "/proc/self/mountinfo", V2_MOUNT },
          { "/sys/fs/cgroup/a/memory.max", "4294967296\n" },
          { "/sys/fs/cgroup/a/memory.high", "2147483648\n" } } },
  { "v2/parent", 1 * GB,
      { MACHINE, { "/proc/self/cgroup", "0::/x/y/z\n" },
          { "/proc/self/mountinfo", V2_MOUNT },
          { "/sys/fs/cgroup/x/y/z/memory.max", "max\n" },
          { "/sys/fs/cgroup/x/y/memory.max", "4294967296\n" },
          { "/sys/fs/cgroup/x/memory.max", "1073741824\n" } } },
  /* A container whose cgroup is mounted in place of the root. */
  { "v2/namespace", 3 * GB,
      { MACHINE, { "/proc/self/cgroup", "0::/\n" },
          { "/proc/self/mountinfo", V2_MOUNT },
          { "/sys/fs/cgroup/memory.max", "3221225472\n" } } },
  { "v2/without the machine's", 3 * GB,
      { { "/proc/self/cgroup", "0::/\n" }, { "/proc/self/mountinfo", V2_MOUNT },
          { "/sys/fs/cgroup/memory.max", "3221225472\n" } } },
  { "v1", 4 * GB,
      { MACHINE,
          { "/proc/self/cgroup", "9:memory:/m\n4:cpu,cpuacct:/jobs/a\n0::/\n" },
          { "/proc/self/mountinfo", V1_MOUNT },
          { V1_MEMORY "/m/memory.limit_in_bytes", "4294967296\n" },
          { V1_MEMORY "/jobs/a/memory.limit_in_bytes", "1024\n" } } },
  { "v1/parent", 2 * GB,
      { MACHINE, { "/proc/self/cgroup", "9:memory:/x/y\n" },
          { "/proc/self/mountinfo", V1_MOUNT },
          { V1_MEMORY "/x/y/memory.limit_in_bytes", UNLIMITED_V1 },
          { V1_MEMORY "/x/memory.limit_in_bytes", "2147483648\n" },
          { V1_MEMORY "/memory.limit_in_bytes", UNLIMITED_V1 } } },
  { "v1/none", 16 * GB,
      { MACHINE, { "/proc/self/cgroup", "9:memory:/\n" },
          { "/proc/self/mountinfo", V1_MOUNT },
          { V1_MEMORY "/memory.limit_in_bytes", UNLIMITED_V1 } } },
  { "v1/none, without the machine's", G_MAXUINT64,
      { { "/proc/self/cgroup", "9:memory:/\n" },
          { "/proc/self/mountinfo", V1_MOUNT },
          { V1_MEMORY "/memory.limit_in_bytes", UNLIMITED_V1 } } },
  { "v1/bind", 1 * GB,
      { MACHINE, { "/proc/self/cgroup", "9:memory:/docker/1a\n" },
          { "/proc/self/mountinfo", "33 24 0:29 /docker/1a " V1_MEMORY
                                    " ro - cgroup cgroup rw,memory\n" },
          { V1_MEMORY "/memory.limit_in_bytes", "1073741824\n" } } },
  { "v1/no mountinfo", 1 * GB,
      { MACHINE, { "/proc/self/cgroup", "9:memory:/a\n" },
          { V1_MEMORY "/a/memory.limit_in_bytes", "1073741824\n" } } },
  { "v1 and v2", 1 * GB,
      { MACHINE, { "/proc/self/cgroup", "9:memory:/a\n0::/b\n" },
          { "/proc/self/mountinfo",
              V1_MOUNT "35 24 0:31 / /sys/fs/cgroup/unified rw - cgroup2 c "
                       "rw\n" },
          { V1_MEMORY "/a/memory.limit_in_bytes", "2147483648\n" },
          { "/sys/fs/cgroup/unified/b/memory.max", "1073741824\n" } } },
};

static void
test_limit (gconstpointer data)
{
  const Tree *tree = data;
  gchar *root = make_tree (tree->files);

  g_assert_cmpuint (spdl_memory_read_limit (root), ==, tree->limit);
  spdl_cgroup_pretend (root);
  g_assert_cmpuint (spdl_memory_get_limit (), ==, tree->limit);
  spdl_cgroup_pretend (NULL);
  remove_tree (root);
}

/* An invalid limit is ignored; limits above it still apply. */
static void
test_broken_limit (void)
{
  static const gchar *texts[] = { "", "\n", "0", "-1", "1e9", "5 5", "5x",
    "99999999999999999999", "\xff\xfe 1" };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    const File files[MAX_FILES] = { { "/proc/self/cgroup", "0::/x/y\n" },
      { "/proc/self/mountinfo", V2_MOUNT },
      { "/sys/fs/cgroup/x/y/memory.max", texts[i] },
      { "/sys/fs/cgroup/x/memory.max", "5000\n" } };
    gchar *root = make_tree (files);

    g_assert_cmpuint (spdl_memory_read_limit (root), ==, 5000);
    remove_tree (root);
  }
}

static void
test_broken_total (void)
{
  static const gchar *texts[] = { "", "MemTotal", "MemTotal:", "MemTotal: kB",
    "MemTotal: 0 kB", "MemTotal: -\n", "MemFree: 5 kB\n", "\xff\xfe" };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    const File files[MAX_FILES] = { { "/proc/meminfo", texts[i] } };
    gchar *root = make_tree (files);

    g_assert_cmpuint (spdl_memory_read_limit (root), ==, G_MAXUINT64);
    remove_tree (root);
  }
}

/* The limit of this process is plausible. */
static void
test_this_process (void)
{
  const guint64 physical =
      (guint64) sysconf (_SC_PHYS_PAGES) * sysconf (_SC_PAGESIZE);

  g_assert_cmpuint (spdl_memory_get_limit (), >, 0);
  g_assert_cmpuint (spdl_memory_get_limit (), <=, physical);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (trees); i++) {
    g_autofree gchar *path =
        g_strconcat ("/memory/limit/", trees[i].name, NULL);

    g_test_add_data_func (path, &trees[i], test_limit);
  }
  g_test_add_func ("/memory/limit/broken", test_broken_limit);
  g_test_add_func ("/memory/total/broken", test_broken_total);
  g_test_add_func ("/memory/this process", test_this_process);
  return g_test_run ();
}
