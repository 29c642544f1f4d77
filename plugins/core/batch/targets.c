/* gst-spdl: targets of items: numbers of their extra fields
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/batch/batchbuilder.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

void
spdl_targets_init (SpdlTargets *self)
{
  *self = (SpdlTargets){ NULL };
  self->values = g_array_new (FALSE, FALSE, sizeof (gdouble));
}

void
spdl_targets_reset (SpdlTargets *self)
{
  g_clear_pointer (&self->names, g_strfreev);
  self->n = 0;
}

void
spdl_targets_clear (SpdlTargets *self)
{
  spdl_targets_reset (self);
  g_clear_pointer (&self->values, g_array_unref);
}

gboolean
spdl_targets_take_event (SpdlTargets *self, GstEvent *event, GError **error)
{
  g_autofree gchar *before = NULL;
  const gchar *names;
  guint32 source;

  if (!gst_spdl_event_parse_source (event, &source, NULL, NULL))
    return TRUE;
  names = gst_structure_get_string (
      gst_event_get_structure (event), SPDL_TARGETS_FIELD);
  if (self->names && self->source != source) {
    before = g_strjoinv (",", self->names);
    if (!names || g_str_equal (names, before))
      return TRUE;
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "target-columns is \"%s\" for one source and \"%s\" for another: set "
        "the "
        "same names for all sources of a batch",
        before, names);
    return FALSE;
  }
  self->source = source;
  spdl_targets_reset (self);
  if (!names)
    return TRUE;
  self->names = g_strsplit (names, ",", -1);
  self->n = g_strv_length (self->names);
  if (self->n <= GST_SPDL_MAX_TENSORS)
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "target-columns has %u names, but a batch holds at most %d tensors: name "
      "fewer, or store them as a list in one column",
      self->n, GST_SPDL_MAX_TENSORS);
  self->n = 0;
  return FALSE;
}

static gboolean
add_number (SpdlTargets *self, gdouble number)
{
  g_array_append_val (self->values, number);
  return TRUE;
}

/* Integers above 2^53 are not exact. */
static gboolean
add_integer (SpdlTargets *self, gint64 number)
{
  const gint64 limit = G_GINT64_CONSTANT (1) << 53;

  return number >= -limit && number <= limit && add_number (self, number);
}

/* Adds the numbers of a JSON array. */
static gboolean
add_json (SpdlTargets *self, const gchar *text)
{
  json_t *array = json_loads (text, 0, NULL);
  gboolean ok = json_is_array (array);

  for (gsize i = 0; ok && i < json_array_size (array); i++) {
    const json_t *element = json_array_get (array, i);

    ok = json_is_integer (element)
             ? add_integer (self, json_integer_value (element))
         : json_is_real (element)
             ? add_number (self, json_real_value (element))
             : json_is_boolean (element) &&
                   add_number (self, json_is_true (element));
  }
  json_decref (array);
  return ok;
}

/* Adds the number, or the list of numbers, that a text is. */
static gboolean
add_text (SpdlTargets *self, const gchar *text, gboolean *is_list)
{
  gchar *end;
  gdouble number;
  gint64 integer;

  while (g_ascii_isspace (*text))
    text++;
  *is_list = *text == '[';
  if (*is_list)
    return add_json (self, text);
  errno = 0;
  number = g_ascii_strtod (text, &end);
  if (end == text || (errno == ERANGE && isinf (number)))
    return FALSE;
  while (g_ascii_isspace (*end))
    end++;
  if (*end != '\0')
    return FALSE;
  /* Digits alone are an integer. */
  integer = g_ascii_strtoll (text, &end, 10);
  return *end == '\0' || g_ascii_isspace (*end) ? add_integer (self, integer)
                                                : add_number (self, number);
}

static gboolean
add_value (SpdlTargets *self, const GValue *value, gboolean *is_list)
{
  *is_list = FALSE;
  if (G_VALUE_HOLDS_STRING (value))
    return add_text (self, g_value_get_string (value), is_list);
  if (G_VALUE_HOLDS_DOUBLE (value))
    return add_number (self, g_value_get_double (value));
  if (G_VALUE_HOLDS_INT64 (value))
    return add_integer (self, g_value_get_int64 (value));
  if (G_VALUE_HOLDS_UINT64 (value))
    return g_value_get_uint64 (value) <= G_MAXINT64 &&
           add_integer (self, g_value_get_uint64 (value));
  if (G_VALUE_HOLDS_BOOLEAN (value))
    return add_number (self, g_value_get_boolean (value));
  *is_list = GST_VALUE_HOLDS_ARRAY (value);
  for (guint i = 0; *is_list && i < gst_value_array_get_size (value); i++) {
    const GValue *element = gst_value_array_get_value (value, i);

    if (!G_VALUE_HOLDS_DOUBLE (element) ||
        !add_number (self, g_value_get_double (element)))
      return FALSE;
  }
  return *is_list;
}

gboolean
spdl_targets_read (
    SpdlTargets *self, const GstSpdlItemMeta *item, GError **error)
{
  g_array_set_size (self->values, 0);
  for (guint i = 0; i < self->n; i++) {
    const guint begin = self->values->len;
    const GValue *value =
        item->extra ? gst_structure_get_value (item->extra, self->names[i])
                    : NULL;
    gboolean is_list;

    if (value && add_value (self, value, &is_list) &&
        self->values->len > begin) {
      self->sizes[i] = is_list ? self->values->len - begin : 0;
      continue;
    }
    g_autofree gchar *text = value ? gst_value_serialize (value) : NULL;
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "Target \"%s\" of the item is %s, but must be a number, or a list of "
        "at "
        "least one number, that a double represents exactly",
        self->names[i], text ? text : "missing");
    return FALSE;
  }
  return TRUE;
}

gboolean
spdl_targets_have_sizes (
    const SpdlTargets *self, guint n, const guint *sizes, GError **error)
{
  if (self->n != n) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The item has %u targets, but the first item of its batch has %u: set "
        "the same target-columns for all sources of a batch",
        self->n, n);
    return FALSE;
  }
  for (guint i = 0; i < self->n; i++) {
    if (self->sizes[i] == sizes[i])
      continue;
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "Target \"%s\" has %u numbers, but %u in the first item of the batch: "
        "give all items lists of one length",
        self->names[i], MAX (self->sizes[i], 1), MAX (sizes[i], 1));
    return FALSE;
  }
  return TRUE;
}
