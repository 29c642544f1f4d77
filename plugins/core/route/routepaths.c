/* gst-spdl: output of spdlroute's branches
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/bufferitems.h"
#include "gst/spdl/engine/newthread.h"
#include "gst/spdl/stage/droppeditems.h"
#include "plugins/core/route/route-private.h"

/* Branches */

static void
unref_pad (gpointer pad)
{
  gst_object_unref (pad);
}

/* Returns (transfer full) the current branches. */
static GPtrArray *
list_paths (GstSpdlRoute *self)
{
  GPtrArray *paths = g_ptr_array_new_with_free_func (unref_pad);

  spdl_mutex_lock (&self->base.lock);
  for (guint i = 0; i < self->base.pads->len; i++)
    g_ptr_array_add (
        paths, gst_object_ref (g_ptr_array_index (self->base.pads, i)));
  spdl_mutex_unlock (&self->base.lock);
  return paths;
}

static gboolean
send_sticky (GstPad *sinkpad, GstEvent **event, gpointer user_data)
{
  GstSpdlRoutePad *pad = user_data;

  if (GST_EVENT_TYPE (*event) != GST_EVENT_CAPS &&
      GST_EVENT_TYPE (*event) != GST_EVENT_EOS &&
      !gst_spdl_event_parse_source (*event, NULL, NULL, NULL))
    gst_spdl_caps_gate_push_event (&pad->gate, gst_event_ref (*event));
  return TRUE;
}

/* Sends the announcement of a source. A pad keeps only one sticky event per
 * name, but there may be several sources. */
static void
send_source (gpointer number, gpointer event, gpointer user_data)
{
  GstSpdlRoutePad *pad = user_data;

  gst_spdl_caps_gate_push_event (&pad->gate, gst_event_ref (event));
}

/* Waits until the thread of the pad has pushed all earlier end events. */
static void
await_end (GstSpdlRoute *self, GstSpdlRoutePad *pad)
{
  spdl_mutex_lock (&self->base.lock);
  while (pad->is_ending)
    spdl_cond_wait (&self->ended, &self->base.lock);
  spdl_mutex_unlock (&self->base.lock);
}

/* Sends a new branch the sticky events that preceded it. */
static void
catch_up (GstSpdlRoute *self, GstSpdlRoutePad *pad)
{
  if (G_LIKELY (!pad->is_new))
    return;
  pad->is_new = FALSE;
  gst_pad_sticky_events_foreach (self->base.parent.sinkpad, send_sticky, pad);
  g_hash_table_foreach (self->sources, send_source, pad);
}

static gboolean
is_linked (GstSpdlRoutePad *pad)
{
  return gst_pad_is_linked (GST_PAD (pad));
}

static gboolean
takes_item (GstSpdlRoutePad *self, GstBuffer *item, GstCaps *caps)
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

/* Returns (transfer full) (nullable) the first branch whose condition holds for
 * @item. */
static GstSpdlRoutePad *
find_matching_path (GstSpdlRoute *self, GstBuffer *item)
{
  GstSpdlRoutePad *found = NULL;

  spdl_mutex_lock (&self->base.lock);
  for (guint i = 0; i < self->base.pads->len && !found; i++) {
    GstSpdlRoutePad *pad = g_ptr_array_index (self->base.pads, i);

    if (takes_item (pad, item, self->caps))
      found = gst_object_ref (pad);
  }
  spdl_mutex_unlock (&self->base.lock);
  return found;
}

/* Results of the signal `select-branch` */
enum {
  FAILED = -1, /* the handler has posted an error */
  /* Initial value, which is unchanged if the handler returned nothing, as
   * PyGObject does after an exception. */
  NO_ANSWER = G_MININT,
};

/* Gives *@item the extra fields that the function has left with @sample. */
static void
take_extra (GstBuffer **item, GstSample *sample)
{
  GstStructure *extra = spdl_sample_steal_new_extra (sample);
  GstSpdlItemMeta *meta;

  if (!extra)
    return;
  *item = gst_buffer_make_writable (*item);
  meta = gst_spdl_buffer_get_item_meta (*item);
  g_clear_pointer (&meta->extra, gst_structure_free);
  meta->extra = extra;
}

static gint
emit_select_branch (GstSpdlRoute *self, GstBuffer **item)
{
  GstSample *sample = gst_sample_new (*item, self->caps, NULL, NULL);
  GValue arguments[2] = { G_VALUE_INIT, G_VALUE_INIT };
  GValue answer = G_VALUE_INIT;

  g_value_init (&arguments[0], G_OBJECT_TYPE (self));
  g_value_set_object (&arguments[0], self);
  g_value_init (&arguments[1], GST_TYPE_SAMPLE);
  g_value_set_boxed (&arguments[1], sample);
  g_value_init (&answer, G_TYPE_INT);
  g_value_set_int (&answer, NO_ANSWER);
  g_signal_emitv (arguments, self->select_signal, 0, &answer);
  for (guint i = 0; i < G_N_ELEMENTS (arguments); i++)
    g_value_unset (&arguments[i]);
  take_extra (item, sample);
  gst_sample_unref (sample);
  return g_value_get_int (&answer);
}

/* Posts the error of a function that chose no pad of the element. */
static void
report_choice (GstSpdlRoute *self, GstBuffer *item, gint number)
{
  const GstSpdlItemMeta *meta = gst_spdl_buffer_get_item_meta (item);
  g_autoptr (GError) error = NULL;

  if (number == NO_ANSWER)
    error = g_error_new_literal (GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
        "The handler of the signal select-branch raised an exception, or "
        "returned no number");
  else
    error = g_error_new (GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
        "The function chose branch %d, but the element has no pad src_%d: "
        "return the number of a pad",
        number, number);
  gst_spdl_post_error_of_item (
      GST_ELEMENT (self), error, meta ? meta->uri : NULL);
}

/* Calls the function of the application. Returns (transfer full) (nullable) the
 * branch that it chose; NULL: an error was posted.
 *
 * @item: (inout) (transfer full) */
static GstSpdlRoutePad *
call_function (GstSpdlRoute *self, GstBuffer **item)
{
  const gint number = emit_select_branch (self, item);
  GstSpdlRoutePad *found = NULL;

  spdl_mutex_lock (&self->base.lock);
  if (number >= 0)
    found = GST_SPDL_ROUTE_PAD (spdl_numbered_pads_find (&self->base, number));
  if (found)
    gst_object_ref (found);
  spdl_mutex_unlock (&self->base.lock);
  if (!found && number != FAILED)
    report_choice (self, *item, number);
  return found;
}

/* Finds the branch of @item.
 *
 * @item: (inout) (transfer full): a function may change its extra fields
 * @path: (out) (transfer full) (nullable): the branch; NULL if there is none,
 * or it is not linked, so that the item is filtered
 *
 * Returns GST_FLOW_EOS if the function of the application failed, whose error
 * was posted: upstream then sends the end of the stream. */
static GstFlowReturn
find_path (GstSpdlRoute *self, GstBuffer **item, GstSpdlRoutePad **path)
{
  if (self->select_signal == 0)
    *path = find_matching_path (self, *item);
  else if (!(*path = call_function (self, item)))
    return GST_FLOW_EOS;
  if (*path && !is_linked (*path))
    g_clear_pointer (path, gst_object_unref);
  return GST_FLOW_OK;
}

/* Returns the flow result for upstream, which is GST_FLOW_OK while a branch is
 * left. */
static GstFlowReturn
combine_flows (GstSpdlRoute *self)
{
  GstFlowReturn ret = GST_FLOW_NOT_LINKED;

  spdl_mutex_lock (&self->base.lock);
  for (guint i = 0; i < self->base.pads->len && ret != GST_FLOW_OK; i++) {
    GstSpdlRoutePad *pad = g_ptr_array_index (self->base.pads, i);

    if (pad->result == GST_FLOW_OK && is_linked (pad))
      ret = GST_FLOW_OK;
    else if (pad->result != GST_FLOW_OK)
      ret = GST_FLOW_EOS;
  }
  spdl_mutex_unlock (&self->base.lock);
  return ret;
}

static gboolean
was_released (GstSpdlRoute *self, GstSpdlRoutePad *pad)
{
  gboolean found;

  spdl_mutex_lock (&self->base.lock);
  found = g_ptr_array_find (self->base.pads, pad, NULL);
  spdl_mutex_unlock (&self->base.lock);
  return !found;
}

/* Handles the flow result of a branch. A branch that refuses items has ended,
 * and the others continue. The element that returned an error has posted it,
 * except for GST_FLOW_NOT_NEGOTIATED. */
static GstFlowReturn
check_path_flow (GstSpdlRoute *self, GstSpdlRoutePad *pad, GstFlowReturn ret)
{
  if (G_LIKELY (ret == GST_FLOW_OK))
    return ret;
  /* A pad that is released during a push also returns it. */
  if (ret == GST_FLOW_FLUSHING)
    return was_released (self, pad) ? combine_flows (self) : ret;
  pad->result = ret;
  if (ret == GST_FLOW_NOT_NEGOTIATED) {
    g_autofree gchar *caps = gst_caps_to_string (self->caps);

    GST_ELEMENT_ERROR (self, CORE, NEGOTIATION,
        ("The elements after %s do not accept %s", GST_OBJECT_NAME (pad), caps),
        (NULL));
  }
  return combine_flows (self);
}

/* Items */

static void
count_passed (GstSpdlRoute *self, GstSpdlRoutePad *pad, guint n, gsize bytes_in,
    gsize bytes_out)
{
  spdl_mutex_lock (&self->base.lock);
  if (pad)
    spdl_numbered_pad_count (&pad->base, n);
  spdl_mutex_unlock (&self->base.lock);
  gst_spdl_plain_stats_pass (self->base.parent.stats, n, bytes_in, bytes_out);
}

/* Counts items for a branch that has ended. They are not announced as dropped,
 * so that a resumed run sends them again. */
static void
count_refused (GstSpdlRoute *self, guint n)
{
  spdl_mutex_lock (&self->base.lock);
  self->n_refused += n;
  self->n_interval_refused += n;
  spdl_mutex_unlock (&self->base.lock);
}

/* Returns (transfer full) (nullable) the branch for events that must be sent
 * only once: the first that has not ended. */
static GstSpdlRoutePad *
find_carrier (GstSpdlRoute *self)
{
  GstSpdlRoutePad *carrier = NULL;

  spdl_mutex_lock (&self->base.lock);
  for (guint i = 0; i < self->base.pads->len && !carrier; i++) {
    GstSpdlRoutePad *pad = g_ptr_array_index (self->base.pads, i);

    if (pad->result == GST_FLOW_OK && is_linked (pad))
      carrier = gst_object_ref (pad);
  }
  spdl_mutex_unlock (&self->base.lock);
  return carrier;
}

/* Drops an item that no branch takes, and announces that downstream. */
static GstFlowReturn
filter_item (GstSpdlRoute *self, GstBuffer *item)
{
  GstSpdlRoutePad *carrier = find_carrier (self);
  const guint n = spdl_buffer_count_items (item);
  GstSpdlDroppedItems dropped_items;

  spdl_mutex_lock (&self->base.parent.stats->lock);
  self->base.parent.stats->meter.interval.filtered += n;
  spdl_mutex_unlock (&self->base.parent.stats->lock);
  count_passed (self, NULL, n, gst_buffer_get_size (item), 0);
  if (carrier) {
    await_end (self, carrier);
    catch_up (self, carrier);
    gst_spdl_dropped_items_init (&dropped_items);
    gst_spdl_dropped_items_add_buffer (
        &dropped_items, item, GST_SPDL_DROP_REASON_FILTERED);
    gst_spdl_dropped_items_push (&dropped_items, GST_PAD (carrier));
    gst_spdl_dropped_items_clear (&dropped_items);
    gst_object_unref (carrier);
  }
  gst_buffer_unref (item);
  return carrier ? GST_FLOW_OK : combine_flows (self);
}

GstFlowReturn
spdl_route_push_item (GstSpdlRoute *self, GstBuffer *item)
{
  const gsize bytes = gst_buffer_get_size (item);
  g_autoptr (GstSpdlRoutePad) pad = NULL;
  GstFlowReturn ret = find_path (self, &item, &pad);

  if (ret != GST_FLOW_OK) {
    gst_buffer_unref (item);
    return ret;
  }
  if (!pad)
    return filter_item (self, item);
  if (pad->result != GST_FLOW_OK) {
    count_refused (self, spdl_buffer_count_items (item));
    gst_buffer_unref (item);
    return combine_flows (self);
  }
  await_end (self, pad);
  catch_up (self, pad);
  gst_spdl_caps_gate_open (&pad->gate, self->caps);
  count_passed (self, pad, spdl_buffer_count_items (item), bytes, bytes);
  ret = gst_pad_push (GST_PAD (pad), item);
  return check_path_flow (self, pad, ret);
}

/* Groups */

/* Items of a group that are sent to the same branch. */
typedef struct {
  GstSpdlRoutePad *pad; /* owned */
  GstBufferList *items;
  guint n_items;
  gsize bytes;
} Share;

static void
clear_share (gpointer data)
{
  Share *share = data;

  gst_object_unref (share->pad);
  g_clear_pointer (&share->items, gst_buffer_list_unref);
}

/* @pad: (transfer full) */
static void
add_to_share (GArray *shares, GstSpdlRoutePad *pad, GstBuffer *item)
{
  Share *share = NULL;

  for (guint i = 0; i < shares->len && !share; i++)
    if (g_array_index (shares, Share, i).pad == pad)
      share = &g_array_index (shares, Share, i);
  if (share) {
    gst_object_unref (pad);
  } else {
    const Share empty = { pad, gst_buffer_list_new (), 0, 0 };

    g_array_append_val (shares, empty);
    share = &g_array_index (shares, Share, shares->len - 1);
  }
  gst_buffer_list_add (share->items, gst_buffer_ref (item));
  share->n_items += spdl_buffer_count_items (item);
  share->bytes += gst_buffer_get_size (item);
}

/* Sends the items of a share to its branch as one group. */
static GstFlowReturn
push_share (GstSpdlRoute *self, Share *share)
{
  GstSpdlRoutePad *pad = share->pad;

  if (pad->result != GST_FLOW_OK) {
    count_refused (self, share->n_items);
    return combine_flows (self);
  }
  await_end (self, pad);
  catch_up (self, pad);
  gst_spdl_caps_gate_open (&pad->gate, self->caps);
  count_passed (self, pad, share->n_items, share->bytes, share->bytes);
  return check_path_flow (self, pad,
      gst_pad_push_list (GST_PAD (pad), g_steal_pointer (&share->items)));
}

/* Sends the items of each branch as one group; if the function fails, those
 * before the item. */
GstFlowReturn
spdl_route_push_group (GstSpdlRoute *self, GstBufferList *group)
{
  g_autoptr (GArray) shares = g_array_new (FALSE, FALSE, sizeof (Share));
  GstFlowReturn ret = GST_FLOW_OK, failure = GST_FLOW_OK;

  g_array_set_clear_func (shares, clear_share);
  for (guint i = 0; i < gst_buffer_list_length (group); i++) {
    GstBuffer *item = gst_buffer_ref (gst_buffer_list_get (group, i));
    GstSpdlRoutePad *pad;

    failure = find_path (self, &item, &pad);
    if (failure == GST_FLOW_OK && !pad) {
      ret = filter_item (self, item);
      continue;
    }
    if (failure == GST_FLOW_OK)
      add_to_share (shares, pad, item);
    gst_buffer_unref (item);
    if (failure != GST_FLOW_OK)
      break;
  }
  /* Release the group first, so that the items become writable for the
   * branches. */
  gst_buffer_list_unref (group);
  for (guint i = 0; i < shares->len; i++) {
    if (ret == GST_FLOW_FLUSHING)
      break;
    ret = push_share (self, &g_array_index (shares, Share, i));
  }
  return failure != GST_FLOW_OK ? failure : ret;
}

/* Events */

static void
push_to (GstSpdlRoutePad *pad, GstEvent *event)
{
  gst_spdl_caps_gate_push_event (&pad->gate, event);
}

/* End events */

static gboolean
is_end (GstEvent *event)
{
  return GST_EVENT_TYPE (event) == GST_EVENT_EOS ||
         gst_spdl_event_parse_epoch (event, NULL, NULL, NULL);
}

/* Thread function. */
static gpointer
push_ends (gpointer user_data)
{
  GstSpdlRoutePad *pad = user_data;
  GstSpdlRoute *self = pad->route;
  GstEvent *event;

  spdl_mutex_lock (&self->base.lock);
  while ((event = g_queue_pop_head (&pad->ends))) {
    spdl_mutex_unlock (&self->base.lock);
    push_to (pad, event);
    spdl_mutex_lock (&self->base.lock);
  }
  pad->is_ending = FALSE;
  spdl_cond_broadcast (&self->ended);
  spdl_mutex_unlock (&self->base.lock);
  return NULL;
}

/* Pushes an end event in a thread of the branch. An end may block, for example
 * until there is space for the last batch, and must not delay the ends of other
 * branches. @event: (transfer full) */
static void
push_end_apart (GstSpdlRoute *self, GstSpdlRoutePad *pad, GstEvent *event)
{
  g_autoptr (GError) error = NULL;
  gboolean begin;

  spdl_mutex_lock (&self->base.lock);
  g_queue_push_tail (&pad->ends, event);
  begin = !pad->is_ending;
  pad->is_ending = TRUE;
  spdl_mutex_unlock (&self->base.lock);
  if (!begin)
    return;
  spdl_route_join_ender (pad);
  pad->route = self;
  pad->ender = spdl_thread_try_new (
      "spdl-end", "the end of a branch", push_ends, pad, &error);
  if (pad->ender)
    return;
  gst_spdl_post_error (GST_ELEMENT (self), error);
  spdl_mutex_lock (&self->base.lock);
  g_queue_clear_full (&pad->ends, (GDestroyNotify) gst_event_unref);
  pad->is_ending = FALSE;
  spdl_cond_broadcast (&self->ended);
  spdl_mutex_unlock (&self->base.lock);
}

void
spdl_route_join_ender (GstSpdlRoutePad *pad)
{
  if (pad->ender)
    g_thread_join (g_steal_pointer (&pad->ender));
}

void
spdl_route_wait_for_enders (GstSpdlRoute *self)
{
  g_autoptr (GPtrArray) paths = list_paths (self);

  spdl_mutex_lock (&self->base.lock);
  for (guint i = 0; i < paths->len; i++)
    g_queue_clear_full (
        &GST_SPDL_ROUTE_PAD (g_ptr_array_index (paths, i))->ends,
        (GDestroyNotify) gst_event_unref);
  spdl_mutex_unlock (&self->base.lock);
  for (guint i = 0; i < paths->len; i++)
    spdl_route_join_ender (g_ptr_array_index (paths, i));
}

/* Sends an announcement of dropped items to one branch, so that it is counted
 * once. */
static void
push_dropped (GstSpdlRoute *self, GstEvent *event)
{
  g_autoptr (GstSpdlRoutePad) carrier = find_carrier (self);

  if (carrier) {
    await_end (self, carrier);
    catch_up (self, carrier);
    push_to (carrier, gst_event_ref (event));
  }
}

static void
push_to_all (GstSpdlRoute *self, GstEvent *event)
{
  g_autoptr (GPtrArray) paths = list_paths (self);
  guint32 number;

  for (guint i = 0; i < paths->len; i++)
    catch_up (self, g_ptr_array_index (paths, i));
  if (gst_spdl_event_parse_source (event, &number, NULL, NULL))
    g_hash_table_insert (
        self->sources, GUINT_TO_POINTER (number), gst_event_ref (event));
  for (guint i = 0; i < paths->len; i++) {
    /* A copy, so that the streaming thread and the branch's thread share
     * nothing. */
    if (is_end (event) && paths->len > 1) {
      push_end_apart (
          self, g_ptr_array_index (paths, i), gst_event_copy (event));
      continue;
    }
    await_end (self, g_ptr_array_index (paths, i));
    push_to (g_ptr_array_index (paths, i), gst_event_ref (event));
  }
}

gboolean
spdl_route_push_event (GstSpdlRoute *self, GstEvent *event)
{
  if (gst_spdl_event_parse_items_dropped (event, NULL, NULL, NULL, NULL, NULL))
    push_dropped (self, event);
  else
    push_to_all (self, event);
  gst_event_unref (event);
  return TRUE;
}
