#!/usr/bin/python3
# gst-spdl: tests of several views of one image
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset, which is not needed here."""

import pathlib
import struct
import tempfile
import unittest

import numpy as np
from PIL import Image

from support import make_folder
from gstspdl import Loader, LoaderError, Pipeline, image_folder

# From the page of spdldecode.
STEP = 0xd1342543de82ef95
SEED = 2**64 - 3
CROP = "augment=random-resized-crop flip=0.5"
GROUPS = "2(size=48,scale=0.4..1); 3(size=24x20,scale=0.05..0.4)"
SIZES = [(48, 48)] * 2 + [(24, 20)] * 3
SCALES = ["<0.4,1.0>"] * 2 + ["<0.05,0.4>"] * 3
SIMCLR = [f"! spdlaugment part={part} "
          'ops="color-jitter(brightness=0.8,hue=0.2); grayscale(p=0.5)"'
          for part in ("data", "view1")]


def make_picture(rng, width, height):
    small = rng.integers(0, 256, (7, 9, 3), dtype=np.uint8)
    return Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC)


def write_pictures(folder):
    """Writes images of all kinds that are decoded in another way, and a mask for
    each."""
    rng = np.random.default_rng(2)
    exif = Image.Exif()
    pictures = [make_picture(rng, 163 + 10 * i, 121 + 7 * i) for i in range(9)]
    for i, (name, options) in enumerate({
            "420.jpg": {"subsampling": 2}, "444.jpg": {"subsampling": 0},
            "progressive.jpg": {"progressive": True},
            "turned.jpg": {"exif": 6}, "mirrored.jpg": {"exif": 2},
            "gray.jpg": {"mode": "L"}, "rgb.png": {},
            "palette.png": {"mode": "P"}, "alpha.webp": {"mode": "RGBA"},
    }.items()):
        picture = pictures[i].convert(options.pop("mode", "RGB"))
        if "exif" in options:
            exif[0x0112] = options["exif"]
            options["exif"] = exif
        picture.save(folder / name, **options)
    large = make_picture(rng, 900, 700)
    large.save(folder / "large.jpg")


def write_masks(folder, to):
    """Writes masks, and returns a list of the images with theirs."""
    lines = ["uri,mask"]
    for path in sorted(folder.glob("*.*")):
        if path.stem == "mirrored":
            continue  # whose orientation would be a guess
        with Image.open(path) as image:
            mask = np.arange(image.height)[:, None] + np.arange(image.width)
        Image.fromarray((mask % 200).astype(np.uint8)).save(f"{to}/{path.stem}.png")
        lines.append(f"{path},{to}/{path.stem}.png")
    source = pathlib.Path(to, "list.csv")
    source.write_text("\n".join(lines))
    return source


def load(folder, decode, epochs=1, files="", more="", fetch="", **settings):
    """Returns the tensors of each item, by epoch and index, and its extra."""
    items = {}
    with Loader(
            f'spdlsrc location="{folder}" {files} epochs={epochs} ! spdlfetch {fetch} '
            f"! spdldecode fast-scale=false {decode} {more} ! spdlsink",
            **settings) as loader:
        for _ in range(epochs):
            for item in loader:
                items[item.epoch, int(item.indices[0])] = (
                    {name: np.array(item[name]) for name in item.names},
                    item.extras[0])
    return items


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = make_folder()
        write_pictures(cls.folder)

    def check_equal(self, found, wanted, part, its="data"):
        self.assertEqual(found.keys(), wanted.keys())
        for key, (tensors, extra) in wanted.items():
            with self.subTest(part, item=key, extra=extra):
                np.testing.assert_array_equal(found[key][0][part], tensors[its])


class TestPixels(Case):
    def test_each_view_is_that_of_its_seed(self):
        settings = f"{CROP} interpolation=bicubic"
        views = load(self.folder, f'views="{GROUPS}" seed={SEED} {settings}',
                     epochs=2)
        self.assertEqual(len(views), 20)
        for i, (width, height) in enumerate(SIZES):
            alone = load(self.folder, f"width={width} height={height} {settings} "
                         f"crop-scale={SCALES[i]} seed={(SEED + i * STEP) % 2**64}",
                         epochs=2)
            part = f"view{i}" if i else "data"
            self.check_equal(views, alone, part)
            for key, (_, extra) in alone.items():
                for name in ("crop-x", "crop-y", "crop-width", "crop-height", "flip"):
                    self.assertEqual(views[key][1][f"{part}.{name}"], extra[name])
                self.assertEqual(views[key][1][f"{part}.view"], i)

    def test_settings(self):
        for settings in (
                f"{CROP} width=40 height=30 interpolation=nearest",
                f"{CROP} width=40 height=30 format=GRAY8",
                f"{CROP} width=200 height=190 format=BGR interpolation=lanczos",
                "augment=random-crop flip=1 width=60 height=60",
                "flip=0.5 width=40 height=30 resize=contain background=0x123456",
                "flip=0.5 width=40 resize=cover",
                "flip=0.5", "orientation=ignore", f"{CROP}"):
            with self.subTest(settings):
                views = load(self.folder, f"views=2 {settings} seed=3")
                self.check_equal(views, load(self.folder, f"{settings} seed=3"), "data")
                self.check_equal(views, load(
                    self.folder, f"{settings} seed={3 + STEP}"), "view1")

    def test_indices(self):
        settings = f"{CROP} width=50 height=50 format=index"
        views = load(self.folder, f"views=2 {settings}",
                     files="pattern=palette.png")
        for part, seed in (("data", 0), ("view1", STEP)):
            self.check_equal(views, load(self.folder, f"{settings} seed={seed}",
                                         files="pattern=palette.png"), part)

    def test_samples_of_16_bits(self):
        with tempfile.TemporaryDirectory() as folder:
            rows = np.arange(90 * 70, dtype=np.uint16).reshape(70, 90) * 9
            for suffix in ("png", "tiff"):
                Image.fromarray(rows).save(f"{folder}/depth.{suffix}")
            settings = f"{CROP} width=50 height=50 format=GRAY16"
            views = load(folder, f"views=2 {settings}")
            self.assertEqual(len(views), 2)
            for part, seed in (("data", 0), ("view1", STEP)):
                self.check_equal(views, load(folder, f"{settings} seed={seed}"), part)

    def test_fast_scale(self):
        """The image is reduced as far as the largest view permits."""
        settings = f"fast-scale=true {CROP} crop-scale=<0.9,1>"
        file = {"files": "pattern=large.jpg"}
        views = load(self.folder, f'{settings} views="2(size=50)"', **file)
        self.check_equal(views, load(self.folder, f"{settings} width=50 height=50",
                                     **file), "data")
        mixed = load(self.folder, f'{settings} views="1(size=50); 1(size=600)"', **file)
        self.check_equal(mixed, load(
            self.folder, f"{settings} fast-scale=false width=50 height=50", **file),
            "data")

    def test_corrupt(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("420.jpg", "rgb.png"):
                data = (self.folder / name).read_bytes()
                pathlib.Path(folder, name).write_bytes(data[:len(data) * 2 // 3])
            settings = f"{CROP} width=50 height=50 background=0x204060"
            kept = load(folder, f"views=2 on-corrupt=keep {settings}")
            self.assertEqual(len(kept), 2)
            for part, seed in (("data", 0), ("view1", STEP)):
                self.check_equal(kept, load(
                    folder, f"on-corrupt=keep {settings} seed={seed}"), part)
            with self.assertRaises(LoaderError):
                load(folder, f"views=2 {settings}")


class TestSamples(Case):
    def make_pipeline(self, **settings):
        return (Pipeline().files(str(self.folder), shuffle=True, epochs=2)
                .fetch().decode(views="2", width=32, height=32, flip=0.5,
                                augment="random-resized-crop", seed=4, **settings)
                .augment("color-jitter(brightness=0.8)", part="data", **settings)
                .augment("color-jitter(brightness=0.8)", part="view1", **settings)
                .batch(3))

    def collect(self, batches, found):
        for batch in batches:
            self.assertEqual(batch.names[:2], ("data", "view1"))
            for i, index in enumerate(batch.indices):
                found[batch.epoch, int(index)] = tuple(
                    np.array(batch[part])[i].tobytes() for part in ("data", "view1"))
        return found

    def test_same_at_any_concurrency_and_place(self):
        results = []
        for pipeline in (
                self.make_pipeline(concurrency=1),
                self.make_pipeline(concurrency=4),
                self.make_pipeline(concurrency=4, output_order="input"),
                Pipeline().worker(self.make_pipeline(concurrency=2))):
            with pipeline.loader() as loader:
                found = self.collect(loader, {})
                results.append(self.collect(loader, found))
        self.assertEqual(len(results[0]), 20)
        for result in results[1:]:
            self.assertEqual(result, results[0])
        for data, view in results[0].values():
            self.assertNotEqual(data, view)
        found = {}
        with self.make_pipeline().loader() as loader:
            for batch in loader:
                self.collect([batch], found)
                break
            state = loader.state_dict()
        with self.make_pipeline().loader() as loader:
            loader.load_state_dict(state)
            self.collect(loader, found)
            self.collect(loader, found)
        self.assertEqual(found, results[0])

    def test_views_are_augmented_independently(self):
        items = load(self.folder, f"views=2 {CROP} width=32 height=32",
                     more=" ".join(SIMCLR))
        drawn = [(extra["data.augment"], extra["view1.augment"])
                 for _, extra in items.values()]
        self.assertTrue(all(a != b for a, b in drawn), drawn)
        # The first view draws what it draws without views.
        alone = load(self.folder, f"{CROP} width=32 height=32",
                     more=SIMCLR[0].replace("part=data", ""))
        self.check_equal(items, alone, "data")

    def test_operations_of_each_view(self):
        items = load(self.folder, f"views=2 {CROP} width=32 height=32",
                     more='! spdlaugment part=view1 ops="invert(p=1)"')
        plain = load(self.folder, f"views=2 {CROP} width=32 height=32")
        self.check_equal(items, plain, "data")
        for key, (tensors, _) in plain.items():
            np.testing.assert_array_equal(
                items[key][0]["view1"], 255 - tensors["view1"])

    def test_parts_of_a_sample(self):
        """A mask follows the first view, and other parts keep their values."""
        source = write_masks(self.folder, make_folder())
        settings = f"{CROP} width=40 height=30 seed=9"
        mask = f"! spdldecode part=mask format=index {settings}"
        for more in (mask, f'{mask} ! spdlaugment part=mask ops="rotate(degrees=30)" '
                     '! spdlaugment part=data ops="rotate(degrees=30)"'):
            views = load(source, f"part=data views=3 {settings}", more=more,
                         fetch="parts=mask")
            alone = load(source, f"part=data {settings}", more=more,
                         fetch="parts=mask")
            self.assertEqual(len(views), 9)
            self.check_equal(views, alone, "data")
            self.check_equal(views, alone, "mask", "mask")
            other = load(source, f"part=data {settings} seed={9 + STEP}",
                         fetch="parts=mask")
            self.check_equal(views, other, "view1")
        # The mask may come first.
        swapped = load(source, f"part=mask format=index {settings}",
                       more=f"! spdldecode fast-scale=false part=data views=2 {settings}",
                       fetch="parts=mask")
        self.check_equal(swapped, views, "view1", "view1")

    def test_boxes_move_with_the_first_view(self):
        source = self.folder / "boxes.jsonl"
        source.write_text('{"uri": "rgb.png", "boxes": [[10, 20, 150, 110]]}')
        self.addCleanup(source.unlink)
        found = [load(source, f"{decode} {CROP} crop-scale=<0.8,1> width=40 height=30",
                      files="box-column=boxes")[0, 0][1]["boxes"]
                 for decode in ("", "views=2")]
        self.assertEqual(found[0], found[1])
        self.assertEqual(len(found[0]), 1)


def convert(images, mean=(0.1, 0.2, 0.3), std=(0.5, 0.6, 0.7)):
    """Normalizes images and transposes them to (batch, channels, height, width)."""
    return np.moveaxis((images / 255 - mean) / std, -1, 1)


class TestBatches(Case):
    SETTINGS = (f'views="{GROUPS}" {CROP} part=data seed=3 ! spdldecode part=mask '
                "format=index width=48 height=48 seed=3 " + CROP)

    def load_batch(self, batch, source=None, **settings):
        """Returns the tensors of the only batch, whose items have masks."""
        source = source or write_masks(self.folder, make_folder())
        with Loader(f"spdlsrc location={source} ! spdlfetch parts=mask "
                    "output-order=input ! spdldecode output-order=input "
                    f"{self.SETTINGS} output-order=input ! spdlbatch {batch} "
                    "! spdlsink", **settings) as loader:
            found, = loader
            return {name: np.array(found[name]) for name in found.keys()}

    def test_all_views_are_converted(self):
        """Only the mask stays as it is."""
        plain = self.load_batch("")
        names = ["data", "view1", "view2", "view3", "view4"]
        self.assertEqual(sorted(plain), sorted([*names, "mask"]))
        for process in False, True:
            found = self.load_batch(
                'dtype=float32 layout=nchw mean="<0.1,0.2,0.3>" std="<0.5,0.6,0.7>"',
                process=process)
            for name, (width, height) in zip(names, SIZES):
                self.assertEqual(found[name].dtype, np.float32)
                self.assertEqual(found[name].shape[1:], (3, height, width))
                np.testing.assert_allclose(found[name], convert(plain[name]),
                                           atol=1e-5)
            np.testing.assert_array_equal(found["mask"], plain["mask"])

    def test_part(self):
        """`part` may choose another part than the main image."""
        for part, converted in (("data", 5), ("view1", 1)):
            found = self.load_batch(f"part={part} dtype=float32")
            self.assertEqual(found[part].dtype, np.float32)
            self.assertEqual(sum(array.dtype == np.float32
                                 for array in found.values()), converted)

    def test_columns_with_names_of_views(self):
        """Tests that its name alone, which spdlfetch gives, makes no part a view."""
        masks = make_folder()
        write_masks(self.folder, masks)
        source = masks / "pairs.csv"
        source.write_text("uri,view1\n" + "".join(
            f"{self.folder}/{name}.jpg,{masks}/{name}.png\n" for name in ("420", "444")))
        with Loader(f"spdlsrc location={source} ! spdlfetch parts=view1 "
                    "! spdldecode part=data width=40 height=30 ! spdldecode part=view1 "
                    "width=40 height=30 format=index ! spdlbatch dtype=float32 "
                    "! spdlsink") as loader:
            batch, = loader
            self.assertEqual((batch["data"].dtype, batch["view1"].dtype),
                             ("float32", "uint8"))

    def test_functions(self):
        """Views stay views in a function that returns them."""
        def swap(sample):
            return {"data": 255 - sample["data"].numpy(),
                    "view1": sample["view1"].numpy()}

        start = (Pipeline().files(str(self.folder)).fetch(output_order="input")
                 .decode(views="2", width=32, height=24, seed=4, output_order="input"))
        found = []
        for pipeline in (start.batch(32), start.map(swap, output_order="input").batch(
                32, dtype="float32", layout="nchw")):
            with pipeline.loader() as loader:
                batch, = loader
                found.append([np.array(batch[name]) for name in ("data", "view1")])
        np.testing.assert_allclose(found[1][0], convert(255 - found[0][0], 0, 1),
                                   atol=1e-6)
        np.testing.assert_allclose(found[1][1], convert(found[0][1], 0, 1), atol=1e-6)


class TestDatasets(Case):
    """Tests `views=` of the datasets."""

    def load(self, **options):
        folder = make_folder()
        for name in "cat", "dog":
            (folder / name).mkdir()
        for i, path in enumerate(sorted(self.folder.glob("*.*"))):
            (folder / ("cat" if i % 2 else "dog") / path.name).symlink_to(path)
        settings = {"size": 32, "batch_size": 4, "seed": 5, **options}
        with image_folder(folder, **settings) as loader:
            return {(batch.epoch, int(index)): [np.array(batch[name])[i]
                                                for name in batch if name != "labels"]
                    for batch in loader for i, index in enumerate(batch.indices)}

    def test_image_folder(self):
        augment = ["color-jitter(brightness=0.4)", "gaussian-blur(kernel-size=3)"]
        alone = self.load(augment=augment, fast_scale=False)
        found = self.load(views=2, augment=augment, fast_scale=False)
        self.assertEqual(found.keys(), alone.keys())
        for key, (data, view) in found.items():
            self.assertEqual((view.shape, view.dtype), ((3, 32, 32), np.float32))
            np.testing.assert_array_equal(data, alone[key][0])
            self.assertGreater(np.abs(data - view).mean(), 0.01)
        self.assertEqual({len(parts) for parts in self.load(
            views=2, train=False).values()}, {1})

    def test_groups(self):
        found = self.load(views=GROUPS, dtype="uint8", augment="invert(p=1)")
        plain = self.load(views=GROUPS, dtype="uint8")
        for key, parts in found.items():
            self.assertEqual([part.shape for part in parts],
                             [(3, height, width) for width, height in SIZES])
            for part, other in zip(parts, plain[key]):
                np.testing.assert_array_equal(part, 255 - other)

    def test_wrong_views(self):
        for views in True, 2.0, [2]:
            with self.assertRaisesRegex(TypeError, "views must be an int or a str"):
                self.load(views=views)
        for views in 0, 17, "x", "2;", "":
            with self.assertRaisesRegex(LoaderError, "property views"):
                self.load(views=views)
        for name in "mixup_alpha", "cutmix_alpha", "erase_prob":
            with self.assertRaisesRegex(ValueError, name):
                self.load(views=2, **{name: 0.5})


class TestErrors(Case):
    def check_error(self, decode, text, folder=None, **settings):
        with self.subTest(decode), self.assertRaisesRegex(LoaderError, text):
            load(folder or self.folder, decode, **settings)

    def test_wrong_lists(self):
        for views in ("0", "", "17", "x", "2x", "-1", "2(size=0)", "2(size=96,",
                      "2(size)", "2(scale=0.1)", "2(scale=0.5..0.1)",
                      "2(scale=0..1)", "2(scale=..1)", "2(scale=0.1..2)",
                      "2(scale=nan..1)", "2(size=9)x", "2;", "2(size=4,size=5)",
                      "2(crop=1)", "9; 8", "99999999999999999999"):
            self.check_error(f'views="{views}" {CROP}', "property views")

    def test_contradictions(self):
        for decode in ("num-frames=4", "media=audio", "media=video"):
            self.check_error(f"views=2 {decode}", "property views contradicts")
        self.check_error('views="2(scale=0.1..1)"', "random-resized-crop")
        self.check_error('views="2(size=9)" resize=none', "property resize")
        self.check_error("views=2 part=data", "part=data is set")
        self.check_error("views=2", "does not accept samples",
                         more="! video/x-raw")

    def test_other_media(self):
        wav = b"RIFF" + struct.pack("<I", 44) + b"WAVEfmt " + struct.pack(
            "<IHHIIHH", 16, 1, 1, 8000, 16000, 2, 16) + b"data" + struct.pack(
            "<I", 8) + bytes(8)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            path.joinpath("a.wav").write_bytes(wav)
            np.save(path / "b.npy", np.zeros(3))
            self.check_error("views=2", "File is audio, but views", folder,
                             files="pattern=*.wav")
            self.check_error("views=2", "File is arrays, but views", folder,
                             files="pattern=*.npy")

    def test_parts_in_the_way(self):
        source = self.folder / "parts.csv"
        source.write_text("uri,view1,mask\nrgb.png,420.jpg,444.jpg")
        self.addCleanup(source.unlink)
        self.check_error("views=2 part=data", 'part "view1"', source,
                         fetch="parts=view1")
        self.check_error("views=16 part=data", "more than 16 parts", source,
                         fetch="parts=mask")
        self.check_error("views=2 part=mask", "only the part data", source,
                         fetch="parts=mask")
        self.check_error("views=2", "set part", source, fetch="parts=mask")


if __name__ == "__main__":
    unittest.main()
