/* gst-spdl: gst-spdl-index, what an index holds
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __LISTING_H__
#define __LISTING_H__

#include "plugins/dataset/archive/archiveindex.h"

G_BEGIN_DECLS

/* Prints a line for each sample: its key, label and, for each of its files,
 * `extension=FIRST-LAST` (`extension=` for an empty one), with tabs between
 * them. */
void listing_print (const SpdlArchiveIndex *index);

G_END_DECLS

#endif /* __LISTING_H__ */
