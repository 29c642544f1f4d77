#!/usr/bin/python3
# gst-spdl: test of the resize against Pillow
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
#     resize-pillow.py RESIZE_RAW
#
# The results differ from Pillow's by at most one level, for noise and for smooth
# images. With NEAREST they are equal.
import os
import random
import shlex
import subprocess
import sys

try:
    from PIL import Image
except ImportError:
    print("1..0 # SKIP no Pillow")
    sys.exit(0)

# The emulator that runs programs for another CPU, in cross builds.
WRAPPER = shlex.split(os.environ.get("MESON_EXE_WRAPPER", ""))
FILTERS = {
    "NEAREST": (0, Image.NEAREST),
    "BILINEAR": (1, Image.BILINEAR),
    "BICUBIC": (2, Image.BICUBIC),
    "LANCZOS": (3, Image.LANCZOS),
}
SIZES = [
    ((500, 375), (224, 224)), ((375, 500), (224, 224)),
    ((333, 500), (224, 224)), ((224, 224), (256, 256)),
    ((224, 224), (224, 224)), ((256, 256), (224, 224)),
    ((1024, 768), (224, 224)), ((640, 480), (320, 240)),
    ((100, 300), (100, 77)), ((300, 100), (77, 100)),
    ((1, 1), (1, 1)), ((1, 1), (9, 7)), ((2, 3), (5, 1)), ((7, 5), (1, 1)),
    ((13, 17), (12, 18)), ((31, 33), (64, 63)), ((63, 65), (33, 31)),
    ((129, 2), (2, 129)), ((3, 200), (200, 3)), ((777, 9), (10, 10)),
    ((2000, 4), (3, 4)), ((4, 2000), (4, 3)), ((601, 399), (97, 101)),
    ((50, 50), (499, 501)), ((255, 257), (127, 129)), ((1200, 900), (7, 5)),
]
BOXES = 24
random.seed(20260601)


def noise(mode, size):
    n = size[0] * size[1] * len(mode)
    return Image.frombytes(mode, size, random.randbytes(n))


def smooth(mode, size):
    image = noise(mode, (max(size[0] // 8, 1), max(size[1] // 8, 1)))
    return image.resize(size, Image.BICUBIC)


def binary(mode, size):
    """Returns extreme values, the hardest case for filters with negative
    weights."""
    return noise(mode, size).point(lambda v: 255 * (v > 127))


def boxes():
    for _ in range(BOXES):
        size = (random.randint(1, 400), random.randint(1, 400))
        x, y = (random.randrange(side) for side in size)
        box = (x, y, random.randint(x + 1, size[0]),
               random.randint(y + 1, size[1]))
        yield size, (random.randint(1, 260), random.randint(1, 260)), box


def jobs():
    for size, out in SIZES:
        yield size, out, (0, 0) + size
    yield from boxes()


def resize(program, work):
    """Yields the results of resize-raw in order."""
    parts = []
    for image, number, out, (x0, y0, x1, y1) in work:
        pixels = image if image.mode == "L" else image.convert("RGBX")
        head = [number, len(pixels.getbands()), *image.size,
                x0, y0, x1 - x0, y1 - y0, *out]
        parts.append(" ".join(map(str, head)).encode() + b"\n")
        parts.append(pixels.tobytes())
    done = subprocess.run([*WRAPPER, program], input=b"".join(parts), check=True,
                          stdout=subprocess.PIPE).stdout
    at = 0
    for image, _, out, _ in work:
        n = out[0] * out[1] * len(image.getbands())
        yield done[at:at + n]
        at += n
    assert at == len(done)


def worst(ours, theirs):
    return max(map(abs, map(int.__sub__, ours, theirs)))


def check(program, name, mode):
    number, method = FILTERS[name]
    work = []
    for i, (size, out, box) in enumerate(jobs()):
        make = (noise, binary, smooth)[i % 3]
        work.append((make(mode, size), number, out, box))
    ok = True
    for (image, _, out, box), ours in zip(work, resize(program, work)):
        theirs = image.resize(out, method, box).tobytes()
        if ours == theirs:
            continue
        apart = worst(ours, theirs)
        if apart > (0 if name == "NEAREST" else 1):
            print(f"# {image.size} {box} to {out}: {apart} levels apart")
            ok = False
    return ok


def main():
    print(f"1..{len(FILTERS) * 2}")
    for i, (name, mode) in enumerate(
            (name, mode) for name in FILTERS for mode in ("RGB", "L")):
        ok = check(sys.argv[1], name, mode)
        print(f"{'ok' if ok else 'not ok'} {i + 1} - {name}, {mode}",
              flush=True)


main()
