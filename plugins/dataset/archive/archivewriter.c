/* gst-spdl: builder of a shard index
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/archive/archivewriter.h"

#include <string.h>

#include "plugins/common/bytes.h"
#include "plugins/common/fingerprint.h"
#include "plugins/dataset/archive/archivenotes.h"
#include "plugins/dataset/list/line.h"

struct _SpdlArchiveWriter {
  GArray *places;      /* guint64: offsets of the records */
  GByteArray *records; /* of the previous samples */
  guint64 n_long;
  guint64 n_labels; /* samples whose label is not -1 */
  gboolean has_cls; /* a sample has a `.cls` */
  gboolean all_have_payloads;
  gboolean has_packed;
  gboolean unordered; /* a key is not greater than the one before it */
  GArray *mixed; /* (nullable): guint: samples whose files have other extensions
                    than those of the sample before; the first is left out */

  /* The current sample. */
  GString *key; /* "": none yet */
  gint64 label;
  gboolean has_payload;
  GByteArray *files;
  GByteArray *texts;
  guint n_files;
  guint64 shape,
      last_shape; /* hash of the extensions of other files than notes */
};

SpdlArchiveWriter *
spdl_archive_writer_new (void)
{
  SpdlArchiveWriter *self = g_new0 (SpdlArchiveWriter, 1);

  self->places = g_array_new (FALSE, FALSE, sizeof (guint64));
  self->records = g_byte_array_new ();
  self->all_have_payloads = TRUE;
  self->key = g_string_new (NULL);
  self->files = g_byte_array_new ();
  self->texts = g_byte_array_new ();
  self->label = -1;
  return self;
}

void
spdl_archive_writer_free (SpdlArchiveWriter *self)
{
  g_clear_pointer (&self->mixed, g_array_unref);
  g_array_unref (self->places);
  g_byte_array_unref (self->records);
  g_string_free (self->key, TRUE);
  g_byte_array_unref (self->files);
  g_byte_array_unref (self->texts);
  g_free (self);
}

static void
add_64 (GByteArray *to, guint64 number)
{
  number = GUINT64_TO_LE (number);
  g_byte_array_append (to, (const guint8 *) &number, sizeof number);
}

static void
add_32 (GByteArray *to, guint32 number)
{
  number = GUINT32_TO_LE (number);
  g_byte_array_append (to, (const guint8 *) &number, sizeof number);
}

static void
add_16 (GByteArray *to, guint16 number)
{
  number = GUINT16_TO_LE (number);
  g_byte_array_append (to, (const guint8 *) &number, sizeof number);
}

/* Notes the sample if its files may have other roles. */
static void
compare_shapes (SpdlArchiveWriter *self)
{
  const guint i = self->places->len;

  if (i > 0 && self->shape != self->last_shape) {
    if (!self->mixed)
      self->mixed = g_array_new (FALSE, FALSE, sizeof (guint));
    g_array_append_val (self->mixed, i);
  }
  self->last_shape = self->shape;
}

static void
end_sample (SpdlArchiveWriter *self)
{
  const guint64 place = self->records->len;

  if (self->key->len == 0)
    return;
  compare_shapes (self);
  g_array_append_val (self->places, place);
  add_64 (self->records, self->label);
  add_16 (self->records, self->n_files);
  add_16 (self->records, self->key->len);
  g_byte_array_append (self->records, self->files->data, self->files->len);
  g_byte_array_append (
      self->records, (const guint8 *) self->key->str, self->key->len);
  g_byte_array_append (self->records, self->texts->data, self->texts->len);
  self->all_have_payloads &= self->has_payload;
  self->n_labels += self->label != -1;
}

static void
begin_sample (SpdlArchiveWriter *self, const gchar *key, gsize length)
{
  end_sample (self);
  g_string_truncate (self->key, 0);
  g_string_append_len (self->key, key, length);
  g_byte_array_set_size (self->files, 0);
  g_byte_array_set_size (self->texts, 0);
  self->n_files = 0;
  self->label = -1;
  self->shape = 0;
  self->has_payload = FALSE;
}

/* Returns TRUE if the current sample has a file with that extension. */
static gboolean
has_extension (const SpdlArchiveWriter *self, const gchar *extension)
{
  const gsize length = strlen (extension);
  gsize at = 0;

  for (guint i = 0; i < self->n_files; i++) {
    const guint8 *file = self->files->data + i * SPDL_ARCHIVE_RECORD_FILE;
    guint32 text;
    guint16 size, kind;

    memcpy (&text, file + 16, sizeof text);
    memcpy (&size, file + 20, sizeof size);
    memcpy (&kind, file + 22, sizeof kind);
    size = GUINT16_FROM_LE (size);
    if (size == length &&
        memcmp (self->texts->data + at, extension, length) == 0)
      return TRUE;
    at += size + GUINT32_FROM_LE (text);
    if (GUINT16_FROM_LE (kind) & SPDL_ARCHIVE_KIND_PACKED)
      at += SPDL_ARCHIVE_RECORD_PACKING;
  }
  return FALSE;
}

/* Counts a file that may be the payload.
 *
 * Returns whether it is one */
static gboolean
add_role (SpdlArchiveWriter *self, const gchar *extension, gsize length,
    guint64 size, SpdlArchiveKind kind)
{
  if (size == 0 || spdl_archive_kind_is_note (kind))
    return FALSE;
  self->shape = spdl_fingerprint_add (self->shape, extension, length);
  return TRUE;
}

static void
add_packing (SpdlArchiveWriter *self, const SpdlArchivePacking *packing)
{
  add_64 (self->texts, packing->size);
  add_32 (self->texts, packing->checksum);
  self->has_packed = TRUE;
}

static void
add_file (SpdlArchiveWriter *self, const gchar *extension, guint64 first,
    guint64 size, const SpdlArchivePacking *packing, const gchar *text,
    gsize text_length)
{
  const gsize length = strlen (extension);
  SpdlArchiveKind kind = spdl_archive_name_get_kind (extension, length);
  gint64 label;

  if (kind == SPDL_ARCHIVE_LABEL && text &&
      spdl_line_parse_label (text, text_length, &label) ==
          SPDL_PARSE_ERROR_NONE)
    self->label = label;
  else if (kind == SPDL_ARCHIVE_LABEL)
    kind = SPDL_ARCHIVE_TEXT; /* a class name */
  self->has_cls |= g_str_equal (extension, "cls");
  self->n_long += !text && spdl_archive_kind_is_note (kind);
  self->has_payload |= add_role (self, extension, length, size, kind);
  if (kind == SPDL_ARCHIVE_LABEL)
    text_length = 0;
  add_64 (self->files, first);
  add_64 (self->files, size);
  add_32 (self->files, text ? text_length : 0);
  add_16 (self->files, length);
  add_16 (self->files,
      kind | (text && kind != SPDL_ARCHIVE_LABEL ? SPDL_ARCHIVE_KIND_KEPT : 0) |
          (packing ? SPDL_ARCHIVE_KIND_PACKED : 0));
  g_byte_array_append (self->texts, (const guint8 *) extension, length);
  if (packing)
    add_packing (self, packing);
  if (text)
    g_byte_array_append (self->texts, (const guint8 *) text, text_length);
  self->n_files++;
}

gboolean
spdl_archive_writer_wants (const gchar *path, guint64 size)
{
  gsize key;
  const gchar *extension = spdl_archive_name_split (path, &key);
  g_autofree gchar *lower = extension ? g_ascii_strdown (extension, -1) : NULL;

  return lower && size <= SPDL_ARCHIVE_MAX_TEXT &&
         spdl_archive_kind_is_note (
             spdl_archive_name_get_kind (lower, strlen (lower)));
}

const gchar *
spdl_archive_writer_add (SpdlArchiveWriter *self, const gchar *path,
    guint64 first, guint64 size, const SpdlArchivePacking *packing,
    const gchar *text, gsize text_length)
{
  gsize key;
  const gchar *extension = spdl_archive_name_split (path, &key);
  g_autofree gchar *lower = NULL;

  if (!extension)
    return NULL;
  if (key > G_MAXUINT16 || strlen (extension) > G_MAXUINT16)
    return "the name is too long";
  lower = g_ascii_strdown (extension, -1);
  if (self->key->len != key || memcmp (self->key->str, path, key) != 0) {
    const gint order = memcmp (self->key->str, path, MIN (self->key->len, key));

    self->unordered |= order > 0 || (order == 0 && self->key->len > key);
    begin_sample (self, path, key);
  }
  if (self->n_files == G_MAXUINT16)
    return "the sample has too many files";
  if (has_extension (self, lower))
    return "the sample has another file with the same extension";
  if (self->records->len > G_MAXUINT - (1u << 30) ||
      self->texts->len > (1u << 29))
    return "the index would become too large";
  add_file (self, lower, first, size, packing, text, text_length);
  return NULL;
}

/* Grouping */

typedef struct {
  guint next; /* part of the same sample, or 0 */
  guint last; /* last part of the sample, in its first part */
} Part;

static const guint8 *
key_of (const GByteArray *records, guint64 place, gsize *length)
{
  const guint8 *record = records->data + place;

  *length = spdl_read_16_le (record + 10);
  return record + SPDL_ARCHIVE_RECORD_HEAD +
         spdl_read_16_le (record + 8) * SPDL_ARCHIVE_RECORD_FILE;
}

/* Links the parts of each sample. Returns the number of samples.
 *
 * @is_first: (out): TRUE for the first part of each sample */
static guint
link_parts (const SpdlArchiveWriter *self, Part *parts, guint8 *is_first)
{
  const guint n = self->places->len;
  gsize room = 2;
  g_autofree guint *table = NULL; /* part + 1 */
  guint n_samples = 0;

  while (room < 2 * (gsize) n)
    room *= 2;
  table = g_new0 (guint, room);
  for (guint i = 0; i < n; i++) {
    gsize length, other_length;
    const guint8 *key = key_of (
        self->records, g_array_index (self->places, guint64, i), &length);
    gsize at = spdl_fingerprint_add (0, key, length) & (room - 1);

    for (; table[at] > 0; at = (at + 1) & (room - 1)) {
      const guint8 *other = key_of (self->records,
          g_array_index (self->places, guint64, table[at] - 1), &other_length);

      if (length == other_length && memcmp (key, other, length) == 0)
        break;
    }
    is_first[i] = table[at] == 0;
    parts[i] = (Part){ 0, i };
    if (is_first[i]) {
      table[at] = i + 1;
      n_samples++;
    } else {
      Part *first = &parts[table[at] - 1];

      parts[first->last].next = i;
      first->last = i;
    }
  }
  return n_samples;
}

/* Adds the files of a record to the current sample. Returns FALSE, with @path
 * set, if it has such a file. */
static gboolean
add_part (SpdlArchiveWriter *self, const guint8 *record, gchar **path)
{
  const guint n = spdl_read_16_le (record + 8);
  const guint8 *file = record + SPDL_ARCHIVE_RECORD_HEAD;
  const guint8 *text =
      file + n * SPDL_ARCHIVE_RECORD_FILE + spdl_read_16_le (record + 10);
  const gint64 label = spdl_read_64_le (record);

  if (label != -1)
    self->label = label;
  for (guint i = 0; i < n; i++, file += SPDL_ARCHIVE_RECORD_FILE) {
    const gsize length = spdl_read_16_le (file + 20);
    const guint kind = spdl_read_16_le (file + 22);
    g_autofree gchar *extension = g_strndup ((const gchar *) text, length);
    const gsize size =
        length + spdl_read_32_le (file + 16) +
        (kind & SPDL_ARCHIVE_KIND_PACKED ? SPDL_ARCHIVE_RECORD_PACKING : 0);

    if (self->n_files == G_MAXUINT16 || has_extension (self, extension)) {
      *path = g_strdup_printf ("%s.%s", self->key->str, extension);
      return FALSE;
    }
    self->has_payload |=
        add_role (self, extension, length, spdl_read_64_le (file + 8),
            kind & ~(SPDL_ARCHIVE_KIND_KEPT | SPDL_ARCHIVE_KIND_PACKED));
    g_byte_array_append (self->files, file, SPDL_ARCHIVE_RECORD_FILE);
    g_byte_array_append (self->texts, text, size);
    self->n_files++;
    text += size;
  }
  return TRUE;
}

const gchar *
spdl_archive_writer_group (SpdlArchiveWriter *self, gchar **path)
{
  const guint n = (begin_sample (self, "", 0), self->places->len);
  g_autoptr (GArray) places = NULL;
  g_autoptr (GByteArray) records = NULL;
  g_autofree Part *parts = NULL;
  g_autofree guint8 *is_first = NULL;

  /* Ascending keys are distinct, and most shards have them. */
  if (!self->unordered)
    return NULL;
  parts = g_new (Part, n);
  is_first = g_new (guint8, n);
  if (link_parts (self, parts, is_first) == n)
    return NULL;
  places = g_steal_pointer (&self->places);
  records = g_steal_pointer (&self->records);
  self->places = g_array_new (FALSE, FALSE, sizeof (guint64));
  self->records = g_byte_array_new ();
  g_clear_pointer (&self->mixed, g_array_unref);
  self->n_labels = 0;
  self->all_have_payloads = TRUE;
  for (guint i = 0; i < n; i++) {
    guint part = i;
    gsize length;
    const gchar *key;

    if (!is_first[i])
      continue;
    key = (const gchar *) key_of (
        records, g_array_index (places, guint64, i), &length);
    begin_sample (self, key, length);
    do {
      if (!add_part (self,
              records->data + g_array_index (places, guint64, part), path))
        return "the sample has another file with the same extension";
      part = parts[part].next;
    } while (part > 0);
  }
  return NULL;
}

static gboolean
add_roles (const SpdlArchiveWriter *self, guint i, SpdlArchiveRoles *roles)
{
  SpdlArchiveSample sample;

  return spdl_archive_sample_read (&sample, self->records->data,
             self->records->len, g_array_index (self->places, guint64, i)) &&
         spdl_archive_roles_add (roles, &sample);
}

/* Returns whether an extension has both roles. */
static gboolean
has_roles (const SpdlArchiveWriter *self)
{
  SpdlArchiveRoles roles = { NULL };
  gboolean found = self->mixed && add_roles (self, 0, &roles);

  for (guint i = 0; self->mixed && i < self->mixed->len; i++)
    found |= add_roles (self, g_array_index (self->mixed, guint, i), &roles);
  spdl_archive_roles_clear (&roles);
  return found;
}

static void
put_hashes (guint64 *words, gsize size)
{
  words[SPDL_ARCHIVE_WORD_HASH] = GUINT64_TO_LE (spdl_fingerprint_add (
      0, words + SPDL_ARCHIVE_N_WORDS, size - SPDL_ARCHIVE_INDEX_HEADER));
  words[SPDL_ARCHIVE_WORD_HEADER_HASH] = GUINT64_TO_LE (spdl_fingerprint_add (
      0, words, SPDL_ARCHIVE_WORD_HEADER_HASH * sizeof *words));
}

guint8 *
spdl_archive_writer_finish (
    SpdlArchiveWriter *self, const SpdlArchiveKey *key, gsize *size)
{
  const guint n = (begin_sample (self, "", 0), self->places->len);
  const gsize places = n * sizeof (guint64);
  guint8 *data;
  guint64 *words;

  *size = SPDL_ARCHIVE_INDEX_HEADER + places + self->records->len;
  data = g_malloc (*size);
  words = (guint64 *) data;
  words[SPDL_ARCHIVE_WORD_N_SAMPLES] = n;
  words[SPDL_ARCHIVE_WORD_SIZE] = key->stamp.size;
  words[SPDL_ARCHIVE_WORD_SECONDS] = key->stamp.seconds;
  words[SPDL_ARCHIVE_WORD_NANOSECONDS] = key->stamp.nanoseconds;
  words[SPDL_ARCHIVE_WORD_SAMPLES] = key->samples;
  words[SPDL_ARCHIVE_WORD_VALIDATOR] = key->validator;
  words[SPDL_ARCHIVE_WORD_FLAGS] =
      (self->all_have_payloads ? SPDL_ARCHIVE_FLAG_PAYLOADS : 0) |
      (self->n_labels == n ? SPDL_ARCHIVE_FLAG_LABELS : 0) |
      (!self->has_cls ? SPDL_ARCHIVE_FLAG_NO_LABELS : 0) |
      (has_roles (self) ? SPDL_ARCHIVE_FLAG_ROLES : 0);
  words[SPDL_ARCHIVE_WORD_N_LONG] = self->n_long;
  for (guint i = 0; i < SPDL_ARCHIVE_WORD_HASH; i++)
    words[i] = GUINT64_TO_LE (words[i]);
  memcpy (data,
      self->has_packed ? SPDL_ARCHIVE_INDEX_MARK_PACKED
                       : SPDL_ARCHIVE_INDEX_MARK,
      sizeof *words);
  for (guint i = 0; i < n; i++)
    words[SPDL_ARCHIVE_N_WORDS + i] =
        GUINT64_TO_LE (g_array_index (self->places, guint64, i));
  if (self->records->len > 0)
    memcpy (data + SPDL_ARCHIVE_INDEX_HEADER + places, self->records->data,
        self->records->len);
  put_hashes (words, *size);
  return data;
}
