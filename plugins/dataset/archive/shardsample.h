/* gst-spdl: a sample of a shard that is streamed
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "plugins/dataset/archive/archiveindex.h"

G_BEGIN_DECLS

typedef struct {
  SpdlArchiveIndex *index; /* of this one alone */
  GPtrArray *contents; /* GstBuffer, of its files in order; NULL where the text
                          is in the index */
  gsize size;          /* of all contents */
} SpdlSample;

/* Takes @index and @contents. */
SpdlSample *
spdl_sample_new (SpdlArchiveIndex *index, GPtrArray *contents, gsize size);
void spdl_sample_free (SpdlSample *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SpdlSample, spdl_sample_free)

G_END_DECLS
