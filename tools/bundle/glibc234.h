/* gst-spdl: symbol versions of glibc 2.34 for the wheel's libraries
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

/* The wheel requires only glibc 2.34; 2.35 has a newer version of hypot(). */
__asm__ (".symver hypot, hypot@GLIBC_2.2.5");
