/* gst-spdl: Arrow tables for tests, made without a library
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/arrowtables.h"

#include <errno.h>
#include <string.h>

#include "tests/check/support/wait.h"

#define MAX_BUFFERS 4

/* Memory of batches: addresses and sizes. */
static GMutex memory_lock;
static GHashTable *memory;

static gpointer
take_memory (GByteArray *bytes)
{
  const gsize size = bytes->len;
  gpointer data = g_malloc (size + 1);

  if (size > 0) /* else the address is NULL */
    memcpy (data, bytes->data, size);
  g_byte_array_unref (bytes);
  g_mutex_lock (&memory_lock);
  if (!memory)
    memory = g_hash_table_new (NULL, NULL);
  g_hash_table_insert (memory, data, GSIZE_TO_POINTER (size));
  g_mutex_unlock (&memory_lock);
  return data;
}

static void
free_memory (gpointer data)
{
  if (!data)
    return;
  g_mutex_lock (&memory_lock);
  g_hash_table_remove (memory, data);
  if (g_hash_table_size (memory) == 0)
    g_clear_pointer (&memory, g_hash_table_unref);
  g_mutex_unlock (&memory_lock);
  g_free (data);
}

gboolean
arrow_table_has (gconstpointer data)
{
  GHashTableIter iter;
  gpointer begin, size;
  gboolean found = FALSE;

  g_mutex_lock (&memory_lock);
  if (memory) {
    g_hash_table_iter_init (&iter, memory);
    while (!found && g_hash_table_iter_next (&iter, &begin, &size))
      found = (const gchar *) data >= (const gchar *) begin &&
              (const gchar *) data <
                  (const gchar *) begin + GPOINTER_TO_SIZE (size);
  }
  g_mutex_unlock (&memory_lock);
  return found;
}

static void
note_call (ArrowTable *self, gint opened)
{
  if (!self->thread)
    self->thread = g_thread_self ();
  if (self->thread != g_thread_self ())
    g_atomic_int_inc (&self->n_foreign);
  g_atomic_int_add (&self->n_open, opened);
}

void
arrow_table_wait (ArrowTable *self)
{
  wait_until (g_atomic_int_get (&self->n_open) == 0);
}

/* Arrays */

typedef struct {
  ArrowTable *table; /* (nullable): of a batch */
  const void *buffers[MAX_BUFFERS];
  const void *owned[MAX_BUFFERS];
} Array;

static void
release_array (struct ArrowArray *array)
{
  Array *data = array->private_data;

  for (gint64 i = 0; i < array->n_children; i++) {
    if (array->children[i])
      array->children[i]->release (array->children[i]);
    g_free (array->children[i]);
  }
  g_free (array->children);
  if (array->dictionary)
    array->dictionary->release (array->dictionary);
  g_free (array->dictionary);
  for (guint i = 0; i < MAX_BUFFERS; i++)
    free_memory ((gpointer) data->owned[i]);
  if (data->table)
    note_call (data->table, -1);
  g_free (data);
  array->release = NULL;
}

static void
init_array (struct ArrowArray *array, guint length, guint offset, guint n)
{
  Array *data = g_new0 (Array, 1);

  *array = (struct ArrowArray){ .length = length,
    .offset = offset,
    .null_count = -1,
    .n_buffers = n,
    .buffers = data->buffers,
    .release = release_array,
    .private_data = data };
}

static void
set_buffer (struct ArrowArray *array, guint i, GByteArray *bytes)
{
  Array *data = array->private_data;

  data->buffers[i] = data->owned[i] = take_memory (bytes);
}

static void
append (GByteArray *to, gconstpointer data, guint size)
{
  g_byte_array_append (to, data, size);
}

static void
append_number (GByteArray *to, gchar format, const gchar *text)
{
  const gint64 integer = text ? g_ascii_strtoll (text, NULL, 10) : 0;
  const guint64 natural = text ? g_ascii_strtoull (text, NULL, 10) : 0;
  const gdouble real = text ? g_ascii_strtod (text, NULL) : 0;
  const gfloat single = real;

  switch (g_ascii_tolower (format)) {
    case 'c':
      append (to, &integer, 1);
      break;
    case 's':
      append (to, &integer, 2);
      break;
    case 'i':
      append (to, &integer, 4);
      break;
    case 'f':
      append (to, &single, 4);
      break;
    case 'g':
      append (to, &real, 8);
      break;
    default:
      append (to, format == 'L' ? (gconstpointer) &natural : &integer, 8);
      break;
  }
}

static void
append_view (GByteArray *to, GByteArray *data, const gchar *text)
{
  const gint32 length = text ? strlen (text) : 0;
  const gint32 at[] = { 0, data->len }; /* buffer and offset */
  gchar prefix[12] = { 0 };

  append (to, &length, 4);
  memcpy (prefix, text ? text : "", MIN (length, 12));
  if (length <= 12) {
    append (to, prefix, 12);
    return;
  }
  append (to, prefix, 4);
  append (to, at, sizeof at);
  append (data, (const guint8 *) text, length);
}

static void
append_bit (GByteArray *to, guint slot, gboolean bit)
{
  const guint8 empty = 0;

  if (slot % 8 == 0)
    append (to, &empty, 1);
  to->data[slot / 8] |= (bit ? 1 : 0) << slot % 8;
}

/* Makes the slots of a column: @offset unused ones and @n values. */
static void
fill_array (struct ArrowArray *array, const gchar *format,
    const gchar *const *values, guint n, guint offset)
{
  const gboolean is_view = format[0] == 'v';
  const gboolean is_large = strchr ("ZU", format[0]) != NULL;
  const gboolean has_data = is_view || strchr ("zuZU", format[0]);
  GByteArray *validity = g_byte_array_new (), *slots = g_byte_array_new (),
             *data = g_byte_array_new ();
  gint64 end = 0;

  init_array (array, n, offset, is_view ? 4 : has_data ? 3 : 2);
  if (has_data && !is_view)
    append (slots, &end, is_large ? 8 : 4);
  for (guint slot = 0; slot < offset + n; slot++) {
    /* An unused slot has a value that must not be seen. */
    const gchar *text = slot < offset ? "7" : values[slot - offset];

    append_bit (validity, slot, text != NULL);
    if (is_view) {
      append_view (slots, data, text);
    } else if (has_data) {
      append (
          data, (const guint8 *) (text ? text : ""), text ? strlen (text) : 0);
      end = data->len;
      append (slots, &end, is_large ? 8 : 4);
    } else if (format[0] == 'w') {
      gchar fixed[256] = { 0 };

      g_strlcpy (fixed, text ? text : "", sizeof fixed);
      append (slots, fixed, atoi (format + 2));
    } else if (format[0] == 'b') {
      append_bit (slots, slot, text && *text == '1');
    } else {
      append_number (slots, format[0], text);
    }
  }
  set_buffer (array, 0, validity);
  set_buffer (array, 1, slots);
  if (is_view) {
    const gint64 size = data->len;
    GByteArray *sizes = g_byte_array_new ();

    append (sizes, &size, sizeof size);
    set_buffer (array, 2, data);
    set_buffer (array, 3, sizes);
  } else if (has_data) {
    set_buffer (array, 2, data);
  } else {
    g_byte_array_unref (data);
  }
}

/* Makes a dictionary of the values, each once, in reverse order. */
static void
fill_dictionary (struct ArrowArray *array, const ArrowTableColumn *column,
    const gchar *const *values, guint n, guint offset)
{
  g_autoptr (GPtrArray) distinct = g_ptr_array_new ();
  g_autoptr (GPtrArray) indices = g_ptr_array_new_with_free_func (g_free);

  for (guint i = n; i > 0; i--)
    if (values[i - 1] && !g_ptr_array_find_with_equal_func (
                             distinct, values[i - 1], g_str_equal, NULL))
      g_ptr_array_add (distinct, (gpointer) values[i - 1]);
  for (guint i = 0; i < n; i++) {
    guint at = 0;

    if (values[i])
      g_ptr_array_find_with_equal_func (distinct, values[i], g_str_equal, &at);
    g_ptr_array_add (indices, values[i] ? g_strdup_printf ("%u", at) : NULL);
  }
  fill_array (
      array, column->index, (const gchar *const *) indices->pdata, n, offset);
  array->dictionary = g_new (struct ArrowArray, 1);
  fill_array (array->dictionary, column->format,
      (const gchar *const *) distinct->pdata, distinct->len, 2);
}

static void
add_children (struct ArrowArray *array, guint n)
{
  array->n_children = n;
  array->children = g_new0 (struct ArrowArray *, n);
  for (guint i = 0; i < n; i++)
    array->children[i] = g_new0 (struct ArrowArray, 1);
}

/* Makes a structure; it is null where both fields are. */
static void
fill_structure (struct ArrowArray *array, const ArrowTableColumn *column,
    guint first, guint n, guint offset)
{
  g_autofree const gchar **fields = g_new0 (const gchar *, offset + n + 1);
  GByteArray *validity = g_byte_array_new ();

  init_array (array, n, offset, 1);
  add_children (array, 2);
  for (guint i = 0; i < offset + n; i++)
    append_bit (validity, i,
        i < offset || column->values[first + i - offset] ||
            column->paths[first + i - offset]);
  set_buffer (array, 0, validity);
  for (guint c = 0; c < 2; c++) {
    for (guint i = 0; i < n; i++)
      fields[offset + i] =
          c ? column->paths[first + i] : column->values[first + i];
    fill_array (array->children[c], c ? "u" : "z", fields, offset + n, offset);
  }
}

static void
fill_column (struct ArrowArray *array, const ArrowTableColumn *column,
    guint first, guint n, guint offset)
{
  if (column->format[0] == '+')
    fill_structure (array, column, first, n, offset);
  else if (column->index)
    fill_dictionary (array, column, column->values + first, n, offset);
  else
    fill_array (array, column->format, column->values + first, n, offset);
}

/* Schemas */

static void
release_schema (struct ArrowSchema *schema)
{
  for (gint64 i = 0; i < schema->n_children; i++) {
    release_schema (schema->children[i]);
    g_free (schema->children[i]);
  }
  g_free (schema->children);
  if (schema->dictionary)
    release_schema (schema->dictionary);
  g_free (schema->dictionary);
  if (schema->private_data)
    note_call (schema->private_data, -1);
  schema->release = NULL;
}

static struct ArrowSchema *
make_schema (const gchar *name, const gchar *format, guint n_children)
{
  struct ArrowSchema *schema = g_new0 (struct ArrowSchema, 1);

  schema->name = name;
  schema->format = format;
  schema->n_children = n_children;
  schema->children = g_new0 (struct ArrowSchema *, n_children);
  schema->release = release_schema;
  return schema;
}

static struct ArrowSchema *
make_column_schema (const ArrowTableColumn *column)
{
  struct ArrowSchema *schema;

  if (column->format[0] == '+') {
    schema = make_schema (column->name, column->format, 2);
    schema->children[0] = make_schema ("bytes", "z", 0);
    schema->children[1] = make_schema ("path", "u", 0);
    return schema;
  }
  if (!column->index)
    return make_schema (column->name, column->format, 0);
  schema = make_schema (column->name, column->index, 0);
  schema->dictionary = make_schema (NULL, column->format, 0);
  return schema;
}

/* Streams */

typedef struct {
  ArrowTable *table;
  guint next;    /* row */
  guint n_calls; /* of get_next() */
} Stream;

static int
get_schema (struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
  ArrowTable *self = ((Stream *) stream->private_data)->table;
  struct ArrowSchema *schema = make_schema ("", "+s", self->n_columns);

  note_call (self, 1);
  for (guint i = 0; i < self->n_columns; i++)
    schema->children[i] = make_column_schema (&self->columns[i]);
  schema->private_data = self;
  *out = *schema;
  g_free (schema);
  if (self->damage)
    self->damage (NULL, out);
  return 0;
}

static int
get_next (struct ArrowArrayStream *stream, struct ArrowArray *out)
{
  Stream *data = stream->private_data;
  ArrowTable *self = data->table;
  const guint n = MIN (self->n_rows - data->next,
      self->batch_rows ? self->batch_rows : self->n_rows);

  note_call (self, 0);
  if (++data->n_calls == self->fail_at)
    return EIO;
  out->release = NULL;
  if (n == 0)
    return 0;
  note_call (self, 1);
  init_array (out, n, self->offset, 1);
  ((Array *) out->private_data)->table = self;
  add_children (out, self->n_columns);
  for (guint i = 0; i < self->n_columns; i++) {
    /* Rows of the batch begin after its own offset in each column. */
    const ArrowTableColumn *column = &self->columns[i];

    fill_column (out->children[i], column, data->next, n,
        self->offset + (self->offset ? i + 1 : 0));
    out->children[i]->offset -= self->offset;
    out->children[i]->length += self->offset;
  }
  data->next += n;
  if (self->damage)
    self->damage (out, NULL);
  return 0;
}

static const char *
get_last_error (struct ArrowArrayStream *stream)
{
  note_call (((Stream *) stream->private_data)->table, 0);
  return "the disk is on fire";
}

static void
release_stream (struct ArrowArrayStream *stream)
{
  note_call (((Stream *) stream->private_data)->table, -1);
  g_free (stream->private_data);
  stream->release = NULL;
}

void
arrow_table_open (ArrowTable *self, struct ArrowArrayStream *stream)
{
  Stream *data = g_new0 (Stream, 1);

  data->table = self;
  g_atomic_int_inc (&self->n_open);
  *stream = (struct ArrowArrayStream){ get_schema, get_next, get_last_error,
    release_stream, data };
}
