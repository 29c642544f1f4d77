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
    """A list of paths (or URLs) and labels, TAB between them; what is made of
    them, by how many workers. `shards` is where they are as tars."""
    list: str
    workers: int = 1
    batch: int = 32
    size: int = 224
    train: bool = False
    seed: int = 1
    # How many connections, of HTTP; how many tiny items.
    connections: int = 1
    count: int = 0
    shards: str = ""
    # Of sounds and videos.
    rate: int = 16000
    frames: int = 16
    method: Optional[str] = None

    def items(self) -> List[Item]:
        return list(_read(self.list))

    def passes(self) -> Iterator[Item]:
        """The items, epoch after epoch."""
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
