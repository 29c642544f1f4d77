/* gst-spdl: groups that wait to be full
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/aggregate/groups.h"

static void
free_group (gpointer data)
{
  SpdlGroup *group = data;

  gst_clear_buffer_list (&group->items);
  gst_clear_caps (&group->caps);
  g_free (group->key);
  g_free (group);
}

void
spdl_groups_init (SpdlGroups *self)
{
  self->by_key =
      g_hash_table_new_full (g_str_hash, g_str_equal, NULL, free_group);
  g_queue_init (&self->all);
}

void
spdl_groups_clear (SpdlGroups *self)
{
  g_hash_table_unref (self->by_key);
}

SpdlGroup *
spdl_groups_find (SpdlGroups *self, const gchar *key)
{
  return g_hash_table_lookup (self->by_key, key);
}

SpdlGroup *
spdl_groups_get_oldest (SpdlGroups *self)
{
  return g_queue_peek_head (&self->all);
}

SpdlGroup *
spdl_groups_begin (SpdlGroups *self, const gchar *key, GstCaps *caps)
{
  SpdlGroup *group = g_new0 (SpdlGroup, 1);

  group->key = g_strdup (key);
  group->caps = caps ? gst_caps_ref (caps) : NULL;
  group->items = gst_buffer_list_new ();
  group->link.data = group;
  g_hash_table_insert (self->by_key, group->key, group);
  g_queue_push_tail_link (&self->all, &group->link);
  return group;
}

void
spdl_group_add (SpdlGroup *group, GstBuffer *item)
{
  group->bytes += gst_buffer_get_size (item);
  /* Whoever was shown the list may have kept it. */
  group->items = gst_buffer_list_make_writable (group->items);
  gst_buffer_list_add (group->items, item);
}

GstBufferList *
spdl_groups_take (SpdlGroups *self, SpdlGroup *group)
{
  GstBufferList *items = g_steal_pointer (&group->items);

  g_queue_unlink (&self->all, &group->link);
  g_hash_table_remove (self->by_key, group->key);
  return items;
}

void
spdl_groups_reset (SpdlGroups *self)
{
  g_queue_init (&self->all);
  g_hash_table_remove_all (self->by_key);
}
