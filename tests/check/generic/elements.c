/* gst-spdl: tests that treat all elements alike
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/generic/elements.h"

#include "tests/check/support/files.h"
#include "tests/check/support/wait.h"

/* Settings of elements that cannot start, or not do all, with their defaults.
 * %s: a folder of images. */
static const struct {
  const gchar *element, *property, *value;
} needs[] = {
  { "spdlaugment", "ops", "invert" },
  { "spdlmix", "order", "arrival" }, /* to add pads while it runs */
  { "spdlpipe", "chain", "videoconvert" },
  { "spdlsrc", "location", "%s" },
  { "spdlworkersrc", "pipeline",
      "spdlsrc location=%s epochs=-1 ! spdlfetch ! spdldecode width=8 height=8 "
      "! spdlbatch" },
};

static gchar *folder = NULL;
static GHashTable *alive = NULL; /* of addresses */

const gchar *
elements_get_folder (void)
{
  if (!folder)
    folder = files_make_dataset (8);
  return folder;
}

void
elements_tear_down (void)
{
  if (folder)
    files_remove_folder (g_steal_pointer (&folder));
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const gchar *const *) a, *(const gchar *const *) b);
}

static gboolean
is_ours (GstPluginFeature *feature)
{
  g_autoptr (GstPlugin) plugin = gst_plugin_feature_get_plugin (feature);

  return plugin && g_str_equal (gst_plugin_get_source (plugin), "gst-spdl") &&
         !g_str_equal (gst_plugin_get_name (plugin), "spdltest");
}

/* Returns (transfer full) the names, sorted. */
static GPtrArray *
list_elements (void)
{
  static const gchar *const known[] = { "spdlaggregate", "spdlaugment",
    "spdlbatch", "spdlcache", "spdldisaggregate", "spdlmix", "spdlpack",
    "spdlpipe", "spdlroute", "spdlsink", "spdlsrc" };
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  GList *features = gst_registry_get_feature_list (
      gst_registry_get (), GST_TYPE_ELEMENT_FACTORY);

  for (GList *l = features; l; l = l->next)
    if (is_ours (l->data))
      g_ptr_array_add (names, gst_object_get_name (l->data));
  gst_plugin_feature_list_free (features);
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    fail_unless (
        g_ptr_array_find_with_equal_func (names, known[i], g_str_equal, NULL),
        "%s is not registered", known[i]);
  g_ptr_array_sort (names, compare_names);
  return names;
}

/* Gives @element what it needs to start. */
static void
set_needs (GstElement *element, const gchar *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (needs); i++) {
    GString *value;

    if (!g_str_equal (needs[i].element, name))
      continue;
    value = g_string_new (needs[i].value);
    g_string_replace (value, "%s", elements_get_folder (), 0);
    gst_util_set_object_arg (G_OBJECT (element), needs[i].property, value->str);
    g_string_free (value, TRUE);
  }
}

/* Leaks */

/* Returns (transfer full) descriptions of the objects that are alive, by
 * address; none without a tracer. */
static GHashTable *
find_alive (void)
{
  GHashTable *found = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  GList *tracers = gst_tracing_get_active_tracers ();
  GstStructure *all = NULL;
  const GValue *list;

  for (GList *l = tracers; l && !all; l = l->next)
    if (g_str_equal (G_OBJECT_TYPE_NAME (l->data), "GstLeaksTracer"))
      g_signal_emit_by_name (l->data, "get-live-objects", &all);
  g_list_free_full (tracers, gst_object_unref);
  if (!all)
    return found;
  list = gst_structure_get_value (all, "live-objects-list");
  for (guint i = 0; i < gst_value_list_get_size (list); i++) {
    const GstStructure *s =
        gst_value_get_structure (gst_value_list_get_value (list, i));
    const GValue *object = gst_structure_get_value (s, "object");

    g_hash_table_insert (
        found, g_value_peek_pointer (object), gst_structure_to_string (s));
  }
  gst_structure_free (all);
  return found;
}

static gboolean
is_left (gpointer object, gpointer text, gpointer user_data)
{
  return !g_hash_table_contains (alive, object);
}

void
elements_begin_tracking (void)
{
  alive = find_alive ();
}

void
elements_assert_no_leak (const gchar *name)
{
  GHashTable *now;
  const gchar *text;

  wait_until_asleep ();
  now = find_alive ();
  text = g_hash_table_find (now, is_left, NULL);
  fail_unless (!text, "%s leaks %s", name, text);
  g_hash_table_unref (now);
  g_clear_pointer (&alive, g_hash_table_unref);
}

/* Elements */

static void
test_element (const gchar *name, gboolean with_needs,
    void (*test) (GstElement *element, gboolean starts))
{
  GstElement *element;

  elements_begin_tracking ();
  element = gst_element_factory_make (name, NULL);
  fail_unless (element != NULL, "%s cannot be made", name);
  gst_object_ref_sink (element);
  if (with_needs)
    set_needs (element, name);
  test (element, with_needs);
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_NULL),
      GST_STATE_CHANGE_SUCCESS);
  wait_until_asleep (); /* timers hold references until they end */
  ASSERT_OBJECT_REFCOUNT (element, name, 1);
  gst_object_unref (element);
  elements_assert_no_leak (name);
}

void
elements_for_each (void (*test) (GstElement *element, gboolean starts))
{
  GPtrArray *names = list_elements ();

  elements_get_folder ();
  for (guint i = 0; i < names->len; i++) {
    GST_INFO ("%s", (gchar *) g_ptr_array_index (names, i));
    test_element (g_ptr_array_index (names, i), TRUE, test);
    test_element (g_ptr_array_index (names, i), FALSE, test);
  }
  g_ptr_array_unref (names);
}

/* Pads */

GstPad *
elements_get_pad (GstElement *element, GstPadTemplate *templ)
{
  return GST_PAD_TEMPLATE_PRESENCE (templ) == GST_PAD_REQUEST
             ? gst_element_request_pad (element, templ, NULL, NULL)
             : gst_element_get_static_pad (
                   element, GST_PAD_TEMPLATE_NAME_TEMPLATE (templ));
}

void
elements_release_pad (GstElement *element, GstPad *pad)
{
  GstPadTemplate *templ = gst_pad_get_pad_template (pad);

  if (GST_PAD_TEMPLATE_PRESENCE (templ) == GST_PAD_REQUEST) {
    gst_element_release_request_pad (element, pad);
    ASSERT_OBJECT_REFCOUNT (pad, "released pad", 1);
  }
  gst_object_unref (templ);
  gst_object_unref (pad);
}

void
elements_for_each_pad (
    GstElement *element, void (*test) (GstElement *element, GstPad *pad))
{
  GstElementClass *klass = GST_ELEMENT_GET_CLASS (element);

  for (GList *l = gst_element_class_get_pad_template_list (klass); l;
       l = l->next) {
    GstPad *pad = elements_get_pad (element, l->data);

    fail_unless (pad != NULL, "%s has no pad %s", GST_OBJECT_NAME (element),
        GST_PAD_TEMPLATE_NAME_TEMPLATE (l->data));
    test (element, pad);
    elements_release_pad (element, pad);
  }
}
