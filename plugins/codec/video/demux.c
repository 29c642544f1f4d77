/* gst-spdl: demuxing of the video stream in a container
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/video/demux.h"

#include <gst/gst.h>
#include <string.h>

#include "plugins/codec/common/ogg.h"
#include "plugins/codec/video/mp4track.h"
#include "plugins/codec/video/videodecoder.h"

/* Task pool that runs the streaming tasks of an element in the thread that
 * calls spdl_tasks_run(). Set it as the pool of the tasks that the element
 * creates. Not thread-safe. */

#define SPDL_TYPE_TASKS (spdl_tasks_get_type ())
G_DECLARE_FINAL_TYPE (SpdlTasks, spdl_tasks, SPDL, TASKS, GstTaskPool)

GST_DEBUG_CATEGORY_EXTERN (spdl_decode_debug);
#define GST_CAT_DEFAULT spdl_decode_debug

static GstStaticPadTemplate file_template = GST_STATIC_PAD_TEMPLATE (
    "file", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate end_template = GST_STATIC_PAD_TEMPLATE (
    "end", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

/* Kinds of demuxers, by the meaning of a read past the end of a file. */
typedef enum {
  DEMUXER_OTHER,    /* nothing: the demuxer also reads past a complete file */
  DEMUXER_EXACT,    /* data is missing */
  DEMUXER_MP4,      /* same */
  DEMUXER_MATROSKA, /* data is missing if the read also begins there */
  DEMUXER_OGG,      /* nothing; the end of the file has a mark */
  DEMUXER_MPEG_PS,  /* nothing; its packets are not pictures */
  DEMUXER_MPEG_TS,  /* nothing; its clock starts anywhere */
} Demuxer;

struct _SpdlDemux {
  GstElement *element;
  GstBus *bus;
  SpdlTasks *tasks;
  GstPad *to_element;
  GstPad *from_element;
  Demuxer demuxer;

  /* The current file. */
  GstBuffer *file; /* not owned */
  gsize size;
  SpdlPackets *packets;
  GstSegment segment;
  GString *others;    /* names of the other streams, for messages */
  SpdlMp4Track track; /* of MP4; orientation 0: unknown */
  gboolean has_video;
  gboolean has_enough;
  guint64 missing_at; /* first offset where missing data was requested */
  gchar *message;
};

/* Tasks in the calling thread */

/* A task and its function. It holds a reference to the task, which @func
 * drops. */
typedef struct {
  GstTaskPoolFunction func;
  GstTask *task;
} Entry;

struct _SpdlTasks {
  GstTaskPool parent;

  GArray *entries;
};

G_DEFINE_FINAL_TYPE (SpdlTasks, spdl_tasks, GST_TYPE_TASK_POOL)

static SpdlTasks *
spdl_tasks_new (void)
{
  return gst_object_ref_sink (g_object_new (SPDL_TYPE_TASKS, NULL));
}

static void
spdl_tasks_prepare (GstTaskPool *pool, GError **error)
{
}

static void
spdl_tasks_cleanup (GstTaskPool *pool)
{
}

static gpointer
spdl_tasks_push (GstTaskPool *pool, GstTaskPoolFunction func,
    gpointer user_data, GError **error)
{
  const Entry entry = { func, user_data };

  g_array_append_val (SPDL_TASKS (pool)->entries, entry);
  return NULL;
}

static void
spdl_tasks_join (GstTaskPool *pool, gpointer id)
{
}

/* Runs one iteration of each started task. Returns FALSE if there is none. */
static gboolean
spdl_tasks_run (SpdlTasks *self)
{
  gboolean ran = FALSE;

  for (guint i = 0; i < self->entries->len; i++) {
    GstTask *task = g_array_index (self->entries, Entry, i).task;

    if (GST_TASK_STATE (task) != GST_TASK_STARTED)
      continue;
    g_rec_mutex_lock (GST_TASK_GET_LOCK (task));
    task->func (task->user_data);
    g_rec_mutex_unlock (GST_TASK_GET_LOCK (task));
    ran = TRUE;
  }
  return ran;
}

/* Stops all tasks and removes them, so that joining them does not block. */
static void
spdl_tasks_stop (SpdlTasks *self)
{
  for (guint i = 0; i < self->entries->len; i++) {
    const Entry entry = g_array_index (self->entries, Entry, i);

    /* The function of a stopped task only marks the task as not running. */
    gst_task_stop (entry.task);
    entry.func (entry.task);
  }
  g_array_set_size (self->entries, 0);
}

static void
spdl_tasks_finalize (GObject *object)
{
  g_array_unref (SPDL_TASKS (object)->entries);
  G_OBJECT_CLASS (spdl_tasks_parent_class)->finalize (object);
}

static void
spdl_tasks_class_init (SpdlTasksClass *klass)
{
  GstTaskPoolClass *pool_class = GST_TASK_POOL_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = spdl_tasks_finalize;
  pool_class->prepare = spdl_tasks_prepare;
  pool_class->cleanup = spdl_tasks_cleanup;
  pool_class->push = spdl_tasks_push;
  pool_class->join = spdl_tasks_join;
}

static void
spdl_tasks_init (SpdlTasks *self)
{
  self->entries = g_array_new (FALSE, FALSE, sizeof (Entry));
}

/* Input */

/* Records a read past the end of the file as missing data. Short reads at the
 * end are normal. */
static void
note_range (SpdlDemux *self, guint64 offset, guint length)
{
  const gboolean is_beyond = offset > self->size;
  const gboolean is_cut =
      offset < self->size && length > self->size - offset && length > 16;

  if (self->demuxer == DEMUXER_EXACT || self->demuxer == DEMUXER_MP4
          ? is_beyond || is_cut
          : self->demuxer == DEMUXER_MATROSKA && is_beyond)
    self->missing_at = MIN (self->missing_at, MAX (offset, self->size));
}

/* Returns the length field of the Segment element in a Matroska header, or
 * NULL. */
static const guint8 *
find_length (const guint8 *head, gsize n)
{
  static const guint8 segment[] = { 0x18, 0x53, 0x80, 0x67 };

  for (gsize i = 0; i + 12 <= n; i++)
    if (memcmp (head + i, segment, sizeof segment) == 0)
      return head[i + 4] ? head + i + 4 : NULL;
  return NULL;
}

/* Parses an EBML variable-length integer. Returns its length in bytes, or 0.
 * The value with all bits set, which means an unknown length, gives
 * G_MAXUINT64. */
static guint
read_number (const guint8 *data, gsize size, guint64 *number)
{
  guint n_bytes = 1;
  guint64 mask;

  if (size == 0 || data[0] == 0)
    return 0;
  while (!(data[0] >> (8 - n_bytes)))
    n_bytes++;
  if (n_bytes > size)
    return 0;
  mask = 0xff >> n_bytes;
  *number = data[0] & mask;
  for (guint i = 1; i < n_bytes; i++) {
    *number = *number << 8 | data[i];
    mask = mask << 8 | 0xff;
  }
  if (*number == mask)
    *number = G_MAXUINT64;
  return n_bytes;
}

/* Returns whether matroskademux supports the value of an EBML header field. */
static gboolean
check_field (guint64 id, const guint8 *data, gsize size)
{
  guint64 version = 0;

  switch (id) {
    case 0x282: /* DocType */
      size = strnlen ((const char *) data, size);
      return (size == 8 && memcmp (data, "matroska", 8) == 0) ||
             (size == 4 && memcmp (data, "webm", 4) == 0);
    case 0x285: /* DocTypeReadVersion */
      for (gsize i = 0; i < size; i++)
        version = version << 8 | data[i];
      return version <= 2;
    default:
      return TRUE;
  }
}

/* Returns whether matroskademux supports a file with this header. GStreamer
 * 1.22 to 1.26 reports an unsupported one through a struct that is not an
 * element, which causes a critical warning and no message. Therefore such files
 * are rejected here. */
static gboolean
check_head (const guint8 *head, gsize n)
{
  gsize at = 4; /* after the EBML ID */
  guint64 id, size;
  guint n_bytes;

  if (n < at || !(n_bytes = read_number (head + at, n - at, &size)))
    return TRUE;
  at += n_bytes;
  n = MIN (n, size <= n ? at + size : n);
  while (at < n) {
    if (!(n_bytes = read_number (head + at, n - at, &id)))
      break;
    at += n_bytes;
    if (!(n_bytes = read_number (head + at, n - at, &size)))
      break;
    at += n_bytes;
    if (size > n - at)
      break;
    if (!check_field (id, head + at, size))
      return FALSE;
    at += size;
  }
  return TRUE;
}

/* Detects truncated Matroska files by the length in their header: matroskademux
 * treats a truncated file as one that has ended. */
static void
check_matroska (SpdlDemux *self)
{
  guint8 head[256];
  const gsize n = gst_buffer_extract (self->file, 0, head, sizeof head);
  const guint8 *at = find_length (head, n);
  guint64 length;
  guint n_bytes;

  if (!check_head (head, n))
    self->message = g_strdup ("a DocType or a version that it cannot read");
  if (!at)
    return;
  n_bytes = read_number (at, head + n - at, &length);
  if (n_bytes > 0 && length != G_MAXUINT64 &&
      (guint64) (at - head) + n_bytes + length > self->size)
    self->missing_at = self->size;
}

/* Detects truncated Ogg files by their last page. */
static void
check_ogg (SpdlDemux *self)
{
  GstMapInfo map;

  if (!gst_buffer_map (self->file, &map, GST_MAP_READ))
    return;
  if (!spdl_ogg_is_whole (map.data, map.size))
    self->missing_at = self->size;
  gst_buffer_unmap (self->file, &map);
}

static void
read_track (SpdlDemux *self)
{
  GstMapInfo map;

  if (!gst_buffer_map (self->file, &map, GST_MAP_READ))
    return;
  if (spdl_mp4_track_find (&self->track, map.data, map.size))
    self->packets->orientation = self->track.orientation;
  gst_buffer_unmap (self->file, &map);
}

/* Lets the duration of the track be endless. Returns: (transfer full) */
static GstBuffer *
extend_track (const SpdlDemux *self, GstBuffer *range, guint64 offset)
{
  static const guint8 endless[4] = { 0xff, 0xff, 0xff, 0xff };
  const guint64 at = self->track.duration_at;
  GstBuffer *copy;

  if (at == 0 || at < offset ||
      at + sizeof endless > offset + gst_buffer_get_size (range))
    return range;
  copy = gst_buffer_copy_deep (range);
  gst_buffer_unref (range);
  gst_buffer_fill (copy, at - offset, endless, sizeof endless);
  return copy;
}

static GstFlowReturn
get_range (GstPad *pad, GstObject *parent, guint64 offset, guint length,
    GstBuffer **buffer)
{
  SpdlDemux *self = gst_pad_get_element_private (pad);

  note_range (self, offset, length);
  if (offset >= self->size)
    return GST_FLOW_EOS;
  length = MIN (length, self->size - offset);
  if (*buffer) {
    GstMapInfo map;

    if (!gst_buffer_map (*buffer, &map, GST_MAP_WRITE))
      return GST_FLOW_ERROR;
    length = gst_buffer_extract (
        self->file, offset, map.data, MIN (length, map.size));
    gst_buffer_unmap (*buffer, &map);
    gst_buffer_set_size (*buffer, length);
  } else {
    *buffer = extend_track (self,
        gst_buffer_copy_region (
            self->file, GST_BUFFER_COPY_MEMORY, offset, length),
        offset);
  }
  GST_BUFFER_OFFSET (*buffer) = offset;
  return GST_FLOW_OK;
}

static gboolean
answer_file (GstPad *pad, GstObject *parent, GstQuery *query)
{
  const SpdlDemux *self = gst_pad_get_element_private (pad);
  GstFormat format;

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_SCHEDULING:
      gst_query_set_scheduling (query, GST_SCHEDULING_FLAG_SEEKABLE, 1, -1, 0);
      gst_query_add_scheduling_mode (query, GST_PAD_MODE_PULL);
      return TRUE;
    case GST_QUERY_DURATION:
      gst_query_parse_duration (query, &format, NULL);
      if (format != GST_FORMAT_BYTES)
        return FALSE;
      gst_query_set_duration (query, format, self->size);
      return TRUE;
    case GST_QUERY_SEEKING:
      gst_query_parse_seeking (query, &format, NULL, NULL, NULL);
      gst_query_set_seeking (
          query, format, format == GST_FORMAT_BYTES, 0, self->size);
      return TRUE;
    default:
      return gst_pad_query_default (pad, parent, query);
  }
}

/* Output */

static guint
get_orientation (GstTagList *tags)
{
  static const gchar *const names[] = { "rotate-0", "flip-rotate-0",
    "rotate-180", "flip-rotate-180", "flip-rotate-270", "rotate-90",
    "flip-rotate-90", "rotate-270" };
  const gchar *name;

  if (gst_tag_list_peek_string_index (
          tags, GST_TAG_IMAGE_ORIENTATION, 0, &name))
    for (guint i = 0; i < G_N_ELEMENTS (names); i++)
      if (g_str_equal (name, names[i]))
        return i + 1;
  return 0;
}

static void
take_tags (SpdlDemux *self, GstEvent *event)
{
  GstTagList *tags;
  guint orientation;

  gst_event_parse_tag (event, &tags);
  orientation = get_orientation (tags);
  if (orientation > 0 && self->track.orientation == 0)
    self->packets->orientation = orientation;
}

/* Moves the container's colorimetry to another field. Decoders use the caps in
 * place of the bitstream's values, but some demuxers do not report the range.
 * Returns: (transfer full) */
static GstCaps *
hide_colors (GstCaps *caps)
{
  const GstStructure *s = gst_caps_get_structure (caps, 0);
  const gchar *colors = gst_structure_get_string (s, "colorimetry");

  if (!colors)
    return gst_caps_ref (caps);
  caps = gst_caps_copy (caps);
  gst_caps_set_simple (
      caps, SPDL_CONTAINER_COLORS, G_TYPE_STRING, colors, NULL);
  gst_structure_remove_field (gst_caps_get_structure (caps, 0), "colorimetry");
  return caps;
}

static gboolean
on_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  SpdlDemux *self = gst_pad_get_element_private (pad);
  g_autoptr (GstCaps) packet_caps = NULL;
  GstCaps *caps;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS:
      gst_event_parse_caps (event, &caps);
      packet_caps = hide_colors (caps);
      spdl_packets_set_caps (self->packets, packet_caps);
      break;
    case GST_EVENT_SEGMENT:
      gst_event_copy_segment (event, &self->segment);
      if (self->track.duration_at > 0)
        self->segment.stop = GST_CLOCK_TIME_NONE;
      self->packets->segment++;
      break;
    case GST_EVENT_TAG:
      take_tags (self, event);
      break;
    default:
      break;
  }
  gst_event_unref (event);
  return TRUE;
}

static GstFlowReturn
on_buffer (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  SpdlDemux *self = gst_pad_get_element_private (pad);

  if (self->packets->caps->len == 0) {
    gst_buffer_unref (buffer);
    return GST_FLOW_NOT_NEGOTIATED;
  }
  /* The headers of a stream are also in its caps. */
  if (gst_buffer_get_size (buffer) == 0 ||
      GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_HEADER))
    gst_buffer_unref (buffer);
  else if (!spdl_packets_add (self->packets, buffer, &self->segment))
    self->has_enough = TRUE;
  return self->has_enough ? GST_FLOW_EOS : GST_FLOW_OK;
}

/* Motion JPEG streams have image caps. */
static gboolean
is_video (GstPad *pad, const gchar *type)
{
  return g_str_has_prefix (type, "video/") ||
         (g_str_has_prefix (type, "image/") &&
             g_str_has_prefix (GST_OBJECT_NAME (pad), "video"));
}

static void
on_pad_added (GstElement *element, GstPad *pad, gpointer user_data)
{
  SpdlDemux *self = user_data;
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);
  const gchar *type = "something unknown";

  if (!caps)
    caps = gst_pad_query_caps (pad, NULL);
  if (gst_caps_is_fixed (caps))
    type = gst_structure_get_name (gst_caps_get_structure (caps, 0));
  if (is_video (pad, type) && !self->has_video)
    self->has_video = gst_pad_link (pad, self->from_element) == GST_PAD_LINK_OK;
  else
    g_string_append_printf (
        self->others, "%s%s", self->others->len > 0 ? ", " : "", type);
}

static GstBusSyncReply
on_message (GstBus *bus, GstMessage *message, gpointer user_data)
{
  SpdlDemux *self = user_data;
  GstStreamStatusType type;
  const GValue *value;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_STREAM_STATUS) {
    gst_message_parse_stream_status (message, &type, NULL);
    value = gst_message_get_stream_status_object (message);
    if (type == GST_STREAM_STATUS_TYPE_CREATE && value &&
        G_VALUE_HOLDS (value, GST_TYPE_TASK))
      gst_task_set_pool (
          g_value_get_object (value), GST_TASK_POOL (self->tasks));
  } else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR &&
             !self->message) {
    g_autoptr (GError) error = NULL;

    gst_message_parse_error (message, &error, NULL);
    self->message = g_strdup (error->message);
  }
  gst_message_unref (message);
  return GST_BUS_DROP;
}

/* Construction */

GstElementFactory *
spdl_demux_find (GstCaps *caps)
{
  GList *all = gst_element_factory_list_get_elements (
      GST_ELEMENT_FACTORY_TYPE_DEMUXER, GST_RANK_MARGINAL);
  GList *fit = gst_element_factory_list_filter (all, caps, GST_PAD_SINK, TRUE);
  GstElementFactory *best;

  fit = g_list_sort (fit, gst_plugin_feature_rank_compare_func);
  best = fit ? gst_object_ref (fit->data) : NULL;
  gst_plugin_feature_list_free (fit);
  gst_plugin_feature_list_free (all);
  return best;
}

static Demuxer
find_demuxer (const gchar *name)
{
  static const struct {
    const gchar *name;
    Demuxer demuxer;
  } known[] = { { "avidemux", DEMUXER_EXACT }, { "flvdemux", DEMUXER_EXACT },
    { "matroskademux", DEMUXER_MATROSKA }, { "mpegpsdemux", DEMUXER_MPEG_PS },
    { "oggdemux", DEMUXER_OGG }, { "qtdemux", DEMUXER_MP4 },
    { "tsdemux", DEMUXER_MPEG_TS } };

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (g_str_equal (name, known[i].name))
      return known[i].demuxer;
  return DEMUXER_OTHER;
}

static gboolean
link_file (SpdlDemux *self)
{
  GstPad *sink = gst_element_get_static_pad (self->element, "sink");
  const gboolean ok =
      sink && gst_pad_link (self->to_element, sink) == GST_PAD_LINK_OK;

  gst_clear_object (&sink);
  return ok;
}

static GstPad *
make_pad (SpdlDemux *self, GstStaticPadTemplate *template)
{
  GstPad *pad =
      gst_pad_new_from_static_template (template, template->name_template);

  gst_pad_set_element_private (pad, self);
  return gst_object_ref_sink (pad);
}

SpdlDemux *
spdl_demux_new (GstElementFactory *factory, GError **error)
{
  GstElement *element = gst_element_factory_create (factory, NULL);
  SpdlDemux *self;

  if (!element) {
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
        "Failed to create %s", GST_OBJECT_NAME (factory));
    return NULL;
  }
  self = g_new0 (SpdlDemux, 1);
  self->element = gst_object_ref_sink (element);
  self->demuxer = find_demuxer (GST_OBJECT_NAME (factory));
  self->tasks = spdl_tasks_new ();
  self->others = g_string_new (NULL);
  self->bus = g_object_new (GST_TYPE_BUS, "enable-async", FALSE, NULL);
  gst_object_ref_sink (self->bus);
  gst_bus_set_sync_handler (self->bus, on_message, self, NULL);
  gst_element_set_bus (element, self->bus);
  self->to_element = make_pad (self, &file_template);
  gst_pad_set_getrange_function (self->to_element, get_range);
  gst_pad_set_query_function (self->to_element, answer_file);
  self->from_element = make_pad (self, &end_template);
  gst_pad_set_chain_function (self->from_element, on_buffer);
  gst_pad_set_event_function (self->from_element, on_event);
  g_signal_connect (element, "pad-added", G_CALLBACK (on_pad_added), self);
  if (link_file (self))
    return self;
  g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_PAD, "%s has no sink pad",
      GST_OBJECT_NAME (factory));
  spdl_demux_free (self);
  return NULL;
}

void
spdl_demux_free (SpdlDemux *self)
{
  gst_element_set_state (self->element, GST_STATE_NULL);
  gst_element_set_bus (self->element, NULL);
  gst_bus_set_sync_handler (self->bus, NULL, NULL, NULL);
  gst_clear_object (&self->bus);
  gst_clear_object (&self->element);
  gst_clear_object (&self->tasks);
  gst_clear_object (&self->to_element);
  gst_clear_object (&self->from_element);
  g_string_free (self->others, TRUE);
  g_free (self->message);
  g_free (self);
}

/* Running */

static void
begin_file (SpdlDemux *self, GstBuffer *file, SpdlPackets *packets)
{
  self->file = file;
  self->size = gst_buffer_get_size (file);
  self->packets = packets;
  gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
  g_string_truncate (self->others, 0);
  self->track = (SpdlMp4Track){ 0 };
  packets->from_zero = self->demuxer == DEMUXER_MPEG_TS;
  self->has_video = self->has_enough = FALSE;
  self->missing_at = G_MAXUINT64;
  g_clear_pointer (&self->message, g_free);
  if (self->demuxer == DEMUXER_MATROSKA)
    check_matroska (self);
  else if (self->demuxer == DEMUXER_OGG)
    check_ogg (self);
  else if (self->demuxer == DEMUXER_MP4)
    read_track (self);
  gst_pad_set_active (self->from_element, TRUE);
}

static gboolean
set_broken (const SpdlDemux *self, const gchar *name, GError **error)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DEMUX,
      "Corrupt %s: %s reported %s", name, GST_OBJECT_NAME (self->element),
      self->message ? self->message : "no video packet");
  return FALSE;
}

/* Reports errors of the file: no video stream, or missing data. */
static gboolean
check_track (const SpdlDemux *self, const gchar *name, GError **error)
{
  if (self->has_enough)
    return TRUE;
  if (!self->has_video && self->others->len > 0) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
        "File has no video: it is %s with %s", name, self->others->str);
    return FALSE;
  }
  if (self->missing_at != G_MAXUINT64) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DEMUX,
        "Corrupt %s: the file is cut off, data is missing from byte "
        "%" G_GUINT64_FORMAT " on",
        name, self->missing_at);
    return FALSE;
  }
  if (self->message || !self->has_video)
    return set_broken (self, name, error);
  return TRUE;
}

/* Program streams divide the video into packs of equal size, whatever the
 * pictures in them. Frames could be neither counted nor selected. */
static gboolean
refuse_program_stream (GError **error)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
      "File is an MPEG program stream, whose frames cannot be counted: convert "
      "it to another container, for example with ffmpeg -i FILE FILE.mp4");
  return FALSE;
}

gboolean
spdl_demux_run (SpdlDemux *self, GstBuffer *file, const gchar *name,
    SpdlPackets *packets, GCancellable *cancellable, GError **error)
{
  if (self->demuxer == DEMUXER_MPEG_PS)
    return refuse_program_stream (error);
  begin_file (self, file, packets);
  if (!self->message && gst_element_set_state (self->element,
                            GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE)
    while (!self->has_enough && !g_cancellable_is_cancelled (cancellable) &&
           spdl_tasks_run (self->tasks))
      continue;
  spdl_tasks_stop (self->tasks);
  gst_element_set_state (self->element, GST_STATE_READY);
  gst_pad_set_active (self->from_element, FALSE);
  self->file = NULL;
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  return check_track (self, name, error);
}
