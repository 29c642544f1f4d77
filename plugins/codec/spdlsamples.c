/* gst-spdl: samples of sound, from one format to another
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlsamples.h"

#include <math.h>
#include <string.h>

/* Writes @n moments of @n_planes planes, all interleaved. */
typedef void (*Kernel) (
    const guint8 *const *planes, guint n_planes, gsize n, void *out);

typedef guint8 u8;
typedef gint16 s16;
typedef gint32 s32;
typedef float f32;
typedef double f64;
/* 24 bits in 3 bytes, and the lower ones of 4. */
typedef struct {
  guint8 bytes[3];
} s24;
typedef struct {
  gint32 value;
} s24_32;

static inline gint32
value_of_s24 (s24 x)
{
  return (gint32) ((guint32) x.bytes[0] << 8 | (guint32) x.bytes[1] << 16 |
                   (guint32) x.bytes[2] << 24) >>
         8;
}

#define LOAD_u8(x, work) (((work) (x) -128) * (work) 0x1p-7)
#define LOAD_s16(x, work) ((work) (x) * (work) 0x1p-15)
#define LOAD_s24(x, work) ((work) value_of_s24 (x) * (work) 0x1p-23)
#define LOAD_s24_32(x, work) \
  ((work) ((gint32) ((guint32) (x).value << 8) >> 8) * (work) 0x1p-23)
#define LOAD_s32(x, work) ((work) (x) * (work) 0x1p-31)
#define LOAD_f32(x, work) ((work) (x))
#define LOAD_f64(x, work) ((work) (x))

/* To the nearest integer, of two the even one; a NaN becomes the least. */
static inline gint
round_to (float x, float least, float most)
{
  x = x > least ? x : least;
  return (gint) lrintf (x < most ? x : most);
}

static inline gint32
round_to_s32 (double x)
{
  x = x > -0x1p31 ? x : -0x1p31;
  return (gint32) lrint (x < 0x1p31 - 1 ? x : 0x1p31 - 1);
}

#define STORE_u8(x) ((u8) (round_to ((x) *0x1p7f, -0x1p7f, 0x1p7f - 1) + 128))
#define STORE_s16(x) ((s16) round_to ((x) *0x1p15f, -0x1p15f, 0x1p15f - 1))
#define STORE_s32(x) round_to_s32 ((x) *0x1p31)
#define STORE_f32(x) ((f32) (x))
#define STORE_f64(x) ((f64) (x))

/* At any address: a file's samples may lie at odd ones. */
#define DEFINE_GET(type)                                      \
  static inline type get_##type (const guint8 *from, gsize i) \
  {                                                           \
    type x;                                                   \
                                                              \
    memcpy (&x, from + i * sizeof x, sizeof x);               \
    return x;                                                 \
  }
DEFINE_GET (u8)
DEFINE_GET (s16)
DEFINE_GET (s24)
DEFINE_GET (s24_32)
DEFINE_GET (s32)
DEFINE_GET (f32)
DEFINE_GET (f64)

/* One and two channels are what is most, and become loops without branches. */
#define DEFINE_KERNEL(in, out, work)                                         \
  static void in##_to_##out (                                                \
      const guint8 *const *planes, guint n_planes, gsize n, void *place)     \
  {                                                                          \
    out *restrict to = place;                                                \
                                                                             \
    if (n_planes == 2) {                                                     \
      const guint8 *left = planes[0], *right = planes[1];                    \
                                                                             \
      for (gsize i = 0; i < n; i++) {                                        \
        to[2 * i] = STORE_##out (LOAD_##in (get_##in (left, i), work));      \
        to[2 * i + 1] = STORE_##out (LOAD_##in (get_##in (right, i), work)); \
      }                                                                      \
      return;                                                                \
    }                                                                        \
    for (guint c = 0; c < n_planes; c++) {                                   \
      const guint8 *from = planes[c];                                        \
      const gsize step = n_planes;                                           \
                                                                             \
      if (step == 1)                                                         \
        for (gsize i = 0; i < n; i++)                                        \
          to[i] = STORE_##out (LOAD_##in (get_##in (from, i), work));        \
      else                                                                   \
        for (gsize i = 0; i < n; i++)                                        \
          to[i * step + c] =                                                 \
              STORE_##out (LOAD_##in (get_##in (from, i), work));            \
    }                                                                        \
  }

/* What has more bits than a float keeps goes through double. */
#define DEFINE_KERNELS(in, work)  \
  DEFINE_KERNEL (in, u8, work)    \
  DEFINE_KERNEL (in, s16, work)   \
  DEFINE_KERNEL (in, s32, double) \
  DEFINE_KERNEL (in, f32, work)   \
  DEFINE_KERNEL (in, f64, double)
DEFINE_KERNELS (u8, float)
DEFINE_KERNELS (s16, float)
DEFINE_KERNELS (s24, float)
DEFINE_KERNELS (s24_32, float)
DEFINE_KERNELS (s32, double)
DEFINE_KERNELS (f32, float)
DEFINE_KERNELS (f64, double)

#define KERNELS(in)                                                \
  {                                                                \
    in##_to_u8, in##_to_s16, in##_to_s32, in##_to_f32, in##_to_f64 \
  }

static const struct {
  GstAudioFormat format;
  guint size;
  Kernel to[5];
} sources[] = {
  { GST_AUDIO_FORMAT_U8, 1, KERNELS (u8) },
  { GST_AUDIO_FORMAT_S16, 2, KERNELS (s16) },
  { GST_AUDIO_FORMAT_S24, 3, KERNELS (s24) },
  { GST_AUDIO_FORMAT_S24_32, 4, KERNELS (s24_32) },
  { GST_AUDIO_FORMAT_S32, 4, KERNELS (s32) },
  { GST_AUDIO_FORMAT_F32, 4, KERNELS (f32) },
  { GST_AUDIO_FORMAT_F64, 8, KERNELS (f64) },
};

static const GstAudioFormat results[] = { GST_AUDIO_FORMAT_U8,
  GST_AUDIO_FORMAT_S16, GST_AUDIO_FORMAT_S32, GST_AUDIO_FORMAT_F32,
  GST_AUDIO_FORMAT_F64 };

static guint
find_source (GstAudioFormat format)
{
  guint i = 0;

  while (i < G_N_ELEMENTS (sources) && sources[i].format != format)
    i++;
  return i;
}

gboolean
spdl_samples_can_read (GstAudioFormat format)
{
  return find_source (format) < G_N_ELEMENTS (sources);
}

static Kernel
find_kernel (guint source, GstAudioFormat format)
{
  guint i = 0;

  while (results[i] != format)
    g_assert (++i < G_N_ELEMENTS (results));
  return sources[source].to[i];
}

void
spdl_samples_write (const SpdlBlock *block, gsize from, gsize n,
    GstAudioFormat format, void *out)
{
  const guint source = find_source (block->format);
  const gsize size = sources[source].size;
  const guint8 *planes[SPDL_MAX_CHANNELS];

  if (block->planar) {
    for (guint c = 0; c < block->n_channels; c++)
      planes[c] = block->planes[c] + from * size;
    find_kernel (source, format) (planes, block->n_channels, n, out);
    return;
  }
  planes[0] = block->planes[0] + from * size * block->n_channels;
  if (block->format == format)
    memcpy (out, planes[0], n * size * block->n_channels);
  else
    find_kernel (source, format) (planes, 1, n * block->n_channels, out);
}
