/* gst-spdl: boxes of MP4 and QuickTime files
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/common/mp4box.h"

#include <string.h>

#include "plugins/common/bytes.h"

gboolean
spdl_mp4_box_next (SpdlMp4Box *in, SpdlMp4Box *box, gchar type[4])
{
  gsize head = 8;
  guint64 size;

  if (in->size < head)
    return FALSE;
  size = spdl_read_32_be (in->data);
  memcpy (type, in->data + 4, 4);
  if (size == 1 && in->size >= 16) {
    size = spdl_read_64_be (in->data + 8);
    head = 16;
  } else if (size == 0) {
    size = in->size;
  }
  size = MIN (size, in->size);
  if (size < head)
    return FALSE;
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
