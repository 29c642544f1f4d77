/* gst-spdl: COCO annotations as a list
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/list/coco.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugins/common/fail.h"
#include "plugins/dataset/list/jsonwalk.h"
#include "plugins/dataset/list/members.h"
#include "plugins/dataset/list/sidecar.h"

#define VERSION 1

/* Part of the JSON that is an object. */
typedef struct {
  gint64 image; /* its id, or that of the annotation's image */
  guint64 offset;
  guint32 length;
} Part;

/* Members that annotations may have, and the fields that they become. */
enum {
  MEMBER_BOX,
  MEMBER_CATEGORY,
  MEMBER_AREA,
  MEMBER_CROWD,
  MEMBER_ID,
  MEMBER_KEYPOINTS,
  MEMBER_CAPTION,
  MEMBER_MASK,
  N_MEMBERS,
};

static const struct {
  const gchar *name;
  const gchar *field;
} members[] = {
  [MEMBER_BOX] = { "bbox", "boxes" },
  [MEMBER_CATEGORY] = { "category_id", "boxes_labels" },
  [MEMBER_AREA] = { "area", "boxes_area" },
  [MEMBER_CROWD] = { "iscrowd", "boxes_crowd" },
  [MEMBER_ID] = { "id", "boxes_ids" },
  [MEMBER_KEYPOINTS] = { "keypoints", "keypoints" },
  [MEMBER_CAPTION] = { "caption", "captions" },
  [MEMBER_MASK] = { "segmentation", SPDL_COCO_MASKS },
};

G_STATIC_ASSERT (G_N_ELEMENTS (members) == N_MEMBERS);

typedef struct {
  SpdlTextFile file;
  SpdlJsonWalk walk;
  const SpdlDatasetOptions *options;
  guint64 samples;     /* hash of excerpts of the file */
  GArray *images;      /* Part, sorted by the id */
  GArray *annotations; /* Part, sorted by the place of their image */
  GArray *firsts; /* guint: the first annotation of each image, and the end */
  GHashTable *numbers; /* gint64, the number of the category */
  GPtrArray *names;    /* gchar, of the categories */
  gchar *categories;   /* (nullable): the array as in the file */
  guint64 n_with[N_MEMBERS];
  GHashTable *read;      /* gchar: names of the members that were read */
  SpdlFileWindow window; /* of a part */
} Coco;

static gboolean fail (const Coco *self, GError **error, const gchar *format,
    ...) G_GNUC_PRINTF (3, 4);

static gboolean
fail (const Coco *self, GError **error, const gchar *format, ...)
{
  g_autofree gchar *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  return spdl_fail (error, GST_RESOURCE_ERROR_READ,
      "The annotations \"%s\" cannot be used: %s", self->file.location, text);
}

gboolean
spdl_coco_is_coco (const gchar *location)
{
  return g_str_has_suffix (location, ".json");
}

/* Reading of the parts */

static gboolean
has_name (const SpdlJsonMember *member, const gchar *name)
{
  return strlen (name) == member->name.length &&
         memcmp (name, member->name.text, member->name.length) == 0;
}

/* Reads a value that is an integer of 64 bits. */
static gboolean
read_integer (const SpdlJsonMember *member, gint64 *value)
{
  g_autofree gchar *text = g_strndup (member->value.text, member->value.length);
  gchar *end;

  if (member->kind != SPDL_JSON_NUMBER)
    return FALSE;
  errno = 0;
  *value = g_ascii_strtoll (text, &end, 10);
  return *end == '\0' && errno == 0;
}

static gboolean
read_id (const Coco *self, const gchar *kind, const SpdlJsonMember *member,
    gint64 *id, GError **error)
{
  g_autofree gchar *name = NULL, *value = NULL;

  if (read_integer (member, id))
    return TRUE;
  name = g_strndup (member->name.text, member->name.length);
  value = spdl_parse_error_quote (member->value.text, member->value.length);
  return fail (self, error, "the member \"%s\" of %s is %s: write an integer",
      name, kind, value);
}

/* Counts a member of an annotation. Returns FALSE if the annotation has it
 * twice.
 *
 * @seen: (inout): bits of those that it has */
static gboolean
count_member (Coco *self, const SpdlJsonMember *member, guint *seen)
{
  for (guint i = 0; i < N_MEMBERS; i++) {
    if (!has_name (member, members[i].name))
      continue;
    if (*seen & 1u << i)
      return FALSE;
    *seen |= 1u << i;
    self->n_with[i] += member->kind != SPDL_JSON_NULL;
  }
  return TRUE;
}

/* Reads the id of an image, or the one that an annotation names. */
static gboolean
add_part (Coco *self, GArray *parts, const gchar *kind, const gchar *name,
    const SpdlJsonValue *value, GError **error)
{
  Part part = { 0, value->offset, value->length };
  gboolean found = FALSE;
  guint seen = 0;
  SpdlJsonReader reader;
  SpdlJsonMember member;

  spdl_json_reader_init_part (
      &reader, value->text, value->text + value->length);
  while (spdl_json_reader_next (&reader, NULL, &member) == SPDL_JSON_MEMBER) {
    const gboolean is_id = has_name (&member, name);

    if (is_id && !found && !read_id (self, kind, &member, &part.image, error))
      return FALSE;
    if ((is_id && found) ||
        (parts == self->annotations && !count_member (self, &member, &seen)))
      return fail (self, error, "%s %u has the member \"%.*s\" twice", kind,
          parts->len + 1, (int) member.name.length, member.name.text);
    found |= is_id;
  }
  g_array_append_val (parts, part);
  return found || fail (self, error,
                      "%s %u has no member \"%s\": write its number there",
                      kind, parts->len, name);
}

static gboolean
add_image (const SpdlJsonValue *value, gpointer user_data, GError **error)
{
  Coco *self = user_data;

  return add_part (self, self->images, "image", "id", value, error);
}

static gboolean
add_annotation (const SpdlJsonValue *value, gpointer user_data, GError **error)
{
  Coco *self = user_data;

  return add_part (
      self, self->annotations, "annotation", "image_id", value, error);
}

static gboolean
read_member (Coco *self, const gchar *name, GError **error)
{
  SpdlJsonValue value;

  if (!g_hash_table_add (self->read, g_strdup (name)))
    return fail (self, error, "it has the member \"%s\" twice", name);
  if (g_str_equal (name, "images"))
    return spdl_json_walk_array (&self->walk, add_image, self, error);
  if (g_str_equal (name, "annotations"))
    return spdl_json_walk_array (&self->walk, add_annotation, self, error);
  if (!spdl_json_walk_value (&self->walk, &value, error))
    return FALSE;
  if (g_str_equal (name, "categories"))
    self->categories = g_strndup (value.text, value.length);
  return TRUE;
}

static gboolean
read_all (Coco *self, GError **error)
{
  g_autofree gchar *name = NULL;

  while (spdl_json_walk_name (&self->walk, &name, error)) {
    if (!read_member (self, name, error))
      return FALSE;
    g_clear_pointer (&name, g_free);
  }
  if (*error)
    return FALSE;
  if (self->images->len > 0)
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "\"%s\" has no \"images\", so it has no COCO annotations: write a "
      "list with a JSON object on each line, and name it .jsonl",
      self->file.location);
}

/* Categories */

static gint
compare_ids (gconstpointer a, gconstpointer b)
{
  const json_int_t one =
      json_integer_value (json_object_get (*(json_t **) a, "id"));
  const json_int_t other =
      json_integer_value (json_object_get (*(json_t **) b, "id"));

  return one < other ? -1 : one > other;
}

static gboolean
add_category (Coco *self, const json_t *category, GError **error)
{
  const gchar *name = json_string_value (json_object_get (category, "name"));
  const json_t *number = json_object_get (category, "id");
  const gint64 id = json_integer_value (number);

  if (!name || !*name || !json_is_integer (number))
    return fail (self, error,
        "category %u needs an integer \"id\" and a \"name\"",
        self->names->len + 1);
  if (!g_hash_table_insert (self->numbers, g_memdup2 (&id, sizeof id),
          GUINT_TO_POINTER (self->names->len)))
    return fail (self, error,
        "two categories have the id %" G_GINT64_FORMAT ": change one of them",
        id);
  g_ptr_array_add (self->names, g_strdup (name));
  return TRUE;
}

/* Numbers the categories in the order of their ids, which have gaps. */
static gboolean
read_categories (Coco *self, GError **error)
{
  json_t *all = self->categories
                    ? json_loads (self->categories, JSON_DECODE_ANY, NULL)
                    : json_array ();
  g_autoptr (GPtrArray) sorted = g_ptr_array_new ();
  gboolean ok = json_is_array (all) ||
                fail (self, error, "\"categories\" is not an array of objects");
  json_t *category;
  size_t i;

  if (ok)
    json_array_foreach (all, i, category) g_ptr_array_add (sorted, category);
  g_ptr_array_sort (sorted, compare_ids);
  for (i = 0; ok && i < sorted->len; i++)
    ok = add_category (self, g_ptr_array_index (sorted, i), error);
  json_decref (all);
  return ok;
}

/* Joining of images and annotations */

static gint
compare_images (gconstpointer a, gconstpointer b)
{
  const Part *one = a, *other = b;

  return one->image < other->image ? -1 : one->image > other->image;
}

static gboolean
sort_images (Coco *self, GError **error)
{
  g_array_sort (self->images, compare_images);
  for (guint i = 1; i < self->images->len; i++) {
    const Part *image = &g_array_index (self->images, Part, i);

    if (image->image == image[-1].image)
      return fail (self, error,
          "two images have the id %" G_GINT64_FORMAT ": change one of them",
          image->image);
  }
  return TRUE;
}

/* Sorts the annotations by the place of their image; those of an image keep
 * their order. Warns of annotations that belong to no image. */
static void
sort_annotations (Coco *self)
{
  GArray *sorted = g_array_new (FALSE, FALSE, sizeof (Part));
  g_autofree guint *places = g_new (guint, self->annotations->len + 1);
  guint n_lost = 0, n = 0, place;
  gint64 lost = 0;

  g_array_set_size (self->firsts, self->images->len + 1);
  for (guint i = 0; i < self->annotations->len; i++) {
    const Part *part = &g_array_index (self->annotations, Part, i);

    places[i] = G_MAXUINT;
    if (g_array_binary_search (self->images, part, compare_images, &place))
      g_array_index (self->firsts, guint, places[i] = place)++;
    else if (n_lost++ == 0)
      lost = part->image;
  }
  for (guint i = 0; i <= self->images->len; i++) {
    const guint here = g_array_index (self->firsts, guint, i);

    g_array_index (self->firsts, guint, i) = n;
    n += here;
  }
  g_array_set_size (sorted, n);
  for (guint i = 0; i < self->annotations->len; i++)
    if (places[i] != G_MAXUINT)
      g_array_index (
          sorted, Part, g_array_index (self->firsts, guint, places[i])++) =
          g_array_index (self->annotations, Part, i);
  /* Each first annotation has moved to the one of the next image. */
  memmove (&g_array_index (self->firsts, guint, 1), self->firsts->data,
      self->images->len * sizeof (guint));
  g_array_index (self->firsts, guint, 0) = 0;
  g_array_unref (self->annotations);
  self->annotations = sorted;
  if (n_lost > 0)
    spdl_dataset_warn (self->options,
        "%u annotations of \"%s\" are left out, because no image has their "
        "image_id; the first is %" G_GINT64_FORMAT
        ": add the images, or remove the annotations",
        n_lost, self->file.location, lost);
}

/* Writing of the list */

/* Appends a value without blanks between its parts, so that it is on one
 * line. */
static void
append_value (GString *line, const SpdlJsonMember *member)
{
  gboolean in_string = FALSE;

  if (member->kind == SPDL_JSON_STRING) {
    g_string_append_c (line, '"');
    g_string_append_len (line, member->value.text, member->value.length);
    g_string_append_c (line, '"');
    return;
  }
  for (gsize i = 0; i < member->value.length; i++) {
    const gchar c = member->value.text[i];

    if (in_string || !g_ascii_isspace (c))
      g_string_append_c (line, c);
    if (in_string && c == '\\')
      g_string_append_c (line, member->value.text[++i]);
    else if (c == '"')
      in_string = !in_string;
  }
}

static gboolean
load_part (Coco *self, const Part *part, SpdlJsonReader *reader, GError **error)
{
  if (!spdl_text_file_load (
          &self->file, &self->window, part->offset, part->length, error))
    return FALSE;
  spdl_json_reader_init_part (
      reader, self->window.data, self->window.data + part->length);
  return TRUE;
}

static gboolean
append_image (Coco *self, const Part *part, GString *line, GError **error)
{
  SpdlJsonReader reader;
  SpdlJsonMember member;

  g_string_assign (line, "{");
  if (!load_part (self, part, &reader, error))
    return FALSE;
  while (spdl_json_reader_next (&reader, NULL, &member) == SPDL_JSON_MEMBER) {
    g_string_append_printf (line, "%s\"%.*s\": ", line->len > 1 ? ", " : "",
        (int) member.name.length, member.name.text);
    append_value (line, &member);
  }
  return TRUE;
}

static gboolean
append_category (Coco *self, const Part *part, const SpdlJsonMember *member,
    GString *line, GError **error)
{
  gpointer number;
  gint64 id;

  if (!read_id (self, "an annotation", member, &id, error))
    return FALSE;
  if (!g_hash_table_lookup_extended (self->numbers, &id, NULL, &number))
    return fail (self, error,
        "an annotation of the image %" G_GINT64_FORMAT
        " has the category_id %" G_GINT64_FORMAT
        ", which no category has: add the category",
        part->image, id);
  g_string_append_printf (line, "%u", GPOINTER_TO_UINT (number));
  return TRUE;
}

/* Appends what an annotation has to the columns.
 *
 * @columns: of all annotations of the image */
static gboolean
append_annotation (
    Coco *self, const Part *part, GString *const *columns, GError **error)
{
  gboolean has[N_MEMBERS] = { FALSE };
  SpdlJsonReader reader;
  SpdlJsonMember member;

  if (!load_part (self, part, &reader, error))
    return FALSE;
  for (guint i = 0; i < N_MEMBERS; i++)
    g_string_append (columns[i], columns[i]->len > 0 ? ", " : "");
  while (spdl_json_reader_next (&reader, NULL, &member) == SPDL_JSON_MEMBER)
    for (guint i = 0; i < N_MEMBERS; i++) {
      if (member.kind == SPDL_JSON_NULL || !has_name (&member, members[i].name))
        continue;
      has[i] = TRUE;
      if (i == MEMBER_MASK)
        g_string_append_printf (columns[i],
            "[%" G_GUINT64_FORMAT ", %" G_GSIZE_FORMAT "]",
            part->offset + (member.value.text - self->window.data),
            member.value.length);
      else if (i != MEMBER_CATEGORY)
        append_value (columns[i], &member);
      else if (!append_category (self, part, &member, columns[i], error))
        return FALSE;
    }
  for (guint i = 0; i < N_MEMBERS; i++) {
    if (has[i])
      continue;
    if (self->n_with[i] > 0 && (i == MEMBER_BOX || i == MEMBER_CATEGORY))
      return fail (self, error,
          "an annotation of the image %" G_GINT64_FORMAT
          " has no \"%s\", but others have one: add it",
          part->image, members[i].name);
    g_string_append (columns[i], "null");
  }
  return TRUE;
}

/* Appends the line of an image. */
static gboolean
append_line (Coco *self, guint image, GString *line, GString *const *columns,
    GError **error)
{
  const Part *part = &g_array_index (self->images, Part, image);
  const guint *first = &g_array_index (self->firsts, guint, image);

  if (!append_image (self, part, line, error))
    return FALSE;
  for (guint i = 0; i < N_MEMBERS; i++)
    g_string_truncate (columns[i], 0);
  for (guint i = first[0]; i < first[1]; i++)
    if (!append_annotation (
            self, &g_array_index (self->annotations, Part, i), columns, error))
      return FALSE;
  for (guint i = 0; i < N_MEMBERS; i++)
    if (self->n_with[i] > 0)
      g_string_append_printf (
          line, ", \"%s\": [%s]", members[i].field, columns[i]->str);
  g_string_append (line, "}\n");
  if (line->len <= SPDL_MEMBERS_MAX_LINE)
    return TRUE;
  return fail (self, error,
      "the annotations of the image %" G_GINT64_FORMAT
      " need more than %d bytes: remove some of them",
      part->image, SPDL_MEMBERS_MAX_LINE);
}

static gboolean
is_item (const Coco *self, guint image)
{
  const guint *first = &g_array_index (self->firsts, guint, image);

  return first[0] < first[1] || !self->options->require_annotations;
}

static guint
count_items (const Coco *self)
{
  guint n = 0;

  for (guint i = 0; i < self->images->len; i++)
    n += is_item (self, i);
  return n;
}

/* Returns the beginning of the header, which identifies the file. */
static gchar *
make_key (const Coco *self)
{
  return g_strdup_printf ("{\"version\": %d, \"size\": "
                          "%" G_GUINT64_FORMAT
                          ", \"samples\": \"%016" G_GINT64_MODIFIER "x\", ",
      VERSION, self->file.stamp.size, self->samples);
}

static void
append_header (const Coco *self, GString *text)
{
  g_autofree gchar *key = make_key (self);
  json_t *classes = json_array ();
  char *names;

  for (guint i = 0; i < self->names->len; i++)
    json_array_append_new (
        classes, json_string (g_ptr_array_index (self->names, i)));
  names = json_dumps (classes, 0);
  g_string_append_printf (text, "%s\"items\": %u, \"classes\": %s}\n", key,
      count_items (self), names);
  free (names);
  json_decref (classes);
}

#define CHUNK (1 << 20)

/* Writes the text if it is longer than the limit. Returns 0 or an errno. */
static int
write_text (int fd, GString *text, gsize limit)
{
  const int failed =
      text->len > limit ? spdl_file_write_all (fd, text->str, text->len) : 0;

  if (text->len > limit)
    g_string_truncate (text, 0);
  return failed;
}

typedef struct {
  Coco *coco;
  GError *error;
} Writing;

/* Implements SpdlSidecarFileFunc. */
static int
write_list (int fd, gconstpointer user_data)
{
  Writing *writing = (Writing *) user_data;
  Coco *self = writing->coco;
  g_autoptr (GString) line = g_string_new (NULL), text = g_string_new (NULL);
  GString *columns[N_MEMBERS];
  int failed = 0;

  append_header (self, text);
  for (guint i = 0; i < N_MEMBERS; i++)
    columns[i] = g_string_new (NULL);
  for (guint i = 0; i < self->images->len && failed == 0; i++) {
    if (!is_item (self, i))
      continue;
    if (!append_line (self, i, line, columns, &writing->error))
      failed = EINVAL;
    g_string_append_len (text, line->str, line->len);
    if (failed == 0)
      failed = write_text (fd, text, CHUNK);
  }
  if (failed == 0)
    failed = write_text (fd, text, 0);
  for (guint i = 0; i < N_MEMBERS; i++)
    g_string_free (columns[i], TRUE);
  /* The time of a file that has just changed might hide a further change, so
   * its list is written again at the next start. */
  if (failed == 0) {
    const struct timespec stamp = { self->file.stamp.seconds,
      self->file.stamp.nanoseconds };
    const struct timespec times[] = { { 0, UTIME_OMIT },
      spdl_stamp_is_settled (&self->file.stamp) ? stamp
                                                : (struct timespec){ 0, 0 } };

    failed = futimens (fd, times) == 0 ? 0 : errno;
  }
  return failed;
}

/* Places of the list */

static void
init (Coco *self, const SpdlDatasetOptions *options)
{
  *self = (Coco){ .file = { .fd = -1 }, .options = options };
  self->images = g_array_new (FALSE, FALSE, sizeof (Part));
  self->annotations = g_array_new (FALSE, FALSE, sizeof (Part));
  self->firsts = g_array_new (FALSE, TRUE, sizeof (guint));
  self->numbers =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  self->names = g_ptr_array_new_with_free_func (g_free);
  self->read = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
}

static void
clear (Coco *self)
{
  spdl_text_file_close (&self->file);
  spdl_json_walk_clear (&self->walk);
  spdl_file_window_clear (&self->window);
  g_array_unref (self->images);
  g_array_unref (self->annotations);
  g_array_unref (self->firsts);
  g_hash_table_unref (self->numbers);
  g_ptr_array_unref (self->names);
  g_hash_table_unref (self->read);
  g_free (self->categories);
}

gsize
spdl_coco_read_header (
    const gchar *text, gsize size, guint64 *n_items, SpdlClasses **classes)
{
  const gchar *end = memchr (text, '\n', size);
  json_t *header = end ? json_loadb (text, end - text, 0, NULL) : NULL;
  json_t *names = json_object_get (header, "classes"), *name;
  gboolean ok =
      json_integer_value (json_object_get (header, "version")) == VERSION;
  size_t i;

  *classes = NULL;
  *n_items = json_integer_value (json_object_get (header, "items"));
  json_array_foreach (names, i, name)
  {
    if (!*classes)
      *classes = spdl_classes_new ();
    ok = ok && spdl_classes_add (*classes, json_string_value (name),
                   json_string_length (name));
  }
  json_decref (header);
  return ok ? end + 1 - text : 0;
}

/* Returns TRUE if the list at @path was made of the file as it is. */
static gboolean
is_current (const Coco *self, const gchar *path)
{
  SpdlTextFile list;
  SpdlFileWindow window = { NULL };
  g_autofree gchar *wanted = make_key (self);
  gboolean same;

  if (!spdl_text_file_open (&list, path, NULL))
    return FALSE;
  same = list.stamp.seconds == self->file.stamp.seconds &&
         list.stamp.nanoseconds == self->file.stamp.nanoseconds &&
         spdl_text_file_load (&list, &window, 0, strlen (wanted), NULL) &&
         window.size == strlen (wanted) &&
         memcmp (window.data, wanted, window.size) == 0;
  spdl_file_window_clear (&window);
  spdl_text_file_close (&list);
  return same;
}

/* Reads the annotations, and writes the list to the first place that is
 * writable. Returns its number, or -1. */
static gint
make_list (Coco *self, gchar *const *places, guint n_places, GError **error)
{
  Writing writing = { self, NULL };
  int failed = 0;

  spdl_json_walk_init (&self->walk, &self->file, self->options->cancellable);
  if (!read_all (self, error) || !read_categories (self, error) ||
      !sort_images (self, error) || !spdl_text_file_check (&self->file, error))
    return -1;
  sort_annotations (self);
  if (count_items (self) == 0) {
    spdl_fail (error, GST_RESOURCE_ERROR_NOT_FOUND,
        "No image of \"%s\" has an annotation: leave require-annotations unset",
        self->file.location);
    return -1;
  }
  for (guint i = 0; i < n_places; i++) {
    failed = spdl_sidecar_file_store (
        places[i], self->file.mode, write_list, &writing);
    if (failed == 0)
      return i;
    if (writing.error) {
      g_propagate_error (error, writing.error);
      return -1;
    }
  }
  spdl_fail (error, GST_RESOURCE_ERROR_OPEN_WRITE,
      "Failed to write \"%s\", the list of the annotations \"%s\": %s; set "
      "XDG_CACHE_HOME to a folder that can be written",
      places[n_places - 1], self->file.location, g_strerror (failed));
  return -1;
}

gchar *
spdl_coco_make_list (const SpdlDatasetOptions *options, GError **error)
{
  const gchar *suffix = options->require_annotations
                            ? ".annotated" SPDL_COCO_LIST_SUFFIX
                            : SPDL_COCO_LIST_SUFFIX;
  char *path = realpath (options->location, NULL);
  const int failed = path ? 0 : errno;
  g_autofree gchar *name = path ? g_strconcat (path, suffix, NULL) : NULL;
  g_autoptr (GError) problem = NULL;
  gchar *found = NULL;
  Coco self;

  init (&self, options);
  if (!path)
    spdl_fail (&problem, GST_RESOURCE_ERROR_OPEN_READ,
        "Failed to read \"%s\": %s", options->location, g_strerror (failed));
  else if (spdl_text_file_open (&self.file, options->location, &problem)) {
    gchar *places[] = { spdl_sidecar_file_beside (path, suffix),
      spdl_sidecar_file_in_cache (name, SPDL_COCO_LIST_SUFFIX) };
    gint place = -1;

    self.samples = spdl_text_file_hash_samples (&self.file);
    for (guint i = 0; i < G_N_ELEMENTS (places) && place < 0; i++)
      place = is_current (&self, places[i]) ? (gint) i : -1;
    if (place < 0)
      place = make_list (&self, places, G_N_ELEMENTS (places), &problem);
    if (place >= 0)
      found = g_steal_pointer (&places[place]);
    for (guint i = 0; i < G_N_ELEMENTS (places); i++)
      g_free (places[i]);
  }
  if (problem)
    g_propagate_error (error, g_steal_pointer (&problem));
  clear (&self);
  free (path);
  return found;
}

/* Masks */

/* Maximum number of bytes of the segmentations of an image */
#define MAX_MASKS (1 << 24)

struct _SpdlCocoMasks {
  SpdlTextFile file;
  SpdlFileWindow window;
};

SpdlCocoMasks *
spdl_coco_masks_open (const gchar *location, GError **error)
{
  SpdlCocoMasks *self = g_new0 (SpdlCocoMasks, 1);

  if (spdl_text_file_open (&self->file, location, error)) {
    spdl_text_file_expect (&self->file, FALSE);
    return self;
  }
  g_free (self);
  return NULL;
}

void
spdl_coco_masks_free (SpdlCocoMasks *self)
{
  spdl_text_file_close (&self->file);
  spdl_file_window_clear (&self->window);
  g_free (self);
}

static gboolean
append_mask (
    SpdlCocoMasks *self, const json_t *place, GString *text, GError **error)
{
  const json_int_t offset = json_integer_value (json_array_get (place, 0));
  const json_int_t size = json_integer_value (json_array_get (place, 1));
  const guint64 end = self->file.stamp.size;

  if (json_is_null (place)) {
    g_string_append (text, "null");
    return TRUE;
  }
  if (offset <= 0 || size <= 0 || (guint64) size > end ||
      (guint64) offset > end - size)
    return spdl_fail (error, GST_RESOURCE_ERROR_READ,
        "\"%s\" is not the file that the list of its annotations is from: "
        "remove the list, so that it is written again",
        self->file.location);
  if (size > MAX_MASKS - (gssize) MIN (text->len, MAX_MASKS))
    return spdl_fail (error, GST_RESOURCE_ERROR_READ,
        "The segmentations of an image, of which one is at byte "
        "%" JSON_INTEGER_FORMAT " of \"%s\", have more than %d bytes: remove "
        "some of them",
        offset, self->file.location, MAX_MASKS);
  if (!spdl_text_file_load (&self->file, &self->window, offset, size, error))
    return FALSE;
  g_string_append_len (text, self->window.data, size);
  return TRUE;
}

gboolean
spdl_coco_masks_load (SpdlCocoMasks *self, GstStructure *extra, GError **error)
{
  const gchar *places =
      extra ? gst_structure_get_string (extra, SPDL_COCO_MASKS) : NULL;
  json_t *all = places ? json_loads (places, 0, NULL) : NULL, *place;
  GString *text = g_string_new ("[");
  gboolean ok = TRUE;
  size_t i;

  json_array_foreach (all, i, place)
  {
    g_string_append (text, i > 0 ? "," : "");
    ok = ok && append_mask (self, place, text, error);
  }
  json_decref (all);
  ok = ok && (!all || spdl_text_file_check (&self->file, error));
  g_string_append_c (text, ']');
  if (ok && !g_utf8_validate (text->str, text->len, NULL))
    ok = spdl_fail (error, GST_RESOURCE_ERROR_READ,
        "A segmentation of \"%s\" is not text: remove the list of its "
        "annotations, so that it is written again",
        self->file.location);
  if (ok && all) {
    GValue value = G_VALUE_INIT;

    g_value_init (&value, G_TYPE_STRING);
    g_value_take_string (&value, g_string_free (text, FALSE));
    gst_structure_take_value (extra, SPDL_COCO_MASKS, &value);
    return TRUE;
  }
  g_string_free (text, TRUE);
  return ok;
}
