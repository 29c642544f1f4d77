#!/usr/bin/python3
# gst-spdl: tests of a loader as an iterator over epochs
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset."""

import itertools
import pathlib
import socket
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
from dataclasses import replace

import numpy as np
from errors import raises_with
from support import (describe, make_dataset, needs_gi, require_gi,
                     wait_until)

from gstspdl import Batch, Loader, LoaderError, LoaderWarning
from gstspdl._native import library as native

N_ITEMS = 20
FOLDER = make_dataset(N_ITEMS)
ALL = list(range(N_ITEMS))
# Gst.StreamError
STREAM_ERROR = "gst-stream-error-quark"
FAILED, FORMAT = 1, 11


def indices_of(batches):
    return sorted(i for batch in batches for i in batch.indices)


def places_of(batches):
    """Returns the items of each batch, in order."""
    return [list(batch.indices) for batch in batches]


class EpochTest(unittest.TestCase):
    def test_for_loop_is_an_epoch(self):
        with Loader(describe(FOLDER)) as loader:
            for epoch in range(3):
                batches = list(loader)
                self.assertEqual([b.num_items for b in batches], [8, 8, 4])
                self.assertEqual({b.epoch for b in batches}, {epoch})
                self.assertEqual(indices_of(batches), ALL)
                self.assertEqual(loader.epoch, epoch + 1)

    def test_new_for_loop_starts_the_next_epoch(self):
        line = describe(FOLDER, source="shuffle=true", order="input")
        with Loader(line) as loader:
            wanted = [places_of(loader) for _ in range(6)]
        for process in False, True:
            with self.subTest(process=process), Loader(
                    line, process=process) as loader:
                # Loops end early, after the last batch, and repeatedly.
                for epoch, n in enumerate([1, 2, 3, 1, 4]):
                    found = places_of(itertools.islice(loader, n))
                    self.assertEqual(found, wanted[epoch][:n])
                self.assertEqual(places_of(loader), wanted[5])

    def test_epoch_is_complete_after_a_sanity_check(self):
        for process in False, True:
            with self.subTest(process=process), Loader(
                    describe(FOLDER, 4), process=process) as loader:
                counts = [len(list(itertools.islice(loader, n)))
                          for n in (2, None, None, None)]
                self.assertEqual(counts, [2, 5, 5, 5])

    def test_state_after_a_break(self):
        line = describe(FOLDER, source="shuffle=true", order="input")
        with Loader(line) as loader:
            wanted = [places_of(loader) for _ in range(2)]
        with Loader(line) as loader:
            for batch in loader:
                break
            self.assertEqual(loader.state, batch.state)
            self.assertEqual(loader.epoch, 0)
            state = loader.state
            iterator = iter(loader)
            self.assertNotEqual(loader.state, state)
            self.assertEqual(loader.epoch, 1)
            begin = loader.state
            self.assertEqual(places_of(iterator), wanted[1])
        for at, rest in (state, wanted[0][1:]), (begin, wanted[1]):
            with Loader(line, state=at) as loader:
                self.assertEqual(places_of(loader), rest)
        # A start begins at the loader's position, whatever was pending.
        with Loader(line, state=state) as loader:
            next(iter(loader))
            next(iter(loader))
            loader.stop()
            loader.start()
            self.assertEqual(places_of(loader), wanted[0][1:])
            loader.stop()
            loader.restore_state(begin)
            self.assertEqual(loader.epoch, 1)
            self.assertEqual(places_of(loader), wanted[1])

    def test_state_after_an_epoch_with_dropped_items(self):
        """spdlbatch drops the last items, and the next epoch is loaded before
        the end of the epoch is taken."""
        line = describe(FOLDER, batch="drop-last=true")
        with Loader(line) as loader:
            iterator = iter(loader)
            taken = [next(iterator) for _ in range(2)]
            wait_until(lambda: loader.stats[-1]["num-batches"] >= 3)
            self.assertIn("epoch=0", taken[-1].state)
            self.assertIsNone(next(iterator, None))
            state = loader.state
            self.assertEqual(native.state_get_epoch(state), (1, True))
        with Loader(line, state=state) as loader:
            batches = list(loader)
            self.assertEqual([b.num_items for b in batches], [8, 8])
            self.assertEqual({b.epoch for b in batches}, {1})

    def test_iterator_continues_until_the_next_one(self):
        with Loader(describe(FOLDER)) as loader:
            iterator = iter(loader)
            seen = [next(iterator)]
            for batch in iterator:
                seen.append(batch)
                break
            seen += iterator
            self.assertEqual(indices_of(seen), ALL)
            first, second = iter(loader), iter(loader)
            self.assertEqual(next(second).epoch, 1)
            third = iter(loader)
            for outdated in first, second:
                with raises_with("outdated"):
                    next(outdated)
            self.assertEqual({b.epoch for b in third}, {2})

    def test_left_epoch_counts(self):
        for process in False, True:
            with self.subTest(process=process), Loader(describe(
                    FOLDER, source="epochs=3"), process=process) as loader:
                for epoch in range(2):
                    self.assertEqual(next(iter(loader)).epoch, epoch)
                self.assertEqual([len(list(loader)) for _ in range(2)],
                                 [3, 0])
                self.assertTrue(loader.is_finished())
            with Loader(describe(FOLDER, source="epochs=1"),
                        process=process) as loader:
                next(iter(loader))
                self.assertEqual(list(loader), [])

    def test_set_epoch_after_a_break(self):
        with Loader(describe(FOLDER, source="shuffle=true",
                             order="input")) as loader:
            wanted = [places_of(loader) for _ in range(3)]
            for n in 1, 3:
                for epoch in 1, 0, 2, 0:
                    loader.set_epoch(epoch)
                    self.assertEqual(places_of(itertools.islice(loader, n)),
                                     wanted[epoch][:n])

    def test_break_without_epochs_continues(self):
        line = ("videotestsrc num-buffers=6 ! video/x-raw,format=RGB,width=8,"
                "height=8 ! spdlbatch batch-size=2 ! spdlsink")
        for process in False, True:
            with Loader(line, process=process) as loader:
                next(iter(loader))
                self.assertEqual(len(list(loader)), 2)

    def test_break_with_cache_continues(self):
        line = describe(FOLDER, order="input").replace(
            "! spdlsink", "! spdlcache num-caches=2 return-caches-after=2 "
            "! spdlsink")
        with Loader(line) as loader:
            first = places_of(itertools.islice(loader, 4))
            self.assertEqual(first, 2 * first[:2])
            self.assertEqual(places_of(itertools.islice(loader, 3)),
                             [first[0], first[1], first[0]])

    def test_next(self):
        with Loader(describe(FOLDER)) as loader:
            batches = []
            while batch := loader.next():
                batches.append(batch)
            self.assertEqual(indices_of(batches), ALL)
            self.assertEqual(loader.next().epoch, 1)
            self.assertEqual({b.epoch for b in loader}, {2})
        with Loader("spdlbatch batch-size=1 ! spdlsink",
                    source=[np.zeros(2, "uint8")]) as loader:
            for _ in range(3):
                self.assertEqual(loader.next().num_items, 1)
                self.assertIsNone(loader.next())

    def test_next_with_timeout(self):
        waits = threading.Event()

        def items():
            waits.wait()
            yield np.zeros(2, "uint8")

        with Loader("spdlbatch batch-size=1 ! spdlsink", source=items()) as loader:
            for timeout in 0, 1000, 70_000_000:
                with raises_with("timed-out"):
                    loader.next(timeout)
            waits.set()
            self.assertEqual(loader.next(60_000_000_000).num_items, 1)

    def test_two_threads(self):
        """One thread takes a batch while the other one gets "busy"."""
        def take():
            while len(found) < 100:
                try:
                    batch = loader.next(10**8)
                except LoaderError as error:
                    codes.add(error.code)
                else:
                    found.append(batch.indices[0] if batch else None)

        found, codes = [], set()
        before = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            with Loader(describe(FOLDER, 1, order="input")) as loader:
                threads = [threading.Thread(target=take) for _ in range(3)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
        finally:
            sys.setswitchinterval(before)
        n_more = len(found) % (N_ITEMS + 1)
        self.assertEqual([found.count(i) - found.count(None) for i in ALL],
                         [1] * n_more + [0] * (N_ITEMS - n_more))
        self.assertLessEqual(codes, {"busy", "timed-out"})

    def test_finished_iterator_stays_finished(self):
        with Loader(describe(FOLDER)) as loader:
            iterator = iter(loader)
            self.assertEqual(len(list(iterator)), 3)
            self.assertIsNone(next(iterator, None))
            self.assertEqual(len(list(loader)), 3)

    def test_epochs_of_the_description(self):
        with Loader(describe(FOLDER, source="epochs=2")) as loader:
            self.assertEqual([len(list(loader)) for _ in range(4)],
                             [3, 3, 0, 0])
            self.assertTrue(loader.is_finished())

    def test_cpu_budget(self):
        pipeline = describe(FOLDER, decode="concurrency=0")
        with Loader(pipeline, cpu_budget=0.2) as loader:
            self.assertEqual(loader.cpu_budget, 0.2)
            self.assertEqual(indices_of(loader), ALL)
            self.assertEqual([stats["stage"] for stats in loader.stats
                              if stats.get("automatic")], ["decode"])
            loader.cpu_budget = 0.4
            self.assertEqual(indices_of(loader), ALL)
        with self.assertRaises((TypeError, ValueError)):
            Loader(pipeline, cpu_budget="much")

    @needs_gi
    def test_cpu_budget_as_a_property(self):
        pipeline = describe(FOLDER, decode="concurrency=0")
        with Loader(pipeline, cpu_budget=0.2) as loader:
            self.assertEqual(loader.get_property("cpu-budget"), 0.2)
            loader.set_property("cpu-budget", 0.4)
            self.assertEqual(loader.cpu_budget, 0.4)
            self.assertEqual(indices_of(loader), ALL)

    def test_folder_named_epochs(self):
        with tempfile.TemporaryDirectory() as folder:
            link = pathlib.Path(folder, "epochs")
            link.symlink_to(FOLDER)
            with Loader(describe(link)) as loader:
                self.assertEqual([len(list(loader)) for _ in range(2)], [3, 3])

    def test_next_epoch_is_loaded_ahead(self):
        with Loader(describe(FOLDER)) as loader:
            list(loader)
            # No consumer pulls.
            wait_until(lambda: loader.stats[-1]["num-items"] >= N_ITEMS + 8)
            self.assertEqual(indices_of(loader), ALL)

    def test_bool_does_not_start_the_loader(self):
        loader = Loader(describe(FOLDER))
        self.assertTrue(loader)
        self.assertFalse(loader.is_running())

    @needs_gi
    def test_pipeline_is_unchanged(self):
        Gst, _ = require_gi()
        pipeline = Gst.parse_launch(describe(FOLDER))
        with Loader(pipeline) as loader:
            self.assertEqual([len(list(loader)) for _ in range(2)], [3, 0])
            self.assertIs(loader.pipeline, pipeline)

    def test_length(self):
        for size, more, n in [(8, "", 3), (8, "drop-last=true", 2),
                              (1, "", 20), (64, "", 1)]:
            loader = Loader(describe(FOLDER, size, batch=more))
            with self.subTest(size=size), loader:
                self.assertEqual(len(loader), n)
                self.assertEqual(len(list(loader)), n)

    def test_unknown_length(self):
        with Loader("videotestsrc num-buffers=3 ! video/x-raw,format=RGB "
                    "! spdlbatch batch-size=2 ! spdlsink") as loader:
            with self.assertRaisesRegex(
                    TypeError, r"^(?!object of type).*\blen\(\)"):
                len(loader)
            self.assertEqual(len(list(loader)), 2)

    def test_restart(self):
        loader = Loader(describe(FOLDER))
        for _ in range(3):
            with loader:
                self.assertEqual({b.epoch for b in loader}, {0})
                next(iter(loader))
        loader.start()
        self.assertEqual(indices_of(loader), ALL)
        loader.stop()
        self.assertEqual({b.epoch for b in loader}, {1})
        loader.stop()
        loader.start()
        self.assertEqual({b.epoch for b in loader}, {0})
        loader.stop()

    def test_start_of_a_running_loader(self):
        """It goes on with the batch after the last one, also with a source
        that is busy."""
        numbers = list(range(60))
        for n in 0, 3, 60:
            loader = Loader("spdlpipe name=f concurrency=1 ! spdlsink",
                            source=[np.array([i]) for i in numbers])
            loader.map("f", lambda sample: sample).start()
            iterator = iter(loader)
            found = [next(iterator) for _ in range(n)]
            with raises_with("started", "stop it"):
                loader.start()
            found += list(iterator)
            for batches in found, loader:
                self.assertEqual([int(b["data"].numpy()[0]) for b in batches],
                                 numbers)
            loader.stop()

    def test_groups(self):
        """The items of a group arrive one by one."""
        for line, expected in (
                ("spdlaggregate size=3", [[i] for i in range(8)]),
                ("spdlbatch batch-size=3",
                 [[[0], [1], [2]], [[3], [4], [5]], [[6], [7]]])):
            with Loader(line + " ! spdlsink",
                        source=[np.array([i]) for i in range(8)]) as loader:
                self.assertEqual([batch["data"].numpy().tolist()
                                  for batch in loader], expected)

    def test_many_loaders(self):
        loaders = [Loader(describe(FOLDER)) for _ in range(6)]
        iterators = [iter(loader) for loader in loaders]
        seen = [[] for _ in loaders]
        for _ in range(3):
            for i, iterator in enumerate(iterators):
                seen[i].append(next(iterator))
        for loader, batches in zip(loaders, seen):
            self.assertEqual(indices_of(batches), ALL)
            loader.stop()

    def test_library_functions(self):
        loader = Loader.new(describe(FOLDER, source="epochs=1"))
        self.assertIsInstance(loader, Loader)
        loader.start()
        batches = []
        while batch := loader.next():
            self.assertIsInstance(batch, Batch)
            batches.append(batch)
        self.assertEqual(indices_of(batches), ALL)
        loader.stop()
        with raises_with("stopped") as raised:
            loader.next(0)
        self.assertTrue(raised.exception.__cause__.matches(
            "gst-spdl-loader-error-quark", LoaderError.STOPPED))

    def test_statistics(self):
        with Loader(describe(FOLDER, source="epochs=1")) as loader:
            list(loader)
            stats = {s["stage"]: s for s in loader.stats}
        self.assertEqual(list(stats),
                         ["source", "fetch", "decode", "batch", "sink"])
        self.assertEqual(stats["decode"]["num-tasks"], N_ITEMS)
        self.assertEqual(stats["sink"]["num-items"], N_ITEMS)

    def test_verdict(self):
        line = describe(FOLDER).replace(
            "! spdldecode", "! identity name=lazy sleep-time=20000 ! spdldecode")
        with Loader(line) as loader:
            self.assertIn(loader.verdict().limit, ("too-few", "idle"))
            self.assertIsNone(loader.verdict().roofline)
            while loader.stats[-1]["num-batches"] < 14:
                for _ in loader:
                    time.sleep(0.1)
            verdict = loader.verdict()
        self.assertEqual((verdict.limit, verdict.element), ("element", "lazy"))
        self.assertIsNone(verdict.suggestion)
        self.assertIn(verdict.reason, verdict.sentence)
        roofline = verdict.roofline
        self.assertEqual(roofline.limit, "element")
        self.assertLessEqual(roofline.items_per_second, 51)
        self.assertGreater(roofline.items_per_second,
                           roofline.batches_per_second)
        self.assertGreater(roofline.cpu_time, 0)
        self.assertLess(roofline.cpu_time, 1)
        self.assertGreater(roofline.cores, 0)
        self.assertLessEqual(roofline.trainer_items_per_second, 8 / 0.1)
        self.assertAlmostEqual(
            roofline.trainer_cores,
            roofline.trainer_items_per_second * roofline.cpu_time, places=3)
        self.assertEqual(str(verdict),
                         f"{verdict.sentence}\n{roofline.sentence}")

    def test_wait_time_is_counted(self):
        def slow():
            time.sleep(0.5)
            yield str(next(FOLDER.glob("*/*.jpg")))

        with Loader("spdlfetch ! spdldecode ! spdlbatch ! spdlsink name=sink",
                    source=slow()) as loader:
            list(loader)
            sink = loader.stats[-1]
        # The wait is interrupted periodically to check for Ctrl-C.
        self.assertEqual(sink["stage"], "sink")
        self.assertGreater(sink["ave-get-time"], 100_000_000)


class StopTest(unittest.TestCase):
    def check_stop_during_a_start(self, description):
        """The source waits for a server that never responds."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            url = f"http://127.0.0.1:{server.getsockname()[1]}/a.tar"
            loader = Loader(description.format(
                f"spdlsrc location={url} timeout=0"))
            errors = []

            def start():
                try:
                    loader.start()
                except LoaderError as error:
                    errors.append(error.code)

            for _ in range(3):
                thread = threading.Thread(target=start)
                thread.start()
                connection = server.accept()[0]
                while thread.is_alive():
                    loader.stop()
                thread.join()
                connection.close()
            self.assertEqual(errors, ["stopped"] * 3)

    def test_stop_during_a_start(self):
        self.check_stop_during_a_start("{} ! spdlsink")

    def test_stop_during_a_start_of_a_worker(self):
        self.check_stop_during_a_start(
            'spdlworkersrc pipeline="{}" ! spdlsink')

    def stop_until(self, loader, ended, delay=0):
        """Stops often, since a `for` that begins after a stop continues."""
        time.sleep(delay)
        while not ended.is_set():
            loader.stop()

    def test_stop_from_another_thread(self):
        ended = threading.Event()
        with Loader(describe(FOLDER)) as loader:
            stopper = threading.Thread(target=self.stop_until,
                                       args=(loader, ended))
            with raises_with("stopped"):
                stopper.start()
                while True:
                    list(loader)
            ended.set()
            stopper.join()

    def test_stop_while_waiting(self):
        waits = threading.Event()

        def items():
            waits.set()
            stopped.wait()
            yield b""

        stopped = threading.Event()
        loader = Loader("spdldecode ! spdlbatch ! spdlsink", source=items())
        with loader:
            stopper = threading.Thread(
                target=lambda: (waits.wait(), loader.stop()))
            stopper.start()
            with raises_with("stopped"):
                list(loader)
            stopper.join()
        stopped.set()


    def take(self, loader, n_batches):
        """Takes batches over several epochs. Returns the items of each epoch,
        and the iterator of the last one."""
        epochs, iterator = [], None
        while n_batches > 0:
            iterator = iter(loader)
            epochs.append([])
            for batch in iterator:
                epochs[-1] += batch.indices
                n_batches -= 1
                if n_batches == 0:
                    break
        return epochs, iterator

    def test_continue(self):
        """Compared with a loader that is not stopped, nothing is doubled and
        nothing is lost, items and failures."""
        broken = make_dataset(N_ITEMS)
        for path in sorted(broken.glob("*/*.jpg"))[3::7]:
            path.write_text("no image")
        for source, process in itertools.product(
                ("shuffle=true seed=5", ""), (False, True)):
            line = describe(broken, 4, source=f"{source} epochs=3",
                            order="input")
            with Loader(line) as loader:
                whole = [[i for b in loader for i in b.indices]
                         for _ in range(3)]
                failed = loader.take_failures(loader.state)
            n = -(-len(whole[0]) // 4)
            for n_batches in 0, 1, n - 1, n, n + 1, 2 * n + 2, 3 * n:
                with self.subTest(source=source, process=process,
                                  n_batches=n_batches):
                    loader = Loader(line, process=process)
                    loader.start()
                    epochs, iterator = self.take(loader, n_batches)
                    found = loader.take_failures(
                        loader.state) if n_batches % 2 else []
                    loader.stop()
                    if iterator and n_batches % n:
                        with raises_with("stopped"):
                            next(iterator)
                        epochs[-1] += [i for b in loader for i in b.indices]
                    for _ in range(5):
                        epochs.append([i for b in loader for i in b.indices])
                    found += loader.take_failures(loader.state)
                    self.assertEqual([e for e in epochs if e], whole)
                    self.assertEqual(
                        sorted((f.epoch, f.index) for f in found),
                        sorted((f.epoch, f.index) for f in failed))
                    self.assertEqual(loader.num_failures, len(failed))
                    loader.stop()

    def test_continue_often(self):
        loader = Loader(describe(FOLDER, source="shuffle=true", order="input"))
        with Loader(describe(FOLDER, source="shuffle=true",
                             order="input")) as other:
            whole = [list(b.indices) for _ in range(2) for b in other]
        seen = []
        while len(seen) < len(whole):
            for batch in loader:
                seen.append(list(batch.indices))
                break
            if len(seen) < len(whole):  # A batch that was looked at stays.
                self.assertEqual(list(loader.peek().indices),
                                 whole[len(seen)])
            loader.stop()
        self.assertEqual(seen, whole)

    def test_no_state_to_continue_from(self):
        for line, more in (
                ("videotestsrc num-buffers=9 ! video/x-raw,format=RGB,width=8,"
                 "height=8 ! spdlbatch batch-size=2 ! spdlsink", {}),
                ("spdlbatch batch-size=4 ! spdlsink",
                 {"source": [np.zeros(2, "uint8")] * 20})):
            with Loader(line, **more) as loader:
                next(iter(loader))
                loader.stop()
                for _ in range(2):
                    with raises_with("stopped"):
                        next(iter(loader))
                    self.assertFalse(loader.is_running())
                loader.start()
                self.assertEqual(len(list(loader)), 5)

    def test_stop_while_leaving_epochs(self):
        for line, more in (describe(FOLDER), {}), (
                "spdlbatch batch-size=4 ! spdlsink",
                {"source": [np.zeros(2, "uint8")] * 20}):
            for i in range(8):
                loader = Loader(line, **more)
                ended = threading.Event()
                with raises_with("stopped"):
                    loader.start()
                    stopper = threading.Thread(target=self.stop_until, args=(
                        loader, ended, i * 0.004))
                    stopper.start()
                    while True:
                        next(iter(loader))
                ended.set()
                stopper.join()
                self.assertFalse(loader.is_running())


    def test_stop_at_the_moment_of_leaving_an_epoch(self):
        def is_running(pointer):
            running = really_is_running(pointer)
            if not stoppers:
                stoppers.append(threading.Thread(target=loader.stop))
                stoppers[0].start()
                stoppers[0].join()
            return running

        really_is_running = native.loader_is_running
        for line, more in (describe(FOLDER), {}), (
                "spdlbatch batch-size=4 ! spdlsink",
                {"source": [np.zeros(2, "uint8")] * 20}):
            stoppers = []
            with Loader(line, **more) as loader:
                next(iter(loader))
                with unittest.mock.patch.object(
                        native, "loader_is_running", is_running), \
                        raises_with("stopped"):
                    next(iter(loader))
                self.assertFalse(loader.is_running())


class LossTest(unittest.TestCase):
    @needs_gi
    def test_error_codes(self):
        Gst, _ = require_gi()
        for nick, code in ("failed", FAILED), ("format", FORMAT):
            error = native.Error(nick, Gst.stream_error_quark(), code, nick)
            self.assertEqual(error.domain, STREAM_ERROR)
            self.assertEqual(Gst.StreamError(code).value_nick, nick)
            self.assertTrue(error.matches(Gst.stream_error_quark(), code))
    def check(self, line, *reasons):
        with Loader(line) as loader:
            with raises_with(None, *reasons) as raised:
                list(loader)
        return raised.exception

    def test_shape_mismatch(self):
        line = describe(FOLDER).replace("width=32 height=32", "")
        error = self.check(line, ".jpg: Item is uint8 (",
                           ", 3), but its batch began with uint8 (",
                           "width and height on spdldecode")
        self.assertEqual(error.stage, "batch")
        self.assertTrue(error.__cause__.matches(
            STREAM_ERROR, FORMAT))
        with Loader(line.replace("name=batch",
                                 "on-shape-mismatch=skip")) as loader:
            indices = indices_of(loader)
            self.assertTrue(0 < len(indices) < N_ITEMS)

    def test_too_few_for_a_batch(self):
        error = self.check(describe(FOLDER, 21, batch="drop-last=true"),
                           "20 were dropped in batch", "size to 20 or less")
        self.assertEqual(error.stage, "batch")
        self.assertTrue(error.__cause__.matches(
            STREAM_ERROR, FAILED))

    def test_unmatched_caps(self):
        line = describe(FOLDER).replace(
            "! spdlsink", "! other/tensors,types=float32 ! spdlsink")
        error = self.check(line, "types=(string)uint8",
                           "types=(string)float32", "caps filter")
        self.assertEqual(error.stage, "batch")
        self.check(describe(FOLDER, decode="! audio/x-raw"),
                   "20 failed in decode", ".jpg: ")

    def test_filtered_items(self):
        line = describe(FOLDER).replace(
            "! spdlbatch", "! spdlpipe name=work ! spdlbatch")
        loader = Loader(line)
        with loader.map("work", lambda sample: None):
            self.assertEqual([list(loader) for _ in range(3)], [[], [], []])

    def test_rank_without_items(self):
        ranks = "rank=20 world-size=21 shard-mode=uneven epochs=2"
        with Loader(describe(FOLDER, source=ranks,
                             batch="drop-last=true")) as loader:
            self.assertEqual([list(loader) for _ in range(2)], [[], []])

    def test_rest_of_an_epoch(self):
        line = describe(FOLDER, batch="drop-last=true")
        with Loader(line) as loader:
            state = [batch.state for batch in loader][-1]
        with Loader(line, state=state) as loader:
            self.assertEqual([len(list(loader)) for _ in range(2)], [0, 2])


class ErrorTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = make_dataset(40)
        cls.broken = cls.folder / "zzz"
        cls.broken.mkdir()
        for i in range(3):
            (cls.broken / f"{i}.jpg").write_text("no picture")

    def test_failures_raise_no_error(self):
        with Loader(describe(self.folder, source="epochs=1")) as loader:
            self.assertEqual(sum(b.num_items for b in loader), 40)
            self.assertEqual(loader.num_failures, 3)
            failures = loader.failures
        self.assertEqual({f.stage for f in failures}, {"decode"})
        self.assertEqual(sorted(f.uri for f in failures),
                         [(self.broken / f"{i}.jpg").as_uri()
                          for i in range(3)])
        self.assertTrue(all(f.reason for f in failures))
        self.assertEqual(sorted((f.epoch, f.index) for f in failures),
                         [(0, 40), (0, 41), (0, 42)])

    def test_failures_without_a_batch(self):
        """The state counts them although no batch has come."""
        file = FOLDER / "last.txt"
        paths = sorted(map(str, FOLDER.glob("*/*.jpg")))[:4]
        file.write_text("\n".join([*paths, "missing.jpg"]))
        self.addCleanup(file.unlink)
        line = describe(FOLDER, 4, f'location="{file}" label=none epochs=1',
                        "input")
        with Loader(line) as loader:
            state = next(iter(loader)).state
        with Loader(line, state=state) as loader:
            with self.assertWarns(LoaderWarning):
                self.assertEqual(list(loader), [])
            failure, = loader.take_failures(loader.state)
            self.assertEqual(failure.index, 4)
            self.assertTrue(loader.state.endswith("epoch=1,mark=0,done=;"))

    def test_failures_of_states(self):
        with Loader(describe(self.folder, order="input", source="epochs=2",
                             size=4)) as loader:
            for epoch in range(2):
                for batch in loader:
                    # They are the last of their epoch.
                    taken = loader.take_failures(batch.state)
                    self.assertEqual(
                        {f.epoch for f in taken},
                        {0} if epoch == 1 and taken else set())
                    self.assertEqual(loader.take_failures(batch.state), [])
            taken = loader.take_failures(loader.state)
            self.assertEqual(sorted((f.epoch, f.index) for f in taken),
                             [(1, 40), (1, 41), (1, 42)])
            self.assertEqual(loader.take_failures(None), [])
            end = loader.state
        # Those of an earlier run do not count.
        with Loader(describe(self.folder, source="epochs=1")) as loader:
            list(loader)
            self.assertEqual(len(loader.failures), 3)
            loader.stop()
            loader.start()
            self.assertEqual(loader.take_failures(end), [])

    def test_failures_of_left_epochs(self):
        folder = make_dataset(6)
        for i in range(3):
            (folder / f"{i}.jpg").write_text("no picture")
        taken = set()
        with Loader(describe(folder, 4, "epochs=5", "input",
                             "concurrency=1")) as loader:
            for epoch in range(4):
                next(iter(loader))
                want = {(e, i) for e in range(epoch + 1) for i in range(3)}
                # A failure of the next epoch, since the failures of this epoch
                # were reported.
                wait_until(lambda: loader.stats[2]["num-failures"] > 3)
                iter(loader)
                self.assertEqual({(f.epoch, f.index) for f in loader.failures
                                  if f.epoch <= epoch}, want)
                taken |= {(f.epoch, f.index)
                          for f in loader.take_failures(loader.state)}
                self.assertLessEqual(want, taken)
            list(loader)
            self.assertTrue(loader.is_finished())
            self.assertEqual(loader.num_failures, 5 * 3)

    def test_failures_since_the_last_batch(self):
        """A state that counts items that have failed since the last batch, also
        those of the next epoch, comes with their failures."""
        file = FOLDER / "first.txt"
        paths = sorted(map(str, FOLDER.glob("*/*.jpg")))[:4]
        file.write_text("\n".join(["missing.jpg", "missing-too.jpg", *paths]))
        self.addCleanup(file.unlink)
        line = describe(FOLDER, 4, f'location="{file}" label=none epochs=2',
                        "input").replace("! spdldecode",
                                         "! spdlpipe name=work ! spdldecode")
        goes_on = threading.Event()

        def hold_the_second_epoch(sample):
            if sample.epoch == 1:
                goes_on.wait()
            return sample

        loader = Loader(line)
        with loader.map("work", hold_the_second_epoch):
            self.assertEqual(len(list(loader)), 1)
            wait_until(lambda: "epoch=1,mark=2" in loader.state)
            taken = loader.take_failures(loader.state)
            goes_on.set()
            self.assertEqual(sorted((f.epoch, f.index) for f in taken),
                             [(0, 0), (0, 1), (1, 0), (1, 1)])

    def test_error_ends_only_its_run(self):
        for process in False, True:
            with self.subTest(process=process), Loader(
                    describe(self.folder, order="input", size=4,
                             decode="concurrency=1 max-failures=2")
                    + " max-buffers=100", process=process) as loader:
                next(iter(loader))
                wait_until(lambda: loader.error)
                with self.assertRaises(LoaderError) as raised:
                    next(iter(loader))
                self.assertEqual(raised.exception.stage, "decode")

    def test_error_names_its_item(self):
        folder = make_dataset(1)
        for i in range(60):
            (folder / f"{i:02}.jpg").write_text("no picture")
        for process in False, True:
            for more, budget in ({"max_failures": 5}, ""), (
                    {}, "max-failures=5"):
                with self.subTest(budget=budget, process=process), Loader(
                        describe(folder, decode=f"concurrency=4 {budget}"),
                        process=process, **more) as loader:
                    with self.assertRaises(LoaderError) as raised:
                        list(loader)
                    error = raised.exception
                    self.assertEqual(error.stage, "decode")
                    self.assertRegex(str(error), "(^|[ /])"
                                     + error.uri.rpartition("/")[2])

    def test_is_done(self):
        with Loader(describe(self.folder, order="input", source="epochs=1")
                    ) as loader:
            iterator = iter(loader)
            begin = next(iterator).state
            list(iterator)
            failure = loader.failures[0]
            self.assertTrue(failure.is_done(loader.state))
        for state in None, "", "no state", begin:
            self.assertFalse(failure.is_done(state))
        self.assertFalse(replace(failure, epoch=None).is_done(begin))
        self.assertTrue(replace(failure, sequence=0).is_done(begin))
        self.assertFalse(replace(failure, source=1).is_done(begin))

    def check(self, loader, code):
        good = []
        with loader, self.assertRaises(LoaderError) as raised:
            for batch in loader:
                good.append(batch)
        error = raised.exception
        self.assertEqual(indices_of(good), list(range(40)))
        self.assertEqual(error.code, code)
        self.assertEqual(error.stage, "decode")
        self.assertIn(error.uri, [(self.broken / f"{i}.jpg").as_uri()
                                  for i in range(3)])
        self.assertIn(error.uri, str(error))
        self.assertRegex(error.__cause__.domain, "^gst-.*-error-quark$")

    def test_budget_of_the_loader(self):
        self.check(Loader(
            describe(self.folder, order="input", decode="concurrency=1"),
            max_failures=2), "failures")

    def test_budget_of_a_stage(self):
        self.check(Loader(describe(
            self.folder, order="input", decode="concurrency=1 max-failures=2")),
            "pipeline-error")

    def test_descriptions(self):
        for text, code in [
                ("spdlsrc ! nothing-of-that-name ! spdlsink",
                 "pipeline-error"),
                ("spdlsrc location=x ! fakesink", "pipeline"),
                ("spdlsrc location=x ! appsink", "pipeline"),
                ("spdldecode ! spdlbatch ! spdlsink", "source")]:
            with self.subTest(text), raises_with(code):
                Loader(text)

    def test_failing_start(self):
        loader = Loader(describe("/nowhere/at/all"))
        with self.assertRaisesRegex(LoaderError, "/nowhere/at/all"):
            for _ in loader:
                self.fail("a batch of nothing")


if __name__ == "__main__":
    unittest.main()
