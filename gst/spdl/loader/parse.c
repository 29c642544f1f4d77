/* gst-spdl: parser of pipeline descriptions that suggests corrections
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* GStreamer's errors name the wrong element or property only in translated
 * text. This file finds it from the error's code, the tokens of the
 * description, the registry and the element classes. If GStreamer's scanner
 * splits a description differently, the hint is missing or wrong, but the error
 * remains GStreamer's. */

#include "gst/spdl/loader/parse.h"

#include "gst/spdl/loader/description.h"

#include <string.h>

/* Returns: whether @text begins and ends with single quotes */
static gboolean
is_in_single_quotes (const gchar *text)
{
  const gsize n = strlen (text);

  return n >= 2 && text[0] == '\'' && text[n - 1] == '\'';
}

/* Similar names */

/* Counts the letters to change, insert, delete or swap to turn @a into @b. */
static guint
get_distance (const gchar *a, const gchar *b)
{
  enum { MAX_LENGTH = 64 };
  const gsize n_a = strlen (a), n_b = strlen (b);
  guint rows[3][MAX_LENGTH + 1];

  if (n_a > MAX_LENGTH || n_b > MAX_LENGTH)
    return G_MAXUINT;
  for (gsize j = 0; j <= n_b; j++)
    rows[0][j] = j;
  for (gsize i = 1; i <= n_a; i++) {
    guint *row = rows[i % 3];
    const guint *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

    row[0] = i;
    for (gsize j = 1; j <= n_b; j++) {
      const gchar x = g_ascii_tolower (a[i - 1]);
      const gchar y = g_ascii_tolower (b[j - 1]);

      row[j] = MIN (MIN (last[j], row[j - 1]) + 1, last[j - 1] + (x != y));
      if (i > 1 && j > 1 && x == g_ascii_tolower (b[j - 2]) &&
          y == g_ascii_tolower (a[i - 2]))
        row[j] = MIN (row[j], before[j - 2] + 1);
    }
  }
  return rows[n_a % 3][n_b];
}

/* Returns: (nullable): the most similar one of @names */
static const gchar *
find_nearest (const gchar *name, const GPtrArray *names)
{
  guint least = MAX (1, strlen (name) / 3) + 1;
  const gchar *nearest = NULL;

  for (guint i = 0; i < names->len; i++) {
    const gchar *other = g_ptr_array_index (names, i);
    const guint distance = get_distance (name, other);

    if (distance < least) {
      least = distance;
      nearest = other;
    }
  }
  return nearest;
}

/* Finds `max-failures` for "failures".
 *
 * Returns: (nullable): the first of @names that contains @part */
static const gchar *
find_longer (const gchar *part, const GPtrArray *names)
{
  for (guint i = 0; i < names->len && strlen (part) > 3; i++)
    if (strstr (g_ptr_array_index (names, i), part))
      return g_ptr_array_index (names, i);
  return NULL;
}

static gchar *
join_names (GPtrArray *names)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < names->len; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "",
        (const gchar *) g_ptr_array_index (names, i));
  return g_string_free (text, FALSE);
}

/* Mistakes that GStreamer does not report */

static void
set_setting_error (
    GError **error, const SpdlSetting *setting, const gchar *hint)
{
  g_set_error (error, GST_PARSE_ERROR, GST_PARSE_ERROR_COULD_NOT_SET_PROPERTY,
      "could not set property \"%s\" in element \"%s\" to \"%s\": %s",
      setting->name, setting->element, setting->value, hint);
}

static gchar *suggest_property (const SpdlSetting *setting);

static gboolean
check_setting (const SpdlSetting *setting, GError **error)
{
  g_autofree gchar *text = NULL;
  g_autofree gchar *hint = NULL;
  SpdlRange range;

  if (!setting->element)
    return TRUE;
  if (g_str_equal (setting->value, "!")) {
    set_setting_error (error, setting, "write a value after the \"=\"");
    return FALSE;
  }
  if (!setting->klass)
    return TRUE;
  if (!setting->pspec) {
    /* GStreamer itself reports unknown properties, except those of children
     * ("::"), for which it waits for a child. Pads of other projects may have
     * more properties than their template lists. */
    if (setting->property == setting->name ||
        !g_str_has_prefix (setting->element, "spdl"))
      return TRUE;
    hint = suggest_property (setting);
    g_set_error (error, GST_PARSE_ERROR, GST_PARSE_ERROR_NO_SUCH_PROPERTY,
        "no property \"%s\" in element \"%s\": %s", setting->name,
        setting->element, hint);
    return FALSE;
  }
  range = spdl_range_get (setting->pspec);
  if (range.is_number && !spdl_setting_is_in_range (setting, &range)) {
    text = spdl_range_describe (&range);
    hint = g_strdup_printf ("write %s", text);
    set_setting_error (error, setting, hint);
    return FALSE;
  }
  if (g_str_equal (setting->property, "location") &&
      is_in_single_quotes (setting->value)) {
    hint = g_strdup_printf ("single quotes would be part of the path; write "
                            "%s=\"%.*s\"",
        setting->name, (int) strlen (setting->value) - 2, setting->value + 1);
    set_setting_error (error, setting, hint);
    return FALSE;
  }
  return TRUE;
}

static gboolean
check_settings (const GArray *tokens, GError **error)
{
  for (guint i = 0; i < tokens->len; i++) {
    const SpdlToken *token = spdl_tokens_get (tokens, i);
    g_auto (SpdlSetting) setting = { NULL };

    if (token->kind != SPDL_TOKEN_ASSIGNMENT)
      continue;
    spdl_setting_init (&setting, tokens, token);
    if (!check_setting (&setting, error))
      return FALSE;
  }
  return TRUE;
}

/* Suggestions. All functions return (transfer full) (nullable) text. */

static void
add_unique (GPtrArray *names, const gchar *name)
{
  for (guint i = 0; i < names->len; i++)
    if (g_str_equal (g_ptr_array_index (names, i), name))
      return;
  g_ptr_array_add (names, (gpointer) name);
}

/* @i: a "!" that follows another one */
static gchar *
suggest_two_links (const GArray *tokens, guint i)
{
  const gchar *end = spdl_tokens_get (tokens, i)->end;
  g_autofree gchar *text = NULL;

  for (i--; i > 0; i--)
    if (spdl_token_is (spdl_tokens_get (tokens, i - 1), SPDL_TOKEN_LINK))
      break;
  text = spdl_dup_range (spdl_tokens_get (tokens, i)->begin, end);
  return g_strdup_printf ("two \"!\" follow each other in \"%s\"; remove one, "
                          "or write an element between them",
      text);
}

static gchar *
suggest_syntax (const GArray *tokens)
{
  gint depth = 0;

  for (guint i = 0; i < tokens->len; i++) {
    const SpdlToken *token = spdl_tokens_get (tokens, i);
    const SpdlToken *last = spdl_tokens_get (tokens, i - 1);
    g_autofree gchar *text = spdl_token_dup (token);
    g_autofree gchar *before = last ? spdl_token_dup (last) : NULL;

    if (token->kind == SPDL_TOKEN_LINK) {
      if (!last)
        return g_strdup ("the description begins with \"!\"; write an element "
                         "before it, or remove it");
      if (last->kind == SPDL_TOKEN_LINK)
        return suggest_two_links (tokens, i);
      if (i + 1 == tokens->len)
        return g_strdup ("the description ends with \"!\"; write an element "
                         "after it, such as spdlsink, or remove it");
    } else if (token->kind == SPDL_TOKEN_ASSIGNMENT &&
               token->owner == SPDL_NO_OWNER &&
               !spdl_token_is (last, SPDL_TOKEN_OPEN) &&
               !spdl_token_is (last, SPDL_TOKEN_ASSIGNMENT)) {
      return g_strdup_printf (
          "\"%s\" does not follow an element; write ELEMENT %s", text, text);
    } else if (token->kind == SPDL_TOKEN_OTHER && *text == '=') {
      return g_strdup ("write properties as NAME=VALUE");
    } else if (token->kind == SPDL_TOKEN_OTHER) {
      return g_strdup_printf ("\"%s\" is not expected%s%s; write \"!\" between "
                              "elements, and spaces between properties",
          text, before ? " after " : "", before ? before : "");
    } else if (token->kind == SPDL_TOKEN_OPEN) {
      depth++;
    } else if (token->kind == SPDL_TOKEN_CLOSE && --depth < 0) {
      return g_strdup ("\")\" has no matching \"(\"; remove it");
    }
  }
  if (depth > 0)
    return g_strdup ("\"(\" is not closed; write \")\"");
  return g_strdup ("write ELEMENT NAME=VALUE ! ELEMENT NAME=VALUE, and values "
                   "with spaces in double quotes");
}

static gboolean
is_installed (const gchar *name)
{
  g_autoptr (GstElementFactory) factory = gst_element_factory_find (name);

  return factory != NULL;
}

static gchar *
suggest_property (const SpdlSetting *setting)
{
  g_autoptr (GPtrArray) names = spdl_element_list_properties (setting->klass);
  const gchar *nearest = find_nearest (setting->property, names);
  g_autofree gchar *all = join_names (names);

  if (!nearest)
    nearest = find_longer (setting->property, names);
  if (nearest)
    return g_strdup_printf ("did you mean \"%.*s%s\"?",
        (int) (setting->property - setting->name), setting->name, nearest);
  return g_strdup_printf ("its properties are %s", all);
}

static gchar *
suggest_missing_property (const GArray *tokens)
{
  for (guint i = 0; i < tokens->len; i++) {
    const SpdlToken *token = spdl_tokens_get (tokens, i);
    g_auto (SpdlSetting) setting = { NULL };

    if (token->kind != SPDL_TOKEN_ASSIGNMENT)
      continue;
    spdl_setting_init (&setting, tokens, token);
    if (setting.klass && !setting.pspec)
      return suggest_property (&setting);
  }
  return NULL;
}

/* Returns: the end of the text at @i up to the next "!" or assignment */
static const gchar *
find_value_end (const GArray *tokens, guint i)
{
  const gchar *end = spdl_tokens_get (tokens, i)->end;
  const SpdlToken *token;

  while ((token = spdl_tokens_get (tokens, ++i)) &&
         token->kind != SPDL_TOKEN_LINK && token->kind != SPDL_TOKEN_ASSIGNMENT)
    end = token->end;
  return end;
}

/* Suggests quotes for a value that continues after a blank. */
static gchar *
suggest_quotes (const GArray *tokens, guint i)
{
  const SpdlToken *token = spdl_tokens_get (tokens, i);
  const gchar *begin = token->value, *end = find_value_end (tokens, i);
  g_autofree gchar *name = spdl_token_dup_name (token);
  g_autofree gchar *text = NULL;

  if (*begin == '"' || *begin == '\'')
    begin++;
  if (end > begin && (end[-1] == '"' || end[-1] == '\''))
    end--;
  text = spdl_dup_range (begin, end);
  return g_strdup_printf ("%s=\"%s\"", name, text);
}

/* Returns: whether the value of @token opens a quote or bracket without closing
 * it */
static gboolean
is_open (const SpdlToken *token)
{
  const gchar c = *token->value;
  const gchar last = token->end[-1];

  return ((c == '"' || c == '\'') &&
             (last != c || token->end - token->value < 2)) ||
         (c == '<' && last != '>');
}

static gchar *
suggest_enum (const SpdlSetting *setting)
{
  const GEnumClass *klass = G_PARAM_SPEC_ENUM (setting->pspec)->enum_class;
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autofree gchar *all = NULL;
  const gchar *nearest;

  for (guint i = 0; i < klass->n_values; i++)
    add_unique (names, klass->values[i].value_nick);
  all = join_names (names);
  nearest = find_nearest (setting->value, names);
  if (nearest)
    return g_strdup_printf (
        "did you mean %s=%s? The values are %s", setting->name, nearest, all);
  return g_strdup_printf ("write one of %s", all);
}

static gchar *
suggest_flags (const SpdlSetting *setting)
{
  const GFlagsClass *klass = G_PARAM_SPEC_FLAGS (setting->pspec)->flags_class;
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autofree gchar *all = NULL;

  for (guint i = 0; i < klass->n_values; i++)
    add_unique (names, klass->values[i].value_nick);
  all = join_names (names);
  return g_strdup_printf ("write one or several of %s, as A+B", all);
}

/* Suggests an array. Also handles "(0.5, 0.5)" and "[0.5,0.5]". */
static gchar *
suggest_array (const GArray *tokens, guint i, const SpdlSetting *setting)
{
  const SpdlToken *token = spdl_tokens_get (tokens, i);
  const gchar *begin = token->value, *end = find_value_end (tokens, i);
  g_autofree gchar *text = NULL;

  while (begin < end && strchr ("<([{'\" ", *begin))
    begin++;
  while (begin < end && strchr (">)]}'\" ", end[-1]))
    end--;
  text = spdl_dup_range (begin, end);
  if (*text == 0 ||
      (*setting->value == '<' && strlen (setting->value) == strlen (text) + 2))
    return g_strdup_printf (
        "write numbers in <...>, as %s=\"<0.5,0.5,0.5>\"", setting->name);
  return g_strdup_printf (
      "an array is written in <...>; write %s=\"<%s>\"", setting->name, text);
}

/* Returns: (nullable): "8,height=8" with blanks instead of commas */
static gchar *
replace_commas (const gchar *value)
{
  gchar *text = g_strdup (value);
  gboolean found = FALSE;

  for (gchar *p = text; (p = strchr (p, ',')); p++)
    if (g_ascii_isalpha (p[1]) && *spdl_skip_name (p + 1) == '=') {
      *p = ' ';
      found = TRUE;
    }
  if (!found)
    g_clear_pointer (&text, g_free);
  return text;
}

static gchar *
suggest_number (const SpdlSetting *setting, const SpdlRange *range)
{
  g_autofree gchar *text = spdl_range_describe (range);
  g_autofree gchar *pointed =
      g_strdelimit (g_strdup (setting->value), ",", '.');

  if (!range->is_whole && strchr (setting->value, ',') &&
      spdl_reads_as (pointed, setting->pspec))
    return g_strdup_printf ("write %s=%s", setting->name, pointed);
  return g_strdup_printf ("write %s", text);
}

static gchar *
suggest_value (const GArray *tokens, guint i, const SpdlSetting *setting)
{
  const SpdlRange range = spdl_range_get (setting->pspec);
  const GType type = setting->pspec->value_type;
  const gchar *value = setting->value;
  g_autofree gchar *spaced = replace_commas (value);
  g_autofree gchar *bare = is_in_single_quotes (value)
                               ? g_strndup (value + 1, strlen (value) - 2)
                               : NULL;
  g_autofree gchar *quoted = NULL;

  if (type == GST_TYPE_ARRAY || type == GST_TYPE_LIST)
    return suggest_array (tokens, i, setting);
  if (is_open (spdl_tokens_get (tokens, i))) {
    quoted = suggest_quotes (tokens, i);
    return g_strdup_printf ("the quote is not closed; write %s", quoted);
  }
  if (bare && spdl_reads_as (bare, setting->pspec))
    return g_strdup_printf ("single quotes are part of the value; write %s=%s",
        setting->name, bare);
  if (spaced && type != GST_TYPE_CAPS && type != GST_TYPE_STRUCTURE)
    return g_strdup_printf ("properties are separated by spaces; write %s=%s",
        setting->name, spaced);
  if (G_IS_PARAM_SPEC_ENUM (setting->pspec))
    return suggest_enum (setting);
  if (G_IS_PARAM_SPEC_FLAGS (setting->pspec))
    return suggest_flags (setting);
  if (type == G_TYPE_BOOLEAN)
    return g_strdup ("write true or false");
  if (range.is_number)
    return suggest_number (setting, &range);
  return g_strdup_printf ("write a value of type %s", g_type_name (type));
}

static gchar *
suggest_unread_value (const GArray *tokens)
{
  for (guint i = 0; i < tokens->len; i++) {
    const SpdlToken *token = spdl_tokens_get (tokens, i);
    g_auto (SpdlSetting) setting = { NULL };

    if (token->kind != SPDL_TOKEN_ASSIGNMENT)
      continue;
    spdl_setting_init (&setting, tokens, token);
    /* GStreamer parses such values as descriptions. */
    if (setting.pspec &&
        !g_type_is_a (setting.pspec->value_type, GST_TYPE_ELEMENT) &&
        !spdl_reads_as (setting.value, setting.pspec))
      return suggest_value (tokens, i, &setting);
  }
  return NULL;
}

static gchar *
find_nearest_element (const gchar *name)
{
  GList *features = gst_registry_get_feature_list (
      gst_registry_get (), GST_TYPE_ELEMENT_FACTORY);
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  gchar *nearest;

  for (GList *l = features; l; l = l->next)
    g_ptr_array_add (names, (gpointer) GST_OBJECT_NAME (l->data));
  nearest = g_strdup (find_nearest (name, names));
  gst_plugin_feature_list_free (features);
  return nearest;
}

static gboolean
is_media_type (const gchar *name, const SpdlToken *next)
{
  static const gchar *const kinds[] = { "application", "audio", "image",
    "other", "text", "video", NULL };

  return spdl_token_is (next, SPDL_TOKEN_URI) && *next->begin == '/' &&
         next->begin[-1] != ' ' && g_strv_contains (kinds, name);
}

/* Suggests a correction for a word that follows an assignment without a "!". */
static gchar *
suggest_after_value (const GArray *tokens, guint i)
{
  guint j = i;
  g_autofree gchar *quoted = NULL;

  while (j > 0 &&
         !spdl_token_is (spdl_tokens_get (tokens, j), SPDL_TOKEN_LINK) &&
         !spdl_token_is (spdl_tokens_get (tokens, j), SPDL_TOKEN_ASSIGNMENT))
    j--;
  if (!spdl_token_is (spdl_tokens_get (tokens, j), SPDL_TOKEN_ASSIGNMENT))
    return NULL;
  quoted = suggest_quotes (tokens, j);
  if (is_open (spdl_tokens_get (tokens, j)))
    return g_strdup_printf ("the quote is not closed; write %s", quoted);
  return g_strdup_printf (
      "a value with spaces needs double quotes; write %s", quoted);
}

/* Suggests a correction for a word that names a property of the element before
 * it. */
static gchar *
suggest_assignment (const GArray *tokens, guint i, const gchar *name)
{
  g_autofree gchar *element = NULL;
  GObjectClass *klass;
  GParamSpec *pspec;

  while (i > 0 &&
         spdl_token_is (spdl_tokens_get (tokens, i - 1), SPDL_TOKEN_ASSIGNMENT))
    i--;
  if (!spdl_token_is (spdl_tokens_get (tokens, i - 1), SPDL_TOKEN_NAME))
    return NULL;
  element = spdl_token_dup_name (spdl_tokens_get (tokens, i - 1));
  klass = spdl_element_ref_class (element);
  pspec = klass ? g_object_class_find_property (klass, name) : NULL;
  g_clear_pointer (&klass, g_type_class_unref);
  return pspec ? g_strdup_printf (
                     "%s has this property; write %s=VALUE", element, name)
               : NULL;
}

static gchar *
suggest_element (const GArray *tokens, guint i)
{
  const SpdlToken *token = spdl_tokens_get (tokens, i);
  const SpdlToken *next = spdl_tokens_get (tokens, i + 1);
  const SpdlToken *last = spdl_tokens_get (tokens, i - 1);
  const gboolean follows = i > 0 && last->kind != SPDL_TOKEN_LINK;
  g_autofree gchar *name = spdl_token_dup_name (token);
  g_autofree gchar *nearest = NULL;
  gchar *hint = NULL;

  if (is_media_type (name, next)) {
    g_autofree gchar *caps = spdl_dup_range (token->begin, next->end);

    return g_strdup_printf (
        "caps must stand between two \"!\"; write ! %s !", caps);
  }
  nearest = find_nearest_element (name);
  if (nearest)
    return g_strdup_printf (
        "did you mean \"%s%s\"?", follows ? "! " : "", nearest);
  if (follows && ((hint = suggest_assignment (tokens, i, name)) ||
                     (hint = suggest_after_value (tokens, i))))
    return hint;
  if (g_str_has_prefix (name, "spdl") && !is_installed ("spdlsrc"))
    return g_strdup (
        "the elements of gst-spdl are not installed where GStreamer looks; set "
        "GST_PLUGIN_PATH to the folder of its plugins");
  return g_strdup ("no installed plugin provides it; gst-inspect-1.0 lists the "
                   "installed elements");
}

/* Returns: whether an element in the description has name=@name */
static gboolean
is_defined (const GArray *tokens, const gchar *name)
{
  for (guint i = 0; i < tokens->len; i++) {
    const SpdlToken *token = spdl_tokens_get (tokens, i);
    g_autofree gchar *property = spdl_token_dup_name (token);
    g_autofree gchar *value =
        token->value ? spdl_token_dup_value (token) : NULL;

    if (value && g_str_equal (property, "name") && g_str_equal (value, name))
      return TRUE;
  }
  return FALSE;
}

static gchar *
suggest_missing_element (const GArray *tokens)
{
  for (guint i = 0; i < tokens->len; i++) {
    const SpdlToken *token = spdl_tokens_get (tokens, i);
    g_autofree gchar *name = spdl_token_dup_name (token);

    if (token->kind == SPDL_TOKEN_NAME && !is_installed (name))
      return suggest_element (tokens, i);
  }
  for (guint i = 0; i < tokens->len; i++) {
    const SpdlToken *token = spdl_tokens_get (tokens, i);
    g_autofree gchar *name = spdl_token_dup_name (token);

    if (token->kind == SPDL_TOKEN_REFERENCE && *name &&
        !is_defined (tokens, name))
      return g_strdup_printf (
          "no element has the name \"%s\"; set name=%s on one", name, name);
    if (token->kind == SPDL_TOKEN_URI && i > 0 &&
        !spdl_token_is (spdl_tokens_get (tokens, i - 1), SPDL_TOKEN_LINK))
      return suggest_after_value (tokens, i);
  }
  return NULL;
}

/* Links */

/* Lists the first few media types, because spdldecode accepts 31. */
static gchar *
list_media_types (const GstCaps *caps)
{
  enum { MAX_TYPES = 4 };
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autofree gchar *text = NULL;
  guint n;

  for (guint i = 0; i < gst_caps_get_size (caps); i++)
    add_unique (
        names, gst_structure_get_name (gst_caps_get_structure (caps, i)));
  n = names->len;
  g_ptr_array_set_size (names, MIN (n, MAX_TYPES));
  text = join_names (names);
  return n > MAX_TYPES ? g_strdup_printf ("%s and %u more", text, n - MAX_TYPES)
                       : g_steal_pointer (&text);
}

/* Returns: (nullable): the elements of gst-spdl that are missing between the
 * caps */
static const gchar *
find_between (const GstCaps *sent, const GstCaps *taken)
{
  g_autoptr (GstCaps) names = gst_caps_from_string ("text/uri-list");
  g_autoptr (GstCaps) files = gst_caps_from_string (
      "application/octet-stream; image/jpeg; image/png; audio/mpeg; "
      "video/quicktime");
  g_autoptr (GstCaps) decoded =
      gst_caps_from_string ("video/x-raw; audio/x-raw");
  const gboolean fetch = gst_caps_can_intersect (sent, names);

  if (fetch && gst_caps_can_intersect (taken, files))
    return "spdlfetch";
  if (!gst_caps_can_intersect (taken, decoded))
    return NULL;
  return fetch                                  ? "spdlfetch ! spdldecode"
         : gst_caps_can_intersect (sent, files) ? "spdldecode"
                                                : NULL;
}

static gchar *
suggest_between (const gchar *source, const gchar *sink)
{
  g_autoptr (GstCaps) sent =
      spdl_element_get_template_caps (source, GST_PAD_SRC);
  g_autoptr (GstCaps) taken =
      spdl_element_get_template_caps (sink, GST_PAD_SINK);
  g_autofree gchar *from = NULL;
  g_autofree gchar *to = NULL;
  const gchar *between;

  if (gst_caps_can_intersect (sent, taken))
    return NULL;
  if (gst_caps_is_empty (sent))
    return g_strdup_printf (
        "%s has no output; remove the \"!\" after it", source);
  if (gst_caps_is_empty (taken))
    return g_strdup_printf (
        "%s has no input; remove the \"!\" before it", sink);
  from = list_media_types (sent);
  to = list_media_types (taken);
  between = find_between (sent, taken);
  if (between)
    return g_strdup_printf (
        "%s sends %s, but %s accepts %s; write %s ! %s ! %s", source, from,
        sink, to, source, between, sink);
  return g_strdup_printf (
      "%s sends %s, but %s accepts %s; put a converting element between them",
      source, from, sink, to);
}

/* Suggests a correction for "! video/x-raw,format=RGB spdlbatch !". */
static gchar *
suggest_after_caps (const SpdlToken *token)
{
  g_autofree gchar *text = spdl_dup_range (token->begin + 1, token->end - 1);
  const gchar *caps = spdl_skip_space (text);
  const gchar *space = strrchr (caps, ' ');

  if (!space || !is_installed (space + 1))
    return NULL;
  return g_strdup_printf ("\"!\" is missing before %s; write ! %.*s ! %s",
      space + 1, (int) (space - caps), caps, space + 1);
}

static gchar *
suggest_link (const GArray *tokens)
{
  const SpdlToken *element = NULL;

  for (guint i = 0; i < tokens->len; i++) {
    const SpdlToken *token = spdl_tokens_get (tokens, i);
    const SpdlToken *next = spdl_tokens_get (tokens, i + 1);
    gchar *hint = NULL;

    if (token->kind == SPDL_TOKEN_NAME)
      element = token;
    else if (token->kind != SPDL_TOKEN_ASSIGNMENT &&
             token->kind != SPDL_TOKEN_LINK)
      element = NULL;
    if (token->kind != SPDL_TOKEN_LINK)
      continue;
    if (token->end - token->begin > 1)
      hint = suggest_after_caps (token);
    if (!hint && element && spdl_token_is (next, SPDL_TOKEN_NAME)) {
      g_autofree gchar *source = spdl_token_dup_name (element);
      g_autofree gchar *sink = spdl_token_dup_name (next);

      hint = suggest_between (source, sink);
    }
    if (hint)
      return hint;
  }
  return NULL;
}

static gchar *
suggest_name (const GArray *tokens, const GError *error)
{
  if (error->domain != GST_PARSE_ERROR)
    return NULL;
  switch (error->code) {
    case GST_PARSE_ERROR_SYNTAX:
      return suggest_syntax (tokens);
    case GST_PARSE_ERROR_NO_SUCH_ELEMENT:
      return suggest_missing_element (tokens);
    case GST_PARSE_ERROR_NO_SUCH_PROPERTY:
      return suggest_missing_property (tokens);
    case GST_PARSE_ERROR_COULD_NOT_SET_PROPERTY:
      return suggest_unread_value (tokens);
    case GST_PARSE_ERROR_LINK:
      return suggest_link (tokens);
    case GST_PARSE_ERROR_EMPTY:
      return g_strdup ("write elements with \"!\" between them, as spdlsrc "
                       "location=FOLDER ! spdlfetch ! spdldecode ! spdlbatch "
                       "! spdlsink");
    default:
      return NULL;
  }
}

void
gst_spdl_parse_explain (const gchar *description, GError *error)
{
  g_autoptr (GArray) tokens = spdl_tokens_read (description);
  const gboolean is_file = error->domain == GST_PARSE_ERROR &&
                           g_file_test (description, G_FILE_TEST_EXISTS);
  g_autofree gchar *hint =
      is_file
          ? g_strdup_printf ("for files, begin with \"spdlsrc location=%s ! "
                             "spdlfetch ! spdldecode\"",
                description)
          : suggest_name (tokens, error);
  gchar *text;

  if (!hint)
    return;
  text = g_strdup_printf ("%s: %s", error->message, hint);
  g_free (error->message);
  error->message = text;
}

gboolean
gst_spdl_parse_check (const gchar *description, GError **error)
{
  g_autoptr (GArray) tokens = spdl_tokens_read (description);

  return check_settings (tokens, error);
}

static gboolean
has_open_pad (GstElement *element, GstPadDirection direction)
{
  gboolean found = FALSE;

  GST_OBJECT_LOCK (element);
  for (GList *l = element->pads; l && !found; l = l->next)
    found = GST_PAD_DIRECTION (l->data) == direction &&
            !gst_pad_is_linked (l->data);
  GST_OBJECT_UNLOCK (element);
  return found;
}

static const gchar *
get_kind (GstElement *element)
{
  GstElementFactory *factory = gst_element_get_factory (element);

  return factory ? GST_OBJECT_NAME (factory) : GST_OBJECT_NAME (element);
}

gboolean
gst_spdl_parse_check_links (GstBin *bin, GError **error)
{
  GstElement *last = NULL;
  gboolean ok = TRUE;
  GList *children;

  GST_OBJECT_LOCK (bin);
  /* A bin lists the element that was added last first. */
  children = g_list_reverse (g_list_copy_deep (
      bin->children, (GCopyFunc) (GCallback) gst_object_ref, NULL));
  GST_OBJECT_UNLOCK (bin);
  for (GList *l = children; l && ok; last = l->data, l = l->next) {
    if (!last || !has_open_pad (last, GST_PAD_SRC) ||
        !has_open_pad (l->data, GST_PAD_SINK))
      continue;
    g_set_error (error, GST_PARSE_ERROR, GST_PARSE_ERROR_LINK,
        "%s and %s are not linked; write \"!\" between them: %s ... ! %s ...",
        get_kind (last), get_kind (l->data), get_kind (last),
        get_kind (l->data));
    ok = FALSE;
  }
  g_list_free_full (children, gst_object_unref);
  return ok;
}

/* Checks and returns the result of GStreamer's parser.
 *
 * @element: (transfer floating) (nullable) */
static GstElement *
finish_parsing (const gchar *description, GstElement *element, GError *reason,
    GError **error)
{
  if (element && GST_IS_BIN (element) &&
      !gst_spdl_parse_check_links (GST_BIN (element), &reason)) {
    gst_object_unref (gst_object_ref_sink (element));
    element = NULL;
  } else if (reason) {
    gst_spdl_parse_explain (description, reason);
  }
  if (reason)
    g_propagate_error (error, reason);
  return element;
}

GstElement *
gst_spdl_parse_launch (const gchar *description, GError **error)
{
  GError *reason = NULL;
  GstElement *element;

  if (!gst_spdl_parse_check (description, error))
    return NULL;
  element = gst_parse_launch_full (
      description, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &reason);
  return finish_parsing (description, element, reason, error);
}

/* Escapes arguments like gst-launch-1.0, so that a blank within an argument
 * does not end a value. */
static gchar *
join_arguments (gchar **arguments)
{
  GString *text = g_string_new (NULL);

  for (; *arguments; arguments++) {
    gboolean in_quotes = FALSE;

    for (const gchar *p = *arguments; *p; p++) {
      if (*p == '"' && (!in_quotes || p[-1] != '\\'))
        in_quotes = !in_quotes;
      if (*p == ' ' && !in_quotes)
        g_string_append_c (text, '\\');
      g_string_append_c (text, *p);
    }
    g_string_append_c (text, ' ');
  }
  return g_string_free (text, FALSE);
}

GstElement *
gst_spdl_parse_launchv (gchar **arguments, GError **error)
{
  g_autofree gchar *description = NULL;
  GError *reason = NULL;
  GstElement *element;

  if (arguments[0] && !arguments[1])
    return gst_spdl_parse_launch (arguments[0], error);
  description = join_arguments (arguments);
  if (!gst_spdl_parse_check (description, error))
    return NULL;
  element = gst_parse_launchv_full (
      (const gchar **) arguments, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &reason);
  return finish_parsing (description, element, reason, error);
}
