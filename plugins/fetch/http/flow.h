/* gst-spdl: a body that is read while it comes
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_FLOW_H__
#define __SPDL_FLOW_H__

#include <glib.h>

G_BEGIN_DECLS

/* A ring of bytes between the client's thread, which writes, and one that
 * reads. Who reads waits; who writes never does: where there is no room it is
 * told so, and woken when there is some again. */

typedef struct _SpdlFlow SpdlFlow;

typedef void (*SpdlFlowWakeFunc) (gpointer user_data);

SpdlFlow *spdl_flow_new (gsize room);

/* Once it has ended, or nothing was begun that writes. */
void spdl_flow_free (SpdlFlow *self);

/* Who writes */

/* Before it begins. @wake: is called where there is room again, or where
 * nothing more is wanted, on the reader's thread */
void
spdl_flow_begin (SpdlFlow *self, SpdlFlowWakeFunc wake, gpointer user_data);

/* *@room bytes in a row; NULL: there are none. */
guint8 *spdl_flow_reserve (SpdlFlow *self, gsize *room);

/* @n bytes were written there. */
void spdl_flow_add (SpdlFlow *self, gsize n);

/* @error: (transfer full) (nullable): why no more will come */
void spdl_flow_end (SpdlFlow *self, GError *error);

gboolean spdl_flow_is_closed (SpdlFlow *self);

/* Who reads */

/* Waits for bytes, which are valid until the next call. *@size is 0 at the end.
 * Returns FALSE with @error set where that came too early. */
gboolean spdl_flow_read (
    SpdlFlow *self, const guint8 **data, gsize *size, GError **error);

/* Nothing more is wanted. Waits until nothing more comes. */
void spdl_flow_close (SpdlFlow *self);

G_END_DECLS

#endif /* __SPDL_FLOW_H__ */
