/* gst-spdl: opener and reader of an Arrow stream
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>
#include <glib.h>
#include <gst/gst.h>

#include "gst/spdl/arrow/arrowabi.h"
#include "gst/spdl/engine/visibility.h"
#include "gst/spdl/gstspdlloader.h"

G_BEGIN_DECLS
SPDL_BEGIN_PRIVATE_API

/* Opens a stream, or those of the parts of a table, with atomic references. */
typedef struct _SpdlArrowOpener SpdlArrowOpener;

/* @func: called by the threads of readers
 * @notify: (nullable): called by any thread when @func is no longer needed */
SpdlArrowOpener *spdl_arrow_opener_new (
    GstSpdlArrowFunc func, gpointer user_data, GDestroyNotify notify);

/* Creates an opener of the parts of a table. It opens no stream itself. */
SpdlArrowOpener *
spdl_arrow_opener_new_parts (const GstSpdlArrowPart *parts, guint n_parts,
    GstSpdlArrowPartFunc func, gpointer user_data, GDestroyNotify notify);

SpdlArrowOpener *spdl_arrow_opener_ref (SpdlArrowOpener *self);

void spdl_arrow_opener_unref (SpdlArrowOpener *self);

/* Returns the parts, NULL if it opens a stream. */
const GstSpdlArrowPart *
spdl_arrow_opener_get_parts (const SpdlArrowOpener *self, guint *n_parts);

/* Returns an opener of the stream of a part.
 *
 * @part: -1: a stream without rows
 * @columns: (nullable): columns of the stream; NULL: all */
SpdlArrowOpener *spdl_arrow_opener_new_part (
    SpdlArrowOpener *self, gint part, const gchar *const *columns);

/* How a loader sets the table of a source: a function that the type of the
 * source has as its data SPDL_ARROW_SETTER.
 *
 * @rows: (nullable): `struct ArrowArrayStream *`, which is moved
 * @order: (nullable): `struct ArrowArrayStream *` of the rows to send, which is
 * moved
 * @opener: (transfer full) (nullable): instead of @rows
 *
 * Without @rows and @opener, the source has no table. Returns FALSE if the
 * source is started; nothing is moved or taken then. */
typedef gboolean (*SpdlArrowSetter) (GstElement *source, gpointer rows,
    gpointer order, SpdlArrowOpener *opener, const gchar *name);

#define SPDL_ARROW_SETTER g_quark_from_static_string ("spdl-arrow-setter")

/* Returns NULL if the source takes no tables. */
static inline SpdlArrowSetter
spdl_arrow_get_setter (gpointer source)
{
  return (SpdlArrowSetter) g_type_get_qdata (
      G_OBJECT_TYPE (source), SPDL_ARROW_SETTER);
}

/* Reads record batches from a producer, which may be Python code. All functions
 * of the producer, including those that release its memory, are called by one
 * thread per reader, `spdl-arrow`. No other thread of a pipeline therefore
 * waits for the interpreter's lock. The thread ends when the reader and all its
 * batches have been released. */
typedef struct _SpdlArrowReader SpdlArrowReader;

/* A record batch, with atomic references. It outlives its reader. */
typedef struct _SpdlArrowBatch SpdlArrowBatch;

/* Moves @stream, which is marked as released. */
SpdlArrowReader *spdl_arrow_reader_new (struct ArrowArrayStream *stream);

/* Creates a reader whose thread opens the stream when it is needed. */
SpdlArrowReader *spdl_arrow_reader_new_lazy (SpdlArrowOpener *opener);

void spdl_arrow_reader_free (SpdlArrowReader *self);

/* Begins to open the stream, without a wait for it. */
void spdl_arrow_reader_begin (SpdlArrowReader *self);

/* Returns TRUE while the thread opens or reads the stream. */
gboolean spdl_arrow_reader_is_busy (SpdlArrowReader *self);

/* Reads the schema. It is valid until the reader is freed.
 *
 * @cancellable: (nullable): may be cancelled in another thread
 *
 * Returns NULL with @error set, in the domain of GST_RESOURCE_ERROR or
 * G_IO_ERROR (cancelled). A failed reader always fails in the same way. */
const struct ArrowSchema *spdl_arrow_reader_get_schema (
    SpdlArrowReader *self, GCancellable *cancellable, GError **error);

/* Reads the next batch. Nothing is lost if the call is cancelled.
 *
 * @batch: (out) (transfer full) (nullable): NULL: there are no more
 *
 * Returns FALSE with @error set like spdl_arrow_reader_get_schema(). */
gboolean spdl_arrow_reader_next (SpdlArrowReader *self, SpdlArrowBatch **batch,
    GCancellable *cancellable, GError **error);

void spdl_arrow_batch_unref (SpdlArrowBatch *self);

const struct ArrowArray *
spdl_arrow_batch_get_array (const SpdlArrowBatch *self);

/* Returns read-only memory at @data, a part of the batch, without a copy. The
 * memory holds a reference to the batch.
 *
 * @size: at least 1 */
GstMemory *
spdl_arrow_batch_wrap (SpdlArrowBatch *self, gconstpointer data, gsize size);

/* Waits until no thread calls a producer, for at most @timeout nanoseconds, and
 * keeps threads from calling one afterwards. Memory that is still in use is
 * never released. Called before the interpreter of producers ends. */
void spdl_arrow_end (guint64 timeout);

SPDL_END_PRIVATE_API
G_END_DECLS
