/* gst-spdl: the properties of spdldecode
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/element/decodesettings.h"

#include <gst/gst.h>

#include "gst/spdl/common/valuearrays.h"
#include "plugins/codec/jpeg/entropycheck.h"

#define DEFAULT_FORMAT "RGB"
#define DEFAULT_MAX_PIXELS 178956970
#define DEFAULT_RESIZE SPDL_FIT_STRETCH
#define DEFAULT_INTERPOLATION SPDL_INTERPOLATION_BILINEAR
#define DEFAULT_AUGMENT SPDL_AUGMENT_NONE
#define DEFAULT_CORRUPT SPDL_CORRUPT_FAIL
#define DEFAULT_FAST_SCALE TRUE
#define DEFAULT_MAX_INFLATED (512 << 20)
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
#define DEFAULT_AUDIO_FORMAT "F32LE"
#else
#define DEFAULT_AUDIO_FORMAT "F32BE"
#endif

enum {
  PROP_0,
  PROP_WIDTH,
  PROP_HEIGHT,
  PROP_FORMAT,
  PROP_RESIZE,
  PROP_INTERPOLATION,
  PROP_AUGMENT,
  PROP_CROP_SCALE,
  PROP_CROP_RATIO,
  PROP_FLIP,
  PROP_SEED,
  PROP_FAST_SCALE,
  PROP_ON_CORRUPT,
  PROP_MAX_PIXELS,
  PROP_BACKGROUND,
  PROP_PART,
  PROP_MAX_DECOMPRESSED_BYTES,
  PROP_NUM_FRAMES,
  PROP_FRAME_STEP,
  PROP_CLIP_SAMPLING,
  PROP_SHORT_CLIP,
  PROP_DECODER_THREADS,
  PROP_RATE,
  PROP_CHANNELS,
  PROP_AUDIO_FORMAT,
  PROP_OFFSET,
  PROP_DURATION,
  PROP_ENTROPY_DECODER,
};

/* Enums */

#define DEFINE_ENUM(name, TypeName, ...)                                    \
  static GType name##_get_type (void)                                       \
  {                                                                         \
    static const GEnumValue values[] = { __VA_ARGS__, { 0 } };              \
    static gsize type;                                                      \
                                                                            \
    if (g_once_init_enter (&type))                                          \
      g_once_init_leave (&type, g_enum_register_static (TypeName, values)); \
    return type;                                                            \
  }

DEFINE_ENUM (resize, "GstSpdlDecodeResize",
    { SPDL_FIT_STRETCH, "Both sides, each to its size", "stretch" },
    { SPDL_FIT_COVER,
        "In proportion, until nothing is uncovered; the "
        "middle counts",
        "cover" },
    { SPDL_FIT_CONTAIN,
        "In proportion, until it fits, with background "
        "around it",
        "contain" },
    { SPDL_FIT_NONE, "An image keeps its own size", "none" })

DEFINE_ENUM (interpolation, "GstSpdlDecodeInterpolation",
    { SPDL_INTERPOLATION_NEAREST, "The nearest pixel", "nearest" },
    { SPDL_INTERPOLATION_BILINEAR, "Triangles", "bilinear" },
    { SPDL_INTERPOLATION_BICUBIC, "Cubic, a = -0.5", "bicubic" },
    { SPDL_INTERPOLATION_LANCZOS, "Lanczos, 3 lobes", "lanczos" })

DEFINE_ENUM (augment, "GstSpdlDecodeAugment",
    { SPDL_AUGMENT_NONE, "All of the image", "none" },
    { SPDL_AUGMENT_RANDOM_RESIZED_CROP,
        "A box of random size and shape, at a random place",
        "random-resized-crop" },
    { SPDL_AUGMENT_RANDOM_CROP, "As many pixels as come out, at a random place",
        "random-crop" })

DEFINE_ENUM (corrupt, "GstSpdlDecodeOnCorrupt",
    { SPDL_CORRUPT_FAIL, "It fails", "fail" },
    { SPDL_CORRUPT_KEEP, "What could be decoded is delivered", "keep" })

DEFINE_ENUM (clip, "GstSpdlDecodeClipSampling",
    { SPDL_CLIP_HEAD, "From the first frame on", "head" },
    { SPDL_CLIP_CENTER, "From the middle", "center" },
    { SPDL_CLIP_RANDOM, "From a random frame on", "random" },
    { SPDL_CLIP_UNIFORM, "From all parts, at equal distances", "uniform" },
    { SPDL_CLIP_TIMES, "Those shown at the times in the item's clip-times",
        "times" })

DEFINE_ENUM (short_clip, "GstSpdlDecodeShortClip",
    { SPDL_CLIP_PAD_REPEAT, "The last frame is repeated", "repeat" },
    { SPDL_CLIP_PAD_FAIL, "It fails", "fail" })

DEFINE_ENUM (entropy_decoder, "GstSpdlDecodeEntropyDecoder",
    { SPDL_ENTROPY_DECODER_SPDL, "gst-spdl's", "spdl" },
    { SPDL_ENTROPY_DECODER_LIBJPEG, "libjpeg's", "libjpeg" })

/* Values */

void
spdl_decode_settings_init (SpdlDecodeSettings *self)
{
  *self = (SpdlDecodeSettings){
    .format = g_strdup (DEFAULT_FORMAT),
    .resize = DEFAULT_RESIZE,
    .interpolation = DEFAULT_INTERPOLATION,
    .augment = { DEFAULT_AUGMENT, { 0.08, 1.0 }, { 3.0 / 4.0, 4.0 / 3.0 } },
    .fast_scale = DEFAULT_FAST_SCALE,
    .corrupt = DEFAULT_CORRUPT,
    .max_pixels = DEFAULT_MAX_PIXELS,
    .max_decompressed_bytes = DEFAULT_MAX_INFLATED,
    .clip = { .frame_step = 1, .decoder_threads = 1 },
    .audio = { .format = g_strdup (DEFAULT_AUDIO_FORMAT),
        .duration = GST_CLOCK_TIME_NONE },
  };
}

void
spdl_decode_settings_clear (SpdlDecodeSettings *self)
{
  g_clear_pointer (&self->format, g_free);
  g_clear_pointer (&self->audio.format, g_free);
}

static void
set_format (SpdlDecodeSettings *self, const gchar *format)
{
  g_free (self->format);
  self->format_is_set = format != NULL;
  self->format = g_strdup (format ? format : DEFAULT_FORMAT);
}

static void
set_audio_format (SpdlAudioSettings *self, const gchar *format)
{
  g_free (self->format);
  self->format_is_set = format != NULL;
  self->format = g_strdup (format ? format : DEFAULT_AUDIO_FORMAT);
}

/* Another array than one of two numbers makes an empty range, which is refused
 * by name when it is to be used. */
static void
set_range (double *range, const GValue *array)
{
  if (gst_value_array_get_size (array) != 2 ||
      gst_spdl_numbers_get (array, range, 2) != 2)
    range[0] = range[1] = 0.0;
}

gboolean
spdl_decode_settings_set (
    SpdlDecodeSettings *self, guint id, const GValue *value)
{
  switch (id) {
    case PROP_WIDTH:
      self->width = g_value_get_uint (value);
      break;
    case PROP_HEIGHT:
      self->height = g_value_get_uint (value);
      break;
    case PROP_FORMAT:
      set_format (self, g_value_get_string (value));
      break;
    case PROP_RESIZE:
      self->resize = g_value_get_enum (value);
      break;
    case PROP_INTERPOLATION:
      self->interpolation = g_value_get_enum (value);
      break;
    case PROP_AUGMENT:
      self->augment.kind = g_value_get_enum (value);
      break;
    case PROP_CROP_SCALE:
      set_range (self->augment.scale, value);
      break;
    case PROP_CROP_RATIO:
      set_range (self->augment.ratio, value);
      break;
    case PROP_FLIP:
      self->augment.flip = g_value_get_double (value);
      break;
    case PROP_SEED:
      self->augment.seed = g_value_get_uint64 (value);
      break;
    case PROP_FAST_SCALE:
      self->fast_scale = g_value_get_boolean (value);
      break;
    case PROP_ON_CORRUPT:
      self->corrupt = g_value_get_enum (value);
      break;
    case PROP_MAX_PIXELS:
      self->max_pixels = g_value_get_uint64 (value);
      break;
    case PROP_BACKGROUND:
      self->background = g_value_get_uint (value);
      break;
    case PROP_PART:
      self->part = g_intern_string (g_value_get_string (value));
      break;
    case PROP_MAX_DECOMPRESSED_BYTES:
      self->max_decompressed_bytes = g_value_get_uint64 (value);
      break;
    case PROP_NUM_FRAMES:
      self->clip.num_frames = g_value_get_uint (value);
      break;
    case PROP_FRAME_STEP:
      self->clip.frame_step = g_value_get_uint (value);
      break;
    case PROP_CLIP_SAMPLING:
      self->clip.kind = g_value_get_enum (value);
      break;
    case PROP_SHORT_CLIP:
      self->clip.pad = g_value_get_enum (value);
      break;
    case PROP_DECODER_THREADS:
      self->clip.decoder_threads = g_value_get_uint (value);
      break;
    case PROP_RATE:
      self->audio.rate = g_value_get_uint (value);
      break;
    case PROP_CHANNELS:
      self->audio.channels = g_value_get_uint (value);
      break;
    case PROP_AUDIO_FORMAT:
      set_audio_format (&self->audio, g_value_get_string (value));
      break;
    case PROP_OFFSET:
      self->audio.offset = g_value_get_uint64 (value);
      break;
    case PROP_DURATION:
      self->audio.duration = g_value_get_uint64 (value);
      break;
    default:
      return FALSE;
  }
  return TRUE;
}

gboolean
spdl_decode_settings_get (
    const SpdlDecodeSettings *self, guint id, GValue *value)
{
  switch (id) {
    case PROP_WIDTH:
      g_value_set_uint (value, self->width);
      break;
    case PROP_HEIGHT:
      g_value_set_uint (value, self->height);
      break;
    case PROP_FORMAT:
      g_value_set_string (value, self->format);
      break;
    case PROP_RESIZE:
      g_value_set_enum (value, self->resize);
      break;
    case PROP_INTERPOLATION:
      g_value_set_enum (value, self->interpolation);
      break;
    case PROP_AUGMENT:
      g_value_set_enum (value, self->augment.kind);
      break;
    case PROP_CROP_SCALE:
      gst_spdl_numbers_put (value, self->augment.scale, 2);
      break;
    case PROP_CROP_RATIO:
      gst_spdl_numbers_put (value, self->augment.ratio, 2);
      break;
    case PROP_FLIP:
      g_value_set_double (value, self->augment.flip);
      break;
    case PROP_SEED:
      g_value_set_uint64 (value, self->augment.seed);
      break;
    case PROP_FAST_SCALE:
      g_value_set_boolean (value, self->fast_scale);
      break;
    case PROP_ON_CORRUPT:
      g_value_set_enum (value, self->corrupt);
      break;
    case PROP_MAX_PIXELS:
      g_value_set_uint64 (value, self->max_pixels);
      break;
    case PROP_BACKGROUND:
      g_value_set_uint (value, self->background);
      break;
    case PROP_PART:
      g_value_set_string (value, self->part);
      break;
    case PROP_MAX_DECOMPRESSED_BYTES:
      g_value_set_uint64 (value, self->max_decompressed_bytes);
      break;
    case PROP_NUM_FRAMES:
      g_value_set_uint (value, self->clip.num_frames);
      break;
    case PROP_FRAME_STEP:
      g_value_set_uint (value, self->clip.frame_step);
      break;
    case PROP_CLIP_SAMPLING:
      g_value_set_enum (value, self->clip.kind);
      break;
    case PROP_SHORT_CLIP:
      g_value_set_enum (value, self->clip.pad);
      break;
    case PROP_DECODER_THREADS:
      g_value_set_uint (value, self->clip.decoder_threads);
      break;
    case PROP_RATE:
      g_value_set_uint (value, self->audio.rate);
      break;
    case PROP_CHANNELS:
      g_value_set_uint (value, self->audio.channels);
      break;
    case PROP_AUDIO_FORMAT:
      g_value_set_string (value, self->audio.format);
      break;
    case PROP_OFFSET:
      g_value_set_uint64 (value, self->audio.offset);
      break;
    case PROP_DURATION:
      g_value_set_uint64 (value, self->audio.duration);
      break;
    case PROP_ENTROPY_DECODER:
      g_value_set_enum (value, spdl_entropy_choose ()->decoder);
      break;
    default:
      return FALSE;
  }
  return TRUE;
}

/* Properties */

#define FLAGS \
  (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)

static void
install_range (GObjectClass *klass, guint id, const gchar *name,
    const gchar *nick, const gchar *blurb)
{
  g_object_class_install_property (klass, id,
      gst_param_spec_array (name, nick, blurb,
          g_param_spec_double (name, nick, "One end", 0.0, G_MAXDOUBLE, 1.0,
              G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS),
          FLAGS));
}

static void
install_transforms (GObjectClass *klass)
{
  g_object_class_install_property (klass, PROP_RESIZE,
      g_param_spec_enum ("resize", "Resize",
          "How an image is brought to width and height", resize_get_type (),
          DEFAULT_RESIZE, FLAGS));
  g_object_class_install_property (klass, PROP_INTERPOLATION,
      g_param_spec_enum ("interpolation", "Interpolation",
          "What a pixel of the result is made of; antialiased, but for nearest",
          interpolation_get_type (), DEFAULT_INTERPOLATION, FLAGS));
  g_object_class_install_property (klass, PROP_AUGMENT,
      g_param_spec_enum ("augment", "Augment", "Which part of an image is used",
          augment_get_type (), DEFAULT_AUGMENT, FLAGS));
  install_range (klass, PROP_CROP_SCALE, "crop-scale", "Crop scale",
      "Least and most of an image's area that random-resized-crop takes "
      "(unset = <0.08,1.0>)");
  install_range (klass, PROP_CROP_RATIO, "crop-ratio", "Crop ratio",
      "Least and most of width to height that random-resized-crop takes "
      "(unset = <0.75,1.3333>)");
  g_object_class_install_property (klass, PROP_FLIP,
      g_param_spec_double ("flip", "Flip",
          "Probability that an image is mirrored, left to right", 0.0, 1.0, 0.0,
          FLAGS));
  g_object_class_install_property (klass, PROP_SEED,
      g_param_spec_uint64 ("seed", "Seed",
          "Decides what is random, with an item's epoch and index", 0,
          G_MAXUINT64, 0, FLAGS));
}

static void
install_clips (GObjectClass *klass)
{
  g_object_class_install_property (klass, PROP_NUM_FRAMES,
      g_param_spec_uint ("num-frames", "Number of frames",
          "Frames of a video that become a clip, a tensor (0 = one of them, as "
          "an image)",
          0, SPDL_CLIP_MAX_FRAMES, 0, FLAGS));
  g_object_class_install_property (klass, PROP_FRAME_STEP,
      g_param_spec_uint ("frame-step", "Frame step",
          "From one frame of a clip to the next, but for uniform and times", 1,
          G_MAXUINT16, 1, FLAGS));
  g_object_class_install_property (klass, PROP_CLIP_SAMPLING,
      g_param_spec_enum ("clip-sampling", "Clip sampling",
          "Frames of a video that a clip takes", clip_get_type (),
          SPDL_CLIP_HEAD, FLAGS));
  g_object_class_install_property (klass, PROP_SHORT_CLIP,
      g_param_spec_enum ("short-clip", "Short clip",
          "Effect of a video with fewer frames than its clip takes",
          short_clip_get_type (), SPDL_CLIP_PAD_REPEAT, FLAGS));
  g_object_class_install_property (klass, PROP_DECODER_THREADS,
      g_param_spec_uint ("decoder-threads", "Decoder threads",
          "Threads that a video's decoder may use, in each worker", 1, 64, 1,
          FLAGS));
  gst_type_mark_as_plugin_api (clip_get_type (), 0);
  gst_type_mark_as_plugin_api (short_clip_get_type (), 0);
}

static void
install_audio (GObjectClass *klass)
{
  g_object_class_install_property (klass, PROP_RATE,
      g_param_spec_uint ("rate", "Rate",
          "Samples a second of sound (0 = what downstream asks for, else as in "
          "the file)",
          0, G_MAXINT, 0, FLAGS));
  g_object_class_install_property (klass, PROP_CHANNELS,
      g_param_spec_uint ("channels", "Channels",
          "Channels of sound (0 = what downstream asks for, else as in the "
          "file)",
          0, 64, 0, FLAGS));
  g_object_class_install_property (klass, PROP_AUDIO_FORMAT,
      g_param_spec_string ("audio-format", "Audio format",
          "Format of samples: F32LE, S16LE, S32LE, F64LE or U8 (unset = what "
          "downstream asks for, F32LE where it does not mind)",
          DEFAULT_AUDIO_FORMAT, FLAGS));
  g_object_class_install_property (klass, PROP_OFFSET,
      g_param_spec_uint64 ("offset", "Offset",
          "Where the window of a sound begins that is decoded, in nanoseconds",
          0, GST_CLOCK_TIME_NONE - 1, 0, FLAGS));
  g_object_class_install_property (klass, PROP_DURATION,
      g_param_spec_uint64 ("duration", "Duration",
          "How long that window is at most, in nanoseconds (-1 = to the end)",
          0, G_MAXUINT64, GST_CLOCK_TIME_NONE, FLAGS));
}

void
spdl_decode_settings_install (GObjectClass *klass)
{
  g_object_class_install_property (klass, PROP_WIDTH,
      g_param_spec_uint ("width", "Width",
          "Width of the result in pixels (0 = what downstream asks for, else "
          "as decoded)",
          0, G_MAXINT, 0, FLAGS));
  g_object_class_install_property (klass, PROP_HEIGHT,
      g_param_spec_uint ("height", "Height",
          "Height of the result in pixels (0 = what downstream asks for, else "
          "as decoded)",
          0, G_MAXINT, 0, FLAGS));
  g_object_class_install_property (klass, PROP_FORMAT,
      g_param_spec_string ("format", "Format",
          "Pixel format of the result: RGB, BGR or GRAY8 (unset = what "
          "downstream asks for, RGB where it does not mind)",
          DEFAULT_FORMAT, FLAGS));
  install_transforms (klass);
  g_object_class_install_property (klass, PROP_FAST_SCALE,
      g_param_spec_boolean ("fast-scale", "Fast scale",
          "Decode JPEGs at a half, a quarter or an eighth of their size where "
          "that is still at least what comes out",
          DEFAULT_FAST_SCALE, FLAGS));
  g_object_class_install_property (klass, PROP_ON_CORRUPT,
      g_param_spec_enum ("on-corrupt", "On corrupt",
          "Effect of an image with missing or wrong data", corrupt_get_type (),
          DEFAULT_CORRUPT, FLAGS));
  g_object_class_install_property (klass, PROP_MAX_PIXELS,
      g_param_spec_uint64 ("max-pixels", "Maximum pixels",
          "An image of more pixels, or a result, fails before memory is taken "
          "for it",
          1, G_MAXUINT64, DEFAULT_MAX_PIXELS, FLAGS));
  g_object_class_install_property (klass, PROP_BACKGROUND,
      g_param_spec_uint ("background", "Background",
          "What shows through where an image is transparent, is missing, or "
          "does not reach: 0xRRGGBB",
          0, 0xffffff, 0, FLAGS));
  g_object_class_install_property (klass, PROP_PART,
      g_param_spec_string ("part", "Part",
          "Of samples of several media, the part to decode; the others stay as "
          "they are (unset = items are one medium)",
          NULL, FLAGS));
  g_object_class_install_property (klass, PROP_MAX_DECOMPRESSED_BYTES,
      g_param_spec_uint64 ("max-decompressed-bytes",
          "Maximum decompressed bytes",
          "Bytes that the compressed arrays of an item may have; one with more "
          "fails before memory is taken for them",
          0, G_MAXUINT64, DEFAULT_MAX_INFLATED, FLAGS));
  install_clips (klass);
  install_audio (klass);
  /**
   * GstSpdlDecode:entropy-decoder:
   *
   * gst-spdl decodes the Huffman codes of baseline JPEGs in libjpeg's place,
   * and faster, after a self-test of some hundred microseconds per process. If
   * the libjpeg in use fails that test, or if the environment has
   * SPDL_ENTROPY_DECODER=libjpeg, libjpeg decodes them. Pixels are the same.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_ENTROPY_DECODER,
      g_param_spec_enum ("entropy-decoder", "Entropy decoder",
          "Decoder of the Huffman codes of baseline JPEGs in this process",
          entropy_decoder_get_type (), SPDL_ENTROPY_DECODER_SPDL,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  gst_type_mark_as_plugin_api (resize_get_type (), 0);
  gst_type_mark_as_plugin_api (interpolation_get_type (), 0);
  gst_type_mark_as_plugin_api (augment_get_type (), 0);
  gst_type_mark_as_plugin_api (corrupt_get_type (), 0);
  gst_type_mark_as_plugin_api (entropy_decoder_get_type (), 0);
}
