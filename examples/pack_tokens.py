#!/usr/bin/python3
# gst-spdl: packing of texts into token rows for a language model
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""    /usr/bin/python3 -m venv --system-site-packages VENV
    VENV/bin/pip install tokenizers
    meson devenv -C build VENV/bin/python ../examples/pack_tokens.py \\
        FOLDER TOKENIZER.json

Packs the UTF-8 texts (*.txt) in FOLDER into batches of ROWS by 1,024 tokens. The
tokenizer is a Hugging Face tokenizer in TOKENIZER.json. If the file does not
exist, a small tokenizer is trained on the texts. A text that is not UTF-8 fails
and is reported by name; all others are loaded.

Each batch consists of complete texts, so that a run can resume after any batch
without repeating or skipping a text. The end of its last row is padded. Only a
text that is longer than a batch is split; a run that resumes within it repeats
the whole text.
"""

import argparse
import pathlib
import time
from typing import Any, List, Optional, Set

import numpy as np
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from gstspdl import Loader, Sample

ROW = 1024
END, PADDING = "<end>", "<padding>"
TOKEN = np.dtype("int32")


def train(folder: pathlib.Path, vocabulary: int = 4096) -> Any:
    """Returns a byte-pair tokenizer trained on the texts."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary, special_tokens=[END, PADDING],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False)
    tokenizer.train_from_iterator(
        (path.read_text("utf-8", "ignore")
         for path in sorted(folder.rglob("*.txt"))), trainer)
    return tokenizer


class Packer:
    """The Python functions of the pipeline."""

    def __init__(self, tokenizer: Any, rows: int) -> None:
        self.tokenizer = tokenizer
        self.rows = rows
        self.end = tokenizer.token_to_id(END)
        self.padding = tokenizer.token_to_id(PADDING)

    def tokenize(self, sample: Sample) -> List[bytes]:
        """Returns the tokens of a text, followed by the end token. A text that is
        longer than a batch becomes several items."""
        text = bytes(sample).decode("utf-8")
        # Hugging Face tokenizers release the GIL.
        tokens = np.array([*self.tokenizer.encode(text).ids, self.end], TOKEN)
        most = self.rows * ROW
        return [tokens[i:i + most].tobytes()
                for i in range(0, len(tokens), most)]

    def pack(self, group: Sample) -> Any:
        """Returns a batch with the tokens of a group, which fit in it."""
        tokens = np.frombuffer(b"".join(map(bytes, group.items)), TOKEN)
        batch = np.full(self.rows * ROW, self.padding, "int64")
        batch[:len(tokens)] = tokens
        return batch.reshape(self.rows, ROW)


def load(folder: pathlib.Path, packer: Packer, settings: str = "",
         state: Optional[str] = None) -> Loader:
    """Returns a loader of int64 batches (rows, 1024), batch["data"]. It resumes
    after the batch with `state`. All stages keep the input order, so that rows
    are the same in each run."""
    size = packer.rows * ROW * TOKEN.itemsize
    loader = Loader(
        f'spdlsrc location="{folder}" pattern=*.txt {settings} '
        "! spdlfetch output-order=input "
        "! spdlpipe name=tokenize output-order=input "
        f"! spdlaggregate size=0 max-bytes={size} "
        "! spdlpipe name=pack output-order=input ! spdlsink", state=state)
    return loader.map("tokenize", packer.tokenize).map("pack", packer.pack)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[1])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("tokenizer", type=pathlib.Path)
    parser.add_argument("--rows", type=int, default=8)
    arguments = parser.parse_args()
    if arguments.tokenizer.exists():
        tokenizer = Tokenizer.from_file(str(arguments.tokenizer))
    else:
        tokenizer = train(arguments.folder)
        tokenizer.save(str(arguments.tokenizer))

    packer = Packer(tokenizer, arguments.rows)
    n_batches = n_tokens = 0
    texts: Set[int] = set()
    begin = time.monotonic()
    with load(arguments.folder, packer, "shuffle=true epochs=1") as loader:
        for batch in loader:
            tokens = np.asarray(batch["data"])
            # A model would be trained here to predict tokens[:, 1:].
            n_batches += 1
            texts.update(batch.indices)
            n_tokens += int((tokens != packer.padding).sum())
        failures = loader.failures
    for failure in failures:
        print(f"failed: {failure.uri}: {failure.reason.splitlines()[0]}")
    share = n_tokens / max(n_batches * arguments.rows * ROW, 1)
    print(f"{n_batches} batches of {arguments.rows} by {ROW} tokens of "
          f"{len(texts)} texts, {1 - share:.1%} padding, "
          f"{n_tokens / (time.monotonic() - begin):,.0f} tokens a second")


if __name__ == "__main__":
    main()
