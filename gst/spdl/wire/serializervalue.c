/* gst-spdl: serialization of structures
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/wire/serializer.h"

#include "gst/spdl/common/shapes.h"

/* GStreamer's text format is not used, because it does not support GError and
 * its parser is not hardened against invalid data. A structure is its name, the
 * number of its fields, and for each field its name, kind and value. */

typedef enum {
  KIND_BOOLEAN,
  KIND_INT,
  KIND_UINT,
  KIND_INT64,
  KIND_UINT64,
  KIND_DOUBLE,
  KIND_STRING,
  KIND_STRUCTURE,
  KIND_ARRAY,
  KIND_LIST,
  KIND_ERROR,
  KIND_FRACTION,
  KIND_BITMASK,
  KIND_BUFFER, /* the buffer's bytes */
  KIND_ENUM,   /* type name and value */
  KIND_SHAPES,
  N_KINDS
} Kind;

#define MAX_DEPTH 16

/* Writers */

static gboolean
find_kind (const GValue *value, Kind *kind)
{
  const GType type = G_VALUE_TYPE (value);
  const struct {
    GType type;
    Kind kind;
  } kinds[] = { { G_TYPE_BOOLEAN, KIND_BOOLEAN }, { G_TYPE_INT, KIND_INT },
    { G_TYPE_UINT, KIND_UINT }, { G_TYPE_INT64, KIND_INT64 },
    { G_TYPE_UINT64, KIND_UINT64 }, { G_TYPE_DOUBLE, KIND_DOUBLE },
    { G_TYPE_STRING, KIND_STRING }, { GST_TYPE_STRUCTURE, KIND_STRUCTURE },
    { GST_TYPE_ARRAY, KIND_ARRAY }, { GST_TYPE_LIST, KIND_LIST },
    { G_TYPE_ERROR, KIND_ERROR }, { GST_TYPE_FRACTION, KIND_FRACTION },
    { GST_TYPE_BITMASK, KIND_BITMASK }, { GST_TYPE_BUFFER, KIND_BUFFER },
    { SPDL_TYPE_SHAPES, KIND_SHAPES } };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (type == kinds[i].type) {
      *kind = kinds[i].kind;
      /* A NULL boxed value cannot be serialized. */
      return !G_VALUE_HOLDS_BOXED (value) || g_value_get_boxed (value);
    }
  *kind = KIND_ENUM;
  return G_TYPE_IS_ENUM (type);
}

static void put_value (GByteArray *bytes, const GValue *value, Kind kind);

typedef guint (*GetSize) (const GValue *value);
typedef const GValue *(*GetValue) (const GValue *value, guint i);

static void
put_values (GByteArray *bytes, const GValue *value, GetSize get_size,
    GetValue get_value)
{
  const guint at = bytes->len, size = get_size (value);
  guint32 n = 0;
  Kind kind;

  spdl_put_u32 (bytes, 0);
  for (guint i = 0; i < size; i++) {
    const GValue *element = get_value (value, i);

    if (!find_kind (element, &kind))
      continue;
    put_value (bytes, element, kind);
    n++;
  }
  spdl_set_u32 (bytes, at, n);
}

static void
put_buffer (GByteArray *bytes, GstBuffer *buffer)
{
  GstMapInfo map = GST_MAP_INFO_INIT;
  const gboolean mapped = gst_buffer_map (buffer, &map, GST_MAP_READ);

  spdl_put_u32 (bytes, map.size);
  spdl_put (bytes, map.data, map.size);
  if (mapped)
    gst_buffer_unmap (buffer, &map);
}

static void
put_shapes (GByteArray *bytes, const SpdlShapes *shapes)
{
  g_autoptr (GstStructure) s = spdl_shapes_to_structure (shapes);

  spdl_put_structure (bytes, s);
}

static void
put_value (GByteArray *bytes, const GValue *value, Kind kind)
{
  double number;

  spdl_put_u32 (bytes, kind);
  switch (kind) {
    case KIND_BOOLEAN:
      spdl_put_u32 (bytes, g_value_get_boolean (value));
      break;
    case KIND_INT:
      spdl_put_u32 (bytes, g_value_get_int (value));
      break;
    case KIND_UINT:
      spdl_put_u32 (bytes, g_value_get_uint (value));
      break;
    case KIND_INT64:
      spdl_put_u64 (bytes, g_value_get_int64 (value));
      break;
    case KIND_UINT64:
      spdl_put_u64 (bytes, g_value_get_uint64 (value));
      break;
    case KIND_DOUBLE:
      number = g_value_get_double (value);
      spdl_put (bytes, &number, sizeof number);
      break;
    case KIND_STRING:
      spdl_put_string (bytes, g_value_get_string (value));
      break;
    case KIND_STRUCTURE:
      spdl_put_structure (bytes, g_value_get_boxed (value));
      break;
    case KIND_ARRAY:
      put_values (
          bytes, value, gst_value_array_get_size, gst_value_array_get_value);
      break;
    case KIND_LIST:
      put_values (
          bytes, value, gst_value_list_get_size, gst_value_list_get_value);
      break;
    case KIND_ERROR:
      spdl_put_error (bytes, g_value_get_boxed (value));
      break;
    case KIND_FRACTION:
      spdl_put_u32 (bytes, gst_value_get_fraction_numerator (value));
      spdl_put_u32 (bytes, gst_value_get_fraction_denominator (value));
      break;
    case KIND_BITMASK:
      spdl_put_u64 (bytes, gst_value_get_bitmask (value));
      break;
    case KIND_BUFFER:
      put_buffer (bytes, gst_value_get_buffer (value));
      break;
    case KIND_SHAPES:
      put_shapes (bytes, g_value_get_boxed (value));
      break;
    default:
      spdl_put_string (bytes, G_VALUE_TYPE_NAME (value));
      spdl_put_u32 (bytes, g_value_get_enum (value));
      break;
  }
}

void
spdl_put_structure (GByteArray *bytes, const GstStructure *s)
{
  const gint size = gst_structure_n_fields (s);
  guint at;
  guint32 n = 0;
  Kind kind;

  spdl_put_string (bytes, gst_structure_get_name (s));
  at = bytes->len;
  spdl_put_u32 (bytes, 0);
  for (gint i = 0; i < size; i++) {
    const gchar *name = gst_structure_nth_field_name (s, i);
    const GValue *value = gst_structure_get_value (s, name);

    if (!find_kind (value, &kind))
      continue;
    spdl_put_string (bytes, name);
    put_value (bytes, value, kind);
    n++;
  }
  spdl_set_u32 (bytes, at, n);
}

/* Readers */

static GstStructure *get_structure (SpdlPayload *self, guint depth);
static gboolean get_value (SpdlPayload *self, GValue *value, guint depth);

/* Returns the type of the innermost elements of nested arrays or lists,
 * which GStreamer requires to be uniform; G_TYPE_INVALID if the first one is
 * empty. */
static GType
get_basic_type (const GValue *value)
{
  while (GST_VALUE_HOLDS_ARRAY (value) || GST_VALUE_HOLDS_LIST (value)) {
    const gboolean is_array = GST_VALUE_HOLDS_ARRAY (value);
    const guint n = is_array ? gst_value_array_get_size (value)
                             : gst_value_list_get_size (value);

    if (n == 0)
      return G_TYPE_INVALID;
    value = is_array ? gst_value_array_get_value (value, 0)
                     : gst_value_list_get_value (value, 0);
  }
  return G_VALUE_TYPE (value);
}

static gboolean
fits_range (const GValue *values, const GValue *element)
{
  const GType type = get_basic_type (values);
  const GType other = get_basic_type (element);

  return type == G_TYPE_INVALID || other == G_TYPE_INVALID || type == other;
}

/* All elements of an array must have the same type, otherwise GStreamer emits a
 * warning. */
static void
get_values (SpdlPayload *self, GValue *value, void (*take) (GValue *, GValue *),
    guint depth)
{
  const guint32 n = spdl_get_u32 (self);
  GType type = G_TYPE_INVALID;

  for (guint32 i = 0; i < n; i++) {
    GValue element = G_VALUE_INIT;

    if (!get_value (self, &element, depth))
      return;
    if (i == 0)
      type = G_VALUE_TYPE (&element);
    if (type != G_VALUE_TYPE (&element) || !fits_range (value, &element)) {
      self->broken = TRUE;
      g_value_unset (&element);
      return;
    }
    take (value, &element);
  }
}

static void
get_enum (SpdlPayload *self, GValue *value)
{
  g_autofree gchar *name = spdl_get_string (self);
  const gint number = spdl_get_u32 (self);
  const GType type = name ? g_type_from_name (name) : G_TYPE_INVALID;

  /* Enum types of plugins that only the worker has loaded become integers. */
  if (!G_TYPE_IS_ENUM (type) || G_TYPE_IS_ABSTRACT (type)) {
    g_value_init (value, G_TYPE_INT);
    g_value_set_int (value, number);
    return;
  }
  g_value_init (value, type);
  g_value_set_enum (value, number);
}

static void
get_boxed (SpdlPayload *self, GValue *value, GType type, gpointer boxed)
{
  g_value_init (value, type);
  g_value_take_boxed (value, boxed);
}

static void
get_number (SpdlPayload *self, GValue *value, Kind kind)
{
  const guint8 *at;
  double number = 0;

  switch (kind) {
    case KIND_BOOLEAN:
      g_value_init (value, G_TYPE_BOOLEAN);
      g_value_set_boolean (value, spdl_get_u32 (self) != 0);
      break;
    case KIND_INT:
      g_value_init (value, G_TYPE_INT);
      g_value_set_int (value, spdl_get_u32 (self));
      break;
    case KIND_UINT:
      g_value_init (value, G_TYPE_UINT);
      g_value_set_uint (value, spdl_get_u32 (self));
      break;
    case KIND_INT64:
      g_value_init (value, G_TYPE_INT64);
      g_value_set_int64 (value, spdl_get_u64 (self));
      break;
    case KIND_UINT64:
      g_value_init (value, G_TYPE_UINT64);
      g_value_set_uint64 (value, spdl_get_u64 (self));
      break;
    default:
      at = spdl_get (self, sizeof number);
      if (at)
        memcpy (&number, at, sizeof number);
      g_value_init (value, G_TYPE_DOUBLE);
      g_value_set_double (value, number);
      break;
  }
}

static void
get_fraction (SpdlPayload *self, GValue *value)
{
  const gint numerator = spdl_get_u32 (self);
  const gint denominator = spdl_get_u32 (self);

  g_value_init (value, GST_TYPE_FRACTION);
  self->broken |= denominator <= 0 || numerator == G_MININT;
  if (!self->broken)
    gst_value_set_fraction (value, numerator, denominator);
}

static void
get_buffer (SpdlPayload *self, GValue *value)
{
  const guint32 size = spdl_get_u32 (self);
  const guint8 *at = spdl_get (self, size);

  g_value_init (value, GST_TYPE_BUFFER);
  if (at)
    gst_value_take_buffer (
        value, size > 0 ? gst_buffer_new_memdup (at, size) : gst_buffer_new ());
}

static SpdlShapes *
get_shapes (SpdlPayload *self, guint depth)
{
  g_autoptr (GstStructure) s = get_structure (self, depth);
  SpdlShapes *shapes = s ? spdl_shapes_new_from_structure (s) : NULL;

  self->broken |= !shapes;
  return shapes;
}

/* Returns FALSE, with @value unset, if the data is invalid. */
static gboolean
get_value (SpdlPayload *self, GValue *value, guint depth)
{
  const guint32 kind = spdl_get_u32 (self);

  self->broken |= kind >= N_KINDS || depth > MAX_DEPTH;
  if (self->broken)
    return FALSE;
  switch ((Kind) kind) {
    case KIND_STRING:
      g_value_init (value, G_TYPE_STRING);
      g_value_take_string (value, spdl_get_string (self));
      break;
    case KIND_STRUCTURE:
      get_boxed (
          self, value, GST_TYPE_STRUCTURE, get_structure (self, depth + 1));
      break;
    case KIND_ARRAY:
      g_value_init (value, GST_TYPE_ARRAY);
      get_values (
          self, value, gst_value_array_append_and_take_value, depth + 1);
      break;
    case KIND_LIST:
      g_value_init (value, GST_TYPE_LIST);
      get_values (self, value, gst_value_list_append_and_take_value, depth + 1);
      break;
    case KIND_ERROR:
      get_boxed (self, value, G_TYPE_ERROR, spdl_get_error (self));
      break;
    case KIND_FRACTION:
      get_fraction (self, value);
      break;
    case KIND_BITMASK:
      g_value_init (value, GST_TYPE_BITMASK);
      gst_value_set_bitmask (value, spdl_get_u64 (self));
      break;
    case KIND_BUFFER:
      get_buffer (self, value);
      break;
    case KIND_ENUM:
      get_enum (self, value);
      break;
    case KIND_SHAPES:
      get_boxed (self, value, SPDL_TYPE_SHAPES, get_shapes (self, depth + 1));
      break;
    default:
      get_number (self, value, kind);
      break;
  }
  if (self->broken)
    g_value_unset (value);
  return !self->broken;
}

/* Checks for a valid name of a structure, since GStreamer emits a warning for
 * an invalid one. Names of fields may have any characters. */
static gboolean
is_name (const gchar *name)
{
  if (!name || !*name)
    return FALSE;
  for (; *name; name++)
    if (!g_ascii_isalnum (*name) && !strchr ("/-_.:+", *name))
      return FALSE;
  return TRUE;
}

static GstStructure *
get_structure (SpdlPayload *self, guint depth)
{
  g_autofree gchar *name = spdl_get_string (self);
  const guint32 n = spdl_get_u32 (self);
  GstStructure *s;

  self->broken |= !is_name (name) || !g_ascii_isalpha (*name);
  if (self->broken)
    return NULL;
  s = gst_structure_new_empty (name);
  for (guint32 i = 0; i < n && !self->broken; i++) {
    g_autofree gchar *field = spdl_get_string (self);
    GValue value = G_VALUE_INIT;

    self->broken |= !field || !*field;
    if (get_value (self, &value, depth))
      gst_structure_take_value (s, field, &value);
  }
  if (self->broken)
    g_clear_pointer (&s, gst_structure_free);
  return s;
}

GstStructure *
spdl_get_structure (SpdlPayload *self)
{
  return get_structure (self, 0);
}

/* Writes fixed caps without features: memory is copied if it is not system
 * memory. */

void
spdl_put_caps (GByteArray *bytes, const GstCaps *caps)
{
  spdl_put_structure (bytes, gst_caps_get_structure (caps, 0));
}

GstCaps *
spdl_get_caps (SpdlPayload *self)
{
  GstStructure *s = get_structure (self, 0);
  GstCaps *caps = s ? gst_caps_new_full (s, NULL) : NULL;

  if (caps && !gst_caps_is_fixed (caps)) {
    self->broken = TRUE;
    gst_clear_caps (&caps);
  }
  return caps;
}
