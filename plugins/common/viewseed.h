/* gst-spdl: seeds of the views of an image
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Extra field of an item, after the name of a part and a point: the number of
 * the view that the part is. */
#define SPDL_VIEW_FIELD "view"

/* Returns the seed with which view number @view draws, where an element has
 * @seed. The first view, number 0, draws what an item without views does. */
static inline guint64
spdl_view_get_seed (guint64 seed, guint view)
{
  return seed + view * G_GUINT64_CONSTANT (0xd1342543de82ef95);
}

G_END_DECLS
