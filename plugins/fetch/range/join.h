/* gst-spdl: reads several byte ranges as one
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "plugins/fetch/range/inflate.h"
#include "plugins/fetch/range/range.h"

G_BEGIN_DECLS

/* A join is one range of a file that holds those of several items. Whoever
 * begins the first of these reads it; what others begin meanwhile waits for it,
 * and what they begin later has it at once. Where it failed each reads its own.
 * The join lives as long as one of its items' buffers. From any thread. */
typedef struct _SpdlJoin SpdlJoin;

/* An item's part in a join; the item's buffer owns it. */
typedef struct {
  SpdlJoin *join;
  SpdlRange range;
  SpdlPacking packing; /* of what is there */
} SpdlJoinPart;

typedef enum {
  SPDL_JOIN_BEGIN,  /* the caller is to read it, and waits, too */
  SPDL_JOIN_WAIT,   /* somebody reads it */
  SPDL_JOIN_DONE,   /* spdl_join_part_dup_content() has it */
  SPDL_JOIN_FAILED, /* the caller is to read its own range alone */
} SpdlJoinStatus;

typedef struct {
  const SpdlJoinPart *part;
  gpointer caller;
} SpdlJoinWaiter;

/* @uri: without a range */
SpdlJoin *spdl_join_new (const gchar *uri, const SpdlRange *range);
SpdlJoin *spdl_join_ref (SpdlJoin *self);
void spdl_join_unref (SpdlJoin *self);

/* The URI of all of it. Returns: (transfer full) */
gchar *spdl_join_dup_uri (const SpdlJoin *self);

/* Makes @item, which is not to be shared, one of its items. */
void spdl_join_add_item (SpdlJoin *self, GstBuffer *item,
    const SpdlRange *range, const SpdlPacking *packing);

/* The part of @item in a join; NULL: it has none. */
const SpdlJoinPart *spdl_join_find_part (GstBuffer *item);

/* Begins an item.
 *
 * @caller: comes back from spdl_join_end() if it waits */
SpdlJoinStatus spdl_join_part_begin (const SpdlJoinPart *part, gpointer caller);

/* Ends the reading.
 *
 * @content: (transfer full) (nullable): NULL: it failed
 *
 * Returns: (transfer full): SpdlJoinWaiter, those that waited */
GArray *spdl_join_end (SpdlJoin *self, GstBuffer *content);

/* The part's bytes, which are the join's own memory. */
GstBuffer *spdl_join_part_dup_content (const SpdlJoinPart *part);

G_END_DECLS
