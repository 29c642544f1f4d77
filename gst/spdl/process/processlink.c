/* gst-spdl: samples on their way between two processes
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/process/processlink.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gst/spdl/gstspdlsample.h"
#include "gst/spdl/process/packet.h"
#include "gst/spdl/wire/serializerbuffer.h"

/* Space after a buffer of gst_spdl_process_link_alloc(), for the text. */
#define TEXT_SPACE 4096
/* A copy of fewer bytes takes less time than to keep account of a slab. */
#define MIN_SHARED 16384
/* Names of slabs in a text: of the message itself, or an ID, with this bit of a
 * slab that the receiver knows as its own or has forwarded. */
#define SLAB_OF_MESSAGE G_MAXUINT32
#define IS_RECEIVERS (1u << 31)

typedef enum {
  KIND_NOTHING,
  KIND_FAILURE, /* a string */
  KIND_ITEM,    /* caps, a buffer */
  KIND_GROUP,   /* caps, number of buffers, buffers */
  KIND_SLAB, /* no text: a slab of a third process, used by the next message */
} Kind;

typedef struct {
  guint32 slab;
  guint32 kind;
  guint64 slab_size;
  guint64 text; /* offset in the slab */
  guint64 text_size;
  guint64 cpu_time;
} Message;

typedef struct {
  SpdlSlab *slab; /* owned by SpdlProcessLink.forwarded, else NULL: copied */
  guint32 name;
} Origin;

static void
clear_origin (gpointer data)
{
  spdl_slab_unref (((Origin *) data)->slab);
}

static gsize
align (gsize offset)
{
  return (offset + SPDL_SLAB_HEAD - 1) & ~(gsize) (SPDL_SLAB_HEAD - 1);
}

/* Returns (transfer none) (nullable) a slab for items, which differ in size. */
static SpdlSlab *
take_slab (SpdlProcessLink *self, gsize size)
{
  return spdl_slabs_take (&self->own, size, size / 8);
}

SpdlProcessLink *
gst_spdl_process_link_new (int socket)
{
  SpdlProcessLink *self = g_new0 (SpdlProcessLink, 1);

  self->socket = socket;
  self->forwarded = g_array_new (FALSE, FALSE, sizeof (Origin));
  g_array_set_clear_func (self->forwarded, clear_origin);
  self->origins = g_array_new (FALSE, FALSE, sizeof (Origin));
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
  g_array_unref (self->forwarded);
  g_array_unref (self->origins);
  g_byte_array_unref (self->text);
  g_byte_array_unref (self->caps_text);
  gst_clear_caps (&self->caps);
  g_free (self);
}

GstBuffer *
gst_spdl_process_link_alloc (SpdlProcessLink *self, gsize size)
{
  SpdlSlab *slab = take_slab (self, align (SPDL_SLAB_HEAD + size) + TEXT_SPACE);
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

/* Returns the address of memory in a slab. Mapping it does nothing. */
static const guint8 *
get_address (GstMemory *memory)
{
  GstMapInfo map;

  if (!gst_memory_map (memory, &map, GST_MAP_READ))
    return NULL;
  gst_memory_unmap (memory, &map);
  return map.data;
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

/* Returns (transfer none) (nullable) the slab that has all memory of a
 * buffer. */
static SpdlSlab *
find_shared (GstBuffer *buffer)
{
  SpdlSlab *slab = NULL;

  if (gst_buffer_get_size (buffer) < MIN_SHARED)
    return NULL;
  for (guint i = 0; i < gst_buffer_n_memory (buffer); i++) {
    SpdlSlab *found = spdl_memory_get_slab (gst_buffer_peek_memory (buffer, i));

    if (!found || (slab && found != slab))
      return NULL;
    slab = found;
  }
  return slab;
}

static void
drop_forwarded (SpdlProcessLink *self)
{
  for (guint i = self->forwarded->len; i-- > 0;)
    if (spdl_slab_is_retired (g_array_index (self->forwarded, Origin, i).slab))
      g_array_remove_index_fast (self->forwarded, i);
}

static gboolean
send_message (
    SpdlProcessLink *self, const Message *message, int fd, GError **error)
{
  return spdl_packet_send (self->socket, message, sizeof *message, fd,
      self->watch.pid > 0 ? &self->watch : NULL, error);
}

/* Has the other process map a slab of a third one. Returns FALSE on failure. */
static gboolean
forward (SpdlProcessLink *self, SpdlSlab *slab, Origin *origin)
{
  const Message message = {
    .kind = KIND_SLAB, .slab = self->own.next_id, .slab_size = slab->size
  };

  drop_forwarded (self);
  if (slab->fd < 0 || !send_message (self, &message, slab->fd, NULL))
    return FALSE;
  *origin = (Origin){ spdl_slab_ref (slab), self->own.next_id++ };
  g_array_append_val (self->forwarded, *origin);
  return TRUE;
}

/* Returns where the bytes of a buffer are already. */
static Origin
find_origin (SpdlProcessLink *self, GstBuffer *buffer)
{
  SpdlSlab *slab = find_shared (buffer);
  Origin origin = { NULL, SLAB_OF_MESSAGE };

  /* The receiver may have unmapped a slab that is retired. */
  if (!slab || spdl_slab_is_retired (slab) ||
      g_ptr_array_find (self->own.list, slab, NULL))
    return origin;
  if (g_ptr_array_find (self->other.list, slab, NULL))
    return (Origin){ slab, slab->id | IS_RECEIVERS };
  for (guint i = 0; i < self->forwarded->len; i++)
    if (g_array_index (self->forwarded, Origin, i).slab == slab)
      return g_array_index (self->forwarded, Origin, i);
  forward (self, slab, &origin);
  return origin;
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

/* Appends a buffer. If its bytes are copied, they begin at *@end in the slab,
 * and *@end is moved after them. */
static void
put_buffer (
    GByteArray *text, GstBuffer *buffer, const Origin *origin, gsize *end)
{
  SpdlPlaces places = { .slab = origin->name,
    .n_memories = gst_buffer_n_memory (buffer) };
  guint at;

  for (guint i = 0; i < places.n_memories; i++) {
    GstMemory *memory = gst_buffer_peek_memory (buffer, i);

    places.sizes[i] = gst_memory_get_sizes (memory, NULL, NULL);
    if (origin->slab) {
      places.offsets[i] = get_address (memory) - origin->slab->data;
    } else {
      places.offsets[i] = *end;
      *end = align (*end + places.sizes[i]);
    }
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
    put_buffer (text, get_buffer (sample, i),
        &g_array_index (self->origins, Origin, i), &offset);
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

/* Has the slab of the message keep what a third process wrote. */
static void
keep_buffer (SpdlSlab *slab, GstBuffer *buffer)
{
  for (guint i = 0; i < gst_buffer_n_memory (buffer); i++)
    spdl_slab_keep (slab, gst_buffer_peek_memory (buffer, i));
}

static gboolean
fill_slab (
    SpdlProcessLink *self, GstSample *sample, SpdlSlab *slab, GError **error)
{
  gsize end = SPDL_SLAB_HEAD;

  for (guint i = 0; i < count_buffers (sample); i++) {
    const Origin *origin = &g_array_index (self->origins, Origin, i);
    GstBuffer *buffer = get_buffer (sample, i);

    if (origin->slab && !(origin->name & IS_RECEIVERS))
      keep_buffer (slab, buffer);
    if (!origin->slab && !copy_buffer (buffer, slab->data, &end)) {
      g_set_error_literal (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
          "Failed to read the memory of an item for another process");
      return FALSE;
    }
  }
  return TRUE;
}

static void
find_origins (SpdlProcessLink *self, GstSample *sample)
{
  g_array_set_size (self->origins, 0);
  for (guint i = 0; sample && i < count_buffers (sample); i++) {
    const Origin origin = find_origin (self, get_buffer (sample, i));

    g_array_append_val (self->origins, origin);
  }
}

/* Writes @sample into a slab. Returns (transfer none) the slab, and in @message
 * where the text is; NULL with @error set on failure. */
static SpdlSlab *
write_sample (
    SpdlProcessLink *self, GstSample *sample, Message *message, GError **error)
{
  const Kind kind = message->kind;
  gsize begin = SPDL_SLAB_HEAD, end;
  SpdlSlab *slab;

  find_origins (self, sample);
  slab = kind == KIND_ITEM ? find_in_place (self, sample, &begin) : NULL;

  end = put_sample (self, sample, kind, begin, error);
  if (end > 0 && slab &&
      (end > slab->size || self->text->len > slab->size - end)) {
    slab = NULL;
    end = put_sample (self, sample, kind, SPDL_SLAB_HEAD, error);
  }
  if (end == 0)
    return NULL;
  if (!slab) {
    slab = take_slab (self, end + self->text->len);
    if (!slab) {
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
          "Failed to get %" G_GSIZE_FORMAT " bytes of shared memory: %s",
          end + self->text->len, g_strerror (errno));
      return NULL;
    }
    if (sample && !fill_slab (self, sample, slab, error))
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

gboolean
gst_spdl_process_link_send (
    SpdlProcessLink *self, GstSample *sample, GError **error)
{
  Message message = { .kind = get_kind (sample),
    .cpu_time = spdl_process_get_cpu_time () };
  SpdlSlab *slab = write_sample (self, sample, &message, error);

  if (slab)
    spdl_slab_lend (slab);
  /* Before the receiver takes its own memory back, which nobody then shares. */
  g_clear_pointer (&sample, gst_sample_unref);
  if (!slab ||
      !send_message (self, &message, slab->is_known ? -1 : slab->fd, error))
    return FALSE;
  spdl_slabs_set_known (&self->own, slab);
  return TRUE;
}

gchar *
gst_spdl_process_link_look (SpdlProcessLink *self, gboolean restart)
{
  if (restart)
    spdl_process_watch_reset (&self->watch);
  return spdl_process_watch_look (&self->watch)
             ? spdl_process_watch_describe (&self->watch)
             : NULL;
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

/* Returns whether memory contains @size bytes at @data. */
static gboolean
contains (GstMemory *memory, const guint8 *data, gsize size)
{
  const gsize all = gst_memory_get_sizes (memory, NULL, NULL);
  const guint8 *begin = get_address (memory);

  return data >= begin && data <= begin + all &&
         size <= (gsize) (begin + all - data);
}

/* Returns (transfer full) (nullable) memory of a third process that was sent to
 * the other one. */
static GstMemory *
take_forwarded (
    SpdlProcessLink *self, const SpdlSlab *origin, gsize offset, gsize size)
{
  const guint8 *data = origin->data + offset;

  for (guint i = 0; i < self->own.list->len; i++) {
    const SpdlSlab *slab = g_ptr_array_index (self->own.list, i);

    for (guint j = 0; slab->kept && j < slab->kept->len; j++) {
      GstMemory *memory = g_ptr_array_index (slab->kept, j);

      if (spdl_memory_get_slab (memory) != origin ||
          !contains (memory, data, size))
        continue;
      if (size == gst_memory_get_sizes (memory, NULL, NULL))
        return gst_memory_ref (memory);
      return gst_memory_share (memory, data - get_address (memory), size);
    }
  }
  return NULL;
}

/* Returns (transfer full) (nullable) memory that was sent to the other process
 * before. */
static GstMemory *
take_back (SpdlProcessLink *self, guint32 id, gsize offset, gsize size)
{
  SpdlSlab *slab = spdl_slabs_get (&self->own, id);
  GstMemory *memory;

  if (!slab) {
    for (guint i = 0; i < self->forwarded->len; i++) {
      const Origin *origin = &g_array_index (self->forwarded, Origin, i);

      if (origin->name == id && offset <= origin->slab->size)
        return take_forwarded (self, origin->slab, offset, size);
    }
    return NULL;
  }
  memory = spdl_slab_wrap (slab, offset, size);
  /* The other process has kept it as well. */
  if (memory && spdl_slab_is_lent (slab))
    GST_MINI_OBJECT_FLAG_SET (memory, GST_MEMORY_FLAG_READONLY);
  return memory;
}

static GstMemory *
get_memory (SpdlProcessLink *self, SpdlLoan *loan, guint32 name, gsize offset,
    gsize size)
{
  SpdlSlab *slab;

  if (name == SLAB_OF_MESSAGE)
    return spdl_loan_wrap (loan, NULL, offset, size);
  if (name & IS_RECEIVERS)
    return take_back (self, name & ~IS_RECEIVERS, offset, size);
  slab = spdl_slabs_get (&self->other, name);
  return slab ? spdl_loan_wrap (loan, slab, offset, size) : NULL;
}

/* Returns (transfer full) (nullable) a buffer of memory in slabs. */
static GstBuffer *
get_shared_buffer (SpdlProcessLink *self, SpdlPayload *text, SpdlLoan *loan)
{
  const guint32 size = spdl_get_u32 (text);
  const guint8 *at = spdl_get (text, size);
  SpdlPayload payload = spdl_payload (at, at ? size : 0);
  SpdlPlaces places;
  GstBuffer *buffer = at ? spdl_get_buffer (&payload, &places) : NULL;

  for (guint i = 0; buffer && i < places.n_memories; i++) {
    GstMemory *memory = get_memory (
        self, loan, places.slab, places.offsets[i], places.sizes[i]);

    if (memory)
      gst_buffer_append_memory (buffer, memory);
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
    GstBuffer *buffer = get_shared_buffer (self, text, loan);

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

/* Receives a message after those that announce slabs. */
static gboolean
receive_message (
    SpdlProcessLink *self, Message *message, int *fd, GError **error)
{
  while (
      spdl_packet_receive (self->socket, message, sizeof *message, fd, error)) {
    if (message->kind != KIND_SLAB)
      return TRUE;
    if (!spdl_slabs_map (
            &self->other, message->slab, message->slab_size, *fd, error))
      return FALSE;
  }
  return FALSE;
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
  if (!receive_message (self, &message, &fd, error))
    return FALSE;
  if (fd >= 0 && !spdl_slabs_map (
                     &self->other, message.slab, message.slab_size, fd, error))
    return FALSE;
  loan = spdl_slabs_borrow (&self->other, message.slab, error);
  if (!loan)
    return FALSE;
  self->cpu_time = message.cpu_time;
  text = spdl_payload (
      spdl_loan_get (loan, message.text, message.text_size), message.text_size);
  text.broken = !text.at;
  *sample = get_sample (self, &text, message.kind, loan);
  spdl_loan_unref (loan);
  spdl_slabs_drop_kept (&self->own);
  if (fd >= 0)
    spdl_slabs_drop_retired (&self->other);
  if (spdl_payload_is_read (&text))
    return TRUE;
  g_clear_pointer (sample, gst_sample_unref);
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
      "Another process sent an invalid item");
  return FALSE;
}
