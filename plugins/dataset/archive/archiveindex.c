/* gst-spdl: index of a shard: samples and their byte ranges
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/archive/archiveindex.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "gst/spdl/engine/compat.h"
#include "plugins/common/bytes.h"
#include "plugins/common/fingerprint.h"
#include "plugins/dataset/list/line.h"

/* Names of files in a shard */

static const struct {
  const gchar *name;
  SpdlArchiveKind kind;
} kinds[] = {
  { "cls", SPDL_ARCHIVE_LABEL },
  { "txt", SPDL_ARCHIVE_TEXT },
  { "text", SPDL_ARCHIVE_TEXT },
  { "transcript", SPDL_ARCHIVE_TEXT },
  { "json", SPDL_ARCHIVE_JSON },
  { "jsn", SPDL_ARCHIVE_JSON },
};

/* Extensions that spdldecode or GStreamer's decoders handle. */
static const gchar *const media[] = { "jpg", "jpeg", "jpe", "jfif", "png",
  "webp", "gif", "bmp", "dib", "tif", "tiff", "ppm", "pgm", "pbm", "pnm", "pam",
  "jp2", "j2k", "j2c", "jpx", "ras", "sun", "sgi", "rgb", "tga", "pcx", "avif",
  "heic", "heif", "jxl", "wav", "flac", "mp3", "ogg", "oga", "opus", "m4a",
  "aac", "aiff", "mp4", "m4v", "mkv", "webm", "avi", "mov", "mpg", "mpeg", "ts",
  "ogv", "flv", "wmv" };

/* WebDataset reserves paths whose first part has the form `__name__`. */
static gboolean
is_of_webdataset (const gchar *path)
{
  const gsize length = strcspn (path, "/");

  return length >= 4 && memcmp (path, "__", 2) == 0 &&
         memcmp (path + length - 2, "__", 2) == 0;
}

const gchar *
spdl_archive_name_split (const gchar *path, gsize *key)
{
  const gchar *slash = strrchr (path, '/');
  const gchar *name = slash ? slash + 1 : path;
  const gchar *dot = strchr (name, '.');

  if (!dot || dot == name || is_of_webdataset (path))
    return NULL;
  *key = dot - path;
  return dot + 1;
}

static gboolean
is_equal (const gchar *name, const gchar *text, gsize length)
{
  return strlen (name) == length && memcmp (name, text, length) == 0;
}

SpdlArchiveKind
spdl_archive_name_get_kind (const gchar *extension, gsize length)
{
  const gchar *dot = spdl_compat_memrchr (extension, '.', length);
  const gchar *last = dot ? dot + 1 : extension;
  const gsize rest = extension + length - last;

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (is_equal (kinds[i].name, last, rest))
      return kinds[i].kind == SPDL_ARCHIVE_LABEL && dot ? SPDL_ARCHIVE_TEXT
                                                        : kinds[i].kind;
  for (guint i = 0; i < G_N_ELEMENTS (media); i++)
    if (is_equal (media[i], last, rest))
      return SPDL_ARCHIVE_MEDIA;
  return SPDL_ARCHIVE_OTHER;
}

gchar **
spdl_archive_name_split_list (const gchar *text)
{
  g_autoptr (GPtrArray) names = NULL;
  g_auto (GStrv) parts = g_strsplit (text ? text : "", ",", -1);

  names = g_ptr_array_new ();
  for (guint i = 0; parts[i]; i++) {
    const gchar *name = g_strstrip (parts[i]);

    if (*name)
      g_ptr_array_add (names, g_ascii_strdown (name + (*name == '.'), -1));
  }
  if (names->len == 0)
    return NULL;
  g_ptr_array_add (names, NULL);
  return (gchar **) g_ptr_array_free (g_steal_pointer (&names), FALSE);
}

/* Index */

/* Number of bytes that are read at once, to hash an index and in order. */
#define BLOCK ((gsize) 65536)
/* Number of bytes of offsets that are read at once, in order. */
#define BLOCK_OF_PLACES ((gsize) 4096)
/* Size of the largest record whose memory is kept for the next one. */
#define MAX_KEPT ((gsize) 1 << 20)

/* Number of bytes to read of a record of unknown size. */
#define UNKNOWN_SIZE 512

struct _SpdlArchiveIndex {
  guint8 header[SPDL_ARCHIVE_INDEX_HEADER];
  gsize size;
  guint8 *data; /* (nullable): content; NULL: it is read from the file */
  gchar *path;
  int fd;                /* -1: the file is closed */
  SpdlStamp stamp;       /* of the file */
  gboolean is_unchecked; /* a part was read since the last check */
  GError *problem;       /* (nullable): why the file can no longer be used */
};

static guint64
word_at (const guint8 *data, guint i)
{
  return spdl_read_64_le (data + i * sizeof (guint64));
}

void
spdl_archive_index_free (SpdlArchiveIndex *self)
{
  spdl_archive_index_close (self);
  g_clear_error (&self->problem);
  g_free (self->path);
  g_free (self->data);
  g_free (self);
}

void
spdl_archive_cursor_reset (SpdlArchiveCursor *self)
{
  self->index = NULL;
  self->next = 0;
  self->places.size = self->records.size = 0;
}

void
spdl_archive_cursor_clear (SpdlArchiveCursor *self)
{
  spdl_file_window_clear (&self->places);
  spdl_file_window_clear (&self->records);
  self->index = NULL;
}

/* @hash: of the bytes after the header */
static const gchar *
check_index (const guint8 *header, gsize size, guint64 hash)
{
  if (word_at (header, SPDL_ARCHIVE_WORD_HASH) != hash)
    return "the index is damaged or cut off";
  if (word_at (header, SPDL_ARCHIVE_WORD_N_SAMPLES) >
      (size - SPDL_ARCHIVE_INDEX_HEADER) / sizeof (guint64))
    return "the header is invalid";
  return NULL;
}

static const gchar *
check_header (const guint8 *header, gsize size)
{
  if (size < SPDL_ARCHIVE_INDEX_HEADER)
    return "the index is cut off";
  if (memcmp (header, SPDL_ARCHIVE_INDEX_MARK, 8) != 0 &&
      memcmp (header, SPDL_ARCHIVE_INDEX_MARK_PACKED, 8) != 0)
    return "the file is not an index of a shard, or has another version";
  if (word_at (header, SPDL_ARCHIVE_WORD_HEADER_HASH) !=
      spdl_fingerprint_add (
          0, header, SPDL_ARCHIVE_WORD_HEADER_HASH * sizeof (guint64)))
    return "the header is damaged";
  return NULL;
}

SpdlArchiveIndex *
spdl_archive_index_new (guint8 *data, gsize size, const gchar **problem)
{
  SpdlArchiveIndex *self;

  *problem = check_header (data, size);
  if (!*problem)
    *problem = check_index (data, size,
        spdl_fingerprint_add (0, data + SPDL_ARCHIVE_INDEX_HEADER,
            size - SPDL_ARCHIVE_INDEX_HEADER));
  if (*problem) {
    g_free (data);
    return NULL;
  }
  self = g_new0 (SpdlArchiveIndex, 1);
  memcpy (self->header, data, sizeof self->header);
  self->data = data;
  self->size = size;
  self->fd = -1;
  return self;
}

/* Index in a file */

/* Reads the header and hashes what follows it. Returns the problem, or NULL.
 *
 * @window: gets the last block, which may be the whole file */
static const gchar *
verify_file (int fd, gsize size, guint8 *header, SpdlFileWindow *window)
{
  SpdlFingerprint *fingerprint = spdl_fingerprint_new ();
  const gchar *problem = size == 0 ? "the index is cut off" : NULL;
  guint64 hash;
  gsize n;

  window->size = 0;
  for (gsize at = 0; at < size && !problem; at += n) {
    const gsize skipped = at == 0 ? SPDL_ARCHIVE_INDEX_HEADER : 0;
    const int failed =
        spdl_file_window_load (window, fd, at, n = MIN (BLOCK, size - at));

    if (failed == ENODATA)
      problem = "the index is cut off";
    else if (failed != 0)
      problem = g_strerror (failed);
    else if (at == 0)
      problem = check_header ((const guint8 *) window->data, n);
    if (!problem && at == 0)
      memcpy (header, window->data, SPDL_ARCHIVE_INDEX_HEADER);
    if (!problem)
      spdl_fingerprint_append (
          fingerprint, window->data + skipped, n - skipped);
  }
  hash = spdl_fingerprint_finish (fingerprint);
  return problem ? problem : check_index (header, size, hash);
}

SpdlArchiveIndex *
spdl_archive_index_open (
    const gchar *path, SpdlArchiveCursor *cursor, const gchar **problem)
{
  SpdlArchiveIndex *self = g_new0 (SpdlArchiveIndex, 1);

  *problem = NULL;
  self->fd = spdl_file_open_stamped (path, &self->stamp, NULL);
  if (self->fd < 0) {
    if (errno != ENOENT)
      *problem = g_strerror (errno);
    g_free (self);
    return NULL;
  }
  self->path = g_strdup (path);
  self->size = self->stamp.size;
  self->is_unchecked = TRUE;
  spdl_archive_cursor_reset (cursor);
  *problem = verify_file (self->fd, self->size, self->header, &cursor->records);
  if (*problem)
    g_clear_pointer (&self, spdl_archive_index_free);
  cursor->index = self;
  return self;
}

void
spdl_archive_index_close (SpdlArchiveIndex *self)
{
  if (self->fd >= 0)
    close (self->fd);
  self->fd = -1;
}

/* Records why the file can no longer be used. Returns FALSE. */
static gboolean
set_problem (SpdlArchiveIndex *self, const gchar *problem)
{
  if (!self->problem)
    self->problem = g_error_new (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "Failed to read the index \"%s\" of a shard: %s. Restart, and do not "
        "change or remove an index while it is in use; to replace it, rename "
        "another file to its name",
        self->path, problem);
  return FALSE;
}

/* Checks that the file which was opened again has the content of the first one.
 * Processes that index a shard at the same time replace each other's file by an
 * equal one. */
static gboolean
check_again (SpdlArchiveIndex *self, const SpdlStamp *stamp)
{
  guint8 header[SPDL_ARCHIVE_INDEX_HEADER];
  SpdlFileWindow window = { NULL };
  const gchar *problem = NULL;

  if (!spdl_stamp_is_equal (stamp, &self->stamp))
    problem = verify_file (self->fd, stamp->size, header, &window);
  else if (pread (self->fd, header, sizeof header, 0) != sizeof header)
    problem = "the index is cut off";
  spdl_file_window_clear (&window);
  /* The header has a hash of the rest. */
  if (!problem && (stamp->size != self->size ||
                      memcmp (header, self->header, sizeof header) != 0))
    problem = "another index was stored at this path since the start";
  if (problem)
    return set_problem (self, problem);
  self->stamp = *stamp;
  return TRUE;
}

/* Opens the file again if it was closed. */
static gboolean
open_again (SpdlArchiveIndex *self)
{
  SpdlStamp stamp;

  if (self->problem)
    return FALSE;
  if (self->fd >= 0)
    return TRUE;
  self->fd = spdl_file_open_stamped (self->path, &stamp, NULL);
  if (self->fd < 0)
    return set_problem (self, g_strerror (errno));
  return check_again (self, &stamp);
}

gboolean
spdl_archive_index_check (SpdlArchiveIndex *self, GError **error)
{
  struct stat st;

  if (self->is_unchecked && self->fd >= 0 && !self->problem) {
    if (fstat (self->fd, &st) != 0)
      set_problem (self, g_strerror (errno));
    else if (!spdl_stamp_is_of (&self->stamp, &st))
      set_problem (self, "the file has changed since the start");
  }
  self->is_unchecked = FALSE;
  if (!self->problem)
    return TRUE;
  g_propagate_error (error, g_error_copy (self->problem));
  return FALSE;
}

void
spdl_archive_index_get_key (const SpdlArchiveIndex *self, SpdlArchiveKey *key)
{
  const guint8 *header = self->header;

  *key =
      (SpdlArchiveKey){ { word_at (header, SPDL_ARCHIVE_WORD_SIZE),
                            word_at (header, SPDL_ARCHIVE_WORD_SECONDS),
                            word_at (header, SPDL_ARCHIVE_WORD_NANOSECONDS) },
        word_at (header, SPDL_ARCHIVE_WORD_SAMPLES),
        word_at (header, SPDL_ARCHIVE_WORD_VALIDATOR) };
}

guint64
spdl_archive_index_get_size (const SpdlArchiveIndex *self)
{
  return word_at (self->header, SPDL_ARCHIVE_WORD_N_SAMPLES);
}

guint64
spdl_archive_index_get_hash (const SpdlArchiveIndex *self)
{
  return word_at (self->header, SPDL_ARCHIVE_WORD_HASH);
}

guint64
spdl_archive_index_get_n_long (const SpdlArchiveIndex *self)
{
  return word_at (self->header, SPDL_ARCHIVE_WORD_N_LONG);
}

static guint64
get_flags (const SpdlArchiveIndex *self)
{
  return word_at (self->header, SPDL_ARCHIVE_WORD_FLAGS);
}

gboolean
spdl_archive_index_has_payloads (const SpdlArchiveIndex *self)
{
  return (get_flags (self) & SPDL_ARCHIVE_FLAG_PAYLOADS) != 0;
}

gboolean
spdl_archive_index_has_roles (const SpdlArchiveIndex *self)
{
  return (get_flags (self) & SPDL_ARCHIVE_FLAG_ROLES) != 0;
}

gint
spdl_archive_index_has_labels (const SpdlArchiveIndex *self)
{
  return get_flags (self) & SPDL_ARCHIVE_FLAG_LABELS      ? 1
         : get_flags (self) & SPDL_ARCHIVE_FLAG_NO_LABELS ? 0
                                                          : -1;
}

const guint8 *
spdl_archive_index_get_data (const SpdlArchiveIndex *self, gsize *size)
{
  *size = self->size;
  return self->data;
}

gboolean
spdl_archive_index_is_equal (
    const SpdlArchiveIndex *self, const SpdlArchiveIndex *other)
{
  /* The header has a hash of the rest. */
  return self->size == other->size &&
         memcmp (self->header, other->header, sizeof self->header) == 0;
}

void
spdl_archive_index_restamp (SpdlArchiveIndex *self, guint64 validator)
{
  guint64 *words = (guint64 *) self->data;

  g_return_if_fail (self->data);

  words[SPDL_ARCHIVE_WORD_VALIDATOR] = GUINT64_TO_LE (validator);
  words[SPDL_ARCHIVE_WORD_HEADER_HASH] = GUINT64_TO_LE (spdl_fingerprint_add (
      0, words, SPDL_ARCHIVE_WORD_HEADER_HASH * sizeof *words));
  memcpy (self->header, words, sizeof self->header);
}

gboolean
spdl_archive_sample_read (
    SpdlArchiveSample *sample, const guint8 *records, gsize size, guint64 place)
{
  const guint8 *record;
  gsize left, files;

  if (place > size || size - place < SPDL_ARCHIVE_RECORD_HEAD)
    return FALSE;
  record = records + place;
  left = size - place - SPDL_ARCHIVE_RECORD_HEAD;
  sample->label = word_at (record, 0);
  sample->n_files = spdl_read_16_le (record + 8);
  sample->key_length = spdl_read_16_le (record + 10);
  files = (gsize) sample->n_files * SPDL_ARCHIVE_RECORD_FILE;
  if (left < files + sample->key_length)
    return FALSE;
  sample->files = record + SPDL_ARCHIVE_RECORD_HEAD;
  sample->key = (const gchar *) sample->files + files;
  sample->texts = sample->key + sample->key_length;
  sample->end = (const gchar *) records + size;
  return TRUE;
}

static inline gboolean
has_part (const SpdlFileWindow *window, guint64 offset, gsize size)
{
  const guint64 from = offset - window->offset;

  return offset >= window->offset && from <= window->size &&
         window->size - from >= size;
}

static const guint8 *
load_part (
    SpdlArchiveIndex *self, SpdlFileWindow *window, guint64 offset, gsize size)
{
  int failed;

  if (window->room > MAX_KEPT && size <= MAX_KEPT)
    spdl_file_window_clear (window);
  if (!open_again (self))
    return NULL;
  self->is_unchecked = TRUE;
  failed = spdl_file_window_load (
      window, self->fd, offset, MIN (size, self->size - offset));
  if (failed == 0)
    return (const guint8 *) window->data;
  set_problem (self, failed == ENODATA
                         ? "the file has become shorter since the start"
                         : g_strerror (failed));
  window->size = 0;
  return NULL;
}

/* Reads the @size bytes at @offset of the index into @window, unless it has
 * them.
 *
 * @ahead: number of bytes to read at least, if the file has them
 *
 * Returns their place; NULL if they cannot be read. */
static inline const guint8 *
read_part (SpdlArchiveIndex *self, SpdlFileWindow *window, guint64 offset,
    gsize size, gsize ahead)
{
  if (G_LIKELY (has_part (window, offset, size)))
    return (const guint8 *) window->data + (offset - window->offset);
  return load_part (self, window, offset, MAX (size, ahead));
}

/* Returns the number of bytes of the texts of a record's files. */
static inline guint64
measure_texts (const guint8 *files, guint n_files)
{
  guint64 size = 0;

  for (; n_files > 0; n_files--, files += SPDL_ARCHIVE_RECORD_FILE) {
    const guint16 kind = spdl_read_16_le (files + 22);

    size += (guint64) spdl_read_32_le (files + 16) +
            spdl_read_16_le (files + 20) +
            (kind & SPDL_ARCHIVE_KIND_PACKED ? SPDL_ARCHIVE_RECORD_PACKING : 0);
  }
  return size;
}

/* Reads the record at @offset of the index, which may have any content.
 *
 * @ahead: number of bytes to read at once
 * @size: (out): its size
 *
 * Returns NULL if it is invalid or cannot be read. */
static inline const guint8 *
read_record (SpdlArchiveIndex *self, SpdlFileWindow *window, guint64 offset,
    gsize ahead, gsize *size)
{
  const guint64 left = self->size - offset;
  const guint8 *record;
  guint n_files;
  guint64 texts;

  *size = SPDL_ARCHIVE_RECORD_HEAD;
  if (left < *size ||
      !(record = read_part (self, window, offset, *size, ahead)))
    return NULL;
  n_files = spdl_read_16_le (record + 8);
  *size += n_files * SPDL_ARCHIVE_RECORD_FILE + spdl_read_16_le (record + 10);
  if (left < *size ||
      !(record = read_part (self, window, offset, *size, ahead)))
    return NULL;
  texts = measure_texts (record + SPDL_ARCHIVE_RECORD_HEAD, n_files);
  if (left - *size < texts)
    return NULL;
  *size += texts;
  return read_part (self, window, offset, *size, ahead);
}

/* Reads a sample of an index in a file: its offset, and then its record. */
static gboolean
read_sample (SpdlArchiveIndex *self, guint64 i, SpdlArchiveCursor *cursor,
    SpdlArchiveSample *sample)
{
  const guint64 n = spdl_archive_index_get_size (self);
  const gboolean in_order = cursor->index == self && cursor->next == i;
  const guint64 base = SPDL_ARCHIVE_INDEX_HEADER + n * sizeof (guint64);
  const guint64 offset = SPDL_ARCHIVE_INDEX_HEADER + i * sizeof (guint64);
  const gboolean is_last = i + 1 == n;
  gsize size = (is_last ? 1 : 2) * sizeof (guint64);
  SpdlFileWindow *places = &cursor->places;
  guint64 place, next = 0;
  const guint8 *part;

  if (cursor->index != self)
    spdl_archive_cursor_reset (cursor);
  cursor->index = self;
  cursor->next = i + 1;
  /* The other window may have the whole file. */
  if (has_part (&cursor->records, offset, size))
    places = &cursor->records;
  part = read_part (self, places, offset, size, in_order ? BLOCK_OF_PLACES : 0);
  if (!part)
    return FALSE;
  place = word_at (part, 0);
  if (!is_last)
    next = word_at (part, 1);
  if (place > self->size - base)
    return FALSE;
  /* The next record usually begins at the end of this one. */
  size = in_order       ? BLOCK
         : next > place ? MIN (next - place, BLOCK)
                        : UNKNOWN_SIZE;
  part = read_record (self, &cursor->records, base + place, size, &size);
  return part && spdl_archive_sample_read (sample, part, size, 0);
}

gboolean
spdl_archive_index_get_sample (SpdlArchiveIndex *self, guint64 i,
    SpdlArchiveCursor *cursor, SpdlArchiveSample *sample)
{
  const gsize base = SPDL_ARCHIVE_INDEX_HEADER +
                     spdl_archive_index_get_size (self) * sizeof (guint64);
  gboolean ok;

  if (self->data)
    ok = spdl_archive_sample_read (sample, self->data + base, self->size - base,
        word_at (self->data, SPDL_ARCHIVE_N_WORDS + i));
  else
    ok = read_sample (self, i, cursor, sample);
  return ok && g_utf8_validate_len (sample->key, sample->key_length, NULL);
}

/* Checks that extension, packing and text of a file lie within the record and
 * that its byte range is valid, and completes @file. Returns FALSE if not. */
static gboolean
take_file (const SpdlArchiveSample *sample, guint16 kind, SpdlArchiveFile *file)
{
  const gsize packing =
      kind & SPDL_ARCHIVE_KIND_PACKED ? SPDL_ARCHIVE_RECORD_PACKING : 0;
  const gchar *behind = file->extension + file->extension_length;

  if ((gsize) (sample->end - sample->texts) <
          file->extension_length + packing + file->text_length ||
      file->size > G_MAXINT64 ||
      !g_utf8_validate_len (file->extension, file->extension_length, NULL))
    return FALSE;
  if (packing > 0) {
    file->packed = TRUE;
    file->packing = (SpdlArchivePacking){ word_at ((const guint8 *) behind, 0),
      spdl_read_32_le ((const guint8 *) behind + 8) };
  }
  if (kind & SPDL_ARCHIVE_KIND_KEPT)
    file->text = behind + packing;
  return file->first <= G_MAXINT64 &&
         spdl_archive_file_get_length (file) <= G_MAXINT64 - file->first &&
         (!file->packed || file->packing.size > 0);
}

gboolean
spdl_archive_sample_next (SpdlArchiveSample *sample, SpdlArchiveFile *file)
{
  const guint8 *from = sample->files;
  guint16 kind;

  if (sample->n_files == 0)
    return FALSE;
  kind = spdl_read_16_le (from + 22);
  *file = (SpdlArchiveFile){ .first = word_at (from, 0),
    .size = word_at (from, 1),
    .extension = sample->texts,
    .extension_length = spdl_read_16_le (from + 20),
    .kind = kind & ~(SPDL_ARCHIVE_KIND_KEPT | SPDL_ARCHIVE_KIND_PACKED),
    .text_length = spdl_read_32_le (from + 16) };
  if (!take_file (sample, kind, file)) {
    sample->n_files = 0;
    return FALSE;
  }
  sample->texts += file->extension_length + file->text_length;
  if (file->packed)
    sample->texts += SPDL_ARCHIVE_RECORD_PACKING;
  sample->files += SPDL_ARCHIVE_RECORD_FILE;
  sample->n_files--;
  return TRUE;
}

gboolean
spdl_archive_sample_is_within (const SpdlArchiveSample *sample, guint64 size)
{
  SpdlArchiveSample reading = *sample;
  SpdlArchiveFile file;

  for (guint i = 0; i < sample->n_files; i++)
    if (!spdl_archive_sample_next (&reading, &file) || file.first > size ||
        spdl_archive_file_get_length (&file) > size - file.first)
      return FALSE;
  return TRUE;
}

gboolean
spdl_archive_sample_has_label (const SpdlArchiveSample *sample)
{
  SpdlArchiveSample reading = *sample;
  SpdlArchiveFile file;

  if (sample->label != -1)
    return TRUE;
  while (spdl_archive_sample_next (&reading, &file)) {
    /* The label is -1. */
    if (file.kind == SPDL_ARCHIVE_LABEL)
      return TRUE;
    if (is_equal ("cls", file.extension, file.extension_length))
      return file.text && !spdl_line_is_blank (file.text, file.text_length);
  }
  return FALSE;
}

static gboolean
find_extension (
    SpdlArchiveSample sample, const gchar *extension, SpdlArchiveFile *file)
{
  const gsize length = strlen (extension);

  while (spdl_archive_sample_next (&sample, file))
    if (file->extension_length == length && file->size > 0 &&
        memcmp (file->extension, extension, length) == 0)
      return TRUE;
  return FALSE;
}

static gint
compare_extensions (const SpdlArchiveFile *a, const SpdlArchiveFile *b)
{
  const gint order = memcmp (a->extension, b->extension,
      MIN (a->extension_length, b->extension_length));

  return order != 0 ? order : a->extension_length - b->extension_length;
}

/* Finds the media file, else the other file that is not a note, whose extension
 * comes first. The order of the files in a shard may be that of a file system,
 * in which image and mask change places. */
static gboolean
find_first (SpdlArchiveSample sample, SpdlArchiveFile *first)
{
  SpdlArchiveFile file;

  first->extension = NULL;
  while (spdl_archive_sample_next (&sample, &file)) {
    if (file.size == 0 || spdl_archive_kind_is_note (file.kind))
      continue;
    if (!first->extension ||
        (file.kind == first->kind ? compare_extensions (&file, first) < 0
                                  : file.kind == SPDL_ARCHIVE_MEDIA))
      *first = file;
  }
  return first->extension != NULL;
}

gboolean
spdl_archive_sample_get_payload (const SpdlArchiveSample *sample,
    const gchar *const *extensions, SpdlArchiveFile *file)
{
  if (!extensions)
    return find_first (*sample, file);
  for (guint i = 0; extensions[i]; i++)
    if (find_extension (*sample, extensions[i], file))
      return TRUE;
  return FALSE;
}

/* Samples */

SpdlSample *
spdl_sample_new (SpdlArchiveIndex *index, GPtrArray *contents, gsize size)
{
  SpdlSample *self = g_new (SpdlSample, 1);

  *self = (SpdlSample){ index, contents, size, FALSE };
  return self;
}

void
spdl_sample_free (SpdlSample *self)
{
  spdl_archive_index_free (self->index);
  g_ptr_array_unref (self->contents);
  g_free (self);
}
