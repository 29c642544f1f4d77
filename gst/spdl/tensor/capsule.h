/* gst-spdl: the end of a Python capsule that holds a tensor
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "gst/spdl/engine/visibility.h"

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

G_END_DECLS
