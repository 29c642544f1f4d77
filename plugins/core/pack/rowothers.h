/* gst-spdl: other data of the documents of a row
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/core/pack/document.h"

G_BEGIN_DECLS

/* Added to the name of a tensor for that of its numbers of entries. */
#define SPDL_LENGTHS_SUFFIX "_lengths"

/* Names and types of the data that documents have besides their tokens, such as
 * images. A row joins each array along its outermost dimension, in the order of
 * its documents. All documents have the same as the first one. */
typedef struct {
  guint n;
  GstSpdlTensorInfo *infos; /* without the outermost dimension */
  gchar **names;
} SpdlOthersFormat;

/* @taken: (array zero-terminated=1): names of the other parts of a row
 * @n_most: as many parts as a row can have
 *
 * Returns FALSE with @error set if rows cannot have parts with these names. */
gboolean
spdl_others_format_init (SpdlOthersFormat *self, const SpdlDocument *document,
    const gchar *const *taken, guint n_most, GError **error);
void spdl_others_format_clear (SpdlOthersFormat *self);

/* Returns FALSE with @error set if @document has other data. */
gboolean spdl_others_format_check (
    const SpdlOthersFormat *self, const SpdlDocument *document, GError **error);

/* The other data of a document in a row, which shares its memory. */
typedef struct {
  GstBuffer *buffer;
  struct {
    gsize offset;
    guint n; /* entries */
  } parts[GST_SPDL_MAX_PARTS];
} SpdlOthers;

/* @document: checked. spdl_others_clear() must follow. */
void spdl_others_take (SpdlOthers *self, const SpdlDocument *document);
void spdl_others_clear (gpointer self);

/* Appends two parts for each name to a row: the entries of all documents, and
 * the number of them that each has, then zeros.
 *
 * @others: SpdlOthers: of the documents in their order
 * @max_documents: length of the numbers
 *
 * Returns FALSE if memory is exhausted. */
gboolean spdl_others_append (const SpdlOthersFormat *format,
    const GArray *others, guint max_documents, GstBuffer *row);

G_END_DECLS
