/* gst-spdl: conditions of spdlroute's pads
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "gst/spdl/common/bufferitems.h"
#include "gst/spdl/engine/compat.h"
#include "plugins/core/route/route-private.h"

typedef enum {
  OF_LABEL,
  OF_URI,
  OF_CAPS,
  OF_EXTRA,
} Kind;

/* A condition of a pad is one of
 *
 *     label=3             the label equals the number
 *     uri=*.png           the URI matches a glob for fnmatch(), which ignores
 *                         case and may contain `@(a|b)`; `*` matches slashes
 *     caps=image/png      the caps are a subset of these
 *     extra.FIELD=VALUE   the field of `extra` equals VALUE; numbers are
 *                         compared by value
 */
struct _SpdlCondition {
  Kind kind;
  gchar *field;
  gchar *value;
  gint64 label;
  GstCaps *caps;

  GstCaps *seen; /* last caps that were tested, and the result */
  gboolean seen_holds;
};

void
spdl_condition_free (SpdlCondition *self)
{
  g_free (self->field);
  g_free (self->value);
  gst_clear_caps (&self->caps);
  gst_clear_caps (&self->seen);
  g_free (self);
}

static gboolean
take_label (SpdlCondition *self, const gchar *name)
{
  self->kind = OF_LABEL;
  return g_str_equal (name, "label") &&
         g_ascii_string_to_signed (
             self->value, 10, G_MININT64, G_MAXINT64, &self->label, NULL);
}

static gboolean
take_uri (SpdlCondition *self, const gchar *name)
{
  self->kind = OF_URI;
  return g_str_equal (name, "uri") && *self->value;
}

static gboolean
take_caps (SpdlCondition *self, const gchar *name)
{
  self->kind = OF_CAPS;
  if (!g_str_equal (name, "caps") || !*self->value)
    return FALSE;
  self->caps = gst_caps_from_string (self->value);
  return self->caps != NULL;
}

static gboolean
take_extra (SpdlCondition *self, const gchar *name)
{
  self->kind = OF_EXTRA;
  if (!g_str_has_prefix (name, "extra.") || !name[6])
    return FALSE;
  self->field = g_strdup (name + 6);
  return TRUE;
}

SpdlCondition *
spdl_condition_parse (const gchar *text, GError **error)
{
  SpdlCondition *self = g_new0 (SpdlCondition, 1);
  const gchar *sign = strchr (text, '=');
  g_autofree gchar *name =
      g_strndup (text, sign ? (gsize) (sign - text) : strlen (text));

  self->value = g_strdup (sign ? sign + 1 : "");
  if (sign && (take_label (self, name) || take_uri (self, name) ||
                  take_caps (self, name) || take_extra (self, name)))
    return self;
  g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
      "condition is \"%s\", but must be label=NUMBER, uri=GLOB, caps=CAPS or "
      "extra.FIELD=VALUE",
      text);
  spdl_condition_free (self);
  return NULL;
}

static gboolean
has_form (const SpdlCondition *self, const GstSpdlItemMeta *item)
{
  return item && item->uri && spdl_compat_match_glob (self->value, item->uri);
}

/* Caches the result, because caps seldom change. */
static gboolean
has_caps (SpdlCondition *self, GstCaps *caps)
{
  if (!caps)
    return FALSE;
  if (caps != self->seen) {
    gst_caps_replace (&self->seen, caps);
    self->seen_holds = gst_caps_is_subset (caps, self->caps);
  }
  return self->seen_holds;
}

static gboolean
has_value (const SpdlCondition *self, const GstSpdlItemMeta *item)
{
  const GValue *value = item && item->extra
                            ? gst_structure_get_value (item->extra, self->field)
                            : NULL;
  g_auto (GValue) wanted = G_VALUE_INIT;

  if (!value)
    return FALSE;
  if (G_VALUE_HOLDS_STRING (value))
    return g_strcmp0 (g_value_get_string (value), self->value) == 0;
  g_value_init (&wanted, G_VALUE_TYPE (value));
  return gst_value_deserialize (&wanted, self->value) &&
         gst_value_compare (value, &wanted) == GST_VALUE_EQUAL;
}

gboolean
spdl_condition_holds (SpdlCondition *self, GstBuffer *item, GstCaps *caps)
{
  const GstSpdlItemMeta *meta = spdl_buffer_get_first_item (item);

  switch (self->kind) {
    case OF_LABEL:
      return meta && meta->label == self->label;
    case OF_URI:
      return has_form (self, meta);
    case OF_CAPS:
      return has_caps (self, caps);
    case OF_EXTRA:
    default:
      return has_value (self, meta);
  }
}
