/* gst-spdl: planes of a JPEG
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "plugins/codec/jpeg/jpeg-private.h"
#include "plugins/codec/jpeg/libjpeg.h"

/* Whether samples of a component are as large as two pixels in a direction, as
 * the decoder's fancy upsampling has it; FALSE in @is_known if as more. */
static gboolean
is_half (const SpdlJpeg *self, int max_factor, int factor, int block_side,
    gboolean *is_known)
{
  const gint whole = max_factor * LEAST_BLOCK_SIDE (&self->cinfo);
  const gint part = factor * block_side;

  if (whole != part && whole != part * 2)
    *is_known = FALSE;
  return whole != part;
}

gboolean
spdl_jpeg_get_sampling (SpdlJpeg *self, SpdlSampling *sampling)
{
  struct jpeg_decompress_struct *cinfo = &self->cinfo;
  gboolean is_known = TRUE;

  if (cinfo->jpeg_color_space != JCS_YCbCr &&
      cinfo->jpeg_color_space != JCS_GRAYSCALE)
    return FALSE;
  if (setjmp (self->on_error) != 0)
    return FALSE;
  jpeg_calc_output_dimensions (cinfo);
  sampling->n_planes = cinfo->num_components;
  for (gint i = 0; i < cinfo->num_components; i++) {
    const jpeg_component_info *component = cinfo->comp_info + i;
    const gint side = BLOCK_SIDE (component);

    sampling->half_x[i] = is_half (self, cinfo->max_h_samp_factor,
        component->h_samp_factor, side, &is_known);
    sampling->half_y[i] = is_half (self, cinfo->max_v_samp_factor,
        component->v_samp_factor, side, &is_known);
    /* The decoder repeats what is so small. */
    if (LEAST_BLOCK_SIDE (cinfo) == 1 || component->downsampled_width <= 2)
      is_known &= !sampling->half_x[i] && !sampling->half_y[i];
  }
  return is_known;
}

/* The iMCUs that count, as rows of planes. */
static void
set_imcus (SpdlJpeg *self, const SpdlPlanes *planes)
{
  const struct jpeg_decompress_struct *cinfo = &self->cinfo;
  Imcus *imcus = &self->imcus;

  imcus->n_planes = cinfo->num_components;
  imcus->n_lines = cinfo->max_v_samp_factor * LEAST_BLOCK_SIDE (cinfo);
  imcus->begin = planes->y_begin / imcus->n_lines;
  imcus->end = (planes->y_end + imcus->n_lines - 1) / imcus->n_lines;
  imcus->next = 0;
  for (guint i = 0; i < imcus->n_planes; i++) {
    const jpeg_component_info *component = cinfo->comp_info + i;
    const gint side = BLOCK_SIDE (component);

    imcus->n_rows[i] = component->v_samp_factor * side;
    imcus->widths[i] = component->width_in_blocks * side;
    imcus->skips[i] = 0;
  }
}

/* Fills the next iMCUs. */
static void
fill_imcus (SpdlJpeg *self, const SpdlPlanes *planes)
{
  const Imcus *imcus = &self->imcus;

  for (guint i = 0; i < imcus->n_planes; i++)
    for (guint k = 0; k < imcus->n_rows[i]; k++)
      memset (planes->get_row (
                  planes->user_data, i, imcus->next * imcus->n_rows[i] + k),
          planes->missing[i], imcus->widths[i]);
}

static void
imcus_done (SpdlJpeg *self, const SpdlPlanes *planes)
{
  Imcus *imcus = &self->imcus;

  imcus->next++;
  for (guint i = 0; i < imcus->n_planes; i++)
    planes->rows_done (planes->user_data, i, imcus->next * imcus->n_rows[i]);
}

/* Leaves out the columns that do not count, by whole iMCUs. libjpeg-turbo does
 * so in planes as well, but does not let itself be asked in that state. Less
 * than some pixels would make it set up its upsampling, which is not there. */
static void
crop_planes (SpdlJpeg *self, const SpdlPlanes *planes)
{
  struct jpeg_decompress_struct *cinfo = &self->cinfo;
  const guint n_least = 2 * MAX_SAMP_FACTOR;
  JDIMENSION begin = planes->x_begin, width = planes->x_end - begin;

  if (cinfo->global_state != SPDL_LIBJPEG_RAW_OK ||
      cinfo->output_width < n_least)
    return;
  begin = MIN (begin, cinfo->output_width - n_least);
  width = MAX (planes->x_end, begin + n_least) - begin;
  cinfo->global_state = SPDL_LIBJPEG_SCANNING;
  spdl_jpeg_crop_columns (self, &begin, &width);
  cinfo->global_state = SPDL_LIBJPEG_RAW_OK;
  for (gint i = 0; i < cinfo->num_components; i++) {
    const jpeg_component_info *component = cinfo->comp_info + i;

    self->imcus.skips[i] =
        begin * component->h_samp_factor * BLOCK_SIDE (component) /
        (cinfo->max_h_samp_factor * LEAST_BLOCK_SIDE (cinfo));
  }
}

/* Blocks in rows that do not count are read, but not transformed. */
static void
need_blocks (SpdlJpeg *self, gboolean need)
{
  for (gint i = 0; i < self->cinfo.num_components; i++)
    self->cinfo.comp_info[i].component_needed = need;
}

/* Reads the next iMCUs; after an error does not return. */
static void
read_imcus (SpdlJpeg *self, const SpdlPlanes *planes)
{
  const Imcus *imcus = &self->imcus;
  JSAMPROW places[SPDL_PLANES][MAX_ROWS];
  JSAMPARRAY components[SPDL_PLANES];

  for (guint i = 0; i < imcus->n_planes; i++) {
    components[i] = places[i];
    for (guint k = 0; k < imcus->n_rows[i]; k++)
      places[i][k] = planes->get_row (planes->user_data, i,
                         imcus->next * imcus->n_rows[i] + k) +
                     imcus->skips[i];
  }
  need_blocks (self, imcus->next >= imcus->begin);
  jpeg_read_raw_data (&self->cinfo, components, imcus->n_lines);
  if (self->lost != 0 && imcus->next * imcus->n_lines >= self->missing_from)
    fill_imcus (self, planes);
  imcus_done (self, planes);
}

gboolean
spdl_jpeg_read_planes (
    SpdlJpeg *self, const SpdlPlanes *planes, gboolean keep, GError **error)
{
  Imcus *imcus = &self->imcus;

  set_imcus (self, planes);
  if (setjmp (self->on_error) != 0) {
    spdl_jpeg_give_up (self, error);
    for (; keep && imcus->next < imcus->end; imcus_done (self, planes))
      fill_imcus (self, planes);
    return FALSE;
  }
  self->cinfo.raw_data_out = TRUE;
  spdl_jpeg_start (self);
  crop_planes (self, planes);
  while (imcus->next < imcus->end && (keep || self->lost == 0))
    read_imcus (self, planes);
  if (self->lost != 0)
    return spdl_jpeg_give_up (self, error);
  jpeg_abort_decompress (&self->cinfo);
  return TRUE;
}
