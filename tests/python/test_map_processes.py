#!/usr/bin/python3
# gst-spdl: tests of Python functions in worker processes
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
import contextlib
import gc
import importlib.util
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
import weakref
from unittest import mock

import numpy as np
import process_functions as functions
from errors import raises_with
from support import ROOT, make_folder, run_python, wait_until
from worker_processes import is_alive, parent_of, workers

from gstspdl import Loader, LoaderError, LoaderWarning, Pipeline
from gstspdl._functions import stages
from gstspdl._native import library as native
from gstspdl._processes.server import Server, StartError, dump
from gstspdl._media.sample import Sample
from gstspdl._processes.worker import FunctionJob

warnings.simplefilter("ignore", LoaderWarning)
needs_cloudpickle = unittest.skipUnless(
    importlib.util.find_spec("cloudpickle"), "needs cloudpickle")

N = 40
ARRAYS = [(np.full((2, 3), i, "uint8"), i, f"item {i}") for i in range(N)]
WORK = "spdlpipe name=work output-order=input {} "
LINE = WORK + "! spdlbatch batch-size=8 ! spdlsink"


def make_marks():
    """Returns a folder in which worker processes leave a file."""
    folder = make_folder()
    os.environ["SPDL_TEST_FOLDER"] = str(folder)
    return folder


def children(pid=None):
    """The process IDs of a process's children and theirs."""
    found = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid or os.getpid())],
        check=False, capture_output=True, text=True).stdout.split()
    # ps is one of them.
    found = [int(child) for child in found if os.path.exists(f"/proc/{child}")]
    return found + [grandchild for child in found
                    for grandchild in children(child)]


def run(function, processes=2, line=LINE, source=ARRAYS, more=""):
    loader = Loader(line.format(more), source=source)
    with loader.map("work", function, processes=processes):
        return loader, list(loader)


def join(batches, name="data"):
    return np.concatenate([batch[name].numpy().copy() for batch in batches])


def labels_of(batches):
    return [label for batch in batches for label in batch.labels]


class ResultTest(unittest.TestCase):
    def test_as_in_threads(self):
        for name in ("add_100", "to_bytes", "as_it_is", "to_parts", "two_of_it",
                     "only_odd", "describe_item"):
            with self.subTest(name):
                function = getattr(functions, name)
                _, expected = run(function, 0)
                loader, found = run(function)
                self.assertEqual(loader.failures, [])
                self.assertEqual(len(found), len(expected))
                for one, other in zip(found, expected):
                    self.assertEqual(one.names, other.names)
                    self.assertEqual(one.keys, other.keys)
                    self.assertEqual(list(one.indices), list(other.indices))
                    self.assertEqual(list(one.labels), list(other.labels))
                    for tensor in one.names:
                        np.testing.assert_array_equal(
                            one[tensor].numpy(), other[tensor].numpy())

    def test_several_items_of_one(self):
        """A list is the way to give several; a generator is refused."""
        for processes in 0, 2:
            _, batches = run(functions.two_of_it, processes)
            self.assertEqual(labels_of(batches),
                             [i for i in range(N) for _ in range(2)])
            np.testing.assert_array_equal(
                join(batches), np.concatenate([a for a, _, _ in ARRAYS]))
            loader = Loader(LINE.format(""), source=ARRAYS)
            for function in (functions.yields, functions.yields_async,
                             functions.Yields()):
                with self.assertRaisesRegex(TypeError, "list"):
                    loader.map("work", function, processes=processes)

    def test_groups_and_batches(self):
        group = "spdlaggregate size=5 ! " + WORK + (
            "! spdldisaggregate ! spdlbatch batch-size=8 ! spdlsink")
        _, batches = run(functions.add_up_group, line=group)
        np.testing.assert_array_equal(
            join(batches), np.stack([a for a, _, _ in ARRAYS]) + 5)
        self.assertEqual(labels_of(batches), list(range(N)))
        batch = "spdlbatch batch-size=8 ! " + WORK + "! spdlsink"
        _, batches = run(functions.halve_batch, line=batch)
        np.testing.assert_array_equal(
            join(batches), np.stack([a for a, _, _ in ARRAYS]) // 2)
        self.assertEqual(labels_of(batches), list(range(N)))

    def test_order(self):
        for _ in range(3):
            _, batches = run(functions.take_turns, 3)
            self.assertEqual(labels_of(batches), list(range(N)))

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            for i in range(20):
                with open(f"{folder}/{i:02}.bin", "wb") as stream:
                    stream.write(bytes([i]) * 6)
            pipeline = (Pipeline().files(folder, pattern="*.bin", epochs=2)
                        .fetch().map(functions.from_bytes, processes=2,
                                     output_order="input"))
            line = str(pipeline)
            self.assertIn("concurrency=2", line)
            with pipeline.batch(4).loader() as loader:
                for _ in range(2):
                    found = [bytes(row) for batch in loader
                             for row in batch["data"].numpy()]
                    self.assertEqual(sorted(found),
                                     [bytes([i]) * 6 for i in range(20)])

    def test_many_sizes(self):
        source = [np.full((2, 3), i, "uint8") for i in range(100)]
        loader, _ = run(functions.large, line=WORK + "! spdlsink",
                        source=source)
        self.assertEqual(loader.failures, [])

    def test_samples_may_be_kept(self):
        for function in functions.keep, functions.keep_result:
            loader, batches = run(function)
            self.assertEqual(loader.failures, [])
            self.assertEqual(labels_of(batches), list(range(N)))

    def test_results_may_be_kept(self):
        """Batches of one process's memory outlive the process."""
        loader, batches = run(functions.halve_batch,
                              line="spdlbatch batch-size=8 ! " + WORK +
                              "! spdlsink")
        del loader
        gc.collect()
        np.testing.assert_array_equal(
            join(batches), np.stack([a for a, _, _ in ARRAYS]) // 2)

    def chain(self, *names):
        pipes = "".join(f"spdlpipe name={name} output-order=input ! "
                        for name in names)
        loader = Loader(pipes + "spdlbatch batch-size=8 ! spdlsink",
                        source=ARRAYS)
        for name in names:
            loader.map(name, getattr(functions, name.rstrip("2")), processes=2)
        return loader

    def test_result_is_copied_once(self):
        native.init()
        ours, theirs = (native.process_link_new(end.detach())
                        for end in socket.socketpair(
                            socket.AF_UNIX, socket.SOCK_SEQPACKET))
        item = Sample(native.sample_new(b"", 0, None, None))
        for result in np.arange(50_000, dtype="int32"), b"bytes" * 5_000:
            pointer = stages.call(lambda: result, item, ours)
            made = Sample(native.ref(pointer))
            native.process_link_send(ours, pointer)
            found = Sample(native.process_link_receive(theirs))
            if isinstance(result, bytes):
                self.assertEqual(bytes(found), result)
                continue
            values = found["data"].numpy()
            np.testing.assert_array_equal(values, result)
            # Both are the same memory.
            values[7] = -1
            self.assertEqual(made["data"].numpy()[7], -1)
        del made, found, values
        native.process_link_free(ours)
        native.process_link_free(theirs)

    def test_several_functions(self):
        """Large results go on to other functions without a copy."""
        expected = np.arange(N)
        for names, more in ((("enlarge", "keep_some", "keep_some2"), 0),
                            (("enlarge", "keep_some", "add_in_place"), 100)):
            with self.chain(*names) as loader:
                batches = list(loader)
                found = join(batches)
                self.assertEqual(loader.failures, [])
            np.testing.assert_array_equal(found[:, 5, 7], expected + more)
            self.assertTrue((found == found[:, :1, :1]).all())

    def test_several_functions_and_kills(self):
        with self.chain("enlarge", "keep_some", "add_in_place") as loader:
            found, rng = [], random.Random(1)
            for batch in loader:
                found.append(join([batch]))
                pids = workers()
                if pids:
                    os.kill(rng.choice(pids), signal.SIGKILL)
            n_failures = len(loader.failures)
        found = np.concatenate(found)
        self.assertEqual(len(found) + n_failures, N)
        self.assertTrue((found == found[:, :1, :1]).all())

    def test_all_processes_work(self):
        make_marks()
        _, batches = run(functions.worker_id, 3)
        pids = set(join(batches).ravel().tolist())
        self.assertEqual(len(pids), 3)
        self.assertNotIn(os.getpid(), pids)

    def test_environment(self):
        os.environ["SPDL_TEST_VARIABLE"] = "42"
        _, batches = run(functions.variable)
        self.assertEqual(set(join(batches).ravel().tolist()), {42})

    def test_random_numbers_differ(self):
        _, batches = run(functions.random_number, 3)
        numbers = join(batches)
        self.assertEqual(len(np.unique(numbers[:, 0])), N)
        self.assertEqual(len(np.unique(numbers[:, 1])), N)

    def test_epochs_and_states(self):
        line = LINE.format("")
        loader = Loader(line, source=ARRAYS)
        loader.map("work", functions.as_it_is, processes=2)
        with loader:
            for _ in range(3):
                self.assertEqual(labels_of(loader), list(range(N)))
            for batch in loader:
                break
            self.assertEqual(labels_of(loader), list(range(N)))
        with loader:  # again, with the same processes
            self.assertEqual(labels_of(loader), list(range(N)))
        self.assertEqual(loader.stats[0]["stage"], "work")
        self.assertEqual(loader.stats[0]["num-tasks"], N)


    def test_statistics(self):
        loader = Loader(LINE.format(""), source=ARRAYS)
        loader.map("work", functions.compute, processes=2)
        for _ in range(2):
            with loader:
                list(loader)
                stats = loader.stats[0]
                self.assertEqual(stats["num-tasks"], N)
                self.assertGreaterEqual(stats["ave-time"], 5_000_000)
                self.assertGreaterEqual(stats["cpu-time"], N * 5_000_000)
                self.assertLess(stats["cpu-time"], N * 10_000_000)
            # Threads of the stage use some microseconds until they end.
            self.assertAlmostEqual(loader.stats[0]["cpu-time"],
                                   stats["cpu-time"], delta=N * 1_000_000)


class FailureTest(unittest.TestCase):
    def test_exception(self):
        loader, batches = run(functions.raise_at_three)
        self.assertEqual(labels_of(batches),
                         [i for i in range(N) if i % 10 != 3])
        self.assertEqual({f.uri for f in loader.failures},
                         {f"item {i}" for i in range(3, N, 10)})
        for failure in loader.failures:
            self.assertEqual(failure.stage, "work")
            self.assertRegex(failure.reason, "^ValueError: three\n")
            self.assertIn('raise ValueError("three")', failure.reason)

    def test_no_result(self):
        loader = Loader(LINE.format(""), source=ARRAYS)
        with loader.map("work", type, processes=1):
            with self.assertRaises(LoaderError):
                list(loader)
        self.assertEqual(loader.num_failures, N)
        self.assertRegex(loader.failures[0].reason, "^TypeError: ")

    def test_killed_once(self):
        with tempfile.TemporaryDirectory() as folder:
            loader, batches = run(functions.KillOnce(folder))
            self.assertTrue(os.path.exists(f"{folder}/killed"))
        self.assertEqual(labels_of(batches), list(range(N)))
        self.assertEqual(loader.failures, [])

    def test_killed_always(self):
        for function, word in ((functions.kill_at_five, "signal 9"),
                               (functions.exit_at_five, "status 3")):
            loader, batches = run(function)
            self.assertEqual(labels_of(batches), [i for i in range(N) if i != 5])
            failure, = loader.failures
            self.assertEqual(failure.uri, "item 5")
            self.assertIn(word, failure.reason)

    def test_timeout(self):
        loader, batches = run(functions.hang_at_five,
                              more="task-timeout=1000000000")
        self.assertEqual(labels_of(batches), [i for i in range(N) if i != 5])
        failure, = loader.failures
        self.assertEqual(failure.uri, "item 5")
        self.assertIn("1.000 s", failure.reason)

    def test_any_moment(self):
        """Kills workers at 50 random moments: each item comes once."""
        source = ARRAYS * 10
        rng = random.Random(1)
        n_killed = 0
        while n_killed < 50:
            loader = Loader(LINE.format(""), source=source)
            loader.map("work", functions.take_turns, processes=3)
            with loader:
                found = []
                for batch in loader:
                    found += batch.keys
                    pids = workers()
                    if pids and n_killed < 50:
                        time.sleep(rng.random() / 100)
                        try:
                            os.kill(rng.choice(pids), signal.SIGKILL)
                            n_killed += 1
                        except ProcessLookupError:
                            pass
            # The item of a worker that was killed twice may fail.
            failed = [failure.uri for failure in loader.failures]
            self.assertEqual(sorted(found + failed),
                             sorted(key for _, _, key in source))
            self.assertLessEqual(len(failed), 2)

    def test_server_is_killed(self):
        loader = Loader(LINE.format(""), source=ARRAYS * 20)
        loader.map("work", functions.take_turns, processes=2)
        with self.assertRaises(LoaderError) as raised:
            for _ in loader:
                for pid in children():
                    if is_alive(pid):
                        os.kill(pid, signal.SIGKILL)
        self.assertEqual(raised.exception.stage, "work")
        loader.stop()
        with loader:  # starts another one
            self.assertEqual(labels_of(loader), list(range(N)) * 20)


STOPPED = "worker-timeout=100000000"


class StoppedTest(unittest.TestCase):
    """Processes that neither end nor go on."""

    def test_any_moment(self):
        rng = random.Random(2)
        loader = Loader(LINE.format(STOPPED), source=ARRAYS * 4)
        with loader.map("work", functions.take_turns, processes=3):
            found, n_stopped = [], 0
            for batch in loader:
                found += batch.keys
                pids = workers()
                if pids and n_stopped < 5:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(rng.choice(pids), signal.SIGSTOP)
                        n_stopped += 1
        # The item of a worker that was stopped twice may fail.
        failed = [failure.uri for failure in loader.failures]
        self.assertEqual(sorted(found + failed),
                         sorted(key for _, _, key in ARRAYS * 4))
        self.assertLessEqual(len(failed), 1)

    def test_twice_at_an_item(self):
        """Also in a system call that hangs."""
        os.mkfifo(make_marks() / "fifo")
        for function in (functions.stop_at_five,
                         functions.wait_in_kernel_at_five):
            loader, batches = run(function, more=STOPPED)
            self.assertEqual(labels_of(batches),
                             [i for i in range(N) if i != 5])
            failure, = loader.failures
            self.assertEqual(failure.uri, "item 5")
            self.assertIn("worker-timeout", failure.reason)
        # Ends the processes that wait for it.
        os.close(os.open(os.path.join(os.environ["SPDL_TEST_FOLDER"], "fifo"),
                         os.O_WRONLY | os.O_NONBLOCK))

    def test_busy_workers_stay(self):
        loader, batches = run(functions.sleep_and_compute, 1,
                              source=ARRAYS[:2], more=STOPPED)
        self.assertEqual(loader.failures, [])
        self.assertEqual(len(set(join(batches).tolist())), 1)

    def test_server(self):
        """The process that forks workers."""
        loader = Loader(LINE.format(STOPPED), source=ARRAYS * 4)
        loader.map("work", functions.take_turns, processes=1)
        with self.assertRaises(LoaderError) as raised:
            for _ in loader:
                for pid in workers():
                    os.kill(parent_of(pid), signal.SIGSTOP)
                    os.kill(pid, signal.SIGKILL)
        self.assertEqual(raised.exception.stage, "work")
        loader.stop()
        with loader:  # starts another one
            self.assertEqual(labels_of(loader), list(range(N)) * 4)

    def test_start(self):
        job = dump(FunctionJob(functions.as_it_is))
        server = Server(job, timeout=0.1)
        for pid in children():
            os.kill(pid, signal.SIGSTOP)
        with self.assertRaises(StartError):
            server.wait()
        native.fork_server_free(server.pointer)
        server.close()
        wait_until(lambda: not children())

    def test_stop(self):
        """The end does not wait for the timeout."""
        loader = Loader(LINE.format(""), source=ARRAYS * 100)
        loader.map("work", functions.take_turns, processes=2)
        next(iter(loader))
        pids = children()
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        loader.stop()
        del loader
        gc.collect()
        wait_until(lambda: not any(map(is_alive, pids)))


class MistakeTest(unittest.TestCase):
    def check(self, code, function, processes=1, name="work"):
        loader = Loader(LINE.format(""), source=ARRAYS)
        with raises_with(code) as raised:
            loader.map(name, function, processes=processes).start()
        return str(raised.exception)

    def test_mistakes(self):
        self.check("map", functions.as_it_is, name="none")
        text = self.check("map", functions.CannotBeMade())
        self.assertIn("this cannot be unpickled", text)
        self.assertIn("Traceback", text)
        self.check("map", threading.Lock().acquire)
        loader = Loader(LINE.format(""), source=ARRAYS)
        with self.assertRaises(TypeError):
            loader.map("work", 42, processes=1)
        for processes in -1, True, "2":
            with self.assertRaises(ValueError):
                loader.map("work", functions.as_it_is, processes=processes)
        with self.assertRaises(ValueError):
            Pipeline().map(functions.as_it_is, processes=-1)
        with self.assertRaises(TypeError):
            Pipeline().map(functions.as_it_is, processes="2")
        gc.collect()
        del loader
        wait_until(lambda: not children())


# A script without `if __name__ == "__main__"`.
SCRIPT = """
import sys, numpy as np
from gstspdl import Loader
print("main")
def work(sample):
    return sample["data"].numpy() + offset
offset = 100
loader = Loader("spdlpipe name=work output-order=input "
                "! spdlbatch batch-size=8 ! spdlsink",
                source=[np.full(2, i, "uint8") for i in range(16)])
with loader.map("work", {}, processes=2):
    for batch in loader:
        print(batch["data"].numpy()[:, 0].tolist())
"""


class ScriptTest(unittest.TestCase):
    @needs_cloudpickle
    def test_main_module(self):
        for function in "work", "lambda sample: work(sample)":
            done = run_python(SCRIPT.format(function))
            self.assertEqual(done.stdout, "main\n" + "".join(
                f"{list(range(begin, begin + 8))}\n" for begin in (100, 108)),
                done.stderr)

    def test_without_cloudpickle(self):
        done = run_python(
            "import sys; sys.modules['cloudpickle'] = None\n" +
            SCRIPT.format("work"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("install cloudpickle", done.stderr)
        self.assertIn("LoaderError", done.stderr)


class ForkTest(unittest.TestCase):
    PYTHON = ROOT / "build-venv-arrow" / "bin" / "python"

    @unittest.skipUnless(PYTHON.exists(), "needs NumPy of PyPI")
    def test_threads_of_numpy(self):
        """OpenBLAS in NumPy's wheels starts threads, which do not count."""
        done = subprocess.run([self.PYTHON, "-c", """if True:
            import os, sys, threading, time
            import numpy
            if not numpy.__file__.startswith(sys.prefix):
                sys.exit()
            from gstspdl._processes.server import can_fork
            n_threads = len(os.listdir("/proc/self/task"))
            print(n_threads > 1 or os.cpu_count() == 1, can_fork())
            threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
            print(can_fork())
        """], env={**os.environ, "OPENBLAS_NUM_THREADS": "2"}, check=True,
            capture_output=True, text=True)
        if not done.stdout:
            self.skipTest("NumPy is the system's, without OpenBLAS of a wheel")
        self.assertEqual(done.stdout.split(), ["True", "True", "False"])


class EndTest(unittest.TestCase):
    def count_fds(self):
        return len(os.listdir("/proc/self/fd"))

    def test_stop(self):
        """A stop does not wait for functions."""
        marks = make_marks()
        loader = Loader(LINE.format(""), source=ARRAYS)
        loader.map("work", functions.hang, processes=2)
        for n_begun in 2, 4:
            loader.start()
            wait_until(lambda n=n_begun: len(list(marks.iterdir())) == n)
            loader.stop()

    def test_nothing_is_left(self):
        run(functions.as_it_is)
        gc.collect()
        before = self.count_fds()
        for i in range(5):
            loader, batches = run(functions.as_it_is)
            if i % 2:
                loader.start()
                next(iter(loader))
            del loader, batches
            gc.collect()
        wait_until(lambda: not children())
        self.assertEqual(self.count_fds(), before)

    def test_garbage_while_a_process_starts(self):
        """A collection may free a loader that has worker processes."""
        popen = subprocess.Popen

        def start(*arguments, **options):
            gc.collect()
            return popen(*arguments, **options)

        gc.disable()
        self.addCleanup(gc.enable)
        garbage = Loader(LINE.format(""), source=ARRAYS)
        garbage.map("work", functions.as_it_is, processes=1)
        for pid in children():  # else the next loader uses the same one
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not any(map(is_alive, children())))
        freed = weakref.ref(garbage)
        garbage.itself = garbage
        del garbage
        with mock.patch("subprocess.Popen", start):
            loader = Loader(LINE.format(""), source=ARRAYS)
            loader.map("work", functions.as_it_is, processes=1)
        self.assertIsNone(freed())
        with loader:
            self.assertEqual(labels_of(loader), list(range(N)))

    def test_idle_workers_are_replaced(self):
        loader = Loader(LINE.format(""), source=ARRAYS)
        loader.map("work", functions.take_turns, processes=2)
        with loader:
            for _ in range(3):
                self.assertEqual(labels_of(loader), list(range(N)))
                for pid in workers():
                    os.kill(pid, signal.SIGKILL)
            self.assertEqual(loader.failures, [])

    def test_killed_trainer(self):
        """Its workers end, even if a child of the trainer lives on."""
        code = """
import os, sys, time
sys.path[:0] = sys.argv[1:]
import numpy as np, process_functions
from gstspdl import Loader
loader = Loader("spdlpipe name=work ! spdlbatch batch-size=8 ! spdlsink",
                source=[np.full((2, 3), i, "uint8") for i in range(40)])
loader.map("work", process_functions.hang, processes=2).start()
if os.fork() == 0:
    time.sleep(60)
    os._exit(0)
print("ready", flush=True)
time.sleep(60)
"""
        make_marks()
        trainer = subprocess.Popen(
            [sys.executable, "-c", code, os.path.dirname(__file__)],
            stdout=subprocess.PIPE, text=True)
        with trainer:
            self.assertEqual(trainer.stdout.readline(), "ready\n")
            wait_until(lambda: len(children(trainer.pid)) == 5)
            pids = children(trainer.pid)
            trainer.kill()
            trainer.wait()
            wait_until(lambda: sum(map(is_alive, pids)) == 1)
            for pid in pids:
                if is_alive(pid):
                    os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
