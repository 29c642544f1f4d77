#!/usr/bin/python3
# gst-spdl: tests of boxes and keypoints that move with their image
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""boxes-expected.json has the results of torchvision.transforms.v2."""

import csv
import io
import json
import pathlib
import sys
import tarfile
import tempfile
import unittest

import numpy
from PIL import Image

from boxes_cases import (BOXES, CASES, EXPECTED, HEIGHT, POINTS, WIDTH,
                         load, make_image, run_case, write_list)
from gstspdl import Loader, LoaderError, Pipeline

KINDS = list(range(len(BOXES)))
AUGMENT = "width=96 height=80 augment=random-resized-crop flip=0.5 seed=7"
OPS = "trivial-augment-wide; rotate(degrees=30); random-crop(size=64,padding=4)"


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.image = make_image(self.folder, 1)

    def write(self, *lines):
        """Writes a list of images with some fields."""
        return write_list(self.folder, [
            {"uri": self.image, "boxes": BOXES, "points": POINTS, "kinds": KINDS,
             **line} for line in lines])

    def check_close(self, found, wanted, atol=1e-4):
        numpy.testing.assert_allclose(found, wanted, atol=atol)


class TestTorchvision(Case):
    def test_cases(self):
        expected = json.loads(EXPECTED.read_text())
        self.assertEqual([case["name"] for case in expected],
                         [case[0] for case in CASES])
        for case, wanted in zip(CASES, expected):
            with self.subTest(case=case[0]):
                found = run_case(self.folder, case)
                n = len(wanted["boxes"])
                self.assertEqual(found["shape"][1:3], wanted["size"])
                self.assertEqual(found["boxes_lengths"], [n])
                self.assertEqual(found["kinds"][0][:n], wanted["kinds"])
                self.check_close(numpy.reshape(found["boxes"][0][:n], (-1, 4)),
                                 numpy.reshape(wanted["boxes"], (-1, 4)), 0.01)
                self.check_close(found["points"][0], wanted["points"], 0.01)


class TestPixels(Case):
    """A white rectangle is where its box says."""

    def check(self, orientation, decode, ops):
        box = [40, 30, 100, 80]
        exif = Image.Exif()
        exif[0x0112] = orientation
        image = Image.new("RGB", (WIDTH, HEIGHT))
        image.paste((255, 255, 255), box)
        image.save(pathlib.Path(self.folder, "box.jpg"), exif=exif, quality=95)
        path = write_list(self.folder, [{"uri": "box.jpg", "boxes": [box]}])
        augment = f"! spdlaugment ops=\"{ops}\"" if ops else ""
        with Loader(f"spdlsrc location={path} box-column=boxes ! spdlfetch "
                    f"! spdldecode {decode} {augment} ! spdlbatch "
                    "! spdlsink") as loader:
            batch = next(iter(loader))
            rows, columns = numpy.nonzero(numpy.array(batch["data"])[0, :, :, 0] > 127)
            found = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
            self.check_close(numpy.array(batch["boxes"])[0, 0], found, 1.01)

    def test_pixels(self):
        colors = "erase", "invert"
        for name, orientation, decode, ops in CASES:
            # Only the first rotation of a chain has the box around the pixels.
            if not ops.startswith(colors) and ";" not in ops:
                with self.subTest(name):
                    self.check(orientation, decode, ops)


class TestFormats(Case):
    def test_box_formats(self):
        boxes = {"xyxy": [[10, 20, 60, 90]], "xywh": [[10, 20, 50, 70]],
                 "cxcywh": [[35, 55, 50, 70]]}
        for name, numbers in boxes.items():
            for relative in False, True:
                scale = [WIDTH, HEIGHT] * 2 if relative else [1] * 4
                path = self.write({
                    "boxes": [[n / s for n, s in zip(numbers[0], scale)]],
                    "kinds": [3], "points": [[12 / scale[0], 30 / scale[1]]]})
                with self.subTest(name, relative=relative):
                    found = load(path, source=f"box-format={name} "
                                 f"relative-coordinates={relative}")[0]
                    self.check_close(found["boxes"], [[[10, 20, 60, 90]]])
                    self.check_close(found["points"], [[[12, 30]]])

    def test_numbers_of_json(self):
        path = self.write({"boxes": [[1.5e0, 0.1, 12345.678901234567e-3,
                                      33.333333333333333333]], "kinds": [True]})
        text = path.read_text().replace("33.333333333333336", "33.3333333333333333333")
        path.write_text(text.replace("1.5,", " 15E-1 ,"))
        found = load(path)[0]
        self.check_close(found["boxes"],
                         [[[1.5, 0.1, 12.345678901234567, 33.333333333333336]]], 1e-6)
        self.assertEqual(found["kinds"], [[1]])

    def test_flat_lists_of_csv(self):
        path = pathlib.Path(self.folder, "list.csv")
        path.write_text("uri,boxes,points,kinds\n"
                        f'{self.image},"[1,2,3,4,5,6,7,8]","[9, 8]","[4,5]"\n')
        found = load(path)[0]
        self.assertEqual(found["boxes"], [[[1, 2, 3, 4], [5, 6, 7, 8]]])
        self.assertEqual(found["points"], [[[9, 8]]])
        self.assertEqual(found["kinds"], [[4, 5]])

    def test_members(self):
        """Boxes may be members of an object, or of the objects of a list, in a
        .jsonl and as a text in a .csv."""
        one = {"at": {"box": BOXES}, "kind": KINDS}
        rows = [{"kind": k, "at": {"box": b}} for b, k in zip(BOXES, KINDS)]
        plain = load(self.write({}))[0]
        table = pathlib.Path(self.folder, "members.csv")
        for value in one, rows, [], {"at": {"box": []}, "kind": []}:
            with open(table, "w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([["uri", "o"], [self.image, json.dumps(value)]])
            for path in table, self.write({"o": value}):
                with self.subTest(value, path=path), Loader(
                        f"spdlsrc location={path} box-column=o.at.box "
                        "box-label-columns=o.kind ! spdlfetch ! spdldecode ! spdlbatch "
                        "! spdlsink") as loader:
                    batch = next(iter(loader))
                    found = numpy.array(batch["o.at.box"]).tolist()
                    self.assertEqual(found, plain["boxes"] if "0" in str(value)
                                     else [[[0, 0, 0, 0]]])
                    self.assertEqual(numpy.array(batch["o.kind"]).tolist(),
                                     plain["kinds"] if "0" in str(value) else [[-1]])
                    self.assertEqual(json.loads(batch.extras[0]["o"]), value)
        for value in {"at": 1, "kind": [1]}, [*rows, {"kind": 1}], "text", 1, {}:
            with self.subTest(value), self.assertRaisesRegex(
                    LoaderError, 'Field "o.at.box" of the list ".*list.jsonl" is '), \
                    Loader(f"spdlsrc location={self.write({'o': value})} "
                           "box-column=o.at.box box-label-columns=o.kind ! spdlfetch "
                           "! spdldecode ! spdlbatch ! spdlsink") as loader:
                list(loader)

    def test_shards(self):
        """Boxes are members of the JSON beside the image."""
        note = {"boxes": BOXES, "points": POINTS, "kinds": KINDS, "a": None,
                "o": [{"box": b, "kind": k} for b, k in zip(BOXES, KINDS)]}
        wrong = {"boxes": [[1, 2, float("nan"), 4]], "points": [], "kinds": [1]}
        path = pathlib.Path(self.folder, "a.tar")
        with tarfile.open(path, "w") as tar:
            for key, value in ("a", note), ("b", wrong), ("c", {"boxes": 3}):
                tar.add(pathlib.Path(self.folder, self.image), f"{key}.jpg")
                data = json.dumps(value).encode()
                info = tarfile.TarInfo(f"{key}.json")
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
        decode = "width=96 height=80 flip=1"
        wanted = load(self.write({}), decode)[0]
        found = load(path, decode, n=3)
        self.assertEqual([batch["indices"] for batch in found], [[0]])
        for name in "boxes", "points", "kinds", "boxes_lengths":
            self.assertEqual(found[0][name], wanted[name])
        self.assertEqual(json.loads(found[0]["extras"][0]["o"]), note["o"])
        with Loader(f"spdlsrc location={path} box-column=o.box box-label-columns=o.kind "
                    f"! spdlfetch ! spdldecode {decode} ! spdlbatch ! spdlsink") as loader:
            batch = next(iter(loader))
            self.assertEqual(numpy.array(batch["o.box"]).tolist(), wanted["boxes"])
            self.assertEqual(numpy.array(batch["o.kind"]).tolist(), wanted["kinds"])

    def test_coco(self):
        """Keypoints of an annotation are one flat list there."""
        path = pathlib.Path(self.folder, "persons.json")
        path.write_text(json.dumps({
            "images": [{"id": i, "file_name": self.image} for i in (4, 7)],
            "annotations": [{"id": 1, "image_id": 7, "category_id": 20, "iscrowd": 1,
                             "bbox": [10, 20, 50, 70],
                             "keypoints": [20, 30, 2] + [0, 0, 0] * 16}],
            "categories": [{"id": 20, "name": "person"}]}))
        with Loader(f"spdlsrc location={path} box-column=boxes box-format=xywh "
                    "box-label-columns=boxes_labels,boxes_crowd,boxes_ids "
                    "keypoint-column=keypoints keypoint-size=3 keypoints-per-box=17 "
                    "! spdlfetch output-order=input "
                    "! spdldecode width=80 height=60 output-order=input "
                    "! spdlbatch ! spdlsink") as loader:
            batch = next(iter(loader))
            found = {name: numpy.array(batch[name]).tolist() for name in batch.keys()}
        self.assertEqual(found["boxes_lengths"], [0, 1])
        self.assertEqual(found["boxes"][1], [[5, 10, 30, 45]])
        self.assertEqual(found["boxes_labels"], [[-1], [0]])
        self.assertEqual(found["boxes_ids"][1] + found["boxes_crowd"][1], [1, 1])
        self.assertEqual(found["keypoints"][1], [[[10, 15, 2]] + [[0, 0, 0]] * 16])

    def test_upright_coordinates(self):
        for n in range(1, 9):
            size = (HEIGHT, WIDTH) if n >= 5 else (WIDTH, HEIGHT)
            stored = write_list(self.folder, [{
                "uri": make_image(self.folder, n), "boxes": BOXES,
                "points": POINTS, "kinds": KINDS}])
            upright = load(stored)[0]["extras"][0]
            decode = f"width=50 height=30 augment=random-crop flip=0.5 seed={n}"
            for more in "", "orientation=ignore":
                wanted = load(stored, f"{decode} {more}")[0]
                path = write_list(self.folder, [
                    {"uri": make_image(self.folder, n),
                     **{key: upright[key] for key in ("boxes", "points", "kinds")}}],
                    "upright.jsonl")
                found = load(path, f"{decode} {more}",
                             source="upright-coordinates=true")[0]
                with self.subTest(orientation=n, size=size, more=more):
                    self.assertEqual(found["kinds"], wanted["kinds"])
                    self.check_close(found["boxes"], wanted["boxes"])
                    self.check_close(found["points"], wanted["points"])

    def test_visibility_and_keypoints_of_boxes(self):
        points = [[[10, 10, 2], [150, 5, 1]], [[0, 0, 0], [159, 119, 2]],
                  [[0, 0, 0], [130, 20, 1]]]
        path = self.write({"boxes": [[0, 0, 80, 60], [100, 80, 150, 110],
                                     [60, 0, 155, 115]], "points": points,
                           "kinds": [5, 6, 7]},
                          {"boxes": [], "points": [], "kinds": []})
        found = load(path, "", "crop(x=0,y=0,width=80,height=120)", n=2,
                     source="keypoint-size=3 keypoints-per-box=2")[0]
        self.assertEqual(found["names"], ["data", "boxes", "boxes_lengths", "kinds",
                                          "points"])
        self.assertEqual(found["kinds"], [[5, 7], [-1, -1]])
        self.assertEqual(found["boxes_lengths"], [2, 0])
        self.assertEqual(found["points"][0], [[[10, 10, 2], [0, 0, 0]],
                                              [[0, 0, 0], [0, 0, 0]]])
        self.assertEqual(numpy.shape(found["points"]), (2, 2, 2, 3))
        self.assertEqual(found["extras"][1]["points"], [])

    def test_pairs(self):
        """Tests that keypoints change places for each mirror, and for no other
        move."""
        path = self.write({"boxes": [BOXES[0]] * 2, "kinds": [1, 2], "points": [
            [[8 * k + 40 * i, 60 - k] for k in range(5)] for i in range(2)]})
        for decode, ops, is_swapped in (
                ("", "", False), ("flip=1", "", True),
                ("flip=1", "horizontal-flip(p=1)", False),
                ("", "vertical-flip(p=1); rotate(angle=9)", True),
                ("", "rotate(angle=180); pad(padding=3)", False),
                ("flip=1", "perspective(corners=10/5/150/0/140/119/3/110,p=1)",
                 True)):
            plain, found = (load(
                path, decode, ops,
                source=f"keypoints-per-box=5 keypoint-pairs={pairs}")[0]
                for pairs in ('""', "1-2,0-4"))
            wanted = numpy.array(plain["points"])
            if is_swapped:
                wanted = wanted[:, :, [4, 2, 1, 3, 0]]
            with self.subTest(decode=decode, ops=ops):
                self.check_close(found["points"], wanted)

    def test_pairs_in_another_process(self):
        path = self.write({"boxes": BOXES[:1], "kinds": [1],
                           "points": [[[5, 6], [9, 9]]]})
        with Loader(f"spdlsrc location={path} box-column=boxes keypoint-column=points "
                    "keypoints-per-box=2 keypoint-pairs=0-1 ! spdlfetch ! spdldecode "
                    "flip=1 ! spdlbatch ! spdlsink", process=True) as loader:
            self.assertEqual(numpy.array(next(iter(loader))["points"]).tolist(),
                             [[[[WIDTH - 10, 9], [WIDTH - 6, 6]]]])

    def test_min_area(self):
        boxes = [[0, 0, 10, 10], [75, 0, 90, 10], [77, 0, 90, 10]]
        path = self.write({"boxes": boxes, "kinds": [1, 2, 3]})
        found = load(path, "", "crop(x=0,y=0,width=80,height=120)",
                     source="min-area=50")[0]
        self.assertEqual(found["kinds"], [[1, 2]])

    def test_matrix(self):
        path = self.write({})
        ops = "rotate(angle=20); vertical-flip(p=1); crop(x=3,y=4,width=50,height=50)"
        with Loader(f"spdlsrc location={path} record-matrix=true ! spdlfetch "
                    f"! spdldecode {AUGMENT} ! spdlaugment ops=\"{ops}\" "
                    "! spdlbatch ! spdlsink") as loader:
            extra = next(iter(loader)).extras[0]
        # The field that no property names stays as it is.
        self.assertEqual(json.loads(extra["boxes"]), BOXES)
        matrix = numpy.array(extra["image-matrix"])
        wanted = load(path, AUGMENT, ops)[0]["points"][0]
        x, y, w = matrix @ numpy.array([[px + 0.5, py + 0.5, 1] for px, py in POINTS]).T
        # Keypoints are positions from the center of the first pixel for a mirror,
        # and from its corner for a scale.
        self.check_close(numpy.array([x / w, y / w]).T - 0.5, wanted, 1.5)


class TestBatches(Case):
    def test_padding(self):
        lines = [{"boxes": BOXES[:i % 4], "points": POINTS[:i % 3],
                  "kinds": KINDS[:i % 4]} for i in range(9)]
        batches = load(self.write(*lines), n=4)
        self.assertEqual([b["boxes_lengths"] for b in batches],
                         [[0, 1, 2, 3], [0, 1, 2, 3], [0]])
        self.assertEqual([b["points_lengths"] for b in batches],
                         [[0, 1, 2, 0], [1, 2, 0, 1], [2]])
        first = batches[0]
        self.assertEqual(first["kinds"][1], [0, -1, -1])
        self.assertEqual(first["boxes"][1], [BOXES[0], [0] * 4, [0] * 4])
        self.assertEqual(batches[2]["boxes"], [[[0] * 4]])
        self.assertEqual(batches[2]["kinds"], [[-1]])

    def test_concurrency_and_resume(self):
        path = self.write(*({"boxes": BOXES[i % 5:], "kinds": KINDS[i % 5:]}
                            for i in range(40)))

        def collect(stages, state=""):
            found = {}
            with Loader(f"spdlsrc location={path} box-column=boxes shuffle=true "
                        f"box-label-columns=kinds keypoint-column=points {state} "
                        f"! spdlfetch {stages} ! spdldecode {AUGMENT} {stages} "
                        f"! spdlaugment ops=\"{OPS}\" {stages} "
                        "! spdlbatch batch-size=8 ! spdlsink") as loader:
                states = []
                for batch in loader:
                    states.append(batch.state)
                    found.update(zip(batch.indices, batch.extras))
            return found, states

        wanted, states = collect("output-order=input")
        self.assertEqual(len(wanted), 40)
        self.assertEqual(collect("concurrency=4")[0], wanted)
        rest, _ = collect("concurrency=3", f"resume-state=\"{states[1]}\"")
        self.assertEqual(len(rest), 24)
        self.assertEqual(rest, {i: wanted[i] for i in rest})

    def test_worker_process(self):
        path = self.write({}, {"boxes": [], "kinds": []})
        wanted = load(path, AUGMENT, OPS, n=2)[0]
        pipeline = (f"spdlsrc location={path} box-column=boxes "
                    "box-label-columns=kinds keypoint-column=points "
                    "! spdlfetch output-order=input "
                    f"! spdldecode output-order=input {AUGMENT} "
                    f"! spdlaugment output-order=input ops=\"{OPS}\" "
                    "! spdlbatch batch-size=2 ! spdlsink")
        with Loader(pipeline, process=True) as loader:
            batch = next(iter(loader))
            self.assertEqual(numpy.array(batch["boxes"]).tolist(), wanted["boxes"])
            self.assertEqual(batch.extras, wanted["extras"])

    def test_pad_to_longest(self):
        found = load(self.write({}, {"boxes": [], "kinds": []}), "width=8 height=8",
                     n=2, batch="pad-to-longest=true labels=true indices=true")[0]
        self.assertEqual(found["boxes_lengths"], [len(BOXES), 0])
        self.assertEqual(found["names"][1:3], ["labels", "indices"])

    def test_parts(self):
        """Boxes follow the main part, and a part may be padded, too."""
        make_image(self.folder, 6, suffix=".png")
        path = self.write({"mask": "image6.png", "text": self.image})
        found = load(path, "part=data width=80 height=60", "", n=1,
                     middle="parts=mask,text ! spdldecode output-order=input "
                     "part=mask width=5 height=5",
                     batch="pad-to-longest=true")[0]
        self.check_close(found["boxes"][0][0], [5, 10, 30, 45])
        self.assertEqual(found["names"], ["data", "mask", "text_lengths", "text",
                                          "boxes", "boxes_lengths", "kinds", "points",
                                          "points_lengths"])


class TestFunctions(Case):
    def collect(self, pipeline):
        with pipeline.loader() as loader:
            return next(iter(loader)).extras[0]

    def start(self):
        return Pipeline().files(str(self.write({})), box_column="boxes",
                                box_label_columns="kinds",
                                keypoint_column="points").fetch()

    def test_fields_that_a_function_sets(self):
        """As boxes of an XML file, before the image is decoded."""
        def set_boxes(sample):
            sample.extra["boxes"] = [[0, 0, 80, 60]]
            sample.extra["kinds"] = [9]
            return sample

        found = self.collect(self.start().map(set_boxes)
                             .decode(width=80, height=60).batch(1))
        self.assertEqual(found["boxes"], [[0, 0, 40, 30]])
        self.assertEqual(found["kinds"], [9])

    def test_changes_after_decoding(self):
        def change_boxes(sample):
            boxes = numpy.array(sample.extra["boxes"])
            sample.extra["boxes"] = boxes + [1, 2, 1, 2]
            return sample

        found = self.collect(self.start().decode(width=80, height=60)
                             .map(change_boxes)
                             .augment("crop(x=1,y=2,width=79,height=58)").batch(1))
        wanted = self.collect(self.start().decode(width=80, height=60).batch(1))
        self.check_close(found["boxes"][:3],
                         numpy.minimum(wanted["boxes"][:3], [79, 58] * 2))
        self.assertEqual(found["kinds"], KINDS)

    def test_wrong_changes(self):
        def drop_kinds(sample):
            sample.extra["boxes"] = sample.extra["boxes"][1:]
            return sample

        def remove(sample):
            del sample.extra["boxes"]
            return sample

        for function, text in (drop_kinds, "one for each box"), (
                remove, r"set boxes and keypoints to \[\]"):
            with self.subTest(text), self.assertRaisesRegex(LoaderError, text):
                self.collect(self.start().decode(width=80, height=60)
                             .map(function).batch(1))


class TestErrors(Case):
    def test_wrong_fields(self):
        for line, text in (
                ({"boxes": [[1, 2, 3]]}, 'Field "boxes" of the list ".*list.jsonl" is '
                 r"\[\[1, 2, 3\]\], but must be a list of boxes of 4 numbers"),
                ({"boxes": [[1, 2], [3, 4]]}, "boxes of 4 numbers"),
                ({"boxes": "text"}, "is text, but must be a list of boxes"),
                ({"boxes": [[1, 2, 3, "4"]]}, "boxes of 4 numbers"),
                ({"boxes": [[1, 2, 3, None]]}, "boxes of 4 numbers"),
                ({"boxes": 7}, "boxes of 4 numbers"),
                ({"boxes": {"a": 1}}, "boxes of 4 numbers"),
                ({"boxes": [[[[1, 2, 3, 4]]]]}, "boxes of 4 numbers"),
                ({"boxes": None}, 'Field "boxes" of .* is missing'),
                ({"boxes": [[1, 1, 2, 2], [5, 5, 1, 9]], "kinds": [1, 2]},
                 "which end after they begin .see box-format"),
                ({"kinds": [1]},
                 'Field "kinds" .* must be a list of 7 whole numbers, one for each'),
                ({"boxes": [[1, 1, 2, 2]], "kinds": [1.5]}, "a list of 1 whole numbers"),
                ({"boxes": [[1, 1, 2, 2]], "kinds": ["cat"]}, "whole numbers"),
                ({"points": [[1, 2, 3]]}, "keypoints of 2 numbers .see keypoint-size")):
            with self.subTest(line), self.assertRaisesRegex(
                    LoaderError, f"(?s){self.image}.*{text}"):
                load(self.write(line))

    def test_one_wrong_item(self):
        batches = load(self.write({}, {"boxes": [[0]]}, {}), n=3)
        self.assertEqual(sorted(batches[0]["indices"]), [0, 2])

    def test_nan(self):
        def set_nan(sample):
            sample.extra["boxes"] = [[float("nan"), 0, 1, 1]]
            return sample

        pipeline = (Pipeline().files(str(self.write({})), box_column="boxes").fetch()
                    .map(set_nan).decode().batch(1))
        with self.assertRaisesRegex(LoaderError, "boxes of 4 numbers"), \
                pipeline.loader() as loader:
            list(loader)

    def test_properties(self):
        for source, text in (
                ("box-label-columns=kinds", "box-column is not"),
                ("keypoint-column=points keypoints-per-box=3", "box-column is not"),
                ("box-column=boxes keypoint-column=boxes", "named twice"),
                ("box-column=boxes box-label-columns=a,b,c,d,e", "at most 4"),
                ("box-column=boxes box-label-columns=a,,b", "an empty name"),
                *((f"box-column=boxes keypoint-column=points keypoints-per-box=3 "
                   f"keypoint-pairs=0-2,{pair}", f'"{pair}" is not a pair')
                  for pair in ("1-3", "1-1", "1", "-1-2", "1-2x", "4294967297-1")),
                ("box-column=boxes keypoint-column=points keypoint-pairs=0-1",
                 "is not a pair"),
                ("box-column=boxes keypoint-column=points keypoints-per-box=3 "
                 "keypoint-pairs=" + ",".join(["0-1"] * 65), "at most 64")):
            with self.subTest(source), self.assertRaisesRegex(LoaderError, text):
                with Loader(f"spdlsrc location={self.write({})} {source} ! spdlfetch "
                            "! spdldecode ! spdlbatch ! spdlsink") as loader:
                    list(loader)

    def test_image_that_another_element_resized(self):
        resize = ("spdlpipe chain=\"videoscale ! video/x-raw,width=40,height=40\" "
                  "! spdlaugment ops=invert")
        for end in resize, resize.partition(" ! spdlaugment")[0]:
            path = self.write({})
            with self.subTest(end), \
                    self.assertRaisesRegex(LoaderError, "160 by 120.*40 by 40"), \
                    Loader(f"spdlsrc location={path} box-column=boxes ! spdlfetch "
                           "! spdldecode width=160 height=120 "
                           f"! {end} ! spdlbatch ! spdlsink") as loader:
                list(loader)

    def test_what_has_no_boxes(self):
        numpy.save(pathlib.Path(self.folder, "array.npy"), numpy.zeros(3))
        for line, ops, batch, text in (
                ({"uri": "array.npy"}, "", "", "not an image"),
                ({}, "augmix", "", "no place in a mixture"),
                ({}, "", "mixup-alpha=0.2 dtype=float32 labels=true num-classes=9",
                 "not their boxes")):
            with self.subTest(text), self.assertRaisesRegex(LoaderError, text):
                load(self.write({**line, "label": 1}), ops=ops, batch=batch)
        mix = "mix(sequence(invert(p=1),weight=0.5),weight=0.5)"
        found = load(self.write({}), ops=f"{mix}; horizontal-flip(p=1)")[0]
        self.assertEqual(found["boxes"][0][0], [100, 20, 150, 90])

    def test_names(self):
        path = self.write({"data": BOXES})
        with self.assertRaisesRegex(LoaderError, 'already has a tensor named "data"'), \
                Loader(f"spdlsrc location={path} box-column=data ! spdlfetch "
                       "! spdldecode ! spdlbatch ! spdlsink") as loader:
            list(loader)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
