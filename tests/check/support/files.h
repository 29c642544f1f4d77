/* gst-spdl: files and folders for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* A new empty folder. */
gchar *files_make_folder (void);
/* Removes it with all that is in it. */
void files_remove_folder (gchar *folder);

/* Writes @data to @name below @folder, whose parents are made. */
void files_write (
    const gchar *folder, const gchar *name, gconstpointer data, gsize size);
void
files_write_text (const gchar *folder, const gchar *name, const gchar *text);

/* A real JPEG of colour gradients that depend on @seed. */
GBytes *files_make_jpeg (guint width, guint height, guint seed);
void files_write_jpeg (const gchar *folder, const gchar *name, guint width,
    guint height, guint seed);

/* A folder of @n JPEGs of sizes that vary, in three class folders. */
gchar *files_make_dataset (guint n);

/* Files and folders right in @folder. */
guint files_count_entries (const gchar *folder);
/* The threads of this process, but for unused ones of GLib's pools, which keep
 * up to eight for 15 s (2.84). */
guint files_count_threads (void);

G_END_DECLS
