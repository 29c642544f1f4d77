/* gst-spdl: arrays of a file, as tensors
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/array/array.h"

G_BEGIN_DECLS

/* Reads NPY, NPZ and safetensors files into one buffer of `other/tensors` with
 * a memory per array. Arrays share the file's memory where possible. Holds the
 * state of one worker thread; not thread-safe. */

typedef enum {
  SPDL_ARRAYS_NONE,
  SPDL_ARRAYS_NPY,
  SPDL_ARRAYS_NPZ,
  SPDL_ARRAYS_SAFETENSORS,
} SpdlArraysKind;

typedef struct _SpdlArrays SpdlArrays;

SpdlArrays *spdl_arrays_new (void);
void spdl_arrays_free (SpdlArrays *self);

/* Detects the format from the first bytes. */
SpdlArraysKind spdl_arrays_look (const guint8 *data, gsize size);

/* Decodes a file of @kind.
 * @in: the file, mapped
 * @members: (nullable): interned list of the arrays to read, such as "a,b";
 *     NULL: all that can be tensors
 * @max_decompressed_bytes: limit on the total size of its compressed arrays
 * @caps: (out) (transfer none): caps of the result, valid until the next call
 * Returns: (transfer full): the tensors, or NULL with @error set */
GstBuffer *spdl_arrays_decode (SpdlArrays *self, SpdlArraysKind kind,
    const GstMapInfo *in, const gchar *members, guint64 max_decompressed_bytes,
    GstCaps **caps, GError **error);

/* Returns why the first member of the last file that was left out cannot be a
 * tensor (transfer none) (nullable). */
const GError *spdl_arrays_get_left_out (const SpdlArrays *self);

/* Functions for the readers of file formats. */

/* Location of file bytes: a memory whose data begins at @base. */
typedef struct {
  GstMemory *memory;
  const guint8 *base;
  gboolean exclusive; /* there is no other reference to it */
} SpdlArraysPlace;

/* Adds @array, whose size was checked. Its data begins at @data, within @place.
 * Returns FALSE with @error set if the name is invalid or there is no memory
 * for a copy. */
gboolean spdl_arrays_add (SpdlArrays *self, const SpdlArray *array,
    const SpdlArraysPlace *place, const guint8 *data, GError **error);

/* Returns TRUE if the array with this name is to be read. */
gboolean spdl_arrays_wants (const SpdlArrays *self, const gchar *name);

/* Leaves out a member that cannot be a tensor, unless it was asked for.
 *
 * @why: (inout): the reason, which is taken if TRUE is returned
 *
 * Returns FALSE if it was asked for. */
gboolean spdl_arrays_leave_out (SpdlArrays *self, GError **why);

/* NPZ: a ZIP archive of stored or deflated NPY files, each named after its
 * array with the suffix `.npy`. Checksums are verified. */

/* Adds the arrays of @in to @arrays. Returns FALSE with @error set on
 * failure. */
gboolean spdl_npz_read (SpdlArrays *arrays, const GstMapInfo *in,
    guint64 max_decompressed_bytes, GError **error);

/* safetensors: a JSON header with names, types, shapes and offsets, followed by
 * the data. Every byte of the data belongs to exactly one array. */

gboolean spdl_safetensors_is_safetensors (const guint8 *data, gsize size);

/* Adds the arrays of @in to @arrays, in the order of their data. Returns FALSE
 * with @error set on failure. */
gboolean spdl_safetensors_read (
    SpdlArrays *arrays, const GstMapInfo *in, GError **error);

G_END_DECLS
