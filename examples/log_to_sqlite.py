#!/usr/bin/python3
# gst-spdl: statistics of a pipeline in an SQLite database
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""log_to_sqlite.py FOLDER DATABASE

Loads a folder of images twice and writes each message with statistics, the
failed items and the result of gst_spdl_diagnose_with_cpus() for each interval
to a database:

    sqlite3 DATABASE "SELECT time, stage, value FROM figures
                      WHERE field = 'occupancy-rate' ORDER BY time"

Each row has a tag, a time and a number, as in TensorBoard."""

import sqlite3
import sys
import time
from typing import Any, Dict, List

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstSpdl", "1.0")
from gi.repository import Gst, GstSpdl  # noqa: E402

NAMES = ["source", "fetch", "decode", "batch", "sink"]
TABLES = """
CREATE TABLE figures (time REAL, stage TEXT, field TEXT, value REAL, interval INT);
CREATE TABLE failures (time REAL, stage TEXT, uri TEXT, error TEXT);
CREATE TABLE verdicts (time REAL, element TEXT, limited_by TEXT,
                       sentence TEXT, suggestion TEXT);
"""


def describe(folder: str) -> str:
    return (f'spdlsrc name=source location="{folder}" epochs=2 '
            "! spdlfetch name=fetch concurrency=4 "
            f"! spdldecode name=decode concurrency={GstSpdl.get_num_cores()} "
            "width=224 height=224 ! spdlbatch name=batch "
            "! spdlsink name=sink")


class Log:
    def __init__(self, path: str) -> None:
        self.database = sqlite3.connect(path)
        self.database.executescript(TABLES)
        self.begin = time.monotonic()
        self.intervals: Dict[str, Any] = {}
        self.cpus = GstSpdl.dup_cpu_stats()

    def take(self, message: Any) -> None:
        structure = message.get_structure()
        if message.type == Gst.MessageType.ERROR:
            sys.exit(message.parse_error()[0].message)
        if structure and structure.get_name() == "spdl-stage-stats":
            self.take_figures(structure)
        elif structure and structure.get_name() == "spdl-item-failed":
            self.database.execute(
                "INSERT INTO failures VALUES (?, ?, ?, ?)",
                (self.now(), structure.get_value("stage"),
                 structure.get_value("uri"),
                 structure.get_value("error").message))

    def now(self) -> float:
        return time.monotonic() - self.begin

    def take_figures(self, stats: Any) -> None:
        stage, interval = stats.get_value("stage"), stats.get_value("interval")
        fields = map(stats.nth_field_name, range(stats.n_fields()))
        rows = [(self.now(), stage, field, stats.get_value(field), interval)
                for field in fields if field not in ("stage", "interval")]
        self.database.executemany(
            "INSERT INTO figures VALUES (?, ?, ?, ?, ?)",
            [row for row in rows if isinstance(row[3], (int, float))])
        if interval:
            self.intervals[stage] = stats
            if len(self.intervals) == len(NAMES):
                self.judge([self.intervals[name] for name in NAMES])
                self.intervals = {}

    def judge(self, stats: List[Any]) -> None:
        now = GstSpdl.dup_cpu_stats()
        diagnosis = GstSpdl.diagnose_with_cpus(stats, self.cpus, now)
        self.cpus = now
        self.database.execute(
            "INSERT INTO verdicts VALUES (?, ?, ?, ?, ?)",
            (self.now(), diagnosis.get_element(),
             diagnosis.get_limit_nick(), diagnosis.get_sentence(),
             diagnosis.dup_suggestion()))


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder, path = sys.argv[1:]
    Gst.init(None)
    pipeline = Gst.parse_launch(describe(folder))
    for name in NAMES:
        pipeline.get_by_name(name).set_property(
            "stats-interval", Gst.SECOND // 10)
    log = Log(path)
    bus = pipeline.get_bus()
    sink = pipeline.get_by_name("sink")
    pipeline.set_state(Gst.State.PLAYING)
    while sink.emit("pull-sample"):
        while message := bus.pop():
            log.take(message)
    # The statistics of the whole run are posted at the end.
    while message := bus.pop():
        log.take(message)
    pipeline.set_state(Gst.State.NULL)
    while message := bus.pop():
        log.take(message)
    log.database.commit()
    for row in log.database.execute(
            "SELECT stage, value FROM figures WHERE field = 'num-items' "
            "AND interval = 0 GROUP BY stage"):
        print(*row)


if __name__ == "__main__":
    main()
