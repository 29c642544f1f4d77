/* gst-spdl: streams and ends of Matroska, MP4 and Ogg files
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/common/containers.h"

#include <string.h>

#include "plugins/common/bytes.h"

/* Matroska */

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

/* MP4 and QuickTime */

/* Returns the size of the box that @in begins with, or 0 if there is none.
 * @head: (out): size of its header */
static guint64
read_size (const SpdlMp4Box *in, gsize *head)
{
  guint64 size;

  *head = 8;
  if (in->size < *head)
    return 0;
  size = spdl_read_32_be (in->data);
  if (size == 1 && in->size >= 16) {
    size = spdl_read_64_be (in->data + 8);
    *head = 16;
  } else if (size == 0) {
    size = in->size;
  }
  return size;
}

gboolean
spdl_mp4_box_next (SpdlMp4Box *in, SpdlMp4Box *box, gchar type[4])
{
  gsize head;
  const guint64 size = MIN (read_size (in, &head), in->size);

  if (size < head)
    return FALSE;
  memcpy (type, in->data + 4, 4);
  *box = (SpdlMp4Box){ in->data + head, size - head };
  in->data += size;
  in->size -= size;
  return TRUE;
}

gboolean
spdl_mp4_box_find (const SpdlMp4Box *in, const gchar *wanted, SpdlMp4Box *box)
{
  SpdlMp4Box rest = *in, found;
  gchar type[4];

  while (spdl_mp4_box_next (&rest, &found, type))
    if (memcmp (type, wanted, 4) == 0) {
      *box = found;
      return TRUE;
    }
  return FALSE;
}

gboolean
spdl_mp4_has_brand (const guint8 *data, gsize size, const gchar *const *wanted)
{
  SpdlMp4Box rest = { data, size }, box;
  gchar type[4];

  if (!spdl_mp4_box_next (&rest, &box, type) || memcmp (type, "ftyp", 4) != 0)
    return FALSE;
  for (gsize at = 0; at + 4 <= box.size; at += 4) {
    if (at == 4)
      continue; /* the version of the first brand */
    for (guint i = 0; wanted[i]; i++)
      if (memcmp (box.data + at, wanted[i], 4) == 0)
        return TRUE;
  }
  return FALSE;
}

gboolean
spdl_mp4_is_whole (const guint8 *data, gsize size)
{
  SpdlMp4Box rest = { data, size }, box;
  gchar type[4];
  gsize head;

  do {
    if (read_size (&rest, &head) > rest.size)
      return FALSE;
  } while (spdl_mp4_box_next (&rest, &box, type));
  return TRUE;
}

/* Ogg */

/* Size of a page header without the table of its segments. */
#define HEADER 27
#define MAX_PAGE (HEADER + 255 + 255 * 255)

/* Flags in byte 5 of a page. */
#define BEGIN 2
#define END 4

/* Returns the size of the headers of a page, or 0 if there is no page.
 * @page_size: (out): size of the whole page, of which the end may be missing */
static gsize
read_page (const guint8 *page, gsize size, gsize *page_size)
{
  if (size < HEADER || memcmp (page, "OggS", 4) != 0)
    return 0;
  *page_size = HEADER + page[26];
  for (guint i = 0; i < page[26] && HEADER + i < size; i++)
    *page_size += page[HEADER + i];
  return HEADER + page[26];
}

static gboolean
is_video (const guint8 *packet, gsize size)
{
  static const gchar marks[][8] = { "\x80theora", "BBCD", "OVP80",
    "\x01video" };

  for (guint i = 0; i < G_N_ELEMENTS (marks); i++)
    if (size >= strlen (marks[i]) &&
        memcmp (packet, marks[i], strlen (marks[i])) == 0)
      return TRUE;
  return FALSE;
}

gboolean
spdl_ogg_has_video (const guint8 *data, gsize size)
{
  gsize header, page_size;

  /* The first pages of all streams precede all other pages. */
  while ((header = read_page (data, size, &page_size)) > 0 &&
         page_size <= size && data[5] & BEGIN) {
    if (is_video (data + header, page_size - header))
      return TRUE;
    data += page_size;
    size -= page_size;
  }
  return FALSE;
}

gboolean
spdl_ogg_is_whole (const guint8 *data, gsize size)
{
  const gsize first = size > 2 * MAX_PAGE ? size - 2 * MAX_PAGE : 0;
  gsize page_size;

  for (gsize at = size; at-- > first;)
    if (read_page (data + at, size - at, &page_size) > 0)
      return page_size <= size - at && data[at + 5] & END;
  return FALSE;
}
