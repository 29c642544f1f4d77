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
spdl_fingerprint_add (guint64 hash, gconstpointer data, gsize size)
{
  const guint8 *at = data;
  gsize left = size;
  guint64 word;

  for (; left >= sizeof word; at += sizeof word, left -= sizeof word) {
    memcpy (&word, at, sizeof word);
    hash = add_word (hash, GUINT64_FROM_LE (word));
  }
  word = 0;
  for (gsize i = 0; i < left; i++)
    word |= (guint64) at[i] << 8 * i;
  /* With the size, since zeros at the end would count for nothing. */
  hash = add_word (add_word (hash, word), size);
  return spdl_random_splitmix (&hash);
}
