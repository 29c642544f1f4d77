/* gst-spdl: the end of a Python capsule that holds a tensor
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/tensor/capsule.h"

#include "gst/spdl/gstspdltensor.h"

#define UNUSED "dltensor"

static SpdlCapsuleIsValid capsule_is_valid;
static SpdlCapsuleGetPointer capsule_get_pointer;

void
gst_spdl_capsule_init (
    SpdlCapsuleIsValid is_valid, SpdlCapsuleGetPointer get_pointer)
{
  capsule_is_valid = is_valid;
  capsule_get_pointer = get_pointer;
}

void
gst_spdl_capsule_free (gpointer capsule)
{
  if (capsule_is_valid (capsule, UNUSED))
    gst_spdl_dlpack_free (capsule_get_pointer (capsule, UNUSED));
}
