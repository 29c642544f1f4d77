/* gst-spdl: certificate authorities
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/io/cafile.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <gst/gst.h>
#include <string.h>
#include <unistd.h>

#include "plugins/common/fail.h"
#include "plugins/fetch/io/environment.h"

#ifdef SPDL_BUNDLE
/* Certificate authorities of Debian, which are the default of a wheel's GnuTLS,
 * of RHEL and Fedora, of SUSE, and of Alpine. */
static const gchar *const ca_files[] = { "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/ca-bundle.pem",
  "/var/lib/ca-certificates/ca-bundle.pem", "/etc/ssl/cert.pem" };

static const gchar *
find_file (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (ca_files); i++)
    if (g_file_test (ca_files[i], G_FILE_TEST_EXISTS))
      return i > 0 ? ca_files[i] : NULL;
  return NULL;
}
#else
static const gchar *
find_file (void)
{
  return NULL;
}
#endif

/* Appends the certificates of the file at @path, or of all files in the folder
 * at @path. A folder often has a certificate under several names. */
static gboolean
add_certificates (
    GString *pem, GHashTable *seen, const gchar *path, GError **error)
{
  g_autofree gchar *text = NULL;
  g_autoptr (GDir) folder = NULL;
  const gchar *name;

  if (!g_file_test (path, G_FILE_TEST_IS_DIR)) {
    if (!g_file_get_contents (path, &text, NULL, error))
      return FALSE;
    if (!g_hash_table_contains (seen, text)) {
      g_string_append (pem, text);
      g_string_append_c (pem, '\n');
      g_hash_table_add (seen, g_steal_pointer (&text));
    }
    return TRUE;
  }
  folder = g_dir_open (path, 0, error);
  while (folder && (name = g_dir_read_name (folder))) {
    g_autofree gchar *file = g_build_filename (path, name, NULL);

    /* As OpenSSL does, ignore what cannot be read. */
    if (g_file_test (file, G_FILE_TEST_IS_REGULAR))
      add_certificates (pem, seen, file, NULL);
  }
  return folder != NULL;
}

static void
close_file (gpointer data)
{
  g_close (GPOINTER_TO_INT (data) - 1, NULL);
}

/* Opens the file or folder @path, and the folders @more, separated by colons,
 * as one database. Both are nullable. */
static GTlsDatabase *
open_all (const gchar *path, const gchar *more, GError **error)
{
  g_autoptr (GString) pem = g_string_new (NULL);
  g_autoptr (GHashTable) seen =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_auto (GStrv) folders = g_strsplit (more ? more : "", ":", -1);
  g_autofree gchar *copy = NULL, *opened = NULL;
  GTlsDatabase *database = NULL;
  gint fd;

  if (path && !add_certificates (pem, seen, path, error))
    return NULL;
  for (guint i = 0; folders[i]; i++)
    if (!add_certificates (pem, seen, folders[i], error))
      return NULL;
  /* A database has one file, which it reads again for each connection. */
  fd = g_file_open_tmp (NULL, &copy, error);
  if (fd < 0)
    return NULL;
  g_unlink (copy);
  opened = g_strdup_printf ("/dev/fd/%d", fd);
  if (write (fd, pem->str, pem->len) == (gssize) pem->len)
    database = g_tls_file_database_new (opened, error);
  else
    g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (errno),
        "Copying to \"%s\" failed: %s", copy, g_strerror (errno));
  if (database)
    g_object_set_data_full (
        G_OBJECT (database), "spdl-file", GINT_TO_POINTER (fd + 1), close_file);
  else
    g_close (fd, NULL);
  return database;
}

gboolean
spdl_ca_file_open (const gchar *file, const gchar *name,
    GTlsDatabase **database, GError **error)
{
  static const gchar *const variables[] = { "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE", "SSL_CERT_FILE" };
  const gchar *used = file, *folders = NULL;
  g_autoptr (GError) reason = NULL;
  g_autofree gchar *path = NULL;

  for (guint i = 0; !used && i < G_N_ELEMENTS (variables); i++)
    used = spdl_environment_get (name = variables[i]);
  if (!file && (!used || g_str_equal (name, "SSL_CERT_FILE")))
    folders = spdl_environment_get ("SSL_CERT_DIR");
  if (!used && folders)
    name = "SSL_CERT_DIR";
  else if (!used && (used = find_file ()))
    name = "The file of certificate authorities";
  *database = NULL;
  if (!used && !folders)
    return TRUE;
  path = g_canonicalize_filename (used ? used : folders, NULL);
  if (folders || g_file_test (path, G_FILE_TEST_IS_DIR))
    *database = open_all (used ? path : NULL, folders, &reason);
  else
    *database = g_tls_file_database_new (path, &reason);
  if (*database)
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "%s \"%s\" cannot be used: %s", name, path, reason->message);
}
