#!/usr/bin/python3
# gst-spdl: tests of loaders on Ray
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset, the second one the number of
loaders to kill in each way."""

import functools
import http.server
import importlib.util
import itertools
import json
import os
import pathlib
import shlex
import signal
import statistics
import subprocess
import sys
import tarfile
import tempfile
import textwrap
import threading
import time
import unittest
import unittest.mock

from errors import raises_with
from ray_support import (BROKEN, CLEAN, CLEAN_FOLDER, ENVIRONMENT, FAST, FOLDER,
                         GOOD, LINE, N_ITEMS, N_LOSSES, SOURCE, TRANSFERS,
                         RayTest, Recovery, Tally, digest, load, load_here, ray,
                         run_until)
from support import ROOT, wait_until

from gstspdl import LoaderError, LoaderWarning, Pipeline
from gstspdl.ray import RemoteLoader


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Sends whole files: it does not know ranges."""

    def log_message(self, *_):
        pass


def list_items(batches):
    return [i for batch in batches for i in batch.indices]


class EpochTest(RayTest):
    def test_batches_do_not_depend_on_the_number_of_loaders(self):
        wanted = load_here(CLEAN, 2, 1)
        for transfer, n in itertools.product(TRANSFERS, (1, 3)):
            with self.subTest(transfer=transfer, n=n):
                with load(CLEAN, n, transfer=transfer) as loader:
                    self.assertEqual(len(loader), len(wanted) // 2)
                    self.assertEqual(loader.classes,
                                     sorted({p.parent.name for p in
                                             FOLDER.glob("*/*.jpg")}))
                    found = [digest(batch) for _ in range(2)
                             for batch in loader]
                    self.assertEqual(loader.epoch, 2)
                self.assertEqual(found, wanted)

    def test_arrival(self):
        for transfer in TRANSFERS:
            tally = Tally()
            with load(FAST, 3, order="arrival", transfer=transfer) as loader:
                for _ in range(3):
                    for batch in loader:
                        tally.add(batch)
                    tally.take(loader)
            tally.check(self, 3)

    def test_last_epoch(self):
        with load(LINE.replace(SOURCE, SOURCE + " epochs=2")) as loader:
            self.assertEqual([len(list_items(loader)) for _ in range(4)],
                             [len(GOOD), len(GOOD), 0, 0])
            self.assertTrue(loader.is_finished())
            self.assertEqual(loader.num_failures, 4)

    def test_leave_epoch(self):
        wanted = load_here(CLEAN, 3)
        n = len(wanted) // 3
        for transfer in TRANSFERS:
            with load(CLEAN, transfer=transfer) as loader:
                first = iter(loader)
                self.assertEqual(digest(next(first)), wanted[0])
                self.assertEqual(
                    [digest(b) for b in itertools.islice(loader, 3)],
                    wanted[n:n + 3])
                with raises_with("outdated"):
                    next(first)
                loader.set_epoch(2)
                self.assertEqual([digest(b) for b in loader], wanted[2 * n:])
                loader.set_epoch(0)
                self.assertEqual(loader.epoch, 0)
                self.assertEqual([digest(b) for b in loader], wanted[:n])
                self.assertEqual(loader.stats[0]["restarts"], 0)

    def test_continue_after_a_stop(self):
        """Compared with loaders that are not stopped, nothing is doubled and
        nothing is lost."""
        wanted = load_here(CLEAN, 3, 1)
        n = len(wanted) // 3
        for n_batches in 0, 1, n - 1, n, n + 2:
            with self.subTest(n_batches=n_batches):
                loader = load(CLEAN)
                loader.start()
                found, batches = [], None
                while len(found) < n_batches:
                    batches = iter(loader)
                    found += [digest(b) for b in itertools.islice(
                        batches, n_batches - len(found))]
                loader.stop()
                if n_batches % n:
                    with raises_with("stopped"):
                        next(batches)
                while len(found) < 3 * n:
                    found += [digest(b) for b in loader]
                self.assertEqual(found, wanted)
                loader.stop()
                loader.start()
                self.assertEqual([digest(b) for b in loader], wanted[:n])
                loader.set_epoch(2)
                loader.stop()
                self.assertEqual([digest(b) for b in loader], wanted[2 * n:])
                loader.stop()

    def test_failures_after_a_stop(self):
        tally = Tally()
        loader = load(FAST, 2)
        for _ in range(2):
            for batch in itertools.islice(loader, 3):
                tally.add(batch)
            loader.stop()
            for batch in loader:
                tally.add(batch)
        tally.take(loader)
        loader.stop()
        tally.check(self, 2)

    def test_failures(self):
        with load() as loader:
            with self.assertWarns(LoaderWarning) as caught:
                list(loader)
            self.assertEqual(caught.warning.num_failures, len(BROKEN))
            self.assertEqual(caught.filename, __file__)
            self.assertEqual(sorted(f.index for f in loader.failures),
                             list(BROKEN))
            self.assertEqual(len(loader.take_failures()), len(BROKEN))
            self.assertEqual(loader.take_failures(), [])
        with load(max_failures=1) as loader:
            with raises_with("failures") as error:
                list(loader)
            self.assertEqual(error.exception.stage, "decode")

    def test_stats(self):
        with load() as loader:
            next(iter(loader))
            stats = loader.stats
        self.assertEqual([s["loader"] for s in stats], [0, 1])
        for one in stats:
            self.assertEqual(one["restarts"], 0)
            self.assertTrue(one["node"])
            self.assertEqual([e["stage"] for e in one["elements"]][:2],
                             ["source", "fetch"])

    def test_timeout(self):
        with load() as loader:
            list(loader)
            for link in loader._links:
                link.replies.clear()
            with raises_with("timed-out"):
                while loader.next(timeout=0):
                    pass

    def test_stop_from_another_thread(self):
        """While the loaders are not placed, and while a batch is awaited."""
        loader = load(options={"num_cpus": 1000})
        threading.Timer(0.5, loader.stop).start()
        with raises_with("stopped"):
            loader.start()
        with load() as loader:
            next(iter(loader))
            threading.Timer(0.5, loader.stop).start()
            with raises_with("stopped"):
                while True:
                    loader._take(None)
        self.assertFalse(loader.is_running())

    def test_map(self):
        def double(sample):
            return sample["data"].numpy() // 2

        pipeline = (Pipeline().files(str(FOLDER), shard_mode="uneven").fetch()
                    .decode(width=8, height=8).map(double).batch(4))
        with load(pipeline) as loader:
            self.assertLess(max(batch["data"].max() for batch in loader), 128)

    def test_cpu_budget(self):
        """The loader gets the share of the cores that Ray reserves."""
        with load(num_loaders=1, options={"num_cpus": 0.5}) as loader:
            next(iter(loader))
            used = ray.cluster_resources()["CPU"] - ray.available_resources()[
                "CPU"]
            self.assertEqual(used, 0.5)
            budget = ray.get(loader._links[0].actor.__ray_call__.remote(
                lambda self: self._loader.cpu_budget))
        self.assertEqual(budget, 0.5 / len(os.sched_getaffinity(0)))


class TrainerTest(RayTest):
    def test_without_the_library(self):
        code = """
import sys
sys.modules["gstspdl._native.library"] = None       # cannot be imported
import json, ray
from gstspdl.ray import RemoteLoader
line, transfer, environment = sys.argv[1:]
ray.init(address="auto", runtime_env=json.loads(environment),
         log_to_driver=False, logging_level="error")
with RemoteLoader(line, 2, transfer=transfer,
                  options={"num_cpus": 0}) as loader:
    print(sum(batch["data"].shape[0] for batch in loader))
    loader.resize(1)
    print(sum(batch["data"].shape[0] for batch in loader))
    print(loader.num_failures)
"""
        for transfer in TRANSFERS:
            done = subprocess.run(
                [sys.executable, "-W", "ignore", "-c", code, LINE, transfer,
                 json.dumps(ENVIRONMENT)],
                env={name: value for name, value in os.environ.items()
                     if not name.startswith("GST")}, timeout=100,
                capture_output=True, text=True)
            self.assertEqual(done.stdout.split(),
                             [str(len(GOOD))] * 2 + [str(2 * len(BROKEN))],
                             done.stderr)

    def test_disjoint_trainers(self):
        """Two trainers with two loaders each, in turns, have the batches of
        one loader."""
        wanted = load_here(CLEAN, 1, 1)
        for transfer in TRANSFERS:
            parts = []
            for rank in range(2):
                with load(CLEAN, rank=rank, world_size=2,
                          transfer=transfer) as loader:
                    parts.append([digest(batch) for batch in loader])
            found = [digest for pair in itertools.zip_longest(*parts)
                     for digest in pair if digest]
            self.assertEqual(found, wanted)

    def test_rank_of_the_environment(self):
        os.environ.update(RANK="1", WORLD_SIZE="3")
        try:
            loader = RemoteLoader(LINE, 1)
            self.assertEqual((loader._rank, loader._world_size), (1, 3))
        finally:
            del os.environ["RANK"], os.environ["WORLD_SIZE"]
        loader = RemoteLoader(LINE, 1)
        self.assertEqual((loader._rank, loader._world_size), (0, 1))

    def test_a_trainer_that_dies(self):
        """Its actors end with it."""
        @ray.remote(num_cpus=0)
        class Trainer:
            def __init__(self, transfer):
                self.loader = RemoteLoader(LINE, 2, transfer=transfer,
                                           options={"num_cpus": 0})

            def step(self):
                next(iter(self.loader))
                return os.getpid(), ray.get([
                    link.actor.__ray_call__.remote(lambda self: os.getpid())
                    for link in self.loader._links])

        for transfer in TRANSFERS:
            trainer = Trainer.remote(transfer)
            pid, pids = ray.get(trainer.step.remote())
            for one in pids:
                os.kill(one, 0)
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda: not any(map(is_alive, pids)))


def is_alive(pid):
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return text.rpartition(")")[2].split()[0] != "Z"


class PagesTest(unittest.TestCase):
    """The examples of the pages, with a folder of photos."""

    def run_blocks(self, name, *starts):
        page = (ROOT / "docs" / name).read_text()
        folder = pathlib.Path(tempfile.mkdtemp())
        (folder / "photos").symlink_to(CLEAN_FOLDER)
        program = ["import ray",
                   "ray.init(num_cpus=2, resources={'loader': 2}, "
                   "log_to_driver=False, include_dashboard=False)"]
        for start in starts:
            begin = page.index(f"\n    {start}") + 1
            lines = itertools.takewhile(
                lambda line: not line or line.startswith("    "),
                page[begin:].splitlines())
            program.append(textwrap.dedent("\n".join(lines)))
        done = subprocess.run(
            [sys.executable, "-c", "\n".join(program)], cwd=folder,
            capture_output=True, text=True, timeout=200)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("(8, 224, 224, 3)", done.stdout)
        return done.stdout

    def test_reference(self):
        self.run_blocks("reference/python-ray.md", "from gstspdl.ray import")

    def test_more_machines(self):
        self.run_blocks("how-to/more-machines.md", "from gstspdl.ray import")

    @unittest.skipUnless(importlib.util.find_spec("pyarrow"), "needs pyarrow")
    def test_ray_data(self):
        self.run_blocks("how-to/more-machines.md",
                        "import numpy\n    import ray")

    @unittest.skipUnless(importlib.util.find_spec("pyarrow"), "needs pyarrow")
    def test_rows_of_ray_data(self):
        text = self.run_blocks("how-to/more-machines.md",
                               "import itertools\n    import pyarrow")
        for epoch in range(2):
            self.assertEqual(text.count(f"{epoch} (8, 224, 224, 3)"),
                             N_ITEMS // 8)

    def test_cluster_file(self):
        import yaml
        from ray.autoscaler._private.util import (prepare_config,
                                                  validate_config)

        page = (ROOT / "docs/how-to/more-machines.md").read_text()
        begin = page.index("\n    cluster_name:")
        text = textwrap.dedent(page[begin:page.index("\n\n", begin + 1)])
        config = yaml.safe_load(text)
        validate_config(prepare_config(config))
        # The schema is really looked at.
        config["max_workers"] = "many"
        with self.assertRaises(Exception):
            validate_config(config)
        # The options of ray start.
        for command in (config["head_start_ray_commands"] +
                        config["worker_start_ray_commands"]):
            words = shlex.split(command)
            known = subprocess.run(
                [sys.executable, "-m", "ray.scripts.scripts", words[1],
                 "--help"], capture_output=True, text=True).stdout
            for word in words[2:]:
                self.assertIn(word.partition("=")[0], known)


class KillTest(RayTest):
    def check(self, order, transfer):
        tally = Tally()
        line = LINE if order == "turns" else FAST
        with load(line, order=order, transfer=transfer) as loader:
            recovery = Recovery(loader, lambda link: ray.kill(link.actor))
            n_epochs, digests = run_until(loader, recovery, N_LOSSES, tally)
            self.assertEqual(sum(s["restarts"] for s in loader.stats),
                             recovery.n_lost)
        tally.check(self, n_epochs)
        if order == "turns":
            self.assertEqual(digests, load_here(n_epochs=n_epochs))
        median = statistics.median(recovery.times)
        print(f"{order}, {transfer}: {N_LOSSES} kills in {n_epochs} epochs, "
              f"recovery {median:.2f} s, at most {max(recovery.times):.2f} s",
              flush=True)

    def test_kills(self):
        for transfer, order in itertools.product(
                TRANSFERS, ("turns", "arrival")):
            with self.subTest(order=order, transfer=transfer):
                self.check(order, transfer)

    def test_killed_at_each_batch(self):
        """Also at the ends of epochs, where a state is ahead of the end."""
        wanted = load_here(n_epochs=2)
        found = []
        with load(prefetch=1) as loader:
            for n in range(2):
                for i, batch in enumerate(loader):
                    found.append(digest(batch))
                    if i % 9 == 0 or i > 17:
                        for link in loader._links:
                            if link.actor is not None:
                                ray.kill(link.actor)
            self.assertEqual(loader.num_failures, 2 * len(BROKEN))
        self.assertEqual(found, wanted)

    def test_restarts_used_up(self):
        flag = pathlib.Path(tempfile.mkdtemp(), "kill")

        def end(sample):
            if flag.exists():
                os._exit(1)
            return sample

        pipeline = (Pipeline().files(str(FOLDER), shard_mode="uneven").fetch()
                    .decode(width=8, height=8).map(end).batch(4))
        for transfer in TRANSFERS:
            with load(pipeline, 1, restarts=1, transfer=transfer) as loader:
                next(iter(loader))
                flag.touch()
                with raises_with("restarts"):
                    while loader.next() is not None or not loader._between:
                        pass
                    list(loader)
                # It is raised again.
                with self.assertRaises(LoaderError):
                    loader.next()
            flag.unlink()


class StateTest(RayTest):
    def test_resume(self):
        wanted = load_here(n_epochs=2, num_loaders=3)
        # Also after the last batch of an epoch, in which it is the turn of
        # another loader than the first.
        self.assertTrue(len(wanted) // 2 % 3)
        for transfer, n in itertools.product(
                TRANSFERS, (1, 7, 20, len(wanted) // 2)):
            with load(num_loaders=3, transfer=transfer) as loader:
                found = [digest(b) for b in itertools.islice(loader, n)]
                state = json.loads(json.dumps(loader.state_dict()))
            self.assertEqual(loader.state_dict(), state)
            with load(num_loaders=3, state=state,
                      transfer=transfer) as loader:
                while len(found) < len(wanted):
                    found += [digest(b) for b in loader]
                self.assertEqual(found, wanted)

    def test_resume_on_another_number(self):
        for transfer in TRANSFERS:
            tally = Tally()
            state = None
            for n, n_batches in (2, 3), (3, 5), (1, None):
                with load(num_loaders=n, state=state,
                          transfer=transfer) as loader:
                    self.assertEqual(loader.epoch, 0)
                    for batch in itertools.islice(loader, n_batches):
                        tally.add(batch)
                    tally.take(loader)
                    state = loader.state_dict()
            tally.check(self, 1)

    def test_resume_on_other_trainers(self):
        tally = Tally()
        states = []
        for rank in range(2):
            with load(rank=rank, world_size=2) as loader:
                for batch in itertools.islice(loader, 3 + rank):
                    tally.add(batch)
                tally.take(loader)
                states.append(loader.state_dict())
        for rank in range(3):
            with load(rank=rank, world_size=3, num_loaders=1,
                      state=states) as loader:
                for batch in loader:
                    tally.add(batch)
                tally.take(loader)
        tally.check(self, 1)

    def test_resize(self):
        """Within epochs and between them."""
        for transfer, order in itertools.product(
                TRANSFERS, ("turns", "arrival")):
            tally = Tally()
            with load(LINE if order == "turns" else FAST, 2, order=order,
                      transfer=transfer) as loader:
                for sizes in {5: 3, 9: 1}, {1: 2}, {17: 4}, {}:
                    for i, batch in enumerate(loader):
                        tally.add(batch)
                        tally.take(loader)
                        if i in sizes:
                            loader.resize(sizes[i])
                            self.assertEqual(loader.num_loaders, sizes[i])
                    tally.take(loader)
                    loader.resize(loader.num_loaders % 3 + 1)
            tally.check(self, 4)

    def test_resize_several_trainers(self):
        tally = Tally()
        loaders = [load(rank=rank, world_size=2) for rank in range(2)]
        for rank, loader in enumerate(loaders):
            for batch in itertools.islice(loader, 2 + rank):
                tally.add(batch)
            with self.assertRaises(ValueError):
                loader.resize(1)
        states = [loader.state_dict() for loader in loaders]
        for loader in loaders:
            loader.resize(1, states)
            while batch := loader.next():
                tally.add(batch)
            tally.take(loader)
            loader.stop()
        tally.check(self, 1)

    def test_streamed_shards(self):
        """They cannot be divided within an epoch."""
        folder = pathlib.Path(tempfile.mkdtemp())
        paths = [p for i, p in enumerate(sorted(FOLDER.glob("*/*.jpg")))
                 if i not in BROKEN]
        for i in range(4):
            with tarfile.open(folder / f"{i}.tar.gz", "w:gz") as shard:
                for j, path in enumerate(paths[i::4]):
                    shard.add(path, f"{j}.jpg")
        server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        url = f"http://127.0.0.1:{server.server_port}"
        line = (f'spdlsrc location="{url}/{{0..3}}.tar.gz" '
                "shard-mode=uneven ! spdlfetch ! spdldecode width=8 height=8 "
                "! spdlbatch batch-size=4 ! spdlsink")
        with load(line) as loader:
            n = 0
            for i, batch in enumerate(loader):
                n += batch.num_items
                if i == 3:
                    state = loader.state_dict()
                    with raises_with("state"):
                        loader.resize(3)
                    self.assertEqual(loader.num_loaders, 2)
            self.assertEqual(n, len(paths))
            loader.resize(1)
            self.assertEqual(sum(b.num_items for b in loader), len(paths))
        with self.assertRaises(LoaderError):
            load(line, 3, state=state).start()


class MistakeTest(RayTest):
    def check(self, code, line=LINE, **arguments):
        for transfer in TRANSFERS:
            with raises_with(code):
                with load(line, transfer=transfer, **arguments) as loader:
                    list(loader)

    def test_pipelines(self):
        self.check("pipeline-error", "spdlsrc location=x ! spdlsinc")
        self.check("pipeline", LINE.replace(
            SOURCE, SOURCE + " rank=0 world-size=1"))
        self.check("source", LINE.partition("!")[2])
        self.check("state", "videotestsrc num-buffers=9 ! video/x-raw,"
                   "format=RGB ! spdlbatch batch-size=2 ! spdlsink")
        self.check("pipeline-error", LINE.replace(
            "name=decode", "name=decode max-failures=0"))

    def test_states(self):
        with load() as loader:
            next(iter(loader))
            state = loader.state_dict()
        self.check("state", num_loaders=3,
                   state=dict(state, spdl=state["spdl"][:1]))
        self.check("pipeline-error", LINE.replace("seed=3", "seed=4"),
                   state=state)

        for state in [], {}, [{}], [None]:
            with self.assertRaises((LoaderError, TypeError)):
                load(state=state)

    def test_environment(self):
        self.check("failed", options={"num_cpus": 0, "runtime_env": {
            "env_vars": {"LD_LIBRARY_PATH": "/nowhere"}}})

    def test_placement(self):
        """Ray cannot place the loader."""
        from gstspdl._remote import link

        with unittest.mock.patch.multiple(link, _PATIENCE=0.5,
                                          _CHECK_AFTER=0.5), \
                unittest.mock.patch.object(RemoteLoader, "_wait", wait_2_s), \
                self.assertWarnsRegex(LoaderWarning, "ray status"), \
                self.assertRaises(LoaderError):
            load(options={"num_cpus": 1000}).start()

    def test_arguments(self):
        for arguments in (
                {"num_loaders": 0}, {"prefetch": 0}, {"restarts": -1},
                {"order": "random"}, {"transfer": "mail"},
                {"rank": 2, "world_size": 2}, {"max_failures": -2},
                {"options": {"max_restarts": 1}},
                {"options": {"num_cpus": -1}}):
            with self.assertRaises(ValueError, msg=arguments):
                load(**arguments)
        with self.assertRaises(TypeError):
            load(3)


def wait_2_s(self, is_true, _end, _wait=RemoteLoader._wait):
    _wait(self, is_true, time.monotonic() + 2)


if __name__ == "__main__":
    unittest.main(warnings="ignore")
