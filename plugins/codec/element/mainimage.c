/* gst-spdl: alignment of the images of a sample
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/element/mainimage.h"

#include <gst/spdl/spdl.h>
#include <stdlib.h>

#include "plugins/codec/resize/orientation.h"

/* Extra fields, after the name of the part and a point. */
#define STORED_WIDTH "stored-width"
#define STORED_HEIGHT "stored-height"
#define ORIENTATION "orientation"
#define SEED "seed"

static const GValue *
find_field (const GstStructure *extra, const gchar *part, const gchar *name)
{
  g_autofree gchar *field = g_strdup_printf ("%s.%s", part, name);

  return extra ? gst_structure_get_value (extra, field) : NULL;
}

/* Functions of applications may have written a number with another type. */
static gboolean
read_number (const GstStructure *extra, const gchar *part, const gchar *name,
    guint64 *number)
{
  const GValue *value = find_field (extra, part, name);
  GValue copy = G_VALUE_INIT;

  if (!value ||
      !g_value_type_transformable (G_VALUE_TYPE (value), G_TYPE_UINT64))
    return FALSE;
  g_value_init (&copy, G_TYPE_UINT64);
  g_value_transform (value, &copy);
  *number = g_value_get_uint64 (&copy);
  return TRUE;
}

static gboolean
read_uint (const GstStructure *extra, const gchar *part, const gchar *name,
    guint least, guint most, guint *number)
{
  guint64 value;

  if (!read_number (extra, part, name, &value) || value < least || value > most)
    return FALSE;
  *number = value;
  return TRUE;
}

static void
get_upright (const SpdlMainImage *self, guint *width, guint *height)
{
  const gboolean swaps = spdl_orientation_swaps_sides (self->orientation);

  *width = swaps ? self->height : self->width;
  *height = swaps ? self->width : self->height;
}

/* Reads the crop and the flip of a part whose size was read. */
static gboolean
read_draw (SpdlMainImage *self, const GstStructure *extra)
{
  const gchar *part = self->part;
  SpdlRectangle *box = &self->box;
  const GValue *flip = find_field (extra, part, "flip");
  guint width, height;

  get_upright (self, &width, &height);
  if (!flip || !G_VALUE_HOLDS_BOOLEAN (flip) ||
      !read_uint (extra, part, "crop-x", 0, width - 1, &box->x) ||
      !read_uint (extra, part, "crop-y", 0, height - 1, &box->y) ||
      !read_uint (extra, part, "crop-width", 1, width - box->x, &box->width) ||
      !read_uint (extra, part, "crop-height", 1, height - box->y, &box->height))
    return FALSE;
  self->flip = g_value_get_boolean (flip);
  return TRUE;
}

/* Reads how @part was decoded. Returns FALSE if it was not decoded, or is
 * not an image. */
static gboolean
read_part (SpdlMainImage *self, const GstStructure *extra, const gchar *part,
    guint64 *seed)
{
  *self = (SpdlMainImage){ .part = part, .was_decoded = TRUE };
  if (!read_uint (
          extra, part, STORED_WIDTH, 1, SPDL_MAX_DECODED_SIDE, &self->width) ||
      !read_uint (extra, part, STORED_HEIGHT, 1, SPDL_MAX_DECODED_SIDE,
          &self->height) ||
      !read_uint (extra, part, ORIENTATION, 1, 8, &self->orientation) ||
      !read_number (extra, part, SEED, seed))
    return FALSE;
  self->is_drawn = read_draw (self, extra);
  return TRUE;
}

/* Returns whether a part may be an encoded image. */
static gboolean
is_encoded (const GstSpdlPart *part)
{
  const gchar *type = part->caps ? gst_structure_get_name (
                                       gst_caps_get_structure (part->caps, 0))
                                 : "image/";

  return part->size > 0 && (g_str_has_prefix (type, "image/") ||
                               g_str_equal (type, "application/octet-stream"));
}

/* Reads the header of a part that is decoded later. */
static gboolean
read_header (SpdlMainImage *self, SpdlItemDecoder *item_decoder,
    const SpdlDecodeConfig *config, GstBuffer *sample, const GstSpdlPart *part)
{
  g_autoptr (GstBuffer) item = NULL;
  SpdlImageHeader header;

  if (!is_encoded (part) ||
      !(item = gst_spdl_buffer_dup_part (sample, part->name)) ||
      !spdl_item_decoder_read_size (
          item_decoder, item, part->caps, config->max_pixels, &header) ||
      header.width > SPDL_MAX_DECODED_SIDE ||
      header.height > SPDL_MAX_DECODED_SIDE)
    return FALSE;
  *self = (SpdlMainImage){ .part = part->name,
    .width = header.width,
    .height = header.height,
    .orientation = header.orientation };
  return TRUE;
}

/* Returns part number @i, with the main part first. */
static const GstSpdlPart *
get_part (GstSpdlPartsMeta *parts, guint i)
{
  const GstSpdlPart *main =
      gst_spdl_parts_meta_find_part (parts, GST_SPDL_MAIN_PART);
  const guint at = main ? main - parts->parts : 0;

  return i == 0 ? &parts->parts[at] : &parts->parts[i <= at ? i - 1 : i];
}

gboolean
spdl_main_image_find (SpdlMainImage *self, SpdlItemDecoder *item_decoder,
    const SpdlDecodeConfig *config, GstBuffer *sample,
    const GstStructure *extra)
{
  GstSpdlPartsMeta *parts = gst_spdl_buffer_get_parts_meta (sample);
  guint64 seed = config->augment.seed;

  for (guint i = 0; parts && i < parts->num_parts; i++) {
    const GstSpdlPart *part = get_part (parts, i);

    if (g_str_equal (part->name, config->part))
      return FALSE;
    if (read_part (self, extra, part->name, &seed) ||
        read_header (self, item_decoder, config, sample, part))
      return seed == config->augment.seed;
  }
  return FALSE;
}

static gboolean
set_unlike (const SpdlMainImage *before, const gchar *what,
    const gchar *properties, GError **error)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "Part \"%s\", which was decoded before with the same seed, has another "
      "%s: set the same %s for both, decode \"%s\" last, or set another seed "
      "if "
      "the parts do not belong together",
      before->part, what, properties, before->part);
  return FALSE;
}

/* Returns whether two places are at most one pixel of the smaller image
 * apart. */
static gboolean
is_near (guint at, guint size, guint other_at, guint other_size)
{
  const gint64 distance = (gint64) at * other_size - (gint64) other_at * size;

  return llabs (distance) <= MAX (size, other_size);
}

static gboolean
is_same_draw (const SpdlMainImage *a, const SpdlMainImage *b)
{
  guint width, height, other_width, other_height;

  get_upright (a, &width, &height);
  get_upright (b, &other_width, &other_height);
  return a->flip == b->flip &&
         is_near (a->box.x, width, b->box.x, other_width) &&
         is_near (a->box.y, height, b->box.y, other_height) &&
         is_near (a->box.x + a->box.width, width, b->box.x + b->box.width,
             other_width) &&
         is_near (a->box.y + a->box.height, height, b->box.y + b->box.height,
             other_height);
}

/* Checks one part that was decoded before. */
static gboolean
check_part (const SpdlMainImage *before, const SpdlDecodeConfig *config,
    const SpdlImageTransform *transform, gboolean *is_whole, GError **error)
{
  const SpdlMainImage own = { .width = transform->width,
    .height = transform->height,
    .orientation = transform->turned,
    .is_drawn = spdl_augment_is_on (&config->augment),
    .box = transform->box,
    .flip = transform->flip };

  if (own.is_drawn && before->is_drawn)
    return is_same_draw (&own, before) ||
           set_unlike (before, "crop or flip",
               "augment, crop-scale, crop-ratio, flip, width and height",
               error);
  if (!spdl_sizes_agree (own.width, own.height, before->width, before->height))
    return TRUE;
  *is_whole |= own.is_drawn != before->is_drawn;
  /* It took the orientation from the header of this image. */
  if (own.orientation != before->orientation &&
      before->orientation == transform->exif_orientation)
    return set_unlike (before, "orientation", "orientation", error);
  return TRUE;
}

gboolean
spdl_main_image_check (const SpdlMainImage *main_image,
    const SpdlDecodeConfig *config, const SpdlImageTransform *transform,
    GstBuffer *sample, const GstStructure *extra, gboolean *is_whole,
    GError **error)
{
  GstSpdlPartsMeta *parts = gst_spdl_buffer_get_parts_meta (sample);
  SpdlMainImage before;
  guint64 seed;

  /* An image that was decoded after the main image took all from it. */
  if (main_image && main_image->was_decoded) {
    if (main_image->is_drawn != spdl_augment_is_on (&config->augment) &&
        spdl_sizes_agree (transform->width, transform->height,
            main_image->width, main_image->height))
      *is_whole = TRUE;
    return TRUE;
  }
  if (main_image)
    return TRUE;
  for (guint i = 0; parts && i < parts->num_parts; i++) {
    const gchar *name = parts->parts[i].name;

    if (!g_str_equal (name, config->part) &&
        read_part (&before, extra, name, &seed) &&
        seed == config->augment.seed &&
        !check_part (&before, config, transform, is_whole, error))
      return FALSE;
  }
  return TRUE;
}

void
spdl_main_image_note (GstStructure *fields, const SpdlDecodeConfig *config,
    const SpdlImageTransform *transform)
{
  gst_structure_set (fields, STORED_WIDTH, G_TYPE_UINT, transform->width,
      STORED_HEIGHT, G_TYPE_UINT, transform->height, ORIENTATION, G_TYPE_UINT,
      transform->turned, SEED, G_TYPE_UINT64, config->augment.seed, NULL);
}
