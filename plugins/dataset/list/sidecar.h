/* gst-spdl: the file beside a list that has its index
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_SIDECAR_H__
#define __SPDL_SIDECAR_H__

#include "plugins/dataset/list/indexfile.h"

G_BEGIN_DECLS

/* The index of DIR/NAME is in DIR/.NAME.spdl-index or, if that cannot be
 * written, in the user's cache: gst-spdl/SHA256.spdl-index in $XDG_CACHE_HOME,
 * where SHA256 is that of the list's path, without links. */

typedef enum {
  SPDL_SIDECAR_NONE,
  SPDL_SIDECAR_AUTO, /* for lists that take long to index */
  SPDL_SIDECAR_ALWAYS,
} SpdlSidecarUse;

/* From how many bytes on a list has one with SPDL_SIDECAR_AUTO. It is indexed
 * in some 30 ms then. */
#define SPDL_SIDECAR_MIN_SIZE (16 << 20)

/* Looks for the index of @text in both places.
 *
 * @labels: whether labels must have been looked at
 * @classes: the hash of the classes that they must be; 0: of any
 * @hash: (out): of the list's bytes
 *
 * Returns NULL if there is none that is to be trusted. */
SpdlIndex *spdl_sidecar_load (
    const SpdlText *text, gboolean labels, guint64 classes, guint64 *hash);

/* Writes one, in the first place where that is possible. It is there as a whole
 * or not at all.
 *
 * Returns whether it is there. */
gboolean spdl_sidecar_store (const SpdlText *text, const SpdlIndex *index,
    gboolean labels, guint64 classes, guint64 hash);

G_END_DECLS

#endif /* __SPDL_SIDECAR_H__ */
