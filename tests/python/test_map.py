#!/usr/bin/python3
# gst-spdl: tests of Python functions as stages
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset."""

import copy
import gc
import itertools
import pickle
import sys
import threading
import time
import traceback
import unittest
import weakref
from unittest import mock

import numpy as np
from errors import has_values, raises, raises_with
from support import check_python, describe, make_dataset, needs_gi, require_gi

from gstspdl import Batch, Loader, LoaderError
from gstspdl._native import library as native

N = 40
ARRAYS = [(np.full((2, 3), i, "uint8"), i, f"item {i}") for i in range(N)]
ARRAY_LINE = "spdlbatch batch-size=8 ! spdlsink"
LINE = ("spdlpipe name=work output-order=input concurrency={} "
        "! spdlbatch batch-size=8 ! spdlsink")


def view(sample):
    """Returns a sample as an array, without a copy."""
    return sample["data"].numpy()


def gst_view(sample):
    """Returns a Gst.Sample as an array."""
    return Batch.new(sample.get_buffer(), sample.get_caps())["data"].numpy()


class Converted:
    """An object that only NumPy can read, as it reads a PyTorch tensor."""

    def __init__(self, array):
        self.array = array

    def __array__(self, *arguments, **more):
        return self.array


def index_of(buffer):
    _, GstSpdl = require_gi()
    return GstSpdl.buffer_get_item_meta(buffer).index


def run(function, concurrency=4, line=LINE, source=ARRAYS):
    loader = Loader(line.format(concurrency), source=source)
    with loader.map("work", function):
        return loader, list(loader)


class StopTest(unittest.TestCase):
    def test_stop_in_a_function(self):
        def work(sample):
            if view(sample)[0, 0] == 20 and not again:
                loader.stop()
            return sample

        again = []
        loader = Loader(LINE.format(4), source=ARRAYS).map("work", work)
        for _ in range(5):
            again.clear()
            with raises_with("stopped"):
                loader.start()
                while True:
                    list(loader)
            self.assertFalse(loader.is_running())
            again.append(True)
            loader.start()
            self.assertEqual(sum(b.num_items for b in loader), N)
            loader.stop()

    @needs_gi
    def test_stop_in_the_grouping_function(self):
        _, GstSpdl = require_gi()

        def accept(element, group, sample):
            loader.stop()
            return GstSpdl.GroupingPolicy.TAKE

        loader = Loader("spdlaggregate name=group size=4 ! spdlsink",
                        source=ARRAYS)
        loader.pipeline.get_by_name("group").connect("accept", accept)
        with loader, raises_with("stopped"):
            list(loader)

    def test_stop_in_the_source(self):
        def source():
            yield from ARRAYS[:10]
            loader.stop()
            yield from ARRAYS[10:]

        loader = Loader(ARRAY_LINE, source=source())
        with loader, raises_with("stopped"):
            while True:
                list(loader)

    def test_interrupted_stop(self):
        """Ctrl-C while stop() waits for a function: the loader goes on."""
        def work(sample):
            begun.set()
            end.wait()
            return sample

        begun, end = threading.Event(), threading.Event()
        loader = Loader(LINE.format(1), source=ARRAYS).map("work", work)
        loader.start()
        self.assertTrue(begun.wait(60))
        with mock.patch.object(native, "loader_stop",
                               side_effect=KeyboardInterrupt):
            with self.assertRaises(KeyboardInterrupt):
                loader.stop()
        end.set()
        loader.stop()
        for _ in range(2):
            with loader:
                self.assertEqual(sum(b.num_items for b in loader), N)

    def test_last_reference_dropped_in_a_function(self):
        def work(sample):
            started.wait(60)
            held.clear()
            gc.collect()
            dropped.set()

        # start() holds a reference until it returns, and so does the source's
        # thread while it pushes an item.
        started, dropped = threading.Event(), threading.Event()
        held = [Loader(LINE.format(1), source=ARRAYS).map("work", work)]
        gone = threading.Event()
        weakref.finalize(held[0], gone.set)
        held[0].start()
        started.set()
        self.assertTrue(dropped.wait(60))
        self.assertTrue(gone.wait(60))


class ItemTest(unittest.TestCase):
    def check_results(self, view, results):
        for name, result in results.items():
            with self.subTest(name):
                loader, batches = run(lambda s: result(view(s)))
                self.assertEqual(loader.failures, [])
                found = np.concatenate([b["data"].numpy() for b in batches])
                np.testing.assert_array_equal(
                    found, np.stack([a for a, _, _ in ARRAYS]) + 100)
                self.assertEqual([k for b in batches for k in b.keys],
                                 [key for _, _, key in ARRAYS])
                self.assertEqual([i for b in batches for i in b.labels],
                                 list(range(N)))

    def test_results(self):
        self.check_results(view, {
            "array": lambda a: a + 100,
            "bytes": lambda a: (a + 100).tobytes(),
            "converted": lambda a: Converted(a + 100),
        })

    @needs_gi
    def test_gst_results(self):
        Gst, _ = require_gi()
        whole = Gst.Caps.from_string(
            "other/tensors,format=static,num_tensors=1,types=(string)uint8,"
            'dimensions=(string)"3:2",framerate=0/1')
        self.check_results(gst_view, {
            "array": lambda a: a + 100,
            "bytes": lambda a: (a + 100).tobytes(),
            "buffer": lambda a: Gst.Buffer.new_wrapped((a + 100).tobytes()),
            "sample": lambda a: Gst.Sample.new(Gst.Buffer.new_wrapped(
                (a + 100).tobytes()), whole, None, None),
        })

    def test_other_shapes(self):
        _, batches = run(lambda s: view(s).astype("float32").mean(axis=0))
        self.assertEqual(batches[0]["data"].shape, (8, 3))
        self.assertEqual(batches[0]["data"].dtype, "float32")

    def test_source_that_converts(self):
        source = [(Converted(a), label, key) for a, label, key in ARRAYS]
        _, batches = run(lambda s: s, source=source)
        found = np.concatenate([b["data"].numpy() for b in batches])
        np.testing.assert_array_equal(found, np.stack([a for a, _, _ in ARRAYS]))

    def test_missing_tensor(self):
        with self.assertRaises(LoaderError):
            run(lambda s: s["image"].numpy())

    def test_none_filters_the_item(self):
        loader, batches = run(lambda s: s if view(s)[0, 0] % 2 else None)
        self.assertEqual([i for b in batches for i in b.indices],
                         list(range(1, N, 2)))
        self.assertEqual(loader.num_failures, 0)
        self.assertEqual(loader.stats[0]["num-filtered"], N // 2)

    def test_list_gives_several_items(self):
        _, batches = run(lambda s: [view(s)[0], view(s)[1]])
        self.assertEqual([i for b in batches for i in b.indices],
                         sorted(list(range(N)) * 2))

    def test_list_of_one_kind(self):
        for make in (lambda s: {"a": view(s)}, lambda s: {"a": b"12"},
                     lambda s: view(s).copy()):
            for work in (lambda s: [make(s), make(s)],
                         lambda s: [make(s)] * 3):
                loader = Loader("spdlpipe name=work ! spdlsink",
                                source=ARRAYS[:4])
                with loader.map("work", work):
                    list(loader)
                self.assertEqual(loader.num_failures, 0, loader.failures)

    def test_copies_of_a_sample(self):
        kept = []

        def work(sample):
            kept.append(copy.copy(sample))
            kept.append(copy.deepcopy(sample))
            del kept[:-4]
            with self.assertRaises(TypeError):
                pickle.dumps(sample)
            return kept[0]

        loader, batches = run(work, 1)
        self.assertEqual(loader.num_failures, 0)
        self.assertEqual(sum(b.num_items for b in batches), N)
        self.assertEqual(view(kept[-1])[0, 0], N - 1)

    def test_names_of_media(self):
        for name in "", 3:
            loader = Loader(LINE.format(1), source=ARRAYS)
            with loader.map("work", lambda s: {name: view(s)}):
                with self.assertRaises(LoaderError):
                    list(loader)
            self.assertRegex(loader.failures[0].reason, "^TypeError: .*name")

    def test_traceback_is_printed_once(self):
        def fail(sample):
            raise ValueError("wrong")

        loader = Loader(LINE.format(1), source=ARRAYS, max_failures=0)
        with loader.map("work", fail):
            with self.assertRaises(LoaderError) as raised:
                list(loader)
        printed = "".join(traceback.format_exception(
            None, raised.exception, raised.exception.__traceback__))
        self.assertEqual(printed.count(", in fail\n"), 1, printed)
        self.assertIn(", in fail\n", raised.exception.__cause__.message)

    def test_exception_fails_the_item(self):
        def work(sample):
            if view(sample)[0, 0] % 10 == 3:
                raise ValueError("three")
            return sample

        loader, batches = run(work)
        self.assertEqual([i for b in batches for i in b.indices],
                         [i for i in range(N) if i % 10 != 3])
        self.assertEqual({f.uri for f in loader.failures},
                         {f"item {i}" for i in range(3, N, 10)})
        self.assertEqual(loader.num_failures, N // 10)
        for failure in loader.failures:
            self.assertEqual(failure.stage, "work")
            self.assertRegex(failure.reason, "^ValueError: three\n")
            self.assertIn('raise ValueError("three")', failure.reason)

    def test_invalid_results(self):
        for result in True, 42j, "text", [b"", 42], [1.5, 2]:
            loader = Loader(LINE.format(4), source=ARRAYS)
            with loader.map("work", lambda s: result):
                with self.assertRaises(LoaderError) as raised:
                    list(loader)
            self.assertTrue(has_values(str(raised.exception), N, "work"))
            self.assertEqual(loader.num_failures, N)
            self.assertRegex(loader.failures[0].reason, "^TypeError: ")

    def test_arrays_without_caps(self):
        """An array that caps cannot describe fails only its item."""
        def check(wrong):
            loader, batches = run(lambda s: wrong if s.index == 5 else s)
            self.assertEqual([i for b in batches for i in b.indices],
                             [i for i in range(N) if i != 5])
            failure, = loader.failures
            self.assertEqual(failure.uri, "item 5")
            self.assertRegex(failure.reason, "^TypeError: ")

        for array in np.zeros((1,) * 17), np.zeros(3, "complex64"):
            for wrong in array, {"data": array}, [array, array]:
                with self.subTest(shape=array.shape):
                    check(wrong)

    @needs_gi
    def test_connected_signal(self):
        loader = Loader(LINE.format(1), source=ARRAYS)

        def work(element, sample):
            if index_of(sample.get_buffer()) == 5:
                raise ValueError("five")
            return sample

        loader.pipeline.get_by_name("work").connect("process", work)
        # PyGObject's output does not matter here.
        stderr, sys.stderr = sys.stderr, open("/dev/null", "w")
        try:
            with loader:
                batches = list(loader)
        finally:
            sys.stderr.close()
            sys.stderr = stderr
        self.assertEqual(sum(b.num_items for b in batches), N - 1)
        self.assertEqual([f.uri for f in loader.failures], ["item 5"])


class SampleTest(unittest.TestCase):
    """Tests the argument of a function, without PyGObject."""

    def test_array(self):
        def work(sample):
            found.append((sample.index, sample.epoch, sample.label, sample.key,
                          sample["data"].numpy().tolist(), bytes(sample),
                          sample.tensors.names))
            with self.assertRaises(KeyError):
                sample["mask"]
            self.assertEqual(sample.items, [sample])
            self.assertTrue(sample.caps.startswith("other/tensors"))
            with self.assertRaises(AttributeError):
                sample.no_such_name
            return sample

        found = []
        loader, batches = run(work, 1, source=ARRAYS[:3])
        self.assertEqual(loader.failures, [])
        self.assertEqual(found, [
            (i, 0, i, f"item {i}", array.tolist(), array.tobytes(), ("data",))
            for i, (array, _, _) in enumerate(ARRAYS[:3])])

    def test_bytes(self):
        def work(sample):
            self.assertEqual(sample.label, -1)
            self.assertEqual(sample.key, "")
            return bytes(sample)[::-1]

        loader = Loader("spdlpipe name=work ! spdlsink",
                        source=[b"abc", b"def"], caps="application/x-letters")
        with loader.map("work", work):
            found = {batch["data"].numpy().tobytes() for batch in loader}
        self.assertEqual(loader.failures, [])
        self.assertEqual(found, {b"cba", b"fed"})

    def test_group(self):
        def work(sample):
            seen.append([item.index for item in sample.items])
            with self.assertRaises(LoaderError):
                sample.index
            with self.assertRaises(LoaderError):
                sample.tensors
            self.assertEqual(bytes(sample), b"")
            return sample.items[::-1]

        seen = []
        loader, batches = run(work, 1, "spdlaggregate size=4 ! " + LINE)
        self.assertEqual(loader.failures, [])
        self.assertEqual(seen, [list(range(i, i + 4)) for i in range(0, N, 4)])
        self.assertEqual(list(batches[0].indices), [3, 2, 1, 0, 7, 6, 5, 4])

    def test_parts(self):
        def work(sample):
            return {"image": sample, "note": sample["data"].numpy()[0]}

        loader, batches = run(work, 2)
        self.assertEqual(loader.failures, [])
        self.assertEqual(batches[0].names, ("image", "note"))
        np.testing.assert_array_equal(batches[1]["note"],
                                      [[i] * 3 for i in range(8, 16)])

    def test_sample_outlives_the_call(self):
        kept = []
        loader, _ = run(lambda s: kept.append(s) or s, 4)
        del loader
        self.assertEqual(sorted(int(s["data"].numpy()[1, 2]) for s in kept),
                         list(range(N)))

    def test_thread_locals(self):
        """Tests that a worker keeps its thread state until it ends."""
        class Mark:
            pass

        def work(sample):
            if not hasattr(local, "mark"):
                local.mark = Mark()
                marks.append(weakref.ref(local.mark))
            return sample

        local = threading.local()
        marks = []
        loader, _ = run(work, 4)
        self.assertEqual(loader.failures, [])
        self.assertLessEqual(len(marks), 4)
        loader.stop()
        self.assertEqual([mark() for mark in marks], [None] * len(marks))


class ManyTest(unittest.TestCase):
    def test_concurrent_calls(self):
        barrier = threading.Barrier(8, timeout=60)

        def work(sample):
            barrier.wait()
            return sample

        # No call returns before eight are active.
        _, batches = run(work, concurrency=8)
        self.assertEqual(sum(b.num_items for b in batches), N)

    def test_two_stages(self):
        loader = Loader("spdlpipe name=one ! spdlpipe name=two "
                        "! spdlbatch batch-size=8 ! spdlsink", source=ARRAYS)
        loader.map("one", lambda s: view(s) + 1)
        loader.map("two", lambda s: view(s) * 2)
        with loader:
            values = {int(v) for b in loader for v in b["data"].numpy().flat}
        self.assertEqual(values, {(i + 1) * 2 for i in range(N)})

    @needs_gi
    def test_groups(self):
        seen = []

        def work(sample):
            group = sample.get_buffer_list()
            seen.append([index_of(group.get(i))
                         for i in range(group.length())])
            return [group.get(i) for i in range(group.length())][::-1]

        _, batches = run(work, 1, "spdlaggregate size=4 ! " + LINE)
        self.assertEqual(seen, [list(range(i, i + 4)) for i in range(0, N, 4)])
        self.assertEqual(list(batches[0].indices), [3, 2, 1, 0, 7, 6, 5, 4])

    def test_group_becomes_a_batch(self):
        def work(sample):
            return b"".join(map(bytes, sample.items))

        line = ("spdlaggregate size=4 ! spdlpipe name=work "
                "output-order=input ! spdlsink")
        _, batches = run(work, line=line)
        self.assertEqual([list(b.indices) for b in batches],
                         [list(range(i, i + 4)) for i in range(0, N, 4)])

    def check_resumed(self, elements, function, n_parts):
        """Resumes after each batch of a pipeline with this function: all images
        arrive, and those of the batch that was interrupted may arrive again."""
        folder = make_dataset(40)
        line = describe(folder, 10, order="input").replace(
            "! spdlsink", f"! {elements} ! spdlsink")

        def load(state, n=None):
            with Loader(line, state=state).map("work", function) as loader:
                batches = list(itertools.islice(loader, n))
            return batches, [bytes(image) for batch in batches
                             for image in batch["data"].numpy()]

        whole, images = load(None)
        for n in range(1, len(whole)):
            batches, first = load(None, n)
            _, rest = load(batches[-1].state)
            n_done = n // n_parts * (len(images) // len(whole)) * n_parts
            self.assertEqual(first, images[:len(first)])
            self.assertEqual(rest, images[n_done:])
        return whole

    def test_parts_of_a_batch(self):
        self.check_resumed(
            "spdlpipe name=work output-order=input",
            lambda s: [view(s)[:5].copy(), view(s)[5:].copy()], 2)

    def test_kept_sample(self):
        """A function that returns an earlier sample, or batch, and its own one:
        both are whole."""
        kept = []

        def work(sample):
            kept.append(sample)
            return [kept.pop(0), kept.pop(0)] if len(kept) == 2 else None

        line = describe(make_dataset(16), 4, order="input")
        for place in "! spdlbatch", "! spdlsink":
            kept.clear()  # of the epoch that was loaded ahead
            with Loader(line.replace(
                    place, f"! spdlpipe name=work output-order=input {place}")
                    ).map("work", work, concurrency=1) as loader:
                states = [batch.state for batch in loader]
            self.assertEqual(len(states), 4)
            for n, state in enumerate(states[:-1]):
                self.assertIn(f"mark={4 * n + 4},done=;", state)

    def test_group_of_batches(self):
        batches = self.check_resumed(
            "spdlaggregate size=2 ! spdlpipe name=work output-order=input",
            lambda s: np.concatenate([view(x) for x in s.items]), 1)
        self.assertEqual([list(batch.indices) for batch in batches],
                         [list(range(20)), list(range(20, 40))])

    def test_filtered_group_of_batches(self):
        line = ("spdlbatch batch-size=2 ! spdlaggregate size=2 "
                "! spdlpipe name=work output-order=input ! spdlsink")
        loader, batches = run(lambda s: None, line=line)
        self.assertEqual(batches, [])
        self.assertEqual(loader.stats[2]["num-filtered"], N)

    def test_batches(self):
        line = ("spdlbatch batch-size=8 ! spdlpipe name=work output-order=input "
                "! spdlsink")
        _, batches = run(lambda s: view(s).astype("float32") / 2, line=line)
        self.assertEqual([b["data"].shape for b in batches], [(8, 2, 3)] * 5)
        self.assertEqual([i for b in batches for i in b.labels],
                         list(range(N)))
        self.assertEqual(batches[1]["data"].numpy()[0, 0, 0], 4)


class PackTest(unittest.TestCase):
    """Tests token sequences packed into rows of 1,024."""

    ROW = 1024

    @classmethod
    def setUpClass(cls):
        rng = np.random.default_rng(7)
        cls.sequences = [rng.integers(1, 50000, n, "int32")
                         for n in rng.integers(1, cls.ROW, 500)]

    def reference(self):
        rows, row = [], []
        for sequence in self.sequences:
            if sum(map(len, row)) + len(sequence) > self.ROW:
                rows.append(row)
                row = []
            row.append(sequence)
        rows.append(row)
        return np.stack([self.pack(row) for row in rows])

    def pack(self, row):
        tokens = np.concatenate(row)
        return np.pad(tokens, (0, self.ROW - len(tokens)))

    def load(self, group, connect=None):
        def pack(sample):
            return self.pack([np.frombuffer(bytes(item), "int32")
                              for item in sample.items])

        loader = Loader(f"spdlaggregate name=group {group} "
                        "! spdlpipe name=pack concurrency=2 "
                        "output-order=input ! spdlsink",
                        source=[s.tobytes() for s in self.sequences],
                        caps="application/x-tokens").map("pack", pack)
        if connect:
            loader.pipeline.get_by_name("group").connect("accept", connect)
        with loader:
            batches = list(loader)
            self.assertEqual(loader.failures, [])
        return batches

    def check(self, batches):
        rows = np.stack([b["data"].numpy() for b in batches])
        np.testing.assert_array_equal(rows, self.reference())
        self.assertEqual([i for b in batches for i in b.indices],
                         list(range(len(self.sequences))))

    def test_packing_by_bytes(self):
        self.check(self.load(f"size=0 max-bytes={4 * self.ROW}"))

    @needs_gi
    def test_packing_by_a_function(self):
        _, GstSpdl = require_gi()

        def accept(element, group, sample):
            n = group.calculate_size() + sample.get_buffer().get_size()
            return (GstSpdl.GroupingPolicy.EMIT_BEFORE if n > 4 * self.ROW
                    else GstSpdl.GroupingPolicy.TAKE)

        self.check(self.load("size=0", accept))

    @needs_gi
    def test_exception_in_a_grouping_function(self):
        def accept(element, group, sample):
            raise ValueError("not so")

        # PyGObject's output does not matter here.
        stderr, sys.stderr = sys.stderr, open("/dev/null", "w")
        try:
            with raises("stream-error failed", "group", "accept"):
                self.load("size=0", accept)
        finally:
            sys.stderr.close()
            sys.stderr = stderr


class EndTest(unittest.TestCase):
    def test_stop_during_a_call(self):
        began = threading.Event()

        def work(sample):
            began.set()
            time.sleep(0.01)
            return sample

        for _ in range(10):
            began.clear()
            loader = Loader(LINE.format(8), source=ARRAYS).map("work", work)
            loader.start()
            began.wait()
            loader.stop()

    def test_loader_dropped_during_a_call(self):
        began = threading.Event()

        def work(sample):
            began.set()
            time.sleep(0.01)
            return sample

        for _ in range(10):
            began.clear()
            loader = Loader(LINE.format(8), source=ARRAYS).map("work", work)
            loader.start()
            began.wait()
            gone = threading.Event()
            watch = weakref.ref(loader, lambda _: gone.set())
            del loader
            gc.collect()
            # The thread of its source may hold a reference for a second.
            self.assertTrue(gone.wait(60), watch)

    def test_interpreter_shutdown(self):
        check_python(
            "import itertools, time\n"
            "from gstspdl import Loader\n"
            "loader = Loader('spdlpipe name=work concurrency=4 ! spdlsink',\n"
            "                source=itertools.repeat(b'x'))\n"
            "loader.map('work', lambda s: time.sleep(0.001) or s)\n"
            "next(iter(loader))\n")

    def test_wrong_names(self):
        loader = Loader(describe(make_dataset(1)))
        for name in "none", "decode":
            with raises_with("map", name):
                loader.map(name, view)
        with self.assertRaises(TypeError):
            Loader(LINE.format(1), source=ARRAYS).map("work", 42)

    def test_missing_function(self):
        with raises("library-error settings", "work", "process"):
            list(Loader(LINE.format(1), source=ARRAYS))


if __name__ == "__main__":
    unittest.main()
