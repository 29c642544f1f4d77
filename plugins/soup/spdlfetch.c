/* gst-spdl: spdlfetch, the stage that reads items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:element-spdlfetch
 * @title: spdlfetch
 * @short_description: reads the bytes that URIs name
 *
 * Takes URIs, one a buffer, and yields their content, `concurrency` of them at
 * a time: `file://` URIs and plain absolute paths, or a byte range of them:
 * `file:///shard.tar#bytes=1536-90111`, first and last byte as in HTTP. An item
 * that cannot be read in full fails by name.
 *
 * The results' caps are `application/octet-stream`, or what downstream asks for
 * where it takes nothing else; `caps` sets others.
 *
 * ## Example
 * |[
 * gst-launch-1.0 spdlsrc location=/usr/share/icons pattern="*.png"
 *     ! spdlfetch concurrency=4 ! fakesink
 * ]|
 *
 * Since: 0.1
 */

#include <gst/spdl/spdl.h>

#include <string.h>

#include "spdldisk.h"
#include "spdlsoup.h"

#define OCTET_STREAM "application/octet-stream"

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("text/uri-list"));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

#define GST_TYPE_SPDL_FETCH_ELEMENT (gst_spdl_fetch_element_get_type ())
G_DECLARE_FINAL_TYPE (GstSpdlFetchElement, gst_spdl_fetch_element, GST,
    SPDL_FETCH_ELEMENT, GstSpdlStage)

struct _GstSpdlFetchElement {
  GstSpdlStage parent;

  /* Under the object's lock. */
  GstCaps *caps; /* property; nullable */
  GstCaps *src_caps;
};

enum {
  PROP_0,
  PROP_CAPS,
};

G_DEFINE_FINAL_TYPE (
    GstSpdlFetchElement, gst_spdl_fetch_element, GST_TYPE_SPDL_STAGE)
GST_ELEMENT_REGISTER_DEFINE (
    spdlfetch, "spdlfetch", GST_RANK_NONE, GST_TYPE_SPDL_FETCH_ELEMENT)

static gboolean
gst_spdl_fetch_element_start (GstSpdlStage *stage, GError **error)
{
  g_autofree gchar *pool = NULL;

  g_object_get (stage, "thread-pool", &pool, NULL);
  if (!pool)
    return TRUE;
  g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
      "spdlfetch waits for disks and servers and computes nothing, so it "
      "shares "
      "no thread-pool: leave the property unset");
  return FALSE;
}

/* What downstream takes: bytes, or the one thing that it asks for. */
static GstCaps *
choose_caps (GstSpdlFetchElement *self, GError **error)
{
  GstPad *srcpad = gst_spdl_stage_get_src_pad (GST_SPDL_STAGE (self));
  g_autoptr (GstCaps) bytes = gst_caps_new_empty_simple (OCTET_STREAM);
  g_autoptr (GstCaps) allowed = gst_pad_peer_query_caps (srcpad, NULL);

  if (gst_caps_can_intersect (allowed, bytes))
    return g_steal_pointer (&bytes);
  allowed = gst_caps_simplify (g_steal_pointer (&allowed));
  if (gst_caps_is_fixed (allowed))
    return g_steal_pointer (&allowed);

  g_autofree gchar *string = gst_caps_to_string (allowed);
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_TYPE_NOT_FOUND,
      "What the items are cannot be told from what downstream takes (%s): set "
      "the property caps",
      string);
  return NULL;
}

static gboolean
gst_spdl_fetch_element_negotiate (
    GstSpdlStage *stage, GstCaps *caps, GError **error)
{
  GstSpdlFetchElement *self = GST_SPDL_FETCH_ELEMENT (stage);
  GstCaps *chosen;

  GST_OBJECT_LOCK (self);
  chosen = self->caps ? gst_caps_ref (self->caps) : NULL;
  GST_OBJECT_UNLOCK (self);
  if (!chosen && !(chosen = choose_caps (self, error)))
    return FALSE;
  GST_OBJECT_LOCK (self);
  gst_caps_take (&self->src_caps, chosen);
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

/* The URI in @item, without what may surround it. */
static gchar *
dup_uri (GstBuffer *item)
{
  const gsize size = gst_buffer_get_size (item);
  gchar *uri = g_malloc (size + 1);

  gst_buffer_extract (item, 0, uri, size);
  uri[size] = '\0';
  return g_strstrip (uri);
}

static gchar *
dup_path (const gchar *uri, GError **error)
{
  g_autoptr (GError) reason = NULL;
  g_autofree gchar *scheme = NULL;
  gchar *path;

  if (g_path_is_absolute (uri))
    return g_strdup (uri);
  scheme = g_uri_parse_scheme (uri);
  if (scheme && g_ascii_strcasecmp (scheme, "file") != 0) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
        "spdlfetch reads files only, not what \"%s:\" names", scheme);
    return NULL;
  }
  path = scheme ? g_filename_from_uri (uri, NULL, &reason) : NULL;
  if (!path)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
        "\"%s\" is neither a URI of a local file nor an absolute path%s%s", uri,
        reason ? ": " : "", reason ? reason->message : "");
  return path;
}

static gboolean
gst_spdl_fetch_element_process (
    GstSpdlStage *stage, gpointer worker, GstSpdlTask *task, GError **error)
{
  GstSpdlFetchElement *self = GST_SPDL_FETCH_ELEMENT (stage);
  g_autofree gchar *uri = dup_uri (gst_spdl_task_get_item (task));
  g_autofree gchar *path = NULL;
  g_autoptr (GstCaps) caps = NULL;
  SpdlRange range;
  GstBuffer *content;

  if (!spdl_range_split (uri, &range, error) || !(path = dup_path (uri, error)))
    return FALSE;
  content = spdl_disk_read (
      path, &range, gst_spdl_task_get_cancellable (task), error);
  if (!content)
    return FALSE;
  GST_OBJECT_LOCK (self);
  caps = gst_caps_ref (self->src_caps);
  GST_OBJECT_UNLOCK (self);
  gst_spdl_task_push (task, content, caps);
  return TRUE;
}

static void
gst_spdl_fetch_element_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstSpdlFetchElement *self = GST_SPDL_FETCH_ELEMENT (object);

  if (id != PROP_CAPS) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    return;
  }
  GST_OBJECT_LOCK (self);
  gst_caps_replace (&self->caps, (GstCaps *) gst_value_get_caps (value));
  GST_OBJECT_UNLOCK (self);
  gst_pad_mark_reconfigure (gst_spdl_stage_get_src_pad (GST_SPDL_STAGE (self)));
}

static void
gst_spdl_fetch_element_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstSpdlFetchElement *self = GST_SPDL_FETCH_ELEMENT (object);

  if (id != PROP_CAPS) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    return;
  }
  GST_OBJECT_LOCK (self);
  gst_value_set_caps (value, self->caps);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_spdl_fetch_element_finalize (GObject *object)
{
  GstSpdlFetchElement *self = GST_SPDL_FETCH_ELEMENT (object);

  gst_clear_caps (&self->caps);
  gst_clear_caps (&self->src_caps);
  G_OBJECT_CLASS (gst_spdl_fetch_element_parent_class)->finalize (object);
}

static void
gst_spdl_fetch_element_class_init (GstSpdlFetchElementClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstSpdlStageClass *stage_class = GST_SPDL_STAGE_CLASS (klass);

  object_class->set_property = gst_spdl_fetch_element_set_property;
  object_class->get_property = gst_spdl_fetch_element_get_property;
  object_class->finalize = gst_spdl_fetch_element_finalize;
  g_object_class_install_property (object_class, PROP_CAPS,
      g_param_spec_boxed ("caps", "Caps",
          "What the items are (unset = bytes, or what downstream asks for)",
          GST_TYPE_CAPS,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
              GST_PARAM_MUTABLE_PLAYING));

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Item fetcher",
      "Source/File", "Reads the bytes that URIs name, many at a time",
      "the gst-spdl developers");
  stage_class->start = gst_spdl_fetch_element_start;
  stage_class->negotiate = gst_spdl_fetch_element_negotiate;
  stage_class->process = gst_spdl_fetch_element_process;
}

static void
gst_spdl_fetch_element_init (GstSpdlFetchElement *self)
{
}
