# gst-spdl: time for which a worker may be silent
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

#: Time after which a process that makes no progress is killed, in s.
WORKER_TIMEOUT = 300.0


def check_timeout(timeout: float) -> None:
    """Checks an argument `worker_timeout`."""
    if not timeout >= 0:
        raise ValueError(f"worker_timeout must be at least 0 s, not {timeout!r}")


def get_interval(timeout: float) -> float:
    """Time between two looks at a process, in s. `timeout`: 0: no limit"""
    return min(max(timeout / 4, 0.005), 1.0) if timeout > 0 else 1.0
