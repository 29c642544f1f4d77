/* gst-spdl: random-access reader of a shard
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/archive/shardreader.h"

#include <gst/gst.h>

#include <errno.h>
#include <unistd.h>

#include "plugins/common/fail.h"
#include "plugins/common/fingerprint.h"

#define N_SAMPLES 4
#define SAMPLE_SIZE 4096
#define DISK_BLOCK 16384

typedef struct {
  SpdlReader base;
  int fd;
} FileReader;

static gboolean
read_file (
    SpdlReader *base, guint64 offset, gpointer data, gsize size, GError **error)
{
  FileReader *self = (FileReader *) base;
  guint8 *at = data;

  while (size > 0) {
    const gssize n = pread (self->fd, at, size, offset);

    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return spdl_fail (error, GST_RESOURCE_ERROR_READ,
          "Failed to read \"%s\": %s", base->name,
          n < 0 ? g_strerror (errno) : "the file became shorter");
    at += n;
    offset += n;
    size -= n;
  }
  return TRUE;
}

static void
free_file (SpdlReader *base)
{
  FileReader *self = (FileReader *) base;

  if (self->fd >= 0)
    close (self->fd);
  g_free (base->name);
  g_free (self);
}

SpdlReader *
spdl_reader_open_file (const gchar *path, GError **error)
{
  FileReader *self = g_new0 (FileReader, 1);

  self->base = (SpdlReader){ .name = g_strdup (path),
    .block = DISK_BLOCK,
    .read = read_file,
    .free = free_file };
  self->fd = spdl_file_open_stamped (path, &self->base.stamp, &self->base.mode);
  if (self->fd >= 0)
    return &self->base;
  g_set_error (error, GST_RESOURCE_ERROR,
      errno == ENOENT ? GST_RESOURCE_ERROR_NOT_FOUND
                      : GST_RESOURCE_ERROR_OPEN_READ,
      "Failed to read \"%s\": %s", path, g_strerror (errno));
  free_file (&self->base);
  return NULL;
}

void
spdl_reader_free (SpdlReader *self)
{
  self->free (self);
}

gboolean
spdl_reader_read (
    SpdlReader *self, guint64 offset, gpointer data, gsize size, GError **error)
{
  if (offset > self->stamp.size || size > self->stamp.size - offset)
    return spdl_fail (error, GST_RESOURCE_ERROR_READ,
        "\"%s\" ends after %" G_GUINT64_FORMAT " bytes", self->name,
        self->stamp.size);
  return size == 0 || self->read (self, offset, data, size, error);
}

gboolean
spdl_reader_hash_samples (SpdlReader *self, guint64 *hash, GError **error)
{
  const guint64 whole = self->stamp.size;
  const gsize size = MIN (whole, SAMPLE_SIZE);
  guint8 sample[SAMPLE_SIZE];

  *hash = 0;
  for (guint i = 0; i < N_SAMPLES; i++) {
    const guint64 offset = (whole - size) / (N_SAMPLES - 1) * i;

    if (!spdl_reader_read (self, i + 1 < N_SAMPLES ? offset : whole - size,
            sample, size, error))
      return FALSE;
    *hash = spdl_fingerprint_add (*hash, sample, size);
  }
  return TRUE;
}
