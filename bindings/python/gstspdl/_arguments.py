# gst-spdl: checks of arguments
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import functools
import operator
import os
from typing import Any, Callable, Iterable, Tuple, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

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


# Arguments of PyTorch's DataLoader and of torchvision, and their replacements.
_ANSWERS = {
    "shuffle": "train=True of a dataset, or shuffle=True of files(), shuffles",
    "sampler": "pass the items in your order by source= of Loader",
    "batch_sampler": "pass the items in your order by source= of Loader",
    "num_workers": "as many threads load as there are cores; concurrency= sets "
                   "another number, and processes= calls a function in processes",
    "collate_fn": "change the batch in the loop, or each item by transform= or "
                  "map()",
    "pin_memory": "end a Pipeline in cuda_upload()",
    "pin_memory_device": "end a Pipeline in cuda_upload()",
    "prefetch_factor": "each stage has queue_size=, and sink() max_buffers=",
    "persistent_workers": "threads and processes keep running between epochs",
    "worker_init_fn": "threads and processes need no setting; seed= sets the "
                      "random values",
    "multiprocessing_context": "processes= or process= starts processes",
    "generator": "seed= sets the random values",
    "timeout": "use loader.next(timeout), or timeout= of fetch()",
    "target_transform": "change labels in the loop; classes= sets their order",
    "is_valid_file": "pattern= selects files by their names",
    "loader": "files are decoded by decode(), and functions run by transform= or "
              "map()",
    "distributed": "rank and world size come from the environment, as torchrun "
                   "sets it",
    "image_size": "size= is (height, width)",
    "normalize": "mean= and std= normalize",
    "device": "gstspdl.torch.Dataset has device=",
}


def suggest(name: str, names: Iterable[str]) -> str:
    """Returns a suggestion of a similar name, or an empty text."""
    from difflib import get_close_matches  # which takes 3 ms

    found = get_close_matches(name, list(names), 1)
    return f": did you mean {found[0]!r}?" if found else ""


def check_names(where: str, named: Iterable[str], known: Iterable[str]) -> None:
    """Raises TypeError if a function has no argument of one of the names."""
    names = [name for name in known if name != "self"]
    for name in named:
        if name in names:
            continue
        answer = f": {_ANSWERS[name]}" if name in _ANSWERS else \
            f"{suggest(name.lower(), names) or '.'} The arguments are " + \
            ", ".join(names)
        raise TypeError(f"{where}() has no argument {name!r}{answer}")


def explain_names(function: Function) -> Function:
    """Raises a TypeError that names the valid arguments if one is unknown.
    Type checkers and editors see the undecorated function."""
    code = function.__code__
    names = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    where = function.__name__

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        check_names(type(arguments[0]).__name__ if where == "__init__" else where,
                    named, names)
        return function(*arguments, **named)

    return call  # type: ignore[return-value]

# Environment variables of launchers, as in spdlsrc.
_LAUNCHERS = (("RANK", "WORLD_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS"),
              ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
              ("JOB_COMPLETION_INDEX", "WORLD_SIZE"))


def check_rank(rank: int, world_size: int) -> None:
    """Both may be -1, for the values of the environment."""
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
