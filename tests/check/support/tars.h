/* gst-spdl: tars for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A tar in ustar's form, which is written piece by piece. */
typedef struct {
  GByteArray *data;
} Tar;

void tar_begin (Tar *tar);
void tar_add (Tar *tar, const gchar *name, gconstpointer data, gsize size);
void tar_add_text (Tar *tar, const gchar *name, const gchar *text);
/* Writes it to @name below @folder, as if it were from long ago, and frees it.
 */
void tar_end (Tar *tar, const gchar *folder, const gchar *name);

/* Files of that folder as if they were from long ago; @n tells them apart. */
void tar_set_time (const gchar *folder, const gchar *name, guint n);

/* A shard of @n samples NAME-FIRST ... each with a .jpg of @size bytes (and as
 * many more as its number), a .cls of its number, a .json and a .txt. */
void tar_write_shard (
    const gchar *folder, const gchar *name, guint first, guint n, gsize size);

/* What the .jpg of sample @i has. */
void tar_fill (guint8 *data, gsize size, guint i);

G_END_DECLS
