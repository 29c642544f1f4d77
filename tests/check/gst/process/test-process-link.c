/* gst-spdl: tests of links to worker processes, and of their pool
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gst/check/gstcheck.h>
#include <gst/spdl/spdl.h>

#include "gst/spdl/process/packet.h"
#include "gst/spdl/process/processpool.h"
#include "tests/check/support/suite.h"
#include "tests/check/support/wait.h"

/* Both ends are in this process, so that sanitizers see them. */
typedef struct {
  SpdlProcessLink *a, *b;
} Pair;

static void
pair_init (Pair *self)
{
  int sockets[2];

  fail_unless (socketpair (AF_UNIX, SOCK_SEQPACKET, 0, sockets) == 0);
  self->a = gst_spdl_process_link_new (sockets[0]);
  self->b = gst_spdl_process_link_new (sockets[1]);
}

static void
pair_clear (Pair *self)
{
  g_clear_pointer (&self->a, gst_spdl_process_link_free);
  g_clear_pointer (&self->b, gst_spdl_process_link_free);
}

static GstBuffer *
new_item (guint64 number, gsize size)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);
  GstSpdlItemMeta *item = gst_spdl_buffer_add_item_meta (buffer);

  gst_buffer_memset (buffer, 0, number, size);
  item->index = number;
  item->label = number + 1;
  item->uri = g_ref_string_new ("file:///item");
  return buffer;
}

static GstSample *
new_sample (guint64 number, gsize size)
{
  g_autoptr (GstBuffer) buffer = new_item (number, size);
  g_autoptr (GstCaps) caps = gst_caps_new_simple (
      "application/x-test", "number", G_TYPE_INT, (gint) number, NULL);

  return gst_sample_new (buffer, caps, NULL, NULL);
}

static void
check_buffer (GstBuffer *buffer, guint64 number, gsize size)
{
  const GstSpdlItemMeta *item = gst_spdl_buffer_get_item_meta (buffer);
  gboolean same = TRUE;
  GstMapInfo map;

  fail_unless (item != NULL);
  fail_unless_equals_uint64 (item->index, number);
  fail_unless_equals_int64 (item->label, (gint64) number + 1);
  fail_unless_equals_string (item->uri, "file:///item");
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  fail_unless_equals_uint64 (map.size, size);
  for (gsize i = 0; i < size; i++)
    same = same && map.data[i] == (guint8) number;
  fail_unless (same);
  gst_buffer_unmap (buffer, &map);
}

static void
check_sample (GstSample *sample, guint64 number, gsize size)
{
  const GstStructure *s =
      gst_caps_get_structure (gst_sample_get_caps (sample), 0);
  gint found;

  fail_unless (gst_structure_has_name (s, "application/x-test"));
  fail_unless (gst_structure_get_int (s, "number", &found));
  fail_unless_equals_int (found, (gint) number);
  check_buffer (gst_sample_get_buffer (sample), number, size);
}

/* @sample: (transfer full) (nullable)
 * Returns: (transfer full) (nullable) */
static GstSample *
pass (Pair *pair, GstSample *sample)
{
  GstSample *found;
  GError *error = NULL;

  fail_unless (gst_spdl_process_link_send (pair->a, sample, &error));
  fail_unless (gst_spdl_process_link_receive (pair->b, &found, &error));
  return found;
}

GST_START_TEST (test_items)
{
  const gsize sizes[] = { 0, 1, 63, 64, 4096, 65536, 1 << 20 };
  Pair pair;

  pair_init (&pair);
  for (guint i = 0; i < 4 * G_N_ELEMENTS (sizes); i++) {
    const gsize size = sizes[i % G_N_ELEMENTS (sizes)];
    g_autoptr (GstSample) found = pass (&pair, new_sample (i, size));

    check_sample (found, i, size);
  }
  pair_clear (&pair);
}
GST_END_TEST;

GST_START_TEST (test_other_results)
{
  g_autoptr (GstBufferList) list = gst_buffer_list_new ();
  GstSample *group = gst_sample_new (NULL, NULL, NULL, NULL), *found;
  Pair pair;

  pair_init (&pair);
  fail_unless (pass (&pair, NULL) == NULL);

  found = pass (&pair, gst_spdl_sample_new_failed ("no item"));
  fail_unless_equals_string (gst_spdl_sample_get_failure (found), "no item");
  gst_sample_unref (found);

  for (guint i = 0; i < 3; i++)
    gst_buffer_list_add (list, new_item (i, 100 * i));
  gst_sample_set_buffer_list (group, list);
  found = pass (&pair, group);
  fail_unless (gst_sample_get_caps (found) == NULL);
  fail_unless_equals_int (
      gst_buffer_list_length (gst_sample_get_buffer_list (found)), 3);
  for (guint i = 0; i < 3; i++)
    check_buffer (gst_buffer_list_get (gst_sample_get_buffer_list (found), i),
        i, 100 * i);
  gst_sample_unref (found);
  pair_clear (&pair);
}
GST_END_TEST;

GST_START_TEST (test_memory_is_reused)
{
  g_autoptr (GHashTable) addresses = g_hash_table_new (NULL, NULL);
  Pair pair;

  pair_init (&pair);
  for (guint i = 0; i < 100; i++) {
    g_autoptr (GstSample) found = pass (&pair, new_sample (i, 1000 + i));
    GstMapInfo map;

    fail_unless (
        gst_buffer_map (gst_sample_get_buffer (found), &map, GST_MAP_READ));
    g_hash_table_add (addresses, map.data);
    gst_buffer_unmap (gst_sample_get_buffer (found), &map);
  }
  fail_unless_equals_int (g_hash_table_size (addresses), 1);
  pair_clear (&pair);
}
GST_END_TEST;

GST_START_TEST (test_samples_may_be_kept)
{
  GstSample *kept[50];
  Pair pair;

  pair_init (&pair);
  for (guint i = 0; i < G_N_ELEMENTS (kept); i++) {
    kept[i] = pass (&pair, new_sample (i, 500));
    if (i % 3 == 0)
      g_clear_pointer (&kept[i], gst_sample_unref);
  }
  /* They outlive the link. */
  pair_clear (&pair);
  for (guint i = 0; i < G_N_ELEMENTS (kept); i++) {
    if (!kept[i])
      continue;
    check_sample (kept[i], i, 500);
    gst_sample_unref (kept[i]);
  }
}
GST_END_TEST;

static guint
count_slabs (const SpdlProcessLink *link)
{
  return link->own.list->len;
}

GST_START_TEST (test_slabs_are_freed)
{
  GstSample *kept[50];
  Pair pair;

  pair_init (&pair);
  for (guint i = 0; i < G_N_ELEMENTS (kept); i++)
    kept[i] = pass (&pair, new_sample (i, 500));
  fail_unless_equals_int (count_slabs (pair.a), G_N_ELEMENTS (kept));
  for (guint i = 0; i < G_N_ELEMENTS (kept); i++)
    gst_sample_unref (kept[i]);
  /* They are freed one by one, so that a short lull frees few. */
  for (guint i = 0; i < 100; i++)
    gst_sample_unref (pass (&pair, new_sample (i, 500)));
  fail_unless (count_slabs (pair.a) < G_N_ELEMENTS (kept));
  fail_unless (count_slabs (pair.a) > G_N_ELEMENTS (kept) - 10);
  for (guint i = 0; i < 32 * G_N_ELEMENTS (kept); i++)
    gst_sample_unref (pass (&pair, new_sample (i, 500)));
  fail_unless_equals_int (count_slabs (pair.a), 1);
  for (guint i = 0; i < 5; i++)
    kept[i] = pass (&pair, new_sample (i, 500));
  for (guint i = 0; i < 5; i++)
    gst_sample_unref (kept[i]);
  /* A larger item replaces all that are too small. */
  gst_sample_unref (pass (&pair, new_sample (0, 1 << 20)));
  fail_unless_equals_int (count_slabs (pair.a), 1);
  fail_unless_equals_int (pair.b->other.list->len, 1);
  pair_clear (&pair);
}
GST_END_TEST;

GST_START_TEST (test_own_memory)
{
  Pair pair;

  pair_init (&pair);
  for (guint i = 0; i < 10; i++) {
    g_autoptr (GstBuffer) buffer = gst_spdl_process_link_alloc (pair.a, 70000);
    g_autoptr (GstSample) kept = NULL;
    GstSample *sample, *found;
    GstMapInfo map;

    gst_buffer_memset (buffer, 0, i, 70000);
    sample = gst_sample_new (buffer, NULL, NULL, NULL);
    if (i % 2)
      kept = gst_sample_ref (sample);
    found = pass (&pair, sample);
    fail_unless (
        gst_buffer_map (gst_sample_get_buffer (found), &map, GST_MAP_READ));
    fail_unless_equals_uint64 (map.size, 70000);
    fail_unless (map.data[0] == i && map.data[69999] == i);
    gst_buffer_unmap (gst_sample_get_buffer (found), &map);
    gst_sample_unref (found);
  }
  /* The memory was sent, not a copy of it. */
  fail_unless_equals_int (count_slabs (pair.a), 1);
  pair_clear (&pair);
}
GST_END_TEST;

static const guint8 *
address_of (GstSample *sample)
{
  GstBuffer *buffer = gst_sample_get_buffer (sample);
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  gst_buffer_unmap (buffer, &map);
  return map.data;
}

/* Returns TRUE if the memory itself can be written, not only a copy of it. */
static gboolean
is_writable (GstSample *sample)
{
  GstMemory *memory =
      gst_buffer_peek_memory (gst_sample_get_buffer (sample), 0);

  return gst_memory_is_writable (memory) && !GST_MEMORY_IS_READONLY (memory);
}

/* Has the other end send the sample back. */
static GstSample *
pass_back (Pair *pair, GstSample *sample)
{
  Pair back = { pair->b, pair->a };

  return pass (&back, sample);
}

#define LARGE 100000

GST_START_TEST (test_returned)
{
  Pair pair;

  pair_init (&pair);
  for (guint i = 0; i < 20; i++) {
    GstSample *sent = pass (&pair, new_sample (i, LARGE));
    /* The other end keeps some. */
    GstSample *kept = i % 5 == 0 ? gst_sample_ref (sent) : NULL;
    GstSample *found = pass_back (&pair, sent);

    /* It is not a copy, which would be in a slab of the other end. */
    fail_unless_equals_int (is_writable (found), kept == NULL);
    check_sample (found, i, LARGE);
    fail_unless (pair.b->own.list->len <= 1);
    fail_unless (kept || pair.b->own.list->len == 0 ||
                 ((SpdlSlab *) pair.b->own.list->pdata[0])->size < LARGE);
    if (kept) {
      g_autoptr (GstSample) other = pass (&pair, new_sample (99, LARGE));

      check_sample (found, i, LARGE);
      check_sample (kept, i, LARGE);
      gst_sample_unref (kept);
    }
    gst_sample_unref (found);
  }
  fail_unless (count_slabs (pair.a) <= 3);
  pair_clear (&pair);
}
GST_END_TEST;

static void
check_third (guint n, gsize size, gboolean returns)
{
  Pair first, second;

  pair_init (&first);
  pair_init (&second);
  /* As in a pool, results of the first process go on to a second one. */
  first.b->other.are_forwarded = TRUE;
  for (guint i = 0; i < n; i++) {
    GstSample *result = pass (&first, new_sample (i, size));
    const guint8 *address = address_of (result);
    GstSample *found = pass (&second, gst_sample_ref (result));

    check_sample (found, i, size);
    fail_if (is_writable (found));
    if (returns) {
      found = pass_back (&second, found);
      fail_unless (address_of (found) == address);
      gst_sample_unref (result);
      fail_unless (is_writable (found));
    } else {
      fail_if (is_writable (result));
      gst_sample_unref (result);
      /* It is not written again, although only the second one has it. */
      result = pass (&first, new_sample (i + 100, size));
      check_sample (result, i + 100, size);
      check_sample (found, i, size);
      gst_sample_unref (result);
    }
    check_sample (found, i, size);
    gst_sample_unref (found);
  }
  fail_unless (count_slabs (first.a) <= 3);
  fail_unless (second.a->own.list->len <= 2);
  for (guint i = 0; i < second.a->own.list->len; i++)
    fail_unless (((SpdlSlab *) second.a->own.list->pdata[i])->size < LARGE);
  pair_clear (&first);
  pair_clear (&second);
}

GST_START_TEST (test_third_process)
{
  check_third (20, LARGE, FALSE);
  check_third (20, LARGE, TRUE);
}
GST_END_TEST;

GST_START_TEST (test_third_process_ends)
{
  GstSample *kept[3], *found;
  Pair first, second;

  pair_init (&second);
  for (guint i = 0; i < G_N_ELEMENTS (kept); i++) {
    pair_init (&first);
    first.b->other.are_forwarded = TRUE;
    kept[i] = pass (&second, pass (&first, new_sample (i, LARGE)));
    pair_clear (&first);
  }
  for (guint i = 0; i < G_N_ELEMENTS (kept); i++) {
    check_sample (kept[i], i, LARGE);
    found = pass_back (&second, kept[i]);
    check_sample (found, i, LARGE);
    gst_sample_unref (found);
  }
  found = pass (&second, new_sample (7, LARGE));
  gst_sample_unref (found);
  /* Nothing of those that ended stays mapped. */
  fail_unless (second.b->other.list->len == count_slabs (second.a));
  pair_clear (&second);
}
GST_END_TEST;

GST_START_TEST (test_end)
{
  g_autoptr (GError) error = NULL;
  GstSample *found;
  Pair pair;

  pair_init (&pair);
  g_clear_pointer (&pair.b, gst_spdl_process_link_free);
  fail_if (gst_spdl_process_link_receive (pair.a, &found, &error));
  fail_unless (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CLOSED));
  g_clear_error (&error);
  fail_if (gst_spdl_process_link_send (pair.a, new_sample (1, 10), &error));
  fail_unless (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CLOSED));
  pair_clear (&pair);
}
GST_END_TEST;

GST_START_TEST (test_invalid)
{
  const guint64 messages[][5] = { { 0 }, { 7, 4096, 64, 1 << 20, 0 },
    { 1ull << 32, G_MAXUINT64, G_MAXUINT64, 8, 0 } };
  Pair pair;

  pair_init (&pair);
  for (guint i = 0; i < 2 * G_N_ELEMENTS (messages); i++) {
    g_autoptr (GError) error = NULL;
    const gsize size = i % 2 ? 16 : sizeof messages[0];
    GstSample *found;

    fail_unless (
        write (pair.a->socket, messages[i / 2], size) == (gssize) size);
    fail_if (gst_spdl_process_link_receive (pair.b, &found, &error));
    fail_unless (error != NULL && found == NULL);
    fail_if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CLOSED));
  }
  pair_clear (&pair);
}
GST_END_TEST;

/* Pool */

#define BREAKS 5
#define BREAKS_ONCE 6
#define HANGS 7

/* A server whose workers are threads. Each has a process that does nothing and
 * can be killed. */
typedef struct {
  int socket;
  gint n_begun, n_broken;
  gint n_links, may_end; /* of those that hang */
  GHashTable *pids;
} Server;

typedef struct {
  Server *server;
  SpdlProcessLink *link;
} Worker;

static gpointer
work (gpointer data)
{
  Worker *worker = data;
  GstSample *sample;

  while (gst_spdl_process_link_receive (worker->link, &sample, NULL)) {
    const guint64 number =
        gst_spdl_buffer_get_item_meta (gst_sample_get_buffer (sample))->index;
    const gboolean breaks =
        number == BREAKS ||
        (number == BREAKS_ONCE &&
            g_atomic_int_add (&worker->server->n_broken, 1) == 0);
    gboolean ok = !breaks;

    if (number == HANGS)
      wait_until (g_atomic_int_get (&worker->server->may_end));
    if (!ok)
      gst_sample_unref (sample);
    else
      ok = gst_spdl_process_link_send (worker->link, sample, NULL);
    if (!ok)
      break;
  }
  gst_spdl_process_link_free (worker->link);
  g_atomic_int_add (&worker->server->n_links, -1);
  g_free (worker);
  return NULL;
}

static gint32
begin_worker (Server *self, int socket)
{
  Worker *worker = g_new (Worker, 1);
  const pid_t pid = fork ();

  if (pid == 0)
    for (;;)
      pause ();
  *worker = (Worker){ self, gst_spdl_process_link_new (socket) };
  g_atomic_int_inc (&self->n_begun);
  g_atomic_int_inc (&self->n_links);
  g_hash_table_add (self->pids, GINT_TO_POINTER (pid));
  g_thread_unref (g_thread_new ("worker", work, worker));
  return pid;
}

/* Waits for the end of a process, which was killed. */
static gint32
collect (Server *self, gint32 pid)
{
  int status;

  fail_unless (waitpid (pid, &status, 0) == pid);
  g_hash_table_remove (self->pids, GINT_TO_POINTER (pid));
  return status;
}

static void
kill_process (gpointer key, gpointer value, gpointer user_data)
{
  (void) value;
  (void) user_data;
  kill (GPOINTER_TO_INT (key), SIGKILL);
  waitpid (GPOINTER_TO_INT (key), NULL, 0);
}

static gpointer
serve (gpointer data)
{
  Server *self = data;
  gint32 request[2], value;
  GError *error = NULL;
  int fd;

  while (spdl_packet_receive (
      self->socket, request, sizeof request, &fd, &error)) {
    value = request[0] == SPDL_FORK_BEGIN ? begin_worker (self, fd)
                                          : collect (self, request[1]);
    fail_unless (
        spdl_packet_send (self->socket, &value, sizeof value, -1, NULL, NULL));
  }
  fail_unless (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CLOSED));
  g_clear_error (&error);
  close (self->socket);
  g_hash_table_foreach (self->pids, kill_process, NULL);
  g_hash_table_unref (self->pids);
  return NULL;
}

typedef struct {
  SpdlProcessPool *pool;
  GCancellable *cancellable;
  gint next;
  gint n_failed;
} Stage;

static gpointer
call_all (gpointer data)
{
  Stage *stage = data;
  guint number;

  while ((number = g_atomic_int_add (&stage->next, 1)) < 300) {
    const guint64 timeout = number == HANGS ? 100 * GST_MSECOND : 0;
    g_autoptr (GstSample) sample = new_sample (number, 1000);
    g_autoptr (GError) error = NULL;
    guint64 cpu_time;
    g_autoptr (GstSample) result = gst_spdl_process_pool_call (
        stage->pool, sample, timeout, 0, stage->cancellable, &cpu_time, &error);

    fail_unless (error == NULL && result != NULL);
    if (gst_spdl_sample_get_failure (result)) {
      fail_unless (number == BREAKS || number == HANGS);
      g_atomic_int_inc (&stage->n_failed);
    } else {
      check_sample (result, number, 1000);
    }
  }
  return NULL;
}

GST_START_TEST (test_pool)
{
  Server server = { .pids = g_hash_table_new (NULL, NULL) };
  Stage stage = { .cancellable = g_cancellable_new () };
  GThread *server_thread, *threads[3];
  int sockets[2];

  fail_unless (socketpair (AF_UNIX, SOCK_SEQPACKET, 0, sockets) == 0);
  server.socket = sockets[1];
  server_thread = g_thread_new ("server", serve, &server);
  stage.pool = gst_spdl_process_pool_new (
      gst_spdl_fork_server_new (sockets[0]), G_N_ELEMENTS (threads));
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("stage", call_all, &stage);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  fail_unless_equals_int (stage.n_failed, 2);

  /* A worker that is busy when the stage stops is ended: the call does not wait
   * for its result. */
  {
    g_autoptr (GstSample) sample = new_sample (HANGS, 10);
    g_autoptr (GstSample) result = NULL;
    g_autoptr (GError) error = NULL;
    guint64 cpu_time;

    g_cancellable_cancel (stage.cancellable);
    result = gst_spdl_process_pool_call (
        stage.pool, sample, 0, 0, stage.cancellable, &cpu_time, &error);
    fail_unless (gst_spdl_sample_get_failure (result) != NULL);
  }
  gst_spdl_process_pool_free (stage.pool);
  g_thread_join (server_thread);
  g_object_unref (stage.cancellable);
  /* Three, one for each failed try, and the one of the timeout. */
  fail_unless (g_atomic_int_get (&server.n_begun) >= 6);
  g_atomic_int_set (&server.may_end, TRUE);
  wait_until (g_atomic_int_get (&server.n_links) == 0);
}
GST_END_TEST;

CHECK_SUITE (process_link, TEST (test_items), TEST (test_other_results),
    TEST (test_memory_is_reused), TEST (test_samples_may_be_kept),
    TEST (test_slabs_are_freed), TEST (test_own_memory), TEST (test_returned),
    TEST (test_third_process), TEST (test_third_process_ends), TEST (test_end),
    TEST (test_invalid), TEST (test_pool))
