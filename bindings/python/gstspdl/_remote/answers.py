# gst-spdl: messages between a trainer and its loaders on other machines
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

from typing import (TYPE_CHECKING, Any, List, NamedTuple, Optional,
                    Sequence, Tuple, Union)

if TYPE_CHECKING:
    from .._failure import Failure
    from .._pipeline.line import Element


class Certificates(NamedTuple):
    """Files in PEM format, which exist on all machines."""

    certificate: str
    key: str
    authority: str


class Job(NamedTuple):
    """The common work of all loaders of a trainer."""

    line: str
    #: elements with functions
    functions: "List[Element]"
    classes: Optional[Sequence[str]]
    #: number of CPUs that the actor may use, or 0 for all
    num_cpus: float
    #: batches go through a connection, and not through Ray's object store
    is_direct: bool
    certificates: Optional[Certificates]


class Start(NamedTuple):
    """Where a loader begins, and on which state a session depends."""

    #: number of the session: replies of earlier ones are of no use
    session: int
    rank: int
    world_size: int
    state: Union[None, str, List[str]]
    #: epoch to begin, or None for that of the state
    epoch: Optional[int]
    #: secret of the connection
    token: bytes = b""


class Started(NamedTuple):
    state: str
    epoch: int
    #: no item of the epoch has been delivered
    is_beginning: bool
    num_batches: Optional[int]
    classes: Optional[List[str]]
    #: address of the actor's machine
    node: str
    #: Ray's name of its node
    node_id: str
    #: where the actor listens
    address: Optional[Tuple[str, int]]


class Reply(NamedTuple):
    #: a Batch, which is a DetachedBatch for the receiver. None: an epoch ended
    batch: Any
    #: state after the batch, or after the end
    state: Optional[str]
    #: epoch of the batch, or the next one after an end
    epoch: int
    #: the last epoch has ended
    is_last: bool
    #: failures that the state counts as done, each once
    failures: "List[Failure]"
    #: warnings of elements
    warnings: List[str]
