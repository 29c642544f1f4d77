/* gst-spdl: loaders for the Python package
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/arrow/arrowreader.h"
#include "gst/spdl/binding/binding.h"
#include "gst/spdl/binding/structurejson.h"
#include "gst/spdl/common/showntext.h"
#include "gst/spdl/cuda/cudart.h"
#include "gst/spdl/engine/trace.h"
#include "gst/spdl/loader/buswatch.h"
#include "gst/spdl/loader/loader-private.h"

guint
gst_spdl_binding_get_version (void)
{
  return GST_SPDL_BINDING_VERSION;
}

gchar **
gst_spdl_binding_list_versions (void)
{
  GStrvBuilder *builder = g_strv_builder_new ();
  g_autofree gchar *glib = g_strdup_printf (
      "%u.%u.%u", glib_major_version, glib_minor_version, glib_micro_version);
  guint major, minor, micro, nano;
  g_autofree gchar *gstreamer = NULL;
  gchar **versions;

  gst_version (&major, &minor, &micro, &nano);
  gstreamer = g_strdup_printf ("%u.%u.%u", major, minor, micro);
  g_strv_builder_add_many (builder, "gst-spdl", PACKAGE_VERSION, "glib", glib,
      "gstreamer", gstreamer, NULL);
  versions = g_strv_builder_end (builder);
  g_strv_builder_unref (builder);
  return versions;
}

void
gst_spdl_binding_add_cuda_folder (const gchar *folder)
{
  gst_spdl_cudart_add_folder (folder);
}

gboolean
gst_spdl_binding_trace_start (const gchar *path, GError **error)
{
  return spdl_trace_start (path, error);
}

guint64
gst_spdl_binding_trace_stop (GError **error)
{
  guint64 n_dropped;

  spdl_trace_stop (&n_dropped, error);
  return n_dropped;
}

void
gst_spdl_binding_arrow_end (guint64 timeout)
{
  spdl_arrow_end (timeout);
}

gchar **
gst_spdl_binding_loader_list_locations (GstSpdlLoader *loader)
{
  const GPtrArray *sources = loader->parts.sources;
  GPtrArray *found = g_ptr_array_new ();

  for (guint i = 0; i < sources->len; i++) {
    GstElement *source = g_ptr_array_index (sources, i);
    gchar *location = NULL, *pattern = NULL, *label = NULL;

    if (!spdl_arrow_get_setter (source))
      continue;
    g_object_get (source, "location", &location, "pattern", &pattern,
        "label-column", &label, NULL);
    g_ptr_array_add (found, location ? location : g_strdup (""));
    g_ptr_array_add (found, pattern ? pattern : g_strdup (""));
    g_ptr_array_add (found, label ? label : g_strdup (""));
  }
  g_ptr_array_add (found, NULL);
  return (gchar **) g_ptr_array_free (found, FALSE);
}

/* Memory */

void
gst_spdl_binding_free (gpointer memory)
{
  g_free (memory);
}

void
gst_spdl_binding_free_strings (gchar **strings)
{
  g_strfreev (strings);
}

gchar *
gst_spdl_binding_show_line (const gchar *text)
{
  return spdl_show_line (text);
}

void
gst_spdl_binding_free_error (GError *error)
{
  g_error_free (error);
}

void
gst_spdl_binding_unref_object (gpointer object)
{
  g_object_unref (object);
}

/* Errors */

static GQuark
source_error_quark (void)
{
  return g_quark_from_static_string ("gst-spdl-binding-source-error-quark");
}

const gchar *
gst_spdl_binding_get_error_nick (gint code)
{
  GEnumClass *klass = g_type_class_ref (GST_TYPE_SPDL_LOADER_ERROR);
  const GEnumValue *value = g_enum_get_value (klass, code);

  g_type_class_unref (klass);
  return value ? value->value_nick : NULL;
}

const gchar *
gst_spdl_binding_get_error_domain (GQuark domain)
{
  return g_quark_to_string (domain);
}

const gchar *
gst_spdl_binding_get_error_code (const GError *error)
{
  if (error->domain == GST_SPDL_LOADER_ERROR)
    return gst_spdl_binding_get_error_nick (error->code);
  return error->domain == source_error_quark () ? "source-error"
                                                : "pipeline-error";
}

/* Failures and warnings */

void
gst_spdl_binding_loader_keep_notices (GstSpdlLoader *loader)
{
  loader->keeps_notices = TRUE;
}

void
gst_spdl_binding_loader_try_next (
    GstSpdlLoader *loader, GstSpdlBindingPull *pull)
{
  if (pull->ready)
    return;
  *pull = (GstSpdlBindingPull){ .ready = TRUE };
  pull->batch = gst_spdl_loader_next (loader, 0, &pull->error);
  if (g_error_matches (pull->error, GST_SPDL_LOADER_ERROR,
          GST_SPDL_LOADER_ERROR_TIMED_OUT)) {
    g_clear_error (&pull->error);
    pull->ready = FALSE;
  }
  pull->has_notices = !g_queue_is_empty (&loader->kept_notices);
}

gboolean
gst_spdl_binding_loader_is_in_epoch (GstSpdlLoader *loader)
{
  gboolean in_epoch;

  spdl_mutex_lock (&loader->lock);
  in_epoch = loader->phase == GST_SPDL_LOADER_IN_EPOCH;
  spdl_mutex_unlock (&loader->lock);
  return in_epoch;
}

gchar *
gst_spdl_binding_loader_read_state (GstSpdlLoader *loader)
{
  return gst_spdl_loader_read_state (loader);
}

gboolean
gst_spdl_binding_loader_continue (
    GstSpdlLoader *loader, guint64 n_repeated, GError **error)
{
  return gst_spdl_loader_continue (loader, n_repeated, error);
}

gpointer
gst_spdl_binding_loader_pop_notice (GstSpdlLoader *loader)
{
  gpointer notice;

  spdl_mutex_lock (&loader->lock);
  notice = g_queue_pop_head (&loader->kept_notices);
  spdl_mutex_unlock (&loader->lock);
  return notice;
}

void
gst_spdl_binding_free_notice (gpointer notice)
{
  gst_spdl_notice_free (notice);
}

/* Properties */

gint
gst_spdl_binding_loader_get_max_failures (GstSpdlLoader *loader)
{
  gint max_failures;

  g_object_get (loader, "max-failures", &max_failures, NULL);
  return max_failures;
}

void
gst_spdl_binding_loader_set_max_failures (
    GstSpdlLoader *loader, gint max_failures)
{
  g_object_set (loader, "max-failures", max_failures, NULL);
}

gdouble
gst_spdl_binding_loader_get_cpu_budget (GstSpdlLoader *loader)
{
  gdouble budget;

  g_object_get (loader, "cpu-budget", &budget, NULL);
  return budget;
}

void
gst_spdl_binding_loader_set_cpu_budget (GstSpdlLoader *loader, gdouble budget)
{
  g_object_set (loader, "cpu-budget", budget, NULL);
}

gchar *
gst_spdl_binding_loader_dup_stats (GstSpdlLoader *loader)
{
  GString *json = g_string_new ("[");
  GList *stats = gst_spdl_loader_dup_stats (loader);

  for (const GList *l = stats; l; l = l->next) {
    if (l != stats)
      g_string_append_c (json, ',');
    spdl_json_append_structure (json, l->data);
  }
  g_list_free_full (stats, (GDestroyNotify) gst_structure_free);
  return g_string_free (g_string_append_c (json, ']'), FALSE);
}

gchar *
gst_spdl_binding_loader_dup_verdict (GstSpdlLoader *loader)
{
  g_autoptr (GstSpdlDiagnosis) d = gst_spdl_loader_diagnose (loader);
  g_autofree gchar *suggestion = gst_spdl_diagnosis_dup_suggestion (d);
  const GstStructure *roofline = gst_spdl_diagnosis_get_roofline (d);
  GString *json = g_string_new (NULL);
  GstStructure *s = gst_structure_new ("verdict", "limit", G_TYPE_STRING,
      gst_spdl_diagnosis_get_limit_nick (d), "element", G_TYPE_STRING,
      gst_spdl_diagnosis_get_element (d), "reason", G_TYPE_STRING,
      gst_spdl_diagnosis_get_reason (d), "sentence", G_TYPE_STRING,
      gst_spdl_diagnosis_get_sentence (d), "suggestion", G_TYPE_STRING,
      suggestion, "gain", G_TYPE_DOUBLE, gst_spdl_diagnosis_get_gain (d), NULL);

  if (roofline)
    gst_structure_set (s, "roofline", GST_TYPE_STRUCTURE, roofline, NULL);
  spdl_json_append_structure (json, s);
  gst_structure_free (s);
  return g_string_free (json, FALSE);
}

/* Sources */

gboolean
gst_spdl_binding_loader_fail_source (
    GstSpdlLoader *loader, const gchar *reason, GError **error)
{
  g_autoptr (GError) cause =
      g_error_new_literal (source_error_quark (), 0, reason);

  return gst_spdl_loader_end_source (loader, cause, error);
}

gboolean
gst_spdl_binding_loader_push (GstSpdlLoader *loader, GstSample *sample,
    gint64 label, const gchar *uri, GstClockTime timeout, GError **error)
{
  return gst_spdl_loader_push (loader, gst_sample_get_buffer (sample),
      gst_sample_get_caps (sample), label, uri, timeout, error);
}
