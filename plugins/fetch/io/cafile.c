/* gst-spdl: file of certificate authorities
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/io/cafile.h"

#include <gst/gst.h>

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
  const gchar *named = g_getenv ("SSL_CERT_FILE");

  if (named && *named)
    return named;
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

gboolean
spdl_ca_file_open (const gchar *file, const gchar *name,
    GTlsDatabase **database, GError **error)
{
  const gchar *used = file ? file : find_file ();
  g_autoptr (GError) reason = NULL;
  g_autofree gchar *path = NULL;

  *database = NULL;
  if (!used)
    return TRUE;
  path = g_canonicalize_filename (used, NULL);
  *database = g_tls_file_database_new (path, &reason);
  if (*database)
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "%s \"%s\" cannot be used: %s",
      file ? name : "The file of certificate authorities", path,
      reason->message);
  return FALSE;
}
