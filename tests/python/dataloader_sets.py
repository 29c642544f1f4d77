# gst-spdl: datasets that the tests load in worker processes
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import atexit
import collections
import multiprocessing.util
import os
import pathlib
import random
import signal
import sys
import threading
import time

import numpy as np
try:
    import torch
except ImportError:
    print("needs PyTorch: install python3-torch")
    sys.exit(77)
from torch.utils.data import Dataset, IterableDataset, Sampler, get_worker_info

Point = collections.namedtuple("Point", "x y")
N = 37


#: "trainer" in a process that has set it
mark = "new"


class Marks:
    def __len__(self):
        return 1

    def __getitem__(self, i):
        return mark


class Numbers(Dataset):
    """Item i is i."""

    def __init__(self, n=N):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return i


class Mixed(Numbers):
    """Items of many types, with random numbers of each generator."""

    def __getitem__(self, i):
        return {"image": torch.full((3, 4), i, dtype=torch.uint8),
                "array": np.arange(i, i + 3), "number": i, "real": i / 3,
                "text": f"item {i}", "point": Point(i, [i, -i]),
                "random": (random.random(), np.random.rand(2), torch.rand(2))}


class Informed(Numbers):
    """Knows its worker."""

    value = 0

    def __getitem__(self, i):
        info = get_worker_info()
        if info is None:
            return -1, -1, -1, os.getpid(), torch.get_num_threads(), self.value
        assert info.dataset is self
        return (info.id, info.num_workers, info.seed % (1 << 60), os.getpid(),
                torch.get_num_threads(), self.value)


class Counting(Numbers):
    """Counts its items, which shows whether a worker lives on."""

    def __init__(self):
        super().__init__()
        self.n_items = 0

    def __getitem__(self, i):
        self.n_items += 1
        return self.n_items


class Marking(Numbers):
    """Makes a file for each item."""

    def __init__(self, folder):
        super().__init__()
        self.folder = pathlib.Path(folder)

    def __getitem__(self, i):
        (self.folder / str(i)).touch()
        return i


class Whole(Numbers):
    """Has __getitems__()."""

    def __getitems__(self, indices):
        return [1000 + i for i in indices]


class Plain:
    """A map-style dataset that is no Dataset."""

    def __len__(self):
        return 5

    def __getitem__(self, i):
        return "abcde"[i]


class Sharded(IterableDataset):
    """Gives each worker a part."""

    def __init__(self, n=N, sizes=None):
        self.n = n
        self.sizes = sizes

    def __iter__(self):
        info = get_worker_info()
        first, step = (info.id, info.num_workers) if info else (0, 1)
        numbers = range(first, self.n, step)
        return iter(numbers[:self.sizes[first]] if self.sizes else numbers)


class Sized(Sharded):
    def __len__(self):
        return 4


class Unsharded(IterableDataset):
    def __iter__(self):
        return iter(range(10))


class Stateful(IterableDataset):
    """Resumes by its state, not by iterating."""

    def __init__(self):
        self.at = 0

    def __iter__(self):
        info = get_worker_info()
        first, step = (info.id, info.num_workers) if info else (0, 1)
        numbers = range(first, N, step)
        begin, self.at = self.at, 0
        for self.at in range(begin + 1, len(numbers) + 1):
            yield numbers[self.at - 1]
        self.at = 0

    def state_dict(self):
        return {"at": self.at}

    def load_state_dict(self, state):
        self.at = state["at"]


class StatefulIterator(IterableDataset):
    """Its iterator has the state."""

    def __iter__(self):
        return _Steps()


class _Steps:
    def __init__(self):
        self.at = 0

    def __next__(self):
        self.at += 1
        if self.at > 20:
            raise StopIteration
        return self.at

    def state_dict(self):
        return {"at": self.at}

    def load_state_dict(self, state):
        self.at = state["at"]


class OwnIterator(Stateful):
    """Is its own iterator, and iter() begins again."""

    def __iter__(self):
        self.at = 0
        return self

    def __next__(self):
        if self.at == 20:
            raise StopIteration
        self.at += 1
        return self.at


class Epochs(Stateful):
    """Counts its epochs."""

    def __init__(self, begins_again=True):
        super().__init__()
        self.epoch = 0
        self.begins_again = begins_again

    def __iter__(self):
        while self.at < 8:
            self.at += 1
            yield 100 * self.epoch + self.at
        if self.begins_again:
            self.at = 0
            self.epoch += 1

    def state_dict(self):
        return {"at": self.at, "epoch": self.epoch}

    def load_state_dict(self, state):
        self.at, self.epoch = state["at"], state["epoch"]


class Drawing(Numbers):
    """Has random items, and PyTorch's random numbers in its state."""

    def __getitem__(self, i):
        return i, torch.rand(2)

    def state_dict(self):
        return {"random": torch.get_rng_state()}

    def load_state_dict(self, state):
        torch.set_rng_state(state["random"])


class DrawingItems(Stateful):
    def __iter__(self):
        while self.at < 20:
            self.at += 1
            yield torch.rand(2)
        self.at = 0

    def state_dict(self):
        return {"at": self.at, "random": torch.get_rng_state()}

    def load_state_dict(self, state):
        self.at = state["at"]
        torch.set_rng_state(state["random"])


class Remembering(Numbers):
    """A map-style dataset with a state: the sum of its items so far."""

    def __init__(self):
        super().__init__()
        self.total = 0

    def __getitem__(self, i):
        self.total += i
        return i, self.total

    def state_dict(self):
        return {"total": self.total}

    def load_state_dict(self, state):
        self.total = state["total"]


class Flaky(Stateful):
    """Fails at an item, and is then past it."""

    def __iter__(self):
        for i in super().__iter__():
            if i == 8:
                raise ValueError(f"item {i}")
            yield i


class RandomItems(IterableDataset):
    def __iter__(self):
        for _ in range(10):
            yield torch.rand(2)


class StatefulSampler(Sampler):
    """Draws its numbers from Python's generator."""

    def __init__(self, n):
        self.n = n
        self.random = random.Random(1)

    def __len__(self):
        return self.n

    def __iter__(self):
        order = list(range(self.n))
        self.random.shuffle(order)
        return iter(order)

    def state_dict(self):
        return {"random": self.random.getstate()}

    def load_state_dict(self, state):
        self.random.setstate(state["random"])


class BatchesOf(Sampler):
    """Batches of 1, 2, 3 ... items."""

    def __init__(self):
        pass

    def __len__(self):
        return 5

    def __iter__(self):
        begin = 0
        for size in range(1, 6):
            yield list(range(begin, begin + size))
            begin += size


# Errors

class Custom(Exception):
    """Cannot be made from its text alone."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


class Mine(ValueError):
    pass


class Failing(Numbers):
    def __init__(self, kind, *arguments):
        super().__init__()
        self.kind = kind
        self.arguments = arguments

    def __getitem__(self, i):
        if i == 12:
            raise self.kind(*self.arguments)
        return i


class FailingIterable(IterableDataset):
    def __iter__(self):
        yield from range(5)
        raise ValueError("five")


class TooLarge(Numbers):
    def __getitem__(self, i):
        if i == 12:
            return bytearray(1 << 60)
        return i


class Locked(Numbers):
    """Cannot be pickled."""

    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()


class GivesLocks(Numbers):
    def __getitem__(self, i):
        return threading.Lock() if i == 12 else i


class FailsToLoad(Numbers):
    def __reduce__(self):
        return _raise, ()


def _raise():
    raise RuntimeError("this cannot be unpickled")


class LoadedBy:
    """The result of a function, which the process that unpickles it calls."""

    def __init__(self, function, *arguments):
        self.reduced = function, arguments

    def __reduce__(self):
        return self.reduced


class GivesUnloadable(Numbers):
    """Item 12 cannot be unpickled."""

    def __getitem__(self, i):
        return LoadedBy(_raise) if i == 12 else i


class SlowToLoad(Numbers):
    """Item 12 cannot be unpickled before an exception ends the first try."""

    def __getitem__(self, i):
        return LoadedBy(_wait, i) if i == 12 else i


_seconds = [0, 1000]


def _wait(i):
    time.sleep(_seconds.pop())
    return i


class Waiting(Numbers):
    """An item comes when a file exists."""

    def __init__(self, item, file):
        super().__init__()
        self.item = item
        self.file = file

    def __getitem__(self, i):
        while i == self.item and not os.path.exists(self.file):
            time.sleep(0.002)
        return i


class Storages(Numbers):
    def __getitem__(self, i):
        storage = torch.full((3,), i, dtype=torch.uint8).storage()
        if hasattr(storage, "untyped"):
            return storage.untyped()
        return storage._storage


class Leaving:
    """A worker_init_fn. The end of a worker makes files."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def __call__(self, number):
        atexit.register((self.folder / str(number)).touch)
        folder = multiprocessing.util.get_temp_dir()
        (self.folder / f"temporary {number}").write_text(folder)


class Slow(Numbers):
    def __init__(self, seconds=0.01, n=N, only=None):
        super().__init__(n)
        self.seconds = seconds
        self.only = only

    def __getitem__(self, i):
        if self.only is None or i == self.only:
            time.sleep(self.seconds)
        return i


class Spinning(Numbers):
    def __init__(self, seconds=0.005, n=N):
        super().__init__(n)
        self.seconds = seconds

    def __getitem__(self, i):
        end = time.process_time() + self.seconds
        while time.process_time() < end:
            pass
        return i


class Killing(Numbers):
    """Kills its process at item 12, at most `times` times."""

    def __init__(self, folder, times, number=signal.SIGKILL):
        super().__init__()
        self.folder = pathlib.Path(folder)
        self.times = times
        self.number = number

    def __getitem__(self, i):
        if i == 12:
            marks = len(list(self.folder.iterdir()))
            if marks < self.times:
                (self.folder / str(marks)).touch()
                os.kill(os.getpid(), self.number)
        return i


class KillingIterable(Sharded):
    def __init__(self, folder):
        super().__init__()
        self.mark = pathlib.Path(folder, "killed")

    def __iter__(self):
        for i in super().__iter__():
            if i == 24 and not self.mark.exists():
                self.mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            yield i


# Datasets that share something with the trainer

class Told(Numbers):
    """The trainer tells it the epoch. It counts its items for the trainer."""

    def __init__(self):
        super().__init__(6)
        self.epoch = torch.zeros((), dtype=torch.int64).share_memory_()
        self.counts = torch.zeros(2, dtype=torch.int64).share_memory_()

    def __getitem__(self, i):
        self.counts[0] += 1
        return int(self.epoch)


class Connected(Numbers):
    """Has objects of multiprocessing."""

    def __init__(self, context):
        super().__init__(3)
        self.parts = {"value": context.Value("i", 0), "lock": context.Lock(),
                      "array": context.Array("i", 3),
                      "event": context.Event(), "queue": context.Queue()}

    def __getitem__(self, i):
        assert self.parts["event"].is_set()
        with self.parts["lock"]:
            self.parts["value"].value += 1
        self.parts["array"][i] = i
        self.parts["queue"].put(i)
        return i


class Holding(Numbers):
    """Item i is what a function finds in a worker."""

    def __init__(self, find, **parts):
        super().__init__(1)
        self.find = find
        self.__dict__.update(parts)

    def __getitem__(self, i):
        return self.find(self)


def describe_arrays(data):
    """Values, types and the mapped files of the arrays of a dataset."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        is_mapped = data.name in maps.read()
    return is_mapped, [(type(array).__name__, array.flags.writeable,
                        array.tolist()) for array in data.arrays]


def write_arrays(data):
    for array in data.arrays:
        array[0] = 77


def write_and_sum(data):
    """Changes tensors and arrays that the dataset does not share."""
    before = int(data.tensor.sum()), int(data.array.sum()), list(data.list)
    data.tensor += 1
    data.array += 1
    return before, os.getppid()


def see_views(data):
    """Views of one storage stay views of one."""
    data.row[0] = 5
    return (data.table.stride(), float(data.table[1, 0]),
            type(data.parameter).__name__, data.empty.shape,
            data.half.tolist(), data.sparse.to_dense().tolist())


# Items of all kinds of tensors

DTYPES = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
          torch.float16, torch.bfloat16, torch.float32, torch.float64,
          torch.bool, torch.complex64, torch.complex128]


def make_tensors():
    base = torch.arange(24).reshape(2, 3, 4)
    leaf = torch.ones(3, requires_grad=True)
    return [*(base.to(dtype) for dtype in DTYPES), base.transpose(0, 2),
            base[:, 1], base.expand(2, 2, 3, 4), torch.tensor(7),
            torch.empty(0, 3), leaf, torch.eye(3).to_sparse(),
            torch.nn.Parameter(torch.ones(2)),
            torch.view_as_complex(torch.rand(3, 2)).conj() * 0]


def make_formats():
    image = torch.arange(120.0).reshape(2, 3, 4, 5)
    return {"channels last": image.contiguous(
                memory_format=torch.channels_last),
            "transposed": torch.arange(6).reshape(2, 3).t(),
            "permuted": image.permute(3, 0, 2, 1),
            "gaps": image[:, :, ::2].transpose(0, 1),
            "no item": torch.empty(2, 0, 3).transpose(0, 2),
            "expanded twice": torch.arange(3).expand(4, 3).t(),
            "expanded": torch.ones(1).expand(100000)}


class Tensors(Numbers):
    def __getitem__(self, i):
        return make_tensors()


class Leafless(Numbers):
    def __getitem__(self, i):
        return torch.ones(3, requires_grad=True) * 2


class Large(Numbers):
    def __getitem__(self, i):
        return torch.full((1 << 18,), i)


class Pinnable:
    """A batch that notes the thread that pins it."""

    def __init__(self, items):
        self.items = items
        self.threads = []

    def pin_memory(self):
        self.threads.append(threading.get_ident())
        if 12 in self.items:
            raise Custom("pin", "twelve")
        return self


#: iterators that a batch frees
held = []


class Freeing(Pinnable):
    def pin_memory(self):
        held.clear()


# Functions

def drop(items):
    """Batches lose an item."""
    return items[1:]


def as_list(items):
    return list(items)


def first(items):
    return items[0]


def failing_collate(items):
    if 12 in items:
        raise KeyError("twelve\nin two lines")
    return torch.tensor(items)


def failing_init(number):
    raise ValueError(f"worker {number}")


def set_value(number):
    get_worker_info().dataset.value = 100 + number


def print_number(number):
    print("worker", number, flush=True)
