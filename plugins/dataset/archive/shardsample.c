/* gst-spdl: a sample of a shard that is streamed
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/archive/shardsample.h"

SpdlSample *
spdl_sample_new (SpdlArchiveIndex *index, GPtrArray *contents, gsize size)
{
  SpdlSample *self = g_new (SpdlSample, 1);

  *self = (SpdlSample){ index, contents, size };
  return self;
}

void
spdl_sample_free (SpdlSample *self)
{
  spdl_archive_index_free (self->index);
  g_ptr_array_unref (self->contents);
  g_free (self);
}
