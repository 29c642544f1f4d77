/* gst-spdl: the arrays of a safetensors file
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlsafetensors.h"

#include <stdlib.h>
#include <string.h>

#include "gst/spdl/engine/spdlbytes.h"
#include "spdljson.h"

/* Bytes of a header: the format's own limit. */
#define MAX_HEADER 100000000

#define METADATA "__metadata__"

/* What the header says. */
typedef struct {
  SpdlArray array;
  gchar *name; /* owned; also the array's */
  guint64 begin, end;
} Entry;

typedef struct {
  Entry entries[GST_SPDL_MAX_TENSORS];
  guint n_entries;
} Header;

static void
header_clear (Header *self)
{
  for (guint i = 0; i < self->n_entries; i++)
    g_free (self->entries[i].name);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Header, header_clear)

static const struct {
  const gchar *name;
  GstSpdlTensorType type;
} types[] = {
  { "BOOL", GST_SPDL_TENSOR_UINT8 },
  { "I8", GST_SPDL_TENSOR_INT8 },
  { "U8", GST_SPDL_TENSOR_UINT8 },
  { "I16", GST_SPDL_TENSOR_INT16 },
  { "U16", GST_SPDL_TENSOR_UINT16 },
  { "I32", GST_SPDL_TENSOR_INT32 },
  { "U32", GST_SPDL_TENSOR_UINT32 },
  { "I64", GST_SPDL_TENSOR_INT64 },
  { "U64", GST_SPDL_TENSOR_UINT64 },
  { "F16", GST_SPDL_TENSOR_FLOAT16 },
  { "F32", GST_SPDL_TENSOR_FLOAT32 },
  { "F64", GST_SPDL_TENSOR_FLOAT64 },
};

/* Reading the header. All return FALSE where it is not as it should be; those
 * that know better set @error. */

static gboolean
take_type (SpdlJson *json, SpdlArray *array, GError **error)
{
  g_autofree gchar *name = NULL;

  if (!spdl_json_take_string (json, &name))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (types); i++) {
    if (!g_str_equal (name, types[i].name))
      continue;
    array->type = types[i].type;
    /* Files are little-endian. */
    array->swapped = G_BYTE_ORDER == G_BIG_ENDIAN &&
                     gst_spdl_tensor_type_get_size (array->type) > 1;
    return TRUE;
  }
  spdl_array_refuse_type (error, array, name, strlen (name));
  return FALSE;
}

static gboolean
take_shape (SpdlJson *json, SpdlArray *array)
{
  guint64 number;

  if (!spdl_json_take (json, '['))
    return FALSE;
  array->rank = 0;
  if (spdl_json_take (json, ']'))
    return TRUE;
  do {
    if (!spdl_json_take_number (json, &number))
      return FALSE;
    if (array->rank < SPDL_ARRAY_MAX_RANK)
      array->shape[array->rank] = number;
    array->rank++;
  } while (spdl_json_take (json, ','));
  return spdl_json_take (json, ']');
}

static gboolean
take_offsets (SpdlJson *json, Entry *entry)
{
  return spdl_json_take (json, '[') &&
         spdl_json_take_number (json, &entry->begin) &&
         spdl_json_take (json, ',') &&
         spdl_json_take_number (json, &entry->end) &&
         spdl_json_take (json, ']');
}

static gboolean
take_entry (SpdlJson *json, Entry *entry, GError **error)
{
  guint n_types = 0, n_shapes = 0, n_offsets = 0;

  if (!spdl_json_take (json, '{'))
    return FALSE;
  do {
    g_autofree gchar *key = NULL;
    gboolean ok = FALSE;

    if (!spdl_json_take_string (json, &key) || !spdl_json_take (json, ':'))
      return FALSE;
    if (g_str_equal (key, "dtype"))
      ok = n_types++ == 0 && take_type (json, &entry->array, error);
    else if (g_str_equal (key, "shape"))
      ok = n_shapes++ == 0 && take_shape (json, &entry->array);
    else if (g_str_equal (key, "data_offsets"))
      ok = n_offsets++ == 0 && take_offsets (json, entry);
    if (!ok)
      return FALSE;
  } while (spdl_json_take (json, ','));
  return spdl_json_take (json, '}') && n_types + n_shapes + n_offsets == 3;
}

/* Strings by their names. */
static gboolean
skip_metadata (SpdlJson *json)
{
  if (!spdl_json_take (json, '{'))
    return FALSE;
  if (spdl_json_take (json, '}'))
    return TRUE;
  do {
    if (!spdl_json_take_string (json, NULL) || !spdl_json_take (json, ':') ||
        !spdl_json_take_string (json, NULL))
      return FALSE;
  } while (spdl_json_take (json, ','));
  return spdl_json_take (json, '}');
}

static gboolean
take_member (SpdlJson *json, Header *header, GError **error)
{
  g_autofree gchar *name = NULL;
  Entry *entry;

  if (!spdl_json_take_string (json, &name) || !spdl_json_take (json, ':'))
    return FALSE;
  if (g_str_equal (name, METADATA))
    return skip_metadata (json);
  if (!spdl_arrays_check_number (header->n_entries + 1, error))
    return FALSE;
  entry = &header->entries[header->n_entries++];
  entry->array.name = entry->name = g_steal_pointer (&name);
  return take_entry (json, entry, error);
}

static gboolean
take_header (SpdlJson *json, Header *header, GError **error)
{
  if (!spdl_json_take (json, '{'))
    return FALSE;
  if (!spdl_json_take (json, '}')) {
    do {
      if (!take_member (json, header, error))
        return FALSE;
    } while (spdl_json_take (json, ','));
    if (!spdl_json_take (json, '}'))
      return FALSE;
  }
  return spdl_json_is_end (json);
}

static gboolean
read_header (Header *header, const guint8 *data, gsize size, GError **error)
{
  SpdlJson json = { (const gchar *) data, (const gchar *) data + size };
  GError *reason = NULL;

  if (g_utf8_validate (json.at, size, NULL) &&
      take_header (&json, header, &reason))
    return TRUE;
  if (json.no_memory)
    reason = g_error_new (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
        "There is no memory for a name in its header");
  else if (!reason)
    reason = g_error_new (GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
        "It is a broken safetensors file: its header is wrong at byte "
        "%" G_GSIZE_FORMAT,
        (gsize) (json.at - (const gchar *) data) + 8);
  g_propagate_error (error, reason);
  return FALSE;
}

/* Reading the data */

static gint
compare_places (gconstpointer a, gconstpointer b)
{
  const Entry *one = a, *other = b;

  return one->begin < other->begin ? -1 : one->begin > other->begin;
}

/* Data lies one behind the other, none of it twice, and none is left over. */
static gboolean
check_places (const Header *header, gsize n_bytes, GError **error)
{
  guint64 at = 0;

  for (guint i = 0; i < header->n_entries; i++) {
    const Entry *entry = &header->entries[i];
    const gsize size = spdl_array_get_size (&entry->array, error);

    if (size == 0)
      return FALSE;
    if (entry->begin != at || entry->end < at || entry->end - at != size) {
      spdl_array_set_error (error, &entry->array,
          "is said to lie from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT
          ", but has %" G_GSIZE_FORMAT
          " bytes that begin at %" G_GUINT64_FORMAT,
          entry->begin, entry->end, size, at);
      return FALSE;
    }
    if (size > n_bytes - at) {
      spdl_array_set_error (error, &entry->array, "ends before its data does");
      return FALSE;
    }
    at = entry->end;
  }
  if (at == n_bytes)
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "It is a broken safetensors file: it has %" G_GUINT64_FORMAT
      " bytes behind its data",
      n_bytes - at);
  return FALSE;
}

gboolean
spdl_safetensors_is_safetensors (const guint8 *data, gsize size)
{
  /* Nothing else has a small number and a brace there, behind which a name, a
   * blank or the other brace is. */
  return size >= 10 && spdl_read_64_le (data) <= MAX_HEADER && data[8] == '{' &&
         memchr ("\" }\t\r\n", data[9], 6);
}

gboolean
spdl_safetensors_read (SpdlArrays *arrays, const GstMapInfo *in, GError **error)
{
  const SpdlArraysPlace place = { in->memory, in->data };
  const guint64 length = spdl_read_64_le (in->data);
  g_auto (Header) header = { .n_entries = 0 };
  const guint8 *data;

  if (length > in->size - 8) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
        "It is a broken safetensors file: it ends within its header");
    return FALSE;
  }
  data = in->data + 8 + length;
  if (!read_header (&header, in->data + 8, length, error) ||
      !spdl_arrays_check_number (header.n_entries, error))
    return FALSE;
  qsort (header.entries, header.n_entries, sizeof (Entry), compare_places);
  if (!check_places (&header, in->size - 8 - length, error))
    return FALSE;
  for (guint i = 0; i < header.n_entries; i++)
    if (!spdl_arrays_add (arrays, &header.entries[i].array, &place,
            data + header.entries[i].begin, error))
      return FALSE;
  return TRUE;
}
