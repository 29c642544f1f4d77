/* gst-spdl: what the caps of a decoded image keep of the input's
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/result/streamcaps.h"

static const gchar *const fields[] = { "framerate", "pixel-aspect-ratio" };

void
spdl_stream_caps_clear (SpdlStreamCaps *self)
{
  gst_clear_caps (&self->input);
  gst_clear_caps (&self->image);
  gst_clear_caps (&self->result);
}

GstCaps *
spdl_stream_caps_add (SpdlStreamCaps *self, GstCaps *image, GstCaps *input)
{
  const GstStructure *from = NULL;

  if (input == self->input && image == self->image)
    return self->result;
  gst_caps_replace (&self->input, input);
  gst_caps_replace (&self->image, image);
  gst_caps_replace (&self->result, image);
  if (input && gst_caps_is_fixed (input) &&
      gst_structure_has_name (gst_caps_get_structure (image, 0), "video/x-raw"))
    from = gst_caps_get_structure (input, 0);
  for (guint i = 0; from && i < G_N_ELEMENTS (fields); i++) {
    const GValue *value = gst_structure_get_value (from, fields[i]);

    if (!value || !GST_VALUE_HOLDS_FRACTION (value))
      continue;
    self->result = gst_caps_make_writable (self->result);
    gst_caps_set_value (self->result, fields[i], value);
  }
  return self->result;
}
