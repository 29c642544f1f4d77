/* gst-spdl: files and folders for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Creates an empty temporary folder. */
gchar *files_make_folder (void);
/* Removes the folder with its content. */
void files_remove_folder (gchar *folder);

/* Writes @data to @name in @folder; creates parent folders. */
void files_write (
    const gchar *folder, const gchar *name, gconstpointer data, gsize size);
void
files_write_text (const gchar *folder, const gchar *name, const gchar *text);

/* Makes a JPEG with color gradients that depend on @seed. */
GBytes *files_make_jpeg (guint width, guint height, guint seed);
void files_write_jpeg (const gchar *folder, const gchar *name, guint width,
    guint height, guint seed);

/* Creates a folder with @n JPEGs of different sizes in three class folders. */
gchar *files_make_dataset (guint n);

/* Counts files and folders in @folder, not recursively. */
guint files_count_entries (const gchar *folder);
/* Counts the threads of this process, except for idle threads of GLib's pools,
 * up to eight of which are kept for 15 s (GLib 2.84). */
guint files_count_threads (void);

G_END_DECLS
