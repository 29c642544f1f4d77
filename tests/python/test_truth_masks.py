#!/usr/bin/python3
# gst-spdl: tests that masks and depth maps keep their values
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset, which is not needed here."""

import io
import itertools
import struct
import unittest
import warnings

import numpy as np
from PIL import Image
import support  # noqa: F401

from gstspdl import Loader, LoaderError, LoaderWarning, decode

RNG = np.random.default_rng(4)
# Depth in 1/256 m, 0 where it is unknown, as in KITTI.
DEPTH = np.where(RNG.random((37, 61)) < 0.3, 0,
                 RNG.integers(1, 1 << 16, (37, 61))).astype(np.uint16)
# Class times 1,000 plus number of the instance, or class, as in Cityscapes.
INSTANCES = np.array([[24001, 24002, 26000], [7, 0, 33018]], np.uint16)
# Classes and 255 for the border, as in Pascal VOC.
CLASSES = np.where(RNG.random((37, 61)) < 0.1, 255,
                   RNG.integers(0, 21, (37, 61))).astype(np.uint8)
PALETTE = [(i * 37 + channel * 91) % 256
           for i in range(256) for channel in range(3)]


def encode(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def make_palette_image(values):
    image = Image.fromarray(values, "P")
    image.putpalette(PALETTE)
    return image


def pam(values, largest):
    height, width = values.shape
    return (f"P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH 1\nMAXVAL {largest}\n"
            "TUPLTYPE GRAYSCALE\nENDHDR\n").encode() + \
        values.astype(">u2").tobytes()


def pgm(values, largest):
    height, width = values.shape
    kind = ">u2" if largest > 255 else "u1"
    return (f"P5 {width} {height} {largest}\n".encode() +
            values.astype(kind).tobytes())


def tiled_tiff(values, tile=16):
    """Neither Pillow nor NumPy writes these."""
    height, width = values.shape
    across, down = -(-width // tile), -(-height // tile)
    padded = np.zeros((down * tile, across * tile), "<u2")
    padded[:height, :width] = values
    tiles = [padded[y:y + tile, x:x + tile].tobytes()
             for y in range(0, down * tile, tile)
             for x in range(0, across * tile, tile)]
    n = len(tiles)
    start = 8 + 2 + 12 * 10 + 4
    offsets = [start + 8 * n + i * len(tiles[0]) for i in range(n)]
    entries = [(256, 1, width), (257, 1, height), (258, 1, 16), (259, 1, 1),
               (262, 1, 1), (277, 1, 1), (322, 1, tile), (323, 1, tile),
               (324, n, start if n > 1 else offsets[0]),
               (325, n, start + 4 * n if n > 1 else len(tiles[0]))]
    return (struct.pack("<2sHIH", b"II", 42, 8, len(entries)) +
            b"".join(struct.pack("<HHII", tag, 4, count, value)
                     for tag, count, value in entries) + bytes(4) +
            struct.pack(f"<{n}I", *offsets) +
            struct.pack(f"<{n}I", *[len(t) for t in tiles]) +
            b"".join(tiles))


def make_16_bit_files(values):
    image = Image.fromarray(values)
    yield "PNG", encode(image, "PNG")
    for packing in None, "tiff_lzw", "tiff_adobe_deflate", "packbits":
        yield f"TIFF {packing}", encode(image, "TIFF", compression=packing)
    yield "big-endian TIFF", encode(
        Image.fromarray(values.astype(">u2")), "TIFF")
    yield "tiled TIFF", tiled_tiff(values)
    yield "PGM", pgm(values, 65535)
    yield "PAM", pam(values, 65535)
    yield "PGM in text", ("P2\n# text\n{1} {0} 65535\n".format(*values.shape) +
                          " ".join(map(str, values.ravel()))).encode()
    yield "JPEG 2000", encode(image, "JPEG2000")


def make_index_files(values):
    image = make_palette_image(values)
    for kind in "PNG", "GIF", "BMP", "PCX", "TGA":
        yield kind, encode(image, kind)
    for packing in None, "tiff_lzw", "packbits":
        yield f"TIFF {packing}", encode(image, "TIFF", compression=packing)
    gray = Image.fromarray(values)
    for kind in "PNG", "TIFF", "PPM", "BMP", "JPEG2000":
        yield f"gray {kind}", encode(gray, kind)
    yield "PGM of few levels", pgm(values % 21, 20)


def nearest(begin, length, n):
    """Returns the places of n pixels. The sum is rounded as in Pillow."""
    return [int(place) for place in itertools.accumulate(
        [begin + length / n * 0.5] + [length / n] * (n - 1))]


def read(data, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = decode(data, **options).numpy()
    assert result.shape[2] == 1
    return result[..., 0]


def assert_is_format_error(test, error):
    cause = error.__cause__
    test.assertEqual((cause.domain, cause.code),
                     ("gst-stream-error-quark", 11))


class MasksTest(unittest.TestCase):
    def assert_values(self, wanted, found):
        self.assertEqual(found.dtype, wanted.dtype)
        np.testing.assert_array_equal(found, wanted)

    def test_16_bits(self):
        for values in DEPTH, INSTANCES:
            for kind, data in make_16_bit_files(values):
                if values is INSTANCES and kind == "JPEG 2000":
                    continue  # smaller than Pillow's coder allows
                with self.subTest(kind=kind):
                    self.assert_values(values, read(data, format="GRAY16"))

    def test_as_stored(self):
        """Tests that samples of fewer bits are not scaled."""
        values = DEPTH >> 4
        for data in pgm(values, 4095), pam(values, 4095):
            self.assert_values(values, read(data, format="GRAY16"))

    def test_indices(self):
        for kind, data in make_index_files(CLASSES):
            with self.subTest(kind=kind):
                wanted = CLASSES % 21 if "few" in kind else CLASSES
                if kind == "GIF":  # Pillow sorts the palette
                    wanted = np.asarray(Image.open(io.BytesIO(data)))
                caps = {"TGA": "image/x-tga", "PCX": "image/x-pcx"}.get(kind)
                if caps:  # formats without a signature
                    loader = Loader(
                        "spdldecode format=index ! spdlsink",
                        source=[data], caps=caps)
                    with loader:
                        found = [item["data"].numpy()[..., 0]
                                 for item in loader]
                    self.assertEqual(len(found), 1, loader.failures)
                    self.assert_values(wanted, found[0])
                else:
                    self.assert_values(wanted, read(data, format="index"))

    def test_few_bits(self):
        """Tests indices of 1, 2 and 4 bits."""
        for bits in 1, 2, 4:
            values = CLASSES % (1 << bits)
            image = make_palette_image(values)
            self.assert_values(values, read(
                encode(image, "PNG", bits=bits), format="index"))
        gray = Image.fromarray(CLASSES > 20)
        self.assert_values(np.asarray(gray).astype(np.uint8),
                           read(encode(gray, "PNG"), format="index"))
        self.assert_values(np.asarray(gray).astype(np.uint8),
                           read(encode(gray, "TIFF"), format="index"))

    def test_transparent_index(self):
        data = encode(make_palette_image(CLASSES), "PNG", transparency=3)
        self.assert_values(CLASSES, read(data, format="index"))

    def test_nearest(self):
        for values, options in (
                (CLASSES, {"format": "index"}),
                (DEPTH, {"format": "GRAY16", "interpolation": "nearest"})):
            image = Image.fromarray(values)
            data = encode(make_palette_image(values)
                          if values is CLASSES else image, "PNG")
            for size in (16, 12), (61, 9), (130, 77):
                wanted = values[np.ix_(nearest(0, 37, size[1]),
                                       nearest(0, 61, size[0]))]
                self.assert_values(wanted, read(
                    data, width=size[0], height=size[1], **options))

    def test_wider_images(self):
        """Memory that is kept for the next image must also hold a wider one."""
        for width in 3, 40, 2000, 60, 9000:
            values = np.arange(20 * width, dtype=np.uint8).reshape(20, width)
            found = read(encode(make_palette_image(values), "PNG"), width=7,
                         height=5, format="index")
            wanted = values[np.ix_(nearest(0, 20, 5), nearest(0, width, 7))]
            self.assert_values(wanted, found)

    def test_filters(self):
        """Tests 16 bits with filters, against Pillow's in floating point."""
        image = Image.fromarray(DEPTH.astype(np.float32), "F")
        data = encode(Image.fromarray(DEPTH), "PNG")
        for name, size in itertools.product(
                ("bilinear", "bicubic", "lanczos"), ((16, 12), (130, 77))):
            wanted = np.clip(image.resize(
                size, getattr(Image.Resampling, name.upper())), 0, 65535)
            found = read(data, format="GRAY16", interpolation=name,
                         width=size[0], height=size[1])
            self.assertLessEqual(np.abs(wanted - found).max(), 16)

    def test_orientation(self):
        for orientation in range(1, 9):
            exif = Image.Exif()
            exif[0x0112] = orientation
            for values, format in (CLASSES, "index"), (DEPTH, "GRAY16"):
                image = (make_palette_image(values) if format == "index"
                         else Image.fromarray(values))
                data = encode(image, "PNG", exif=exif)
                upright = {2: lambda a: a[:, ::-1],
                           3: lambda a: a[::-1, ::-1],
                           4: lambda a: a[::-1],
                           5: lambda a: a.T,
                           6: lambda a: a.T[:, ::-1],
                           7: lambda a: a.T[::-1, ::-1],
                           8: lambda a: a.T[::-1]}
                wanted = upright.get(orientation, lambda a: a)(values)
                self.assert_values(wanted, read(data, format=format))
                self.assert_values(values, read(
                    data, format=format, orientation="ignore"))

    def test_crops(self):
        """Tests random crops and flips in batches."""
        files = {"index": encode(make_palette_image(CLASSES), "PNG"),
                 "GRAY16": encode(Image.fromarray(DEPTH), "PNG")}
        for format, values in ("index", CLASSES), ("GRAY16", DEPTH):
            with Loader(
                    f"spdldecode format={format} interpolation=nearest "
                    "augment=random-resized-crop flip=0.5 width=20 height=16 "
                    "! spdlbatch batch-size=16 ! spdlsink",
                    source=[files[format]] * 16) as loader:
                batch, = loader
            self.assertEqual(batch["data"].shape, (16, 16, 20, 1))
            for item, extra in zip(batch["data"].numpy(), batch.extras):
                x, y, width, height = (
                    extra[f"crop-{name}"]
                    for name in ("x", "y", "width", "height"))
                wanted = values[np.ix_(nearest(y, height, 16),
                                       nearest(x, width, 20))]
                self.assert_values(
                    wanted[:, ::-1] if extra["flip"] else wanted,
                    item[..., 0])

    def test_background(self):
        """Tests that the border is a sample."""
        for values, options, border in (
                (CLASSES, {"format": "index"}, 255),
                (DEPTH, {"format": "GRAY16"}, 40000)):
            image = (make_palette_image(values) if border == 255
                     else Image.fromarray(values))
            found = read(encode(image, "PNG"), width=61, height=41,
                         resize="contain", background=border, **options)
            self.assert_values(values, found[2:39])
            self.assertEqual(set(found[[0, 1, 39, 40]].ravel()), {border})

    def test_part_of_a_file(self):
        """Tests on-corrupt=keep."""
        for data in (encode(Image.fromarray(DEPTH), "PNG")[:-1000],
                     pgm(DEPTH, 65535)[:-1000]):
            with self.assertRaises(LoaderError):
                read(data, format="GRAY16")
            found = read(data, format="GRAY16", on_corrupt="keep",
                         background=7)
            n_missing = (found == 7).all(axis=1).sum()
            self.assertIn(n_missing, range(8, 12))
            self.assert_values(DEPTH[:36 - n_missing], found[:36 - n_missing])
            self.assertEqual(set(found[37 - n_missing:].ravel()), {7})

    def test_refused(self):
        """Tests files without the wanted samples."""
        color = Image.fromarray(np.stack([CLASSES] * 3, -1))
        gray, mask = Image.fromarray(CLASSES), make_palette_image(CLASSES)
        depth = Image.fromarray(DEPTH)
        for format, image, kind in (
                ("index", color, "PNG"), ("index", color, "TIFF"),
                ("index", color, "BMP"), ("index", color, "PPM"),
                ("index", gray, "JPEG"), ("index", color, "WEBP"),
                ("index", gray.convert("LA"), "PNG"),
                ("index", depth, "PNG"), ("index", depth, "TIFF"),
                ("index", depth, "JPEG2000"), ("GRAY16", color, "PNG"),
                ("GRAY16", gray, "PNG"), ("GRAY16", gray, "PPM"),
                ("GRAY16", gray, "JPEG"), ("GRAY16", mask, "PNG"),
                ("GRAY16", mask, "GIF"), ("GRAY16", mask, "BMP")):
            with self.subTest(format=format, mode=image.mode, kind=kind):
                with self.assertRaises(LoaderError) as caught:
                    read(encode(image, kind), format=format)
                assert_is_format_error(self, caught.exception)

    def test_contradictions(self):
        data = encode(make_palette_image(CLASSES), "PNG")
        for options in ({"interpolation": "bicubic"}, {"background": 256},
                        {"num_frames": 2}):
            with self.assertRaises(LoaderError):
                read(data, format="index", **options)
        with self.assertRaises(LoaderError):
            read(data, format="GRAY16", background=65536)

    def test_warnings(self):
        """Tests that lost values are reported once in a loader."""
        depth = encode(Image.fromarray(DEPTH), "PNG")
        mask = encode(make_palette_image(CLASSES), "PNG")
        gray = encode(Image.fromarray(CLASSES), "PNG")
        for n, data, options in (
                (1, depth, "format=GRAY8"), (1, depth, ""),
                (0, depth, "format=GRAY16"),
                (1, mask, "format=GRAY8 interpolation=nearest"),
                (0, mask, "format=GRAY8"), (0, mask, ""),
                (0, mask, "format=index"),
                (0, gray, "format=GRAY8 interpolation=nearest"),
                (1, pgm(DEPTH, 65535), "format=GRAY8")):
            with self.subTest(options=options), \
                    warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                with Loader(f"spdldecode {options} ! spdlsink",
                            source=[data] * 3) as loader:
                    self.assertEqual(len(list(loader)), 3)
                found = [w for w in caught if w.category is LoaderWarning]
                self.assertEqual(len(found), n)


if __name__ == "__main__":
    unittest.main()
