/* gst-spdl: folder on an HTTP server, for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "tests/check/support/server.h"

G_BEGIN_DECLS

typedef struct {
  Server *server;
  gchar *folder; /* root of the server */
  gchar *cache;  /* user's cache folder */
} Served;

/* Server of the current test; all folders are new and empty. */
extern Served served;

void served_setup (void);
void served_teardown (void);

G_END_DECLS
