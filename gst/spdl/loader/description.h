/* gst-spdl: tokenizer of pipeline descriptions
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef enum {
  SPDL_TOKEN_NAME,       /* name of an element's factory */
  SPDL_TOKEN_ASSIGNMENT, /* NAME=VALUE */
  SPDL_TOKEN_LINK,       /* "!", or "! CAPS !" */
  SPDL_TOKEN_REFERENCE,  /* "NAME.", "NAME.PAD" or ".PAD" */
  SPDL_TOKEN_URI,        /* also a path */
  SPDL_TOKEN_OPEN,       /* "(", or "NAME.(" */
  SPDL_TOKEN_CLOSE,
  SPDL_TOKEN_OTHER,
} SpdlTokenKind;

#define SPDL_NO_OWNER G_MAXUINT

typedef struct {
  SpdlTokenKind kind;
  const gchar *begin;
  const gchar *end;
  const gchar *value; /* of an assignment */
  guint owner;        /* of an assignment: index of its element's token */
} SpdlToken;

/* Returns: (transfer full): tokens, which refer to @description */
GArray *spdl_tokens_read (const gchar *description);

/* Returns: (nullable): the token at @i, NULL before the first and after the
 * last */
const SpdlToken *spdl_tokens_get (const GArray *tokens, guint i);

gboolean spdl_token_is (const SpdlToken *token, SpdlTokenKind kind);
const gchar *spdl_skip_space (const gchar *p);
const gchar *spdl_skip_name (const gchar *p);

/* Return valid UTF-8, without trailing blanks. */
gchar *spdl_dup_range (const gchar *begin, const gchar *end);
gchar *spdl_token_dup (const SpdlToken *token);

/* Returns the name of an element, or of the property of an assignment. */
gchar *spdl_token_dup_name (const SpdlToken *token);

/* Returns the value without double quotes. GStreamer keeps single quotes. */
gchar *spdl_token_dup_value (const SpdlToken *token);

/* Returns TRUE if an assignment in @description sets that property of any
 * element, including those in the `pipeline` of a spdlworkersrc. */
gboolean
spdl_description_sets (const gchar *description, const gchar *property);

/* Removes the elements of @factory from @description, each with the link before
 * it and the assignments after it.
 *
 * @rest: (out): the remaining description
 * @element: (out) (nullable): the last removed element with its assignments
 *
 * Returns: the number of removed elements */
guint spdl_description_cut (const gchar *description, const gchar *factory,
    gchar **rest, gchar **element);

/* An assignment, and the class that should have the property. */
typedef struct {
  gchar *element;
  gchar *name; /* as written: "width", "sink_0::weight" */
  const gchar *property;
  gchar *value;
  GObjectClass *klass; /* nullable: unknown */
  GParamSpec *pspec;   /* nullable: not found */
} SpdlSetting;

void spdl_setting_init (
    SpdlSetting *self, const GArray *tokens, const SpdlToken *token);
void spdl_setting_clear (SpdlSetting *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SpdlSetting, spdl_setting_clear)

/* Returns: (transfer full) (nullable): the class of a factory's elements */
GObjectClass *spdl_element_ref_class (const gchar *factory_name);

/* Returns: (transfer container): the names of writable properties; those of
 * GstObject are last */
GPtrArray *spdl_element_list_properties (GObjectClass *klass);

/* Returns: (transfer full): the caps of the pad templates of a factory */
GstCaps *spdl_element_get_template_caps (
    const gchar *factory_name, GstPadDirection direction);

/* Returns TRUE if GStreamer's parser accepts @text as a value of @pspec. */
gboolean spdl_reads_as (const gchar *text, GParamSpec *pspec);

typedef struct {
  gboolean is_number, is_whole, is_unsigned;
  gdouble low, high; /* of a floating-point number */
  gint64 min;        /* 0 if unsigned */
  guint64 max;
  guint64 type_max;      /* larger numbers are not representable */
  gboolean has_no_limit; /* the default is the maximum of the type */
} SpdlRange;

SpdlRange spdl_range_get (GParamSpec *pspec);

/* Returns a description such as "a whole number from 1 to 16". */
gchar *spdl_range_describe (const SpdlRange *range);

/* Returns TRUE if the value is within @range, or is not a number. */
gboolean
spdl_setting_is_in_range (const SpdlSetting *setting, const SpdlRange *range);

G_END_DECLS
