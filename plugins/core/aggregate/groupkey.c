/* gst-spdl: keys of groups
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/aggregate/groupkey.h"

#include <gst/spdl/spdl.h>
#include <math.h>
#include <string.h>

typedef enum {
  KEY_LABEL,
  KEY_BYTES,
  KEY_CAPS,
  KEY_CAPS_FIELD,
  KEY_EXTRA_FIELD,
} KeyKind;

struct _SpdlGroupKey {
  KeyKind kind;
  gchar *field;
  guint64 divisor; /* 0: none */
};

/* Removes "/N" from the end of @text and returns N in @divisor. */
static gboolean
take_divisor (gchar *text, guint64 *divisor)
{
  gchar *slash = strrchr (text, '/');

  *divisor = 0;
  if (!slash)
    return TRUE;
  *slash = '\0';
  return g_ascii_string_to_unsigned (
      slash + 1, 10, 1, G_MAXINT64, divisor, NULL);
}

static gboolean
take_kind (SpdlGroupKey *self, const gchar *text)
{
  static const struct {
    const gchar *name;
    KeyKind kind;
    gboolean has_field;
  } kinds[] = {
    { "label", KEY_LABEL, FALSE },
    { "bytes", KEY_BYTES, FALSE },
    { "caps", KEY_CAPS, FALSE },
    { "caps.", KEY_CAPS_FIELD, TRUE },
    { "extra.", KEY_EXTRA_FIELD, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    const gsize n = strlen (kinds[i].name);

    if (strncmp (text, kinds[i].name, n) != 0 ||
        kinds[i].has_field != (text[n] != '\0'))
      continue;
    self->kind = kinds[i].kind;
    self->field = g_strdup (text + n);
    return TRUE;
  }
  return FALSE;
}

SpdlGroupKey *
spdl_group_key_parse (const gchar *text, GError **error)
{
  SpdlGroupKey *self = g_new0 (SpdlGroupKey, 1);
  g_autofree gchar *rest = g_strdup (text);

  if (take_divisor (rest, &self->divisor) && take_kind (self, rest) &&
      !(self->kind == KEY_CAPS && self->divisor > 0))
    return self;
  g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
      "key is \"%s\", but must be label, bytes, caps, caps.FIELD or "
      "extra.FIELD, and may end in /N to divide a number",
      text);
  spdl_group_key_free (self);
  return NULL;
}

void
spdl_group_key_free (SpdlGroupKey *self)
{
  g_free (self->field);
  g_free (self);
}

static gchar *
describe_number (const SpdlGroupKey *self, gint64 number)
{
  gint64 quotient = number;

  if (self->divisor > 0) {
    quotient = number / (gint64) self->divisor;
    /* Round towards minus infinity. */
    if (number % (gint64) self->divisor < 0)
      quotient--;
  }
  return g_strdup_printf ("%" G_GINT64_FORMAT, quotient);
}

/* Reads a number, also from a string, because fields of a list are strings. */
static gboolean
read_number (const GValue *value, gdouble *number)
{
  g_auto (GValue) changed = G_VALUE_INIT;

  if (G_VALUE_HOLDS_STRING (value)) {
    const gchar *text = g_value_get_string (value);
    gchar *end;

    if (!text || *text == '\0')
      return FALSE;
    *number = g_ascii_strtod (text, &end);
    return *end == '\0' && isfinite (*number);
  }
  g_value_init (&changed, G_TYPE_DOUBLE);
  if (!g_value_transform (value, &changed))
    return FALSE;
  *number = g_value_get_double (&changed);
  return isfinite (*number);
}

static gchar *
describe_value (const SpdlGroupKey *self, const GValue *value)
{
  gchar *text;
  gdouble number;

  if (!value)
    return g_strdup ("");
  if (self->divisor > 0 && read_number (value, &number))
    return g_strdup_printf ("%.0f", floor (number / self->divisor));
  text = gst_value_serialize (value);
  return text ? text : g_strdup ("");
}

static const GValue *
find_field (const SpdlGroupKey *self, const GstStructure *s)
{
  return s ? gst_structure_get_value (s, self->field) : NULL;
}

gchar *
spdl_group_key_read (const SpdlGroupKey *self, GstBuffer *item, GstCaps *caps)
{
  const GstSpdlItemMeta *meta = gst_spdl_buffer_get_item_meta (item);
  const GstStructure *s = caps && gst_caps_get_size (caps) > 0
                              ? gst_caps_get_structure (caps, 0)
                              : NULL;

  switch (self->kind) {
    case KEY_LABEL:
      return describe_number (self, meta ? meta->label : -1);
    case KEY_BYTES:
      return describe_number (self, gst_buffer_get_size (item));
    case KEY_CAPS:
      return caps ? gst_caps_to_string (caps) : g_strdup ("");
    case KEY_CAPS_FIELD:
      return describe_value (self, find_field (self, s));
    case KEY_EXTRA_FIELD:
    default:
      return describe_value (
          self, find_field (self, meta ? meta->extra : NULL));
  }
}
