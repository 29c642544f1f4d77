# gst-spdl: trace of a program's loaders
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import contextlib
import os
import warnings
from typing import Iterator, Union

from . import library as native


@contextlib.contextmanager
def trace(path: Union[str, "os.PathLike[str]"]) -> Iterator[None]:
    """Writes each task, wait and push of the loaders that start in the block to
    a file, as trace events, which https://ui.perfetto.dev shows:

        with gstspdl.trace("run.json"), Loader(line) as loader:
            for batch in loader:
                train(batch)

    There is one trace per process at a time. The work of other processes
    (`process=True`, worker processes of functions) is not part of it.

    Raises OSError if the file cannot be written."""
    try:
        native.trace_start(os.fsencode(path))
    except native.Error as error:
        raise OSError(error.message) from None
    try:
        yield
    finally:
        try:
            num_dropped = native.trace_stop()
        except native.Error as error:
            raise OSError(error.message) from None
        if num_dropped:
            warnings.warn(f"the trace lacks {num_dropped} events, because they "
                          "came faster than they could be written",
                          stacklevel=3)
