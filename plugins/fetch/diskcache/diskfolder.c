/* gst-spdl: folder of the disk cache
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/diskcache/diskfolder.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <gst/gst.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "gst/spdl/common/logline.h"
#include "plugins/common/fail.h"

GST_DEBUG_CATEGORY_EXTERN (spdl_fetch_debug);
#define GST_CAT_DEFAULT spdl_fetch_debug

/* The time of use is updated if it is older than this, in seconds. */
#define USE_STEP 60

/* The folder */

static gboolean
fail_open (const gchar *location, const gchar *problem, GError **error)
{
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "cache-dir \"%s\" cannot be used: %s", location, problem);
}

/* Checks that only this user, or root, can add files. The sticky bit does not
 * prevent that. A superuser may use the folder of any user. */
static gboolean
check_writers (const struct stat *st, const gchar *location, GError **error)
{
  static const gchar *const advice =
      "use a folder that only you can write, or set cache-shared=true if you "
      "trust all who can write this one";
  const uid_t user = geteuid ();
  g_autofree gchar *problem = NULL;

  if (st->st_uid != user && st->st_uid != 0 && user != 0)
    problem = g_strdup_printf ("its owner is the user %u, who could store "
                               "other data in it: %s",
        (guint) st->st_uid, advice);
  else if (st->st_mode & (S_IWGRP | S_IWOTH))
    problem = g_strdup_printf (
        "its mode is %04o, so other users could store other data in it: %s",
        (guint) st->st_mode & 07777, advice);
  return !problem || fail_open (location, problem, error);
}

gboolean
spdl_disk_folder_open (SpdlDiskFolder *self, const gchar *location,
    gboolean shared, GError **error)
{
  g_autofree gchar *path = g_canonicalize_filename (location, NULL);
  struct stat st;

  if (g_mkdir_with_parents (path, 0700) != 0 || stat (path, &st) != 0)
    return fail_open (location, g_strerror (errno), error);
  if (!S_ISDIR (st.st_mode))
    return fail_open (location, g_strerror (ENOTDIR), error);
  if (!shared && !check_writers (&st, location, error))
    return FALSE;
  *self = (SpdlDiskFolder){ g_steal_pointer (&path), st.st_uid, shared };
  return TRUE;
}

void
spdl_disk_folder_close (SpdlDiskFolder *self)
{
  g_clear_pointer (&self->path, g_free);
}

/* Returns TRUE if nobody else can have written the file. The folder may have
 * been writable for others before. */
static gboolean
is_own_file (const SpdlDiskFolder *self, const struct stat *st)
{
  return S_ISREG (st->st_mode) &&
         (self->shared || ((st->st_uid == self->owner ||
                               st->st_uid == geteuid () || st->st_uid == 0) &&
                              (st->st_mode & (S_IWGRP | S_IWOTH)) == 0));
}

/* Returns the mode of a new file or folder, which the umask restricts. */
static guint
get_mode (const SpdlDiskFolder *self, guint mode)
{
  return self->shared ? mode : mode & ~(guint) (S_IWGRP | S_IWOTH);
}

int
spdl_disk_folder_open_file (const SpdlDiskFolder *self, const gchar *name)
{
  const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  g_autofree gchar *path = g_build_filename (self->path, name, NULL);

  for (guint i = 0; i < 2; i++) {
    int fd = open (path, flags);
    struct stat st;

    if (fd < 0 && errno == ENOENT)
      fd = open (path, flags | O_CREAT, get_mode (self, 0666));
    /* A file with several names may be a file elsewhere. */
    if (fd >= 0 && fstat (fd, &st) == 0 && is_own_file (self, &st) &&
        st.st_nlink <= 1)
      return fd;
    if (fd >= 0)
      close (fd);
    else if (errno != ELOOP)
      return -1;
    errno = EPERM;
    if (i > 0 || unlink (path) != 0)
      break;
    SPDL_WARNING ("\"%s\" was removed, because it was a link, or others may "
                  "write it",
        path);
  }
  return -1;
}

/* Entries */

/* Returns: (transfer full): the path of the entry
 * @parent: (out) (transfer full): path of its folder */
static gchar *
make_path (const SpdlDiskFolder *self, const guint8 *name, gchar **parent)
{
  gchar hex[2 * SPDL_DIGEST_SIZE + 1];

  for (guint i = 0; i < SPDL_DIGEST_SIZE; i++)
    g_snprintf (hex + 2 * i, 3, "%02x", name[i]);
  *parent = g_strdup_printf ("%s/%.2s", self->path, hex);
  return g_strdup_printf ("%s/%s", *parent, hex);
}

/* Reading */

/* Returns the size of the header, or 0 if the file is not a valid entry with
 * that key. */
static gsize
read_head (int fd, const struct stat *st, const guint8 *name,
    SpdlDiskEntry *entry, const gchar **problem)
{
  guint8 head[SPDL_DISK_ENTRY_MAX_HEAD];
  const gsize wanted = MIN ((guint64) st->st_size, sizeof head);
  gsize done = 0;
  ssize_t n = 1;

  while (done < wanted && n != 0) {
    n = pread (fd, head + done, wanted - done, done);
    if (n < 0 && errno != EINTR) {
      *problem = g_strerror (errno);
      return 0;
    }
    done += MAX (n, 0);
  }
  return spdl_disk_entry_read (entry, head, done, st->st_size, name, problem);
}

static gboolean
is_confirmed (GstBuffer *content, const SpdlDiskEntry *entry)
{
  GstMapInfo map;
  gboolean ok;

  if (entry->size == 0)
    return spdl_disk_entry_hash (NULL, 0) == entry->hash;
  if (!gst_buffer_map (content, &map, GST_MAP_READ))
    return FALSE;
  ok = map.size == entry->size &&
       spdl_disk_entry_hash (map.data, map.size) == entry->hash;
  gst_buffer_unmap (content, &map);
  return ok;
}

static GstBuffer *
read_entry (const SpdlDiskFolder *self, int fd, const guint8 *name,
    const SpdlDiskLimits *limits, GCancellable *cancellable,
    SpdlValidator *validator, const gchar **problem)
{
  g_autoptr (GError) error = NULL;
  SpdlDiskEntry entry;
  GstBuffer *content;
  struct stat st;
  gsize head;

  *problem = "the entry is not a regular file, or others may write it";
  if (fstat (fd, &st) != 0 || !is_own_file (self, &st) ||
      !(head = read_head (fd, &st, name, &entry, problem)))
    return NULL;

  const SpdlRange range = { head, G_MAXUINT64 };
  content = spdl_disk_read_open (fd, &range, limits, cancellable, &error);
  *problem = "the entry cannot be read, or exceeds a limit";
  if (content && !is_confirmed (content, &entry)) {
    gst_clear_buffer (&content);
    *problem = "the content is damaged";
  }
  if (content)
    *validator = entry.validator;
  else
    spdl_validator_clear (&entry.validator);
  if (content && time (NULL) - st.st_mtime >= USE_STEP)
    futimens (fd, NULL);
  return content;
}

GstBuffer *
spdl_disk_folder_load (const SpdlDiskFolder *self,
    const guint8 name[SPDL_DIGEST_SIZE], const SpdlDiskLimits *limits,
    GCancellable *cancellable, SpdlValidator *validator)
{
  g_autofree gchar *parent = NULL;
  g_autofree gchar *path = make_path (self, name, &parent);
  const int fd = open (path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  const gchar *problem = NULL;
  GstBuffer *content;

  memset (validator, 0, sizeof *validator);
  if (fd < 0) {
    if (errno != ENOENT)
      SPDL_INFO ("\"%s\" is ignored: %s", path, g_strerror (errno));
    return NULL;
  }
  content =
      read_entry (self, fd, name, limits, cancellable, validator, &problem);
  close (fd);
  if (!content)
    SPDL_INFO ("\"%s\" is ignored: %s", path, problem);
  return content;
}

/* Writing */

static int
open_temporary_file (
    const SpdlDiskFolder *self, const gchar *parent, gchar **path)
{
  int fd;

  *path = g_strconcat (
      parent, "/" SPDL_DISK_FOLDER_TEMPORARY_PREFIX "XXXXXX", NULL);
  /* The mode is subject to the umask, as for any new file. */
  fd = g_mkstemp_full (*path, O_WRONLY | O_CLOEXEC, get_mode (self, 0666));
  if (fd < 0)
    g_clear_pointer (path, g_free);
  return fd;
}

/* The cache folder may have been removed as well. */
static void
make_parent (const SpdlDiskFolder *self, const gchar *parent)
{
  const guint mode = get_mode (self, 0777);

  if (g_mkdir (parent, mode) == 0 || errno != ENOENT)
    return;
  g_mkdir_with_parents (self->path, 0700);
  g_mkdir (parent, mode);
}

/* Creates and locks a temporary file, so that no process treats it as a
 * leftover and removes it. */
static int
create_temporary_file (
    const SpdlDiskFolder *self, const gchar *parent, gchar **path)
{
  for (;;) {
    int fd = open_temporary_file (self, parent, path);
    struct stat st;

    if (fd < 0 && errno == ENOENT) {
      make_parent (self, parent);
      fd = open_temporary_file (self, parent, path);
    }
    if (fd < 0)
      return -1;
    /* Some file systems do not support locks. In that case no process removes
     * temporary files. */
    if (flock (fd, LOCK_EX | LOCK_NB) == 0
            ? fstat (fd, &st) == 0 && st.st_nlink > 0
            : errno != EWOULDBLOCK)
      return fd;
    /* Another process removed the file between its creation and the lock. */
    close (fd);
    unlink (*path);
    g_clear_pointer (path, g_free);
  }
}

static int
write_all (int fd, const guint8 *data, gsize size)
{
  while (size > 0) {
    const ssize_t n = write (fd, data, size);

    if (n < 0 && errno != EINTR)
      return errno;
    data += MAX (n, 0);
    size -= MAX (n, 0);
  }
  return 0;
}

static int
write_entry (int fd, SpdlDiskEntry *entry, GstBuffer *content, gsize *head_size)
{
  guint8 head[SPDL_DISK_ENTRY_MAX_HEAD];
  GstMapInfo map = GST_MAP_INFO_INIT;
  int failed;

  if (gst_buffer_n_memory (content) > 0 &&
      !gst_buffer_map (content, &map, GST_MAP_READ))
    return ENOMEM;
  entry->size = map.size;
  entry->hash = spdl_disk_entry_hash (map.data, map.size);
  *head_size = spdl_disk_entry_write (entry, head);
  failed = write_all (fd, head, *head_size);
  if (failed == 0)
    failed = write_all (fd, map.data, map.size);
  if (map.memory)
    gst_buffer_unmap (content, &map);
  return failed;
}

int
spdl_disk_folder_store (const SpdlDiskFolder *self,
    const guint8 name[SPDL_DIGEST_SIZE], const SpdlValidator *validator,
    GstBuffer *content, gint64 *grown)
{
  g_autofree gchar *parent = NULL;
  g_autofree gchar *path = make_path (self, name, &parent);
  g_autofree gchar *temporary_path = NULL;
  SpdlDiskEntry entry = { .validator = *validator };
  gsize head_size;
  struct stat st;
  int fd, failed;

  *grown = 0;
  memcpy (entry.name, name, SPDL_DIGEST_SIZE);
  if (!spdl_disk_entry_fits (&entry))
    return ENAMETOOLONG;
  fd = create_temporary_file (self, parent, &temporary_path);
  if (fd < 0)
    return errno;
  failed = write_entry (fd, &entry, content, &head_size);
  if (failed == 0 && lstat (path, &st) == 0)
    *grown = -(gint64) spdl_disk_folder_count (st.st_size);
  if (failed == 0 && rename (temporary_path, path) != 0)
    failed = errno;
  if (failed == 0)
    *grown += spdl_disk_folder_count (head_size + entry.size);
  else
    unlink (temporary_path);
  /* Close after the rename: the lock protects the file until then. */
  close (fd);
  if (failed != 0)
    *grown = 0;
  return failed;
}
