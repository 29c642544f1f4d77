# gst-spdl: helpers of the tests on Ray
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import collections
import hashlib
import itertools
import os
import random
import sys
import time
import unittest
import warnings

import numpy as np
from support import describe, find_packages, make_dataset

os.environ.update(RAY_AUTH_MODE="disabled", RAY_USAGE_STATS_ENABLED="0",
                  RAY_LOG_TO_DRIVER="0",
                  RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO="0",
                  # Ray would end loaders when other programs use the memory.
                  RAY_memory_monitor_refresh_ms="0")
if not find_packages("ray"):
    print("needs ray from PyPI")
    sys.exit(77)

import ray

from gstspdl import Loader, LoaderWarning
from gstspdl.ray import RemoteLoader

# Number of losses of each kind. More are given as the second argument.
N_LOSSES = int(sys.argv.pop()) if sys.argv[-1].isdigit() else 5
TRANSFERS = "direct", "store"
# Actors of a node that this process starts have its environment.
ENVIRONMENT = {"env_vars": {
    name: os.environ[name] for name in (
        "PYTHONPATH", "GST_PLUGIN_PATH", "LD_LIBRARY_PATH", "GST_REGISTRY",
        "GST_PLUGIN_SYSTEM_PATH", "PATH") if name in os.environ}}

N_ITEMS = 90
BROKEN = 19, 60
CLEAN_FOLDER = make_dataset(N_ITEMS)
CLEAN = describe(CLEAN_FOLDER, 4, "shard-mode=uneven shard-run=4 "
                 "shuffle=true seed=3", order="input", batch="labels=true")
FOLDER = make_dataset(N_ITEMS)
for _i in BROKEN:
    sorted(FOLDER.glob("*/*.jpg"))[_i].write_text("no image")
GOOD = [i for i in range(N_ITEMS) if i not in BROKEN]
SOURCE = "shard-mode=uneven shard-run=4 shuffle=true seed=3"
LINE = describe(FOLDER, 4, SOURCE, order="input", batch="labels=true")
FAST = describe(FOLDER, 4, SOURCE)

warnings.simplefilter("ignore", LoaderWarning)


def load(line=LINE, num_loaders=2, **arguments):
    arguments.setdefault("options", {"num_cpus": 0})
    arguments.setdefault("rank", 0)
    arguments.setdefault("world_size", 1)
    return RemoteLoader(line, num_loaders, **arguments)


def digest(batch):
    """Returns everything of a batch but its state."""
    found = hashlib.sha256()
    for name in batch:
        array = np.asarray(batch[name])
        found.update(f"{name} {array.dtype} {array.shape}".encode())
        found.update(array.tobytes())
    found.update(repr((list(batch.labels), list(batch.indices),
                       list(batch.keys), batch.extras, batch.epoch)).encode())
    return found.hexdigest()


def load_here(line=LINE, n_epochs=1, num_loaders=2):
    """Returns the digests of loaders in this process, in turns."""
    loaders = [Loader(line, rank=rank, world_size=num_loaders)
               for rank in range(num_loaders)]
    found = [[digest(batch) for batch in turn if batch]
             for _ in range(n_epochs) for turn in itertools.zip_longest(
                 *map(iter, loaders))]
    for loader in loaders:
        loader.stop()
    return list(itertools.chain(*found))


class Tally:
    """Counts items and failures of whole epochs."""

    def __init__(self):
        self.items = collections.Counter()
        self.failed = collections.Counter()

    def add(self, batch):
        self.items.update((batch.epoch, i) for i in batch.indices)

    def take(self, loader):
        self.failed.update((f.epoch, f.index) for f in loader.take_failures())

    def check(self, test, n_epochs):
        epochs = range(n_epochs)
        test.assertEqual(self.items, {(e, i): 1 for e in epochs for i in GOOD})
        test.assertEqual(self.failed,
                         {(e, i): 1 for e in epochs for i in BROKEN})


class Recovery:
    """Loses loaders at random moments and measures how long the next reply of
    each takes."""

    def __init__(self, loader, lose):
        self._loader = loader
        self._lose = lose
        self.times = []
        self.n_lost = 0
        self._lost = None
        self._next = time.monotonic() + random.uniform(0, 1)

    def is_out(self):
        return self.n_lost > len(self.times)

    def step(self):
        """Loses the next loader, or looks whether the last one is back."""
        now = time.monotonic()
        if self._lost:
            link, n_restarts, before = self._lost
            if link.n_restarts > n_restarts and not link._n_losses:
                self.times.append(now - before)
                self._lost = None
                self._next = now + random.uniform(0, 0.5)
        elif now > self._next:
            link = random.choice(self._loader._links)
            if link.actor is not None:
                self.n_lost += 1
                self._lost = link, link.n_restarts, now
                self._lose(link)


def run_until(loader, recovery, n_losses, tally):
    """Takes whole epochs until this number of loaders were lost and replaced.
    Returns the number of epochs and the digests."""
    n_epochs, digests = 0, []
    while len(recovery.times) < n_losses or recovery.is_out():
        for batch in loader:
            tally.add(batch)
            tally.take(loader)
            digests.append(digest(batch))
            recovery.step()
            time.sleep(0.01)
        tally.take(loader)
        n_epochs += 1
    return n_epochs, digests


class RayTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        ray.init(num_cpus=8, include_dashboard=False, log_to_driver=False,
                 logging_level="error",
                 object_store_memory=300_000_000)

    @classmethod
    def tearDownClass(cls):
        ray.shutdown()
