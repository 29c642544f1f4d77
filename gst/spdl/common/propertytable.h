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
 * @flags: when it may change: %GST_PARAM_MUTABLE_READY or another such flag
 * @offset: of the field in its struct
 *
 * One property and the field that holds it. A table is an array of them that
 * ends with %SPDL_PROPERTY_END, made by the macros below, which check the
 * field's type. The first property of a table has the id that the table is
 * installed at, the next one the next id.
 */
typedef struct {
  const gchar *name;
  const gchar *nick;
  const gchar *blurb;
  SpdlPropertyKind kind;
  guint flags;
  gsize offset;
  gsize count_offset; /* of a guint: how many numbers there are */
  GType (*get_enum_type) (void);
  SpdlPropertyValue min;
  SpdlPropertyValue max;
  SpdlPropertyValue initial;
} SpdlProperty;

/* The GType of an enum that one file installs as a property: its name, the
 * prefix of its _get_type(), and its values with what they mean and a nick. */
#define SPDL_DEFINE_ENUM_TYPE(TypeName, type_name, ...) \
  static G_DEFINE_ENUM_TYPE (TypeName, type_name, __VA_ARGS__)

#define SPDL_PROPERTY_END \
  {                       \
    NULL                  \
  }

/* The offset of a field, where its type is @Type: else it does not compile. */
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

/* Arguments: the struct, the field, READY or PLAYING, the property's name,
 * nick and blurb, the least and the greatest value, the default */
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

/* The field has an enum's type, @get_type the function of its GType. */
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
/* As a string, but the field stays NULL until the property is set, and what is
 * read then is the default. */
#define SPDL_PROPERTY_CHOICE(S, field, Flags, name, nick, blurb, value) \
  SPDL_PROPERTY (CHOICE, gchar *, S, field, Flags, name, nick, blurb,   \
      .initial.s = (value))
/* A string that g_intern_string() keeps; NULL by default. */
#define SPDL_PROPERTY_INTERNED(S, field, Flags, name, nick, blurb)            \
  SPDL_PROPERTY (INTERNED, const gchar *, S, field, Flags, name, nick, blurb, \
      .initial.s = NULL)
/* A GstValueArray of strings, a GStrv in the struct; NULL where it is empty. */
#define SPDL_PROPERTY_NAMES(S, field, Flags, name, nick, blurb) \
  SPDL_PROPERTY (                                               \
      NAMES, gchar **, S, field, Flags, name, nick, blurb, .initial.s = NULL)
/* A GstStructure that the struct owns; nullable. */
#define SPDL_PROPERTY_STRUCTURE(S, field, Flags, name, nick, blurb)      \
  SPDL_PROPERTY (STRUCTURE, GstStructure *, S, field, Flags, name, nick, \
      blurb, .initial.s = NULL)
/* A GstValueArray of numbers: the field is an array of them, and the field
 * @count says how many there are. */
#define SPDL_PROPERTY_NUMBERS(S, f, count, Flags, Name, Nick, Blurb)        \
  {                                                                         \
    .name = Name, .nick = Nick, .blurb = Blurb,                             \
    .kind = SPDL_PROPERTY_KIND_NUMBERS, .flags = GST_PARAM_MUTABLE_##Flags, \
    .offset = G_STRUCT_OFFSET (S, f) +                                      \
              0 * sizeof (gchar[_Generic(((S *) 0)->f[0], double : 1)]),    \
    .count_offset = SPDL_FIELD_OFFSET (S, count, guint),                    \
    .max.u = sizeof (((S *) 0)->f) / sizeof (double)                        \
  }

/* A GstValueArray of two numbers, double[2] in the struct. Any other array
 * makes an empty range, 0 to 0. */
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

/* Installs the properties of @table, the first one with the id @first_id. */
SPDL_PRIVATE_API
void gst_spdl_property_table_install (
    const SpdlProperty *table, GObjectClass *klass, guint first_id);

/* Gives each field of @self, which may be anything, its default. */
SPDL_PRIVATE_API
void gst_spdl_property_table_init (const SpdlProperty *table, gpointer self);

/* Gives the fields of @self, a shallow copy of another struct, copies of what
 * the other owns. */
SPDL_PRIVATE_API
void gst_spdl_property_table_own (const SpdlProperty *table, gpointer self);

/* Frees what the fields own, and sets those to NULL. */
SPDL_PRIVATE_API
void gst_spdl_property_table_clear (const SpdlProperty *table, gpointer self);

/* An element's set_property and get_property, for the property at @index: its
 * id less the table's first. @self: fields that @object, a GstObject, guards
 * with its lock */
SPDL_PRIVATE_API
void gst_spdl_property_table_set (const SpdlProperty *table, gpointer self,
    guint index, const GValue *value, GObject *object, GParamSpec *pspec);
SPDL_PRIVATE_API
void gst_spdl_property_table_get (const SpdlProperty *table, gconstpointer self,
    guint index, GValue *value, GObject *object, GParamSpec *pspec);

/* Values of a property that is a GstValueArray of strings. */

/* Returns: (transfer full) (nullable): the elements as strings, since <1,2> is
 * read as numbers; NULL: there are none */
SPDL_PRIVATE_API
GStrv gst_spdl_names_dup (const GValue *array);

/* Appends @names, nullable. */
SPDL_PRIVATE_API
void gst_spdl_names_set (GValue *array, const gchar *const *names);

/* The same with the lock of @object, which guards @names. FALSE: they are
 * NULL */
SPDL_PRIVATE_API
gboolean
gst_spdl_names_set_locked (GValue *array, const GStrv *names, GObject *object);

G_END_DECLS
