/* gst-spdl: how large the disk cache is, and what leaves it
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_DISK_BOUND_H__
#define __SPDL_DISK_BOUND_H__

#include <glib.h>

G_BEGIN_DECLS

/* FOLDER/.spdl-size has the sum of all entries' sizes, to which each process
 * adds what it writes; a count of the files, which each process makes when it
 * begins, puts it right. FOLDER/.spdl-lock is locked (flock) by whoever counts
 * or removes. */

/* Notes that @grown bytes came; @max_size (0: none) is kept, by removing what
 * was not used for the longest time, down to 7/8 of it. Who finds somebody else
 * at that leaves it to them.
 *
 * @quit: atomic; ends it early, within a moment */
void spdl_disk_bound_add (
    const gchar *folder, gint64 grown, guint64 max_size, gint *quit);

/* Counts all files, removes what killed processes left behind, and keeps
 * @max_size. */
void spdl_disk_bound_count (const gchar *folder, guint64 max_size, gint *quit);

G_END_DECLS

#endif /* __SPDL_DISK_BOUND_H__ */
