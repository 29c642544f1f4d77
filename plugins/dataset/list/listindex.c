/* gst-spdl: index of a list: offsets of its items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/list/listindex.h"

#include <string.h>

#include "plugins/common/fingerprint.h"

struct _SpdlIndex {
  guint64 n_items;
  guint64 n_unlabelled;
  guint64 first_unlabelled;
  guint shift;
  guint n_entries;
  guint n_room;
  guint max_entries;
  gpointer memory;      /* block that contains the offsets */
  guint64 *offsets;     /* written only while items are added */
  SpdlClasses *classes; /* nullable */
};

SpdlIndex *
spdl_index_new (guint max_entries)
{
  SpdlIndex *self = g_new0 (SpdlIndex, 1);

  self->shift = SPDL_INDEX_FIRST_SHIFT;
  self->max_entries = max_entries;
  return self;
}

SpdlIndex *
spdl_index_new_from_memory (
    gpointer memory, const guint64 *offsets, guint64 n_items, guint shift)
{
  SpdlIndex *self = g_new0 (SpdlIndex, 1);

  self->n_items = n_items;
  self->shift = shift;
  self->n_entries = ((n_items - 1) >> shift) + 1;
  self->memory = memory;
  self->offsets = (guint64 *) offsets;
  return self;
}

void
spdl_index_free (SpdlIndex *self)
{
  g_clear_pointer (&self->classes, spdl_classes_free);
  g_free (self->memory);
  g_free (self);
}

static void
drop_every_other (SpdlIndex *self)
{
  self->n_entries /= 2;
  for (guint i = 1; i < self->n_entries; i++)
    self->offsets[i] = self->offsets[2 * i];
  self->shift++;
}

static void
add_entry (SpdlIndex *self, guint64 offset)
{
  if (self->n_entries == self->max_entries)
    drop_every_other (self);
  if (self->n_entries == self->n_room) {
    self->n_room = CLAMP (2 * self->n_room, 2, self->max_entries);
    self->memory = g_renew (guint64, self->memory, self->n_room);
    self->offsets = self->memory;
  }
  self->offsets[self->n_entries++] = offset;
}

void
spdl_index_add (SpdlIndex *self, guint64 offset)
{
  if ((self->n_items & ((G_GUINT64_CONSTANT (1) << self->shift) - 1)) == 0)
    add_entry (self, offset);
  self->n_items++;
}

void
spdl_index_count_unlabelled (SpdlIndex *self)
{
  if (self->n_unlabelled++ == 0)
    self->first_unlabelled = self->n_items;
}

guint64
spdl_index_get_n_unlabelled (const SpdlIndex *self, guint64 *first)
{
  *first = self->first_unlabelled;
  return self->n_unlabelled;
}

guint64
spdl_index_get_size (const SpdlIndex *self)
{
  return self->n_items;
}

void
spdl_index_set_classes (SpdlIndex *self, SpdlClasses *classes)
{
  g_clear_pointer (&self->classes, spdl_classes_free);
  self->classes = classes;
}

const SpdlClasses *
spdl_index_get_classes (const SpdlIndex *self)
{
  return self->classes;
}

guint
spdl_index_get_shift (const SpdlIndex *self)
{
  return self->shift;
}

const guint64 *
spdl_index_get_offsets (const SpdlIndex *self, guint *n)
{
  *n = self->n_entries;
  return self->offsets;
}

guint64
spdl_index_find (
    const SpdlIndex *self, guint64 i, guint64 *offset, guint64 *end)
{
  const guint64 entry = i >> self->shift;

  g_return_val_if_fail (i < self->n_items, 0);

  *offset = self->offsets[entry];
  *end = entry + 1 < self->n_entries ? self->offsets[entry + 1] : G_MAXUINT64;
  return i >> self->shift << self->shift;
}

/* Index file */

#define MARK "spdlidx\3"
#define FLAG_LABELS 1
#define CHUNK 4096

/* Indices of the 8-byte words of the header. */
enum {
  WORD_MARK,
  WORD_FLAGS_SHIFT, /* flags in the lower half, shift in the upper half */
  WORD_SIZE,
  WORD_SECONDS,
  WORD_NANOSECONDS,
  WORD_SAMPLES,
  WORD_HASH,
  WORD_N_ITEMS,
  WORD_OFFSETS_HASH,
  WORD_CLASSES, /* hash of the allowed classes */
  WORD_NAMES_SIZE,
  WORD_NAMES_HASH,
  WORD_N_UNLABELLED,
  WORD_FIRST_UNLABELLED,
  WORD_HEADER_HASH,
  N_WORDS,
};

G_STATIC_ASSERT (N_WORDS * sizeof (guint64) == SPDL_INDEX_FILE_HEADER);

static guint64
hash_header (const guint64 *words)
{
  return spdl_fingerprint_add (0, words, WORD_HEADER_HASH * sizeof *words);
}

/* @words: in the byte order of the file */
static guint64
word_at (const guint64 *words, guint i)
{
  return GUINT64_FROM_LE (words[i]);
}

static const gchar *
check_header (const guint64 *words, gsize size)
{
  guint64 n_items, shift, names;

  if (size >= sizeof *words && memcmp (words, MARK, sizeof *words) != 0)
    return "the file is not an index, or has another version";
  if (size < SPDL_INDEX_FILE_HEADER)
    return "the index is cut off";
  if (word_at (words, WORD_HEADER_HASH) != hash_header (words))
    return "the header is damaged";
  n_items = word_at (words, WORD_N_ITEMS);
  shift = word_at (words, WORD_FLAGS_SHIFT) >> 32;
  names = word_at (words, WORD_NAMES_SIZE);
  if (n_items == 0 || shift > 48 || names > SPDL_CLASSES_MAX_SIZE ||
      (n_items - 1) >> shift >= SPDL_INDEX_MAX_ENTRIES ||
      word_at (words, WORD_N_UNLABELLED) > n_items ||
      word_at (words, WORD_FIRST_UNLABELLED) >= n_items)
    return "the header is invalid";
  if (size != SPDL_INDEX_FILE_HEADER +
                  (((n_items - 1) >> shift) + 1) * sizeof *words + names)
    return "the length differs from the one in the header";
  return NULL;
}

static const gchar *
check_list (const guint64 *words, const SpdlIndexKey *key)
{
  if (word_at (words, WORD_SIZE) != key->stamp.size ||
      (gint64) word_at (words, WORD_SECONDS) != key->stamp.seconds ||
      word_at (words, WORD_NANOSECONDS) != key->stamp.nanoseconds)
    return "the list has changed";
  if (word_at (words, WORD_SAMPLES) != key->samples)
    return "the index belongs to another list, uri-column or label-column";
  if (key->labels && !(word_at (words, WORD_FLAGS_SHIFT) & FLAG_LABELS))
    return "the index was made without checking the labels";
  if (key->labels && word_at (words, WORD_CLASSES) != key->classes)
    return "the index was made for other classes";
  return NULL;
}

/* Verifies the offsets, and converts them to the byte order of the machine in
 * place. Returns the problem, or NULL. */
static const gchar *
check_offsets (guint64 *offsets, gsize n, guint64 hash, guint64 size)
{
  guint64 last = 0;
  gboolean in_order = TRUE;

  if (spdl_fingerprint_add (0, offsets, n * sizeof *offsets) != hash)
    return "the offsets are damaged";
  for (gsize i = 0; i < n; i++) {
    offsets[i] = GUINT64_FROM_LE (offsets[i]);
    in_order &= i == 0 || offsets[i] > last;
    last = offsets[i];
  }
  return in_order && last < size ? NULL : "the offsets are invalid";
}

/* Parses the names of the classes. Returns: (transfer full) (nullable): the
 * classes, if there are any */
static SpdlClasses *
read_names (const gchar *names, gsize size, guint64 hash, const gchar **problem)
{
  g_autoptr (SpdlClasses) classes = NULL;
  const gchar *at = names, *const end = names + size, *last = NULL;

  *problem = "the class names are damaged";
  if (spdl_fingerprint_add (0, names, size) != hash)
    return NULL;
  *problem = "the class names are invalid";
  if (size > 0 && end[-1] != '\0')
    return NULL;
  while (at < end) {
    const gsize length = strlen (at);

    /* Names are sorted, so duplicates are adjacent. */
    if (length == 0 || (last && strcmp (last, at) >= 0) ||
        !g_utf8_validate (at, length, NULL))
      return NULL;
    if (!classes)
      classes = spdl_classes_new ();
    if (!spdl_classes_add (classes, at, length))
      return NULL;
    last = at;
    at += length + 1;
  }
  *problem = NULL;
  return g_steal_pointer (&classes);
}

SpdlIndex *
spdl_index_file_read (
    guint8 *data, gsize size, SpdlIndexKey *key, const gchar **problem)
{
  guint64 *words = (guint64 *) data;
  SpdlClasses *classes = NULL;
  guint64 n_items, names = 0;
  SpdlIndex *index;

  *problem = check_header (words, size);
  if (!*problem) {
    names = word_at (words, WORD_NAMES_SIZE);
    *problem = check_list (words, key);
  }
  if (!*problem)
    *problem = check_offsets (words + N_WORDS,
        (size - names) / sizeof *words - N_WORDS,
        word_at (words, WORD_OFFSETS_HASH), key->stamp.size);
  if (!*problem)
    classes = read_names ((const gchar *) data + size - names, names,
        word_at (words, WORD_NAMES_HASH), problem);
  if (*problem) {
    g_free (data);
    return NULL;
  }
  key->hash = word_at (words, WORD_HASH);
  n_items = word_at (words, WORD_N_ITEMS);
  index = spdl_index_new_from_memory (
      data, words + N_WORDS, n_items, word_at (words, WORD_FLAGS_SHIFT) >> 32);
  index->n_unlabelled = word_at (words, WORD_N_UNLABELLED);
  index->first_unlabelled = word_at (words, WORD_FIRST_UNLABELLED);
  spdl_index_set_classes (index, classes);
  return index;
}

/* Converts some offsets to the byte order of the file. Returns their number. */
static guint
take_chunk (const guint64 *offsets, guint n, guint first, guint64 *chunk)
{
  const guint n_here = MIN (CHUNK, n - first);

  for (guint i = 0; i < n_here; i++)
    chunk[i] = GUINT64_TO_LE (offsets[first + i]);
  return n_here;
}

static guint64
hash_offsets (const guint64 *offsets, guint n)
{
  SpdlFingerprint *fingerprint = spdl_fingerprint_new ();
  guint64 chunk[CHUNK];

  for (guint i = 0; i < n; i += CHUNK)
    spdl_fingerprint_append (
        fingerprint, chunk, take_chunk (offsets, n, i, chunk) * sizeof *chunk);
  return spdl_fingerprint_finish (fingerprint);
}

/* Returns (transfer full) the names of the classes in the format of the
 * file. */
static GByteArray *
join_names (const SpdlClasses *classes)
{
  GByteArray *bytes = g_byte_array_new ();
  const gchar *const *names = classes ? spdl_classes_get_names (classes) : NULL;

  for (; names && *names; names++)
    g_byte_array_append (bytes, (const guint8 *) *names, strlen (*names) + 1);
  return bytes;
}

static void
fill_header (guint64 *words, const SpdlIndex *index, const SpdlIndexKey *key,
    const GByteArray *names)
{
  guint n;
  const guint64 *offsets = spdl_index_get_offsets (index, &n);

  words[WORD_FLAGS_SHIFT] = (guint64) spdl_index_get_shift (index) << 32 |
                            (key->labels ? FLAG_LABELS : 0);
  words[WORD_SIZE] = key->stamp.size;
  words[WORD_SECONDS] = key->stamp.seconds;
  words[WORD_NANOSECONDS] = key->stamp.nanoseconds;
  words[WORD_SAMPLES] = key->samples;
  words[WORD_HASH] = key->hash;
  words[WORD_N_ITEMS] = spdl_index_get_size (index);
  words[WORD_OFFSETS_HASH] = hash_offsets (offsets, n);
  words[WORD_CLASSES] = key->classes;
  words[WORD_N_UNLABELLED] = index->n_unlabelled;
  words[WORD_FIRST_UNLABELLED] = index->first_unlabelled;
  words[WORD_NAMES_SIZE] = names->len;
  words[WORD_NAMES_HASH] = spdl_fingerprint_add (
      0, names->len > 0 ? (gconstpointer) names->data : "", names->len);
  for (guint i = 0; i < N_WORDS; i++)
    words[i] = GUINT64_TO_LE (words[i]);
  memcpy (words, MARK, sizeof *words);
  words[WORD_HEADER_HASH] = GUINT64_TO_LE (hash_header (words));
}

int
spdl_index_file_write (int fd, const SpdlIndex *index, const SpdlIndexKey *key)
{
  g_autoptr (GByteArray) names = join_names (spdl_index_get_classes (index));
  guint64 words[N_WORDS] = { 0 };
  guint64 chunk[CHUNK];
  guint n;
  const guint64 *offsets = spdl_index_get_offsets (index, &n);
  int failed;

  fill_header (words, index, key, names);
  failed = spdl_file_write_all (fd, words, sizeof words);
  for (guint i = 0; i < n && failed == 0; i += CHUNK) {
    const guint n_here = take_chunk (offsets, n, i, chunk);

    failed = spdl_file_write_all (fd, chunk, n_here * sizeof *chunk);
  }
  if (failed == 0)
    failed = spdl_file_write_all (fd, names->data, names->len);
  return failed;
}
