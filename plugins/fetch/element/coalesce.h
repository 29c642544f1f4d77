/* gst-spdl: joined requests for neighboring byte ranges
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

#include "plugins/fetch/io/range.h"

G_BEGIN_DECLS

/* A join is a range of a file that contains the ranges of several items. The
 * first item to start reads it. Items that start in the meantime wait for it,
 * and later ones get their content immediately. If it fails, each item reads
 * its own range. The join is kept alive by the buffers of its items.
 * Thread-safe. */
typedef struct _SpdlJoin SpdlJoin;

/* Joins the items of @group that are byte ranges of the same file with gaps of
 * at most @gap bytes.
 * @group: (transfer full)
 * @max_size: limit on a joined range, in bytes; 0: no limit
 * Returns: (transfer full): the same items */
GstBufferList *
spdl_coalesce_group (GstBufferList *group, guint64 gap, guint64 max_size);

/* The range of an item in a join. Owned by the item's buffer. */
typedef struct {
  SpdlJoin *join;
  SpdlRange range;
  SpdlPacking packing; /* compression of its bytes */
} SpdlJoinPart;

/* Returns the part of @item, or NULL if it is not in a join. */
const SpdlJoinPart *spdl_join_find_part (GstBuffer *item);

typedef enum {
  SPDL_JOIN_BEGIN,  /* the caller must read the join; it waits as well */
  SPDL_JOIN_WAIT,   /* another item is reading it */
  SPDL_JOIN_DONE,   /* spdl_join_part_dup_content() returns the content */
  SPDL_JOIN_FAILED, /* the caller must read its own range */
} SpdlJoinStatus;

/* An item that waits. */
typedef struct {
  GstSpdlTask *task;
  gint64 deadline;
} SpdlJoinWaiter;

/* Starts an item.
 * @waiter: returned by spdl_join_end() if it waits */
SpdlJoinStatus
spdl_join_part_begin (const SpdlJoinPart *part, SpdlJoinWaiter waiter);

/* Returns: (transfer full): the URI of the joined range */
gchar *spdl_join_dup_uri (const SpdlJoin *self);

/* Reports the result of reading.
 * @content: (transfer full) (nullable): NULL: failure
 * Returns: (transfer full): array of SpdlJoinWaiter */
GArray *spdl_join_end (SpdlJoin *self, GstBuffer *content);

/* Returns the content of the part, sharing the memory of the join. */
GstBuffer *spdl_join_part_dup_content (const SpdlJoinPart *part);

SpdlJoin *spdl_join_ref (SpdlJoin *self);
void spdl_join_unref (SpdlJoin *self);

G_END_DECLS
