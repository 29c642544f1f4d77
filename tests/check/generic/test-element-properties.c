/* gst-spdl: tests of the properties of all elements and of their pads
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/generic/elements.h"

#include <gst/spdl/spdl.h>

#include "tests/check/support/suite.h"

/* Returns whether a type of this project has the property. Those of GStreamer's
 * classes are its own. */
static gboolean
is_ours (GParamSpec *spec)
{
  return g_str_has_prefix (g_type_name (spec->owner_type), "GstSpdl");
}

static void
check_description (GObject *object, GParamSpec *spec)
{
  const gchar *nick = g_param_spec_get_nick (spec);
  const gchar *blurb = g_param_spec_get_blurb (spec);

  fail_unless (nick && *nick && !g_str_equal (nick, spec->name),
      "%s.%s has no nick", G_OBJECT_TYPE_NAME (object), spec->name);
  fail_unless (blurb && *blurb && !g_str_equal (blurb, nick),
      "%s.%s has no blurb", G_OBJECT_TYPE_NAME (object), spec->name);
  fail_unless ((spec->flags & G_PARAM_STATIC_STRINGS) == G_PARAM_STATIC_STRINGS,
      "the strings of %s.%s are copied", G_OBJECT_TYPE_NAME (object),
      spec->name);
  fail_unless (spec->flags & G_PARAM_READABLE, "%s.%s cannot be read",
      G_OBJECT_TYPE_NAME (object), spec->name);
}

static void
fail_for_value (
    GObject *object, GParamSpec *spec, const GValue *value, const gchar *what)
{
  g_autofree gchar *text = g_strdup_value_contents (value);

  fail ("%s.%s is %s, which is not %s", G_OBJECT_TYPE_NAME (object), spec->name,
      text, what);
}

static void
check_default (GObject *object, GParamSpec *spec)
{
  GValue value = G_VALUE_INIT;

  g_object_get_property (object, spec->name, &value);
  if (!g_param_value_defaults (spec, &value))
    fail_for_value (object, spec, &value, "the default");
  g_value_unset (&value);
}

static gboolean
is_writable (GParamSpec *spec)
{
  return spec->flags & G_PARAM_WRITABLE &&
         !(spec->flags & G_PARAM_CONSTRUCT_ONLY);
}

/* Sets a random number in the range of the property. Returns FALSE if the
 * property is not a number. */
static gboolean
make_random (GParamSpec *spec, GValue *value)
{
  const gdouble part = g_random_double ();

#define RANGE(Type, TYPE, type)                                     \
  if (G_IS_PARAM_SPEC_##TYPE (spec)) {                              \
    const GParamSpec##Type *range = (GParamSpec##Type *) spec;      \
                                                                    \
    g_value_set_##type (                                            \
        value, range->minimum *(1 - part) + range->maximum * part); \
    return TRUE;                                                    \
  }
  RANGE (Int, INT, int)
  RANGE (UInt, UINT, uint)
  RANGE (Int64, INT64, int64)
  RANGE (UInt64, UINT64, uint64)
  RANGE (Double, DOUBLE, double)
#undef RANGE
  if (G_IS_PARAM_SPEC_BOOLEAN (spec)) {
    g_value_set_boolean (value, part < 0.5);
    return TRUE;
  }
  if (G_IS_PARAM_SPEC_ENUM (spec)) {
    const GEnumClass *klass = G_PARAM_SPEC_ENUM (spec)->enum_class;

    g_value_set_enum (
        value, klass->values[(guint) (part * klass->n_values)].value);
    return TRUE;
  }
  return FALSE;
}

/* Sets a random number and reads it. */
static void
check_random (GObject *object, GParamSpec *spec)
{
  GValue set = G_VALUE_INIT, got = G_VALUE_INIT;

  g_value_init (&set, spec->value_type);
  for (guint i = 0; i < 5 && make_random (spec, &set); i++) {
    g_object_set_property (object, spec->name, &set);
    g_object_get_property (object, spec->name, &got);
    if (g_param_values_cmp (spec, &set, &got) != 0)
      fail_for_value (object, spec, &got, "the value that was set");
    g_value_unset (&got);
  }
  g_value_unset (&set);
}

static void
for_each_property (GObject *object, void (*test) (GObject *, GParamSpec *))
{
  guint n;
  g_autofree GParamSpec **specs =
      g_object_class_list_properties (G_OBJECT_GET_CLASS (object), &n);

  for (guint i = 0; i < n; i++)
    test (object, specs[i]);
}

static void
check_new (GObject *object, GParamSpec *spec)
{
  if (!is_ours (spec))
    return;
  check_description (object, spec);
  /* GStreamer's arrays have no default. */
  if (is_writable (spec) && !GST_IS_PARAM_SPEC_ARRAY_LIST (spec))
    check_default (object, spec);
}

/* Reads the property and, in @element's state, sets it to the same value. */
static void
repeat_property (GstElement *element, GObject *object, GParamSpec *spec)
{
  GValue value = G_VALUE_INIT;

  if (!(spec->flags & G_PARAM_READABLE))
    return;
  g_object_get_property (object, spec->name, &value);
  if (is_ours (spec) && is_writable (spec)) {
    g_object_set_property (object, spec->name, &value);
    if (GST_STATE (element) <= GST_STATE_READY ||
        spec->flags & GST_PARAM_MUTABLE_PLAYING)
      check_random (object, spec);
    g_object_set_property (object, spec->name, &value);
  }
  g_value_unset (&value);
}

static void
repeat_of_element (GObject *object, GParamSpec *spec)
{
  repeat_property (GST_ELEMENT (object), object, spec);
}

static void
repeat_of_pad (GObject *object, GParamSpec *spec)
{
  g_autoptr (GstElement) element =
      gst_pad_get_parent_element (GST_PAD (object));

  repeat_property (element, object, spec);
}

static void
repeat_all_of_pad (GstElement *element, GstPad *pad)
{
  for_each_property (G_OBJECT (pad), repeat_of_pad);
}

static void
check_new_pad (GstElement *element, GstPad *pad)
{
  for_each_property (G_OBJECT (pad), check_new);
}

static void
check_properties (GstElement *element, gboolean starts)
{
  /* Settings that an element needs to start are not the defaults. */
  if (!starts) {
    for_each_property (G_OBJECT (element), check_new);
    elements_for_each_pad (element, check_new_pad);
  }
  for (GstState state = GST_STATE_NULL; state <= GST_STATE_PLAYING; state++) {
    if (state > GST_STATE_READY && !starts)
      return;
    gst_element_set_state (element, state);
    for_each_property (G_OBJECT (element), repeat_of_element);
    elements_for_each_pad (element, repeat_all_of_pad);
  }
}

/* Tests the description, the default, reads and writes of each property, with
 * random numbers. */
GST_START_TEST (test_properties)
{
  elements_for_each (check_properties);
}

GST_END_TEST;

/* Tests that an element is named as the application wants, and after the
 * element's factory otherwise. */
static void
check_name (GstElement *element, gboolean starts)
{
  static const gchar *const suffixes[] = { "er", "er0", "er_train", "0",
    "ing" };
  GstElementFactory *factory = gst_element_get_factory (element);
  const gchar *kind = GST_OBJECT_NAME (factory);

  fail_unless (
      g_str_has_prefix (GST_OBJECT_NAME (element), kind) &&
          strspn (GST_OBJECT_NAME (element) + strlen (kind), "0123456789") ==
              strlen (GST_OBJECT_NAME (element) + strlen (kind)),
      "%s is the name of %s", GST_OBJECT_NAME (element), kind);
  for (guint i = 0; i < G_N_ELEMENTS (suffixes); i++) {
    g_autofree gchar *name = g_strconcat (kind, suffixes[i], NULL);
    GstElement *named = gst_element_factory_create (factory, name);

    fail_unless_equals_string (GST_OBJECT_NAME (named), name);
    gst_object_unref (named);
  }
}

GST_START_TEST (test_names)
{
  elements_for_each (check_name);
}

GST_END_TEST;

/* Tests that the URIs of GStreamer's elements make these elements. */
GST_START_TEST (test_uris)
{
  static const struct {
    GstURIType type;
    const gchar *uri, *element;
  } uris[] = {
    { GST_URI_SINK, "appsink://x", "appsink" },
    { GST_URI_SINK, "spdlsink://x", "spdlsink" },
    { GST_URI_SRC, "appsrc://x", "appsrc" },
    { GST_URI_SRC, "file:///x", "filesrc" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (uris); i++) {
    g_autoptr (GError) error = NULL;
    GstElement *element =
        gst_element_make_from_uri (uris[i].type, uris[i].uri, NULL, &error);

    g_assert_no_error (error);
    fail_unless_equals_string (
        GST_OBJECT_NAME (gst_element_get_factory (element)), uris[i].element);
    gst_object_unref (element);
  }
}

GST_END_TEST;

CHECK_SUITE (element_properties, FIXTURE (NULL, elements_tear_down),
    TEST (test_properties), TEST (test_names), TEST (test_uris))
