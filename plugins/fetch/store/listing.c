/* gst-spdl: pages of the listings of object stores
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/store/listing.h"

#include <gst/gst.h>
#include <jansson.h>
#include <string.h>

#include "gst/spdl/common/storeuri.h"
#include "plugins/common/fail.h"
#include "plugins/fetch/store/sigv4.h"

/* Maximum sizes of a key in S3, which also suffices for paths of Hugging Face,
 * and of the token of a page. */
#define MAX_KEY 1024
#define MAX_TOKEN 8192

void
spdl_listing_init (SpdlListing *self)
{
  self->keys = g_ptr_array_new_with_free_func (g_free);
  self->token = NULL;
}

void
spdl_listing_clear (SpdlListing *self)
{
  g_clear_pointer (&self->keys, g_ptr_array_unref);
  g_clear_pointer (&self->token, g_free);
}

/* hf://datasets/owner/name@revision/FOLDER: the folder is the first word of the
 * query, see objectstore.c. */
static gchar *
make_tree_uri (const gchar *location, const gchar *token)
{
  const gchar *owner = strchr (location + strlen ("hf://"), '/');
  const gchar *at = location + spdl_store_measure_bucket (location);
  g_autofree gchar *folder = NULL, *escaped = NULL;

  if (!owner || !strchr (owner + 1, '/'))
    return NULL;
  at += spdl_store_measure_revision (at);
  folder = g_strdup (*at ? at + 1 : at);
  if (g_str_has_suffix (folder, "/"))
    folder[strlen (folder) - 1] = '\0';
  escaped = spdl_sigv4_escape (folder, TRUE);
  return g_strdup_printf ("%.*s?%s&recursive=true&limit=1000%s%s",
      (int) (at - location), location, escaped, token ? "&cursor=" : "",
      token ? token : "");
}

gchar *
spdl_listing_make_uri (const gchar *location, const gchar *token)
{
  g_autofree gchar *next = token ? spdl_sigv4_escape (token, FALSE) : NULL;
  g_autofree gchar *prefix = NULL;
  const gchar *begin = strstr (location, "://");
  gsize n;

  if (!begin)
    return NULL;
  begin += strlen ("://");
  if (g_ascii_strncasecmp (location, "hf:", 3) == 0)
    return make_tree_uri (location, next);
  n = strcspn (begin, "/");
  prefix = spdl_sigv4_escape (begin[n] ? begin + n + 1 : "", FALSE);
  return n == 0 ? NULL
                : g_strdup_printf (
                      "%.*s?list-type=2&encoding-type=url&prefix=%s%s%s",
                      (int) (begin + n - location), location, prefix,
                      next ? "&continuation-token=" : "", next ? next : "");
}

static gboolean
set_invalid (GError **error, const gchar *problem)
{
  return spdl_fail (error, GST_RESOURCE_ERROR_READ,
      "The server's listing is invalid: %s", problem);
}

/* XML */

typedef struct {
  SpdlListing *listing;
  guint depth;
  gboolean in_object; /* in Contents */
  gboolean is_escaped;
  gboolean is_truncated;
  GString *text;        /* of the current element */
  const gchar *problem; /* nullable */
} Parser;

/* Stops the parser. GMarkup would emit a warning for a second error, which is
 * avoided here. */
static void
stop_parser (Parser *self, const gchar *problem, GError **error)
{
  self->problem = problem;
  set_invalid (error, problem);
}

static void
begin_element (GMarkupParseContext *context, const gchar *name,
    const gchar **names, const gchar **values, gpointer user_data,
    GError **error)
{
  Parser *self = user_data;

  if (self->depth == 0 && !g_str_equal (name, "ListBucketResult"))
    stop_parser (self, "the element ListBucketResult is missing", error);
  if (self->depth == 1)
    self->in_object = g_str_equal (name, "Contents");
  self->depth++;
  g_string_truncate (self->text, 0);
}

static void
end_element (GMarkupParseContext *context, const gchar *name,
    gpointer user_data, GError **error)
{
  Parser *self = user_data;
  const gchar *text = self->text->str;

  self->depth--;
  if (self->depth == 2 && self->in_object && g_str_equal (name, "Key")) {
    g_ptr_array_add (self->listing->keys, g_strdup (text));
  } else if (self->depth == 1 && g_str_equal (name, "EncodingType")) {
    self->is_escaped = g_str_equal (text, "url");
  } else if (self->depth == 1 && g_str_equal (name, "IsTruncated")) {
    self->is_truncated = g_str_equal (text, "true");
  } else if (self->depth == 1 && g_str_equal (name, "NextContinuationToken")) {
    g_free (self->listing->token);
    self->listing->token = g_strdup (text);
  }
  g_string_truncate (self->text, 0);
}

static void
add_text (GMarkupParseContext *context, const gchar *text, gsize size,
    gpointer user_data, GError **error)
{
  Parser *self = user_data;

  if (self->text->len + size > MAX_TOKEN)
    stop_parser (self, "an element is too long", error);
  else
    g_string_append_len (self->text, text, size);
}

/* Unescapes a key, if the server escaped it as `encoding-type=url` requests.
 * Returns FALSE if the key is invalid. */
static gboolean
finish_key (gchar **key, gboolean is_escaped)
{
  if (is_escaped) {
    g_autofree gchar *escaped = g_strdelimit (*key, "+", ' ');

    *key = g_uri_unescape_string (escaped, NULL);
  }
  return *key && **key && strlen (*key) <= MAX_KEY;
}

/* Returns NULL if the listing is complete. */
static const gchar *
finish_listing (const Parser *self, guint first)
{
  SpdlListing *listing = self->listing;

  for (guint i = first; i < listing->keys->len; i++)
    if (!finish_key ((gchar **) &listing->keys->pdata[i], self->is_escaped))
      return "a key is empty, too long or badly escaped";
  if (!self->is_truncated)
    g_clear_pointer (&listing->token, g_free);
  return !self->is_truncated || (listing->token && *listing->token)
             ? NULL
             : "the token of the next page is missing";
}

gboolean
spdl_listing_parse_xml (
    SpdlListing *self, const gchar *text, gsize size, GError **error)
{
  static const GMarkupParser funcs = { begin_element, end_element, add_text };
  const guint first = self->keys->len;
  Parser parser = { .listing = self, .text = g_string_new (NULL) };
  GMarkupParseContext *context = g_markup_parse_context_new (
      &funcs, G_MARKUP_TREAT_CDATA_AS_TEXT, &parser, NULL);
  /* GMarkup emits a critical warning for an empty text. */
  gboolean ok = size > 0;

  g_clear_pointer (&self->token, g_free);
  ok = ok && g_markup_parse_context_parse (context, text, size, NULL) &&
       g_markup_parse_context_end_parse (context, NULL);
  g_markup_parse_context_free (context);
  g_string_free (parser.text, TRUE);
  if (ok)
    parser.problem = finish_listing (&parser, first);
  else if (!parser.problem)
    parser.problem = "it is not well-formed XML";
  return !parser.problem || set_invalid (error, parser.problem);
}

/* JSON */

/* Returns the cursor in `<URL>; rel="next"`. (transfer full) (nullable) */
static gchar *
find_cursor (const gchar *link)
{
  const gchar *next = link ? strstr (link, "rel=\"next\"") : NULL;
  const gchar *end = next ? g_strrstr_len (link, next - link, ">") : NULL;
  const gchar *begin = end ? g_strrstr_len (link, end - link, "<") : NULL;
  g_autofree gchar *url = begin ? g_strndup (begin + 1, end - begin - 1) : NULL;
  gchar *query = url ? strchr (url, '?') : NULL;
  g_autoptr (GHashTable) parameters =
      query ? g_uri_parse_params (query + 1, -1, "&", G_URI_PARAMS_NONE, NULL)
            : NULL;

  return parameters ? g_strdup (g_hash_table_lookup (parameters, "cursor"))
                    : NULL;
}

static gboolean
add_file (SpdlListing *self, const json_t *entry, GError **error)
{
  const json_t *type = json_object_get (entry, "type");
  const json_t *path = json_object_get (entry, "path");

  if (!json_is_string (type) || !json_is_string (path))
    return set_invalid (error, "an entry has no type and path");
  if (!g_str_equal (json_string_value (type), "file"))
    return TRUE;
  if (json_string_length (path) == 0 || json_string_length (path) > MAX_KEY ||
      strlen (json_string_value (path)) != json_string_length (path))
    return set_invalid (error, "a path is empty or too long");
  g_ptr_array_add (self->keys, g_strdup (json_string_value (path)));
  return TRUE;
}

gboolean
spdl_listing_parse_json (SpdlListing *self, const gchar *text, gsize size,
    const gchar *link, GError **error)
{
  json_t *root = json_loadb (text, size, JSON_REJECT_DUPLICATES, NULL);
  gboolean ok =
      json_is_array (root) || set_invalid (error, "it is not an array in JSON");

  for (gsize i = 0; ok && i < json_array_size (root); i++)
    ok = add_file (self, json_array_get (root, i), error);
  json_decref (root);
  g_free (self->token);
  self->token = ok ? find_cursor (link) : NULL;
  if (self->token && strlen (self->token) > MAX_TOKEN)
    return set_invalid (error, "the cursor of the next page is too long");
  return ok;
}
