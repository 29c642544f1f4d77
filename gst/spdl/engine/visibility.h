/* gst-spdl: visibility of functions for this project's plugins
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

/* Exports a function for this project's plugins. It is declared in no installed
 * header: library and plugins are built and distributed together, and the
 * function is not a public API. Its symbol has the version GSTSPDL_PRIVATE_ with
 * the number of the release. */
#define SPDL_PRIVATE_API __attribute__ ((visibility ("default")))

/* Around the declarations of a header of which all functions are exported. */
#define SPDL_BEGIN_PRIVATE_API _Pragma ("GCC visibility push(default)")
#define SPDL_END_PRIVATE_API _Pragma ("GCC visibility pop")
