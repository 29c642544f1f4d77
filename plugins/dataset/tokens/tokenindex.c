/* gst-spdl: documents of token ids in Megatron's format
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/tokens/tokenindex.h"

#include <string.h>

#include "plugins/common/fail.h"
#include "plugins/common/fingerprint.h"
#include "plugins/dataset/list/textfile.h"

#define MAGIC "MMIDIDX\0"
#define MAGIC_SIZE 9
#define VERSION 1
#define HEADER_SIZE (MAGIC_SIZE + 8 + 1 + 8 + 8)

#define NUMBER "%" G_GUINT64_FORMAT

/* Arrays of the index. Those in order share a window, so that documents in
 * order are read a block at a time. */
enum { LENGTHS, PLACES, DOCUMENTS, N_ARRAYS };

#define BLOCK_SIZE 4096

struct _SpdlTokenIndex {
  SpdlTextFile index;
  SpdlTextFile tokens; /* the .bin */
  gchar *uri;          /* of the .bin */
  const gchar *type;   /* of the tokens */
  guint token_size;
  guint64 n_sequences;
  guint64 n_documents;
  guint64 begins[N_ARRAYS]; /* of the arrays in the index */
  SpdlFileWindow windows[N_ARRAYS];
  guint64 hash;
};

static const struct {
  const gchar *name; /* NULL: of no tokens */
  guint size;
} types[] = { { NULL, 0 }, { "uint8", 1 }, { NULL, 0 }, { NULL, 0 },
  { "int32", 4 }, { "int64", 8 }, { NULL, 0 }, { NULL, 0 }, { "uint16", 2 } };

gboolean
spdl_token_index_is_index (const gchar *location)
{
  return g_str_has_suffix (location, ".idx") ||
         g_str_has_suffix (location, ".bin");
}

static guint64
get_u64 (const gchar *at)
{
  guint64 number;

  memcpy (&number, at, sizeof number);
  return GUINT64_FROM_LE (number);
}

/* Reads element @i of an array, as uint64. */
static gboolean
read_number (SpdlTokenIndex *self, guint array, guint64 i, guint64 *number,
    GError **error)
{
  const gsize size = array == LENGTHS ? sizeof (guint32) : sizeof (guint64);
  const guint64 at = self->begins[array] + i * size;
  SpdlFileWindow *window = &self->windows[array];
  const gchar *data;

  if (at < window->offset || at + size > window->offset + window->size) {
    if (!spdl_text_file_load (&self->index, window,
            at / BLOCK_SIZE * BLOCK_SIZE, 2 * BLOCK_SIZE, error) ||
        !spdl_text_file_check (&self->index, error))
      return FALSE;
  }
  data = window->data + (at - window->offset);
  if (array == LENGTHS) {
    guint32 length;

    memcpy (&length, data, sizeof length);
    *number = GUINT32_FROM_LE (length);
  } else {
    *number = get_u64 (data);
  }
  return TRUE;
}

static gboolean
is_malformed (const SpdlTokenIndex *self, GError **error, const gchar *reason)
{
  return spdl_fail (error, GST_RESOURCE_ERROR_READ,
      "\"%s\" is not an index of tokens as Megatron-LM writes it: %s",
      self->index.location, reason);
}

/* Returns FALSE if the arrays do not fill the file. */
static gboolean
plan_arrays (SpdlTokenIndex *self)
{
  const guint64 n = self->n_sequences, size = self->index.stamp.size;
  guint64 end;

  if (n > size / 12 || self->n_documents >= size / 8)
    return FALSE;
  self->begins[LENGTHS] = HEADER_SIZE;
  self->begins[PLACES] = HEADER_SIZE + 4 * n;
  self->begins[DOCUMENTS] = self->begins[PLACES] + 8 * n;
  end = self->begins[DOCUMENTS] + 8 * (self->n_documents + 1);
  return size == end || size == end + n;
}

static gboolean
read_header (SpdlTokenIndex *self, GError **error)
{
  SpdlFileWindow *window = &self->windows[0];
  const gchar *data;
  guint8 type;

  if (!spdl_text_file_load (&self->index, window, 0, HEADER_SIZE, error))
    return FALSE;
  data = window->data;
  if (window->size < HEADER_SIZE || memcmp (data, MAGIC, MAGIC_SIZE) != 0)
    return is_malformed (self, error, "it does not begin with MMIDIDX");
  if (get_u64 (data + MAGIC_SIZE) != VERSION)
    return is_malformed (self, error, "its version is not 1");
  type = data[MAGIC_SIZE + 8];
  if (type >= G_N_ELEMENTS (types) || !types[type].name)
    return is_malformed (
        self, error, "its elements are not uint8, uint16, int32 or int64");
  self->type = types[type].name;
  self->token_size = types[type].size;
  self->n_sequences = get_u64 (data + MAGIC_SIZE + 9);
  self->n_documents = get_u64 (data + MAGIC_SIZE + 17);
  if (self->n_documents-- == 0 || !plan_arrays (self))
    return is_malformed (self, error,
        "its size does not fit to its number of sequences and documents");
  return TRUE;
}

/* Checks the first and the last document, so that an index of another .bin is
 * found at once. */
static gboolean
check_ends (SpdlTokenIndex *self, GError **error)
{
  GstStructure *extra = NULL;
  GstSpdlCarried *carried = NULL;
  g_autofree gchar *uri = NULL;
  guint64 first, end;

  if (!read_number (self, DOCUMENTS, 0, &first, error) ||
      !read_number (self, DOCUMENTS, self->n_documents, &end, error))
    return FALSE;
  if (first != 0 || end != self->n_sequences)
    return is_malformed (
        self, error, "its documents are not all of its sequences");
  if (self->n_documents == 0)
    return spdl_fail (error, GST_RESOURCE_ERROR_NOT_FOUND,
        "\"%s\" has no documents", self->index.location);
  uri = spdl_token_index_get_item (
      self, self->n_documents - 1, &extra, &carried, error);
  g_clear_pointer (&extra, gst_structure_free);
  g_clear_pointer (&carried, gst_spdl_carried_unref);
  return uri != NULL;
}

static gboolean
open_files (SpdlTokenIndex *self, const gchar *location, GError **error)
{
  g_autofree gchar *name = g_strndup (location, strlen (location) - 4);
  g_autofree gchar *index = g_strconcat (name, ".idx", NULL);
  g_autofree gchar *tokens = g_strconcat (name, ".bin", NULL);
  g_autofree gchar *path = g_canonicalize_filename (tokens, NULL);
  guint64 hashes[3];

  if (!spdl_text_file_open (&self->index, index, error) ||
      !spdl_text_file_open (&self->tokens, tokens, error) ||
      !(self->uri = g_filename_to_uri (path, NULL, error)) ||
      !read_header (self, error) || !check_ends (self, error))
    return FALSE;
  hashes[0] = GUINT64_TO_LE (spdl_text_file_hash_samples (&self->index));
  hashes[1] = GUINT64_TO_LE (self->tokens.stamp.size);
  hashes[2] = GUINT64_TO_LE (self->tokens.stamp.size > 0
                                 ? spdl_text_file_hash_samples (&self->tokens)
                                 : 0);
  self->hash = spdl_fingerprint_add (0, hashes, sizeof hashes);
  return TRUE;
}

SpdlTokenIndex *
spdl_token_index_open (const gchar *location, GError **error)
{
  SpdlTokenIndex *self = g_new0 (SpdlTokenIndex, 1);

  self->index.fd = self->tokens.fd = -1;
  if (open_files (self, location, error))
    return self;
  spdl_token_index_free (self);
  return NULL;
}

void
spdl_token_index_free (SpdlTokenIndex *self)
{
  for (guint i = 0; i < N_ARRAYS; i++)
    spdl_file_window_clear (&self->windows[i]);
  spdl_text_file_close (&self->index);
  spdl_text_file_close (&self->tokens);
  g_free (self->uri);
  g_free (self);
}

guint64
spdl_token_index_get_size (const SpdlTokenIndex *self)
{
  return self->n_documents;
}

guint64
spdl_token_index_get_hash (const SpdlTokenIndex *self)
{
  return self->hash;
}

/* Finds the bytes of the sequences from @first to @end, which lie one after the
 * other. */
static gboolean
find_bytes (SpdlTokenIndex *self, guint64 first, guint64 end, guint64 *offset,
    guint64 *size, GError **error)
{
  guint64 place, length;

  *offset = *size = 0;
  if (first > end || end > self->n_sequences)
    return is_malformed (self, error, "a document has no such sequences");
  for (guint64 i = first; i < end; i++) {
    if (!read_number (self, PLACES, i, &place, error) ||
        !read_number (self, LENGTHS, i, &length, error))
      return FALSE;
    if (i == first)
      *offset = place;
    if (place != *offset + *size)
      return is_malformed (
          self, error, "the sequences of a document are not contiguous");
    *size += length * self->token_size;
    if (length > G_MAXINT32 || place > self->tokens.stamp.size ||
        *size > self->tokens.stamp.size - *offset)
      return spdl_fail (error, GST_RESOURCE_ERROR_READ,
          "\"%s\" has documents beyond the end of \"%s\": copy both files "
          "again",
          self->index.location, self->tokens.location);
  }
  return TRUE;
}

/* Names an empty document, and makes its content. */
static gchar *
make_empty (const SpdlTokenIndex *self, guint64 i, GstSpdlCarried **carried)
{
  gchar *uri = g_strdup_printf (
      "empty%s#document=" NUMBER, self->uri + strlen ("file"), i);

  *carried = gst_spdl_carried_new ();
  gst_spdl_carried_add (*carried, g_strdup (uri), gst_buffer_new ());
  return uri;
}

static gchar *
add_number (gchar *to, guint64 number)
{
  gchar digits[20];
  guint n = 0;

  do
    digits[n++] = '0' + number % 10;
  while (number /= 10);
  while (n > 0)
    *to++ = digits[--n];
  return to;
}

/* Names the bytes from @first to @last. With printf(), this would take a
 * seventh of all instructions per document. */
static gchar *
make_uri (const SpdlTokenIndex *self, guint64 first, guint64 last)
{
  gchar *uri = g_malloc (strlen (self->uri) + sizeof "#bytes=-" + 2 * 20);
  gchar *to = g_stpcpy (g_stpcpy (uri, self->uri), "#bytes=");

  to = add_number (to, first);
  *to++ = '-';
  *add_number (to, last) = '\0';
  return uri;
}

gchar *
spdl_token_index_get_item (SpdlTokenIndex *self, guint64 i,
    GstStructure **extra, GstSpdlCarried **carried, GError **error)
{
  guint64 first, end, offset, size;

  *extra = NULL;
  *carried = NULL;
  if (!read_number (self, DOCUMENTS, i, &first, error) ||
      !read_number (self, DOCUMENTS, i + 1, &end, error) ||
      !find_bytes (self, first, end, &offset, &size, error))
    return NULL;
  *extra = gst_structure_new (
      "extra", "token-type", G_TYPE_STRING, self->type, NULL);
  if (size == 0)
    return make_empty (self, i, carried);
  return make_uri (self, offset, offset + size - 1);
}
