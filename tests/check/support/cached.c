/* gst-spdl: loads through spdlfetch's disk cache, for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/cached.h"
#include "tests/check/support/errors.h"

#include <glib/gstdio.h>
#include <string.h>

#include "tests/check/support/files.h"

Server *cached_server;
gchar *cached_folder;

void
cached_setup (void)
{
  cached_server = server_new (FALSE);
  cached_folder = files_make_folder ();
}

void
cached_teardown (void)
{
  server_free (cached_server);
  files_remove_folder (cached_folder);
}

/* Loading */

static void
keep_buffer (
    GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer user_data)
{
  g_ptr_array_add (user_data, gst_buffer_ref (buffer));
}

static guint64
get_figure (const GstStructure *stats, const gchar *field)
{
  guint64 n = G_MAXUINT64;

  gst_structure_get_uint64 (stats, field, &n);
  return n;
}

static void
read_figures (CachedLoad *load, GstElement *fetch)
{
  GstStructure *stats;

  g_object_get (fetch, "stage-stats", &stats, NULL);
  load->hits = get_figure (stats, "cache-hits");
  load->misses = get_figure (stats, "cache-misses");
  load->bytes = get_figure (stats, "cache-bytes");
  load->errors = get_figure (stats, "cache-errors");
  gst_structure_free (stats);
}

static void
take_failure (CachedLoad *load, const GstStructure *s)
{
  GError *error = NULL;

  if (!gst_structure_has_name (s, "spdl-item-failed"))
    return;
  load->n_failures++;
  gst_structure_get (s, "error", G_TYPE_ERROR, &error, NULL);
  g_free (load->failure);
  load->failure = errors_format (error);
  g_error_free (error);
}

/* Processes a message. Returns whether it was the last one. */
static gboolean
take_message (CachedLoad *load, GstMessage *message)
{
  GError *error = NULL;

  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_EOS:
      return TRUE;
    case GST_MESSAGE_ERROR:
      gst_message_parse_error (message, &error, NULL);
      load->error = errors_format (error);
      g_error_free (error);
      return TRUE;
    case GST_MESSAGE_WARNING:
      gst_message_parse_warning (message, &error, NULL);
      g_ptr_array_add (load->warnings, errors_format (error));
      g_error_free (error);
      return FALSE;
    default:
      take_failure (load, gst_message_get_structure (message));
      return FALSE;
  }
}

static void
run_to_end (CachedLoad *load, GstElement *pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  gboolean ended = FALSE;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (!ended) {
    GstMessage *message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND,
        GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING |
            GST_MESSAGE_ELEMENT);

    g_assert_nonnull (message);
    ended = take_message (load, message);
    gst_message_unref (message);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
}

/* Loads the list at @path through @cache with additional properties @more. */
CachedLoad *
cached_load_list (const gchar *path, const gchar *cache, const gchar *more)
{
  g_autofree gchar *description =
      g_strdup_printf ("spdlsrc location=%s ! spdlfetch name=fetch "
                       "output-order=input concurrency=16 cache-dir=%s %s ! "
                       "fakesink name=sink signal-handoffs=true",
          path, cache, more);
  g_autoptr (GError) error = NULL;
  GstElement *pipeline = gst_parse_launch (description, &error);
  GstElement *fetch, *sink;
  CachedLoad *load = g_new0 (CachedLoad, 1);

  g_assert_no_error (error);
  load->buffers =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);
  load->warnings = g_ptr_array_new_with_free_func (g_free);
  fetch = gst_bin_get_by_name (GST_BIN (pipeline), "fetch");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_signal_connect (sink, "handoff", G_CALLBACK (keep_buffer), load->buffers);
  run_to_end (load, pipeline);
  read_figures (load, fetch);
  gst_object_unref (sink);
  gst_object_unref (fetch);
  gst_object_unref (pipeline);
  return load;
}

void
cached_load_free (CachedLoad *load)
{
  g_ptr_array_unref (load->buffers);
  g_ptr_array_unref (load->warnings);
  g_free (load->failure);
  g_free (load->error);
  g_free (load);
}

/* Parses a URI of the server: /FAULT/COUNT/SIZE... with an optional range. */
static void
parse_uri (const gchar *uri, guint64 *first, guint64 *size)
{
  g_auto (GStrv) parts = g_strsplit (uri, "/", 7);
  const gchar *range = strstr (uri, "#bytes=");
  gchar *end;

  *first = 0;
  *size = g_ascii_strtoull (parts[5], NULL, 10);
  if (!range)
    return;
  *first = g_ascii_strtoull (range + strlen ("#bytes="), &end, 10);
  *size = g_ascii_strtoull (end + 1, NULL, 10) + 1 - *first;
}

gboolean
cached_is_of_version (GstBuffer *buffer, guint version)
{
  const gchar *uri = gst_spdl_buffer_get_item_meta (buffer)->uri;
  g_autofree guint8 *expected = NULL;
  guint64 first, size;

  parse_uri (uri, &first, &size);
  expected = g_malloc (size + 1);
  server_make_body (expected, first, size, version);
  return gst_buffer_get_size (buffer) == size &&
         (size == 0 || gst_buffer_memcmp (buffer, 0, expected, size) == 0);
}

/* Asserts that @n items arrived and have the content of @version. */
void
cached_assert_whole (CachedLoad *load, guint n, guint version)
{
  fail_unless (load->error == NULL, "%s", load->error);
  fail_unless (load->n_failures == 0, "%s", load->failure);
  fail_unless_equals_int (load->buffers->len, n);
  for (guint i = 0; i < n; i++) {
    GstBuffer *buffer = g_ptr_array_index (load->buffers, i);

    fail_unless (cached_is_of_version (buffer, version), "%s has other bytes",
        gst_spdl_buffer_get_item_meta (buffer)->uri);
  }
}

void
cached_write_list (const gchar *const *paths, guint n)
{
  GString *list = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (
        list, "%s%s\n", server_get_base (cached_server), paths[i]);
  files_write_text (cached_folder, "list.txt", list->str);
  g_string_free (list, TRUE);
}

/* Writes a list of @n items with different URIs. */
void
cached_write_many (const gchar *fault, guint n, guint64 size)
{
  GString *list = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (list, "%s/%s/0/%" G_GUINT64_FORMAT "/%u\n",
        server_get_base (cached_server), fault, size, i);
  files_write_text (cached_folder, "list.txt", list->str);
  g_string_free (list, TRUE);
}

CachedLoad *
cached_load_again (const gchar *more)
{
  g_autofree gchar *list = g_build_filename (cached_folder, "list.txt", NULL);
  g_autofree gchar *cache = g_build_filename (cached_folder, "cache", NULL);

  return cached_load_list (list, cache, more);
}

/* Loads the last list and asserts that all items have the content of
 * @version. */
void
cached_expect (const gchar *more, guint n, guint version, guint64 hits)
{
  CachedLoad *load = cached_load_again (more);

  cached_assert_whole (load, n, version);
  fail_unless_equals_uint64 (load->hits, hits);
  fail_unless_equals_uint64 (load->misses, n - hits);
  cached_load_free (load);
}

void
cached_expect_paths (const gchar *const *paths, guint n, const gchar *more,
    guint version, guint64 hits)
{
  cached_write_list (paths, n);
  cached_expect (more, n, version, hits);
}

/* Cache folder */

/* Lists the entries, or the temporary files if @temporary is set. */
GPtrArray *
cached_list_files (gboolean temporary)
{
  g_autofree gchar *cache = g_build_filename (cached_folder, "cache", NULL);
  GPtrArray *files = g_ptr_array_new_with_free_func (g_free);
  GDir *dir = g_dir_open (cache, 0, NULL);
  const gchar *name;

  while (dir && (name = g_dir_read_name (dir))) {
    g_autofree gchar *path = g_build_filename (cache, name, NULL);
    GDir *sub = name[0] == '.' ? NULL : g_dir_open (path, 0, NULL);
    const gchar *file;

    while (sub && (file = g_dir_read_name (sub)))
      if (g_str_has_prefix (file, ".spdl-") == temporary)
        g_ptr_array_add (files, g_build_filename (path, file, NULL));
    g_clear_pointer (&sub, g_dir_close);
  }
  g_clear_pointer (&dir, g_dir_close);
  return files;
}

guint
cached_count_files (gboolean temporary)
{
  g_autoptr (GPtrArray) files = cached_list_files (temporary);

  return files->len;
}

guint64
cached_sum_files (void)
{
  g_autoptr (GPtrArray) files = cached_list_files (FALSE);
  guint64 sum = 0;

  for (guint i = 0; i < files->len; i++) {
    GStatBuf st;

    g_assert_cmpint (g_stat (g_ptr_array_index (files, i), &st), ==, 0);
    sum += (st.st_size + 4095) / 4096 * 4096;
  }
  return sum;
}
