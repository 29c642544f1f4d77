/* gst-spdl: token ids of an item
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

G_BEGIN_DECLS

/* Field of an item's `extra`: type of the tokens of an item that is bytes. */
#define SPDL_TOKEN_TYPE_FIELD "token-type"
/* Name of the tensor or part that says which tokens count for the loss. */
#define SPDL_LOSS_MASK "loss_mask"

/* Tensor, or bytes as a vector of uint8, in the buffer of an item. */
typedef struct {
  const gchar *name; /* of the caps or of the part */
  GstSpdlTensorInfo info;
  gsize offset;
} SpdlDocumentPart;

/* The token ids of an item, and which of them count for the loss. */
typedef struct {
  GstSpdlTensorType type;
  gsize n;
  const guint8 *tokens;
  const guint8 *mask; /* nullable: all of them count */
  GArray *others;     /* (nullable): SpdlDocumentPart: what else it has */
  GstMapInfo maps[2];
  GstBuffer *buffer;
} SpdlDocument;

/* Returns the name of a type of tokens, NULL for others. */
const gchar *spdl_token_type_get_name (GstSpdlTensorType type);
/* Returns FALSE if no tokens have a type with this name. */
gboolean spdl_token_type_find (const gchar *name, GstSpdlTensorType *type);

/* Reads an item with @caps: a tensor of one dimension, a sample of several
 * media that has one, or bytes. Returns FALSE with @error set if it has no
 * tokens. Otherwise spdl_document_clear() must follow.
 *
 * @name: of the tensor or part, if the item has several
 * @type: (nullable): name of the type of tokens in bytes */
gboolean spdl_document_read (SpdlDocument *self, GstBuffer *buffer,
    GstCaps *caps, const gchar *name, const gchar *type, GError **error);
/* Counts the tokens of an item without reading them: also of the URI of a
 * document's bytes, whose source knows the type. Returns FALSE with @error set
 * if the item has no tokens. */
gboolean spdl_document_count (
    GstBuffer *buffer, GstCaps *caps, guint64 *n, GError **error);
void spdl_document_clear (SpdlDocument *self);

G_END_DECLS
