/* gst-spdl: how large the disk cache is, and what leaves it
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/diskcache/diskbound.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gst/spdl/engine/compat.h"
#include "plugins/fetch/diskcache/diskfolder.h"

GST_DEBUG_CATEGORY_EXTERN (spdl_fetch_debug);
#define GST_CAT_DEFAULT spdl_fetch_debug

/* Who asks for an early end waits so long, in us: what is small is counted in
 * any case. */
#define GRACE (250 * G_TIME_SPAN_MILLISECOND)

#define HEX "0123456789abcdef"
#define NAME_LENGTH (2 * SPDL_DIGEST_SIZE)

/* A file that may leave. */
typedef struct {
  gint64 seconds;
  gint64 nanoseconds;
  guint64 size;
  gchar name[NAME_LENGTH + 1];
} Leaf;

static int
open_file (const gchar *folder, const gchar *name)
{
  g_autofree gchar *path = g_build_filename (folder, name, NULL);

  return open (path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
}

/* Waits for a moment at most: a process that is stopped while it has the lock
 * must not stop all others, and a sum that is wrong is put right some time. */
static void
lock_briefly (int fd)
{
  for (guint i = 0; i < 100 && flock (fd, LOCK_EX | LOCK_NB) != 0; i++) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return; /* a file system without locks */
    g_usleep (1000);
  }
}

/* The lock is given back by its name: a process that was forked meanwhile has
 * the same one, and would keep it. */
static void
unlock (int fd)
{
  flock (fd, LOCK_UN);
  close (fd);
}

/* Adds @change to the sum and returns it; 0 where it cannot be read. */
static guint64
change_sum (const gchar *folder, gint64 change)
{
  const int fd = open_file (folder, ".spdl-size");
  guint64 sum = 0, written;

  if (fd < 0)
    return 0;
  lock_briefly (fd);
  if (pread (fd, &sum, sizeof sum, 0) != (ssize_t) sizeof sum)
    sum = 0;
  sum = GUINT64_FROM_LE (sum);
  if (change < 0)
    sum -= MIN ((guint64) -change, sum);
  else
    sum += MIN ((guint64) change, G_MAXINT64 - MIN (sum, G_MAXINT64));
  written = GUINT64_TO_LE (sum);
  /* Where the disk is full, the next count puts it right. */
  if (change != 0 && pwrite (fd, &written, sizeof written, 0) < 0)
    GST_INFO (
        "the size of \"%s\" cannot be noted: %s", folder, g_strerror (errno));
  unlock (fd);
  return sum;
}

/* The files */

/* What the walk is for. */
typedef struct {
  const gchar *folder;
  gint *quit;
  gint64 begun;
  guint64 sum;
  GArray *leaves; /* Leaf; NULL: only the sum is wanted */
} Walk;

static gboolean
is_over (const Walk *self)
{
  return g_atomic_int_get (self->quit) &&
         g_get_monotonic_time () - self->begun > GRACE;
}

/* Nobody writes it any more if it can be locked. */
static void
remove_if_left (int dir, const gchar *name)
{
  const int fd = openat (dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

  if (fd < 0)
    return;
  if (flock (fd, LOCK_EX | LOCK_NB) == 0 && unlinkat (dir, name, 0) == 0)
    GST_INFO ("\"%s\" was left behind, and is removed", name);
  close (fd);
}

static void
visit_file (Walk *self, int dir, const gchar *prefix, const gchar *name)
{
  struct stat st;
  struct timespec time;
  Leaf leaf;

  if (g_str_has_prefix (name, SPDL_DISK_FOLDER_ASIDE)) {
    remove_if_left (dir, name);
    return;
  }
  /* Files of others are left alone. */
  if (strspn (name, HEX) != NAME_LENGTH || name[NAME_LENGTH] != '\0' ||
      !g_str_has_prefix (name, prefix) ||
      fstatat (dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISREG (st.st_mode))
    return;
  leaf.size = spdl_disk_folder_count (st.st_size);
  self->sum += leaf.size;
  if (!self->leaves)
    return;
  time = spdl_compat_get_mtime (&st);
  leaf.seconds = time.tv_sec;
  leaf.nanoseconds = time.tv_nsec;
  memcpy (leaf.name, name, sizeof leaf.name);
  g_array_append_val (self->leaves, leaf);
}

static void
visit_folder (Walk *self, const gchar *prefix)
{
  g_autofree gchar *path = g_build_filename (self->folder, prefix, NULL);
  DIR *dir = opendir (path);
  struct dirent *entry;

  if (!dir)
    return;
  while (!is_over (self) && (entry = readdir (dir)))
    visit_file (self, dirfd (dir), prefix, entry->d_name);
  closedir (dir);
}

static void
walk (Walk *self)
{
  self->sum = 0;
  for (guint i = 0; i < 256; i++) {
    const gchar prefix[] = { HEX[i >> 4], HEX[i & 15], '\0' };

    visit_folder (self, prefix);
  }
}

static gint
compare_age (gconstpointer a, gconstpointer b)
{
  const Leaf *x = a, *y = b;

  if (x->seconds != y->seconds)
    return x->seconds < y->seconds ? -1 : 1;
  if (x->nanoseconds != y->nanoseconds)
    return x->nanoseconds < y->nanoseconds ? -1 : 1;
  return strcmp (x->name, y->name);
}

/* Returns the sum that is left. */
static guint64
remove_oldest (Walk *self, guint64 wanted)
{
  guint64 sum;
  guint n = 0;

  self->leaves = g_array_new (FALSE, FALSE, sizeof (Leaf));
  walk (self);
  sum = self->sum;
  g_array_sort (self->leaves, compare_age);
  for (guint i = 0; i < self->leaves->len && sum > wanted; i++) {
    const Leaf *leaf = &g_array_index (self->leaves, Leaf, i);
    g_autofree gchar *path =
        g_strdup_printf ("%s/%.2s/%s", self->folder, leaf->name, leaf->name);

    if (is_over (self))
      break;
    if (unlink (path) == 0 || errno == ENOENT) {
      sum -= leaf->size;
      n++;
    }
  }
  GST_INFO ("%u entries of \"%s\" were removed, %" G_GUINT64_FORMAT
            " bytes are left",
      n, self->folder, sum);
  g_clear_pointer (&self->leaves, g_array_unref);
  return sum;
}

/* Counts, and removes if need be.
 *
 * Returns whether that was done, and what there is is within @max_size. */
static gboolean
count_once (const gchar *folder, guint64 max_size, gint *quit)
{
  const int fd = open_file (folder, ".spdl-lock");
  Walk self = { folder, quit, g_get_monotonic_time (), 0, NULL };
  guint64 noted, sum;

  if (fd < 0)
    return FALSE;
  if (flock (fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close (fd);
    return FALSE;
  }
  noted = change_sum (folder, 0);
  walk (&self);
  sum = self.sum;
  if (max_size > 0 && sum > max_size)
    sum = remove_oldest (&self, max_size - max_size / 8);
  /* What others added meanwhile stays. */
  if (!is_over (&self))
    change_sum (folder, (gint64) (sum - noted));
  unlock (fd);
  return max_size == 0 || sum <= max_size;
}

void
spdl_disk_bound_count (const gchar *folder, guint64 max_size, gint *quit)
{
  /* Who came over the bound while we had the lock left it to us. */
  while (count_once (folder, max_size, quit) && max_size > 0 &&
         !g_atomic_int_get (quit) && change_sum (folder, 0) > max_size)
    ;
}

void
spdl_disk_bound_add (
    const gchar *folder, gint64 grown, guint64 max_size, gint *quit)
{
  if (change_sum (folder, grown) > max_size && max_size > 0)
    spdl_disk_bound_count (folder, max_size, quit);
}
