#!/usr/bin/python3
# gst-spdl: tests of AVIF, HEIC and JPEG XL
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files are written by the encoders of Debian's libavif-bin, libheif-examples and
libjxl-tools. Lossless files give the pixels that were encoded; others those of the
library's own decoder."""

import shutil
import struct
import subprocess
import sys
import unittest
import warnings

import numpy as np
from gstspdl import Loader, LoaderWarning
from PIL import Image
from test_stills import UPRIGHT, StillsTest, make_picture, over

# The decoders that the build has.
FORMATS = "".join(sys.argv[1:]).split(",")
TOOLS = {"avif": ("avifenc", "avifdec"), "heic": ("heif-enc", "heif-convert"),
         "jxl": ("cjxl", "djxl")}
# Angle (anticlockwise quarters) and axis of the containers, and the same as an
# orientation of EXIF.
TURNS = {(0, None): 1, (1, None): 8, (2, None): 3, (3, None): 6, (0, 0): 4,
         (0, 1): 2, (1, 0): 5, (1, 1): 7, (2, 0): 2, (2, 1): 4, (3, 0): 7,
         (3, 1): 5}


def decodes(kind):
    """Tells whether the build has a decoder."""
    return {"heic": "heif"}.get(kind, kind) in FORMATS


def needs(kind):
    missing = [tool for tool in TOOLS[kind] if not shutil.which(tool)]
    return unittest.skipIf(missing or not decodes(kind),
                           f"no decoder or no {', '.join(missing)}")


def find_box(data, name, begin=0):
    """Returns where a box begins."""
    return data.index(name, begin) - 4


def grow(data, at, by):
    size, = struct.unpack(">I", data[at:at + 4])
    data[at:at + 4] = struct.pack(">I", size + by)


def turn_heic(content, angle, axis):
    """Adds properties to a file of heif-enc, which writes none."""
    data = bytearray(content)
    new = b"\0\0\0\x09irot" + bytes([angle])
    if axis is not None:
        new += b"\0\0\0\x09imir" + bytes([axis])
    ipco = find_box(data, b"ipco")
    size, = struct.unpack(">I", data[ipco:ipco + 4])
    n, at = 0, ipco + 8
    while at < ipco + size:
        n, at = n + 1, at + struct.unpack(">I", data[at:at + 4])[0]
    # The entry of the image that is displayed.
    shown = data[find_box(data, b"pitm") + 12:][:2]
    ipma = find_box(data, b"ipma")
    entry = ipma + 16
    while data[entry:entry + 2] != shown:
        entry += 3 + data[entry + 2]
    count = entry + 2
    added = bytes(range(n + 1, n + (2 if axis is None else 3)))
    end = count + 1 + data[count]
    data[count] += len(added)
    data[end:end] = added
    data[ipco + size:ipco + size] = new
    by = len(new) + len(added)
    grow(data, ipma + (len(new) if ipma > ipco else 0), len(added))
    grow(data, ipco, len(new))
    grow(data, find_box(data, b"iprp"), by)
    grow(data, find_box(data, b"meta"), by)
    # The data follows the boxes.
    iloc = find_box(data, b"iloc")
    offset = data.index(struct.pack(">I", content.index(b"mdat") + 4), iloc)
    grow(data, offset, by)
    return bytes(data)


class NewStillsTest(StillsTest):
    def run_tool(self, *command):
        subprocess.run(list(map(str, command)), check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def encode(self, name, image, *options):
        """Encodes an image without loss, unless options say otherwise."""
        source = self.path(name + ".png")
        image.save(source)
        kind = name.rpartition(".")[2]
        if kind == "avif":
            self.run_tool("avifenc", *(options or ["--lossless"]), source,
                          self.path(name))
        elif kind == "heic":
            self.run_tool("heif-enc", *(options or [
                "-L", "-p", "chroma=444", "--matrix_coefficients=0"]), "-o",
                self.path(name), source)
        else:
            self.run_tool("cjxl", *(options or ["-d", "0"]), source,
                          self.path(name))
        self.expected[name] = over(image)

    def decode_by_tool(self, name):
        """Returns what the library's own decoder makes of a file."""
        kind = name.rpartition(".")[2]
        to = self.path(name + ".out.png")
        self.run_tool(TOOLS[kind][1], self.path(name), to)
        return over(Image.open(to))

    def decode_array(self, name, form):
        """Returns the samples of one file."""
        self.expected = {name: None}
        listing = self.path("one.txt")
        listing.write_text(f"{name}\n")
        with Loader(f'spdlsrc location="{listing}" epochs=1 ! spdlfetch '
                    f"! spdldecode resize=none format={form} ! spdlsink"
                    ) as loader, warnings.catch_warnings():
            warnings.simplefilter("ignore", LoaderWarning)
            item = next(iter(loader))
            return np.array(item["data"]).squeeze().tolist()

    def add_kind(self, kind):
        for width, height in ((61, 47), (64, 48), (1, 1), (300, 200)):
            self.encode(f"rgb-{width}.{kind}", make_picture(width, height))
        self.encode(f"rgba.{kind}", make_picture(mode="RGBA"))
        self.encode(f"gray.{kind}", make_picture(mode="L"))

    def add_lossy(self, kind, *options):
        name = f"lossy.{kind}"
        self.encode(name, make_picture(128, 96), *options)
        self.expected[name] = self.decode_by_tool(name)

    def check_broken(self, kind):
        """Tests that half a file fails, or is kept, and that a large image is
        refused before it is decoded."""
        self.encode(f"whole.{kind}", make_picture(300, 200))
        data = self.path(f"whole.{kind}").read_bytes()
        self.expected = {}
        for n in (len(data) // 2, len(data) - 1, 40):
            self.add(f"{n}.{kind}", data[:n], None)
        results, failures = self.decode("resize=none")
        self.assertEqual(results, {})
        self.assertEqual(sorted(failures), sorted(self.expected))
        results, failures = self.decode("resize=none on-corrupt=keep")
        self.assertEqual(len(results) + len(failures), 3)
        for result in results.values():
            self.assertEqual(result.size, (300, 200))
        self.expected = {f"whole.{kind}": None}
        results, failures = self.decode("resize=none max-pixels=59999")
        self.assertIn("max-pixels", failures[f"whole.{kind}"])
        results, failures = self.decode("resize=none max-pixels=60000")
        self.assertEqual(failures, {})

    @needs("avif")
    def test_avif(self):
        self.add_kind("avif")
        self.add_lossy("avif", "--min", "20", "--max", "30", "-y", "420")
        self.check(tolerance=0)

    @needs("avif")
    def test_avif_of_more_bits(self):
        """Tests that values of 10 and 12 bits are rounded: a wrong shift would be
        off by a level."""
        image = make_picture()
        for depth in ("10", "12"):
            self.encode(f"{depth}.avif", image, "-d", depth, "--min", "0",
                        "--max", "0", "--cicp", "1/13/0", "-y", "444")
        self.check(tolerance=1)

    @needs("avif")
    def test_avif_turned(self):
        picture = make_picture()
        for (angle, axis), orientation in TURNS.items():
            name = f"{angle}-{axis}.avif"
            self.encode(name, picture, "--lossless", "--irot", angle,
                        *([] if axis is None else ["--imir", axis]))
            if orientation > 1:
                self.expected[name] = picture.transpose(UPRIGHT[orientation])
        self.check(tolerance=0)
        for name in self.expected:
            self.expected[name] = picture
        self.check("resize=none orientation=ignore", tolerance=0)

    @needs("avif")
    def test_avif_cropped(self):
        picture = make_picture(64, 48)
        self.encode("clap.avif", picture, "--lossless", "--crop", "4,6,40,30")
        self.expected["clap.avif"] = picture.crop((4, 6, 44, 36))
        self.check(tolerance=0)
        _, failures = self.decode("resize=none max-pixels=2000")
        self.assertIn("max-pixels", failures["clap.avif"])

    @needs("avif")
    def test_avif_grid_and_sequence(self):
        picture = make_picture(256, 256)
        self.encode("grid.avif", picture, "--lossless", "--grid", "2x2")
        other = self.path("other.png")
        picture.transpose(Image.ROTATE_180).save(other)
        self.encode("sequence.avif", picture, "--lossless", other)
        self.expected["sequence.avif"] = picture.transpose(Image.ROTATE_180)
        self.check(tolerance=0)

    @needs("avif")
    def test_avif_samples(self):
        gray = make_picture(mode="L")
        values = [list(gray.crop((0, y, 61, y + 1)).getdata())
                  for y in range(47)]
        self.encode("8.avif", gray, "--min", "0", "--max", "0", "-y", "400")
        self.assertEqual(self.decode_array("8.avif", "index"), values)
        self.encode("12.avif", gray, "-d", "12", "--min", "0", "--max", "0",
                    "-y", "400", "-r", "full")
        self.assertEqual(self.decode_array("12.avif", "GRAY16"),
                         [[(v * 4095 + 127) // 255 for v in row]
                          for row in values])
        self.encode("limited.avif", gray, "-d", "10", "-y", "400", "-r",
                    "limited")
        self.expected = {"limited.avif": None}
        _, failures = self.decode("resize=none format=GRAY16")
        self.assertIn("range", failures["limited.avif"])

    @needs("avif")
    def test_avif_broken(self):
        self.check_broken("avif")

    @needs("heic")
    def test_heic(self):
        self.add_kind("heic")
        self.add_lossy("heic", "-q", "50")
        self.check(tolerance=1)

    @needs("heic")
    def test_heic_turned(self):
        # A size that needs no clean aperture.
        picture = make_picture(128, 64)
        self.encode("flat.heic", picture)
        data = self.path("flat.heic").read_bytes()
        for (angle, axis), orientation in TURNS.items():
            self.add(f"{angle}-{axis}.heic", turn_heic(data, angle, axis),
                     picture if orientation == 1
                     else picture.transpose(UPRIGHT[orientation]))
        self.check(tolerance=1)
        for name in self.expected:
            self.expected[name] = picture
        self.check("resize=none orientation=ignore", tolerance=1)

    @needs("heic")
    def test_heic_broken(self):
        self.check_broken("heic")

    @needs("jxl")
    def test_jxl(self):
        self.add_kind("jxl")
        self.add_lossy("jxl", "-d", "1")
        self.check(tolerance=0)

    @needs("jxl")
    def test_jxl_turned(self):
        self.add_oriented(".jxl", lambda image, path, exif, _: (
            image.save(f"{path}.png", exif=exif),
            self.run_tool("cjxl", "-d", "0", f"{path}.png", path)))
        self.check(tolerance=0)

    @needs("jxl")
    def test_jxl_of_a_jpeg(self):
        """Tests a JPEG that was packed without loss."""
        source = self.path("source.jpg")
        make_picture(300, 200).save(source, quality=90)
        self.run_tool("cjxl", "-j", "1", source, self.path("packed.jxl"))
        self.expected["packed.jxl"] = self.decode_by_tool("packed.jxl")
        self.check(tolerance=0)

    @needs("jxl")
    def test_jxl_samples(self):
        values = [[(x * 1021 + y * 77) % 65536 for x in range(61)]
                  for y in range(47)]
        wide = Image.new("I;16", (61, 47))
        wide.putdata([v for row in values for v in row])
        self.encode("16.jxl", wide)
        self.assertEqual(self.decode_array("16.jxl", "GRAY16"), values)
        values = [[v % 1024 for v in row] for row in values]
        wide.putdata([(v * 65535 + 511) // 1023 for row in values for v in row])
        self.encode("10.jxl", wide, "-d", "0", "--override_bitdepth", "10")
        self.assertEqual(self.decode_array("10.jxl", "GRAY16"), values)

    @needs("jxl")
    def test_jxl_broken(self):
        self.check_broken("jxl")


# Only the tests of this file.
for test in [name for name in dir(StillsTest) if name.startswith("test_")]:
    setattr(NewStillsTest, test, None)

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], defaultTest="NewStillsTest")
