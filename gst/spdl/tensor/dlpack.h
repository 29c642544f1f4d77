/* gst-spdl: export of tensors by DLPack
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "gst/spdl/engine/visibility.h"
#include "gst/spdl/gstspdltensor.h"

G_BEGIN_DECLS

/* A capsule that nobody consumed has to free its tensor. Its destructor may run
 * when the interpreter is half gone, so it is C; and this library is not linked
 * to Python, so Python gives it the two functions that it needs. */

typedef int (*SpdlCapsuleIsValid) (gpointer capsule, const char *name);
typedef gpointer (*SpdlCapsuleGetPointer) (gpointer capsule, const char *name);

/* Python's PyCapsule_IsValid and PyCapsule_GetPointer. Once, with the GIL. */
SPDL_PRIVATE_API
void gst_spdl_capsule_init (
    SpdlCapsuleIsValid is_valid, SpdlCapsuleGetPointer get_pointer);

/* A PyCapsule_Destructor: frees what a capsule named `dltensor` points to. Its
 * consumer renames it. */
SPDL_PRIVATE_API
void gst_spdl_capsule_free (gpointer capsule);

/* What a capsule named `dltensor` points to: DLPack 0.x, without a version.
 * The layout is other people's ABI; the names are ours. */

typedef enum {
  SPDL_DL_INT = 0,
  SPDL_DL_UINT = 1,
  SPDL_DL_FLOAT = 2,
} SpdlDlCode;

typedef struct {
  gint32 type; /* as GstSpdlDeviceType */
  gint32 id;
} SpdlDlDevice;

typedef struct {
  guint8 code; /* SpdlDlCode */
  guint8 bits;
  guint16 lanes;
} SpdlDlType;

typedef struct {
  gpointer data;
  SpdlDlDevice device;
  gint32 n_dims;
  SpdlDlType type;
  gint64 *shape;
  gint64 *strides; /* in elements */
  guint64 byte_offset;
} SpdlDlTensor;

typedef struct _SpdlDlManaged SpdlDlManaged;
struct _SpdlDlManaged {
  SpdlDlTensor tensor;
  gpointer context;
  void (*deleter) (SpdlDlManaged *self);
};

G_END_DECLS
