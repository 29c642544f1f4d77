# gst-spdl: checks of arguments
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import operator
import os
from typing import Any, Tuple

INT32_MAX = 2**31 - 1
UINT32_MAX = 2**32 - 1
INT64_MIN, INT64_MAX = -2**63, 2**63 - 1
UINT64_MAX = 2**64 - 1


def check_integer(name: str, value: Any, lowest: int, highest: int) -> int:
    """Returns the value of an argument as an int. Raises TypeError, or ValueError
    if it is out of range: ctypes would cut off its upper bits."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {value!r}") from None
    if number < lowest:
        raise ValueError(f"{name} must be at least {lowest}, not {number}")
    if number > highest:
        raise ValueError(f"{name} must be at most {highest}, not {number}")
    return number

# Environment variables of launchers, as in spdlsrc.
_LAUNCHERS = (("RANK", "WORLD_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS"),
              ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
              ("JOB_COMPLETION_INDEX", "WORLD_SIZE"))


def check_rank(rank: int, world_size: int) -> None:
    """Both may be -1, for those of the environment."""
    if rank == world_size == -1 or 0 <= rank < world_size <= UINT32_MAX:
        return
    raise ValueError(
        f"rank is {rank} and world_size is {world_size}: ranks go from 0 to "
        "one less than the world size; leave out both to take them from the "
        "environment")


def find_rank(rank: int, world_size: int) -> Tuple[int, int]:
    """Returns rank and world size, from the environment if they are -1."""
    check_rank(rank, world_size)
    if rank != -1:
        return rank, world_size
    for names in _LAUNCHERS:
        values = [os.environ.get(name, "") for name in names]
        if all(value.isdigit() for value in values):
            rank, world_size = map(int, values)
            check_rank(rank, world_size)
            return rank, world_size
    return 0, 1
