/* gst-spdl: recursive listing of a folder
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/folder/folder.h"

#include <gst/gst.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gst/spdl/engine/compat.h"
#include "plugins/common/fail.h"

/* Path of folders from the root to the current one, for the detection of
 * loops. */
typedef struct _Level Level;
struct _Level {
  const Level *parent;
  dev_t device;
  ino_t inode;
};

typedef struct {
  const gchar *pattern;
  const SpdlFolderFuncs *funcs;
  guint64 n_others;
  gint top_folder; /* number of the top-level folder; -1: files of the root */
  gint n_top_folders;
} Walk;

typedef struct {
  gchar *name;
  gboolean is_folder;
} Entry;

static void
entry_clear (gpointer data)
{
  g_free (((Entry *) data)->name);
}

static gint
entry_compare (gconstpointer a, gconstpointer b)
{
  return strcmp (((const Entry *) a)->name, ((const Entry *) b)->name);
}

static const gchar *
describe_folder (int failed)
{
  switch (failed) {
    case ELOOP:
      return "the link leads back to a folder that contains it";
    case ENOTSUP:
      return "the folder belongs to the kernel (procfs or sysfs)";
    default:
      return g_strerror (failed);
  }
}

/* Determines whether @dirent is a folder. Returns FALSE if it is neither a file
 * nor a folder. */
static gboolean
classify_entry (int fd, const struct dirent *dirent, gboolean *is_folder)
{
  struct stat st;

  if (dirent->d_type == DT_REG || dirent->d_type == DT_DIR) {
    *is_folder = dirent->d_type == DT_DIR;
    return TRUE;
  }
  if (dirent->d_type != DT_LNK && dirent->d_type != DT_UNKNOWN)
    return FALSE;
  if (fstatat (fd, dirent->d_name, &st, 0) != 0) {
    /* A broken link becomes an item, which will fail and be reported by name
     * rather than be skipped silently. */
    *is_folder = FALSE;
    return TRUE;
  }
  *is_folder = S_ISDIR (st.st_mode);
  return S_ISDIR (st.st_mode) || S_ISREG (st.st_mode);
}

/* @failed: (out): errno if not all entries could be read, or 0 */
static GArray *
read_sorted (DIR *dir, int *failed)
{
  GArray *entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  const struct dirent *dirent;
  Entry entry;

  g_array_set_clear_func (entries, entry_clear);
  while (errno = 0, (dirent = readdir (dir))) {
    if (dirent->d_name[0] == '.' ||
        !classify_entry (dirfd (dir), dirent, &entry.is_folder))
      continue;
    entry.name = g_strdup (dirent->d_name);
    g_array_append_val (entries, entry);
  }
  *failed = errno;
  g_array_sort (entries, entry_compare);
  return entries;
}

/* Returns TRUE if the folder is in procfs or sysfs. Examines only the first
 * folder and mount points, to save a system call per folder. */
static gboolean
is_kernel_folder (int fd, const Level *level)
{
  return (!level->parent || level->parent->device != level->device) &&
         spdl_compat_is_kernel_folder (fd);
}

static gboolean
is_loop (const Level *level)
{
  for (const Level *up = level->parent; up; up = up->parent)
    if (up->device == level->device && up->inode == level->inode)
      return TRUE;
  return FALSE;
}

static gboolean walk_folder (Walk *walk, int parent_fd, const gchar *name,
    const gchar *path, const Level *parent, int *failed);

static gboolean
visit_entry (Walk *walk, int fd, const Entry *entry, const gchar *path,
    const Level *level)
{
  int failed = 0;

  if (!entry->is_folder) {
    if (!spdl_compat_match_glob (walk->pattern, entry->name)) {
      walk->n_others++;
      return TRUE;
    }
    return walk->funcs->add (path, walk->top_folder, walk->funcs->user_data);
  }

  if (!level->parent) {
    walk->top_folder = walk->n_top_folders++;
    if (walk->funcs->add_folder)
      walk->funcs->add_folder (entry->name, walk->funcs->user_data);
  }
  if (!walk_folder (walk, fd, entry->name, path, level, &failed))
    return FALSE;
  if (failed != 0)
    spdl_dataset_warn (walk->funcs->options, "\"%s\" was skipped: %s", path,
        describe_folder (failed));
  if (!level->parent)
    walk->top_folder = -1;
  return TRUE;
}

/* Visits the entries of a folder.
 *
 * @path: relative to the root; "" for the root
 * @failed: (out): errno if the folder could not be read, or 0
 *
 * Returns FALSE to stop the walk. */
static gboolean
walk_folder (Walk *walk, int parent_fd, const gchar *name, const gchar *path,
    const Level *parent, int *failed)
{
  const int fd = openat (parent_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  Level level = { parent, 0, 0 };
  struct stat st;
  gboolean go_on = TRUE;
  DIR *dir;

  *failed = 0;
  if (fd < 0 || fstat (fd, &st) != 0 || !(dir = fdopendir (fd))) {
    *failed = errno;
    if (fd >= 0)
      close (fd);
    return TRUE;
  }
  level.device = st.st_dev;
  level.inode = st.st_ino;
  if (is_loop (&level))
    *failed = ELOOP;
  else if (is_kernel_folder (fd, &level))
    *failed = ENOTSUP;
  if (*failed != 0) {
    closedir (dir);
    return TRUE;
  }

  g_autoptr (GArray) entries = read_sorted (dir, failed);
  for (guint i = 0; *failed == 0 && i < entries->len && go_on; i++) {
    const Entry *entry = &g_array_index (entries, Entry, i);
    g_autofree gchar *below = *path ? g_strconcat (path, "/", entry->name, NULL)
                                    : g_strdup (entry->name);

    go_on = visit_entry (walk, fd, entry, below, &level);
  }
  closedir (dir);
  return go_on;
}

gboolean
spdl_folder_walk (const gchar *root, const gchar *pattern,
    const SpdlFolderFuncs *funcs, guint64 *n_others, GError **error)
{
  Walk walk = { pattern, funcs, 0, -1, 0 };
  int failed;

  walk_folder (&walk, AT_FDCWD, root, "", NULL, &failed);
  *n_others = walk.n_others;
  if (failed == 0)
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_OPEN_READ,
      "Failed to read the folder \"%s\": %s", root, describe_folder (failed));
}

static gchar *
dup_real (const gchar *path)
{
  char *real = realpath (path, NULL);
  gchar *copy = g_strdup (real);

  free (real);
  return copy;
}

gchar *
spdl_folder_dup_absolute (const gchar *path)
{
  const gboolean is_folder = g_file_test (path, G_FILE_TEST_IS_DIR);
  g_autofree gchar *above = g_path_get_dirname (path);
  g_autofree gchar *name = g_path_get_basename (path);
  g_autofree gchar *real =
      strstr (path, "..") ? dup_real (is_folder ? path : above) : NULL;

  if (!real)
    return g_canonicalize_filename (path, NULL);
  return is_folder ? g_steal_pointer (&real)
                   : g_build_filename (real, name, NULL);
}
