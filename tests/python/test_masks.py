#!/usr/bin/python3
# gst-spdl: tests of instance masks that move with their image
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""masks-expected.json has masks of pycocotools, and what torchvision.transforms.v2
makes of them, with NEAREST_EXACT where it resizes. Masks are COCO's RLE."""

import json
import pathlib
import sys
import tempfile
import unittest

import numpy
from PIL import Image

from boxes_cases import CASES, HEIGHT, WIDTH, make_image, write_list
from gstspdl import Loader, LoaderError, Pipeline

EXPECTED = json.loads(
    pathlib.Path(__file__).with_name("masks-expected.json").read_text())
SQUARE = [[10, 10, 50, 10, 50, 50, 10, 50]]


def decode(counts, size):
    """Reads COCO's compressed RLE."""
    runs, value, shift = [], 0, 0
    for bits in (ord(letter) - 48 for letter in counts):
        value |= (bits & 31) << shift
        shift += 5
        if bits & 32:
            continue
        value -= (bits >> 4 & 1) << shift
        runs.append(value + (runs[-2] if len(runs) > 2 else 0))
        value = shift = 0
    return numpy.repeat(numpy.arange(len(runs)) % 2, runs).reshape(
        size[::-1]).T.astype(numpy.uint8)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, masks, orientation=1, **line):
        return write_list(self.folder, [{
            "uri": make_image(self.folder, orientation), "masks": masks,
            "boxes": [[0, 0, WIDTH, HEIGHT]] * len(masks),
            "kinds": list(range(len(masks))), **line}])

    def load(self, path, decode="", ops="", source="", **options):
        """Returns masks, labels and extras of the only image."""
        augment = f'! spdlaugment ops="{ops}"' if ops else ""
        with Loader(f"spdlsrc location={path} box-column=boxes box-mask-column=masks "
                    f"box-label-columns=kinds {source} ! spdlfetch "
                    f"! spdldecode {decode} {augment} "
                    "! spdlbatch batch-size=1 ! spdlsink", **options) as loader:
            batch, = loader
            n = numpy.array(batch["boxes_lengths"])[0]
            masks = numpy.array(batch["masks"])[0]
            self.assertEqual(masks.dtype, numpy.uint8)
            self.assertEqual(masks.shape[1:], batch["data"].shape[1:3])
            self.assertEqual(masks[n:].max(initial=0), 0)
            return (masks[:n], numpy.array(batch["kinds"])[0, :n].tolist(),
                    batch.extras[0])


class TestForms(Case):
    def test_pycocotools(self):
        segmentations = EXPECTED["segmentations"]
        wanted = [decode(counts, (HEIGHT, WIDTH)) for counts in EXPECTED["counts"]]
        for process in False, True:
            found, kinds, extra = self.load(self.write(segmentations),
                                            process=process)
            self.assertEqual(kinds, list(range(len(segmentations))))
            for i, (mask, other) in enumerate(zip(found, wanted)):
                numpy.testing.assert_array_equal(mask, other, str(segmentations[i]))
            self.assertEqual(
                extra["masks"], [{"size": [HEIGHT, WIDTH], "counts": counts}
                                 for counts in EXPECTED["counts"]])

    def test_escapes(self):
        """Counts of compressed RLE may have backslashes, which JSON escapes."""
        mask = numpy.zeros((HEIGHT, WIDTH), numpy.uint8)
        mask.T.flat[44:60] = 1
        # 44 is 12 and 32 more, and 12 + 32 + 48 is a backslash.
        counts = "\\1`0dfU1".replace("dfU1", "")
        rest = HEIGHT * WIDTH - 60
        path = self.write([{"size": [HEIGHT, WIDTH], "counts": [44, 16, rest]}])
        _, _, extra = self.load(path)
        text = extra["masks"][0]["counts"]
        self.assertEqual(text[:4], counts)
        for escaped in json.dumps(text), json.dumps(text).replace("\\\\", "\\u005C"):
            path.write_text(path.read_text().replace(f"[44, 16, {rest}]", escaped))
            found, _, _ = self.load(path)
            numpy.testing.assert_array_equal(found[0], mask)
            path = self.write([{"size": [HEIGHT, WIDTH], "counts": [44, 16, rest]}])

    def test_members(self):
        path = write_list(self.folder, [{
            "uri": make_image(self.folder, 1),
            "objects": [{"bbox": [0, 0, 9, 9], "segmentation": SQUARE},
                        {"bbox": [1, 1, 50, 50], "segmentation": SQUARE * 2}]}])
        with Loader(f"spdlsrc location={path} box-column=objects.bbox "
                    "box-mask-column=objects.segmentation ! spdlfetch ! spdldecode "
                    "! spdlbatch ! spdlsink") as loader:
            batch, = loader
            masks = numpy.array(batch["objects.segmentation"])
        self.assertEqual(masks.sum((2, 3)).tolist(), [[1600, 1600]])

    def test_relative_coordinates(self):
        scaled = [[x / side for x, side in zip(SQUARE[0], (WIDTH, HEIGHT) * 4)]]
        found, _, _ = self.load(self.write([scaled], boxes=[[0, 0, 1, 1]]),
                                source="relative-coordinates=true")
        self.assertEqual(found.sum(), 1600)
        self.assertEqual(found[0, 10:50, 10:50].sum(), 1600)

    def test_upright_coordinates(self):
        """Tests an image whose EXIF data turn it, with masks of both kinds."""
        masks = EXPECTED["segmentations"][:3]
        decoding = "width=50 height=70 resize=cover flip=1"
        for n in range(1, 9):
            stored, _, _ = self.load(self.write(masks, n), decoding)
            upright, _, extra = self.load(self.write(masks, n), "")
            for more in "", "orientation=ignore":
                wanted, _, _ = self.load(self.write(masks, n), f"{decoding} {more}")
                size = upright.shape[:0:-1]
                found, _, _ = self.load(
                    self.write(extra["masks"], n, boxes=[[0, 0, *size]] * 3),
                    f"{decoding} {more}", source="upright-coordinates=true")
                numpy.testing.assert_array_equal(found, wanted, f"{n} {more}")
            self.assertGreater(stored.sum(), 0)


class TestMoves(Case):
    def test_torchvision(self):
        self.assertEqual([name for name, _, _ in EXPECTED["cases"]],
                         [name for name, *_ in CASES])
        n_equal = n_pixels = 0
        for (name, orientation, decoding, ops), (_, size, counts) in zip(
                CASES, EXPECTED["cases"]):
            found, kinds, _ = self.load(
                self.write(EXPECTED["segmentations"][:3], orientation), decoding, ops)
            with self.subTest(name):
                self.assertEqual(list(found.shape[1:]), size)
                wanted = numpy.array([decode(counts[i], size) for i in kinds])
                equal = (found == wanted).sum()
                self.assertGreater(equal, 0.998 * found.size)
                n_equal += equal
                n_pixels += found.size
        self.assertGreater(n_equal, 0.9998 * n_pixels)

    def test_image_file(self):
        """A mask is where a mask file of the same size is."""
        mask = decode(EXPECTED["counts"][11], (HEIGHT, WIDTH))
        Image.fromarray(mask * 255).save(pathlib.Path(self.folder, "mask.png"))
        masks = [{"size": [HEIGHT, WIDTH], "counts": EXPECTED["counts"][11]}]
        for decoding in ("width=77 height=33", "width=64 height=64 resize=cover",
                         "width=64 height=64 resize=contain",
                         "width=300 height=200", "width=9 height=7",
                         "width=70 height=70 augment=random-resized-crop flip=0.5 "
                         "seed=4"):
            path = self.write(masks, uri="mask.png")
            with Loader(f"spdlsrc location={path} box-column=boxes "
                        "box-mask-column=masks ! spdlfetch ! spdldecode format=GRAY8 "
                        f"interpolation=nearest {decoding} ! spdlbatch ! spdlsink"
                        ) as loader:
                batch, = loader
                numpy.testing.assert_array_equal(
                    numpy.array(batch["masks"])[0, 0],
                    numpy.array(batch["data"])[0, ..., 0] // 255, decoding)

    def test_policies_and_colors(self):
        """Draws of policies move the mask like the image; colors do not."""
        mask = decode(EXPECTED["counts"][11], (HEIGHT, WIDTH))
        Image.fromarray(mask * 255).save(pathlib.Path(self.folder, "mask.png"))
        masks = [{"size": [HEIGHT, WIDTH], "counts": EXPECTED["counts"][11]}]
        path = self.write(masks, uri="mask.png")
        for ops in ("affine(degrees=30,translate=0.1,scale=0.5..1.5,shear=20)",
                    "pad(padding=20,mode=reflect); rotate(degrees=50)",
                    "random-crop(size=90,padding=30); invert(p=1); invert(p=1)"):
            with Loader(f"spdlsrc location={path} box-column=boxes epochs=4 "
                        "box-mask-column=masks ! spdlfetch ! spdldecode format=GRAY8 "
                        f"interpolation=nearest ! spdlaugment ops=\"{ops}\" "
                        "! spdlbatch ! spdlsink") as loader:
                for batch in (batch for _ in range(4) for batch in loader):
                    numpy.testing.assert_array_equal(
                        numpy.array(batch["masks"])[0, 0],
                        numpy.array(batch["data"])[0, ..., 0] // 255, ops)

    def test_dropped_boxes(self):
        """Masks stay those of their boxes."""
        boxes = [[0, 0, 10, 10], [75, 0, 90, 10], [0, 0, 80, 80], [77, 0, 90, 10]]
        masks = [[[x1, y1, x2, y1, x2, y2, x1, y2]] for x1, y1, x2, y2 in boxes]
        found, kinds, _ = self.load(
            self.write(masks, boxes=boxes), ops="crop(x=0,y=0,width=80,height=120)",
            source="min-area=50")
        self.assertEqual(kinds, [0, 1, 2])
        self.assertEqual(found.sum((1, 2)).tolist(), [100, 50, 6400])

    def test_batch(self):
        """Tests padding, images without boxes, and orders."""
        path = write_list(self.folder, [
            {"uri": make_image(self.folder, 1), "masks": [SQUARE] * n,
             "boxes": [[10, 10, 50, 50]] * n} for n in (1, 0, 3)])
        with Loader(f"spdlsrc location={path} box-column=boxes box-mask-column=masks "
                    "! spdlfetch output-order=input ! spdldecode output-order=input "
                    "width=80 height=60 ! spdlbatch ! spdlsink") as loader:
            batch, = loader
            masks = numpy.array(batch["masks"])
            self.assertEqual(list(batch.keys()),
                             ["data", "boxes", "boxes_lengths", "masks"])
        self.assertEqual(masks.shape, (3, 3, 60, 80))
        self.assertEqual(masks.sum((2, 3)).tolist(),
                         [[400, 0, 0], [0, 0, 0], [400, 400, 400]])

    def test_views(self):
        """Masks are those of the first view."""
        found = {}
        for views in "", "! spdlpipe part=view1 chain=identity":
            path = self.write([SQUARE])
            with Loader(f"spdlsrc location={path} box-column=boxes "
                        "box-mask-column=masks ! spdlfetch ! spdldecode width=40 "
                        "height=30 augment=random-resized-crop seed=3 "
                        f"{'views=2' if views else ''} ! spdlbatch ! spdlsink"
                        ) as loader:
                batch, = loader
                found[views] = numpy.array(batch["masks"])
        numpy.testing.assert_array_equal(*found.values())


class TestFunctions(Case):
    def collect(self, pipeline):
        with pipeline.loader() as loader:
            batch, = loader
            return {name: numpy.array(batch[name])[0] for name in batch}

    def start(self, **columns):
        return Pipeline().files(str(self.write([SQUARE, SQUARE])), **{
            "box_column": "boxes", "box_mask_column": "masks",
            "box_label_columns": "kinds", **columns}).fetch()

    def test_masks_that_a_function_sets(self):
        def set_polygons(sample):
            sample.extra["masks"] = [[[0, 0, 40, 0, 40, 30, 0, 30]],
                                     [[80, 60, 160, 60, 160, 120, 80, 120]]]
            return sample

        found = self.collect(self.start().map(set_polygons)
                             .decode(width=80, height=60).batch(1))
        self.assertEqual(found["masks"].sum((1, 2)).tolist(), [300, 1200])
        self.assertEqual(found["masks"][1, 30:, 40:].sum(), 1200)

    def test_changes_after_decoding(self):
        def swap_and_fill(sample):
            masks = sample.extra["masks"]
            height, width = masks[0]["size"]
            sample.extra["masks"] = [
                masks[1], {"size": [height, width],
                           "counts": json.loads(f"[0, {height * width}]")}]
            return sample

        found = self.collect(self.start().decode(width=80, height=60)
                             .map(swap_and_fill)
                             .augment("crop(x=0,y=0,width=20,height=60)").batch(1))
        self.assertEqual(found["masks"].sum((1, 2)).tolist(), [300, 1200])

    def test_boxes_without_masks(self):
        def drop(sample):
            sample.extra["boxes"] = sample.extra["boxes"][1:]
            sample.extra["kinds"] = sample.extra["kinds"][1:]
            return sample

        with self.assertRaisesRegex(LoaderError, "segmentation of each of 1 boxes"):
            self.collect(self.start().decode(width=80, height=60).map(drop).batch(1))


class TestErrors(Case):
    def test_wrong_segmentations(self):
        rle = {"size": [HEIGHT, WIDTH], "counts": [0, HEIGHT * WIDTH]}
        for masks, text in (
                ([None], "segmentation 0 is neither"),
                ([7], "segmentation 0 is neither"),
                ([SQUARE[0]], "neither a list of polygons"),
                (["text"], "neither"),
                ([[]], "segmentation 0 has no polygon"),
                ([SQUARE, [[1, 2, 3, 4]]], "segmentation 1 has a polygon of 4 numbers"),
                ([[[1, 2, 3, 4, 5, 6, 7]]], "a polygon of 7 numbers"),
                ([[[1, 2, 1e300, 4, 5, 6]]], r"the coordinate 1e\+300"),
                ([[[1, 2, -1.1e8, 4, 5, 6]]], r"the coordinate -1.1e\+08"),
                ([{**rle, "size": [10**9, 10**9]}], "a height of 1e[+]09 and a width"),
                ([{**rle, "size": [WIDTH, HEIGHT]}], "has a height of 160 and a width"),
                ([{**rle, "size": [HEIGHT]}], "a size that is not"),
                ([{**rle, "counts": [2**31, 2**31, 2**31]}], "the count 2.14748e[+]09"),
                ([{**rle, "counts": [0, -1]}], "the count -1"),
                ([{**rle, "counts": [0.5, 1]}], "the count 0.5"),
                ([{**rle, "counts": [5, 6]}], "counts of 11 pixels"),
                ([{**rle, "counts": "oooooooooooo"}], "counts that are not"),
                ([{**rle, "counts": "o"}], "end within a count"),
                ([{**rle, "counts": "a b"}], "counts that are not"),
                ([{"size": [HEIGHT, WIDTH]}], "neither"),
                ([{"counts": [1]}], "neither"),
                ([{**rle, "more": 1}], "neither"),
                ("[[[1,2,3,4,5,6]]", "neither"),
                ("[[[1,2,3,4,5,6]]] x", "neither"),
                ({"a": 1}, "neither")):
            path = self.write(masks if isinstance(masks, list) else [1])
            if not isinstance(masks, list):
                path.write_text(json.dumps({**json.loads(path.read_text()),
                                            "masks": masks}) + "\n")
            with self.subTest(masks), self.assertRaisesRegex(
                    LoaderError, f'(?s)image1.jpg.*Field "masks" of the list.*{text}'):
                self.load(path)

    def test_number_of_masks(self):
        for n in 0, 2:
            with self.assertRaisesRegex(LoaderError, "segmentation of each of 1 boxes"):
                self.load(self.write([SQUARE] * n, boxes=[[0, 0, 5, 5]], kinds=[1]))

    def test_missing_field(self):
        with self.assertRaisesRegex(LoaderError, 'Field "masks" .* is missing'):
            self.load(write_list(self.folder, [{
                "uri": make_image(self.folder, 1), "boxes": [], "kinds": []}]))

    def test_values_of_a_function(self):
        """A polygon with wide zigzags needs bounded memory and time."""
        for masks, text in ((json.dumps([[[-1e8, 0, 1e8, 1] * 60_000]]),
                             "cross more than 16777216 pixels"),
                            ([[[1, 2, float("nan"), 4, 5, 6]]], "neither"),
                            ([[[1, 2, float("inf"), 4, 5, 6]]], "neither")):
            def change(sample, masks=masks):
                sample.extra["masks"] = masks
                return sample

            pipeline = (Pipeline().files(
                str(self.write([SQUARE])), box_column="boxes",
                box_mask_column="masks").fetch().map(change).decode().batch(1))
            with self.assertRaisesRegex(LoaderError, text), \
                    pipeline.loader() as loader:
                list(loader)

    def test_many_pixels(self):
        masks = [{"size": [HEIGHT, WIDTH], "counts": [HEIGHT * WIDTH]}] * 70
        for decoding, ops in (("width=2000 height=2000", ""),
                              ("width=1900 height=1900", "pad(padding=50)")):
            with self.assertRaisesRegex(
                    LoaderError, "(?s)image1.jpg.*70 masks of 2000 by 2000"):
                self.load(self.write(masks), decoding, ops)

    def test_properties(self):
        for source, text in (("box-mask-column=masks", "box-mask-column is set"),
                             ("box-column=a box-mask-column=a", "named twice")):
            with self.subTest(source), self.assertRaisesRegex(LoaderError, text):
                with Loader(f"spdlsrc location={self.write([SQUARE])} {source} "
                            "! spdlfetch ! spdldecode ! spdlbatch ! spdlsink"
                            ) as loader:
                    list(loader)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
