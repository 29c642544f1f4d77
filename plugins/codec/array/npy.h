/* gst-spdl: header of an NPY file
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/array/array.h"

G_BEGIN_DECLS

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
