/* gst-spdl: a list of items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/list/list.h"

#include <string.h>

#include "plugins/dataset/list/columns.h"
#include "plugins/dataset/list/scan.h"

/* As much as is copied for an item, with those that precede it. */
#define MAX_PIECE ((gsize) 65536)

struct _SpdlList {
  SpdlText text;
  SpdlColumns *columns; /* of a .csv; NULL: a .txt */
  const gchar *first;   /* the first record */
  SpdlIndex *index;
  GArray *weights; /* nullable */
  gboolean labels;
  const SpdlClasses *classes; /* (nullable): that were given */
  guint64 hash;
  /* Behind the item that was read last; 0: none was. */
  guint64 next_item;
  guint64 next_offset;
  gchar *piece; /* (nullable): MAX_PIECE bytes */
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
  spdl_text_close (&self->text);
  g_clear_pointer (&self->columns, spdl_columns_free);
  g_clear_pointer (&self->index, spdl_index_free);
  g_clear_pointer (&self->weights, g_array_unref);
  g_free (self->piece);
  g_free (self);
}

/* Of a `.csv`; a `.txt` has none. */
static gboolean
read_header (SpdlList *self, const SpdlListOptions *options, GError **error)
{
  const gchar *location = self->text.location;
  const gchar *at = self->text.begin, *end = self->text.end;

  if (end - at >= 3 && memcmp (at, "\357\273\277", 3) == 0)
    at += 3; /* a byte order mark */
  self->first = at;
  if (at == end || !is_csv (location))
    return TRUE;
  self->columns = spdl_columns_new (
      at, end, options->labels, location, &self->first, error);
  return self->columns &&
         (!options->weights || spdl_columns_set_weights (self->columns,
                                   options->weights, location, error));
}

static gboolean
scan (SpdlList *self, gboolean weights, GError **error)
{
  SpdlScan scan = { &self->text, self->columns, self->first };

  g_clear_pointer (&self->index, spdl_index_free);
  self->index = spdl_index_new (SPDL_INDEX_MAX_ENTRIES);
  if (weights)
    self->weights = g_array_new (FALSE, FALSE, sizeof (double));
  scan.index = self->index;
  scan.weights = self->weights;
  scan.labels = self->labels;
  scan.classes = self->classes;
  if (!spdl_scan (&scan, error))
    return FALSE;
  self->hash = scan.hash;
  return TRUE;
}

static gboolean
has_sidecar (const SpdlList *self, SpdlSidecarUse use)
{
  return use == SPDL_SIDECAR_ALWAYS ||
         (use == SPDL_SIDECAR_AUTO &&
             self->text.stamp.size >= SPDL_SIDECAR_MIN_SIZE);
}

static gboolean
read_items (SpdlList *self, const SpdlListOptions *options, GError **error)
{
  const gboolean has = has_sidecar (self, options->sidecar);
  const guint64 classes = spdl_classes_get_hash (self->classes);
  gboolean loaded;

  if (has)
    self->index =
        spdl_sidecar_load (&self->text, self->labels, classes, &self->hash);
  loaded = self->index != NULL;
  if ((!loaded || options->weights) &&
      !scan (self, options->weights != NULL, error))
    return FALSE;
  if (has && !loaded && spdl_list_get_size (self) > 0 &&
      spdl_text_is_settled (&self->text))
    spdl_sidecar_store (
        &self->text, self->index, self->labels, classes, self->hash);
  return TRUE;
}

static gboolean
has_items (const SpdlList *self, GError **error)
{
  if (spdl_list_get_size (self) > 0)
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
      "The list \"%s\" has no item: write %s", self->text.location,
      is_csv (self->text.location)
          ? "a line that names the columns, such as uri,label, and then a line "
            "for each item"
          : "a path or a URI on each line, if you like with a tab and a label "
            "behind it");
  return FALSE;
}

SpdlList *
spdl_list_open (
    const gchar *location, const SpdlListOptions *options, GError **error)
{
  SpdlList *self = g_new0 (SpdlList, 1);

  self->labels = options->labels;
  self->classes = options->labels ? options->classes : NULL;
  if (spdl_text_open (&self->text, location, error) &&
      read_header (self, options, error) && read_items (self, options, error) &&
      has_items (self, error))
    return self;
  spdl_list_free (self);
  return NULL;
}

guint64
spdl_list_get_size (const SpdlList *self)
{
  return spdl_index_get_size (self->index);
}

guint64
spdl_list_get_hash (const SpdlList *self)
{
  return self->hash;
}

const SpdlClasses *
spdl_list_get_classes (const SpdlList *self)
{
  return self->classes ? self->classes : spdl_index_get_classes (self->index);
}

GArray *
spdl_list_steal_weights (SpdlList *self)
{
  return g_steal_pointer (&self->weights);
}

/* Some items one behind the other, in the mapped text or in a piece of it. */
typedef struct {
  const gchar *begin;
  const gchar *end;
  guint64 item;   /* the first one */
  guint64 offset; /* where that is in the text */
} Stretch;

static void
take_mapped (const SpdlList *self, guint64 item, guint64 offset, Stretch *to)
{
  *to = (Stretch){ self->text.begin + offset, self->text.end, item, offset };
}

static gboolean
take_piece (
    SpdlList *self, guint64 item, guint64 offset, gsize size, Stretch *to)
{
  if (!self->piece)
    self->piece = g_malloc (MAX_PIECE);
  *to = (Stretch){ self->piece, self->piece + size, item, offset };
  return spdl_text_copy (&self->text, offset, size, self->piece);
}

/* Where item @i can be found. What comes next is read in the mapped text; what
 * lies anywhere, in a piece. FALSE: the text is shorter. */
static gboolean
find_stretch (SpdlList *self, guint64 i, Stretch *to)
{
  guint64 offset, end;
  const guint64 item = spdl_index_find (self->index, i, &offset, &end);

  end = MIN (end, (guint64) (self->text.end - self->text.begin));
  if (self->next_item >= MAX (item, 1) && self->next_item <= i)
    take_mapped (self, self->next_item, self->next_offset, to);
  else if (end - offset > MAX_PIECE)
    take_mapped (self, item, offset, to);
  else
    return take_piece (self, item, offset, end - offset, to);
  return TRUE;
}

/* Reads on to item @i. Returns where it begins; NULL: what is there is no list
 * of so many items. */
static const gchar *
read_on (SpdlList *self, const Stretch *stretch, guint64 i, SpdlLine *line)
{
  const gboolean mapped = stretch->begin != self->piece;
  guint64 item = stretch->item;

  for (const gchar *at = stretch->begin; at < stretch->end; at = line->next) {
    spdl_columns_parse_any (self->columns, at, stretch->end, line, NULL);
    if (line->flaw.kind != SPDL_FLAW_NONE)
      return NULL;
    if (mapped)
      spdl_text_visit (&self->text, at, line->next);
    if (line->path.text && item++ == i)
      return at;
  }
  return NULL;
}

/* Once more, for the other fields, if it is what it should be. */
static gboolean
read_item (SpdlList *self, const Stretch *stretch, guint64 i, SpdlLine *line,
    GstStructure **extra)
{
  const gchar *at = read_on (self, stretch, i, line);

  if (!at || !spdl_line_is_utf8 (at, line->next - at))
    return FALSE;
  if (self->columns)
    spdl_columns_parse (self->columns, at, stretch->end, line, extra);
  if (!self->labels)
    line->label = -1;
  else if (!spdl_classes_number_line (spdl_list_get_classes (self), line))
    return FALSE;
  return TRUE;
}

static void
set_moved (const SpdlList *self, guint64 i, GError **error)
{
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
      "The list \"%s\" has changed since it was indexed: its item "
      "%" G_GUINT64_FORMAT " is not where it was. Remove its index, "
      "a file whose name ends in .spdl-index, and begin anew",
      self->text.location, i);
}

gchar *
spdl_list_get_item (SpdlList *self, guint64 i, gint64 *label,
    GstStructure **extra, GError **error)
{
  Stretch stretch;
  SpdlLine line;

  *extra = NULL;
  *label = -1;
  if (!spdl_text_check (&self->text, error))
    return NULL;
  if (!find_stretch (self, i, &stretch) ||
      !read_item (self, &stretch, i, &line, extra)) {
    self->next_item = 0;
    g_clear_pointer (extra, gst_structure_free);
    set_moved (self, i, error);
    return NULL;
  }
  self->next_item = i + 1;
  self->next_offset = stretch.offset + (line.next - stretch.begin);
  *label = line.label;
  return spdl_csv_field_dup (&line.path);
}
