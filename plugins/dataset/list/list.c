/* gst-spdl: lists of items: .txt, .csv and .jsonl
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/list/list.h"

#include <string.h>

#include "plugins/common/fail.h"
#include "plugins/common/fingerprint.h"
#include "plugins/dataset/list/coco.h"
#include "plugins/dataset/list/columns.h"
#include "plugins/dataset/list/listindex.h"
#include "plugins/dataset/list/members.h"
#include "plugins/dataset/list/sidecar.h"
#include "plugins/dataset/list/textfile.h"

/* Parser of a list. A `.txt` has neither columns nor members. */
typedef struct {
  SpdlColumns *columns; /* (nullable): of a `.csv` */
  SpdlMembers *members; /* (nullable): of a `.jsonl` */
} Parser;

#define BYTE_ORDER_MARK "\357\273\277"
#define MARK_SIZE 3

/* Number of bytes of a list that are read at once, in order. More are read for
 * a longer line. */
#define CHUNK ((gsize) 262144)
#define CHUNK_OF_ITEMS ((gsize) 65536)

struct _SpdlList {
  SpdlTextFile file;
  SpdlFileWindow window; /* part of the file that items are read from */
  Parser parser;
  guint64 first;   /* offset of the first record */
  guint64 columns; /* hash of the columns of URI and label; 0: "uri" and
                      "label" */
  SpdlIndex *index;
  GArray *weights; /* nullable */
  gboolean labels;
  const SpdlClasses *classes; /* (nullable): set by the caller */
  SpdlClasses *categories;    /* (nullable): of COCO annotations */
  guint64 n_images;           /* of them; 0: another list */
  guint64 hash;
  /* Position after the last item; 0: no item was read yet. */
  guint64 next_item;
  guint64 next_offset;
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

/* Records that do not end in the window */

static gsize
get_max_record (const Parser *parser)
{
  return parser->columns   ? SPDL_COLUMNS_MAX_RECORD
         : parser->members ? SPDL_MEMBERS_MAX_LINE
                           : SPDL_LINE_MAX;
}

/* Returns TRUE if the file goes on after the window. */
static gboolean
has_more (const SpdlTextFile *file, const SpdlFileWindow *window)
{
  return window->offset + window->size < file->stamp.size;
}

/* Returns TRUE if the record at @at was parsed up to the end of the window
 * without its newline, so that the parser would return something else if the
 * window were larger. */
static inline gboolean
is_cut_off (const Parser *parser, const SpdlTextFile *file,
    const SpdlFileWindow *window, const gchar *at, const SpdlLine *line)
{
  const gchar *const end = window->data + window->size;

  if (G_LIKELY (line->parse_error.kind == SPDL_PARSE_ERROR_NONE &&
                (line->next < end || end[-1] == '\n')))
    return FALSE;
  return (gsize) (end - at) <= get_max_record (parser) &&
         has_more (file, window);
}

/* Scan of the list */

/* Number of bytes whose UTF-8 is validated at once. */
#define PIECE (1 << 14)

/* State of a scan. */
typedef struct {
  SpdlList *list; /* gets the items and their weights */
  SpdlFileWindow window;
  gsize chunk;     /* number of bytes to read at once */
  const gchar *at; /* the next record */
  SpdlFingerprint *fingerprint;
  const gchar *hashed;
  const gchar *piece_end;
  gboolean piece_is_utf8;
  SpdlClasses *found; /* (nullable): names of the text labels */
  gboolean has_numbers;
  SpdlParseErrors parse_errors;
} Scan;

/* Returns the number of the line at @offset. */
static guint64
number_line (const SpdlTextFile *file, guint64 offset)
{
  SpdlFileWindow window = { NULL };
  guint64 n = 1;

  for (guint64 from = 0; from < offset; from += window.size) {
    if (!spdl_text_file_load (
            file, &window, from, MIN (CHUNK, offset - from), NULL))
      break;
    for (gsize i = 0; i < window.size; i++)
      n += window.data[i] == '\n';
  }
  spdl_file_window_clear (&window);
  return n;
}

/* Returns TRUE if the record is UTF-8. Several records are validated at once,
 * which is equivalent because a record ends at a character boundary. If that
 * fails, only the record is validated. */
static gboolean
is_utf8 (Scan *self, const gchar *from, const gchar *to)
{
  if (G_UNLIKELY (to > self->piece_end)) {
    const gchar *const window_end = self->window.data + self->window.size;
    const gchar *end = window_end;

    if (end - from > PIECE)
      end = MAX (from + PIECE, to);
    while (end > to && end < window_end && (*end & 0xc0) == 0x80)
      end--;
    self->piece_is_utf8 = spdl_line_is_utf8 (from, end - from);
    self->piece_end = end;
  }
  return self->piece_is_utf8 || spdl_line_is_utf8 (from, to - from);
}

/* Hashes the text that was just parsed, which is still in the CPU's cache. */
static void
hash_parsed (Scan *self)
{
  spdl_fingerprint_append (
      self->fingerprint, self->hashed, self->at - self->hashed);
  self->hashed = self->at;
}

/* Reads more of the list, so that the window begins at the next record. */
static gboolean
load_more (Scan *self, GError **error)
{
  const gsize parsed = self->at - self->window.data;

  hash_parsed (self);
  if (parsed == 0)
    self->chunk = 2 * get_max_record (&self->list->parser);
  if (!spdl_text_file_load (&self->list->file, &self->window,
          self->window.offset + parsed, self->chunk, error))
    return FALSE;
  self->at = self->hashed = self->piece_end = self->window.data;
  return TRUE;
}

/* Moves to the next line, which begins after the window. */
static gboolean
skip_line (Scan *self, GError **error)
{
  const gchar *newline = NULL;

  while (!newline && has_more (&self->list->file, &self->window)) {
    self->at = self->window.data + self->window.size;
    if (!load_more (self, error))
      return FALSE;
    newline = memchr (self->at, '\n', self->window.size);
  }
  self->at = newline ? newline + 1 : self->window.data + self->window.size;
  return TRUE;
}

/* Records the parse error of the label. */
static void
check_label (Scan *self, SpdlLine *line)
{
  const SpdlClasses *classes = self->list->classes;
  SpdlParseErrorKind kind;

  spdl_line_read_label (line);
  if (!line->name.text)
    return;
  if (!classes)
    kind = spdl_classes_collect (&self->found, &self->has_numbers, line);
  else
    kind = spdl_classes_number_line (classes, line)
               ? SPDL_PARSE_ERROR_NONE
               : SPDL_PARSE_ERROR_LABEL_UNKNOWN;
  if (G_LIKELY (kind == SPDL_PARSE_ERROR_NONE))
    return;
  line->parse_error = (SpdlParseError){ .kind = kind,
    .text = line->name.text,
    .length = line->name.length,
    .number = classes ? spdl_classes_get_size (classes) : SPDL_CLASSES_MAX,
    .item = line->path.text,
    .item_length = line->path.length };
}

static inline void
check_text (Scan *self, const gchar *at, SpdlLine *line)
{
  if (line->parse_error.kind != SPDL_PARSE_ERROR_TOO_LONG && !line->is_ascii &&
      !is_utf8 (self, at, line->next))
    line->parse_error.kind = SPDL_PARSE_ERROR_NOT_UTF8;
}

/* Records the error of the line at @offset. */
static void
add_error (Scan *self, const SpdlParseError *parse_error, guint64 offset)
{
  const gboolean is_first = self->parse_errors.n_flaws == 0;

  spdl_parse_errors_add (&self->parse_errors, parse_error,
      is_first ? number_line (&self->list->file, offset) : 0);
}

/* Scans the records that end in the window. The local variables save the loop
 * some loads from memory in each line. */
static gboolean
scan_window (Scan *self, GError **error)
{
  const SpdlList *list = self->list;
  const Parser parser = list->parser;
  const gboolean labels = list->labels;
  SpdlIndex *const index = list->index;
  const gchar *const end = self->window.data + self->window.size;
  const guint64 end_offset = self->window.offset + self->window.size;
  const gchar *at = self->at;
  SpdlLine line;

  for (; at < end; at = line.next) {
    parse (&parser, at, end, &line, NULL);
    if (is_cut_off (&parser, &list->file, &self->window, at, &line))
      break;
    check_text (self, at, &line);
    if (labels && line.name.text &&
        line.parse_error.kind == SPDL_PARSE_ERROR_NONE)
      check_label (self, &line);
    if (G_UNLIKELY (line.parse_error.kind != SPDL_PARSE_ERROR_NONE)) {
      add_error (self, &line.parse_error, end_offset - (end - at));
      if (line.next == end && end[-1] != '\n')
        return skip_line (self, error);
    } else if (line.path.text) {
      if (labels && !line.name.text)
        spdl_index_count_unlabelled (index);
      spdl_index_add (index, end_offset - (end - at));
      if (list->weights)
        g_array_append_val (list->weights, line.weight);
    }
  }
  self->at = at;
  return TRUE;
}

static gboolean
scan_all (Scan *self, GError **error)
{
  const SpdlTextFile *file = &self->list->file;

  while (scan_window (self, error)) {
    if (!has_more (file, &self->window)) {
      hash_parsed (self);
      return spdl_text_file_check (file, error);
    }
    if (!load_more (self, error))
      return FALSE;
  }
  return FALSE;
}

/* Loads the beginning of the list, from the header on. */
static gboolean
begin_scan (Scan *self, GError **error)
{
  const SpdlList *list = self->list;

  self->chunk = CHUNK;
  if (!spdl_text_file_load (
          &list->file, &self->window, 0, MAX (CHUNK, list->first), error))
    return FALSE;
  self->hashed = self->window.data;
  self->at = self->piece_end = self->window.data + list->first;
  return TRUE;
}

/* Parses the whole list once. Returns FALSE with @error set, in the domain of
 * GST_RESOURCE_ERROR, if a line is malformed or the list changes during the
 * scan. */
static gboolean
scan_lines (SpdlList *self, gboolean weights, GError **error)
{
  Scan scan = { .list = self, .fingerprint = spdl_fingerprint_new () };
  gboolean done;

  g_clear_pointer (&self->index, spdl_index_free);
  self->index = spdl_index_new (SPDL_INDEX_MAX_ENTRIES);
  if (weights)
    self->weights = g_array_new (FALSE, FALSE, sizeof (double));
  spdl_text_file_expect (&self->file, TRUE);
  done = begin_scan (&scan, error) && scan_all (&scan, error);
  self->hash = spdl_fingerprint_finish (scan.fingerprint);
  if (done && scan.parse_errors.n_flaws > 0)
    g_propagate_error (error,
        spdl_parse_errors_to_error (&scan.parse_errors, self->file.location,
            spdl_index_get_size (self->index) + scan.parse_errors.n_flaws));
  done = done && scan.parse_errors.n_flaws == 0;
  if (scan.found)
    spdl_classes_sort (scan.found);
  spdl_index_set_classes (self->index, scan.found);
  spdl_text_file_expect (&self->file, FALSE);
  spdl_parse_errors_clear (&scan.parse_errors);
  spdl_file_window_clear (&scan.window);
  return done;
}

static gboolean
is_csv (const gchar *location)
{
  return g_str_has_suffix (location, ".csv");
}

/* Returns TRUE for a list of COCO annotations. */
static gboolean
is_coco_list (const gchar *location)
{
  return g_str_has_suffix (location, SPDL_COCO_LIST_SUFFIX);
}

static gboolean
is_jsonl (const gchar *location)
{
  return g_str_has_suffix (location, ".jsonl") ||
         g_str_has_suffix (location, ".ndjson") || is_coco_list (location);
}

gboolean
spdl_list_has_columns (const gchar *location)
{
  return is_csv (location) || is_jsonl (location) ||
         spdl_coco_is_coco (location);
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
  g_clear_pointer (&self->categories, spdl_classes_free);
  spdl_file_window_clear (&self->window);
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
    const SpdlList *self, const SpdlDatasetOptions *options, GError **error)
{
  g_autofree gchar *fields = spdl_columns_describe (self->parser.columns);

  return spdl_targets_check (options->labels.targets, has_column,
      self->parser.columns, fields, self->file.location, error);
}

/* Parses the header of a `.csv`.
 *
 * @head: the beginning of the list, which contains it
 * @at: its offset */
static gboolean
read_header (SpdlList *self, const SpdlFileWindow *head, gsize at,
    const SpdlDatasetOptions *options, GError **error)
{
  const gchar *location = self->file.location;
  const gchar *next = NULL;

  self->parser.columns = spdl_columns_new (head->data + at,
      head->data + head->size, options->uri ? options->uri : "uri",
      spdl_labels_get_column (&options->labels), self->labels, location, &next,
      error);
  if (!self->parser.columns || !check_targets (self, options, error))
    return FALSE;
  self->first = next - head->data;
  return !options->weights || spdl_columns_set_weights (self->parser.columns,
                                  options->weights, location, error);
}

static const gchar *
get_uri_column (const gchar *location, const SpdlDatasetOptions *options)
{
  return options->uri              ? options->uri
         : is_coco_list (location) ? SPDL_COCO_URI
                                   : "uri";
}

static gboolean
fail_for_damage (const SpdlList *self, GError **error)
{
  return spdl_fail (error, GST_RESOURCE_ERROR_READ,
      "The list \"%s\" of COCO annotations is damaged: remove it, so that it "
      "is "
      "written again",
      self->file.location);
}

/* Reads the header of a list of COCO annotations. */
static gboolean
read_categories (SpdlList *self, GError **error)
{
  SpdlFileWindow head = { NULL };
  const gboolean ok =
      spdl_text_file_load (&self->file, &head, 0, SPDL_COCO_MAX_HEADER, error);

  if (ok)
    self->first = spdl_coco_read_header (
        head.data, head.size, &self->n_images, &self->categories);
  spdl_file_window_clear (&head);
  return ok && (self->first > 0 || fail_for_damage (self, error));
}

/* Creates the parser. */
static gboolean
prepare_parser (
    SpdlList *self, const SpdlDatasetOptions *options, GError **error)
{
  const gchar *location = self->file.location;
  SpdlFileWindow head = { NULL };
  gboolean ok;

  if (is_coco_list (location) && !read_categories (self, error))
    return FALSE;
  ok = spdl_text_file_load (&self->file, &head, 0,
      is_csv (location) ? MARK_SIZE + SPDL_COLUMNS_MAX_RECORD + 1 : MARK_SIZE,
      error);
  if (ok && head.size >= MARK_SIZE &&
      memcmp (head.data, BYTE_ORDER_MARK, MARK_SIZE) == 0)
    self->first = MARK_SIZE;
  if (ok && is_jsonl (location)) {
    self->parser.members = spdl_members_new (get_uri_column (location, options),
        spdl_labels_get_column (&options->labels), options->weights,
        self->labels, location, error);
    ok = self->parser.members != NULL;
  } else if (ok && is_csv (location) && head.size > self->first) {
    ok = read_header (self, &head, self->first, options, error);
  }
  spdl_file_window_clear (&head);
  return ok;
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
read_items (SpdlList *self, const SpdlDatasetOptions *options, GError **error)
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
      spdl_stamp_is_settled (&self->file.stamp))
    spdl_sidecar_store (
        &self->file, self->index, self->labels, classes, format, self->hash);
  return TRUE;
}

static gboolean
has_items (const SpdlList *self, GError **error)
{
  const gchar *location = self->file.location;

  if (self->n_images > 0 && self->n_images != spdl_list_get_size (self))
    return fail_for_damage (self, error);
  if (spdl_list_get_size (self) > 0)
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_NOT_FOUND,
      "The list \"%s\" has no items: write %s", location,
      is_csv (location)
          ? "a line that names the columns, such as uri,label, and then a line "
            "for each item"
      : is_jsonl (location)
          ? "a JSON object on each line, such as {\"uri\": \"a.jpg\"}"
          : "a path or a URI on each line, optionally followed by a tab and a "
            "label");
}

/* Reports the items without a label, which the scan has counted. */
static gboolean
check_labels (SpdlList *self, const SpdlDatasetOptions *options, GError **error)
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
  return spdl_labels_check (options, &count, self->file.location, error);
}

/* Warns of columns and members that no item gets. */
static void
warn_left_out (const SpdlList *self, const SpdlDatasetOptions *options)
{
  g_autofree gchar *names =
      self->parser.columns
          ? spdl_columns_describe_left_out (self->parser.columns)
      : self->parser.members
          ? spdl_members_describe_left_out (self->parser.members)
          : NULL;

  if (names)
    spdl_dataset_warn (options,
        "The %s of \"%s\" are left out, because they have no name that a field "
        "can have, or the name of another one: rename them, or remove them",
        names, self->file.location);
}

/* Returns a hash of the columns that the user named, so that an index or a
 * state is not used with others. */
static guint64
hash_columns (const SpdlDatasetOptions *options)
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
    const gchar *location, const SpdlDatasetOptions *options, GError **error)
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
spdl_list_get_categories (const SpdlList *self)
{
  return self->categories;
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

/* Parses the record at @offset, and reads more of the list until the window
 * contains it.
 *
 * @size: number of bytes to read if the window does not contain @offset
 *
 * Returns its place in the window; NULL with @error set if the list cannot be
 * read */
static const gchar *
parse_at (
    SpdlList *self, guint64 offset, gsize size, SpdlLine *line, GError **error)
{
  SpdlFileWindow *window = &self->window;
  gboolean is_loaded =
      offset >= window->offset && offset - window->offset < window->size;

  for (;;) {
    const gchar *at;

    if (!is_loaded &&
        !spdl_text_file_load (&self->file, window, offset, size, error))
      return NULL;
    at = window->data + (offset - window->offset);
    parse (&self->parser, at, window->data + window->size, line, NULL);
    if (!is_cut_off (&self->parser, &self->file, window, at, line))
      return at;
    size = MAX (CHUNK_OF_ITEMS, 2 * (gsize) (window->data + window->size - at));
    is_loaded = FALSE;
  }
}

/* Parses up to item @i: from the item after the last one, or from the last one
 * before it whose offset is known.
 *
 * @offset: (out): of its record
 *
 * Returns its record; NULL if the list does not match the index, or with @error
 * set if it cannot be read. */
static const gchar *
find_record (
    SpdlList *self, guint64 i, SpdlLine *line, guint64 *offset, GError **error)
{
  guint64 end, item = spdl_index_find (self->index, i, offset, &end);
  gsize size = MIN (end - *offset, CHUNK_OF_ITEMS);
  const gchar *at;

  if (self->next_item >= MAX (item, 1) && self->next_item <= i) {
    item = self->next_item;
    *offset = self->next_offset;
    size = CHUNK_OF_ITEMS;
  }
  for (; *offset < self->file.stamp.size; *offset += line->next - at) {
    at = parse_at (self, *offset, size, line, error);
    if (!at || line->parse_error.kind != SPDL_PARSE_ERROR_NONE)
      return NULL;
    if (line->path.text && item++ == i)
      return at;
  }
  return NULL;
}

/* Reads item @i. Its record is parsed a second time for the other fields.
 * Returns FALSE if the list does not match the index, or with @error set if it
 * cannot be read. */
static gboolean
read_item (SpdlList *self, guint64 i, SpdlLine *line, GstStructure **extra,
    GError **error)
{
  guint64 offset;
  const gchar *at = find_record (self, i, line, &offset, error);

  if (!at || !spdl_line_is_utf8 (at, line->next - at))
    return FALSE;
  if (self->parser.columns || self->parser.members)
    parse (
        &self->parser, at, self->window.data + self->window.size, line, extra);
  if (!self->labels)
    line->label = SPDL_NO_LABEL;
  else if (line->name.text &&
           !spdl_classes_number_line (spdl_list_get_classes (self), line))
    return FALSE;
  self->next_item = i + 1;
  self->next_offset = offset + (line->next - at);
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
  g_autoptr (GError) problem = NULL;
  SpdlLine line;
  gboolean found;

  *extra = NULL;
  *label = SPDL_NO_LABEL;
  found = read_item (self, i, &line, extra, &problem);
  if (spdl_text_file_check (&self->file, error) && found) {
    *label = line.label;
    return spdl_field_dup (&line.path);
  }
  self->next_item = 0;
  g_clear_pointer (extra, gst_structure_free);
  if (error && !*error && problem)
    g_propagate_error (error, g_steal_pointer (&problem));
  else if (error && !*error)
    set_moved (self, i, error);
  return NULL;
}
