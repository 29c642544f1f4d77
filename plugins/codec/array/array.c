/* gst-spdl: array of a file, as a tensor
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/array/array.h"

#include <string.h>

/* Maximum number of characters quoted from a file in a message. */
#define MAX_QUOTED 60

/* Messages */

gchar *
spdl_array_quote (const gchar *text, gsize length)
{
  g_autofree gchar *valid = g_utf8_make_valid (text, MIN (length, 1024));
  GString *quoted = g_string_new ("\"");
  guint n = 0;

  for (const gchar *c = valid; *c && n < MAX_QUOTED; c = g_utf8_next_char (c)) {
    const gunichar code = g_utf8_get_char (c);

    g_string_append_unichar (quoted, g_unichar_isprint (code) ? code : '?');
    n++;
  }
  g_string_append (quoted, n == MAX_QUOTED ? "...\"" : "\"");
  return g_string_free (quoted, FALSE);
}

void
spdl_array_set_error (
    GError **error, const SpdlArray *self, const gchar *format, ...)
{
  g_autofree gchar *text = NULL, *name = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  if (self->name)
    name = spdl_array_quote (self->name, strlen (self->name));
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE, "Array%s%s %s",
      name ? " " : "", name ? name : "", text);
}

void
spdl_array_set_no_memory (GError **error, const SpdlArray *self, guint64 size)
{
  g_autofree gchar *name =
      self->name ? spdl_array_quote (self->name, strlen (self->name)) : NULL;

  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
      "Not enough memory for the %" G_GUINT64_FORMAT " bytes of array%s%s",
      size, name ? " " : "", name ? name : "");
}

void
spdl_array_refuse_type (
    GError **error, SpdlArray *self, const gchar *type, gsize length)
{
  g_autofree gchar *quoted = spdl_array_quote (type, length);

  self->is_foreign = TRUE;
  spdl_array_set_error (error, self,
      "has the unsupported type %s: use bool, int8 to int64, uint8 to uint64, "
      "float16 to float64 or bfloat16",
      quoted);
}

static gchar *
write_shape (const SpdlArray *self)
{
  GString *text = g_string_new ("(");

  for (guint i = 0; i < self->rank; i++)
    g_string_append_printf (text,
        i == 0 ? "%" G_GUINT64_FORMAT : ", %" G_GUINT64_FORMAT, self->shape[i]);
  g_string_append (text, self->rank == 1 ? ",)" : ")");
  return g_string_free (text, FALSE);
}

/* Shapes */

gboolean
spdl_array_get_size (const SpdlArray *self, gsize *size, GError **error)
{
  g_autofree gchar *shape = NULL;
  guint64 product = gst_spdl_tensor_type_get_size (self->type);
  gboolean fits = TRUE;

  if (self->rank > SPDL_ARRAY_MAX_RANK) {
    spdl_array_set_error (error, self,
        "has %u dimensions, more than the limit of %d, which leaves one for "
        "the batch",
        self->rank, SPDL_ARRAY_MAX_RANK);
    return FALSE;
  }
  for (guint i = 0; i < self->rank; i++)
    fits = fits && self->shape[i] <= G_MAXUINT32 &&
           g_uint64_checked_mul (&product, product, self->shape[i]);
  *size = product;
  if (fits && product <= G_MAXSSIZE)
    return TRUE;
  shape = write_shape (self);
  spdl_array_set_error (error, self,
      "has the shape %s, which is larger than a tensor can be", shape);
  return FALSE;
}

gboolean
spdl_array_is_unfit (const SpdlArray *self)
{
  return self->is_foreign || self->rank > SPDL_ARRAY_MAX_RANK;
}

void
spdl_array_describe (const SpdlArray *self, GstSpdlTensorsInfo *info)
{
  guint32 dims[SPDL_ARRAY_MAX_RANK];

  for (guint i = 0; i < self->rank; i++)
    dims[i] = self->shape[self->rank - 1 - i];
  gst_spdl_tensors_info_add (info, self->type, self->rank, dims);
}

/* Data */

/* Returns whether elements must be reordered: column-major order differs from
 * row-major order. */
static gboolean
must_reorder (const SpdlArray *self)
{
  guint n = 0;

  for (guint i = 0; i < self->rank; i++)
    n += self->shape[i] > 1;
  return self->fortran && n > 1;
}

gboolean
spdl_array_is_plain (const SpdlArray *self, gconstpointer data)
{
  const gsize size = gst_spdl_tensor_type_get_size (self->type);

  return !self->swapped && !must_reorder (self) && (gsize) data % size == 0;
}

/* Copies @n elements that lie @step bytes apart to consecutive ones. */
static void
gather_elements (const guint8 *in, gsize step, gsize n, guint8 *out, gsize size)
{
#define GATHER(type)            \
  for (gsize i = 0; i < n; i++) \
  memcpy (out + i * sizeof (type), in + i * step, sizeof (type))

  switch (size) {
    case 1:
      GATHER (guint8);
      break;
    case 2:
      GATHER (guint16);
      break;
    case 4:
      GATHER (guint32);
      break;
    default:
      GATHER (guint64);
      break;
  }
#undef GATHER
}

/* Converts column-major (Fortran) to row-major order, one row of the last
 * dimension at a time. */
static void
reorder_elements (
    const SpdlArray *self, const guint8 *in, guint8 *out, gsize n_bytes)
{
  const gsize size = gst_spdl_tensor_type_get_size (self->type);
  const guint last = self->rank - 1;
  const gsize row = self->shape[last] * size;
  gsize steps[SPDL_ARRAY_MAX_RANK], at[SPDL_ARRAY_MAX_RANK] = { 0 };
  const guint8 *from = in;

  steps[0] = size;
  for (guint i = 1; i < self->rank; i++)
    steps[i] = steps[i - 1] * self->shape[i - 1];
  for (guint8 *end = out + n_bytes; out < end; out += row) {
    gather_elements (from, steps[last], self->shape[last], out, size);
    for (guint i = last; i-- > 0;) {
      from += steps[i];
      if (++at[i] < self->shape[i])
        break;
      from -= steps[i] * self->shape[i];
      at[i] = 0;
    }
  }
}

static void
swap_bytes (guint8 *data, gsize n_bytes, gsize size)
{
  if (size == 2)
    for (guint16 *p = (guint16 *) data; (guint8 *) p < data + n_bytes; p++)
      *p = GUINT16_SWAP_LE_BE (*p);
  else if (size == 4)
    for (guint32 *p = (guint32 *) data; (guint8 *) p < data + n_bytes; p++)
      *p = GUINT32_SWAP_LE_BE (*p);
  else if (size == 8)
    for (guint64 *p = (guint64 *) data; (guint8 *) p < data + n_bytes; p++)
      *p = GUINT64_SWAP_LE_BE (*p);
}

void
spdl_array_write (const SpdlArray *self, const guint8 *in, guint8 *out)
{
  const gsize size = gst_spdl_tensor_type_get_size (self->type);
  gsize n_bytes;

  if (!spdl_array_get_size (self, &n_bytes, NULL) || n_bytes == 0)
    return;
  if (must_reorder (self))
    reorder_elements (self, in, out, n_bytes);
  else
    memcpy (out, in, n_bytes);
  if (self->swapped)
    swap_bytes (out, n_bytes, size);
}
