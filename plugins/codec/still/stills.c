/* gst-spdl: the decoders of one worker
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/still/stills.h"

#include <gst/base/gsttypefindhelper.h>
#include <string.h>

GST_DEBUG_CATEGORY_EXTERN (spdl_decode_debug);
#define GST_CAT_DEFAULT spdl_decode_debug

/* A decoder that takes a kind of image, open or not. */
typedef struct {
  GstElementFactory *factory;
  GstCaps *caps;
  SpdlChain *chain;
  gboolean failed; /* to open: it is not tried again */
} Candidate;

typedef struct {
  gchar *type;
  gboolean rare;
  GArray *candidates; /* the best one first */
} Kind;

struct _SpdlStills {
  GArray *kinds;
};

/* Decoders that come before those of the rank, since pnmdec reads beyond the
 * end of a file. Their caps do not name what typefind finds, but something of
 * gst-libav's own. (Decoders of gst-libav whose caps are unknown/unknown, such
 * as avdec_webp, take no caps at all.) */
static const struct {
  const gchar *type;
  const gchar *caps;
  const gchar *factory;
} detours[] = {
  { "image/x-portable-graymap", "image/x-portable-graymap", "avdec_pgm" },
  { "image/x-portable-pixmap", "image/ppm", "avdec_ppm" },
  { "image/x-portable-anymap", "image/x-portable-anymap", "avdec_pam" },
};

/* It does what others do wrong, and is for nothing else. It has no rank in
 * GStreamer 1.22, and a rank above FFmpeg's decoders in 1.26. */
#define FOR_RARE "gdkpixbufdec"

/* Finding decoders */

static void
clear_candidate (gpointer data)
{
  Candidate *candidate = data;

  g_clear_pointer (&candidate->chain, spdl_chain_free);
  gst_clear_object (&candidate->factory);
  gst_clear_caps (&candidate->caps);
}

static void
clear_kind (gpointer data)
{
  Kind *kind = data;

  g_array_unref (kind->candidates);
  g_free (kind->type);
}

static void
add_candidate (Kind *kind, GstElementFactory *factory, GstCaps *caps)
{
  const Candidate candidate = { gst_object_ref (factory), gst_caps_ref (caps) };

  g_array_append_val (kind->candidates, candidate);
}

/* All decoders of some rank that take @caps (transfer full), but FOR_RARE. */
static void
add_by_rank (Kind *kind, GstCaps *caps)
{
  GList *all = gst_element_factory_list_get_elements (
      GST_ELEMENT_FACTORY_TYPE_DECODER, GST_RANK_MARGINAL);
  GList *fit = gst_element_factory_list_filter (all, caps, GST_PAD_SINK, TRUE);

  fit = g_list_sort (fit, gst_plugin_feature_rank_compare_func);
  for (GList *l = fit; l; l = l->next)
    if (!g_str_equal (GST_OBJECT_NAME (l->data), FOR_RARE))
      add_candidate (kind, l->data, caps);
  gst_plugin_feature_list_free (fit);
  gst_plugin_feature_list_free (all);
  gst_caps_unref (caps);
}

static void
add_by_name (Kind *kind, const gchar *name, GstCaps *caps)
{
  GstElementFactory *factory = gst_element_factory_find (name);

  if (factory) {
    add_candidate (kind, factory, caps);
    gst_object_unref (factory);
  }
  gst_caps_unref (caps);
}

static void
add_detours (Kind *kind)
{
  for (guint i = 0; i < G_N_ELEMENTS (detours); i++)
    if (g_str_equal (detours[i].type, kind->type))
      add_by_name (
          kind, detours[i].factory, gst_caps_from_string (detours[i].caps));
}

static GstCaps *
caps_of (const Kind *kind)
{
  return gst_caps_new_simple (kind->type, "parsed", G_TYPE_BOOLEAN, TRUE, NULL);
}

static Kind *
get_kind (SpdlStills *self, const SpdlLook *look)
{
  Kind new_kind = { NULL };

  for (guint i = 0; i < self->kinds->len; i++) {
    Kind *kind = &g_array_index (self->kinds, Kind, i);

    if (g_str_equal (kind->type, look->type) && kind->rare == look->rare)
      return kind;
  }
  new_kind.type = g_strdup (look->type);
  new_kind.rare = look->rare;
  new_kind.candidates = g_array_new (FALSE, FALSE, sizeof (Candidate));
  g_array_set_clear_func (new_kind.candidates, clear_candidate);
  if (look->rare) {
    add_by_name (&new_kind, FOR_RARE, caps_of (&new_kind));
  } else {
    add_detours (&new_kind);
    add_by_rank (&new_kind, caps_of (&new_kind));
  }
  g_array_append_val (self->kinds, new_kind);
  return &g_array_index (self->kinds, Kind, self->kinds->len - 1);
}

SpdlStills *
spdl_stills_new (void)
{
  SpdlStills *self = g_new0 (SpdlStills, 1);

  self->kinds = g_array_new (FALSE, FALSE, sizeof (Kind));
  g_array_set_clear_func (self->kinds, clear_kind);
  return self;
}

void
spdl_stills_free (SpdlStills *self)
{
  g_array_unref (self->kinds);
  g_free (self);
}

/* Finding the type */

static void
set_from_caps (SpdlLook *look, GstCaps *caps)
{
  const GstStructure *s = gst_caps_get_structure (caps, 0);
  gint width, height;

  look->type = g_intern_string (gst_structure_get_name (s));
  if (gst_structure_get_int (s, "width", &width) &&
      gst_structure_get_int (s, "height", &height)) {
    look->width = width;
    look->height = height;
  }
}

/* A drawing is none: rsvgdec, which draws them, crashes at some. */
static gboolean
is_still (const gchar *type)
{
  return type && g_str_has_prefix (type, "image/") &&
         !g_str_has_prefix (type, "image/svg");
}

/* Formats that have no mark by which they could be told: caps must do. */
static gboolean
is_markless (GstCaps *caps)
{
  static const gchar *const types[] = { "image/x-pcx", "image/x-tga",
    "image/x-sgi", NULL };

  return caps && gst_caps_is_fixed (caps) &&
         g_strv_contains (
             types, gst_structure_get_name (gst_caps_get_structure (caps, 0)));
}

gboolean
spdl_stills_find_type (SpdlLook *look, const guint8 *data, gsize size,
    GstCaps *caps, GError **error)
{
  g_autoptr (GstCaps) found = NULL;

  if (look->type)
    return TRUE;
  if (size == 0) {
    g_set_error (
        error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE, "It is empty");
    return FALSE;
  }
  found = gst_type_find_helper_for_data (NULL, data, size, NULL);
  if (found)
    set_from_caps (look, found);
  if (!is_still (look->type) && is_markless (caps)) {
    set_from_caps (look, caps);
    spdl_look_for_size (look, data, size);
  }
  if (is_still (look->type))
    return TRUE;
  if (look->type)
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
        "It is no still image but %s; leave such files out with the pattern of "
        "spdlsrc",
        look->type);
  else
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_TYPE_NOT_FOUND,
        "It is no image that is known: its first byte is 0x%02x, of "
        "%" G_GSIZE_FORMAT,
        data[0], size);
  return FALSE;
}

/* Decoding */

static gboolean
ensure_chain (Candidate *candidate)
{
  g_autoptr (GError) error = NULL;

  if (candidate->chain || candidate->failed)
    return !candidate->failed;
  candidate->chain =
      spdl_chain_new (candidate->factory, candidate->caps, &error);
  if (candidate->chain)
    return TRUE;
  candidate->failed = TRUE;
  GST_WARNING ("no use of it: %s", error->message);
  return FALSE;
}

static SpdlChainResult
try_once (Candidate *candidate, GstBuffer *file, const SpdlChainLimits *limits,
    GError **error)
{
  /* A buffer of its own around the same memory. */
  return spdl_chain_decode (candidate->chain,
      gst_buffer_copy_region (file, GST_BUFFER_COPY_MEMORY, 0, -1),
      candidate->caps, limits, error);
}

/* A file that fails right after one that was broken is tried once more, with a
 * new decoder: perhaps the old one did not get over it. */
static SpdlChainResult
try_candidate (Candidate *candidate, GstBuffer *file,
    const SpdlChainLimits *limits, GError **error)
{
  const gboolean suspect = spdl_chain_is_suspect (candidate->chain);
  const SpdlChainResult result = try_once (candidate, file, limits, error);

  if (result != SPDL_CHAIN_BROKEN_FILE || !suspect)
    return result;
  g_clear_pointer (&candidate->chain, spdl_chain_free);
  if (!ensure_chain (candidate))
    return SPDL_CHAIN_UNFIT;
  g_clear_error (error);
  return try_once (candidate, file, limits, error);
}

gboolean
spdl_stills_decode (SpdlStills *self, const SpdlLook *look, GstBuffer *file,
    const SpdlChainLimits *limits, SpdlFrame *frame, GError **error)
{
  Kind *kind = get_kind (self, look);
  GError *reason = NULL;

  frame->buffer = NULL;
  /* Without a known size max-pixels could not be checked before decoding. */
  if (kind->candidates->len > 0 && (look->width == 0 || look->height == 0)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
        "The header of this %s does not say a size", look->type);
    return FALSE;
  }
  for (guint i = 0; i < kind->candidates->len; i++) {
    Candidate *candidate = &g_array_index (kind->candidates, Candidate, i);
    SpdlChainResult result;

    if (!ensure_chain (candidate))
      continue;
    /* The best one's reason is told. */
    result = try_candidate (candidate, file, limits, reason ? NULL : &reason);
    if (result == SPDL_CHAIN_UNFIT)
      continue;
    spdl_chain_get_frame (candidate->chain, frame);
    /* It may believe that its caps were taken. */
    if (result == SPDL_CHAIN_TOO_LARGE) {
      frame->buffer = NULL;
      g_clear_pointer (&candidate->chain, spdl_chain_free);
    }
    if (result != SPDL_CHAIN_OK)
      break;
    g_clear_error (&reason);
    return TRUE;
  }
  if (!reason)
    reason = g_error_new (GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
        "It is %s, for which no decoder is installed; Debian has them in "
        "gstreamer1.0-libav, gstreamer1.0-plugins-good and "
        "gstreamer1.0-plugins-bad",
        look->type);
  g_propagate_error (error, reason);
  return FALSE;
}
