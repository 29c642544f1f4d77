#!/usr/bin/python3
# gst-spdl: tests of rows of tokens with images
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The images of a conversation are compared with images that Pillow has written,
decoded alone, and their tokens with its text."""

import atexit
import contextlib
import itertools
import json
import pathlib
import random
import tempfile
import unittest
import warnings

import numpy as np
from PIL import Image

from gstspdl import LoaderError, LoaderWarning, decode, llava_packing
from support import ROOT

N = 24
IMAGE = 7  # no byte of the texts
SIDE = 8


def make_images():
    """Writes images of random sizes, some turned by EXIF, two of each kind."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    path = pathlib.Path(folder.name)
    rng = random.Random(5)
    for i in range(N):
        width, height = rng.randint(9, 90), rng.randint(9, 90)
        pixels = np.random.default_rng(i).integers(0, 255, (5, 5, 3), "uint8")
        image = Image.fromarray(pixels).resize((width, height))
        exif = Image.Exif()
        exif[274] = rng.choice((1, 6, 8))
        kind = ("jpg", "png", "webp")[i % 3]
        image.save(path / f"{i}.{kind}", exif=exif)
    return path


FOLDER = make_images()


def write_list(path, names):
    """Writes conversations about images, and returns their texts."""
    rng = random.Random(9)
    texts = ["x" * rng.randint(1, 40) for _ in names]
    path.write_text("".join(
        json.dumps({"uri": str(FOLDER / name), "text": text}) + "\n"
        for name, text in zip(names, texts)))
    return texts


def tokenize(sample):
    """One image before the text."""
    text = np.frombuffer(sample.extra["text"].encode(), "uint8")
    return {"tokens": np.concatenate([[IMAGE], text]).astype("int32"),
            "loss_mask": np.concatenate([[False], text > 0])}


def tokenize_by_index(sample):
    """0 to 2 images within the text: the item itself, once or twice."""
    text = list(sample.extra["text"].encode())
    n = sample.index % 3
    return {"tokens": np.array(text + [IMAGE] * n + text, "int32"),
            "images": [bytes(sample)] * n}


def find_images(batch):
    """Yields the row, the first token, the number of tokens and the pixels of
    each image."""
    patches = iter(batch["patches"].numpy())
    for (rows, columns), row, first in zip(
            *(batch[name].numpy().tolist() for name in (
                "image_grids", "image_index", "image_token_start"))):
        own = np.array(list(itertools.islice(patches, rows * columns)))
        yield row, first, rows * columns, own.reshape(
            rows, columns, SIDE, SIDE, 3).swapaxes(1, 2).reshape(
            rows * SIDE, columns * SIDE, 3)


class ImageRowsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.list = pathlib.Path(folder.name) / "list.jsonl"
        self.names = sorted(path.name for path in FOLDER.iterdir())
        self.texts = write_list(self.list, self.names)

    def load(self, function=tokenize, state=None, **options):
        options = {"image_token": IMAGE, "patch_size": SIDE, "batch_size": 2,
                   "train": False, "min_pixels": 4 * SIDE**2,
                   "max_pixels": 40 * SIDE**2, **options}
        loader = llava_packing(self.list, function, 128, **options)
        if state:
            loader.restore_state(state)
        return loader

    def decode(self, i, height, width):
        return decode((FOLDER / self.names[i]).read_bytes(), width=width,
                      height=height, interpolation="bicubic").numpy()

    def test_images(self):
        """Each image is in its conversation, with its own pixels."""
        found = []
        with self.load() as loader:
            for batch in loader:
                tokens = batch["tokens"].numpy()
                mask = batch["loss_mask"].numpy()
                # One image for each document, in the same order.
                images = list(find_images(batch))
                self.assertEqual(len(images), batch.num_items)
                for i, (row, first, n, pixels) in zip(batch.indices, images):
                    text = self.texts[i].encode()
                    own = tokens[row, first:first + n + len(text)].tolist()
                    self.assertEqual(own, [IMAGE] * n + list(text))
                    self.assertEqual(mask[row, first:first + len(own)].tolist(),
                                     [0] * n + [1] * len(text))
                    np.testing.assert_array_equal(
                        pixels, self.decode(i, *pixels.shape[:2]))
                    self.assertTrue(4 <= n <= 40)
                    found.append(i)
        self.assertEqual(sorted(found), list(range(N)))

    def test_several_images(self):
        """Conversations have 0 to 2 images of one size."""
        found = []
        with self.load(tokenize_by_index, fit=(3 * SIDE, 2 * SIDE),
                       image_tokens=lambda rows, columns: rows * (columns + 1)
                       ) as loader:
            for batch in loader:
                images = find_images(batch)
                for i in batch.indices:
                    for k, image in enumerate(itertools.islice(images, i % 3)):
                        row, first, _, pixels = image
                        text = self.texts[i].encode()
                        begin = first - 8 * k - len(text)
                        self.assertEqual(
                            batch["tokens"].numpy()[row, begin:].tolist()[
                                :2 * len(text) + 8 * (i % 3)],
                            [*text, *[IMAGE] * 8 * (i % 3), *text])
                        np.testing.assert_array_equal(
                            pixels, self.decode(i, 2 * SIDE, 3 * SIDE))
                    found.append(i)
                self.assertFalse(list(images))
        self.assertEqual(sorted(found), list(range(N)))

    def test_other_data(self):
        """Other arrays that the function returns are joined over the batch."""
        def tokenize_and_number(sample):
            return {**tokenize(sample), "number": sample.index,
                    "pairs": np.full((sample.index % 3, 2), sample.index)}

        with self.load(tokenize_and_number) as loader:
            for batch in loader:
                self.assertEqual(batch["number"].numpy().tolist(),
                                 list(batch.indices))
                self.assertEqual(batch["pairs"].numpy().tolist(),
                                 [[i, i] for i in batch.indices for _ in range(i % 3)])
                lengths = batch["pairs_lengths"].numpy()
                self.assertEqual(lengths[lengths > 0].tolist(),
                                 [i % 3 for i in batch.indices if i % 3])

    def test_no_images(self):
        """A list may have only conversations without images, of an empty file."""
        empty = self.list.with_name("empty")
        empty.touch()
        turns = [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]
        self.list.write_text(2 * (json.dumps(
            {"uri": str(empty), "conversations": turns}) + "\n"))

        def tokenize_turns(sample):
            self.assertEqual(json.loads(sample.extra["conversations"]), turns)
            return {"tokens": [1, 2], "images": []}

        with self.load(tokenize_turns) as loader:
            batch, = loader
            self.assertEqual(batch.num_items, 2)
            self.assertEqual(batch["patches"].shape, (0, SIDE, SIDE, 3))
            self.assertEqual(batch["image_grids"].shape, (0, 2))

    def test_names_of_other_data(self):
        """Names that resemble those of a row's own tensors lose nothing."""
        for name in "my_lengths", "image_files_too", "tokens_lengths":
            with self.subTest(name), self.load(lambda sample: {
                    **tokenize(sample), name: np.full(2, sample.index)}) as loader:
                for batch in loader:
                    self.assertEqual(batch[name].numpy().tolist(),
                                     [i for i in batch.indices for _ in range(2)])
                    self.assertEqual(batch[name + "_lengths"].shape[0],
                                     batch["tokens"].shape[0])

    def test_loss_mask(self):
        """The loss counts no token of an image; integers are a mask."""
        for mask in {}, {"loss_mask": [1, 0, 2]}:
            with self.load(lambda sample: {"tokens": [IMAGE, 1, 2], **mask}) as loader:
                for batch in loader:
                    tokens = batch["tokens"].numpy()
                    np.testing.assert_array_equal(
                        batch["loss_mask"].numpy(),
                        (tokens == 2) | (tokens == 1) & (not mask))

    def test_random_pictures(self):
        """Random properties differ by item and epoch."""
        options = {"flip": 0.5, "seed": 4, "interpolation": "bicubic"}
        flipped = set()
        with self.load(decode_options=options) as loader:
            for epoch in range(2):
                for batch in loader:
                    for i, (*_, pixels) in zip(batch.indices, find_images(batch)):
                        data = (FOLDER / self.names[i]).read_bytes()
                        size = {"height": pixels.shape[0], "width": pixels.shape[1]}
                        np.testing.assert_array_equal(pixels, decode(
                            data, epoch=epoch, index=i, **size, **options).numpy())
                        if (pixels != self.decode(i, *pixels.shape[:2])).any():
                            flipped.add((epoch, i))
        self.assertTrue(N // 2 < len(flipped) < N * 3 // 2)
        self.assertNotEqual({i for epoch, i in flipped if epoch == 0},
                            {i for epoch, i in flipped if epoch == 1})

    def test_resume(self):
        """A run that resumes makes the same batches, whatever its threads are."""
        def take(loader):
            return [({name: tensor.numpy().tolist() for name, tensor in
                      batch.items()}, batch.state) for batch in loader]

        with self.load(train=True, seed=4) as loader:
            whole = take(loader)
        self.assertGreater(len(whole), 4)
        for i in range(len(whole) - 1):
            with self.load(train=True, seed=4, state=whole[i][1],
                           concurrency=1 + 3 * (i % 2)) as loader:
                self.assertEqual(take(loader), whole[i + 1:])

    def test_processes(self):
        with self.load() as loader:
            wanted = [batch["patches"].numpy().tolist() for batch in loader]
        with self.load(processes=2) as loader:
            self.assertEqual([batch["patches"].numpy().tolist()
                              for batch in loader], wanted)

    def test_bad_images(self):
        """A file without a header fails alone. An image whose pixels are missing
        is in the row already: it is black, and its conversation is masked."""
        name = self.names[0]
        data = (FOLDER / name).read_bytes()
        for kind, content in ("half", data[:len(data) * 2 // 3]), ("none", b"none"):
            path = FOLDER.with_name(f"{FOLDER.name}-{kind}.jpg")
            path.write_bytes(content)
            self.addCleanup(path.unlink)
            self.names[1 if kind == "half" else 2] = str(path)
        self.texts = write_list(self.list, self.names)
        n_black = 0
        with warnings.catch_warnings(record=True) as caught, \
                self.load() as loader:
            warnings.simplefilter("always")
            for batch in loader:
                for i, (row, first, n, pixels) in zip(batch.indices,
                                                      find_images(batch)):
                    mask = batch["loss_mask"].numpy()[
                        row, first:first + n + len(self.texts[i])]
                    self.assertEqual(mask.any(), i != 1)
                    self.assertEqual(pixels.any(), i != 1)
                    n_black += i == 1
            self.assertEqual(loader.num_failures, 1)
            self.assertIn("-none.jpg", loader.failures[0].uri)
        self.assertEqual(n_black, 1)
        # The next epoch may have been decoded in advance.
        self.assertEqual(
            {w.category for w in caught if "-half.jpg" in str(w.message)},
            {LoaderWarning})

    def test_page(self):
        """The program of docs/how-to/pack-images.md."""
        text = (ROOT / "docs/how-to/pack-images.md").read_text()
        program = "\n".join(line[4:] for line in text.splitlines()
                            if line.startswith("    ") and '{"uri"' not in line
                            or not line)
        self.list.with_name("train.jsonl").write_text("".join(json.dumps(
            {"uri": str(FOLDER / name), "question": "ab", "answer": "c"}) + "\n"
            for name in self.names))
        names = {}
        with contextlib.chdir(self.list.parent):
            exec(program, names)
        batch = names["batch"]
        values = names["qwen"](names["patches"], 0.5, 0.25)
        self.assertEqual(values.shape, (4 * len(names["patches"]), 3 * 2 * 14 * 14))
        self.assertEqual(names["qwen"](names["patches"][:0], 0.5, 0.25).shape,
                         (0, values.shape[1]))
        self.assertEqual(int((names["tokens"] == 151655).sum()), len(values) // 4)
        # The third patch of 14 pixels is below the first one.
        np.testing.assert_array_equal(
            values[2].reshape(3, 2, 14, 14)[1, 1] * 63.75 + 127.5,
            names["patches"][0][14:, :14, 1])
        positions = names["find_positions"](batch)
        np.testing.assert_array_equal(positions[0], batch["positions"].numpy())
        n_rows = len(batch["tokens"].numpy())
        wanted = [[[0, 0, 0]] * 8192 for _ in range(n_rows)]
        for (rows, columns), row, first in zip(*(batch[name].numpy().tolist() for name in (
                "image_grids", "image_index", "image_token_start"))):
            own = [[0, y, x] for y in range(rows) for x in range(columns)]
            own += [[max(rows, columns) + i] * 3 for i in range(len("abc"))]
            wanted[row][first:first + len(own)] = own
        self.assertEqual(positions[1:].transpose(1, 2, 0).tolist(), wanted)

    def test_wrong_functions(self):
        """Conversations fail, not the run; the reason tells the numbers."""
        def say_nothing(sample):
            return {"tokens": np.array([1, 2])} if sample.index else tokenize(sample)

        for function, options, values in (
                (say_nothing, {}, (IMAGE, "0 times", "1 images")),
                (lambda sample: {"tokens": [[IMAGE]]}, {}, ("one dimension",)),
                (lambda sample: {"tokens": [IMAGE], "images": bytes(sample)}, {},
                 ("'int'",)),
                (lambda sample: {**tokenize(sample), "patches": 1}, {}, ("'patches'",)),
                (lambda sample: {"tokens": [IMAGE, 1], "loss_mask": [True]}, {},
                 ("2 tokens", "(1,)")),
                (lambda sample: {"tokens": [IMAGE, 1], "loss_mask": [0.5, 1]}, {},
                 ("float64",)),
                (tokenize, {"fit": lambda width, height: (SIDE + 1, SIDE)}, (SIDE + 1,)),
                (tokenize, {"fit": (SIDE * 9000, SIDE), "image_tokens": lambda *_: 1},
                 (65535,)),
                (tokenize, {"image_tokens": lambda rows, columns: 4.5}, (4.5,)),
                (tokenize, {"image_tokens": lambda rows, columns: 1000}, (128,))):
            with self.subTest(values), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with self.load(function, **options) as loader:
                    try:
                        list(loader)
                    except Exception as error:
                        text = str(error)
                    else:
                        text = str(loader.failures[0])
                for value in values:
                    self.assertIn(str(value), text)

    def test_wrong_options(self):
        """Fail at once, instead of making each image black."""
        for error, options in (
                (ValueError, {"mode": "concat"}),
                (ValueError, {"decode_options": {"width": 3}}),
                (ValueError, {"decode_options": {"size-only": True}}),
                (LoaderError, {"decode_options": {"colour": 3}}),
                (LoaderError, {"decode_options": {"resize": "none"}}),
                (LoaderError, {"interpolation": "best"}),
                (ValueError, {"min_pixels": 100, "max_pixels": 99}),
                (ValueError, {"batch_size": 0}),
                (TypeError, {"image_token": 7.5}),
                (TypeError, {"function": 5})):
            with self.subTest(options), self.assertRaises(error):
                self.load(**options)


if __name__ == "__main__":
    unittest.main()
