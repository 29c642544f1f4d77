/* gst-spdl: parser of lists of augmentations
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/augment/oplist.h"

#include <gst/gst.h>
#include <math.h>
#include <string.h>

#include "plugins/core/augment/opspec.h"

/* Limits, so that a list cannot exhaust the stack or memory. */
#define MAX_DEPTH 8
#define MAX_OPS 1000

typedef struct {
  const gchar *text;
  const gchar *at;
  guint depth;
  guint n_ops;
  gboolean in_mix;
  GError **error;
} Parser;

static void
free_op (gpointer data)
{
  SpdlOp *op = data;

  g_clear_pointer (&op->members, g_ptr_array_unref);
  g_free (op);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SpdlOp, free_op)

/* Errors */

static gboolean fail (Parser *self, const gchar *at, const gchar *format, ...)
    G_GNUC_PRINTF (3, 4);

/* Sets the error for the text at @at. Returns FALSE. */
static gboolean
fail (Parser *self, const gchar *at, const gchar *format, ...)
{
  va_list args;
  g_autofree gchar *reason = NULL;

  va_start (args, format);
  reason = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (self->error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
      "The property ops is wrong at character %ld: %s",
      g_utf8_pointer_to_offset (self->text, at) + 1, reason);
  return FALSE;
}

static gchar *
list_operations (void)
{
  GString *names = g_string_new (spdl_op_specs[0].name);

  for (guint i = 1; i < SPDL_N_OPS; i++)
    g_string_append_printf (names, ", %s", spdl_op_specs[i].name);
  return g_string_free (names, FALSE);
}

static gchar *
list_arguments (const SpdlOpSpec *spec)
{
  GString *names =
      g_string_new (spec->flags & SPDL_OP_HAS_MEMBERS ? "operations, " : NULL);

  for (const SpdlArg *arg = spec->args; arg->name; arg++)
    g_string_append_printf (
        names, arg == spec->args ? "%s" : ", %s", arg->name);
  return g_string_free (names, FALSE);
}

/* Tokens */

static void
skip_blanks (Parser *self)
{
  while (g_ascii_isspace (*self->at))
    self->at++;
}

/* Skips blanks before and after @c, and returns whether it was there. */
static gboolean
accept (Parser *self, gchar c)
{
  skip_blanks (self);
  if (*self->at != c)
    return FALSE;
  self->at++;
  skip_blanks (self);
  return TRUE;
}

static gchar *
read_word (Parser *self)
{
  const gchar *start = self->at;

  self->at += strspn (start, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "-_.+/");
  return g_strndup (start, self->at - start);
}

/* Returns the text up to the next delimiter, for an error. */
static gchar *
peek_text (const Parser *self)
{
  const gsize n = strcspn (self->at, " \t\r\n,;()=");
  const gchar *end = self->at + MIN (n, 40);
  const gchar *valid;

  if (end == self->at && *end)
    end = g_utf8_next_char (end);
  /* A cut may be within a character. */
  g_utf8_validate (self->at, end - self->at, &valid);
  return *self->at ? g_strndup (self->at, valid - self->at)
                   : g_strdup ("the end");
}

/* Values */

/* Reads a number of @text, and sets @text to its end. */
static gboolean
read_number (const gchar **text, double *number)
{
  gchar *end;
  const gchar *dots = strstr (*text, "..");

  /* strtod() takes the first dot of "1..2" for a decimal point. */
  if (dots) {
    g_autofree gchar *first = g_strndup (*text, dots - *text);

    *number = g_ascii_strtod (first, &end);
    end = (gchar *) *text + (end - first);
  } else {
    *number = g_ascii_strtod (*text, &end);
  }
  if (end == *text || !isfinite (*number))
    return FALSE;
  *text = end;
  return TRUE;
}

static gboolean
fail_value (Parser *self, const gchar *at, const SpdlArg *arg,
    const gchar *value, const gchar *expected)
{
  return fail (
      self, at, "%s is \"%s\", but must be %s", arg->name, value, expected);
}

/* Parses "a" or "a..b". */
static gboolean
parse_range (const gchar *value, double *low, double *high, gboolean *is_pair)
{
  *is_pair = FALSE;
  if (!read_number (&value, low))
    return FALSE;
  *high = *low;
  if (g_str_has_prefix (value, "..")) {
    value += 2;
    *is_pair = TRUE;
    if (!read_number (&value, high))
      return FALSE;
  }
  return *value == '\0';
}

static gboolean
check_number (Parser *self, const SpdlArg *arg, const gchar *at,
    const gchar *value, double number)
{
  const gboolean is_whole =
      arg->kind == SPDL_ARG_INTEGERS || arg->kind == SPDL_ARG_INTEGER ||
      arg->kind == SPDL_ARG_ODD || arg->kind == SPDL_ARG_SIZE;
  g_autofree gchar *limits = NULL;

  if (!(number >= arg->min && number <= arg->max)) {
    limits = g_strdup_printf ("between %g and %g", arg->min, arg->max);
    return fail_value (self, at, arg, value, limits);
  }
  if (is_whole && number != rint (number))
    return fail_value (self, at, arg, value, "a whole number");
  if (arg->kind == SPDL_ARG_ODD && fmod (number, 2) == 0)
    return fail_value (self, at, arg, value, "an odd number");
  return TRUE;
}

static gboolean
set_range (Parser *self, SpdlOp *op, const SpdlArg *arg, const gchar *at,
    const gchar *value)
{
  const gboolean is_single = arg->kind == SPDL_ARG_NUMBER ||
                             arg->kind == SPDL_ARG_INTEGER ||
                             arg->kind == SPDL_ARG_ODD;
  double low, high;
  gboolean is_pair;

  if (!parse_range (value, &low, &high, &is_pair) || (is_pair && is_single))
    return fail_value (self, at, arg, value,
        is_single ? "a number" : "a number or a range, such as 0.1..2");
  if (!is_pair && arg->kind == SPDL_ARG_SPREAD) {
    high = fabs (low);
    low = -high;
  } else if (!is_pair && arg->kind == SPDL_ARG_JITTER) {
    high = 1 + low;
    low = MAX (0, 1 - low);
  }
  if (low > high)
    return fail_value (
        self, at, arg, value, "a range that begins with the smaller number");
  op->low[arg->slot] = low;
  op->high[arg->slot] = high;
  return check_number (self, arg, at, value, low) &&
         check_number (self, arg, at, value, high);
}

static gboolean
set_word (Parser *self, SpdlOp *op, const SpdlArg *arg, const gchar *at,
    const gchar *value)
{
  g_autofree gchar *list = NULL;

  for (guint i = 0; arg->words[i]; i++)
    if (g_str_equal (arg->words[i], value)) {
      op->low[arg->slot] = op->high[arg->slot] = i;
      return TRUE;
    }
  list = g_strjoinv (", ", (gchar **) arg->words);
  return fail (
      self, at, "%s is \"%s\", but must be one of %s", arg->name, value, list);
}

/* Reads @n numbers with @separator between. */
static gboolean
read_numbers (const gchar *value, gchar separator, guint n, double *numbers)
{
  for (guint i = 0; i < n; i++) {
    if (i > 0 && *value++ != separator)
      return FALSE;
    if (!read_number (&value, &numbers[i]))
      return FALSE;
  }
  return *value == '\0';
}

/* Sets the two values of a size, or the eight of corners. */
static gboolean
set_numbers (Parser *self, SpdlOp *op, const SpdlArg *arg, const gchar *at,
    const gchar *value)
{
  const gboolean is_size = arg->kind == SPDL_ARG_SIZE;
  const guint n = is_size ? 2 : 8;
  double numbers[8];

  if (is_size && read_numbers (value, 'x', 1, numbers))
    numbers[1] = numbers[0];
  else if (!read_numbers (value, is_size ? 'x' : '/', n, numbers))
    return fail_value (self, at, arg, value,
        is_size ? "a number, or WIDTHxHEIGHT"
                : "8 numbers with / between: x/y/x/y/x/y/x/y");
  for (guint i = 0; i < n; i++) {
    if (!check_number (self, arg, at, value, numbers[i]))
      return FALSE;
    op->low[arg->slot + i] = op->high[arg->slot + i] = numbers[i];
  }
  return TRUE;
}

static gboolean
set_fill (Parser *self, SpdlOp *op, const SpdlArg *arg, const gchar *at,
    const gchar *value)
{
  const gboolean takes_noise = arg->kind == SPDL_ARG_NOISE;
  double numbers[3];

  if (takes_noise && g_str_equal (value, "random")) {
    op->fill.kind = SPDL_FILL_NOISE;
    return TRUE;
  }
  if (read_numbers (value, '/', 1, numbers))
    numbers[1] = numbers[2] = numbers[0];
  else if (!read_numbers (value, '/', 3, numbers))
    return fail_value (self, at, arg, value,
        takes_noise ? "a number, a color, such as 124/116/104, or random"
                    : "a number or a color, such as 124/116/104");
  op->fill.kind = SPDL_FILL_COLOR;
  for (guint c = 0; c < 3; c++) {
    if (numbers[c] < 0 || numbers[c] > 255 || numbers[c] != rint (numbers[c]))
      return fail_value (
          self, at, arg, value, "whole numbers between 0 and 255");
    op->fill.color[c] = numbers[c];
  }
  return TRUE;
}

static gboolean
set_arg (Parser *self, SpdlOp *op, const SpdlArg *arg, const gchar *at,
    const gchar *value)
{
  switch (arg->kind) {
    case SPDL_ARG_WORD:
      return set_word (self, op, arg, at, value);
    case SPDL_ARG_SIZE:
    case SPDL_ARG_CORNERS:
      return set_numbers (self, op, arg, at, value);
    case SPDL_ARG_FILL:
    case SPDL_ARG_NOISE:
      return set_fill (self, op, arg, at, value);
    default:
      return set_range (self, op, arg, at, value);
  }
}

static const SpdlArg *
find_arg (const SpdlOpSpec *spec, const gchar *name)
{
  for (const SpdlArg *arg = spec->args; arg->name; arg++)
    if (g_str_equal (arg->name, name))
      return arg;
  return NULL;
}

/* Operations */

static SpdlOp *
new_op (SpdlOpKind kind)
{
  const SpdlOpSpec *spec = &spdl_op_specs[kind];
  SpdlOp *op = g_new0 (SpdlOp, 1);

  op->kind = kind;
  op->fill = spec->fill;
  spdl_op_spec_get_defaults (spec, op->low, op->high);
  return op;
}

static gboolean parse_op (Parser *self, GPtrArray *ops);

static gboolean
parse_member (Parser *self, SpdlOp *op)
{
  const gchar *at = self->at;
  const SpdlOp *member;

  if (!parse_op (self, op->members))
    return FALSE;
  member = g_ptr_array_index (op->members, op->members->len - 1);
  if (op->kind == SPDL_OP_MIX && member->kind != SPDL_OP_SEQUENCE)
    return fail (self, at, "mix consists of sequence(...)");
  return TRUE;
}

static gboolean
parse_named (Parser *self, SpdlOp *op, const gchar *name_at, const gchar *name)
{
  const SpdlOpSpec *spec = &spdl_op_specs[op->kind];
  const SpdlArg *arg = find_arg (spec, name);
  const gchar *at = self->at;
  g_autofree gchar *value = read_word (self), *list = NULL;

  if (arg)
    return set_arg (self, op, arg, at, value);
  list = list_arguments (spec);
  return fail (self, name_at, "%s has no argument \"%s\", only %s", spec->name,
      name, list);
}

static gboolean
parse_arg (Parser *self, SpdlOp *op)
{
  const SpdlOpSpec *spec = &spdl_op_specs[op->kind];
  const gchar *at = self->at;
  g_autofree gchar *name = read_word (self);
  g_autofree gchar *found = NULL, *list = NULL;

  skip_blanks (self);
  if (*name && accept (self, '='))
    return parse_named (self, op, at, name);
  if (*name && spec->args->kind == SPDL_ARG_WORD)
    return set_arg (self, op, spec->args, at, name);
  self->at = at;
  if (*name && (spec->flags & SPDL_OP_HAS_MEMBERS))
    return parse_member (self, op);
  found = peek_text (self);
  list = list_arguments (spec);
  return fail (self, at,
      "found \"%s\", expected NAME=VALUE with an argument of %s: %s", found,
      spec->name, list);
}

static gboolean
parse_args (Parser *self, SpdlOp *op)
{
  g_autofree gchar *found = NULL;

  if (!accept (self, '(') || accept (self, ')'))
    return TRUE;
  do {
    if (!parse_arg (self, op))
      return FALSE;
  } while (accept (self, ','));
  if (accept (self, ')'))
    return TRUE;
  found = peek_text (self);
  return fail (self, self->at, "found \"%s\", expected \",\" or \")\" in %s",
      found, spdl_op_specs[op->kind].name);
}

/* Checks that the arguments that have no defaults are set. */
static gboolean
check_op (Parser *self, const gchar *at, const SpdlOp *op)
{
  const SpdlOpSpec *spec = &spdl_op_specs[op->kind];

  for (const SpdlArg *arg = spec->args; arg->name; arg++)
    if ((spec->flags & SPDL_OP_NEEDS_ALL) && isnan (op->low[arg->slot]))
      return fail (self, at, "%s needs the argument %s", spec->name, arg->name);
  if (op->kind == SPDL_OP_ERASE && !isnan (op->low[SPDL_ERASE_X]) &&
      isnan (op->low[SPDL_ERASE_Y] + op->low[SPDL_ERASE_WIDTH] +
             op->low[SPDL_ERASE_HEIGHT]))
    return fail (self, at, "erase needs x, y, width and height, or none");
  if (op->kind == SPDL_OP_RAND_AUGMENT &&
      op->low[SPDL_RAND_M] >= op->low[SPDL_RAND_BINS])
    return fail (self, at, "m=%g must be less than bins=%g",
        op->low[SPDL_RAND_M], op->low[SPDL_RAND_BINS]);
  if ((spec->flags & SPDL_OP_HAS_MEMBERS) && op->kind != SPDL_OP_SEQUENCE &&
      op->members->len == 0)
    return fail (self, at, "%s needs operations as arguments", spec->name);
  if ((spec->flags & SPDL_OP_IS_RESIZING) && self->in_mix)
    return fail (
        self, at, "%s changes the size, which mix does not allow", spec->name);
  return TRUE;
}

/* timm's strings: rand-m9-n2-mstd0.5-inc1 */

static gboolean
parse_timm (Parser *self, SpdlOp *op, const gchar *at, const gchar *name)
{
  g_auto (GStrv) sections = g_strsplit (name, "-", -1);
  const gchar *section_at = at + strlen (sections[0]) + 1;

  for (guint i = 1; sections[i]; i++) {
    const gsize n = strcspn (sections[i], "0123456789");
    g_autofree gchar *key = g_strndup (sections[i], n);
    const SpdlArg *arg = find_arg (&spdl_op_specs[SPDL_OP_TIMM_RAND], key);

    if (!arg || arg->kind >= SPDL_ARG_WORD)
      return fail (self, section_at,
          "Section \"%s\" of timm's RandAugment is unknown: use m, n, p, mstd, "
          "mmax and inc, each with a number",
          sections[i]);
    if (!set_range (self, op, arg, section_at + n, sections[i] + n))
      return FALSE;
    section_at += strlen (sections[i]) + 1;
  }
  return TRUE;
}

static gboolean
find_kind (const gchar *name, SpdlOpKind *kind)
{
  for (*kind = 0; *kind < SPDL_OP_TIMM_RAND; (*kind)++)
    if (g_str_equal (spdl_op_specs[*kind].name, name))
      return TRUE;
  return g_str_has_prefix (name, "rand-") && !g_str_has_prefix (name, "rand-a");
}

static gboolean
parse_op_body (Parser *self, GPtrArray *ops, SpdlOpKind kind, const gchar *at,
    const gchar *name)
{
  const gboolean was_in_mix = self->in_mix;
  g_autoptr (SpdlOp) op = new_op (kind);
  gboolean ok;

  if (spdl_op_specs[kind].flags & SPDL_OP_HAS_MEMBERS)
    op->members = g_ptr_array_new_with_free_func (free_op);
  if (kind == SPDL_OP_TIMM_RAND && !parse_timm (self, op, at, name))
    return FALSE;
  self->in_mix |= kind == SPDL_OP_MIX;
  ok = parse_args (self, op);
  self->in_mix = was_in_mix;
  if (!ok || !check_op (self, at, op))
    return FALSE;
  g_ptr_array_add (ops, g_steal_pointer (&op));
  return TRUE;
}

static gboolean
parse_op (Parser *self, GPtrArray *ops)
{
  const gchar *at = self->at;
  g_autofree gchar *name = read_word (self);
  g_autofree gchar *list = NULL;
  SpdlOpKind kind;
  gboolean ok;

  if (!find_kind (name, &kind)) {
    g_autofree gchar *found = NULL;

    self->at = at;
    found = peek_text (self);
    list = list_operations ();
    return fail (
        self, at, "Operation \"%s\" is unknown: use one of %s", found, list);
  }
  if (kind == SPDL_OP_MIX && self->in_mix)
    return fail (self, at, "a mix cannot contain another one");
  if (++self->n_ops > MAX_OPS)
    return fail (self, at, "there are more than %d operations", MAX_OPS);
  if (++self->depth > MAX_DEPTH)
    return fail (
        self, at, "operations are nested more than %d times", MAX_DEPTH);
  ok = parse_op_body (self, ops, kind, at, name);
  self->depth--;
  return ok;
}

GPtrArray *
spdl_op_list_parse (const gchar *text, GError **error)
{
  g_autoptr (GPtrArray) ops = g_ptr_array_new_with_free_func (free_op);
  Parser self = { text, text, 0, 0, FALSE, error };
  g_autofree gchar *found = NULL;

  skip_blanks (&self);
  do {
    if (!parse_op (&self, ops))
      return NULL;
    skip_blanks (&self);
  } while (accept (&self, ';') && *self.at);
  if (!*self.at)
    return g_steal_pointer (&ops);
  found = peek_text (&self);
  fail (
      &self, self.at, "found \"%s\", expected \";\" between operations", found);
  return NULL;
}
