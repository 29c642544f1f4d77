/* gst-spdl: gst-spdl-index, what an index holds
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/index/listing.h"

#include <stdio.h>

static void
print_file (const SpdlArchiveFile *file)
{
  printf ("\t%.*s=", file->extension_length, file->extension);
  if (file->size > 0)
    printf ("%" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT, file->first,
        file->first + spdl_archive_file_get_length (file) - 1);
  if (file->packed)
    printf ("&inflate=%" G_GUINT64_FORMAT "&crc32=%08x", file->size,
        file->packing.checksum);
}

void
listing_print (const SpdlArchiveIndex *index)
{
  SpdlArchiveSample sample;
  SpdlArchiveFile file;

  for (guint64 i = 0; i < spdl_archive_index_get_size (index); i++) {
    if (!spdl_archive_index_get_sample (index, i, &sample))
      continue;
    printf (
        "%.*s\t%" G_GINT64_FORMAT, sample.key_length, sample.key, sample.label);
    while (spdl_archive_sample_next (&sample, &file))
      print_file (&file);
    printf ("\n");
  }
}
