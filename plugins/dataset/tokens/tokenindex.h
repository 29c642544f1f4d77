/* gst-spdl: documents of token ids in Megatron's format
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/dataset/list/datasetoptions.h"
#include "gst/spdl/common/carried.h"

G_BEGIN_DECLS

/* Documents of a pair of files, NAME.idx and NAME.bin, as Megatron-LM writes
 * them. The .bin has the tokens of all documents. The .idx has, little-endian:
 *
 *     "MMIDIDX\0\0"
 *     uint64  version: 1
 *     uint8   type of the tokens
 *     uint64  number of sequences
 *     uint64  number of documents + 1
 *     int32   lengths of the sequences, in tokens
 *     int64   their places in the .bin, in bytes
 *     int64   number of the first sequence of each document, and of all
 *     int8    modes of the sequences, if they have several media
 *
 * The index is read as documents are asked for, so that opening it takes no
 * longer and no more memory for more of them. Not thread-safe. */
typedef struct _SpdlTokenIndex SpdlTokenIndex;

/* Returns TRUE if the name ends in .idx or .bin. */
gboolean spdl_token_index_is_index (const gchar *location);

/* Opens both files. Returns NULL with @error set, in the domain of
 * GST_RESOURCE_ERROR. */
SpdlTokenIndex *spdl_token_index_open (const gchar *location, GError **error);
void spdl_token_index_free (SpdlTokenIndex *self);

/* Returns the number of documents. */
guint64 spdl_token_index_get_size (const SpdlTokenIndex *self);

/* Returns a hash of samples of both files. */
guint64 spdl_token_index_get_hash (const SpdlTokenIndex *self);

/* Returns the URI of a document's bytes (transfer full), and the type of its
 * tokens in @extra (transfer full). The content of an empty document is
 * @carried (transfer full, nullable), because no range is empty. Returns NULL
 * with @error set if the document lies outside of the .bin, is not contiguous,
 * or a file has changed. */
gchar *spdl_token_index_get_item (SpdlTokenIndex *self, guint64 i,
    GstStructure **extra, GstSpdlCarried **carried, GError **error);

G_END_DECLS
