/* gst-spdl: number of a source in its pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/sourcenumber.h"

#include "gst/spdl/progress/state.h"

/* Numbers that a run of a pipeline has given. The topmost bin has a reference,
 * and each source with a number. */
typedef struct {
  guint32 next;        /* one more than the highest number */
  guint n_active;      /* sources that are not READY */
  gboolean has_others; /* sources of other types, which have one number */
  guint32 other;       /* that number */
} Run;

/* The number of a source. */
typedef struct {
  Run *run;
  guint32 number;
  gboolean active;
} Place;

static GMutex lock; /* guards all runs and places */

static G_DEFINE_QUARK (spdl - source - run, run) static G_DEFINE_QUARK (
    spdl - source - place, place)

    static void place_free (gpointer data)
{
  Place *place = data;

  g_atomic_rc_box_release (place->run);
  g_free (place);
}

static GstBin *
find_top (GstElement *source)
{
  GstObject *top = gst_object_ref (GST_OBJECT (source)), *parent;

  while ((parent = gst_object_get_parent (top))) {
    gst_object_unref (top);
    top = parent;
  }
  if (GST_IS_BIN (top))
    return GST_BIN (top);
  gst_object_unref (top);
  return NULL;
}

/* Lists the children of a bin in the order in which they were added; GStreamer
 * lists the last one first. */
static GList *
list_children (GstBin *bin)
{
  GList *children;

  GST_OBJECT_LOCK (bin);
  children = g_list_copy_deep (
      bin->children, (GCopyFunc) (void (*) (void)) gst_object_ref, NULL);
  GST_OBJECT_UNLOCK (bin);
  return g_list_reverse (children);
}

/* Kinds of sources, in the order of their numbers. */
typedef enum { KIND_SRC, KIND_WORKER, KIND_OTHER, N_KINDS } Kind;

static Kind
get_kind (const GstElement *source)
{
  const gchar *type = G_OBJECT_TYPE_NAME (source);

  return g_str_equal (type, "GstSpdlSrc")         ? KIND_SRC
         : g_str_equal (type, "GstSpdlWorkerSrc") ? KIND_WORKER
                                                  : KIND_OTHER;
}

/* Appends the sources in a bin to the list of their kind. */
static void
list_sources (GstBin *bin, GPtrArray **sources)
{
  GList *children = list_children (bin);

  for (GList *l = children; l; l = l->next) {
    if (GST_IS_BIN (l->data))
      list_sources (l->data, sources);
    else if (GST_OBJECT_FLAG_IS_SET (l->data, GST_ELEMENT_FLAG_SOURCE))
      g_ptr_array_add (sources[get_kind (l->data)], gst_object_ref (l->data));
  }
  g_list_free_full (children, gst_object_unref);
}

static void
number_source (Run *run, GstElement *source)
{
  Place *place = g_new (Place, 1);

  *place = (Place){ g_atomic_rc_box_acquire (run), run->next, FALSE };
  run->next += get_kind (source) == KIND_WORKER ? SPDL_SOURCE_NUMBER_STEP : 1;
  g_object_set_qdata_full (
      G_OBJECT (source), place_quark (), place, place_free);
}

/* Starts a run: numbers all sources of the pipeline.
 *
 * @plays: whether the other sources may have sent items already */
static Run *
begin_run (GstBin *top, gboolean plays)
{
  GPtrArray *sources[N_KINDS];
  Run *run = g_atomic_rc_box_new0 (Run);

  for (guint i = 0; i < N_KINDS; i++)
    sources[i] = g_ptr_array_new_with_free_func (gst_object_unref);
  list_sources (top, sources);
  run->has_others = sources[KIND_OTHER]->len > 0;
  run->next = run->has_others && plays;
  for (Kind kind = 0; kind < KIND_OTHER; kind++)
    for (guint i = 0; i < sources[kind]->len; i++)
      number_source (run, g_ptr_array_index (sources[kind], i));
  if (run->has_others && !plays)
    run->other = run->next++;
  for (guint i = 0; i < N_KINDS; i++)
    g_ptr_array_unref (sources[i]);
  g_object_set_qdata_full (
      G_OBJECT (top), run_quark (), run, g_atomic_rc_box_release);
  return run;
}

/* Returns the current run. Another one begins with the first source that leaves
 * READY, unless the pipeline already has; then its sources were removed. */
static Run *
get_run (GstBin *top)
{
  Run *run = g_object_get_qdata (G_OBJECT (top), run_quark ());
  GstState state;

  GST_OBJECT_LOCK (top);
  state = GST_STATE (top);
  GST_OBJECT_UNLOCK (top);
  return run && (run->n_active > 0 || state >= GST_STATE_PAUSED)
             ? run
             : begin_run (top, state >= GST_STATE_PAUSED);
}

/* Returns the number of a source, which is 0 outside a pipeline. */
static guint32
take_number (GstElement *source, GstBin *top)
{
  Run *run = get_run (top);
  Place *place = g_object_get_qdata (G_OBJECT (source), place_quark ());

  if (!place || place->run != run) {
    number_source (run, source);
    place = g_object_get_qdata (G_OBJECT (source), place_quark ());
  }
  run->n_active += !place->active;
  place->active = TRUE;
  return place->number;
}

guint32
spdl_source_number_take (GstElement *source)
{
  GstBin *top = find_top (source);
  guint32 number;

  if (!top)
    return 0;
  g_mutex_lock (&lock);
  number = take_number (source, top);
  g_mutex_unlock (&lock);
  gst_object_unref (top);
  return number;
}

void
spdl_source_number_release (GstElement *source)
{
  Place *place;

  g_mutex_lock (&lock);
  place = g_object_get_qdata (G_OBJECT (source), place_quark ());
  if (place) {
    place->run->n_active -= place->active;
    place->active = FALSE;
  }
  g_mutex_unlock (&lock);
}

guint32
spdl_source_number_get_other (GstElement *element)
{
  GstBin *top = find_top (element);
  guint32 number;
  Run *run;

  if (!top)
    return 0;
  g_mutex_lock (&lock);
  run = get_run (top);
  if (!run->has_others)
    run->other = run->next++;
  run->has_others = TRUE;
  number = run->other;
  g_mutex_unlock (&lock);
  gst_object_unref (top);
  return number;
}

/* Resume states */

static void
find_highest (guint32 source, SpdlState *state, gpointer user_data)
{
  guint32 *highest = user_data;

  *highest = MAX (*highest, source);
}

gboolean
spdl_source_number_check_state (
    GstElement *source, const gchar *state, GError **error)
{
  guint32 highest = 0, next = G_MAXUINT32;
  Place *place;

  if (!state || !spdl_state_visit (state, find_highest, &highest))
    return TRUE;
  g_mutex_lock (&lock);
  place = g_object_get_qdata (G_OBJECT (source), place_quark ());
  if (place && !place->run->has_others)
    next = place->run->next;
  g_mutex_unlock (&lock);
  if (highest < next)
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "The resume state cannot be used: it names source %u, but the pipeline "
      "has no sources after number %u. Before the start, the pipeline must "
      "contain all sources, including those that were added while it played: "
      "add the sources in the order of their numbers",
      highest, next - 1);
  return FALSE;
}
