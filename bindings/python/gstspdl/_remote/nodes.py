# gst-spdl: nodes of a Ray cluster that were lost
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Ray notices the loss of a node after about 15 s, and starts actors there until
then. The raylet of a lost node accepts no connection, which shows the loss at
once."""

import socket
from typing import Any, Collection, Dict, List

_LABEL = "ray.io/node-id"
# Time for a connection to a raylet, in s.
_PATIENCE = 2.0


def find_lost(node_ids: Collection[str]) -> List[str]:
    """Returns the nodes that are lost although Ray lists them as alive."""
    import ray

    if not node_ids:
        return []
    return [node["NodeID"] for node in ray.nodes()
            if node["Alive"] and node["NodeID"] in node_ids and
            not _accepts(node["NodeManagerAddress"], node["NodeManagerPort"])]


def _accepts(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), _PATIENCE).close()
        return True
    except OSError:
        return False


def avoid(options: Dict[str, Any], lost: List[str]) -> Dict[str, Any]:
    """Returns options of an actor for which Ray chooses one of the lost nodes
    only if no other node has the resources."""
    selector = options.get("label_selector") or {}
    if (not lost or _LABEL in selector or
            not isinstance(options["scheduling_strategy"], str)):
        return options
    return {**options,
            "label_selector": {**selector, _LABEL: f"!in({','.join(lost)})"},
            "fallback_strategy": [{"label_selector": selector},
                                  *(options.get("fallback_strategy") or ())]}
