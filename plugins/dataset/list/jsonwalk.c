/* gst-spdl: walk through the values of a large JSON file
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/list/jsonwalk.h"

#include <string.h>

#include "plugins/common/fail.h"

/* Number of bytes to read at once, if a value is not larger. */
#define CHUNK ((gsize) 1 << 20)

void
spdl_json_walk_init (
    SpdlJsonWalk *self, const SpdlTextFile *file, GCancellable *cancellable)
{
  *self = (SpdlJsonWalk){ .file = file, .cancellable = cancellable };
}

void
spdl_json_walk_clear (SpdlJsonWalk *self)
{
  spdl_file_window_clear (&self->window);
}

static gboolean
is_at_end (const SpdlJsonWalk *self)
{
  return self->offset == self->file->stamp.size;
}

static gboolean
has_more (const SpdlJsonWalk *self)
{
  return self->window.offset + self->window.size < self->file->stamp.size;
}

static gboolean
load (SpdlJsonWalk *self, gsize size, GError **error)
{
  if (g_cancellable_is_cancelled (self->cancellable))
    return spdl_fail (error, GST_RESOURCE_ERROR_READ,
        "Reading \"%s\" was cancelled", self->file->location);
  return spdl_text_file_load (
      self->file, &self->window, self->offset, size, error);
}

static const gchar *
get_next (const SpdlJsonWalk *self)
{
  return self->window.data + (self->offset - self->window.offset);
}

static gboolean
fail_at (const SpdlJsonWalk *self, guint64 offset, GError **error)
{
  if (offset >= self->file->stamp.size)
    return spdl_fail (error, GST_RESOURCE_ERROR_READ,
        "\"%s\" is cut off after %" G_GUINT64_FORMAT
        " bytes: get the whole file",
        self->file->location, self->file->stamp.size);
  return spdl_fail (error, GST_RESOURCE_ERROR_READ,
      "\"%s\" is not valid JSON at byte %" G_GUINT64_FORMAT
      ": correct it, or name a list of JSON objects .jsonl",
      self->file->location, offset);
}

/* Moves over blanks. Returns FALSE with @error set at the end of the file. */
static gboolean
skip_blanks (SpdlJsonWalk *self, GError **error)
{
  while (!is_at_end (self)) {
    const gchar *at, *end;

    if (!self->window.data && !load (self, CHUNK, error))
      return FALSE;
    end = self->window.data + self->window.size;
    for (at = get_next (self); at < end && memchr (" \t\r\n", *at, 4); at++)
      self->offset++;
    if (at < end)
      return TRUE;
    if (has_more (self) && !load (self, CHUNK, error))
      return FALSE;
  }
  return fail_at (self, self->offset, error);
}

/* Moves over blanks and one of the characters.
 *
 * @wanted: two characters
 * @found: (out) */
static gboolean
take (SpdlJsonWalk *self, const gchar *wanted, gchar *found, GError **error)
{
  if (!skip_blanks (self, error))
    return FALSE;
  *found = *get_next (self);
  if (*found == '\0' || !strchr (wanted, *found))
    return fail_at (self, self->offset, error);
  self->offset++;
  return TRUE;
}

static gboolean
is_next (SpdlJsonWalk *self, gchar wanted, GError **error)
{
  return skip_blanks (self, error) && *get_next (self) == wanted;
}

/* Checks that a value begins with a character. */
static gboolean
expect (SpdlJsonWalk *self, gchar wanted, GError **error)
{
  return is_next (self, wanted, error) ||
         (!*error && fail_at (self, self->offset, error));
}

gboolean
spdl_json_walk_value (SpdlJsonWalk *self, SpdlJsonValue *value, GError **error)
{
  if (!skip_blanks (self, error))
    return FALSE;
  for (gsize size = CHUNK;; size *= 2) {
    const gchar *const text = get_next (self);
    const gchar *const end = self->window.data + self->window.size;
    SpdlJsonMember member;
    SpdlJsonReader reader;
    gboolean is_whole;

    spdl_json_reader_init_part (&reader, text, end);
    is_whole = spdl_json_reader_value (&reader, &member) == SPDL_JSON_MEMBER;
    /* A number may go on after the window. */
    if (is_whole && (reader.at < end || !has_more (self))) {
      if (!reader.is_ascii && !spdl_line_is_utf8 (text, reader.at - text))
        return spdl_fail (error, GST_RESOURCE_ERROR_READ,
            "The value at byte %" G_GUINT64_FORMAT
            " of \"%s\" is not UTF-8: convert the file",
            self->offset, self->file->location);
      *value =
          (SpdlJsonValue){ text, reader.at - text, self->offset, member.kind };
      self->offset += value->length;
      return TRUE;
    }
    if (reader.at < end || !has_more (self))
      return fail_at (self, self->offset + (reader.at - text), error);
    if (size > SPDL_JSON_WALK_MAX)
      return spdl_fail (error, GST_RESOURCE_ERROR_READ,
          "The value at byte %" G_GUINT64_FORMAT
          " of \"%s\" has more than %" G_GSIZE_FORMAT " bytes: remove it",
          self->offset, self->file->location, SPDL_JSON_WALK_MAX);
    if (!load (self, size, error))
      return FALSE;
  }
}

/* Moves over what is before the name of a member.
 *
 * Returns FALSE without @error at the end of the object */
static gboolean
go_to_name (SpdlJsonWalk *self, GError **error)
{
  const gboolean first = !self->begun;
  gchar found;

  self->begun = TRUE;
  if (!take (self, first ? "{{" : ",}", &found, error))
    return FALSE;
  if (found == '}')
    return FALSE;
  if (first && is_next (self, '}', error)) {
    self->offset++;
    return FALSE;
  }
  return !*error && expect (self, '"', error);
}

gboolean
spdl_json_walk_name (SpdlJsonWalk *self, gchar **name, GError **error)
{
  g_autoptr (GError) end = NULL;
  SpdlJsonValue value;
  gchar found;

  if (!go_to_name (self, error)) {
    if (!*error && skip_blanks (self, &end))
      fail_at (self, self->offset, error);
    return FALSE;
  }
  if (!spdl_json_walk_value (self, &value, error))
    return FALSE;
  *name = g_strndup (value.text + 1, value.length - 2);
  return take (self, "::", &found, error);
}

gboolean
spdl_json_walk_array (SpdlJsonWalk *self,
    gboolean (*func) (
        const SpdlJsonValue *value, gpointer user_data, GError **error),
    gpointer user_data, GError **error)
{
  SpdlJsonValue value;
  gchar found;

  if (!take (self, "[[", &found, error))
    return FALSE;
  if (is_next (self, ']', error))
    return take (self, "]]", &found, error);
  if (*error)
    return FALSE;
  do {
    if (!expect (self, '{', error) ||
        !spdl_json_walk_value (self, &value, error) ||
        !func (&value, user_data, error) || !take (self, ",]", &found, error))
      return FALSE;
  } while (found == ',');
  return TRUE;
}
