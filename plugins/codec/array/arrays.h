/* gst-spdl: all arrays of a file, as tensors
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/array/array.h"

G_BEGIN_DECLS

/* NPY, NPZ and safetensors become one buffer of `other/tensors`, a memory for
 * each array, which lies in the file's own memory where it can. The state of
 * one worker; one thread at a time. */

typedef enum {
  SPDL_ARRAYS_NONE,
  SPDL_ARRAYS_NPY,
  SPDL_ARRAYS_NPZ,
  SPDL_ARRAYS_SAFETENSORS,
} SpdlArraysKind;

typedef struct _SpdlArrays SpdlArrays;

SpdlArrays *spdl_arrays_new (void);
void spdl_arrays_free (SpdlArrays *self);

/* What @data begins as. */
SpdlArraysKind spdl_arrays_look (const guint8 *data, gsize size);

/* Decodes a file of @kind.
 *
 * @in: the file, mapped
 * @max_decompressed_bytes: bytes that its compressed arrays may have
 * @caps: (out) (transfer none): those of the result, until the next
 *
 * Returns: (transfer full): the tensors, or NULL with @error set */
GstBuffer *
spdl_arrays_decode (SpdlArrays *self, SpdlArraysKind kind, const GstMapInfo *in,
    guint64 max_decompressed_bytes, GstCaps **caps, GError **error);

/* For the readers of files. */

/* Where bytes of a file are: in a memory whose data begins at @base. */
typedef struct {
  GstMemory *memory;
  const guint8 *base;
  gboolean exclusive; /* nobody else has it */
} SpdlArraysPlace;

/* Adds @array, whose size was found to be right, and whose data begins at
 * @data, within @place. FALSE with @error set: its name cannot be, or there is
 * no memory for a copy. */
gboolean spdl_arrays_add (SpdlArrays *self, const SpdlArray *array,
    const SpdlArraysPlace *place, const guint8 *data, GError **error);

/* FALSE with @error set: @n are more than a buffer can have. */
gboolean spdl_arrays_check_number (guint64 n, GError **error);

/* A ZIP archive of NPY files, stored or deflated, each named as its array with
 * `.npy` behind it. Their checksums are verified. */

/* Adds the arrays of @in to @arrays; FALSE with @error set. */
gboolean spdl_npz_read (SpdlArrays *arrays, const GstMapInfo *in,
    guint64 max_decompressed_bytes, GError **error);

/* A header in JSON that says what there is and where, and the data behind it,
 * of which every byte belongs to one array. */

gboolean spdl_safetensors_is_safetensors (const guint8 *data, gsize size);

/* Adds the arrays of @in to @arrays, in the order in which they lie there;
 * FALSE with @error set. */
gboolean spdl_safetensors_read (
    SpdlArrays *arrays, const GstMapInfo *in, GError **error);

G_END_DECLS
