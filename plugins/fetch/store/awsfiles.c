/* gst-spdl: shared config and credentials files of AWS
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/store/awsfiles.h"

#include <gst/gst.h>
#include <string.h>

#include "plugins/common/fail.h"
#include "plugins/fetch/io/environment.h"
#include "plugins/fetch/store/secrettext.h"

#define MAX_SIZE (1024 * 1024)

struct _SpdlAwsFile {
  GHashTable *sections; /* gchar * -> GHashTable of gchar * -> gchar * */
};

typedef struct {
  SpdlAwsFile *file;
  const gchar *name; /* of the file */
  guint line;
  GHashTable *section; /* nullable */
  gchar *setting;      /* nullable: that of the last line */
  gsize indent;        /* of that line */
} Parser;

static gboolean
fail (const Parser *self, GError **error, const gchar *fault)
{
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "\"%s\" cannot be read: line %u %s", self->name, self->line, fault);
}

/* Removes a comment and the white space around the rest. Returns the start of
 * the rest. */
static gchar *
strip_value (gchar *text)
{
  for (gchar *c = text; *c; c++) {
    if ((*c == '#' || *c == ';') && (c == text || g_ascii_isspace (c[-1]))) {
      *c = '\0';
      break;
    }
  }
  return g_strstrip (text);
}

/* Returns the section name in the brackets without quotes, with a single space
 * after its kind, or NULL if it is invalid. */
static gchar *
parse_header (const gchar *text)
{
  const gchar *end = strchr (text, ']');
  g_autofree gchar *inner = NULL;
  g_autofree gchar *rest = NULL;
  gchar *name;
  gsize size;

  if (!end)
    return NULL;
  rest = g_strdup (end + 1);
  if (*strip_value (rest))
    return NULL;
  inner = g_strndup (text + 1, end - text - 1);
  g_strstrip (inner);
  size = strcspn (inner, " \t");
  if (!*inner || !inner[size])
    return *inner ? g_steal_pointer (&inner) : NULL;
  inner[size] = '\0';
  name = g_strstrip (inner + size + 1);
  size = strlen (name);
  if (size >= 2 && strchr ("\"'", *name) && name[size - 1] == *name) {
    name[size - 1] = '\0';
    name++;
  }
  return g_strdup_printf ("%s %s", inner, name);
}

static gboolean
begin_section (Parser *self, const gchar *text, GError **error)
{
  g_autofree gchar *name = parse_header (text);

  if (!name)
    return fail (self, error, "has no section name in brackets");
  g_clear_pointer (&self->setting, g_free);
  self->section = g_hash_table_lookup (self->file->sections, name);
  if (self->section)
    return TRUE;
  self->section =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_hash_table_insert (
      self->file->sections, g_steal_pointer (&name), self->section);
  return TRUE;
}

/* @outer: (nullable): the setting that the line is nested in */
static gboolean
add_setting (Parser *self, gchar *text, const gchar *outer, GError **error)
{
  gchar *value = strchr (text, '=');
  g_autofree gchar *name = NULL;

  if (!value || value == text)
    return fail (self, error, "is not of the form \"name = value\"");
  *value++ = '\0';
  name = g_ascii_strdown (g_strchomp (text), -1);
  if (outer) {
    g_autofree gchar *inner = g_steal_pointer (&name);

    name = g_strconcat (outer, ".", inner, NULL);
  } else {
    g_free (self->setting);
    self->setting = g_strdup (name);
  }
  g_hash_table_replace (
      self->section, g_steal_pointer (&name), g_strdup (strip_value (value)));
  return TRUE;
}

/* Adds an indented line to the previous setting, or nests it there. */
static gboolean
continue_setting (Parser *self, gchar *text, GError **error)
{
  const gchar *value = g_hash_table_lookup (self->section, self->setting);

  if (!*value)
    return add_setting (self, text, self->setting, error);
  g_hash_table_replace (self->section, g_strdup (self->setting),
      g_strconcat (value, "\n", strip_value (text), NULL));
  return TRUE;
}

static gboolean
parse_line (Parser *self, gchar *line, GError **error)
{
  const gsize indent = strspn (line, " \t");
  gchar *text = g_strstrip (line);

  if (!*text || *text == '#' || *text == ';')
    return TRUE;
  if (self->setting && indent > self->indent)
    return continue_setting (self, text, error);
  if (*text == '[')
    return begin_section (self, text, error);
  if (!self->section)
    return fail (self, error, "is in no section such as [default]");
  self->indent = indent;
  return add_setting (self, text, NULL, error);
}

SpdlAwsFile *
spdl_aws_file_parse (
    const gchar *text, gsize size, const gchar *name, GError **error)
{
  g_autoptr (SpdlAwsFile) self = g_new0 (SpdlAwsFile, 1);
  Parser parser = { self, name };
  const gchar *end = text + size;
  gboolean ok = TRUE;

  self->sections = g_hash_table_new_full (
      g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_hash_table_unref);
  if (!g_utf8_validate (text, size, NULL)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "\"%s\" cannot be read: it is not UTF-8 text", name);
    return NULL;
  }
  if (size >= 3 && memcmp (text, "\xef\xbb\xbf", 3) == 0)
    text += 3;
  while (ok && text < end) {
    const gchar *next = memchr (text, '\n', end - text);
    g_autofree gchar *line = g_strndup (text, next ? next - text : end - text);

    parser.line++;
    ok = parse_line (&parser, line, error);
    text = next ? next + 1 : end;
  }
  g_free (parser.setting);
  return ok ? g_steal_pointer (&self) : NULL;
}

SpdlAwsFile *
spdl_aws_file_load (const gchar *path, GError **error)
{
  g_autofree gchar *shown = g_filename_display_name (path);
  g_autofree gchar *text = NULL;
  gsize size;

  if (!spdl_secret_text_read_file (path, MAX_SIZE, &text, &size, error))
    return NULL;
  return spdl_aws_file_parse (text ? text : "", size, shown, error);
}

void
spdl_aws_file_free (SpdlAwsFile *self)
{
  g_hash_table_unref (self->sections);
  g_free (self);
}

gboolean
spdl_aws_file_has (const SpdlAwsFile *self, const gchar *section)
{
  return g_hash_table_contains (self->sections, section);
}

const gchar *
spdl_aws_file_get (
    const SpdlAwsFile *self, const gchar *section, const gchar *name)
{
  GHashTable *settings = g_hash_table_lookup (self->sections, section);
  const gchar *value = settings ? g_hash_table_lookup (settings, name) : NULL;

  return value && *value ? value : NULL;
}

/* Profiles */

gboolean
spdl_aws_profile_load (
    SpdlAwsProfile *self, const gchar *profile, GError **error)
{
  const gchar *named = profile ? profile : spdl_environment_get ("AWS_PROFILE");
  g_autofree gchar *config =
      spdl_secret_text_dup_path ("AWS_CONFIG_FILE", "~/.aws/config");
  g_autofree gchar *credentials = spdl_secret_text_dup_path (
      "AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials");

  *self = (SpdlAwsProfile){ 0 };
  self->profile = g_utf8_make_valid (named ? named : "default", -1);
  self->config_path = g_filename_display_name (config);
  self->credentials_path = g_filename_display_name (credentials);
  self->config = spdl_aws_file_load (config, error);
  if (self->config)
    self->credentials = spdl_aws_file_load (credentials, error);
  return self->credentials != NULL;
}

void
spdl_aws_profile_clear (SpdlAwsProfile *self)
{
  g_clear_pointer (&self->config_path, g_free);
  g_clear_pointer (&self->credentials_path, g_free);
  g_clear_pointer (&self->profile, g_free);
  g_clear_pointer (&self->config, spdl_aws_file_free);
  g_clear_pointer (&self->credentials, spdl_aws_file_free);
}

gchar *
spdl_aws_profile_dup_config_section (const SpdlAwsProfile *self)
{
  g_autofree gchar *section = g_strconcat ("profile ", self->profile, NULL);

  if (g_str_equal (self->profile, "default") &&
      !spdl_aws_file_has (self->config, section))
    return g_strdup ("default");
  return g_steal_pointer (&section);
}

gboolean
spdl_aws_profile_exists (const SpdlAwsProfile *self)
{
  g_autofree gchar *section = spdl_aws_profile_dup_config_section (self);

  return spdl_aws_file_has (self->config, section) ||
         spdl_aws_file_has (self->credentials, self->profile);
}

const gchar *
spdl_aws_profile_get (const SpdlAwsProfile *self, const gchar *name)
{
  g_autofree gchar *section = spdl_aws_profile_dup_config_section (self);
  const gchar *value =
      spdl_aws_file_get (self->credentials, self->profile, name);
  const gchar *services;

  if (!value)
    value = spdl_aws_file_get (self->config, section, name);
  if (!value && strchr (name, '.') &&
      (services = spdl_aws_file_get (self->config, section, "services"))) {
    g_autofree gchar *named = g_strconcat ("services ", services, NULL);

    value = spdl_aws_file_get (self->config, named, name);
  }
  return value;
}

const gchar *
spdl_aws_profile_find_region (const SpdlAwsProfile *self)
{
  const gchar *region = spdl_environment_get ("AWS_REGION");

  if (!region)
    region = spdl_environment_get ("AWS_DEFAULT_REGION");
  if (!region && self)
    region = spdl_aws_profile_get (self, "region");
  return region;
}

/* Returns TRUE if the endpoints of the environment and the files do not
 * count. */
static gboolean
ignores_endpoints (const SpdlAwsProfile *self)
{
  const gchar *text =
      spdl_environment_get ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS");

  if (!text && self)
    text = spdl_aws_profile_get (self, "ignore_configured_endpoint_urls");
  return text && g_ascii_strcasecmp (text, "true") == 0;
}

const gchar *
spdl_aws_profile_find_endpoint (
    const SpdlAwsProfile *self, const gchar *service)
{
  g_autofree gchar *upper = g_ascii_strup (service, -1);
  g_autofree gchar *variable = g_strconcat ("AWS_ENDPOINT_URL_", upper, NULL);
  g_autofree gchar *setting = g_strconcat (service, ".endpoint_url", NULL);
  const gchar *endpoint;

  if (ignores_endpoints (self))
    return NULL;
  endpoint = spdl_environment_get (variable);
  if (!endpoint)
    endpoint = spdl_environment_get ("AWS_ENDPOINT_URL");
  if (!endpoint && self)
    endpoint = spdl_aws_profile_get (self, setting);
  if (!endpoint && self)
    endpoint = spdl_aws_profile_get (self, "endpoint_url");
  return endpoint;
}
