/* gst-spdl-launch: JSON output of a run
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/views/json.h"

#include "tools/launch/run/process.h"
#include "tools/launch/views/output.h"

#include <json-glib/json-glib.h>

static void
add_string (JsonBuilder *b, const gchar *name, const gchar *value)
{
  json_builder_set_member_name (b, name);
  if (value)
    json_builder_add_string_value (b, value);
  else
    json_builder_add_null_value (b);
}

static void
add_number (JsonBuilder *b, const gchar *name, double value)
{
  json_builder_set_member_name (b, name);
  json_builder_add_double_value (b, value);
}

static void
add_count (JsonBuilder *b, const gchar *name, guint64 value)
{
  json_builder_set_member_name (b, name);
  json_builder_add_int_value (b, value);
}

static void
add_flag (JsonBuilder *b, const gchar *name)
{
  json_builder_set_member_name (b, name);
  json_builder_add_boolean_value (b, TRUE);
}

/* Field names and units are those of the messages. */
static gboolean
add_field (GQuark field, const GValue *value, gpointer user_data)
{
  JsonBuilder *b = user_data;
  const gchar *name = g_quark_to_string (field);

  if (G_VALUE_HOLDS_UINT64 (value))
    add_count (b, name, g_value_get_uint64 (value));
  else if (G_VALUE_HOLDS_UINT (value))
    add_count (b, name, g_value_get_uint (value));
  else if (G_VALUE_HOLDS_DOUBLE (value))
    add_number (b, name, g_value_get_double (value));
  else if (g_str_equal (name, "automatic"))
    add_flag (b, name);
  else if (G_VALUE_HOLDS_STRING (value))
    add_string (b, name, g_value_get_string (value));
  return TRUE;
}

static void
add_structure (JsonBuilder *b, const GstStructure *s)
{
  json_builder_begin_object (b);
  gst_structure_foreach (s, add_field, b);
  json_builder_end_object (b);
}

static void
add_stages (JsonBuilder *b, const Snapshot *snapshot)
{
  json_builder_set_member_name (b, "stages");
  json_builder_begin_array (b);
  for (guint i = 0; i < snapshot->stages->len; i++)
    add_structure (b, g_ptr_array_index (snapshot->stages, i));
  json_builder_end_array (b);
}

static void
add_verdict (JsonBuilder *b, const GstSpdlDiagnosis *d)
{
  const GstStructure *roofline = gst_spdl_diagnosis_get_roofline (d);
  g_autofree gchar *suggestion = gst_spdl_diagnosis_dup_suggestion (d);

  json_builder_set_member_name (b, "verdict");
  json_builder_begin_object (b);
  add_string (b, "limit", gst_spdl_diagnosis_get_limit_nick (d));
  add_string (b, "element", gst_spdl_diagnosis_get_element (d));
  add_string (b, "reason", gst_spdl_diagnosis_get_reason (d));
  add_string (b, "sentence", gst_spdl_diagnosis_get_sentence (d));
  add_string (b, "suggestion", suggestion);
  add_number (b, "gain", gst_spdl_diagnosis_get_gain (d));
  json_builder_set_member_name (b, "roofline");
  if (roofline)
    add_structure (b, roofline);
  else
    json_builder_add_null_value (b);
  json_builder_end_object (b);
}

static void
add_snapshot (JsonBuilder *b, const Snapshot *snapshot)
{
  add_number (b, "time", snapshot->time);
  add_number (b, "elapsed", snapshot->elapsed);
  add_count (b, "items", snapshot->items);
  add_count (b, "batches", snapshot->batches);
  add_count (b, "failures", snapshot->failures);
  add_count (b, "filtered", snapshot->filtered);
  add_number (b, "items-per-second", snapshot->item_rate);
  add_number (b, "batches-per-second", snapshot->batch_rate);
  add_number (b, "cores", snapshot->cores);
  add_count (b, "num-cores", snapshot->num_cores);
  add_count (b, "memory", snapshot->memory);
  add_stages (b, snapshot);
  add_verdict (b, snapshot->diagnosis);
}

static void
add_intervals (JsonBuilder *b, GPtrArray *snapshots)
{
  json_builder_set_member_name (b, "intervals");
  json_builder_begin_array (b);
  for (guint i = 0; i < snapshots->len; i++) {
    json_builder_begin_object (b);
    add_snapshot (b, g_ptr_array_index (snapshots, i));
    json_builder_end_object (b);
  }
  json_builder_end_array (b);
}

static void
add_failures (JsonBuilder *b, GPtrArray *failures)
{
  json_builder_set_member_name (b, "failed-items");
  json_builder_begin_array (b);
  for (guint i = 0; i < failures->len; i++) {
    const GstStructure *s = g_ptr_array_index (failures, i);
    g_autofree gchar *reason = failure_dup_reason (s);

    json_builder_begin_object (b);
    gst_structure_foreach (s, add_field, b);
    add_string (b, "error", reason);
    json_builder_end_object (b);
  }
  json_builder_end_array (b);
}

static void
add_tuning (JsonBuilder *b, GPtrArray *decisions)
{
  json_builder_set_member_name (b, "tuning");
  json_builder_begin_array (b);
  for (guint i = 0; i < decisions->len; i++)
    add_structure (b, g_ptr_array_index (decisions, i));
  json_builder_end_array (b);
}

static void
add_elements (JsonBuilder *b, GPtrArray *parts)
{
  json_builder_set_member_name (b, "elements");
  json_builder_begin_array (b);
  for (guint i = 0; i < parts->len; i++) {
    const Part *part = g_ptr_array_index (parts, i);

    json_builder_add_string_value (b, part->name);
  }
  json_builder_end_array (b);
}

static const gchar *
describe_end (Session *session)
{
  switch (session->end) {
    case SESSION_ENDED:
      return "end-of-stream";
    case SESSION_LIMITED:
      return "limit";
    case SESSION_INTERRUPTED:
      return "interrupted";
    default:
      return "error";
  }
}

static JsonNode *
make_json (Session *session, const GError *failure)
{
  g_autoptr (JsonBuilder) b = json_builder_new ();

  json_builder_begin_object (b);
  add_string (b, "version", PACKAGE_VERSION);
  add_string (b, "pipeline", session->description);
  add_string (b, "host", g_get_host_name ());
  add_count (b, "rank", process_get_rank ());
  add_string (b, "end", describe_end (session));
  add_string (b, "error", failure ? failure->message : NULL);
  add_string (b, "resume-state", session->state);
  add_elements (b, session->parts);
  add_snapshot (b, session->result);
  add_failures (b, session->failures);
  add_tuning (b, session->tuning);
  add_intervals (b, session->snapshots);
  json_builder_end_object (b);
  return json_builder_get_root (b);
}

gboolean
json_write (
    Session *session, const gchar *file, const GError *failure, GError **error)
{
  g_autoptr (JsonNode) root = make_json (session, failure);
  g_autofree gchar *text = json_to_string (root, TRUE);
  g_autofree gchar *line = g_strconcat (text, "\n", NULL);

  return output_write (file, line, error);
}
