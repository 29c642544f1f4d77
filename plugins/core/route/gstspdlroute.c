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

#include <stdio.h>
#include <string.h>

#include "gst/spdl/engine/compat.h"
#include "gst/spdl/stage/droppeditems.h"
#include "gst/spdl/stage/refusal.h"
#include "plugins/core/core.h"
#include "plugins/core/padchildren.h"
#include "plugins/core/route/route-private.h"

GST_DEBUG_CATEGORY_STATIC (spdl_route_debug);
#define GST_CAT_DEFAULT spdl_route_debug

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src_%u", GST_PAD_SRC, GST_PAD_REQUEST, GST_STATIC_CAPS_ANY);

enum {
  PROP_0,
  PROP_STATS_INTERVAL,
  PROP_STAGE_STATS,
};

enum {
  SIGNAL_SELECT_BRANCH,
  N_SIGNALS,
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE_WITH_CODE (GstSpdlRoute, gst_spdl_route, GST_TYPE_ELEMENT,
    G_IMPLEMENT_INTERFACE (GST_TYPE_CHILD_PROXY, spdl_padding_children_init))
GST_ELEMENT_REGISTER_DEFINE (
    spdlroute, "spdlroute", GST_RANK_NONE, GST_TYPE_SPDL_ROUTE)

/* Conditions */

typedef enum {
  OF_LABEL,
  OF_URI,
  OF_CAPS,
  OF_EXTRA,
} Kind;

/* A condition of a pad is one of
 *
 *     label=3             the label equals the number
 *     uri=*.png           the URI matches a glob for fnmatch(), which ignores
 *                         case and may contain `@(a|b)`; `*` matches slashes
 *     caps=image/png      the caps are a subset of these
 *     extra.FIELD=VALUE   the field of `extra` equals VALUE; numbers are
 *                         compared by value
 */
struct _SpdlCondition {
  Kind kind;
  gchar *field;
  gchar *value;
  gint64 label;
  GstCaps *caps;

  GstCaps *seen; /* last caps that were tested, and the result */
  gboolean seen_holds;
};

static void
spdl_condition_free (SpdlCondition *self)
{
  g_free (self->field);
  g_free (self->value);
  gst_clear_caps (&self->caps);
  gst_clear_caps (&self->seen);
  g_free (self);
}

static gboolean
take_label (SpdlCondition *self, const gchar *name)
{
  self->kind = OF_LABEL;
  return g_str_equal (name, "label") &&
         g_ascii_string_to_signed (
             self->value, 10, G_MININT64, G_MAXINT64, &self->label, NULL);
}

static gboolean
take_uri (SpdlCondition *self, const gchar *name)
{
  self->kind = OF_URI;
  return g_str_equal (name, "uri") && *self->value;
}

static gboolean
take_caps (SpdlCondition *self, const gchar *name)
{
  self->kind = OF_CAPS;
  if (!g_str_equal (name, "caps") || !*self->value)
    return FALSE;
  self->caps = gst_caps_from_string (self->value);
  return self->caps != NULL;
}

static gboolean
take_extra (SpdlCondition *self, const gchar *name)
{
  self->kind = OF_EXTRA;
  if (!g_str_has_prefix (name, "extra.") || !name[6])
    return FALSE;
  self->field = g_strdup (name + 6);
  return TRUE;
}

/* Parses a condition. Returns NULL with @error set if @text is not one. */
static SpdlCondition *
spdl_condition_parse (const gchar *text, GError **error)
{
  SpdlCondition *self = g_new0 (SpdlCondition, 1);
  const gchar *sign = strchr (text, '=');
  g_autofree gchar *name =
      g_strndup (text, sign ? (gsize) (sign - text) : strlen (text));

  self->value = g_strdup (sign ? sign + 1 : "");
  if (sign && (take_label (self, name) || take_uri (self, name) ||
                  take_caps (self, name) || take_extra (self, name)))
    return self;
  g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
      "condition is \"%s\", but must be label=NUMBER, uri=GLOB, caps=CAPS or "
      "extra.FIELD=VALUE",
      text);
  spdl_condition_free (self);
  return NULL;
}

static const GstSpdlItemMeta *
get_item (GstBuffer *buffer)
{
  const GstSpdlBatchMeta *batch = gst_spdl_buffer_get_batch_meta (buffer);

  if (!batch)
    return gst_spdl_buffer_get_item_meta (buffer);
  return batch->num_items > 0 ? batch->items : NULL;
}

static gboolean
has_form (const SpdlCondition *self, const GstSpdlItemMeta *item)
{
  return item && item->uri && spdl_compat_match_glob (self->value, item->uri);
}

/* Caches the result, because caps seldom change. */
static gboolean
has_caps (SpdlCondition *self, GstCaps *caps)
{
  if (!caps)
    return FALSE;
  if (caps != self->seen) {
    gst_caps_replace (&self->seen, caps);
    self->seen_holds = gst_caps_is_subset (caps, self->caps);
  }
  return self->seen_holds;
}

static gboolean
has_value (const SpdlCondition *self, const GstSpdlItemMeta *item)
{
  const GValue *value = item && item->extra
                            ? gst_structure_get_value (item->extra, self->field)
                            : NULL;
  g_auto (GValue) wanted = G_VALUE_INIT;

  if (!value)
    return FALSE;
  if (G_VALUE_HOLDS_STRING (value))
    return g_strcmp0 (g_value_get_string (value), self->value) == 0;
  g_value_init (&wanted, G_VALUE_TYPE (value));
  return gst_value_deserialize (&wanted, self->value) &&
         gst_value_compare (value, &wanted) == GST_VALUE_EQUAL;
}

/* Returns TRUE if the condition holds for @item with @caps (nullable). For a
 * batch, the first item is tested. */
static gboolean
spdl_condition_holds (SpdlCondition *self, GstBuffer *item, GstCaps *caps)
{
  const GstSpdlItemMeta *meta = get_item (item);

  switch (self->kind) {
    case OF_LABEL:
      return meta && meta->label == self->label;
    case OF_URI:
      return has_form (self, meta);
    case OF_CAPS:
      return has_caps (self, caps);
    case OF_EXTRA:
    default:
      return has_value (self, meta);
  }
}

/* Source pads */

enum {
  PAD_PROP_0,
  PAD_PROP_CONDITION,
  PAD_PROP_NUM_ITEMS,
};

G_DEFINE_FINAL_TYPE (GstSpdlRoutePad, gst_spdl_route_pad, GST_TYPE_PAD)

static GstSpdlRoute *
dup_route (GstSpdlRoutePad *self)
{
  return (GstSpdlRoute *) gst_object_get_parent (GST_OBJECT (self));
}

/* Returns the counter of a pad, which the lock of the route guards. */
static guint64
get_num_items (GstSpdlRoutePad *self)
{
  GstSpdlRoute *route = dup_route (self);
  guint64 n;

  if (!route)
    return self->n_items;
  spdl_mutex_lock (&route->lock);
  n = self->n_items;
  spdl_mutex_unlock (&route->lock);
  gst_object_unref (route);
  return n;
}

/* Posts an error of a condition that was set after the start. */
static void
report_parse_error (GstSpdlRoutePad *self, const GError *problem)
{
  GstSpdlRoute *route = dup_route (self);
  gboolean started;

  if (!route)
    return;
  spdl_mutex_lock (&route->lock);
  started = route->started;
  spdl_mutex_unlock (&route->lock);
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
  if (id == PAD_PROP_CONDITION)
    set_when (GST_SPDL_ROUTE_PAD (object), g_value_get_string (value));
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
gst_spdl_route_pad_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstSpdlRoutePad *self = GST_SPDL_ROUTE_PAD (object);

  switch (id) {
    case PAD_PROP_CONDITION:
      GST_OBJECT_LOCK (self);
      g_value_set_string (value, self->when);
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
gst_spdl_route_pad_finalize (GObject *object)
{
  GstSpdlRoutePad *self = GST_SPDL_ROUTE_PAD (object);

  spdl_route_join_ender (self);
  spdl_route_pad_reset (self);
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
  g_object_class_install_property (object_class, PAD_PROP_CONDITION,
      g_param_spec_string ("condition", "Condition",
          "Condition for items to leave through this pad: label=NUMBER, "
          "uri=GLOB, caps=CAPS or extra.FIELD=VALUE (unset = all items that no "
          "other pad matches)",
          NULL,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
              GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (object_class, PAD_PROP_NUM_ITEMS,
      g_param_spec_uint64 ("num-items", "Number of items",
          "Number of items sent through this pad since the start", 0,
          G_MAXUINT64, 0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
gst_spdl_route_pad_init (GstSpdlRoutePad *self)
{
  gst_spdl_caps_gate_init (&self->gate, GST_PAD (self));
  g_queue_init (&self->ends);
  self->is_new = TRUE;
}

void
spdl_route_pad_reset (GstSpdlRoutePad *self)
{
  g_queue_clear_full (&self->ends, (GDestroyNotify) gst_event_unref);
  gst_spdl_caps_gate_clear (&self->gate);
  self->is_new = TRUE;
  self->result = GST_FLOW_OK;
}

gboolean
spdl_route_pad_takes (GstSpdlRoutePad *self, GstBuffer *item, GstCaps *caps)
{
  gboolean takes;

  GST_OBJECT_LOCK (self);
  if (self->condition)
    takes = spdl_condition_holds (self->condition, item, caps);
  else
    takes = self->problem == NULL;
  GST_OBJECT_UNLOCK (self);
  return takes;
}

static GstSpdlRoutePad *
spdl_route_pad_new (GstPadTemplate *templ, guint number)
{
  g_autofree gchar *name = g_strdup_printf ("src_%u", number);
  GstSpdlRoutePad *self = g_object_new (GST_TYPE_SPDL_ROUTE_PAD, "name", name,
      "direction", GST_PAD_SRC, "template", templ, NULL);

  self->number = number;
  gst_pad_use_fixed_caps (GST_PAD (self));
  return self;
}

/* Input */

static GstFlowReturn
route_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  return spdl_route_push_item (GST_SPDL_ROUTE (parent), buffer);
}

static GstFlowReturn
route_chain_list (GstPad *pad, GstObject *parent, GstBufferList *list)
{
  return spdl_route_push_group (GST_SPDL_ROUTE (parent), list);
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

/* Resets the branches after a flush. Joins their threads first, without the
 * lock, which the threads need. */
static void
end_flush (GstSpdlRoute *self)
{
  spdl_route_wait_for_enders (self);
  spdl_mutex_lock (&self->lock);
  for (guint i = 0; i < self->pads->len; i++) {
    GstSpdlRoutePad *pad = g_ptr_array_index (self->pads, i);

    gst_spdl_caps_gate_flush (&pad->gate);
    pad->result = GST_FLOW_OK;
  }
  spdl_mutex_unlock (&self->lock);
}

static gboolean
route_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstSpdlRoute *self = GST_SPDL_ROUTE (parent);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS:
      return handle_caps (self, event);
    case GST_EVENT_EOS:
      gst_spdl_plain_stats_finish (self->stats);
      return spdl_route_push_event (self, event);
    case GST_EVENT_FLUSH_STOP:
      end_flush (self);
      return gst_pad_event_default (pad, parent, event);
    default:
      if (GST_EVENT_IS_SERIALIZED (event))
        return spdl_route_push_event (self, event);
      return gst_pad_event_default (pad, parent, event);
  }
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

/* Lock held. Returns TRUE if a pad has that number. */
static gboolean
has_number (const GstSpdlRoute *self, guint number)
{
  for (guint i = 0; i < self->pads->len; i++)
    if (GST_SPDL_ROUTE_PAD (g_ptr_array_index (self->pads, i))->number ==
        number)
      return TRUE;
  return FALSE;
}

/* Lock held. Creates a pad with the number in @name, or with the lowest free
 * number. Returns NULL if the number is in use. */
static GstSpdlRoutePad *
make_pad (GstSpdlRoute *self, GstPadTemplate *templ, const gchar *name)
{
  guint number = 0;
  GstSpdlRoutePad *pad;

  if (!name || sscanf (name, "src_%u", &number) != 1)
    while (has_number (self, number))
      number++;
  else if (has_number (self, number))
    return NULL;
  pad = spdl_route_pad_new (templ, number);
  g_ptr_array_add (self->pads, gst_object_ref_sink (pad));
  return pad;
}

static GstPad *
gst_spdl_route_request_new_pad (GstElement *element, GstPadTemplate *templ,
    const gchar *name, const GstCaps *caps)
{
  GstSpdlRoute *self = GST_SPDL_ROUTE (element);
  GstSpdlRoutePad *pad;

  spdl_mutex_lock (&self->lock);
  pad = make_pad (self, templ, name);
  spdl_mutex_unlock (&self->lock);
  if (!pad) {
    GST_WARNING_OBJECT (self, "a pad named %s already exists", name);
    return NULL;
  }
  gst_element_add_pad (element, GST_PAD (pad));
  gst_child_proxy_child_added (
      GST_CHILD_PROXY (self), G_OBJECT (pad), GST_OBJECT_NAME (pad));
  return GST_PAD (pad);
}

/* Removes a pad. It is deactivated before its thread is joined, so that a
 * blocked push returns. */
static void
gst_spdl_route_release_pad (GstElement *element, GstPad *pad)
{
  GstSpdlRoute *self = GST_SPDL_ROUTE (element);

  gst_object_ref (pad);
  spdl_mutex_lock (&self->lock);
  g_ptr_array_remove (self->pads, pad);
  spdl_mutex_unlock (&self->lock);
  gst_pad_set_active (pad, FALSE);
  spdl_route_join_ender (GST_SPDL_ROUTE_PAD (pad));
  gst_child_proxy_child_removed (
      GST_CHILD_PROXY (self), G_OBJECT (pad), GST_OBJECT_NAME (pad));
  gst_element_remove_pad (element, pad);
  gst_object_unref (pad);
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

/* Returns (transfer full) (nullable) the problem of a pad's `condition`. */
static GError *
start_route (GstSpdlRoute *self)
{
  GError *problem = NULL;

  self->select_signal = 0;
  if (g_signal_has_handler_pending (
          self, signals[SIGNAL_SELECT_BRANCH], 0, FALSE))
    self->select_signal = signals[SIGNAL_SELECT_BRANCH];
  spdl_mutex_lock (&self->lock);
  for (guint i = 0; i < self->pads->len; i++) {
    GstSpdlRoutePad *pad = g_ptr_array_index (self->pads, i);

    spdl_route_pad_reset (pad);
    pad->n_items = pad->n_interval_items = 0;
    GST_OBJECT_LOCK (pad);
    if (!problem)
      problem = check_condition (self, pad);
    GST_OBJECT_UNLOCK (pad);
  }
  self->n_refused = self->n_interval_refused = 0;
  self->started = !problem;
  spdl_mutex_unlock (&self->lock);
  return problem;
}

static gboolean
try_to_start (GstSpdlRoute *self)
{
  g_autoptr (GError) problem = start_route (self);

  if (problem) {
    gst_spdl_post_error (GST_ELEMENT (self), problem);
    return FALSE;
  }
  gst_spdl_plain_stats_start (self->stats);
  return TRUE;
}

static void
stop_route (GstSpdlRoute *self)
{
  spdl_route_wait_for_enders (self);
  gst_spdl_plain_stats_stop (self->stats);
  spdl_mutex_lock (&self->lock);
  self->started = FALSE;
  for (guint i = 0; i < self->pads->len; i++)
    spdl_route_pad_reset (g_ptr_array_index (self->pads, i));
  spdl_mutex_unlock (&self->lock);
  gst_clear_caps (&self->caps);
  g_hash_table_remove_all (self->sources);
}

static GstStateChangeReturn
gst_spdl_route_change_state (GstElement *element, GstStateChange transition)
{
  GstSpdlRoute *self = GST_SPDL_ROUTE (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !try_to_start (self))
    return GST_STATE_CHANGE_FAILURE;
  ret = GST_ELEMENT_CLASS (gst_spdl_route_parent_class)
            ->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY ||
      (transition == GST_STATE_CHANGE_READY_TO_PAUSED &&
          ret == GST_STATE_CHANGE_FAILURE))
    stop_route (self);
  return ret;
}

/* Lock held. Adds the statistics of each branch. */
static void
add_path_figures (GstSpdlRoute *self, GstStructure *s, gboolean interval)
{
  for (guint i = 0; i < self->pads->len; i++) {
    GstSpdlRoutePad *pad = g_ptr_array_index (self->pads, i);
    g_autofree gchar *field =
        g_strdup_printf ("num-items-%s", GST_OBJECT_NAME (pad));

    gst_structure_set (s, field, G_TYPE_UINT64,
        interval ? pad->n_interval_items : pad->n_items, NULL);
    if (interval)
      pad->n_interval_items = 0;
  }
}

static void
add_figures (GstElement *element, const SpdlMeterStats *stats, GstStructure *s)
{
  GstSpdlRoute *self = GST_SPDL_ROUTE (element);

  spdl_mutex_lock (&self->lock);
  add_path_figures (self, s, stats->interval);
  gst_structure_set (s, "num-filtered", G_TYPE_UINT64, stats->num_filtered,
      "num-refused", G_TYPE_UINT64,
      stats->interval ? self->n_interval_refused : self->n_refused, NULL);
  if (stats->interval)
    self->n_interval_refused = 0;
  spdl_mutex_unlock (&self->lock);
}

/* Class */

static void
gst_spdl_route_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstSpdlRoute *self = GST_SPDL_ROUTE (object);

  if (id == PROP_STATS_INTERVAL)
    gst_spdl_plain_stats_set_interval (self->stats, value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
gst_spdl_route_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstSpdlRoute *self = GST_SPDL_ROUTE (object);

  if (id == PROP_STATS_INTERVAL)
    gst_spdl_plain_stats_get_interval (self->stats, value);
  else if (id == PROP_STAGE_STATS)
    gst_spdl_plain_stats_get_stats (self->stats, value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
gst_spdl_route_finalize (GObject *object)
{
  GstSpdlRoute *self = GST_SPDL_ROUTE (object);

  gst_spdl_plain_stats_free (self->stats);
  gst_clear_caps (&self->caps);
  g_hash_table_unref (self->sources);
  g_ptr_array_unref (self->pads);
  spdl_cond_clear (&self->ended);
  spdl_mutex_clear (&self->lock);
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

  GST_DEBUG_CATEGORY_INIT (spdl_route_debug, "spdlroute", 0, "Routing");
  object_class->set_property = gst_spdl_route_set_property;
  object_class->get_property = gst_spdl_route_get_property;
  object_class->finalize = gst_spdl_route_finalize;
  gst_spdl_install_stats_properties (object_class, PROP_STATS_INTERVAL);
  install_signals (G_TYPE_FROM_CLASS (klass));

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template_with_gtype (
      element_class, &src_template, GST_TYPE_SPDL_ROUTE_PAD);
  gst_element_class_set_static_metadata (element_class, "Item router",
      "Generic",
      "Sends items to different pads by label, URI, caps or field, or by a "
      "function of the application",
      "the gst-spdl developers");
  element_class->request_new_pad = gst_spdl_route_request_new_pad;
  element_class->release_pad = gst_spdl_route_release_pad;
  element_class->change_state = gst_spdl_route_change_state;
  gst_type_mark_as_plugin_api (GST_TYPE_SPDL_ROUTE_PAD, 0);
}

static void
gst_spdl_route_init (GstSpdlRoute *self)
{
  spdl_mutex_init (&self->lock);
  spdl_cond_init (&self->ended);
  self->pads = g_ptr_array_new_with_free_func (gst_object_unref);
  self->sources = g_hash_table_new_full (
      NULL, NULL, NULL, (GDestroyNotify) gst_event_unref);
  self->stats = gst_spdl_plain_stats_new (GST_ELEMENT (self), 0);
  self->stats->add_figures = add_figures;

  self->sinkpad = gst_pad_new_from_static_template (&sink_template, "sink");
  gst_pad_set_chain_function (self->sinkpad, route_chain);
  gst_pad_set_chain_list_function (self->sinkpad, route_chain_list);
  gst_pad_set_event_function (self->sinkpad, route_event);
  gst_pad_set_query_function (self->sinkpad, route_query);
  GST_PAD_SET_ACCEPT_INTERSECT (self->sinkpad);
  /* The branch of an item decides if its caps are accepted. */
  gst_spdl_pad_take_all_caps_events (self->sinkpad);
  gst_element_add_pad (GST_ELEMENT (self), self->sinkpad);
}
