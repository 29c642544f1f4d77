# gst-spdl: packing of tokens by Energon, for bench-pack
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Packs documents as Megatron-LM's multimodal example does: a TaskEncoder fills rows by a
greedy knapsack, here from a buffer of 1,024 documents."""

import bisect
import dataclasses
import io
import subprocess
import sys
import tarfile

import numpy as np
from megatron.energon import (Cooker, DefaultTaskEncoder, Sample, SavableDataset,
                              WorkerConfig, basic_sample_keys, get_savable_loader,
                              get_train_dataset, stateless)

BUFFER = 1024
WORKERS = WorkerConfig(rank=0, world_size=1, num_workers=0)


@dataclasses.dataclass
class Document(Sample):
    tokens: np.ndarray


@dataclasses.dataclass
class Row(Sample):
    tokens: np.ndarray
    ends: np.ndarray
    fields: tuple


class Documents(SavableDataset):
    """Documents of a memory map."""

    def __init__(self, tokens, lengths, places):
        super().__init__(WORKERS)
        self.tokens, self.lengths, self.places = tokens, lengths, places

    def len_worker(self, worker_idx=None):
        return len(self.lengths)

    def worker_has_samples(self):
        return True

    def reset_state_own(self):
        pass

    def config(self):
        return {}

    def __iter__(self):
        for i, (n, place) in enumerate(zip(self.lengths, self.places)):
            yield Document(__key__=str(i), __restore_key__=(i,),
                           tokens=np.array(self.tokens[place:place + n]))


@stateless
def read_tokens(sample):
    return Document(**basic_sample_keys(sample),
                    tokens=np.frombuffer(sample["tokens"], "<i4"))


class Encoder(DefaultTaskEncoder):
    """Rows have the fields of spdlpack, or tokens and the ends of documents only."""
    decoder = None
    cookers = [Cooker(read_tokens)]

    def __init__(self, length, has_fields):
        super().__init__()
        self.length, self.has_fields = length, has_fields
        self.numbers = np.arange(length + 1, dtype="int32")

    def select_samples_to_pack(self, samples):
        """Fills one row after the other, always with the longest that fits."""
        samples = sorted(samples, key=lambda sample: len(sample.tokens))
        lengths = [len(sample.tokens) for sample in samples]
        rows = []
        while lengths:
            room, row = self.length, []
            while (i := bisect.bisect(lengths, room) - 1) >= 0:
                room -= lengths.pop(i)
                row.append(samples.pop(i))
            rows.append(row)
        return rows

    @stateless
    def pack_selected_samples(self, samples):
        tokens = np.zeros(self.length, "int32")
        lengths = [len(sample.tokens) for sample in samples]
        ends = np.cumsum(lengths)
        n, fields = ends[-1], ()
        np.concatenate([sample.tokens for sample in samples], out=tokens[:n])
        if self.has_fields:
            segments, positions = np.zeros((2, self.length), "int32")
            segments[:n] = np.repeat(self.numbers[1:len(lengths) + 1], lengths)
            positions[:n] = self.numbers[:n] - np.repeat(ends - lengths, lengths)
            fields = segments, positions, (segments > 0).view("uint8")
        return Row(__key__=",".join(sample.__key__ for sample in samples),
                   __restore_key__=(), tokens=tokens, ends=ends, fields=fields)


def write_shards(folder, tokens, lengths, places):
    """Writes the documents as four shards, and their index."""
    folder.mkdir()
    for k in range(4):
        with tarfile.open(folder / f"{k:04}.tar", "w") as shard:
            for i in range(k * len(lengths) // 4, (k + 1) * len(lengths) // 4):
                data = tokens[places[i]:places[i] + lengths[i]].tobytes()
                member = tarfile.TarInfo(f"{i:08}.tokens")
                member.size = len(data)
                shard.addfile(member, io.BytesIO(data))
    subprocess.run([sys.executable, "-m", "megatron.energon.cli.main", "prepare",
                    "--non-interactive", "--no-progress", "--split-ratio", "1,0,0",
                    "--sample-type", "CrudeWebdataset", folder], check=True,
                   stdout=subprocess.DEVNULL)


def make_rows(documents, length, has_fields=True):
    """Returns the loader of rows of a Documents, or a folder of shards."""
    encoder = Encoder(length, has_fields)
    if isinstance(documents, Documents):
        dataset = encoder.build_batch(documents, batch_size=None, worker_config=WORKERS,
                                      packing_buffer_size=BUFFER)
    else:
        dataset = get_train_dataset(
            documents, task_encoder=encoder, worker_config=WORKERS, batch_size=None,
            shuffle_buffer_size=None, max_samples_per_sequence=None, repeat=False,
            packing_buffer_size=BUFFER)
    # It collects garbage as often as with batches of 8 rows.
    return get_savable_loader(dataset, gc_collect_every_n_steps=80)
