/* gst-spdl: collation of items into the tensors of a batch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/batch/batchbuilder.h"

#include <string.h>

#include "gst/spdl/tensor/audiocaps.h"
#include "plugins/core/batch/batchmix.h"

static gboolean
init_video (SpdlCollator *self, const GstCaps *caps, GError **error)
{
  if (!gst_video_info_from_caps (&self->video, caps)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The caps do not describe a raw image");
    return FALSE;
  }

  const gboolean is_wide = GST_VIDEO_INFO_COMP_DEPTH (&self->video, 0) > 8;
  const guint32 dims[] = { GST_VIDEO_INFO_COMP_PSTRIDE (&self->video, 0) >>
                               is_wide,
    GST_VIDEO_INFO_WIDTH (&self->video), GST_VIDEO_INFO_HEIGHT (&self->video) };
  self->is_video = TRUE;
  gst_spdl_tensors_info_init (&self->info);
  gst_spdl_tensors_info_add (&self->info,
      is_wide ? GST_SPDL_TENSOR_UINT16 : GST_SPDL_TENSOR_UINT8, 3, dims);
  return TRUE;
}

static gboolean
init_audio (SpdlCollator *self, const GstStructure *s, GError **error)
{
  guint32 dims[] = { 0, 1 };
  GstSpdlTensorType type;

  if (!gst_spdl_read_audio_caps (s, &type, &dims[0])) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The caps do not describe interleaved audio of a supported sample "
        "type");
    return FALSE;
  }
  gst_spdl_tensors_info_init (&self->info);
  gst_spdl_tensors_info_add (&self->info, type, G_N_ELEMENTS (dims), dims);
  self->n_channels = dims[0];
  self->moment = gst_spdl_tensor_info_get_size (&self->info.tensors[0]);
  return TRUE;
}

static gboolean
has_rank_to_spare (const GstSpdlTensorsInfo *info, GError **error)
{
  for (guint i = 0; i < info->num_tensors; i++) {
    if (info->tensors[i].rank < GST_SPDL_MAX_RANK)
      continue;
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The items have %d dimensions, which leaves none for the batch",
        GST_SPDL_MAX_RANK);
    return FALSE;
  }
  return TRUE;
}

static gboolean
sample_of (GstSpdlTensorType type, SpdlSample *sample)
{
  *sample =
      type == GST_SPDL_TENSOR_FLOAT32 ? SPDL_SAMPLE_FLOAT32 : SPDL_SAMPLE_UINT8;
  return type == GST_SPDL_TENSOR_FLOAT32 || type == GST_SPDL_TENSOR_UINT8;
}

static SpdlSample
sample_wanted (const SpdlCollateSettings *settings, SpdlSample in)
{
  switch (settings->type) {
    case SPDL_COLLATE_DTYPE_UINT8:
      return SPDL_SAMPLE_UINT8;
    case SPDL_COLLATE_DTYPE_FLOAT16:
      return SPDL_SAMPLE_FLOAT16;
    case SPDL_COLLATE_DTYPE_FLOAT32:
      return SPDL_SAMPLE_FLOAT32;
    default:
      return in;
  }
}

/* Changes the dimensions (channels, columns, rows), innermost first, to
 * (columns, rows, channels). */
static void
move_channels_out (GstSpdlTensorInfo *tensor)
{
  const guint32 n_channels = tensor->dims[0];

  tensor->dims[0] = tensor->dims[1];
  tensor->dims[1] = tensor->dims[2];
  tensor->dims[2] = n_channels;
}

/* Initializes the conversion of the first tensor, and updates the tensor's
 * description. */
static gboolean
init_convert (
    SpdlCollator *self, const SpdlCollateSettings *settings, GError **error)
{
  static const GstSpdlTensorType types[] = { GST_SPDL_TENSOR_UINT8,
    GST_SPDL_TENSOR_FLOAT16, GST_SPDL_TENSOR_FLOAT32 };
  GstSpdlTensorInfo *tensor = &self->info.tensors[0];
  const gboolean planar = settings->layout == SPDL_COLLATE_LAYOUT_NCHW;
  const guint n_channels = tensor->rank > 0 ? MAX (tensor->dims[0], 1) : 1;
  SpdlSample in, out;

  if (settings->type == SPDL_COLLATE_DTYPE_AS_IS && !planar &&
      settings->n_mean == 0 && settings->n_std == 0)
    return TRUE;
  if (!sample_of (tensor->type, &in) ||
      (planar && tensor->rank < 3 && self->n_channels == 0)) {
    g_autofree gchar *text = gst_spdl_tensor_info_to_string (tensor);

    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "Items of %s cannot be converted: dtype, mean and std need uint8 or "
        "float32, layout=nchw needs audio or at least 3 dimensions",
        text);
    return FALSE;
  }
  out = sample_wanted (settings, in);
  if (!spdl_convert_init (&self->convert, in, out, n_channels, planar,
          settings->mean, settings->n_mean, settings->std, settings->n_std,
          error))
    return FALSE;

  self->converts = TRUE;
  self->in_size = gst_spdl_tensor_info_get_size (tensor);
  self->n_frames = 1;
  for (guint i = 3; i < tensor->rank; i++)
    self->n_frames *= MAX (tensor->dims[i], 1);
  self->n_pixels =
      self->in_size / spdl_sample_get_size (in) / n_channels / self->n_frames;
  tensor->type = types[out];
  if (planar && self->n_channels == 0)
    move_channels_out (tensor);
  return TRUE;
}

static gboolean
has_type (const GstCaps *caps, const gchar *type)
{
  for (guint i = 0; i < gst_caps_get_size (caps); i++)
    if (gst_structure_has_name (gst_caps_get_structure (caps, i), type))
      return TRUE;
  return FALSE;
}

gboolean
spdl_collator_check_caps (const GstCaps *caps, GstPad *pad, GError **error)
{
  const gchar *type = gst_structure_get_name (gst_caps_get_structure (caps, 0));
  g_autoptr (GstCaps) known = gst_pad_get_pad_template_caps (pad);
  g_autofree gchar *text = NULL;

  if (gst_caps_is_subset (caps, known))
    return TRUE;
  if (!has_type (known, type)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
        "Items of type %s cannot be stacked, because they are not decoded: "
        "write \"! %sspdldecode !\", or another decoder, before spdlbatch",
        type, g_str_equal (type, "text/uri-list") ? "spdlfetch ! " : "");
    return FALSE;
  }
  text = gst_caps_to_string (caps);
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "Items of the format %s cannot be stacked: write \"! videoconvert !\", "
      "\"! audioconvert !\" or another converter before spdlbatch",
      text);
  return FALSE;
}

gboolean
spdl_collator_init (SpdlCollator *self, const GstCaps *caps,
    const SpdlCollateSettings *settings, GError **error)
{
  const GstStructure *s = gst_caps_get_structure (caps, 0);
  gboolean ok;

  memset (self, 0, sizeof *self);
  if (gst_structure_has_name (s, "video/x-raw"))
    ok = init_video (self, caps, error);
  else if (gst_structure_has_name (s, "audio/x-raw"))
    ok = init_audio (self, s, error);
  else
    ok = gst_spdl_tensors_info_from_caps (&self->info, caps, error) &&
         has_rank_to_spare (&self->info, error);
  for (guint i = 0; ok && i < self->info.num_tensors; i++)
    self->names[i] = g_intern_string (gst_spdl_caps_get_tensor_name (caps, i));
  return ok && init_convert (self, settings, error);
}

gboolean
spdl_collator_measure (SpdlCollator *self, GstBuffer *item, GError **error)
{
  const gboolean planar = self->converts && self->convert.planar;
  GstSpdlTensorInfo *tensor = &self->info.tensors[0];
  gsize n;

  if (self->n_channels == 0)
    return TRUE;
  n = gst_buffer_get_size (item) / self->moment;
  if (n == 0 || n > G_MAXINT32) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "Item has %" G_GSIZE_FORMAT " samples", n);
    return FALSE;
  }
  tensor->dims[planar ? 1 : 0] = self->n_channels;
  tensor->dims[planar ? 0 : 1] = n;
  self->in_size = n * self->moment;
  self->n_pixels = n;
  return TRUE;
}

static gboolean
too_small (GError **error, guint tensor, gsize size, gsize needed)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "Tensor %u has %" G_GSIZE_FORMAT
      " bytes, but its shape needs %" G_GSIZE_FORMAT,
      tensor, size, needed);
  return FALSE;
}

/* Copies rows of an image with conversion. */
static void
write_rows (const SpdlCollator *self, const guint8 *in, gsize stride,
    guint n_rows, guint width, guint8 *out)
{
  const SpdlConvert *convert = &self->convert;
  const gsize out_row = (gsize) width * spdl_sample_get_size (convert->out) *
                        (convert->planar ? 1 : convert->n_channels);

  for (guint y = 0; y < n_rows; y++)
    spdl_convert_write (
        convert, in + y * stride, out + y * out_row, width, self->n_pixels);
}

/* Writing. The caller's thread checks and maps an item; writing its tensor,
 * which takes the time, cannot fail. */

typedef struct {
  SpdlGuestWork work;
  const SpdlMixSettings *mix;
  const SpdlCollator *collator;
  GstBuffer *item;
  GstMapInfo map;
  gsize offset; /* of the first row in the map */
  gsize stride; /* of an image */
  guint8 *place;
} SpdlCollation;

void
spdl_collations_init (SpdlCollations *self, GstSpdlPlainStats *stats)
{
  *self = (SpdlCollations){ 0 };
  spdl_batch_workers_init (&self->workers, stats);
  self->all = g_ptr_array_new_with_free_func (g_free);
}

void
spdl_collations_clear (SpdlCollations *self)
{
  spdl_batch_workers_clear (&self->workers);
  g_ptr_array_unref (self->all);
}

void
spdl_collations_wait (SpdlCollations *self)
{
  spdl_batch_workers_wait (&self->workers);
  self->n_used = 0;
}

static void
write_image (
    const SpdlCollator *self, const guint8 *in, gsize stride, guint8 *place)
{
  const guint width = GST_VIDEO_INFO_WIDTH (&self->video);
  const guint n_rows = GST_VIDEO_INFO_HEIGHT (&self->video);
  const gsize row =
      (gsize) GST_VIDEO_INFO_COMP_PSTRIDE (&self->video, 0) * width;

  if (self->converts)
    write_rows (self, in, stride, n_rows, width, place);
  else if (stride == row)
    memcpy (place, in, row * n_rows);
  else
    for (guint y = 0; y < n_rows; y++)
      memcpy (place + y * row, in + y * stride, row);
}

static void
write_frames (const SpdlCollator *self, const guint8 *in, guint8 *place)
{
  const gsize in_frame = self->in_size / self->n_frames;
  const gsize out_frame =
      gst_spdl_tensor_info_get_size (&self->info.tensors[0]) / self->n_frames;

  for (guint i = 0; i < self->n_frames; i++)
    spdl_convert_write (&self->convert, in + i * in_frame,
        place + i * out_frame, self->n_pixels,
        self->plane > 0 ? self->plane : self->n_pixels);
}

static void
write_and_unmap (SpdlCollation *self)
{
  const guint8 *in = self->map.data + self->offset;

  if (self->collator->is_video)
    write_image (self->collator, in, self->stride, self->place);
  else
    write_frames (self->collator, in, self->place);
  if (self->mix->erase_prob > 0)
    spdl_mix_erase (self->mix, self->collator,
        gst_spdl_buffer_get_item_meta (self->item),
        (float *) (gpointer) self->place);
  gst_buffer_unmap (self->item, &self->map);
}

/* Implements SpdlGuestWork. */
static void
run_collation (SpdlGuestWork *work)
{
  SpdlCollation *self = (SpdlCollation *) work;

  write_and_unmap (self);
  gst_clear_buffer (&self->item);
}

/* Sizes in bytes from which handing an item to another thread costs less than
 * a tenth of writing it. */
#define MIN_CONVERTED (64 * 1024)
#define MIN_COPIED (128 * 1024)

static gboolean
is_worth_a_thread (const SpdlCollator *self)
{
  const gsize size = gst_spdl_tensor_info_get_size (&self->info.tensors[0]);

  /* The collator of audio changes with each item. */
  return self->n_channels == 0 &&
         size >= (self->converts ? MIN_CONVERTED : MIN_COPIED);
}

/* Writes a mapped tensor, here or in a thread of the stage before. */
static void
write_mapped (SpdlCollations *self, SpdlCollation *mapped)
{
  SpdlCollation *kept;

  if (!spdl_batch_workers_are_there (&self->workers) || self->is_last ||
      !is_worth_a_thread (mapped->collator)) {
    write_and_unmap (mapped);
    return;
  }
  if (self->n_used == self->all->len)
    g_ptr_array_add (self->all, g_new (SpdlCollation, 1));
  kept = g_ptr_array_index (self->all, self->n_used++);
  *kept = *mapped;
  kept->work.run = run_collation;
  gst_buffer_ref (kept->item);
  spdl_batch_workers_give (&self->workers, &kept->work);
}

/* Sets the offset and the stride of an image, whose stride may be larger than
 * its width; by default it is a multiple of 4 bytes. Returns its size in
 * bytes. */
static gsize
find_rows (SpdlCollation *self)
{
  const GstVideoInfo *video = &self->collator->video;
  const GstVideoMeta *meta = gst_buffer_get_video_meta (self->item);
  const gsize row = (gsize) GST_VIDEO_INFO_COMP_PSTRIDE (video, 0) *
                    GST_VIDEO_INFO_WIDTH (video);

  self->stride =
      meta ? meta->stride[0] : GST_VIDEO_INFO_PLANE_STRIDE (video, 0);
  self->offset =
      meta ? meta->offset[0] : GST_VIDEO_INFO_PLANE_OFFSET (video, 0);
  return self->offset + self->stride * (GST_VIDEO_INFO_HEIGHT (video) - 1) +
         row;
}

/* Returns TRUE if each tensor has its own memory; otherwise the tensors are
 * contiguous. */
static gboolean
lie_apart (const SpdlCollator *self, GstBuffer *item)
{
  return self->info.num_tensors > 1 &&
         gst_buffer_n_memory (item) == self->info.num_tensors;
}

/* Writes the image, or the first tensor with conversion. */
static gboolean
write_first (const SpdlCollator *self, GstBuffer *item, guint8 *place,
    SpdlCollations *collations, GError **error)
{
  SpdlCollation mapped = {
    .mix = &collations->mix, .collator = self, .item = item, .place = place
  };
  const gsize needed = self->is_video ? find_rows (&mapped) : self->in_size;

  if (!gst_buffer_map_range (item, 0, lie_apart (self, item) ? 1 : -1,
          &mapped.map, GST_MAP_READ)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "Failed to map the item's memory");
    return FALSE;
  }
  if (mapped.map.size < needed) {
    const gsize size = mapped.map.size;

    gst_buffer_unmap (item, &mapped.map);
    return too_small (error, 0, size, needed);
  }
  write_mapped (collations, &mapped);
  return TRUE;
}

static gboolean
write_tensors (const SpdlCollator *self, GstBuffer *item, guint8 *const *places,
    SpdlCollations *collations, GError **error)
{
  const gboolean apart = lie_apart (self, item);
  const gsize all = gst_buffer_get_size (item);
  gsize skip = 0;

  for (guint i = 0; i < self->info.num_tensors; i++) {
    const gboolean converts = i == 0 && self->converts;
    const gsize needed =
        converts ? self->in_size
                 : gst_spdl_tensor_info_get_size (&self->info.tensors[i]);
    const gsize size = apart ? gst_memory_get_sizes (
                                   gst_buffer_peek_memory (item, i), NULL, NULL)
                             : all - skip;

    if (size < needed)
      return too_small (error, i, size, needed);
    if (!converts)
      gst_buffer_extract (item, skip, places[i], needed);
    else if (!write_first (self, item, places[0], collations, error))
      return FALSE;
    skip += apart ? size : needed;
  }
  return TRUE;
}

gboolean
spdl_collator_write (const SpdlCollator *self, GstBuffer *item,
    guint8 *const *places, SpdlCollations *collations, GError **error)
{
  if (self->is_video)
    return write_first (self, item, places[0], collations, error);
  return write_tensors (self, item, places, collations, error);
}

/* Returns advice for error messages: how to make items equal in shape. */
static const gchar *
get_remedy (const SpdlCollator *item)
{
  if (item->n_channels > 0)
    return "duration, rate and channels on spdldecode, or pad-to-longest=true "
           "on "
           "spdlbatch";
  /* Images are not padded. */
  if (item->is_video || (item->converts && item->convert.planar))
    return "width and height on spdldecode";
  return "width and height on spdldecode for images and video, or "
         "pad-to-longest=true on "
         "spdlbatch for items of unequal length";
}

gboolean
spdl_collator_is_compatible (
    const SpdlCollator *self, const SpdlCollator *item, GError **error)
{
  if (self->info.num_tensors != item->info.num_tensors) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "Item has %u tensors, but its batch began with items of %u: give all "
        "items the same tensors, or set " SPDL_SKIP_HINT,
        item->info.num_tensors, self->info.num_tensors);
    return FALSE;
  }
  for (guint i = 0; i < self->info.num_tensors; i++) {
    if (self->names[i] != item->names[i]) {
      g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
          "Tensor %u of the item is named \"%s\", but its batch began with "
          "\"%s\": give all items the same tensors, or set " SPDL_SKIP_HINT,
          i, item->names[i] ? item->names[i] : "",
          self->names[i] ? self->names[i] : "");
      return FALSE;
    }
    if (gst_spdl_tensor_info_is_equal (
            &self->info.tensors[i], &item->info.tensors[i]))
      continue;
    g_autofree gchar *mine =
        gst_spdl_tensor_info_to_string (&self->info.tensors[i]);
    g_autofree gchar *its =
        gst_spdl_tensor_info_to_string (&item->info.tensors[i]);
    g_autofree gchar *tensor =
        item->names[i] ? g_strdup_printf ("Tensor \"%s\"", item->names[i])
                       : g_strdup ("Item");
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "%s is %s, but its batch began with %s: set %s, so that all items have "
        "one shape, or " SPDL_SKIP_HINT,
        tensor, its, mine, get_remedy (item));
    return FALSE;
  }
  return TRUE;
}
