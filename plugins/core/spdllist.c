/* gst-spdl: a list of items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdllist.h"

#include <string.h>

#include "spdlcolumns.h"
#include "spdlfingerprint.h"
#include "spdlline.h"

struct _SpdlList {
  GMappedFile *file;
  const gchar *text;
  const gchar *end;
  SpdlColumns *columns; /* of a .csv; NULL: a .txt */
  GArray *offsets;      /* guint64: where each item's line begins */
  guint64 hash;
};

static gboolean
is_csv (const gchar *location)
{
  return g_str_has_suffix (location, ".csv");
}

gboolean
spdl_list_is_list (const gchar *location)
{
  return is_csv (location) || g_str_has_suffix (location, ".txt");
}

void
spdl_list_free (SpdlList *self)
{
  g_clear_pointer (&self->file, g_mapped_file_unref);
  g_clear_pointer (&self->columns, spdl_columns_free);
  g_array_unref (self->offsets);
  g_free (self);
}

static void
parse (
    const SpdlList *self, const gchar *at, SpdlLine *line, GstStructure **extra)
{
  if (self->columns)
    spdl_columns_parse (self->columns, at, self->end, line, extra);
  else
    spdl_line_parse (at, self->end, line);
}

static guint64
count_newlines (const gchar *at, const gchar *end)
{
  guint64 n = 0;

  while (at < end && (at = memchr (at, '\n', end - at))) {
    n++;
    at++;
  }
  return n;
}

/* Notes where items begin, up to the first flaw; then only counts.
 *
 * @number: of the line at @at, from 1 */
static gboolean
scan (SpdlList *self, const gchar *at, guint64 number, const gchar *location,
    GError **error)
{
  SpdlFlaws flaws = { 0 };
  guint64 n_items = 0;
  SpdlLine line;

  for (; at < self->end; at = line.next) {
    const guint64 offset = at - self->text;

    parse (self, at, &line, NULL);
    if (line.flaw.kind != SPDL_FLAW_TOO_LONG &&
        !spdl_line_is_utf8 (at, line.next - at))
      line.flaw.kind = SPDL_FLAW_NOT_UTF8;
    if (line.flaw.kind != SPDL_FLAW_NONE) {
      spdl_flaws_add (&flaws, &line.flaw, number);
    } else if (line.path.text) {
      n_items++;
      if (flaws.n_flaws == 0 && n_items <= G_MAXUINT32)
        g_array_append_val (self->offsets, offset);
    }
    number += count_newlines (at, line.next);
  }
  if (flaws.n_flaws > 0) {
    g_propagate_error (
        error, spdl_flaws_to_error (&flaws, location, n_items + flaws.n_flaws));
    return FALSE;
  }
  if (n_items <= G_MAXUINT32)
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
      "The list \"%s\" has %" G_GUINT64_FORMAT " items, more than %u: split it",
      location, n_items, G_MAXUINT32);
  return FALSE;
}

static gboolean
map (SpdlList *self, const gchar *location, GError **error)
{
  g_autoptr (GError) reason = NULL;

  self->file = g_mapped_file_new (location, FALSE, &reason);
  if (!self->file) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
        "The list \"%s\" cannot be read: %s", location, reason->message);
    return FALSE;
  }
  self->text = g_mapped_file_get_contents (self->file);
  if (!self->text)
    self->text = ""; /* the file is empty */
  self->end = self->text + g_mapped_file_get_length (self->file);
  return TRUE;
}

static gboolean
read_list (
    SpdlList *self, const gchar *location, gboolean labels, GError **error)
{
  const gchar *at = self->text;
  guint64 number = 1;

  if (self->end - at >= 3 && memcmp (at, "\357\273\277", 3) == 0)
    at += 3; /* a byte order mark */
  if (at < self->end && is_csv (location)) {
    const gchar *header = at;

    self->columns =
        spdl_columns_new (header, self->end, labels, location, &at, error);
    if (!self->columns)
      return FALSE;
    number += count_newlines (header, at);
  }
  if (!scan (self, at, number, location, error))
    return FALSE;
  if (self->offsets->len > 0)
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
      "The list \"%s\" has no item: write %s", location,
      is_csv (location)
          ? "a line that names the columns, such as uri,label, and then a line "
            "for each item"
          : "a path or a URI on each line, if you like with a tab and a label "
            "behind it");
  return FALSE;
}

SpdlList *
spdl_list_open (const gchar *location, gboolean labels, GError **error)
{
  SpdlList *self = g_new0 (SpdlList, 1);

  self->offsets = g_array_new (FALSE, FALSE, sizeof (guint64));
  if (map (self, location, error) &&
      read_list (self, location, labels, error)) {
    self->hash = spdl_fingerprint_add (0, self->text, self->end - self->text);
    return self;
  }
  spdl_list_free (self);
  return NULL;
}

guint64
spdl_list_get_size (const SpdlList *self)
{
  return self->offsets->len;
}

guint64
spdl_list_get_hash (const SpdlList *self)
{
  return self->hash;
}

gchar *
spdl_list_get_item (
    const SpdlList *self, guint64 i, gint64 *label, GstStructure **extra)
{
  SpdlLine line;

  *extra = NULL;
  parse (self, self->text + g_array_index (self->offsets, guint64, i), &line,
      extra);
  *label = line.label;
  return spdl_csv_field_dup (&line.path);
}
