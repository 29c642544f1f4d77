/* gst-spdl: gst-spdl-index, a tool that indexes shards
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <errno.h>
#include <glib/gstdio.h>
#include <gst/gst.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gst/spdl/common/init.h"
#include "gst/spdl/common/showntext.h"
#include "gst/spdl/common/storeuri.h"
#include "plugins/dataset/archive/archiveindex.h"
#include "plugins/dataset/archive/archiveopen.h"
#include "plugins/dataset/archive/shardpattern.h"
#include "plugins/dataset/archive/indexer.h"

/* Number of shards that are read at a time. */
#define N_THREADS 8

typedef struct {
  SpdlRemoteSettings remote;
  SpdlIndexer *indexer;
  gchar *folder; /* nullable */
  gboolean list;
  gboolean version;
  GMutex lock;       /* protects the output and the following fields: */
  GHashTable *paths; /* of the indexes that were made */
  guint n_failed;
} Run;

/* Listing */

/* Prints a name from a shard: exactly, or for people on a terminal. */
static void
print_name (const gchar *name, int length)
{
  g_autofree gchar *exact = g_strndup (name, length);
  g_autofree gchar *shown =
      isatty (STDOUT_FILENO) ? spdl_show_line (exact) : NULL;

  printf ("%s", shown ? shown : exact);
}

static void
print_file (const SpdlArchiveFile *file)
{
  printf ("\t");
  print_name (file->extension, file->extension_length);
  printf ("=");
  if (file->size > 0)
    printf ("%" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT, file->first,
        file->first + spdl_archive_file_get_length (file) - 1);
  if (file->packed)
    printf ("&inflate=%" G_GUINT64_FORMAT "&crc32=%08x", file->size,
        file->packing.checksum);
}

/* Prints a line for each sample: its key, label and, for each of its files,
 * `extension=FIRST-LAST` (`extension=` for an empty one), separated by tabs. */
static void
listing_print (SpdlArchiveIndex *index)
{
  SpdlArchiveSample sample;
  SpdlArchiveFile file;

  for (guint64 i = 0; i < spdl_archive_index_get_size (index); i++) {
    if (!spdl_archive_index_get_sample (index, i, NULL, &sample))
      continue;
    print_name (sample.key, sample.key_length);
    printf ("\t%" G_GINT64_FORMAT, sample.label);
    while (spdl_archive_sample_next (&sample, &file))
      print_file (&file);
    printf ("\n");
  }
}

/* Returns the path of the index: next to @location, or in the output folder.
 * The index of a URL is written to the current folder, to be uploaded next to
 * the shard. */
static gchar *
find_path (const Run *run, const gchar *location)
{
  g_autofree gchar *sidecar = NULL;
  g_autofree gchar *name = NULL;

  if (!spdl_store_is_remote (location) && !run->folder)
    return spdl_archive_sidecar_of (location);
  if (spdl_store_is_remote (location)) {
    g_autofree gchar *plain =
        g_strndup (location, spdl_uri_measure_name (location));
    g_autofree gchar *path = spdl_store_is_uri (location)
                                 ? g_strdup (plain)
                                 : g_uri_unescape_string (plain, NULL);

    sidecar = spdl_archive_sidecar_of (path ? path : plain);
  } else {
    sidecar = spdl_archive_sidecar_of (location);
  }
  name = g_path_get_basename (sidecar);
  return g_build_filename (run->folder ? run->folder : ".", name, NULL);
}

static void
fail_run (Run *run, const gchar *text)
{
  run->n_failed++;
  g_autofree gchar *shown = spdl_show_text (text);

  fprintf (stderr, "gst-spdl-index: %s\n", shown);
}

/* Stores or prints the index in @data (transfer full). Lock held. */
static void
keep_index (Run *run, const SpdlReader *reader, const gchar *path, guint8 *data,
    gsize size)
{
  const gchar *problem;
  SpdlArchiveIndex *index = spdl_archive_index_new (data, size, &problem);
  /* --list writes no file, unless --output names a folder. */
  const gboolean store = !run->list || run->folder;
  const gboolean is_free =
      !store || g_hash_table_add (run->paths, g_strdup (path));
  const int failed = store && is_free
                         ? spdl_archive_store (path, reader->mode, data, size)
                         : 0;

  if (!is_free) {
    g_autofree gchar *text = g_strdup_printf (
        "The index of \"%s\" was not written, because another shard of the "
        "same name has its index in \"%s\": index them in two runs, with "
        "different folders for --output",
        reader->name, path);

    fail_run (run, text);
  } else if (failed != 0) {
    g_autofree gchar *text = g_strdup_printf (
        "Failed to write \"%s\": %s", path, g_strerror (failed));

    fail_run (run, text);
  } else if (run->list) {
    listing_print (index);
  } else {
    printf ("%s: %" G_GUINT64_FORMAT " samples, index of %" G_GSIZE_FORMAT
            " bytes in %s\n",
        reader->name, spdl_archive_index_get_size (index), size, path);
  }
  spdl_archive_index_free (index);
}

static void
index_shard (const gchar *location, Run *run)
{
  g_autoptr (GError) error = NULL;
  g_autofree gchar *path = find_path (run, location);
  g_autoptr (SpdlReader) reader =
      spdl_archive_open_reader (location, run->indexer, &error);
  guint8 *made = NULL;
  gsize size;

  if (reader)
    made = spdl_indexer_walk (run->indexer, reader, &size, &error);
  g_mutex_lock (&run->lock);
  if (made)
    keep_index (run, reader, path, made, size);
  else
    fail_run (run, error->message);
  g_mutex_unlock (&run->lock);
}

/* Locations that several threads index. */
typedef struct {
  Run *run;
  const GPtrArray *names;
  gint next; /* atomic */
} Names;

static gpointer
index_some (gpointer data)
{
  Names *self = data;
  guint i;

  while ((i = g_atomic_int_add (&self->next, 1)) < self->names->len)
    index_shard (g_ptr_array_index (self->names, i), self->run);
  return NULL;
}

static void
index_all (Run *run, const GPtrArray *names)
{
  Names job = { run, names, 0 };
  GThread *threads[N_THREADS] = { NULL };
  /* One thread keeps the order of the listing. */
  const guint n = run->list ? 1 : MIN (N_THREADS, names->len);

  /* If there can be no more threads, the others do their work. */
  for (guint i = 1; i < n; i++)
    threads[i] = g_thread_try_new ("index", index_some, &job, NULL);
  index_some (&job);
  for (guint i = 1; i < n; i++)
    if (threads[i])
      g_thread_join (threads[i]);
}

static void
expand_all (Run *run, gchar **locations, GPtrArray *names)
{
  for (guint i = 0; locations && locations[i]; i++) {
    g_autoptr (GError) error = NULL;
    GPtrArray *some =
        spdl_archive_names_expand (locations[i], run->indexer, &error);

    if (some)
      g_ptr_array_extend_and_steal (names, some);
    else
      fail_run (run, error->message);
  }
}

static int
run_all (Run *run, gchar **locations)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);

  if (run->folder && g_mkdir_with_parents (run->folder, 0777) != 0) {
    g_autofree gchar *text =
        g_strdup_printf ("Failed to create the folder \"%s\": %s", run->folder,
            g_strerror (errno));

    fail_run (run, text);
    return 1;
  }
  g_mutex_init (&run->lock);
  run->indexer = spdl_indexer_new (&spdl_shards_funcs, &run->remote);
  expand_all (run, locations, names);
  run->paths = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  if (names->len > 0)
    index_all (run, names);
  if (fflush (stdout) != 0 || ferror (stdout)) {
    g_autofree gchar *text =
        g_strdup_printf ("Failed to write the output: %s", g_strerror (errno));

    fail_run (run, text);
  }
  g_hash_table_unref (run->paths);
  spdl_indexer_free (run->indexer);
  g_mutex_clear (&run->lock);
  return run->n_failed > 0;
}

/* Parses the syntax of the property extra-headers in a pipeline. */
static gboolean
parse_headers (
    const gchar *option, const gchar *value, gpointer data, GError **error)
{
  Run *run = data;
  GstStructure *headers = gst_structure_from_string (value, NULL);

  if (!headers) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "%s must look like \"headers, Authorization=(string)\\\"Bearer x\\\"\"",
        option);
    return FALSE;
  }
  g_clear_pointer (&run->remote.extra_headers, gst_structure_free);
  run->remote.extra_headers = headers;
  return TRUE;
}

/* Parses a number, with the limits of the property. */
static gboolean
parse_number (
    const gchar *option, const gchar *value, gpointer data, GError **error)
{
  SpdlRemoteSettings *remote = &((Run *) data)->remote;
  const gboolean is_timeout = g_str_equal (option, "--timeout");
  guint64 number;

  if (!g_ascii_string_to_unsigned (value, 10, 0,
          is_timeout ? SPDL_REMOTE_MAX_TIMEOUT : SPDL_REMOTE_MAX_RETRIES,
          &number, error)) {
    g_prefix_error (error, "%s: ", option);
    return FALSE;
  }
  if (is_timeout)
    remote->timeout = number;
  else
    remote->retries = number;
  return TRUE;
}

/* Options with the names of the properties of spdlsrc and spdlfetch. */
static GOptionGroup *
make_remote_group (Run *run)
{
  SpdlRemoteSettings *remote = &run->remote;
  const GOptionEntry entries[] = {
    { "extra-headers", 0, 0, G_OPTION_ARG_CALLBACK, parse_headers,
        "Headers of each request, such as 'headers, "
        "Authorization=(string)\"Bearer x\"'",
        "HEADERS" },
    { "trusted-origins", 0, 0, G_OPTION_ARG_STRING, &remote->trusted_origins,
        "Servers that get these headers when another server redirects to them, "
        "as https://host:port, separated by commas",
        "ORIGINS" },
    { "user-agent", 0, 0, G_OPTION_ARG_STRING, &remote->user_agent,
        "User-Agent header of requests", "TEXT" },
    { "tls-ca-file", 0, 0, G_OPTION_ARG_FILENAME, &remote->tls_ca_file,
        "PEM file of the certificate authorities to trust", "FILE" },
    { "timeout", 0, 0, G_OPTION_ARG_CALLBACK, parse_number,
        "Seconds without data after which a request fails (default 30)",
        "SECONDS" },
    { "retries", 0, 0, G_OPTION_ARG_CALLBACK, parse_number,
        "Number of times to retry a request after a temporary failure (default "
        "3)",
        "NUMBER" },
    { NULL },
  };
  GOptionGroup *group =
      g_option_group_new ("servers", "Options for shards on servers:",
          "Show the options for shards on servers", run, NULL);

  g_option_group_add_entries (group, entries);
  return group;
}

static GOptionGroup *
make_store_group (Run *run)
{
  SpdlStoreSettings *store = &run->remote.store;
  const GOptionEntry entries[] = {
    { "s3-endpoint", 0, 0, G_OPTION_ARG_STRING, &store->endpoint,
        "Address of an S3-compatible store, such as http://minio:9000", "URL" },
    { "s3-region", 0, 0, G_OPTION_ARG_STRING, &store->region, "Region of S3",
        "REGION" },
    { "s3-profile", 0, 0, G_OPTION_ARG_STRING, &store->profile,
        "Profile of the AWS config and credentials files", "NAME" },
    { "s3-addressing", 0, 0, G_OPTION_ARG_STRING, &store->addressing,
        "Place of the bucket in a request: auto, virtual (in the host's name) "
        "or path",
        "WHERE" },
    { "anonymous", 0, 0, G_OPTION_ARG_NONE, &store->anonymous,
        "Send requests to object stores without credentials (public buckets)",
        NULL },
    { NULL },
  };
  GOptionGroup *group =
      g_option_group_new ("stores", "Options for shards in object stores:",
          "Show the options for shards in object stores", run, NULL);

  g_option_group_add_entries (group, entries);
  return group;
}

int
main (int argc, char **argv)
{
  Run run = { { NULL } };
  g_auto (GStrv) locations = NULL;
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &run.folder,
        "Write the indexes into this folder, which is created if it is missing",
        "FOLDER" },
    { "list", 'l', 0, G_OPTION_ARG_NONE, &run.list,
        "Print each sample (key, label, files), and write an index only with "
        "--output",
        NULL },
    { "version", 0, 0, G_OPTION_ARG_NONE, &run.version, "Print the version",
        NULL },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &locations, NULL,
        "SHARD..." },
    { NULL },
  };
  GOptionContext *context = g_option_context_new (NULL);
  g_autoptr (GError) error = NULL;
  int status;

  setlocale (LC_ALL, "");
  spdl_remote_settings_init (&run.remote);
  g_option_context_set_summary (context,
      "Creates indexes of tar and ZIP shards. The index of a local shard is "
      "written next to it as SHARD.spdl-index, that of a URL into the current "
      "folder, to be uploaded next to the shard.\nA shard is a path or a URI "
      "(http, https, s3, gs or hf), with optional braces: "
      "train-{0000..0127}.tar.");
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_group (context, make_remote_group (&run));
  g_option_context_add_group (context, make_store_group (&run));
  if (!gst_spdl_init_with_options (context, &argc, &argv, &error) ||
      (!locations && !run.version)) {
    fprintf (stderr, "gst-spdl-index: %s\n",
        error ? error->message : "no shard given; see --help");
    status = 2;
  } else if (run.version) {
    status = puts ("gst-spdl-index " PACKAGE_VERSION) < 0;
  } else {
    status = run_all (&run, locations);
  }
  g_option_context_free (context);
  g_free (run.folder);
  spdl_remote_settings_clear (&run.remote);
  return status;
}
