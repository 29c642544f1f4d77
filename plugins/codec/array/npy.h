/* gst-spdl: header of an NPY file
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/array/array.h"

G_BEGIN_DECLS

/* NumPy's own format, versions 1.0 to 3.0: a mark, and a Python dict with type,
 * order and shape as text, behind which the data lies. It is read by a parser
 * of such dicts alone; nothing of it is ever evaluated or unpickled. */

gboolean spdl_npy_is_npy (const guint8 *data, gsize size);

/* Reads the header of @self, whose name is set, from @data, all of the file.
 * Returns where its data begins, of which as much is there as the shape needs
 * and no more; or 0 with @error set. */
gsize
spdl_npy_read (SpdlArray *self, const guint8 *data, gsize size, GError **error);

G_END_DECLS
