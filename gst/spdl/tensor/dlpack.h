/* gst-spdl: export of tensors with DLPack
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

/* A capsule that was not consumed must free its tensor. Its destructor is in C,
 * because it may run while the interpreter is being finalized. This library is
 * not linked to Python, which therefore passes the two functions that the
 * destructor needs. */

typedef int (*SpdlCapsuleIsValid) (gpointer capsule, const char *name);
typedef gpointer (*SpdlCapsuleGetPointer) (gpointer capsule, const char *name);

/* Sets Python's PyCapsule_IsValid and PyCapsule_GetPointer. Called once, with
 * the GIL held. */
SPDL_PRIVATE_API
void gst_spdl_capsule_init (
    SpdlCapsuleIsValid is_valid, SpdlCapsuleGetPointer get_pointer);

/* Implements PyCapsule_Destructor: frees the content of a capsule named
 * `dltensor`. A consumer renames the capsule. */
SPDL_PRIVATE_API
void gst_spdl_capsule_free (gpointer capsule);

/* Content of a capsule named `dltensor`, as in DLPack 0.x without a version.
 * The layout is an external ABI; the names are local. */

typedef enum {
  SPDL_DL_INT = 0,
  SPDL_DL_UINT = 1,
  SPDL_DL_FLOAT = 2,
  SPDL_DL_BFLOAT = 4,
} SpdlDlCode;

typedef struct {
  gint32 type; /* values of GstSpdlDeviceType */
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
