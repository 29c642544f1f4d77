/* gst-spdl: size of the disk cache
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/diskcache/diskbound.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <gst/gst.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gst/spdl/common/logline.h"
#include "gst/spdl/engine/compat.h"

GST_DEBUG_CATEGORY_EXTERN (spdl_fetch_debug);
#define GST_CAT_DEFAULT spdl_fetch_debug

/* Time after which counting stops once `quit` is set, in us. Small caches are
 * counted completely. */
#define GRACE (250 * G_TIME_SPAN_MILLISECOND)

#define HEX "0123456789abcdef"
#define NAME_LENGTH (2 * SPDL_DIGEST_SIZE)

/* A file that may be removed. */
typedef struct {
  gint64 seconds;
  gint64 nanoseconds;
  guint64 size;
  gchar name[NAME_LENGTH + 1];
} Leaf;

/* Locks the file, or gives up after 100 ms. A process that is stopped while it
 * holds the lock must not block all others, and the next count corrects a wrong
 * total. */
static void
lock_briefly (int fd)
{
  for (guint i = 0; i < 100 && flock (fd, LOCK_EX | LOCK_NB) != 0; i++) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return; /* the file system does not support locks */
    g_usleep (1000);
  }
}

/* Unlocks explicitly, because a child process that was forked in the meantime
 * has inherited the lock with the file descriptor. */
static void
unlock_file (int fd)
{
  flock (fd, LOCK_UN);
  close (fd);
}

/* Returns the total, or 0 if it cannot be read or is not plausible. */
static guint64
read_sum (int fd)
{
  guint64 sum;

  if (pread (fd, &sum, sizeof sum, 0) != (ssize_t) sizeof sum)
    return 0;
  sum = GUINT64_FROM_LE (sum);
  return sum <= G_MAXINT64 ? sum : 0;
}

/* Adds @change to the total, and sets @result to the new total, or to 0 if it
 * cannot be read. Returns FALSE if the total cannot be recorded, for example on
 * a full disk; the next count corrects it. */
static gboolean
change_sum (const SpdlDiskFolder *folder, gint64 change, guint64 *result)
{
  const int fd = spdl_disk_folder_open_file (folder, ".spdl-size");
  gboolean ok = TRUE;
  guint64 sum, written;

  *result = 0;
  if (fd < 0)
    return FALSE;
  lock_briefly (fd);
  sum = read_sum (fd);
  if (change < 0)
    sum -= MIN ((guint64) -change, sum);
  else
    sum += MIN ((guint64) change, G_MAXINT64 - sum);
  written = GUINT64_TO_LE (sum);
  if (change != 0)
    ok = pwrite (fd, &written, sizeof written, 0) == (ssize_t) sizeof written;
  if (!ok)
    SPDL_INFO ("failed to record the size of \"%s\": %s", folder->path,
        g_strerror (errno));
  unlock_file (fd);
  *result = sum;
  return ok;
}

/* Files */

/* State of a directory walk. */
typedef struct {
  SpdlDiskBound *bound;
  gint64 begun;
  guint64 sum;
  GArray *leaves; /* of Leaf; NULL: compute only the sum */
} Walk;

static gboolean
is_over (const Walk *self)
{
  return g_atomic_int_get (&self->bound->quit) &&
         g_get_monotonic_time () - self->begun > GRACE;
}

/* Removes a temporary file, unless a process is writing it, which holds a
 * lock. */
static void
remove_if_left (int dir, const gchar *name)
{
  const int fd = openat (dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

  if (fd < 0)
    return;
  if (flock (fd, LOCK_EX | LOCK_NB) == 0 && unlinkat (dir, name, 0) == 0)
    SPDL_INFO ("\"%s\" is a leftover, and is removed", name);
  close (fd);
}

static void
visit_file (Walk *self, int dir, const gchar *prefix, const gchar *name)
{
  struct stat st;
  struct timespec time;
  Leaf leaf;

  if (g_str_has_prefix (name, SPDL_DISK_FOLDER_TEMPORARY_PREFIX)) {
    remove_if_left (dir, name);
    return;
  }
  /* Skip files that are not cache entries. */
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
  g_autofree gchar *path =
      g_build_filename (self->bound->folder->path, prefix, NULL);
  DIR *dir = opendir (path);
  struct dirent *entry;

  if (!dir)
    return;
  while (!is_over (self) && (entry = readdir (dir)))
    visit_file (self, dirfd (dir), prefix, entry->d_name);
  closedir (dir);
}

static void
walk_folders (Walk *self)
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

/* Removes the least recently used files until the total is at most @wanted.
 * Returns the remaining total. */
static guint64
remove_oldest (Walk *self, guint64 wanted)
{
  guint64 sum;
  guint n = 0;

  self->leaves = g_array_new (FALSE, FALSE, sizeof (Leaf));
  walk_folders (self);
  sum = self->sum;
  g_array_sort (self->leaves, compare_age);
  for (guint i = 0; i < self->leaves->len && sum > wanted; i++) {
    const Leaf *leaf = &g_array_index (self->leaves, Leaf, i);
    g_autofree gchar *path = g_strdup_printf (
        "%s/%.2s/%s", self->bound->folder->path, leaf->name, leaf->name);

    if (is_over (self))
      break;
    if (unlink (path) == 0 || errno == ENOENT) {
      sum -= leaf->size;
      n++;
    }
  }
  SPDL_INFO ("%u entries of \"%s\" were removed, %" G_GUINT64_FORMAT
             " bytes remain",
      n, self->bound->folder->path, sum);
  g_clear_pointer (&self->leaves, g_array_unref);
  return sum;
}

/* Counts the files, and removes some if necessary. Returns FALSE if another
 * process holds the lock, the total still exceeds the limit, or it cannot be
 * recorded. */
static gboolean
count_once (SpdlDiskBound *self)
{
  const int fd = spdl_disk_folder_open_file (self->folder, ".spdl-lock");
  const guint64 max_size = self->max_size;
  Walk walk = { self, g_get_monotonic_time (), 0, NULL };
  guint64 noted, sum, result;
  gboolean recorded = TRUE;

  if (fd < 0)
    return FALSE;
  if (flock (fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close (fd);
    return FALSE;
  }
  change_sum (self->folder, 0, &noted);
  walk_folders (&walk);
  sum = walk.sum;
  if (max_size > 0 && sum > max_size)
    sum = remove_oldest (&walk, max_size - max_size / 8);
  /* Keep what other processes added in the meantime. */
  if (!is_over (&walk))
    recorded = change_sum (self->folder, (gint64) (sum - noted), &result);
  unlock_file (fd);
  return recorded && (max_size == 0 || sum <= max_size);
}

static gboolean
is_too_large (const SpdlDiskBound *self, gint64 grown)
{
  guint64 sum;

  change_sum (self->folder, grown, &sum);
  return self->max_size > 0 && sum > self->max_size;
}

void
spdl_disk_bound_count (SpdlDiskBound *self)
{
  /* Repeat if other processes exceeded the limit while they could not get the
   * lock. */
  while (count_once (self) && !g_atomic_int_get (&self->quit) &&
         is_too_large (self, 0))
    ;
}

void
spdl_disk_bound_add (SpdlDiskBound *self, gint64 grown)
{
  if (is_too_large (self, grown))
    spdl_disk_bound_count (self);
}

void
spdl_disk_bound_end (SpdlDiskBound *self)
{
  if (self->max_size > 0 && is_too_large (self, 0))
    count_once (self);
}
