/* gst-spdl: header of an NPY file
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/array/array.h"

#include <string.h>

#include "plugins/common/bytes.h"

/* Parser for Python literals */

typedef struct {
  const gchar *at;
  const gchar *end;
} Text;

static void
skip_blanks (Text *self)
{
  while (self->at < self->end && g_ascii_isspace (*self->at))
    self->at++;
}

/* All of these skip leading whitespace. */

static gboolean
take_text (Text *self, const gchar *word)
{
  const gsize length = strlen (word);

  skip_blanks (self);
  if ((gsize) (self->end - self->at) < length ||
      memcmp (self->at, word, length) != 0)
    return FALSE;
  self->at += length;
  return TRUE;
}

/* Strings with a backslash are rejected: no valid header has any. */
static gboolean
take_string (Text *self, Text *string)
{
  gchar quote;

  skip_blanks (self);
  if (self->at == self->end || (*self->at != '\'' && *self->at != '"'))
    return FALSE;
  quote = *self->at++;
  string->at = self->at;
  while (self->at < self->end && *self->at != quote && *self->at != '\\')
    self->at++;
  string->end = self->at;
  return self->at < self->end && *self->at++ == quote;
}

/* A number that exceeds 64 bits is read as G_MAXUINT64. */
static gboolean
take_number (Text *self, guint64 *number)
{
  const gchar *begin;

  skip_blanks (self);
  begin = self->at;
  *number = 0;
  while (self->at < self->end && g_ascii_isdigit (*self->at)) {
    if (!g_uint64_checked_mul (number, *number, 10) ||
        !g_uint64_checked_add (number, *number, *self->at - '0'))
      *number = G_MAXUINT64;
    self->at++;
  }
  return self->at > begin;
}

static gboolean
is_word (const Text *self, const gchar *word)
{
  const gsize length = self->end - self->at;

  return strlen (word) == length && memcmp (self->at, word, length) == 0;
}

/* Header dict */

/* Parses a tuple of numbers. Python 2 wrote long integers with the suffix L. */
static gboolean
take_shape (Text *text, SpdlArray *self)
{
  gboolean comma = FALSE;
  guint64 number;

  if (!take_text (text, "("))
    return FALSE;
  self->rank = 0;
  while (take_number (text, &number)) {
    if (text->at < text->end && *text->at == 'L')
      text->at++;
    if (self->rank < SPDL_ARRAY_MAX_RANK)
      self->shape[self->rank] = number;
    self->rank++;
    comma = take_text (text, ",");
    if (!comma)
      break;
  }
  /* In Python, (3) is a number, not a tuple. */
  return take_text (text, ")") && (self->rank != 1 || comma);
}

typedef struct {
  Text type;
  gboolean composed; /* the type is a list of fields, not a string */
  guint n_types, n_orders, n_shapes;
} Fields;

static gboolean
take_type (Text *text, Fields *fields)
{
  skip_blanks (text);
  fields->composed =
      text->at < text->end && (*text->at == '[' || *text->at == '(');
  return fields->composed || take_string (text, &fields->type);
}

static gboolean
take_order (Text *text, SpdlArray *self)
{
  self->fortran = take_text (text, "True");
  return self->fortran || take_text (text, "False");
}

static gboolean
take_field (Text *text, SpdlArray *self, Fields *fields)
{
  Text name;

  if (!take_string (text, &name) || !take_text (text, ":"))
    return FALSE;
  if (is_word (&name, "descr"))
    return fields->n_types++ == 0 && take_type (text, fields);
  if (is_word (&name, "fortran_order"))
    return fields->n_orders++ == 0 && take_order (text, self);
  if (is_word (&name, "shape"))
    return fields->n_shapes++ == 0 && take_shape (text, self);
  return FALSE;
}

/* Parsing stops at a type with fields, which is not supported. */
static gboolean
take_dict (Text *text, SpdlArray *self, Fields *fields)
{
  if (!take_text (text, "{"))
    return FALSE;
  while (!take_text (text, "}")) {
    if (!take_field (text, self, fields) || fields->composed)
      return FALSE;
    if (take_text (text, ","))
      continue;
    if (!take_text (text, "}"))
      return FALSE;
    break;
  }
  skip_blanks (text);
  /* Each key must occur exactly once. */
  return text->at == text->end &&
         fields->n_types + fields->n_orders + fields->n_shapes == 3;
}

/* Types */

static const struct {
  const gchar *name;
  GstSpdlTensorType type;
} types[] = {
  { "b1", GST_SPDL_TENSOR_BOOL },
  { "i1", GST_SPDL_TENSOR_INT8 },
  { "u1", GST_SPDL_TENSOR_UINT8 },
  { "i2", GST_SPDL_TENSOR_INT16 },
  { "u2", GST_SPDL_TENSOR_UINT16 },
  { "i4", GST_SPDL_TENSOR_INT32 },
  { "u4", GST_SPDL_TENSOR_UINT32 },
  { "i8", GST_SPDL_TENSOR_INT64 },
  { "u8", GST_SPDL_TENSOR_UINT64 },
  { "f2", GST_SPDL_TENSOR_FLOAT16 },
  { "f4", GST_SPDL_TENSOR_FLOAT32 },
  { "f8", GST_SPDL_TENSOR_FLOAT64 },
};

/* The type of arrays of the package ml_dtypes, such as JAX's. NumPy writes
 * other types of two bytes as "|V2". */
#define BFLOAT16 "<V2"

static gboolean
read_type (SpdlArray *self, const Text *type, GError **error)
{
  const gchar foreign = G_BYTE_ORDER == G_LITTLE_ENDIAN ? '>' : '<';
  Text name = *type;
  gchar order = '=';

  if (name.at < name.end && strchr ("<>=|", *name.at))
    order = *name.at++;
  if (name.at < name.end && *name.at == 'O') {
    self->is_foreign = TRUE;
    spdl_array_set_error (error, self,
        "holds Python objects, which are not read, because unpickling them can "
        "run any code");
    return FALSE;
  }
  if (is_word (type, BFLOAT16)) {
    self->type = GST_SPDL_TENSOR_BFLOAT16;
    self->swapped = G_BYTE_ORDER == G_BIG_ENDIAN;
    return TRUE;
  }
  for (guint i = 0; i < G_N_ELEMENTS (types); i++) {
    if (!is_word (&name, types[i].name))
      continue;
    self->type = types[i].type;
    self->swapped =
        order == foreign && gst_spdl_tensor_type_get_size (self->type) > 1;
    return TRUE;
  }
  spdl_array_refuse_type (error, self, type->at, type->end - type->at);
  return FALSE;
}

/* File */

gboolean
spdl_npy_is_npy (const guint8 *data, gsize size)
{
  return size >= 6 && memcmp (data, "\x93NUMPY", 6) == 0;
}

/* Locates the header text, limited to the bytes that are present. */
static gboolean
find_text (const SpdlArray *self, const guint8 *data, gsize size, Text *text,
    GError **error)
{
  const guint version = size >= 12 ? data[6] : 0;
  const gsize begin = version == 1 ? 10 : 12;
  gsize length;

  if (size < 12) {
    spdl_array_set_error (error, self, "ends within its header");
    return FALSE;
  }
  if (version < 1 || version > 3 || data[7] != 0) {
    spdl_array_set_error (error, self,
        "has a header of version %u.%u; versions 1.0, 2.0 and 3.0 are "
        "supported",
        data[6], data[7]);
    return FALSE;
  }
  length =
      version == 1 ? spdl_read_16_le (data + 8) : spdl_read_32_le (data + 8);
  if (length > size - begin) {
    spdl_array_set_error (error, self, "ends within its header");
    return FALSE;
  }
  text->at = (const gchar *) data + begin;
  text->end = text->at + length;
  return TRUE;
}

static gboolean
read_text (SpdlArray *self, Text text, GError **error)
{
  Fields fields = { .composed = FALSE };

  if (take_dict (&text, self, &fields))
    return read_type (self, &fields.type, error);
  self->is_foreign = fields.composed;
  if (fields.composed)
    spdl_array_set_error (
        error, self, "has a structured type, which cannot be a tensor");
  else
    spdl_array_set_error (error, self,
        "has a header that is not a dict of descr, fortran_order and shape");
  return FALSE;
}

gsize
spdl_npy_read (SpdlArray *self, const guint8 *data, gsize size, GError **error)
{
  const gchar *begin = (const gchar *) data;
  gsize wanted, found;
  Text text;

  if (!spdl_npy_is_npy (data, size)) {
    spdl_array_set_error (error, self, "does not start with the NPY signature");
    return 0;
  }
  if (!find_text (self, data, size, &text, error) ||
      !read_text (self, text, error) ||
      !spdl_array_get_size (self, &wanted, error))
    return 0;
  found = size - (text.end - begin);
  if (found == wanted)
    return text.end - begin;
  spdl_array_set_error (error, self,
      "has %" G_GSIZE_FORMAT
      " bytes of data, but its shape needs %" G_GSIZE_FORMAT "%s",
      found, wanted,
      found < wanted ? "" : ": store several arrays in one file as NPZ");
  return 0;
}
