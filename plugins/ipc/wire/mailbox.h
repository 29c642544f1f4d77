/* gst-spdl: mailbox in shared memory
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A shared word (futex) through which a process passes a number to a thread
 * that waits in another process. This takes neither a message on the socket nor
 * the thread that reads messages. A number can be put only while a thread is
 * waiting. */
typedef struct _SpdlMailbox SpdlMailbox;

/* Returns: (nullable): NULL if memory cannot be allocated */
SpdlMailbox *spdl_mailbox_new (void);
/* Opens the mailbox of another process.
 * @fd: (transfer full): descriptor of the mailbox; an invalid one gives a
 * mailbox to which nothing is ever put */
SpdlMailbox *spdl_mailbox_open (int fd);
void spdl_mailbox_free (SpdlMailbox *self);

/* Returns the descriptor of the memory, which the mailbox owns. */
int spdl_mailbox_get_fd (const SpdlMailbox *self);

/* Puts a number. Returns FALSE if no thread is waiting. */
gboolean spdl_mailbox_put (SpdlMailbox *self, guint32 number);

/* Announces that the calling thread will wait; only one thread may wait. Call
 * it under the lock that protects the condition, and spdl_mailbox_wait()
 * without it. */
void spdl_mailbox_begin (SpdlMailbox *self);
/* Waits. Returns whether there is a number. */
gboolean spdl_mailbox_wait (SpdlMailbox *self, guint32 *number);
/* Ends the wait without a number. Call it under the same lock. */
void spdl_mailbox_wake (SpdlMailbox *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SpdlMailbox, spdl_mailbox_free)

G_END_DECLS
