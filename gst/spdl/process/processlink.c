/* gst-spdl: samples on their way between two processes
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/process/processlink.h"

#include <errno.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "gst/spdl/gstspdlsample.h"
#include "gst/spdl/process/packet.h"
#include "gst/spdl/wire/serializerbuffer.h"

/* Space after a buffer of gst_spdl_process_link_alloc(), for the text. */
#define TEXT_SPACE 4096

typedef enum {
  KIND_NOTHING,
  KIND_FAILURE, /* a string */
  KIND_ITEM,    /* caps, a buffer */
  KIND_GROUP,   /* caps, number of buffers, buffers */
} Kind;

typedef struct {
  guint32 slab;
  guint32 kind;
  guint64 slab_size;
  guint64 text; /* offset in the slab */
  guint64 text_size;
  guint64 cpu_time;
} Message;

static gsize
align (gsize offset)
{
  return (offset + SPDL_SLAB_HEAD - 1) & ~(gsize) (SPDL_SLAB_HEAD - 1);
}

SpdlProcessLink *
gst_spdl_process_link_new (int socket)
{
  SpdlProcessLink *self = g_new0 (SpdlProcessLink, 1);

  self->socket = socket;
  self->text = g_byte_array_new ();
  self->caps_text = g_byte_array_new ();
  spdl_slabs_init (&self->own);
  spdl_slabs_init (&self->other);
  return self;
}

void
gst_spdl_process_link_free (SpdlProcessLink *self)
{
  /* A forked child of this process may have a copy of the socket. */
  shutdown (self->socket, SHUT_RDWR);
  close (self->socket);
  spdl_slabs_clear (&self->own);
  spdl_slabs_clear (&self->other);
  g_byte_array_unref (self->text);
  g_byte_array_unref (self->caps_text);
  gst_clear_caps (&self->caps);
  g_free (self);
}

GstBuffer *
gst_spdl_process_link_alloc (SpdlProcessLink *self, gsize size)
{
  SpdlSlab *slab =
      spdl_slabs_take (&self->own, align (SPDL_SLAB_HEAD + size) + TEXT_SPACE);
  GstBuffer *buffer;

  if (!slab)
    return NULL;
  buffer = gst_buffer_new ();
  gst_buffer_append_memory (
      buffer, spdl_slab_wrap (slab, SPDL_SLAB_HEAD, size));
  return buffer;
}

/* Sending */

static GstBuffer *
get_buffer (GstSample *sample, guint i)
{
  GstBufferList *list = gst_sample_get_buffer_list (sample);

  return list ? gst_buffer_list_get (list, i) : gst_sample_get_buffer (sample);
}

static guint
count_buffers (GstSample *sample)
{
  GstBufferList *list = gst_sample_get_buffer_list (sample);

  return list ? gst_buffer_list_length (list)
              : gst_sample_get_buffer (sample) != NULL;
}

static Kind
get_kind (GstSample *sample)
{
  if (!sample)
    return KIND_NOTHING;
  if (gst_spdl_sample_get_failure (sample))
    return KIND_FAILURE;
  return gst_sample_get_buffer_list (sample) ? KIND_GROUP : KIND_ITEM;
}

/* Returns (transfer none) the slab in which all bytes of @sample lie already,
 * and their offset; NULL if they must be copied. */
static SpdlSlab *
find_in_place (SpdlProcessLink *self, GstSample *sample, gsize *offset)
{
  GstBuffer *buffer = gst_sample_get_buffer (sample);
  SpdlSlab *slab = NULL;
  GstMapInfo map;

  if (gst_sample_get_buffer_list (sample) || !buffer ||
      gst_buffer_n_memory (buffer) != 1 ||
      !gst_buffer_map (buffer, &map, GST_MAP_READ))
    return NULL;
  slab = spdl_slabs_find (&self->own, map.data, map.size);
  if (slab)
    *offset = map.data - slab->data;
  gst_buffer_unmap (buffer, &map);
  /* It may have been sent before. */
  return slab && !spdl_slab_is_lent (slab) ? slab : NULL;
}

/* A part of a text follows its size. */
static guint
begin_part (GByteArray *text)
{
  spdl_put_u32 (text, 0);
  return text->len;
}

static void
end_part (GByteArray *text, guint begin)
{
  spdl_set_u32 (text, begin - sizeof (guint32), text->len - begin);
}

static gboolean
put_caps (GByteArray *text, GstCaps *caps, GError **error)
{
  const guint at = begin_part (text);

  if (!caps)
    return TRUE;
  if (!gst_caps_is_fixed (caps) ||
      !gst_caps_features_is_equal (gst_caps_get_features (caps, 0),
          GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY)) {
    g_autofree gchar *name = gst_caps_to_string (caps);

    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "Items of the format %s cannot be sent to another process: run the "
        "function in threads, without processes",
        name);
    return FALSE;
  }
  spdl_put_caps (text, caps);
  end_part (text, at);
  return TRUE;
}

/* Appends a buffer, whose bytes begin at *@end in the slab, and moves *@end
 * after them. */
static void
put_buffer (GByteArray *text, GstBuffer *buffer, gsize *end)
{
  SpdlPlaces places = { .n_memories = gst_buffer_n_memory (buffer) };
  guint at;

  for (guint i = 0; i < places.n_memories; i++) {
    places.offsets[i] = *end;
    places.sizes[i] =
        gst_memory_get_sizes (gst_buffer_peek_memory (buffer, i), NULL, NULL);
    *end = align (*end + places.sizes[i]);
  }
  at = begin_part (text);
  spdl_put_buffer (text, buffer, &places);
  end_part (text, at);
}

/* Writes the text of a sample whose bytes begin at @offset. Returns the offset
 * after them, 0 with @error set on failure. */
static gsize
put_sample (SpdlProcessLink *self, GstSample *sample, Kind kind, gsize offset,
    GError **error)
{
  GByteArray *text = self->text;

  g_byte_array_set_size (text, 0);
  if (kind == KIND_FAILURE)
    spdl_put_string (text, gst_spdl_sample_get_failure (sample));
  if (kind != KIND_ITEM && kind != KIND_GROUP)
    return offset;
  if (!put_caps (text, gst_sample_get_caps (sample), error))
    return 0;
  spdl_put_u32 (text, count_buffers (sample));
  for (guint i = 0; i < count_buffers (sample); i++)
    put_buffer (text, get_buffer (sample, i), &offset);
  return offset;
}

static gboolean
copy_buffer (GstBuffer *buffer, guint8 *data, gsize *end)
{
  for (guint i = 0; i < gst_buffer_n_memory (buffer); i++) {
    GstMemory *memory = gst_buffer_peek_memory (buffer, i);
    GstMapInfo map;

    if (!gst_memory_map (memory, &map, GST_MAP_READ))
      return FALSE;
    memcpy (data + *end, map.data, map.size);
    *end = align (*end + map.size);
    gst_memory_unmap (memory, &map);
  }
  return TRUE;
}

static gboolean
copy_sample (GstSample *sample, SpdlSlab *slab, GError **error)
{
  gsize end = SPDL_SLAB_HEAD;

  for (guint i = 0; i < count_buffers (sample); i++)
    if (!copy_buffer (get_buffer (sample, i), slab->data, &end)) {
      g_set_error_literal (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
          "Failed to read the memory of an item for another process");
      return FALSE;
    }
  return TRUE;
}

/* Writes @sample into a slab. Returns (transfer none) the slab, and in @message
 * where the text is; NULL with @error set on failure. */
static SpdlSlab *
write_sample (
    SpdlProcessLink *self, GstSample *sample, Message *message, GError **error)
{
  const Kind kind = message->kind;
  gsize begin = SPDL_SLAB_HEAD, end;
  SpdlSlab *slab =
      kind == KIND_ITEM ? find_in_place (self, sample, &begin) : NULL;

  end = put_sample (self, sample, kind, begin, error);
  if (end > 0 && slab &&
      (end > slab->size || self->text->len > slab->size - end)) {
    slab = NULL;
    end = put_sample (self, sample, kind, SPDL_SLAB_HEAD, error);
  }
  if (end == 0)
    return NULL;
  if (!slab) {
    slab = spdl_slabs_take (&self->own, end + self->text->len);
    if (!slab) {
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
          "Failed to get %" G_GSIZE_FORMAT " bytes of shared memory: %s",
          end + self->text->len, g_strerror (errno));
      return NULL;
    }
    if (sample && !copy_sample (sample, slab, error))
      return NULL;
  }
  if (self->text->len > 0)
    memcpy (slab->data + end, self->text->data, self->text->len);
  message->slab = slab->id;
  message->slab_size = slab->size;
  message->text = end;
  message->text_size = self->text->len;
  return slab;
}

static guint64
get_cpu_time (void)
{
  struct timespec time;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * GST_SECOND + time.tv_nsec;
}

gboolean
gst_spdl_process_link_send (
    SpdlProcessLink *self, GstSample *sample, GError **error)
{
  Message message = { .kind = get_kind (sample), .cpu_time = get_cpu_time () };
  SpdlSlab *slab = write_sample (self, sample, &message, error);

  if (!slab)
    return FALSE;
  spdl_slab_lend (slab);
  if (!spdl_packet_send (
          self->socket, &message, sizeof message, slab->fd, error))
    return FALSE;
  if (slab->fd >= 0)
    close (slab->fd);
  slab->fd = -1;
  return TRUE;
}

/* Receiving */

/* Returns (transfer none) (nullable) the caps of a text. */
static GstCaps *
get_caps (SpdlProcessLink *self, SpdlPayload *text)
{
  const guint32 size = spdl_get_u32 (text);
  const guint8 *at = size > 0 ? spdl_get (text, size) : NULL;
  SpdlPayload payload;

  if (!at)
    return NULL;
  if (size == self->caps_text->len && !memcmp (at, self->caps_text->data, size))
    return self->caps;
  payload = spdl_payload (at, size);
  gst_clear_caps (&self->caps);
  g_byte_array_set_size (self->caps_text, 0);
  self->caps = spdl_get_caps (&payload);
  text->broken |= !self->caps || !spdl_payload_is_read (&payload);
  if (!text->broken)
    g_byte_array_append (self->caps_text, at, size);
  return self->caps;
}

/* Returns (transfer full) (nullable) a buffer of memory on @loan. */
static GstBuffer *
get_loan_buffer (SpdlPayload *text, SpdlLoan *loan)
{
  const guint32 size = spdl_get_u32 (text);
  const guint8 *at = spdl_get (text, size);
  SpdlPayload payload = spdl_payload (at, at ? size : 0);
  SpdlPlaces places;
  GstBuffer *buffer = at ? spdl_get_buffer (&payload, &places) : NULL;

  for (guint i = 0; buffer && i < places.n_memories; i++) {
    const guint8 *data =
        spdl_loan_get (loan, places.offsets[i], places.sizes[i]);

    if (data)
      gst_buffer_append_memory (
          buffer, spdl_loan_wrap (loan, data, places.sizes[i]));
    else
      gst_clear_buffer (&buffer);
  }
  text->broken |= !buffer;
  return buffer;
}

static GstSample *
get_content (
    SpdlProcessLink *self, SpdlPayload *text, Kind kind, SpdlLoan *loan)
{
  GstCaps *caps = get_caps (self, text);
  GstSample *sample = gst_sample_new (NULL, caps, NULL, NULL);
  const guint32 n = spdl_get_u32 (text);
  g_autoptr (GstBufferList) list = gst_buffer_list_new ();

  text->broken |= kind == KIND_ITEM && n > 1;
  for (guint32 i = 0; i < n && !text->broken; i++) {
    GstBuffer *buffer = get_loan_buffer (text, loan);

    if (buffer)
      gst_buffer_list_add (list, buffer);
  }
  if (kind == KIND_GROUP)
    gst_sample_set_buffer_list (sample, list);
  else if (gst_buffer_list_length (list) > 0)
    gst_sample_set_buffer (sample, gst_buffer_list_get (list, 0));
  return sample;
}

/* Returns (transfer full) (nullable) the sample of a text. */
static GstSample *
get_sample (
    SpdlProcessLink *self, SpdlPayload *text, guint32 kind, SpdlLoan *loan)
{
  g_autofree gchar *failure = NULL;

  switch (kind) {
    case KIND_NOTHING:
      return NULL;
    case KIND_FAILURE:
      failure = spdl_get_string (text);
      text->broken |= !failure;
      return failure ? gst_spdl_sample_new_failed (failure) : NULL;
    case KIND_ITEM:
    case KIND_GROUP:
      return get_content (self, text, kind, loan);
    default:
      text->broken = TRUE;
      return NULL;
  }
}

gboolean
gst_spdl_process_link_receive (
    SpdlProcessLink *self, GstSample **sample, GError **error)
{
  Message message;
  SpdlPayload text;
  SpdlLoan *loan;
  int fd;

  *sample = NULL;
  if (!spdl_packet_receive (self->socket, &message, sizeof message, &fd, error))
    return FALSE;
  loan = spdl_slabs_borrow (
      &self->other, message.slab, message.slab_size, fd, error);
  if (!loan)
    return FALSE;
  self->cpu_time = message.cpu_time;
  text = spdl_payload (
      spdl_loan_get (loan, message.text, message.text_size), message.text_size);
  text.broken = !text.at;
  *sample = get_sample (self, &text, message.kind, loan);
  spdl_loan_unref (loan);
  if (spdl_payload_is_read (&text))
    return TRUE;
  g_clear_pointer (sample, gst_sample_unref);
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
      "Another process sent an invalid item");
  return FALSE;
}
