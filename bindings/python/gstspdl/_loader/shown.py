# gst-spdl: loaders as text
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

from typing import Any, Iterator, Sized

from .._native import library as native

_UNKNOWN = 2**64 - 1


def show_loader(loader: Any) -> str:
    """Returns the source, the number of items of an epoch, the batch size and
    the state of a Loader. Starts nothing."""
    if loader._is_left():
        return "<Loader of a parent process>"
    return f"<Loader of {_show_source(loader)}: {', '.join(_list_facts(loader))}>"


def _show_source(loader: Any) -> str:
    if loader._source is not None:
        return f"a {type(loader._source).__name__}"
    places = [location for location, *_ in
              native.loader_list_locations(loader._pointer) if location]
    if not places:
        return "a pipeline in a process" if "spdlsrc" in (loader.description or "") \
            else "a pipeline"
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    return f"{native.show_line(places[0].encode())}{more}"


def _list_facts(loader: Any) -> Iterator[str]:
    n = _read_number(loader, b"spdlsrc", b"num-items") if loader.is_running() \
        else _UNKNOWN
    if isinstance(loader._source, Sized):
        n = len(loader._source)
    if n != _UNKNOWN:
        yield f"{n} items"
    size = _read_number(loader, b"spdlbatch", b"batch-size")
    if size != _UNKNOWN:
        yield f"batches of {size}"
    if loader._place.name == "IDLE":
        yield "not started"
        return
    yield ("finished" if loader.is_finished() else
           "running" if loader.is_running() else "stopped")
    yield f"epoch {loader.epoch}"


def _read_number(loader: Any, element: bytes, name: bytes) -> int:
    return int(native.loader_get_number(loader._pointer, element, name))
