/* gst-spdl: by what a dataset is known again
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlfingerprint.h"

#include <string.h>

#include "gst/spdl/engine/spdlrandom.h"

/* Can be undone, so that no single change of a word is lost. */
static inline guint64
add_word (guint64 hash, guint64 word)
{
  hash = (hash ^ word) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  return hash ^ hash >> 32;
}

guint64
spdl_fingerprint_add_words (guint64 hash, gconstpointer data, gsize n)
{
  const guint8 *at = data;
  guint64 word;

  for (gsize i = 0; i < n; i++, at += sizeof word) {
    memcpy (&word, at, sizeof word);
    hash = add_word (hash, GUINT64_FROM_LE (word));
  }
  return hash;
}

guint64
spdl_fingerprint_end (guint64 hash, gconstpointer rest, guint64 size)
{
  const guint8 *at = rest;
  guint64 word = 0;

  for (guint i = 0; i < size % sizeof word; i++)
    word |= (guint64) at[i] << 8 * i;
  /* With the size, since zeros at the end would count for nothing. */
  hash = add_word (add_word (hash, word), size);
  return spdl_random_splitmix (&hash);
}

guint64
spdl_fingerprint_add (guint64 hash, gconstpointer data, gsize size)
{
  const gsize n = size / sizeof (guint64);

  hash = spdl_fingerprint_add_words (hash, data, n);
  return spdl_fingerprint_end (
      hash, (const guint8 *) data + n * sizeof (guint64), size);
}
