/* gst-spdl: worker processes for the Python package
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/binding/binding.h"

int
gst_spdl_binding_process_link_get_socket (SpdlProcessLink *link)
{
  return link->socket;
}

GstSample *
gst_spdl_binding_process_link_alloc (
    SpdlProcessLink *link, gsize size, gpointer *address)
{
  g_autoptr (GstBuffer) buffer = gst_spdl_process_link_alloc (link, size);
  GstSample *sample;

  if (!buffer)
    return NULL;
  sample = gst_sample_new (buffer, NULL, NULL, NULL);
  *address = gst_spdl_binding_sample_get_bytes (sample, &size);
  return sample;
}

gpointer
gst_spdl_binding_sample_get_bytes (GstSample *sample, gsize *size)
{
  GstBuffer *buffer = gst_sample_get_buffer (sample);
  GstMapInfo map;

  if (!buffer || gst_buffer_n_memory (buffer) != 1 ||
      !gst_buffer_map (buffer, &map, GST_MAP_READ))
    return NULL;
  *size = map.size;
  /* Mapping shared memory does nothing. */
  gst_buffer_unmap (buffer, &map);
  return map.data;
}
