# gst-spdl: loaders of rows of tokens in one call
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Rows keep the order of their documents, so that each run makes the same rows."""

from typing import Any, Literal, Optional

from .._loader.loader import Loader
from .elements import Function, Path
from .pipeline import Pipeline

_Mode = Literal["concat", "best-fit", "pad"]
_ShardMode = Literal["pad", "drop", "uneven"]


def pretrain_tokens(location: Path, row_length: int, *, batch_size: int = 8,
                    mode: _Mode = "concat", eos_id: Optional[int] = None,
                    pad_id: int = 0, train: bool = True, seed: int = 0,
                    drop_last: bool = False, shard_mode: _ShardMode = "pad",
                    **options: Any) -> Loader:
    """Loads rows of the documents in a file of token ids.

        train = pretrain_tokens("corpus.idx", 4096, eos_id=0, shard_mode="uneven")

    A batch has `tokens`, int64 of (batch, row_length), `segment_ids`,
    `positions`, `loss_mask`, `cu_seqlens` and `num_documents`.

    `location`: the .idx of a pair of files of Megatron-LM, Parquet files
    ("corpus/*.parquet") whose column `input_ids` or `tokens` has lists of
    integers, or a folder of .npy files, each an array of one dimension.
    `row_length`: number of tokens in a row.
    `batch_size`: number of rows in a batch.
    `mode`: "concat": documents continue in the next row. "best-fit": none is
    cut. "pad": each has a row.
    `eos_id`: token to add to the end of each document. None: none, such as if
    the documents have one.
    `pad_id`: token that pads rows.
    `train`: True shuffles each epoch. False keeps the order of the file.
    `seed`: seed of the order.
    `drop_last`: drop the last batch of an epoch if it is not full. Rows are
    padded.
    `shard_mode`: documents of each rank if their number cannot be divided
    evenly: "pad" repeats some, "drop" leaves some out, "uneven" takes each
    once.
    `options`: other arguments of Pipeline.pack(), such as window."""
    documents = list_documents(location, train, seed, shard_mode, "*.npy")
    if not str(location).endswith((".idx", ".bin", ".parquet")):
        documents = documents.decode(output_order="input")
    return _pack(documents, row_length, batch_size, drop_last, mode=mode,
                 eos_id=eos_id, pad_id=pad_id, **options)


def chat_packing(location: Path, tokenize: Function, row_length: int, *,
                 batch_size: int = 8, mode: _Mode = "best-fit",
                 eos_id: Optional[int] = None, pad_id: int = 0,
                 on_too_long: Literal["fail", "cut"] = "fail", pattern: str = "*",
                 train: bool = True, seed: int = 0, drop_last: bool = False,
                 shard_mode: _ShardMode = "pad", concurrency: Optional[int] = None,
                 processes: int = 0, **options: Any) -> Loader:
    """Loads rows of conversations, or other texts, that a function tokenizes.

        def tokenize(sample):
            ids, mask = encode(json.loads(bytes(sample)))
            return {"tokens": np.array(ids, "int32"), "loss_mask": np.array(mask, bool)}

        train = chat_packing("chats", tokenize, 8192)

    A batch has the tensors of pretrain_tokens().

    `location`: a folder of files, a list of them, shards or a Parquet file.
    `tokenize`: called with each item, a Sample, in several threads. Returns an
    array of tokens, or a dict of `tokens` and `loss_mask`, which says
    which tokens the loss counts: those of the answers.
    `row_length`: number of tokens in a row.
    `batch_size`: number of rows in a batch.
    `mode`: "best-fit": no conversation is cut. "concat": they continue in the
    next row. "pad": each has a row.
    `eos_id`: token to add to the end of each conversation. None: none.
    `pad_id`: token that pads rows.
    `on_too_long`: "fail": a conversation that is longer than a row fails.
    "cut": it loses its end.
    `pattern`: glob for the names of the files of a folder.
    `train`: True shuffles each epoch. False keeps the order.
    `seed`: seed of the order.
    `drop_last`: drop the last batch of an epoch if it is not full.
    `shard_mode`: as for pretrain_tokens().
    `concurrency`: number of threads that call the function. None: the number of
    cores.
    `processes`: number of processes that call it. 0: threads call it.
    `options`: other arguments of Pipeline.pack(), such as window."""
    texts = list_documents(location, train, seed, shard_mode, pattern)
    documents = map_documents(texts, tokenize, concurrency, processes)
    return _pack(documents, row_length, batch_size, drop_last, mode=mode,
                 eos_id=eos_id, pad_id=pad_id, on_too_long=on_too_long, **options)


def list_documents(location: Path, train: bool, seed: int, shard_mode: _ShardMode,
                   pattern: str) -> Pipeline:
    """Returns the beginning of a pipeline of documents."""
    order: Any = {"shuffle": True, "seed": seed} if train else {}
    return Pipeline().files(location, pattern=pattern, label="none",
                            shard_mode=shard_mode, **order).fetch(
        output_order="input", queue_size=16)


def map_documents(texts: Pipeline, tokenize: Function, concurrency: Optional[int],
                  processes: int) -> Pipeline:
    """Adds a function that makes tokens of texts, in threads or processes."""
    work: Any = ({"processes": processes} if processes else
                 {"concurrency": concurrency})
    return texts.map(tokenize, output_order="input", **work)


def _pack(documents: Pipeline, row_length: int, batch_size: int, drop_last: bool,
          **options: Any) -> Loader:
    return documents.pack(row_length, **options).batch(
        batch_size, drop_last=drop_last).loader()
