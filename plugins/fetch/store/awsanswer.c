/* gst-spdl: AWS credentials in JSON and XML
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/gst.h>
#include <jansson.h>
#include <string.h>

#include "plugins/common/fail.h"
#include "plugins/fetch/store/awssources.h"
#include "plugins/fetch/store/secrettext.h"

#define MAX_CODE 64

typedef struct {
  gchar *access_key;
  gchar *secret_key;
  gchar *session_token;
  gchar *expiration;
} Fields;

static void
fields_clear (Fields *self)
{
  g_free (self->access_key);
  g_free (self->secret_key);
  g_free (self->session_token);
  g_free (self->expiration);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Fields, fields_clear)

static gboolean
check_field (const gchar *value, const gchar *field, gboolean required,
    const gchar *source, GError **error)
{
  g_autofree gchar *name = g_strdup_printf ("%s of %s", field, source);

  if (value && *value)
    return spdl_secret_text_check (value, name, error);
  if (required)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "Credentials of %s have no %s", source, field);
  return !required;
}

static gboolean
parse_time (
    const gchar *text, const gchar *source, gint64 *time, GError **error)
{
  g_autoptr (GTimeZone) utc = g_time_zone_new_utc ();
  g_autoptr (GDateTime) date = NULL;

  *time = G_MAXINT64;
  if (!text || !*text)
    return TRUE;
  date = g_date_time_new_from_iso8601 (text, utc);
  if (!date)
    return spdl_fail (error, GST_RESOURCE_ERROR_READ,
        "Expiration of %s is not a time of ISO 8601", source);
  *time = g_date_time_to_unix (date) * G_TIME_SPAN_SECOND;
  return TRUE;
}

static SpdlSecrets *
make_secrets (const Fields *fields, const gchar *source,
    const gchar *token_name, gboolean temporary, GError **error)
{
  gint64 expires;

  if (!check_field (fields->access_key, "AccessKeyId", TRUE, source, error) ||
      !check_field (
          fields->secret_key, "SecretAccessKey", TRUE, source, error) ||
      !check_field (
          fields->session_token, token_name, temporary, source, error) ||
      !check_field (
          fields->expiration, "Expiration", temporary, source, error) ||
      !parse_time (fields->expiration, source, &expires, error))
    return NULL;
  return spdl_secrets_new (source, fields->access_key, fields->secret_key,
      fields->session_token && *fields->session_token ? fields->session_token
                                                      : NULL,
      expires, TRUE);
}

/* JSON */

static gchar *
dup_string (const json_t *object, const gchar *name)
{
  return g_strdup (json_string_value (json_object_get (object, name)));
}

SpdlSecrets *
spdl_aws_answer_read_json (const gchar *text, gsize size, const gchar *source,
    const gchar *token_name, gboolean temporary, GError **error)
{
  json_t *object = json_loadb (text, size, 0, NULL);
  g_auto (Fields) fields = { 0 };

  if (!json_is_object (object)) {
    json_decref (object);
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "Response of %s is not a JSON object", source);
    return NULL;
  }
  fields.access_key = dup_string (object, "AccessKeyId");
  fields.secret_key = dup_string (object, "SecretAccessKey");
  fields.session_token = dup_string (object, token_name);
  fields.expiration = dup_string (object, "Expiration");
  json_decref (object);
  return make_secrets (&fields, source, token_name, temporary, error);
}

/* XML */

typedef struct {
  Fields fields;
  gchar *code;
  gchar **value; /* nullable: destination of the element's text */
} XmlReader;

static void
begin_element (GMarkupParseContext *context, const gchar *name,
    const gchar **attributes, const gchar **values, gpointer data,
    GError **error)
{
  XmlReader *self = data;
  const struct {
    const gchar *name;
    gchar **value;
  } elements[] = {
    { "AccessKeyId", &self->fields.access_key },
    { "SecretAccessKey", &self->fields.secret_key },
    { "SessionToken", &self->fields.session_token },
    { "Expiration", &self->fields.expiration },
    { "Code", &self->code },
  };

  self->value = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
    if (g_str_equal (name, elements[i].name) && !*elements[i].value)
      self->value = elements[i].value;
}

static void
end_element (GMarkupParseContext *context, const gchar *name, gpointer data,
    GError **error)
{
  ((XmlReader *) data)->value = NULL;
}

static void
take_text (GMarkupParseContext *context, const gchar *text, gsize size,
    gpointer data, GError **error)
{
  XmlReader *self = data;
  g_autofree gchar *part = g_strndup (text, size);
  gchar *value;

  if (!self->value)
    return;
  value = g_strconcat (*self->value ? *self->value : "", part, NULL);
  g_free (*self->value);
  *self->value = g_strstrip (value);
}

static gboolean
parse_xml (XmlReader *self, const gchar *text, gsize size)
{
  static const GMarkupParser parser = { begin_element, end_element, take_text };
  GMarkupParseContext *context =
      g_markup_parse_context_new (&parser, 0, self, NULL);
  const gboolean ok =
      g_markup_parse_context_parse (context, text, size, NULL) &&
      g_markup_parse_context_end_parse (context, NULL);

  g_markup_parse_context_free (context);
  return ok;
}

SpdlSecrets *
spdl_aws_answer_read_xml (
    const gchar *text, gsize size, const gchar *source, GError **error)
{
  XmlReader reader = { 0 };
  SpdlSecrets *secrets = NULL;

  if (parse_xml (&reader, text, size))
    secrets =
        make_secrets (&reader.fields, source, "SessionToken", TRUE, error);
  else
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "Response of %s is not valid XML", source);
  fields_clear (&reader.fields);
  g_free (reader.code);
  return secrets;
}

/* Errors */

static gboolean
is_code (const gchar *text)
{
  const gsize size = text ? strlen (text) : 0;

  for (gsize i = 0; i < size; i++)
    if (!g_ascii_isalpha (text[i]) && text[i] != '.')
      return FALSE;
  return size > 0 && size <= MAX_CODE;
}

gchar *
spdl_aws_answer_dup_code (const gchar *text, gsize size)
{
  json_t *object = json_loadb (text, size, 0, NULL);
  XmlReader reader = { 0 };
  g_autofree gchar *code = NULL;

  if (object) {
    code = dup_string (object, "Code");
    if (!code)
      code = dup_string (object, "code");
    json_decref (object);
  } else {
    parse_xml (&reader, text, size);
    fields_clear (&reader.fields);
    code = reader.code;
  }
  return is_code (code) ? g_steal_pointer (&code) : NULL;
}

void
spdl_aws_answer_set_error (GError **error, const gchar *source, guint status,
    const gchar *text, gsize size)
{
  g_autofree gchar *code = spdl_aws_answer_dup_code (text, size);

  g_set_error (error, GST_RESOURCE_ERROR,
      status >= 400 && status < 500 ? GST_RESOURCE_ERROR_NOT_AUTHORIZED
                                    : GST_RESOURCE_ERROR_READ,
      "%s refused to issue credentials: status %u%s%s", source, status,
      code ? ", " : "", code ? code : "");
}
