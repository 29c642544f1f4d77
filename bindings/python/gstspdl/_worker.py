# gst-spdl: a loader whose pipeline is in a process of its own
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import re
from typing import Any, Mapping, Tuple

from ._errors import LoaderError
from ._gi import Gst, raw

# The sink, with its properties, wherever it stands.
_SINK = re.compile(
    r"""!\s*(spdlsink\b(?:\s+[A-Za-z][\w:-]*\s*=\s*
    (?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^\s!"']+))*)""", re.VERBOSE)


def split(description: str) -> Tuple[str, str]:
    """What is before the sink, and behind it; and the sink."""
    found = list(_SINK.finditer(description))
    if len(found) != 1:
        raise LoaderError(
            "A pipeline for a process of its own has one \"! spdlsink\", and "
            f"this one has {len(found)}", code="pipeline")
    begin, end = found[0].span()
    return description[:begin] + description[end:], found[0][1]


def make_pipeline(description: str,
                  properties: Mapping[str, Any]) -> "Gst.Pipeline":
    """All but the sink in another process. `properties` are spdlworkersrc's,
    with underscores or dashes."""
    rest, sink = split(description)
    # Its errors say what to write instead.
    pipeline = raw.Loader.new(
        "spdlworkersrc name=worker ! " + sink).get_pipeline()
    worker = pipeline.get_by_name("worker")
    worker.set_property("pipeline", rest)
    for name, value in properties.items():
        try:
            worker.set_property(name.replace("_", "-"), value)
        except TypeError as error:
            raise LoaderError(f"process: {error}", code="pipeline") from error
    return pipeline
