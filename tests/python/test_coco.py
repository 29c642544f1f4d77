#!/usr/bin/python3
# gst-spdl: tests of COCO annotations as a dataset
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset.

With pycocotools, its result is compared, too. SPDL_TEST_SLOW: annotations of
COCO's size."""

import contextlib
import importlib.util
import io
import itertools
import json
import os
import random
import subprocess
import sys
import time
import unittest
import warnings

import numpy as np
from errors import raises
from PIL import Image
from support import make_dataset, make_folder
from gstspdl import Loader, LoaderWarning

PHOTOS = sorted(make_dataset(24).glob("*/*.jpg"))
PLACE = make_folder()
SLOW = "SPDL_TEST_SLOW" in os.environ
FIELDS = {"boxes": "bbox", "boxes_area": "area", "boxes_crowd": "iscrowd",
          "boxes_ids": "id", "keypoints": "keypoints", "captions": "caption"}
names = (f"made-{i}.json" for i in itertools.count())


def make_annotation(rng, k, image, categories):
    crowd = int(rng.random() < 0.1)
    return {
        "id": 10_000 + k, "image_id": image,
        "category_id": rng.choice(categories)["id"], "iscrowd": crowd,
        "bbox": [round(rng.uniform(0, 99), 2) for _ in range(4)],
        "area": rng.uniform(1, 9999),
        "segmentation": {"counts": [rng.randrange(900) for _ in range(9)],
                         "size": [480, 640]} if crowd else
        [[round(rng.uniform(0, 640), 2) for _ in range(2 * rng.randint(3, 9))]
         for _ in range(rng.randint(1, 2))],
    }


def make_coco(n_images=40, n_annotations=200, seed=0):
    """Annotations in a random order, as in COCO's files; the ids have gaps."""
    rng = random.Random(seed)
    categories = [{"id": i + 1 + i // 7, "name": f"klasse {i} é",
                   "supercategory": "x"} for i in range(80)]
    ids = rng.sample(range(1, 10 * n_images), n_images)
    images = [{"id": i, "file_name": f"{i:012}.jpg", "width": rng.randint(9, 640),
               "height": rng.randint(9, 640), "license": 3,
               "tags": {"a b": ["c  d", "\\", 'e "f" ', 1, None]},
               "coco_url": f"http://example.com/{i}.jpg"} for i in ids]
    rng.shuffle(categories)
    return {"info": {"year": 2026, "text": "Ein \"Satz\", \u20ac"},
            "licenses": [], "images": images,
            "annotations": [make_annotation(rng, k, rng.choice(ids[1:]),
                                            categories)
                            for k in range(n_annotations)],
            "categories": categories}


def write(coco, **options):
    path = PLACE / next(names)
    path.write_text(json.dumps(coco, **options))
    age(path)
    return path


def age(path):
    """Gives a file a time at which its changes have settled."""
    os.utime(path, (time.time() - 3600,) * 2)


def group(coco):
    """Joins images and annotations, without pycocotools."""
    found = {image["id"]: [] for image in coco["images"]}
    for annotation in coco["annotations"]:
        if annotation["image_id"] in found:
            found[annotation["image_id"]].append(annotation)
    return found


def load(path, settings=f"root={PLACE}"):
    """Returns (URI, extra) of each item, and the classes."""
    with Loader(f'spdlsrc location="{path}" {settings} epochs=1 ! spdlsink') as loader:
        items = [item for batch in loader
                 for item in zip(batch.keys, batch.extras)]
        return items, loader.classes


class CocoTest(unittest.TestCase):
    def check(self, coco, path, settings=f"root={PLACE}", images=None):
        """Compares all items with what was written."""
        items, classes = load(path, settings)
        categories = sorted(coco.get("categories", []), key=lambda c: c["id"])
        self.assertEqual(classes or [], [c["name"] for c in categories])
        numbers = {c["id"]: i for i, c in enumerate(categories)}
        annotations = group(coco)
        if images is None:
            images = sorted(coco["images"], key=lambda image: image["id"])
        text = path.read_bytes()
        self.assertEqual(len(items), len(images))
        for (uri, extra), image in zip(items, images):
            here = annotations[image["id"]]
            self.assertEqual(uri, f"file://{PLACE}/{image['file_name']}")
            extra["tags"] = json.loads(extra["tags"])
            self.assertEqual({name: extra.get(name) for name in image
                              if name != "file_name"},
                             {name: image[name] for name in image
                              if name != "file_name"})
            for field, name in FIELDS.items():
                if any(name in a for a in coco["annotations"]):
                    self.assertEqual(json.loads(extra[field]),
                                     [a.get(name) for a in here])
                else:
                    self.assertNotIn(field, extra)
            if categories:
                self.assertEqual(json.loads(extra["boxes_labels"]),
                                 [numbers[a["category_id"]] for a in here])
            masks = json.loads(extra.get("boxes_masks", "[]"))
            self.assertEqual(
                [json.loads(text[at:at + size]) for at, size in masks],
                [a["segmentation"] for a in here if "segmentation" in a])
        return items

    def test_items(self):
        coco = make_coco()
        path = write(coco)
        self.check(coco, path)
        made = path.with_name(f".{path.name}.spdl-list")
        stamp = made.stat().st_ino
        self.check(coco, path)
        self.assertEqual(made.stat().st_ino, stamp)

    def test_fresh_file(self):
        """Its list is written again, since its time may hide a change."""
        path = write(make_coco())
        path.touch()
        load(path)
        made = path.with_name(f".{path.name}.spdl-list")
        self.assertNotEqual(made.stat().st_mtime_ns, path.stat().st_mtime_ns)
        stamp = made.stat().st_ino
        load(path)
        self.assertNotEqual(made.stat().st_ino, stamp)

    def test_layouts(self):
        """Blanks, orders and escapes that writers of JSON choose."""
        coco = make_coco()
        reverse = dict(reversed(coco.items()))
        for made, options in itertools.product(
                (coco, reverse),
                ({"indent": 2}, {"separators": (",", ":")},
                 {"ensure_ascii": False}, {"sort_keys": True})):
            with self.subTest(options=options, first=next(iter(made))):
                self.check(made, write(made, **options))

    def test_crlf(self):
        coco = make_coco()
        path = PLACE / next(names)
        path.write_bytes(json.dumps(coco, indent=1).replace("\n", "\r\n").encode())
        self.check(coco, path)

    def test_values_across_chunks(self):
        """A value is larger than what is read at once."""
        coco = make_coco(20, 50)
        for annotation in coco["annotations"][::10]:
            annotation["segmentation"] = [list(range(250_000))]
        self.check(coco, write(coco))

    def test_captions_and_keypoints(self):
        coco = make_coco()
        del coco["categories"]
        for i, annotation in enumerate(coco["annotations"]):
            for name in "bbox", "category_id", "segmentation", "area", "iscrowd":
                del annotation[name]
            annotation["caption"] = f"Ein \"Bild\" {i}\\ \n mit \u20ac [und] {{}}"
        self.check(coco, write(coco))
        coco = make_coco()
        for i, annotation in enumerate(coco["annotations"]):
            if i % 3:
                annotation["keypoints"] = [i, 2, 0] * 17
        self.check(coco, write(coco))

    def test_images_without_annotations(self):
        coco = make_coco(60, 30)
        path = write(coco)
        self.check(coco, path)
        annotations = group(coco)
        self.check(coco, path, f"root={PLACE} require-annotations=true",
                   sorted((i for i in coco["images"] if annotations[i["id"]]),
                          key=lambda image: image["id"]))
        self.check(coco, path)
        coco["annotations"] = []
        path = write(coco)
        items, _ = load(path)
        self.assertEqual(len(items), 60)
        with raises("resource-error not-found", path):
            load(path, "require-annotations=true")

    def test_changed_file(self):
        path = write(make_coco())
        load(path)
        coco = make_coco(seed=1)
        path.write_text(json.dumps(coco))
        self.check(coco, path)
        # The same size and time.
        stamp = path.stat()
        text = path.read_text().replace('"license": 3', '"license": 4')
        path.write_text(text)
        os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        self.check(json.loads(text), path)

    def test_damaged_list(self):
        """It is written again, or an error says what to do."""
        coco = make_coco()
        path = write(coco)
        load(path)
        made = path.with_name(f".{path.name}.spdl-list")
        stamp, whole = made.stat(), made.read_bytes()
        for size in (0, 10, 200, whole.index(b"\n") + 1, whole.rindex(b"\n", 0, -1),
                     whole.rindex(b"\n", 0, -1) + 1, len(whole) - 9):
            made.write_bytes(whole[:size])
            os.utime(made, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
            with self.subTest(size=size):
                if size < 60:
                    self.check(coco, path)
                else:
                    with raises("resource-error read|not-found", made):
                        load(path)

    def test_uri_column(self):
        coco = make_coco()
        items, _ = load(write(coco), "uri-column=coco_url")
        images = sorted(coco["images"], key=lambda image: image["id"])
        self.assertEqual([uri for uri, _ in items],
                         [image["coco_url"] for image in images])
        self.assertEqual([extra["file_name"] for _, extra in items],
                         [image["file_name"] for image in images])

    def test_photos(self):
        """Images are loaded from `root`, and the order is shuffled."""
        coco = make_coco(len(PHOTOS), 100)
        for image, photo in zip(coco["images"], PHOTOS):
            image["file_name"] = str(photo.relative_to(photo.parents[1]))
        path = write(coco)
        ids = sorted(image["id"] for image in coco["images"])
        found = []
        with Loader(f"spdlsrc location={path} root={PHOTOS[0].parents[1]} "
                    "shuffle=true epochs=1 ! spdlfetch ! spdldecode width=32 "
                    "height=32 ! spdlbatch batch-size=5 indices=true ! spdlsink"
                    ) as loader:
            for batch in loader:
                for extra, index in zip(batch.extras, batch.indices):
                    self.assertEqual(extra["id"], ids[index])
                    found.append(extra["id"])
            self.assertEqual(loader.failures, [])
        self.assertEqual(sorted(found), ids)
        self.assertNotEqual(found, ids)

    def load_masks(self, path, settings=""):
        """Returns the masks of each annotation by its id."""
        found = {}
        with Loader(f"spdlsrc location={path} root={PHOTOS[0].parents[1]} "
                    "box-column=boxes box-format=xywh box-label-columns=boxes_ids "
                    f"box-mask-column=boxes_masks {settings} ! spdlfetch "
                    "! spdldecode resize=none ! spdlbatch batch-size=1 ! spdlsink"
                    ) as loader:
            for batch in loader:
                n = np.array(batch["boxes_lengths"])[0]
                found.update(zip(np.array(batch["boxes_ids"])[0, :n].tolist(),
                                 np.array(batch["boxes_masks"])[0, :n]))
            self.assertEqual(loader.failures, [])
        return found

    def make_masks(self):
        """Makes annotations of photos whose masks are rectangles, in all forms."""
        coco = make_coco(len(PHOTOS), 120)
        sizes = {}
        for image, photo in zip(coco["images"], PHOTOS):
            image["file_name"] = str(photo.relative_to(photo.parents[1]))
            with Image.open(photo) as opened:
                image["width"], image["height"] = sizes[image["id"]] = opened.size
        wanted = {}
        for i, annotation in enumerate(coco["annotations"]):
            width, height = sizes[annotation["image_id"]]
            mask = np.zeros((height, width), np.uint8)
            x, y = i % 20, i % 13
            mask[y:y + 30, x:x + 40] = 1
            annotation["bbox"] = [0, 0, width, height]
            annotation["segmentation"] = [[x, y, x + 40, y, x + 40, y + 30, x, y + 30]]
            if i % 2:
                changes = np.flatnonzero(np.diff(mask.T.ravel(), prepend=0)).tolist()
                annotation["segmentation"] = {
                    "size": [height, width],
                    "counts": np.diff([0, *changes, mask.size]).tolist()}
            wanted[annotation["id"]] = mask
        return coco, wanted

    def test_masks(self):
        coco, wanted = self.make_masks()
        found = self.load_masks(write(coco))
        self.assertEqual(found.keys(), wanted.keys())
        for name, mask in wanted.items():
            np.testing.assert_array_equal(found[name], mask)

    def test_masks_that_are_missing(self):
        coco, _ = self.make_masks()
        del coco["annotations"][5]["segmentation"]
        path = write(coco)
        image, = (image["file_name"] for image in coco["images"]
                  if image["id"] == coco["annotations"][5]["image_id"])
        with self.assertRaisesRegex(
                AssertionError, f"(?s)Failure.*{image}.*boxes_masks.*null"):
            self.load_masks(path)

    def test_masks_of_a_changed_file(self):
        coco, _ = self.make_masks()
        path = write(coco)
        with raises("resource-error read", path.name), \
                Loader(f"spdlsrc location={path} root={PHOTOS[0].parents[1]} "
                       "box-column=boxes box-mask-column=boxes_masks epochs=1000 "
                       "! spdlsink max-buffers=1") as loader:
            loader.next()
            path.write_text(json.dumps(coco) + " ")
            # A second `for` would start the pipeline again if it came before
            # the error, and the state of another dataset is refused.
            while True:
                loader.next()

    @unittest.skipUnless(importlib.util.find_spec("pycocotools"),
                         "there is no pycocotools")
    def test_masks_of_pycocotools(self):
        from pycocotools.coco import COCO

        coco, _ = self.make_masks()
        rng = random.Random(2)
        for annotation in coco["annotations"][::2]:
            annotation["segmentation"] = [
                [rng.uniform(-20, 300) for _ in range(2 * rng.randint(3, 20))]
                for _ in range(rng.randint(1, 3))]
        path = write(coco)
        with contextlib.redirect_stdout(io.StringIO()):
            theirs = COCO(path)
        for name, mask in self.load_masks(path).items():
            np.testing.assert_array_equal(mask, theirs.annToMask(theirs.anns[name]))

    def test_read_only_folder(self):
        if os.geteuid() == 0:
            # Root may write everywhere; a folder in place of the file is as good.
            coco = make_coco()
            path = write(coco)
            path.with_name(f".{path.name}.spdl-list").mkdir()
            self.check(coco, path)
            self.check(coco, path)
            return
        folder = PLACE / "read-only"
        folder.mkdir()
        coco = make_coco()
        path = folder / "a.json"
        path.write_text(json.dumps(coco))
        folder.chmod(0o500)
        self.check(coco, path)

    def test_lost_annotations(self):
        coco = make_coco()
        for annotation in coco["annotations"][:7]:
            annotation["image_id"] = 999_999
        path = write(coco)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.check(coco, path)
        texts = [str(w.message) for w in caught if w.category is LoaderWarning]
        self.assertEqual([("7" in text and "999999" in text and str(path) in text)
                          for text in texts], [True])

    def test_mistakes(self):
        def change(**changes):
            coco = make_coco(5, 9)
            for name, value in changes.items():
                if callable(value):
                    value(coco[name])
                else:
                    coco[name] = value
            return coco

        def one(name, value):
            def func(parts):
                parts[3][name] = value
            return func

        def without(name):
            return lambda parts: parts[3].pop(name)

        for coco, *values in (
                (change(images=[]), "images"),
                ({"a": 1}, "images"),
                ({}, "images"),
                (change(images=one("id", "7")), "id", '"7"'),
                (change(images=one("id", 1.5)), "id", "1.5"),
                (change(images=one("id", 1 << 70)), "id", 1 << 70),
                (change(images=without("id")), "id", "image 4"),
                (change(images=without("file_name")), "file_name"),
                (change(images=lambda i: i.append(i[2])), "id"),
                (change(images=one("boxes", 1)), "boxes"),
                (change(annotations=without("image_id")), "image_id",
                 "annotation 4"),
                (change(annotations=without("bbox")), "bbox"),
                (change(annotations=without("category_id")), "category_id"),
                (change(annotations=one("category_id", 777)), "777"),
                (change(categories=lambda c: c.append(dict(c[0]))), "id"),
                (change(categories=lambda c: c.append({"id": 99})), "name"),
                (change(categories=[1]), "category"),
                (change(categories=1), "categories"),
                (change(images=lambda i: i.append(1)), "byte"),
                (change(annotations=lambda a: a[0].update(
                    bbox=[0] * 600_000)), "1048576"),
                ([1], "byte 0"),
                ('{"images": [{"id": 1, "id": 2}]}', "id", "twice"),
                ('{"images": [{"id": 1}], "annotations": '
                 '[{"image_id": 1, "bbox": [0], "bbox": [1]}]}', "bbox", "twice"),
                ('{"images": [{"id": 1}], "images": []}', "images", "twice")):
            path = write(coco)
            if isinstance(coco, str):
                path.write_text(coco)
            with self.subTest(values=values), \
                    raises("resource-error read|settings", path.name, *values):
                load(path)

    def test_broken_json(self):
        text = json.dumps(make_coco(5, 9))
        rng = random.Random(1)
        for cut in [0, 1, len(text) - 1, *rng.sample(range(len(text)), 20)]:
            path = PLACE / next(names)
            path.write_text(text[:cut])
            with self.subTest(cut=cut), \
                    raises("resource-error read", path.name, cut):
                load(path)
        for extra in "x", "{}", ",":
            path = PLACE / next(names)
            path.write_text(text + extra)
            with raises("resource-error read", path.name, len(text)):
                load(path)
        path = PLACE / next(names)
        path.write_bytes(text.replace("klasse", "kl\udcffsse").encode(
            errors="surrogateescape"))
        with raises("resource-error read", path.name):
            load(path)

    def test_root_that_is_missing(self):
        path = write(make_coco())
        with raises("resource-error not-found", "/no/such/folder"):
            load(path, "root=/no/such/folder")

    def test_classes(self):
        coco = make_coco()
        path = write(coco)
        with raises("resource-error settings", path.name):
            load(path, "classes=<a,b>")

    def test_root_of_a_list(self):
        path = PLACE / "list.txt"
        path.write_text("a.jpg\nb/c.jpg\n/d.jpg\nhttp://e/f.jpg\n")
        items, _ = load(path, f"root={PHOTOS[0].parent}")
        self.assertEqual([uri for uri, _ in items],
                         [f"file://{PHOTOS[0].parent}/a.jpg",
                          f"file://{PHOTOS[0].parent}/b/c.jpg",
                          "file:///d.jpg", "http://e/f.jpg"])

    @unittest.skipUnless(importlib.util.find_spec("pycocotools"),
                         "there is no pycocotools")
    def test_pycocotools(self):
        from pycocotools.coco import COCO

        size = (118_287, 860_001) if SLOW else (300, 3000)
        path = write(make_coco(*size))
        with contextlib.redirect_stdout(io.StringIO()):
            theirs = COCO(path)
        self.check({"images": list(theirs.imgs.values()),
                    "annotations": theirs.loadAnns(theirs.getAnnIds()),
                    "categories": theirs.loadCats(theirs.getCatIds())}, path)

    @unittest.skipUnless(SLOW, "SPDL_TEST_SLOW is not set")
    def test_size(self):
        """The second time, it opens in 1 s and 60 MB."""
        path = write(make_coco(118_287, 860_001))
        load(path)
        code = (f"import gstspdl, resource, time; t = time.monotonic()\n"
                f"loader = gstspdl.Loader('spdlsrc location={path} root=/ ! spdlsink')\n"
                f"next(iter(loader))\n"
                f"print(time.monotonic() - t, resource.getrusage("
                f"resource.RUSAGE_SELF).ru_maxrss / 1024)")
        seconds, size = map(float, subprocess.run(
            [sys.executable, "-c", code], check=True, text=True,
            capture_output=True).stdout.split())
        print(f"{seconds:.2f} s, {size:.0f} MB", file=sys.stderr)
        self.assertLess(size, 60)


if __name__ == "__main__":
    unittest.main()
