/* gst-spdl: arrays of a safetensors file
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/array/arrays.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/common/bytes.h"

/* Maximum header size in bytes: the limit of the format, and a lower one here,
 * because parsed JSON may take 20 times its size in memory, and files have few
 * arrays. */
#define MAX_HEADER 100000000
#define MAX_READ_HEADER (4 << 20)

#define METADATA "__metadata__"

/* An array in the header. */
typedef struct {
  SpdlArray array;
  gchar *name; /* owned; the same pointer as array.name */
  guint64 begin, end;
  gboolean is_left_out;
} Entry;

typedef struct {
  GArray *entries; /* Entry */
} Header;

static void
header_clear (Header *self)
{
  for (guint i = 0; i < self->entries->len; i++)
    g_free (g_array_index (self->entries, Entry, i).name);
  g_array_unref (self->entries);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Header, header_clear)

static const struct {
  const gchar *name;
  GstSpdlTensorType type;
} types[] = {
  { "BOOL", GST_SPDL_TENSOR_BOOL },
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
  { "BF16", GST_SPDL_TENSOR_BFLOAT16 },
};

/* Parsing of the header. All functions return FALSE if it is invalid, with
 * @error set where there is a more specific message. */

static gboolean
read_type (const json_t *value, SpdlArray *array, GError **error)
{
  const gchar *name = json_string_value (value);

  if (!name)
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
read_number (const json_t *value, guint64 *number)
{
  const json_int_t integer = json_integer_value (value);

  *number = integer;
  return json_is_integer (value) && integer >= 0;
}

static gboolean
read_shape (const json_t *value, SpdlArray *array)
{
  guint64 number;

  array->rank = json_array_size (value);
  for (gsize i = 0; i < json_array_size (value); i++) {
    if (!read_number (json_array_get (value, i), &number))
      return FALSE;
    if (i < SPDL_ARRAY_MAX_RANK)
      array->shape[i] = number;
  }
  return json_is_array (value);
}

static gboolean
read_place (const json_t *value, Entry *entry)
{
  const json_t *offsets = json_object_get (value, "data_offsets");

  return read_shape (json_object_get (value, "shape"), &entry->array) &&
         json_array_size (offsets) == 2 &&
         read_number (json_array_get (offsets, 0), &entry->begin) &&
         read_number (json_array_get (offsets, 1), &entry->end);
}

static gboolean
read_entry (const json_t *value, Entry *entry, GError **error)
{
  return json_object_size (value) == 3 &&
         read_type (json_object_get (value, "dtype"), &entry->array, error) &&
         read_place (value, entry);
}

/* Metadata is an object whose values are strings. */
static gboolean
check_metadata (json_t *value)
{
  const gchar *name;
  json_t *text;

  json_object_foreach (
      value, name, text) if (!json_is_string (text)) return FALSE;
  return json_is_object (value);
}

static gboolean
read_members (SpdlArrays *arrays, json_t *root, Header *header, GError **error)
{
  const gchar *name;
  json_t *value;

  json_object_foreach (root, name, value)
  {
    Entry entry = { .name = NULL };
    gboolean ok;

    if (g_str_equal (name, METADATA)) {
      if (!check_metadata (value))
        return FALSE;
      continue;
    }
    entry.array.name = entry.name = g_strdup (name);
    entry.is_left_out = !spdl_arrays_wants (arrays, name);
    ok = read_entry (value, &entry, error);
    /* The place of an array of another type is needed to check those of the
     * others. */
    if (!ok && entry.array.is_foreign &&
        (entry.is_left_out || spdl_arrays_leave_out (arrays, error))) {
      g_clear_error (error);
      entry.is_left_out = ok = read_place (value, &entry);
    }
    g_array_append_val (header->entries, entry);
    if (!ok)
      return FALSE;
  }
  return json_is_object (root);
}

/* Jansson quotes the text that it failed to parse, which may be invalid
 * UTF-8. */
static void
set_wrong (const json_error_t *wrong, GError **error)
{
  g_autofree gchar *text = g_utf8_make_valid (wrong->text, -1);

  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "Corrupt safetensors file: the header is invalid at byte %d: %s",
      wrong->position + 8, text);
}

static gboolean
read_header (SpdlArrays *arrays, Header *header, const guint8 *data, gsize size,
    GError **error)
{
  json_error_t wrong;
  json_t *root =
      json_loadb ((const gchar *) data, size, JSON_REJECT_DUPLICATES, &wrong);
  const gboolean ok = root && read_members (arrays, root, header, error);

  if (!root && json_error_code (&wrong) == json_error_out_of_memory)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
        "Not enough memory for the safetensors header of %" G_GSIZE_FORMAT
        " bytes",
        size);
  else if (!root)
    set_wrong (&wrong, error);
  else if (!ok && !*error)
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
        "Corrupt safetensors file: the header must give dtype, shape and "
        "data_offsets of each array");
  json_decref (root);
  return ok;
}

/* Layout of the data */

static gint
compare_places (gconstpointer a, gconstpointer b)
{
  const Entry *one = a, *other = b;

  if (one->begin != other->begin)
    return one->begin < other->begin ? -1 : 1;
  /* An empty array comes before the one that begins at the same byte. */
  return one->end < other->end ? -1 : one->end > other->end;
}

/* Checks that the arrays are contiguous, do not overlap, and cover all of the
 * data. */
static gboolean
check_places (
    SpdlArrays *arrays, const Header *header, gsize n_bytes, GError **error)
{
  guint64 at = 0;

  for (guint i = 0; i < header->entries->len; i++) {
    Entry *entry = &g_array_index (header->entries, Entry, i);
    GError *why = NULL;
    gsize size = 0;
    const gboolean is_known = !entry->array.is_foreign &&
                              spdl_array_get_size (&entry->array, &size, &why);

    if (why && spdl_array_is_unfit (&entry->array) &&
        (entry->is_left_out || spdl_arrays_leave_out (arrays, &why))) {
      g_clear_error (&why);
      entry->is_left_out = TRUE;
    }
    if (why) {
      g_propagate_error (error, why);
      return FALSE;
    }
    /* Only the producer knows the size of other types. */
    if (!is_known)
      size = MAX (entry->end, at) - at;
    if (entry->begin != at || entry->end < at || entry->end - at != size) {
      spdl_array_set_error (error, &entry->array,
          "has the data offsets %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT
          ", but needs %" G_GSIZE_FORMAT " bytes from %" G_GUINT64_FORMAT,
          entry->begin, entry->end, size, at);
      return FALSE;
    }
    if (size > n_bytes - at) {
      spdl_array_set_error (error, &entry->array, "is cut off");
      return FALSE;
    }
    at = entry->end;
  }
  if (at == n_bytes)
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "Corrupt safetensors file: %" G_GUINT64_FORMAT " bytes follow the data",
      n_bytes - at);
  return FALSE;
}

gboolean
spdl_safetensors_is_safetensors (const guint8 *data, gsize size)
{
  /* No other known format has a small 64-bit length followed by the beginning
   * of a JSON object. */
  return size >= 10 && spdl_read_64_le (data) <= MAX_HEADER && data[8] == '{' &&
         memchr ("\" }\t\r\n", data[9], 6);
}

gboolean
spdl_safetensors_read (SpdlArrays *arrays, const GstMapInfo *in, GError **error)
{
  const SpdlArraysPlace place = { in->memory, in->data };
  GError *reason = NULL;
  const guint64 length = spdl_read_64_le (in->data);
  g_auto (Header) header = { g_array_new (FALSE, FALSE, sizeof (Entry)) };
  const guint8 *data;

  if (length > in->size - 8) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
        "Corrupt safetensors file: it ends within its header");
    return FALSE;
  }
  if (length > MAX_READ_HEADER) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
        "The safetensors header has %" G_GUINT64_FORMAT
        " bytes, more than the limit of %u",
        length, MAX_READ_HEADER);
    return FALSE;
  }
  data = in->data + 8 + length;
  if (!read_header (arrays, &header, in->data + 8, length, &reason)) {
    g_propagate_error (error, reason);
    return FALSE;
  }
  g_array_sort (header.entries, compare_places);
  if (!check_places (arrays, &header, in->size - 8 - length, error))
    return FALSE;
  for (guint i = 0; i < header.entries->len; i++) {
    const Entry *entry = &g_array_index (header.entries, Entry, i);

    if (!entry->is_left_out && !spdl_arrays_add (arrays, &entry->array, &place,
                                   data + entry->begin, error))
      return FALSE;
  }
  return TRUE;
}
