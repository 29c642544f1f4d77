/* gst-spdl: visibility of functions for this project's plugins
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

/* Exported, because our own plugins are modules of their own, but in no
 * installed header: library and plugins are built and shipped together, and
 * nothing here is an interface for others. */
#define SPDL_PRIVATE_API __attribute__ ((visibility ("default")))
