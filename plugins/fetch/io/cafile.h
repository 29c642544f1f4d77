/* gst-spdl: file of certificate authorities
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Returns the file to use instead of the one that the TLS library knows, or
 * NULL. Only a wheel, whose library was built elsewhere, needs one. */
const gchar *spdl_ca_file_find (void);

G_END_DECLS
