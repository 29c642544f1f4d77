/* gst-spdl: end of Matroska files
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/common/matroska.h"

#include <string.h>

/* Number of bytes in which the Segment element begins. */
#define HEAD 256

/* Returns the length field of the Segment element in a Matroska header, or
 * NULL. */
static const guint8 *
find_length (const guint8 *head, gsize n)
{
  static const guint8 segment[] = { 0x18, 0x53, 0x80, 0x67 };

  for (gsize i = 0; i + 12 <= n; i++)
    if (memcmp (head + i, segment, sizeof segment) == 0)
      return head[i + 4] ? head + i + 4 : NULL;
  return NULL;
}

/* Parses an EBML variable-length integer. Returns its length in bytes, or 0.
 * The value with all bits set, which means an unknown length, gives
 * G_MAXUINT64. */
static guint
read_number (const guint8 *data, gsize size, guint64 *number)
{
  guint n_bytes = 1;
  guint64 mask;

  if (size == 0 || data[0] == 0)
    return 0;
  while (!(data[0] >> (8 - n_bytes)))
    n_bytes++;
  if (n_bytes > size)
    return 0;
  mask = 0xff >> n_bytes;
  *number = data[0] & mask;
  for (guint i = 1; i < n_bytes; i++) {
    *number = *number << 8 | data[i];
    mask = mask << 8 | 0xff;
  }
  if (*number == mask)
    *number = G_MAXUINT64;
  return n_bytes;
}

gboolean
spdl_matroska_is_whole (const guint8 *data, gsize size)
{
  guint64 length;
  const gsize n = MIN (size, HEAD);
  const guint8 *at = find_length (data, n);
  const guint n_bytes = at ? read_number (at, data + n - at, &length) : 0;

  return n_bytes == 0 || length == G_MAXUINT64 ||
         (guint64) (at - data) + n_bytes + length <= size;
}
