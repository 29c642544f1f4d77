#!/usr/bin/python3
# gst-spdl: tests of a loader with its pipeline in another process
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset."""

import contextlib
import http.server
import importlib.util
import io
import itertools
import os
import pathlib
import re
import signal
import tarfile
import threading
import unittest

import numpy as np
from errors import raises_with
from support import (describe, make_dataset, make_folder, needs_gi,
                     run_python, wait_until, wait_until_asleep)

from gstspdl import Loader, LoaderError

N_ITEMS = 40
FOLDER = make_dataset(N_ITEMS)
ALL = list(range(N_ITEMS))


def indices_of(batches):
    return sorted(i for batch in batches for i in batch.indices)


def figure_of(loader, stage, name):
    return next((stats[name] for stats in loader.stats
                 if stats["stage"] == stage), None)


def find_worker():
    """Returns the pid of a worker, also while it starts."""
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            _, name, rest = re.split("[()]", (entry / "stat").read_text())
            state, parent = rest.split()[:2]
            if (name == "gst-spdl-worker" and state != "Z" and
                    int(parent) == os.getpid()):
                return int(entry.name)
    raise ProcessLookupError


def pid_of(loader):
    return figure_of(loader, "worker", "pid")


@contextlib.contextmanager
def held_file(data, suffix=".jpg"):
    """Yields the URL of a file that arrives only after the event is set, and a
    semaphore that each request for it releases."""
    release = threading.Event()
    requested = threading.Semaphore(0)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            requested.release()
            release.wait(60)
            with contextlib.suppress(OSError):
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/held{suffix}", release, requested
    finally:
        release.set()
        server.shutdown()
        server.server_close()


def in_order(more=""):
    return describe(FOLDER, order="input", source=f"shuffle=true {more}",
                    batch="labels=true")


class WorkerTest(unittest.TestCase):
    def test_same_as_in_process(self):
        with Loader(in_order()) as here, Loader(in_order(),
                                                process=True) as there:
            for _ in range(3):
                for a, b in zip(list(here), list(there), strict=True):
                    self.assertEqual(list(a.indices), list(b.indices))
                    self.assertEqual(list(a.labels), list(b.labels))
                    self.assertEqual(a.keys, b.keys)
                    self.assertEqual(a.extras, b.extras)
                    self.assertEqual(a.epoch, b.epoch)
                    self.assertEqual(a.state, b.state)
                    np.testing.assert_array_equal(a["data"], b["data"])
                    np.testing.assert_array_equal(a["labels"], b["labels"])
                self.assertEqual(here.epoch, there.epoch)

    def test_epochs_of_the_description(self):
        with Loader(in_order("epochs=2"), process=True) as loader:
            self.assertEqual([len(list(loader)) for _ in range(4)],
                             [5, 5, 0, 0])
            self.assertTrue(loader.is_finished())

    def test_batches_can_be_kept_and_modified(self):
        with Loader(in_order(), process={"slabs": 4}) as loader:
            arrays = []
            for _ in range(3):
                arrays += [np.asarray(batch["data"]) for batch in loader]
            for i, array in enumerate(arrays):
                self.assertTrue(array.flags.writeable)
                array[:] = i
        del loader
        for i, array in enumerate(arrays):
            self.assertTrue((array == i).all())

    def test_statistics_contain_the_process(self):
        with Loader(in_order(), process=True) as loader:
            list(loader)
            figures = loader.stats
            pid = pid_of(loader)
            self.assertNotEqual(pid, os.getpid())
            names = [f["stage"] for f in figures]
            self.assertEqual(names, ["source", "fetch", "decode", "batch",
                                     "worker", "sink"])
            self.assertEqual([f.get("pid") for f in figures[:4]], [pid] * 4)
            self.assertGreaterEqual(figures[2]["num-items"], N_ITEMS)
        self.assertEqual([f["stage"] for f in loader.stats], names)

    def test_states(self):
        with Loader(in_order("epochs=2"), process=True) as loader:
            seen = list(itertools.islice(loader, 2))
            state = loader.state
        for process in False, True:
            with self.subTest(process=process), Loader(
                    in_order("epochs=2"), process=process,
                    state=state) as loader:
                rest = list(loader)
                self.assertEqual(indices_of(seen + rest), ALL)
                self.assertEqual(indices_of(loader), ALL)

    def test_set_epoch(self):
        with Loader(in_order(), process=True) as loader:
            first = [list(b.indices) for b in loader]
            list(loader)
            loader.set_epoch(0)
            self.assertEqual([list(b.indices) for b in loader], first)

    def test_failures(self):
        with make_bad() as folder, Loader(
                describe(folder, source="epochs=1"),
                process=True) as loader:
            list(loader)
            self.assertEqual(loader.num_failures, 1)
            failure, = loader.failures
            self.assertEqual(failure.stage, "decode")
            self.assertTrue(failure.uri.endswith("bad.jpg"))
            self.assertTrue(failure.is_done(loader.state))

    def test_no_item_arrives(self):
        for line, reason in [
                (describe(FOLDER, size=N_ITEMS + 1,
                          batch="drop-last=true"), str(N_ITEMS)),
                (describe(FOLDER).replace(
                    "width=32 height=32", ""), "width")]:
            with Loader(line, process=True) as loader:
                with self.assertRaisesRegex(LoaderError, reason) as raised:
                    list(loader)
            self.assertEqual(raised.exception.stage, "batch")

    def test_max_failures(self):
        with make_bad() as folder, Loader(
                describe(folder), process=True,
                max_failures=0) as loader:
            with raises_with("failures", "bad.jpg") as raised:
                while True:
                    list(loader)
            self.assertEqual(raised.exception.stage, "decode")

    def test_element_errors(self):
        for process in False, True:
            with self.subTest(process=process):
                loader = Loader(describe("/nowhere"), process=process)
                with self.assertRaisesRegex(LoaderError, "/nowhere"):
                    loader.start()

    def test_kill_is_an_error(self):
        with Loader(in_order(), process=True) as loader:
            next(iterator := iter(loader))
            os.kill(pid_of(loader), signal.SIGKILL)
            with self.assertRaisesRegex(LoaderError, "signal 9"):
                list(iterator)
                while True:
                    list(loader)

    def test_restarts(self):
        with Loader(in_order(), process={"restarts": 100}) as loader:
            for _ in range(5):
                batches = []
                for batch in loader:
                    batches.append(batch)
                    # It is 0 during the restart, and kill(0) signals the own
                    # process group. A process that has just ended may be left.
                    if len(batches) == 2 and (pid := pid_of(loader)):
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(pid, signal.SIGKILL)
                self.assertEqual(indices_of(batches), ALL)
            worker = next(stats for stats in loader.stats
                          if stats["stage"] == "worker")
            self.assertGreater(worker["num-restarts"], 0)

    def test_restart_of_a_start(self):
        """A process that is killed while it starts is replaced, too."""
        shard = io.BytesIO()
        with tarfile.open(fileobj=shard, mode="w") as archive:
            for path in sorted(FOLDER.glob("*/*.jpg"))[:12]:
                archive.add(path, path.name)
        with held_file(shard.getvalue(), ".tar") as (url, release, requested):
            line = (f"spdlsrc location={url} ! spdlfetch "
                    "! spdldecode width=32 height=32 ! spdlbatch ! spdlsink")
            for restarts in 0, 2:
                release.clear()
                loader = Loader(line, process={"restarts": restarts})
                caught = []

                def start():
                    try:
                        loader.start()
                    except LoaderError as error:
                        caught.append(error)

                starter = threading.Thread(target=start)
                starter.start()
                for _ in range(max(restarts, 1)):
                    self.assertTrue(requested.acquire(timeout=60), caught)
                    os.kill(find_worker(), signal.SIGKILL)
                if restarts > 0:
                    requested.acquire(timeout=60)
                release.set()
                starter.join()
                if restarts == 0:
                    self.assertIn("signal 9", str(caught[0]))
                else:
                    self.assertEqual(caught, [])
                    self.assertEqual(indices_of(loader), list(range(12)))
                loader.stop()

    def test_failures_are_reported_once(self):
        """The first item holds back the failures behind it, which are reported
        but not done when the process is killed."""
        photos = sorted(FOLDER.glob("*/*.jpg"))[:12]
        with contextlib.ExitStack() as stack:
            url, release, requested = stack.enter_context(
                held_file(photos[0].read_bytes()))
            location = make_folder() / "list.txt"
            location.write_text("\n".join(
                [url, *(f"{FOLDER}/missing-{i}.jpg" for i in range(6)),
                 *map(str, photos), f"{FOLDER}/missing-6.jpg"]))
            loader = stack.enter_context(Loader(
                f"spdlsrc location={location} epochs=2 "
                "! spdlfetch concurrency=4 output-order=input "
                "! spdldecode width=32 height=32 "
                "! spdlbatch batch-size=4 ! spdlsink",
                process={"restarts": 3}, max_failures=14))
            for _ in range(2):
                requested.acquire(timeout=60)
                wait_until_asleep(os.getpid(), pid := pid_of(loader))
                os.kill(pid, signal.SIGKILL)
            requested.acquire(timeout=60)
            release.set()
            for epoch in range(2):
                keys = sorted(key for batch in loader for key in batch.keys)
                self.assertEqual(keys, sorted(
                    [url, *(path.as_uri() for path in photos)]))
                self.assertEqual(loader.num_failures, 7 * (epoch + 1))
            failed = [(f.epoch, f.uri[-9:])
                      for f in loader.take_failures(loader.state)]
            self.assertEqual(sorted(failed), [
                (epoch, f"ing-{i}.jpg") for epoch in range(2)
                for i in range(7)])

    def test_stop_while_waiting(self):
        loader = Loader(in_order() + " max-buffers=1", process=True)
        loader.start()
        raised = []

        def take():
            try:
                while True:
                    list(loader)
            except LoaderError as error:
                raised.append(error.code)

        thread = threading.Thread(target=take)
        thread.start()
        wait_until(lambda: loader.epoch >= 3)
        loader.stop()
        thread.join(30)
        self.assertEqual(raised, ["stopped"])

    def test_frozen_process(self):
        """Neither statistics nor new budgets fill the socket of a process that
        does not read: the release of a batch, and the stop, would block."""
        loader = Loader(in_order("epochs=-1"), process=True, cpu_budget=0.5)
        with loader:
            batches = iter(loader)
            kept = [next(batches) for _ in range(3)]
            pid = pid_of(loader)
            os.kill(pid, signal.SIGSTOP)
            for i in range(2000):
                loader.cpu_budget = 0.4 + i % 10 / 100
            self.assertEqual(pid_of(loader), pid)
            kept.clear()
        with self.assertRaises(ProcessLookupError):
            os.kill(pid, 0)

    def test_starting_thread_may_end(self):
        loader = Loader(in_order(), process=True)
        thread = threading.Thread(target=loader.start)
        thread.start()
        thread.join()
        with loader:
            for _ in range(3):
                self.assertEqual(indices_of(loader), ALL)

    def test_nice_and_cpus(self):
        cpu = min(os.sched_getaffinity(0))
        with Loader(in_order(), process={"nice": 3, "cpu_affinity": str(
                cpu)}) as loader:
            pid = pid_of(loader)
            self.assertEqual(os.getpriority(os.PRIO_PROCESS, pid),
                             os.getpriority(os.PRIO_PROCESS, 0) + 3)
            self.assertEqual(os.sched_getaffinity(pid), {cpu})

    def test_cpu_budget(self):
        job = in_order("epochs=1")
        for arguments in [{"process": True, "cpu_budget": 0.5},
                          {"process": {"cpu_budget": 0.5}}]:
            with Loader(job, **arguments) as loader:
                self.assertEqual(indices_of(loader), ALL)

    @needs_gi
    def test_cpu_budget_as_a_property(self):
        for arguments in [{"process": True, "cpu_budget": 0.5},
                          {"process": {"cpu_budget": 0.5}}]:
            with Loader(in_order(), **arguments) as loader:
                worker = loader.pipeline.get_by_name("worker")
                self.assertEqual(worker.get_property("cpu-budget"), 0.5)

    def test_inherited_environment(self):
        os.environ["SPDL_TEST_PASSED"] = "1"
        os.environ["TEST_KEPT"] = "1"
        with open("/dev/null", "rb") as file:
            os.set_inheritable(file.fileno(), True)
            with Loader(in_order(), process=True) as loader:
                pid = pid_of(loader)
                proc = pathlib.Path(f"/proc/{pid}")
                names = {e.split(b"=")[0] for e in
                         (proc / "environ").read_bytes().split(b"\0")}
                self.assertIn(b"SPDL_TEST_PASSED", names)
                if "GST_PLUGIN_PATH" in os.environ:
                    self.assertIn(b"GST_PLUGIN_PATH", names)
                self.assertNotIn(b"TEST_KEPT", names)
                links = []
                for fd in (proc / "fd").iterdir():
                    with contextlib.suppress(FileNotFoundError):  # closed by now
                        links.append(os.readlink(fd))
                self.assertEqual(links.count("/dev/null"), 1)

    def test_rank(self):
        for properties, more in ({"rank": 1, "world_size": 4}, ""), (
                {}, "rank=1 world-size=4"):
            with self.subTest(properties=properties), Loader(
                    in_order(more), process=properties) as loader:
                self.assertEqual(sum(b.num_items for b in loader),
                                 N_ITEMS // 4)

    def test_rank_of_the_environment(self):
        done = run_python(
            "import sys; from gstspdl import Loader\n"
            "with Loader(sys.argv[1], process=True) as loader:\n"
            "    print(sum(b.num_items for b in loader))", in_order(),
            env=dict(os.environ, SLURM_PROCID="1", SLURM_NTASKS="5"))
        self.assertEqual(done.stdout.strip(), str(N_ITEMS // 5), done.stderr)

    def test_terminal_output(self):
        done = run_python(
            "import sys; from gstspdl import Loader\n"
            "with Loader(sys.argv[1], process=True) as loader: list(loader)",
            in_order(), env=dict(os.environ, GST_DEBUG="spdlsrc:9,GST_INIT:4",
                                 GST_DEBUG_NO_COLOR="1"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^gst-spdl-worker\[\d+\]: .*INFO")

    def test_invalid_arguments(self):
        for description, more, text in [
                ("spdlsrc ! spdlbatch", {}, "spdlsink"),
                (in_order(), {"source": []}, "source"),
                (in_order(), {"process": {"nicer": 1}}, "nicer")]:
            with self.subTest(text=text), self.assertRaisesRegex(
                    LoaderError, text):
                Loader(description, **{"process": True, **more})

    @unittest.skipUnless(importlib.util.find_spec("torch"), "needs PyTorch")
    def test_torch(self):
        from gstspdl.torch import Dataset

        dataset = Dataset(in_order(), device="cpu", process=True)
        self.assertEqual(
            sorted(i for b in dataset for i in b["indices"].tolist()), ALL)
        dataset.stop()

    @needs_gi
    def test_epochs(self):
        # Endless unless the description sets `epochs`.
        for more, epochs in ("", -1), ("epochs=3", 0), ("epochs = 3", 0):
            with self.subTest(more=more):
                loader = Loader(in_order(more), process=True)
                worker = loader.pipeline.get_by_name("worker")
                self.assertEqual(worker.get_property("epochs"), epochs)


def make_bad():
    import shutil
    import tempfile

    folder = tempfile.TemporaryDirectory()
    images = pathlib.Path(folder.name, "class")
    images.mkdir()
    for path in sorted(FOLDER.glob("*/*.jpg"))[:10]:
        shutil.copy(path, images)
    (images / "bad.jpg").write_text("no picture")
    return folder


if __name__ == "__main__":
    unittest.main()
