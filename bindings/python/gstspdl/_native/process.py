# gst-spdl: functions of the whole process
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import contextlib
import json
import os
import warnings
from typing import Dict, Iterator, Union

from . import library as native


def versions() -> Dict[str, str]:
    """Returns the versions of gst-spdl and of the libraries that it uses, as a
    dict by name.

    With the wheel, these are the bundled libraries, with the versions of
    Debian's packages, so that they can be compared with Debian's security
    advisories. Otherwise the system's libraries are used, and only GLib and
    GStreamer are listed."""
    names = native.list_versions()
    found = dict(zip(names[::2], names[1::2]))
    bundled = os.path.join(native.folder, "versions.json")
    if os.path.exists(bundled):
        with open(bundled, encoding="utf-8") as file:
            found.update(json.load(file))
    return found


def set_background(background: bool = True) -> None:
    """Runs the threads of all loaders of this process only on idle cores, so they
    never delay the training loop. Call it before the first loader starts.

    On a machine whose cores are all in use by other programs or threads,
    loading then nearly stops."""
    native.init()
    native.library.gst_spdl_set_background(bool(background))


@contextlib.contextmanager
def trace(path: Union[str, "os.PathLike[str]"]) -> Iterator[None]:
    """Writes each task, wait and push of the loaders that start in the block to
    a file, as trace events, which https://ui.perfetto.dev shows:

        with gstspdl.trace("run.json"), Loader(line) as loader:
            for batch in loader:
                train(batch)

    There is one trace per process at a time. The trace does not contain the work of
    other processes (`process=True`, worker processes of functions).

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
