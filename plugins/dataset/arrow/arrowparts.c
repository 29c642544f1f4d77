/* gst-spdl: parts of an Arrow table that are read when they are needed
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/arrow/arrowparts.h"

#include "plugins/common/fail.h"

/* Number of parts that are read at the same time, apart from the one that is
 * waited for. */
#define MAX_BUSY 4

typedef struct {
  SpdlArrowRows rows;
  gboolean is_read;
  GError *error; /* nullable */
  guint plan;    /* number of the last plan with it */
} Part;

struct _SpdlArrowParts {
  SpdlArrowOpener *opener;
  GStrv columns;
  guint64 columns_hash;
  gchar *name;
  guint n_parts;
  const GstSpdlArrowPart *sizes;
  guint64 *firsts; /* first row of each part, and the number of rows */
  Part **parts;    /* nullable: not in memory */

  GArray *planned; /* guint32 */
  guint n_begun;   /* the first of them */
  guint plan;
  guint last; /* part of the last row */
};

SpdlArrowParts *
spdl_arrow_parts_new (
    SpdlArrowOpener *opener, GStrv columns, const SpdlArrowRows *rows)
{
  SpdlArrowParts *self = g_new0 (SpdlArrowParts, 1);

  self->opener = spdl_arrow_opener_ref (opener);
  self->columns = columns;
  self->name = g_strdup (rows->name);
  self->columns_hash = spdl_arrow_rows_hash_columns (rows);
  self->sizes = spdl_arrow_opener_get_parts (opener, &self->n_parts);
  self->firsts = g_new0 (guint64, self->n_parts + 1);
  for (guint i = 0; i < self->n_parts; i++)
    self->firsts[i + 1] = self->firsts[i] + self->sizes[i].n_rows;
  self->parts = g_new0 (Part *, self->n_parts);
  self->planned = g_array_new (FALSE, FALSE, sizeof (guint32));
  return self;
}

static void
drop_part (SpdlArrowParts *self, guint i)
{
  Part *part = g_steal_pointer (&self->parts[i]);

  spdl_arrow_rows_clear (&part->rows);
  g_clear_error (&part->error);
  g_free (part);
}

static guint
get_planned (const SpdlArrowParts *self, guint i)
{
  return g_array_index (self->planned, guint32, i);
}

/* Drops the parts that are not in the last plan, but in the one before. */
static void
drop_others (SpdlArrowParts *self, const GArray *before)
{
  for (guint i = 0; i < before->len; i++) {
    const guint number = g_array_index (before, guint32, i);

    if (self->parts[number] && self->parts[number]->plan != self->plan)
      drop_part (self, number);
  }
}

void
spdl_arrow_parts_free (SpdlArrowParts *self)
{
  self->plan++;
  drop_others (self, self->planned);
  g_array_unref (self->planned);
  g_free (self->parts);
  g_free (self->firsts);
  g_free (self->name);
  g_strfreev (self->columns);
  spdl_arrow_opener_unref (self->opener);
  g_free (self);
}

/* Begins to read a part, unless that has begun. */
static Part *
begin_part (SpdlArrowParts *self, guint i)
{
  SpdlArrowOpener *opener;
  Part *part;

  if (self->parts[i])
    return self->parts[i];
  opener = spdl_arrow_opener_new_part (
      self->opener, i, (const gchar *const *) self->columns);
  self->parts[i] = part = g_new0 (Part, 1);
  spdl_arrow_rows_init (
      &part->rows, spdl_arrow_reader_new_lazy (opener), self->name);
  part->rows.first = self->firsts[i];
  part->plan = self->plan;
  spdl_arrow_opener_unref (opener);
  spdl_arrow_reader_begin (part->rows.reader);
  return part;
}

/* Begins to read planned parts, up to the limit. */
static void
begin_planned (SpdlArrowParts *self)
{
  guint n_busy = 0;

  if (self->n_begun == self->planned->len)
    return;
  for (guint i = 0; i < self->n_begun; i++) {
    const Part *part = self->parts[get_planned (self, i)];

    n_busy += !part->is_read && spdl_arrow_reader_is_busy (part->rows.reader);
  }
  for (; self->n_begun < self->planned->len && n_busy < MAX_BUSY; n_busy++)
    begin_part (self, get_planned (self, self->n_begun++));
}

static guint
count_ahead (const SpdlArrowParts *self, const SpdlReadPlan *plan)
{
  guint64 n_bytes = 0;
  guint n = plan->n_needed;

  for (; n < plan->n_parts && n - plan->n_needed < plan->max_ahead; n++) {
    n_bytes += self->sizes[plan->parts[n]].n_bytes;
    if (n > plan->n_needed && n_bytes > plan->max_ahead_bytes)
      break;
  }
  return n;
}

void
spdl_arrow_parts_plan (SpdlArrowParts *self, const SpdlReadPlan *plan)
{
  GArray *before = self->planned;
  const guint n = count_ahead (self, plan);

  self->plan++;
  self->planned = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_array_append_vals (self->planned, plan->parts, n);
  for (guint i = 0; i < n; i++)
    if (self->parts[plan->parts[i]])
      self->parts[plan->parts[i]]->plan = self->plan;
  drop_others (self, before);
  g_array_unref (before);
  self->n_begun = 0;
  begin_planned (self);
}

static guint
find_part (const SpdlArrowParts *self, guint64 row)
{
  guint begin = 0, end = self->n_parts;

  if (row >= self->firsts[self->last] && row < self->firsts[self->last + 1])
    return self->last;
  while (end - begin > 1) {
    const guint middle = begin + (end - begin) / 2;

    if (self->firsts[middle] <= row)
      begin = middle;
    else
      end = middle;
  }
  return begin;
}

/* Checks that a part has the rows and columns that were announced. */
static gboolean
check_part (
    const SpdlArrowParts *self, const Part *part, guint i, GError **error)
{
  const guint64 n_rows = self->sizes[i].n_rows;

  if (part->rows.n_rows == n_rows &&
      spdl_arrow_rows_hash_columns (&part->rows) == self->columns_hash)
    return TRUE;
  if (part->rows.n_rows != n_rows)
    return spdl_fail (error, GST_RESOURCE_ERROR_READ,
        "\"%s\" has %" G_GUINT64_FORMAT " rows from row %" G_GUINT64_FORMAT
        " on, but had %" G_GUINT64_FORMAT
        " at the start: do not change its files while they are in use",
        self->name, part->rows.n_rows, part->rows.first, n_rows);
  return spdl_fail (error, GST_RESOURCE_ERROR_READ,
      "\"%s\" has other columns from row %" G_GUINT64_FORMAT
      " on than at the start: give all parts the same columns",
      self->name, part->rows.first);
}

/* Waits until a part is read. Returns FALSE with @error set if the wait was
 * cancelled. */
static gboolean
finish_part (SpdlArrowParts *self, Part *part, guint i,
    GCancellable *cancellable, GError **error)
{
  GError *reason = NULL;

  if (part->is_read)
    return TRUE;
  if (spdl_arrow_rows_load (&part->rows, cancellable, &reason))
    check_part (self, part, i, &reason);
  if (g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_CANCELLED)) {
    g_propagate_error (error, reason);
    return FALSE;
  }
  part->error = reason;
  part->is_read = TRUE;
  return TRUE;
}

SpdlArrowRows *
spdl_arrow_parts_find (SpdlArrowParts *self, guint64 row,
    GCancellable *cancellable, GError **error)
{
  const guint i = find_part (self, row);
  Part *part = begin_part (self, i);

  self->last = i;
  begin_planned (self);
  if (!finish_part (self, part, i, cancellable, error))
    return NULL;
  if (part->error)
    g_propagate_error (error, g_error_copy (part->error));
  return part->error ? NULL : &part->rows;
}
