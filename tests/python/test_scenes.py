#!/usr/bin/python3
# gst-spdl: tests of datasets for detection and segmentation
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""SPDL_TEST_SLOW: trains with this package and with another loader."""

import importlib.util
import json
import os
import sys
import unittest

import numpy as np
from PIL import Image
from errors import raises_with
from support import make_folder

from gstspdl import LoaderError, coco_detection, segmentation_pairs

WIDTH, HEIGHT, SIDE = 80, 60, 40
HAS_TORCH = importlib.util.find_spec("torch") is not None
if HAS_TORCH:
    from gstspdl.torch import Dataset, list_targets

# Ids of categories have gaps and are in no order.
CATEGORIES = [{"id": 18, "name": "dog"}, {"id": 1, "name": "person"},
              {"id": 90, "name": "brush"}]
NUMBERS = {1: 0, 18: 1, 90: 2}


def make_coco(n=10):
    """Makes images with one bright rectangle for each box, and no box in the
    fourth image. Returns the folder and the annotations by image."""
    folder = make_folder()
    rng = np.random.default_rng(5)
    images, annotations = [], []
    for i in range(n):
        picture = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
        images.append({"id": 100 + 7 * i, "file_name": f"{i}.png",
                       "width": WIDTH, "height": HEIGHT})
        for k in range(0 if i == 3 else 1 + i % 2):
            x, y = int(rng.integers(2, 50)), int(rng.integers(2, 20)) + 28 * k
            width, height = int(rng.integers(10, 24)), int(rng.integers(6, 10))
            picture[y:y + height, x:x + width, k] = 255
            annotations.append({
                "id": len(annotations) + 1, "image_id": images[-1]["id"],
                "category_id": CATEGORIES[(i + k) % 3]["id"], "iscrowd": k,
                "bbox": [x, y, width, height], "area": width * height,
                "segmentation": [[x, y, x + width, y, x + width, y + height, x,
                                  y + height]],
                "keypoints": [[x + j, y + 1, 2][c] for j in range(17)
                              for c in range(3)]})
        Image.fromarray(picture).save(folder / f"{i}.png")
    rng.shuffle(annotations)
    (folder / "instances.json").write_text(json.dumps({
        "images": images, "annotations": annotations, "categories": CATEGORIES}))
    return folder, {image["id"]: [a for a in annotations
                                  if a["image_id"] == image["id"]]
                    for image in images}


FOLDER, BY_IMAGE = make_coco()


def detect(**options):
    """Yields the id, the image and a dict of the values of each item."""
    with coco_detection(FOLDER / "instances.json", FOLDER,
                        **{"size": SIDE, "batch_size": 4, "dtype": "uint8",
                           **options}) as loader:
        for batch in loader:
            arrays = {name: np.array(batch[name]) for name in batch}
            for i, n in enumerate(arrays["boxes_lengths"]):
                yield int(arrays["id"][i]), arrays["data"][i], {
                    name: array[i, :n] for name, array in arrays.items()
                    if name.startswith("boxes_") and array.ndim > 1 or
                    name in ("boxes", "keypoints")}
        assert loader.failures == [], loader.failures


def find_rectangle(channel):
    rows, columns = np.nonzero(channel > 127)
    return [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]


class DetectionTest(unittest.TestCase):
    def test_validation(self):
        """Tests that boxes are those of the file, at half of the size and below
        the border."""
        found = list(detect(train=False))
        self.assertEqual([key for key, _, _ in found], sorted(BY_IMAGE))
        for key, image, values in found:
            wanted = BY_IMAGE[key]
            self.assertEqual(image.shape, (3, SIDE, SIDE))
            self.assertEqual(image[:, :5].max(), 0)
            x, y, width, height = np.reshape(
                [a["bbox"] for a in wanted], (-1, 4)).T / 2
            np.testing.assert_allclose(values["boxes"], np.stack(
                [x, y + 5, x + width, y + height + 5], -1))
            for name, numbers in (
                    ("labels", [NUMBERS[a["category_id"]] for a in wanted]),
                    ("crowd", [a["iscrowd"] for a in wanted]),
                    ("ids", [a["id"] for a in wanted])):
                self.assertEqual(values[f"boxes_{name}"].tolist(), numbers)

    def test_training(self):
        """Tests that boxes are around their rectangles."""
        for options in ({}, {"crop_scale": (0.5, 1)}, {"augment": (
                "affine(scale=0.5..1.5,translate=0.1); vertical-flip")}):
            n_boxes, flips, orders = 0, set(), []
            for seed in 1, 2:
                found = list(detect(seed=seed, min_area=10, **options))
                orders.append([key for key, _, _ in found])
                self.assertEqual(sorted(orders[-1]), sorted(BY_IMAGE))
                for key, image, values in found:
                    crowds = values["boxes_crowd"]
                    for box, k, name in zip(values["boxes"], crowds,
                                            values["boxes_ids"]):
                        n_boxes += 1
                        np.testing.assert_allclose(
                            box, find_rectangle(image[k]), atol=1.5)
                        original, = (a["bbox"] for a in BY_IMAGE[key]
                                     if a["id"] == name)
                        flips.add(abs(original[0] / 2 - box[0]) < 1)
            self.assertNotEqual(*orders)
            self.assertGreater(n_boxes, 15)
            self.assertEqual(flips, {False, True})

    def test_keypoints(self):
        """Tests that left and right change places with the image."""
        swapped = [0, *(k + 1 if k % 2 else k - 1 for k in range(1, 17))]
        for flip, train in (0, True), (1, True), (1, False):
            for key, _, values in detect(flip=flip, train=train, keypoints=True):
                wanted = np.reshape([a["keypoints"] for a in BY_IMAGE[key]],
                                    (-1, 17, 3)).astype(float)
                wanted[..., :2] /= 2
                wanted[..., 1] += 5
                if flip and train:
                    wanted[..., 0] = SIDE - 1 - wanted[..., 0]
                    wanted = wanted[:, swapped]
                # Points outside of the image are not visible.
                wanted[(wanted[..., 0] < 0) | (wanted[..., 0] >= SIDE)] = 0
                np.testing.assert_allclose(values["keypoints"], wanted)

    def test_masks(self):
        """Tests that masks are their rectangles."""
        for options in ({"train": False}, {}, {"crop_scale": (0.5, 1)}, {
                "augment": "affine(scale=0.5..1.5,translate=0.1); vertical-flip"}):
            n_masks = 0
            for _, image, values in detect(masks=True, min_area=10, **options):
                self.assertEqual(values["boxes_masks"].shape[1:], (SIDE, SIDE))
                for mask, k in zip(values["boxes_masks"], values["boxes_crowd"]):
                    n_masks += 1
                    # The image is bilinear at its edges.
                    self.assertLess(np.abs(mask - image[k] / 255).mean(), 0.02)
                    np.testing.assert_allclose(find_rectangle(mask * 255),
                                               find_rectangle(image[k]), atol=2.5)
            self.assertGreater(n_masks, 10)

    def test_images_without_annotations(self):
        with_boxes = sorted(key for key, found in BY_IMAGE.items() if found)
        self.assertEqual([key for key, _, _ in detect(
            train=False, require_annotations=True)], with_boxes)
        self.assertEqual(len(with_boxes), len(BY_IMAGE) - 1)

    def test_values(self):
        """Tests that values are not normalized by default."""
        images = [image for _, image, _ in detect(train=False)]
        for (_, image, _), wanted in zip(detect(train=False, dtype="float32"),
                                         images):
            np.testing.assert_allclose(image, wanted / 255, atol=1e-6)

    @unittest.skipUnless(HAS_TORCH, "needs PyTorch")
    def test_targets(self):
        for crowds in False, True:
            dataset = Dataset(coco_detection(
                FOLDER / "instances.json", FOLDER, size=SIDE, batch_size=4,
                train=False, keypoints=True, masks=True), device="cpu")
            self.assertEqual(dataset.classes, ["person", "dog", "brush"])
            found = [target for batch in dataset
                     for target in list_targets(batch, crowds=crowds)]
            again = [target for batch in dataset.loader
                     for target in list_targets(batch, crowds=crowds,
                                                first_label=0)]
            dataset.stop()
            self.assertEqual([target["image_id"] for target in found],
                             sorted(BY_IMAGE))
            for target, other in zip(found, again):
                wanted = [a for a in BY_IMAGE[target["image_id"]]
                          if crowds or not a["iscrowd"]]
                n = len(wanted)
                self.assertEqual(target["boxes"].shape, (n, 4))
                self.assertEqual(target["keypoints"].shape, (n, 17, 3))
                self.assertEqual(target["masks"].shape, (n, SIDE, SIDE))
                for mask, box in zip(target["masks"].numpy(), target["boxes"]):
                    np.testing.assert_allclose(find_rectangle(mask * 255), box,
                                               atol=0.51)
                self.assertEqual(target["iscrowd"].tolist(),
                                 [a["iscrowd"] for a in wanted])
                self.assertEqual(target["labels"].tolist(), [
                    NUMBERS[a["category_id"]] + 1 for a in wanted])
                self.assertTrue((target["labels"] == other["labels"] + 1).all())

    def test_wrong_arguments(self):
        for name in "labels", "classes", "mixup_alpha":
            with self.assertRaisesRegex(TypeError, name):
                coco_detection(FOLDER / "instances.json", FOLDER, **{name: 1})
        with raises_with("source", "missing"):
            coco_detection(FOLDER / "instances.json", FOLDER / "missing")
        with raises_with("source", "missing"):
            coco_detection(FOLDER / "missing.json", FOLDER)


def make_discs(n):
    """Makes JPEGs with a bright disc before noise, and its box."""
    folder = make_folder()
    rng = np.random.default_rng(n)
    images, annotations = [], []
    for i in range(n):
        width, height = (int(side) for side in rng.integers(90, 160, 2))
        radius = int(rng.integers(8, 20))
        x, y = (int(rng.integers(radius, side - radius)) for side in (width, height))
        rows, columns = np.mgrid[:height, :width]
        picture = rng.integers(0, 120, (height, width, 3)).astype(np.uint8)
        picture[(rows - y) ** 2 + (columns - x) ** 2 < radius ** 2] = 230
        Image.fromarray(picture).save(folder / f"{i}.jpg", quality=90)
        images.append({"id": i, "file_name": f"{i}.jpg"})
        annotations.append({
            "id": i, "image_id": i, "category_id": 1, "iscrowd": 0,
            "bbox": [x - radius, y - radius, 2 * radius, 2 * radius]})
    (folder / "discs.json").write_text(json.dumps({
        "images": images, "annotations": annotations,
        "categories": [{"id": 1, "name": "disc"}]}))
    return folder


class OurLoader:
    """Loads the discs with Pillow and NumPy, as torchvision's script does."""

    def __init__(self, folder, train, seed):
        data = json.loads((folder / "discs.json").read_text())
        self.items = [(folder / image["file_name"], np.array(a["bbox"], float))
                      for image, a in zip(data["images"], data["annotations"])]
        self.train, self.rng = train, np.random.default_rng(seed)

    def load(self, path, box):
        x, y, width, height = box
        with Image.open(path) as image:
            scale = SIDE / max(image.size)
            size = [round(side * scale) for side in image.size]
            shift = [(SIDE - side) // 2 for side in size]
            scales = [side / whole for side, whole in zip(size, image.size)]
            canvas = np.zeros((SIDE, SIDE, 3), np.float32)
            canvas[shift[1]:shift[1] + size[1], shift[0]:shift[0] + size[0]] = \
                image.resize(size, Image.Resampling.BILINEAR)
        center = [(x + width / 2) * scales[0] + shift[0],
                  (y + height / 2) * scales[1] + shift[1]]
        if self.train and self.rng.random() < 0.5:
            canvas, center[0] = canvas[:, ::-1], SIDE - center[0]
        return canvas.transpose(2, 0, 1) / 255, center

    def __iter__(self):
        order = np.arange(len(self.items))
        if self.train:
            self.rng.shuffle(order)
        for at in range(0, len(order), 16):
            images, centers = zip(*(self.load(*self.items[i])
                                    for i in order[at:at + 16]))
            yield np.stack(images), np.array(centers)


class SpdlLoader:
    def __init__(self, folder, train, seed):
        self.loader = coco_detection(folder / "discs.json", folder, size=SIDE,
                                     batch_size=16, train=train, seed=seed,
                                     in_order=True)

    def __iter__(self):
        for batch in self.loader:
            boxes = np.array(batch["boxes"])[:, 0]
            yield np.array(batch["data"]), (boxes[:, :2] + boxes[:, 2:]) / 2
        assert self.loader.failures == []


@unittest.skipUnless(HAS_TORCH and os.environ.get("SPDL_TEST_SLOW"),
                     "needs PyTorch and SPDL_TEST_SLOW")
class LossTest(unittest.TestCase):
    """A regression of the centers of boxes learns the same from this package as
    from a loader of Pillow and NumPy."""

    def learn(self, make, seed):
        """Returns the error of the validation, in pixels."""
        import torch
        from torch import nn

        def error_of(images, centers):
            images, centers = torch.tensor(images), torch.tensor(centers).float()
            heat = model(images).flatten(1).softmax(1)
            return (heat @ places - centers).norm(dim=1)

        places = torch.stack(torch.meshgrid(
            *[torch.arange(SIDE) + 0.5] * 2, indexing="xy"), -1).reshape(-1, 2)
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Conv2d(3, 8, 5, padding=2), nn.ReLU(),
                              nn.Conv2d(8, 1, 5, padding=2))
        optimizer = torch.optim.Adam(model.parameters(), 0.01)
        train, val = make(self.train, True, seed), make(self.val, False, seed)
        for _ in range(6):
            for batch in train:
                loss = error_of(*batch).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        with torch.no_grad():
            return float(torch.cat([error_of(*batch) for batch in val]).mean())

    def test_loss(self):
        self.train, self.val = make_discs(400), make_discs(100)
        ours, theirs = ([self.learn(make, seed) for seed in (1, 2, 3)]
                        for make in (SpdlLoader, OurLoader))
        print(f"ours {np.round(ours, 3)}, theirs {np.round(theirs, 3)} pixels",
              file=sys.stderr)
        spread = max(np.ptp(ours), np.ptp(theirs))
        self.assertLess(abs(np.mean(ours) - np.mean(theirs)), spread)
        self.assertLess(np.mean(ours), 2)


def make_pairs(n=8):
    """Makes images whose values are ten times the classes of their masks, from
    1 to 20."""
    folder = make_folder()
    rng = np.random.default_rng(3)
    for name in "images/a", "masks/a":
        (folder / name).mkdir(parents=True)
    for i in range(n):
        mask = rng.integers(1, 21, (HEIGHT // 5, WIDTH // 5)).astype(np.uint8)
        mask = mask.repeat(5, 0).repeat(5, 1)
        Image.fromarray(np.stack([mask * 10] * 3, -1)).save(
            folder / f"images/a/{i}, x.png")
        picture = Image.fromarray(mask, "P")
        picture.putpalette(np.random.default_rng(i).bytes(768))
        picture.save(folder / f"masks/a/{i}, x.png")
    (folder / "images/b.png").write_bytes(
        (folder / "images/a/0, x.png").read_bytes())
    return folder


PAIRS = make_pairs()


def pairs(*places, **options):
    """Yields the image and the mask of each item."""
    with segmentation_pairs(*(places or (PAIRS / "images", PAIRS / "masks")), **{
            "size": SIDE, "batch_size": 3, "dtype": "uint8",
            "interpolation": "nearest", **options}) as loader:
        for batch in loader:
            name, = set(batch) - {"data"}
            yield from zip(np.array(batch["data"]), np.array(batch[name])[..., 0])
        assert loader.failures == [], loader.failures


class SegmentationTest(unittest.TestCase):
    def setUp(self):
        cache = make_folder()
        before = os.environ.get("XDG_CACHE_HOME")
        os.environ["XDG_CACHE_HOME"] = str(cache)
        self.addCleanup(os.environ.pop, "XDG_CACHE_HOME")
        if before is not None:
            self.addCleanup(os.environ.update, XDG_CACHE_HOME=before)
        self.cache = cache / "gst-spdl"

    def check_aligned(self, image, mask, border=255):
        """Tests that the mask shows what the image shows."""
        self.assertEqual(image.shape, (3, SIDE, SIDE))
        self.assertEqual(mask.shape, (SIDE, SIDE))
        outside = mask == border
        self.assertEqual(image[:, outside].max(initial=0), 0)
        np.testing.assert_array_equal(image[0][~outside] // 10, mask[~outside])

    def test_validation(self):
        found = list(pairs(train=False))
        self.assertEqual(len(found), 8)
        for i, (image, mask) in enumerate(found):
            self.check_aligned(image, mask)
            wanted = np.asarray(Image.open(PAIRS / f"masks/a/{i}, x.png"))
            np.testing.assert_array_equal(mask[5:35], wanted[1::2, 1::2])
            self.assertEqual(set(mask[[0, 4, 35, 39]].ravel()), {255})

    def test_training(self):
        """Tests that masks move as their images."""
        moves = ("rotate(degrees=30)", "affine(translate=0.3,scale=0.5..1.5)",
                 "affine(degrees=9,fill=0/0/0,interpolation=nearest); invert(p=0)",
                 "horizontal-flip; vertical-flip(p=0.7)",
                 "pad(padding=4); random-crop(size=40)",
                 "random-crop(size=40,padding=9,mode=reflect)",
                 "equalize(p=0); rotate(degrees=20)",
                 ["choice(invert(p=0), sequence(hue(factor=0), invert(p=0)))",
                  "perspective(interpolation=nearest,p=1)"])
        for crop_scale in (0.3, 1), None:
            for augment in None, *moves:
                with self.subTest(crop_scale=crop_scale, augment=augment):
                    found = list(pairs(crop_scale=crop_scale, augment=augment,
                                       seed=9))
                    self.assertEqual(len(found), 8)
                    for image, mask in found:
                        self.check_aligned(image, mask)
                    if crop_scale:
                        self.assertGreater(
                            len({mask.tobytes() for _, mask in found}), 7)
                    else:
                        self.assertTrue(all((mask == 255).any()
                                            for _, mask in found))

    def test_colors(self):
        """Tests that colors change the image only."""
        plain = sorted(mask.tobytes() for _, mask in pairs(seed=4))
        images = set()
        for augment in "invert(p=1)", "gaussian-blur; brightness(factor=0.5)":
            found = list(pairs(seed=4, augment=augment))
            self.assertEqual(sorted(mask.tobytes() for _, mask in found), plain)
            images.update(image.tobytes() for image, _ in found)
        self.assertEqual(len(images), 16)

    def test_other_border(self):
        for image, mask in pairs(train=False, ignore_index=0):
            self.check_aligned(image, mask, 0)
        for _, mask in pairs(augment="rotate(angle=45)", ignore_index=77):
            self.assertIn(77, mask)
            self.assertNotIn(255, mask)

    def test_types(self):
        with segmentation_pairs(PAIRS / "images", PAIRS / "masks", size=SIDE,
                                batch_size=8) as loader:
            batch = next(iter(loader))
            self.assertEqual((batch["data"].dtype, batch["data"].shape),
                             ("float32", (8, 3, SIDE, SIDE)))
            self.assertEqual((batch["mask"].dtype, batch["mask"].shape),
                             ("uint8", (8, SIDE, SIDE, 1)))
            self.assertLess(batch["data"].numpy().min(), 0)  # normalized

    def test_names(self):
        names = PAIRS / "names.txt"
        names.write_text("a/3, x\n\na/1, x\n")
        for chosen in names, ["a/3, x", "a/1, x"]:
            found = list(pairs(names=chosen, train=False))
            self.assertEqual(len(found), 2)
            for (_, mask), i in zip(found, (3, 1)):
                wanted = np.asarray(Image.open(PAIRS / f"masks/a/{i}, x.png"))
                np.testing.assert_array_equal(mask[5:35], wanted[1::2, 1::2])
        self.assertEqual(len(list(self.cache.iterdir())), 1)

    def test_links(self):
        """Tests that linked folders are read, but not those that contain them."""
        folder = make_folder()
        for name in "images", "masks":
            (folder / name).mkdir()
            (folder / name / "linked").symlink_to(PAIRS / name / "a")
            (folder / name / "above").symlink_to(folder)
            (folder / name / "again").symlink_to(folder / name)
        self.assertEqual(len(list(pairs(folder / "images", folder / "masks"))), 8)

    def test_list(self):
        path = PAIRS / "list.jsonl"
        with path.open("w") as file:
            for i in range(8):
                print(json.dumps({"uri": f"images/a/{i}, x.png",
                                  "classes": f"masks/a/{i}, x.png"}), file=file)
        found = list(pairs(path, mask_column="classes"))
        self.assertEqual(len(found), 8)
        for image, mask in found:
            self.check_aligned(image, mask)

    def test_16_bits(self):
        folder = make_folder()
        for name in "images", "masks":
            (folder / name).mkdir()
        values = np.random.default_rng(0).integers(0, 1 << 16, (60, 80))
        Image.fromarray(values.astype(np.uint16)).save(folder / "masks/1.png")
        Image.fromarray((values % 256).astype(np.uint8)).save(
            folder / "images/1.png")
        for train in False, True:
            (image, mask), = pairs(folder / "images", folder / "masks",
                                   mask_format="GRAY16", ignore_index=40000,
                                   train=train)
            self.assertEqual(mask.dtype, np.uint16)
            inside = mask != 40000
            np.testing.assert_array_equal(image[0][inside], mask[inside] % 256)

    def test_resuming(self):
        """Tests that the list of two folders stays the same."""
        def load(**more):
            return segmentation_pairs(PAIRS / "images", PAIRS / "masks",
                                      size=8, batch_size=2, **more)

        with load() as loader:
            first = next(iter(loader))
        with load(state=first.state) as loader:
            rest = [i for batch in loader for i in batch.indices]
        self.assertEqual(sorted([*first.indices, *rest]), list(range(8)))

    def test_mistakes(self):
        def load(*places, **options):
            segmentation_pairs(*places, **options)

        images, masks = PAIRS / "images", PAIRS / "masks"
        other = make_folder()
        (other / "lost.png").write_bytes(b"")
        (other / "lost.jpg").write_bytes(b"")
        with self.assertRaisesRegex(ValueError, r"lost\.(png|jpg)"):
            load(images, other)
        (other / "lost.jpg").unlink()
        with self.assertRaisesRegex(ValueError, "1 of 1 pairs, such as 'lost'"):
            load(images, other)
        with self.assertRaisesRegex(ValueError, "'x'"):
            load(images, masks, names=["x"])
        with self.assertRaisesRegex(ValueError, "no masks"):
            load(images, make_folder())
        with self.assertRaisesRegex(ValueError, "names"):
            load(PAIRS / "list.jsonl", names=["x"])
        with self.assertRaisesRegex(ValueError, "mask_column"):
            load(images, masks, mask_column="x")
        with raises_with("source", "missing"):
            load(images, PAIRS / "missing")
        for ops, name in (("rand-augment", "rand-augment"),
                          ("choice(rotate(degrees=9),invert)", "rotate"),
                          ("invert; sequence(hue(factor=0), horizontal-flip)",
                           "horizontal-flip"), ("spin(degrees=3)", "spin")):
            with self.assertRaisesRegex(ValueError, f'"{name}"'):
                load(images, masks, augment=ops)
        with self.assertRaises(LoaderError):
            list(pairs(train=False, ignore_index=256))


if __name__ == "__main__":
    unittest.main()
