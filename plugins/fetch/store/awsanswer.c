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

enum { ACCESS_KEY, SECRET_KEY, TOKEN, EXPIRATION, CODE, N_VALUES };

static const gchar *const names[N_VALUES] = { "AccessKeyId", "SecretAccessKey",
  "SessionToken", "Expiration", "Code" };

/* The values of a response in JSON or XML. */
typedef struct {
  const gchar *token_name;
  gchar *values[N_VALUES]; /* nullable */
  gchar **value;           /* nullable: of the XML element that is read */
} Answer;

static void
answer_clear (Answer *self)
{
  for (guint i = 0; i < N_VALUES; i++)
    g_free (self->values[i]);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Answer, answer_clear)

static const gchar *
get_name (const Answer *self, guint i)
{
  return i == TOKEN && self->token_name ? self->token_name : names[i];
}

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
make_secrets (const Answer *answer, const gchar *source, gboolean temporary,
    GError **error)
{
  gchar *const *values = answer->values;
  gint64 expires;

  for (guint i = 0; i < CODE; i++)
    if (!check_field (values[i], get_name (answer, i), i < TOKEN || temporary,
            source, error))
      return NULL;
  if (!parse_time (values[EXPIRATION], source, &expires, error))
    return NULL;
  return spdl_secrets_new (
      source, &(SpdlSecrets){ .access_key = values[ACCESS_KEY],
                  .secret_key = values[SECRET_KEY],
                  .session_token =
                      values[TOKEN] && *values[TOKEN] ? values[TOKEN] : NULL,
                  .expires = expires,
                  .renewable = TRUE });
}

/* JSON */

/* Returns FALSE if @text is not an object. */
static gboolean
parse_json (Answer *self, const gchar *text, gsize size)
{
  json_t *object = json_loadb (text, size, 0, NULL);
  const gboolean ok = json_is_object (object);

  for (guint i = 0; i < N_VALUES; i++)
    self->values[i] = g_strdup (
        json_string_value (json_object_get (object, get_name (self, i))));
  if (!self->values[CODE])
    self->values[CODE] =
        g_strdup (json_string_value (json_object_get (object, "code")));
  json_decref (object);
  return ok;
}

SpdlSecrets *
spdl_aws_answer_read_json (const gchar *text, gsize size, const gchar *source,
    const gchar *token_name, gboolean temporary, GError **error)
{
  g_auto (Answer) answer = { token_name };

  if (parse_json (&answer, text, size))
    return make_secrets (&answer, source, temporary, error);
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
      "Response of %s is not a JSON object", source);
  return NULL;
}

/* XML */

static void
begin_element (GMarkupParseContext *context, const gchar *name,
    const gchar **attributes, const gchar **values, gpointer data,
    GError **error)
{
  Answer *self = data;

  self->value = NULL;
  for (guint i = 0; i < N_VALUES; i++)
    if (g_str_equal (name, names[i]) && !self->values[i])
      self->value = &self->values[i];
}

static void
end_element (GMarkupParseContext *context, const gchar *name, gpointer data,
    GError **error)
{
  ((Answer *) data)->value = NULL;
}

static void
take_text (GMarkupParseContext *context, const gchar *text, gsize size,
    gpointer data, GError **error)
{
  Answer *self = data;
  g_autofree gchar *part = g_strndup (text, size);
  gchar *value;

  if (!self->value)
    return;
  value = g_strconcat (*self->value ? *self->value : "", part, NULL);
  g_free (*self->value);
  *self->value = g_strstrip (value);
}

static gboolean
parse_xml (Answer *self, const gchar *text, gsize size)
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
  g_auto (Answer) answer = { NULL };

  if (parse_xml (&answer, text, size))
    return make_secrets (&answer, source, TRUE, error);
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
      "Response of %s is not valid XML", source);
  return NULL;
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
  g_auto (Answer) answer = { NULL };

  if (!parse_json (&answer, text, size))
    parse_xml (&answer, text, size);
  return is_code (answer.values[CODE]) ? g_steal_pointer (&answer.values[CODE])
                                       : NULL;
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
