# gst-spdl: licences of the libraries in the wheel
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

from typing import Iterable

EITHER = "(GPL-2.0-or-later OR LGPL-3.0-or-later)"

# Debian's packages by the licence of what the wheel has of them, which excludes
# tests, programs and build files.
PACKAGES = {
    "LGPL-2.0-or-later": """glib-networking gstreamer1.0-libav
        gstreamer1.0-plugins-bad gstreamer1.0-plugins-base
        gstreamer1.0-plugins-good libgstreamer-plugins-bad1.0-0
        libgstreamer-plugins-base1.0-0 libgstreamer1.0-0 libsoup3""",
    "LGPL-2.1-or-later": """ffmpeg libblkid1 libglib2.0-0 libgnutls30
        libjson-glib-1.0-0 libmount1 libtasn1-6""",
    "LGPL-3.0-or-later": "libde265-0 libheif",
    "Apache-2.0": "libhwy1",
    EITHER: "libdw1 libelf1 libgmp10 libhogweed6 libidn2-0 libnettle8 "
            "libunistring2",
    "MIT": """libbrotli1 libdeflate0 libffi8 libgif7 libjansson4 libnghttp2-14
        libpsl5 libunwind8""",
    "BSD-2-Clause": "libarchive libavif libdav1d6 libopenjp2-7",
    "BSD-3-Clause": """jpeg-xl libimath-3-1-29 libogg0 libopenexr-3-1-30
        liborc-0.4-0 libp11-kit0 libpcre2-8-0 libwebp7 libwebpdemux2 libyuv0""",
    "(BSD-3-Clause OR GPL-2.0-only)": "libzstd1",
    "BSD-3-Clause AND IJG AND Zlib": "libjpeg62-turbo",
    "Zlib": "zlib1g",
    "bzip2-1.0.6": "libbz2-1.0",
    "libpng-2.0": "libpng16-16",
    "libselinux-1.0": "libselinux1",
    "libtiff": "tiff",
    "blessing": "libsqlite3-0",
    # Its library is in the public domain.
    "0BSD": "liblzma5",
}
_OF = {package: licence for licence, packages in PACKAGES.items()
       for package in packages.split()}


def find_licence(package: str) -> str:
    """Returns an SPDX expression."""
    if package not in _OF:
        raise SystemExit(f"tools/wheel: the licence of {package} is not stated: "
                         "read its copyright file, and add the package to "
                         "tools/bundle/licences.py")
    return _OF[package]


def join_licences(own: str, packages: Iterable[str]) -> str:
    """Returns the expression for the project, whose licence is @own, with
    @packages."""
    words = {word for package in packages
             for word in find_licence(package).split(" AND ")}
    return " AND ".join([own, *sorted(words - {own})])
