/* gst-spdl: element spdlroute
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:element-spdlroute
 * @title: spdlroute
 * @short_description: sends items to different branches
 *
 * Sends each item to the first source pad whose `condition` holds, in the order
 * in which the pads were requested:
 *
 * - `label=3`: the item's label
 * - `uri=*.png`: a glob on the URI that ignores case
 * - `caps=image/png`: caps of which those of the item are a subset
 * - `extra.FIELD=VALUE`: a field of the item's `extra`
 *
 * A pad without `condition` takes all remaining items. For an item that no pad
 * takes, the element announces downstream that it will not come, and counts it
 * in `num-filtered`. A group is split into one group per branch.
 *
 * Instead of conditions, a function of the application can choose the pad of
 * each item: connect it to the signal `select-branch`.
 *
 * `spdlmix order=arrival` joins the branches again.
 *
 * ## Branches
 * Events are sent to all branches. Only `spdl-items-dropped` is sent to one
 * branch, so that its items are counted once. Caps are sent to a branch before
 * the first item that has them.
 *
 * Each branch must start with a stage or a `queue`, as after a `tee`, so that
 * it has a thread. A full branch delays further items of the other branches,
 * but not their end.
 *
 * A branch that has ended or failed takes no more items. Its items are counted
 * in `num-refused` and come again only when a run resumes. The other branches
 * continue; the stream ends when no branch is left.
 *
 * ## Example
 * JPEGs are decoded by one stage, PNGs by another:
 * |[
 * gst-launch-1.0 spdlsrc location=/usr/share/icons
 *     ! spdlroute name=r src_0::condition="uri=*.png"
 *     r.src_0 ! spdlfetch concurrency=4 ! spdldecode width=64 height=64 ! m.
 *     r.src_1 ! spdlfetch ! m.
 *     spdlmix name=m order=arrival ! fakesink
 * ]|
 *
 * Since: 0.1
 */

#include "gst/spdl/stage/failure.h"
#include "gst/spdl/stage/capsgate.h"
#include "plugins/core/core.h"
#include "plugins/core/route/route-private.h"

GST_DEBUG_CATEGORY_STATIC (spdl_route_debug);
#define GST_CAT_DEFAULT spdl_route_debug

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src_%u", GST_PAD_SRC, GST_PAD_REQUEST, GST_STATIC_CAPS_ANY);

enum {
  SIGNAL_SELECT_BRANCH,
  N_SIGNALS,
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (
    GstSpdlRoute, gst_spdl_route, gst_spdl_numbered_pads_get_type ())
GST_ELEMENT_REGISTER_DEFINE (
    spdlroute, "spdlroute", GST_RANK_NONE, GST_TYPE_SPDL_ROUTE)

/* Source pads */

G_DEFINE_FINAL_TYPE (
    GstSpdlRoutePad, gst_spdl_route_pad, gst_spdl_numbered_pad_get_type ())

static GstSpdlRoute *
dup_route (GstSpdlRoutePad *self)
{
  return (GstSpdlRoute *) gst_object_get_parent (GST_OBJECT (self));
}

/* Posts an error of a condition that was set after the start. */
static void
report_parse_error (GstSpdlRoutePad *self, const GError *problem)
{
  GstSpdlRoute *route = dup_route (self);
  gboolean started;

  if (!route)
    return;
  spdl_mutex_lock (&route->base.lock);
  started = route->base.started;
  spdl_mutex_unlock (&route->base.lock);
  if (started)
    gst_spdl_post_error (GST_ELEMENT (route), problem);
  gst_object_unref (route);
}

static void
set_when (GstSpdlRoutePad *self, const gchar *when)
{
  GError *problem = NULL;
  g_autoptr (GError) warning = NULL;
  SpdlCondition *condition =
      when ? spdl_condition_parse (when, &problem) : NULL;

  if (problem) {
    g_prefix_error (&problem, "%s: ", GST_OBJECT_NAME (self));
    warning = g_error_copy (problem);
  }
  GST_OBJECT_LOCK (self);
  g_free (self->when);
  self->when = g_strdup (when);
  g_clear_error (&self->problem);
  self->problem = problem;
  g_clear_pointer (&self->condition, spdl_condition_free);
  self->condition = condition;
  GST_OBJECT_UNLOCK (self);
  if (warning)
    report_parse_error (self, warning);
}

static void
gst_spdl_route_pad_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  set_when (GST_SPDL_ROUTE_PAD (object), g_value_get_string (value));
}

static void
gst_spdl_route_pad_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GST_OBJECT_LOCK (object);
  g_value_set_string (value, GST_SPDL_ROUTE_PAD (object)->when);
  GST_OBJECT_UNLOCK (object);
}

static void
reset_pad (GstSpdlRoutePad *self)
{
  g_queue_clear_full (&self->ends, (GDestroyNotify) gst_event_unref);
  gst_spdl_caps_gate_clear (&self->gate);
  self->is_new = TRUE;
  self->result = GST_FLOW_OK;
}

static void
gst_spdl_route_pad_finalize (GObject *object)
{
  GstSpdlRoutePad *self = GST_SPDL_ROUTE_PAD (object);

  spdl_route_join_ender (self);
  reset_pad (self);
  g_clear_pointer (&self->condition, spdl_condition_free);
  g_clear_error (&self->problem);
  g_free (self->when);
  G_OBJECT_CLASS (gst_spdl_route_pad_parent_class)->finalize (object);
}

static void
gst_spdl_route_pad_class_init (GstSpdlRoutePadClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->set_property = gst_spdl_route_pad_set_property;
  object_class->get_property = gst_spdl_route_pad_get_property;
  object_class->finalize = gst_spdl_route_pad_finalize;
  g_object_class_install_property (object_class, 1,
      g_param_spec_string ("condition", "Condition",
          "Condition for items to leave through this pad: label=NUMBER, "
          "uri=GLOB, caps=CAPS or extra.FIELD=VALUE (unset = all items that no "
          "other pad matches)",
          NULL,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
              GST_PARAM_MUTABLE_PLAYING));
}

static void
gst_spdl_route_pad_init (GstSpdlRoutePad *self)
{
  gst_spdl_caps_gate_init (&self->gate, GST_PAD (self));
  g_queue_init (&self->ends);
  self->is_new = TRUE;
  gst_pad_use_fixed_caps (GST_PAD (self));
}

/* Input */

static GstFlowReturn
gst_spdl_route_chain (GstSpdlFilter *filter, GstBuffer *buffer)
{
  return spdl_route_push_item (GST_SPDL_ROUTE (filter), buffer);
}

static GstFlowReturn
gst_spdl_route_chain_list (GstSpdlFilter *filter, GstBufferList *list)
{
  return spdl_route_push_group (GST_SPDL_ROUTE (filter), list);
}

static gboolean
handle_caps (GstSpdlRoute *self, GstEvent *event)
{
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  gst_caps_replace (&self->caps, caps);
  gst_event_unref (event);
  return TRUE;
}

/* Resets the branches. Joins their threads first, without the
 * lock, which the threads need. */
static void
gst_spdl_route_reset (GstSpdlFilter *filter)
{
  GstSpdlRoute *self = GST_SPDL_ROUTE (filter);

  spdl_route_wait_for_enders (self);
  spdl_mutex_lock (&self->base.lock);
  for (guint i = 0; i < self->base.pads->len; i++) {
    GstSpdlRoutePad *pad = g_ptr_array_index (self->base.pads, i);

    gst_spdl_caps_gate_flush (&pad->gate);
    pad->result = GST_FLOW_OK;
  }
  spdl_mutex_unlock (&self->base.lock);
}

static gboolean
gst_spdl_route_event (GstSpdlFilter *filter, GstEvent *event)
{
  GstSpdlRoute *self = GST_SPDL_ROUTE (filter);

  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS)
    return handle_caps (self, event);
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    gst_spdl_plain_stats_finish (filter->stats);
  if (GST_EVENT_IS_SERIALIZED (event) &&
      GST_EVENT_TYPE (event) != GST_EVENT_FLUSH_STOP)
    return spdl_route_push_event (self, event);
  return gst_pad_event_default (filter->sinkpad, GST_OBJECT (self), event);
}

/* Adds the caps that the peer of a pad accepts. */
static gboolean
add_caps (const GValue *item, GValue *all, gpointer filter)
{
  GstCaps *caps = gst_pad_peer_query_caps (g_value_get_object (item), filter);

  g_value_take_boxed (
      all, gst_caps_merge (gst_caps_copy (gst_value_get_caps (all)), caps));
  return TRUE;
}

static GstCaps *
find_caps (GstSpdlRoute *self, GstCaps *filter)
{
  GstIterator *pads = gst_element_iterate_src_pads (GST_ELEMENT (self));
  GValue found = G_VALUE_INIT;
  GstCaps *all;

  /* Start again if pads are added or removed meanwhile. */
  g_value_init (&found, GST_TYPE_CAPS);
  g_value_take_boxed (&found, gst_caps_new_empty ());
  while (gst_iterator_fold (pads, add_caps, &found, filter) ==
         GST_ITERATOR_RESYNC) {
    gst_iterator_resync (pads);
    g_value_take_boxed (&found, gst_caps_new_empty ());
  }
  all = g_value_dup_boxed (&found);
  g_value_unset (&found);
  gst_iterator_free (pads);
  /* Any caps are acceptable while there is no branch yet. */
  if (gst_caps_is_empty (all) &&
      gst_child_proxy_get_children_count (GST_CHILD_PROXY (self)) == 0)
    gst_caps_take (&all, filter ? gst_caps_ref (filter) : gst_caps_new_any ());
  return all;
}

static gboolean
route_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  GstCaps *filter, *caps;

  if (GST_QUERY_TYPE (query) != GST_QUERY_CAPS)
    return gst_pad_query_default (pad, parent, query);
  gst_query_parse_caps (query, &filter);
  caps = find_caps (GST_SPDL_ROUTE (parent), filter);
  gst_query_set_caps_result (query, caps);
  gst_caps_unref (caps);
  return TRUE;
}

/* Pads */

/* Removes a pad. It is deactivated before its thread is joined, so that a
 * blocked push returns. */
static void
remove_pad (GstSpdlNumberedPads *base, GstSpdlNumberedPad *pad)
{
  spdl_mutex_lock (&base->lock);
  g_ptr_array_remove (base->pads, pad);
  spdl_mutex_unlock (&base->lock);
  gst_pad_set_active (GST_PAD (pad), FALSE);
  spdl_route_join_ender (GST_SPDL_ROUTE_PAD (pad));
}

/* State changes */

/* Lock of the pad held. Returns (transfer full) (nullable) the problem of its
 * condition. */
static GError *
check_condition (GstSpdlRoute *self, GstSpdlRoutePad *pad)
{
  if (pad->problem)
    return g_error_copy (pad->problem);
  if (self->select_signal == 0 || !pad->when)
    return NULL;
  return g_error_new (GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
      "%s: condition is \"%s\", but a function is connected to the signal "
      "select-branch, which alone chooses the pads: unset condition",
      GST_OBJECT_NAME (pad), pad->when);
}

static gboolean
gst_spdl_route_start (GstSpdlFilter *filter, GError **error)
{
  GstSpdlRoute *self = GST_SPDL_ROUTE (filter);
  GError *problem = NULL;

  self->select_signal = 0;
  if (g_signal_has_handler_pending (
          self, signals[SIGNAL_SELECT_BRANCH], 0, FALSE))
    self->select_signal = signals[SIGNAL_SELECT_BRANCH];
  spdl_mutex_lock (&self->base.lock);
  for (guint i = 0; i < self->base.pads->len; i++) {
    GstSpdlRoutePad *pad = g_ptr_array_index (self->base.pads, i);

    reset_pad (pad);
    GST_OBJECT_LOCK (pad);
    if (!problem)
      problem = check_condition (self, pad);
    GST_OBJECT_UNLOCK (pad);
  }
  spdl_numbered_pads_reset_counts (&self->base);
  self->n_refused = self->n_interval_refused = 0;
  self->base.started = !problem;
  spdl_mutex_unlock (&self->base.lock);
  if (problem)
    g_propagate_error (error, problem);
  return problem == NULL;
}

static void
gst_spdl_route_stop (GstSpdlFilter *filter)
{
  GstSpdlRoute *self = GST_SPDL_ROUTE (filter);

  spdl_mutex_lock (&self->base.lock);
  self->base.started = FALSE;
  for (guint i = 0; i < self->base.pads->len; i++)
    reset_pad (g_ptr_array_index (self->base.pads, i));
  spdl_mutex_unlock (&self->base.lock);
  gst_clear_caps (&self->caps);
  g_hash_table_remove_all (self->sources);
}

static void
add_figures (
    GstSpdlNumberedPads *base, const SpdlMeterStats *stats, GstStructure *s)
{
  GstSpdlRoute *self = GST_SPDL_ROUTE (base);

  gst_structure_set (s, "num-filtered", G_TYPE_UINT64, stats->num_filtered,
      "num-refused", G_TYPE_UINT64,
      stats->interval ? self->n_interval_refused : self->n_refused, NULL);
  if (stats->interval)
    self->n_interval_refused = 0;
}

/* Class */

static void
gst_spdl_route_finalize (GObject *object)
{
  GstSpdlRoute *self = GST_SPDL_ROUTE (object);

  gst_clear_caps (&self->caps);
  g_hash_table_unref (self->sources);
  spdl_cond_clear (&self->ended);
  G_OBJECT_CLASS (gst_spdl_route_parent_class)->finalize (object);
}

static void
install_signals (GType type)
{
  /**
   * GstSpdlRoute::select-branch:
   * @element: the spdlroute
   * @sample: an item with its caps; of a group, one item after another. The
   *     #GstSpdlItemMeta is on the buffer
   *
   * Chooses the pad of an item, instead of the conditions of the pads. Connect
   * it before the start. The signal is emitted in the streaming thread, for one
   * item at a time. A pad that is not linked drops the item.
   *
   * If no pad has the number, or the handler returns no value, like a Python
   * function that raises an exception, the stream ends with an error.
   *
   * Returns: the number of the pad, such as 1 for `src_1`; -1 if the handler
   * has posted an error message
   *
   * Since: 0.1
   */
  signals[SIGNAL_SELECT_BRANCH] =
      g_signal_new ("select-branch", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
          NULL, G_TYPE_INT, 1, GST_TYPE_SAMPLE | G_SIGNAL_TYPE_STATIC_SCOPE);
}

static void
gst_spdl_route_class_init (GstSpdlRouteClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstSpdlFilterClass *filter_class = GST_SPDL_FILTER_CLASS (klass);
  GstSpdlNumberedPadsClass *pads_class = GST_SPDL_NUMBERED_PADS_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (spdl_route_debug, "spdlroute", 0, "Routing");
  object_class->finalize = gst_spdl_route_finalize;
  install_signals (G_TYPE_FROM_CLASS (klass));

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template_with_gtype (
      element_class, &src_template, GST_TYPE_SPDL_ROUTE_PAD);
  gst_element_class_set_static_metadata (element_class, "Item router",
      "Generic",
      "Sends items to different pads by label, URI, caps or field, or by a "
      "function of the application",
      "the gst-spdl developers");
  filter_class->chain = gst_spdl_route_chain;
  filter_class->chain_list = gst_spdl_route_chain_list;
  filter_class->event = gst_spdl_route_event;
  filter_class->reset = gst_spdl_route_reset;
  filter_class->start = gst_spdl_route_start;
  filter_class->stop = gst_spdl_route_stop;
  pads_class->pad_type = GST_TYPE_SPDL_ROUTE_PAD;
  pads_class->remove = remove_pad;
  pads_class->add_figures = add_figures;
  gst_type_mark_as_plugin_api (GST_TYPE_SPDL_ROUTE_PAD, 0);
}

static void
gst_spdl_route_init (GstSpdlRoute *self)
{
  GstPad *sinkpad = self->base.parent.sinkpad;

  spdl_cond_init (&self->ended);
  self->sources = g_hash_table_new_full (
      NULL, NULL, NULL, (GDestroyNotify) gst_event_unref);
  gst_pad_set_query_function (sinkpad, route_query);
  GST_PAD_SET_ACCEPT_INTERSECT (sinkpad);
  /* The branch of an item decides if its caps are accepted. */
  gst_spdl_pad_take_all_caps_events (sinkpad);
}
