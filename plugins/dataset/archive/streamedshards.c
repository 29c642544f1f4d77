/* gst-spdl: dataset of shards that are read sequentially
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/archive/streamedshards.h"

#include <string.h>

#include "gst/spdl/common/redact.h"
#include "gst/spdl/common/storeuri.h"
#include "gst/spdl/engine/sync.h"
#include "plugins/common/fingerprint.h"
#include "plugins/dataset/archive/archivenotes.h"
#include "plugins/dataset/archive/archiveopen.h"
#include "plugins/dataset/archive/shardpattern.h"
#include "plugins/dataset/sampler/weightedsampler.h"

/* Limits of the queue, which always has space for one sample. */
#define MAX_SAMPLES 64
#define MAX_BYTES (16 << 20)

typedef struct {
  gchar *uri;
  gchar *name;       /* for messages: without userinfo and query */
  guint64 n_samples; /* counted when the shard was last read to its end; 0:
                        unknown */
} Shard;

struct _SpdlStreamedShards {
  SpdlDatasetOptions options;
  gchar **extensions;
  GArray *shards; /* Shard */
  SpdlIndexer *indexer;
  guint64 hash;
  SpdlArchiveLosses losses; /* warnings were given of them */

  /* The current epoch. */
  SpdlDraws draws;
  guint64 n_drawn;
  GArray *buffer; /* SpdlDatasetItem */
  guint capacity; /* maximum number of items in the buffer */
  gboolean ended; /* no shard is left */
  GError *error;  /* nullable: the first error of a shard */

  /* The current shard. */
  Shard *shard;      /* nullable: none yet in this epoch */
  guint64 n_samples; /* received from the shard */
  guint64 n_skipped;
  guint64 n_long;
  guint64 n_unchecked;
  SpdlArchiveRoles roles;

  /* The thread that reads it from its beginning, and queues some samples. */
  gboolean is_open;
  GThread *reader; /* nullable: the thread could not be created */

  SpdlMutex lock; /* guards: */
  SpdlCond cond;
  GQueue samples;   /* SpdlSample */
  guint64 size;     /* in bytes, of all samples */
  gboolean is_read; /* to its end, or up to the failure */
  GError *failure;  /* nullable */
  gboolean closed;
  gboolean flushing;
};

/* Reader of a shard */

static gboolean
is_full (const SpdlStreamedShards *self)
{
  return self->samples.length >= MAX_SAMPLES ||
         (self->samples.length > 0 && self->size >= MAX_BYTES);
}

static gboolean
on_sample (SpdlSample *sample, gpointer user_data)
{
  SpdlStreamedShards *self = user_data;
  gboolean closed;

  spdl_mutex_lock (&self->lock);
  while (is_full (self) && !self->closed)
    spdl_cond_wait (&self->cond, &self->lock);
  closed = self->closed;
  if (!closed) {
    g_queue_push_tail (&self->samples, sample);
    self->size += sample->size;
    spdl_cond_broadcast (&self->cond);
  }
  spdl_mutex_unlock (&self->lock);
  if (closed)
    spdl_sample_free (sample);
  return !closed;
}

static gpointer
run_reader (gpointer data)
{
  SpdlStreamedShards *self = data;
  GError *error = NULL;

  spdl_indexer_stream (
      self->indexer, self->shard->uri, on_sample, self, &error);
  spdl_mutex_lock (&self->lock);
  self->failure = error;
  self->is_read = TRUE;
  spdl_cond_broadcast (&self->cond);
  spdl_mutex_unlock (&self->lock);
  return NULL;
}

/* Starts to read the current shard. */
static void
open_stream (SpdlStreamedShards *self)
{
  self->is_open = TRUE;
  self->closed = self->is_read = FALSE;
  self->reader =
      g_thread_try_new ("spdl-stream", run_reader, self, &self->failure);
  if (!self->reader)
    self->is_read = TRUE;
}

/* Joins the thread, which ends soon if the shard has ended or the indexer was
 * cancelled. */
static void
close_stream (SpdlStreamedShards *self)
{
  if (!self->is_open)
    return;
  spdl_mutex_lock (&self->lock);
  self->closed = TRUE;
  spdl_cond_broadcast (&self->cond);
  spdl_mutex_unlock (&self->lock);
  if (self->reader)
    g_thread_join (g_steal_pointer (&self->reader));
  g_queue_clear_full (&self->samples, (GDestroyNotify) spdl_sample_free);
  self->size = 0;
  g_clear_error (&self->failure);
  self->is_open = FALSE;
}

/* Waits for the next sample (transfer full). */
static SpdlDatasetStatus
pop_sample (SpdlStreamedShards *self, SpdlSample **sample, GError **error)
{
  SpdlDatasetStatus status;

  spdl_mutex_lock (&self->lock);
  while (self->samples.length == 0 && !self->is_read && !self->flushing)
    spdl_cond_wait (&self->cond, &self->lock);
  if (self->flushing) {
    status = SPDL_DATASET_FLUSHING;
  } else if (self->samples.length > 0) {
    status = SPDL_DATASET_ITEM;
    *sample = g_queue_pop_head (&self->samples);
    self->size -= (*sample)->size;
    spdl_cond_broadcast (&self->cond);
  } else if (self->failure) {
    status = SPDL_DATASET_FAILED;
    g_propagate_error (error, g_steal_pointer (&self->failure));
  } else {
    status = SPDL_DATASET_END;
  }
  spdl_mutex_unlock (&self->lock);
  return status;
}

static void
clear_shard (gpointer data)
{
  Shard *shard = data;

  g_free (shard->uri);
  g_free (shard->name);
}

static void
clear_item (gpointer data)
{
  spdl_dataset_item_clear (data);
}

/* Opening */

static gboolean
add_shard (SpdlStreamedShards *self, const gchar *uri, GError **error)
{
  Shard shard = { NULL };
  g_autofree gchar *plain = g_strndup (uri, spdl_uri_measure_name (uri));

  shard.name = spdl_redact_remove_userinfo (plain);
  if (spdl_store_is_remote (uri) && !g_str_has_suffix (shard.name, ".zip")) {
    shard.uri = g_strdup (uri);
    g_array_append_val (self->shards, shard);
    self->hash =
        spdl_fingerprint_add (self->hash, shard.name, strlen (shard.name));
    return TRUE;
  }
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
      "\"%s\" cannot be mixed with shards whose server supports no byte "
      "ranges: those are streamed, and only tar files on servers can be "
      "streamed",
      shard.name);
  g_free (shard.name);
  return FALSE;
}

static gboolean
add_shards (SpdlStreamedShards *self, const gchar *location, GError **error)
{
  g_autoptr (GPtrArray) names =
      spdl_archive_names_expand (location, self->indexer, error);

  for (guint i = 0; names && i < names->len; i++)
    if (!add_shard (self, g_ptr_array_index (names, i), error))
      return FALSE;
  return names != NULL;
}

SpdlStreamedShards *
spdl_streamed_shards_open (
    const SpdlDatasetOptions *options, guint buffer, GError **error)
{
  SpdlStreamedShards *self = g_new0 (SpdlStreamedShards, 1);
  const guint32 capacity = GUINT32_TO_LE (MAX (buffer, 1));

  self->options = *options;
  self->extensions = spdl_archive_name_split_list (options->extensions);
  self->capacity = MAX (buffer, 1);
  self->shards = g_array_new (FALSE, FALSE, sizeof (Shard));
  g_array_set_clear_func (self->shards, clear_shard);
  self->buffer = g_array_new (FALSE, FALSE, sizeof (SpdlDatasetItem));
  g_array_set_clear_func (self->buffer, clear_item);
  self->indexer = spdl_indexer_new (NULL, options->remote);
  spdl_mutex_init (&self->lock);
  spdl_cond_init (&self->cond);
  for (guint i = 0; self->extensions && self->extensions[i]; i++)
    self->hash = spdl_fingerprint_add (
        self->hash, self->extensions[i], strlen (self->extensions[i]));
  self->hash = spdl_fingerprint_add (self->hash, &capacity, sizeof capacity);
  if (!add_shards (self, options->location, error))
    g_clear_pointer (&self, spdl_streamed_shards_free);
  return self;
}

void
spdl_streamed_shards_free (SpdlStreamedShards *self)
{
  spdl_indexer_cancel (self->indexer);
  close_stream (self);
  spdl_indexer_free (self->indexer);
  g_array_unref (self->buffer);
  g_array_unref (self->shards);
  g_strfreev (self->extensions);
  spdl_archive_losses_clear (&self->losses);
  spdl_archive_roles_clear (&self->roles);
  g_clear_error (&self->error);
  spdl_cond_clear (&self->cond);
  spdl_mutex_clear (&self->lock);
  g_free (self);
}

guint64
spdl_streamed_shards_get_n_shards (const SpdlStreamedShards *self)
{
  return self->shards->len;
}

guint64
spdl_streamed_shards_get_hash (const SpdlStreamedShards *self)
{
  return self->hash;
}

void
spdl_streamed_shards_begin_epoch (
    SpdlStreamedShards *self, guint64 seed, guint64 epoch)
{
  close_stream (self);
  g_array_set_size (self->buffer, 0);
  g_clear_error (&self->error);
  spdl_draws_init (&self->draws, seed, epoch);
  self->n_drawn = 0;
  self->ended = FALSE;
  self->shard = NULL;
}

/* Warnings */

static void
warn_skipped_samples (SpdlStreamedShards *self)
{
  const gchar *name = self->shard->name;

  if (self->n_skipped > 0)
    spdl_dataset_warn (&self->options,
        "%" G_GUINT64_FORMAT " of the %" G_GUINT64_FORMAT
        " samples in \"%s\" were skipped, because they have no %s",
        self->n_skipped, self->n_samples, name,
        self->extensions ? "file with one of the extensions" : "payload");
  spdl_archive_notes_warn_long (&self->options, self->n_long, name);
  if (self->n_unchecked > 0)
    spdl_dataset_warn (&self->options,
        "The keys of the last %" G_GUINT64_FORMAT " of the %" G_GUINT64_FORMAT
        " samples in \"%s\" were not compared with those before them, because "
        "there are too many: if the tar is not sorted, samples lack files. "
        "Create smaller tars with --sort=name",
        self->n_unchecked, self->n_samples, name);
}

static void
warn_lost_samples (SpdlStreamedShards *self, const GError *error)
{
  const guint64 n_all = self->shard->n_samples;
  g_autofree gchar *lost =
      n_all > self->n_samples
          ? g_strdup_printf ("%" G_GUINT64_FORMAT " of its %" G_GUINT64_FORMAT
                             " samples are lost",
                n_all - self->n_samples, n_all)
          : g_strdup ("an unknown number of further samples are lost");

  spdl_dataset_warn (&self->options,
      "The shard \"%s\" failed after %" G_GUINT64_FORMAT
      " samples, and %s in this epoch: %s",
      self->shard->name, self->n_samples, lost, error->message);
}

/* Items */

static GstSpdlCarried *
carry_sample (
    const SpdlSample *sample, const SpdlArchiveSample *files, const gchar *uri)
{
  GstSpdlCarried *carried = gst_spdl_carried_new ();
  SpdlArchiveSample reading = *files;
  SpdlArchiveFile file;

  for (guint i = 0; spdl_archive_sample_next (&reading, &file); i++) {
    GstBuffer *content = g_ptr_array_index (sample->contents, i);

    if (content && file.size > 0)
      gst_spdl_carried_add (carried, spdl_archive_notes_make_uri (uri, &file),
          gst_buffer_ref (content));
  }
  return carried;
}

/* Returns FALSE if the sample has no payload. */
static gboolean
make_item (
    SpdlStreamedShards *self, const SpdlSample *sample, SpdlDatasetItem *item)
{
  const gchar *uri = self->shard->uri;
  const guint64 shard = self->shard - (Shard *) (gpointer) self->shards->data;
  SpdlArchiveSample files;
  SpdlArchiveFile file;

  if (!spdl_archive_index_get_sample (sample->index, 0, NULL, &files) ||
      !spdl_archive_sample_get_payload (
          &files, (const gchar *const *) self->extensions, &file))
    return FALSE;
  if (!self->extensions && spdl_archive_roles_add (&self->roles, &files))
    spdl_archive_roles_warn (&self->roles, &self->options, self->shard->name);
  item->index = shard << SPDL_STREAMED_SHARDS_SHARD_SHIFT | self->n_samples;
  item->label = spdl_archive_notes_get_label (&self->options.labels, &files);
  item->uri = spdl_archive_notes_make_uri (uri, &file);
  item->extra = spdl_archive_notes_new (&files, uri, &file, &self->losses);
  spdl_archive_losses_warn (&self->losses, &self->options, self->shard->name);
  item->carried = carry_sample (sample, &files, uri);
  return TRUE;
}

static void
add_sample (SpdlStreamedShards *self, const SpdlSample *sample)
{
  SpdlDatasetItem item;

  self->n_long += spdl_archive_index_get_n_long (sample->index);
  self->n_unchecked += sample->unchecked;
  if (make_item (self, sample, &item))
    g_array_append_val (self->buffer, item);
  else
    self->n_skipped++;
  self->n_samples++;
}

static gboolean
open_next (
    SpdlStreamedShards *self, SpdlNextShardFunc next_shard, gpointer user_data)
{
  guint64 i;

  if (!next_shard (user_data, &i))
    return FALSE;
  self->shard = &g_array_index (self->shards, Shard, i);
  self->n_samples = self->n_skipped = self->n_long = self->n_unchecked = 0;
  open_stream (self);
  return TRUE;
}

/* Handles the next event of the current stream: a sample, its end or an error.
 * Returns FALSE if the stream is flushing. */
static gboolean
take_sample (SpdlStreamedShards *self, guint *n_lost)
{
  g_autoptr (SpdlSample) sample = NULL;
  g_autoptr (GError) error = NULL;

  switch (pop_sample (self, &sample, &error)) {
    case SPDL_DATASET_ITEM:
      add_sample (self, sample);
      return TRUE;
    case SPDL_DATASET_END:
      self->shard->n_samples = self->n_samples;
      warn_skipped_samples (self);
      close_stream (self);
      return TRUE;
    case SPDL_DATASET_FAILED:
      warn_lost_samples (self, error);
      (*n_lost)++;
      if (!self->error)
        self->error = g_steal_pointer (&error);
      close_stream (self);
      return TRUE;
    default:
      return FALSE;
  }
}

/* Returns FALSE if the stream is flushing. */
static gboolean
fill_buffer (SpdlStreamedShards *self, SpdlNextShardFunc next_shard,
    gpointer user_data, guint *n_lost)
{
  while (!self->ended && self->buffer->len < self->capacity) {
    if (!self->is_open)
      self->ended = !open_next (self, next_shard, user_data);
    else if (!take_sample (self, n_lost))
      return FALSE;
  }
  return TRUE;
}

/* Sets the error of an epoch without items. */
static void
set_empty (SpdlStreamedShards *self, GError **error)
{
  if (self->error)
    g_propagate_error (error, g_steal_pointer (&self->error));
  else
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
        "No sample in \"%s\", or in other shards of this epoch, has a payload: "
        "a sample is the files that share a name up to its first dot; set "
        "extensions to those of the wanted files",
        self->shard->name);
}

SpdlDatasetStatus
spdl_streamed_shards_next (SpdlStreamedShards *self,
    SpdlNextShardFunc next_shard, gpointer user_data, SpdlDatasetItem *item,
    guint *n_lost, GError **error)
{
  guint i = 0;

  if (!fill_buffer (self, next_shard, user_data, n_lost))
    return SPDL_DATASET_FLUSHING;
  if (self->buffer->len == 0 && self->n_drawn == 0 && self->shard) {
    set_empty (self, error);
    return SPDL_DATASET_FAILED;
  }
  if (self->buffer->len == 0)
    return SPDL_DATASET_END;
  if (self->capacity > 1)
    i = spdl_draws_get_number (&self->draws, self->n_drawn) % self->buffer->len;
  self->n_drawn++;
  *item = g_array_index (self->buffer, SpdlDatasetItem, i);
  g_array_set_clear_func (self->buffer, NULL);
  g_array_remove_index_fast (self->buffer, i);
  g_array_set_clear_func (self->buffer, clear_item);
  return SPDL_DATASET_ITEM;
}

void
spdl_streamed_shards_set_flushing (SpdlStreamedShards *self, gboolean flushing)
{
  spdl_mutex_lock (&self->lock);
  self->flushing = flushing;
  spdl_cond_broadcast (&self->cond);
  spdl_mutex_unlock (&self->lock);
}
