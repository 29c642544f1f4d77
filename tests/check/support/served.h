/* gst-spdl: a folder on a server, for tests
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
  gchar *folder; /* the server's root */
  gchar *cache;  /* of the user */
} Served;

/* Of a test; all of it is new and empty. */
extern Served served;

void served_setup (void);
void served_teardown (void);

G_END_DECLS
