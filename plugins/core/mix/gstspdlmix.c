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

#include "gst/spdl/common/propertytable.h"
#include "plugins/core/core.h"
#include "plugins/core/mix/mix-private.h"

GST_DEBUG_CATEGORY_STATIC (spdl_mix_debug);
#define GST_CAT_DEFAULT spdl_mix_debug

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink_%u", GST_PAD_SINK, GST_PAD_REQUEST, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

SPDL_DEFINE_ENUM_TYPE (GstSpdlMixOrder, mix_order,
    { SPDL_MIX_WEIGHTED, "In proportion to the weights", "weighted" },
    { SPDL_MIX_ARRIVAL, "In order of arrival", "arrival" })

SPDL_DEFINE_ENUM_TYPE (GstSpdlMixUnit, mix_unit,
    { SPDL_MIX_ITEMS, "Items", "items" },
    { SPDL_MIX_TOKENS, "Tokens of the items", "tokens" })

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
  SPDL_PROPERTY_ENUM (SpdlMixSettings, unit, READY, "unit", "Unit",
      "Unit of the proportions", mix_unit_get_type, SPDL_MIX_ITEMS),
  SPDL_PROPERTY_DOUBLE (SpdlMixSettings, temperature, READY, "temperature",
      "Temperature",
      "Use the weights to the power of 1/temperature; above 1, small ones "
      "count "
      "more",
      1e-3, 1e3, 1.0),
  SPDL_PROPERTY_STRING (SpdlMixSettings, schedule, READY, "schedule",
      "Schedule",
      "Stages that replace the weights: \"0: 3,1; 1e9: 1,1\" has other weights "
      "of the pads after 1e9 units of all pads (unset = none)",
      NULL),
  SPDL_PROPERTY_END
};

G_DEFINE_FINAL_TYPE (
    GstSpdlMix, gst_spdl_mix, gst_spdl_numbered_pads_get_type ())
GST_ELEMENT_REGISTER_DEFINE (
    spdlmix, "spdlmix", GST_RANK_NONE, GST_TYPE_SPDL_MIX)

/* Sink pads */

G_DEFINE_FINAL_TYPE (
    GstSpdlMixPad, gst_spdl_mix_pad, gst_spdl_numbered_pad_get_type ())

static const SpdlProperty pad_properties[] = {
  SPDL_PROPERTY_DOUBLE (GstSpdlMixPad, weight, READY, "weight", "Weight",
      "Share of this pad's items, relative to the sum of all weights; above 0; "
      "read when the state changes from READY to PAUSED",
      -G_MAXDOUBLE, G_MAXDOUBLE, 1.0),
  SPDL_PROPERTY_END
};

/* Forgets the run. */
static void
reset_pad (GstSpdlMixPad *self)
{
  self->is_part = self->seen = self->waiting = FALSE;
  self->ended = self->in_epoch = FALSE;
  self->epoch = self->count = 0;
  g_queue_clear_full (&self->pending_ends, (GDestroyNotify) gst_event_unref);
  g_array_set_size (self->sources, 0);
  gst_clear_caps (&self->caps);
  gst_clear_event (&self->segment);
}

static void
gst_spdl_mix_pad_finalize (GObject *object)
{
  GstSpdlMixPad *self = GST_SPDL_MIX_PAD (object);

  reset_pad (self);
  g_array_unref (self->sources);
  spdl_cond_clear (&self->called);
  G_OBJECT_CLASS (gst_spdl_mix_pad_parent_class)->finalize (object);
}

/* Functions of a pad need its direction. */
static void
gst_spdl_mix_pad_constructed (GObject *object)
{
  G_OBJECT_CLASS (gst_spdl_mix_pad_parent_class)->constructed (object);
  spdl_mix_flow_init_pad (GST_SPDL_MIX_PAD (object));
}

static void
gst_spdl_mix_pad_class_init (GstSpdlMixPadClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->constructed = gst_spdl_mix_pad_constructed;
  object_class->finalize = gst_spdl_mix_pad_finalize;
  gst_spdl_property_table_implement (pad_properties, object_class, 0);
}

static void
gst_spdl_mix_pad_init (GstSpdlMixPad *self)
{
  gst_spdl_property_table_init (pad_properties, self);
  self->used_weight = 1;
  self->flushing = TRUE;
  self->sources = g_array_new (FALSE, FALSE, sizeof (SpdlMixSource));
  g_queue_init (&self->pending_ends);
  spdl_cond_init (&self->called);
}

/* Pads */

/* A pad that is added to a mix with proportions would change them. */
static gboolean
may_add_pad (GstSpdlNumberedPads *base)
{
  return !base->started || GST_SPDL_MIX (base)->used.order == SPDL_MIX_ARRIVAL;
}

/* Removes a pad. It is deactivated first, so that its thread stops waiting for
 * a turn. */
static void
remove_pad (GstSpdlNumberedPads *base, GstSpdlNumberedPad *pad)
{
  GstSpdlMix *self = GST_SPDL_MIX (base);

  gst_pad_set_active (GST_PAD (pad), FALSE);
  spdl_mutex_lock (&base->lock);
  if (self->turn == GST_SPDL_MIX_PAD (pad))
    self->turn = NULL;
  g_ptr_array_remove (base->pads, pad);
  spdl_mix_schedule (self);
  spdl_mutex_unlock (&base->lock);
}

/* State changes */

/* Lock held. Reads and checks the weight of a pad. Changes apply at the next
 * start. */
static gboolean
take_weight (GstSpdlMixPad *pad, gdouble temperature, GError **error)
{
  GST_OBJECT_LOCK (pad);
  pad->used_weight = pad->weight;
  GST_OBJECT_UNLOCK (pad);
  if (temperature != 1 && pad->used_weight > 0)
    pad->used_weight = pow (pad->used_weight, 1 / temperature);
  if (pad->used_weight > 0 && isfinite (pad->used_weight))
    return TRUE;
  g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
      "The weight of %s is %g, but must be above 0, and finite with the "
      "temperature: remove a pad that should send nothing",
      GST_OBJECT_NAME (pad), pad->used_weight);
  return FALSE;
}

/* Lock held. Resets the pads. Pads that are not linked do not take part until
 * they receive data. */
static gboolean
start_pads (GstSpdlMix *self, GError **error)
{
  spdl_numbered_pads_reset_counts (&self->base);
  for (guint i = 0; i < self->base.pads->len; i++) {
    GstSpdlMixPad *pad = g_ptr_array_index (self->base.pads, i);

    reset_pad (pad);
    pad->is_part = gst_pad_is_linked (GST_PAD (pad));
    pad->place = i;
    if (!take_weight (pad, self->used.temperature, error))
      return FALSE;
  }
  return TRUE;
}

/* Lock held. Reads the settings, which apply until the element stops, and
 * resets the state. */
static gboolean
start_mix (GstSpdlMix *self, GError **error)
{
  g_autofree gchar *schedule = NULL;

  GST_OBJECT_LOCK (self);
  self->used = self->settings;
  self->used.schedule = NULL;
  schedule = g_strdup (self->settings.schedule);
  GST_OBJECT_UNLOCK (self);
  if (self->used.stop == SPDL_MIX_REPEAT &&
      self->used.order == SPDL_MIX_ARRIVAL) {
    g_set_error_literal (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        "stopping-strategy=all-exhausted needs order=weighted: in order of "
        "arrival, a small source could supply all items");
    return FALSE;
  }
  if (!start_pads (self, error) ||
      (schedule && !(self->stages = spdl_mix_stages_parse (
                         schedule, self->base.pads->len, error))))
    return FALSE;
  self->begun = self->over = FALSE;
  self->turn = NULL;
  self->next_ticket = self->epoch = 0;
  self->result = GST_FLOW_OK;
  self->base.started = TRUE;
  return TRUE;
}

static gboolean
gst_spdl_mix_start (GstSpdlFilter *filter, GError **error)
{
  GstSpdlMix *self = GST_SPDL_MIX (filter);
  gboolean ok;

  spdl_mutex_lock (&self->base.lock);
  ok = start_mix (self, error);
  spdl_mutex_unlock (&self->base.lock);
  return ok;
}

static void
gst_spdl_mix_stop (GstSpdlFilter *filter)
{
  GstSpdlMix *self = GST_SPDL_MIX (filter);

  spdl_mutex_lock (&self->base.lock);
  self->base.started = FALSE;
  self->turn = NULL;
  g_clear_pointer (&self->stages, spdl_mix_stages_free);
  for (guint i = 0; i < self->base.pads->len; i++)
    reset_pad (g_ptr_array_index (self->base.pads, i));
  spdl_mix_flow_reset (self);
  spdl_mutex_unlock (&self->base.lock);
}

/* Class */

static void
gst_spdl_mix_finalize (GObject *object)
{
  GstSpdlMix *self = GST_SPDL_MIX (object);

  spdl_mix_flow_reset (self);
  g_hash_table_unref (self->announced);
  spdl_cond_clear (&self->idle);
  gst_spdl_property_table_clear (properties, &self->settings);
  G_OBJECT_CLASS (gst_spdl_mix_parent_class)->finalize (object);
}

static void
gst_spdl_mix_class_init (GstSpdlMixClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstSpdlFilterClass *filter_class = GST_SPDL_FILTER_CLASS (klass);
  GstSpdlNumberedPadsClass *pads_class = GST_SPDL_NUMBERED_PADS_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (spdl_mix_debug, "spdlmix", 0, "Mixing of streams");
  object_class->finalize = gst_spdl_mix_finalize;
  gst_spdl_property_table_implement (
      properties, object_class, G_STRUCT_OFFSET (GstSpdlMix, settings));

  gst_element_class_add_static_pad_template_with_gtype (
      element_class, &sink_template, GST_TYPE_SPDL_MIX_PAD);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Item mixer", "Generic",
      "Mixes several streams into one, in given proportions",
      "the gst-spdl developers");
  filter_class->fields = GST_SPDL_FIELDS_PUT;
  filter_class->start = gst_spdl_mix_start;
  filter_class->stop = gst_spdl_mix_stop;
  pads_class->pad_type = GST_TYPE_SPDL_MIX_PAD;
  pads_class->may_add = may_add_pad;
  pads_class->remove = remove_pad;
  gst_type_mark_as_plugin_api (GST_TYPE_SPDL_MIX_PAD, 0);
}

static void
gst_spdl_mix_init (GstSpdlMix *self)
{
  GstPad *srcpad = self->base.parent.srcpad;

  gst_spdl_property_table_init (properties, &self->settings);
  spdl_cond_init (&self->idle);
  self->announced = g_hash_table_new (NULL, NULL);
  gst_pad_use_fixed_caps (srcpad);
  gst_spdl_caps_gate_init (&self->gate, srcpad);
}
