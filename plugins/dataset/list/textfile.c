/* gst-spdl: memory-mapped text file
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/list/textfile.h"

#include <gst/gst.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "gst/spdl/engine/compat.h"
#include "plugins/common/fingerprint.h"

/* At most 64 MiB stay mapped, counted in windows. For each page that is
 * accessed, the kernel maps 64 KiB, or a whole large folio of the page
 * cache. */
#define WINDOW ((gsize) 65536)
#define MAX_WINDOWS 1024
#define WINDOWS_OF_JUMP 32

#define SETTLED_SECONDS 2
#define N_SAMPLES 32
#define SAMPLE_SIZE 4096

static SpdlStamp
stamp_of (const struct stat *st)
{
  const struct timespec time = spdl_compat_get_mtime (st);

  return (SpdlStamp){ st->st_size, time.tv_sec, time.tv_nsec };
}

/* Returns 0 or an errno. */
static int
map_file (SpdlTextFile *self)
{
  struct stat st;
  void *begin;

  /* O_NONBLOCK: open() must not wait for the writer of a pipe. */
  self->fd = open (self->location, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (self->fd < 0 || fstat (self->fd, &st) != 0)
    return errno;
  if (!S_ISREG (st.st_mode))
    return S_ISDIR (st.st_mode) ? EISDIR : ENODEV;
  self->stamp = stamp_of (&st);
  self->mode = st.st_mode & 0777;
  self->begin = self->end = "";
  if (st.st_size == 0)
    return 0;
  begin = mmap (NULL, st.st_size, PROT_READ, MAP_PRIVATE, self->fd, 0);
  if (begin == MAP_FAILED)
    return errno;
  self->begin = begin;
  self->end = self->begin + st.st_size;
  return 0;
}

gboolean
spdl_text_file_open (SpdlTextFile *self, const gchar *location, GError **error)
{
  int failed;

  *self = (SpdlTextFile){ .location = g_strdup (location), .fd = -1 };
  failed = map_file (self);
  if (failed == 0)
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
      "Failed to read the list \"%s\": %s", location, g_strerror (failed));
  spdl_text_file_close (self);
  return FALSE;
}

void
spdl_text_file_close (SpdlTextFile *self)
{
  if (self->begin != self->end)
    munmap ((void *) self->begin, self->end - self->begin);
  self->begin = self->end = NULL;
  if (self->fd >= 0)
    close (self->fd);
  self->fd = -1;
  g_clear_pointer (&self->location, g_free);
}

gboolean
spdl_text_file_check (const SpdlTextFile *self, GError **error)
{
  g_autofree gchar *sizes = NULL;
  struct stat st;
  SpdlStamp now;

  if (fstat (self->fd, &st) != 0) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "Failed to read the list \"%s\" again: %s", self->location,
        g_strerror (errno));
    return FALSE;
  }
  now = stamp_of (&st);
  if (G_LIKELY (now.size == self->stamp.size &&
                now.seconds == self->stamp.seconds &&
                now.nanoseconds == self->stamp.nanoseconds))
    return TRUE;
  if (now.size != self->stamp.size)
    sizes = g_strdup_printf (" (from %" G_GUINT64_FORMAT
                             " to %" G_GUINT64_FORMAT " bytes)",
        self->stamp.size, now.size);
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
      "The list \"%s\" has changed since it was indexed%s: restart without the "
      "resume state; to replace a list, rename another file to its name",
      self->location, sizes ? sizes : "");
  return FALSE;
}

gboolean
spdl_text_file_is_settled (const SpdlTextFile *self)
{
  struct timespec now;

  clock_gettime (CLOCK_REALTIME, &now);
  return now.tv_sec - self->stamp.seconds > SETTLED_SECONDS;
}

void
spdl_text_file_expect (SpdlTextFile *self, gboolean in_order)
{
  if (self->begin != self->end)
    spdl_compat_expect_order (self->begin, self->end - self->begin, in_order);
}

void
spdl_text_file_forget (SpdlTextFile *self)
{
  self->n_windows = 0;
  if (self->begin != self->end)
    spdl_compat_forget_pages (self->begin, self->end - self->begin);
}

void
spdl_text_file_visit (SpdlTextFile *self, const gchar *from, const gchar *to)
{
  const gsize first = (from - self->begin) / WINDOW;
  const gsize last = (to - self->begin) / WINDOW;

  if (G_LIKELY (first == self->window && last == first))
    return;
  self->n_windows += last - first;
  if (first != self->window)
    self->n_windows += first == self->window + 1 ? 1 : WINDOWS_OF_JUMP;
  self->window = last;
  if (self->n_windows > MAX_WINDOWS)
    spdl_text_file_forget (self);
}

gboolean
spdl_text_file_copy (
    const SpdlTextFile *self, guint64 offset, gsize size, gchar *buffer)
{
  gssize n = 1;

  for (gsize done = 0; done < size && n > 0; done += n)
    do
      n = pread (self->fd, buffer + done, size - done, offset + done);
    while (n < 0 && errno == EINTR);
  return n > 0;
}

static guint64
hash_sample (const SpdlTextFile *self, guint64 hash, guint64 offset)
{
  gchar sample[SAMPLE_SIZE];

  if (!spdl_text_file_copy (self, offset, SAMPLE_SIZE, sample))
    return 0;
  return spdl_fingerprint_add (hash, sample, SAMPLE_SIZE);
}

guint64
spdl_text_file_hash_samples (const SpdlTextFile *self)
{
  const gsize size = self->end - self->begin;
  guint64 hash = 0;

  if (size <= N_SAMPLES * SAMPLE_SIZE)
    return spdl_fingerprint_add (0, self->begin, size);
  for (guint i = 0; i < N_SAMPLES; i++)
    hash = hash_sample (self, hash, (size - SAMPLE_SIZE) / (N_SAMPLES - 1) * i);
  return hash_sample (self, hash, size - SAMPLE_SIZE);
}
