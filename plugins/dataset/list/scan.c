/* gst-spdl: a pass over a list
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/list/scan.h"

#include <string.h>

#include "plugins/common/fingerprint.h"

/* How much is read between two looks at whether the file is still the same;
 * and how much is looked at for whether it is UTF-8. */
#define CHUNK (1 << 20)
#define PIECE (1 << 14)

/* How far it has got. */
typedef struct {
  SpdlFingerprint *fingerprint;
  const gchar *hashed;
  const gchar *piece_end;
  gboolean piece_is_utf8;
  SpdlClasses *found; /* (nullable): the names among the labels */
  gboolean has_integers;
  SpdlFlaws flaws;
} Progress;

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

/* A record ends where a character does, so many at once are as good as each. */
static gboolean
is_utf8 (const SpdlScan *self, Progress *progress, const gchar *from,
    const gchar *to)
{
  if (G_UNLIKELY (to > progress->piece_end)) {
    const gchar *end = self->text->end;

    if (end - from > PIECE)
      end = MAX (from + PIECE, to);
    while (end > to && end < self->text->end && (*end & 0xc0) == 0x80)
      end--;
    progress->piece_is_utf8 = spdl_line_is_utf8 (from, end - from);
    progress->piece_end = end;
  }
  return progress->piece_is_utf8 || spdl_line_is_utf8 (from, to - from);
}

/* What was just read is still in the CPU's cache. */
static void
hash_up_to (const SpdlScan *self, Progress *progress, const gchar *to)
{
  spdl_fingerprint_append (
      progress->fingerprint, progress->hashed, to - progress->hashed);
  spdl_text_visit (self->text, progress->hashed, to);
  progress->hashed = to;
}

/* The first label says whether they are integers or text: one that is of the
 * other kind is more often a slip than a class. */
static SpdlFlawKind
collect_label (Progress *progress, const SpdlLine *line)
{
  g_autofree gchar *copy = NULL;
  const gchar *name = line->name.text;
  gsize length = line->name.length;

  if (line->name_kind != SPDL_FLAW_LABEL_NO_INTEGER) {
    if (line->name_kind == SPDL_FLAW_NONE && line->label == -1)
      return SPDL_FLAW_NONE;
    if (progress->found)
      return SPDL_FLAW_LABEL_INTEGER;
    progress->has_integers = TRUE;
    return line->name_kind;
  }
  if (progress->has_integers)
    return SPDL_FLAW_LABEL_NO_INTEGER;
  if (!progress->found)
    progress->found = spdl_classes_new ();
  if (G_UNLIKELY (line->name.has_quotes)) {
    name = copy = spdl_csv_field_dup (&line->name);
    length = strlen (name);
  }
  return spdl_classes_add (progress->found, name, length)
             ? SPDL_FLAW_NONE
             : SPDL_FLAW_LABEL_TOO_MANY;
}

/* Notes what is wrong with the label. */
static void
check_label (const SpdlScan *self, Progress *progress, SpdlLine *line)
{
  SpdlFlawKind kind;

  spdl_line_read_label (line);
  if (!line->name.text)
    return;
  if (!self->classes)
    kind = collect_label (progress, line);
  else
    kind = spdl_classes_number_line (self->classes, line)
               ? SPDL_FLAW_NONE
               : SPDL_FLAW_LABEL_UNKNOWN;
  if (G_LIKELY (kind == SPDL_FLAW_NONE))
    return;
  line->flaw = (SpdlFlaw){ .kind = kind,
    .text = line->name.text,
    .length = line->name.length,
    .number = self->classes ? spdl_classes_get_size (self->classes)
                            : SPDL_CLASSES_MAX,
    .item = line->path.text,
    .item_length = line->path.length };
}

static void
add_item (SpdlScan *self, const SpdlLine *line, const gchar *at)
{
  spdl_index_add (self->index, at - self->text->begin);
  if (self->weights)
    g_array_append_val (self->weights, line->weight);
}

static gboolean
scan_all (SpdlScan *self, Progress *progress, GError **error)
{
  const gchar *const end = self->text->end;
  SpdlFlaws *flaws = &progress->flaws;
  SpdlLine line;

  for (const gchar *at = self->first; at < end; at = line.next) {
    if (G_UNLIKELY (at - progress->hashed >= CHUNK)) {
      hash_up_to (self, progress, at);
      if (!spdl_text_check (self->text, error))
        return FALSE;
    }
    spdl_columns_parse_any (self->columns, at, end, &line, NULL);
    if (line.flaw.kind != SPDL_FLAW_TOO_LONG &&
        !is_utf8 (self, progress, at, line.next))
      line.flaw.kind = SPDL_FLAW_NOT_UTF8;
    if (self->labels && line.name.text && line.flaw.kind == SPDL_FLAW_NONE)
      check_label (self, progress, &line);
    if (G_UNLIKELY (line.flaw.kind != SPDL_FLAW_NONE))
      spdl_flaws_add (flaws, &line.flaw,
          flaws->n_flaws == 0 ? count_newlines (self->text->begin, at) + 1 : 0);
    else if (line.path.text)
      add_item (self, &line, at);
  }
  hash_up_to (self, progress, end);
  return spdl_text_check (self->text, error);
}

gboolean
spdl_scan (SpdlScan *self, GError **error)
{
  Progress progress = { .fingerprint = spdl_fingerprint_new (),
    .hashed = self->text->begin,
    .piece_end = self->first };
  const guint64 *n_flaws = &progress.flaws.n_flaws;
  gboolean done;

  spdl_text_expect (self->text, TRUE);
  done = scan_all (self, &progress, error);
  self->hash = spdl_fingerprint_finish (progress.fingerprint);
  if (done && *n_flaws > 0)
    g_propagate_error (
        error, spdl_flaws_to_error (&progress.flaws, self->text->location,
                   spdl_index_get_size (self->index) + *n_flaws));
  if (progress.found)
    spdl_classes_sort (progress.found);
  spdl_index_set_classes (self->index, progress.found);
  spdl_text_expect (self->text, FALSE);
  spdl_text_forget (self->text);
  return done && *n_flaws == 0;
}
