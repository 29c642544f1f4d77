/* gst-spdl: what a packet's bits say
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_PACKETBITS_H__
#define __SPDL_PACKETBITS_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* What can be told of a packet before it is decoded. @type: its media type,
 * interned. What is not known to be so is not so. */

/* Whether it is never shown: what other frames are made from, in VP8 and VP9.
 */
gboolean
spdl_packet_is_hidden (const gchar *type, const guint8 *data, gsize size);

/* How H.264 and H.265 come in units behind their lengths. */
typedef struct {
  guint length_size; /* 0: they are not known, or come in another way */
  gboolean is_h265;
} SpdlPacketUnits;

/* From what goes with @caps. */
SpdlPacketUnits spdl_packet_units_of (const GstCaps *caps);

/* Whether nothing else is made from it, so that it can be left out. */
gboolean spdl_packet_is_spare (
    const SpdlPacketUnits *units, const guint8 *data, gsize size);

/* Whether it is called a key frame, but is made from what was before it, or
 * pictures are whole only some time after it, since they are refreshed little
 * by little. */
gboolean spdl_packet_is_false_key (
    const SpdlPacketUnits *units, const guint8 *data, gsize size);

G_END_DECLS

#endif /* __SPDL_PACKETBITS_H__ */
