/* gst-spdl: groups that wait to be full
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_GROUPS_H__
#define __SPDL_GROUPS_H__

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct {
  gchar *key;
  GstCaps *caps; /* nullable: of its items */
  GstBufferList *items;
  guint64 bytes;
  GList link; /* among all, in the order of their first items */
} SpdlGroup;

/* One group for each key, found by it, in the order in which they began. One
 * thread at a time. */
typedef struct {
  GHashTable *by_key;
  GQueue all; /* SpdlGroup */
} SpdlGroups;

void spdl_groups_init (SpdlGroups *self);
void spdl_groups_clear (SpdlGroups *self);

/* NULL if there is none. */
SpdlGroup *spdl_groups_find (SpdlGroups *self, const gchar *key);
/* The one that began first; NULL if there is none. */
SpdlGroup *spdl_groups_get_oldest (SpdlGroups *self);

/* Begins a group. @caps: (nullable) */
SpdlGroup *
spdl_groups_begin (SpdlGroups *self, const gchar *key, GstCaps *caps);

/* @item: (transfer full) */
void spdl_group_add (SpdlGroup *group, GstBuffer *item);

/* Ends @group; its items are the caller's. */
GstBufferList *spdl_groups_take (SpdlGroups *self, SpdlGroup *group);

/* Forgets all. */
void spdl_groups_reset (SpdlGroups *self);

G_END_DECLS

#endif /* __SPDL_GROUPS_H__ */
