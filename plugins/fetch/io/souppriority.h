/* gst-spdl: priority of requests of libsoup
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

/* libsoup repeats a request if a persistent connection was closed. A callback
 * for the end of the first attempt, an idle source of the request's priority,
 * must run before libsoup's queue, which has the default priority, starts the
 * second one. Otherwise the callback ends the second attempt; libsoup 3.4.0 to
 * 3.6.5 then frees the request twice
 * (docs/explanation/libsoup-cancellation.md). */
#define SPDL_SOUP_PRIORITY (G_PRIORITY_DEFAULT - 1)

/* Maximum number of responses 1xx before the actual one. libsoup reads them in
 * one dispatch as long as they keep coming, and nothing else happens on its
 * thread. */
#define SPDL_MAX_INFORMATIONAL 64
