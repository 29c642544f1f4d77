/* gst-spdl: boxes, masks and keypoints that a source declares
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/src/sourceshapes.h"

#include <stdio.h>
#include <string.h>

#include "plugins/common/fail.h"
#include "plugins/dataset/list/jsonreader.h"

G_DEFINE_ENUM_TYPE (GstSpdlBoxFormat, spdl_box_format,
    { SPDL_BOX_XYXY, "Left, top, right and bottom edge", "xyxy" },
    { SPDL_BOX_XYWH, "Left and top edge, width and height", "xywh" },
    { SPDL_BOX_CXCYWH, "Center, width and height", "cxcywh" })

static gboolean
take_labels (SpdlShapesSpec *spec, const gchar *labels, GError **error)
{
  g_auto (GStrv) names = g_strsplit (labels ? labels : "", ",", -1);
  const guint n = g_strv_length (names);

  if (n > SPDL_SHAPES_MAX_LABELS)
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        "box-label-columns has %u names, but at most %d are possible", n,
        SPDL_SHAPES_MAX_LABELS);
  for (guint i = 0; i < n; i++)
    if (*names[i] == '\0')
      return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
          "box-label-columns is \"%s\", which has an empty name", labels);
    else
      spec->fields[SPDL_SHAPES_LABELS + spec->n_labels++] =
          g_quark_from_string (names[i]);
  return TRUE;
}

static gboolean
take_pairs (SpdlShapesSpec *spec, const gchar *pairs, GError **error)
{
  g_auto (GStrv) texts = g_strsplit (pairs ? pairs : "", ",", -1);
  const guint n = g_strv_length (texts);

  spec->n_pairs = 0;
  if (n > SPDL_SHAPES_MAX_PAIRS)
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        "keypoint-pairs has %u pairs, but at most %d are possible", n,
        SPDL_SHAPES_MAX_PAIRS);
  for (guint i = 0; i < n; i++) {
    guint16 *pair = spec->pairs[spec->n_pairs++];
    guint a, b;
    int end = 0;

    if (sscanf (texts[i], "%4u-%4u%n", &a, &b, &end) != 2 ||
        texts[i][end] != '\0' || a == b || MAX (a, b) >= spec->points_per_box)
      return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
          "keypoint-pairs is \"%s\", in which \"%s\" is not a pair of numbers "
          "from 0 to keypoints-per-box - 1, such as 1-2",
          pairs, texts[i]);
    pair[0] = a;
    pair[1] = b;
  }
  return TRUE;
}

static gboolean
check_fields (const SpdlShapesSpec *spec, GError **error)
{
  const GQuark *fields = spec->fields;

  for (guint i = 1; i < SPDL_SHAPES_N_FIELDS; i++)
    for (guint k = 0; k < i; k++)
      if (fields[i] && fields[i] == fields[k])
        return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
            "\"%s\" is named twice in box-column, box-label-columns, "
            "box-mask-column and keypoint-column: name different columns",
            g_quark_to_string (fields[i]));
  if (fields[SPDL_SHAPES_BOXES] ||
      (spec->n_labels == 0 && spec->points_per_box == 0 &&
          !fields[SPDL_SHAPES_MASKS]))
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "%s is set, but box-column is not: set it to the column with the boxes",
      spec->n_labels > 0          ? "box-label-columns"
      : fields[SPDL_SHAPES_MASKS] ? "box-mask-column"
                                  : "keypoints-per-box");
}

static GQuark
get_field (const gchar *name)
{
  return name && *name ? g_quark_from_string (name) : 0;
}

gboolean
spdl_source_shapes_take (SpdlShapes **shapes, SpdlShapesSettings *settings,
    const gchar *list, GError **error)
{
  SpdlShapesSpec *spec = &settings->spec;

  g_clear_pointer (shapes, spdl_shapes_unref);
  spec->fields[SPDL_SHAPES_BOXES] = get_field (settings->boxes);
  spec->fields[SPDL_SHAPES_POINTS] = get_field (settings->keypoints);
  spec->fields[SPDL_SHAPES_MASKS] = get_field (settings->masks);
  spec->n_labels = 0;
  if (!take_labels (spec, settings->labels, error) ||
      !take_pairs (spec, settings->pairs, error) || !check_fields (spec, error))
    return FALSE;
  if (!spec->fields[SPDL_SHAPES_BOXES] && !spec->fields[SPDL_SHAPES_POINTS] &&
      !settings->wants_matrix)
    return TRUE;
  *shapes = spdl_shapes_new (spec, 0, 0);
  (*shapes)->list = list ? g_ref_string_new (list) : NULL;
  return TRUE;
}

/* Sets "a.b" to the member "b" of the JSON that the field "a" has. */
static void
add_member (GstStructure *extra, GQuark field)
{
  const gchar *name = g_quark_to_string (field), *dot = name + strlen (name);
  gchar *json = NULL;

  while (!json && (dot = g_strrstr_len (name, dot - name, "."))) {
    g_autofree gchar *object = g_strndup (name, dot - name);
    const gchar *text = gst_structure_get_string (extra, object);

    json = text ? spdl_json_dup_member (text, dot + 1) : NULL;
  }
  if (json)
    gst_structure_set (extra, name, G_TYPE_STRING, json, NULL);
  g_free (json);
}

void
spdl_source_shapes_add (const SpdlShapes *shapes, GstStructure **extra)
{
  const GQuark *fields = shapes->spec.fields;

  if (!*extra)
    *extra = gst_structure_new_empty ("extra");
  for (guint i = 0; i < SPDL_SHAPES_N_FIELDS; i++)
    if (fields[i] && !gst_structure_id_has_field (*extra, fields[i]))
      add_member (*extra, fields[i]);
  spdl_shapes_put (shapes, *extra);
}
