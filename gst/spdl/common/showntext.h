/* gst-spdl: texts for people: messages, logs, the terminal
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS
SPDL_BEGIN_PRIVATE_API

/* Servers, lists and archives supply parts of messages: names, values, codes.
 * A text that leaves the project as a message, a log line or a line on the
 * terminal passes one of these functions, which redact secrets (see redact.h)
 * and escape characters that are not printable, such as "\x1b" and "\u202e".
 * Fields that programs read, such as the URI of an item, stay exact. */

/* Returns @text as valid UTF-8 without control and format characters. Line
 * breaks and tabs stay, as the traceback of a Python function has them. Further
 * lines are indented, so that none looks like another message.
 *
 * @text: (nullable)
 * Returns: (transfer full): "" for NULL */
gchar *spdl_show_text (const gchar *text);

/* Like spdl_show_text(), for a part of a message or a line: escapes line breaks
 * and tabs as well. */
gchar *spdl_show_line (const gchar *text);

/* Changes the message of an error like spdl_show_text().
 *
 * @error: (nullable) */
void spdl_show_error (GError *error);

SPDL_END_PRIVATE_API
G_END_DECLS
