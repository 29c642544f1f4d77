#!/usr/bin/python3
# gst-spdl: tests of a source in the application
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset."""

import gc
import threading
import unittest
import warnings
import weakref

import numpy as np
from errors import raises_with
from support import make_dataset
from gstspdl import Loader, LoaderError

FOLDER = make_dataset(20)
PATHS = sorted(FOLDER.glob("*/*.jpg"))
FILES = ("spdlfetch output-order=input ! spdldecode output-order=input "
         "width=16 height=16 ! spdlbatch batch-size=8 ! spdlsink")
BYTES = ("spdldecode output-order=input width=16 height=16 "
         "! spdlbatch batch-size=8 ! spdlsink")
ARRAYS = "spdlbatch batch-size=8 ! spdlsink"


def keys_of(loader):
    return [key for batch in loader for key in batch.keys]


class KindsTest(unittest.TestCase):
    def test_paths_and_uris(self):
        source = [p.as_uri() if i % 2 else str(p) if i % 3 else p
                  for i, p in enumerate(PATHS)]
        with Loader(FILES, source=source) as loader:
            self.assertEqual(len(loader), 3)
            keys = keys_of(loader)
        self.assertEqual([k.rpartition("/")[2] for k in keys],
                         [p.name for p in PATHS])

    def test_bytes(self):
        with Loader(FILES, source=PATHS) as loader:
            wanted = [np.array(b["data"]) for b in loader]
        kinds = [bytes, bytearray, memoryview]
        data = [kinds[i % 3](p.read_bytes()) for i, p in enumerate(PATHS)]
        for caps in None, "image/jpeg":
            with Loader(BYTES, source=data, caps=caps) as loader:
                for batch, images in zip(list(loader), wanted):
                    np.testing.assert_array_equal(batch["data"], images)

    def test_arrays(self):
        rng = np.random.default_rng(1)
        for dtype in "uint8", "int16", "float32", "float64", "bool", ">i4":
            arrays = (rng.random((20, 5, 3)) * 200).astype(dtype)
            with self.subTest(dtype), Loader(ARRAYS, source=arrays) as loader:
                found = np.concatenate([np.asarray(b["data"])
                                        for b in loader])
                np.testing.assert_array_equal(found, arrays)
                # Arrays that are not contiguous.
            with Loader(ARRAYS, source=arrays.transpose(0, 2, 1)) as loader:
                batch = next(iter(loader))
                np.testing.assert_array_equal(
                    batch["data"], arrays[:8].transpose(0, 2, 1))

    def test_labels_and_keys(self):
        source = [(np.full(2, i, "uint8"), i * 7, f"item {i}")
                  for i in range(8)]
        source += [(np.zeros(2, "uint8"), 5), np.zeros(2, "uint8")]
        with Loader(ARRAYS, source=source) as loader:
            first, last = loader
        self.assertEqual(list(first.labels), [i * 7 for i in range(8)])
        self.assertEqual(list(first.keys), [f"item {i}" for i in range(8)])
        self.assertEqual(list(first.indices), list(range(8)))
        self.assertEqual(list(last.labels), [5, -1])
        self.assertEqual(list(last.keys), ["", ""])

    def test_failing_items(self):
        with Loader(BYTES, source=[b"", b"no picture",
                                   PATHS[0].read_bytes()]) as loader:
            self.assertEqual([list(b.indices) for b in loader], [[2]])
            self.assertEqual(loader.num_failures, 2)


class EpochTest(unittest.TestCase):
    def test_for_loop_is_a_new_pass(self):
        passes = []

        class Source:
            def __iter__(self):
                passes.append(len(passes))
                return iter([np.full(1, len(passes), "uint8")] * 10)

        with Loader(ARRAYS, source=Source()) as loader:
            for n in range(1, 4):
                # Iterated only on demand, so a sampler may be set before.
                batches = list(loader)
                self.assertEqual(len(passes), n)
                self.assertEqual([b.num_items for b in batches], [8, 2])
                self.assertEqual({int(b["data"].numpy()[0, 0])
                                  for b in batches}, {n})

    def test_iterator_is_one_epoch(self):
        with Loader(FILES, source=iter(map(str, PATHS))) as loader:
            self.assertEqual([len(list(loader)) for _ in range(3)], [3, 0, 0])

    def test_empty_source(self):
        with Loader(FILES, source=[]) as loader:
            self.assertEqual([len(list(loader)) for _ in range(2)], [0, 0])

    def test_break(self):
        passes = []

        class Source:
            def __iter__(self):
                passes.append(len(passes))
                # More items than can wait for the first element.
                return iter(map(str, PATHS * 3))

        with Loader(FILES, source=Source()) as loader:
            for epoch in range(3):
                batch = next(iter(loader))
                self.assertEqual(batch.epoch, epoch)
                self.assertEqual(list(batch.indices), list(range(8)))
            batches = list(loader)
            self.assertEqual({b.epoch for b in batches}, {3})
            self.assertEqual(sum(b.num_items for b in batches), 60)
            self.assertEqual(loader.epoch, 4)
            self.assertEqual(passes, [0, 1, 2, 3])

    def test_iterator_continues_after_a_break(self):
        with Loader(FILES, source=iter(map(str, PATHS))) as loader:
            for batch in loader:
                first = batch
                break
            rest = list(loader)
        self.assertEqual([list(b.indices) for b in [first, *rest]],
                         [list(range(8)), list(range(8, 16)),
                          list(range(16, 20))])

    def test_slow_source(self):
        goes_on = threading.Event()

        class Source:
            def __iter__(self):
                yield from [np.zeros(2, "uint8")] * 8
                goes_on.wait()
                yield from [np.ones(2, "uint8")] * 8

        with Loader(ARRAYS, source=Source()) as loader:
            next(iter(loader))
            threading.Timer(0.05, goes_on.set).start()
            self.assertEqual([int(b["data"].numpy()[0, 0]) for b in loader],
                             [0, 1])

    def test_restart(self):
        loader = Loader(FILES, source=list(map(str, PATHS)))
        for _ in range(3):
            with loader:
                next(iter(loader))
        with loader:
            self.assertEqual(len(keys_of(loader)), 20)


class ErrorTest(unittest.TestCase):
    def test_exception_comes_after_valid_items(self):
        reason = ValueError("no more of this")

        def source():
            yield from map(str, PATHS[:12])
            raise reason

        good = []
        with Loader(FILES, source=source()) as loader, \
                raises_with("source", "ValueError: no more of this") as raised:
            for batch in loader:
                good += batch.indices
        self.assertEqual(good, list(range(12)))
        self.assertIs(raised.exception.__cause__, reason)

    def test_exception_in_a_later_epoch(self):
        class Source(list):
            def __iter__(self):
                if not self:
                    raise OSError("gone")
                return super().__iter__()

        source = Source(map(str, PATHS))
        with Loader(FILES, source=source) as loader:
            self.assertEqual(len(list(loader)), 3)
            source.clear()
            with self.assertRaises(LoaderError) as raised:
                list(loader)
        self.assertIsInstance(raised.exception.__cause__, OSError)

    def test_unsupported_items(self):
        for item in 3j, (b"x", 1, "key", 2), (b"x",), np.zeros(2, "complex64"):
            with self.subTest(item), Loader(FILES, source=[item]) as loader:
                with self.assertRaises(LoaderError) as raised:
                    list(loader)
                self.assertIsInstance(raised.exception.__cause__, TypeError)

    def test_refused_items(self):
        """The first element does not accept items of this kind."""
        data, array = PATHS[0].read_bytes(), np.zeros((4, 4, 3), np.uint8)
        for line, item in [
                (FILES, data), (FILES, array), (FILES, 3),
                ("spdldecode ! spdlsink", str(PATHS[0])),
                ("spdldecode ! spdlsink", array)]:
            with self.subTest(line), Loader(line, source=[item]) as loader:
                with raises_with("source", line.split()[0]):
                    list(loader)

    def test_arrays_without_caps(self):
        for wrong in np.zeros((1,) * 17), np.zeros(3, "complex64"):
            good = []
            with self.subTest(wrong.shape), Loader(
                    "spdlbatch batch-size=1 ! spdlsink",
                    source=[np.zeros(2), wrong]) as loader:
                with raises_with("source") as raised:
                    for batch in loader:
                        good += batch.indices
                self.assertEqual(good, [0])
                self.assertIsInstance(raised.exception.__cause__, TypeError)

    def test_source_that_is_not_iterable(self):
        with Loader(FILES, source=7) as loader:
            with self.assertRaises(LoaderError) as raised:
                list(loader)
            self.assertIsInstance(raised.exception.__cause__, TypeError)

    def test_pipeline_with_a_source(self):
        with self.assertRaisesRegex(
                LoaderError, r"^(?!.*\bspdlsrc\b).*\bsource=") as raised:
            Loader("spdlsrc location=x ! spdlsink", source=[])
        self.assertEqual(raised.exception.code, "source")


class EndTest(unittest.TestCase):
    def test_source_is_released(self):
        def source():
            while True:
                yield PATHS[0]

        loader = Loader(FILES, source=source())
        next(iter(loader))
        thread = loader._thread
        gone = weakref.ref(loader)
        del loader
        gc.collect()
        thread.join(30)
        self.assertFalse(thread.is_alive())
        self.assertIsNone(gone())

    def test_stop_while_the_source_waits(self):
        goes_on = threading.Event()

        def source():
            yield PATHS[0]
            goes_on.wait()

        loader = Loader("spdlfetch ! spdldecode width=8 height=8 "
                        "! spdlbatch batch-size=1 ! spdlsink", source=source())
        with loader:
            next(iter(loader))
        goes_on.set()
        loader._thread.join(30)
        self.assertFalse(loader._thread.is_alive())


class SecretsTest(unittest.TestCase):
    """Tests that no message shows credentials and that names still identify
    items."""

    def test_uris(self):
        uris = ["http://me:sesame@127.0.0.1:1/a.jpg?token=sesame&id=5",
                "ftp://me:sesame@127.0.0.1:1/b.jpg", PATHS[0].as_uri()]
        with Loader(FILES.replace("spdlfetch", "spdlfetch retries=0"),
                    source=uris) as loader:
            keys = keys_of(loader)
            failures = loader.failures
        self.assertEqual(keys, uris[2:])
        self.assertEqual(sorted(f.uri for f in failures),
                         ["ftp://***@127.0.0.1:1/b.jpg",
                          "http://***@127.0.0.1:1/a.jpg?token=***&id=5"])
        self.assertNotIn("sesame", str(failures))

    def test_keys(self):
        with Loader(ARRAYS, source=[(np.zeros(4), -1, "http://me:pw@host/a")]
                    ) as loader:
            self.assertEqual(keys_of(loader), ["http://***@host/a"])

        with Loader(ARRAYS, source=[(np.zeros(4), -1, "a\0b")]) as loader:
            with raises_with("source"):
                list(loader)

    def test_control_characters(self):
        """Tests that texts are printable, and that the URI stays exact."""
        uri = "odd://\x1b[2J\u202e\na"
        with Loader(FILES, source=[uri]) as loader:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                with raises_with(None, r"odd://\x1b[2J\u202e\na") as raised:
                    list(loader)
            failure, = loader.failures
        self.assertEqual(failure.uri, uri)
        texts = [str(raised.exception), failure.reason,
                 *(str(warning.message) for warning in caught)]
        for text in texts:
            self.assertNotRegex(text, "[\x00-\x1f\x7f-\x9f\u202e]")

    def test_exception_without_text(self):
        class Faulty(Exception):
            def __str__(self):
                return "code " + self.args[0]

        def source():
            yield np.zeros(4)
            raise Faulty(5)

        with Loader(ARRAYS, source=source()) as loader:
            with self.assertRaisesRegex(LoaderError, "Faulty") as raised:
                list(loader)
        self.assertIsInstance(raised.exception.__cause__, Faulty)

    def test_headers(self):
        """Tests headers with an invalid description."""
        bad = ("spdlsrc location=. ! spdlfetch extra-headers=\"Authorization: "
               "Bearer sesame\" ! spdlsink")
        for process in False, True:
            with self.subTest(process=process):
                with raises_with(None, "extra-headers") as caught:
                    with Loader(bad, process=process) as loader:
                        next(iter(loader))
                self.assertNotIn("sesame", str(caught.exception))
        with self.assertRaises(LoaderError) as caught:
            Loader(bad.replace("! spdlsink", ""), process=True)
        self.assertNotIn("sesame", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
