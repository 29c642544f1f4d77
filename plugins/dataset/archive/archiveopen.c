/* gst-spdl: loading and building of shard indexes
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/archive/archiveopen.h"

#include <gst/gst.h>
#include <stdlib.h>
#include <string.h>

#include "gst/spdl/common/logline.h"
#include "gst/spdl/common/redact.h"
#include "gst/spdl/common/storeuri.h"
#include "gst/spdl/engine/cgroup.h"
#include "plugins/dataset/archive/archivewriter.h"

#define GST_CAT_DEFAULT spdl_archive_get_category ()
/* Minimum age of a file, in seconds. A change within the granularity of its
 * modification time could go unnoticed. */
/* Limit for an index on a server, which is read into memory as a whole. */
#define MAX_REMOTE_INDEX ((guint64) 1 << 32)

GstDebugCategory *
spdl_archive_get_category (void)
{
  static gsize category = 0;

  if (g_once_init_enter (&category)) {
    GstDebugCategory *made = NULL;

    GST_DEBUG_CATEGORY_INIT (made, "spdlshards", 0, "Shards");
    g_once_init_leave (&category, (gsize) made);
  }
  return (GstDebugCategory *) category;
}

gchar *
spdl_archive_sidecar_of (const gchar *location)
{
  const gsize length = spdl_uri_measure_name (location);

  return g_strdup_printf ("%.*s" SPDL_SIDECAR_SUFFIX "%s", (int) length,
      location, location + length);
}

SpdlReader *
spdl_archive_open_reader (
    const gchar *location, SpdlIndexer *indexer, GError **error)
{
  return spdl_store_is_remote (location)
             ? spdl_indexer_open_remote (indexer, location, error)
             : spdl_reader_open_file (location, error);
}

/* Returns the path of the cached index. The query of a URL is left out because
 * each signed URL has another one; userinfo, because a password could be
 * guessed from the hash in the file's name. */
static gchar *
path_in_cache (const gchar *location)
{
  g_autofree gchar *name = NULL;

  if (spdl_store_is_remote (location)) {
    g_autofree gchar *plain =
        g_strndup (location, spdl_uri_measure_name (location));

    name = spdl_redact_remove_userinfo (plain);
  } else {
    char *path = realpath (location, NULL);

    name = g_strdup (path ? path : location);
    free (path);
  }
  return spdl_sidecar_file_in_cache (name, SPDL_SIDECAR_SUFFIX);
}

/* Returns why the index does not match the shard that @reader reads, or NULL if
 * it does. Compares the server's validator if there is one, otherwise excerpts
 * of the shard. */
static const gchar *
find_difference (const SpdlArchiveIndex *index, SpdlReader *reader)
{
  g_autoptr (GError) error = NULL;
  SpdlArchiveKey key;
  guint64 samples;

  spdl_archive_index_get_key (index, &key);
  if (key.stamp.size != reader->stamp.size)
    return "the size of the shard has changed";
  if (reader->validator > SPDL_READER_UNKNOWN &&
      key.validator == reader->validator)
    return NULL;
  if (reader->validator == 0 &&
      !spdl_stamp_is_equal (&key.stamp, &reader->stamp))
    return "the shard has changed";
  if (!spdl_reader_hash_samples (reader, &samples, &error))
    return "the shard cannot be read";
  return samples == key.samples ? NULL : "the index belongs to another shard";
}

/* Returns @index if it matches the shard. Otherwise logs the reason, frees
 * @index and returns NULL. */
static SpdlArchiveIndex *
check_index (SpdlArchiveIndex *index, const gchar *problem, SpdlReader *reader,
    const gchar *path)
{
  if (index)
    problem = find_difference (index, reader);
  if (problem)
    SPDL_WARNING ("the index \"%s\" of the shard \"%s\" is ignored: %s", path,
        reader->name, problem);
  else if (index)
    SPDL_INFO ("the shard \"%s\" has the index \"%s\"", reader->name, path);
  if (problem)
    g_clear_pointer (&index, spdl_archive_index_free);
  return index;
}

static SpdlArchiveIndex *
load_index (const gchar *path, SpdlReader *reader, SpdlArchiveCursor *cursor)
{
  const gchar *problem;
  SpdlArchiveIndex *index = spdl_archive_index_open (path, cursor, &problem);

  return check_index (index, problem, reader, path);
}

static int
write_data (int fd, gconstpointer user_data)
{
  const GBytes *bytes = user_data;
  gsize size;
  gconstpointer data = g_bytes_get_data ((GBytes *) bytes, &size);

  return spdl_file_write_all (fd, data, size);
}

int
spdl_archive_store (
    const gchar *path, guint mode, const guint8 *data, gsize size)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (data, size);

  return spdl_sidecar_file_store (path, mode, write_data, bytes);
}

/* Stores the index in a file and opens that file, so that the index uses no
 * memory. Returns NULL if that fails, or if the file has other content:
 * meanwhile, the index of another shard may have been stored, whose URL differs
 * in the query. */
static SpdlArchiveIndex *
keep_index (SpdlArchiveIndex *index, SpdlReader *reader, const gchar *path,
    SpdlArchiveCursor *cursor)
{
  gsize size;
  const guint8 *data = spdl_archive_index_get_data (index, &size);
  const int failed = spdl_archive_store (path, reader->mode, data, size);
  const gchar *problem;
  SpdlArchiveIndex *stored =
      failed == 0 ? spdl_archive_index_open (path, cursor, &problem) : NULL;

  if (stored && !spdl_archive_index_is_equal (stored, index))
    g_clear_pointer (&stored, spdl_archive_index_free);
  if (!stored) {
    SPDL_INFO ("failed to write the index of the shard \"%s\" to \"%s\": %s",
        reader->name, path,
        failed ? g_strerror (failed) : "the file was replaced");
    return NULL;
  }
  SPDL_INFO ("the index of the shard \"%s\" was written to \"%s\"",
      reader->name, path);
  spdl_archive_index_free (index);
  return stored;
}

static SpdlArchiveIndex *
keep_somewhere (SpdlArchiveIndex *index, SpdlReader *reader,
    const gchar *beside, const gchar *cached, SpdlArchiveCursor *cursor)
{
  SpdlArchiveIndex *stored = NULL;

  if (reader->validator == 0 && !spdl_stamp_is_settled (&reader->stamp))
    return index;
  if (beside)
    stored = keep_index (index, reader, beside, cursor);
  if (!stored)
    stored = keep_index (index, reader, cached, cursor);
  return stored ? stored : index;
}

/* Downloads the index at URL.spdl-index. Returns NULL if there is no usable
 * index. */
static SpdlArchiveIndex *
fetch_sidecar (SpdlReader *shard, const gchar *uri, SpdlIndexer *indexer)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SpdlReader) reader =
      spdl_indexer_open_remote (indexer, uri, &error);
  g_autofree gchar *shown = spdl_redact_dup_uri (uri);
  g_autofree guint8 *data = NULL;
  const gchar *problem = NULL;
  SpdlArchiveIndex *index = NULL;

  if (!reader) {
    SPDL_INFO ("the shard \"%s\" has no index \"%s\": %s", shard->name, shown,
        error->message);
    return NULL;
  }
  if (reader->stamp.size > MIN (MAX_REMOTE_INDEX, spdl_memory_get_share ()) ||
      !(data = g_try_malloc (reader->stamp.size)))
    problem = "the index is too large";
  else if (!spdl_reader_read (reader, 0, data, reader->stamp.size, &error))
    problem = error->message;
  else
    index = spdl_archive_index_new (
        g_steal_pointer (&data), reader->stamp.size, &problem);
  index = check_index (index, problem, shard, shown);
  if (index)
    spdl_archive_index_restamp (index, shard->validator);
  return index;
}

static SpdlArchiveIndex *
make_index (SpdlReader *reader, SpdlIndexer *indexer, GError **error)
{
  gsize size;
  const gchar *problem;
  guint8 *data = spdl_indexer_walk (indexer, reader, &size, error);

  return data ? spdl_archive_index_new (data, size, &problem) : NULL;
}

static gboolean
is_kept (const SpdlReader *reader, SpdlSidecarUse use)
{
  return use == SPDL_SIDECAR_ALWAYS ||
         (use == SPDL_SIDECAR_AUTO &&
             reader->stamp.size >= SPDL_SIDECAR_MIN_SIZE);
}

SpdlArchiveIndex *
spdl_archive_open (const gchar *location, SpdlSidecarUse use,
    SpdlIndexer *indexer, SpdlArchiveCursor *cursor, SpdlStamp *stamp,
    GError **error)
{
  g_autoptr (SpdlReader) reader =
      spdl_archive_open_reader (location, indexer, error);
  g_autofree gchar *beside = spdl_archive_sidecar_of (location);
  g_autofree gchar *cached = NULL;
  const gboolean remote = spdl_store_is_remote (location);
  SpdlArchiveIndex *index = NULL;

  if (!reader)
    return NULL;
  *stamp = reader->stamp;
  if (use != SPDL_SIDECAR_NONE && !remote)
    index = load_index (beside, reader, cursor);
  if (index)
    return index;
  cached = path_in_cache (location);
  if (use != SPDL_SIDECAR_NONE)
    index = load_index (cached, reader, cursor);
  if (index)
    return index;
  if (use != SPDL_SIDECAR_NONE && remote)
    index = fetch_sidecar (reader, beside, indexer);
  if (!index)
    index = make_index (reader, indexer, error);
  if (index && is_kept (reader, use))
    index =
        keep_somewhere (index, reader, remote ? NULL : beside, cached, cursor);
  return index;
}
