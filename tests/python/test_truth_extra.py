#!/usr/bin/python3
# gst-spdl: tests that functions read and write the extra fields of items
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset, which is not needed here."""

import atexit
import io
import pathlib
import tempfile
import unittest
import warnings

import numpy as np
import process_functions as functions
from PIL import Image
import support  # noqa: F401

from gstspdl import Loader, LoaderError, LoaderWarning

N = 6


def make_folder():
    temporary = tempfile.TemporaryDirectory()
    atexit.register(temporary.cleanup)
    folder = pathlib.Path(temporary.name)
    lines = ["uri,label,caption"]
    for i in range(N):
        out = io.BytesIO()
        Image.new("RGB", (8, 6), (i, i, i)).save(out, "PNG")
        folder.joinpath(f"{i}.png").write_bytes(out.getvalue())
        lines.append(f"{i}.png,{i},caption {i}")
    folder.joinpath("list.csv").write_text("\n".join(lines))
    return folder


FOLDER = make_folder()
DECODE = (f'spdlsrc location="{FOLDER}/list.csv" epochs=1 '
          "! spdlfetch output-order=input ! spdldecode output-order=input "
          "augment=random-crop seed=3 ! ")
BATCH = f" ! spdlbatch batch-size={N} ! spdlsink"
MAP = f"{DECODE}spdlpipe name=f output-order=input{BATCH}"


class ExtraTest(unittest.TestCase):
    def check(self, extra, i):
        self.assertNotIn("caption", extra)
        self.assertEqual(extra["sum"], 8 * 6 * 3 * i + len(f"caption {i}"))
        self.assertEqual(extra["half"], i / 2)
        self.assertEqual(extra["boxes"], [[0, 1.5], [2, 3]])
        self.assertEqual(extra["tags"], ["a", f"caption {i}"])
        self.assertEqual(extra["nested"], {"big": 2**63 + i, "flag": True})
        self.assertEqual((extra["crop-width"], extra["crop-height"]), (8, 6))
        self.assertIs(extra["flip"], False)

    def test_map(self):
        """Tests threads and worker processes, and results that are the sample
        or an array."""
        for processes in 0, 2:
            with Loader(MAP).map("f", functions.change_extra,
                                 processes=processes) as loader:
                batch, = loader
                self.assertEqual(loader.failures, [])
            self.assertEqual(list(batch.labels), list(range(N)))
            for i, extra in enumerate(batch.extras):
                self.check(extra, i)
                self.assertEqual(int(batch["data"].numpy()[i, 0, 0, 0]),
                                 i + (i % 2 == 0))

    def test_coroutine(self):
        async def change(sample):
            return functions.change_extra(sample)

        with Loader(MAP).map("f", change) as loader:
            batch, = loader
        for i, extra in zip(batch.indices, batch.extras):
            self.check(extra, i)

    def test_route(self):
        """Tests single items and groups."""
        def choose(sample):
            functions.change_extra(sample)
            return 0

        for group in "", "spdlaggregate size=2 ! ":
            with Loader(f"{DECODE}{group}spdlroute name=f  f.src_0{BATCH}"
                        ).route("f", choose) as loader:
                batch, = loader
            for i, extra in enumerate(batch.extras):
                self.check(extra, i)

    def test_group(self):
        def change(group):
            with self.assertRaises(LoaderError):
                group.extra
            for item in group.items:
                item.extra["n"] = len(group.items)
                yield item

        with Loader(f"{DECODE}spdlaggregate size=2 ! spdlpipe name=f "
                    f"output-order=input{BATCH}").map(
                        "f", lambda group: list(change(group))) as loader:
            batch, = loader
        self.assertEqual([extra["n"] for extra in batch.extras], [2] * N)
        self.assertEqual([extra["caption"] for extra in batch.extras],
                         [f"caption {i}" for i in range(N)])

    def test_assignment(self):
        def change(sample):
            sample.extra = {"index": np.int64(sample.index)}
            return sample

        with Loader(MAP).map("f", change) as loader:
            batch, = loader
        self.assertEqual(batch.extras, [{"index": i} for i in range(N)])

    def test_untouched(self):
        """Tests that reading changes nothing, nor the types of numbers."""
        seen = {}

        def read(sample):
            seen[sample.index] = dict(sample.extra)
            return sample["data"].numpy()

        with Loader(MAP).map("f", read) as loader:
            batch, = loader
        self.assertEqual(dict(enumerate(batch.extras)), seen)

    def test_without_fields(self):
        def change(sample):
            self.assertEqual(sample.extra, {})
            sample.extra["new"] = "ä"
            return sample

        with Loader("spdlpipe name=f ! spdlbatch batch-size=2 ! spdlsink",
                    source=[np.zeros(3, "uint8")] * 2
                    ).map("f", change) as loader:
            batch, = loader
        self.assertEqual(batch.extras, [{"new": "ä"}] * 2)

    def test_refused(self):
        """Tests values that cannot be fields: the item fails."""
        values = [object(), {1: 2}, [1, "a"], [1, [2]], 2**64, "a\0b"]

        def change(sample):
            sample.extra["x"] = values[sample.index]
            return sample

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LoaderWarning)
            with Loader(MAP).map("f", change) as loader:
                with self.assertRaises(LoaderError):
                    list(loader)
                self.assertEqual(len(loader.failures), N)

    def test_moved_crop(self):
        """Tests that a mask follows a crop that a function has changed."""
        values = np.arange(64 * 64).reshape(64, 64) % 251
        out = io.BytesIO()
        Image.fromarray(values.astype(np.uint8)).save(out, "PNG")

        def change(sample):
            sample.extra.update({"data.crop-x": 5, "data.crop-y": 7,
                                 "data.crop-width": 32,
                                 "data.crop-height": 32, "data.flip": False})
            return sample

        decode = ("spdldecode part={} augment=random-crop width=32 height=32 "
                  "interpolation=nearest format=GRAY8")
        with Loader(
                f"{decode.format('data')} ! spdlpipe name=f ! "
                f"{decode.format('mask')} ! spdlsink",
                source=[{"data": out.getvalue(), "mask": out.getvalue()}]
        ).map("f", change) as loader:
            item, = loader
        np.testing.assert_array_equal(item["mask"].numpy()[..., 0],
                                      values[7:39, 5:37])


if __name__ == "__main__":
    unittest.main()
