/* gst-spdl: sequential reader of the samples of a tar
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/shards/archivestream.h"

#include <gio/gio.h>
#include <string.h>

#include "plugins/common/fingerprint.h"
#include "plugins/dataset/archive/archivewriter.h"
#include "plugins/shards/archivemember.h"

/* Maximum size of a sample, which is kept in memory as a whole. */
#define MAX_SAMPLE ((guint64) 1 << 30)
/* Maximum initial allocation for a file. Its header may claim any size. */
#define FIRST_ROOM ((gsize) 1 << 20)
/* Maximum number of bytes to read after the end of a tar. */
#define MAX_REST 65536
#define MAX_REST_OF_GZIP (16 * 1024 * 1024)
#define GZIP_BLOCK ((gsize) 128 * 1024)

/* Compressed input */

/* Decompresses the input. libarchive's filter does not verify the checksums,
 * and would deliver damaged files. */
typedef struct {
  const SpdlArchiveInput *input;
  GConverter *decompressor;
  const guint8 *data; /* compressed bytes that are left */
  gsize size;
  gboolean in_member;
  gboolean ended;
  guint8 block[GZIP_BLOCK];
} GzipInput;

/* Returns whether data may be compressed by gzip. */
static gboolean
is_gzip (const guint8 *data, gsize size)
{
  return size > 0 && data[0] == 0x1f && (size == 1 || data[1] == 0x8b);
}

/* @data: the first block of the input, which was read already */
static GzipInput *
gzip_input_new (const SpdlArchiveInput *input, const guint8 *data, gsize size)
{
  GzipInput *self = g_new (GzipInput, 1);

  self->input = input;
  self->decompressor =
      G_CONVERTER (g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP));
  self->data = data;
  self->size = size;
  self->in_member = self->ended = FALSE;
  return self;
}

static void
gzip_input_free (GzipInput *self)
{
  g_object_unref (self->decompressor);
  g_free (self);
}

/* Reads compressed bytes. Sets `ended` at their end, or if other data than a
 * member follows. */
static gboolean
fill_gzip (GzipInput *self, GError **error)
{
  if (self->size == 0 && !self->input->read (self->input->user_data,
                             &self->data, &self->size, error))
    return FALSE;
  self->ended = self->size == 0 ||
                (!self->in_member && !is_gzip (self->data, self->size));
  if (self->size == 0 && self->in_member)
    return spdl_archive_refuse (
        self->input->name, error, "its gzip data is cut off", "");
  self->in_member = !self->ended;
  return TRUE;
}

/* Decompresses what fits into the block. */
static gboolean
decompress (GzipInput *self, gsize *written, GError **error)
{
  g_autoptr (GError) reason = NULL;
  gsize n = 0;
  const GConverterResult result =
      g_converter_convert (self->decompressor, self->data, self->size,
          self->block, GZIP_BLOCK, G_CONVERTER_NO_FLAGS, &n, written, &reason);

  if (result == G_CONVERTER_ERROR &&
      g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_PARTIAL_INPUT))
    n = self->size; /* it was stored */
  else if (result == G_CONVERTER_ERROR)
    return spdl_archive_refuse (
        self->input->name, error, "its gzip data is damaged", "");
  self->data += n;
  self->size -= n;
  if (result == G_CONVERTER_FINISHED) {
    g_converter_reset (self->decompressor);
    self->in_member = FALSE;
  }
  return TRUE;
}

/* Reads decompressed bytes. Other data after the last member, such as zeros, is
 * ignored. */
static gboolean
gzip_input_read (
    GzipInput *self, const guint8 **data, gsize *size, GError **error)
{
  *data = self->block;
  *size = 0;
  while (*size == 0) {
    if ((self->size == 0 || !self->in_member) && !self->ended &&
        !fill_gzip (self, error))
      return FALSE;
    if (self->ended)
      return TRUE;
    if (!decompress (self, size, error))
      return FALSE;
  }
  return TRUE;
}

/* The input */

typedef struct {
  const SpdlArchiveInput *input;
  SpdlSampleFunc func;
  gpointer user_data;
  struct archive *archive;
  GzipInput *gzip; /* nullable: decompresses the input */
  guint64 end;     /* end of the last member and its padding */
  gboolean begun;
  gboolean enough; /* the receiver accepts no more samples */
  GError *error;   /* error of the input */
  /* Unread data of the current file. */
  const void *block;
  size_t block_size;

  /* The current sample. */
  GString *key; /* "": none */
  SpdlArchiveWriter *writer;
  GPtrArray *contents;
  guint64 size;

  /* Hashes of the keys of all samples, to find one that comes back. */
  guint64 *seen; /* nullable; open addressing; 0: free */
  gsize room;
  gsize n_seen;
  gboolean unchecked; /* the current key was not searched */
} Stream;

/* Reads from the input, decompressed if it is compressed by gzip. */
static gboolean
read_input (Stream *self, const guint8 **data, gsize *size, GError **error)
{
  const SpdlArchiveInput *input = self->input;

  if (!self->gzip && !input->read (input->user_data, data, size, error))
    return FALSE;
  if (!self->begun) {
    if (!spdl_archive_check_compression (
            input->name, *data, MIN (*size, SPDL_ARCHIVE_HEAD), TRUE, error))
      return FALSE;
    if (is_gzip (*data, *size))
      self->gzip = gzip_input_new (input, *data, *size);
  }
  self->begun = TRUE;
  return !self->gzip || gzip_input_read (self->gzip, data, size, error);
}

static la_ssize_t
on_read (struct archive *archive, void *data, const void **buffer)
{
  Stream *self = data;
  const guint8 *bytes = NULL;
  gsize size = 0;

  if (!self->error && read_input (self, &bytes, &size, &self->error)) {
    *buffer = bytes;
    return size;
  }
  archive_set_error (archive, 5, "%s", self->error->message);
  return -1;
}

static gboolean
refuse_by_libarchive (Stream *self, GError **error)
{
  if (!self->error)
    return spdl_archive_refuse_by_libarchive (
        self->input->name, self->archive, error);
  g_propagate_error (error, g_steal_pointer (&self->error));
  return FALSE;
}

/* Keys */

#define FIRST_SEEN ((gsize) 1024)
#define MAX_SEEN ((gsize) 4 << 20) /* 32 MiB, and 16 MiB while it grows */

static guint64 *
find_seen (guint64 *seen, gsize room, guint64 hash)
{
  gsize at = hash & (room - 1);

  while (seen[at] != 0 && seen[at] != hash)
    at = (at + 1) & (room - 1);
  return &seen[at];
}

static void
grow_seen (Stream *self, gsize limit)
{
  const gsize room = MIN (MAX (2 * self->room, FIRST_SEEN), limit);
  guint64 *seen = g_new0 (guint64, room);

  for (gsize i = 0; i < self->room; i++)
    if (self->seen[i] != 0)
      *find_seen (seen, room, self->seen[i]) = self->seen[i];
  g_free (self->seen);
  self->seen = seen;
  self->room = room;
}

/* Returns FALSE if an earlier sample has that key. Sets @unchecked when the
 * limit of the check's memory is reached. */
static gboolean
is_new_key (Stream *self, const gchar *key, gsize length)
{
  const guint64 hash = MAX (spdl_fingerprint_add (0, key, length), 1);
  const gsize max_seen =
      self->input->max_seen > 0 ? self->input->max_seen : MAX_SEEN;
  guint64 *place;

  if (self->n_seen >= self->room - self->room / 4 && self->room < max_seen)
    grow_seen (self, max_seen);
  self->unchecked = self->n_seen >= self->room - self->room / 4;
  if (self->unchecked)
    return TRUE;
  place = find_seen (self->seen, self->room, hash);
  if (*place == hash)
    return FALSE;
  *place = hash;
  self->n_seen++;
  return TRUE;
}

/* Samples */

static void
unref_content (gpointer content)
{
  if (content)
    gst_buffer_unref (content);
}

static void
begin_sample (Stream *self, const gchar *key, gsize length)
{
  g_string_truncate (self->key, 0);
  g_string_append_len (self->key, key, length);
  g_clear_pointer (&self->writer, spdl_archive_writer_free);
  g_clear_pointer (&self->contents, g_ptr_array_unref);
  self->writer = spdl_archive_writer_new ();
  self->contents = g_ptr_array_new_with_free_func (unref_content);
  self->size = 0;
}

static void
end_sample (Stream *self)
{
  const SpdlArchiveKey none = { { 0 } };
  const gchar *problem;
  SpdlSample *sample;
  guint8 *data;
  gsize size;

  if (self->key->len == 0)
    return;
  data = spdl_archive_writer_finish (self->writer, &none, &size);
  sample = spdl_sample_new (spdl_archive_index_new (data, size, &problem),
      g_steal_pointer (&self->contents), self->size);
  sample->unchecked = self->unchecked;
  self->enough = !self->func (sample, self->user_data);
  g_string_truncate (self->key, 0);
}

/* Files */

/* Reads the next block of the current file. archive_read_data() is not used
 * because it fills gaps with zeros, however large a broken header claims them
 * to be. Returns FALSE with @error set. */
static gboolean
next_block (Stream *self, gsize done, GError **error)
{
  la_int64_t offset = done;
  const int status = archive_read_data_block (
      self->archive, &self->block, &self->block_size, &offset);

  if (status != ARCHIVE_OK && status != ARCHIVE_EOF)
    return refuse_by_libarchive (self, error);
  if (status == ARCHIVE_EOF || (guint64) offset != done)
    return spdl_archive_refuse (
        self->input->name, error, "a file in it is cut off", "");
  return TRUE;
}

/* Reads until @capacity is reached. Returns FALSE with @error set. */
static gboolean
read_bytes (
    Stream *self, guint8 *data, gsize *done, gsize capacity, GError **error)
{
  while (*done < capacity) {
    if (self->block_size == 0 && !next_block (self, *done, error))
      return FALSE;
    const gsize n = MIN (self->block_size, capacity - *done);

    memcpy (data + *done, self->block, n);
    self->block = (const guint8 *) self->block + n;
    self->block_size -= n;
    *done += n;
  }
  return TRUE;
}

/* Reads a file. Returns: (transfer full): its content, followed by a zero; NULL
 * with @error set */
static guint8 *
read_file (Stream *self, gsize size, GError **error)
{
  gsize capacity = MIN (size, FIRST_ROOM), done = 0;
  g_autofree guint8 *data = g_try_malloc (capacity + 1);

  self->block_size = 0;
  while (data && read_bytes (self, data, &done, capacity, error)) {
    guint8 *grown;

    if (done == size) {
      data[size] = 0;
      return g_steal_pointer (&data);
    }
    capacity = MIN (size, 2 * capacity);
    grown = g_try_realloc (data, capacity + 1);
    if (!grown)
      g_free (data);
    data = grown;
  }
  if (!data)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
        "Not enough memory for a file of %" G_GSIZE_FORMAT " bytes in \"%s\"",
        size, self->input->name);
  return NULL;
}

static gboolean
add_content (
    Stream *self, const gchar *path, guint64 first, gsize size, GError **error)
{
  guint8 *data = read_file (self, size, error);
  gboolean kept;
  const gchar *why;

  if (!data)
    return FALSE;
  kept = spdl_archive_writer_wants (path, size);
  why = spdl_archive_writer_add (self->writer, path, first, size, NULL,
      kept ? (const gchar *) data : NULL, size);
  if (kept || why || size == 0)
    g_ptr_array_add (self->contents, kept ? NULL : gst_buffer_new ());
  else
    g_ptr_array_add (self->contents, gst_buffer_new_wrapped (data, size));
  if (kept || why || size == 0)
    g_free (data);
  self->size += size;
  return !why ||
         spdl_archive_refuse_member (self->input->name, error, path, why);
}

static gboolean
add_file (Stream *self, struct archive_entry *entry, const gchar *path,
    GError **error)
{
  const guint64 first = archive_filter_bytes (self->archive, 0);
  const guint64 size = archive_entry_size (entry);
  const gchar *why = spdl_archive_find_obstacle (entry, first, G_MAXINT64);
  gsize key;

  if (why)
    return spdl_archive_refuse_member (self->input->name, error, path, why);
  /* Limits the decompression of a file that is skipped. Zeros expand to a
   * thousand times their compressed size. */
  if (size > MAX_SAMPLE &&
      (self->gzip || archive_filter_count (self->archive) > 1))
    return spdl_archive_refuse_member (self->input->name, error, path,
        "the file is larger than 1 GiB, the limit in a compressed tar");
  self->end = spdl_archive_end_of (first, size);
  if (!spdl_archive_name_split (path, &key))
    return TRUE;
  if (self->key->len != key || memcmp (self->key->str, path, key) != 0) {
    end_sample (self);
    if (self->enough)
      return TRUE;
    if (!is_new_key (self, path, key))
      return spdl_archive_refuse_member (self->input->name, error, path,
          "its sample was delivered without this file, because other samples "
          "lie between, and a shard that is streamed needs the files of a "
          "sample next to each other: create the tar with --sort=name, or put "
          "it on a server with byte ranges");
    begin_sample (self, path, key);
  }
  if (size > MAX_SAMPLE || self->size > MAX_SAMPLE - size)
    return spdl_archive_refuse_member (self->input->name, error, path,
        "the sample is larger than 1 GiB, the limit for data in memory");
  return add_content (self, path, first, size, error);
}

static gboolean
add_entry (Stream *self, struct archive_entry *entry, GError **error)
{
  g_autofree gchar *path = spdl_archive_dup_path (entry);

  self->end = archive_filter_bytes (self->archive, 0);
  return !path || !spdl_archive_is_file (entry) ||
         add_file (self, entry, path, error);
}

/* Reads the padding of a tar to the end of the response, so that the connection
 * can be reused, and the checksum of gzip is verified. */
static gboolean
read_over_rest (Stream *self, GError **error)
{
  g_autoptr (GError) reason = NULL;
  gsize left = self->gzip ? MAX_REST_OF_GZIP : MAX_REST, size = 1;
  const guint8 *data;

  while (size > 0 && left > 0 && read_input (self, &data, &size, &reason))
    left -= MIN (left, size);
  if (!self->gzip)
    return TRUE;
  if (!reason)
    return size == 0 ||
           spdl_archive_refuse (self->input->name, error,
               "its padding is longer than 16 MiB, and its checksum was not "
               "reached",
               "");
  g_propagate_error (error, g_steal_pointer (&reason));
  return FALSE;
}

static gboolean
read_all (Stream *self, GError **error)
{
  struct archive_entry *entry;
  int status;

  if (archive_read_open (self->archive, self, NULL, on_read, NULL) !=
      ARCHIVE_OK)
    return self->error ? refuse_by_libarchive (self, error)
                       : spdl_archive_refuse (self->input->name, error,
                             "the file is not a tar", "");
  while (!self->enough && ((status = spdl_archive_next_header (
                                self->archive, &entry)) == ARCHIVE_OK ||
                              status == ARCHIVE_WARN))
    if (!add_entry (self, entry, error))
      return FALSE;
  if (self->enough)
    return TRUE;
  if (status != ARCHIVE_EOF)
    return refuse_by_libarchive (self, error);
  if (!spdl_archive_check_end (
          self->input->name, self->archive, self->end, error))
    return FALSE;
  end_sample (self);
  return read_over_rest (self, error);
}

gboolean
spdl_archive_stream (const SpdlArchiveInput *input, SpdlSampleFunc func,
    gpointer user_data, GError **error)
{
  Stream self = { .input = input, .func = func, .user_data = user_data };
  gboolean ok;

  self.archive = archive_read_new ();
  if (!self.archive)
    g_error ("not enough memory for an archive");
  archive_read_support_format_tar (self.archive);
  archive_read_support_filter_zstd (self.archive);
  self.key = g_string_new (NULL);
  ok = read_all (&self, error);
  archive_read_free (self.archive);
  g_string_free (self.key, TRUE);
  g_free (self.seen);
  g_clear_pointer (&self.writer, spdl_archive_writer_free);
  g_clear_pointer (&self.contents, g_ptr_array_unref);
  g_clear_pointer (&self.gzip, gzip_input_free);
  g_clear_error (&self.error);
  return ok;
}
