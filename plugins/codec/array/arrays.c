/* gst-spdl: arrays of a file, as tensors
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/array/arrays.h"

#include <string.h>

#include "plugins/codec/array/array.h"
#include "plugins/common/zip.h"

/* Maximum length of a name, in bytes. */
#define MAX_NAME 255

struct _SpdlArrays {
  const gchar *members; /* (nullable): interned */
  GStrv wanted;         /* (nullable): the names in it */

  /* The current file. */
  GstBuffer *result;
  GstSpdlTensorsInfo info;
  gchar *names[GST_SPDL_MAX_TENSORS]; /* nullable */
  GError *left_out; /* (nullable): why a member cannot be a tensor */

  /* Caps of the previous file, reused if the next one has the same arrays. */
  GstCaps *caps;
  GstSpdlTensorsInfo last_info;
};

SpdlArrays *
spdl_arrays_new (void)
{
  SpdlArrays *self = g_new0 (SpdlArrays, 1);

  return self;
}

static void
clear_names (SpdlArrays *self)
{
  for (guint i = 0; i < GST_SPDL_MAX_TENSORS; i++)
    g_clear_pointer (&self->names[i], g_free);
}

void
spdl_arrays_free (SpdlArrays *self)
{
  clear_names (self);
  g_clear_error (&self->left_out);
  g_strfreev (self->wanted);
  gst_clear_caps (&self->caps);
  g_free (self);
}

SpdlArraysKind
spdl_arrays_look (const guint8 *data, gsize size)
{
  if (spdl_npy_is_npy (data, size))
    return SPDL_ARRAYS_NPY;
  if (spdl_zip_is_zip (data, size))
    return SPDL_ARRAYS_NPZ;
  if (spdl_safetensors_is_safetensors (data, size))
    return SPDL_ARRAYS_SAFETENSORS;
  return SPDL_ARRAYS_NONE;
}

/* Arrays */

static gboolean
has_room (const SpdlArrays *self, GError **error)
{
  if (self->info.num_tensors < GST_SPDL_MAX_TENSORS)
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "The file has more than %d arrays, the limit for an item: name those to "
      "read in members",
      GST_SPDL_MAX_TENSORS);
  return FALSE;
}

gboolean
spdl_arrays_wants (const SpdlArrays *self, const gchar *name)
{
  return !self->wanted ||
         g_strv_contains ((const gchar *const *) self->wanted, name);
}

gboolean
spdl_arrays_leave_out (SpdlArrays *self, GError **why)
{
  if (self->wanted)
    return FALSE;
  if (self->left_out)
    g_clear_error (why);
  else
    self->left_out = g_steal_pointer (why);
  return TRUE;
}

const GError *
spdl_arrays_get_left_out (const SpdlArrays *self)
{
  return self->left_out;
}

static void
set_members (SpdlArrays *self, const gchar *members)
{
  if (members == self->members)
    return;
  self->members = members;
  g_clear_pointer (&self->wanted, g_strfreev);
  if (members && *members)
    self->wanted = g_strsplit (members, ",", -1);
}

/* Checks that the file has arrays, and all that were asked for. */
static gboolean
check_members (const SpdlArrays *self, GError **error)
{
  for (guint i = 0; self->wanted && self->wanted[i]; i++) {
    gboolean found = FALSE;

    for (guint k = 0; k < self->info.num_tensors; k++)
      found |= g_strcmp0 (self->names[k], self->wanted[i]) == 0;
    if (found)
      continue;
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
        "The file has no array \"%s\", which members names", self->wanted[i]);
    return FALSE;
  }
  if (self->info.num_tensors > 0)
    return TRUE;
  if (self->left_out)
    g_propagate_error (error, g_error_copy (self->left_out));
  else
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
        "The file has no array");
  return FALSE;
}

static gboolean
check_name (const SpdlArrays *self, const SpdlArray *array, GError **error)
{
  const gsize length = strlen (array->name);

  if (length == 0 || length > MAX_NAME) {
    spdl_array_set_error (error, array,
        "has a name of %" G_GSIZE_FORMAT
        " bytes, but names must have 1 to %d bytes",
        length, MAX_NAME);
    return FALSE;
  }
  for (guint i = 0; i < self->info.num_tensors; i++) {
    if (g_strcmp0 (self->names[i], array->name) == 0) {
      spdl_array_set_error (error, array, "appears twice");
      return FALSE;
    }
  }
  return TRUE;
}

/* Returns the part of @place with the array's data, without a copy, or NULL if
 * the memory cannot be shared. */
static GstMemory *
take_part (const SpdlArraysPlace *place, const guint8 *data, gsize size)
{
  const gsize offset = data - place->base;

  if (GST_MEMORY_IS_NO_SHARE (place->memory))
    return NULL;
  if (!place->exclusive)
    return gst_memory_share (place->memory, offset, size);
  gst_memory_resize (place->memory, offset, size);
  return gst_memory_ref (place->memory);
}

static GstMemory *
copy_part (
    const SpdlArray *array, const guint8 *data, gsize size, GError **error)
{
  guint8 *copy = g_try_malloc (size);

  if (!copy) {
    spdl_array_set_no_memory (error, array, size);
    return NULL;
  }
  spdl_array_write (array, data, copy);
  return gst_memory_new_wrapped (0, copy, size, 0, size, copy, g_free);
}

gboolean
spdl_arrays_add (SpdlArrays *self, const SpdlArray *array,
    const SpdlArraysPlace *place, const guint8 *data, GError **error)
{
  GstMemory *part = NULL;
  gsize size;

  if (!spdl_array_get_size (array, &size, error) || !has_room (self, error) ||
      (array->name && !check_name (self, array, error)))
    return FALSE;
  /* Unaligned elements are copied as well, because downstream may access a
   * tensor through a pointer to its element type. Most arrays in NPZ files are
   * unaligned. */
  if (size == 0)
    part = gst_allocator_alloc (NULL, 0, NULL);
  else if (spdl_array_is_plain (array, data))
    part = take_part (place, data, size);
  if (!part && !(part = copy_part (array, data, size, error)))
    return FALSE;
  gst_buffer_append_memory (self->result, part);
  self->names[self->info.num_tensors] = g_strdup (array->name);
  spdl_array_describe (array, &self->info);
  return TRUE;
}

/* Files */

static gboolean
read_npy (SpdlArrays *self, const GstMapInfo *in, GError **error)
{
  const SpdlArraysPlace place = { in->memory, in->data };
  SpdlArray array = { NULL };
  const gsize at = spdl_npy_read (&array, in->data, in->size, error);

  return at > 0 && spdl_arrays_add (self, &array, &place, in->data + at, error);
}

static gboolean
is_as_before (const SpdlArrays *self)
{
  if (!self->caps ||
      memcmp (&self->info, &self->last_info, sizeof self->info) != 0)
    return FALSE;
  for (guint i = 0; i < self->info.num_tensors; i++)
    if (g_strcmp0 (
            gst_spdl_caps_get_tensor_name (self->caps, i), self->names[i]) != 0)
      return FALSE;
  return TRUE;
}

static GstCaps *
get_caps (SpdlArrays *self)
{
  if (is_as_before (self))
    return self->caps;
  gst_clear_caps (&self->caps);
  self->last_info = self->info;
  self->caps = gst_spdl_tensors_info_to_caps (&self->info);
  if (self->names[0])
    gst_spdl_caps_set_tensor_names (
        self->caps, (const gchar *const *) self->names, self->info.num_tensors);
  return self->caps;
}

GstBuffer *
spdl_arrays_decode (SpdlArrays *self, SpdlArraysKind kind, const GstMapInfo *in,
    const gchar *members, guint64 max_decompressed_bytes, GstCaps **caps,
    GError **error)
{
  gboolean ok;

  g_clear_error (&self->left_out);
  set_members (self, members);
  self->result = gst_buffer_new ();
  gst_spdl_tensors_info_init (&self->info);
  if (kind == SPDL_ARRAYS_NPY)
    ok = read_npy (self, in, error);
  else if (kind == SPDL_ARRAYS_NPZ)
    ok = spdl_npz_read (self, in, max_decompressed_bytes, error);
  else
    ok = spdl_safetensors_read (self, in, error);
  ok = ok && (kind == SPDL_ARRAYS_NPY || check_members (self, error));
  if (ok)
    *caps = get_caps (self);
  else
    gst_clear_buffer (&self->result);
  clear_names (self);
  return g_steal_pointer (&self->result);
}
