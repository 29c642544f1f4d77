/* gst-spdl: members of the objects of a .jsonl list
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "plugins/dataset/list/line.h"

G_BEGIN_DECLS

/* Maximum length of a line in bytes. A line may contain a conversation but not
 * a file. */
#define SPDL_MEMBERS_MAX_LINE (1 << 20)

/* Limit for the names of members, which become quarks and are never freed. */
#define SPDL_MEMBERS_MAX_NAMES 4096

/* Names of the members of a `.jsonl` list, collected from the lines that were
 * parsed. One of them is the path or URI, one may be the label, and the other
 * members are fields of the item's `extra`. Not thread-safe. */
typedef struct _SpdlMembers SpdlMembers;

/* @uri: name of the member with the path or URI
 * @label: name of the member with the label
 * @weights: (nullable): name of the member with the weight
 * @labels: whether labels are read; FALSE: the member is ignored
 *
 * Returns NULL with @error set, in the domain of GST_RESOURCE_ERROR, if the
 * names are not valid. */
SpdlMembers *
spdl_members_new (const gchar *uri, const gchar *label, const gchar *weights,
    gboolean labels, const gchar *location, GError **error);

void spdl_members_free (SpdlMembers *self);

/* Returns the members that are not fields, because their name is empty or has
 * control characters, for a message (transfer full); NULL: none in the lines
 * that were parsed. */
gchar *spdl_members_describe_left_out (const SpdlMembers *self);

/* Returns the names of the lines that were parsed, for a message (transfer
 * full): `members "a", "b"`. */
gchar *spdl_members_describe (const SpdlMembers *self);

/* Parses a line into @line, like spdl_line_parse().
 *
 * @extra: (out) (optional): fields of the other members; NULL if there are
 *     none. The text must be UTF-8. */
void spdl_members_parse (SpdlMembers *self, const gchar *text, const gchar *end,
    SpdlLine *line, GstStructure **extra);

G_END_DECLS
