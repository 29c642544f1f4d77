# gst-spdl: helpers of the tests of gstspdl.torch.DataLoader
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import contextlib
import os
import random
import signal
import sys
import threading
import traceback
import unittest
import warnings

import numpy as np
import torch
from torch.utils.data import DataLoader as Reference

from support import slow_or

from gstspdl.torch import DataLoader

warnings.filterwarnings("ignore", "This DataLoader will create")
# Time for which PyTorch's loader waits for each worker after an error, in s.
torch.utils.data._utils.MP_STATUS_CHECK_INTERVAL = 0.1


def seed():
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(3)


def is_same(one, other):
    if type(one) is not type(other):
        return False
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(
            is_same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(is_same, one, other))
    return one == other


def flatten(batches):
    return [int(i) for batch in batches for i in torch.as_tensor(batch).ravel()]


def interrupt_in(function):
    """Sends SIGINT to this process, which shells let background jobs ignore, as
    soon as the calling thread is in a function of that name."""
    from support import wait_until

    caller = threading.get_ident()

    def is_there():
        frames = traceback.walk_stack(sys._current_frames()[caller])
        return any(frame.f_code.co_name == function for frame, _ in frames)

    def interrupt():
        wait_until(is_there)
        os.kill(os.getpid(), signal.SIGINT)

    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=interrupt).start()


@contextlib.contextmanager
def a_thread():
    """This process has another thread, so that it must not be forked."""
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


class Case(unittest.TestCase):
    def compare(self, make, n_epochs=2, numbers=slow_or(range(4), (0, 2))):
        """Compares with PyTorch's DataLoader.

        @make: returns the arguments, without num_workers"""
        for n in numbers:
            with self.subTest(num_workers=n):
                found = []
                for loader in Reference, DataLoader:
                    seed()
                    made = loader(num_workers=n, **make())
                    found.append([list(made) for _ in range(n_epochs)])
                self.assertTrue(is_same(*found), found)
                self.assertTrue(found[0][0])
