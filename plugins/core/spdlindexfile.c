/* gst-spdl: a list's index in a file
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlindexfile.h"

#include <string.h>

#include "spdlfingerprint.h"
#include "spdlsidecarfile.h"

#define MARK "spdlidx\1"
#define FLAG_LABELS 1
#define CHUNK 4096

/* The header's words, by their places. */
enum {
  WORD_MARK,
  WORD_FLAGS_SHIFT, /* flags below, shift above */
  WORD_SIZE,
  WORD_SECONDS,
  WORD_NANOSECONDS,
  WORD_SAMPLES,
  WORD_HASH,
  WORD_N_ITEMS,
  WORD_OFFSETS_HASH,
  WORD_HEADER_HASH,
  N_WORDS,
};

G_STATIC_ASSERT (N_WORDS * sizeof (guint64) == SPDL_INDEX_FILE_HEADER);

static guint64
hash_header (const guint64 *words)
{
  return spdl_fingerprint_add (0, words, WORD_HEADER_HASH * sizeof *words);
}

/* @words: as in the file */
static guint64
word_at (const guint64 *words, guint i)
{
  return GUINT64_FROM_LE (words[i]);
}

static const gchar *
check_header (const guint64 *words, gsize size)
{
  guint64 n_items, shift;

  if (size < SPDL_INDEX_FILE_HEADER)
    return "it is cut off";
  if (memcmp (words, MARK, sizeof *words) != 0)
    return "it is no index, or one of another version";
  if (word_at (words, WORD_HEADER_HASH) != hash_header (words))
    return "its header is damaged";
  n_items = word_at (words, WORD_N_ITEMS);
  shift = word_at (words, WORD_FLAGS_SHIFT) >> 32;
  if (n_items == 0 || shift > 48 ||
      (n_items - 1) >> shift >= SPDL_INDEX_MAX_ENTRIES)
    return "its header makes no sense";
  if (size !=
      SPDL_INDEX_FILE_HEADER + (((n_items - 1) >> shift) + 1) * sizeof *words)
    return "it is not as long as its header says";
  return NULL;
}

static const gchar *
check_list (const guint64 *words, const SpdlIndexKey *key)
{
  if (word_at (words, WORD_SIZE) != key->stamp.size ||
      (gint64) word_at (words, WORD_SECONDS) != key->stamp.seconds ||
      word_at (words, WORD_NANOSECONDS) != key->stamp.nanoseconds)
    return "the list has changed since";
  if (word_at (words, WORD_SAMPLES) != key->samples)
    return "it is of another list";
  if (key->labels && !(word_at (words, WORD_FLAGS_SHIFT) & FLAG_LABELS))
    return "it was made without a look at the labels";
  return NULL;
}

/* And brings the offsets into the machine's order. */
static const gchar *
check_offsets (guint64 *offsets, gsize n, guint64 hash, guint64 size)
{
  guint64 last = 0;
  gboolean in_order = TRUE;

  if (spdl_fingerprint_add (0, offsets, n * sizeof *offsets) != hash)
    return "its offsets are damaged";
  for (gsize i = 0; i < n; i++) {
    offsets[i] = GUINT64_FROM_LE (offsets[i]);
    in_order &= i == 0 || offsets[i] > last;
    last = offsets[i];
  }
  return in_order && last < size ? NULL : "its offsets make no sense";
}

SpdlIndex *
spdl_index_file_read (
    guint8 *data, gsize size, SpdlIndexKey *key, const gchar **flaw)
{
  guint64 *words = (guint64 *) data;
  guint64 n_items;

  *flaw = check_header (words, size);
  if (!*flaw)
    *flaw = check_list (words, key);
  if (!*flaw)
    *flaw = check_offsets (words + N_WORDS, size / sizeof *words - N_WORDS,
        word_at (words, WORD_OFFSETS_HASH), key->stamp.size);
  if (*flaw) {
    g_free (data);
    return NULL;
  }
  key->hash = word_at (words, WORD_HASH);
  n_items = word_at (words, WORD_N_ITEMS);
  return spdl_index_new_from_memory (
      data, words + N_WORDS, n_items, word_at (words, WORD_FLAGS_SHIFT) >> 32);
}

/* A piece of the offsets, as in the file. Returns how many there are. */
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
  guint64 chunk[CHUNK];
  guint64 hash = 0;

  for (guint i = 0; i < n; i += CHUNK)
    hash = spdl_fingerprint_add_words (
        hash, chunk, take_chunk (offsets, n, i, chunk));
  return spdl_fingerprint_end (hash, NULL, n * sizeof *offsets);
}

static void
fill_header (guint64 *words, const SpdlIndex *index, const SpdlIndexKey *key)
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
  for (guint i = 0; i < N_WORDS; i++)
    words[i] = GUINT64_TO_LE (words[i]);
  memcpy (words, MARK, sizeof *words);
  words[WORD_HEADER_HASH] = GUINT64_TO_LE (hash_header (words));
}

int
spdl_index_file_write (int fd, const SpdlIndex *index, const SpdlIndexKey *key)
{
  guint64 words[N_WORDS] = { 0 };
  guint64 chunk[CHUNK];
  guint n;
  const guint64 *offsets = spdl_index_get_offsets (index, &n);
  int failed;

  fill_header (words, index, key);
  failed = spdl_sidecar_file_write_all (fd, words, sizeof words);
  for (guint i = 0; i < n && failed == 0; i += CHUNK) {
    const guint n_here = take_chunk (offsets, n, i, chunk);

    failed = spdl_sidecar_file_write_all (fd, chunk, n_here * sizeof *chunk);
  }
  return failed;
}
