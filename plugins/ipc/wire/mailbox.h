/* gst-spdl: notification of another process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A word of memory that two processes share. In one of them a thread waits for
 * a number; in the other one any thread puts it there, if there is who waits:
 * so it comes without a message, and without the thread that reads messages. */
typedef struct _SpdlMailbox SpdlMailbox;

/* Returns: (nullable): NULL if there is no memory */
SpdlMailbox *spdl_mailbox_new (void);
/* The other process's. @fd: of a mailbox, or what cannot be used, which is one
 * into which nobody puts anything; the mailbox's from now on */
SpdlMailbox *spdl_mailbox_open (int fd);
void spdl_mailbox_free (SpdlMailbox *self);

/* Of its memory; the mailbox's */
int spdl_mailbox_get_fd (const SpdlMailbox *self);

/* Returns whether the number is taken: not if nobody waits. */
gboolean spdl_mailbox_put (SpdlMailbox *self, guint32 number);

/* One thread waits. It begins under a lock under which it has seen that there
 * is something to wait for, and waits without. */
void spdl_mailbox_begin (SpdlMailbox *self);
/* Returns whether there is a number. */
gboolean spdl_mailbox_wait (SpdlMailbox *self, guint32 *number);
/* Under the same lock: who waits does so no longer. */
void spdl_mailbox_wake (SpdlMailbox *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SpdlMailbox, spdl_mailbox_free)

G_END_DECLS
