#!/usr/bin/python3
# gst-spdl: tests that rows of tokens are made again after a kill
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tokens of a document are its number and the number of the token, so that a
row tells which tokens of which documents it has."""

import atexit
import collections
import dataclasses
import importlib.util
import itertools
import json
import os
import pathlib
import pickle
import random
import re
import signal
import socket
import sys
import tempfile
import traceback
import unittest
import unittest.mock

import numpy as np
from support import ROOT, slow_or
from test_megatron import write as write_megatron

from gstspdl import Loader, LoaderError, merge_states, pretrain_tokens

N = 300
EOS = 2**31 - 1
PAGE = (ROOT / "docs/how-to/pack-tokens.md").read_text()
LENGTHS = [min(int(random.Random(i).lognormvariate(3.5, 1.2)) + 1, 255)
           for i in range(N)]


def make_documents():
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    path = pathlib.Path(folder.name)
    for i, n in enumerate(LENGTHS):
        (i * 1000 + np.arange(n, dtype="int32")).tofile(path / f"{i:04}.bin")
    return path


FOLDER = make_documents()
MODES = ("concat row-length=128 eos-id=%d" % EOS,
         "best-fit row-length=256 window=4 eos-id=%d" % EOS)


def describe(mode, workers=1, rank=0, world=1, order="input", epochs=2, batch=1):
    return (f'spdlsrc location="{FOLDER}" shuffle=true seed=3 epochs={epochs} '
            f"rank={rank} world-size={world} shard-mode=uneven "
            f"! spdlfetch concurrency={workers} output-order={order} "
            f"! spdlpack mode={mode} token-type=int32 max-documents=64 "
            f"! spdlbatch batch-size={batch} ! spdlsink")


def take(batch):
    """Returns the content of a batch as bytes, for comparison."""
    return {name: np.asarray(batch[name]).tobytes() for name in batch}


def batches(loader):
    """Yields the batches of all epochs."""
    while not loader.is_finished():
        yield from loader


def load(description, state=None):
    """Returns the rows and the states after them."""
    rows, states = [], []
    with Loader(description, state=state) as loader:
        for batch in batches(loader):
            rows.append(take(batch))
            states.append(batch.state)
    return rows, states


def read_tokens(row):
    tokens = np.frombuffer(row["tokens"], "int64")
    return tokens[np.frombuffer(row["segment_ids"], "int32") > 0]


class SourceTest(unittest.TestCase):
    """Documents of other sources."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def test_arrays(self):
        """Each array of a .npy is a document."""
        for i, dtype in enumerate(("uint16", "int32", "int64")):
            np.save(self.path / f"{i}.npy", np.arange(3 * i, 3 * i + 3, dtype=dtype))
        with Loader(f'spdlsrc location="{self.path}" ! spdlfetch output-order=input '
                    "! spdldecode output-order=input ! spdlpack row-length=9 "
                    "max-documents=9 ! spdlbatch ! spdlsink") as loader:
            self.assertEqual(np.asarray(loader.next()["tokens"]).tolist(),
                             [list(range(9))])

    def test_function(self):
        """A function makes tokens and their mask, such as of a conversation."""
        self.path.joinpath("texts.txt").write_text(
            "".join(f"{i}.txt\n" for i in range(3)))
        for i in range(3):
            self.path.joinpath(f"{i}.txt").write_text("ab" * (i + 1))

        def tokenize(sample):
            tokens = np.frombuffer(bytes(sample), "uint8").astype("int32")
            return {"tokens": tokens, "loss_mask": tokens == ord("b")}

        loader = Loader(f'spdlsrc location="{self.path}/texts.txt" ! spdlfetch '
                        "! spdlpipe name=tokenize output-order=input "
                        "! spdlpack row-length=13 max-documents=9 "
                        "! spdlbatch ! spdlsink")
        with loader.map("tokenize", tokenize):
            batch = loader.next()
            self.assertEqual(bytes(np.asarray(batch["tokens"])[0, :12].astype("uint8")),
                             b"ab" * 6)
            self.assertEqual(np.asarray(batch["loss_mask"]).tolist(),
                             [[0, 1] * 6 + [0]])
            self.assertEqual(batch.num_items, 3)


def find_script(name):
    """Returns the script of the page with this name."""
    return re.search(rf"as `{name}`:\n\n((?:    .*\n|\n)+)", PAGE)[1]


def take_code(text):
    return "\n".join(line[4:] for line in text.splitlines()
                     if line.startswith("    ") or not line)


def simulate_torchtitan():
    """Replaces the modules of torchtitan, if it is missing."""
    class BaseDataLoader:
        @dataclasses.dataclass(kw_only=True)
        class Config:
            dataset_path: str = ""

        def __init_subclass__(cls):
            cls.Config.build = lambda config, **others: cls(config, **others)

    found = importlib.util.find_spec("torchtitan")
    return unittest.mock.patch.dict(sys.modules, {} if found else {
        "torchtitan.components.dataloader": unittest.mock.Mock(
            BaseDataLoader=BaseDataLoader),
        "torchtitan.models.llama3.config_registry": unittest.mock.Mock()})


class RecipeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def test_pretrain_tokens(self):
        for i in range(3):
            np.save(self.path / f"{i}.npy", np.arange(4 * i, 4 * i + 4))
        with pretrain_tokens(self.path, 6, train=False, eos_id=99,
                             batch_size=2, max_documents=6) as loader:
            rows = [np.asarray(batch["tokens"]).tolist() for batch in loader]
        self.assertEqual(rows, [[[0, 1, 2, 3, 99, 4], [5, 6, 7, 99, 8, 9]],
                                [[10, 11, 99, 0, 0, 0]]])

    def test_page(self):
        """The programs of docs/how-to/pack-tokens.md."""
        write_megatron(self.path / "corpus.idx", [[[1, 2, 3]], [[4]]])
        self.path.joinpath("chats").mkdir()
        self.path.joinpath("chats/a.json").write_text(json.dumps(
            [{"role": "user", "text": "hi"}, {"role": "assistant", "text": "yes"}]))
        program = re.sub(r"(?m)^    gst-launch.*\n(      .*\n)+", "",
                         PAGE[:PAGE.index("## torchtitan")])
        names = {}
        before = os.getcwd()
        os.chdir(self.path)
        try:
            exec(take_code(program), names)
            batch = next(iter(names["loader"]))
            self.assertEqual(np.asarray(batch["loss_mask"])[0, :6].tolist(),
                             [0, 0, 1, 1, 1, 0])
            ends = names["flatten"](np.array([[0, 3, 4096], [0, 5, 4096]]))
            self.assertEqual(ends.tolist(), [0, 3, 4096, 4096, 4101, 8192])
            self.assertEqual(names["tokens"][0, :7].tolist(),
                             [1, 2, 3, 0, 4, 0, 0])
        finally:
            os.chdir(before)

    @unittest.skipUnless(importlib.util.find_spec("torch") and
                         sys.version_info >= (3, 10), "needs PyTorch, Python 3.10")
    def test_torchtitan(self):
        """The loader of the page, with torchtitan or as much as it needs of it."""
        import torch.distributed as dist

        write_megatron(self.path / "corpus.idx",
                       [[np.arange(1, n)] for n in (10, 12, 5, 40, 8)])
        names = {}
        with simulate_torchtitan():
            exec(take_code(find_script("rows.py")), names)
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        self.addCleanup(dist.destroy_process_group)

        def build(infinite=True):
            config = names["Rows"].Config(dataset_path=str(self.path / "corpus.idx"),
                                          eos_id=0, infinite=infinite)
            return config.build(dp_world_size=1, dp_rank=0, tokenizer=None, seq_len=24,
                                local_batch_size=1, snapshot_every_n_steps=3)

        def take(step):
            inputs, labels = step
            return [tensor[0].tolist() for tensor in
                    (inputs["input"], inputs["positions"], labels)]

        rows = build()
        steps, states = zip(*((take(step), rows.state_dict())
                              for step in itertools.islice(rows, 6)))
        for tokens, positions, labels in steps:
            follows = np.diff(positions) == 1
            self.assertEqual(labels[:-1], np.where(follows, tokens[1:], -100).tolist())
        for i, state in enumerate(states[:-1]):
            again = build()
            self.assertEqual(again.state_dict(), {"states": [None]})
            again.load_state_dict(state)
            self.assertEqual(take(next(iter(again))), steps[i + 1])
        epoch = [take(step) for step in build(infinite=False)]
        self.assertEqual(epoch, list(steps[:3]))

    @unittest.skipUnless(importlib.util.find_spec("torch"), "needs PyTorch")
    def test_collate(self):
        """The function of the page that makes a batch of transformers."""
        import torch

        names = {}
        exec(take_code(re.search(r"    def collate(.*\n)+?\n", PAGE)[0]), names)
        batch = names["collate"]({
            "tokens": torch.tensor([[1, 2, 3], [4, 5, 0]]),
            "positions": torch.tensor([[0, 1, 0], [0, 1, 0]]),
            "loss_mask": torch.tensor([[1, 1, 1], [1, 0, 0]])})
        self.assertEqual({name: tensor.tolist() for name, tensor in batch.items()}, {
            "input_ids": [[1, 2, 3, 4, 5, 0]], "position_ids": [[0, 1, 0, 0, 1, 0]],
            "labels": [[-100, 2, -100, -100, -100, -100]]})


class MixTest(unittest.TestCase):
    """Proportions of tokens. Tokens of the first source are 1, of the second 2."""

    N = slow_or(10**7, 10**6)

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.path = pathlib.Path(folder.name)
        rng = np.random.default_rng(3)
        for name, mean, token in ("a", 900, 1), ("b", 60, 2):
            lengths = rng.lognormal(np.log(mean), 0.8, cls.N // mean).astype(int) + 1
            write_megatron(cls.path / f"{name}.idx",
                           [[np.full(n, token)] for n in lengths])

    def describe(self, settings):
        return (f"spdlmix name=m unit=tokens stopping-strategy=all-exhausted {settings} "
                "! spdlfetch output-order=input "
                "! spdlpack row-length=5000 max-documents=5000 "
                "! spdlbatch batch-size=1 ! spdlsink "
                f'spdlsrc location="{self.path}/a.idx" shuffle=true epochs=-1 ! m.sink_0 '
                f'spdlsrc location="{self.path}/b.idx" shuffle=true epochs=-1 ! m.sink_1')

    def load(self, settings, n_tokens, state=None):
        """Returns the numbers of tokens of both sources in each row, and states."""
        counts, states, n = [], [], 0
        with Loader(self.describe(settings), state=state) as loader:
            for batch in batches(loader):
                tokens = np.asarray(batch["tokens"])
                counts.append([int((tokens == k).sum()) for k in (1, 2)])
                states.append(batch.state)
                n += sum(counts[-1])
                if n >= n_tokens:
                    return counts, states

    def check_shares(self, counts, share):
        one, other = np.sum(counts, axis=0)
        total = one + other
        # Off by at most a document, less than 20,000 tokens, and a row.
        self.assertLess(abs(one / total - share), max(0.001, 25000 / total))

    def test_weights(self):
        counts, states = self.load("sink_0::weight=3", self.N)
        self.check_shares(counts, 0.75)
        place = len(counts) // 3
        rest, _ = self.load("sink_0::weight=3", sum(map(sum, counts[place + 1:])),
                            states[place])
        self.assertEqual(rest, counts[place + 1:])

    def test_temperature(self):
        counts, _ = self.load("sink_0::weight=9 temperature=2", self.N)
        self.check_shares(counts, 0.75)

    def test_schedule(self):
        """Weights change after a third of the tokens, also over a resume."""
        change = self.N // 3
        settings = f'schedule="0: 3, 1; {change}: 1, 4"'
        counts, states = self.load(settings, self.N)
        sums = np.cumsum(np.sum(counts, axis=1))
        before = int(np.searchsorted(sums, change))
        self.check_shares(counts[:before], 0.75)
        self.check_shares(counts[before:], 0.2)
        for place in before // 2, before + 3:
            rest, _ = self.load(settings, sum(map(sum, counts[place + 1:])),
                                states[place])
            self.assertEqual(rest, counts[place + 1:])

    def test_wrong(self):
        for settings in ('schedule="0: 1"', 'schedule="5: 1,1"', 'schedule="0: 1,-1"',
                         'schedule="0: 0,0"', 'schedule="0: 1,1; 0: 2,1"',
                         'schedule="x: 1,1"', "sink_0::weight=0"):
            with self.subTest(settings), self.assertRaises(LoaderError):
                self.load(settings, 1)
        self.path.joinpath("list.txt").write_text("a.idx\n")
        with self.assertRaises(LoaderError):
            list(Loader("spdlmix name=m unit=tokens ! spdlsink "
                        f'spdlsrc location="{self.path}/list.txt" ! m.sink_0'))


class ResumeTest(unittest.TestCase):
    def test_each_row(self):
        """A run that resumes after any row makes the same rows."""
        for mode in MODES:
            rows, states = load(describe(mode))
            self.assertEqual(any(",cut=" in state for state in states),
                             mode.startswith("concat"))
            tokens = collections.Counter(
                token for row in rows for token in read_tokens(row))
            for i, n in enumerate(LENGTHS):
                for k in 0, n - 1:
                    self.assertEqual(tokens[i * 1000 + k], 2)
            self.assertEqual(sum(tokens.values()), 2 * (sum(LENGTHS) + N))
            rng = random.Random(1)
            for i in rng.sample(range(len(rows)), slow_or(60, 12)):
                with self.subTest(mode=mode, row=i):
                    rest, after = load(describe(mode, workers=rng.choice((1, 4))),
                                       states[i])
                    self.assertTrue(rest == rows[i + 1:])
                    self.assertEqual(after, states[i + 1:])

    def test_batches(self):
        """Rows of a batch that was not delivered are made again."""
        for mode in MODES:
            rows, states = load(describe(mode, batch=3))
            rest, _ = load(describe(mode, workers=4, batch=3), states[4])
            self.assertTrue(rest == rows[5:])


class Trainer:
    """A process that reports each row with its state, and waits for permission
    to continue."""

    def __init__(self, description, state):
        self.state = state
        self.socket, other = socket.socketpair(
            socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = os.fork()
        if self.pid > 0:
            other.close()
            return
        try:
            self.socket.close()
            with Loader(description, state=state) as loader:
                if not state:
                    other.send(pickle.dumps((None, loader.state)))
                    other.recv(1)
                for batch in batches(loader):
                    other.send(pickle.dumps((take(batch), batch.state)))
                    other.recv(1)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)

    def take_row(self):
        """Returns the next row, None at the end."""
        data = self.socket.recv(1 << 20)
        if not data:
            return None
        row, self.state = pickle.loads(data)
        self.socket.send(b".")
        return self.take_row() if row is None else row

    def end(self, kill):
        if kill:
            os.kill(self.pid, signal.SIGKILL)
        status = os.waitpid(self.pid, 0)[1]
        self.socket.close()
        return status


class KillTest(unittest.TestCase):
    def test_same_rows(self):
        """Rows are the same after kills, with one worker and with four."""
        for mode in MODES:
            rows, _ = self.run_with_kills(describe(mode), 1000, 1000)
            for workers in 1, 4:
                with self.subTest(mode=mode, workers=workers):
                    again, n_kills = self.run_with_kills(
                        describe(mode, workers), 1, 30)
                    self.assertTrue(again == rows)
                    self.assertGreater(n_kills, 3)

    def run_with_kills(self, description, least, most):
        """Returns all rows, and the number of kills, between which are at least
        and at most so many rows."""
        rows, state, n_kills, rng = [], None, 0, random.Random(most)
        while True:
            trainer = Trainer(description, state)
            for _ in range(rng.randint(least, most)):
                row = trainer.take_row()
                if row is None:
                    self.assertEqual(trainer.end(kill=False), 0)
                    return rows, n_kills
                rows.append(row)
                state = trainer.state
            trainer.end(kill=True)
            n_kills += 1

    def test_ranks(self):
        """Each token is delivered once if ranks are killed and their number
        changes, in both orders."""
        for mode in MODES:
            for order in "input", "completion":
                with self.subTest(mode=mode, order=order):
                    self.change_ranks(mode, order, random.Random(4))

    def change_ranks(self, mode, order, rng):
        tokens, state, n_kills = collections.Counter(), None, 0
        while n_kills < slow_or(100, 25) or state:
            if state is None:
                epoch = collections.Counter()
            world = rng.choice((1, 2, 3, 5))
            trainers = [Trainer(describe(mode, 3, rank, world, order, epochs=1),
                                state) for rank in range(world)]
            n_steps = rng.randrange(1, 16 // world + 4)
            ended = set()
            for _ in range(n_steps):
                for trainer in trainers:
                    row = trainer not in ended and trainer.take_row()
                    if row is None:
                        ended.add(trainer)
                    elif row:
                        epoch.update(read_tokens(row).tolist())
            for trainer in trainers:
                trainer.end(kill=trainer not in ended)
                n_kills += trainer not in ended
            state = merge_states([trainer.state for trainer in trainers])
            if len(ended) == world:
                self.check_epoch(epoch)
                state = None

    def check_epoch(self, epoch):
        self.assertEqual(epoch.pop(EOS), N)
        self.assertEqual(set(epoch.values()), {1})
        self.assertEqual(set(epoch), {i * 1000 + k for i, n in enumerate(LENGTHS)
                                      for k in range(n)})


if __name__ == "__main__":
    unittest.main()
