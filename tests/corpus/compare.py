#!/usr/bin/python3
# gst-spdl: comparison of decoded test files with references
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""compare.py FOLDER [FILE...]: decodes each file of `gather.py` with gst-spdl and
with a reference, each in a separate process, and prints the number of equal
results per format and the differing files. Fails if a file differs that
allowed.txt does not name, or if a process crashes, hangs or takes too much
memory."""

import argparse
import collections
import concurrent.futures
import itertools
import multiprocessing
import os
import pathlib
import pickle
import random
import resource
import signal
import sys
import tempfile

import decoders
import numpy as np
from gather import KINDS, suffix_of

HERE = pathlib.Path(__file__).resolve().parent
VERDICTS = ["same", "near", "differs", "refused", "only we", "both fail",
            "crashed"]
TIMEOUT = 60
MEMORY = 600 << 20

KIND_OF = {suffix: kind for kind, suffixes in KINDS.items()
           for suffix in suffixes}


class Outcome:
    """The result of one file in a process."""

    def __init__(self, arrays=None, error=None, crash=None, memory=0):
        self.arrays = arrays
        self.error = error
        self.crash = crash
        self.memory = memory


def work(function, path, kind, output):
    """Runs in the child."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        answer = (function(path, kind), None)
    except MemoryError:
        raise
    except Exception as error:
        answer = (None, f"{type(error).__name__}: {error}".splitlines()[0])
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    with open(output, "wb") as file:
        pickle.dump((*answer, memory), file, pickle.HIGHEST_PROTOCOL)
    os._exit(0)


def run(function, path, kind):
    outcome = run_once(function, path, kind)
    # The status from the fork server if it lost that of a child.
    if outcome.crash == "exit status 255":
        outcome = run_once(function, path, kind)
    return outcome


def run_once(function, path, kind):
    # Children are forked from a server that has decoded nothing, as a child of
    # this process would start with its memory.
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["decoders"])
    with tempfile.NamedTemporaryFile() as output:
        child = processes.Process(
            target=work, args=(function, path, kind, output.name))
        child.start()
        child.join(TIMEOUT)
        if child.exitcode is None:
            child.kill()
            child.join()
            return Outcome(crash=f"no end after {TIMEOUT} s")
        if child.exitcode != 0:
            return Outcome(crash=(signal.Signals(-child.exitcode).name
                                  if child.exitcode < 0
                                  else f"exit status {child.exitcode}"))
        arrays, error, memory = pickle.load(output)
        return Outcome(arrays, error, memory=memory)


def difference(a, b):
    """Returns the mean difference and the 99.9th percentile."""
    gaps = np.abs(a.astype(np.float64) - b.astype(np.float64)).ravel()
    same = a == b if a.dtype.kind in "biu" else (a == b) | (
        np.isnan(a) & np.isnan(b))
    gaps[np.isnan(gaps)] = np.inf
    gaps[same.ravel()] = 0
    return gaps.mean(), np.partition(gaps, -1 - gaps.size // 1000)[
        -1 - gaps.size // 1000]


# The limits on the mean and on the 99.9th percentile: rounding for lossless
# formats, chroma interpolation for the others.
NEAR = {"image": (1, 2), "lossy image": (2.5, 48), "video": (6, 160),
        "sound": (1e-3, 2e-2), "array": (0, 0)}
LOSSY = {"jpg", "jpeg", "jpe", "jfif", "webp", "jp2", "j2k", "jpc", "tif",
         "tiff"}


def name_in(member):
    return bytes(member[:100]).partition(b"\0")[0]


def compare(kind, path, a, b):
    """Returns the verdict and a note."""
    if len(a) != len(b):
        return "differs", f"{len(a)} arrays, the reference {len(b)}"
    verdict, note = "same", ""
    for x, y in zip(a, b):
        if kind == "sound" and x.shape[1:] == y.shape[1:] and (
                abs(len(x) - len(y)) <= max(len(y) // 100, 2304)):
            if len(x) != len(y):
                verdict, note = "near", f"{len(x)} for {len(y)} samples"
            x, y = x[:len(y)], y[:len(x)]
        if kind == "archive" and not np.array_equal(x, y):
            return "differs", f"{name_in(x)}, the reference {name_in(y)}"
        if kind == "array":
            y = np.atleast_1d(y)
            x = x.reshape(y.shape) if x.size == y.size else x
            # Booleans are bytes in tensors.
            if x.dtype.kind != y.dtype.kind.replace("b", "u"):
                return "differs", f"{x.dtype}, the reference {y.dtype}"
        if x.shape != y.shape:
            return "differs", f"{x.shape}, the reference {y.shape}"
        if x.size == 0 or np.array_equal(x, y):
            continue
        bounds = NEAR["lossy image" if kind == "image" and
                      suffix_of(path.name) in LOSSY else kind]
        mean, most = difference(x, y)
        text = f"mean {mean:.3g}, 99.9 % within {most:.3g}"
        if mean > bounds[0] or most > bounds[1]:
            return "differs", text
        verdict, note = "near", note or text
    return verdict, note


def judge(path):
    kind = KIND_OF[suffix_of(path.name)]
    mine = run(decoders.ours, path, kind)
    theirs = run(decoders.reference, path, kind)
    if kind == "video" and mine.arrays and theirs.arrays:
        mine.arrays = list(mine.arrays[0][:len(theirs.arrays)])
    if mine.crash:
        return "crashed", mine.crash, mine.memory
    if mine.arrays is None:
        verdict = "refused" if theirs.arrays is not None else "both fail"
        if theirs.error and theirs.error.startswith("TooLarge"):
            verdict = "same"
        return verdict, mine.error, mine.memory
    if theirs.arrays is None:
        return "only we", theirs.error or theirs.crash, mine.memory
    return *compare(kind, path, mine.arrays, theirs.arrays), mine.memory


def mutate(path, folder, n, rng):
    """Returns copies of a file that are truncated or have changed bytes."""
    data = path.read_bytes()
    for i in range(n):
        copy = bytearray(data)
        for _ in range(rng.choice((1, 2, 8, 40))):
            copy[rng.randrange(len(copy))] = rng.randrange(256)
        if rng.random() < 0.2:
            del copy[rng.randrange(len(copy)):]
        to = folder / f"{i}-{path.name[-60:]}"
        to.write_bytes(copy or b"\0")
        yield to


def read_allowed():
    """Returns the reasons by source and file."""
    allowed = {}
    for line in (HERE / "allowed.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, _, reason = line.partition("\t")
            allowed[name] = reason
    return allowed


def name_of(path, root):
    return str(path.relative_to(root))


def print_table(counts):
    print("| format | " + " | ".join(VERDICTS) + " |")
    print("| --- |" + " ---: |" * len(VERDICTS))
    total = collections.Counter()
    for suffix in sorted(counts):
        total += counts[suffix]
        print(f"| {suffix} | " + " | ".join(
            str(counts[suffix][v] or "") for v in VERDICTS) + " |")
    print("| **all** | " + " | ".join(str(total[v]) for v in VERDICTS) + " |")


def choose(paths, rng, n=200):
    """Selects up to n files, evenly over the formats."""
    by_format = collections.defaultdict(list)
    for path in rng.sample(paths, len(paths)):
        by_format[suffix_of(path.name)].append(path)
    in_turns = itertools.zip_longest(*by_format.values())
    return [p for turn in in_turns for p in turn if p][:n]


def write_copies(paths, folder, n, rng):
    """Writes a folder of broken copies and a list of them."""
    names = []
    for i, path in enumerate(choose(paths, rng)):
        to = folder / str(i)
        to.mkdir(parents=True)
        names += [str(copy.relative_to(folder)).replace("\t", " ")
                  for copy in mutate(path, to, n, rng)]
    (folder / "list.txt").write_text("".join(f"{name}\n" for name in names))
    print(f"{len(names)} copies")


def run_mutations(paths, n, rng):
    crashes = 0
    for path in choose(paths, rng):
        with tempfile.TemporaryDirectory() as folder:
            for copy in mutate(path, pathlib.Path(folder), n, rng):
                outcome = run(decoders.ours, copy,
                              KIND_OF[suffix_of(path.name)])
                if outcome.crash:
                    crashes += 1
                    kept = pathlib.Path(f"crash-{crashes}-{path.name[-60:]}")
                    kept.write_bytes(copy.read_bytes())
                    print(f"{path}: {outcome.crash}, kept as {kept}",
                          flush=True)
    print(f"{crashes} crashes")
    return crashes


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--kind", choices=[*KINDS])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--mutate", type=int, default=0, metavar="N",
                        help="decode N broken copies of each of 200 files")
    parser.add_argument("--write-copies", type=pathlib.Path, metavar="FOLDER",
                        help="write them there instead, with a list")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    root = arguments.folder / "files"
    left_out = {"archive"} if arguments.write_copies else set()
    paths = arguments.files or sorted(
        p for p in root.rglob("*") if p.is_file()
        and KIND_OF.get(suffix_of(p.name)) in {*decoders.REFERENCES} - left_out
        and arguments.kind in (None, KIND_OF[suffix_of(p.name)]))
    if arguments.mutate:
        rng = random.Random(arguments.seed)
        if arguments.write_copies:
            return write_copies(
                paths, arguments.write_copies, arguments.mutate, rng)
        return run_mutations(paths, arguments.mutate, rng) > 0
    allowed, counts = read_allowed(), collections.defaultdict(
        collections.Counter)
    unexplained, most = [], (0, "")
    # The threads only wait for processes.
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for path, (verdict, note, memory) in zip(
                paths, pool.map(judge, paths)):
            name = name_of(path, root)
            counts[suffix_of(path.name)][verdict] += 1
            most = max(most, (memory, name))
            if verdict != "same":
                print(f"{verdict}\t{name}\t{note}"
                      f"\t{allowed.get(name, '')}", flush=True)
            if verdict in ("differs", "crashed") and name not in allowed:
                unexplained.append(name)
    print_table(counts)
    print(f"{len(paths)} files; at most {most[0] >> 20} MiB, of {most[1]}")
    print(f"{len(unexplained)} differences are not explained")
    return bool(unexplained) or most[0] > MEMORY


if __name__ == "__main__":
    sys.exit(main())
