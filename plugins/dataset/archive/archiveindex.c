/* gst-spdl: index of a shard: samples and their byte ranges
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/archive/archiveindex.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gst/spdl/engine/compat.h"
#include "plugins/common/bytes.h"
#include "plugins/common/fingerprint.h"

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

struct _SpdlArchiveIndex {
  const guint8 *data;
  gsize size;
  gboolean mapped;
  /* Header fields, copied so that the mapped page of the header need not be
   * read again. */
  guint64 n_samples;
  SpdlArchiveKey key;
  guint64 flags;
  guint64 n_long;
  guint64 hash;
  const guint8 *records;
  gsize records_size;
};

static guint64
word_at (const guint8 *data, guint i)
{
  return spdl_read_64_le (data + i * sizeof (guint64));
}

static void
release_memory (const guint8 *data, gsize size, gboolean mapped)
{
  if (mapped)
    munmap ((void *) data, size);
  else
    g_free ((void *) data);
}

void
spdl_archive_index_free (SpdlArchiveIndex *self)
{
  release_memory (self->data, self->size, self->mapped);
  g_free (self);
}

static const gchar *
check_index (const guint8 *data, gsize size)
{
  const gsize rest = size - SPDL_ARCHIVE_INDEX_HEADER;

  if (size < SPDL_ARCHIVE_INDEX_HEADER)
    return "the index is cut off";
  if (memcmp (data, SPDL_ARCHIVE_INDEX_MARK, 8) != 0 &&
      memcmp (data, SPDL_ARCHIVE_INDEX_MARK_PACKED, 8) != 0)
    return "the file is not an index of a shard, or has another version";
  if (word_at (data, SPDL_ARCHIVE_WORD_HEADER_HASH) !=
      spdl_fingerprint_add (
          0, data, SPDL_ARCHIVE_WORD_HEADER_HASH * sizeof (guint64)))
    return "the header is damaged";
  if (word_at (data, SPDL_ARCHIVE_WORD_HASH) !=
      spdl_fingerprint_add (0, data + SPDL_ARCHIVE_INDEX_HEADER, rest))
    return "the index is damaged or cut off";
  if (word_at (data, SPDL_ARCHIVE_WORD_N_SAMPLES) > rest / sizeof (guint64))
    return "the header is invalid";
  return NULL;
}

static SpdlArchiveIndex *
take_memory (
    const guint8 *data, gsize size, gboolean mapped, const gchar **problem)
{
  SpdlArchiveIndex *self;
  gsize places;

  *problem = check_index (data, size);
  if (*problem) {
    release_memory (data, size, mapped);
    return NULL;
  }
  self = g_new0 (SpdlArchiveIndex, 1);
  self->data = data;
  self->size = size;
  self->mapped = mapped;
  self->n_samples = word_at (data, SPDL_ARCHIVE_WORD_N_SAMPLES);
  self->key =
      (SpdlArchiveKey){ { word_at (data, SPDL_ARCHIVE_WORD_SIZE),
                            word_at (data, SPDL_ARCHIVE_WORD_SECONDS),
                            word_at (data, SPDL_ARCHIVE_WORD_NANOSECONDS) },
        word_at (data, SPDL_ARCHIVE_WORD_SAMPLES),
        word_at (data, SPDL_ARCHIVE_WORD_VALIDATOR) };
  self->flags = word_at (data, SPDL_ARCHIVE_WORD_FLAGS);
  self->n_long = word_at (data, SPDL_ARCHIVE_WORD_N_LONG);
  self->hash = word_at (data, SPDL_ARCHIVE_WORD_HASH);
  places = self->n_samples * sizeof (guint64);
  self->records = data + SPDL_ARCHIVE_INDEX_HEADER + places;
  self->records_size = size - SPDL_ARCHIVE_INDEX_HEADER - places;
  return self;
}

SpdlArchiveIndex *
spdl_archive_index_new (guint8 *data, gsize size, const gchar **problem)
{
  return take_memory (data, size, FALSE, problem);
}

/* Maps the file for reading. Returns NULL with errno set. */
static guint8 *
map_file (int fd, gsize *size)
{
  struct stat st;
  void *data;

  if (fstat (fd, &st) != 0)
    return NULL;
  if (!S_ISREG (st.st_mode) || st.st_size == 0) {
    errno = EINVAL;
    return NULL;
  }
  *size = st.st_size;
  data = mmap (NULL, st.st_size, PROT_READ, MAP_SHARED, fd, 0);
  return data == MAP_FAILED ? NULL : data;
}

SpdlArchiveIndex *
spdl_archive_index_open (const gchar *path, const gchar **problem)
{
  const int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  SpdlArchiveIndex *self = NULL;
  guint8 *data = NULL;
  gsize size;

  *problem = NULL;
  if (fd >= 0)
    data = map_file (fd, &size);
  if (!data)
    *problem = errno == ENOENT ? NULL : g_strerror (errno);
  if (fd >= 0)
    close (fd);
  if (data)
    self = take_memory (data, size, TRUE, problem);
  if (self)
    spdl_archive_index_forget (self);
  return self;
}

void
spdl_archive_index_get_key (const SpdlArchiveIndex *self, SpdlArchiveKey *key)
{
  *key = self->key;
}

guint64
spdl_archive_index_get_size (const SpdlArchiveIndex *self)
{
  return self->n_samples;
}

guint64
spdl_archive_index_get_hash (const SpdlArchiveIndex *self)
{
  return self->hash;
}

guint64
spdl_archive_index_get_n_long (const SpdlArchiveIndex *self)
{
  return self->n_long;
}

gboolean
spdl_archive_index_has_payloads (const SpdlArchiveIndex *self)
{
  return self->flags & SPDL_ARCHIVE_FLAG_PAYLOADS;
}

gboolean
spdl_archive_index_has_roles (const SpdlArchiveIndex *self)
{
  return (self->flags & SPDL_ARCHIVE_FLAG_ROLES) != 0;
}

gint
spdl_archive_index_has_labels (const SpdlArchiveIndex *self)
{
  return self->flags & SPDL_ARCHIVE_FLAG_LABELS      ? 1
         : self->flags & SPDL_ARCHIVE_FLAG_NO_LABELS ? 0
                                                     : -1;
}

const guint8 *
spdl_archive_index_get_data (const SpdlArchiveIndex *self, gsize *size)
{
  *size = self->size;
  return self->data;
}

void
spdl_archive_index_restamp (SpdlArchiveIndex *self, guint64 validator)
{
  guint64 *words = (guint64 *) self->data;

  g_return_if_fail (!self->mapped);

  self->key.validator = validator;
  words[SPDL_ARCHIVE_WORD_VALIDATOR] = GUINT64_TO_LE (validator);
  words[SPDL_ARCHIVE_WORD_HEADER_HASH] = GUINT64_TO_LE (spdl_fingerprint_add (
      0, words, SPDL_ARCHIVE_WORD_HEADER_HASH * sizeof *words));
}

void
spdl_archive_index_forget (SpdlArchiveIndex *self)
{
  if (self->mapped)
    spdl_compat_forget_pages (self->data, self->size);
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

gboolean
spdl_archive_index_get_sample (
    const SpdlArchiveIndex *self, guint64 i, SpdlArchiveSample *sample)
{
  const guint64 place = word_at (self->data, SPDL_ARCHIVE_N_WORDS + i);

  return spdl_archive_sample_read (
             sample, self->records, self->records_size, place) &&
         g_utf8_validate_len (sample->key, sample->key_length, NULL);
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

static gboolean
is_blank (const gchar *text, gsize length)
{
  for (gsize i = 0; i < length; i++)
    if (!g_ascii_isspace (text[i]))
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
      return file.text && !is_blank (file.text, file.text_length);
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
