# gst-spdl: a loader whose pipeline is in a process of its own
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

from typing import Any, Mapping

from ._errors import LoaderError
from ._gi import raw


def make_loader(description: str, properties: Mapping[str, Any]) -> Any:
    """All but the sink in another process. `properties` are spdlworkersrc's,
    with underscores or dashes."""
    loader = raw.Loader.new_in_process(description)
    worker = loader.get_pipeline().get_by_name("worker")
    for name, value in properties.items():
        try:
            worker.set_property(name.replace("_", "-"), value)
        except TypeError as error:
            raise LoaderError(f"process: {error}", code="pipeline") from error
    return loader
