/* gst-spdl: other data of the documents of a row
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/pack/rowothers.h"

#include <string.h>

#include "gst/spdl/common/tryallocator.h"

/* Format */

static const SpdlDocumentPart *
get_part (const SpdlDocument *document, guint i)
{
  return &g_array_index (document->others, SpdlDocumentPart, i);
}

static guint
count_parts (const SpdlDocument *document)
{
  return document->others ? document->others->len : 0;
}

/* Returns the type and shape of one entry. A number is one entry. */
static GstSpdlTensorInfo
describe_entry (const GstSpdlTensorInfo *info)
{
  GstSpdlTensorInfo entry = *info;

  if (entry.rank > 0)
    entry.dims[--entry.rank] = 0;
  return entry;
}

static gboolean
is_free (
    const SpdlOthersFormat *self, const gchar *const *taken, const gchar *name)
{
  if (g_strv_contains (taken, name))
    return FALSE;
  for (guint i = 0; i < self->n; i++) {
    g_autofree gchar *lengths =
        g_strconcat (self->names[i], SPDL_LENGTHS_SUFFIX, NULL);

    if (g_str_equal (self->names[i], name) || g_str_equal (lengths, name))
      return FALSE;
  }
  return TRUE;
}

static gboolean
add_part (SpdlOthersFormat *self, const SpdlDocumentPart *part,
    const gchar *const *taken, GError **error)
{
  g_autofree gchar *lengths =
      g_strconcat (part->name, SPDL_LENGTHS_SUFFIX, NULL);

  if (!is_free (self, taken, part->name) || !is_free (self, taken, lengths)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The item has the part \"%s\", which becomes the parts \"%s\" and "
        "\"%s\" of rows, and one of these names is taken: use another name",
        part->name, part->name, lengths);
    return FALSE;
  }
  self->names[self->n] = g_strdup (part->name);
  self->infos[self->n++] = describe_entry (&part->info);
  return TRUE;
}

gboolean
spdl_others_format_init (SpdlOthersFormat *self, const SpdlDocument *document,
    const gchar *const *taken, guint n_most, GError **error)
{
  const guint n = count_parts (document);

  *self = (SpdlOthersFormat){ 0 };
  if (n > n_most) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The item has %u parts besides its tokens, and a row can have at most "
        "%u of them",
        n, n_most);
    return FALSE;
  }
  self->infos = g_new0 (GstSpdlTensorInfo, n + 1);
  self->names = g_new0 (gchar *, n + 1);
  for (guint i = 0; i < n; i++)
    if (!add_part (self, get_part (document, i), taken, error)) {
      spdl_others_format_clear (self);
      return FALSE;
    }
  return TRUE;
}

void
spdl_others_format_clear (SpdlOthersFormat *self)
{
  g_clear_pointer (&self->names, g_strfreev);
  g_clear_pointer (&self->infos, g_free);
  self->n = 0;
}

gboolean
spdl_others_format_check (
    const SpdlOthersFormat *self, const SpdlDocument *document, GError **error)
{
  const guint n = count_parts (document);

  for (guint i = 0; i < MIN (n, self->n); i++) {
    const SpdlDocumentPart *part = get_part (document, i);
    const GstSpdlTensorInfo entry = describe_entry (&part->info);
    const GstSpdlTensorInfo *wanted = &self->infos[i];

    if (!g_str_equal (part->name, self->names[i]) ||
        entry.type != wanted->type || entry.rank != wanted->rank ||
        memcmp (entry.dims, wanted->dims, sizeof entry.dims) != 0) {
      g_autofree gchar *is = gst_spdl_tensor_info_to_string (&entry);
      g_autofree gchar *was = gst_spdl_tensor_info_to_string (wanted);

      g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
          "The item has the part \"%s\" with entries of %s, but the first one "
          "had \"%s\" of %s: give all items the same parts in the same order",
          part->name, is, self->names[i], was);
      return FALSE;
    }
  }
  if (n == self->n)
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "The item has %u parts besides its tokens, but the first one had %u: "
      "give all items the same parts, also if they are empty",
      n, self->n);
  return FALSE;
}

/* Rows */

void
spdl_others_take (SpdlOthers *self, const SpdlDocument *document)
{
  self->buffer = gst_buffer_ref (document->buffer);
  for (guint i = 0; i < count_parts (document); i++) {
    const SpdlDocumentPart *part = get_part (document, i);

    self->parts[i].offset = part->offset;
    self->parts[i].n =
        part->info.rank > 0 ? part->info.dims[part->info.rank - 1] : 1;
  }
}

void
spdl_others_clear (gpointer self)
{
  gst_clear_buffer (&((SpdlOthers *) self)->buffer);
}

static void
append_tensor (GstBuffer *row, const gchar *name, GstBuffer *content,
    const GstSpdlTensorInfo *info)
{
  GstSpdlTensorsInfo infos;
  g_autoptr (GstCaps) caps = NULL;

  gst_spdl_tensors_info_init (&infos);
  infos.num_tensors = 1;
  infos.tensors[0] = *info;
  caps = gst_spdl_tensors_info_to_caps (&infos);
  gst_spdl_buffer_append_part (row, name, content, caps);
}

/* Copies the entries of part @i of all documents. */
static gboolean
append_entries (const SpdlOthersFormat *format, const GArray *others, guint i,
    GstBuffer *row)
{
  GstSpdlTensorInfo info = format->infos[i];
  const gsize size = gst_spdl_tensor_info_get_size (&info);
  g_autoptr (GstBuffer) content = NULL;
  GstMapInfo map;
  guint64 n = 0, at = 0;

  for (guint k = 0; k < others->len; k++)
    n += g_array_index (others, SpdlOthers, k).parts[i].n;
  if (n > G_MAXUINT32 || !(content = gst_spdl_buffer_try_new (n * size)) ||
      !gst_buffer_map (content, &map, GST_MAP_WRITE))
    return FALSE;
  for (guint k = 0; k < others->len; k++) {
    const SpdlOthers *own = &g_array_index (others, SpdlOthers, k);

    at += gst_buffer_extract (own->buffer, own->parts[i].offset, map.data + at,
        own->parts[i].n * size);
  }
  gst_buffer_unmap (content, &map);
  info.dims[info.rank++] = n;
  append_tensor (row, format->names[i], content, &info);
  return at == n * size;
}

static gboolean
append_lengths (const SpdlOthersFormat *format, const GArray *others, guint i,
    guint max_documents, GstBuffer *row)
{
  const GstSpdlTensorInfo info = {
    .type = GST_SPDL_TENSOR_INT32, .rank = 1, .dims = { max_documents }
  };
  g_autofree gchar *name =
      g_strconcat (format->names[i], SPDL_LENGTHS_SUFFIX, NULL);
  g_autoptr (GstBuffer) content =
      gst_spdl_buffer_try_new (max_documents * sizeof (gint32));
  GstMapInfo map;
  gint32 *lengths;

  if (!content || !gst_buffer_map (content, &map, GST_MAP_WRITE))
    return FALSE;
  lengths = (gint32 *) (gpointer) map.data;
  memset (lengths, 0, map.size);
  for (guint k = 0; k < others->len; k++)
    lengths[k] = g_array_index (others, SpdlOthers, k).parts[i].n;
  gst_buffer_unmap (content, &map);
  append_tensor (row, name, content, &info);
  return TRUE;
}

gboolean
spdl_others_append (const SpdlOthersFormat *format, const GArray *others,
    guint max_documents, GstBuffer *row)
{
  for (guint i = 0; i < format->n; i++)
    if (!append_entries (format, others, i, row) ||
        !append_lengths (format, others, i, max_documents, row))
      return FALSE;
  return TRUE;
}
