/* gst-spdl: bell in shared memory
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A shared word (futex) with which a process wakes a thread that waits in
 * another process. This takes neither a message on the socket nor the thread
 * that reads messages. Nothing is done while no thread is waiting. */
typedef struct {
  guint32 *word;
  int fd; /* of the memory */
} SpdlBell;

/* Returns: (nullable): NULL with errno set if memory cannot be allocated */
SpdlBell *spdl_bell_new (void);
/* Opens the bell of another process.
 * @fd: (transfer full): its descriptor, or -1
 * Returns: (nullable): NULL if it is not one */
SpdlBell *spdl_bell_open (int fd);
void spdl_bell_free (SpdlBell *self);

/* Announces that the calling thread will wait; only one thread may wait. Look
 * after the call whether it is still necessary. */
void spdl_bell_begin (SpdlBell *self);
/* Waits until the bell has been rung since the announcement. */
void spdl_bell_wait (SpdlBell *self);
/* Call it when there is no more reason to wait. */
void spdl_bell_ring (SpdlBell *self);

G_END_DECLS
