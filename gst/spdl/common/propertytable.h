/* gst-spdl: tables of properties that are fields of a struct
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS
SPDL_BEGIN_PRIVATE_API

typedef enum {
  SPDL_PROPERTY_KIND_BOOLEAN,
  SPDL_PROPERTY_KIND_INT,
  SPDL_PROPERTY_KIND_UINT,
  SPDL_PROPERTY_KIND_INT64,
  SPDL_PROPERTY_KIND_UINT64,
  SPDL_PROPERTY_KIND_DOUBLE,
  SPDL_PROPERTY_KIND_ENUM,
  SPDL_PROPERTY_KIND_STRING,
  SPDL_PROPERTY_KIND_CHOICE,
  SPDL_PROPERTY_KIND_INTERNED,
  SPDL_PROPERTY_KIND_NAMES,
  SPDL_PROPERTY_KIND_STRUCTURE,
  SPDL_PROPERTY_KIND_NUMBERS,
  SPDL_PROPERTY_KIND_RANGE,
} SpdlPropertyKind;

typedef union {
  gint64 i;
  guint64 u;
  double d;
  const gchar *s;
} SpdlPropertyValue;

/**
 * SpdlProperty:
 * @flags: in which states it may change: %GST_PARAM_MUTABLE_READY or another
 *     such flag
 * @offset: offset of the field in its struct
 *
 * A property and the field that stores it. A table is an array of properties
 * that ends with %SPDL_PROPERTY_END. Its entries are written with the macros
 * below, which check the type of the field. Properties have consecutive ids,
 * which start at the one with which the table is installed.
 */
typedef struct {
  const gchar *name;
  const gchar *nick;
  const gchar *blurb;
  SpdlPropertyKind kind;
  guint flags;
  gsize offset;
  gsize count_offset; /* offset of a guint: number of values */
  GType (*get_enum_type) (void);
  SpdlPropertyValue min;
  SpdlPropertyValue max;
  SpdlPropertyValue initial;
} SpdlProperty;

/* Defines the GType of an enum that is used in one file, with its name, the
 * prefix of its _get_type(), and its values with descriptions and nicks. */
#define SPDL_DEFINE_ENUM_TYPE(TypeName, type_name, ...) \
  static G_DEFINE_ENUM_TYPE (TypeName, type_name, __VA_ARGS__)

#define SPDL_PROPERTY_END \
  {                       \
    NULL                  \
  }

/* Offset of a field, which must have the type @Type; otherwise it does not
 * compile. */
#define SPDL_FIELD_OFFSET(Struct, field, Type) \
  (G_STRUCT_OFFSET (Struct, field) +           \
      0 * sizeof (gchar[_Generic(((Struct *) 0)->field, Type : 1)]))

#define SPDL_PROPERTY(                                                     \
    KIND, Type, Struct, field, Flags, Name, Nick, Blurb, ...)              \
  {                                                                        \
    .name = Name, .nick = Nick, .blurb = Blurb,                            \
    .kind = SPDL_PROPERTY_KIND_##KIND, .flags = GST_PARAM_MUTABLE_##Flags, \
    .offset = SPDL_FIELD_OFFSET (Struct, field, Type), __VA_ARGS__         \
  }

/* Arguments: struct, field, READY or PLAYING, name, nick and blurb of
 * the property, minimum and maximum, default. */
#define SPDL_PROPERTY_BOOLEAN(S, field, Flags, name, nick, blurb, value) \
  SPDL_PROPERTY (BOOLEAN, gboolean, S, field, Flags, name, nick, blurb,  \
      .initial.i = (value))
#define SPDL_PROPERTY_INT(...) SPDL_PROPERTY_NUMBER (INT, gint, i, __VA_ARGS__)
#define SPDL_PROPERTY_UINT(...) \
  SPDL_PROPERTY_NUMBER (UINT, guint, u, __VA_ARGS__)
#define SPDL_PROPERTY_INT64(...) \
  SPDL_PROPERTY_NUMBER (INT64, gint64, i, __VA_ARGS__)
#define SPDL_PROPERTY_UINT64(...) \
  SPDL_PROPERTY_NUMBER (UINT64, guint64, u, __VA_ARGS__)
#define SPDL_PROPERTY_DOUBLE(...) \
  SPDL_PROPERTY_NUMBER (DOUBLE, double, d, __VA_ARGS__)
#define SPDL_PROPERTY_NUMBER(KIND, Type, member, S, field, Flags, name, nick, \
    blurb, least, most, value)                                                \
  SPDL_PROPERTY (KIND, Type, S, field, Flags, name, nick, blurb,              \
      .min.member = (least), .max.member = (most), .initial.member = (value))

/* The field is an enum, and @get_type returns its GType. */
#define SPDL_PROPERTY_ENUM(S, f, Flags, Name, Nick, Blurb, get_type, value)  \
  {                                                                          \
    .name = Name, .nick = Nick, .blurb = Blurb,                              \
    .kind = SPDL_PROPERTY_KIND_ENUM, .flags = GST_PARAM_MUTABLE_##Flags,     \
    .offset =                                                                \
        G_STRUCT_OFFSET (S, f) +                                             \
        0 * sizeof (gchar[sizeof (((S *) 0)->f) == sizeof (gint) ? 1 : -1]), \
    .get_enum_type = get_type, .initial.i = (value)                          \
  }

/* A string that the struct owns; nullable. */
#define SPDL_PROPERTY_STRING(S, field, Flags, name, nick, blurb, value) \
  SPDL_PROPERTY (STRING, gchar *, S, field, Flags, name, nick, blurb,   \
      .initial.s = (value))
/* Like a string, but the field stays NULL until the property is set. Reading
 * the property then returns the default. */
#define SPDL_PROPERTY_CHOICE(S, field, Flags, name, nick, blurb, value) \
  SPDL_PROPERTY (CHOICE, gchar *, S, field, Flags, name, nick, blurb,   \
      .initial.s = (value))
/* A string from g_intern_string(); NULL by default. */
#define SPDL_PROPERTY_INTERNED(S, field, Flags, name, nick, blurb)            \
  SPDL_PROPERTY (INTERNED, const gchar *, S, field, Flags, name, nick, blurb, \
      .initial.s = NULL)
/* A GstValueArray of strings, stored as GStrv; NULL if it is empty. */
#define SPDL_PROPERTY_NAMES(S, field, Flags, name, nick, blurb) \
  SPDL_PROPERTY (                                               \
      NAMES, gchar **, S, field, Flags, name, nick, blurb, .initial.s = NULL)
/* A GstStructure that the struct owns; nullable. */
#define SPDL_PROPERTY_STRUCTURE(S, field, Flags, name, nick, blurb)      \
  SPDL_PROPERTY (STRUCTURE, GstStructure *, S, field, Flags, name, nick, \
      blurb, .initial.s = NULL)
/* A GstValueArray of numbers: the field is an array, and the field @count is
 * their number. */
#define SPDL_PROPERTY_NUMBERS(S, f, count, Flags, Name, Nick, Blurb)        \
  {                                                                         \
    .name = Name, .nick = Nick, .blurb = Blurb,                             \
    .kind = SPDL_PROPERTY_KIND_NUMBERS, .flags = GST_PARAM_MUTABLE_##Flags, \
    .offset = G_STRUCT_OFFSET (S, f) +                                      \
              0 * sizeof (gchar[_Generic(((S *) 0)->f[0], double : 1)]),    \
    .count_offset = SPDL_FIELD_OFFSET (S, count, guint),                    \
    .max.u = sizeof (((S *) 0)->f) / sizeof (double)                        \
  }

/* A GstValueArray of two numbers, stored as double[2]. Any other array becomes
 * an empty range, 0 to 0. */
#define SPDL_PROPERTY_RANGE(S, f, Flags, Name, Nick, Blurb, least, most)      \
  {                                                                           \
    .name = Name, .nick = Nick, .blurb = Blurb,                               \
    .kind = SPDL_PROPERTY_KIND_RANGE, .flags = GST_PARAM_MUTABLE_##Flags,     \
    .offset =                                                                 \
        G_STRUCT_OFFSET (S, f) +                                              \
        0 * sizeof (                                                          \
                gchar[sizeof (((S *) 0)->f) == sizeof (double[2]) ? 1 : -1]), \
    .min.d = (least), .max.d = (most)                                         \
  }

/* The properties mean and std of elements that normalize. */
#define SPDL_PROPERTY_MEAN(S, field, count)                                    \
  SPDL_PROPERTY_NUMBERS (S, field, count, READY, "mean", "Mean",               \
      "Value to subtract from each sample after the division by 255: one per " \
      "channel, or one for all channels")
#define SPDL_PROPERTY_STD(S, field, count)                                    \
  SPDL_PROPERTY_NUMBERS (S, field, count, READY, "std", "Standard deviation", \
      "Value to divide each sample by after mean is subtracted: one per "     \
      "channel, or one for all channels")

/* Installs the properties of @table; the first one gets the id @first_id. */
void gst_spdl_property_table_install (
    const SpdlProperty *table, GObjectClass *klass, guint first_id);

/* Installs the properties of @table in a class without other ones, and
 * implements them.
 *
 * @offset: offset of the struct with the fields in an instance, a GstObject,
 *     whose lock guards them */
void gst_spdl_property_table_implement (
    const SpdlProperty *table, GObjectClass *klass, gsize offset);

/* Sets the fields of @self, which may be uninitialized, to their defaults. */
void gst_spdl_property_table_init (const SpdlProperty *table, gpointer self);

/* Replaces what the fields of @self, a shallow copy of another struct, point to
 * by copies. */
void gst_spdl_property_table_own (const SpdlProperty *table, gpointer self);

/* Frees what the fields own, and sets these fields to NULL. */
void gst_spdl_property_table_clear (const SpdlProperty *table, gpointer self);

/* Implement set_property and get_property for the property at @index, which is
 * its id minus the id of the first property of the table, in a class with other
 * properties.
 *
 * @self: struct with the fields, which the lock of @object, a GstObject,
 *     guards */
void gst_spdl_property_table_set (const SpdlProperty *table, gpointer self,
    guint index, const GValue *value, GObject *object, GParamSpec *pspec);
void gst_spdl_property_table_get (const SpdlProperty *table, gconstpointer self,
    guint index, GValue *value, GObject *object, GParamSpec *pspec);

/* Values of a property that is a GstValueArray of strings. */

/* Returns: (transfer full) (nullable): the values as strings, because GStreamer
 * parses <1,2> as numbers; NULL if there are none */
GStrv gst_spdl_names_dup (const GValue *array);

/* Appends @names (nullable) to @array. */
void gst_spdl_names_set (GValue *array, const gchar *const *names);

/* Like gst_spdl_names_set(), but holds the lock of @object, which guards
 * @names. Returns FALSE if they are NULL. */
gboolean
gst_spdl_names_set_locked (GValue *array, const GStrv *names, GObject *object);

SPDL_END_PRIVATE_API
G_END_DECLS
