/* gst-spdl: certificate authorities
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Opens the file of certificate authorities @file (nullable), or else those
 * that the environment names as for curl and Python, or else the system's. Only
 * a wheel, whose TLS library was built elsewhere, searches for the system's
 * file.
 *
 * @name: name of the setting that gives @file, for the error
 * @database: (out) (transfer full) (nullable): NULL: the default of the TLS
 *     library
 *
 * Returns FALSE with @error set, in the domain of GST_RESOURCE_ERROR, if the
 * file cannot be used. */
gboolean spdl_ca_file_open (const gchar *file, const gchar *name,
    GTlsDatabase **database, GError **error);

G_END_DECLS
