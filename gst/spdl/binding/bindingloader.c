/* gst-spdl: loaders, samples, decoders and processes for the Python package
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/arrow/arrowreader.h"
#include "gst/spdl/binding/binding.h"
#include "gst/spdl/common/shapes.h"
#include "gst/spdl/common/showntext.h"
#include "gst/spdl/cuda/cudart.h"
#include "gst/spdl/engine/trace.h"
#include "gst/spdl/loader/buswatch.h"
#include "gst/spdl/loader/loader-private.h"
#include "gst/spdl/common/bufferitems.h"
#include "gst/spdl/gstspdlitemmeta.h"
#include "gst/spdl/gstspdlpartsmeta.h"
#include "gst/spdl/wire/serializer.h"
#include <math.h>
#include <string.h>

/* Structures as JSON */

static void
append_string (GString *json, const gchar *text)
{
  if (!text) {
    g_string_append (json, "null");
    return;
  }
  g_string_append_c (json, '"');
  for (const guchar *p = (const guchar *) text; *p; p++) {
    if (*p == '"' || *p == '\\')
      g_string_append_printf (json, "\\%c", *p);
    else if (*p < 0x20)
      g_string_append_printf (json, "\\u%04x", *p);
    else
      g_string_append_c (json, (gchar) *p);
  }
  g_string_append_c (json, '"');
}

static void
append_double (GString *json, gdouble value)
{
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_dtostr (digits, sizeof (digits), value);
  /* NaN and infinity are not valid JSON, but the readers accept them. */
  if (!isfinite (value))
    g_string_append (json, isnan (value) ? "NaN"
                           : value > 0   ? "Infinity"
                                         : "-Infinity");
  else
    /* Readers make an integer of a number without a point. */
    g_string_append_printf (
        json, "%s%s", digits, strpbrk (digits, ".e") ? "" : ".0");
}

static void append_value (GString *json, const GValue *value);
static void append_structure (GString *json, const GstStructure *structure);

static void
append_values (GString *json, const GValue *values, guint n,
    const GValue *(*get) (const GValue *values, guint i))
{
  g_string_append_c (json, '[');
  for (guint i = 0; i < n; i++) {
    if (i > 0)
      g_string_append_c (json, ',');
    append_value (json, get (values, i));
  }
  g_string_append_c (json, ']');
}

static void
append_value (GString *json, const GValue *value)
{
  g_autofree gchar *text = NULL;

  if (G_VALUE_HOLDS_STRING (value))
    append_string (json, g_value_get_string (value));
  else if (G_VALUE_HOLDS_BOOLEAN (value))
    g_string_append (json, g_value_get_boolean (value) ? "true" : "false");
  else if (G_VALUE_HOLDS_DOUBLE (value))
    append_double (json, g_value_get_double (value));
  else if (G_VALUE_HOLDS_FLOAT (value))
    append_double (json, (gdouble) g_value_get_float (value));
  else if (G_VALUE_HOLDS_INT (value))
    g_string_append_printf (json, "%d", g_value_get_int (value));
  else if (G_VALUE_HOLDS_UINT (value))
    g_string_append_printf (json, "%u", g_value_get_uint (value));
  else if (G_VALUE_HOLDS_INT64 (value))
    g_string_append_printf (
        json, "%" G_GINT64_FORMAT, g_value_get_int64 (value));
  else if (G_VALUE_HOLDS_UINT64 (value))
    g_string_append_printf (
        json, "%" G_GUINT64_FORMAT, g_value_get_uint64 (value));
  else if (GST_VALUE_HOLDS_STRUCTURE (value))
    append_structure (json, gst_value_get_structure (value));
  else if (GST_VALUE_HOLDS_ARRAY (value))
    append_values (json, value, gst_value_array_get_size (value),
        gst_value_array_get_value);
  else if (GST_VALUE_HOLDS_LIST (value))
    append_values (
        json, value, gst_value_list_get_size (value), gst_value_list_get_value);
  else
    append_string (json, text = gst_value_serialize (value));
}

static void
append_structure (GString *json, const GstStructure *structure)
{
  const gint n = structure ? gst_structure_n_fields (structure) : 0;

  g_string_append_c (json, '{');
  for (gint i = 0; i < n; i++) {
    const gchar *name = gst_structure_nth_field_name (structure, (guint) i);
    const GValue *value = gst_structure_get_value (structure, name);

    if (G_VALUE_HOLDS (value, SPDL_TYPE_SHAPES)) {
      spdl_shapes_append_json (g_value_get_boxed (value), structure, json);
      continue;
    }
    if (json->str[json->len - 1] != '{')
      g_string_append_c (json, ',');
    append_string (json, name);
    g_string_append_c (json, ':');
    append_value (json, value);
  }
  g_string_append_c (json, '}');
}

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

guint64
gst_spdl_binding_loader_get_number (
    GstSpdlLoader *loader, const gchar *factory, const gchar *property)
{
  GstIterator *elements = gst_bin_iterate_all_by_element_factory_name (
      GST_BIN (loader->parts.pipeline), factory);
  GValue element = G_VALUE_INIT, number = G_VALUE_INIT;
  guint n = 0;

  g_value_init (&number, G_TYPE_UINT64);
  while (gst_iterator_next (elements, &element) == GST_ITERATOR_OK) {
    g_object_get_property (g_value_get_object (&element), property, &number);
    g_value_unset (&element);
    n++;
  }
  gst_iterator_free (elements);
  return n == 1 ? g_value_get_uint64 (&number) : G_MAXUINT64;
}

guint64
gst_spdl_binding_loader_get_seed (GstSpdlLoader *loader)
{
  const GPtrArray *sources = loader->parts.sources;
  guint64 seed = 0;

  for (guint i = 0; i < sources->len; i++) {
    GObject *source = g_ptr_array_index (sources, i);
    GParamSpec *property =
        g_object_class_find_property (G_OBJECT_GET_CLASS (source), "seed");

    if (property && property->value_type == G_TYPE_UINT64) {
      g_object_get (source, "seed", &seed, NULL);
      break;
    }
  }
  return seed;
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
    append_structure (json, l->data);
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
  append_structure (json, s);
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

/* Samples */

gpointer
gst_spdl_binding_ref (gpointer mini_object)
{
  return gst_mini_object_ref (mini_object);
}

void
gst_spdl_binding_unref (gpointer mini_object)
{
  gst_mini_object_unref (mini_object);
}

GstCaps *
gst_spdl_binding_caps_new (const gchar *description)
{
  return gst_caps_from_string (description);
}

/* @buffer: (transfer full) */
static GstSample *
new_sample (GstBuffer *buffer, GstCaps *caps)
{
  GstSample *sample = gst_sample_new (buffer, caps, NULL, NULL);

  gst_buffer_unref (buffer);
  return sample;
}

GstSample *
gst_spdl_binding_sample_new (
    gconstpointer data, gsize size, GstCaps *caps, SpdlProcessLink *link)
{
  GstBuffer *buffer =
      link && size > 0 ? gst_spdl_process_link_alloc (link, size) : NULL;

  if (buffer)
    gst_buffer_fill (buffer, 0, data, size);
  else
    buffer = size > 0 ? gst_buffer_new_memdup (data, size) : gst_buffer_new ();
  return new_sample (buffer, caps);
}

GstSample *
gst_spdl_binding_sample_new_from_buffer (GstBuffer *buffer)
{
  return gst_sample_new (buffer, NULL, NULL, NULL);
}

GstSample *
gst_spdl_binding_sample_new_from_parts (
    guint n, const gchar *const *names, GstSample *const *parts)
{
  GstBuffer *buffer = gst_buffer_new ();
  g_autoptr (GstCaps) caps = gst_caps_from_string (GST_SPDL_SAMPLE_CAPS);

  for (guint i = 0; i < n; i++)
    if (!gst_spdl_buffer_append_part (buffer, names[i],
            gst_sample_get_buffer (parts[i]), gst_sample_get_caps (parts[i]))) {
      gst_buffer_unref (buffer);
      return NULL;
    }
  return new_sample (buffer, caps);
}

GstSample *
gst_spdl_binding_sample_new_from_items (guint n, GstSample *const *items)
{
  g_autoptr (GstBufferList) group = gst_buffer_list_new_sized (MAX (n, 1));
  GstCaps *caps = n > 0 ? gst_sample_get_caps (items[0]) : NULL;
  GstSample *sample;

  for (guint i = 0; i < n; i++) {
    GstCaps *own = gst_sample_get_caps (items[i]);

    if (own != caps && !(own && caps && gst_caps_is_equal (own, caps)))
      return NULL;
    gst_buffer_list_add (
        group, gst_buffer_ref (gst_sample_get_buffer (items[i])));
  }
  sample = gst_sample_new (NULL, caps, NULL, NULL);
  gst_sample_set_buffer_list (sample, group);
  return sample;
}

gboolean
gst_spdl_binding_sample_is_group (GstSample *sample, guint *n_items)
{
  GstBufferList *group = gst_sample_get_buffer_list (sample);

  *n_items = group ? gst_buffer_list_length (group) : 1;
  return group != NULL;
}

GstSample *
gst_spdl_binding_sample_dup_item (GstSample *sample, guint i)
{
  GstBufferList *group = gst_sample_get_buffer_list (sample);

  if (!group || i >= gst_buffer_list_length (group))
    return NULL;
  return gst_sample_new (
      gst_buffer_list_get (group, i), gst_sample_get_caps (sample), NULL, NULL);
}

gboolean
gst_spdl_binding_sample_get_item (GstSample *sample, GstSpdlBindingItem *item)
{
  GstBuffer *buffer = gst_sample_get_buffer (sample);
  const GstSpdlItemMeta *meta =
      buffer ? gst_spdl_buffer_get_item_meta (buffer) : NULL;

  if (!meta)
    return FALSE;
  *item = (GstSpdlBindingItem){
    .epoch = meta->epoch,
    .index = meta->index,
    .label = meta->label,
    .uri = meta->uri,
  };
  return TRUE;
}

gchar *
gst_spdl_binding_sample_dup_caps (GstSample *sample)
{
  GstCaps *caps = gst_sample_get_caps (sample);

  return caps ? gst_caps_to_string (caps) : g_strdup ("");
}

gsize
gst_spdl_binding_sample_get_size (GstSample *sample)
{
  GstBuffer *buffer = gst_sample_get_buffer (sample);

  return buffer ? gst_buffer_get_size (buffer) : 0;
}

void
gst_spdl_binding_sample_copy_data (GstSample *sample, gpointer dest, gsize size)
{
  gst_buffer_extract (gst_sample_get_buffer (sample), 0, dest, size);
}

GstSpdlBatch *
gst_spdl_binding_sample_view (GstSample *sample, GError **error)
{
  GstBuffer *buffer = gst_sample_get_buffer (sample);

  if (buffer)
    return gst_spdl_batch_new (buffer, gst_sample_get_caps (sample), error);
  g_set_error_literal (error, GST_SPDL_LOADER_ERROR,
      GST_SPDL_LOADER_ERROR_FAILED,
      "A group has no tensors: read the tensors of its items");
  return NULL;
}

/* Extra fields */

static gchar *
dup_extra (const GstSpdlItemMeta *item)
{
  GString *json;

  if (!item || !item->extra)
    return NULL;
  json = g_string_new (NULL);
  append_structure (json, item->extra);
  return g_string_free (json, FALSE);
}

static const GstSpdlItemMeta *
get_item (GstSample *sample)
{
  GstBuffer *buffer = gst_sample_get_buffer (sample);

  return buffer ? gst_spdl_buffer_get_item_meta (buffer) : NULL;
}

gchar *
gst_spdl_binding_sample_dup_extra (GstSample *sample)
{
  return dup_extra (get_item (sample));
}

static gboolean
set_field (GQuark field, const GValue *value, gpointer user_data)
{
  gst_structure_id_set_value (user_data, field, value);
  return TRUE;
}

/* Returns (transfer full) (nullable) the fields of @extra (nullable) with
 * changes; NULL if these are invalid. */
static GstStructure *
change_extra (const GstStructure *extra, gconstpointer changes, gsize size,
    const gchar *const *gone)
{
  SpdlPayload payload = spdl_payload (changes, size);
  g_autoptr (GstStructure) fields = spdl_get_structure (&payload);
  const SpdlShapes *shapes = spdl_shapes_find (extra);
  GstStructure *changed;

  if (!fields || payload.broken)
    return NULL;
  /* An empty list says that an item has no boxes. */
  for (guint i = 0; shapes && gone[i]; i++)
    if (spdl_shapes_have (shapes, gone[i]))
      return NULL;
  changed =
      extra ? gst_structure_copy (extra) : gst_structure_new_empty ("extra");
  gst_structure_foreach (fields, set_field, changed);
  for (guint i = 0; gone[i]; i++)
    gst_structure_remove_field (changed, gone[i]);
  return changed;
}

GstSample *
gst_spdl_binding_sample_with_extra (GstSample *sample, GstSample *item,
    gconstpointer changes, gsize size, const gchar *const *gone)
{
  const GstSpdlItemMeta *meta = get_item (item);
  GstBuffer *buffer = gst_sample_get_buffer (sample);
  GstSpdlItemMeta *own;
  GstStructure *extra;

  if (!meta || !buffer)
    return NULL;
  buffer = gst_buffer_copy (buffer);
  if (!(own = gst_spdl_buffer_get_item_meta (buffer))) {
    own = gst_spdl_buffer_add_item_meta (buffer);
    gst_spdl_item_meta_assign (own, meta);
  }
  if (!(extra = change_extra (own->extra, changes, size, gone))) {
    gst_buffer_unref (buffer);
    return NULL;
  }
  g_clear_pointer (&own->extra, gst_structure_free);
  own->extra = extra;
  return new_sample (buffer, gst_sample_get_caps (sample));
}

gboolean
gst_spdl_binding_sample_keep_extra (GstSample *sample, gconstpointer changes,
    gsize size, const gchar *const *gone)
{
  const GstSpdlItemMeta *meta = get_item (sample);
  GstStructure *extra =
      meta ? change_extra (meta->extra, changes, size, gone) : NULL;

  if (extra)
    spdl_sample_set_new_extra (sample, extra);
  return extra != NULL;
}

/* Tensors */

/* NumPy's NPY_ARRAY_NOTSWAPPED and NPY_ARRAY_WRITEABLE. It determines the other
 * flags itself. */
#define NOTSWAPPED 0x200
#define WRITEABLE 0x400

/* NumPy has no bfloat16, and does not read the memory of a device. */
static void
fill_array_interface (GstSpdlTensor *tensor, GstSpdlBindingTensor *view)
{
  SpdlArrayInterface *array = &view->array;
  guint n;

  if (view->device_type != GST_SPDL_DEVICE_CPU || view->typestr[1] == 'V')
    return;
  array->two = 2;
  array->n_dims = (gint) view->n_dims;
  array->kind = view->typestr[1];
  array->itemsize = view->typestr[2] - '0';
  array->flags = NOTSWAPPED | (view->writable ? WRITEABLE : 0);
  array->shape = view->shape;
  array->strides = gst_spdl_tensor_get_strides (tensor, &n);
  array->data = view->address;
}

void
gst_spdl_binding_tensor_describe (
    GstSpdlTensor *tensor, GstSpdlBindingTensor *view)
{
  *view = (GstSpdlBindingTensor){
    .tensor = tensor,
    .typestr = gst_spdl_tensor_get_typestr (tensor),
    .address = gst_spdl_tensor_get_address (tensor),
    .contiguous = gst_spdl_tensor_is_contiguous (tensor),
    .writable = gst_spdl_tensor_is_writable (tensor),
  };
  view->shape = gst_spdl_tensor_get_shape (tensor, &view->n_dims);
  view->device_type =
      (gint) gst_spdl_tensor_get_device (tensor, &view->device_id);
  fill_array_interface (tensor, view);
}

/* @tensor: (transfer full) (nullable): a tensor of a batch that stays */
static gboolean
describe_own (GstSpdlTensor *tensor, GstSpdlBindingTensor *view)
{
  if (!tensor)
    return FALSE;
  gst_spdl_binding_tensor_describe (tensor, view);
  /* The batch keeps the tensor alive. */
  gst_spdl_tensor_unref (tensor);
  return TRUE;
}

gboolean
gst_spdl_binding_batch_find_tensor (
    GstSpdlBatch *batch, const gchar *name, GstSpdlBindingTensor *view)
{
  return describe_own (gst_spdl_batch_find_tensor (batch, name), view);
}

gboolean
gst_spdl_binding_batch_get_tensor (
    GstSpdlBatch *batch, guint i, GstSpdlBindingTensor *view)
{
  return describe_own (gst_spdl_batch_dup_tensor (batch, i), view);
}

/* Batches */

gchar *
gst_spdl_binding_batch_dup_extra (const GstSpdlBatch *batch, guint i)
{
  return dup_extra (gst_spdl_batch_get_item (batch, i));
}

GstSpdlBatch *
gst_spdl_binding_batch_copy (const GstSpdlBatch *batch, GError **error)
{
  g_autoptr (GstBuffer) copy =
      gst_buffer_copy_deep (gst_spdl_batch_get_buffer (batch));

  return gst_spdl_batch_new (copy, gst_spdl_batch_get_caps (batch), error);
}

GstSpdlBatch *
gst_spdl_binding_decode (GstSpdlDecoder *decoder, gconstpointer data,
    gsize size, guint64 epoch, guint64 index, GError **error)
{
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);

  return gst_spdl_decoder_decode (decoder, bytes, epoch, index, error);
}

/* Capsules of DLPack */

#define UNUSED "dltensor"

static SpdlCapsuleIsValid capsule_is_valid;
static SpdlCapsuleGetPointer capsule_get_pointer;

void
gst_spdl_capsule_init (
    SpdlCapsuleIsValid is_valid, SpdlCapsuleGetPointer get_pointer)
{
  capsule_is_valid = is_valid;
  capsule_get_pointer = get_pointer;
}

void
gst_spdl_capsule_free (gpointer capsule)
{
  if (capsule_is_valid (capsule, UNUSED))
    gst_spdl_dlpack_free (capsule_get_pointer (capsule, UNUSED));
}

/* Worker processes */

gpointer
gst_spdl_binding_sample_get_bytes (GstSample *sample, gsize *size)
{
  GstBuffer *buffer = gst_sample_get_buffer (sample);
  GstMapInfo map;

  if (!buffer || gst_buffer_n_memory (buffer) != 1 ||
      !gst_buffer_map (buffer, &map, GST_MAP_READ))
    return NULL;
  *size = map.size;
  /* Mapping shared memory does nothing. */
  gst_buffer_unmap (buffer, &map);
  return map.data;
}

int
gst_spdl_binding_process_link_get_socket (SpdlProcessLink *link)
{
  return link->socket;
}

GstSample *
gst_spdl_binding_process_link_alloc (
    SpdlProcessLink *link, gsize size, gpointer *address)
{
  g_autoptr (GstBuffer) buffer = gst_spdl_process_link_alloc (link, size);
  GstSample *sample;

  if (!buffer)
    return NULL;
  sample = gst_sample_new (buffer, NULL, NULL, NULL);
  *address = gst_spdl_binding_sample_get_bytes (sample, &size);
  return sample;
}
