/* gst-spdl: spdlsrc, the source of a dataset's items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:element-spdlsrc
 * @title: spdlsrc
 * @short_description: sends the URIs of a dataset's items
 *
 * Sends one buffer an item, which holds its URI, with a #GstSpdlItemMeta that
 * says which item it is. After the last item of each epoch comes an
 * `spdl-epoch` event.
 *
 * A folder is walked recursively, in the order of the names' bytes. Names that
 * begin with a dot are passed over. `pattern` says which files are items: a
 * glob on the file's name, whatever its case, which may hold alternatives:
 * `*.@(jpg|jpeg)`. A link that leads back to a folder that it lies in is left
 * out with a warning; so is a folder that cannot be read. An empty dataset is
 * an error.
 *
 * A list is a text file whose name ends in `.txt`: on each line a path or a
 * URI, if you like with a tab and an integer label behind it. Relative paths
 * are relative to the list. Empty lines, and lines that begin with `#`, are no
 * items. A URI may name a byte range: `file:///shard.tar#bytes=1536-90111`.
 *
 * ## Example
 * |[
 * gst-launch-1.0 spdlsrc location=/usr/share/icons pattern="*.png"
 *     ! spdlfetch concurrency=4 ! fakesink
 * ]|
 *
 * Since: 0.1
 */

#include <gst/base/gstpushsrc.h>
#include <gst/spdl/spdl.h>

#include "gst/spdl/gstspdlgone.h"
#include "gst/spdl/gstspdlplainstats.h"
#include "spdlcore.h"
#include "spdldataset.h"

GST_DEBUG_CATEGORY_STATIC (spdl_src_debug);
#define GST_CAT_DEFAULT spdl_src_debug

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("text/uri-list"));

#define GST_TYPE_SPDL_SRC_ELEMENT (gst_spdl_src_element_get_type ())
G_DECLARE_FINAL_TYPE (
    GstSpdlSrcElement, gst_spdl_src_element, GST, SPDL_SRC_ELEMENT, GstPushSrc)

struct _GstSpdlSrcElement {
  GstPushSrc parent;

  GstSpdlPlainStats *stats;

  /* Properties, under the object's lock. */
  gchar *location;
  gchar *pattern;
  SpdlLabel label;
  gint64 epochs;

  SpdlDataset *dataset; /* while started; under the object's lock */
  guint64 n_items;
  guint64 epoch;
  guint64 next;
};

enum {
  PROP_0,
  PROP_LOCATION,
  PROP_PATTERN,
  PROP_LABEL,
  PROP_EPOCHS,
  PROP_NUM_ITEMS,
  N_PROPS,
  PROP_STATS_INTERVAL = N_PROPS,
  PROP_STAGE_STATS,
};

#define DEFAULT_PATTERN "*"
#define DEFAULT_LABEL SPDL_LABEL_MANIFEST
#define DEFAULT_EPOCHS 1

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (GstSpdlSrcElement, gst_spdl_src_element, GST_TYPE_PUSH_SRC)
GST_ELEMENT_REGISTER_DEFINE (
    spdlsrc, "spdlsrc", GST_RANK_NONE, GST_TYPE_SPDL_SRC_ELEMENT)

#define GST_TYPE_SPDL_LABEL (spdl_label_get_type ())
static GType
spdl_label_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { SPDL_LABEL_NONE, "No labels", "none" },
    { SPDL_LABEL_FOLDER, "The number of the top-level folder, by name",
        "folder" },
    { SPDL_LABEL_MANIFEST, "What the list says, if it is one", "manifest" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstSpdlLabel", values));
  return type;
}

static void
warn (const gchar *text, gpointer user_data)
{
  GST_ELEMENT_WARNING (user_data, RESOURCE, READ, ("%s", text), (NULL));
}

static gboolean
open_dataset (GstSpdlSrcElement *self)
{
  g_autofree gchar *location = NULL;
  g_autofree gchar *pattern = NULL;
  g_autoptr (GError) error = NULL;
  SpdlDataset *dataset;
  SpdlLabel label;

  GST_OBJECT_LOCK (self);
  location = g_strdup (self->location);
  pattern = g_strdup (self->pattern ? self->pattern : DEFAULT_PATTERN);
  label = self->label;
  GST_OBJECT_UNLOCK (self);

  if (!location || !*location) {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
        ("No location is set: set it to a folder or to a .txt or .csv list"),
        (NULL));
    return FALSE;
  }
  dataset = spdl_dataset_open (location, pattern, label, warn, self, &error);
  if (!dataset) {
    gst_spdl_post_error (GST_ELEMENT (self), error);
    return FALSE;
  }

  GST_OBJECT_LOCK (self);
  self->dataset = dataset;
  self->n_items = spdl_dataset_get_size (dataset);
  GST_OBJECT_UNLOCK (self);
  self->epoch = self->next = 0;
  gst_spdl_plain_stats_start (self->stats);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_NUM_ITEMS]);
  return TRUE;
}

static void
close_dataset (GstSpdlSrcElement *self)
{
  gst_spdl_plain_stats_stop (self->stats);
  GST_OBJECT_LOCK (self);
  g_clear_pointer (&self->dataset, spdl_dataset_free);
  GST_OBJECT_UNLOCK (self);
}

/* Not in GstBaseSrc's start(), behind which a second error would be posted. */
static GstStateChangeReturn
gst_spdl_src_element_change_state (
    GstElement *element, GstStateChange transition)
{
  GstSpdlSrcElement *self = GST_SPDL_SRC_ELEMENT (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !open_dataset (self))
    return GST_STATE_CHANGE_FAILURE;
  ret = GST_ELEMENT_CLASS (gst_spdl_src_element_parent_class)
            ->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY ||
      (transition == GST_STATE_CHANGE_READY_TO_PAUSED &&
          ret == GST_STATE_CHANGE_FAILURE))
    close_dataset (self);
  return ret;
}

static gboolean
gst_spdl_src_element_is_seekable (GstBaseSrc *src)
{
  return FALSE;
}

static GstBuffer *
make_item (GstSpdlSrcElement *self, guint64 index, guint64 sequence)
{
  GstStructure *extra;
  gint64 label;
  gchar *uri = spdl_dataset_get_item (self->dataset, index, &label, &extra);
  const gsize size = strlen (uri);
  GstBuffer *buffer = gst_buffer_new_wrapped (uri, size);
  GstSpdlItemMeta *meta = gst_spdl_buffer_add_item_meta (buffer);

  meta->epoch = self->epoch;
  meta->index = index;
  meta->sequence = sequence;
  meta->label = label;
  meta->uri = g_ref_string_new_len (uri, size);
  meta->extra = extra;
  meta->created = gst_util_get_timestamp ();
  gst_spdl_plain_stats_pass (self->stats, 1, 0, size);
  return buffer;
}

static gint64
get_epochs (GstSpdlSrcElement *self)
{
  gint64 epochs;

  GST_OBJECT_LOCK (self);
  epochs = self->epochs;
  GST_OBJECT_UNLOCK (self);
  return epochs;
}

static GstFlowReturn
gst_spdl_src_element_create (GstPushSrc *src, GstBuffer **buffer)
{
  GstSpdlSrcElement *self = GST_SPDL_SRC_ELEMENT (src);

  if (self->next == self->n_items) {
    gst_pad_push_event (GST_BASE_SRC_PAD (src),
        gst_spdl_event_new_epoch (0, self->epoch, self->n_items));
    self->epoch++;
    self->next = 0;
  }
  const gint64 epochs = get_epochs (self);
  if (epochs >= 0 && self->epoch >= (guint64) epochs) {
    gst_spdl_plain_stats_finish (self->stats);
    return GST_FLOW_EOS;
  }
  *buffer = make_item (self, self->next, self->next);
  self->next++;
  return GST_FLOW_OK;
}

static void
gst_spdl_src_element_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstSpdlSrcElement *self = GST_SPDL_SRC_ELEMENT (object);

  if (id == PROP_STATS_INTERVAL) {
    gst_spdl_plain_stats_set_interval (self->stats, value);
    return;
  }
  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_LOCATION:
      g_free (self->location);
      self->location = g_value_dup_string (value);
      break;
    case PROP_PATTERN:
      g_free (self->pattern);
      self->pattern = g_value_dup_string (value);
      break;
    case PROP_LABEL:
      self->label = g_value_get_enum (value);
      break;
    case PROP_EPOCHS:
      self->epochs = g_value_get_int64 (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_spdl_src_element_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstSpdlSrcElement *self = GST_SPDL_SRC_ELEMENT (object);

  if (id == PROP_STATS_INTERVAL) {
    gst_spdl_plain_stats_get_interval (self->stats, value);
    return;
  }
  if (id == PROP_STAGE_STATS) {
    gst_spdl_plain_stats_get_stats (self->stats, value);
    return;
  }
  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_LOCATION:
      g_value_set_string (value, self->location);
      break;
    case PROP_PATTERN:
      g_value_set_string (value, self->pattern);
      break;
    case PROP_LABEL:
      g_value_set_enum (value, self->label);
      break;
    case PROP_EPOCHS:
      g_value_set_int64 (value, self->epochs);
      break;
    case PROP_NUM_ITEMS:
      g_value_set_uint64 (value, self->n_items);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_spdl_src_element_finalize (GObject *object)
{
  GstSpdlSrcElement *self = GST_SPDL_SRC_ELEMENT (object);

  g_free (self->location);
  g_free (self->pattern);
  gst_spdl_plain_stats_free (self->stats);
  G_OBJECT_CLASS (gst_spdl_src_element_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *object_class)
{
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;

  properties[PROP_LOCATION] = g_param_spec_string ("location", "Location",
      "A folder, or a .txt list with a path or URI (and, behind a tab, a "
      "label) "
      "a line",
      NULL, flags | GST_PARAM_MUTABLE_READY);
  properties[PROP_PATTERN] = g_param_spec_string ("pattern", "Pattern",
      "Which files of a folder are items: a glob on the name, whatever its "
      "case, "
      "such as *.@(jpg|jpeg)",
      DEFAULT_PATTERN, flags | GST_PARAM_MUTABLE_READY);
  properties[PROP_LABEL] =
      g_param_spec_enum ("label", "Label", "Where an item's label comes from",
          GST_TYPE_SPDL_LABEL, DEFAULT_LABEL, flags | GST_PARAM_MUTABLE_READY);
  properties[PROP_EPOCHS] = g_param_spec_int64 ("epochs", "Epochs",
      "Passes over the dataset (-1 = endless)", -1, G_MAXINT64, DEFAULT_EPOCHS,
      flags | GST_PARAM_MUTABLE_PLAYING);
  properties[PROP_NUM_ITEMS] = g_param_spec_uint64 ("num-items",
      "Number of items", "Items of an epoch, known once the state is PAUSED", 0,
      G_MAXUINT64, 0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);
  gst_spdl_install_stats_properties (object_class, PROP_STATS_INTERVAL);
  gst_type_mark_as_plugin_api (GST_TYPE_SPDL_LABEL, 0);
}

static void
gst_spdl_src_element_class_init (GstSpdlSrcElementClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *base_class = GST_BASE_SRC_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (spdl_src_debug, "spdlsrc", 0, "Dataset source");
  object_class->set_property = gst_spdl_src_element_set_property;
  object_class->get_property = gst_spdl_src_element_get_property;
  object_class->finalize = gst_spdl_src_element_finalize;
  install_properties (object_class);

  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Dataset source",
      "Source", "Sends the URIs of a dataset's items, epoch by epoch",
      "the gst-spdl developers");

  element_class->change_state = gst_spdl_src_element_change_state;
  base_class->is_seekable = gst_spdl_src_element_is_seekable;
  GST_PUSH_SRC_CLASS (klass)->create = gst_spdl_src_element_create;
}

static void
gst_spdl_src_element_init (GstSpdlSrcElement *self)
{
  self->label = DEFAULT_LABEL;
  self->pattern = g_strdup (DEFAULT_PATTERN);
  self->epochs = DEFAULT_EPOCHS;
  self->stats = gst_spdl_plain_stats_new (GST_ELEMENT (self), 0);
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
}
