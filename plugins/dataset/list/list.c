/* gst-spdl: lists of items: .txt, .csv and .jsonl
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/list/list.h"

#include <string.h>

#include "plugins/common/fingerprint.h"
#include "plugins/dataset/list/columns.h"
#include "plugins/dataset/list/listindex.h"
#include "plugins/dataset/list/members.h"
#include "plugins/dataset/list/textfile.h"

/* Parser of a list. A `.txt` has neither columns nor members. */
typedef struct {
  SpdlColumns *columns; /* (nullable): of a `.csv` */
  SpdlMembers *members; /* (nullable): of a `.jsonl` */
} Parser;

typedef struct {
  SpdlTextFile *file;
  Parser parser;
  const gchar *first;         /* first record after the header */
  SpdlIndex *index;           /* output: gets all items */
  GArray *weights;            /* (nullable): output: double */
  gboolean labels;            /* whether labels are read */
  const SpdlClasses *classes; /* (nullable): allowed labels; NULL: the index
                                 gets the classes of the text labels */
  guint64 hash;               /* output: hash of the list */
} SpdlScan;

/* Maximum number of bytes that are copied to read an item. They include the
 * preceding items since the last known offset. */
#define MAX_PIECE ((gsize) 65536)

struct _SpdlList {
  SpdlTextFile file;
  Parser parser;
  const gchar *first; /* first record */
  guint64 columns;    /* hash of the columns of URI and label; 0: "uri" and
                         "label" */
  SpdlIndex *index;
  GArray *weights; /* nullable */
  gboolean labels;
  const SpdlClasses *classes; /* (nullable): set by the caller */
  guint64 hash;
  /* Position after the last item; 0: no item was read yet. */
  guint64 next_item;
  guint64 next_offset;
  gchar *piece; /* (nullable): MAX_PIECE bytes */
};

/* Parses the record or line at @at. */
static inline void
parse (const Parser *self, const gchar *at, const gchar *end, SpdlLine *line,
    GstStructure **extra)
{
  if (self->columns)
    spdl_columns_parse (self->columns, at, end, line, extra);
  else if (self->members)
    spdl_members_parse (self->members, at, end, line, extra);
  else
    spdl_line_parse (at, end, line);
}

/* Scan of the list */

/* Number of bytes between checks that the file is unchanged, and number of
 * bytes whose UTF-8 is validated at once. */
#define CHUNK (1 << 20)
#define PIECE (1 << 14)

/* State of a scan. */
typedef struct {
  SpdlFingerprint *fingerprint;
  const gchar *hashed;
  const gchar *piece_end;
  gboolean piece_is_utf8;
  SpdlClasses *found; /* (nullable): names of the text labels */
  gboolean has_numbers;
  SpdlParseErrors parse_errors;
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

/* Returns TRUE if the record is UTF-8. Several records are validated at once,
 * which is equivalent because a record ends at a character boundary. If that
 * fails, only the record is validated. */
static gboolean
is_utf8 (const SpdlScan *self, Progress *progress, const gchar *from,
    const gchar *to)
{
  if (G_UNLIKELY (to > progress->piece_end)) {
    const gchar *end = self->file->end;

    if (end - from > PIECE)
      end = MAX (from + PIECE, to);
    while (end > to && end < self->file->end && (*end & 0xc0) == 0x80)
      end--;
    progress->piece_is_utf8 = spdl_line_is_utf8 (from, end - from);
    progress->piece_end = end;
  }
  return progress->piece_is_utf8 || spdl_line_is_utf8 (from, to - from);
}

/* Hashes the text that was just parsed, which is still in the CPU's cache. */
static void
hash_up_to (const SpdlScan *self, Progress *progress, const gchar *to)
{
  spdl_fingerprint_append (
      progress->fingerprint, progress->hashed, to - progress->hashed);
  spdl_text_file_visit (self->file, progress->hashed, to);
  progress->hashed = to;
}

/* Records the parse error of the label. */
static void
check_label (const SpdlScan *self, Progress *progress, SpdlLine *line)
{
  SpdlParseErrorKind kind;

  spdl_line_read_label (line);
  if (!line->name.text)
    return;
  if (!self->classes)
    kind =
        spdl_classes_collect (&progress->found, &progress->has_numbers, line);
  else
    kind = spdl_classes_number_line (self->classes, line)
               ? SPDL_PARSE_ERROR_NONE
               : SPDL_PARSE_ERROR_LABEL_UNKNOWN;
  if (G_LIKELY (kind == SPDL_PARSE_ERROR_NONE))
    return;
  line->parse_error = (SpdlParseError){ .kind = kind,
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
  if (self->labels && !line->name.text)
    spdl_index_count_unlabelled (self->index);
  spdl_index_add (self->index, at - self->file->begin);
  if (self->weights)
    g_array_append_val (self->weights, line->weight);
}

static gboolean
scan_all (SpdlScan *self, Progress *progress, GError **error)
{
  const gchar *const end = self->file->end;
  SpdlParseErrors *parse_errors = &progress->parse_errors;
  SpdlLine line;

  for (const gchar *at = self->first; at < end; at = line.next) {
    if (G_UNLIKELY (at - progress->hashed >= CHUNK)) {
      hash_up_to (self, progress, at);
      if (!spdl_text_file_check (self->file, error))
        return FALSE;
    }
    parse (&self->parser, at, end, &line, NULL);
    if (line.parse_error.kind != SPDL_PARSE_ERROR_TOO_LONG && !line.is_ascii &&
        !is_utf8 (self, progress, at, line.next))
      line.parse_error.kind = SPDL_PARSE_ERROR_NOT_UTF8;
    if (self->labels && line.name.text &&
        line.parse_error.kind == SPDL_PARSE_ERROR_NONE)
      check_label (self, progress, &line);
    if (G_UNLIKELY (line.parse_error.kind != SPDL_PARSE_ERROR_NONE))
      spdl_parse_errors_add (parse_errors, &line.parse_error,
          parse_errors->n_flaws == 0
              ? count_newlines (self->file->begin, at) + 1
              : 0);
    else if (line.path.text)
      add_item (self, &line, at);
  }
  hash_up_to (self, progress, end);
  return spdl_text_file_check (self->file, error);
}

/* Parses the whole list once. Returns FALSE with @error set, in the domain of
 * GST_RESOURCE_ERROR, if a line is malformed or the list changes during the
 * scan. */
static gboolean
spdl_scan (SpdlScan *self, GError **error)
{
  Progress progress = { .fingerprint = spdl_fingerprint_new (),
    .hashed = self->file->begin,
    .piece_end = self->first };
  const guint64 *n_flaws = &progress.parse_errors.n_flaws;
  gboolean done;

  spdl_text_file_expect (self->file, TRUE);
  done = scan_all (self, &progress, error);
  self->hash = spdl_fingerprint_finish (progress.fingerprint);
  if (done && *n_flaws > 0)
    g_propagate_error (
        error, spdl_parse_errors_to_error (&progress.parse_errors,
                   self->file->location,
                   spdl_index_get_size (self->index) + *n_flaws));
  if (progress.found)
    spdl_classes_sort (progress.found);
  spdl_index_set_classes (self->index, progress.found);
  spdl_text_file_expect (self->file, FALSE);
  spdl_text_file_forget (self->file);
  return done && *n_flaws == 0;
}

static gboolean
is_csv (const gchar *location)
{
  return g_str_has_suffix (location, ".csv");
}

static gboolean
is_jsonl (const gchar *location)
{
  return g_str_has_suffix (location, ".jsonl") ||
         g_str_has_suffix (location, ".ndjson");
}

gboolean
spdl_list_has_columns (const gchar *location)
{
  return is_csv (location) || is_jsonl (location);
}

gboolean
spdl_list_is_list (const gchar *location)
{
  return spdl_list_has_columns (location) ||
         g_str_has_suffix (location, ".txt");
}

void
spdl_list_free (SpdlList *self)
{
  spdl_text_file_close (&self->file);
  g_clear_pointer (&self->parser.columns, spdl_columns_free);
  g_clear_pointer (&self->parser.members, spdl_members_free);
  g_clear_pointer (&self->index, spdl_index_free);
  g_clear_pointer (&self->weights, g_array_unref);
  g_free (self->piece);
  g_free (self);
}

static gboolean
has_column (const gchar *name, gconstpointer columns)
{
  return spdl_columns_has_field (columns, name);
}

/* Checks that the columns of the targets exist. */
static gboolean
check_targets (
    const SpdlList *self, const SpdlListOptions *options, GError **error)
{
  g_autofree gchar *fields = spdl_columns_describe (self->parser.columns);

  return spdl_targets_check (options->labels.targets, has_column,
      self->parser.columns, fields, self->file.location, error);
}

/* Creates the parser. Only a `.csv` has a header. */
static gboolean
prepare_parser (SpdlList *self, const SpdlListOptions *options, GError **error)
{
  const gchar *location = self->file.location;
  const gchar *uri = options->uri ? options->uri : "uri";
  const gchar *at = self->file.begin, *end = self->file.end;

  if (end - at >= 3 && memcmp (at, "\357\273\277", 3) == 0)
    at += 3; /* byte order mark */
  self->first = at;
  if (is_jsonl (location)) {
    self->parser.members =
        spdl_members_new (uri, spdl_labels_get_column (&options->labels),
            options->weights, self->labels, location, error);
    return self->parser.members != NULL;
  }
  if (at == end || !is_csv (location))
    return TRUE;
  self->parser.columns =
      spdl_columns_new (at, end, uri, spdl_labels_get_column (&options->labels),
          self->labels, location, &self->first, error);
  return self->parser.columns && check_targets (self, options, error) &&
         (!options->weights || spdl_columns_set_weights (self->parser.columns,
                                   options->weights, location, error));
}

static gboolean
scan_lines (SpdlList *self, gboolean weights, GError **error)
{
  SpdlScan scan = { &self->file, self->parser, self->first };

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
             self->file.stamp.size >= SPDL_SIDECAR_MIN_SIZE);
}

/* Returns the hash of what determines how the lines are read, apart from labels
 * and classes. A link may have another suffix than the file, whose index it
 * shares. */
static guint64
hash_format (const SpdlList *self)
{
  const gchar *location = self->file.location;

  return self->columns ^ (is_csv (location) ? 1 : is_jsonl (location) ? 2 : 0);
}

static gboolean
read_items (SpdlList *self, const SpdlListOptions *options, GError **error)
{
  const gboolean has = has_sidecar (self, options->sidecar);
  const guint64 format = hash_format (self);
  const guint64 classes = spdl_classes_get_hash (self->classes);
  g_autofree gchar *left_out = NULL;
  gboolean loaded;

  if (has)
    self->index = spdl_sidecar_load (
        &self->file, self->labels, classes, format, &self->hash);
  loaded = self->index != NULL;
  if ((!loaded || options->weights) &&
      !scan_lines (self, options->weights != NULL, error))
    return FALSE;
  /* An index has no names of members, so their warning needs another scan. */
  if (self->parser.members)
    left_out = spdl_members_describe_left_out (self->parser.members);
  if (has && !loaded && !left_out && spdl_list_get_size (self) > 0 &&
      spdl_text_file_is_settled (&self->file))
    spdl_sidecar_store (
        &self->file, self->index, self->labels, classes, format, self->hash);
  return TRUE;
}

static gboolean
has_items (const SpdlList *self, GError **error)
{
  const gchar *location = self->file.location;

  if (spdl_list_get_size (self) > 0)
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
      "The list \"%s\" has no items: write %s", location,
      is_csv (location)
          ? "a line that names the columns, such as uri,label, and then a line "
            "for each item"
      : is_jsonl (location)
          ? "a JSON object on each line, such as {\"uri\": \"a.jpg\"}"
          : "a path or a URI on each line, optionally followed by a tab and a "
            "label");
  return FALSE;
}

/* Reports the items without a label, which the scan has counted. */
static gboolean
check_labels (SpdlList *self, const SpdlListOptions *options, GError **error)
{
  SpdlLabelCount count = { .n_items = spdl_list_get_size (self) };
  g_autofree gchar *first = NULL, *fields = NULL;
  GstStructure *extra = NULL;
  guint64 i;
  gint64 label;

  count.n_missing = spdl_index_get_n_unlabelled (self->index, &i);
  if (count.n_missing == 0)
    return TRUE;
  count.first = first = spdl_list_get_item (self, i, &label, &extra, error);
  g_clear_pointer (&extra, gst_structure_free);
  if (!first)
    return FALSE;
  if (self->parser.columns)
    fields = spdl_columns_describe (self->parser.columns);
  else if (self->parser.members)
    fields = spdl_members_describe (self->parser.members);
  count.fields = fields;
  return spdl_labels_check (&options->labels, &count, self->file.location,
      options->warn, options->user_data, error);
}

/* Warns of columns and members that no item gets. */
static void
warn_left_out (const SpdlList *self, const SpdlListOptions *options)
{
  g_autofree gchar *names =
      self->parser.columns
          ? spdl_columns_describe_left_out (self->parser.columns)
      : self->parser.members
          ? spdl_members_describe_left_out (self->parser.members)
          : NULL;
  g_autofree gchar *text = NULL;

  if (!names || !options->warn)
    return;
  text = g_strdup_printf ("The %s of \"%s\" are left out, because they have no "
                          "name that a field can have, or the name of another "
                          "one: rename them, or remove them",
      names, self->file.location);
  options->warn (text, options->user_data);
}

/* Returns a hash of the columns that the user named, so that an index or a
 * state is not used with others. */
static guint64
hash_columns (const SpdlListOptions *options)
{
  const gchar *uri = options->uri, *label = options->labels.column;
  guint64 hash = 0;

  if (uri && !g_str_equal (uri, "uri"))
    hash = spdl_fingerprint_add (0, uri, strlen (uri));
  if (options->labels.read && label && !g_str_equal (label, "label"))
    hash ^= spdl_fingerprint_add (1, label, strlen (label));
  return hash;
}

SpdlList *
spdl_list_open (
    const gchar *location, const SpdlListOptions *options, GError **error)
{
  SpdlList *self = g_new0 (SpdlList, 1);

  self->labels = options->labels.read;
  self->columns = hash_columns (options);
  self->classes = self->labels ? options->labels.classes : NULL;
  if (spdl_text_file_open (&self->file, location, error) &&
      prepare_parser (self, options, error) &&
      read_items (self, options, error) && has_items (self, error) &&
      check_labels (self, options, error)) {
    warn_left_out (self, options);
    return self;
  }
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
  return self->hash ^ self->columns;
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

/* Consecutive items, in the mapped file or in a copy of a part of it. */
typedef struct {
  const gchar *begin;
  const gchar *end;
  guint64 item;   /* number of the first item */
  guint64 offset; /* its offset in the file */
} Stretch;

static void
take_mapped (const SpdlList *self, guint64 item, guint64 offset, Stretch *to)
{
  *to = (Stretch){ self->file.begin + offset, self->file.end, item, offset };
}

static gboolean
take_piece (
    SpdlList *self, guint64 item, guint64 offset, gsize size, Stretch *to)
{
  if (!self->piece)
    self->piece = g_malloc (MAX_PIECE);
  *to = (Stretch){ self->piece, self->piece + size, item, offset };
  return spdl_text_file_copy (&self->file, offset, size, self->piece);
}

/* Finds a stretch that contains item @i. Sequential access reads from the
 * mapping; random access copies a part, since the kernel would map more than
 * needed. Returns FALSE if the file is shorter. */
static gboolean
find_stretch (SpdlList *self, guint64 i, Stretch *to)
{
  guint64 offset, end;
  const guint64 item = spdl_index_find (self->index, i, &offset, &end);

  end = MIN (end, (guint64) (self->file.end - self->file.begin));
  if (self->next_item >= MAX (item, 1) && self->next_item <= i)
    take_mapped (self, self->next_item, self->next_offset, to);
  else if (end - offset > MAX_PIECE)
    take_mapped (self, item, offset, to);
  else
    return take_piece (self, item, offset, end - offset, to);
  return TRUE;
}

/* Parses up to item @i. Returns the start of its record; NULL if the text does
 * not contain it. */
static const gchar *
read_on (SpdlList *self, const Stretch *stretch, guint64 i, SpdlLine *line)
{
  const gboolean mapped = stretch->begin != self->piece;
  guint64 item = stretch->item;

  for (const gchar *at = stretch->begin; at < stretch->end; at = line->next) {
    parse (&self->parser, at, stretch->end, line, NULL);
    if (line->parse_error.kind != SPDL_PARSE_ERROR_NONE)
      return NULL;
    if (mapped)
      spdl_text_file_visit (&self->file, at, line->next);
    if (line->path.text && item++ == i)
      return at;
  }
  return NULL;
}

/* Reads item @i. Its record is parsed a second time for the other fields.
 * Returns FALSE if the list does not match the index. */
static gboolean
read_item (SpdlList *self, const Stretch *stretch, guint64 i, SpdlLine *line,
    GstStructure **extra)
{
  const gchar *at = read_on (self, stretch, i, line);

  if (!at || !spdl_line_is_utf8 (at, line->next - at))
    return FALSE;
  if (self->parser.columns || self->parser.members)
    parse (&self->parser, at, stretch->end, line, extra);
  if (!self->labels)
    line->label = SPDL_NO_LABEL;
  else if (!spdl_classes_number_line (spdl_list_get_classes (self), line))
    return FALSE;
  return TRUE;
}

static void
set_moved (const SpdlList *self, guint64 i, GError **error)
{
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
      "The list \"%s\" has changed since it was indexed: its item "
      "%" G_GUINT64_FORMAT
      " moved. Remove its index, a file whose name ends in .spdl-index, and "
      "restart without the resume state",
      self->file.location, i);
}

gchar *
spdl_list_get_item (SpdlList *self, guint64 i, gint64 *label,
    GstStructure **extra, GError **error)
{
  Stretch stretch;
  SpdlLine line;

  *extra = NULL;
  *label = SPDL_NO_LABEL;
  if (!spdl_text_file_check (&self->file, error))
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
  return spdl_field_dup (&line.path);
}
