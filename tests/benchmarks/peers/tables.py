# gst-spdl: tables of the comparison and their rows
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A table consists of cells, and a cell of rows. A row is a loader that measure.py
runs in a virtual environment, or a program that prints numbers."""

from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

SPDL = ("spdl.io", "spdl.pipeline")
TORCH = ("torch", "torchvision", "PIL")
GRAIN = (*TORCH, "grain")
OURS = "gst-spdl"
PILLOW = "DataLoader, Pillow"
NEWEST = ", newest PyTorch"


class Row(NamedTuple):
    name: str
    loader: str = ""
    needs: Tuple[str, ...] = ("numpy",)
    venv: str = "peers"
    # A program of the build with its arguments, and the names of its results.
    # {list}, {seconds} and others are replaced by the cell's values.
    program: Tuple[str, ...] = ()
    figures: Tuple[str, ...] = ()
    job: Dict[str, Any] = {}
    note: str = ""


class Cell(NamedTuple):
    table: str
    name: str
    kind: str          # of measure.py
    rows: List[Row]
    data: str          # set made by sets.py, such as "images web"
    job: Dict[str, Any]
    settings: Dict[str, Any] = {}
    figure: str = "us"        # the primary result
    unit: str = "CPU time per image in us"
    guard: str = "web"        # the set whose floor runs between blocks
    floor: bool = False       # whether the result is divided by the floor
    reference: str = OURS     # the row that others are compared with
    checked: bool = True      # labels and indices; images compared with Pillow's
    quick: bool = True        # whether --quick runs it
    server: Optional[int] = None  # HTTP latency in ms
    seconds: Tuple[float, float] = (15, 1)  # per block: usual, --quick

    @property
    def key(self) -> str:
        return f"{self.table}/{self.name}"


def newest(*rows: Row) -> List[Row]:
    return [row._replace(name=row.name + NEWEST, venv="newest")
            for row in rows]


PILLOW_ROW = Row(PILLOW, "with_torch:pillow", TORCH)
TENSORS_ROW = Row("DataLoader, torchvision.io", "with_torch:tensors", TORCH)
DALI_ROW = Row("DALI, CPU", "with_dali:exact", ("nvidia.dali.fn",))
SEED_ROW = Row("SPDL, one task per image", "with_spdl:seed", SPDL)
BEST_ROW = Row("SPDL, one task per batch", "with_spdl:best", SPDL)
OURS_ROW = Row(OURS, "with_gstspdl:full", ("gstspdl",))
IMAGES = [
    OURS_ROW,
    Row("gst-spdl, fast-scale", "with_gstspdl:fast", ("gstspdl",),
        note="default of gst-spdl: decodes at 1/2, 1/4 or 1/8 of the size if "
        "the result is still large enough"),
    SEED_ROW, BEST_ROW,
    Row("SPDL, in a subprocess", "with_spdl:subprocess", SPDL,
        note="with SPDL's pool of shared memory"),
    DALI_ROW, PILLOW_ROW, TENSORS_ROW,
    Row("DataLoader, simplejpeg", "with_torch:simplejpeg",
        (*TORCH, "simplejpeg")),
    *newest(PILLOW_ROW, TENSORS_ROW),
    Row("torchdata, threads" + NEWEST, "with_torchdata:threads",
        (*TORCH, "torchdata.nodes"), "newest"),
    Row("Grain, threads, Pillow", "with_grain:threads", GRAIN, "newest"),
    Row("Grain, processes, Pillow", "with_grain:processes", GRAIN, "newest"),
]
DEFAULT_SPDL = Row("SPDL, its default resize", "with_spdl:default", SPDL,
                   note="bicubic, padded to the output size, so the images differ")
QUICK_MAIN = {("evaluation", "imagenet", 1), ("train", "web", 2),
              ("evaluation", "camera", 1)}


def main_table() -> Iterator[Cell]:
    for job in ("evaluation", "train"):
        for name in ("imagenet", "web", "camera"):
            for workers in (1, 2):
                rows = list(IMAGES)
                if job == "evaluation":
                    rows.insert(5, DEFAULT_SPDL)
                yield Cell("main", f"{job}-{name}-{workers}", "rate", rows,
                           f"images {name}",
                           {"workers": workers, "train": job == "train"},
                           guard=name, floor=True,
                           quick=(job, name, workers) in QUICK_MAIN)


def formats_table() -> Iterator[Cell]:
    for name in "progressive", "png", "webp":
        yield Cell("formats", name, "rate", [
            OURS_ROW, BEST_ROW, DALI_ROW, PILLOW_ROW,
            *newest(PILLOW_ROW, TENSORS_ROW)], f"saved {name}",
            {"workers": 1}, guard="imagenet", quick=name == "progressive")


def latency_table() -> Iterator[Cell]:
    fetching = [
        Row("sockets in C", program=(
            "fetch-floor", "{list}", "{connections}", "{seconds}"),
            figures=("us", "wall"), note="blocking, one thread per connection"),
        Row(OURS, "with_gstspdl:fetch", ("gstspdl",)),
        Row("SPDL, http.client", "with_spdl:fetch", SPDL),
        Row("DataLoader, http.client", "with_torch:fetch", TORCH,
            note="one worker process per connection")]
    decoding = [
        Row(OURS, "with_gstspdl:fetch_images", ("gstspdl",)),
        Row("SPDL, http.client", "with_spdl:fetch_images", SPDL),
        Row("DataLoader, http.client, Pillow", "with_torch:fetch_images",
            TORCH, note="one worker process per connection")]
    for latency in (5, 50):
        for connections in (8, 16):
            yield Cell("latency", f"bytes-{connections}-{latency}ms", "rate",
                       fetching, "urls web", {"connections": connections},
                       figure="wall",
                       unit="wall-clock time per file of 35 KB in us",
                       reference="sockets in C", checked=False,
                       server=latency, quick=connections == 16,
                       seconds=(8, 1))
    yield Cell("latency", "images-16-50ms", "rate", decoding, "urls web",
               {"connections": 16, "workers": 2}, figure="wall",
               unit="wall-clock time per image in us", server=50,
               seconds=(8, 1))


def trainer_tables() -> Iterator[Cell]:
    rows = [OURS_ROW, SEED_ROW, BEST_ROW, DALI_ROW, PILLOW_ROW]
    spawn = PILLOW_ROW._replace(name=PILLOW + ", spawn",
                                job={"method": "spawn"})
    subprocess = next(row for row in IMAGES if row.name.endswith("subprocess"))
    nothing = Row("no loader", "with_nothing:batches")
    common = {"checked": False, "data": "images imagenet",
              "job": {"workers": 1}}
    yield Cell("start", "100000-files", "start", [*rows, spawn],
               **{**common, "data": "long"}, figure="beyond",
               unit="time from creation to the first batch of 32, minus the "
               "time of a later batch, in ms")
    queues = Row(f"{OURS}, default queue-size", "with_gstspdl:default_queues",
                 ("gstspdl",))
    yield Cell("memory", "imagenet-2", "memory", [queues, *rows, subprocess],
               **{**common, "job": {"workers": 2}}, figure="pss",
               settings={"seconds": 6}, seconds=(6, 2),
               unit="peak PSS in MB, minus that of the same script without a "
               "loader")
    nice = Row(f"{OURS}, in a process, nice=19", "with_gstspdl:nice",
               ("gstspdl",))
    background = Row(f"{OURS}, set_background()", "with_gstspdl:background",
                     ("gstspdl",))
    yield Cell("jitter", "imagenet-1", "jitter",
               [nothing, queues, *rows, background, nice, subprocess],
               **common, figure="p99", reference="no loader",
               unit="99th percentile of the time of equal pieces of Python, in "
               "us")
    yield Cell("hand-over", "4.8MB", "hand-over", [nothing, *rows, subprocess],
               **common, settings={"batches": 20, "pause": 0.25},
               unit="CPU time of the main thread for a batch that is ready, "
               "with each page read, in us")


def tiny_table() -> Iterator[Cell]:
    peers = [
        Row("SPDL", "with_spdl:tiny", SPDL),
        Row("DataLoader", "with_torch:tiny", TORCH),
        Row("WebDataset", "with_webdataset:tiny", ("webdataset",),
            note="its pipeline only, in the main process"),
        Row("torchdata" + NEWEST, "with_torchdata:tiny",
            (*TORCH, "torchdata.nodes"), "newest"),
        Row("DALI, CPU", "with_dali:tiny", ("nvidia.dali.fn",),
            note="external_source, same batch size")]
    ours = Row(OURS, "with_gstspdl:tiny", ("gstspdl",),
               note="lines of a list, through a stage without work")
    for batch in (1, 64):
        yield Cell("tiny", f"python-{batch}", "tiny", [ours, *peers], "numbers",
                   {"batch": batch}, unit="CPU time per item in us",
                   checked=False)
    elements = {"queue": "queue", "identity": "identity",
                f"{OURS}, queue-size=64": "spdlteststage queue-size=64",
                f"{OURS}, 4 workers, queue-size=64":
                "spdlteststage queue-size=64 concurrency=4"}
    yield Cell("tiny", "c", "tiny", [
        Row(name, program=("tiny-cost", element, "{count}"), figures=("us",))
        for name, element in elements.items()], "none",
        {}, unit="CPU time per item in us", reference="queue", checked=False)


def media_tables() -> Iterator[Cell]:
    for end in ("wav", "flac", "mp3", "ogg"):
        rows = [Row("FFmpeg's libraries, in C", program=(
                    "audio-cost", "{paths}", "{seconds}", "16000", "1"),
                    figures=("us",)),
                Row(OURS, "with_gstspdl:sounds", ("gstspdl",)),
                Row("SPDL", "with_spdl:sounds", SPDL)]
        rows.append(Row("torchcodec, DataLoader", "with_torchcodec:sounds",
                        ("torch", "torchcodec"), "newest"))
        if end != "mp3":
            rows.append(Row("DALI, CPU", "with_dali:sounds",
                            ("nvidia.dali.fn",)))
        yield Cell("audio", end, "rate", rows, f"sounds {end}",
                   {"workers": 1, "batch": 8}, checked=False,
                   unit="CPU time per sound of 10 s, to 16 kHz mono, in us",
                   quick=end in ("wav", "mp3"), seconds=(6, 1))
    yield Cell("video", "h264", "rate", [
        Row("FFmpeg's libraries, in C", program=(
            "video-cost", "{paths}", "{seconds}", "224", "224", "16"),
            figures=("us",)),
        Row(OURS, "with_gstspdl:clips", ("gstspdl",)),
        Row("SPDL", "with_spdl:clips", SPDL),
        Row("torchcodec, DataLoader", "with_torchcodec:clips",
            ("torch", "torchcodec"), "newest")], "videos",
        {"workers": 1, "batch": 2}, {"warm": 1}, checked=False,
        unit="CPU time per clip of 16 frames from 10 s of 640x360, in us",
        seconds=(10, 1))
    for workers in (1, 2):
        yield Cell("shards", f"web-{workers}", "rate", [
            Row(OURS, "with_gstspdl:shards", ("gstspdl",)),
            Row("WebDataset, Pillow", "with_webdataset:run",
                (*TORCH, "webdataset")),
            Row("SPDL, iter_tarfile", "with_spdl:shards", SPDL),
            Row("DALI, CPU", "with_dali:shards", ("nvidia.dali.fn",))],
            "shards web", {"workers": workers}, floor=True,
            quick=workers == 2)


def all_cells() -> List[Cell]:
    return [*main_table(), *formats_table(), *latency_table(), *trainer_tables(), *tiny_table(),
            *media_tables()]
