/* gst-spdl: scheduler that runs all interleavings of the engine
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/gst/engine/model/scheduler.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define MAX_THREADS 12
#define MAX_CHOICES 20000
#define MAX_STEPS 100000
#define STACK_SIZE (256 * 1024)

typedef enum {
  STATE_READY,
  STATE_LOCKING, /* waits for `mutex` */
  STATE_WAITING, /* for `cond`, and then for `mutex` */
  STATE_JOINING, /* waits for the end of `other` */
  STATE_ENDED,
} State;

typedef struct {
  ucontext_t context;
  void *stack;
  ModelFunc func;
  void *data;
  State state;
  ModelMutex *mutex;
  ModelCond *cond;
  gboolean timed;
  guint other;
  GPrivate *key;
  gpointer value; /* of `key` */
} Thread;

/* A point with several ways to go on. */
typedef struct {
  guint8 chosen;
  guint8 n;
} Choice;

static Thread threads[MAX_THREADS];
static guint n_threads, current;
static guint n_threads_left = G_MAXUINT; /* that the engine can create */
static ucontext_t explorer;
static Choice choices[MAX_CHOICES];
static guint n_choices, n_made, n_preemptions, max_preemptions, n_steps;
static guint64 now;
static const ModelScenario *scenario;

void
model_fail (const gchar *format, ...)
{
  g_autofree gchar *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  g_printerr ("# %s: %s\n# after the choices:", scenario->name, text);
  for (guint i = 0; i < n_made; i++)
    g_printerr (" %u/%u", choices[i].chosen, choices[i].n);
  for (guint i = 0; i < n_threads; i++)
    g_printerr ("\n# thread %u: %s%s", i,
        threads[i].state == STATE_READY     ? "ready"
        : threads[i].state == STATE_LOCKING ? "waits for a lock"
        : threads[i].state == STATE_WAITING ? "waits for a condition"
        : threads[i].state == STATE_JOINING ? "joins another"
                                            : "ended",
        i == current ? ", current" : "");
  g_printerr ("\n");
  exit (1);
}

/* Returns one of @n choices: that of the last run, or the next one at the last
 * point that had another. */
static guint
choose (guint n)
{
  if (n == 1)
    return 0;
  g_assert (n_made < MAX_CHOICES);
  if (n_made == n_choices)
    choices[n_choices++] = (Choice){ 0, n };
  else if (choices[n_made].n != n)
    model_fail ("The scenario is not deterministic");
  return choices[n_made++].chosen;
}

static gboolean
can_go_on (const Thread *thread)
{
  switch (thread->state) {
    case STATE_READY:
      return TRUE;
    case STATE_LOCKING:
      return thread->mutex->owner == 0;
    case STATE_JOINING:
      return threads[thread->other].state == STATE_ENDED;
    default:
      return FALSE;
  }
}

static void
switch_to (guint thread)
{
  Thread *from = &threads[current], *to = &threads[thread];

  if (to->state == STATE_WAITING) { /* the time limit */
    to->state = STATE_LOCKING;
    if (to->mutex->owner != 0)
      return;
  }
  current = thread;
  if (from != to)
    swapcontext (&from->context, &to->context);
}

/* Lists the threads that can go on, the current one first, followed by those
 * whose time limit may end, if they count. Returns the number of the former. */
static guint
list_ways (guint *ways, guint *n_all)
{
  guint n = 0, n_sure;

  if (can_go_on (&threads[current]))
    ways[n++] = current;
  for (guint i = 0; i < n_threads; i++)
    if (i != current && can_go_on (&threads[i]))
      ways[n++] = i;
  n_sure = n;
  for (guint i = 0; i < n_threads; i++)
    if (threads[i].state == STATE_WAITING && threads[i].timed)
      ways[n++] = i;
  *n_all = n;
  return n_sure;
}

/* Lets a thread go on: the current one, or another as a preemption, unless the
 * current one is blocked. */
static void
schedule (void)
{
  const gboolean blocked = !can_go_on (&threads[current]);
  guint ways[MAX_THREADS], n_sure, n_all, n, way;

  if (++n_steps == MAX_STEPS)
    model_fail ("The run does not end");
  do {
    n_sure = list_ways (ways, &n_all);
    if (n_all == 0)
      model_fail ("Deadlock");
    if (n_sure == 0 && scenario->no_timeouts)
      model_fail ("A thread sleeps until its time limit ends");
    if (n_sure == 0 || n_preemptions < max_preemptions)
      n = n_all;
    else
      n = blocked ? n_sure : 1;
    way = choose (n);
    if (n_sure > 0 && (way >= n_sure || (!blocked && way > 0)))
      n_preemptions++;
    switch_to (ways[way]);
    /* A thread whose time limit has ended may still have to lock. */
  } while (!can_go_on (&threads[current]));
  threads[current].state = STATE_READY;
}

void
model_yield (void)
{
  if (n_threads > 1)
    schedule ();
}

static void
check_mutex (const ModelMutex *mutex)
{
  if (mutex->magic != MODEL_MAGIC)
    model_fail ("A lock is used that does not exist");
}

void
model_mutex_init (ModelMutex *mutex)
{
  *mutex = (ModelMutex){ MODEL_MAGIC, 0 };
}

void
model_mutex_clear (ModelMutex *mutex)
{
  check_mutex (mutex);
  if (mutex->owner != 0)
    model_fail ("A lock is cleared that is held");
  memset (mutex, 0xee, sizeof *mutex);
}

static void
take (ModelMutex *mutex)
{
  check_mutex (mutex);
  if (mutex->owner != 0)
    model_fail ("Two threads hold a lock");
  mutex->owner = current + 1;
}

/* Blocks the current thread in @state. */
static void
block (State state)
{
  threads[current].state = state;
  schedule ();
}

void
model_mutex_lock (ModelMutex *mutex)
{
  model_yield ();
  check_mutex (mutex);
  if (mutex->owner == current + 1)
    model_fail ("A thread locks what it has locked");
  if (mutex->owner != 0) {
    threads[current].mutex = mutex;
    block (STATE_LOCKING);
  }
  take (mutex);
}

int
model_mutex_trylock (ModelMutex *mutex)
{
  model_yield ();
  check_mutex (mutex);
  if (mutex->owner != 0)
    return FALSE;
  take (mutex);
  return TRUE;
}

void
model_mutex_unlock (ModelMutex *mutex)
{
  check_mutex (mutex);
  if (mutex->owner != current + 1)
    model_fail ("A thread unlocks what it has not locked");
  mutex->owner = 0;
}

static void
check_cond (const ModelCond *cond)
{
  if (cond->magic != MODEL_MAGIC)
    model_fail ("A condition is used that does not exist");
}

void
model_cond_init (ModelCond *cond)
{
  cond->magic = MODEL_MAGIC;
}

void
model_cond_clear (ModelCond *cond)
{
  check_cond (cond);
  for (guint i = 0; i < n_threads; i++)
    if (threads[i].state == STATE_WAITING && threads[i].cond == cond)
      model_fail ("A condition is cleared that a thread waits for");
  memset (cond, 0xee, sizeof *cond);
}

void
model_cond_wait (ModelCond *cond, ModelMutex *mutex, gboolean timed)
{
  check_cond (cond);
  model_mutex_unlock (mutex);
  threads[current].cond = cond;
  threads[current].mutex = mutex;
  threads[current].timed = timed;
  block (STATE_WAITING);
  take (mutex);
}

/* Lists the threads that wait for @cond. */
static guint
list_waiting (const ModelCond *cond, Thread **waiting)
{
  guint n = 0;

  for (guint i = 0; i < n_threads; i++)
    if (threads[i].state == STATE_WAITING && threads[i].cond == cond)
      waiting[n++] = &threads[i];
  return n;
}

void
model_cond_signal (ModelCond *cond)
{
  Thread *waiting[MAX_THREADS];
  guint n;

  model_yield ();
  check_cond (cond);
  if ((n = list_waiting (cond, waiting)) > 0)
    waiting[choose (n)]->state = STATE_LOCKING;
}

void
model_cond_broadcast (ModelCond *cond)
{
  Thread *waiting[MAX_THREADS];
  guint n;

  model_yield ();
  check_cond (cond);
  n = list_waiting (cond, waiting);
  for (guint i = 0; i < n; i++)
    waiting[i]->state = STATE_LOCKING;
}

/* Threads */

gpointer
model_private_get (GPrivate *key)
{
  return threads[current].value;
}

void
model_private_set (GPrivate *key, gpointer value)
{
  threads[current].key = key;
  threads[current].value = value;
}

static void
run_thread (void)
{
  Thread *self = &threads[current];

  self->func (self->data);
  if (self->value)
    ((const struct _GPrivate *) self->key)->notify (self->value);
  self->state = STATE_ENDED;
  if (self == threads)
    setcontext (&explorer);
  schedule ();
}

guint
model_thread_start (ModelFunc func, void *data)
{
  Thread *self = &threads[n_threads];
  void *stack = self->stack;

  if (n_threads == MAX_THREADS)
    model_fail ("Too many threads");
  if (!stack)
    stack = mmap (NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  *self = (Thread){ .stack = stack, .func = func, .data = data };
  getcontext (&self->context);
  self->context.uc_stack.ss_sp = stack;
  self->context.uc_stack.ss_size = STACK_SIZE;
  makecontext (&self->context, run_thread, 0);
  n_threads++;
  if (n_threads > 1)
    model_yield ();
  return self - threads;
}

void
model_limit_threads (guint n)
{
  n_threads_left = n;
}

gboolean
model_take_thread (void)
{
  if (n_threads_left == 0)
    return FALSE;
  n_threads_left--;
  return TRUE;
}

void
model_thread_join (guint thread)
{
  if (threads[thread].state == STATE_ENDED)
    return;
  threads[current].other = thread;
  block (STATE_JOINING);
}

guint64
model_get_time (void)
{
  return now += scenario->tick;
}

/* Exploration */

static void *
run_scenario (void *data)
{
  scenario->run (scenario->data);
  for (guint i = 1; i < n_threads; i++)
    if (threads[i].state != STATE_ENDED)
      model_fail ("Thread %u was not joined", i);
  return NULL;
}

/* Moves on to the next sequence of choices. Returns FALSE after the last. */
static gboolean
choose_next (void)
{
  while (n_choices > 0 &&
         choices[n_choices - 1].chosen + 1 == choices[n_choices - 1].n)
    n_choices--;
  if (n_choices == 0)
    return FALSE;
  choices[n_choices - 1].chosen++;
  return TRUE;
}

guint64
model_explore (const ModelScenario *what, guint preemptions)
{
  guint64 n = 0;

  scenario = what;
  max_preemptions = preemptions;
  n_choices = 0;
  do {
    n_threads = current = n_made = n_preemptions = n_steps = 0;
    now = 0;
    model_thread_start (run_scenario, NULL);
    swapcontext (&explorer, &threads[0].context);
    n++;
  } while (choose_next ());
  return n;
}
