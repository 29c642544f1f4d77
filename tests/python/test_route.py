#!/usr/bin/python3
# gst-spdl: tests of Python functions that choose branches
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import sys
import threading
import unittest

import numpy as np
from errors import raises, raises_with
from support import check_python, make_dataset, needs_gi

from gstspdl import Loader, LoaderError

N = 40
ARRAYS = [(np.full((2, 3), i, "uint8"), i, f"item {i}") for i in range(N)]
# Items of branch 0 keep their values, and those of branch 1 get 100 more.
LINE = ("spdlroute name=choice  choice.src_0 ! queue ! m. "
        "choice.src_1 ! spdlpipe name=add output-order=input ! m. "
        "spdlmix name=m order=arrival ! spdlbatch batch-size=8 ! spdlsink")


def value(sample):
    return int(sample["data"].numpy()[0, 0])


def make_loader(function, line=LINE, source=ARRAYS, **arguments):
    loader = Loader(line, source=source, **arguments)
    if "name=add" in line:
        loader.map("add", lambda sample: sample["data"].numpy() + np.uint8(100))
    return loader.route("choice", function)


def read(loader):
    """Returns the values and the labels of an epoch."""
    values, labels = [], []
    for batch in loader:
        values.extend(int(v) for v in batch["data"].numpy()[:, 0, 0])
        labels.extend(int(label) for label in batch.labels)
    return values, labels


class RouteTest(unittest.TestCase):
    def check(self, values, labels, is_second):
        self.assertEqual(sorted(labels), list(range(N)))
        for found, label in zip(values, labels):
            self.assertEqual(found, label + 100 * is_second(label))

    def test_contents_choose_the_branch(self):
        calls = []

        def choose(sample):
            calls.append((sample.index, sample.label, sample.key,
                          threading.current_thread().name))
            return value(sample) % 3 == 0

        with make_loader(choose) as loader:
            for _ in range(2):
                self.check(*read(loader), lambda label: label % 3 == 0)
            stats = {each["stage"]: each for each in loader.stats}
        # In order, in one thread, once for each item.
        self.assertEqual([call[:3] for call in calls[:N]],
                         [(i, i, f"item {i}") for i in range(N)])
        self.assertEqual(len({call[3] for call in calls}), 1)
        counts = stats["choice"]
        self.assertEqual(counts["num-items-src_1"],
                         2 * len(range(0, N, 3)), counts)
        self.assertEqual(counts["num-items"] % N, 0)

    def test_scalars_of_numpy(self):
        for convert in np.int64, np.uint8, np.bool_, np.asarray:
            with make_loader(lambda sample: convert(value(sample) > 9)
                             ) as loader:
                self.check(*read(loader), lambda label: label > 9)

    def test_order_of_a_branch(self):
        with make_loader(lambda sample: 0, LINE.replace(
                "spdlmix name=m order=arrival", "queue name=m")
                .replace("choice.src_1 ! spdlpipe name=add "
                         "output-order=input ! m.", "")) as loader:
            self.assertEqual(read(loader)[1], list(range(N)))

    def test_group_is_split(self):
        line = "spdlaggregate size=7 ! queue ! " + LINE.replace(
            "spdlbatch", "spdldisaggregate ! spdlbatch").replace(
                "! spdlpipe", "! spdldisaggregate ! spdlpipe")
        with make_loader(lambda sample: value(sample) % 2, line) as loader:
            self.check(*read(loader), lambda label: label % 2)

    def test_condition_beside_the_function(self):
        line = LINE.replace("name=choice", "name=choice src_1::condition=label=1")
        with raises("library-error settings", "src_1", "select-branch"):
            read(make_loader(lambda sample: 0, line))

    def test_state(self):
        def start(state=None):
            return make_loader(
                lambda sample: sample.index % 2,
                f"spdlsrc location={make_dataset(N)} epochs=1 ! spdlfetch "
                "! spdldecode width=4 height=4 ! " + LINE,
                None, state=state)

        with start() as loader:
            batches = iter(loader)
            first = [*next(batches).indices, *next(batches).indices]
            state = loader.state
        with start(state) as loader:
            later = [i for batch in loader for i in batch.indices]
        self.assertEqual(sorted([*first, *later]), list(range(N)))

    @needs_gi
    def test_gst_sample(self):
        def choose(sample):
            names.add(sample.get_caps().to_string().split(",")[0])
            return 1

        names = set()
        with make_loader(choose) as loader:
            self.check(*read(loader), lambda label: True)
        self.assertEqual(names, {"other/tensors"})

    @needs_gi
    def test_connected_signal(self):
        def choose(element, sample):
            if fails:
                raise ValueError("not so")
            return sample.get_buffer().get_size() and 1

        fails = []
        loader = Loader(LINE, source=ARRAYS)
        loader.map("add", lambda sample: sample["data"].numpy() + np.uint8(100))
        loader.pipeline.get_by_name("choice").connect("select-branch", choose)
        with loader:
            self.check(*read(loader), lambda label: True)
        loader.start()
        fails.append(True)
        # PyGObject prints the traceback.
        stderr, sys.stderr = sys.stderr, open("/dev/null", "w")
        try:
            with raises("stream-error failed", "select-branch"):
                read(loader)
        finally:
            sys.stderr.close()
            sys.stderr = stderr


class ErrorTest(unittest.TestCase):
    def check(self, result, *words):
        def choose(sample):
            if value(sample) < 30:
                return value(sample) % 2
            return result()

        labels = []
        loader = make_loader(choose)
        with loader, raises("stream-error failed", *words) as raised:
            for batch in loader:
                labels.extend(int(label) for label in batch.labels)
        # All items before the error arrive.
        self.assertEqual(sorted(labels), list(range(30)))
        self.assertEqual(loader.num_failures, 0)
        return raised

    def test_exception(self):
        def fail():
            raise KeyError("nowhere")

        self.check(fail, "KeyError", "nowhere", "test_route.py")

    def test_exit(self):
        self.check(lambda: sys.exit(3), "SystemExit")

    def test_no_such_branch(self):
        for number in 2, 3, 2**31 - 1:
            self.check(lambda: number, f"src_{number}")
        for number in -1, -2, 2**31, 2**70:
            self.check(lambda: number, str(number))

    def test_no_number(self):
        for result in None, "src_1", 1.0, [1], np.float32(1):
            self.check(lambda: result, "TypeError")

    def test_the_error_names_element_and_item(self):
        loader = make_loader(lambda sample: 7)
        with loader, self.assertRaises(LoaderError) as raised:
            read(loader)
        self.assertEqual((raised.exception.code, raised.exception.stage,
                          raised.exception.uri),
                         ("pipeline-error", "choice", "item 0"))

    def test_restart_after_an_error(self):
        fails = []
        loader = make_loader(lambda sample: 7 if fails else 1)
        for _ in range(3):
            fails.append(True)
            with loader, self.assertRaises(LoaderError):
                read(loader)
            fails.clear()
            with loader:
                self.assertEqual(sorted(read(loader)[1]), list(range(N)))

    def test_mistakes(self):
        async def wait(sample):
            return 0

        def generate(sample):
            yield 0

        loader = Loader(LINE, source=ARRAYS)
        for function in wait, generate, 3, None:
            with self.assertRaises(TypeError):
                loader.route("choice", function)
        for name in "none", "add":
            with raises_with("map", name):
                loader.route(name, value)
        with self.assertRaisesRegex(LoaderError, "choice"):
            loader.map("choice", value)


class EndTest(unittest.TestCase):
    def test_stop_in_the_function(self):
        def choose(sample):
            if value(sample) == 20:
                loader.stop()
            return 0

        loader = make_loader(choose)
        for _ in range(5):
            with raises_with("stopped"):
                loader.start()
                while True:
                    read(loader)

    def test_stop_during_a_call(self):
        def choose(sample):
            began.set()
            threading.Event().wait(0.01)
            return 0

        began = threading.Event()
        for _ in range(10):
            began.clear()
            loader = make_loader(choose)
            loader.start()
            began.wait()
            loader.stop()

    def test_end_of_the_interpreter(self):
        check_python(
            "import itertools\n"
            "from gstspdl import Loader\n"
            "loader = Loader('spdlroute name=r  r.src_0 ! queue ! spdlsink',\n"
            "                source=itertools.repeat(b'x'))\n"
            "loader.route('r', lambda sample: 0)\n"
            "next(iter(loader))\n")


if __name__ == "__main__":
    unittest.main()
