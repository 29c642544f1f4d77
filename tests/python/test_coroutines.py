#!/usr/bin/python3
# gst-spdl: tests of async functions as stages
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
import asyncio
import contextlib
import os
import resource
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings

import numpy as np
from errors import raises_with
from support import check_python, wait_until

from gstspdl import Loader, LoaderError, LoaderWarning, Pipeline

warnings.simplefilter("ignore", LoaderWarning)

N = 200
WORK = "spdlpipe name=work {} "
LINE = WORK + "! spdlbatch batch-size=8 ! spdlsink"

# Answers a number with its double after a time. Prints the largest number of
# open requests at the end.
SERVER = """
import asyncio, resource, sys
limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
n_open = most = 0
full = asyncio.Event()
async def serve(reader, writer):
    global n_open, most
    n_open += 1
    most = max(most, n_open)
    number = int(await reader.readline())
    if n_open >= int(sys.argv[1]):
        full.set()
    await full.wait()
    writer.write(b"%d\\n" % (2 * number))
    await writer.drain()
    writer.close()
    n_open -= 1
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    print(most, flush=True)
asyncio.run(main())
"""


def items(n=N):
    return [(np.array([i]), i, f"item {i}") for i in range(n)]


def make(function, more="output-order=input", n=N, line=LINE, **arguments):
    loader = Loader(line.format(more), source=items(n))
    return loader.map("work", function, **{"concurrency": 50, **arguments})


def join(batches):
    return np.concatenate([batch["data"].numpy().copy() for batch in batches])


def value(sample):
    return int(sample["data"].numpy().flat[0])


async def double(sample):
    await asyncio.sleep(0.001 * (value(sample) % 7))
    return sample["data"].numpy() * 2


class ResultTest(unittest.TestCase):
    def test_order(self):
        for order in "input", "completion":
            with make(double, f"output-order={order}") as loader:
                for _ in range(2):
                    batches = list(loader)
                    found = join(batches).ravel()
                    labels = [i for batch in batches for i in batch.labels]
                    self.assertEqual(found.tolist(), [2 * i for i in labels])
                    self.assertEqual(sorted(labels), list(range(N)))
                    self.assertEqual(labels == list(range(N)),
                                     order == "input")
                self.assertEqual(loader.failures, [])

    def test_results(self):
        """They are converted as those of other functions."""
        async def function(sample):
            await asyncio.sleep(0)
            i = value(sample)
            if i % 2:
                return None
            return {"data": sample["data"], "square": np.int64(i * i)}

        with make(function) as loader:
            batches = list(loader)
        found = np.concatenate([batch["square"].numpy().ravel()
                                for batch in batches])
        self.assertEqual(found.tolist(), [i * i for i in range(0, N, 2)])

    def test_kinds_of_functions(self):
        class Callable:
            async def __call__(self, sample):
                return await double(sample)

            async def method(self, sample):
                return await double(sample)

        for function in Callable(), Callable().method:
            with make(function) as loader:
                self.assertEqual(join(loader).ravel().tolist(),
                                 list(range(0, 2 * N, 2)))

    def test_groups(self):
        """Each item of a group has a coroutine."""
        line = ("spdlaggregate size=5 ! " + WORK +
                "! spdldisaggregate ! spdlbatch batch-size=8 ! spdlsink")
        with make(double, line=line) as loader:
            self.assertEqual(join(loader).ravel().tolist(),
                             list(range(0, 2 * N, 2)))

    def test_batches(self):
        with make(double, line="spdlbatch batch-size=8 ! " + WORK +
                  "! spdlsink") as loader:
            self.assertEqual(join(loader).ravel().tolist(),
                             list(range(0, 2 * N, 2)))

    def test_pipeline(self):
        pipeline = Pipeline.parse(
            "capsfilter caps=other/tensors").map(
            double, concurrency=100, output_order="input").batch(8)
        self.assertIn("concurrency=100", str(pipeline))
        with pipeline.loader(source=items()) as loader:
            self.assertEqual(join(loader).ravel().tolist(),
                             list(range(0, 2 * N, 2)))

    def test_state(self):
        """A resumed run has the other items, each once."""
        async def function(sample):
            await asyncio.sleep(0.001 * (sample.index % 7))
            return np.frombuffer(bytes(sample), "uint8")

        with tempfile.TemporaryDirectory() as folder:
            for i in range(100):
                with open(f"{folder}/{i:02}.bin", "wb") as stream:
                    stream.write(bytes([i]))
            pipeline = (Pipeline().files(folder, pattern="*.bin", shuffle=True)
                        .fetch().map(function, concurrency=50).batch(4))
            for n in 1, 6, 20:
                with pipeline.loader() as loader:
                    batches = iter(loader)
                    found = [int(i) for _ in range(n)
                             for i in next(batches)["data"].numpy().ravel()]
                    state = loader.state
                with pipeline.loader(state=state) as loader:
                    found += join(loader).ravel().tolist()
                self.assertEqual(sorted(found), list(range(100)))

    def test_statistics(self):
        with make(double) as loader:
            list(loader)
            stats, = [one for one in loader.stats if one["stage"] == "work"]
        self.assertEqual(stats["concurrency"], 50)
        self.assertEqual(stats["num-tasks"], N)
        self.assertGreater(stats["cpu-time"], 0)
        self.assertGreater(stats["ave-time"], 2e6)

    def test_concurrency(self):
        """Tests that it limits functions, async or not."""
        n_running = most = 0
        lock = threading.Lock()

        @contextlib.contextmanager
        def count():
            nonlocal n_running, most
            with lock:
                n_running += 1
                most = max(most, n_running)
            yield
            with lock:
                n_running -= 1

        async def waits(sample):
            with count():
                while most < limit:
                    await asyncio.sleep(0.001)
            return sample

        def blocks(sample):
            with count():
                wait_until(lambda: most >= limit)
            return sample

        for function, limit in (waits, 20), (blocks, 3):
            n_running = most = 0
            with make(function, concurrency=limit, n=60) as loader:
                list(loader)
            self.assertEqual(most, limit)


class RequestTest(unittest.TestCase):
    def test_thousands(self):
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limits[1], limits[1]))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        with subprocess.Popen([sys.executable, "-c", SERVER, "900"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as server:
            port = int(server.stdout.readline())

            async def request(sample):
                reader, writer = await asyncio.open_connection(
                    "127.0.0.1", port)
                writer.write(b"%d\n" % value(sample))
                answer = int(await reader.readline())
                writer.close()
                return np.array([answer])

            n = 4000
            most_threads = 0
            with make(request, n=n, concurrency=1000) as loader:
                found = []
                for batch in loader:
                    found += batch["data"].numpy().ravel().tolist()
                    most_threads = max(most_threads,
                                       len(os.listdir("/proc/self/task")))
                failures = loader.failures
            most_open = int(server.communicate("")[0])
        self.assertEqual(failures, [])
        self.assertEqual(found, list(range(0, 2 * n, 2)))
        self.assertGreaterEqual(most_open, 900)
        self.assertLess(most_threads, 40)


class FailureTest(unittest.TestCase):
    def test_exceptions(self):
        async def function(sample):
            await asyncio.sleep(0)
            i = value(sample)
            if i % 50 == 3:
                raise ValueError(f"number {i}")
            if i == 5:
                raise SystemExit(3)
            if i == 6:
                raise KeyboardInterrupt
            if i == 7:
                raise asyncio.CancelledError
            return sample if i != 8 else object()

        with make(function) as loader:
            found = [i for batch in loader for i in batch.labels]
            failures = {failure.index: failure for failure in loader.failures}
        bad = {3, 5, 6, 7, 8, 53, 103, 153}
        self.assertEqual(found, [i for i in range(N) if i not in bad])
        self.assertEqual(set(failures), bad)
        self.assertEqual(failures[53].uri, "item 53")
        self.assertIn("ValueError: number 53", failures[53].reason)
        self.assertIn("in function", failures[53].reason)

    def test_wrong_function(self):
        async def function():
            pass

        with make(function) as loader:
            with self.assertRaisesRegex(LoaderError, "TypeError"):
                list(loader)

    def test_timeout(self):
        cancelled = []

        async def function(sample):
            try:
                await asyncio.sleep(10**6 if value(sample) in bad else 0)
            except asyncio.CancelledError:
                cancelled.append(value(sample))
                raise
            return sample

        bad = [3, 5, 6, 8]
        with make(function, "task-timeout=1000000000") as loader:
            found = [i for batch in loader for i in batch.labels]
            failures = loader.failures
        self.assertEqual(sorted(cancelled), bad)
        self.assertEqual(sorted(found),
                         [i for i in range(N) if i not in bad])
        self.assertEqual(sorted(one.index for one in failures), bad)
        self.assertIn("task-timeout", failures[0].reason)

    def test_timeout_that_a_coroutine_catches(self):
        async def function(sample):
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(10**6 if value(sample) in bad else 0)
            return sample

        bad = [3, 5, 6, 8]
        with make(function, "task-timeout=1000000000") as loader:
            list(loader)
            failures = loader.failures
        self.assertEqual(sorted(one.index for one in failures), bad)

    def test_stopped_loop(self):
        async def function(sample):
            if value(sample) == 3:
                asyncio.get_running_loop().stop()
            await asyncio.sleep(0)
            return sample

        with make(function) as loader:
            self.assertEqual(sum(batch.num_items for batch in loader), N)

    def test_wrong_arguments(self):
        loader = Loader(LINE.format(""), source=items())
        for n in 0, -1, 4097, 2.5, "4", True:
            with self.assertRaises(ValueError):
                loader.map("work", double, concurrency=n)
        with self.assertRaises(ValueError):
            loader.map("work", value, concurrency=2, processes=2)
        with self.assertRaises(TypeError):
            loader.map("work", double, processes=2)
        with raises_with("map"):
            loader.map("other", double)


class EndTest(unittest.TestCase):
    def setUp(self):
        self.n_begun = self.n_ended = 0

    async def wait(self, sample):
        self.n_begun += 1
        try:
            await asyncio.sleep(0 if value(sample) < 16 else 10**6)
            return sample
        finally:
            try:
                await asyncio.sleep(0.05)
            finally:  # the cancellation may reach an item that is ready
                self.n_ended += 1

    def test_stop(self):
        """All coroutines are cancelled, and stop() waits for them."""
        for _ in range(3):
            loader = make(self.wait)
            batches = iter(loader)
            next(batches), next(batches)
            loader.stop()
            self.assertGreater(self.n_begun, 16)
            self.assertEqual(self.n_begun, self.n_ended)
            with raises_with("stopped"):
                next(batches)

    def test_next_epoch(self):
        """A break cancels the rest of an epoch, and nothing of the next."""
        loader = make(self.wait, n=60)
        for _ in range(5):
            for batch in loader:
                self.assertEqual(list(batch.labels), list(range(8)))
                break
        loader.stop()
        self.assertEqual(self.n_begun, self.n_ended)
        loader = make(double, n=60)
        with loader:
            for n in range(30):
                found = [i for _, batch in zip(range(n % 8 + 1), loader)
                         for i in batch.labels]
                self.assertEqual(found, list(range(len(found))))
                self.assertTrue(found)
            self.assertEqual(loader.failures, [])

    def test_cancelled_once(self):
        """A stop after a break, or after a timeout, lets coroutines clean up.
        """
        for more in "", "task-timeout=500000000":
            begun, ended = threading.Event(), []

            async def function(sample):
                if value(sample) < 8:
                    return sample
                try:
                    await asyncio.sleep(10**6)
                finally:
                    begun.set()
                    await asyncio.sleep(0.05)
                    ended.append(value(sample))

            loader = make(function, more + " output-order=input", n=12)
            next(iter(loader))
            if more:
                self.assertTrue(begun.wait(60))
            loader.stop()
            self.assertEqual(sorted(ended), list(range(8, 12)))

    def test_stop_in_a_coroutine(self):
        async def function(sample):
            if value(sample) == 20:
                loader.stop()
                await asyncio.sleep(0)
            return sample

        loader = make(function)
        with raises_with("stopped"):
            list(loader)
        loader.stop()

    def test_one_thread(self):
        """Loops, and what belongs to them, outlive epochs and loaders."""
        loops = set()

        async def function(sample):
            loops.add((asyncio.get_running_loop(), threading.get_ident()))
            return sample

        for _ in range(2):
            with make(function) as loader:
                for _ in range(2):
                    list(loader)
        self.assertEqual(len(loops), 1)

    def test_nothing_is_left(self):
        list(make(double))
        before = len(os.listdir("/proc/self/fd"))
        n_threads = threading.active_count()
        for _ in range(5):
            loader = make(double)
            next(iter(loader))
            del loader
        wait_until(lambda: len(os.listdir("/proc/self/fd")) <= before and
                   threading.active_count() == n_threads)

    def test_exit(self):
        """A program may end while coroutines run."""
        self.assertEqual(check_python("""
import asyncio
import numpy as np
from gstspdl import Loader
async def rest():
    try:
        await asyncio.sleep(100)
    finally:
        print("end of the task", flush=True)
tasks = []
async def function(sample):
    if not tasks:
        tasks.append(asyncio.create_task(rest()))
    await asyncio.sleep(0 if sample.index < 8 else 100)
    return sample
loader = Loader("spdlpipe name=work ! spdlbatch batch-size=8 ! spdlsink",
                source=[np.array([i]) for i in range(100)])
loader.map("work", function, concurrency=50)
print(next(iter(loader)).num_items, flush=True)
"""), "8\nend of the task\n")


if __name__ == "__main__":
    unittest.main()
