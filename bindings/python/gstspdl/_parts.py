# gst-spdl: what can be told of a pipeline
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

from typing import Any, Iterable, Iterator, List, Optional, Sized

from ._gi import Gst

# What a source says that streams shards.
_UNKNOWN = 2**64 - 1

# Elements that make one item of one, or none where it fails.
_ONE_TO_ONE = {
    "spdlfetch", "spdldecode", "spdldisaggregate", "spdlsink",
    "spdlcudaupload", "spdlcudanormalize", "appsrc", "queue", "queue2",
    "identity", "capsfilter", "tee",
}


def _iterate(iterator: "Gst.Iterator") -> Iterator[Any]:
    while True:
        result, element = iterator.next()
        if result == Gst.IteratorResult.RESYNC:
            iterator.resync()
        elif result == Gst.IteratorResult.OK:
            yield element
        else:
            return


def find_elements(pipeline: "Gst.Bin",
                  factory: Optional[str] = None) -> List[Any]:
    """All elements, or those of one factory, in bins too."""
    if factory is None:
        return list(_iterate(pipeline.iterate_recurse()))
    return list(_iterate(
        pipeline.iterate_all_by_element_factory_name(factory)))


def factory_of(element: Any) -> str:
    factory = element.get_factory()
    return str(factory.get_name()) if factory else ""


def count_batches(pipeline: "Gst.Bin",
                  source: Optional[Iterable[Any]]) -> Optional[int]:
    """How many batches an epoch has; None where that is not known."""
    elements = {}
    for element in find_elements(pipeline):
        name = factory_of(element)
        if name in elements and name not in _ONE_TO_ONE:
            return None
        elements[name] = element
    begin = elements.pop("spdlsrc", None)
    batch = elements.pop("spdlbatch", None)
    group = elements.pop("spdlaggregate", None)
    if group and group.get_property("drop-last"):
        return None
    if elements.keys() - _ONE_TO_ONE:
        return None
    if begin:
        n_items: int = begin.get_property("num-items")
        if n_items == _UNKNOWN:
            return None
    elif isinstance(source, Sized):
        n_items = len(source)
    else:
        return None
    if not batch:
        return n_items
    size: int = batch.get_property("batch-size")
    if batch.get_property("drop-last"):
        return n_items // size
    return -(-n_items // size)
