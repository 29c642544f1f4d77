/* gst-spdl: boxes of MP4 and QuickTime files
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/common/mp4box.h"

#include <string.h>

#include "plugins/common/bytes.h"

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
