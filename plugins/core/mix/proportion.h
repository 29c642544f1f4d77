/* gst-spdl: proportional choice among streams
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Mixes streams in given proportions. The item of number j of a stream of
 * weight w is due at (j + r) / w, where r, from above 0 to below 1, is a hash
 * of the stream's key and j; the next item is that of the stream which is due
 * first, of equals the first one. So the choice is a pure function of keys,
 * weights and how many items of each stream were taken, and can go on from any
 * such numbers.
 *
 * The bound: when all items that are due by T have come, a stream has
 * w T + e of them, with -1 < e < 1, whatever the hashes are. With weights that
 * add up to 1, n = T + (sum of all e) items came in all, and the stream's
 * number differs from w n by e (1 - w) - w (sum of the other e), which is less
 * than 1 + (k - 2) w for k streams. Between two such moments a prefix is no
 * different, since items come one by one in the order in which they are due.
 * Where up to m items come at once, as a group, it is m times that. */

/* The key of a stream. */
guint64 spdl_proportion_get_key (guint64 seed, guint64 epoch, guint64 stream);

/* When the stream's item number @count is due. @weight > 0 */
double spdl_proportion_get_due (guint64 key, double weight, guint64 count);

G_END_DECLS
