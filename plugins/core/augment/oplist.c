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

/* Limits, so that a list cannot exhaust the stack or memory. */
#define MAX_DEPTH 8
#define MAX_OPS 1000
#define MAX_SIDE 65535

/* Grammar of an argument's value */
typedef enum {
  ARG_RANGE,    /* a number, or two of them with .. between */
  ARG_INTEGERS, /* a range of integers */
  ARG_SPREAD,   /* a range; x: -x..x */
  ARG_JITTER,   /* a range; x: max(0,1-x)..1+x */
  ARG_NUMBER,
  ARG_INTEGER,
  ARG_ODD,
  ARG_WORD,    /* its number in @words */
  ARG_SIZE,    /* a number, or WIDTHxHEIGHT: two values */
  ARG_CORNERS, /* 8 numbers with / between */
} ArgKind;

typedef struct {
  const gchar *name;
  ArgKind kind;
  guint slot;
  double min, max;
  double low, high; /* default; NaN: not set */
  const gchar *const *words;
  gboolean is_alias; /* another name for an argument's values */
} Arg;

enum {
  NEEDS_ALL = 1 << 0, /* each argument must be set */
  HAS_FILTER = 1 << 1,
  IS_BILINEAR = 1 << 2, /* by default */
  HAS_FILL = 1 << 3,
  HAS_VALUE = 1 << 4, /* the fill is called value, and may be random */
  HAS_MEMBERS = 1 << 5,
  HAS_WORD = 1 << 6, /* the first argument needs no name */
  IS_RESIZING = 1 << 7,
  IS_HIDDEN = 1 << 8, /* has another syntax */
};

typedef struct {
  const gchar *name;
  double p; /* default, as in torchvision */
  guint flags;
  const Arg *args; /* nullable */
} Spec;

#define SINGLE(name, kind, min, max)       \
  (const Arg[])                            \
  {                                        \
    { name, kind, 0, min, max, NAN, NAN }, \
    {                                      \
      NULL                                 \
    }                                      \
  }

static const gchar *const filters[] = { "nearest", "bilinear", NULL };
static const gchar *const pad_modes[] = { "constant", "edge", "reflect",
  "symmetric", NULL };
static const gchar *const centers[] = { "middle", "corner", NULL };
static const gchar *const policies[] = { "imagenet", "cifar10", "svhn", NULL };
static const gchar *const booleans[] = { "false", "true", NULL };

static const Arg jitter_args[] = {
  { "brightness", ARG_JITTER, SPDL_JITTER_BRIGHTNESS, 0, 100, 1, 1 },
  { "contrast", ARG_JITTER, SPDL_JITTER_CONTRAST, 0, 100, 1, 1 },
  { "saturation", ARG_JITTER, SPDL_JITTER_SATURATION, 0, 100, 1, 1 },
  { "hue", ARG_SPREAD, SPDL_JITTER_HUE, -0.5, 0.5, 0, 0 },
  { NULL },
};
static const Arg blur_args[] = {
  { "kernel-size", ARG_ODD, SPDL_BLUR_KERNEL_SIZE, 1, 255, NAN, NAN },
  { "sigma", ARG_RANGE, SPDL_BLUR_SIGMA, 0.01, 40, 0.1, 2 },
  { NULL },
};
static const Arg affine_args[] = {
  { "degrees", ARG_SPREAD, SPDL_AFFINE_ANGLE, -360, 360, 0, 0, NULL, TRUE },
  { "angle", ARG_RANGE, SPDL_AFFINE_ANGLE, -360, 360, 0, 0 },
  { "translate", ARG_NUMBER, SPDL_AFFINE_TRANSLATE, 0, 1, NAN, NAN, NULL,
      TRUE },
  { "translate-x", ARG_INTEGERS, SPDL_AFFINE_TRANSLATE_X, -MAX_SIDE, MAX_SIDE,
      0, 0 },
  { "translate-y", ARG_INTEGERS, SPDL_AFFINE_TRANSLATE_Y, -MAX_SIDE, MAX_SIDE,
      0, 0 },
  { "scale", ARG_RANGE, SPDL_AFFINE_SCALE, 0.01, 100, 1, 1 },
  { "shear", ARG_SPREAD, SPDL_AFFINE_SHEAR_X, -89, 89, 0, 0, NULL, TRUE },
  { "shear-x", ARG_RANGE, SPDL_AFFINE_SHEAR_X, -89, 89, 0, 0 },
  { "shear-y", ARG_RANGE, SPDL_AFFINE_SHEAR_Y, -89, 89, 0, 0 },
  { "center", ARG_WORD, SPDL_AFFINE_CENTER, 0, 0, 0, 0, centers },
  { NULL },
};
static const Arg rotate_args[] = {
  { "degrees", ARG_SPREAD, SPDL_AFFINE_ANGLE, -360, 360, NAN, NAN, NULL, TRUE },
  { "angle", ARG_RANGE, SPDL_AFFINE_ANGLE, -360, 360, NAN, NAN, NULL, FALSE },
  { NULL },
};
static const Arg perspective_args[] = {
  { "distortion-scale", ARG_NUMBER, SPDL_PERSPECTIVE_DISTORTION, 0, 1, 0.5, 0.5,
      NULL, TRUE },
  { "corners", ARG_CORNERS, SPDL_PERSPECTIVE_CORNERS, -MAX_SIDE, MAX_SIDE, NAN,
      NAN },
  { NULL },
};
static const Arg pad_args[] = {
  { "padding", ARG_INTEGER, SPDL_PAD_PADDING, 0, 4096, NAN, NAN },
  { "mode", ARG_WORD, SPDL_PAD_MODE, 0, 0, 0, 0, pad_modes },
  { NULL },
};
static const Arg random_crop_args[] = {
  { "size", ARG_SIZE, SPDL_CROP_WIDTH, 1, MAX_SIDE, NAN, NAN },
  { "padding", ARG_INTEGER, SPDL_CROP_PADDING, 0, 4096, 0, 0 },
  { "mode", ARG_WORD, SPDL_CROP_MODE, 0, 0, 0, 0, pad_modes },
  { NULL },
};
static const Arg crop_args[] = {
  { "x", ARG_INTEGER, SPDL_CROP_X, 0, MAX_SIDE, NAN, NAN },
  { "y", ARG_INTEGER, SPDL_CROP_Y, 0, MAX_SIDE, NAN, NAN },
  { "width", ARG_INTEGER, SPDL_CROP_WIDTH, 1, MAX_SIDE, NAN, NAN },
  { "height", ARG_INTEGER, SPDL_CROP_HEIGHT, 1, MAX_SIDE, NAN, NAN },
  { NULL },
};
static const Arg erase_args[] = {
  { "scale", ARG_RANGE, SPDL_ERASE_SCALE, 0, 1, 0.02, 0.33, NULL, TRUE },
  { "ratio", ARG_RANGE, SPDL_ERASE_RATIO, 0.01, 100, 0.3, 3.3, NULL, TRUE },
  { "noise", ARG_INTEGER, SPDL_ERASE_NOISE, 0, G_MAXUINT32, NAN, NAN },
  { "x", ARG_INTEGER, SPDL_ERASE_X, 0, MAX_SIDE, NAN, NAN },
  { "y", ARG_INTEGER, SPDL_ERASE_Y, 0, MAX_SIDE, NAN, NAN },
  { "width", ARG_INTEGER, SPDL_ERASE_WIDTH, 1, MAX_SIDE, NAN, NAN },
  { "height", ARG_INTEGER, SPDL_ERASE_HEIGHT, 1, MAX_SIDE, NAN, NAN },
  { NULL },
};
static const Arg weight_args[] = {
  { "weight", ARG_NUMBER, 0, 0, 1000, 1, 1 },
  { NULL },
};
static const Arg rand_args[] = {
  { "n", ARG_INTEGER, SPDL_RAND_N, 0, 16, 2, 2 },
  { "m", ARG_INTEGER, SPDL_RAND_M, 0, 1000, 9, 9 },
  { "bins", ARG_INTEGER, SPDL_RAND_BINS, 2, 1001, 31, 31 },
  { NULL },
};
static const Arg trivial_args[] = {
  { "bins", ARG_INTEGER, 0, 2, 1001, 31, 31 },
  { NULL },
};
static const Arg auto_args[] = {
  { "policy", ARG_WORD, 0, 0, 0, 0, 0, policies },
  { NULL },
};
static const Arg augmix_args[] = {
  { "severity", ARG_INTEGER, SPDL_AUGMIX_SEVERITY, 1, 10, 3, 3 },
  { "width", ARG_INTEGER, SPDL_AUGMIX_WIDTH, 1, 16, 3, 3 },
  { "depth", ARG_INTEGER, SPDL_AUGMIX_DEPTH, 0, 16, 0, 0 },
  { "alpha", ARG_NUMBER, SPDL_AUGMIX_ALPHA, 0.01, 100, 1, 1 },
  { "all-ops", ARG_WORD, SPDL_AUGMIX_ALL_OPS, 0, 0, 1, 1, booleans },
  { NULL },
};
static const Arg timm_args[] = {
  { "n", ARG_INTEGER, SPDL_TIMM_N, 0, 16, 2, 2 },
  { "m", ARG_INTEGER, SPDL_TIMM_M, 0, 100, 10, 10 },
  { "mstd", ARG_NUMBER, SPDL_TIMM_MSTD, 0, 1000, 0, 0 },
  { "mmax", ARG_INTEGER, SPDL_TIMM_MMAX, 0, 100, 10, 10 },
  { "inc", ARG_INTEGER, SPDL_TIMM_INC, 0, 1, 0, 0 },
  { "p", ARG_NUMBER, SPDL_TIMM_P, 0, 1, 0.5, 0.5 },
  { NULL },
};

static const Spec specs[SPDL_N_OPS] = {
  [SPDL_OP_BRIGHTNESS] = { "brightness", 1, NEEDS_ALL,
      SINGLE ("factor", ARG_RANGE, 0, 100) },
  [SPDL_OP_CONTRAST] = { "contrast", 1, NEEDS_ALL,
      SINGLE ("factor", ARG_RANGE, 0, 100) },
  [SPDL_OP_SATURATION] = { "saturation", 1, NEEDS_ALL,
      SINGLE ("factor", ARG_RANGE, 0, 100) },
  [SPDL_OP_HUE] = { "hue", 1, NEEDS_ALL,
      SINGLE ("factor", ARG_RANGE, -0.5, 0.5) },
  [SPDL_OP_SHARPNESS] = { "sharpness", 0.5, NEEDS_ALL,
      SINGLE ("factor", ARG_RANGE, 0, 100) },
  [SPDL_OP_AUTOCONTRAST] = { "autocontrast", 0.5 },
  [SPDL_OP_EQUALIZE] = { "equalize", 0.5 },
  [SPDL_OP_INVERT] = { "invert", 0.5 },
  [SPDL_OP_POSTERIZE] = { "posterize", 0.5, NEEDS_ALL,
      SINGLE ("bits", ARG_INTEGERS, 0, 8) },
  [SPDL_OP_SOLARIZE] = { "solarize", 0.5, NEEDS_ALL,
      SINGLE ("threshold", ARG_RANGE, 0, 256) },
  [SPDL_OP_SOLARIZE_ADD] = { "solarize-add", 1, NEEDS_ALL,
      SINGLE ("add", ARG_INTEGERS, 0, 255) },
  [SPDL_OP_GRAYSCALE] = { "grayscale", 0.1 },
  [SPDL_OP_GAUSSIAN_BLUR] = { "gaussian-blur", 1, 0, blur_args },
  [SPDL_OP_AFFINE] = { "affine", 1, HAS_FILTER | HAS_FILL, affine_args },
  [SPDL_OP_ROTATE] = { "rotate", 1, NEEDS_ALL | HAS_FILTER | HAS_FILL,
      rotate_args },
  [SPDL_OP_PERSPECTIVE] = { "perspective", 0.5,
      HAS_FILTER | IS_BILINEAR | HAS_FILL, perspective_args },
  [SPDL_OP_PAD] = { "pad", 1, NEEDS_ALL | HAS_FILL | IS_RESIZING, pad_args },
  [SPDL_OP_CROP] = { "crop", 1, NEEDS_ALL | IS_RESIZING, crop_args },
  [SPDL_OP_ERASE] = { "erase", 0.5, HAS_VALUE, erase_args },
  [SPDL_OP_HORIZONTAL_FLIP] = { "horizontal-flip", 0.5 },
  [SPDL_OP_VERTICAL_FLIP] = { "vertical-flip", 0.5 },
  [SPDL_OP_MIX] = { "mix", 1, HAS_MEMBERS, weight_args },
  [SPDL_OP_SEQUENCE] = { "sequence", 1, HAS_MEMBERS, weight_args },
  [SPDL_OP_CHOICE] = { "choice", 1, HAS_MEMBERS },
  [SPDL_OP_COLOR_JITTER] = { "color-jitter", 1, 0, jitter_args },
  [SPDL_OP_RANDOM_CROP] = { "random-crop", 1,
      NEEDS_ALL | HAS_FILL | IS_RESIZING, random_crop_args },
  [SPDL_OP_CENTER_CROP] = { "center-crop", 1, NEEDS_ALL | IS_RESIZING,
      (const Arg[]){
          { "size", ARG_SIZE, SPDL_CROP_WIDTH, 1, MAX_SIDE, NAN, NAN },
          { NULL } } },
  [SPDL_OP_RAND_AUGMENT] = { "rand-augment", 1, HAS_FILTER | HAS_FILL,
      rand_args },
  [SPDL_OP_TRIVIAL_AUGMENT_WIDE] = { "trivial-augment-wide", 1,
      HAS_FILTER | HAS_FILL, trivial_args },
  [SPDL_OP_AUTO_AUGMENT] = { "auto-augment", 1,
      HAS_FILTER | HAS_FILL | HAS_WORD, auto_args },
  [SPDL_OP_AUGMIX] = { "augmix", 1, HAS_FILTER | IS_BILINEAR | HAS_FILL,
      augmix_args },
  [SPDL_OP_TIMM_RAND] = { "rand-m9-mstd0.5-inc1", 1,
      HAS_FILTER | IS_BILINEAR | HAS_FILL | IS_HIDDEN, timm_args },
};

/* timm's mean color of ImageNet. */
static const SpdlFill timm_fill = { SPDL_FILL_COLOR, { 124, 116, 104 } };

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
  GString *names = g_string_new (NULL);

  for (guint i = 0; i < SPDL_N_OPS; i++)
    g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", specs[i].name);
  return g_string_free (names, FALSE);
}

static gchar *
list_arguments (const Spec *spec)
{
  GString *names = g_string_new (NULL);

  for (const Arg *arg = spec->args; arg && arg->name; arg++)
    g_string_append_printf (names, "%s, ", arg->name);
  if (spec->flags & HAS_FILTER)
    g_string_append (names, "interpolation, ");
  if (spec->flags & HAS_FILL)
    g_string_append (names, "fill, ");
  if (spec->flags & HAS_VALUE)
    g_string_append (names, "value, ");
  if (spec->flags & HAS_MEMBERS)
    g_string_append (names, "operations, ");
  g_string_append (names, "p");
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

  while (g_ascii_isalnum (*self->at) || strchr ("-_.+/", *self->at)) {
    if (!*self->at)
      break;
    self->at++;
  }
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
fail_value (Parser *self, const gchar *at, const Arg *arg, const gchar *value,
    const gchar *expected)
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
is_whole (double number)
{
  return number == rint (number);
}

static gboolean
set_range (Parser *self, SpdlOp *op, const Arg *arg, const gchar *at,
    const gchar *value)
{
  const gboolean is_single = arg->kind == ARG_NUMBER ||
                             arg->kind == ARG_INTEGER || arg->kind == ARG_ODD;
  const gboolean is_integer = arg->kind == ARG_INTEGERS ||
                              arg->kind == ARG_INTEGER || arg->kind == ARG_ODD;
  double low, high;
  gboolean is_pair;

  if (!parse_range (value, &low, &high, &is_pair) || (is_pair && is_single))
    return fail_value (self, at, arg, value,
        is_single ? "a number" : "a number or a range, such as 0.1..2");
  if (!is_pair && arg->kind == ARG_SPREAD) {
    high = fabs (low);
    low = -high;
  } else if (!is_pair && arg->kind == ARG_JITTER) {
    high = 1 + low;
    low = MAX (0, 1 - low);
  }
  if (low > high)
    return fail_value (
        self, at, arg, value, "a range that begins with the smaller number");
  if (low < arg->min || high > arg->max) {
    g_autofree gchar *limits =
        g_strdup_printf ("between %g and %g", arg->min, arg->max);

    return fail_value (self, at, arg, value, limits);
  }
  if (is_integer && (!is_whole (low) || !is_whole (high)))
    return fail_value (self, at, arg, value, "a whole number");
  if (arg->kind == ARG_ODD && fmod (low, 2) == 0)
    return fail_value (self, at, arg, value, "an odd number");
  op->low[arg->slot] = low;
  op->high[arg->slot] = high;
  return TRUE;
}

static gboolean
find_word (Parser *self, const gchar *name, const gchar *at, const gchar *value,
    const gchar *const *words, guint *number)
{
  g_autofree gchar *list = NULL;

  for (*number = 0; words[*number]; (*number)++)
    if (g_str_equal (words[*number], value))
      return TRUE;
  list = g_strjoinv (", ", (gchar **) words);
  return fail (
      self, at, "%s is \"%s\", but must be one of %s", name, value, list);
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

static gboolean
set_size (Parser *self, SpdlOp *op, const Arg *arg, const gchar *at,
    const gchar *value)
{
  double sides[2];

  if (read_numbers (value, 'x', 1, sides))
    sides[1] = sides[0];
  else if (!read_numbers (value, 'x', 2, sides))
    return fail_value (self, at, arg, value, "a number, or WIDTHxHEIGHT");
  for (guint i = 0; i < 2; i++) {
    if (sides[i] < arg->min || sides[i] > arg->max || !is_whole (sides[i]))
      return fail_value (
          self, at, arg, value, "a whole number between 1 and 65535");
    op->low[arg->slot + i] = op->high[arg->slot + i] = sides[i];
  }
  return TRUE;
}

static gboolean
set_corners (Parser *self, SpdlOp *op, const Arg *arg, const gchar *at,
    const gchar *value)
{
  double numbers[8];

  if (!read_numbers (value, '/', 8, numbers))
    return fail_value (
        self, at, arg, value, "8 numbers with / between: x/y/x/y/x/y/x/y");
  for (guint i = 0; i < 8; i++) {
    if (fabs (numbers[i]) > arg->max)
      return fail_value (self, at, arg, value, "between -65535 and 65535");
    op->low[arg->slot + i] = op->high[arg->slot + i] = numbers[i];
  }
  return TRUE;
}

static gboolean
set_fill (Parser *self, const gchar *name, SpdlFill *fill, const gchar *at,
    const gchar *value, gboolean takes_noise)
{
  double numbers[3];

  if (takes_noise && g_str_equal (value, "random")) {
    fill->kind = SPDL_FILL_NOISE;
    return TRUE;
  }
  if (read_numbers (value, '/', 1, numbers))
    numbers[1] = numbers[2] = numbers[0];
  else if (!read_numbers (value, '/', 3, numbers))
    return fail (self, at,
        "%s is \"%s\", but must be a number or a color, such as 124/116/104%s",
        name, value, takes_noise ? ", or random" : "");
  fill->kind = SPDL_FILL_COLOR;
  for (guint c = 0; c < 3; c++) {
    if (numbers[c] < 0 || numbers[c] > 255 || !is_whole (numbers[c]))
      return fail (self, at,
          "%s is \"%s\", but must consist of whole numbers between 0 and 255",
          name, value);
    fill->color[c] = numbers[c];
  }
  return TRUE;
}

static gboolean
set_arg (Parser *self, SpdlOp *op, const Arg *arg, const gchar *at,
    const gchar *value)
{
  guint number;

  switch (arg->kind) {
    case ARG_WORD:
      if (!find_word (self, arg->name, at, value, arg->words, &number))
        return FALSE;
      op->low[arg->slot] = op->high[arg->slot] = number;
      return TRUE;
    case ARG_SIZE:
      return set_size (self, op, arg, at, value);
    case ARG_CORNERS:
      return set_corners (self, op, arg, at, value);
    default:
      return set_range (self, op, arg, at, value);
  }
}

static const Arg *
find_arg (const Spec *spec, const gchar *name)
{
  for (const Arg *arg = spec->args; arg && arg->name; arg++)
    if (g_str_equal (arg->name, name))
      return arg;
  return NULL;
}

static gboolean
set_named (Parser *self, SpdlOp *op, const gchar *name_at, const gchar *name,
    const gchar *at, const gchar *value)
{
  static const Arg p = { "p", ARG_NUMBER, 0, 0, 1 };
  const Spec *spec = &specs[op->kind];
  const Arg *arg = find_arg (spec, name);
  g_autofree gchar *list = NULL;

  if (arg)
    return set_arg (self, op, arg, at, value);
  if (g_str_equal (name, "p")) {
    SpdlOp scratch;

    if (!set_range (self, &scratch, &p, at, value))
      return FALSE;
    op->p = scratch.low[0];
    return TRUE;
  }
  if ((spec->flags & HAS_FILTER) && g_str_equal (name, "interpolation")) {
    guint number;

    if (!find_word (self, name, at, value, filters, &number))
      return FALSE;
    op->filter = number;
    return TRUE;
  }
  if (((spec->flags & HAS_FILL) && g_str_equal (name, "fill")) ||
      ((spec->flags & HAS_VALUE) && g_str_equal (name, "value")))
    return set_fill (self, name, &op->fill, at, value, spec->flags & HAS_VALUE);
  list = list_arguments (spec);
  return fail (self, name_at, "%s has no argument \"%s\", only %s", spec->name,
      name, list);
}

/* Operations */

static void
set_defaults (const Spec *spec, double *low, double *high)
{
  for (guint i = 0; i < SPDL_OP_VALUES; i++)
    low[i] = high[i] = NAN;
  for (const Arg *arg = spec->args; arg && arg->name; arg++) {
    low[arg->slot] = arg->low;
    high[arg->slot] = arg->high;
  }
}

static SpdlOp *
new_op (SpdlOpKind kind)
{
  const Spec *spec = &specs[kind];
  SpdlOp *op = g_new0 (SpdlOp, 1);

  op->kind = kind;
  op->p = spec->p;
  op->filter =
      spec->flags & IS_BILINEAR ? SPDL_WARP_BILINEAR : SPDL_WARP_NEAREST;
  if (kind == SPDL_OP_TIMM_RAND)
    op->fill = timm_fill;
  else if (kind == SPDL_OP_ERASE)
    op->fill.kind = SPDL_FILL_COLOR;
  set_defaults (spec, op->low, op->high);
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
parse_arg (Parser *self, SpdlOp *op)
{
  const Spec *spec = &specs[op->kind];
  const gchar *name_at = self->at, *at;
  g_autofree gchar *name = read_word (self);
  g_autofree gchar *value = NULL, *found = NULL;

  skip_blanks (self);
  if (*name && accept (self, '=')) {
    at = self->at;
    value = read_word (self);
    return set_named (self, op, name_at, name, at, value);
  }
  if (*name && (spec->flags & HAS_MEMBERS)) {
    self->at = name_at;
    return parse_member (self, op);
  }
  if (*name && (spec->flags & HAS_WORD))
    return set_arg (self, op, spec->args, name_at, name);
  self->at = name_at;
  found = peek_text (self);
  value = list_arguments (spec);
  return fail (self, name_at,
      "found \"%s\", expected NAME=VALUE with an argument of %s: %s", found,
      spec->name, value);
}

static gboolean
parse_args (Parser *self, SpdlOp *op)
{
  g_autofree gchar *found = NULL;

  if (!accept (self, '('))
    return TRUE;
  if (accept (self, ')'))
    return TRUE;
  do {
    if (!parse_arg (self, op))
      return FALSE;
  } while (accept (self, ','));
  if (accept (self, ')'))
    return TRUE;
  found = peek_text (self);
  return fail (self, self->at, "found \"%s\", expected \",\" or \")\" in %s",
      found, specs[op->kind].name);
}

/* Checks that the arguments that have no defaults are set. */
static gboolean
check_op (Parser *self, const gchar *at, const SpdlOp *op)
{
  const Spec *spec = &specs[op->kind];

  for (const Arg *arg = spec->args;
       arg && arg->name && (spec->flags & NEEDS_ALL); arg++)
    if (isnan (op->low[arg->slot]))
      return fail (self, at, "%s needs the argument %s", spec->name, arg->name);
  if (op->kind == SPDL_OP_ERASE && !isnan (op->low[SPDL_ERASE_X]) &&
      isnan (op->low[SPDL_ERASE_Y] + op->low[SPDL_ERASE_WIDTH] +
             op->low[SPDL_ERASE_HEIGHT]))
    return fail (self, at, "erase needs x, y, width and height, or none");
  if (op->kind == SPDL_OP_RAND_AUGMENT &&
      op->low[SPDL_RAND_M] >= op->low[SPDL_RAND_BINS])
    return fail (self, at, "m=%g must be less than bins=%g",
        op->low[SPDL_RAND_M], op->low[SPDL_RAND_BINS]);
  if ((spec->flags & HAS_MEMBERS) && op->kind != SPDL_OP_SEQUENCE &&
      op->members->len == 0)
    return fail (self, at, "%s needs operations as arguments", spec->name);
  if ((spec->flags & IS_RESIZING) && self->in_mix)
    return fail (
        self, at, "%s changes the size, which mix does not allow", spec->name);
  return TRUE;
}

/* timm's strings: rand-m9-n2-mstd0.5-inc1 */

static gboolean
is_timm (const gchar *name)
{
  return g_str_has_prefix (name, "rand-") && !g_str_has_prefix (name, "rand-a");
}

static gboolean
parse_timm (Parser *self, SpdlOp *op, const gchar *at, const gchar *name)
{
  g_auto (GStrv) sections = g_strsplit (name, "-", -1);
  const gchar *section_at = at + strlen (sections[0]) + 1;

  for (guint i = 1; sections[i]; i++) {
    const gsize n = strcspn (sections[i], "0123456789");
    g_autofree gchar *key = g_strndup (sections[i], n);
    const Arg *arg = find_arg (&specs[SPDL_OP_TIMM_RAND], key);

    if (!arg)
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
  for (guint i = 0; i < SPDL_N_OPS; i++) {
    *kind = i;
    if (!(specs[i].flags & IS_HIDDEN) && g_str_equal (specs[i].name, name))
      return TRUE;
  }
  *kind = SPDL_OP_TIMM_RAND;
  return is_timm (name);
}

static gboolean
parse_op_body (Parser *self, GPtrArray *ops, SpdlOpKind kind, const gchar *at,
    const gchar *name)
{
  const gboolean was_in_mix = self->in_mix;
  g_autoptr (SpdlOp) op = new_op (kind);
  gboolean ok;

  if (specs[kind].flags & HAS_MEMBERS)
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

/* Steps */

void
spdl_step_init (SpdlStep *step, SpdlOpKind kind)
{
  double high[SPDL_OP_VALUES];

  *step = (SpdlStep){ kind };
  if (kind < SPDL_N_OPS)
    set_defaults (&specs[kind], step->values, high);
}

static void
append_arg (GString *text, const gchar *name, const gchar *value)
{
  const gchar last = text->str[text->len - 1];

  g_string_append_printf (text, "%s%s=%s", last == '(' ? "" : ",", name, value);
}

/* Formats @number with as few digits as give the same single-precision number,
 * which values are; whole numbers may be larger. */
static const gchar *
format_number (gchar *digits, gsize size, double number)
{
  for (guint n = 6; n < 10; n++) {
    gchar format[8];

    g_snprintf (format, sizeof format, "%%.%ug", n);
    g_ascii_formatd (digits, size, format, number);
    if (!is_whole (number) &&
        (float) g_ascii_strtod (digits, NULL) == (float) number)
      return digits;
  }
  return g_ascii_formatd (digits, size, "%.10g", number);
}

static void
append_number (GString *text, const gchar *name, double number)
{
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE];

  append_arg (text, name, format_number (digits, sizeof digits, number));
}

static void
append_corners (GString *text, const SpdlStep *step)
{
  g_autoptr (GString) list = g_string_new (NULL);

  for (guint i = 0; i < 8; i++) {
    gchar digits[G_ASCII_DTOSTR_BUF_SIZE];

    g_string_append_printf (list, "%s%s", i > 0 ? "/" : "",
        format_number (digits, sizeof digits, step->values[i]));
  }
  append_arg (text, "corners", list->str);
}

static void
append_fill (GString *text, const Spec *spec, const SpdlFill *fill)
{
  gchar color[16];

  if (fill->kind == SPDL_FILL_NONE)
    return;
  g_snprintf (color, sizeof color, "%u/%u/%u", fill->color[0], fill->color[1],
      fill->color[2]);
  append_arg (text, spec->flags & HAS_VALUE ? "value" : "fill",
      fill->kind == SPDL_FILL_NOISE ? "random" : color);
}

static void
append_step (GString *text, const SpdlStep *step)
{
  const Spec *spec = &specs[step->kind];

  g_string_append_printf (text, "%s(", spec->name);
  for (const Arg *arg = spec->args; arg && arg->name; arg++) {
    const double value = step->values[arg->slot];

    if (arg->is_alias || isnan (value) || value == arg->low)
      continue;
    if (arg->kind == ARG_CORNERS)
      append_corners (text, step);
    else if (arg->kind == ARG_WORD)
      append_arg (text, arg->name, arg->words[(guint) value]);
    else
      append_number (text, arg->name, value);
  }
  if ((spec->flags & HAS_FILTER) &&
      (step->filter == SPDL_WARP_BILINEAR) != !!(spec->flags & IS_BILINEAR))
    append_arg (text, "interpolation", filters[step->filter]);
  if (spec->flags & (HAS_FILL | HAS_VALUE))
    append_fill (text, spec, &step->fill);
  if (spec->p < 1)
    append_number (text, "p", 1);
}

gchar *
spdl_steps_to_text (const SpdlStep *steps, guint n_steps)
{
  GString *text = g_string_new (NULL);
  guint depth = 0;

  for (guint i = 0; i < n_steps; i++) {
    if (steps[i].kind == SPDL_OP_END) {
      g_string_append_c (text, ')');
      depth--;
      continue;
    }
    if (i > 0 && text->str[text->len - 1] != '(')
      g_string_append (text, depth > 0 ? "," : "; ");
    append_step (text, &steps[i]);
    if (specs[steps[i].kind].flags & HAS_MEMBERS)
      depth++;
    else
      g_string_append_c (text, ')');
  }
  return g_string_free (text, FALSE);
}
