/* gst-spdl: private parts of a task
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/engine/executor.h"
#include "gst/spdl/gstspdlstage.h"
#include "gst/spdl/gstspdltask.h"
#include "gst/spdl/stage/droppeditems.h"
#include "gst/spdl/stage/losses.h"

G_BEGIN_DECLS

typedef struct {
  GstBuffer *buffer;
  GstCaps *caps; /* nullable: the task's own */
} GstSpdlResult;

/* A failed item of a task or of its parts. */
typedef struct {
  guint at;
  GstSpdlLoss *loss; /* owned, nullable */
} GstSpdlTaskLoss;

/* An entry of the stage's executor: a task, or an event that keeps its
 * position. Entries are recycled with their arrays, so that no memory is
 * allocated per item after a warm-up. */
struct _GstSpdlTask {
  SpdlTask task;
  GstSpdlTask *next_free;

  GstSpdlStage *stage; /* of a task; not owned */
  GstEvent *event;     /* of a mark or a barrier */

  gboolean is_group;
  GstCaps *caps;             /* nullable */
  GCancellable *cancellable; /* of the stage */
  GPtrArray *items;          /* GstBuffer, NULL if it was taken */
  guint current;
  GstBuffer *taken; /* carries the metas of a taken item */
  GstSpdlItemMeta taken_meta;
  gboolean has_taken_meta;

  /* For a group whose items are separate tasks; otherwise empty. */
  GPtrArray *parts; /* GstSpdlTask, with one item each */

  GArray *results; /* GstSpdlResult */
  GstSpdlDroppedItems dropped_items;
  GArray *losses; /* GstSpdlTaskLoss; NULL without failures */
};

GstSpdlTask *gst_spdl_task_new (void);
void gst_spdl_task_free (GstSpdlTask *self);

/* Entries for reuse, with their arrays. */
typedef struct {
  GstSpdlTask *spare;  /* atomic */
  GstSpdlTask *unused; /* of the thread that takes */
} GstSpdlTaskStore;

/* Takes an entry, which is created if there is none. For one thread at a
 * time. */
GstSpdlTask *gst_spdl_task_store_take (GstSpdlTaskStore *self);

/* Resets an entry and its parts, for reuse. Callable from any thread. */
void gst_spdl_task_store_put (GstSpdlTaskStore *self, GstSpdlTask *task);

/* Frees the entries. No other thread may use the store. */
void gst_spdl_task_store_clear (GstSpdlTaskStore *self);

/* Releases all references, so that the task can be reused. Its parts must have
 * been removed. */
void gst_spdl_task_reset (GstSpdlTask *self);

/* Set the content of the task. @item, @list: (transfer full) */
void gst_spdl_task_set_item (GstSpdlTask *self, GstBuffer *item);
void gst_spdl_task_set_group (GstSpdlTask *self, GstBufferList *list);

/* Adds @part, which has one item. */
void gst_spdl_task_add_part (GstSpdlTask *self, GstSpdlTask *part);

/* Collects the results of the parts, in their order. */
void gst_spdl_task_gather_parts (GstSpdlTask *self);

/* Makes item @i the current item, which the work function reads. */
void gst_spdl_task_begin_item (GstSpdlTask *self, guint i);

/* Ends the current item, whose results start at @first: gives them the metas of
 * the item and numbers them if there are several. */
void gst_spdl_task_adopt_results (GstSpdlTask *self, guint first);

/* Records that the current item or batch failed. */
void gst_spdl_task_add_loss (GstSpdlTask *self, const GError *error);

/* Ends a group that was processed as a whole. The metas of the results say
 * which items they belong to. Announces the other items as filtered and returns
 * their number. */
guint gst_spdl_task_adopt_group (GstSpdlTask *self);

/* Drops the results from @first on. */
void gst_spdl_task_drop_results (GstSpdlTask *self, guint first);

/* Returns the buffer with the current item's metas; NULL if only taken_meta has
 * them. */
GstBuffer *gst_spdl_task_get_bearer (GstSpdlTask *self);

G_END_DECLS
