/* gst-spdl: one array of a file, as a tensor
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "gst/spdl/gstspdltensorsinfo.h"

G_BEGIN_DECLS

/* The most dimensions of an array: a batch of them has one more. */
#define SPDL_ARRAY_MAX_RANK (GST_SPDL_MAX_RANK - 1)

/* What a file says of an array. */
typedef struct {
  const gchar *name; /* UTF-8; NULL: the file has but one, without a name */
  GstSpdlTensorType type;
  gboolean swapped; /* elements are of the other byte order */
  gboolean fortran; /* the first dimension is the innermost */
  guint rank;       /* may be more than there are in `shape` */
  guint64 shape[SPDL_ARRAY_MAX_RANK]; /* as NumPy writes it */
} SpdlArray;

/* Sets @error to a sentence about the array, which begins with "Its array". */
void spdl_array_set_error (GError **error, const SpdlArray *self,
    const gchar *format, ...) G_GNUC_PRINTF (3, 4);

/* Sets @error: there is no memory for the @size bytes that it needs. */
void
spdl_array_set_no_memory (GError **error, const SpdlArray *self, guint64 size);

/* Sets @error: @type (@length bytes of a file) is none that tensors have. */
void spdl_array_refuse_type (
    GError **error, const SpdlArray *self, const gchar *type, gsize length);

/* Returns how many bytes it has, or 0 with @error set if it can be no tensor:
 * empty, of too many dimensions, too large. */
gsize spdl_array_get_size (const SpdlArray *self, GError **error);

/* Adds it to @info, as which it has at least one dimension. */
void spdl_array_describe (const SpdlArray *self, GstSpdlTensorsInfo *info);

/* Whether @data is that of a tensor as it lies there. */
gboolean spdl_array_is_plain (const SpdlArray *self, gconstpointer data);

/* Writes @in, its data, to @out as a tensor has it. @out is aligned. */
void spdl_array_write (const SpdlArray *self, const guint8 *in, guint8 *out);

/* Text of a file for a message: short, UTF-8, and without control characters.
 *
 * Returns: (transfer full) */
gchar *spdl_array_quote (const gchar *text, gsize length);

G_END_DECLS
