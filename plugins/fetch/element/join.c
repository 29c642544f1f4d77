/* gst-spdl: joined request for several byte ranges
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/element/join.h"

#include "gst/spdl/engine/sync.h"

typedef enum {
  STATE_NEW,
  STATE_READING,
  STATE_DONE,
  STATE_FAILED,
} State;

struct _SpdlJoin {
  gint ref_count; /* atomic */
  gchar *uri;
  SpdlRange range;

  SpdlMutex lock; /* protects the following fields: */
  State state;
  GstBuffer *content; /* nullable */
  GArray *waiters;    /* of SpdlJoinWaiter */
};

static GQuark
part_quark (void)
{
  return g_quark_from_static_string ("spdl-join-part");
}

SpdlJoin *
spdl_join_new (const gchar *uri, const SpdlRange *range)
{
  SpdlJoin *self = g_new0 (SpdlJoin, 1);

  self->ref_count = 1;
  self->uri = g_strdup (uri);
  self->range = *range;
  self->waiters = g_array_new (FALSE, FALSE, sizeof (SpdlJoinWaiter));
  spdl_mutex_init (&self->lock);
  return self;
}

SpdlJoin *
spdl_join_ref (SpdlJoin *self)
{
  g_atomic_int_inc (&self->ref_count);
  return self;
}

void
spdl_join_unref (SpdlJoin *self)
{
  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;
  gst_clear_buffer (&self->content);
  g_array_unref (self->waiters);
  spdl_mutex_clear (&self->lock);
  g_free (self->uri);
  g_free (self);
}

gchar *
spdl_join_dup_uri (const SpdlJoin *self)
{
  return g_strdup_printf ("%s#bytes=%" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT,
      self->uri, self->range.first, self->range.last);
}

static void
free_part (gpointer data)
{
  SpdlJoinPart *part = data;

  spdl_join_unref (part->join);
  g_free (part);
}

void
spdl_join_add_item (SpdlJoin *self, GstBuffer *item, const SpdlRange *range,
    const SpdlPacking *packing)
{
  SpdlJoinPart *part = g_new (SpdlJoinPart, 1);

  *part = (SpdlJoinPart){ spdl_join_ref (self), *range, *packing };
  gst_mini_object_set_qdata (
      GST_MINI_OBJECT_CAST (item), part_quark (), part, free_part);
}

const SpdlJoinPart *
spdl_join_find_part (GstBuffer *item)
{
  return gst_mini_object_get_qdata (GST_MINI_OBJECT_CAST (item), part_quark ());
}

SpdlJoinStatus
spdl_join_part_begin (const SpdlJoinPart *part, gpointer caller)
{
  SpdlJoin *self = part->join;
  const SpdlJoinWaiter waiter = { part, caller };
  SpdlJoinStatus status;

  spdl_mutex_lock (&self->lock);
  switch (self->state) {
    case STATE_DONE:
      status = SPDL_JOIN_DONE;
      break;
    case STATE_FAILED:
      status = SPDL_JOIN_FAILED;
      break;
    default:
      status = self->state == STATE_NEW ? SPDL_JOIN_BEGIN : SPDL_JOIN_WAIT;
      self->state = STATE_READING;
      g_array_append_val (self->waiters, waiter);
      break;
  }
  spdl_mutex_unlock (&self->lock);
  return status;
}

GArray *
spdl_join_end (SpdlJoin *self, GstBuffer *content)
{
  GArray *waiters = g_array_new (FALSE, FALSE, sizeof (SpdlJoinWaiter));
  GArray *ended;

  spdl_mutex_lock (&self->lock);
  self->state = content ? STATE_DONE : STATE_FAILED;
  self->content = content;
  ended = self->waiters;
  self->waiters = waiters;
  spdl_mutex_unlock (&self->lock);
  return ended;
}

GstBuffer *
spdl_join_part_dup_content (const SpdlJoinPart *part)
{
  const SpdlJoin *self = part->join;

  /* The content is written once, before any item is notified. */
  return gst_buffer_copy_region (self->content, GST_BUFFER_COPY_MEMORY,
      part->range.first - self->range.first,
      part->range.last - part->range.first + 1);
}
