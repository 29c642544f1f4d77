# gst-spdl: functions that the tests run in worker processes
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import os
import pathlib
import random
import signal
import sys
import time

import numpy as np

kept = []


def view(sample):
    return sample["data"].numpy()


def add_100(sample):
    return view(sample) + 100


def to_bytes(sample):
    return add_100(sample).tobytes()


def from_bytes(sample):
    return np.frombuffer(bytes(sample), "uint8")


def as_it_is(sample):
    return sample


def change_extra(sample):
    """Reads and writes fields of all types."""
    extra = sample.extra
    extra["sum"] = int(view(sample).sum()) + len(extra["caption"])
    extra["half"] = sample.index / 2
    extra["boxes"] = np.array([[0, 1.5], [2, 3]], "float32")
    extra["tags"] = ["a", extra["caption"]]
    extra["nested"] = {"big": 2**63 + sample.index, "flag": True}
    extra["caption"] = None
    return sample if sample.index % 2 else view(sample) + 1


def to_parts(sample):
    return {"data": add_100(sample), "number": np.int64(sample.index)}


def two_of_it(sample):
    return [view(sample)[0], view(sample)[1]]


def yields(sample):
    yield sample


async def yields_async(sample):
    yield sample


class Yields:
    def __call__(self, sample):
        yield sample


def only_odd(sample):
    return sample if view(sample)[0, 0] % 2 else None


def describe_item(sample):
    text = f"{sample.index} {sample.epoch} {sample.label} {sample.key}"
    return np.frombuffer(text.encode().ljust(40), "uint8")


def add_up_group(sample):
    return [view(item) + len(sample.items) for item in sample.items]


def enlarge(sample):
    return {"data": np.full((200, 200), view(sample)[0, 0]),
            "number": np.full(9000, sample.index)}


def keep_some(sample):
    """Returns it as it is, and checks samples that it has kept."""
    if sample.index % 5 == 1:
        kept.append(sample)
    for one in kept:
        assert (view(one) == one.index).all()
    assert (sample["number"].numpy() == sample.index).all()
    return sample


def add_in_place(sample):
    array = view(sample)
    if not array.flags.writeable:
        array = array.copy()
    array += 100
    return array


def halve_batch(sample):
    return view(sample) // 2


def raise_at_three(sample):
    if view(sample)[0, 0] % 10 == 3:
        raise ValueError("three")
    return sample


def take_turns(sample):
    """Items take different times."""
    time.sleep(random.random() / 200)
    return sample


def _mark():
    """Returns how many processes work, which each mark themselves with a file."""
    folder = pathlib.Path(os.environ["SPDL_TEST_FOLDER"])
    (folder / str(os.getpid())).touch()
    return len(list(folder.iterdir()))


def worker_id(sample):
    while _mark() < 3:
        time.sleep(0.005)
    return np.int64(os.getpid())


def variable(sample):
    return np.int64(int(os.environ["SPDL_TEST_VARIABLE"]))


def random_numbers(sample):
    """Draws from the generators of Python, NumPy and PyTorch."""
    numbers = [random.random(), np.random.random()]
    torch = sys.modules.get("torch")
    return np.array([*numbers, torch.rand(()).item() if torch else 0])


def random_number(sample):
    time.sleep(0.005)
    return np.array([random.getrandbits(30), np.random.randint(1 << 30)])


def large(sample):
    """Results of many sizes, up to 8 MB."""
    n = view(sample)[0, 0]
    return np.full((1 << (n % 24),), n, "uint8")[:1 << (n % 24)].sum(
        keepdims=True, dtype="int64") if n % 2 else np.full(
            (2, 3), n, "uint8").repeat(1 << 18, axis=0)[:2]


def compute(sample):
    """Takes 5 ms of CPU time."""
    begun = time.process_time()
    while time.process_time() < begun + 0.005:
        pass
    return sample


def keep(sample):
    """Returns the sum of all items that were kept, which none may alter."""
    kept.append((view(sample), int(view(sample)[0, 0])))
    for array, value in kept:
        if not (array == value).all():
            raise ValueError(f"{array} is not {value}")
    return sample


def keep_result(sample):
    """Returns an array that the function keeps."""
    kept.append((view(sample).repeat(10000, axis=0), int(view(sample)[0, 0])))
    for array, value in kept:
        if not (array == value).all():
            raise ValueError(f"{array} is not {value}")
    return kept[-1][0]


class KillOnce:
    """Kills its process at item 5, the first time."""

    def __init__(self, folder):
        self.mark = pathlib.Path(folder, "killed")

    def __call__(self, sample):
        if sample.index == 5 and not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return sample


def kill_at_five(sample):
    if sample.index == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return sample


def stop_at_five(sample):
    if sample.index == 5:
        os.kill(os.getpid(), signal.SIGSTOP)
    return sample


def wait_in_kernel_at_five(sample):
    """A process that spawns another one waits in the kernel until that runs.
    Here it waits for somebody who writes to a file that does not exist yet."""
    if sample.index == 5:
        fifo = os.path.join(os.environ["SPDL_TEST_FOLDER"], "fifo")
        os.posix_spawn("/bin/true", ["true"], {}, file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, fifo, os.O_RDONLY, 0)])
    return sample


def sleep_and_compute(sample):
    """Takes 0.4 s without and 0.4 s of CPU time. Returns its process."""
    time.sleep(0.4)
    end = time.process_time() + 0.4
    while time.process_time() < end:
        pass
    return np.int64(os.getpid())


def exit_at_five(sample):
    if sample.index == 5:
        os._exit(3)
    return sample


def hang_at_five(sample):
    if sample.index == 5:
        time.sleep(10**6)
    return sample


def hang(sample):
    _mark()
    time.sleep(10**6)


class CannotBeMade:
    """Cannot be unpickled."""

    def __reduce__(self):
        return _raise, ()

    def __call__(self, sample):
        return sample


def _raise():
    raise RuntimeError("this cannot be unpickled")
