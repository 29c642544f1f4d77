/* gst-spdl: application as the source of a loader
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/loader/loader-private.h"

#include <gst/app/gstappsrc.h>

#include "gst/spdl/arrow/arrowreader.h"
#include "gst/spdl/common/redact.h"
#include "gst/spdl/common/sourcenumber.h"
#include "gst/spdl/gstspdlevents.h"
#include "gst/spdl/loader/buswatch.h"

/* Limits of the queue in the source. */
#define MAX_QUEUED 16
#define MAX_BYTES_QUEUED (64 << 20)

#define ENCODED "application/octet-stream"
#define URIS "text/uri-list"

/* Lock held. Checks that the run accepts items. */
static gboolean
check_open (GstSpdlBusWatch *bus_watch, GError **error)
{
  if (bus_watch->stopped)
    gst_spdl_loader_set_stopped (error);
  else if (bus_watch->error)
    g_propagate_error (error, g_error_copy (bus_watch->error));
  return !bus_watch->stopped && !bus_watch->error;
}

/* Lock held. An item of any size is accepted if the queue is empty. */
static gboolean
has_room (const GstSpdlBusWatch *bus_watch, gsize size)
{
  return bus_watch->n_queued == 0 ||
         (bus_watch->n_queued < MAX_QUEUED &&
             bus_watch->bytes_queued + size <= MAX_BYTES_QUEUED);
}

static gboolean
wait_for_room (GstSpdlBusWatch *bus_watch, gsize size, GstClockTime timeout,
    GError **error)
{
  const GstClockTime begun = gst_util_get_timestamp ();
  gboolean open;

  spdl_mutex_lock (&bus_watch->lock);
  while (
      (open = check_open (bus_watch, error)) && !has_room (bus_watch, size)) {
    const GstClockTime waited = gst_util_get_timestamp () - begun;

    if (waited >= timeout) {
      g_set_error_literal (error, GST_SPDL_LOADER_ERROR,
          GST_SPDL_LOADER_ERROR_TIMED_OUT,
          "The queue stayed full until the timeout, so the item was not "
          "pushed");
      open = FALSE;
      break;
    }
    if (timeout == GST_CLOCK_TIME_NONE)
      spdl_cond_wait (&bus_watch->has_room, &bus_watch->lock);
    else
      spdl_cond_wait_for (
          &bus_watch->has_room, &bus_watch->lock, timeout - waited);
  }
  if (open) {
    bus_watch->n_queued++;
    bus_watch->bytes_queued += size;
  }
  spdl_mutex_unlock (&bus_watch->lock);
  return open;
}

static void
set_caps (GstSpdlLoader *self, GstCaps *caps)
{
  GstAppSrc *appsrc = GST_APP_SRC (self->parts.appsrc);
  g_autoptr (GstCaps) current = NULL;
  g_autoptr (GstCaps) encoded = NULL;

  if (!caps) {
    if ((current = gst_app_src_get_caps (appsrc)))
      return;
    caps = encoded = gst_caps_new_empty_simple (ENCODED);
  }
  gst_app_src_set_caps (appsrc, caps);
}

static void
describe_item (
    GstSpdlLoader *self, GstBuffer *buffer, gint64 label, const gchar *uri)
{
  GstSpdlItemMeta *item = gst_spdl_buffer_get_item_meta (buffer);
  g_autofree gchar *shown = uri ? spdl_redact_dup_uri (uri) : NULL;

  if (item)
    return;
  item = gst_spdl_buffer_add_item_meta (buffer);
  item->source = spdl_source_number_get_other (self->parts.appsrc);
  item->epoch = self->push_epoch;
  item->index = item->sequence = self->n_pushed;
  item->label = label;
  item->uri = shown ? g_ref_string_new (shown) : NULL;
  item->created = gst_util_get_timestamp ();
}

/* Push lock held. Checks that @bus_watch belongs to the current run. */
static gboolean
check_run (GstSpdlLoader *self, GstSpdlBusWatch *bus_watch, GError **error)
{
  gboolean ok;

  spdl_mutex_lock (&bus_watch->lock);
  ok = check_open (bus_watch, error);
  spdl_mutex_unlock (&bus_watch->lock);
  if (ok && self->push_ended) {
    g_set_error_literal (error, GST_SPDL_LOADER_ERROR,
        GST_SPDL_LOADER_ERROR_SOURCE,
        "Items cannot be pushed after the end of the source");
    ok = FALSE;
  }
  return ok;
}

/* Pushes @buffer (transfer full), which must be writable. */
static gboolean
push_buffer (GstSpdlLoader *self, GstSpdlBusWatch *bus_watch, GstBuffer *buffer,
    GstCaps *caps, gint64 label, const gchar *uri, GstClockTime timeout,
    GError **error)
{
  gboolean ok =
      wait_for_room (bus_watch, gst_buffer_get_size (buffer), timeout, error);

  spdl_mutex_lock (&self->push_lock);
  ok = ok && check_run (self, bus_watch, error);
  if (ok) {
    describe_item (self, buffer, label, uri);
    set_caps (self, caps);
    self->n_pushed++;
    /* Fails only if the pipeline is ending right now, which the next call
     * reports. */
    gst_app_src_push_buffer (
        GST_APP_SRC (self->parts.appsrc), g_steal_pointer (&buffer));
  }
  spdl_mutex_unlock (&self->push_lock);
  gst_clear_buffer (&buffer);
  return ok;
}

/* Starts a push. Only one thread at a time may push.
 *
 * Returns: (transfer full): the bus watch of the run, NULL with @error set */
static GstSpdlBusWatch *
enter_push (GstSpdlLoader *self, GError **error)
{
  GstSpdlBusWatch *bus_watch;

  if (!gst_spdl_loader_check_process (self, error))
    return NULL;
  if (!self->parts.appsrc) {
    g_set_error_literal (error, GST_SPDL_LOADER_ERROR,
        GST_SPDL_LOADER_ERROR_SOURCE,
        "Items cannot be pushed, because the pipeline has its own source: "
        "begin the pipeline with an open sink pad");
    return NULL;
  }
  if (!(bus_watch = gst_spdl_loader_get_bus_watch (self, error)))
    return NULL;
  if (g_atomic_int_compare_and_exchange (&self->in_push, 0, 1))
    return bus_watch;
  gst_spdl_bus_watch_unref (bus_watch);
  g_set_error_literal (error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_BUSY,
      "Another thread is pushing into this loader: push from one thread at a "
      "time");
  return NULL;
}

static void
leave_push (GstSpdlLoader *self, GstSpdlBusWatch *bus_watch)
{
  g_atomic_int_set (&self->in_push, 0);
  gst_spdl_bus_watch_unref (bus_watch);
}

/**
 * gst_spdl_loader_has_source:
 * @loader: a loader
 *
 * Checks whether the program is the source, which means that the first element
 * of the pipeline has an unlinked sink pad.
 *
 * Returns: %TRUE if the program pushes items
 *
 * Since: 0.1
 */
gboolean
gst_spdl_loader_has_source (GstSpdlLoader *loader)
{
  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), FALSE);

  return loader->parts.appsrc != NULL;
}

/**
 * gst_spdl_loader_push:
 * @loader: a loader that has a source
 * @item: (transfer none): the item: encoded data, a URI or tensors. Its memory
 *     is not copied and must not be changed afterwards
 * @caps: (transfer none) (nullable): format of @item; %NULL: that of the
 *     previous item, and `application/octet-stream` for the first one
 * @label: label of the item, -1 for none
 * @uri: (nullable): name of the item in messages and its key; credentials and
 *     signatures in it are hidden
 * @timeout: maximum time to wait for space, in ns; %GST_CLOCK_TIME_NONE: no
 *     limit
 * @error: (nullable): %GST_SPDL_LOADER_ERROR, or the error that ended the run
 *
 * Adds an item to the pipeline, from one thread at a time, which should not be
 * the one that takes batches. Items are numbered as they come, unless @item has
 * a #GstSpdlItemMeta. At most 16 items and 64 MiB are queued before the first
 * element. After %GST_SPDL_LOADER_ERROR_TIMED_OUT the item can be pushed again.
 *
 * Returns: %FALSE with @error set if the item was not added
 *
 * Since: 0.1
 */
gboolean
gst_spdl_loader_push (GstSpdlLoader *loader, GstBuffer *item, GstCaps *caps,
    gint64 label, const gchar *uri, GstClockTime timeout, GError **error)
{
  GstSpdlBusWatch *bus_watch;
  gboolean ok;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), FALSE);
  g_return_val_if_fail (GST_IS_BUFFER (item), FALSE);
  g_return_val_if_fail (!caps || gst_caps_is_fixed (caps), FALSE);

  if (!(bus_watch = enter_push (loader, error)))
    return FALSE;
  ok = push_buffer (loader, bus_watch, gst_buffer_copy (item), caps, label, uri,
      timeout, error);
  leave_push (loader, bus_watch);
  return ok;
}

/**
 * gst_spdl_loader_push_bytes:
 * @loader: a loader that has a source
 * @item: (transfer none): bytes of the item
 * @caps: (transfer none) (nullable): as in gst_spdl_loader_push()
 * @label: label of the item, -1 for none
 * @uri: (nullable): name of the item in messages and its key; credentials and
 *     signatures in it are hidden
 * @timeout: maximum time to wait for space, in ns
 * @error: (nullable): %GST_SPDL_LOADER_ERROR, or the error that ended the run
 *
 * Adds an item like gst_spdl_loader_push().
 *
 * Returns: %FALSE with @error set if the item was not added
 *
 * Since: 0.1
 */
gboolean
gst_spdl_loader_push_bytes (GstSpdlLoader *loader, GBytes *item, GstCaps *caps,
    gint64 label, const gchar *uri, GstClockTime timeout, GError **error)
{
  GstSpdlBusWatch *bus_watch;
  gboolean ok;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), FALSE);
  g_return_val_if_fail (item != NULL, FALSE);
  g_return_val_if_fail (!caps || gst_caps_is_fixed (caps), FALSE);

  if (!(bus_watch = enter_push (loader, error)))
    return FALSE;
  ok = push_buffer (loader, bus_watch, gst_buffer_new_wrapped_bytes (item),
      caps, label, uri, timeout, error);
  leave_push (loader, bus_watch);
  return ok;
}

/**
 * gst_spdl_loader_push_uri:
 * @loader: a loader that has a source
 * @uri: (type filename): a URI, or an absolute path, which may have any bytes
 *     and becomes a `file://` URI
 * @label: label of the item, -1 for none
 * @timeout: maximum time to wait for space, in ns
 * @error: (nullable): %GST_SPDL_LOADER_ERROR, or the error that ended the run
 *
 * Adds an item that `spdlfetch` reads. Otherwise it works like
 * gst_spdl_loader_push().
 *
 * Returns: %FALSE with @error set if the item was not added
 *
 * Since: 0.1
 */
gboolean
gst_spdl_loader_push_uri (GstSpdlLoader *loader, const gchar *uri, gint64 label,
    GstClockTime timeout, GError **error)
{
  g_autoptr (GstCaps) caps = NULL;
  g_autofree gchar *of_path = NULL;
  GstSpdlBusWatch *bus_watch;
  gboolean ok;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), FALSE);
  g_return_val_if_fail (uri != NULL, FALSE);

  if (!(bus_watch = enter_push (loader, error)))
    return FALSE;
  of_path =
      g_path_is_absolute (uri) ? g_filename_to_uri (uri, NULL, NULL) : NULL;
  if (of_path)
    uri = of_path;
  caps = gst_caps_new_empty_simple (URIS);
  ok = push_buffer (loader, bus_watch,
      gst_buffer_new_wrapped (g_strdup (uri), strlen (uri)), caps, label, uri,
      timeout, error);
  leave_push (loader, bus_watch);
  return ok;
}

/* Push lock held. Sends @event (transfer full) after the items that were
 * pushed. Since 1.24, appsrc keeps events until it has caps, which it gets with
 * the first item, so an epoch without items would never end. Before the first
 * item nothing can be queued, so the event is sent directly to the first
 * element, as soon as the source's thread has started the stream. */
static void
send_event (GstSpdlLoader *self, GstSpdlBusWatch *bus_watch, GstEvent *event)
{
  g_autoptr (GstCaps) caps =
      gst_app_src_get_caps (GST_APP_SRC (self->parts.appsrc));
  GstPad *pad;
  gboolean open;

  if (caps) {
    gst_element_send_event (self->parts.appsrc, event);
    return;
  }
  spdl_mutex_lock (&bus_watch->lock);
  while ((open = check_open (bus_watch, NULL)) && !bus_watch->source_begun)
    spdl_cond_wait (&bus_watch->has_room, &bus_watch->lock);
  spdl_mutex_unlock (&bus_watch->lock);
  if (!open) {
    gst_event_unref (event);
    return;
  }
  pad = gst_element_get_static_pad (self->parts.appsrc, "src");
  gst_pad_push_event (pad, event);
  gst_object_unref (pad);
}

/**
 * gst_spdl_loader_end_epoch:
 * @loader: a loader that has a source
 * @error: (nullable): %GST_SPDL_LOADER_ERROR, or the error that ended the run
 *
 * Ends an epoch after the items that were pushed; gst_spdl_loader_next()
 * returns %NULL there. Call it from the thread that pushes.
 *
 * Returns: %FALSE with @error set if the loader accepts no more items
 *
 * Since: 0.1
 */
gboolean
gst_spdl_loader_end_epoch (GstSpdlLoader *loader, GError **error)
{
  GstSpdlBusWatch *bus_watch;
  gboolean ok;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), FALSE);

  if (!(bus_watch = enter_push (loader, error)))
    return FALSE;
  spdl_mutex_lock (&loader->push_lock);
  if ((ok = check_run (loader, bus_watch, error))) {
    send_event (loader, bus_watch,
        gst_spdl_event_new_epoch (
            spdl_source_number_get_other (loader->parts.appsrc),
            loader->push_epoch++, loader->n_pushed));
    loader->n_pushed = 0;
  }
  spdl_mutex_unlock (&loader->push_lock);
  leave_push (loader, bus_watch);
  return ok;
}

/**
 * gst_spdl_loader_end_source:
 * @loader: a loader that has a source
 * @cause: (nullable): error that ends the source; %NULL: there are no more
 *     items
 * @error: (nullable): %GST_SPDL_LOADER_ERROR, or the error that ended the run
 *
 * Ends the stream after the items that were pushed. A @cause becomes the error
 * that gst_spdl_loader_next() returns at the end. Call it from the thread that
 * pushes.
 *
 * Returns: %FALSE with @error set if the loader has already ended
 *
 * Since: 0.1
 */
gboolean
gst_spdl_loader_end_source (
    GstSpdlLoader *loader, const GError *cause, GError **error)
{
  GstSpdlBusWatch *bus_watch;
  gboolean ok;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), FALSE);

  if (!(bus_watch = enter_push (loader, error)))
    return FALSE;
  spdl_mutex_lock (&loader->push_lock);
  if ((ok = check_run (loader, bus_watch, error))) {
    loader->push_ended = TRUE;
    if (cause)
      gst_spdl_bus_watch_set_error (bus_watch, g_error_copy (cause));
    gst_app_src_end_of_stream (GST_APP_SRC (loader->parts.appsrc));
  }
  spdl_mutex_unlock (&loader->push_lock);
  leave_push (loader, bus_watch);
  return ok;
}

/* Finds the spdlsrc whose location is the name of the table, otherwise the one
 * without a location. */
static GstElement *
find_table_source (GstSpdlLoader *self, const gchar *name, GError **error)
{
  GstElement *found[2] = { NULL, NULL };
  guint n[2] = { 0, 0 };
  gboolean has_location;

  for (guint i = 0; i < self->parts.sources->len; i++) {
    GstElement *source = g_ptr_array_index (self->parts.sources, i);
    g_autofree gchar *location = NULL;

    if (!spdl_arrow_get_setter (source))
      continue;
    g_object_get (source, "location", &location, NULL);
    has_location = location != NULL;
    if (has_location && !g_str_equal (location, name))
      continue;
    found[has_location] = source;
    n[has_location]++;
  }
  has_location = n[TRUE] > 0;
  if (n[has_location] == 1)
    return found[has_location];
  if (has_location)
    g_set_error (error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_SOURCE,
        "The pipeline has %u elements spdlsrc with the location %s, but only "
        "one can send a table: write the location of the others in another "
        "way, or remove them",
        n[has_location], name);
  else
    g_set_error (error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_SOURCE,
        "The pipeline has %u elements spdlsrc for the table, but needs one "
        "without a location: begin it with \"spdlsrc ! spdlfetch\"",
        n[has_location]);
  return NULL;
}

/* Moves the streams, or takes @opener (nullable), on success. */
static gboolean
set_table (GstSpdlLoader *self, gpointer rows, gpointer order,
    SpdlArrowOpener *opener, const gchar *name, GError **error)
{
  GstElement *source;
  gboolean ok;

  if (!gst_spdl_loader_check_process (self, error) ||
      !(source = find_table_source (self, name, error)))
    return FALSE;
  ok = spdl_arrow_get_setter (source) (source, rows, order, opener, name);
  if (!ok)
    g_set_error_literal (error, GST_SPDL_LOADER_ERROR,
        GST_SPDL_LOADER_ERROR_STARTED,
        "A table can only be set before the loader starts: stop the loader "
        "first");
  return ok;
}

/**
 * gst_spdl_loader_set_arrow_table:
 * @loader: a stopped loader
 * @rows: (not nullable): `struct ArrowArrayStream *` of Arrow's C stream
 *     interface, which is moved: its `release` becomes %NULL
 * @order: (nullable): `struct ArrowArrayStream *` of one column of integers,
 *     which is moved: the numbers of the rows to send, in their order
 * @name: name of the table in messages
 * @error: (nullable): %GST_SPDL_LOADER_ERROR
 *
 * Makes a table the dataset of the pipeline's `spdlsrc`, which has no
 * `location`. The first start reads the stream to its end; its memory is not
 * copied. One thread calls all functions of the stream, also to release it,
 * which it does when the loader and the last buffer of the table are freed.
 * #GstSpdlSrc describes the columns.
 *
 * Returns: %FALSE with @error set if the pipeline has no such `spdlsrc`, or the
 *     loader runs; nothing is moved then
 *
 * Since: 0.1
 */
gboolean
gst_spdl_loader_set_arrow_table (GstSpdlLoader *loader, gpointer rows,
    gpointer order, const gchar *name, GError **error)
{
  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), FALSE);
  g_return_val_if_fail (rows != NULL, FALSE);
  g_return_val_if_fail (name != NULL, FALSE);

  return set_table (loader, rows, order, NULL, name, error);
}

/**
 * gst_spdl_loader_set_arrow_stream:
 * @loader: a stopped loader
 * @func: (scope notified): opens a stream
 * @user_data: data of @func
 * @notify: (nullable): called by any thread when @func is no longer needed
 * @name: name of the stream in messages
 * @error: (nullable): %GST_SPDL_LOADER_ERROR
 *
 * Makes a stream the dataset of the pipeline's `spdlsrc`, which has no
 * `location`. @func opens it at the start and for each further epoch. The rows
 * are sent in their order, and only those that the pipeline uses are in memory.
 * Otherwise it works like gst_spdl_loader_set_arrow_table().
 *
 * Returns: %FALSE with @error set if the pipeline has no such `spdlsrc`, or the
 *     loader runs
 *
 * Since: 0.1
 */
gboolean
gst_spdl_loader_set_arrow_stream (GstSpdlLoader *loader, GstSpdlArrowFunc func,
    gpointer user_data, GDestroyNotify notify, const gchar *name,
    GError **error)
{
  SpdlArrowOpener *opener;
  gboolean ok;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), FALSE);
  g_return_val_if_fail (func != NULL, FALSE);
  g_return_val_if_fail (name != NULL, FALSE);

  opener = spdl_arrow_opener_new (func, user_data, notify);
  ok = set_table (loader, NULL, NULL, opener, name, error);
  if (!ok)
    spdl_arrow_opener_unref (opener);
  return ok;
}

/**
 * gst_spdl_loader_set_arrow_parts:
 * @loader: a stopped loader
 * @parts: (array length=n_parts): the parts of the table, in their order
 * @n_parts: number of parts, at least 1
 * @func: (scope notified): opens a part
 * @user_data: data of @func
 * @notify: (nullable): called by any thread when @func is no longer needed
 * @name: name of the table in messages
 * @error: (nullable): %GST_SPDL_LOADER_ERROR
 *
 * Makes a table that is read in parts the dataset of the pipeline's `spdlsrc`
 * whose `location` is @name, otherwise of the one without a location. Only the
 * parts that are in use or will be soon are in memory, and only their columns
 * that `spdlsrc` uses are read. #GstSpdlSrc describes the order of the rows.
 * Otherwise it works like gst_spdl_loader_set_arrow_table().
 *
 * Returns: %FALSE with @error set if the pipeline has no such `spdlsrc`, or the
 *     loader runs
 *
 * Since: 0.1
 */
gboolean
gst_spdl_loader_set_arrow_parts (GstSpdlLoader *loader,
    const GstSpdlArrowPart *parts, guint n_parts, GstSpdlArrowPartFunc func,
    gpointer user_data, GDestroyNotify notify, const gchar *name,
    GError **error)
{
  SpdlArrowOpener *opener;
  gboolean ok;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), FALSE);
  g_return_val_if_fail (parts != NULL && n_parts > 0, FALSE);
  g_return_val_if_fail (func != NULL, FALSE);
  g_return_val_if_fail (name != NULL, FALSE);

  opener =
      spdl_arrow_opener_new_parts (parts, n_parts, func, user_data, notify);
  ok = set_table (loader, NULL, NULL, opener, name, error);
  if (!ok)
    spdl_arrow_opener_unref (opener);
  return ok;
}
