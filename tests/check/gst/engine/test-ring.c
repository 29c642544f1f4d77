/* gst-spdl: tests of the ring
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/engine/ring.h"

typedef struct {
  SpdlEntry entry;
  guint number;
} Numbered;

static Numbered *
put (SpdlRing *ring, SpdlEntryKind kind, guint number)
{
  Numbered *n = g_new0 (Numbered, 1);

  n->entry.kind = kind;
  n->number = number;
  spdl_ring_put (ring, &n->entry);
  return n;
}

static void
assert_pop (SpdlRing *ring, guint number)
{
  Numbered *n = (Numbered *) spdl_ring_pop (ring);

  g_assert_nonnull (n);
  g_assert_cmpuint (n->number, ==, number);
  g_free (n);
}

static void
assert_nothing (SpdlRing *ring)
{
  g_assert_false (spdl_ring_ready (ring));
  g_assert_null (spdl_ring_pop (ring));
}

static void
test_input_order (void)
{
  SpdlRing ring;
  Numbered *t[4];

  spdl_ring_init (&ring, SPDL_ORDER_INPUT);
  for (guint i = 0; i < 4; i++)
    t[i] = put (&ring, SPDL_ENTRY_TASK, i);
  g_assert_cmpuint (ring.n_queued, ==, 4);
  for (guint i = 0; i < 4; i++)
    g_assert_true (spdl_ring_begin (&ring) == &t[i]->entry);
  g_assert_null (spdl_ring_begin (&ring));
  g_assert_cmpuint (ring.n_running, ==, 4);

  spdl_ring_finish (&ring, &t[2]->entry);
  spdl_ring_finish (&ring, &t[1]->entry);
  assert_nothing (&ring);
  spdl_ring_finish (&ring, &t[0]->entry);
  assert_pop (&ring, 0);
  assert_pop (&ring, 1);
  assert_pop (&ring, 2);
  assert_nothing (&ring);
  spdl_ring_finish (&ring, &t[3]->entry);
  assert_pop (&ring, 3);
  assert_nothing (&ring);
}

static void
test_completion_order (void)
{
  SpdlRing ring;
  Numbered *t[4];

  spdl_ring_init (&ring, SPDL_ORDER_COMPLETION);
  for (guint i = 0; i < 4; i++) {
    t[i] = put (&ring, SPDL_ENTRY_TASK, i);
    spdl_ring_begin (&ring);
  }
  spdl_ring_finish (&ring, &t[2]->entry);
  spdl_ring_finish (&ring, &t[0]->entry);
  assert_pop (&ring, 2);
  spdl_ring_finish (&ring, &t[3]->entry);
  assert_pop (&ring, 0);
  assert_pop (&ring, 3);
  assert_nothing (&ring);
  spdl_ring_finish (&ring, &t[1]->entry);
  assert_pop (&ring, 1);
}

/* In both orders, entries before a barrier leave before it. */
static void
test_barrier (gconstpointer order)
{
  SpdlRing ring;
  Numbered *t[3];

  spdl_ring_init (&ring, GPOINTER_TO_UINT (order));
  t[0] = put (&ring, SPDL_ENTRY_TASK, 0);
  t[1] = put (&ring, SPDL_ENTRY_TASK, 1);
  put (&ring, SPDL_ENTRY_BARRIER, 10);
  t[2] = put (&ring, SPDL_ENTRY_TASK, 2);
  put (&ring, SPDL_ENTRY_BARRIER, 11);
  /* Later tasks may run before the barrier leaves. */
  for (guint i = 0; i < 3; i++)
    g_assert_true (spdl_ring_begin (&ring) == &t[i]->entry);
  spdl_ring_finish (&ring, &t[2]->entry);
  assert_nothing (&ring);
  spdl_ring_finish (&ring, &t[0]->entry);
  assert_pop (&ring, 0);
  assert_nothing (&ring);
  spdl_ring_finish (&ring, &t[1]->entry);
  assert_pop (&ring, 1);
  assert_pop (&ring, 10);
  assert_pop (&ring, 2);
  assert_pop (&ring, 11);
  assert_nothing (&ring);
}

static void
test_mark (void)
{
  SpdlRing ring;
  Numbered *t;

  /* With input order, a mark keeps its place. */
  spdl_ring_init (&ring, SPDL_ORDER_INPUT);
  t = put (&ring, SPDL_ENTRY_TASK, 0);
  put (&ring, SPDL_ENTRY_MARK, 10);
  assert_nothing (&ring);
  spdl_ring_begin (&ring);
  spdl_ring_finish (&ring, &t->entry);
  assert_pop (&ring, 0);
  assert_pop (&ring, 10);

  /* Otherwise it waits for barriers, but not for tasks. */
  spdl_ring_init (&ring, SPDL_ORDER_COMPLETION);
  t = put (&ring, SPDL_ENTRY_TASK, 0);
  put (&ring, SPDL_ENTRY_MARK, 10);
  put (&ring, SPDL_ENTRY_BARRIER, 11);
  put (&ring, SPDL_ENTRY_MARK, 12);
  assert_pop (&ring, 10);
  assert_nothing (&ring);
  spdl_ring_begin (&ring);
  spdl_ring_finish (&ring, &t->entry);
  assert_pop (&ring, 0);
  assert_pop (&ring, 11);
  assert_pop (&ring, 12);
}

static void
test_drop_queued (void)
{
  SpdlRing ring;
  Numbered *t[4];
  SpdlEntry *dropped;

  spdl_ring_init (&ring, SPDL_ORDER_INPUT);
  for (guint i = 0; i < 4; i++) {
    t[i] = put (&ring, SPDL_ENTRY_TASK, i);
    if (i == 2)
      put (&ring, SPDL_ENTRY_BARRIER, 10);
  }
  spdl_ring_begin (&ring);
  spdl_ring_begin (&ring);

  dropped = spdl_ring_drop_queued (&ring);
  g_assert_true (dropped == &t[2]->entry);
  g_assert_cmpint (dropped->next->kind, ==, SPDL_ENTRY_BARRIER);
  g_assert_true (dropped->next->next == &t[3]->entry);
  g_assert_null (dropped->next->next->next);
  g_free (dropped->next);
  g_free (t[2]);
  g_free (t[3]);

  g_assert_cmpuint (ring.n_queued, ==, 0);
  g_assert_null (spdl_ring_begin (&ring));
  spdl_ring_finish (&ring, &t[1]->entry);
  spdl_ring_finish (&ring, &t[0]->entry);
  assert_pop (&ring, 0);
  assert_pop (&ring, 1);
  assert_nothing (&ring);
  g_assert_null (spdl_ring_drop_queued (&ring));
}

/* A task that ends does not visit the ones that still run: thousands may, and
 * the pool's lock is held. */
static void
test_no_walk (void)
{
  enum { N = 8 };
  SpdlRing ring;
  Numbered *t[N];
  SpdlEntry *prev[N];

  spdl_ring_init (&ring, SPDL_ORDER_COMPLETION);
  for (guint i = 0; i < N; i++) {
    t[i] = put (&ring, SPDL_ENTRY_TASK, i);
    spdl_ring_begin (&ring);
  }
  for (guint i = 1; i < N - 1; i++) {
    prev[i] = t[i]->entry.prev;
    t[i]->entry.prev = GSIZE_TO_POINTER (1);
  }
  spdl_ring_finish (&ring, &t[N - 1]->entry);
  for (guint i = 1; i < N - 1; i++)
    t[i]->entry.prev = prev[i];
  assert_pop (&ring, N - 1);
  for (guint i = 0; i < N - 1; i++) {
    spdl_ring_finish (&ring, &t[i]->entry);
    assert_pop (&ring, i);
  }
  assert_nothing (&ring);
}

/* With barriers that leave and barriers that are dropped, a finished task still
 * comes after the last finished one of its own stretch. */
static void
test_stretches (void)
{
  SpdlRing ring;
  Numbered *t[7];
  SpdlEntry *dropped;

  spdl_ring_init (&ring, SPDL_ORDER_COMPLETION);
  t[0] = put (&ring, SPDL_ENTRY_TASK, 0);
  put (&ring, SPDL_ENTRY_BARRIER, 10);
  for (guint i = 1; i < 5; i++)
    t[i] = put (&ring, SPDL_ENTRY_TASK, i);
  for (guint i = 0; i < 5; i++)
    spdl_ring_begin (&ring);
  spdl_ring_finish (&ring, &t[3]->entry);
  spdl_ring_finish (&ring, &t[0]->entry);
  assert_pop (&ring, 0);
  assert_pop (&ring, 10);
  /* The last finished entry is known although its barrier has left. */
  spdl_ring_finish (&ring, &t[1]->entry);
  assert_pop (&ring, 3);
  spdl_ring_finish (&ring, &t[4]->entry);
  assert_pop (&ring, 1);
  assert_pop (&ring, 4);
  assert_nothing (&ring);

  t[5] = put (&ring, SPDL_ENTRY_TASK, 5);
  put (&ring, SPDL_ENTRY_BARRIER, 11);
  dropped = spdl_ring_drop_queued (&ring);
  g_assert_true (dropped == &t[5]->entry);
  g_free (dropped->next);
  g_free (dropped);
  t[6] = put (&ring, SPDL_ENTRY_TASK, 6);
  spdl_ring_begin (&ring);
  spdl_ring_finish (&ring, &t[6]->entry);
  assert_pop (&ring, 6);
  spdl_ring_finish (&ring, &t[2]->entry);
  assert_pop (&ring, 2);
  assert_nothing (&ring);
}

/* Random operations against the rules: every entry leaves once; with input
 * order by number; otherwise never across a barrier, and between barriers in
 * order of completion. */
static void
test_random (gconstpointer data)
{
  const SpdlOrder order = GPOINTER_TO_UINT (data);
  GRand *rand = g_rand_new_with_seed (17);
  GPtrArray *running = g_ptr_array_new ();
  SpdlRing ring;
  guint next = 0, n_out = 0, stretch_out = 0;
  guint *stretch_of = g_new0 (guint, 20000);
  guint *ended_at = g_new0 (guint, 20000);
  guint stretch = 0, n_ended = 0, last_ended = 0, expected = 0;

  spdl_ring_init (&ring, order);
  for (guint step = 0; step < 20000 || ring.head; step++) {
    const guint dice = g_rand_int_range (rand, 0, 10);
    Numbered *n;

    if (dice < 3 && step < 20000) {
      const gboolean barrier = g_rand_int_range (rand, 0, 8) == 0;

      stretch_of[next] = barrier ? ++stretch : stretch;
      put (&ring, barrier ? SPDL_ENTRY_BARRIER : SPDL_ENTRY_TASK, next++);
    } else if (dice < 6) {
      SpdlEntry *task = spdl_ring_begin (&ring);

      if (task)
        g_ptr_array_add (running, task);
    } else if (dice < 8 && running->len > 0) {
      SpdlEntry *task = g_ptr_array_remove_index_fast (
          running, g_rand_int_range (rand, 0, running->len));

      ended_at[((Numbered *) task)->number] = ++n_ended;
      spdl_ring_finish (&ring, task);
    } else if ((n = (Numbered *) spdl_ring_pop (&ring))) {
      n_out++;
      if (order == SPDL_ORDER_INPUT) {
        g_assert_cmpuint (n->number, ==, expected++);
      } else {
        g_assert_cmpuint (stretch_of[n->number], >=, stretch_out);
        if (stretch_of[n->number] > stretch_out) {
          g_assert_cmpint (n->entry.kind, ==, SPDL_ENTRY_BARRIER);
          g_assert_cmpuint (stretch_of[n->number], ==, stretch_out + 1);
          stretch_out++;
          last_ended = 0;
        } else {
          g_assert_cmpuint (ended_at[n->number], >, last_ended);
          last_ended = ended_at[n->number];
        }
      }
      g_free (n);
    }
    g_assert_cmpuint (ring.n_running, ==, running->len);
  }
  g_assert_cmpuint (n_out, ==, next);
  g_assert_cmpuint (n_out, >, 3000);
  g_ptr_array_unref (running);
  g_free (stretch_of);
  g_free (ended_at);
  g_rand_free (rand);
}

int
main (int argc, char **argv)
{
  gpointer input = GUINT_TO_POINTER (SPDL_ORDER_INPUT);
  gpointer completion = GUINT_TO_POINTER (SPDL_ORDER_COMPLETION);

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ring/input-order", test_input_order);
  g_test_add_func ("/ring/completion-order", test_completion_order);
  g_test_add_data_func ("/ring/barrier/input", input, test_barrier);
  g_test_add_data_func ("/ring/barrier/completion", completion, test_barrier);
  g_test_add_func ("/ring/mark", test_mark);
  g_test_add_func ("/ring/drop-queued", test_drop_queued);
  g_test_add_func ("/ring/no-walk", test_no_walk);
  g_test_add_func ("/ring/stretches", test_stretches);
  g_test_add_data_func ("/ring/random/input", input, test_random);
  g_test_add_data_func ("/ring/random/completion", completion, test_random);
  return g_test_run ();
}
