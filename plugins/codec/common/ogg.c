/* gst-spdl: streams and end of Ogg files
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/common/ogg.h"

#include <string.h>

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
