/* gst-spdl: worker processes for the Python package
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/binding/binding.h"

SpdlForkServer *
gst_spdl_binding_fork_server_new (int socket)
{
  return spdl_fork_server_new (socket);
}

void
gst_spdl_binding_fork_server_free (SpdlForkServer *server)
{
  spdl_fork_server_free (server);
}

SpdlProcessLink *
gst_spdl_binding_fork_server_begin (
    SpdlForkServer *server, guint number, gint32 *pid, GError **error)
{
  return spdl_fork_server_begin (server, number, pid, error);
}

gchar *
gst_spdl_binding_fork_server_end (
    SpdlForkServer *server, gint32 pid, gboolean kill_now)
{
  return spdl_fork_server_end (server, pid, kill_now);
}

SpdlProcessPool *
gst_spdl_binding_process_pool_new (SpdlForkServer *server, guint size)
{
  return spdl_process_pool_new (server, size);
}

void
gst_spdl_binding_process_pool_set_server (
    SpdlProcessPool *pool, SpdlForkServer *server)
{
  spdl_process_pool_set_server (pool, server);
}

void
gst_spdl_binding_process_pool_free (SpdlProcessPool *pool)
{
  spdl_process_pool_free (pool);
}

SpdlProcessLink *
gst_spdl_binding_process_link_new (int socket)
{
  return spdl_process_link_new (socket);
}

void
gst_spdl_binding_process_link_free (SpdlProcessLink *link)
{
  spdl_process_link_free (link);
}

int
gst_spdl_binding_process_link_get_socket (SpdlProcessLink *link)
{
  return link->socket;
}

GstSample *
gst_spdl_binding_process_link_alloc (
    SpdlProcessLink *link, gsize size, gpointer *address)
{
  g_autoptr (GstBuffer) buffer = spdl_process_link_alloc (link, size);
  GstSample *sample;

  if (!buffer)
    return NULL;
  sample = gst_sample_new (buffer, NULL, NULL, NULL);
  *address = gst_spdl_binding_sample_get_bytes (sample, &size);
  return sample;
}

gboolean
gst_spdl_binding_process_link_send (
    SpdlProcessLink *link, GstSample *sample, GError **error)
{
  return spdl_process_link_send (link, sample, error);
}

gboolean
gst_spdl_binding_process_link_receive (
    SpdlProcessLink *link, GstSample **sample, GError **error)
{
  return spdl_process_link_receive (link, sample, error);
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
