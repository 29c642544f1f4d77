# gst-spdl: rank and world size
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import os
from typing import Tuple

from ._integers import UINT32_MAX

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
