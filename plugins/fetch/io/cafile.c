/* gst-spdl: file of certificate authorities
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/io/cafile.h"

#ifdef SPDL_BUNDLE
/* Certificate authorities of Debian, whose path the GnuTLS of a wheel knows,
 * and of RHEL and Fedora, SUSE, and Alpine. */
static const gchar *const ca_files[] = { "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/ca-bundle.pem",
  "/var/lib/ca-certificates/ca-bundle.pem", "/etc/ssl/cert.pem" };

const gchar *
spdl_ca_file_find (void)
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
const gchar *
spdl_ca_file_find (void)
{
  return NULL;
}
#endif
