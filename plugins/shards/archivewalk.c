/* gst-spdl: indexing of a tar or ZIP shard
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/shards/archivewalk.h"

#include <gst/gst.h>

#include "plugins/common/zip.h"
#include "plugins/dataset/archive/archivewriter.h"
#include "plugins/shards/archivemember.h"

#define MAX_BLOCK 16384

typedef struct {
  SpdlReader *reader;
  struct archive *archive;
  SpdlArchiveWriter *writer;
  guint64 position;     /* offset of libarchive's next read */
  guint64 block_offset; /* offset of the block */
  gsize block_size;
  guint8 block[MAX_BLOCK];
  guint64 end;   /* end of the last member and its padding */
  GError *error; /* error of the reader */
} Walk;

/* Callbacks of libarchive */

static la_ssize_t
on_read (struct archive *archive, void *data, const void **buffer)
{
  Walk *self = data;
  const guint64 whole = self->reader->stamp.size;
  gsize into;

  if (self->position >= whole)
    return 0;
  if (self->block_size == 0 || self->position < self->block_offset ||
      self->position - self->block_offset >= self->block_size) {
    self->block_offset = self->position;
    self->block_size =
        MIN (MIN (self->reader->block, MAX_BLOCK), whole - self->position);
    if (!self->error && !spdl_reader_read (self->reader, self->block_offset,
                            self->block, self->block_size, &self->error))
      self->block_size = 0;
  }
  if (self->error) {
    archive_set_error (archive, 5, "%s", self->error->message);
    return -1;
  }
  into = self->position - self->block_offset;
  *buffer = self->block + into;
  self->position += self->block_size - into;
  return self->block_size - into;
}

static la_int64_t
on_skip (struct archive *archive, void *data, la_int64_t n)
{
  Walk *self = data;
  const guint64 left = self->reader->stamp.size - self->position;

  n = MIN ((guint64) MAX (n, 0), left);
  self->position += n;
  return n;
}

static la_int64_t
on_seek (struct archive *archive, void *data, la_int64_t offset, int whence)
{
  Walk *self = data;
  const gint64 whole = self->reader->stamp.size;
  const gint64 base = whence == SEEK_SET   ? 0
                      : whence == SEEK_CUR ? (gint64) self->position
                                           : whole;

  if (offset < -base || offset > whole - base)
    return ARCHIVE_FATAL;
  self->position = base + offset;
  return self->position;
}

/* Errors */

static gboolean
refuse_by_libarchive (Walk *self, GError **error)
{
  if (!self->error)
    return spdl_archive_refuse_by_libarchive (
        self->reader->name, self->archive, error);
  g_propagate_error (error, g_steal_pointer (&self->error));
  return FALSE;
}

/* Members */

/* Reads the content of a note. Returns FALSE with @error set. */
static gboolean
read_text (Walk *self, gchar *text, gsize size, GError **error)
{
  gsize done = 0;
  la_ssize_t n = 1;

  while (done < size && n > 0) {
    n = archive_read_data (self->archive, text + done, size - done);
    done += MAX (n, 0);
  }
  return done == size || refuse_by_libarchive (self, error);
}

static gboolean
add_file (
    Walk *self, struct archive_entry *entry, const gchar *path, GError **error)
{
  const guint64 first = archive_filter_bytes (self->archive, 0);
  const guint64 size = archive_entry_size (entry);
  const gchar *why =
      spdl_archive_find_obstacle (entry, first, self->reader->stamp.size);
  g_autofree gchar *text = NULL;

  if (why)
    return spdl_archive_refuse_member (self->reader->name, error, path, why);
  self->end = spdl_archive_end_of (first, size);
  if (spdl_archive_writer_wants (path, size)) {
    text = g_malloc (size + 1);
    if (!read_text (self, text, size, error))
      return FALSE;
  }
  why = spdl_archive_writer_add (
      self->writer, path, first, size, NULL, text, size);
  return !why ||
         spdl_archive_refuse_member (self->reader->name, error, path, why);
}

static gboolean
add_entry (Walk *self, struct archive_entry *entry, GError **error)
{
  g_autofree gchar *path = spdl_archive_dup_path (entry);

  self->end = archive_filter_bytes (self->archive, 0);
  return !path || !spdl_archive_is_file (entry) ||
         add_file (self, entry, path, error);
}

static gboolean
walk_tar (Walk *self, GError **error)
{
  struct archive_entry *entry;
  int status;

  while ((status = spdl_archive_next_header (self->archive, &entry)) ==
             ARCHIVE_OK ||
         status == ARCHIVE_WARN)
    if (!add_entry (self, entry, error))
      return FALSE;
  if (status != ARCHIVE_EOF)
    return refuse_by_libarchive (self, error);
  return spdl_archive_check_end (
      self->reader->name, self->archive, self->end, error);
}

/* Reads all members. A ZIP may follow another program, so the end of a ZIP is
 * searched for in each file that is not a tar. */
static gboolean
walk_members (Walk *self, GError **error)
{
  const gsize size = MIN (self->reader->stamp.size, SPDL_ARCHIVE_HEAD);
  guint8 head[SPDL_ARCHIVE_HEAD];
  SpdlZipWalkResult result;

  if (!spdl_reader_read (self->reader, 0, head, size, error) ||
      !spdl_archive_check_compression (
          self->reader->name, head, size, FALSE, error))
    return FALSE;
  if (!spdl_zip_is_zip (head, size)) {
    if (archive_read_open1 (self->archive) == ARCHIVE_OK)
      return walk_tar (self, error);
    if (self->error)
      return refuse_by_libarchive (self, error);
  }
  result = spdl_zip_walk (self->reader, self->writer, error);
  if (result == SPDL_ZIP_WALK_NO_ZIP)
    return spdl_archive_refuse (self->reader->name, error,
        spdl_zip_is_zip (head, size) ? "the ZIP ends before the end of its "
                                       "directory"
                                     : "the file is neither a tar nor a ZIP",
        "");
  return result == SPDL_ZIP_WALK_OK;
}

static struct archive *
open_archive (Walk *self)
{
  struct archive *archive = archive_read_new ();

  if (!archive)
    g_error ("not enough memory for an archive");
  archive_read_support_format_tar (archive);
  archive_read_set_read_callback (archive, on_read);
  archive_read_set_skip_callback (archive, on_skip);
  archive_read_set_seek_callback (archive, on_seek);
  archive_read_set_callback_data (archive, self);
  return archive;
}

static gboolean
group_members (Walk *self, GError **error)
{
  g_autofree gchar *path = NULL;
  const gchar *why = spdl_archive_writer_group (self->writer, &path);

  return !why ||
         spdl_archive_refuse_member (self->reader->name, error, path, why);
}

guint8 *
spdl_archive_walk (SpdlReader *reader, gsize *size, GError **error)
{
  Walk self = { .reader = reader };
  SpdlArchiveKey key = { reader->stamp, 0, reader->validator };
  guint8 *data = NULL;

  self.archive = open_archive (&self);
  self.writer = spdl_archive_writer_new ();
  if (walk_members (&self, error) && group_members (&self, error) &&
      spdl_reader_hash_samples (reader, &key.samples, error))
    data = spdl_archive_writer_finish (self.writer, &key, size);
  spdl_archive_writer_free (self.writer);
  archive_read_free (self.archive);
  g_clear_error (&self.error);
  return data;
}
