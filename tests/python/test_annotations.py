#!/usr/bin/python3
# gst-spdl: tests of boxes that files beside the images have
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import importlib.util
import json
import os
import pathlib
import re
import unittest
import xml.etree.ElementTree as ET

import numpy as np
from errors import raises_with
from PIL import Image
from support import ROOT, make_folder, run_python

from gstspdl import LoaderError, LoaderWarning, Pipeline, voc_detection, yolo_detection

WIDTH, HEIGHT, N = 80, 60, 12
HAS_TORCH = importlib.util.find_spec("torch") is not None
os.environ["XDG_CACHE_HOME"] = str(make_folder())
NAMES = ["cat", "dog", "eel"]


def make_image(path, orientation=1):
    path.parent.mkdir(parents=True, exist_ok=True)
    exif = Image.Exif()
    exif[0x0112] = orientation
    Image.new("RGB", (WIDTH, HEIGHT)).save(path, exif=exif)


def make_boxes(seed):
    """Returns boxes of images, as numbers of classes and edges in pixels."""
    rng = np.random.default_rng(seed)
    return [[(int(kind), [float(x), float(y), float(x + w), float(y + h)])
             for kind, x, y, w, h in rng.integers(
                 [0, 1, 1, 1, 1], [3, 40, 30, 40, 30], (i % 4, 5))]
            for i in range(N)]


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def to_yolo(boxes):
    return "".join(
        f"{kind} {(x1 + x2) / 2 / WIDTH!r} {(y1 + y2) / 2 / HEIGHT!r} "
        f"{(x2 - x1) / WIDTH!r} {(y2 - y1) / HEIGHT!r}\n"
        for kind, (x1, y1, x2, y2) in boxes)


def to_voc(boxes, names=NAMES):
    """Returns what the tools of VOC write, with parts of objects and an order of
    edges that differs."""
    return "<annotation>\n<size><width>80</width></size>" + "".join(
        f"<object><name>{names[kind]}</name><part><name>head</name><bndbox>"
        "<xmin>1</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2</ymax></bndbox></part>"
        f"<bndbox><xmax>{x2}</xmax><xmin>{x1}</xmin><ymin>{y1}</ymin>"
        f"<ymax>{y2:.0f}</ymax></bndbox>" +
        (f"<difficult>{k % 2}</difficult>" if k else "") + "</object>\n"
        for k, (kind, (x1, y1, x2, y2)) in enumerate(boxes)) + "</annotation>"


def load(loader):
    """Returns the boxes by id, with their labels and whether they are difficult,
    and the loader's failures."""
    found = {}
    with loader:
        for batch in loader:
            arrays = {name: np.array(batch[name]) for name in batch}
            for i, n in enumerate(arrays["boxes_lengths"]):
                found[int(arrays["id"][i])] = [[*map(np.ndarray.tolist, (
                    arrays[name][i, :n] for name in (
                        "boxes_labels", "boxes", "boxes_difficult") if name in arrays))]]
        return found, {failure.uri.rpartition("/")[2]: failure.reason
                       for failure in loader.failures}


OPTIONS = {"size": (HEIGHT, WIDTH), "train": False, "batch_size": 5}


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = make_folder()

    def check(self, found, boxes, difficult=False):
        self.assertEqual(sorted(found), [
            i for i, of_one in enumerate(boxes) if of_one is not None])
        for i, (values,) in found.items():
            self.assertEqual(values[0], [kind for kind, _ in boxes[i]])
            np.testing.assert_allclose(np.reshape(values[1], (-1, 4)), np.reshape(
                [box for _, box in boxes[i]], (-1, 4)), atol=1e-4)
            if difficult:
                self.assertEqual(values[2], [k % 2 for k in range(len(boxes[i]))])


class YoloTest(Case):
    def make(self, images="a/images/train", labels="a/labels/train", suffix=".png"):
        boxes = make_boxes(1)
        for i, of_one in enumerate(boxes):
            make_image(self.folder / images / f"{i:02} x{suffix}")
            if of_one or i == 4:  # others have no file
                write(self.folder / labels / f"{i:02} x.txt", to_yolo(of_one))
        return self.folder / images, boxes

    def test_folders(self):
        for images, labels, options in (
                ("a/images/train", "a/labels/train", {}),
                ("images/images/b/c", "images/labels/b/c", {}), ("c", "c", {}),
                ("d/images", "e", {"labels": self.folder / "e"})):
            with self.subTest(images):
                place, boxes = self.make(images, labels)
                found, failures = load(yolo_detection(place, **options, **OPTIONS))
                self.check(found, boxes)
                self.assertEqual(failures, {})

    def test_classes(self):
        place, boxes = self.make()
        loader = yolo_detection(str(place) + "/", classes=NAMES, **OPTIONS)
        found, _ = load(loader)
        self.assertEqual(loader.classes, NAMES)
        self.check(found, boxes)
        found, failures = load(yolo_detection(place, classes=NAMES[:2], **OPTIONS))
        self.check(found, [None if any(kind == 2 for kind, _ in of_one) else of_one
                           for of_one in boxes])
        for reason in failures.values():
            self.assertRegex(reason, "2 is not the number of a class from 0 to 1, in line")

    def test_list(self):
        """A list of images, as COCO has for YOLO."""
        place, boxes = self.make()
        lines = [f"./images/train/{i:02} x.png\n" for i in reversed(range(N))]
        path = write(self.folder / "a" / "train.txt", "\n".join(lines))
        self.check(load(yolo_detection(path, **OPTIONS))[0], boxes[::-1])
        with self.assertRaisesRegex(ValueError, "leave labels out"):
            yolo_detection(path, labels=place, **OPTIONS)

    def test_require_annotations(self):
        place, boxes = self.make()
        found, _ = load(yolo_detection(place, require_annotations=True, **OPTIONS))
        self.check(found, [of_one or None for of_one in boxes])

    def test_upright(self):
        """Boxes are those of the image as it is shown."""
        make_image(self.folder / "images" / "a.jpg", 6)
        write(self.folder / "labels" / "a.txt", "0 0.25 0.5 0.5 1")
        found, _ = load(yolo_detection(self.folder / "images", train=False,
                                       size=(WIDTH, HEIGHT)))
        np.testing.assert_allclose(found[0][0][1], [[0, 0, HEIGHT / 2, WIDTH]])

    def test_forms_of_numbers(self):
        place, _ = self.make()
        write(self.folder / "a/labels/train/00 x.txt",
              "\ufeff2.000 5e-1\t.5  0.25 +0.5 \r\n\n \n1 0 1 0 1.0")
        found, _ = load(yolo_detection(place, **OPTIONS))
        self.assertEqual(found[0][0][0], [2])  # the other has no area
        np.testing.assert_allclose(found[0][0][1], [[30, 15, 50, 45]])

    def test_wrong_lines(self):
        place, boxes = self.make()
        for text, reason in (
                ("0 0.5 0.5 0.1\n", "4 numbers, not the 5 of a box, in line 2"),
                ("0 0.1 0.1 0.2 0.1 0.2 0.2\n", "7 numbers"), ("0 0.5 0.5 0.1 x", "'x' of"),
                ("0 0.5 0.5 0.1 nan", "'nan'"), ("0 0.5 0.5 0.1 0_1", "'0_1'"),
                ("0 0.5 0.5 0.1 --1", "'--1'"), ("0 12 0.5 0.1 0.1", "12 of .* not a share"),
                ("0 0.5 0.5 -0.1 0.1", "-0.1 of"), ("-1 0.5 0.5 0.1 0.1", "-1 is not the"),
                ("0.5 0.5 0.5 0.1 0.1", "0.5 is not the number"),
                ("1e99 0.5 0.5 0.1 0.1", "1e99"), ("dog 0.5 0.5 0.1 0.1", "'dog'")):
            with self.subTest(text), self.assertWarns(LoaderWarning):
                write(self.folder / "a/labels/train/03 x.txt", "0 0.5 0.5 1 1\n" + text)
                found, failures = load(yolo_detection(
                    place, require_annotations=text[0] == "d", **OPTIONS))
                self.assertEqual([*failures], ["03%20x.png"])
                self.assertRegex(failures["03%20x.png"], f"{reason}.*line 2 of "
                                 ".*/03 x.txt$" if "line" not in reason else reason)
                self.assertNotIn(3, found)
        (self.folder / "a/labels/train/03 x.txt").write_bytes(b"0 \xff")
        (self.folder / "a/labels/train/05 x.txt").unlink()
        (self.folder / "a/labels/train/05 x.txt").mkdir()
        make_image(place / os.fsdecode(b"\xff.png"))
        write(self.folder / "a/labels/train" / os.fsdecode(b"\xff.txt"), "0")
        _, failures = load(yolo_detection(place, **OPTIONS))
        self.assertRegex(failures["%FF.png"], "in line 1 of .*/[?].txt$")
        self.assertRegex(failures["03%20x.png"], "not text, in .*/03 x.txt$")
        self.assertRegex(failures["05%20x.png"], "directory.*/05 x.txt$")

    def test_wrong_places(self):
        place, _ = self.make()
        with raises_with("source", "missing"):
            yolo_detection(self.folder / "missing")
        with raises_with("source", "missing"):
            yolo_detection(place, labels=self.folder / "missing")
        with self.assertRaisesRegex(ValueError, "no image of .*/11 x.txt: name their folder"):
            yolo_detection(place, labels=self.folder)
        (self.folder / "empty").mkdir()
        with self.assertRaisesRegex(ValueError, "has no images"):
            yolo_detection(self.folder / "empty")
        cache = pathlib.Path(os.environ["XDG_CACHE_HOME"], "gst-spdl")
        self.assertEqual([path.name for path in cache.iterdir() if path.suffix != ".jsonl" and
                          not path.name.endswith(".spdl-index")], [])


class VocTest(Case):
    def make(self):
        boxes = make_boxes(2)
        for i, of_one in enumerate(boxes):
            make_image(self.folder / "JPEGImages" / f"2008_{i:02}.jpg", 1)
            write(self.folder / "Annotations" / f"2008_{i:02}.xml", to_voc(of_one))
        return boxes

    def test_boxes(self):
        boxes = self.make()
        loader = voc_detection(self.folder, **OPTIONS)
        found, failures = load(loader)
        self.assertEqual((loader.classes, failures), (NAMES, {}))
        self.check(found, boxes, difficult=True)

    def test_numbers_are_those_of_the_file(self):
        """As torchvision gives them."""
        self.make()
        write(self.folder / "Annotations/2008_00.xml", to_voc([(1, [1, 1, 80, 60])]))
        found, _ = load(voc_detection(self.folder, **OPTIONS))
        root = ET.parse(self.folder / "Annotations/2008_00.xml").find("object/bndbox")
        self.assertEqual(found[0][0][1], [[float(root.findtext(name)) for name in (
            "xmin", "ymin", "xmax", "ymax")]])

    def test_names(self):
        boxes = self.make()
        write(self.folder / "Annotations/unused.xml", "no XML")
        path = write(self.folder / "ImageSets/Main/train.txt", "2008_07\n2008_02\n\n")
        for names in path, ["2008_07", "2008_02"]:
            self.check(load(voc_detection(self.folder, names=names, classes=NAMES,
                                          **OPTIONS))[0], [boxes[7], boxes[2]])
        with self.assertRaisesRegex(ValueError, "JPEGImages has no file for 1 of 13"):
            voc_detection(self.folder)
        with self.assertRaisesRegex(ValueError, "such as '2008_99'"):
            voc_detection(self.folder, names=["2008_01", "2008_99"])
        with raises_with("source", "Annotations"):
            voc_detection(self.folder / "Annotations")

    def test_classes(self):
        boxes = self.make()
        order = ["eel", "dog", "cat", "more"]
        loader = voc_detection(self.folder, classes=order, require_annotations=True,
                               **OPTIONS)
        found, _ = load(loader)
        self.assertEqual(loader.classes, order)
        self.check(found, [[(2 - kind, box) for kind, box in of_one] or None
                           for of_one in boxes])
        _, failures = load(voc_detection(self.folder, classes=["cat", "dog"], **OPTIONS))
        self.assertEqual({*failures}, {f"2008_{i:02}.jpg" for i, of_one in enumerate(
            boxes) if any(kind == 2 for kind, _ in of_one)})
        self.assertRegex(failures.popitem()[1], "'eel' is none of the 2 classes, in .*.xml$")

    def test_wrong_files(self):
        boxes = self.make()
        good = to_voc([(0, [1, 1, 9, 9])])
        bomb = "<!DOCTYPE a [" + "".join(
            f'<!ENTITY e{i + 1} "{f"&e{i};" * 10}">' for i in range(9)) + "]>"
        for text, reason in (
                ("", "not XML"), (good[:-3], "not XML .*line 3"), ("<a>&b;</a>", "not XML"),
                (bomb + good.replace("cat", "&e9;"), "document type"),
                ('<!DOCTYPE a SYSTEM "file:///etc/passwd">' + good, "document type"),
                (good.replace("xmin>", "xmid>"), "without <xmin>"),
                (good.replace("<name>cat</name>", ""), "without <name>"),
                (good.replace("<name>cat</name>", "<name> </name>"), "without <name>"),
                (re.sub("<bndbox>(?!.*<bndbox>).*</bndbox>", "", good), "without <bndbox>"),
                (good.replace("<xmax>9", "<xmax>9px"), "'9px' of '<xmax>' is not a number"),
                (good.replace("<xmax>9", "<xmax>0"), "ends before it begins"),
                (good.replace("<xmax>9", "<xmax>1e999"), "'1e999' of '<xmax>' is not a"),
                (good.replace("</object>", "<difficult>?</difficult></object>"), "'[?]'")):
            with self.subTest(reason), self.assertWarns(LoaderWarning):
                write(self.folder / "Annotations/2008_02.xml", text)
                found, failures = load(voc_detection(self.folder, **OPTIONS))
                self.check(found, [None if i == 2 else of_one
                                   for i, of_one in enumerate(boxes)])
                self.assertRegex(failures["2008_02.jpg"], reason)
                self.assertRegex(failures["2008_02.jpg"], "2008_02.xml$")
        (self.folder / "Annotations/2008_02.xml").write_bytes(
            good.replace("cat", "k\u00e4fer").encode("utf-16"))
        loader = voc_detection(self.folder, **OPTIONS)
        self.assertEqual(load(loader)[1], {})
        self.assertEqual(loader.classes, [*NAMES, "k\u00e4fer"])


class OptionsTest(Case):
    def test_wrong_arguments(self):
        for function in yolo_detection, voc_detection:
            with self.assertRaisesRegex(TypeError, "mixup_alpha"):
                function(self.folder, mixup_alpha=1)

    def test_reason_of_a_list(self):
        """A list may have a reason in place of boxes."""
        make_image(self.folder / "a.png")
        path = write(self.folder / "list.jsonl", json.dumps(
            {"uri": "a.png", "boxes": "error: the disk is full"}) + "\n")
        loader = Pipeline().files(path, box_column="boxes").fetch().decode().batch(1).loader()
        with loader, self.assertRaisesRegex(
                LoaderError, 'Field "boxes" cannot be read: the disk is full'):
            list(loader)

    @unittest.skipUnless(HAS_TORCH, "needs PyTorch")
    def test_targets(self):
        from gstspdl.torch import Dataset, list_targets

        boxes = VocTest.make(self)
        dataset = Dataset(voc_detection(self.folder, **OPTIONS), device="cpu")
        targets = [target for batch in dataset for target in list_targets(batch)]
        dataset.stop()
        for i, (target, wanted) in enumerate(zip(targets, boxes)):
            self.assertEqual(sorted(target), ["boxes", "difficult", "image_id", "labels"])
            self.assertEqual(target["image_id"], i)
            self.assertEqual(target["labels"].tolist(), [kind + 1 for kind, _ in wanted])
            self.assertEqual(target["difficult"].tolist(), [k % 2 for k in range(len(wanted))])

    @unittest.skipUnless(HAS_TORCH, "needs PyTorch")
    def test_page(self):
        """Runs the examples of the how-to page with such files."""
        page = (ROOT / "docs" / "how-to" / "detection.md").read_text()
        blocks = re.findall(r"(?m)^## (YOLO|VOC|Hugging)[^\n]*\n(.*?)(?=^## |\Z)", page,
                            re.DOTALL)
        self.assertEqual([name for name, _ in blocks], ["YOLO", "VOC", "Hugging"])
        for i, of_one in enumerate(make_boxes(1)):
            for part in "train", "val":
                make_image(self.folder / f"coco8/images/{part}/{i}.jpg")
                write(self.folder / f"coco8/labels/{part}/{i}.txt", to_yolo(of_one))
            make_image(self.folder / f"VOC2012/JPEGImages/{i}.jpg")
            write(self.folder / f"VOC2012/Annotations/{i}.xml", to_voc(of_one))
        for part in "train", "val":
            write(self.folder / f"VOC2012/ImageSets/Main/{part}.txt", "".join(
                f"{i}\n" for i in range(N)))
        for name, text in blocks:
            code = "".join(line[4:] or "\n" for line in text.splitlines(keepends=True)
                           if line.startswith("    ") or line == "\n")
            if name == "Hugging":  # test_parquet.py runs it
                continue
            with self.subTest(name):
                done = run_python(code.replace("SIZE = 640", "SIZE = 64"), cwd=self.folder)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn("torch.Size([8, 3, 64, 64])", done.stdout)


if __name__ == "__main__":
    unittest.main()
