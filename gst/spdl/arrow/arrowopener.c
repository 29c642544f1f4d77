/* gst-spdl: openers of Arrow streams
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/arrow/arrowopener.h"

#include <gst/gst.h>

struct _SpdlArrowOpener {
  gint ref_count; /* atomic */
  GstSpdlArrowFunc func;
  GstSpdlArrowPartFunc part_func; /* (nullable): of the parts of a table */
  gpointer user_data;
  GDestroyNotify notify;   /* nullable */
  GstSpdlArrowPart *parts; /* nullable */
  guint n_parts;
};

/* A part as a stream. */
typedef struct {
  SpdlArrowOpener *table;
  gint part;
  GStrv columns; /* nullable */
} Part;

SpdlArrowOpener *
spdl_arrow_opener_new (
    GstSpdlArrowFunc func, gpointer user_data, GDestroyNotify notify)
{
  SpdlArrowOpener *self = g_new (SpdlArrowOpener, 1);

  *self = (SpdlArrowOpener){
    .ref_count = 1, .func = func, .user_data = user_data, .notify = notify
  };
  return self;
}

SpdlArrowOpener *
spdl_arrow_opener_new_parts (const GstSpdlArrowPart *parts, guint n_parts,
    GstSpdlArrowPartFunc func, gpointer user_data, GDestroyNotify notify)
{
  SpdlArrowOpener *self = spdl_arrow_opener_new (NULL, user_data, notify);

  self->part_func = func;
  self->parts = g_new (GstSpdlArrowPart, MAX (n_parts, 1));
  self->n_parts = n_parts;
  for (guint i = 0; i < n_parts; i++)
    self->parts[i] = parts[i];
  return self;
}

SpdlArrowOpener *
spdl_arrow_opener_ref (SpdlArrowOpener *self)
{
  g_atomic_int_inc (&self->ref_count);
  return self;
}

void
spdl_arrow_opener_unref (SpdlArrowOpener *self)
{
  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;
  if (self->notify)
    self->notify (self->user_data);
  g_free (self->parts);
  g_free (self);
}

const GstSpdlArrowPart *
spdl_arrow_opener_get_parts (const SpdlArrowOpener *self, guint *n_parts)
{
  *n_parts = self->n_parts;
  return self->parts;
}

static gboolean
open_part (gpointer stream, gpointer user_data, GError **error)
{
  const Part *self = user_data;

  return self->table->part_func (self->part,
      (const gchar *const *) self->columns, stream, self->table->user_data,
      error);
}

static void
free_part (gpointer data)
{
  Part *self = data;

  spdl_arrow_opener_unref (self->table);
  g_strfreev (self->columns);
  g_free (self);
}

SpdlArrowOpener *
spdl_arrow_opener_new_part (
    SpdlArrowOpener *self, gint part, const gchar *const *columns)
{
  Part *made = g_new (Part, 1);

  *made =
      (Part){ spdl_arrow_opener_ref (self), part, g_strdupv ((GStrv) columns) };
  return spdl_arrow_opener_new (open_part, made, free_part);
}

gboolean
spdl_arrow_opener_open (
    SpdlArrowOpener *self, struct ArrowArrayStream *stream, GError **error)
{
  GError *reason = NULL;

  if (self->func (stream, self->user_data, &reason))
    return TRUE;
  stream->release = NULL;
  if (!reason)
    reason = g_error_new_literal (GST_RESOURCE_ERROR,
        GST_RESOURCE_ERROR_OPEN_READ, "The producer did not open it");
  g_propagate_error (error, reason);
  return FALSE;
}
