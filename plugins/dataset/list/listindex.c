/* gst-spdl: where the items of a list are
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/list/listindex.h"

struct _SpdlIndex {
  guint64 n_items;
  guint shift;
  guint n_entries;
  guint n_room;
  guint max_entries;
  gpointer memory;      /* that of the offsets */
  guint64 *offsets;     /* only written while items are added */
  SpdlClasses *classes; /* nullable */
};

SpdlIndex *
spdl_index_new (guint max_entries)
{
  SpdlIndex *self = g_new0 (SpdlIndex, 1);

  self->shift = SPDL_INDEX_FIRST_SHIFT;
  self->max_entries = max_entries;
  return self;
}

SpdlIndex *
spdl_index_new_from_memory (
    gpointer memory, const guint64 *offsets, guint64 n_items, guint shift)
{
  SpdlIndex *self = g_new0 (SpdlIndex, 1);

  self->n_items = n_items;
  self->shift = shift;
  self->n_entries = ((n_items - 1) >> shift) + 1;
  self->memory = memory;
  self->offsets = (guint64 *) offsets;
  return self;
}

void
spdl_index_free (SpdlIndex *self)
{
  g_clear_pointer (&self->classes, spdl_classes_free);
  g_free (self->memory);
  g_free (self);
}

static void
drop_every_other (SpdlIndex *self)
{
  self->n_entries /= 2;
  for (guint i = 1; i < self->n_entries; i++)
    self->offsets[i] = self->offsets[2 * i];
  self->shift++;
}

static void
add_entry (SpdlIndex *self, guint64 offset)
{
  if (self->n_entries == self->max_entries)
    drop_every_other (self);
  if (self->n_entries == self->n_room) {
    self->n_room = CLAMP (2 * self->n_room, 2, self->max_entries);
    self->memory = g_renew (guint64, self->memory, self->n_room);
    self->offsets = self->memory;
  }
  self->offsets[self->n_entries++] = offset;
}

void
spdl_index_add (SpdlIndex *self, guint64 offset)
{
  if ((self->n_items & ((G_GUINT64_CONSTANT (1) << self->shift) - 1)) == 0)
    add_entry (self, offset);
  self->n_items++;
}

guint64
spdl_index_get_size (const SpdlIndex *self)
{
  return self->n_items;
}

void
spdl_index_set_classes (SpdlIndex *self, SpdlClasses *classes)
{
  g_clear_pointer (&self->classes, spdl_classes_free);
  self->classes = classes;
}

const SpdlClasses *
spdl_index_get_classes (const SpdlIndex *self)
{
  return self->classes;
}

guint
spdl_index_get_shift (const SpdlIndex *self)
{
  return self->shift;
}

const guint64 *
spdl_index_get_offsets (const SpdlIndex *self, guint *n)
{
  *n = self->n_entries;
  return self->offsets;
}

guint64
spdl_index_find (
    const SpdlIndex *self, guint64 i, guint64 *offset, guint64 *end)
{
  const guint64 entry = i >> self->shift;

  g_return_val_if_fail (i < self->n_items, 0);

  *offset = self->offsets[entry];
  *end = entry + 1 < self->n_entries ? self->offsets[entry + 1] : G_MAXUINT64;
  return i >> self->shift << self->shift;
}
