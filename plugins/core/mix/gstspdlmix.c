/* gst-spdl: element spdlmix
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:element-spdlmix
 * @title: spdlmix
 * @short_description: combines several streams in given proportions
 *
 * Forwards items from its sink pads. With `order=weighted`, the proportions
 * follow the `weight` of each pad. With `order=arrival`, items are forwarded as
 * they arrive. The element has no thread and no queue: the upstream thread of a
 * pad pushes its item when it is the pad's turn.
 *
 * ## Proportions
 * The order depends only on `seed`, the weights and the number of items from
 * each pad, and not on time. It is the same in each run, however fast the
 * sources are, and a resumed run continues it. If a pad has the share w of the
 * weights, then of each n items since the start of the epoch, w n items come
 * from this pad, within 1 + (k - 2) w items for k pads. A pad that has ended
 * leaves its share to the others. A group counts as its number of items.
 *
 * ## Epochs
 * - `stopping-strategy=all-exhausted-without-replacement`: an epoch ends when
 *   all pads have reached its end. Pads that get there first wait, and the
 *   others continue.
 * - `stopping-strategy=first-exhausted`: an epoch ends with the first pad that
 *   ends it, and the stream with the first pad that ends. No pad waits.
 * - `stopping-strategy=all-exhausted`: smaller sources start again until the
 *   largest one has reached its end. Each source that starts again needs
 *   `epochs=-1`; otherwise an error names the number of epochs that it needs.
 *
 * ## Threads
 * Each pad needs a separate thread; `spdlsrc` and each stage provide one.
 * Join the branches of one `spdlroute` with `order=arrival`. With proportions,
 * the element could wait for an item that is queued after the one that waits.
 *
 * ## Example
 * Two folders; four of five items come from the first one:
 * |[
 * gst-launch-1.0 spdlmix name=m sink_0::weight=4 seed=1 ! spdlfetch ! fakesink
 *     spdlsrc location=/usr/share/icons pattern="*.png" ! m.sink_0
 *     spdlsrc location=/usr/share/pixmaps pattern="*.*" ! m.sink_1
 * ]|
 *
 * Since: 0.1
 */

#include <math.h>
#include <stdio.h>

#include "gst/spdl/common/propertytable.h"
#include "gst/spdl/stage/droppeditems.h"
#include "plugins/core/core.h"
#include "plugins/core/mix/mix-private.h"
#include "plugins/core/padchildren.h"

GST_DEBUG_CATEGORY_STATIC (spdl_mix_debug);
#define GST_CAT_DEFAULT spdl_mix_debug

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink_%u", GST_PAD_SINK, GST_PAD_REQUEST, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

SPDL_DEFINE_ENUM_TYPE (GstSpdlMixOrder, mix_order,
    { SPDL_MIX_WEIGHTED, "In proportion to the weights", "weighted" },
    { SPDL_MIX_ARRIVAL, "In order of arrival", "arrival" })

SPDL_DEFINE_ENUM_TYPE (GstSpdlMixStoppingStrategy, stopping_strategy,
    { SPDL_MIX_FIRST, "When the first pad ends", "first-exhausted" },
    { SPDL_MIX_ALL, "When all pads have ended",
        "all-exhausted-without-replacement" },
    { SPDL_MIX_REPEAT, "When the largest source ends; smaller sources repeat",
        "all-exhausted" })

static const SpdlProperty properties[] = {
  SPDL_PROPERTY_UINT64 (SpdlMixSettings, seed, READY, "seed", "Seed",
      "Seed of the order in which pads are read, within their proportions", 0,
      G_MAXUINT64, 0),
  SPDL_PROPERTY_ENUM (SpdlMixSettings, order, READY, "order", "Order",
      "Order of the items: by the weights of the pads, or by arrival",
      mix_order_get_type, SPDL_MIX_WEIGHTED),
  SPDL_PROPERTY_ENUM (SpdlMixSettings, stop, READY, "stopping-strategy",
      "Stopping strategy", "Condition that ends an epoch and the stream",
      stopping_strategy_get_type, SPDL_MIX_ALL),
  SPDL_PROPERTY_END
};

enum {
  PROP_0,
  PROP_SETTINGS, /* first property of the table */
  PROP_STATS_INTERVAL = PROP_SETTINGS + G_N_ELEMENTS (properties) - 1,
  PROP_STAGE_STATS,
};

G_DEFINE_FINAL_TYPE_WITH_CODE (GstSpdlMix, gst_spdl_mix, GST_TYPE_ELEMENT,
    G_IMPLEMENT_INTERFACE (GST_TYPE_CHILD_PROXY, spdl_padding_children_init))
GST_ELEMENT_REGISTER_DEFINE (
    spdlmix, "spdlmix", GST_RANK_NONE, GST_TYPE_SPDL_MIX)

/* Sink pads */

enum {
  PAD_PROP_0,
  PAD_PROP_WEIGHT,
  PAD_PROP_NUM_ITEMS,
};

#define DEFAULT_WEIGHT 1.0

G_DEFINE_FINAL_TYPE (GstSpdlMixPad, gst_spdl_mix_pad, GST_TYPE_PAD)

static GstSpdlMix *
dup_mix (GstSpdlMixPad *self)
{
  return (GstSpdlMix *) gst_object_get_parent (GST_OBJECT (self));
}

/* Returns the counter of a pad, which the lock of the mix guards. */
static guint64
get_num_items (GstSpdlMixPad *self)
{
  GstSpdlMix *mix = dup_mix (self);
  guint64 n;

  if (!mix)
    return self->n_items;
  spdl_mutex_lock (&mix->lock);
  n = self->n_items;
  spdl_mutex_unlock (&mix->lock);
  gst_object_unref (mix);
  return n;
}

static void
gst_spdl_mix_pad_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstSpdlMixPad *self = GST_SPDL_MIX_PAD (object);

  if (id != PAD_PROP_WEIGHT) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    return;
  }
  GST_OBJECT_LOCK (self);
  self->weight = g_value_get_double (value);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_spdl_mix_pad_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstSpdlMixPad *self = GST_SPDL_MIX_PAD (object);

  switch (id) {
    case PAD_PROP_WEIGHT:
      GST_OBJECT_LOCK (self);
      g_value_set_double (value, self->weight);
      GST_OBJECT_UNLOCK (self);
      break;
    case PAD_PROP_NUM_ITEMS:
      g_value_set_uint64 (value, get_num_items (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
}

static void
gst_spdl_mix_pad_finalize (GObject *object)
{
  GstSpdlMixPad *self = GST_SPDL_MIX_PAD (object);

  spdl_mix_pad_reset (self);
  g_array_unref (self->sources);
  spdl_cond_clear (&self->called);
  G_OBJECT_CLASS (gst_spdl_mix_pad_parent_class)->finalize (object);
}

static void
gst_spdl_mix_pad_class_init (GstSpdlMixPadClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->set_property = gst_spdl_mix_pad_set_property;
  object_class->get_property = gst_spdl_mix_pad_get_property;
  object_class->finalize = gst_spdl_mix_pad_finalize;
  g_object_class_install_property (object_class, PAD_PROP_WEIGHT,
      g_param_spec_double ("weight", "Weight",
          "Share of this pad's items, relative to the sum of all weights; "
          "above 0; read when the state changes from READY to PAUSED",
          -G_MAXDOUBLE, G_MAXDOUBLE, DEFAULT_WEIGHT,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
              GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (object_class, PAD_PROP_NUM_ITEMS,
      g_param_spec_uint64 ("num-items", "Number of items",
          "Number of items received on this pad since the start", 0,
          G_MAXUINT64, 0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
gst_spdl_mix_pad_init (GstSpdlMixPad *self)
{
  self->weight = DEFAULT_WEIGHT;
  self->flushing = TRUE;
  self->sources = g_array_new (FALSE, FALSE, sizeof (SpdlMixSource));
  g_queue_init (&self->pending_ends);
  spdl_cond_init (&self->called);
}

void
spdl_mix_pad_reset (GstSpdlMixPad *self)
{
  self->is_part = self->seen = self->waiting = FALSE;
  self->ended = self->in_epoch = FALSE;
  self->epoch = self->count = 0;
  g_queue_clear_full (&self->pending_ends, (GDestroyNotify) gst_event_unref);
  g_array_set_size (self->sources, 0);
  gst_clear_caps (&self->caps);
  gst_clear_event (&self->segment);
}

static GstSpdlMixPad *
spdl_mix_pad_new (GstPadTemplate *templ, guint number)
{
  g_autofree gchar *name = g_strdup_printf ("sink_%u", number);
  GstSpdlMixPad *self = g_object_new (GST_TYPE_SPDL_MIX_PAD, "name", name,
      "direction", GST_PAD_SINK, "template", templ, NULL);

  self->number = number;
  spdl_mix_flow_init_pad (self);
  return self;
}

/* Pads */

/* Lock held. Returns TRUE if a pad has that number. */
static gboolean
has_number (const GstSpdlMix *self, guint number)
{
  for (guint i = 0; i < self->pads->len; i++)
    if (GST_SPDL_MIX_PAD (g_ptr_array_index (self->pads, i))->number == number)
      return TRUE;
  return FALSE;
}

/* Lock held. Creates a pad with the number in @name, or with the lowest free
 * number. Returns NULL if the number is in use, or if mixing with proportions
 * has started. */
static GstSpdlMixPad *
make_pad (GstSpdlMix *self, GstPadTemplate *templ, const gchar *name)
{
  guint number = 0;
  GstSpdlMixPad *pad;

  if (self->started && self->used.order == SPDL_MIX_WEIGHTED)
    return NULL;
  if (!name || sscanf (name, "sink_%u", &number) != 1)
    while (has_number (self, number))
      number++;
  else if (has_number (self, number))
    return NULL;
  pad = spdl_mix_pad_new (templ, number);
  pad->used_weight = 1;
  g_ptr_array_add (self->pads, gst_object_ref_sink (pad));
  return pad;
}

static GstPad *
gst_spdl_mix_request_new_pad (GstElement *element, GstPadTemplate *templ,
    const gchar *name, const GstCaps *caps)
{
  GstSpdlMix *self = GST_SPDL_MIX (element);
  GstSpdlMixPad *pad;

  spdl_mutex_lock (&self->lock);
  pad = make_pad (self, templ, name);
  spdl_mutex_unlock (&self->lock);
  if (!pad) {
    GST_WARNING_OBJECT (
        self, "cannot add a pad: the name is taken, or mixing has started");
    return NULL;
  }
  gst_element_add_pad (element, GST_PAD (pad));
  gst_child_proxy_child_added (
      GST_CHILD_PROXY (self), G_OBJECT (pad), GST_OBJECT_NAME (pad));
  return GST_PAD (pad);
}

/* Removes a pad. It is deactivated first, so that its thread stops waiting for
 * a turn. */
static void
gst_spdl_mix_release_pad (GstElement *element, GstPad *pad)
{
  GstSpdlMix *self = GST_SPDL_MIX (element);

  gst_object_ref (pad);
  gst_pad_set_active (pad, FALSE);
  spdl_mutex_lock (&self->lock);
  if (self->turn == GST_SPDL_MIX_PAD (pad))
    self->turn = NULL;
  g_ptr_array_remove (self->pads, pad);
  spdl_mix_schedule (self);
  spdl_mutex_unlock (&self->lock);
  gst_child_proxy_child_removed (
      GST_CHILD_PROXY (self), G_OBJECT (pad), GST_OBJECT_NAME (pad));
  gst_element_remove_pad (element, pad);
  gst_object_unref (pad);
}

/* State changes */

/* Lock held. Reads and checks the weight of a pad. Changes apply at the next
 * start. */
static gboolean
take_weight (GstSpdlMixPad *pad, GError **error)
{
  GST_OBJECT_LOCK (pad);
  pad->used_weight = pad->weight;
  GST_OBJECT_UNLOCK (pad);
  if (pad->used_weight > 0 && isfinite (pad->used_weight))
    return TRUE;
  g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
      "The weight of %s is %g, but must be above 0: remove a pad that should "
      "send nothing",
      GST_OBJECT_NAME (pad), pad->used_weight);
  return FALSE;
}

/* Lock held. Resets the pads. Pads that are not linked do not take part until
 * they receive data. */
static gboolean
start_pads (GstSpdlMix *self, GError **error)
{
  for (guint i = 0; i < self->pads->len; i++) {
    GstSpdlMixPad *pad = g_ptr_array_index (self->pads, i);

    spdl_mix_pad_reset (pad);
    pad->n_items = pad->n_interval_items = 0;
    pad->is_part = gst_pad_is_linked (GST_PAD (pad));
    if (!take_weight (pad, error))
      return FALSE;
  }
  return TRUE;
}

/* Lock held. Reads the settings, which apply until the element stops, and
 * resets the state. */
static gboolean
start_mix (GstSpdlMix *self, GError **error)
{
  GST_OBJECT_LOCK (self);
  self->used = self->settings;
  GST_OBJECT_UNLOCK (self);
  if (self->used.stop == SPDL_MIX_REPEAT &&
      self->used.order == SPDL_MIX_ARRIVAL) {
    g_set_error_literal (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        "stopping-strategy=all-exhausted needs order=weighted: in order of "
        "arrival, a small source could supply all items");
    return FALSE;
  }
  if (!start_pads (self, error))
    return FALSE;
  self->begun = self->over = FALSE;
  self->turn = NULL;
  self->next_ticket = self->epoch = 0;
  self->result = GST_FLOW_OK;
  self->started = TRUE;
  return TRUE;
}

static gboolean
try_to_start (GstSpdlMix *self)
{
  g_autoptr (GError) error = NULL;
  gboolean ok;

  spdl_mutex_lock (&self->lock);
  ok = start_mix (self, &error);
  spdl_mutex_unlock (&self->lock);
  if (ok)
    gst_spdl_plain_stats_start (self->stats);
  else
    gst_spdl_post_error (GST_ELEMENT (self), error);
  return ok;
}

static void
stop_mix (GstSpdlMix *self)
{
  gst_spdl_plain_stats_stop (self->stats);
  spdl_mutex_lock (&self->lock);
  self->started = FALSE;
  self->turn = NULL;
  for (guint i = 0; i < self->pads->len; i++)
    spdl_mix_pad_reset (g_ptr_array_index (self->pads, i));
  spdl_mix_flow_reset (self);
  spdl_mutex_unlock (&self->lock);
}

static GstStateChangeReturn
gst_spdl_mix_change_state (GstElement *element, GstStateChange transition)
{
  GstSpdlMix *self = GST_SPDL_MIX (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !try_to_start (self))
    return GST_STATE_CHANGE_FAILURE;
  ret = GST_ELEMENT_CLASS (gst_spdl_mix_parent_class)
            ->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY ||
      (transition == GST_STATE_CHANGE_READY_TO_PAUSED &&
          ret == GST_STATE_CHANGE_FAILURE))
    stop_mix (self);
  return ret;
}

/* Adds the statistics of each pad. */
static void
add_figures (GstElement *element, const SpdlMeterStats *stats, GstStructure *s)
{
  GstSpdlMix *self = GST_SPDL_MIX (element);
  const gboolean interval = stats->interval;

  spdl_mutex_lock (&self->lock);
  for (guint i = 0; i < self->pads->len; i++) {
    GstSpdlMixPad *pad = g_ptr_array_index (self->pads, i);
    g_autofree gchar *field =
        g_strdup_printf ("num-items-%s", GST_OBJECT_NAME (pad));

    gst_structure_set (s, field, G_TYPE_UINT64,
        interval ? pad->n_interval_items : pad->n_items, NULL);
    if (interval)
      pad->n_interval_items = 0;
  }
  spdl_mutex_unlock (&self->lock);
}

/* Class */

static void
gst_spdl_mix_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstSpdlMix *self = GST_SPDL_MIX (object);

  if (id == PROP_STATS_INTERVAL)
    gst_spdl_plain_stats_set_interval (self->stats, value);
  else
    gst_spdl_property_table_set (
        properties, &self->settings, id - PROP_SETTINGS, value, object, pspec);
}

static void
gst_spdl_mix_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstSpdlMix *self = GST_SPDL_MIX (object);

  if (id == PROP_STATS_INTERVAL)
    gst_spdl_plain_stats_get_interval (self->stats, value);
  else if (id == PROP_STAGE_STATS)
    gst_spdl_plain_stats_get_stats (self->stats, value);
  else
    gst_spdl_property_table_get (
        properties, &self->settings, id - PROP_SETTINGS, value, object, pspec);
}

static void
gst_spdl_mix_finalize (GObject *object)
{
  GstSpdlMix *self = GST_SPDL_MIX (object);

  gst_spdl_plain_stats_free (self->stats);
  spdl_mix_flow_reset (self);
  g_hash_table_unref (self->announced);
  g_ptr_array_unref (self->pads);
  spdl_cond_clear (&self->idle);
  spdl_mutex_clear (&self->lock);
  G_OBJECT_CLASS (gst_spdl_mix_parent_class)->finalize (object);
}

static void
gst_spdl_mix_class_init (GstSpdlMixClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (spdl_mix_debug, "spdlmix", 0, "Mixing of streams");
  object_class->set_property = gst_spdl_mix_set_property;
  object_class->get_property = gst_spdl_mix_get_property;
  object_class->finalize = gst_spdl_mix_finalize;
  gst_spdl_property_table_install (properties, object_class, PROP_SETTINGS);
  gst_spdl_install_stats_properties (object_class, PROP_STATS_INTERVAL);

  gst_element_class_add_static_pad_template_with_gtype (
      element_class, &sink_template, GST_TYPE_SPDL_MIX_PAD);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Item mixer", "Generic",
      "Mixes several streams into one, in given proportions",
      "the gst-spdl developers");
  element_class->request_new_pad = gst_spdl_mix_request_new_pad;
  element_class->release_pad = gst_spdl_mix_release_pad;
  element_class->change_state = gst_spdl_mix_change_state;
  gst_type_mark_as_plugin_api (GST_TYPE_SPDL_MIX_PAD, 0);
}

static void
gst_spdl_mix_init (GstSpdlMix *self)
{
  gst_spdl_property_table_init (properties, &self->settings);
  spdl_mutex_init (&self->lock);
  spdl_cond_init (&self->idle);
  self->pads = g_ptr_array_new_with_free_func (gst_object_unref);
  self->announced = g_hash_table_new (NULL, NULL);
  self->stats =
      gst_spdl_plain_stats_new (GST_ELEMENT (self), GST_SPDL_FIELDS_PUT);
  self->stats->add_figures = add_figures;

  self->srcpad = gst_pad_new_from_static_template (&src_template, "src");
  gst_pad_use_fixed_caps (self->srcpad);
  gst_element_add_pad (GST_ELEMENT (self), self->srcpad);
  gst_spdl_caps_gate_init (&self->gate, self->srcpad);
}
