/* gst-spdl: dataset of indexed shards
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/archive/archiveset.h"

#include <string.h>
#include <sys/resource.h>

#include "gst/spdl/common/storeuri.h"
#include "plugins/common/fail.h"
#include "plugins/common/fingerprint.h"
#include "plugins/dataset/archive/archivenotes.h"
#include "plugins/dataset/archive/archiveopen.h"
#include "plugins/dataset/archive/shardpattern.h"
#include "plugins/dataset/folder/folder.h"

/* Number of shards that are opened in parallel, to hide the latency of servers
 * and disks. */
#define N_THREADS 16
/* Number of index files that stay open: a quarter of the descriptors that the
 * process may have, within these bounds. */
#define MIN_OPEN 64
#define MAX_OPEN 4096

typedef struct {
  gchar *location;
  gchar *uri;
  gboolean remote;
  SpdlStamp stamp;
  SpdlArchiveIndex *index;
  guint32 *usable; /* (nullable): samples that are items; NULL: all */
  guint64 n_items;
  guint64 n_unlabelled;
  guint64 first_unlabelled; /* among the items of the shard */
  guint64 first_item;
  gboolean is_held; /* its index file stays open */
  GError *error;
} Shard;

struct _SpdlArchiveSet {
  GArray *shards; /* Shard */
  gchar **extensions;
  SpdlDatasetOptions options;
  SpdlIndexer *indexer; /* only while shards are opened */
  gint streamed;        /* atomic: a shard has no byte ranges */
  guint64 n_items;
  guint64 hash;
  guint64 last; /* shard of the last item */
  SpdlArchiveCursor cursor;
  Shard **held; /* (nullable): the shards whose index files stay open */
  guint max_held;
  guint next_held;          /* place of the one that is closed next */
  SpdlArchiveLosses losses; /* warnings were given of them */
};

static void
clear_shard (gpointer data)
{
  Shard *shard = data;

  g_free (shard->location);
  g_free (shard->uri);
  g_free (shard->usable);
  g_clear_pointer (&shard->index, spdl_archive_index_free);
  g_clear_error (&shard->error);
}

void
spdl_archive_set_free (SpdlArchiveSet *self)
{
  g_array_unref (self->shards);
  g_strfreev (self->extensions);
  spdl_archive_losses_clear (&self->losses);
  g_clear_pointer (&self->indexer, spdl_indexer_free);
  spdl_archive_cursor_clear (&self->cursor);
  g_free (self->held);
  g_free (self);
}

gboolean
spdl_archive_set_is_set (const gchar *location)
{
  return spdl_archive_names_is_one (location);
}

static const gchar *const *
extensions_of (const SpdlArchiveSet *self)
{
  return (const gchar *const *) self->extensions;
}

/* Warnings about skipped samples */

static gboolean
get_payload (const SpdlArchiveSet *self, const Shard *shard,
    const SpdlArchiveSample *sample, SpdlArchiveFile *file)
{
  return spdl_archive_sample_get_payload (sample, extensions_of (self), file) &&
         file->first + spdl_archive_file_get_length (file) <= shard->stamp.size;
}

/* Index files */

static guint
find_max_open (void)
{
  struct rlimit limit;

  return getrlimit (RLIMIT_NOFILE, &limit) == 0
             ? CLAMP (limit.rlim_cur / 4, MIN_OPEN, MAX_OPEN)
             : MIN_OPEN;
}

/* Lets the index file of the shard stay open, in place of the one that was
 * opened first. */
static void
hold_index (SpdlArchiveSet *self, Shard *shard)
{
  Shard **place = &self->held[self->next_held];

  if (shard->is_held)
    return;
  if (*place) {
    spdl_archive_index_close ((*place)->index);
    (*place)->is_held = FALSE;
  }
  *place = shard;
  shard->is_held = TRUE;
  self->next_held = (self->next_held + 1) % self->max_held;
}

static gboolean
read_item (const Shard *shard, guint64 i, SpdlArchiveCursor *cursor,
    SpdlArchiveSample *sample)
{
  return spdl_archive_index_get_sample (
      shard->index, shard->usable ? shard->usable[i] : i, cursor, sample);
}

static gboolean
get_sample (
    SpdlArchiveSet *self, Shard *shard, guint64 i, SpdlArchiveSample *sample)
{
  hold_index (self, shard);
  return read_item (shard, i, &self->cursor, sample);
}

/* Records which samples have a payload, unless all have one. */
static void
find_usable (
    const SpdlArchiveSet *self, Shard *shard, SpdlArchiveCursor *cursor)
{
  const guint64 n = spdl_archive_index_get_size (shard->index);
  guint32 *usable;

  shard->n_items = n;
  if (!self->extensions && spdl_archive_index_has_payloads (shard->index))
    return;
  usable = g_new (guint32, MAX (n, 1));
  shard->n_items = 0;
  for (guint64 i = 0; i < n; i++) {
    SpdlArchiveSample sample;
    SpdlArchiveFile file;

    if (spdl_archive_index_get_sample (shard->index, i, cursor, &sample) &&
        get_payload (self, shard, &sample, &file))
      usable[shard->n_items++] = i;
  }
  if (shard->n_items < n)
    shard->usable = g_renew (guint32, usable, MAX (shard->n_items, 1));
  else
    g_free (usable);
}

/* Counts the items without a label. */
static void
count_unlabelled (
    const SpdlArchiveSet *self, Shard *shard, SpdlArchiveCursor *cursor)
{
  const SpdlLabelOptions *labels = &self->options.labels;
  const gint has_labels = spdl_archive_index_has_labels (shard->index);
  SpdlArchiveSample sample;

  if (!labels->read || labels->column || has_labels == 1)
    return;
  if (has_labels == 0) {
    shard->n_unlabelled = shard->n_items;
    return;
  }
  for (guint64 i = 0; i < shard->n_items; i++)
    if (!read_item (shard, i, cursor, &sample) ||
        !spdl_archive_sample_has_label (&sample)) {
      if (shard->n_unlabelled++ == 0)
        shard->first_unlabelled = i;
    }
}

static void
warn_of_roles (SpdlArchiveSet *self, Shard *shard)
{
  SpdlArchiveRoles roles = { NULL };
  SpdlArchiveSample sample;

  if (self->extensions || !spdl_archive_index_has_roles (shard->index))
    return;
  for (guint64 i = 0; i < shard->n_items; i++)
    if (get_sample (self, shard, i, &sample) &&
        spdl_archive_roles_add (&roles, &sample)) {
      spdl_archive_roles_warn (&roles, &self->options, shard->location);
      break;
    }
  spdl_archive_roles_clear (&roles);
}

static void
warn_skipped_samples (SpdlArchiveSet *self, const Shard *shard)
{
  const guint64 n = spdl_archive_index_get_size (shard->index);

  if (shard->n_items < n)
    spdl_dataset_warn (&self->options,
        "%" G_GUINT64_FORMAT " of the %" G_GUINT64_FORMAT
        " samples in \"%s\" were skipped, because they have no %s",
        n - shard->n_items, n, shard->location,
        self->extensions ? self->options.extensions : "payload");
  spdl_archive_notes_warn_long (&self->options,
      spdl_archive_index_get_n_long (shard->index), shard->location);
}

/* Opening */

typedef struct {
  SpdlArchiveSet *set;
  gint next; /* atomic: next shard to open */
} Opening;

static void
open_shard (SpdlArchiveSet *self, Shard *shard, gboolean is_held,
    SpdlArchiveCursor *cursor)
{
  shard->index = spdl_archive_open (shard->location, self->options.sidecar,
      self->indexer, cursor, &shard->stamp, &shard->error);
  if (!shard->index) {
    if (g_error_matches (
            shard->error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SEEK))
      g_atomic_int_set (&self->streamed, TRUE);
    return;
  }
  find_usable (self, shard, cursor);
  count_unlabelled (self, shard, cursor);
  spdl_archive_cursor_reset (cursor);
  spdl_archive_index_check (shard->index, &shard->error);
  if (!is_held)
    spdl_archive_index_close (shard->index);
}

static gpointer
open_some (gpointer data)
{
  Opening *opening = data;
  SpdlArchiveSet *self = opening->set;
  SpdlArchiveCursor cursor = { NULL };
  gint i;

  while (!g_atomic_int_get (&self->streamed) &&
         (i = g_atomic_int_add (&opening->next, 1)) < (gint) self->shards->len)
    open_shard (self, &g_array_index (self->shards, Shard, i),
        i < (gint) self->max_held, &cursor);
  spdl_archive_cursor_clear (&cursor);
  return NULL;
}

static void
open_all (SpdlArchiveSet *self)
{
  const guint n = MIN (N_THREADS, self->shards->len);
  Opening opening = { self, 0 };
  GThread *threads[N_THREADS] = { NULL };

  for (guint i = 1; i < n; i++)
    threads[i] = g_thread_try_new ("spdl-shards", open_some, &opening, NULL);
  open_some (&opening);
  for (guint i = 1; i < n; i++)
    if (threads[i])
      g_thread_join (threads[i]);
}

/* Reports the error of the first shard that can only be streamed. */
static gboolean
refuse_to_stream (SpdlArchiveSet *self, GError **error)
{
  for (guint i = 0; i < self->shards->len; i++) {
    Shard *shard = &g_array_index (self->shards, Shard, i);

    if (!g_error_matches (
            shard->error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SEEK))
      continue;
    g_propagate_error (error, g_steal_pointer (&shard->error));
    break;
  }
  return FALSE;
}

static gboolean
gather_shards (SpdlArchiveSet *self, const gchar *location, GError **error)
{
  if (self->streamed)
    return refuse_to_stream (self, error);
  for (guint i = 0; i < self->shards->len; i++) {
    Shard *shard = &g_array_index (self->shards, Shard, i);
    const guint64 hash =
        shard->index ? spdl_archive_index_get_hash (shard->index) : 0;

    if (shard->error) {
      g_propagate_error (error, g_steal_pointer (&shard->error));
      return FALSE;
    }
    if (i < self->max_held)
      hold_index (self, shard);
    warn_skipped_samples (self, shard);
    warn_of_roles (self, shard);
    if (!spdl_archive_index_check (shard->index, error))
      return FALSE;
    shard->first_item = self->n_items;
    self->n_items += shard->n_items;
    self->hash = spdl_fingerprint_add (self->hash, &hash, sizeof hash);
  }
  for (guint i = 0; self->extensions && self->extensions[i]; i++)
    self->hash = spdl_fingerprint_add (
        self->hash, self->extensions[i], strlen (self->extensions[i]));
  if (self->n_items > 0)
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_NOT_FOUND,
      "No sample in \"%s\" has a payload: a sample is the files that share a "
      "name up to its first dot; set extensions to those of the wanted files",
      location);
}

/* Reports the items without a label. */
static gboolean
check_labels (SpdlArchiveSet *self, const gchar *location, GError **error)
{
  SpdlLabelCount count = { "cls", self->n_items };
  g_autofree gchar *key = NULL, *fields = NULL;

  for (guint i = 0; i < self->shards->len; i++) {
    Shard *shard = &g_array_index (self->shards, Shard, i);
    SpdlArchiveSample sample;

    if (!key && shard->n_unlabelled > 0 &&
        get_sample (self, shard, shard->first_unlabelled, &sample)) {
      key = g_strndup (sample.key, sample.key_length);
      fields = spdl_archive_notes_describe (&sample, shard->uri);
    }
    count.n_missing += shard->n_unlabelled;
  }
  count.first = key;
  count.fields = fields;
  return spdl_labels_check (&self->options, &count, location, error);
}

static gboolean
add_shards (SpdlArchiveSet *self, const gchar *location, GError **error)
{
  g_autoptr (GPtrArray) names =
      spdl_archive_names_expand (location, self->indexer, error);

  if (!names)
    return FALSE;
  for (guint i = 0; i < names->len; i++) {
    const gchar *name = g_ptr_array_index (names, i);
    Shard shard = { .remote = spdl_store_is_remote (name) };
    g_autofree gchar *path =
        shard.remote ? NULL : spdl_folder_dup_absolute (name);

    shard.location = g_strdup (path ? path : name);
    shard.uri = path ? g_filename_to_uri (path, NULL, NULL) : g_strdup (name);
    g_array_append_val (self->shards, shard);
  }
  return TRUE;
}

SpdlArchiveSet *
spdl_archive_set_open (
    const gchar *location, const SpdlDatasetOptions *options, GError **error)
{
  SpdlArchiveSet *self = g_new0 (SpdlArchiveSet, 1);
  gboolean ok;

  self->options = *options;
  self->extensions = spdl_archive_name_split_list (options->extensions);
  self->shards = g_array_new (FALSE, TRUE, sizeof (Shard));
  g_array_set_clear_func (self->shards, clear_shard);
  self->indexer = spdl_indexer_new (NULL, options->remote);
  ok = add_shards (self, location, error);
  self->max_held = MIN (find_max_open (), MAX (self->shards->len, 1));
  self->held = g_new0 (Shard *, self->max_held);
  if (ok)
    open_all (self);
  g_clear_pointer (&self->indexer, spdl_indexer_free);
  ok = ok && gather_shards (self, location, error) &&
       check_labels (self, location, error);
  self->options.extensions = NULL;
  self->options.remote = NULL;
  if (ok)
    return self;
  spdl_archive_set_free (self);
  return NULL;
}

guint64
spdl_archive_set_get_size (const SpdlArchiveSet *self)
{
  return self->n_items;
}

guint64
spdl_archive_set_get_hash (const SpdlArchiveSet *self)
{
  return self->hash;
}

/* Items */

/* Returns the shard that contains item @i, which is never an empty shard. */
static Shard *
find_shard (SpdlArchiveSet *self, guint64 i)
{
  guint low = 0, high = self->shards->len;
  Shard *shard = &g_array_index (self->shards, Shard, self->last);

  if (i - shard->first_item < shard->n_items && i >= shard->first_item)
    return shard;
  while (high - low > 1) {
    const guint middle = low + (high - low) / 2;

    if (g_array_index (self->shards, Shard, middle).first_item <= i)
      low = middle;
    else
      high = middle;
  }
  self->last = low;
  return &g_array_index (self->shards, Shard, low);
}

static gboolean
check_unchanged (const Shard *shard, GError **error)
{
  struct stat st;

  if (shard->remote || (stat (shard->location, &st) == 0 &&
                           spdl_stamp_is_of (&shard->stamp, &st)))
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_READ,
      "The shard \"%s\" has changed since it was indexed: restart without the "
      "resume state",
      shard->location);
}

static gchar *
describe_sample (SpdlArchiveSet *self, const Shard *shard,
    const SpdlArchiveSample *sample, gint64 *label, GstStructure **extra)
{
  SpdlArchiveFile file;

  if (!spdl_archive_sample_is_within (sample, shard->stamp.size) ||
      !get_payload (self, shard, sample, &file))
    return NULL;
  *label = spdl_archive_notes_get_label (&self->options.labels, sample);
  *extra = spdl_archive_notes_new (sample, shard->uri, &file, &self->losses);
  spdl_archive_losses_warn (&self->losses, &self->options, shard->location);
  return spdl_archive_notes_make_uri (shard->uri, &file);
}

gchar *
spdl_archive_set_get_item (SpdlArchiveSet *self, guint64 i, gint64 *label,
    GstStructure **extra, GError **error)
{
  Shard *shard = find_shard (self, i);
  SpdlArchiveSample sample;
  g_autofree gchar *uri = NULL;

  *extra = NULL;
  *label = SPDL_NO_LABEL;
  if (get_sample (self, shard, i - shard->first_item, &sample))
    uri = describe_sample (self, shard, &sample, label, extra);
  if (check_unchanged (shard, error) &&
      spdl_archive_index_check (shard->index, error)) {
    if (uri)
      return g_steal_pointer (&uri);
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "The index of the shard \"%s\" is invalid: remove it", shard->location);
  }
  g_clear_pointer (extra, gst_structure_free);
  return NULL;
}
