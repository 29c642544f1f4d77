# gst-spdl: bottleneck and maximum throughput of a loader
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

from dataclasses import dataclass
from typing import Any, Dict, Optional


@dataclass(frozen=True)
class Roofline:
    """The throughput that this machine can reach with a pipeline without a trainer,
    if each `concurrency` has its best value.

    `items_per_second`: the maximum. `batches_per_second`: the same in batches.
    `limit`: the resource that limits the throughput: "cores", "waiting" (the tasks
    of a stage that run at the same time), "element" (a thread between stages) or
    "source".
    `element`: the stage or source that causes the limit. None for "cores".
    `cpu_time`: CPU time of an item in the threads that load, in s.
    `cores`: cores that the process may use. None: not known.
    `trainer_items_per_second`: items that the trainer takes if it never waits.
    None: there is no trainer.
    `trainer_cores`: cores that loading needs at that rate.
    """

    items_per_second: float
    batches_per_second: Optional[float]
    limit: str
    element: Optional[str]
    cpu_time: float
    cores: Optional[float]
    trainer_items_per_second: Optional[float]
    trainer_cores: Optional[float]
    sentence: str

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class Verdict:
    """The bottleneck of a loader, and the throughput that this machine can reach.

    `limit`: a nick of GstSpdl.Limit, such as "computing" or "consumer".
    `element`: the element that is the bottleneck. None: none or several.
    `reason`: a text. `suggestion`: a change, such as "decode.concurrency=4".
    None: there is nothing to set.
    `gain`: factor by which the throughput may grow. 0: not known.
    `sentence`: the reason and the suggestion.
    `roofline`: the maximum throughput. None: too few items have arrived.
    """

    limit: str
    element: Optional[str]
    reason: str
    suggestion: Optional[str]
    gain: float
    sentence: str
    roofline: Optional[Roofline]

    def __str__(self) -> str:
        return (f"{self.sentence}\n{self.roofline}" if self.roofline
                else self.sentence)


def _make_roofline(fields: Dict[str, Any]) -> Roofline:
    return Roofline(
        fields["items-per-second"], fields.get("batches-per-second"),
        fields["limit"], fields.get("element"), fields["cpu-time"] / 1e9,
        fields.get("cores"), fields.get("trainer-items-per-second"),
        fields.get("trainer-cores"), fields["sentence"])


def make_verdict(fields: Dict[str, Any]) -> Verdict:
    """Returns the verdict of a diagnosis, the fields of which are as in C."""
    roofline = fields.get("roofline")
    return Verdict(
        fields["limit"], fields["element"], fields["reason"],
        fields["suggestion"], fields["gain"], fields["sentence"],
        _make_roofline(roofline) if roofline else None)
