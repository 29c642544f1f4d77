/* gst-spdl: disk cache of remote files
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/diskcache/diskcache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gst/spdl/common/logline.h"
#include "gst/spdl/common/redact.h"
#include "gst/spdl/common/storeuri.h"
#include "gst/spdl/engine/compat.h"
#include "plugins/fetch/diskcache/diskfolder.h"
#include "plugins/fetch/io/threadpool.h"

/* FOLDER/.spdl-size holds the total size of all entries. Each process adds what
 * it writes, and corrects the total by counting the files when it starts.
 * FOLDER/.spdl-lock is locked with flock() while a process counts or removes
 * files. */

GST_DEBUG_CATEGORY_EXTERN (spdl_fetch_debug);
#define GST_CAT_DEFAULT spdl_fetch_debug

/* Reading or writing a file blocks a thread for some hundred microseconds on a
 * local disk, and for milliseconds on a network file system. */
#define MAX_THREADS 8

struct _SpdlDiskCache {
  const SpdlDiskCacheSettings *settings;
  const SpdlHttpSettings *http;
  SpdlDiskTally *tally;
  SpdlDiskCacheWarnFunc warn;
  gpointer user_data;
  SpdlDiskFolder folder;
  gchar *headers; /* request headers, which are part of the key */
  SpdlThreadPool *thread_pool;
  gint counting;             /* atomic: counting has started or is done */
  gint warned_not_cacheable; /* atomic */
  gint quit;                 /* atomic */
};

/* A fetch in progress. */
typedef struct {
  SpdlDiskCache *cache;
  guint8 name[SPDL_DIGEST_SIZE];
  GstBuffer *kept;     /* nullable: cached content */
  SpdlValidator known; /* validator of `kept` */
  SpdlValidator origin;
  GstBuffer *content; /* received content, while it is being stored */
  SpdlHttpFunc func;
  gpointer user_data;
} Fetch;

/* Size of the cache */

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

/* Counters */

void
spdl_disk_tally_init (SpdlDiskTally *self)
{
  memset (self, 0, sizeof *self);
  spdl_mutex_init (&self->lock);
}

void
spdl_disk_tally_clear (SpdlDiskTally *self)
{
  spdl_mutex_clear (&self->lock);
}

void
spdl_disk_tally_begin (SpdlDiskTally *self, gboolean active)
{
  spdl_mutex_lock (&self->lock);
  self->active = active;
  memset (&self->total, 0, sizeof self->total);
  memset (&self->at_interval, 0, sizeof self->at_interval);
  spdl_mutex_unlock (&self->lock);
}

static void
spdl_disk_tally_add_hit (SpdlDiskTally *self, guint64 bytes)
{
  spdl_mutex_lock (&self->lock);
  self->total.hits++;
  self->total.bytes += bytes;
  spdl_mutex_unlock (&self->lock);
}

static void
spdl_disk_tally_add_miss (SpdlDiskTally *self)
{
  spdl_mutex_lock (&self->lock);
  self->total.misses++;
  spdl_mutex_unlock (&self->lock);
}

/* Counts an error. Returns whether it is the first one. */
static gboolean
spdl_disk_tally_add_error (SpdlDiskTally *self)
{
  gboolean first;

  spdl_mutex_lock (&self->lock);
  first = self->total.errors++ == 0;
  spdl_mutex_unlock (&self->lock);
  return first;
}

void
spdl_disk_tally_report (
    SpdlDiskTally *self, gboolean interval, GstStructure *stats)
{
  SpdlDiskCounts since = { 0 }, counts;
  gboolean active;

  spdl_mutex_lock (&self->lock);
  active = self->active;
  counts = self->total;
  if (interval) {
    since = self->at_interval;
    self->at_interval = self->total;
  }
  spdl_mutex_unlock (&self->lock);
  if (!active)
    return;
  gst_structure_set (stats, "cache-hits", G_TYPE_UINT64,
      counts.hits - since.hits, "cache-misses", G_TYPE_UINT64,
      counts.misses - since.misses, "cache-bytes", G_TYPE_UINT64,
      counts.bytes - since.bytes, "cache-errors", G_TYPE_UINT64,
      counts.errors - since.errors, NULL);
}

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
  const SpdlDiskFolder *folder;
  gint *quit;
  gint64 begun;
  guint64 sum;
  GArray *leaves; /* of Leaf; NULL: compute only the sum */
} Walk;

static gboolean
is_over (const Walk *self)
{
  return g_atomic_int_get (self->quit) &&
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
  g_autofree gchar *path = g_build_filename (self->folder->path, prefix, NULL);
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
        "%s/%.2s/%s", self->folder->path, leaf->name, leaf->name);

    if (is_over (self))
      break;
    if (unlink (path) == 0 || errno == ENOENT) {
      sum -= leaf->size;
      n++;
    }
  }
  SPDL_INFO ("%u entries of \"%s\" were removed, %" G_GUINT64_FORMAT
             " bytes remain",
      n, self->folder->path, sum);
  g_clear_pointer (&self->leaves, g_array_unref);
  return sum;
}

/* Counts the files, and removes some if necessary. Returns FALSE if another
 * process holds the lock, the total still exceeds @max_size, or it cannot be
 * recorded. */
static gboolean
count_once (const SpdlDiskFolder *folder, guint64 max_size, gint *quit)
{
  const int fd = spdl_disk_folder_open_file (folder, ".spdl-lock");
  Walk self = { folder, quit, g_get_monotonic_time (), 0, NULL };
  guint64 noted, sum, result;
  gboolean recorded = TRUE;

  if (fd < 0)
    return FALSE;
  if (flock (fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close (fd);
    return FALSE;
  }
  change_sum (folder, 0, &noted);
  walk_folders (&self);
  sum = self.sum;
  if (max_size > 0 && sum > max_size)
    sum = remove_oldest (&self, max_size - max_size / 8);
  /* Keep what other processes added in the meantime. */
  if (!is_over (&self))
    recorded = change_sum (folder, (gint64) (sum - noted), &result);
  unlock_file (fd);
  return recorded && (max_size == 0 || sum <= max_size);
}

static gboolean
is_too_large (const SpdlDiskFolder *folder, gint64 grown, guint64 max_size)
{
  guint64 sum;

  change_sum (folder, grown, &sum);
  return max_size > 0 && sum > max_size;
}

/* Counts all files, removes temporary files of killed processes, and enforces
 * @max_size. */
static void
spdl_disk_bound_count (
    const SpdlDiskFolder *folder, guint64 max_size, gint *quit)
{
  /* Repeat if other processes exceeded the limit while they could not get the
   * lock. */
  while (count_once (folder, max_size, quit) && !g_atomic_int_get (quit) &&
         is_too_large (folder, 0, max_size))
    ;
}

/* Adds @grown bytes to the total. If it exceeds @max_size (0: no limit),
 * removes the least recently used files until 7/8 of the limit remain, unless
 * another process is doing that.
 * @quit: atomic; stops the removal soon after it is set */
static void
spdl_disk_bound_add (
    const SpdlDiskFolder *folder, gint64 grown, guint64 max_size, gint *quit)
{
  if (is_too_large (folder, grown, max_size))
    spdl_disk_bound_count (folder, max_size, quit);
}

/* Keys */

/* Computes the key. It excludes the userinfo, which could be guessed from the
 * digest; the server checks access rights. */
static void
make_name (SpdlDiskCache *self, const SpdlHttpFetch *args, guint8 *name)
{
  const SpdlRange *range = &args->range;
  g_autofree gchar *plain = spdl_redact_remove_userinfo (args->uri);
  g_autofree gchar *store =
      spdl_store_is_uri (args->uri)
          ? spdl_store_settings_dup_store (&self->http->store, args->uri)
          : NULL;
  g_autofree gchar *text =
      g_strdup_printf ("%s\n%" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT "\n%s%s",
          plain, range->first, range->last, args->foreign ? "" : self->headers,
          store ? store : "");

  spdl_digest (text, name);
}

/* Cache */

SpdlDiskCache *
spdl_disk_cache_new (const SpdlDiskCacheSettings *settings,
    const SpdlHttpSettings *http, SpdlDiskTally *tally,
    SpdlDiskCacheWarnFunc warn, gpointer user_data, GError **error)
{
  SpdlDiskFolder folder;
  SpdlDiskCache *self;

  if (!spdl_disk_folder_open (
          &folder, settings->folder, settings->shared, error))
    return NULL;
  self = g_new0 (SpdlDiskCache, 1);
  self->settings = settings;
  self->http = http;
  self->tally = tally;
  self->warn = warn;
  self->user_data = user_data;
  self->folder = folder;
  self->headers = spdl_http_settings_list (http);
  self->thread_pool = spdl_thread_pool_new ("spdl-cache", MAX_THREADS);
  return self;
}

void
spdl_disk_cache_free (SpdlDiskCache *self)
{
  g_atomic_int_set (&self->quit, TRUE);
  spdl_thread_pool_free (self->thread_pool);
  g_free (self->headers);
  spdl_disk_folder_close (&self->folder);
  g_free (self);
}

static void
count_files (gpointer data)
{
  SpdlDiskCache *self = data;

  spdl_disk_bound_count (&self->folder, self->settings->max_size, &self->quit);
}

/* Warnings */

static void
warn_not_cacheable (SpdlDiskCache *self)
{
  if (g_atomic_int_compare_and_exchange (
          &self->warned_not_cacheable, FALSE, TRUE))
    self->warn (self->user_data,
        "A response cannot be stored in cache-dir, because it has no validator "
        "(a strong ETag; see cache-validate), does not declare its size, or "
        "forbids caching");
}

static void
report_store_failure (SpdlDiskCache *self, int failed)
{
  g_autofree gchar *text = NULL;

  SPDL_INFO ("an item cannot be stored: %s", g_strerror (failed));
  if (!spdl_disk_tally_add_error (self->tally))
    return;
  text = g_strdup_printf (
      "An item cannot be stored in cache-dir \"%s\": %s. Fetching continues "
      "without the cache (cache-errors in stage-stats counts such items)",
      self->folder.path, g_strerror (failed));
  self->warn (self->user_data, text);
}

/* Fetching */

/* Finishes @fetch with @content or @error (both transfer full). */
static void
finish_fetch (Fetch *fetch, GstBuffer *content, GError *error)
{
  SpdlHttpFunc func = fetch->func;
  gpointer user_data = fetch->user_data;

  gst_clear_buffer (&fetch->kept);
  spdl_validator_clear (&fetch->known);
  spdl_validator_clear (&fetch->origin);
  g_free (fetch);
  func (user_data, content, error);
}

static void
finish_hit (Fetch *fetch)
{
  GstBuffer *content = g_steal_pointer (&fetch->kept);

  spdl_disk_tally_add_hit (fetch->cache->tally, gst_buffer_get_size (content));
  finish_fetch (fetch, content, NULL);
}

/* Returns whether @validator suffices to detect changes as `cache-validate`
 * requires. */
static gboolean
is_enough (const SpdlDiskCache *self, const SpdlValidator *validator)
{
  switch (self->settings->validate) {
    case SPDL_CACHE_VALIDATE_NONE:
      return TRUE;
    case SPDL_CACHE_VALIDATE_DATE:
      return validator->kind != SPDL_VALIDATOR_NONE;
    default:
      return validator->kind == SPDL_VALIDATOR_TAG;
  }
}

static void
store_entry (gpointer data)
{
  Fetch *fetch = data;
  SpdlDiskCache *self = fetch->cache;
  gint64 grown;
  const int failed = spdl_disk_folder_store (
      &self->folder, fetch->name, &fetch->origin, fetch->content, &grown);

  if (failed != 0)
    report_store_failure (self, failed);
  else
    spdl_disk_bound_add (
        &self->folder, grown, self->settings->max_size, &self->quit);
  finish_fetch (fetch, g_steal_pointer (&fetch->content), NULL);
}

static gboolean
is_small_enough (const SpdlDiskCache *self, GstBuffer *content)
{
  const guint64 size = gst_buffer_get_size (content) + SPDL_DISK_ENTRY_MAX_HEAD;

  return self->settings->max_size == 0 ||
         spdl_disk_folder_count (size) <= self->settings->max_size;
}

/* Runs on a thread of the client, which must not block on disk I/O. */
static void
on_fetched (gpointer user_data, GstBuffer *content, GError *error)
{
  Fetch *fetch = user_data;
  SpdlDiskCache *self = fetch->cache;

  if (error) {
    finish_fetch (fetch, NULL, error);
    return;
  }
  if (!content) {
    finish_hit (fetch);
    return;
  }
  spdl_disk_tally_add_miss (self->tally);
  gst_clear_buffer (&fetch->kept);
  if (!fetch->origin.keepable || !is_enough (self, &fetch->origin)) {
    warn_not_cacheable (self);
    finish_fetch (fetch, content, NULL);
  } else if (!is_small_enough (self, content)) {
    finish_fetch (fetch, content, NULL);
  } else {
    fetch->content = content;
    spdl_thread_pool_push (self->thread_pool, store_entry, fetch);
  }
}

static void
look_up (Fetch *fetch, GCancellable *cancellable)
{
  SpdlDiskCache *self = fetch->cache;
  const SpdlDiskLimits limits = { self->http->max_size, G_MAXINT64 };

  fetch->kept = spdl_disk_folder_load (
      &self->folder, fetch->name, &limits, cancellable, &fetch->known);
  if (fetch->kept && !is_enough (self, &fetch->known)) {
    gst_clear_buffer (&fetch->kept);
    spdl_validator_clear (&fetch->known);
  }
}

void
spdl_disk_cache_fetch (
    SpdlDiskCache *self, SpdlHttp *http, const SpdlHttpFetch *args)
{
  Fetch *fetch = g_new0 (Fetch, 1);
  SpdlHttpFetch changed = *args;

  if (g_atomic_int_compare_and_exchange (&self->counting, FALSE, TRUE))
    spdl_thread_pool_push (self->thread_pool, count_files, self);
  fetch->cache = self;
  fetch->func = args->func;
  fetch->user_data = args->user_data;
  make_name (self, args, fetch->name);
  look_up (fetch, args->cancellable);
  if (fetch->kept && self->settings->validate == SPDL_CACHE_VALIDATE_NONE) {
    finish_hit (fetch);
    return;
  }
  changed.known = fetch->kept ? &fetch->known : NULL;
  changed.origin = &fetch->origin;
  changed.func = on_fetched;
  changed.user_data = fetch;
  spdl_http_fetch (http, &changed);
}

guint64
spdl_disk_cache_get_cpu_time (SpdlDiskCache *self)
{
  return spdl_thread_pool_get_cpu_time (self->thread_pool);
}
