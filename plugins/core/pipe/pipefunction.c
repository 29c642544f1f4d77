/* gst-spdl: an application's function, which the signal process calls
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/pipe/pipefunction.h"

/* What stands where the result belongs until the handler has given one:
 * PyGObject gives none for a function that raises. */
static GstSample *
get_no_answer (void)
{
  static GstSample *sample = NULL;

  if (g_once_init_enter (&sample)) {
    GstSample *made = gst_sample_new (NULL, NULL, NULL, NULL);

    GST_MINI_OBJECT_FLAG_SET (made, GST_MINI_OBJECT_FLAG_MAY_BE_LEAKED);
    g_once_init_leave (&sample, made);
  }
  return sample;
}

/* Returns: (transfer full) (nullable): what the handler returned. */
static GstSample *
emit (GstSpdlStage *stage, guint signal_id, GstSample *sample)
{
  GValue arguments[2] = { G_VALUE_INIT, G_VALUE_INIT };
  GValue result = G_VALUE_INIT;

  g_value_init (&arguments[0], G_OBJECT_TYPE (stage));
  g_value_set_object (&arguments[0], stage);
  g_value_init (&arguments[1], GST_TYPE_SAMPLE);
  g_value_set_static_boxed (&arguments[1], sample);
  g_value_init (&result, GST_TYPE_SAMPLE);
  g_value_set_boxed (&result, get_no_answer ());
  g_signal_emitv (arguments, signal_id, 0, &result);
  g_value_unset (&arguments[1]);
  g_value_unset (&arguments[0]);
  /* The value's own reference is the caller's from here on. */
  return g_value_get_boxed (&result);
}

/* Whether @result (nullable) is none of a failure. */
static gboolean
check (GstSample *result, GError **error)
{
  const gchar *failure;

  if (!result)
    return TRUE;
  if (result == get_no_answer ())
    failure = "The function raised, or returned no GstSample";
  else
    failure = gst_spdl_sample_get_failure (result);
  if (failure)
    g_set_error_literal (
        error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, failure);
  return failure == NULL;
}

static GPtrArray *
get_buffers (GstSample *sample)
{
  GPtrArray *buffers =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);
  GstBufferList *list = gst_sample_get_buffer_list (sample);
  GstBuffer *buffer = gst_sample_get_buffer (sample);

  for (guint i = 0; list && i < gst_buffer_list_length (list); i++)
    g_ptr_array_add (buffers, gst_buffer_ref (gst_buffer_list_get (list, i)));
  if (!list && buffer)
    g_ptr_array_add (buffers, gst_buffer_ref (buffer));
  return buffers;
}

static void
push_all (GstSpdlTask *task, GPtrArray *buffers, GstCaps *caps)
{
  for (guint i = 0; i < buffers->len; i++)
    gst_spdl_task_push (
        task, gst_buffer_ref (g_ptr_array_index (buffers, i)), caps);
}

gboolean
spdl_pipe_function_process (
    GstSpdlStage *stage, guint signal_id, GstSpdlTask *task, GError **error)
{
  GstBuffer *item = gst_spdl_task_take_item (task);
  GstSample *sample =
      gst_sample_new (item, gst_spdl_task_get_caps (task), NULL, NULL);
  GstSample *result;
  gboolean ok;

  gst_buffer_unref (item);
  result = emit (stage, signal_id, sample);
  ok = check (result, error);
  if (ok && result) {
    g_autoptr (GPtrArray) buffers = get_buffers (result);

    push_all (task, buffers, gst_sample_get_caps (result));
  }
  if (result)
    gst_sample_unref (result);
  gst_sample_unref (sample);
  return ok;
}

/* Results of a group */

static gboolean
is_known (GstBuffer *buffer)
{
  return gst_spdl_buffer_get_item_meta (buffer) ||
         gst_spdl_buffer_get_batch_meta (buffer);
}

static void
set_item (GstBuffer **result, GstBuffer *item)
{
  *result = gst_buffer_make_writable (*result);
  gst_buffer_copy_into (*result, item, GST_BUFFER_COPY_META, 0, -1);
}

/* One result of many items is a batch of them. */
static void
set_batch (GstBuffer **result, GstBufferList *group)
{
  const guint n = gst_buffer_list_length (group);
  GstSpdlBatchMeta *batch;

  *result = gst_buffer_make_writable (*result);
  batch = gst_spdl_buffer_add_batch_meta (*result, n);
  for (guint i = 0; i < n; i++) {
    const GstSpdlItemMeta *item =
        gst_spdl_buffer_get_item_meta (gst_buffer_list_get (group, i));

    if (item)
      gst_spdl_batch_meta_append (batch, item);
  }
}

/* Says of each result which items it is made of, where it does not itself.
 *
 * @in_list: the function gave a list; else one buffer, which is a batch of a
 *     group of a single item, too */
static gboolean
name_results (
    GPtrArray *results, gboolean in_list, GstBufferList *group, GError **error)
{
  const guint n = gst_buffer_list_length (group);
  guint n_known = 0;

  for (guint i = 0; i < results->len; i++)
    n_known += is_known (g_ptr_array_index (results, i));
  if (n_known == results->len)
    return TRUE;
  if (in_list && n_known == 0 && results->len == n) {
    for (guint i = 0; i < n; i++)
      set_item ((GstBuffer **) &g_ptr_array_index (results, i),
          gst_buffer_list_get (group, i));
    return TRUE;
  }
  if (results->len == 1) {
    set_batch ((GstBuffer **) &g_ptr_array_index (results, 0), group);
    return TRUE;
  }
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
      "The function made %u buffers of a group of %u, %u of them without the "
      "meta that says of which item: it can be left out of all where they are "
      "as many as the items, or one",
      results->len, n, results->len - n_known);
  return FALSE;
}

gboolean
spdl_pipe_function_process_group (
    GstSpdlStage *stage, guint signal_id, GstSpdlTask *task, GError **error)
{
  g_autoptr (GstBufferList) group = gst_spdl_task_dup_group (task);
  g_autoptr (GPtrArray) buffers = NULL;
  GstSample *sample =
      gst_sample_new (NULL, gst_spdl_task_get_caps (task), NULL, NULL);
  GstSample *result;
  gboolean ok;

  gst_sample_set_buffer_list (sample, group);
  result = emit (stage, signal_id, sample);
  ok = check (result, error);
  if (ok && result) {
    buffers = get_buffers (result);
    ok = name_results (
        buffers, gst_sample_get_buffer_list (result) != NULL, group, error);
  }
  if (ok && result)
    push_all (task, buffers, gst_sample_get_caps (result));
  if (result)
    gst_sample_unref (result);
  gst_sample_unref (sample);
  return ok;
}
