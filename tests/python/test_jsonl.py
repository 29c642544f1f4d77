#!/usr/bin/python3
# gst-spdl: tests of .jsonl lists in Python
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset."""

import itertools
import json
import unittest

from errors import raises_with
from support import make_dataset

from gstspdl import Loader, LoaderError, Pipeline, image_list, merge_states

N_ITEMS = 40
FOLDER = make_dataset(N_ITEMS)
PATHS = [path.relative_to(FOLDER) for path in sorted(FOLDER.glob("*/*.jpg"))]
TALK = 'What is "this"? \u00e4 \u20ac \U0001f600\n\\ <image> \x7f'


def make_entry(i):
    """Returns an entry like those of LLaVA."""
    return {"id": f"{i:012}", "image": str(PATHS[i]), "conversations": [
        {"from": "human", "value": f"{TALK} {i}"},
        {"from": "gpt", "value": "x" * (i * 997)}]}


def write(name, lines):
    path = FOLDER / name
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


ENTRIES = [make_entry(i) for i in range(N_ITEMS)]
TALKS = write("talks.jsonl", map(json.dumps, ENTRIES))


def describe(path, source="", batch_size=4):
    return (f'spdlsrc location="{path}" {source} ! spdlfetch output-order=input '
            "! spdldecode width=8 height=8 output-order=input "
            f"! spdlbatch batch-size={batch_size} labels=true ! spdlsink")


class ConversationsTest(unittest.TestCase):
    def check(self, batches):
        """Checks that each image has its conversation. Returns the indices."""
        indices = []
        for batch in batches:
            self.assertEqual(batch["data"].shape[1:], (8, 8, 3))
            for i, uri, extra in zip(batch.indices, batch.keys, batch.extras):
                indices.append(i)
                self.assertTrue(uri.endswith(str(PATHS[i])))
                self.assertEqual(extra["id"], ENTRIES[i]["id"])
                self.assertEqual(json.loads(extra["conversations"]),
                                 ENTRIES[i]["conversations"])
        return indices

    def test_all(self):
        """With escapes, and as UTF-8 as jq writes it."""
        plain = write("plain.ndjson", [json.dumps(
            entry, ensure_ascii=False, separators=(",", ":")) for entry in ENTRIES])
        for path in TALKS, plain:
            loader = (Pipeline().files(path, uri_column="image", shuffle=True, seed=3)
                      .fetch().decode(width=8, height=8).batch(4).loader())
            with loader:
                indices = self.check(loader)
            self.assertEqual(sorted(indices), list(range(N_ITEMS)))

    def test_ranks_and_resuming(self):
        """Three ranks, interrupted, then two, together have each item once."""
        line = describe(TALKS, "uri-column=image shuffle=true seed=2 epochs=1 "
                               "shard-mode=uneven")
        states, indices = [], []
        for rank in range(3):
            with Loader(line, rank=rank, world_size=3) as loader:
                batches = list(itertools.islice(loader, 1 + rank))
                indices += self.check(batches)
                states.append(batches[-1].state)
        for rank in range(2):
            with Loader(line, rank=rank, world_size=2,
                        state=merge_states(states)) as loader:
                indices += self.check(loader)
        self.assertEqual(sorted(indices), list(range(N_ITEMS)))


class ListTest(unittest.TestCase):
    def test_values(self):
        values = {"text": TALK, "empty": "", "int": -2 ** 63, "big": 2 ** 63 - 1,
                  "float": 0.1, "whole": 1e3, "yes": True, "no": False,
                  "list": [1, None, "\u00e4"], "dict": {"a": {"a": [{}]}}}
        path = write("values.jsonl", ["", json.dumps(
            {**values, "null": None, "uri": str(PATHS[0])}), " ",
            json.dumps({"label": 7, "uri": (FOLDER / PATHS[1]).as_uri()})])
        with Loader(describe(path)) as loader:
            batch = next(iter(loader))
        extra = batch.extras[0]
        for name in "list", "dict":
            extra[name] = json.loads(extra[name])
        self.assertEqual(extra, values)
        self.assertEqual([type(value) for value in extra.values()],
                         [type(value) for value in values.values()])
        self.assertIsNone(batch.extras[1])
        self.assertEqual(list(batch.labels), [-1, 7])

    def test_parts(self):
        path = write("parts.jsonl", [json.dumps(
            {"uri": str(PATHS[i]), "other": str(PATHS[i + 1])}) for i in range(3)])
        with Loader(f'spdlsrc location="{path}" ! spdlfetch parts=other '
                    "! spdldecode part=data width=8 height=8 "
                    "! spdldecode part=other width=8 height=8 "
                    "! spdlbatch ! spdlsink") as loader:
            batch = next(iter(loader))
        images, others = ({i: picture.tolist() for i, picture in zip(
            batch.indices, batch[name].numpy())} for name in ("data", "other"))
        self.assertEqual([images[1], images[2]], [others[0], others[1]])

    def test_malformed(self):
        for line, values in (("{", ("cut off",)), ('{"uri": 1}', ("uri", "1")),
                             ('{"uri": "a", "uri": "b"}', ("uri", "two")),
                             ('{"uri": "\\ud800"}', ("byte",))):
            path = write("bad.jsonl", ['{"uri": "a"}', line, line])
            with raises_with("pipeline-error", str(path), "line 2",
                             "2 malformed", "3", *values):
                next(iter(Loader(describe(path))))

    def test_image_list(self):
        path = write("images.jsonl", [json.dumps(
            {"image": str(p), "label": p.parent.name, "often": i})
            for i, p in enumerate(PATHS)])
        classes = sorted({p.parent.name for p in PATHS})
        with image_list(path, uri_column="image", size=8, train=False) as loader:
            self.assertEqual(loader.classes, classes)
            found = [(i, classes[label]) for batch in loader
                     for i, label in zip(batch.indices, batch.labels)]
        self.assertEqual(found, [(i, p.parent.name) for i, p in enumerate(PATHS)])
        with image_list(path, uri_column="image", size=8,
                        weight_column="often") as loader:
            self.assertNotIn(0, [i for batch in loader for i in batch.indices])
        with self.assertRaisesRegex(ValueError, "label.*id, image, conversations"):
            image_list(TALKS, uri_column="image")
        # The source reports what is wrong with a file.
        for text in "", "[1]", "{":
            path = write("wrong.jsonl", [text])
            with self.assertRaisesRegex(LoaderError, "wrong.jsonl"):
                next(iter(image_list(path)))


if __name__ == "__main__":
    unittest.main()
