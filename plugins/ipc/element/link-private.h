/* gst-spdl: a link's inside, which its files share
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_LINK_PRIVATE_H__
#define __SPDL_LINK_PRIVATE_H__

#include "plugins/ipc/element/link.h"
#include "plugins/ipc/element/workeroutput.h"
#include "plugins/ipc/element/workerprocess.h"

G_BEGIN_DECLS

/* link.c is what the element asks.
 * linkrun.c is the thread with the process.
 * linkread.c is what the process says. */

struct _SpdlLink {
  GstElement *element;
  GStrv environment;
  GByteArray *order;
  guint32 base; /* of the sources' numbers */
  GThread *thread;

  /* The thread's. */
  SpdlProcess process;
  SpdlWireReader reader;
  SpdlOutput output;
  gboolean got_eos;
  gboolean got_end;

  SpdlMutex lock;
  SpdlCond cond; /* when any of what follows has changed */
  /* Under the lock: */
  SpdlWire *wire;   /* NULL until the process runs */
  SpdlShelf *shelf; /* likewise */
  guint pid;
  gboolean ordered; /* it has been told what to run */
  gdouble cpu_budget;
  gboolean plays;
  GStrv classes; /* (nullable): of the sources, once it plays */
  gboolean over; /* no more comes */
  gboolean has_error;
  gboolean stopping;
  gboolean interrupted;
  GQueue letters;
  guint n_events;     /* taken, and not told */
  GPtrArray *figures; /* nullable */
  guint n_answers;
};

/* The thread. Its process is killed when it ends, so it lives as long. */
gpointer spdl_link_run (gpointer self);

/* The process keeps that budget from now on. */
void spdl_link_send_cpu_budget (SpdlWire *wire, gdouble budget);

/* Returns: (transfer full) (element-type GstStructure): none yet */
GPtrArray *spdl_link_new_figures (void);

/* For the stream; letters of a link that stops are dropped. */
void spdl_link_add_letter (SpdlLink *self, SpdlLetter *letter);

/* A message of the process. FALSE with @error set if it makes no sense. */
gboolean spdl_link_handle (
    SpdlLink *self, const SpdlWireMessage *message, GError **error);

G_END_DECLS

#endif /* __SPDL_LINK_PRIVATE_H__ */
