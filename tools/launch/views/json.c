/* gst-spdl-launch: JSON output of a run
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/views/json.h"

#include "tools/launch/run/process.h"
#include "tools/launch/views/output.h"

/* Adds a field of a message, with its name and unit. Flags other than these are
 * for programs that read messages. */
static gboolean
add_field (GQuark field, const GValue *value, gpointer user_data)
{
  static const gchar *const flags[] = { "automatic", "cached", NULL };
  JsonBuilder *b = user_data;
  const gchar *name = g_quark_to_string (field);

  if (G_VALUE_HOLDS_BOOLEAN (value) && !g_strv_contains (flags, name))
    return TRUE;
  if (G_VALUE_HOLDS_UINT64 (value))
    json_builder_add_int_value (
        json_builder_set_member_name (b, name), g_value_get_uint64 (value));
  else if (G_VALUE_HOLDS_UINT (value))
    json_builder_add_int_value (
        json_builder_set_member_name (b, name), g_value_get_uint (value));
  else if (G_VALUE_HOLDS_DOUBLE (value))
    json_builder_add_double_value (
        json_builder_set_member_name (b, name), g_value_get_double (value));
  else if (G_VALUE_HOLDS_BOOLEAN (value))
    json_builder_add_boolean_value (
        json_builder_set_member_name (b, name), g_value_get_boolean (value));
  else if (G_VALUE_HOLDS_STRING (value) && g_value_get_string (value))
    json_builder_add_string_value (
        json_builder_set_member_name (b, name), g_value_get_string (value));
  else if (G_VALUE_HOLDS_STRING (value))
    json_builder_add_null_value (json_builder_set_member_name (b, name));
  return TRUE;
}

void
json_add (JsonBuilder *b, const gchar *member, ...)
{
  GstStructure *members;
  va_list args;

  va_start (args, member);
  members = gst_structure_new_valist ("members", member, args);
  va_end (args);
  gst_structure_foreach (members, add_field, b);
  gst_structure_free (members);
}

void
json_add_array (JsonBuilder *b, const gchar *name, GPtrArray *all,
    void (*add) (JsonBuilder *b, gconstpointer element))
{
  json_builder_set_member_name (b, name);
  json_builder_begin_array (b);
  for (guint i = 0; i < all->len; i++) {
    json_builder_begin_object (b);
    add (b, g_ptr_array_index (all, i));
    json_builder_end_object (b);
  }
  json_builder_end_array (b);
}

gboolean
json_output (JsonBuilder *b, const gchar *file, GError **error)
{
  g_autoptr (JsonNode) root = json_builder_get_root (b);
  g_autofree gchar *text = json_to_string (root, TRUE);
  g_autofree gchar *line = g_strconcat (text, "\n", NULL);

  g_object_unref (b);
  return output_write (file, line, error);
}

static void
add_structure (JsonBuilder *b, gconstpointer structure)
{
  gst_structure_foreach (structure, add_field, b);
}

static void
add_failure (JsonBuilder *b, gconstpointer failure)
{
  const GstSpdlFailure *f = failure;

  json_add (b, "stage", G_TYPE_STRING, f->stage, "error", G_TYPE_STRING,
      f->error->message, "num-failures", G_TYPE_UINT64, f->num_failures, NULL);
  if (f->index != G_MAXUINT64)
    json_add (b, "uri", G_TYPE_STRING, f->uri, "index", G_TYPE_UINT64, f->index,
        "source", G_TYPE_UINT, f->source, "epoch", G_TYPE_UINT64, f->epoch,
        "sequence", G_TYPE_UINT64, f->sequence, NULL);
}

static void
add_verdict (JsonBuilder *b, const GstSpdlDiagnosis *d)
{
  const GstStructure *roofline = gst_spdl_diagnosis_get_roofline (d);
  g_autofree gchar *suggestion = gst_spdl_diagnosis_dup_suggestion (d);

  json_builder_set_member_name (b, "verdict");
  json_builder_begin_object (b);
  json_add (b, "limit", G_TYPE_STRING, gst_spdl_diagnosis_get_limit_nick (d),
      "element", G_TYPE_STRING, gst_spdl_diagnosis_get_element (d), "reason",
      G_TYPE_STRING, gst_spdl_diagnosis_get_reason (d), "sentence",
      G_TYPE_STRING, gst_spdl_diagnosis_get_sentence (d), "suggestion",
      G_TYPE_STRING, suggestion, "gain", G_TYPE_DOUBLE,
      gst_spdl_diagnosis_get_gain (d), NULL);
  json_builder_set_member_name (b, "roofline");
  if (roofline) {
    json_builder_begin_object (b);
    add_structure (b, roofline);
    json_builder_end_object (b);
  } else {
    json_builder_add_null_value (b);
  }
  json_builder_end_object (b);
}

static void
add_snapshot (JsonBuilder *b, gconstpointer data)
{
  const Snapshot *s = data;

  json_add (b, "time", G_TYPE_DOUBLE, s->time, "elapsed", G_TYPE_DOUBLE,
      s->elapsed, "items", G_TYPE_UINT64, s->items, "batches", G_TYPE_UINT64,
      s->batches, "failures", G_TYPE_UINT64, s->failures, "filtered",
      G_TYPE_UINT64, s->filtered, "items-per-second", G_TYPE_DOUBLE,
      s->item_rate, "batches-per-second", G_TYPE_DOUBLE, s->batch_rate, "cores",
      G_TYPE_DOUBLE, s->cores, "num-cores", G_TYPE_UINT, s->num_cores, "memory",
      G_TYPE_UINT64, s->memory, NULL);
  json_add_array (b, "stages", s->stages, add_structure);
  add_verdict (b, s->diagnosis);
}

static void
add_elements (JsonBuilder *b, GPtrArray *parts)
{
  json_builder_set_member_name (b, "elements");
  json_builder_begin_array (b);
  for (guint i = 0; i < parts->len; i++)
    json_builder_add_string_value (
        b, ((const Part *) g_ptr_array_index (parts, i))->name);
  json_builder_end_array (b);
}

static const gchar *
describe_end (SessionEnd end)
{
  switch (end) {
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

gboolean
json_write (
    Session *session, const gchar *file, const GError *failure, GError **error)
{
  JsonBuilder *b = json_builder_new ();

  json_builder_begin_object (b);
  json_add (b, "version", G_TYPE_STRING, PACKAGE_VERSION, "pipeline",
      G_TYPE_STRING, session->description, "host", G_TYPE_STRING,
      g_get_host_name (), "rank", G_TYPE_UINT, process_get_rank (), "end",
      G_TYPE_STRING, describe_end (session->end), "error", G_TYPE_STRING,
      failure ? failure->message : NULL, "resume-state", G_TYPE_STRING,
      session->state, NULL);
  add_elements (b, session->parts);
  add_snapshot (b, session->result);
  json_add_array (b, "failed-items", session->failures, add_failure);
  json_add_array (b, "tuning", session->tuning, add_structure);
  json_add_array (b, "intervals", session->snapshots, add_snapshot);
  json_builder_end_object (b);
  return json_output (b, file, error);
}
