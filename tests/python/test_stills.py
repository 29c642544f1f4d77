#!/usr/bin/python3
# gst-spdl: tests of spdldecode against djpeg and Pillow
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Decodes stills of all formats sequentially in the same slot, and compares
them with reference decoders: no sample differs by more than two levels. JPEGs
are written by cjpeg and decoded by djpeg. Other files are written and decoded
by Pillow, except for PNGs that it cannot write, whose samples are known."""

import ctypes
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unittest
import warnings
import zlib

from accuracy import image_of
from gstspdl import Loader, LoaderError, LoaderWarning, versions
from PIL import Image, ImageChops, ImageOps

TOLERANCE = 2
SIZES = [(1, 1), (1, 2), (2, 1), (3, 5), (7, 7), (8, 8), (16, 9), (17, 31),
         (33, 16), (61, 47)]
# EXIF orientations and the transform from the file's rows to the upright
# image.
UPRIGHT = {2: Image.FLIP_LEFT_RIGHT, 3: Image.ROTATE_180,
           4: Image.FLIP_TOP_BOTTOM, 5: Image.TRANSPOSE, 6: Image.ROTATE_270,
           7: Image.TRANSVERSE, 8: Image.ROTATE_90}


def make_picture(width=61, height=47, mode="RGB"):
    """Makes gradients with enough detail to reveal a shift or a flip."""
    rng = random.Random(width * 1000 + height)
    image = Image.new("RGBA", (width, height))
    image.putdata([(255 * x // width, 255 * y // height,
                    (x * y * 7 + rng.randrange(20)) % 256, (x * 9 + y) % 256)
                   for y in range(height) for x in range(width)])
    return image if mode == "RGBA" else image.convert("RGB").convert(mode)


def openjpeg_decodes_parts():
    """Older versions read over the end of their memory."""
    library = ctypes.CDLL("libopenjp2.so.7")
    library.opj_version.restype = ctypes.c_char_p
    version = library.opj_version().decode().split(".")
    return tuple(map(int, version)) >= (2, 5, 3)


def over(image, background=(0, 0, 0)):
    """Blends an image with transparency over the background."""
    image = image.convert("RGBA")
    below = Image.new("RGBA", image.size, background + (255,))
    return Image.alpha_composite(below, image).convert("RGB")


def difference(a, b):
    return max(high for _, high in ImageChops.difference(a, b).getextrema())


class StillsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.expected = {}

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return pathlib.Path(self.folder.name) / name

    def add(self, name, content, expected):
        """Adds a file, given as bytes or as a function that writes it to a
        path."""
        if callable(content):
            content(self.path(name))
        else:
            self.path(name).write_bytes(content)
        self.expected[name] = expected

    def add_saved(self, name, image, **options):
        """Adds a file that Pillow writes and decodes."""
        image.save(self.path(name), **options)
        with Image.open(self.path(name)) as reread:
            self.expected[name] = over(ImageOps.exif_transpose(reread))

    def decode(self, properties, caps=""):
        """Returns the results by file name, and the errors of failed items."""
        listing = self.path("list.txt")
        listing.write_text("".join(f"{name}\n" for name in self.expected))
        results, failures = {}, {}
        with Loader(f'spdlsrc location="{listing}" epochs=1 '
                    f"! spdlfetch {caps} ! spdldecode {properties} "
                    "! spdlsink") as loader, warnings.catch_warnings():
            warnings.simplefilter("ignore", LoaderWarning)
            try:
                for item in loader:
                    results[os.path.basename(item.keys[0])] = image_of(item)
            except LoaderError as error:  # all items failed
                self.assertEqual(results, {}, error)
            for failure in loader.failures:
                failures[os.path.basename(failure.uri)] = failure.reason
            self.assertEqual(len(loader.failures), loader.num_failures)
        return results, failures

    def check(self, properties="resize=none", tolerance=TOLERANCE, caps=""):
        results, failures = self.decode(properties, caps)
        self.assertEqual(failures, {})
        self.assertEqual(sorted(results), sorted(self.expected))
        for name, expected in self.expected.items():
            with self.subTest(name):
                self.assertEqual(results[name].size, expected.size)
                self.assertLessEqual(difference(results[name], expected),
                                     tolerance)

    # JPEG

    def add_jpegs(self, label, options, sizes=SIZES):
        for width, height in sizes:
            source = self.path("source.ppm")
            make_picture(width, height).save(source)
            jpeg = subprocess.run(
                ["cjpeg", "-quality", "90", *options, source], check=True,
                capture_output=True).stdout
            name = f"{label}-{width}x{height}.jpg"
            self.path(name).write_bytes(jpeg)
            raw = self.path("raw.ppm")
            subprocess.run(["djpeg", "-pnm", "-outfile", raw, self.path(name)],
                           check=True)
            self.expected[name] = Image.open(raw).convert("RGB")

    def test_jpeg_subsamplings(self):
        for label, factors in (("444", "1x1"), ("422", "2x1"), ("420", "2x2"),
                               ("440", "1x2"), ("411", "4x1")):
            self.add_jpegs(label, ["-sample", factors])
            self.add_jpegs(f"p{label}", ["-sample", factors, "-progressive"])
        self.check()

    def test_jpeg_kinds(self):
        self.add_jpegs("gray", ["-grayscale"])
        self.add_jpegs("gray-progressive", ["-grayscale", "-progressive"])
        self.add_jpegs("restart", ["-restart", "1"])
        self.add_jpegs("restart-blocks", ["-restart", "3B"])
        self.add_jpegs("arithmetic", ["-arithmetic"])
        self.add_jpegs("optimized", ["-optimize"])
        self.check()

    def test_jpeg_cmyk(self):
        for size in SIZES:
            name = f"cmyk-{size[0]}x{size[1]}.jpg"
            make_picture(*size, "CMYK").save(self.path(name), quality=95)
            self.expected[name] = Image.open(self.path(name)).convert("RGB")
        self.check()

    def test_jpeg_harmless(self):
        """Tests defects that affect no pixel and are not failures."""
        self.add_jpegs("good", [], [(61, 47)])
        data = self.path("good-61x47.jpg").read_bytes()
        expected = self.expected["good-61x47.jpg"]
        self.add("behind.jpg", data + b"more" * 100, expected)
        self.add("no-end.jpg", data[:-2], expected)
        icc = b"\xff\xe2\0\x20ICC_PROFILE\0\1\7" + bytes(16)
        adobe = b"\xff\xee\0\x0eAdobe\0\1\2\3\4\5\1"
        exif = b"\xff\xe1\0\x14Exif\0\0MM\0*\xff\xff\xff\xff\0\1\0\0"
        for name, marker in (("icc", icc), ("exif", exif), ("adobe", adobe)):
            self.add(f"{name}.jpg", data[:2] + marker + data[2:], expected)
        self.check()

    # EXIF

    def add_oriented(self, label, write):
        picture = make_picture()
        for orientation in range(1, 9):
            upright = picture
            if orientation in UPRIGHT:
                upright = picture.transpose(UPRIGHT[orientation])
            exif = Image.Exif()
            exif[0x0112] = orientation
            name = f"{label.replace('.', f'-{orientation}.')}"
            write(picture, self.path(name), exif, orientation)
            self.expected[name] = upright

    def add_all_oriented(self):
        self.add_oriented(".png", lambda image, path, exif, _:
                          image.save(path, exif=exif))
        self.add_oriented(".webp", lambda image, path, exif, _:
                          image.save(path, exif=exif, lossless=True))
        self.add_oriented(".tif", lambda image, path, _, orientation:
                          image.save(path, tiffinfo={274: orientation}))

    def test_orientation(self):
        self.add_all_oriented()
        self.check(tolerance=0)

    def test_orientation_jpeg(self):
        self.add_oriented(".jpg", lambda image, path, exif, _:
                          image.save(path, exif=exif, quality=95))
        for name in self.expected:
            self.expected[name] = ImageOps.exif_transpose(
                Image.open(self.path(name)))
        self.check()

    def test_orientation_types(self):
        """Tests orientations of other integer types, which some cameras write."""
        picture = make_picture()
        picture.save(self.path("turned.png"), exif=b"Exif\0\0MM\0*" +
                     struct.pack(">IHHHIHH", 8, 1, 274, 3, 1, 6, 0))
        data = self.path("turned.png").read_bytes()
        entry = data.index(struct.pack(">HHI", 274, 3, 1))
        chunk = data.index(b"eXIf")
        for kind, value in ((1, b"\6\0\0\0"), (3, b"\0\6\0\0"),
                            (4, b"\0\0\0\6"), (8, b"\0\6\0\0"),
                            (9, b"\0\0\0\6")):
            other = (data[:entry + 2] + struct.pack(">H", kind) +
                     data[entry + 4:entry + 8] + value + data[entry + 12:])
            length, = struct.unpack(">I", other[chunk - 4:chunk])
            end = chunk + 4 + length
            self.add(f"{kind}.png", other[:end] + struct.pack(
                ">I", zlib.crc32(other[chunk:end])) + other[end + 4:],
                picture.transpose(UPRIGHT[6]))
        self.check(tolerance=0)

    def test_orientation_resized(self):
        """Tests that width and height are those of the upright image."""
        self.add_all_oriented()
        for name, upright in self.expected.items():
            self.expected[name] = upright.resize((20, 33), Image.BILINEAR)
        self.check("width=20 height=33")

    def test_orientation_one_bit(self):
        picture = make_picture(mode="1")
        for orientation in range(1, 9):
            name = f"bit-{orientation}.tif"
            picture.save(self.path(name), tiffinfo={274: orientation})
            upright = picture.convert("RGB")
            if orientation in UPRIGHT:
                upright = upright.transpose(UPRIGHT[orientation])
            self.expected[name] = upright
        self.check(tolerance=0)

    # PNG

    @staticmethod
    def png(width, height, depth, color_type, samples, interlaced=False,
            chunks=b""):
        """Returns a PNG. `samples` gives the values of the pixel at (x, y)."""
        def chunk(name, content):
            return (struct.pack(">I", len(content)) + name + content +
                    struct.pack(">I", zlib.crc32(name + content)))

        def row(values):
            bits = "".join(f"{value:0{depth}b}" for value in values)
            bits += "0" * (-len(bits) % 8)
            return b"\0" + int(bits, 2).to_bytes(len(bits) // 8, "big")

        passes = [(0, 0, 1, 1)]
        if interlaced:
            passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4),
                      (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
        raw = b""
        for x0, y0, dx, dy in passes:
            for y in range(y0, height, dy):
                if x0 < width:
                    raw += row([v for x in range(x0, width, dx)
                                for v in samples(x, y)])
        header = struct.pack(">IIBBBBB", width, height, depth, color_type, 0, 0,
                             interlaced)
        return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunks +
                chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))

    def add_pngs(self, color_type, channels, depth, size):
        rng = random.Random(depth)
        width, height = size
        most = (1 << depth) - 1
        pixels = [[[rng.randrange(most + 1) for _ in range(channels)]
                   for _ in range(width)] for _ in range(height)]
        expected = Image.new("RGBA", size)
        for y in range(height):
            for x in range(width):
                levels = [value * 255 / most for value in pixels[y][x]]
                alpha = levels.pop() / 255 if channels in (2, 4) else 1
                levels = [round(level * alpha) for level in levels]
                expected.putpixel((x, y), tuple(
                    levels * (1 if channels > 2 else 3)))
        for interlaced in (False, True):
            name = (f"c{color_type}-{depth}-{width}"
                    f"{'-interlaced' if interlaced else ''}.png")
            self.add(name, self.png(width, height, depth, color_type,
                                    lambda x, y: pixels[y][x], interlaced),
                     expected.convert("RGB"))

    def test_png_samples(self):
        """Tests every sample type, interlaced and not."""
        for color_type, channels, depths in (
                (0, 1, (1, 2, 4, 8, 16)), (2, 3, (8, 16)), (4, 2, (8, 16)),
                (6, 4, (8, 16))):
            for depth in depths:
                for size in ((1, 1), (5, 3), (37, 23)):
                    self.add_pngs(color_type, channels, depth, size)
        self.check()

    def test_png_palettes(self):
        picture = make_picture()
        for colors in (2, 4, 16, 256):
            image = picture.quantize(colors)
            self.add_saved(f"p{colors}.png", image)
            self.add_saved(f"p{colors}-clear.png", image, transparency=1)
            self.add_saved(f"p{colors}-part.png", image,
                           transparency=bytes(range(0, 256, 256 // colors)))
        self.check()

    def test_png_transparent_colors(self):
        self.add_saved("rgb.png", make_picture(), transparency=(0, 0, 0))
        self.add_saved("gray.png", make_picture(mode="L"), transparency=3)
        self.check()

    # Other formats

    def add_modes(self, suffix, modes, **options):
        for mode in modes:
            for size in ((1, 1), (5, 3), (61, 47)):
                name = f"{len(self.expected)}-{mode}-{size[0]}.{suffix}"
                self.add_saved(name, make_picture(*size, mode), **options)

    def test_png_modes(self):
        self.add_modes("png", ("1", "L", "LA", "P", "RGB", "RGBA"))
        self.check()

    def test_bmp(self):
        self.add_modes("bmp", ("1", "L", "P", "RGB"))
        self.check(tolerance=0)

    def test_bmp_unused_byte(self):
        """Tests that the fourth byte of 32-bit pixels without masks is not
        alpha."""
        picture = make_picture()
        width, height = picture.size
        rows = b"".join(bytes((b, g, r, (x + y) % 256))
                        for y in reversed(range(height)) for x in range(width)
                        for r, g, b in [picture.getpixel((x, y))])
        self.add("a.bmp", b"BM" + struct.pack(
            "<IIIIiiHHIIiiII", 54 + len(rows), 0, 54, 40, width, height, 1, 32,
            0, len(rows), 0, 0, 0, 0) + rows, picture)
        self.check(tolerance=0)

    def test_tga_alpha(self):
        """Tests gray with alpha, with and without run-length encoding,
        top-down and bottom-up."""
        picture = make_picture(mode="RGBA").convert("LA")
        for packing in None, "tga_rle":
            for orientation in 1, -1:
                self.add_saved(f"{packing}{orientation}.tga", picture,
                               compression=packing, orientation=orientation,
                               id_section=b"a name")
        self.check(caps="caps=image/x-tga", tolerance=0)
        for name in list(self.expected):
            data = self.path(name).read_bytes()
            self.path(name).write_bytes(data[:len(data) // 2])
        _, failures = self.decode("", "caps=image/x-tga")
        self.assertEqual(sorted(failures), sorted(self.expected))

    def test_gif(self):
        self.add_modes("gif", ("1", "L", "P", "RGB"))
        picture = make_picture()
        self.add_saved("interlaced.gif", picture, interlace=1)
        self.add_saved("clear.gif", picture.quantize(16), transparency=2)
        self.check(tolerance=0)

    def test_gif_canvas(self):
        """Tests that the result has the size of the canvas. Frames are clipped
        to it, and the background shows around the first frame and through its
        transparent pixels."""
        picture = make_picture(20, 10).quantize(16)
        picture.save(self.path("source.gif"), transparency=3, interlace=0)
        data = self.path("source.gif").read_bytes()
        place = data.index(struct.pack("<BHHHH", 0x2c, 0, 0, 20, 10)) + 1
        clear = picture.convert("RGBA")
        clear.putdata([(*color[:3], 0 if index == 3 else 255)
                       for color, index in zip(clear.getdata(),
                                               picture.getdata())])
        for width, height, left, top in ((40, 30, 7, 5), (40, 30, 20, 20),
                                         (10, 8, 0, 0), (10, 8, 11, 13),
                                         (40, 10, 0, 0), (20, 30, 0, 20)):
            whole = Image.new("RGBA", (max(width, left + 20),
                                       max(height, top + 10)))
            whole.paste(clear, (left, top))
            self.add(f"{width}-{left}-{top}.gif",
                     data[:6] + struct.pack("<HH", width, height) +
                     data[10:place] + struct.pack("<HH", left, top) +
                     data[place + 4:], over(whole, (0x33, 0x66, 0x99)))
        self.check("resize=none background=0x336699", tolerance=0)

    def cut(self, name, data, begin):
        """Adds a file cut at ten positions after its header."""
        for i in range(10):
            end = begin + (len(data) - begin) * i // 10
            self.add(f"{i}-{name}", data[:end], None)

    def check_kept(self, name, whole, order, least):
        """Tests that the first rows in the order of the file are delivered, at
        least so many, and background for the others."""
        results, failures = self.decode(
            "resize=none on-corrupt=keep background=0x336699")
        self.assertEqual(failures, {})
        wide = whole.width
        background = Image.new("RGB", (wide, 1), (0x33, 0x66, 0x99))
        for i, n in enumerate(least):
            kept = results[f"{i}-{name}"]
            rows = [kept.crop((0, y, wide, y + 1)) for y in range(whole.height)]
            good = [y for y, row in enumerate(rows) if difference(
                row, whole.crop((0, y, wide, y + 1))) == 0]
            empty = [y for y, row in enumerate(rows)
                     if difference(row, background) == 0]
            self.assertEqual(good, sorted(order[:len(good)]), i)
            self.assertEqual(empty, sorted(order[len(good):]), i)
            self.assertGreaterEqual(len(good), n, i)
        _, failures = self.decode("")
        self.assertEqual(sorted(failures), sorted(self.expected))

    def test_gif_kept(self):
        rng = random.Random(3)
        noise = Image.frombytes("L", (64, 48), rng.randbytes(64 * 48))
        for interlace, steps in (0, ((0, 1),)), (1, ((0, 8), (4, 8), (2, 4),
                                                     (1, 2))):
            self.expected = {}
            noise.save(self.path("rows.gif"), interlace=interlace)
            data = self.path("rows.gif").read_bytes()
            begin = data.index(struct.pack("<BHHHH", 0x2c, 0, 0, 64, 48)) + 11
            self.cut("rows.gif", data, begin)
            # giflib reads blocks of 255 bytes.
            self.check_kept("rows.gif", noise.convert("RGB"),
                            [y for first, step in steps
                             for y in range(first, 48, step)],
                            [48 * i // 10 - 4 for i in range(10)])

    def test_tiff(self):
        for compression in (None, "tiff_lzw", "tiff_deflate", "packbits"):
            self.add_modes("tif", ("L", "P", "RGB", "RGBA", "CMYK"),
                           compression=compression)
        # State of one file must not affect the next.
        self.add_modes("tif", ("RGB",), compression="tiff_lzw",
                       tiffinfo={317: 2})
        self.add_modes("tif", ("P", "RGB", "L"), compression="tiff_lzw")
        self.add_modes("tif", ("1",))
        self.add_modes("tif", ("1",), compression="group4")
        self.add_modes("tif", ("RGB",), compression="jpeg")
        self.check()

    @staticmethod
    def tiff(image, order, bits, photometric, values, extra=None):
        """Returns an uncompressed TIFF of one strip with the pixels `values`."""
        width, height = image.size
        kind = order + {8: "B", 16: "H"}[bits]
        pixels = b"".join(struct.pack(kind, v) for v in values)
        samples = len(values) // (width * height)
        tags = [(256, 4, width), (257, 4, height), (258, 3, bits),
                (259, 3, 1), (262, 3, photometric), (273, 4, 200),
                (277, 3, samples), (279, 4, len(pixels)), (284, 3, 1)]
        if samples > 1:  # shorts outside of the entry
            tags[2] = (258, 3, 180)
        if extra is not None:
            tags.append((338, 3, extra))
        directory = struct.pack(order + "H", len(tags))
        for tag, size, value in tags:
            short = size == 3 and (tag != 258 or samples == 1)
            directory += struct.pack(
                order + "HHI", tag, size, samples if tag == 258 else 1)
            directory += struct.pack(order + ("HH" if short else "I"),
                                     *((value, 0) if short else (value,)))
        if samples == 2:  # both fit into the entry
            at = directory.index(struct.pack(order + "HHI", 258, 3, 2)) + 8
            directory = (directory[:at] + struct.pack(order + "HH", bits, bits)
                         + directory[at + 4:])
        mark = b"II*\0" if order == "<" else b"MM\0*"
        head = mark + struct.pack(order + "I", 8) + directory
        head = head.ljust(180, b"\0")
        head += struct.pack(f"{order}{samples}H", *[bits] * samples)
        return head.ljust(200, b"\0") + pixels

    def add_copies(self, name, data, expected, kinds):
        """Adds files that tiffcp makes from `data`, with the options `kinds`."""
        source = self.path("source")
        source.write_bytes(data)
        for kind in kinds:
            self.add(f"{name}{''.join(kind)}.tif", lambda to, kind=kind:
                     subprocess.run(["tiffcp", *kind, source, to], check=True),
                     expected)

    def test_tiff_tiles(self):
        """Tests rows and columns of tiles, the last of which exceed the edge."""
        picture = make_picture()
        rgb = [v for pixel in picture.getdata() for v in pixel]
        tiles = ("-t", "-w", "16", "-l", "32")
        self.add_copies(
            "rgb", self.tiff(picture, "<", 8, 2, rgb), picture,
            [(*tiles, "-c", packing, "-p", planes) for planes in
             ("contig", "separate") for packing in ("none", "lzw", "zip")])
        gray = picture.convert("L")
        self.add_copies("gray", self.tiff(picture, ">", 8, 1, gray.getdata()),
                        gray.convert("RGB"), [(*tiles, "-c", "none")])
        for order, name in ("<", "little"), (">", "big"):
            self.add_copies(
                f"gray16-{name}",
                self.tiff(picture, order, 16, 1,
                          [v * 257 for v in gray.getdata()]),
                gray.convert("RGB"),
                [(*tiles, "-c", packing) for packing in ("none", "lzw")])
            self.add_copies(
                f"more-{name}",
                self.tiff(picture, order, 8, 1,
                          [v for value in gray.getdata() for v in (value, 7)],
                          0),
                gray.convert("RGB"), [(*tiles, "-c", "none")])
        self.check(tolerance=0)

    def test_tiff_layouts(self):
        """Tests planes, predictors, byte orders and BigTIFF."""
        picture = make_picture()
        rgb = [v for pixel in picture.getdata() for v in pixel]
        kinds = [("-c", packing, "-r", rows) for packing in
                 ("none", "lzw:2", "zip:2", "packbits")
                 for rows in ("1", "5", "100")]
        self.add_copies("planes", self.tiff(picture, "<", 8, 2, rgb), picture,
                        [("-p", "separate", *kind) for kind in kinds])
        kinds += [("-8",), ("-B",), ("-L",), ("-8", "-B", "-c", "lzw:2")]
        for bits in 8, 16:
            values = [v * 257 for v in rgb] if bits == 16 else rgb
            self.add_copies(f"rgb{bits}",
                            self.tiff(picture, "<", bits, 2, values), picture,
                            kinds)
        self.check(tolerance=0)

    def test_tiff_alpha(self):
        """Tests colors with premultiplied and with straight alpha."""
        picture = make_picture(mode="RGBA")
        plain = [v for pixel in picture.getdata() for v in pixel]
        multiplied = [v for *rgb, a in picture.getdata()
                      for v in (*[(c * a + 127) // 255 for c in rgb], a)]
        kinds = [("-c", "none"), ("-c", "lzw:2"), ("-t", "-w", "16", "-l", "16")]
        for bits in 8, 16:
            for extra, values, expected in (
                    (2, plain, over(picture)), (1, multiplied, over(picture)),
                    (0, plain, picture.convert("RGB"))):
                if bits == 16:
                    values = [v * 257 for v in values]
                self.add_copies(
                    f"{bits}-{extra}",
                    self.tiff(picture, "<", bits, 2, values, extra), expected,
                    kinds)
        gray = picture.convert("LA")
        self.add_copies(
            "gray", self.tiff(picture, "<", 8, 1, [v for pixel in gray.getdata()
                                                   for v in pixel], 2),
            over(gray), [(), ("-p", "separate"), kinds[-1]])
        self.check(tolerance=1)

    def test_tiff_refused(self):
        """Tests images of which libtiff would give wrong pixels."""
        picture = make_picture()
        gray = list(picture.convert("L").getdata())
        self.add("gray16.tif", self.tiff(
            picture, "<", 16, 1, [v for g in gray for v in (g * 257, 9)], 2),
            picture)
        self.add("gray-more.tif", self.tiff(
            picture, "<", 8, 1, [v for g in gray for v in (g, 9, 9)], 2),
            picture)
        self.add("cmyk.tif", self.tiff(
            picture, "<", 8, 5, [v for g in gray for v in (g, g, g, g, 9)], 2),
            picture)
        _, failures = self.decode("")
        self.assertEqual(sorted(failures), sorted(self.expected))

    def test_tiff_kept(self):
        """Tests that the available rows of a truncated TIFF are delivered."""
        picture = make_picture()
        rgb = [v for pixel in picture.getdata() for v in pixel]
        data = self.tiff(picture, "<", 8, 2, rgb)
        self.add("cut.tif", data[:len(data) - 61 * 3 * 20], picture)
        results, failures = self.decode("on-corrupt=keep background=0x336699")
        self.assertEqual(failures, {})
        box = (0, 0, 61, 27)
        kept = results["cut.tif"]
        self.assertEqual(difference(kept.crop(box), picture.crop(box)), 0)
        self.assertEqual(kept.crop((0, 27, 61, 47)).getextrema(),
                         ((0x33, 0x33), (0x66, 0x66), (0x99, 0x99)))
        _, failures = self.decode("")
        self.assertEqual(sorted(failures), ["cut.tif"])

    @staticmethod
    def halve_strip(data):
        """Moves the strip of a TIFF to the end, and cuts it in half."""
        at, = struct.unpack("<I", data[4:8])
        entries = list(range(at + 2, len(data) - 4, 12))
        entry = next(e for e in entries if data[e:e + 2] == b"\x11\x01")
        size = next(e for e in entries if data[e:e + 2] == b"\x17\x01")
        first, length = (
            struct.unpack("<H" if data[e + 2] == 3 else "<I",
                          data[e + 8:e + (10 if data[e + 2] == 3 else 12)])[0]
            for e in (entry, size))
        moved = struct.pack("<HHII", 273, 4, 1, len(data))
        return (data[:entry] + moved + data[entry + 12:]
                + data[first:first + length // 2])

    def test_tiff_kept_of_a_compressed_strip(self):
        picture = make_picture(61, 400)
        source = self.path("source")
        source.write_bytes(self.tiff(
            picture, "<", 8, 2,
            [v for pixel in picture.getdata() for v in pixel]))
        for packing in "lzw:1", "lzw:2", "zip:1", "zip:2", "packbits":
            whole = self.path("whole.tif")
            subprocess.run(["tiffcp", "-c", packing, "-r", "400", source,
                            whole], check=True)
            self.add(f"{packing.replace(':', '')}.tif",
                     self.halve_strip(whole.read_bytes()), picture)
        whole.unlink()
        results, failures = self.decode(
            "resize=none on-corrupt=keep background=0x336699")
        self.assertEqual(failures, {})
        self.assertEqual(sorted(results), sorted(self.expected))
        background = Image.new("RGB", (61, 1), (0x33, 0x66, 0x99))
        for name, kept in results.items():
            rows = [kept.crop((0, y, 61, y + 1)) for y in range(400)]
            good = [difference(row, picture.crop((0, y, 61, y + 1))) == 0
                    for y, row in enumerate(rows)]
            empty = [difference(row, background) == 0 for row in rows]
            with self.subTest(name):
                self.assertGreater(sum(good), 100)
                self.assertGreater(sum(empty), 100)
                self.assertEqual(sum(good) + sum(empty), 400)

    def test_tiff_hostile(self):
        """Tests that sizes in a header allocate no memory, and that the error
        names unsupported features."""
        picture = make_picture(8, 8)
        gray = self.tiff(picture, "<", 8, 1, [7] * 64)

        def claim(tag, value):
            at = gray.index(struct.pack("<H", tag), 10) + 8
            return gray[:at] + struct.pack("<I", value) + gray[at + 4:]

        for name, data in (("wide", claim(256, 2 ** 31)),
                           ("samples", claim(277, 65535)),
                           ("bits", claim(258, 32)),
                           ("colors", claim(262, 32803)),
                           ("packing", claim(259, 34712)),
                           ("strip", claim(273, 2 ** 31))):
            self.add(f"{name}.tif", data, picture)
        results, failures = self.decode("max-pixels=1000000")
        self.assertEqual(results, {})
        self.assertEqual(sorted(failures), sorted(self.expected))

    def test_webp(self):
        self.add_modes("webp", ("RGB", "RGBA"), lossless=True)
        self.add_modes("webp", ("RGB", "RGBA"), quality=80)
        self.check()

    def test_pnm(self):
        if "ffmpeg" not in versions():  # a wheel, which lacks gdk-pixbuf
            self.add_modes("pbm", ("1",))
        self.add_modes("pgm", ("L",))
        self.add_modes("ppm", ("RGB",))
        self.check(tolerance=0)

    def test_pnm_of_fewer_values(self):
        """FFmpeg turns white of some of them into black."""
        if "ffmpeg" in versions():  # a wheel, which lacks gdk-pixbuf
            self.skipTest("there is no gdk-pixbuf")
        picture = make_picture()
        for most in 15, 100, 127, 207, 254:
            for name, kind, image in (("pgm", 5, picture.convert("L")),
                                      ("ppm", 6, picture)):
                data = bytes(v * most // 255 for v in image.tobytes())
                back = bytes(v * 255 // most for v in data)
                self.add(f"{most}.{name}",
                         b"P%d %d %d %d\n" % (kind, *image.size, most) + data,
                         Image.frombytes(image.mode, image.size,
                                         back).convert("RGB"))
        for most in 1023, 32925, 60000:
            self.add(f"{most}.pgm", b"P5 8 8 %d\n" % most
                     + struct.pack(">H", most) * 64,
                     Image.new("RGB", (8, 8), (255, 255, 255)))
        self.check(tolerance=1)

    def test_nearest_of_a_crop(self):
        """Positions are added up like those of Pillow, also before the crop."""
        picture = Image.frombytes(
            "L", (2048, 1024), random.Random(1).randbytes(2048 * 1024))
        expected = picture.resize((448, 224), Image.NEAREST)
        self.add("wide.png", lambda to: picture.save(to, compress_level=1),
                 expected.crop((112, 0, 336, 224)).convert("RGB"))
        self.check("width=224 height=224 resize=cover interpolation=nearest",
                   tolerance=0)

    def test_one_row(self):
        """GstVideoConverter takes the row of one image for the next."""
        for value in 0, 255, 70:
            image = Image.new("L", (300, 1), value).convert("P")
            self.add(f"{value}.bmp", lambda to, image=image: image.save(to),
                     image.convert("RGB"))
        self.check(tolerance=0)

    def test_jpeg_2000(self):
        self.add_modes("jp2", ("L", "LA", "RGB", "RGBA"))
        self.add_modes("j2k", ("L", "RGB"))
        picture = make_picture()
        for name, options in (
                ("tiles.jp2", {"tile_size": (16, 32)}),
                ("far.jp2", {"offset": (5, 3), "tile_size": (32, 32),
                             "tile_offset": (2, 1)}),
                ("colors.jp2", {"mct": 0})):
            self.add_saved(name, picture, **options)
        self.check(tolerance=0)

    def test_jpeg_2000_truncated(self):
        """Tests that a truncated file fails, or that its available part is
        kept."""
        picture = make_picture()
        for name, options in (("a.jp2", {}), ("b.j2k", {}),
                              ("c.jp2", {"tile_size": (16, 16)})):
            picture.save(self.path(name), **options)
            data = self.path(name).read_bytes()
            self.path(name).unlink()
            for i, end in enumerate((-1, -40, len(data) * 2 // 3, 120, 20)):
                self.add(f"{i}-{name}", data[:end], picture)
        results, failures = self.decode("")
        self.assertEqual(results, {})
        self.assertEqual(sorted(failures), sorted(self.expected))
        kept, failures = self.decode("on-corrupt=keep background=0x336699")
        try:
            decodes_parts = openjpeg_decodes_parts()
        except OSError:  # a wheel, in which the library has another name
            self.skipTest("the version of OpenJPEG is unknown")
        if not decodes_parts:
            for image in kept.values():
                self.assertEqual(image.getextrema(),
                                 ((0x33, 0x33), (0x66, 0x66), (0x99, 0x99)))
            return
        for name in ("0-a.jp2", "0-b.j2k", "0-c.jp2"):
            self.assertEqual(difference(kept[name], picture), 0, name)
        box = (0, 0, 61, 16)
        self.assertEqual(
            difference(kept["2-c.jp2"].crop(box), picture.crop(box)), 0)
        self.assertNotIn("2-a.jp2", failures)

    def test_jpeg_2000_memory_limit(self):
        """Tests that memory is limited to what the size of the file allows."""
        make_picture().save(self.path("a.j2k"))
        data = self.path("a.j2k").read_bytes()
        self.path("a.j2k").unlink()
        for name, at, value in (
                ("width", 8, struct.pack(">I", 2 ** 31)),
                ("channels", 40, struct.pack(">H", 16384)),
                ("tiles", 8, struct.pack(">6I", 5000, 5000, 0, 0, 1, 1)),
                ("more-tiles", 24, struct.pack(">II", 16, 16)),
                ("no-tiles", 24, bytes(8))):
            self.add(f"{name}.j2k",
                     data[:at] + value + data[at + len(value):], None)
        _, failures = self.decode("max-pixels=1000000000")
        self.assertEqual(sorted(failures), sorted(self.expected))

    def test_sixteen_bits(self):
        gray = Image.new("I;16", (61, 47))
        for y in range(47):
            for x in range(61):
                gray.putpixel((x, y), x * y * 22)
        levels = Image.new("L", gray.size)
        levels.putdata([value // 257 for value in gray.getdata()])
        for suffix in ("png", "tif", "jp2"):
            gray.save(self.path(f"gray.{suffix}"))
            self.expected[f"gray.{suffix}"] = levels.convert("RGB")
        self.check()

    def test_truncated_png(self):
        rng = random.Random(7)
        size = (64, 48)
        noise = Image.frombytes("RGB", size, rng.randbytes(64 * 48 * 3))
        row, half = 1 + 64 * 3, 1 + 32 * 3
        for interlaced in False, True:
            self.expected = {}
            data = self.png(*size, 8, 2, lambda x, y: noise.getpixel((x, y)),
                            interlaced)
            begin = data.index(b"IDAT") + 4
            self.cut("rows.png", data, begin)
            order = [*range(0, 48, 2), *range(1, 48, 2)] if interlaced \
                else list(range(48))
            least = []
            for name in self.expected:
                n = len(zlib.decompressobj().decompress(
                    self.path(name).read_bytes()[begin:]))
                if interlaced:
                    # The first five passes complete no row, and the sixth has
                    # halves of the even rows.
                    n -= 12 * (1 + 8 * 3) + 18 * (1 + 16 * 3) + 12 * half
                    n += min(n, 24 * half) // half * (row - half)
                least.append(n // row - 1)
            self.check_kept("rows.png", noise, order, least)

    def test_formats_without_signature(self):
        """Tests formats that only caps identify."""
        picture = make_picture()
        for suffix, caps in (("tga", "image/x-tga"), ("pcx", "image/x-pcx"),
                             ("sgi", "image/x-sgi")):
            self.expected = {}
            self.add_saved(f"a.{suffix}", picture)
            self.check(caps=f"caps={caps}", tolerance=0)
            _, failures = self.decode("max-pixels=2866", f"caps={caps}")
            self.assertIn("61 by 47", failures[f"a.{suffix}"])

    def test_background(self):
        picture = make_picture(mode="RGBA")
        for name, options in (("a.png", {}), ("a.webp", {"lossless": True}),
                              ("a.tif", {}), ("a.jp2", {})):
            picture.save(self.path(name), **options)
            self.expected[name] = over(picture, (0x33, 0x66, 0x99))
        picture.convert("RGB").quantize(16).save(
            self.path("a.gif"), transparency=2)
        self.expected["a.gif"] = over(Image.open(self.path("a.gif")),
                                      (0x33, 0x66, 0x99))
        self.check("resize=none background=0x336699")
        self.expected = {name: image.resize((20, 20), Image.BILINEAR)
                         for name, image in self.expected.items()}
        self.check("width=20 height=20 background=0x336699")

    def test_animations(self):
        """Tests that the first frame is delivered."""
        frames = [make_picture(), make_picture().transpose(Image.ROTATE_180)]
        for name, options in (("a.gif", {}), ("a.png", {}),
                              ("a.webp", {"lossless": True})):
            self.add_saved(name, frames[0], save_all=True,
                           append_images=frames[1:], **options)
        # An animation whose first frame is a part of the canvas.
        small = Image.new("RGBA", (61, 47))
        small.paste(make_picture(20, 10), (4, 6))
        self.add_saved("part.webp", small, save_all=True,
                       append_images=[make_picture(mode="RGBA")], lossless=True)
        self.assertIn(b"ANMF", self.path("part.webp").read_bytes())
        self.check()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
