/* gst-spdl: row of tokens in the making
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/core/batch/batchpool.h"
#include "plugins/core/pack/rowothers.h"

G_BEGIN_DECLS

/* Parts of a row. */
typedef enum {
  SPDL_ROW_TOKENS,
  SPDL_ROW_SEGMENT_IDS,
  SPDL_ROW_POSITIONS,
  SPDL_ROW_LOSS_MASK,
  SPDL_ROW_CU_SEQLENS,
  SPDL_ROW_NUM_DOCUMENTS,
  SPDL_ROW_N_PARTS
} SpdlRowPart;

/* Settings and layout that all rows share. */
typedef struct {
  guint length;
  guint max_documents;
  gint64 eos; /* -1: none */
  gint64 padding;
  GstSpdlTensorType type; /* of the tokens */
  SpdlOthersFormat others;
  GstCaps *caps[SPDL_ROW_N_PARTS];
  gsize sizes[SPDL_ROW_N_PARTS];
  gsize offsets[SPDL_ROW_N_PARTS];
  GstBufferPool *pool;
} SpdlRowFormat;

/* Plans the parts from `length`, `max_documents` and `type`. Returns FALSE with
 * @error set if a row is too large, or the tokens `eos` and `padding` do not
 * fit into the type.
 *
 * @document: the first one: all have the same other data */
gboolean spdl_row_format_plan (
    SpdlRowFormat *self, const SpdlDocument *document, GError **error);
void spdl_row_format_clear (SpdlRowFormat *self);

typedef struct {
  guint n; /* tokens */
  guint n_documents;
  SpdlSlab *slab;
  GArray *items;  /* GstSpdlItemMeta: of the documents, owned */
  GArray *others; /* SpdlOthers: of the documents; empty if they have none */
} SpdlPackRow;

/* Returns: (transfer full) (nullable): NULL if memory is exhausted */
SpdlPackRow *spdl_pack_row_new (const SpdlRowFormat *format);
void spdl_pack_row_free (SpdlPackRow *self);

/* Appends the tokens of @document from @first to @end, at most as many as the
 * row has room for. The end token follows the last of them.
 *
 * @item: of the document; copied */
void spdl_pack_row_add (SpdlPackRow *self, const SpdlRowFormat *format,
    const SpdlDocument *document, gsize first, gsize end,
    const GstSpdlItemMeta *item);

/* Returns TRUE if nothing more fits. */
static inline gboolean
spdl_pack_row_is_full (const SpdlPackRow *self, const SpdlRowFormat *format)
{
  return self->n == format->length ||
         self->n_documents == format->max_documents;
}

/* Pads the row. Returns: (transfer full) (nullable): a sample of the parts,
 * with a batch of the documents; NULL if memory is exhausted. Frees @self. */
GstBuffer *
spdl_pack_row_finish (SpdlPackRow *self, const SpdlRowFormat *format);

G_END_DECLS
