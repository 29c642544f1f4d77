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

/* Whether nothing else is made from it, so that it can be left out. This and
 * the next tell it of H.264 with lengths of @length_size bytes before its
 * units. */
gboolean
spdl_packet_is_spare (guint length_size, const guint8 *data, gsize size);

/* Whether it is called a key frame, but pictures are whole only some time after
 * it: H.264 that is refreshed little by little. */
gboolean
spdl_packet_is_gradual (guint length_size, const guint8 *data, gsize size);

/* The size of the lengths before units, from what goes with @caps; 0 if there
 * are start codes, or no units. */
guint spdl_packet_get_length_size (const GstCaps *caps);

G_END_DECLS

#endif /* __SPDL_PACKETBITS_H__ */
