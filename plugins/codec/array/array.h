/* gst-spdl: array of a file, as a tensor
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "gst/spdl/gstspdltensorsinfo.h"

G_BEGIN_DECLS

/* Maximum number of dimensions of an array. One is left for the batch. */
#define SPDL_ARRAY_MAX_RANK (GST_SPDL_MAX_RANK - 1)

/* Description of an array in a file. */
typedef struct {
  const gchar
      *name; /* UTF-8; NULL: an NPY file, whose only array has no name */
  GstSpdlTensorType type;
  gboolean swapped; /* elements are in the other byte order */
  gboolean fortran; /* column-major: the first dimension is the innermost */
  guint rank;       /* may exceed the length of `shape` */
  guint64 shape[SPDL_ARRAY_MAX_RANK]; /* in NumPy's order */
  gboolean is_foreign;                /* of a type that no tensor has */
} SpdlArray;

/* Sets @error to a message about the array. */
void spdl_array_set_error (GError **error, const SpdlArray *self,
    const gchar *format, ...) G_GNUC_PRINTF (3, 4);

/* Sets @error: there is no memory for the @size bytes of the array. */
void
spdl_array_set_no_memory (GError **error, const SpdlArray *self, guint64 size);

/* Sets @error: @type, @length bytes of text from the file, is not a tensor
 * type. */
void spdl_array_refuse_type (
    GError **error, SpdlArray *self, const gchar *type, gsize length);

/* Returns TRUE if the array is valid, but no tensor can hold it: it has too
 * many dimensions, or is of another type. */
gboolean spdl_array_is_unfit (const SpdlArray *self);

/* Calculates the size of the array in bytes. Returns FALSE with @error set if
 * it cannot be a tensor because it has too many dimensions, or is too large. */
gboolean
spdl_array_get_size (const SpdlArray *self, gsize *size, GError **error);

/* Adds the array to @info. An array without dimensions gets one. */
void spdl_array_describe (const SpdlArray *self, GstSpdlTensorsInfo *info);

/* Returns whether @data can be used as tensor data without a copy: aligned,
 * row-major, in native byte order. */
gboolean spdl_array_is_plain (const SpdlArray *self, gconstpointer data);

/* Converts the array's data @in to tensor data in @out, which is aligned. */
void spdl_array_write (const SpdlArray *self, const guint8 *in, guint8 *out);

/* Returns text of a file in a form fit for messages: short, UTF-8, without
 * control characters.
 * Returns: (transfer full) */
gchar *spdl_array_quote (const gchar *text, gsize length);

/* NPY files */

/* NumPy's NPY format, versions 1.0 to 3.0: a magic number, a Python dict
 * literal with type, order and shape, and the data. The dict is read by a
 * parser for this purpose; nothing is evaluated or unpickled. */

gboolean spdl_npy_is_npy (const guint8 *data, gsize size);

/* Reads the header from @data, the whole file, into @self, whose name is set.
 * Returns the offset of the data, whose length is exactly what the shape needs,
 * or 0 with @error set. */
gsize
spdl_npy_read (SpdlArray *self, const guint8 *data, gsize size, GError **error);

G_END_DECLS
