/* gst-spdl: file contents attached to the buffer of a URI
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/carried.h"
#include "gst/spdl/common/metatype.h"

typedef struct {
  gchar *uri;
  GstBuffer *content;
} Content;

struct _GstSpdlCarried {
  gint ref_count;   /* atomic */
  GArray *contents; /* Content */
  GError *error;    /* nullable */
};

typedef struct {
  GstMeta meta;
  GstSpdlCarried *carried; /* nullable */
} CarriedMeta;

static void
clear_content (gpointer data)
{
  Content *content = data;

  g_free (content->uri);
  gst_buffer_unref (content->content);
}

GstSpdlCarried *
gst_spdl_carried_new (void)
{
  GstSpdlCarried *self = g_new0 (GstSpdlCarried, 1);

  self->ref_count = 1;
  self->contents = g_array_new (FALSE, FALSE, sizeof (Content));
  g_array_set_clear_func (self->contents, clear_content);
  return self;
}

void
gst_spdl_carried_unref (GstSpdlCarried *self)
{
  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;
  g_array_unref (self->contents);
  g_clear_error (&self->error);
  g_free (self);
}

void
gst_spdl_carried_add (GstSpdlCarried *self, gchar *uri, GstBuffer *content)
{
  const Content added = { uri, content };

  g_array_append_val (self->contents, added);
}

void
gst_spdl_carried_set_error (GstSpdlCarried *self, GError *error)
{
  g_clear_error (&self->error);
  self->error = error;
}

/* Meta */

SPDL_DEFINE_META_API (GstSpdlCarriedMeta, gst_spdl_carried_meta, NULL)

static CarriedMeta *
get_meta (GstBuffer *buffer)
{
  return (CarriedMeta *) gst_buffer_get_meta (
      buffer, gst_spdl_carried_meta_api_get_type ());
}

static gboolean
carried_meta_init (GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  ((CarriedMeta *) meta)->carried = NULL;
  return TRUE;
}

static void
carried_meta_free (GstMeta *meta, GstBuffer *buffer)
{
  g_clear_pointer (&((CarriedMeta *) meta)->carried, gst_spdl_carried_unref);
}

static gboolean
carried_meta_transform (GstBuffer *dest, GstMeta *meta, GstBuffer *buffer,
    GQuark type, gpointer data)
{
  GstSpdlCarried *carried = ((CarriedMeta *) meta)->carried;

  if (!carried || get_meta (dest))
    return TRUE;
  g_atomic_int_inc (&carried->ref_count);
  gst_spdl_buffer_set_carried (dest, carried);
  return TRUE;
}

static SPDL_DEFINE_META_INFO (GstSpdlCarriedMeta, gst_spdl_carried_meta,
    sizeof (CarriedMeta), carried_meta_init, carried_meta_free,
    carried_meta_transform)

void
gst_spdl_buffer_set_carried (GstBuffer *buffer, GstSpdlCarried *carried)
{
  CarriedMeta *meta = get_meta (buffer);

  if (!meta)
    meta = (CarriedMeta *) gst_buffer_add_meta (
        buffer, gst_spdl_carried_meta_get_info (), NULL);
  g_clear_pointer (&meta->carried, gst_spdl_carried_unref);
  meta->carried = carried;
}

gboolean
gst_spdl_buffer_has_carried (GstBuffer *buffer)
{
  return get_meta (buffer) != NULL;
}

GstBuffer *
gst_spdl_buffer_dup_carried (GstBuffer *buffer, const gchar *uri)
{
  const CarriedMeta *meta = get_meta (buffer);
  const GArray *contents =
      meta && meta->carried ? meta->carried->contents : NULL;

  for (guint i = 0; contents && i < contents->len; i++) {
    const Content *content = &g_array_index (contents, Content, i);

    if (g_str_equal (content->uri, uri))
      return gst_buffer_copy_region (
          content->content, GST_BUFFER_COPY_MEMORY, 0, -1);
  }
  return NULL;
}

GError *
gst_spdl_buffer_dup_carried_error (GstBuffer *buffer)
{
  const CarriedMeta *meta = get_meta (buffer);

  return meta && meta->carried && meta->carried->error
             ? g_error_copy (meta->carried->error)
             : NULL;
}
