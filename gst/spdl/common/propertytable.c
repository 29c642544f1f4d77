/* gst-spdl: tables of properties that are fields of a struct
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/propertytable.h"

#include "gst/spdl/common/redact.h"

/* Secrets
 *
 * A dot file of a pipeline, and gst-launch -v, show the properties that differ
 * from their default. The parameters below count a value with a secret as the
 * default, so that it is not shown; g_object_get() still returns it. */

static gboolean
holds_secret (const GValue *value)
{
  const gchar *text = g_value_get_string (value);
  g_autofree gchar *shown = text ? spdl_redact_text (text) : NULL;

  return g_strcmp0 (shown, text) != 0;
}

static gint
compare_strings (GParamSpec *pspec, const GValue *a, const GValue *b)
{
  return holds_secret (a) || holds_secret (b)
             ? 0
             : g_strcmp0 (g_value_get_string (a), g_value_get_string (b));
}

static gint
compare_structures (GParamSpec *pspec, const GValue *a, const GValue *b)
{
  return 0;
}

static void
string_class_init (gpointer klass, gpointer data)
{
  G_PARAM_SPEC_CLASS (klass)->values_cmp = compare_strings;
}

static void
structure_class_init (gpointer klass, gpointer data)
{
  G_PARAM_SPEC_CLASS (klass)->values_cmp = compare_structures;
}

static GType
register_param_type (GType parent, const gchar *name, GClassInitFunc class_init)
{
  GTypeQuery query;

  g_type_query (parent, &query);
  return g_type_register_static_simple (
      parent, name, query.class_size, class_init, query.instance_size, NULL, 0);
}

/* A string, such as a URI with a password. */
static GParamSpec *
make_string_param_spec (const gchar *name, const gchar *nick,
    const gchar *blurb, const gchar *initial, GParamFlags flags)
{
  static gsize type = 0;
  GParamSpec *pspec;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, register_param_type (G_TYPE_PARAM_STRING,
                                  "GstSpdlParamString", string_class_init));
  pspec = g_param_spec_internal (type, name, nick, blurb, flags);
  g_free (G_PARAM_SPEC_STRING (pspec)->default_value);
  G_PARAM_SPEC_STRING (pspec)->default_value = g_strdup (initial);
  return pspec;
}

/* A structure, such as HTTP headers with a password. */
static GParamSpec *
make_structure_param_spec (
    const gchar *name, const gchar *nick, const gchar *blurb, GParamFlags flags)
{
  static gsize type = 0;
  GParamSpec *pspec;

  if (g_once_init_enter (&type))
    g_once_init_leave (
        &type, register_param_type (G_TYPE_PARAM_BOXED, "GstSpdlParamStructure",
                   structure_class_init));
  pspec = g_param_spec_internal (type, name, nick, blurb, flags);
  pspec->value_type = GST_TYPE_STRUCTURE;
  return pspec;
}

/* Array values */

/* Uses GstValueArray, because gst-launch has no syntax for a GStrv. */
static GParamSpec *
make_names_param_spec (
    const gchar *name, const gchar *nick, const gchar *blurb, GParamFlags flags)
{
  return gst_param_spec_array (name, nick, blurb,
      g_param_spec_string (name, nick, "A name", NULL,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS),
      flags);
}

GStrv
gst_spdl_names_dup (const GValue *array)
{
  const guint n = gst_value_array_get_size (array);
  GStrv names = n > 0 ? g_new0 (gchar *, n + 1) : NULL;

  for (guint i = 0; i < n; i++) {
    GValue name = G_VALUE_INIT;

    g_value_init (&name, G_TYPE_STRING);
    g_value_transform (gst_value_array_get_value (array, i), &name);
    names[i] = g_value_dup_string (&name);
    if (!names[i])
      names[i] = g_strdup ("");
    g_value_unset (&name);
  }
  return names;
}

void
gst_spdl_names_set (GValue *array, const gchar *const *names)
{
  for (guint i = 0; names && names[i]; i++) {
    GValue name = G_VALUE_INIT;

    g_value_init (&name, G_TYPE_STRING);
    g_value_set_string (&name, names[i]);
    gst_value_array_append_and_take_value (array, &name);
  }
}

gboolean
gst_spdl_names_set_locked (GValue *array, const GStrv *names, GObject *object)
{
  gboolean any;

  GST_OBJECT_LOCK (object);
  any = *names != NULL;
  gst_spdl_names_set (array, (const gchar *const *) *names);
  GST_OBJECT_UNLOCK (object);
  return any;
}

/* Reads at most @max numbers of any type. Returns how many. */
static guint
get_numbers (const GValue *array, double *numbers, guint max)
{
  const guint n = MIN (gst_value_array_get_size (array), max);
  guint n_numbers = 0;

  for (guint i = 0; i < n; i++) {
    GValue number = G_VALUE_INIT;

    g_value_init (&number, G_TYPE_DOUBLE);
    if (g_value_transform (gst_value_array_get_value (array, i), &number))
      numbers[n_numbers++] = g_value_get_double (&number);
    g_value_unset (&number);
  }
  return n_numbers;
}

static void
put_numbers (GValue *array, const double *numbers, guint n)
{
  for (guint i = 0; i < n; i++) {
    GValue number = G_VALUE_INIT;

    g_value_init (&number, G_TYPE_DOUBLE);
    g_value_set_double (&number, numbers[i]);
    gst_value_array_append_and_take_value (array, &number);
  }
}

/* Tables */

#define FIELD(property, self, Type) \
  (*(Type *) G_STRUCT_MEMBER_P (self, (property)->offset))
#define COUNT(property, self) \
  (*(guint *) G_STRUCT_MEMBER_P (self, (property)->count_offset))

static GParamSpec *
make_param_spec (const SpdlProperty *property)
{
  const gchar *name = property->name;
  const gchar *nick = property->nick;
  const gchar *blurb = property->blurb;
  const SpdlPropertyValue min = property->min;
  const SpdlPropertyValue max = property->max;
  const SpdlPropertyValue initial = property->initial;
  const GParamFlags always = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;
  const GParamFlags flags = always | property->flags;

  switch (property->kind) {
    case SPDL_PROPERTY_KIND_BOOLEAN:
      return g_param_spec_boolean (name, nick, blurb, initial.i, flags);
    case SPDL_PROPERTY_KIND_INT:
      return g_param_spec_int (
          name, nick, blurb, min.i, max.i, initial.i, flags);
    case SPDL_PROPERTY_KIND_UINT:
      return g_param_spec_uint (
          name, nick, blurb, min.u, max.u, initial.u, flags);
    case SPDL_PROPERTY_KIND_INT64:
      return g_param_spec_int64 (
          name, nick, blurb, min.i, max.i, initial.i, flags);
    case SPDL_PROPERTY_KIND_UINT64:
      return g_param_spec_uint64 (
          name, nick, blurb, min.u, max.u, initial.u, flags);
    case SPDL_PROPERTY_KIND_DOUBLE:
      return g_param_spec_double (
          name, nick, blurb, min.d, max.d, initial.d, flags);
    case SPDL_PROPERTY_KIND_ENUM:
      gst_type_mark_as_plugin_api (property->get_enum_type (), 0);
      return g_param_spec_enum (
          name, nick, blurb, property->get_enum_type (), initial.i, flags);
    case SPDL_PROPERTY_KIND_STRING:
    case SPDL_PROPERTY_KIND_CHOICE:
    case SPDL_PROPERTY_KIND_INTERNED:
      return make_string_param_spec (name, nick, blurb, initial.s, flags);
    case SPDL_PROPERTY_KIND_NAMES:
      return make_names_param_spec (name, nick, blurb, flags);
    case SPDL_PROPERTY_KIND_STRUCTURE:
      return make_structure_param_spec (name, nick, blurb, flags);
    case SPDL_PROPERTY_KIND_NUMBERS:
      return gst_param_spec_array (name, nick, blurb,
          g_param_spec_double (name, nick, "One of the values", -G_MAXDOUBLE,
              G_MAXDOUBLE, 0.0, always),
          flags);
    case SPDL_PROPERTY_KIND_RANGE:
      return gst_param_spec_array (name, nick, blurb,
          g_param_spec_double (
              name, nick, "One end", 0.0, G_MAXDOUBLE, 1.0, always),
          flags);
  }
  g_return_val_if_reached (NULL);
}

void
gst_spdl_property_table_install (
    const SpdlProperty *table, GObjectClass *klass, guint first_id)
{
  for (; table->name; table++)
    g_object_class_install_property (
        klass, first_id++, make_param_spec (table));
}

void
gst_spdl_property_table_init (const SpdlProperty *table, gpointer self)
{
  for (; table->name; table++) {
    switch (table->kind) {
      case SPDL_PROPERTY_KIND_BOOLEAN:
      case SPDL_PROPERTY_KIND_INT:
      case SPDL_PROPERTY_KIND_ENUM:
        FIELD (table, self, gint) = table->initial.i;
        break;
      case SPDL_PROPERTY_KIND_UINT:
        FIELD (table, self, guint) = table->initial.u;
        break;
      case SPDL_PROPERTY_KIND_INT64:
        FIELD (table, self, gint64) = table->initial.i;
        break;
      case SPDL_PROPERTY_KIND_UINT64:
        FIELD (table, self, guint64) = table->initial.u;
        break;
      case SPDL_PROPERTY_KIND_DOUBLE:
        FIELD (table, self, double) = table->initial.d;
        break;
      case SPDL_PROPERTY_KIND_STRING:
        FIELD (table, self, gchar *) = g_strdup (table->initial.s);
        break;
      case SPDL_PROPERTY_KIND_CHOICE:
      case SPDL_PROPERTY_KIND_INTERNED:
      case SPDL_PROPERTY_KIND_NAMES:
      case SPDL_PROPERTY_KIND_STRUCTURE:
        FIELD (table, self, gpointer) = NULL;
        break;
      case SPDL_PROPERTY_KIND_NUMBERS:
        COUNT (table, self) = 0;
        break;
      case SPDL_PROPERTY_KIND_RANGE:
        (&FIELD (table, self, double))[0] = table->min.d;
        (&FIELD (table, self, double))[1] = table->max.d;
        break;
    }
  }
}

static gboolean
is_owned_string (const SpdlProperty *property)
{
  return property->kind == SPDL_PROPERTY_KIND_STRING ||
         property->kind == SPDL_PROPERTY_KIND_CHOICE;
}

void
gst_spdl_property_table_own (const SpdlProperty *table, gpointer self)
{
  for (; table->name; table++) {
    if (is_owned_string (table))
      FIELD (table, self, gchar *) = g_strdup (FIELD (table, self, gchar *));
    else if (table->kind == SPDL_PROPERTY_KIND_NAMES)
      FIELD (table, self, GStrv) = g_strdupv (FIELD (table, self, GStrv));
    else if (table->kind == SPDL_PROPERTY_KIND_STRUCTURE &&
             FIELD (table, self, GstStructure *))
      FIELD (table, self, GstStructure *) =
          gst_structure_copy (FIELD (table, self, GstStructure *));
  }
}

static void
clear_field (const SpdlProperty *property, gpointer self)
{
  if (is_owned_string (property))
    g_clear_pointer (&FIELD (property, self, gchar *), g_free);
  else if (property->kind == SPDL_PROPERTY_KIND_NAMES)
    g_clear_pointer (&FIELD (property, self, GStrv), g_strfreev);
  else if (property->kind == SPDL_PROPERTY_KIND_STRUCTURE)
    g_clear_pointer (
        &FIELD (property, self, GstStructure *), gst_structure_free);
}

void
gst_spdl_property_table_clear (const SpdlProperty *table, gpointer self)
{
  for (; table->name; table++)
    clear_field (table, self);
}

static const SpdlProperty *
find_property (const SpdlProperty *table, guint index)
{
  while (table->name && index > 0) {
    table++;
    index--;
  }
  return table->name ? table : NULL;
}

/* An invalid array sets an empty range, which is reported when it is used. */
static void
set_range (double *range, const GValue *array)
{
  if (gst_value_array_get_size (array) != 2 ||
      get_numbers (array, range, 2) != 2)
    range[0] = range[1] = 0.0;
}

static void
set_field (const SpdlProperty *property, gpointer self, const GValue *value)
{
  clear_field (property, self);
  switch (property->kind) {
    case SPDL_PROPERTY_KIND_BOOLEAN:
      FIELD (property, self, gboolean) = g_value_get_boolean (value);
      break;
    case SPDL_PROPERTY_KIND_INT:
      FIELD (property, self, gint) = g_value_get_int (value);
      break;
    case SPDL_PROPERTY_KIND_UINT:
      FIELD (property, self, guint) = g_value_get_uint (value);
      break;
    case SPDL_PROPERTY_KIND_INT64:
      FIELD (property, self, gint64) = g_value_get_int64 (value);
      break;
    case SPDL_PROPERTY_KIND_UINT64:
      FIELD (property, self, guint64) = g_value_get_uint64 (value);
      break;
    case SPDL_PROPERTY_KIND_DOUBLE:
      FIELD (property, self, double) = g_value_get_double (value);
      break;
    case SPDL_PROPERTY_KIND_ENUM:
      FIELD (property, self, gint) = g_value_get_enum (value);
      break;
    case SPDL_PROPERTY_KIND_STRING:
    case SPDL_PROPERTY_KIND_CHOICE:
      FIELD (property, self, gchar *) = g_value_dup_string (value);
      break;
    case SPDL_PROPERTY_KIND_INTERNED:
      FIELD (property, self, const gchar *) =
          g_intern_string (g_value_get_string (value));
      break;
    case SPDL_PROPERTY_KIND_NAMES:
      FIELD (property, self, GStrv) = gst_spdl_names_dup (value);
      break;
    case SPDL_PROPERTY_KIND_STRUCTURE:
      FIELD (property, self, GstStructure *) = g_value_dup_boxed (value);
      break;
    case SPDL_PROPERTY_KIND_NUMBERS:
      COUNT (property, self) =
          get_numbers (value, &FIELD (property, self, double), property->max.u);
      break;
    case SPDL_PROPERTY_KIND_RANGE:
      set_range (&FIELD (property, self, double), value);
      break;
  }
}

static void
get_field (const SpdlProperty *property, gconstpointer self, GValue *value)
{
  switch (property->kind) {
    case SPDL_PROPERTY_KIND_BOOLEAN:
      g_value_set_boolean (value, FIELD (property, self, gboolean));
      break;
    case SPDL_PROPERTY_KIND_INT:
      g_value_set_int (value, FIELD (property, self, gint));
      break;
    case SPDL_PROPERTY_KIND_UINT:
      g_value_set_uint (value, FIELD (property, self, guint));
      break;
    case SPDL_PROPERTY_KIND_INT64:
      g_value_set_int64 (value, FIELD (property, self, gint64));
      break;
    case SPDL_PROPERTY_KIND_UINT64:
      g_value_set_uint64 (value, FIELD (property, self, guint64));
      break;
    case SPDL_PROPERTY_KIND_DOUBLE:
      g_value_set_double (value, FIELD (property, self, double));
      break;
    case SPDL_PROPERTY_KIND_ENUM:
      g_value_set_enum (value, FIELD (property, self, gint));
      break;
    case SPDL_PROPERTY_KIND_STRING:
    case SPDL_PROPERTY_KIND_INTERNED:
      g_value_set_string (value, FIELD (property, self, const gchar *));
      break;
    case SPDL_PROPERTY_KIND_CHOICE:
      g_value_set_string (value, FIELD (property, self, gchar *)
                                     ? FIELD (property, self, gchar *)
                                     : property->initial.s);
      break;
    case SPDL_PROPERTY_KIND_NAMES:
      gst_spdl_names_set (value, FIELD (property, self, const gchar *const *));
      break;
    case SPDL_PROPERTY_KIND_STRUCTURE:
      gst_value_set_structure (value, FIELD (property, self, GstStructure *));
      break;
    case SPDL_PROPERTY_KIND_NUMBERS:
      put_numbers (
          value, &FIELD (property, self, const double), COUNT (property, self));
      break;
    case SPDL_PROPERTY_KIND_RANGE:
      put_numbers (value, &FIELD (property, self, const double), 2);
      break;
  }
}

void
gst_spdl_property_table_set (const SpdlProperty *table, gpointer self,
    guint index, const GValue *value, GObject *object, GParamSpec *pspec)
{
  const SpdlProperty *property = find_property (table, index);

  if (!property) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, pspec->param_id, pspec);
    return;
  }
  GST_OBJECT_LOCK (object);
  set_field (property, self, value);
  GST_OBJECT_UNLOCK (object);
}

void
gst_spdl_property_table_get (const SpdlProperty *table, gconstpointer self,
    guint index, GValue *value, GObject *object, GParamSpec *pspec)
{
  const SpdlProperty *property = find_property (table, index);

  if (!property) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, pspec->param_id, pspec);
    return;
  }
  GST_OBJECT_LOCK (object);
  get_field (property, self, value);
  GST_OBJECT_UNLOCK (object);
}

/* Classes whose properties are all in one table */

typedef struct {
  const SpdlProperty *property;
  gsize offset; /* of the struct with the fields, in the instance */
} Implementation;

/* Gets the data of a property. */
static const Implementation *
get_implementation (GParamSpec *pspec)
{
  return g_param_spec_get_qdata (
      pspec, g_quark_from_static_string ("spdl-implementation"));
}

static void
set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  const Implementation *data = get_implementation (pspec);

  GST_OBJECT_LOCK (object);
  set_field (data->property, G_STRUCT_MEMBER_P (object, data->offset), value);
  GST_OBJECT_UNLOCK (object);
}

static void
get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  const Implementation *data = get_implementation (pspec);

  GST_OBJECT_LOCK (object);
  get_field (data->property, G_STRUCT_MEMBER_P (object, data->offset), value);
  GST_OBJECT_UNLOCK (object);
}

void
gst_spdl_property_table_implement (
    const SpdlProperty *table, GObjectClass *klass, gsize offset)
{
  klass->set_property = set_property;
  klass->get_property = get_property;
  for (guint id = 1; table->name; table++, id++) {
    GParamSpec *pspec = make_param_spec (table);
    const Implementation data = { table, offset };

    g_param_spec_set_qdata_full (pspec,
        g_quark_from_static_string ("spdl-implementation"),
        g_memdup2 (&data, sizeof data), g_free);
    g_object_class_install_property (klass, id, pspec);
  }
}
