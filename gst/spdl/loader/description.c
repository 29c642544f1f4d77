/* gst-spdl: tokenizer of pipeline descriptions
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/loader/description.h"

#include <errno.h>
#include <string.h>

/* Tokens of GStreamer's scanner */

const gchar *
spdl_skip_space (const gchar *p)
{
  while (g_ascii_isspace (*p))
    p++;
  return p;
}

static gboolean
is_name_char (gchar c)
{
  return g_ascii_isalnum (c) || (c != 0 && strchr ("-_%:", c));
}

const gchar *
spdl_skip_name (const gchar *p)
{
  while (is_name_char (*p))
    p++;
  return p;
}

/* Returns: the end of the quoted string at @p, or @p if it is not closed */
static const gchar *
skip_quoted (const gchar *p)
{
  const gchar *end = p;

  for (const gchar *q = p + 1; *q; q++) {
    if (*q != *p)
      continue;
    end = q + 1;
    if (q[-1] != '\\')
      break;
  }
  return end;
}

static const gchar *
skip_word (const gchar *p)
{
  while (*p && !g_ascii_isspace (*p))
    p += *p == '\\' && p[1] ? 2 : 1;
  return p;
}

/* Returns the end of the longer match, a quoted string or a word. */
static const gchar *
skip_string (const gchar *p)
{
  const gchar *quoted = *p == '"' || *p == '\'' ? skip_quoted (p) : p;

  return MAX (quoted, skip_word (p));
}

static const gchar *
skip_media_type (const gchar *p)
{
  const gchar *q = p;

  while (g_ascii_isalnum (*q) || *q == '-')
    q++;
  if (q == p || *q != '/' || !(g_ascii_isalnum (q[1]) || q[1] == '-'))
    return NULL;
  for (q++; g_ascii_isalnum (*q) || *q == '-'; q++)
    continue;
  return q;
}

/* Returns the end of a link. Caps are part of it only if another "!" follows.
 *
 * @p: a "!" */
static const gchar *
skip_link (const gchar *p)
{
  const gchar *q = skip_media_type (spdl_skip_space (p + 1));

  while (q && *q && *q != '!')
    q += *q == '\\' && q[1] ? 2 : 1;
  return q && *q ? q + 1 : p + 1;
}

static gboolean
is_uri (const gchar *p)
{
  const gchar *q = p;

  if (*p == '/')
    return p[1] && !g_ascii_isspace (p[1]);
  while (g_ascii_isalnum (*q) || (*q && strchr ("+-.", *q)))
    q++;
  return q > p && g_ascii_isalpha (*p) && g_str_has_prefix (q, "://");
}

static SpdlToken
read_name (const gchar *p)
{
  SpdlToken token = { SPDL_TOKEN_NAME, p, spdl_skip_name (p), NULL,
    SPDL_NO_OWNER };
  const gchar *next = spdl_skip_space (token.end);

  if (*next == '=' && *spdl_skip_space (next + 1)) {
    token.kind = SPDL_TOKEN_ASSIGNMENT;
    token.value = spdl_skip_space (next + 1);
    token.end = skip_string (token.value);
  } else if (*next == '.' && *spdl_skip_space (next + 1) == '(') {
    token.kind = SPDL_TOKEN_OPEN;
    token.end = spdl_skip_space (next + 1) + 1;
  } else if (*token.end == '.') {
    token.kind = SPDL_TOKEN_REFERENCE;
    token.end = spdl_skip_name (token.end + 1);
  }
  return token;
}

static SpdlToken
read_token (const gchar *p)
{
  SpdlToken token = { SPDL_TOKEN_OTHER, p, p + 1, NULL, SPDL_NO_OWNER };

  if (*p == '!' || *p == ':') {
    token.kind = SPDL_TOKEN_LINK;
    token.end = skip_link (p);
  } else if (is_uri (p)) {
    token.kind = SPDL_TOKEN_URI;
    token.end = skip_string (p);
  } else if (g_ascii_isalnum (*p) || *p == '_') {
    return read_name (p);
  } else if (*p == '(' || *p == ')') {
    token.kind = *p == '(' ? SPDL_TOKEN_OPEN : SPDL_TOKEN_CLOSE;
  } else if (*p == '.' && is_name_char (p[1])) {
    token.kind = SPDL_TOKEN_REFERENCE;
    token.end = spdl_skip_name (p + 1);
  } else {
    token.end = g_utf8_find_next_char (p, NULL);
  }
  return token;
}

GArray *
spdl_tokens_read (const gchar *description)
{
  GArray *tokens = g_array_new (FALSE, FALSE, sizeof (SpdlToken));
  guint owner = SPDL_NO_OWNER;

  for (const gchar *p = spdl_skip_space (description); *p;) {
    SpdlToken token = read_token (p);

    if (token.kind == SPDL_TOKEN_NAME)
      owner = tokens->len;
    else if (token.kind != SPDL_TOKEN_ASSIGNMENT)
      owner = SPDL_NO_OWNER;
    token.owner = token.kind == SPDL_TOKEN_ASSIGNMENT ? owner : SPDL_NO_OWNER;
    g_array_append_val (tokens, token);
    p = spdl_skip_space (token.end);
  }
  return tokens;
}

const SpdlToken *
spdl_tokens_get (const GArray *tokens, guint i)
{
  return i < tokens->len ? &g_array_index (tokens, SpdlToken, i) : NULL;
}

gboolean
spdl_token_is (const SpdlToken *token, SpdlTokenKind kind)
{
  return token && token->kind == kind;
}

gchar *
spdl_dup_range (const gchar *begin, const gchar *end)
{
  g_autofree gchar *text = g_strndup (begin, end - begin);

  return g_utf8_make_valid (g_strchomp (text), -1);
}

gchar *
spdl_token_dup (const SpdlToken *token)
{
  return spdl_dup_range (token->begin, token->end);
}

gchar *
spdl_token_dup_name (const SpdlToken *token)
{
  return spdl_dup_range (token->begin, spdl_skip_name (token->begin));
}

gchar *
spdl_token_dup_value (const SpdlToken *token)
{
  const gchar *begin = token->value, *end = token->end;

  if (end - begin >= 2 && *begin == '"' && end[-1] == '"')
    return spdl_dup_range (begin + 1, end - 1);
  return spdl_dup_range (begin, end);
}

/* Whole descriptions */

gboolean
spdl_description_sets (const gchar *description, const gchar *property)
{
  g_autoptr (GArray) tokens = spdl_tokens_read (description);
  gboolean found = FALSE;

  for (guint i = 0; i < tokens->len && !found; i++) {
    const SpdlToken *token = spdl_tokens_get (tokens, i);
    g_autofree gchar *name = NULL, *value = NULL;

    if (token->kind != SPDL_TOKEN_ASSIGNMENT)
      continue;
    name = spdl_token_dup_name (token);
    value = spdl_token_dup_value (token);
    found = g_str_equal (name, property) ||
            (g_str_equal (name, "pipeline") &&
                spdl_description_sets (value, property));
  }
  return found;
}

guint
spdl_description_cut (const gchar *description, const gchar *factory,
    gchar **rest, gchar **element)
{
  g_autoptr (GArray) tokens = spdl_tokens_read (description);
  GString *text = g_string_new (NULL);
  const gchar *copied = description;
  guint n = 0;

  *element = NULL;
  for (guint i = 1; i < tokens->len; i++) {
    const SpdlToken *link = spdl_tokens_get (tokens, i - 1);
    const SpdlToken *token = spdl_tokens_get (tokens, i);
    const SpdlToken *next;
    const gchar *end = token->end;
    g_autofree gchar *name = spdl_token_dup (token);

    if (token->kind != SPDL_TOKEN_NAME || link->kind != SPDL_TOKEN_LINK ||
        !g_str_equal (name, factory))
      continue;
    for (guint j = i + 1; (next = spdl_tokens_get (tokens, j)); j++) {
      if (next->owner != i)
        break;
      end = next->end;
    }
    g_string_append_len (text, copied, link->begin - copied);
    copied = end;
    g_free (*element);
    *element = spdl_dup_range (token->begin, end);
    n++;
  }
  g_string_append (text, copied);
  *rest = g_string_free (text, FALSE);
  return n;
}

/* Elements and their properties */

GObjectClass *
spdl_element_ref_class (const gchar *factory_name)
{
  g_autoptr (GstElementFactory) factory =
      gst_element_factory_find (factory_name);
  g_autoptr (GstPluginFeature) loaded =
      factory ? gst_plugin_feature_load (GST_PLUGIN_FEATURE (factory)) : NULL;
  GType type = loaded ? gst_element_factory_get_element_type (
                            GST_ELEMENT_FACTORY (loaded))
                      : G_TYPE_INVALID;

  return type != G_TYPE_INVALID ? g_type_class_ref (type) : NULL;
}

GPtrArray *
spdl_element_list_properties (GObjectClass *klass)
{
  GPtrArray *names = g_ptr_array_new ();
  guint n;
  g_autofree GParamSpec **pspecs = g_object_class_list_properties (klass, &n);

  for (guint i = 0; i < n; i++)
    if (pspecs[i]->flags & G_PARAM_WRITABLE &&
        pspecs[i]->owner_type != GST_TYPE_OBJECT)
      g_ptr_array_add (names, (gpointer) pspecs[i]->name);
  if (!g_type_is_a (G_OBJECT_CLASS_TYPE (klass), GST_TYPE_PAD))
    g_ptr_array_add (names, (gpointer) "name");
  return names;
}

GstCaps *
spdl_element_get_template_caps (const gchar *name, GstPadDirection direction)
{
  g_autoptr (GstElementFactory) factory = gst_element_factory_find (name);
  GstCaps *all = gst_caps_new_empty ();
  const GList *l =
      factory ? gst_element_factory_get_static_pad_templates (factory) : NULL;

  for (; l; l = l->next) {
    GstStaticPadTemplate *template = l->data;

    if (template->direction == direction)
      all = gst_caps_merge (all, gst_static_pad_template_get_caps (template));
  }
  return all;
}

/* Finds the class of a child by the pad templates: "sink_0" matches "sink_%u".
 *
 * Returns: (transfer full) (nullable) */
static GObjectClass *
ref_child_class (GObjectClass *klass, const gchar *name, gsize length)
{
  GList *list =
      gst_element_class_get_pad_template_list (GST_ELEMENT_CLASS (klass));

  for (; list; list = list->next) {
    const gchar *pattern = GST_PAD_TEMPLATE_NAME_TEMPLATE (list->data);
    const gchar *variable = strchr (pattern, '%');
    GType type = G_TYPE_INVALID;

    if (!variable || length <= (gsize) (variable - pattern) ||
        strncmp (pattern, name, variable - pattern) != 0)
      continue;
    g_object_get (list->data, "gtype", &type, NULL);
    return g_type_is_a (type, G_TYPE_OBJECT) ? g_type_class_ref (type) : NULL;
  }
  return NULL;
}

void
spdl_setting_init (
    SpdlSetting *self, const GArray *tokens, const SpdlToken *token)
{
  const gchar *child;

  *self = (SpdlSetting){ .name = spdl_token_dup_name (token),
    .value = spdl_token_dup_value (token) };
  self->property = self->name;
  if (token->owner == SPDL_NO_OWNER)
    return;
  self->element = spdl_token_dup_name (spdl_tokens_get (tokens, token->owner));
  self->klass = spdl_element_ref_class (self->element);
  if (self->klass && (child = strstr (self->name, "::"))) {
    GObjectClass *klass =
        ref_child_class (self->klass, self->name, child - self->name);

    g_type_class_unref (self->klass);
    self->klass = klass;
    self->property = child + 2;
  }
  if (self->klass)
    self->pspec = g_object_class_find_property (self->klass, self->property);
}

void
spdl_setting_clear (SpdlSetting *self)
{
  g_clear_pointer (&self->klass, g_type_class_unref);
  g_free (self->element);
  g_free (self->name);
  g_free (self->value);
}

gboolean
spdl_reads_as (const gchar *text, GParamSpec *pspec)
{
  g_auto (GValue) value = G_VALUE_INIT;

  g_value_init (&value, pspec->value_type);
  return gst_value_deserialize_with_pspec (&value, text, pspec);
}

/* Ranges of numbers */

/* Returns whether -1 has a meaning. */
static gboolean
has_minus_one (GParamSpec *pspec)
{
  const gchar *blurb = g_param_spec_get_blurb (pspec);

  return blurb && strstr (blurb, "(-1 = ") != NULL;
}

SpdlRange
spdl_range_get (GParamSpec *pspec)
{
#define WHOLE(NAME, unsigned_, limit)                                          \
  if (G_IS_PARAM_SPEC_##NAME (pspec))                                          \
  return (SpdlRange){ TRUE, TRUE, unsigned_, 0, 0,                             \
    G_PARAM_SPEC_##NAME (pspec)->minimum,                                      \
    G_PARAM_SPEC_##NAME (pspec)->maximum, limit,                               \
    (guint64) G_PARAM_SPEC_##NAME (pspec)->default_value == (guint64) limit || \
        has_minus_one (pspec) }
#define BROKEN(NAME)                                            \
  if (G_IS_PARAM_SPEC_##NAME (pspec))                           \
    return (SpdlRange)                                          \
    {                                                           \
      TRUE, FALSE, FALSE, G_PARAM_SPEC_##NAME (pspec)->minimum, \
          G_PARAM_SPEC_##NAME (pspec)->maximum, 0, 0, 0, FALSE  \
    }
  WHOLE (INT, FALSE, G_MAXINT);
  WHOLE (UINT, TRUE, G_MAXUINT);
  WHOLE (LONG, FALSE, G_MAXLONG);
  WHOLE (ULONG, TRUE, G_MAXULONG);
  WHOLE (INT64, FALSE, G_MAXINT64);
  WHOLE (UINT64, TRUE, G_MAXUINT64);
  BROKEN (FLOAT);
  BROKEN (DOUBLE);
#undef WHOLE
#undef BROKEN
  return (SpdlRange){ FALSE };
}

gchar *
spdl_range_describe (const SpdlRange *range)
{
  if (!range->is_whole)
    return range->high < G_MAXFLOAT ? g_strdup_printf ("a number from %g to %g",
                                          range->low, range->high)
           : range->low > -G_MAXFLOAT
               ? g_strdup_printf ("a number of at least %g", range->low)
               : g_strdup ("a number");
  if (range->max == range->type_max)
    return g_strdup_printf (
        "a whole number of at least %" G_GINT64_FORMAT, range->min);
  return g_strdup_printf ("a whole number from %" G_GINT64_FORMAT
                          " to %" G_GUINT64_FORMAT,
      range->min, range->max);
}

/* GStreamer's parser truncates numbers: -3 becomes 4294967293 for an unsigned
 * property.
 *
 * Returns: whether @text is a whole number outside of @range */
static gboolean
exceeds_range (const gchar *text, const SpdlRange *range)
{
  const gboolean negative = *(text = spdl_skip_space (text)) == '-';
  gchar *end;

  errno = 0;
  if (negative) {
    const gint64 n = g_ascii_strtoll (text, &end, 0);

    return *end == 0 &&
           (errno == ERANGE || range->is_unsigned || n < range->min);
  }
  const guint64 n = g_ascii_strtoull (text, &end, 0);

  return end > text && *end == 0 &&
         (errno == ERANGE || n > range->max ||
             (range->min > 0 && n < (guint64) range->min));
}

/* Accepts -1 if the default means no limit, because -1 is the usual way to
 * write that. */
gboolean
spdl_setting_is_in_range (const SpdlSetting *setting, const SpdlRange *range)
{
  g_auto (GValue) value = G_VALUE_INIT;

  if (range->is_unsigned && range->has_no_limit &&
      g_str_equal (setting->value, "-1"))
    return TRUE;
  if (range->is_whole && exceeds_range (setting->value, range))
    return FALSE;
  g_value_init (&value, setting->pspec->value_type);
  return !gst_value_deserialize_with_pspec (
             &value, setting->value, setting->pspec) ||
         !g_param_value_validate (setting->pspec, &value);
}
