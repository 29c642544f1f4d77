#!/usr/bin/python3
# gst-spdl: generator of 1,000 stills of all formats, 200 of which are bad
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""make-mixed.py FOLDER BASE writes the files, and list.txt with their URIs on a
server whose URIs begin with BASE. Good ones are good-N.EXT, with a
stripe on a color that depends on N; bad ones are bad-KIND-N.EXT."""

import io
import os
import random
import sys

from PIL import Image

FORMATS = {
    "jpg": ("JPEG", {"quality": 95}),
    "png": ("PNG", {}),
    "webp": ("WEBP", {"lossless": True}),
    "gif": ("GIF", {}),
    "bmp": ("BMP", {}),
    "tif": ("TIFF", {}),
}
random.seed(3)


def make(n, extension):
    """Returns an image of the color of @n, with some detail at its left."""
    width, height = 48 + n % 33, 40 + n % 21
    image = Image.new("RGB", (width, height), (n * 37 % 256, n * 91 % 256, n * 17 % 256))
    stripe = Image.frombytes("RGB", (12, height), random.randbytes(12 * height * 3))
    image.paste(stripe, (0, 0))
    out = io.BytesIO()
    name, options = FORMATS[extension]
    image.save(out, name, **options)
    return out.getvalue()


def cut_entropy(data, share):
    """Returns a JPEG truncated after a fraction of its entropy-coded data."""
    start = data.rindex(b"\xff\xda") + 14
    return data[: start + int((len(data) - 2 - start) * share)]


def break_crc(data):
    """Returns a PNG with one wrong byte of pixel data."""
    at = data.index(b"IDAT") + 20
    return data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]


def broken(kind, n, extension):
    data = make(n, extension)
    if kind == "truncated":
        return data[: len(data) // 2]
    if kind == "empty":
        return b""
    if kind == "random":
        return random.randbytes(2000)
    if kind == "text":
        return b"This is no picture, but a text about one.\n" * 20
    if kind == "entropy50":
        return cut_entropy(data, 0.5)
    if kind == "entropy90":
        return cut_entropy(data, 0.9)
    if kind == "crc":
        return break_crc(data)
    return data


def main(folder, base):
    extensions = list(FORMATS)
    lines = []

    def add(name, data, fault="file", count=0):
        if data is not None:
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)
        lines.append(f"{base}/{fault}/{count}/0/{name}\n")

    for n in range(800):
        extension = extensions[n % len(extensions)]
        add(f"good-{n}.{extension}", make(n, extension))
    only = {"entropy50": "jpg", "entropy90": "jpg", "crc": "png"}
    kinds = ["truncated", "empty", "random", "text", "entropy50", "entropy90", "crc"]
    for kind in kinds:
        for n in range(20):
            extension = only.get(kind, extensions[n % len(extensions)])
            add(f"bad-{kind}-{n}.{extension}", broken(kind, n, extension))
    for n in range(20):
        extension = extensions[n % len(extensions)]
        data = make(n, extension)
        add(f"bad-404-{n}.{extension}", None)
        add(f"bad-break-{n}.{extension}", data, "file", 999)
        add(f"bad-short-{n}.{extension}", data, "shortfile", 999)
    random.shuffle(lines)
    with open(os.path.join(folder, "list.txt"), "w", encoding="utf-8") as file:
        file.writelines(lines)


main(*sys.argv[1:])
