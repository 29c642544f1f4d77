/* gst-spdl: types and shapes of tensors, and their caps
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:gstspdltensorsinfo
 * @title: GstSpdlTensorsInfo
 * @short_description: types and shapes of tensors, and their caps
 *
 * The caps of tensors are `other/tensors` as NNStreamer defines them, so its
 * elements can process them:
 *
 * |[
 * other/tensors, format=static, num_tensors=2, types=(string)"uint8,int64",
 *     dimensions=(string)"3:224:224:32,32", framerate=0/1
 * ]|
 *
 * Dimensions are written innermost first, in the reverse order of NumPy: the
 * NumPy shape (32, 224, 224, 3), images by rows by columns by channels, is
 * `3:224:224:32`. All dimensions are written, including a batch size of one.
 *
 * Further fields are not part of NNStreamer. Each has a value per tensor:
 *
 * - `names=(string)<"image","mask">`: the names, which `spdlbatch` uses for its
 *   batches.
 * - `scalar=(boolean)<false,true>`: the tensor is a single number without
 *   dimensions. Its dimensions are written as `1`.
 * - `bool=(boolean)<false,true>`: the elements are #GST_SPDL_TENSOR_BOOL. Their
 *   type is written as `uint8`.
 *
 * Since: 0.1
 */

#include "gst/spdl/gstspdltensorsinfo.h"

#include <string.h>

static const struct {
  GEnumValue value;
  gsize size;
} types[] = {
#define TYPE(NAME, nick, size)                                       \
  {                                                                  \
    { GST_SPDL_TENSOR_##NAME, "GST_SPDL_TENSOR_" #NAME, nick }, size \
  }
  TYPE (INT8, "int8", 1),
  TYPE (UINT8, "uint8", 1),
  TYPE (INT16, "int16", 2),
  TYPE (UINT16, "uint16", 2),
  TYPE (INT32, "int32", 4),
  TYPE (UINT32, "uint32", 4),
  TYPE (INT64, "int64", 8),
  TYPE (UINT64, "uint64", 8),
  TYPE (FLOAT16, "float16", 2),
  TYPE (FLOAT32, "float32", 4),
  TYPE (FLOAT64, "float64", 8),
  TYPE (BFLOAT16, "bfloat16", 2),
  TYPE (BOOL, "bool", 1),
#undef TYPE
};

GType
gst_spdl_tensor_type_get_type (void)
{
  static gsize type = 0;
  static GEnumValue values[G_N_ELEMENTS (types) + 1];

  if (g_once_init_enter (&type)) {
    for (guint i = 0; i < G_N_ELEMENTS (types); i++)
      values[i] = types[i].value;
    g_once_init_leave (
        &type, g_enum_register_static ("GstSpdlTensorType", values));
  }
  return type;
}

/**
 * gst_spdl_tensor_type_get_size:
 * @type: a type
 *
 * Gets the size of an element.
 *
 * Returns: the size in bytes
 *
 * Since: 0.1
 */
gsize
gst_spdl_tensor_type_get_size (GstSpdlTensorType type)
{
  g_return_val_if_fail ((guint) type < G_N_ELEMENTS (types), 0);

  return types[type].size;
}

/**
 * gst_spdl_tensor_info_get_size:
 * @info: a tensor
 *
 * Calculates the size of a tensor.
 *
 * Returns: the size in bytes, or %G_MAXSIZE if it is too large
 *
 * Since: 0.1
 */
gsize
gst_spdl_tensor_info_get_size (const GstSpdlTensorInfo *info)
{
  gsize size;

  g_return_val_if_fail (info != NULL, 0);

  size = gst_spdl_tensor_type_get_size (info->type);
  for (guint i = 0; i < info->rank; i++)
    if (!g_size_checked_mul (&size, size, info->dims[i]))
      return G_MAXSIZE;
  return size;
}

/**
 * gst_spdl_tensor_info_is_equal:
 * @a: a tensor
 * @b: another tensor
 *
 * Compares type and shape of two tensors.
 *
 * Returns: %TRUE if both are equal
 *
 * Since: 0.1
 */
gboolean
gst_spdl_tensor_info_is_equal (
    const GstSpdlTensorInfo *a, const GstSpdlTensorInfo *b)
{
  g_return_val_if_fail (a != NULL && b != NULL, FALSE);

  return a->type == b->type && a->rank == b->rank &&
         memcmp (a->dims, b->dims, a->rank * sizeof a->dims[0]) == 0;
}

/**
 * gst_spdl_tensor_info_to_string:
 * @info: a tensor
 *
 * Formats type and shape for a message, the outermost dimension first, as NumPy
 * does: `uint8 (224, 224, 3)`.
 *
 * Returns: (transfer full): the text; free with g_free()
 *
 * Since: 0.1
 */
gchar *
gst_spdl_tensor_info_to_string (const GstSpdlTensorInfo *info)
{
  GString *string;

  g_return_val_if_fail (info != NULL, NULL);

  string = g_string_new (types[info->type].value.value_nick);
  g_string_append (string, " (");
  for (guint i = info->rank; i-- > 0;)
    g_string_append_printf (
        string, i + 1 == info->rank ? "%u" : ", %u", info->dims[i]);
  g_string_append (string, info->rank == 1 ? ",)" : ")");
  return g_string_free (string, FALSE);
}

/**
 * gst_spdl_tensors_info_init:
 * @info: (out caller-allocates): the tensors
 *
 * Initializes @info without tensors.
 *
 * Since: 0.1
 */
void
gst_spdl_tensors_info_init (GstSpdlTensorsInfo *info)
{
  g_return_if_fail (info != NULL);

  memset (info, 0, sizeof *info);
}

/**
 * gst_spdl_tensors_info_add: (skip)
 * @info: tensors, fewer than %GST_SPDL_MAX_TENSORS
 * @type: type of the elements
 * @rank: number of dimensions, 0 to %GST_SPDL_MAX_RANK
 * @dims: (array length=rank): dimensions, innermost first
 *
 * Adds a tensor.
 *
 * Returns: (transfer none): the new tensor, owned by @info
 *
 * Since: 0.1
 */
GstSpdlTensorInfo *
gst_spdl_tensors_info_add (GstSpdlTensorsInfo *info, GstSpdlTensorType type,
    guint rank, const guint32 *dims)
{
  GstSpdlTensorInfo *tensor;

  g_return_val_if_fail (info != NULL && (dims != NULL || rank == 0), NULL);
  g_return_val_if_fail (info->num_tensors < GST_SPDL_MAX_TENSORS, NULL);
  g_return_val_if_fail (rank <= GST_SPDL_MAX_RANK, NULL);

  tensor = &info->tensors[info->num_tensors++];
  memset (tensor, 0, sizeof *tensor);
  tensor->type = type;
  tensor->rank = rank;
  if (rank > 0)
    memcpy (tensor->dims, dims, rank * sizeof dims[0]);
  return tensor;
}

static void
append_dims (GString *string, const GstSpdlTensorInfo *info)
{
  if (info->rank == 0)
    g_string_append_c (string, '1');
  for (guint i = 0; i < info->rank; i++)
    g_string_append_printf (string, i == 0 ? "%u" : ":%u", info->dims[i]);
}

static gboolean
is_scalar (const GstSpdlTensorInfo *info)
{
  return info->rank == 0;
}

static gboolean
is_bool (const GstSpdlTensorInfo *info)
{
  return info->type == GST_SPDL_TENSOR_BOOL;
}

/* Adds a field with a boolean per tensor, if it is TRUE for any of them. */
static void
set_field (GstCaps *caps, const gchar *field, const GstSpdlTensorsInfo *info,
    gboolean (*is_set) (const GstSpdlTensorInfo *info))
{
  GValue array = G_VALUE_INIT;
  gboolean any = FALSE;

  gst_value_array_init (&array, info->num_tensors);
  for (guint i = 0; i < info->num_tensors; i++) {
    GValue value = G_VALUE_INIT;

    g_value_init (&value, G_TYPE_BOOLEAN);
    g_value_set_boolean (&value, is_set (&info->tensors[i]));
    any = any || g_value_get_boolean (&value);
    gst_value_array_append_and_take_value (&array, &value);
  }
  if (any)
    gst_caps_set_value (caps, field, &array);
  g_value_unset (&array);
}

/**
 * gst_spdl_tensors_info_to_caps:
 * @info: at least one tensor
 *
 * Creates the caps of tensors.
 *
 * Returns: (transfer full): the caps
 *
 * Since: 0.1
 */
GstCaps *
gst_spdl_tensors_info_to_caps (const GstSpdlTensorsInfo *info)
{
  g_autoptr (GString) type_names = g_string_new (NULL);
  g_autoptr (GString) dims = g_string_new (NULL);
  GstCaps *caps;

  g_return_val_if_fail (info != NULL && info->num_tensors > 0, NULL);

  for (guint i = 0; i < info->num_tensors; i++) {
    const GstSpdlTensorType type = is_bool (&info->tensors[i])
                                       ? GST_SPDL_TENSOR_UINT8
                                       : info->tensors[i].type;

    if (i > 0) {
      g_string_append_c (type_names, ',');
      g_string_append_c (dims, ',');
    }
    g_string_append (type_names, types[type].value.value_nick);
    append_dims (dims, &info->tensors[i]);
  }
  caps = gst_caps_new_simple ("other/tensors", "format", G_TYPE_STRING,
      "static", "num_tensors", G_TYPE_INT, (gint) info->num_tensors, "types",
      G_TYPE_STRING, type_names->str, "dimensions", G_TYPE_STRING, dims->str,
      "framerate", GST_TYPE_FRACTION, 0, 1, NULL);
  set_field (caps, "scalar", info, is_scalar);
  set_field (caps, "bool", info, is_bool);
  return caps;
}

static gboolean
parse_type (const gchar *name, GstSpdlTensorType *type)
{
  /* The last one, bool, is a field. */
  for (guint i = 0; i < GST_SPDL_TENSOR_BOOL; i++) {
    if (g_str_equal (name, types[i].value.value_nick)) {
      *type = types[i].value.value;
      return TRUE;
    }
  }
  return FALSE;
}

/* Parses dimensions. NNStreamer pads them to its rank with 1 or 0; those after
 * a 0 are ignored. */
static gboolean
parse_dims (const gchar *string, GstSpdlTensorInfo *tensor)
{
  g_auto (GStrv) parts = g_strsplit (string, ":", -1);

  for (guint i = 0; parts[i]; i++) {
    guint64 dim;

    if (i == GST_SPDL_MAX_RANK ||
        !g_ascii_string_to_unsigned (
            g_strstrip (parts[i]), 10, 0, G_MAXUINT32, &dim, NULL))
      return FALSE;
    if (dim == 0)
      break;
    tensor->dims[tensor->rank++] = dim;
  }
  return tensor->rank > 0;
}

/* Reads the value of tensor @i of @n in a field of set_field(). Returns FALSE
 * if the field is malformed. */
static gboolean
get_field (const GstStructure *s, const gchar *field, guint i, guint n,
    gboolean *is_set)
{
  const GValue *array = gst_structure_get_value (s, field);
  const GValue *value;

  *is_set = FALSE;
  if (!array)
    return TRUE;
  if (!GST_VALUE_HOLDS_ARRAY (array) || gst_value_array_get_size (array) != n)
    return FALSE;
  value = gst_value_array_get_value (array, i);
  *is_set = G_VALUE_HOLDS_BOOLEAN (value) && g_value_get_boolean (value);
  return G_VALUE_HOLDS_BOOLEAN (value);
}

/* Applies the fields of set_field(). Returns FALSE if they are malformed, or
 * contradict the type or the dimensions. */
static gboolean
apply_fields (
    GstSpdlTensorInfo *tensor, const GstStructure *s, guint i, guint n)
{
  gboolean scalar, boolean;

  if (!get_field (s, "scalar", i, n, &scalar) ||
      !get_field (s, "bool", i, n, &boolean))
    return FALSE;
  if (boolean && tensor->type != GST_SPDL_TENSOR_UINT8)
    return FALSE;
  if (boolean)
    tensor->type = GST_SPDL_TENSOR_BOOL;
  /* NNStreamer pads dimensions with 1. */
  for (guint k = 0; scalar && k < tensor->rank; k++)
    if (tensor->dims[k] != 1)
      return FALSE;
  if (scalar)
    tensor->rank = 0;
  return TRUE;
}

static gboolean
parse_tensors (GstSpdlTensorsInfo *info, const GstStructure *s,
    gchar **type_names, gchar **dims, guint n, GError **error)
{
  if (g_strv_length (type_names) != n || g_strv_length (dims) != n) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The caps have %u tensors, but %u types and %u shapes", n,
        g_strv_length (type_names), g_strv_length (dims));
    return FALSE;
  }
  for (guint i = 0; i < n; i++) {
    GstSpdlTensorInfo *tensor = &info->tensors[i];

    if (!parse_type (g_strstrip (type_names[i]), &tensor->type) ||
        !parse_dims (dims[i], tensor)) {
      g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
          "Tensor %u of the caps is invalid: type \"%s\", dimensions \"%s\"", i,
          type_names[i], dims[i]);
      return FALSE;
    }
    if (!apply_fields (tensor, s, i, n)) {
      g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
          "Fields of the caps do not fit tensor %u of type \"%s\" and "
          "dimensions \"%s\": scalar needs the dimensions 1, bool needs uint8, "
          "and both need a boolean for each tensor",
          i, type_names[i], dims[i]);
      return FALSE;
    }
  }
  info->num_tensors = n;
  return TRUE;
}

/**
 * gst_spdl_tensors_info_from_caps:
 * @info: (out caller-allocates): the tensors
 * @caps: fixed caps
 * @error: (nullable): %GST_STREAM_ERROR_FORMAT
 *
 * Reads the tensors from caps.
 *
 * Returns: %FALSE with @error set if @caps are not those of static tensors
 *
 * Since: 0.1
 */
gboolean
gst_spdl_tensors_info_from_caps (
    GstSpdlTensorsInfo *info, const GstCaps *caps, GError **error)
{
  const GstStructure *s;
  const gchar *format, *type_string, *dim_string;
  gint n;

  g_return_val_if_fail (info != NULL && GST_IS_CAPS (caps), FALSE);
  g_return_val_if_fail (gst_caps_is_fixed (caps), FALSE);

  gst_spdl_tensors_info_init (info);
  s = gst_caps_get_structure (caps, 0);
  format = gst_structure_get_string (s, "format");
  type_string = gst_structure_get_string (s, "types");
  dim_string = gst_structure_get_string (s, "dimensions");
  if (!gst_structure_has_name (s, "other/tensors") ||
      (format && !g_str_equal (format, "static")) || !type_string ||
      !dim_string || !gst_structure_get_int (s, "num_tensors", &n) || n < 1 ||
      n > GST_SPDL_MAX_TENSORS) {
    g_autofree gchar *string = gst_caps_to_string (caps);

    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "Expected caps with 1 to %d static tensors, not %s",
        GST_SPDL_MAX_TENSORS, string);
    return FALSE;
  }

  g_auto (GStrv) type_names = g_strsplit (type_string, ",", -1);
  g_auto (GStrv) dims = g_strsplit (dim_string, ",", -1);
  return parse_tensors (info, s, type_names, dims, n, error);
}

/**
 * gst_spdl_caps_set_tensor_names:
 * @caps: (transfer none): writable caps of tensors
 * @names: (array length=n_names): a name per tensor
 * @n_names: number of names
 *
 * Sets the names of the tensors in caps.
 *
 * Since: 0.1
 */
void
gst_spdl_caps_set_tensor_names (
    GstCaps *caps, const gchar *const *names, guint n_names)
{
  GValue array = G_VALUE_INIT;

  g_return_if_fail (GST_IS_CAPS (caps) && gst_caps_is_writable (caps));
  g_return_if_fail (names != NULL || n_names == 0);

  gst_value_array_init (&array, n_names);
  for (guint i = 0; i < n_names; i++) {
    GValue value = G_VALUE_INIT;

    g_value_init (&value, G_TYPE_STRING);
    g_value_set_string (&value, names[i]);
    gst_value_array_append_and_take_value (&array, &value);
  }
  gst_caps_set_value (caps, "names", &array);
  g_value_unset (&array);
}

/**
 * gst_spdl_caps_get_tensor_name:
 * @caps: (nullable): fixed caps
 * @i: index of the tensor, from 0
 *
 * Gets the name of a tensor from caps.
 *
 * Returns: (transfer none) (nullable): the name, valid as long as @caps; %NULL
 *     if the tensor has no name
 *
 * Since: 0.1
 */
const gchar *
gst_spdl_caps_get_tensor_name (const GstCaps *caps, guint i)
{
  const GValue *array = NULL, *name;

  if (caps && gst_caps_get_size (caps) > 0)
    array = gst_structure_get_value (gst_caps_get_structure (caps, 0), "names");
  if (!array || !GST_VALUE_HOLDS_ARRAY (array) ||
      i >= gst_value_array_get_size (array))
    return NULL;
  name = gst_value_array_get_value (array, i);
  return G_VALUE_HOLDS_STRING (name) ? g_value_get_string (name) : NULL;
}
