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
 * - `rank=(int)<4,0,2>`: the number of dimensions, if it does not follow from
 *   `dimensions`. Those of a single number without dimensions are written as
 *   `1`, and those of an array of shape (0, 4) as `4:0`.
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

static void
write_bool (const GstSpdlTensorInfo *info, GValue *value)
{
  g_value_init (value, G_TYPE_BOOLEAN);
  g_value_set_boolean (value, info->type == GST_SPDL_TENSOR_BOOL);
}

static void
write_rank (const GstSpdlTensorInfo *info, GValue *value)
{
  g_value_init (value, G_TYPE_INT);
  g_value_set_int (value, info->rank);
}

/* Adds a field with a value per tensor. */
static void
set_field (GstCaps *caps, const gchar *field, const GstSpdlTensorsInfo *info,
    void (*write) (const GstSpdlTensorInfo *info, GValue *value))
{
  GValue array = G_VALUE_INIT;

  gst_value_array_init (&array, info->num_tensors);
  for (guint i = 0; i < info->num_tensors; i++) {
    GValue value = G_VALUE_INIT;

    write (&info->tensors[i], &value);
    gst_value_array_append_and_take_value (&array, &value);
  }
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
  gboolean has_rank = FALSE, has_bool = FALSE;
  GstCaps *caps;

  g_return_val_if_fail (info != NULL && info->num_tensors > 0, NULL);

  for (guint i = 0; i < info->num_tensors; i++) {
    const gboolean is_bool = info->tensors[i].type == GST_SPDL_TENSOR_BOOL;
    const GstSpdlTensorType type =
        is_bool ? GST_SPDL_TENSOR_UINT8 : info->tensors[i].type;

    if (i > 0) {
      g_string_append_c (type_names, ',');
      g_string_append_c (dims, ',');
    }
    g_string_append (type_names, types[type].value.value_nick);
    append_dims (dims, &info->tensors[i]);
    has_bool = has_bool || is_bool;
    has_rank = has_rank || info->tensors[i].rank == 0 ||
               gst_spdl_tensor_info_get_size (&info->tensors[i]) == 0;
  }
  caps = gst_caps_new_simple ("other/tensors", "format", G_TYPE_STRING,
      "static", "num_tensors", G_TYPE_INT, (gint) info->num_tensors, "types",
      G_TYPE_STRING, type_names->str, "dimensions", G_TYPE_STRING, dims->str,
      "framerate", GST_TYPE_FRACTION, 0, 1, NULL);
  if (has_rank)
    set_field (caps, "rank", info, write_rank);
  if (has_bool)
    set_field (caps, "bool", info, write_bool);
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

/* Parses dimensions, and returns how many there are, or 0 on failure. */
static guint
parse_dims (const gchar *string, GstSpdlTensorInfo *tensor)
{
  g_auto (GStrv) parts = g_strsplit (string, ":", -1);
  guint n = 0;

  for (; parts[n]; n++) {
    guint64 dim;

    if (n == GST_SPDL_MAX_RANK ||
        !g_ascii_string_to_unsigned (
            g_strstrip (parts[n]), 10, 0, G_MAXUINT32, &dim, NULL))
      return 0;
    tensor->dims[n] = dim;
  }
  return n;
}

/* Reads the value of tensor @i of @n in a field of set_field(), which is NULL
 * if there is no such field. Returns FALSE if the field is malformed. */
static gboolean
get_field (const GstStructure *s, const gchar *field, GType type, guint i,
    guint n, const GValue **value)
{
  const GValue *array = gst_structure_get_value (s, field);

  *value = NULL;
  if (!array)
    return TRUE;
  if (!GST_VALUE_HOLDS_ARRAY (array) || gst_value_array_get_size (array) != n)
    return FALSE;
  *value = gst_value_array_get_value (array, i);
  return G_VALUE_HOLDS (*value, type);
}

/* Sets the rank of @n_dims dimensions. NNStreamer pads them to its rank with 1
 * or 0; without a field, those after a 0 are ignored. */
static gboolean
set_rank (GstSpdlTensorInfo *tensor, guint n_dims, const GValue *field)
{
  if (field &&
      (g_value_get_int (field) < 0 || (guint) g_value_get_int (field) > n_dims))
    return FALSE;
  if (field)
    tensor->rank = g_value_get_int (field);
  while (!field && tensor->rank < n_dims && tensor->dims[tensor->rank] > 0)
    tensor->rank++;
  for (guint k = tensor->rank; field && k < n_dims; k++)
    if (tensor->dims[k] > 1)
      return FALSE;
  memset (tensor->dims + tensor->rank, 0,
      (n_dims - tensor->rank) * sizeof tensor->dims[0]);
  return field || tensor->rank > 0;
}

/* Applies the fields. Returns FALSE if they are malformed, or contradict the
 * type or the dimensions. */
static gboolean
apply_fields (GstSpdlTensorInfo *tensor, guint n_dims, const GstStructure *s,
    guint i, guint n)
{
  const GValue *rank, *boolean;

  if (!get_field (s, "rank", G_TYPE_INT, i, n, &rank) ||
      !get_field (s, "bool", G_TYPE_BOOLEAN, i, n, &boolean) ||
      !set_rank (tensor, n_dims, rank))
    return FALSE;
  if (!boolean || !g_value_get_boolean (boolean))
    return TRUE;
  if (tensor->type != GST_SPDL_TENSOR_UINT8)
    return FALSE;
  tensor->type = GST_SPDL_TENSOR_BOOL;
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
    guint n_dims = 0;

    if (!parse_type (g_strstrip (type_names[i]), &tensor->type) ||
        (n_dims = parse_dims (dims[i], tensor)) == 0) {
      g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
          "Tensor %u of the caps is invalid: type \"%s\", dimensions \"%s\"", i,
          type_names[i], dims[i]);
      return FALSE;
    }
    if (!apply_fields (tensor, n_dims, s, i, n)) {
      g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
          "Fields of the caps do not fit tensor %u of type \"%s\" and "
          "dimensions \"%s\": rank needs a number of dimensions for each "
          "tensor, after which they are 1; bool needs uint8 and a boolean for "
          "each tensor; a dimension of 0 needs rank",
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
