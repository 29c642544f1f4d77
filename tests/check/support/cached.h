/* gst-spdl: loads through spdlfetch's disk cache, for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/check/gstcheck.h>
#include <gst/spdl/spdl.h>

#include "tests/check/support/server.h"

G_BEGIN_DECLS

/* Result of loading a list. */
typedef struct {
  GPtrArray *buffers; /* of GstBuffer */
  GPtrArray *warnings;
  guint n_failures;
  gchar *failure; /* nullable: the last failure */
  gchar *error;   /* nullable */
  guint64 hits, misses, bytes, errors;
} CachedLoad;

/* Server, and folder with `list.txt` and the cache folder `cache`, of the
 * current test. */
extern Server *cached_server;
extern gchar *cached_folder;

void cached_setup (void);
void cached_teardown (void);

/* Write a list of URIs of the server: these paths, or @n different ones. */
void cached_write_list (const gchar *const *paths, guint n);
void cached_write_many (const gchar *fault, guint n, guint64 size);

/* Loads the list at @path through @cache with additional properties @more. */
CachedLoad *
cached_load_list (const gchar *path, const gchar *cache, const gchar *more);
/* Loads the last list. */
CachedLoad *cached_load_again (const gchar *more);
void cached_load_free (CachedLoad *load);

gboolean cached_is_of_version (GstBuffer *buffer, guint version);
/* Asserts that @n items arrived and have the content of @version. */
void cached_assert_whole (CachedLoad *load, guint n, guint version);

/* Load the last list or these paths, and assert that all items have the content
 * of @version. */
void cached_expect (const gchar *more, guint n, guint version, guint64 hits);
void cached_expect_paths (const gchar *const *paths, guint n, const gchar *more,
    guint version, guint64 hits);

/* Lists the entries, or the temporary files if @temporary is set. */
GPtrArray *cached_list_files (gboolean temporary);
guint cached_count_files (gboolean temporary);
/* Returns the size of all entries, in whole blocks. */
guint64 cached_sum_files (void);

G_END_DECLS
