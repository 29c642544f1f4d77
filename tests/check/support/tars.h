/* gst-spdl: tar archives for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Writer of a ustar archive. */
typedef struct {
  GByteArray *data;
} Tar;

void tar_begin (Tar *tar);
void tar_add (Tar *tar, const gchar *name, gconstpointer data, gsize size);
void tar_add_text (Tar *tar, const gchar *name, const gchar *text);
/* Writes the archive to @name in @folder with an old modification time, and
 * frees it. */
void tar_end (Tar *tar, const gchar *folder, const gchar *name);

/* Sets an old modification time, which depends on @n. */
void tar_set_time (const gchar *folder, const gchar *name, guint n);

/* Writes a shard with @n samples NAME-FIRST ..., each with a .jpg of @size
 * bytes plus its number, a .cls with its number, a .json and a .txt. */
void tar_write_shard (
    const gchar *folder, const gchar *name, guint first, guint n, gsize size);

/* Writes the content of the .jpg of sample @i. */
void tar_fill (guint8 *data, gsize size, guint i);

G_END_DECLS
