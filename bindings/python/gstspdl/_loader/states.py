# gst-spdl: resume states of several ranks
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

from typing import Iterable, List, Union

from .._arguments import UINT32_MAX, check_integer
from .._errors import LoaderError
from .._native import library as native

# A state, or the states of all ranks.
State = Union[str, Iterable[str]]


def merge_states(states: Iterable[str]) -> str:
    """Joins the states of all ranks of a run in one text. Any number of
    ranks can resume from it, and each takes its part:

        state = merge_states(states)
        loader = Loader(line, rank=2, world_size=5, state=state)

    `states`: such as `batch.state` of each rank, in any order. Ranks may be at
    different batches and in different epochs.

    Raises LoaderError with the code "state" if the state of a rank is missing
    or malformed, and if the states are of different runs."""
    try:
        return str(native.state_merge(native.make_strings(
            _check_states(states))))
    except native.Error as error:
        raise LoaderError(error.message, code=error.nick) from error


def reshard_states(states: Union[str, Iterable[str]],
                   world_size: int) -> List[str]:
    """Divides the remaining items of a run among another number of ranks. Returns a
    state for each rank, in their order. Save the states before the ranks start.

    `states`: the states of all ranks, as for merge_states(), or its result.
    `world_size`: the new number of ranks.

    Raises LoaderError with the code "state" as merge_states() does, and within
    an epoch for streamed shards, whose items have no known place."""
    if isinstance(states, str):
        states = [states]
    world_size = check_integer("world_size", world_size, 1, UINT32_MAX)
    try:
        return list(native.state_reshard(native.make_strings(
            _check_states(states)), world_size))
    except native.Error as error:
        raise LoaderError(error.message, code=error.nick) from error


def _check_states(states: Iterable[str]) -> List[str]:
    if isinstance(states, str):
        raise TypeError("the states must be a list of str, not a str")
    if not isinstance(states, Iterable):
        raise TypeError("the states must be a list of str, not "
                        f"{type(states).__name__}")
    found = list(states)
    for rank, state in enumerate(found):
        if not isinstance(state, str):
            raise TypeError(f"state {rank} must be a str, not "
                            f"{type(state).__name__}")
    return found
