/* gst-spdl: keys and tokens, and their texts in the environment and in files
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/store/secrettext.h"

#include <errno.h>
#include <fcntl.h>
#include <gst/gst.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugins/common/fail.h"
#include "plugins/fetch/io/environment.h"

/* Longer than any token; a server would refuse such a header. */
#define MAX_LENGTH (32 * 1024)

SpdlSecrets *
spdl_secrets_new (const gchar *source, const SpdlSecrets *values)
{
  SpdlSecrets *self = g_new (SpdlSecrets, 1);

  *self = *values;
  self->access_key = g_strdup (values->access_key);
  self->secret_key = g_strdup (values->secret_key);
  self->session_token = g_strdup (values->session_token);
  self->bearer = g_strdup (values->bearer);
  self->source = g_strdup (source);
  self->n_refs = 1;
  return self;
}

SpdlSecrets *
spdl_secrets_ref (SpdlSecrets *self)
{
  g_atomic_int_inc (&self->n_refs);
  return self;
}

void
spdl_secrets_unref (SpdlSecrets *self)
{
  if (!g_atomic_int_dec_and_test (&self->n_refs))
    return;
  g_free (self->access_key);
  g_free (self->secret_key);
  g_free (self->session_token);
  g_free (self->bearer);
  g_free (self->source);
  g_free (self);
}

/* Texts */

gboolean
spdl_secret_text_check (const gchar *text, const gchar *name, GError **error)
{
  const gchar *fault = NULL;
  const gsize size = strlen (text);

  for (gsize i = 0; i < size && !fault; i++) {
    if (text[i] == '\n' || text[i] == '\r')
      fault = "a line break";
    else if (text[i] == ' ')
      fault = "a space";
    else if (!g_ascii_isgraph (text[i]))
      fault = "a character that is not printable ASCII";
  }
  if (!fault && size <= MAX_LENGTH)
    return TRUE;
  if (fault)
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        "%s contains %s: remove it", name, fault);
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "%s has %" G_GSIZE_FORMAT " characters, more than the limit of %d", name,
      size, MAX_LENGTH);
}

gboolean
spdl_secret_text_read_env (const gchar *name, gchar **value, GError **error)
{
  const gchar *found = spdl_environment_get (name);

  *value = NULL;
  if (found && !spdl_secret_text_check (found, name, error))
    return FALSE;
  *value = g_strdup (found);
  return TRUE;
}

gchar *
spdl_secret_text_expand_path (const gchar *path)
{
  const gchar *home = spdl_environment_get ("HOME");

  if (path[0] != '~' || (path[1] != '\0' && path[1] != '/'))
    return g_strdup (path);
  return g_strconcat (home ? home : g_get_home_dir (), path + 1, NULL);
}

gchar *
spdl_secret_text_dup_path (const gchar *name, const gchar *path)
{
  const gchar *named = spdl_environment_get (name);

  return spdl_secret_text_expand_path (named ? named : path);
}

/* Returns FALSE with errno set. */
static gboolean
read_all (gint fd, gsize max_size, GByteArray *bytes)
{
  guint8 block[4096];
  struct stat status;
  gssize n;

  if (fstat (fd, &status) < 0)
    return FALSE;
  if (S_ISDIR (status.st_mode)) {
    errno = EISDIR;
    return FALSE;
  }
  do {
    n = read (fd, block, sizeof block);
    if (n > 0)
      g_byte_array_append (bytes, block, n);
    if (bytes->len > max_size) {
      errno = EFBIG;
      return FALSE;
    }
  } while (n > 0 || (n < 0 && errno == EINTR));
  return n == 0;
}

gboolean
spdl_secret_text_read_file (const gchar *path, gsize max_size, gchar **text,
    gsize *size, GError **error)
{
  const gint fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autofree gchar *shown = NULL;
  gint code = errno;
  gboolean ok = FALSE;

  *text = NULL;
  *size = 0;
  if (fd < 0 && (code == ENOENT || code == ENOTDIR))
    return TRUE;
  if (fd >= 0) {
    ok = read_all (fd, max_size, bytes);
    code = errno;
    close (fd);
  }
  if (ok) {
    *size = bytes->len;
    g_byte_array_append (bytes, (const guint8 *) "", 1);
    *text = (gchar *) g_byte_array_free (g_steal_pointer (&bytes), FALSE);
    return TRUE;
  }
  shown = g_filename_display_name (path);
  if (code == EFBIG)
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        "\"%s\" is larger than the limit of %" G_GSIZE_FORMAT " bytes", shown,
        max_size);
  return spdl_fail (error, GST_RESOURCE_ERROR_OPEN_READ,
      "\"%s\" cannot be read: %s", shown, g_strerror (code));
}

gboolean
spdl_secret_text_read_token (const gchar *path, gchar **token, GError **error)
{
  g_autofree gchar *shown = g_filename_display_name (path);
  g_autofree gchar *name = g_strdup_printf ("The token in \"%s\"", shown);
  g_autofree gchar *text = NULL;
  gsize size;

  *token = NULL;
  if (!spdl_secret_text_read_file (path, MAX_LENGTH, &text, &size, error))
    return FALSE;
  if (!text)
    return TRUE;
  if (strlen (text) < size)
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        "%s contains a NUL byte: remove it", name);
  g_strstrip (text);
  if (!spdl_secret_text_check (text, name, error))
    return FALSE;
  if (*text)
    *token = g_steal_pointer (&text);
  return TRUE;
}
