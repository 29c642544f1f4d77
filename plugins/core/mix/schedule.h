/* gst-spdl: weights of a mix that change on the way
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* In an ideal mix, each pad has its share of all items or tokens of a stage, so
 * it is known how many it has had when all pads together have had T. Item
 * number j of a pad is due at the T at which the pad has had j. The choice is
 * therefore a pure function of the numbers of the pads, as without a
 * schedule. */
typedef struct _SpdlMixStages SpdlMixStages;

/* Parses stages "FROM: WEIGHT,...; ...". Returns NULL with @error set if @text
 * has none, or other numbers of weights than @n_pads. */
SpdlMixStages *
spdl_mix_stages_parse (const gchar *text, guint n_pads, GError **error);
void spdl_mix_stages_free (SpdlMixStages *self);

/* Returns the total at which item or token @count of a pad is due; infinity if
 * the pad has no share any more. */
gdouble
spdl_mix_stages_get_due (const SpdlMixStages *self, guint pad, gdouble count);

G_END_DECLS
