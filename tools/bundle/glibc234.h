/* gst-spdl: symbol versions of glibc 2.34 for the wheel's libraries
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

/* The wheel requires only glibc 2.34; 2.35 has newer versions of hypot() and
 * hypotf(). */
#ifdef __ASSEMBLER__
/* FFmpeg's configure gives its options to the assembler, too. */
#elif defined __aarch64__
__asm__(".symver hypot, hypot@GLIBC_2.17");
__asm__(".symver hypotf, hypotf@GLIBC_2.17");
#else
__asm__(".symver hypot, hypot@GLIBC_2.2.5");
__asm__(".symver hypotf, hypotf@GLIBC_2.2.5");
#endif
