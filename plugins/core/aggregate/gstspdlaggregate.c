/* gst-spdl: elements spdlaggregate and spdldisaggregate
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:element-spdlaggregate
 * @title: spdlaggregate
 * @short_description: groups items
 *
 * Collects items into groups. A *group* is one #GstBufferList, which a stage
 * processes as one task. A group is complete when it holds `size` items, when
 * `max-bytes` is reached, or when a handler of the signal
 * #GstSpdlAggregate::accept decides so. An incomplete group is sent before a
 * serialized event passes, at the end of an epoch and at the end of the stream.
 * With `drop-last`, an incomplete group is dropped instead, and the element
 * announces downstream that its items will not come.
 *
 * With `key`, items with equal keys share a group. The key is one of `label`,
 * `bytes` (the size of the item), `caps`, `caps.FIELD`, or `extra.FIELD` (a
 * field of the item's `extra`). A suffix `/N` divides a number: `bytes/4096` or
 * `extra.length/64` groups items of similar length. With `key`, a change of
 * caps ends only the groups of items with these caps. At most `max-keys` groups
 * are pending; when a further one starts, the oldest is sent.
 *
 * ## Example
 * |[
 * gst-launch-1.0 spdlsrc location=/usr/share/icons pattern="*.png"
 *     ! spdlaggregate size=32 ! spdlfetch concurrency=4
 *     ! spdldisaggregate ! fakesink
 * ]|
 *
 * Files of similar size in groups of up to a megabyte:
 * |[
 * gst-launch-1.0 spdlsrc location=/usr/share/icons pattern="*.png"
 *     ! spdlfetch ! spdlaggregate size=0 max-bytes=1000000 key=bytes/10000
 *     ! spdldisaggregate ! fakesink
 * ]|
 *
 * Since: 0.1
 */

#include <gst/gst.h>
#include <gst/spdl/spdl.h>
#include <math.h>
#include <string.h>

#include "gst/spdl/common/propertytable.h"
#include "gst/spdl/stage/capsgate.h"
#include "gst/spdl/stage/droppeditems.h"
#include "gst/spdl/stage/plain.h"
#include "plugins/core/core.h"

typedef enum {
  KEY_LABEL,
  KEY_BYTES,
  KEY_CAPS,
  KEY_CAPS_FIELD,
  KEY_EXTRA_FIELD,
} KeyKind;

/* Key by which items are grouped: `label`, `bytes`, `caps`, `caps.FIELD` or
 * `extra.FIELD`. With a suffix `/N`, a number is divided by N and rounded down.
 * Items with the same result share a group. */
typedef struct {
  KeyKind kind;
  gchar *field;
  guint64 divisor; /* 0: none */
} SpdlGroupKey;

typedef struct {
  gchar *key;
  GstCaps *caps; /* nullable: caps of its items */
  GstBufferList *items;
  guint64 bytes;
  GList link; /* in SpdlGroups.all */
} SpdlGroup;

/* Pending groups by key, and in the order in which they started. Guarded by the
 * stream lock. */
typedef struct {
  GHashTable *by_key;
  GQueue all; /* SpdlGroup */
} SpdlGroups;

typedef struct {
  guint size;        /* 0: no limit */
  guint64 max_bytes; /* 0: no limit */
  gboolean drop_last;
  guint max_keys;
  gchar *key; /* nullable */
} SpdlGroupSettings;

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

#define GST_TYPE_SPDL_AGGREGATE (gst_spdl_aggregate_get_type ())
G_DECLARE_FINAL_TYPE (
    GstSpdlAggregate, gst_spdl_aggregate, GST, SPDL_AGGREGATE, GstSpdlFilter)

struct _GstSpdlAggregate {
  GstSpdlFilter parent;

  SpdlGroupSettings settings; /* properties, guarded by the object lock */

  /* Set from start to stop; NULL: all items share one group. */
  SpdlGroupKey *key;

  /* Guarded by the stream lock. */
  SpdlGroups groups;
  GstCaps *caps; /* of the current input */
  /* Only used with a key, since groups with other caps may be sent between two
   * items. */
  GstSpdlCapsGate gate;
};

enum {
  SIGNAL_ACCEPT,
  N_SIGNALS,
};

/* Value of the signal's result before a handler has set it. */
#define NO_ANSWER -1

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (GstSpdlAggregate, gst_spdl_aggregate, GST_TYPE_SPDL_FILTER)
GST_ELEMENT_REGISTER_DEFINE (
    spdlaggregate, "spdlaggregate", GST_RANK_NONE, GST_TYPE_SPDL_AGGREGATE)

/* Group key */

static void
spdl_group_key_free (SpdlGroupKey *self)
{
  g_free (self->field);
  g_free (self);
}

/* Removes "/N" from the end of @text and returns N in @divisor. */
static gboolean
take_divisor (gchar *text, guint64 *divisor)
{
  gchar *slash = strrchr (text, '/');

  *divisor = 0;
  if (!slash)
    return TRUE;
  *slash = '\0';
  return g_ascii_string_to_unsigned (
      slash + 1, 10, 1, G_MAXINT64, divisor, NULL);
}

static gboolean
take_kind (SpdlGroupKey *self, const gchar *text)
{
  static const struct {
    const gchar *name;
    KeyKind kind;
    gboolean has_field;
  } kinds[] = {
    { "label", KEY_LABEL, FALSE },
    { "bytes", KEY_BYTES, FALSE },
    { "caps", KEY_CAPS, FALSE },
    { "caps.", KEY_CAPS_FIELD, TRUE },
    { "extra.", KEY_EXTRA_FIELD, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    const gsize n = strlen (kinds[i].name);

    if (strncmp (text, kinds[i].name, n) != 0 ||
        kinds[i].has_field != (text[n] != '\0'))
      continue;
    self->kind = kinds[i].kind;
    self->field = g_strdup (text + n);
    return TRUE;
  }
  return FALSE;
}

/* Parses a key. Returns NULL with @error set if @text is not a key. */
static SpdlGroupKey *
spdl_group_key_parse (const gchar *text, GError **error)
{
  SpdlGroupKey *self = g_new0 (SpdlGroupKey, 1);
  g_autofree gchar *rest = g_strdup (text);

  if (take_divisor (rest, &self->divisor) && take_kind (self, rest) &&
      !(self->kind == KEY_CAPS && self->divisor > 0))
    return self;
  g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
      "key is \"%s\", but must be label, bytes, caps, caps.FIELD or "
      "extra.FIELD, and may end in /N to divide a number",
      text);
  spdl_group_key_free (self);
  return NULL;
}

static gchar *
describe_number (const SpdlGroupKey *self, gint64 number)
{
  gint64 quotient = number;

  if (self->divisor > 0) {
    quotient = number / (gint64) self->divisor;
    /* Round towards minus infinity. */
    if (number % (gint64) self->divisor < 0)
      quotient--;
  }
  return g_strdup_printf ("%" G_GINT64_FORMAT, quotient);
}

/* Reads a number, also from a string, because fields of a list are strings. */
static gboolean
read_number (const GValue *value, gdouble *number)
{
  g_auto (GValue) changed = G_VALUE_INIT;

  if (G_VALUE_HOLDS_STRING (value)) {
    const gchar *text = g_value_get_string (value);
    gchar *end;

    if (!text || *text == '\0')
      return FALSE;
    *number = g_ascii_strtod (text, &end);
    return *end == '\0' && isfinite (*number);
  }
  g_value_init (&changed, G_TYPE_DOUBLE);
  if (!g_value_transform (value, &changed))
    return FALSE;
  *number = g_value_get_double (&changed);
  return isfinite (*number);
}

static gchar *
describe_value (const SpdlGroupKey *self, const GValue *value)
{
  gchar *text;
  gdouble number;

  if (!value)
    return g_strdup ("");
  if (self->divisor > 0 && read_number (value, &number))
    return g_strdup_printf ("%.0f", floor (number / self->divisor));
  text = gst_value_serialize (value);
  return text ? text : g_strdup ("");
}

static const GValue *
find_field (const SpdlGroupKey *self, const GstStructure *s)
{
  return s ? gst_structure_get_value (s, self->field) : NULL;
}

/* Reads the key of @item, with @caps (nullable). Returns: (transfer full): the
 * key; "" if the item has no such field */
static gchar *
spdl_group_key_read (const SpdlGroupKey *self, GstBuffer *item, GstCaps *caps)
{
  const GstSpdlItemMeta *meta = gst_spdl_buffer_get_item_meta (item);
  const GstStructure *s = caps && gst_caps_get_size (caps) > 0
                              ? gst_caps_get_structure (caps, 0)
                              : NULL;

  switch (self->kind) {
    case KEY_LABEL:
      return describe_number (self, meta ? meta->label : -1);
    case KEY_BYTES:
      return describe_number (self, gst_buffer_get_size (item));
    case KEY_CAPS:
      return caps ? gst_caps_to_string (caps) : g_strdup ("");
    case KEY_CAPS_FIELD:
      return describe_value (self, find_field (self, s));
    case KEY_EXTRA_FIELD:
    default:
      return describe_value (
          self, find_field (self, meta ? meta->extra : NULL));
  }
}

/* Pending groups */

static void
free_group (gpointer data)
{
  SpdlGroup *group = data;

  gst_clear_buffer_list (&group->items);
  gst_clear_caps (&group->caps);
  g_free (group->key);
  g_free (group);
}

static void
spdl_groups_init (SpdlGroups *self)
{
  self->by_key =
      g_hash_table_new_full (g_str_hash, g_str_equal, NULL, free_group);
  g_queue_init (&self->all);
}

static void
spdl_groups_clear (SpdlGroups *self)
{
  g_hash_table_unref (self->by_key);
}

/* Returns the group of a key; NULL if there is none. */
static SpdlGroup *
spdl_groups_find (SpdlGroups *self, const gchar *key)
{
  return g_hash_table_lookup (self->by_key, key);
}

/* Returns the oldest group; NULL if there is none. */
static SpdlGroup *
spdl_groups_get_oldest (SpdlGroups *self)
{
  return g_queue_peek_head (&self->all);
}

/* Starts a group. @caps: (nullable) */
static SpdlGroup *
spdl_groups_begin (SpdlGroups *self, const gchar *key, GstCaps *caps)
{
  SpdlGroup *group = g_new0 (SpdlGroup, 1);

  group->key = g_strdup (key);
  group->caps = caps ? gst_caps_ref (caps) : NULL;
  group->items = gst_buffer_list_new ();
  group->link.data = group;
  g_hash_table_insert (self->by_key, group->key, group);
  g_queue_push_tail_link (&self->all, &group->link);
  return group;
}

/* @item: (transfer full) */
static void
spdl_group_add (SpdlGroup *group, GstBuffer *item)
{
  group->bytes += gst_buffer_get_size (item);
  /* A signal handler may have kept a reference to the list. */
  group->items = gst_buffer_list_make_writable (group->items);
  gst_buffer_list_add (group->items, item);
}

/* Removes @group and returns its items (transfer full). */
static GstBufferList *
spdl_groups_take (SpdlGroups *self, SpdlGroup *group)
{
  GstBufferList *items = g_steal_pointer (&group->items);

  g_queue_unlink (&self->all, &group->link);
  g_hash_table_remove (self->by_key, group->key);
  return items;
}

/* Drops all groups. */
static void
spdl_groups_reset (SpdlGroups *self)
{
  g_queue_init (&self->all);
  g_hash_table_remove_all (self->by_key);
}

/* Returns a copy of the settings without the key, which is fixed from start to
 * stop. */
static SpdlGroupSettings
get_settings (GstSpdlAggregate *self)
{
  SpdlGroupSettings settings;

  GST_OBJECT_LOCK (self);
  settings = self->settings;
  GST_OBJECT_UNLOCK (self);
  settings.key = NULL;
  return settings;
}

/* Output */

static GstFlowReturn
push_group (GstSpdlAggregate *self, SpdlGroup *group)
{
  if (self->key)
    gst_spdl_caps_gate_open (&self->gate, group->caps);
  return gst_pad_push_list (
      self->parent.srcpad, spdl_groups_take (&self->groups, group));
}

static GstFlowReturn
push_pending (GstSpdlAggregate *self)
{
  GstFlowReturn ret = GST_FLOW_OK;
  SpdlGroup *group;

  while (ret == GST_FLOW_OK && (group = spdl_groups_get_oldest (&self->groups)))
    ret = push_group (self, group);
  return ret;
}

/* Drops all pending groups, and announces downstream that their items will not
 * come. */
static void
drop_pending (GstSpdlAggregate *self)
{
  SpdlGroup *group;
  GstSpdlDroppedItems dropped_items;

  gst_spdl_dropped_items_init (&dropped_items);
  while ((group = spdl_groups_get_oldest (&self->groups))) {
    GstBufferList *items = spdl_groups_take (&self->groups, group);

    for (guint i = 0; i < gst_buffer_list_length (items); i++)
      gst_spdl_dropped_items_add_buffer (&dropped_items,
          gst_buffer_list_get (items, i), GST_SPDL_DROP_REASON_DROPPED);
    gst_buffer_list_unref (items);
  }
  gst_spdl_dropped_items_push (&dropped_items, self->parent.srcpad);
  gst_spdl_dropped_items_clear (&dropped_items);
}

/* Ends pending groups at the end of an epoch or of the stream. */
static void
end_pending (GstSpdlAggregate *self)
{
  if (get_settings (self).drop_last)
    drop_pending (self);
  else
    push_pending (self);
}

/* Input */

/* Lets the application decide how to group @item.
 *
 * @group: (nullable): the pending group
 *
 * Returns a GstSpdlGroupingPolicy, or NO_ANSWER if the handler returned none,
 * like a Python function that raises an exception. */
static gint
ask_accept (GstSpdlAggregate *self, SpdlGroup *group, GstBuffer *item)
{
  GValue arguments[3] = { G_VALUE_INIT, G_VALUE_INIT, G_VALUE_INIT };
  GValue answer = G_VALUE_INIT;
  gint policy;

  g_value_init (&arguments[0], G_OBJECT_TYPE (self));
  g_value_set_object (&arguments[0], self);
  g_value_init (&arguments[1], GST_TYPE_BUFFER_LIST);
  if (group)
    g_value_set_boxed (&arguments[1], group->items);
  else
    g_value_take_boxed (&arguments[1], gst_buffer_list_new ());
  g_value_init (&arguments[2], GST_TYPE_SAMPLE);
  g_value_take_boxed (
      &arguments[2], gst_sample_new (item, self->caps, NULL, NULL));
  g_value_init (&answer, GST_TYPE_SPDL_GROUPING_POLICY);
  g_value_set_enum (&answer, NO_ANSWER);
  g_signal_emitv (arguments, signals[SIGNAL_ACCEPT], 0, &answer);
  policy = g_value_get_enum (&answer);
  for (guint i = 0; i < G_N_ELEMENTS (arguments); i++)
    g_value_unset (&arguments[i]);
  return policy;
}

static gint
get_policy (GstSpdlAggregate *self, SpdlGroup *group, GstBuffer *item)
{
  if (!g_signal_has_handler_pending (self, signals[SIGNAL_ACCEPT], 0, FALSE))
    return GST_SPDL_GROUPING_POLICY_TAKE;
  return ask_accept (self, group, item);
}

static gboolean
is_same (GstCaps *a, GstCaps *b)
{
  return a == b || (a && b && gst_caps_is_equal (a, b));
}

/* Returns TRUE if an item of @bytes does not fit into @group, whatever the
 * application decides. */
static gboolean
is_beyond (const GstSpdlAggregate *self, const SpdlGroup *group, gsize bytes,
    const SpdlGroupSettings *settings)
{
  return !is_same (group->caps, self->caps) ||
         (settings->max_bytes > 0 &&
             group->bytes + bytes > settings->max_bytes);
}

static gboolean
is_full (const SpdlGroup *group, const SpdlGroupSettings *settings)
{
  return (settings->size > 0 &&
             gst_buffer_list_length (group->items) >= settings->size) ||
         (settings->max_bytes > 0 && group->bytes >= settings->max_bytes);
}

/* Finds the group of @key, and sends groups that must end before @item is
 * added.
 *
 * @group: (out): NULL if a new group must be started
 * @policy: (out): TAKE, EMIT_AFTER or NO_ANSWER; EMIT_BEFORE is handled here */
static GstFlowReturn
make_room (GstSpdlAggregate *self, const gchar *key, GstBuffer *item,
    const SpdlGroupSettings *settings, SpdlGroup **group, gint *policy)
{
  GstFlowReturn ret = GST_FLOW_OK;
  SpdlGroup *found = spdl_groups_find (&self->groups, key);

  if (found && is_beyond (self, found, gst_buffer_get_size (item), settings)) {
    ret = push_group (self, found);
    found = NULL;
  }
  *policy = get_policy (self, found, item);
  if (*policy == GST_SPDL_GROUPING_POLICY_EMIT_BEFORE && found &&
      ret == GST_FLOW_OK) {
    ret = push_group (self, found);
    found = NULL;
  }
  while (!found && ret == GST_FLOW_OK &&
         self->groups.all.length >= settings->max_keys)
    ret = push_group (self, spdl_groups_get_oldest (&self->groups));
  *group = found;
  return ret;
}

/* Adds @item (transfer full) to its group, and pushes groups that are
 * complete. */
static GstFlowReturn
add_item (GstSpdlAggregate *self, const gchar *key, GstBuffer *item)
{
  const SpdlGroupSettings settings = get_settings (self);
  SpdlGroup *group;
  gint policy;
  const GstFlowReturn ret =
      make_room (self, key, item, &settings, &group, &policy);

  if (ret != GST_FLOW_OK || policy == NO_ANSWER) {
    gst_buffer_unref (item);
    if (ret != GST_FLOW_OK)
      return ret;
    GST_ELEMENT_ERROR (self, STREAM, FAILED,
        ("The handler of the signal accept raised an exception, or returned no "
         "GstSpdlGroupingPolicy"),
        (NULL));
    return GST_FLOW_EOS; /* upstream then sends the end of the stream */
  }
  if (!group)
    group = spdl_groups_begin (&self->groups, key, self->caps);
  spdl_group_add (group, item);
  if (policy == GST_SPDL_GROUPING_POLICY_EMIT_AFTER ||
      is_full (group, &settings))
    return push_group (self, group);
  return GST_FLOW_OK;
}

static GstFlowReturn
gst_spdl_aggregate_chain (GstSpdlFilter *filter, GstBuffer *buffer)
{
  GstSpdlAggregate *self = GST_SPDL_AGGREGATE (filter);
  const gsize bytes = gst_buffer_get_size (buffer);
  g_autofree gchar *key = NULL;

  gst_spdl_plain_stats_pass (filter->stats, 1, bytes, bytes);
  if (self->key)
    key = spdl_group_key_read (self->key, buffer, self->caps);
  return add_item (self, key ? key : "", buffer);
}

/* Stores the caps of the next items. With a key, takes ownership of the event
 * and returns TRUE, because caps are sent before each group instead. */
static gboolean
keep_caps (GstSpdlAggregate *self, GstEvent *event)
{
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  if (!self->caps || !gst_caps_is_equal (caps, self->caps))
    gst_caps_replace (&self->caps, caps);
  if (self->key)
    gst_event_unref (event);
  return self->key != NULL;
}

static gboolean
pass_event (GstSpdlAggregate *self, GstEvent *event)
{
  GstSpdlFilter *filter = &self->parent;

  if (!self->key || !GST_EVENT_IS_SERIALIZED (event))
    return GST_SPDL_FILTER_CLASS (gst_spdl_aggregate_parent_class)
        ->event (filter, event);
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    gst_spdl_plain_stats_finish (filter->stats);
  gst_spdl_caps_gate_push_event (&self->gate, event);
  return TRUE;
}

static gboolean
gst_spdl_aggregate_event (GstSpdlFilter *filter, GstEvent *event)
{
  GstSpdlAggregate *self = GST_SPDL_AGGREGATE (filter);
  const GstEventType type = GST_EVENT_TYPE (event);

  if (type == GST_EVENT_CAPS && !self->key)
    push_pending (self);
  if (type == GST_EVENT_CAPS && keep_caps (self, event))
    return TRUE;
  if (type == GST_EVENT_EOS ||
      gst_spdl_event_parse_epoch (event, NULL, NULL, NULL))
    end_pending (self);
  else if (type != GST_EVENT_CAPS && GST_EVENT_IS_SERIALIZED (event) &&
           type != GST_EVENT_FLUSH_STOP &&
           !gst_spdl_event_parse_items_dropped (
               event, NULL, NULL, NULL, NULL, NULL))
    push_pending (self);
  return pass_event (self, event);
}

static void
gst_spdl_aggregate_reset (GstSpdlFilter *filter)
{
  GstSpdlAggregate *self = GST_SPDL_AGGREGATE (filter);

  spdl_groups_reset (&self->groups);
  gst_spdl_caps_gate_flush (&self->gate);
}

/* State changes */

static gboolean
gst_spdl_aggregate_start (GstSpdlFilter *filter, GError **error)
{
  GstSpdlAggregate *self = GST_SPDL_AGGREGATE (filter);
  g_autofree gchar *text = NULL;

  GST_OBJECT_LOCK (self);
  text = g_strdup (self->settings.key);
  GST_OBJECT_UNLOCK (self);
  return !text || (self->key = spdl_group_key_parse (text, error));
}

static void
gst_spdl_aggregate_stop (GstSpdlFilter *filter)
{
  GstSpdlAggregate *self = GST_SPDL_AGGREGATE (filter);

  g_clear_pointer (&self->key, spdl_group_key_free);
  gst_spdl_caps_gate_clear (&self->gate);
  gst_clear_caps (&self->caps);
}

/* Class */

static const SpdlProperty properties[] = {
  SPDL_PROPERTY_UINT (SpdlGroupSettings, size, PLAYING, "size", "Size",
      "Maximum number of items in a group (0 = no limit)", 0, 1 << 20, 1),
  SPDL_PROPERTY_BOOLEAN (SpdlGroupSettings, drop_last, PLAYING, "drop-last",
      "Drop last",
      "Drop an incomplete group at the end of an epoch or of the stream",
      FALSE),
  SPDL_PROPERTY_UINT64 (SpdlGroupSettings, max_bytes, PLAYING, "max-bytes",
      "Maximum bytes",
      "Maximum bytes of a group's items; a larger item forms a group alone (0 "
      "= no limit)",
      0, G_MAXUINT64, 0),
  SPDL_PROPERTY_STRING (SpdlGroupSettings, key, READY, "key", "Key",
      "Group items with the same value of label, bytes, caps, caps.FIELD or "
      "extra.FIELD; /N divides numbers (unset = group all items)",
      NULL),
  SPDL_PROPERTY_UINT (SpdlGroupSettings, max_keys, PLAYING, "max-keys",
      "Maximum keys",
      "Maximum number of pending groups with different keys; the oldest group "
      "is sent before another begins",
      1, G_MAXUINT, 1024),
  SPDL_PROPERTY_END
};

static void
gst_spdl_aggregate_finalize (GObject *object)
{
  GstSpdlAggregate *self = GST_SPDL_AGGREGATE (object);

  spdl_groups_clear (&self->groups);
  gst_spdl_property_table_clear (properties, &self->settings);
  G_OBJECT_CLASS (gst_spdl_aggregate_parent_class)->finalize (object);
}

static void
install_signals (GType type)
{
  /**
   * GstSpdlAggregate::accept:
   * @element: the spdlaggregate
   * @group: the pending group; with `key`, the one with the key of @item. It
   *     may be empty
   * @item: the next item, with its caps
   *
   * Lets the application decide how items are grouped. The limits `size` and
   * `max-bytes` apply as well. The signal is emitted for each item, in the
   * streaming thread. If the handler returns no value, like a Python function
   * that raises an exception, the stream ends with an error.
   *
   * Returns: what to do with the group and the item
   *
   * Since: 0.1
   */
  signals[SIGNAL_ACCEPT] = g_signal_new ("accept", type, G_SIGNAL_RUN_LAST, 0,
      NULL, NULL, NULL, GST_TYPE_SPDL_GROUPING_POLICY, 2,
      GST_TYPE_BUFFER_LIST | G_SIGNAL_TYPE_STATIC_SCOPE,
      GST_TYPE_SAMPLE | G_SIGNAL_TYPE_STATIC_SCOPE);
}

static void
gst_spdl_aggregate_class_init (GstSpdlAggregateClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstSpdlFilterClass *filter_class = GST_SPDL_FILTER_CLASS (klass);

  object_class->finalize = gst_spdl_aggregate_finalize;
  gst_spdl_property_table_implement (
      properties, object_class, G_STRUCT_OFFSET (GstSpdlAggregate, settings));
  install_signals (G_TYPE_FROM_CLASS (klass));

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Item grouper",
      "Filter", "Collects items into groups that a stage processes as one task",
      "the gst-spdl developers");
  filter_class->chain = gst_spdl_aggregate_chain;
  filter_class->event = gst_spdl_aggregate_event;
  filter_class->reset = gst_spdl_aggregate_reset;
  filter_class->start = gst_spdl_aggregate_start;
  filter_class->stop = gst_spdl_aggregate_stop;
}

static void
gst_spdl_aggregate_init (GstSpdlAggregate *self)
{
  gst_spdl_property_table_init (properties, &self->settings);
  spdl_groups_init (&self->groups);
  gst_spdl_caps_gate_init (&self->gate, self->parent.srcpad);
  gst_spdl_filter_set_proxy (&self->parent);
}

/**
 * SECTION:element-spdldisaggregate
 * @title: spdldisaggregate
 * @short_description: splits groups into items
 *
 * Sends the items of each group one by one. Items without a group pass
 * unchanged.
 *
 * ## Example
 * |[
 * gst-launch-1.0 spdlsrc location=/usr/share/icons pattern="*.png"
 *     ! spdlaggregate size=32 ! spdlfetch concurrency=4
 *     ! spdldisaggregate ! fakesink
 * ]|
 *
 * Since: 0.1
 */

#define GST_TYPE_SPDL_DISAGGREGATE (gst_spdl_disaggregate_get_type ())
GType gst_spdl_disaggregate_get_type (void);

typedef struct {
  GstSpdlFilter parent;
} GstSpdlDisaggregate;

typedef struct {
  GstSpdlFilterClass parent_class;
} GstSpdlDisaggregateClass;

G_DEFINE_TYPE (GstSpdlDisaggregate, gst_spdl_disaggregate, GST_TYPE_SPDL_FILTER)
GST_ELEMENT_REGISTER_DEFINE (spdldisaggregate, "spdldisaggregate",
    GST_RANK_NONE, GST_TYPE_SPDL_DISAGGREGATE)

/* Buffer lists do not arrive here, because the base class splits them. */
static GstFlowReturn
gst_spdl_disaggregate_chain (GstSpdlFilter *self, GstBuffer *buffer)
{
  const gsize bytes = gst_buffer_get_size (buffer);

  gst_spdl_plain_stats_pass (self->stats, 1, bytes, bytes);
  return gst_pad_push (self->srcpad, buffer);
}

static void
gst_spdl_disaggregate_class_init (GstSpdlDisaggregateClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Item ungrouper",
      "Filter", "Splits groups into their items", "the gst-spdl developers");
  GST_SPDL_FILTER_CLASS (klass)->chain = gst_spdl_disaggregate_chain;
}

static void
gst_spdl_disaggregate_init (GstSpdlDisaggregate *self)
{
  gst_spdl_filter_set_proxy (&self->parent);
}
