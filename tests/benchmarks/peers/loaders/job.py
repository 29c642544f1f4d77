# gst-spdl: description of a loading job
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
import functools
import pathlib
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple


class Item(NamedTuple):
    index: int
    label: int
    path: str


class Job(NamedTuple):
    """A list of paths (or URLs) and labels, separated by TAB, the result to
    make of them, and the number of workers. `shards` has the same items in
    tars."""
    list: str
    workers: int = 1
    batch: int = 32
    size: int = 224
    train: bool = False
    seed: int = 1
    # Number of HTTP connections; number of tiny items.
    connections: int = 1
    count: int = 0
    shards: str = ""
    # For audio and video.
    rate: int = 16000
    frames: int = 16
    method: Optional[str] = None

    def items(self) -> List[Item]:
        return list(_read(self.list))

    def passes(self) -> Iterator[Item]:
        """Yields the items, epoch after epoch."""
        items = self.items()
        while True:
            yield from items

    def shard_paths(self) -> List[str]:
        return sorted(map(str, pathlib.Path(self.shards).glob("*.tar")))

    @classmethod
    def of(cls, settings: Dict[str, Any]) -> "Job":
        return cls(**settings)


@functools.lru_cache(2)
def _read(path: str) -> Tuple[Item, ...]:
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines)
    return tuple(Item(i, int(row[1]), row[0]) for i, row in enumerate(rows))
