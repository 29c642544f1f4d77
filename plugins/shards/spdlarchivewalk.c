/* gst-spdl: a walk through a shard
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlarchivewalk.h"

#include <archive.h>
#include <archive_entry.h>
#include <gst/gst.h>
#include <string.h>

#include "spdlarchivewriter.h"

#define TAR_BLOCK 512
#define MAX_BLOCK 16384

typedef struct {
  SpdlReader *reader;
  struct archive *archive;
  SpdlArchiveWriter *writer;
  guint64 position;     /* what libarchive asks for next */
  guint64 block_offset; /* where the block below lies */
  gsize block_size;
  guint8 block[MAX_BLOCK];
  guint64 end;   /* of the last member, with what fills its block up */
  GError *error; /* of reading */
} Walk;

/* What libarchive asks for */

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

/* What is wrong */

static gboolean
refuse (const Walk *self, GError **error, const gchar *why, const gchar *what)
{
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
      "\"%s\" cannot be used as a shard: %s%s", self->reader->name, why, what);
  return FALSE;
}

static gboolean
refuse_member (
    const Walk *self, GError **error, const gchar *path, const gchar *why)
{
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
      "\"%s\" cannot be used as a shard because of \"%s\" in it: %s",
      self->reader->name, path, why);
  return FALSE;
}

static gboolean
refuse_by_libarchive (Walk *self, GError **error)
{
  const gchar *reason = archive_error_string (self->archive);
  g_autofree gchar *valid = g_utf8_make_valid (reason ? reason : "?", -1);

  if (!self->error)
    return refuse (self, error, "", valid);
  g_propagate_error (error, g_steal_pointer (&self->error));
  return FALSE;
}

static const struct {
  const gchar *mark;
  gsize size;
  const gchar *name;
} compressions[] = {
  { "\037\213", 2, "gzip" },
  { "BZh", 3, "bzip2" },
  { "\3757zXZ", 5, "xz" },
  { "(\265/\375", 4, "zstd" },
  { "\4\"M\30", 4, "lz4" },
  { "\037\235", 2, "compress" },
  { "LZIP", 4, "lzip" },
};

static gboolean
check_compression (Walk *self, GError **error)
{
  const gsize size = MIN (self->reader->stamp.size, 6);
  guint8 head[6];

  if (size == 0)
    return refuse (self, error, "it is empty", "");
  if (!spdl_reader_read (self->reader, 0, head, size, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (compressions); i++)
    if (size >= compressions[i].size &&
        memcmp (head, compressions[i].mark, compressions[i].size) == 0)
      return refuse (self, error,
          "nothing in it has a byte range, since it is compressed as a whole: "
          "unpack it first, from ",
          compressions[i].name);
  return TRUE;
}

/* Members */

static gboolean
is_zip (Walk *self)
{
  return (archive_format (self->archive) & ARCHIVE_FORMAT_BASE_MASK) ==
         ARCHIVE_FORMAT_ZIP;
}

static gchar *
dup_path (struct archive_entry *entry)
{
  const gchar *path = archive_entry_pathname_utf8 (entry);

  if (!path)
    path = archive_entry_pathname (entry);
  return path ? g_utf8_make_valid (path, -1) : NULL;
}

static const gchar *
find_obstacle (Walk *self, struct archive_entry *entry, guint64 first)
{
  const guint64 whole = self->reader->stamp.size;
  const gint64 size = archive_entry_size (entry);

  if (archive_entry_is_encrypted (entry))
    return "it is encrypted";
  if (is_zip (self) &&
      !strstr (archive_format_name (self->archive), "(uncompressed)"))
    return "it is compressed, so that it has no byte range: store it (zip -0), "
           "or use a tar";
  if (archive_entry_sparse_count (entry) > 0)
    return "it is sparse, so that its bytes do not lie together: make the tar "
           "without -S";
  if (!archive_entry_size_is_set (entry) || size < 0 || first > whole ||
      (guint64) size > whole - first)
    return "it goes on behind the end, so the archive is cut off";
  return NULL;
}

/* Returns FALSE with @error set. */
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
  const gchar *why = find_obstacle (self, entry, first);
  g_autofree gchar *text = NULL;

  if (why)
    return refuse_member (self, error, path, why);
  self->end = first + (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
  if (spdl_archive_writer_wants (path, size)) {
    text = g_malloc (size + 1);
    if (!read_text (self, text, size, error))
      return FALSE;
  }
  why = spdl_archive_writer_add (self->writer, path, first, size, text, size);
  return !why || refuse_member (self, error, path, why);
}

static gboolean
add_entry (Walk *self, struct archive_entry *entry, GError **error)
{
  g_autofree gchar *path = dup_path (entry);

  self->end = archive_filter_bytes (self->archive, 0);
  /* Folders and links are no files, to WebDataset, either. */
  if (!path || archive_entry_filetype (entry) != AE_IFREG ||
      archive_entry_hardlink (entry))
    return TRUE;
  return add_file (self, entry, path, error);
}

/* A tar ends in blocks of zeros, of which one may be missing. */
static gboolean
check_end (Walk *self, GError **error)
{
  const guint64 position = archive_filter_bytes (self->archive, 0);

  return is_zip (self) || position >= self->end + TAR_BLOCK ||
         refuse (self, error,
             "it has no end, so what it had behind its last file may be "
             "missing",
             "");
}

static gboolean
walk (Walk *self, GError **error)
{
  struct archive_entry *entry;
  int status;

  if (!check_compression (self, error))
    return FALSE;
  if (archive_read_open1 (self->archive) != ARCHIVE_OK)
    return self->error
               ? refuse_by_libarchive (self, error)
               : refuse (self, error, "it is neither a tar nor a ZIP", "");
  while ((status = archive_read_next_header (self->archive, &entry)) ==
             ARCHIVE_OK ||
         status == ARCHIVE_WARN)
    if (!add_entry (self, entry, error))
      return FALSE;
  if (status != ARCHIVE_EOF)
    return refuse_by_libarchive (self, error);
  return check_end (self, error);
}

static struct archive *
open_archive (Walk *self)
{
  struct archive *archive = archive_read_new ();

  if (!archive)
    g_error ("no memory for an archive");
  archive_read_support_format_tar (archive);
  archive_read_support_format_zip_seekable (archive);
  archive_read_set_read_callback (archive, on_read);
  archive_read_set_skip_callback (archive, on_skip);
  archive_read_set_seek_callback (archive, on_seek);
  archive_read_set_callback_data (archive, self);
  return archive;
}

guint8 *
spdl_archive_walk (SpdlReader *reader, gsize *size, GError **error)
{
  Walk self = { .reader = reader };
  SpdlArchiveKey key = { reader->stamp, 0, reader->validator };
  guint8 *data = NULL;

  self.archive = open_archive (&self);
  self.writer = spdl_archive_writer_new ();
  if (walk (&self, error) &&
      spdl_reader_hash_samples (reader, &key.samples, error))
    data = spdl_archive_writer_finish (self.writer, &key, size);
  spdl_archive_writer_free (self.writer);
  archive_read_free (self.archive);
  g_clear_error (&self.error);
  return data;
}
