/* gst-spdl: fetching of the parts of a sample
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/element/fetch-private.h"

#include <string.h>

#include "gst/spdl/common/redact.h"
#include "gst/spdl/common/storeuri.h"
#include "plugins/common/fail.h"
#include "plugins/fetch/http/origin.h"

typedef struct _Fetch Fetch;

typedef struct {
  Fetch *fetch;
  const gchar *name;
  gchar *uri;
  gboolean foreign;   /* do not send credentials and extra headers */
  GstBuffer *content; /* result, or */
  GError *error;      /* error */
} Part;

struct _Fetch {
  GstSpdlTask *task;
  GstCaps *caps;    /* nullable */
  gchar *base;      /* nullable: base folder of relative paths */
  gboolean foreign; /* strangers may have written the fields */
  gint n_running;   /* atomic */
  guint n_parts;
  Part parts[GST_SPDL_MAX_PARTS];
};

/* Names */

static gboolean
has_name (gchar **names, guint n, const gchar *name)
{
  for (guint i = 0; i < n; i++)
    if (g_str_equal (names[i], name))
      return TRUE;
  return FALSE;
}

static gboolean
check_names (gchar **names, GError **error)
{
  const guint n = g_strv_length (names);

  if (n == 0 || n > GST_SPDL_MAX_PARTS - 1) {
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        "parts names %u fields, but must name 1 to %d", n,
        GST_SPDL_MAX_PARTS - 1);
    return FALSE;
  }
  for (guint i = 0; i < n; i++) {
    const gchar *name = g_strstrip (names[i]);

    if (*name && !g_str_equal (name, GST_SPDL_MAIN_PART) &&
        !has_name (names, i, name))
      continue;
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        "parts has the invalid name \"%s\": name each field once, and do not "
        "use \"" GST_SPDL_MAIN_PART "\", which is the item's own URI",
        name);
    return FALSE;
  }
  return TRUE;
}

GStrv
gst_spdl_fetch_parse_parts (const gchar *text, GError **error)
{
  g_auto (GStrv) names = g_strsplit (text, ",", -1);

  return check_names (names, error) ? g_steal_pointer (&names) : NULL;
}

/* URIs */

/* Resolves a value like spdlsrc resolves the entries of a list. A relative path
 * without a base is returned unchanged, and is rejected later. */
static gchar *
resolve_uri (const gchar *value, const gchar *base)
{
  g_autofree gchar *path = NULL;
  gchar *uri;

  if (spdl_uri_has_scheme (value) || (!base && !g_path_is_absolute (value)))
    return g_strdup (value);
  path = g_path_is_absolute (value) ? g_strdup (value)
                                    : g_build_filename (base, value, NULL);
  uri = g_filename_to_uri (path, NULL, NULL);
  return uri ? uri : g_steal_pointer (&path);
}

/* Completion */

/* Returns the error of the first failed part, in the order of the parts. */
static GError *
take_error (Fetch *self)
{
  for (guint i = 0; i < self->n_parts; i++) {
    Part *part = &self->parts[i];

    if (!part->error)
      continue;
    if (i > 0) {
      g_autofree gchar *uri = spdl_redact_dup_uri (part->uri);

      g_prefix_error (&part->error, "Part \"%s\", %s: ", part->name, uri);
    }
    return g_steal_pointer (&part->error);
  }
  return NULL;
}

static GstBuffer *
put_together (Fetch *self)
{
  GstBuffer *sample = gst_buffer_new ();

  for (guint i = 0; i < self->n_parts; i++)
    gst_spdl_buffer_append_part (sample, self->parts[i].name,
        self->parts[i].content, i == 0 ? self->caps : NULL);
  return sample;
}

static void
fetch_free (Fetch *self)
{
  for (guint i = 0; i < self->n_parts; i++) {
    g_free (self->parts[i].uri);
    gst_clear_buffer (&self->parts[i].content);
    g_clear_error (&self->parts[i].error);
  }
  gst_clear_caps (&self->caps);
  g_free (self->base);
  g_free (self);
}

static void
release_fetch (Fetch *self)
{
  GstSpdlTask *task = self->task;
  GstBuffer *sample;
  GError *error;

  if (!g_atomic_int_dec_and_test (&self->n_running))
    return;
  error = take_error (self);
  sample = error ? NULL : put_together (self);
  fetch_free (self);
  gst_spdl_fetch_finish (task, sample, error);
}

static void
on_fetched (gpointer user_data, GstBuffer *content, GError *error)
{
  Part *part = user_data;

  part->content = content;
  part->error = error;
  release_fetch (part->fetch);
}

/* Start */

static void
add_part (Fetch *self, const gchar *name, gchar *uri)
{
  self->parts[self->n_parts++] = (Part){ self, name, uri };
}

/* Checks if both URIs name parts of the same file, or files of one server. */
static gboolean
is_home (const gchar *uri, const gchar *origin, const gchar *home)
{
  const gsize n = strcspn (home, "#");
  g_autofree gchar *from = spdl_origin_dup_of (home);

  if (g_str_has_prefix (home, "arrow:") || spdl_store_is_remote (home))
    return g_strcmp0 (origin, from) == 0;
  return strcspn (uri, "#") == n && strncmp (uri, home, n) == 0;
}

/* Checks that @part, with the foreign value @value, may be fetched for its
 * item.
 */
static gboolean
check_part (Part *part, const gchar *value, GError **error)
{
  const Fetch *self = part->fetch;
  const gchar *home = self->parts[0].uri;
  const gchar *trusted =
      gst_spdl_fetch_of_task (self->task)->used.http.trusted_origins;
  const gboolean is_absolute =
      spdl_uri_has_scheme (part->uri) || g_path_is_absolute (part->uri);
  g_autofree gchar *origin = spdl_origin_dup_of (part->uri);
  g_autofree gchar *shown = NULL, *suggestion = NULL;

  if (!is_absolute) /* a relative path without a base is rejected later */
    return TRUE;
  if (self->base && !spdl_uri_has_scheme (value) &&
      !g_path_is_absolute (value) && !spdl_origin_leads_up (value))
    return TRUE;
  if (is_home (part->uri, origin, home) ||
      spdl_origin_trusts (part->uri, trusted))
    return TRUE;
  part->foreign = TRUE;
  if (origin && spdl_origin_is_http (origin))
    return TRUE;
  shown = spdl_redact_dup_uri (part->uri);
  suggestion = spdl_origin_suggest (part->uri);
  return spdl_fail (error, GST_RESOURCE_ERROR_NOT_AUTHORIZED,
      "Part \"%s\" is refused: a shard, a table or a server refers to \"%s\", "
      "but may refer only to itself, and to http: and https:; set "
      "trusted-origins=%s to allow it",
      part->name, shown, suggestion);
}

static gboolean
add_field (Fetch *self, const gchar *name, GError **error)
{
  const GstSpdlItemMeta *item = gst_spdl_task_get_item_meta (self->task);
  const gchar *value =
      item && item->extra ? gst_structure_get_string (item->extra, name) : NULL;

  if (value) {
    add_part (self, name, resolve_uri (value, self->base));
    return !self->foreign ||
           check_part (&self->parts[self->n_parts - 1], value, error);
  }
  return spdl_fail (error, GST_RESOURCE_ERROR_NOT_FOUND,
      "Item has no part \"%s\": the field of its extra is missing or empty",
      name);
}

/* Start the requests to servers first, so that files are read while they are
 * pending. */
static void
begin_all (Fetch *self, gboolean far, gint64 deadline)
{
  for (guint i = 0; i < self->n_parts; i++) {
    Part *part = &self->parts[i];

    if (spdl_store_is_remote (part->uri) != far)
      continue;
    g_autofree gchar *uri = g_strdup (part->uri);
    gst_spdl_fetch_uri (
        self->task, uri, part->foreign, deadline, on_fetched, part);
  }
}

/* Copies the caps of the first part, and what the item's source has announced.
 */
static void
copy_settings (Fetch *self)
{
  GstSpdlFetch *element = gst_spdl_fetch_of_task (self->task);
  const GstSpdlItemMeta *item = gst_spdl_task_get_item_meta (self->task);
  const SpdlFetchSource *source;

  GST_OBJECT_LOCK (element);
  self->caps = element->caps ? gst_caps_ref (element->caps) : NULL;
  source = item ? g_hash_table_lookup (
                      element->sources, GUINT_TO_POINTER (item->source))
                : NULL;
  if (source) {
    self->base = g_strdup (source->base);
    self->foreign = source->foreign;
  }
  GST_OBJECT_UNLOCK (element);
}

void
gst_spdl_fetch_begin_parts (
    GstSpdlTask *task, const gchar *uri, gint64 deadline)
{
  const GStrv names = gst_spdl_fetch_of_task (task)->names;
  Fetch *self = g_new0 (Fetch, 1);
  GError *error = NULL;

  self->task = task;
  copy_settings (self);
  self->foreign |= !self->base && spdl_store_is_remote (uri);
  add_part (self, GST_SPDL_MAIN_PART, g_strdup (uri));
  for (guint i = 0; names[i] && !error; i++)
    add_field (self, names[i], &error);
  if (error) {
    fetch_free (self);
    gst_spdl_fetch_finish (task, NULL, error);
    return;
  }
  /* Holds one more count, so that the fetch does not complete before all parts
   * have started. */
  self->n_running = self->n_parts + 1;
  begin_all (self, TRUE, deadline);
  begin_all (self, FALSE, deadline);
  release_fetch (self);
}
