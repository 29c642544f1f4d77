# gst-spdl: interleaved measurements on a noisy machine
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Blocks of several ways to do a job, interleaved, each between two short runs
of the floor. Where the floor is slower than its best by more than 7 %, something
else used the machine, and the block is thrown away."""

import random
import statistics
from typing import NamedTuple

GUARD_SECONDS = 3
TOLERANCE = 1.07


class Cost(NamedTuple):
    """CPU time an image in us; the share of as many cores as there are workers
    that was used, and the share of the machine that other programs took."""
    us: float
    busy: float = 0.0
    foreign: float = 0.0


class Pair(NamedTuple):
    reference: Cost
    cost: Cost
    guard: float

    @property
    def ratio(self):
        return self.cost.us / self.reference.us


class Guard:
    """The floor of one set, and its best of the session."""

    def __init__(self, floor, seconds=GUARD_SECONDS):
        self.floor, self.seconds = floor, seconds
        self.best = float("inf")

    def __call__(self):
        us = self.floor(self.seconds).us
        self.best = min(self.best, us)
        return us


class Figures(NamedTuple):
    """Of the pairs that were kept; of all, where quiet is False."""
    us: float
    ratio: float
    least: float
    most: float
    busy: float
    foreign: float
    kept: int
    total: int
    quiet: bool


class Rounds:
    """Ways (name: function of seconds that gives a Cost), of which one is what
    the others are compared with, and one is to be next to it in time."""

    def __init__(self, guard, ways, reference, main):
        self.guard, self.ways = guard, ways
        self.reference, self.main = reference, main
        self.pairs = {name: [] for name in ways if name != reference}

    def order(self):
        """A B .. B A, in an order drawn anew, the main pair together."""
        pair = [self.reference, self.main]
        others = [name for name in self.ways if name not in pair]
        random.shuffle(pair)
        random.shuffle(others)
        place = random.randint(0, len(others))
        half = others[:place] + pair + others[place:]
        return half, half[::-1]

    def run_half(self, names, seconds):
        costs = {}
        before = self.guard()
        for name in names:
            cost = self.ways[name](seconds)
            after = self.guard()
            costs[name] = cost, max(before, after)
            before = after
        reference, guard = costs.pop(self.reference)
        for name, (cost, own) in costs.items():
            self.pairs[name].append(Pair(reference, cost, max(guard, own)))

    def kept(self, name):
        limit = self.guard.best * TOLERANCE
        return [pair for pair in self.pairs[name] if pair.guard <= limit]

    def run(self, seconds, wanted, most):
        """Goes on until so many pairs of each are kept, or so many rounds."""
        for _ in range(most):
            for half in self.order():
                self.run_half(half, seconds)
            if all(len(self.kept(name)) >= wanted for name in self.pairs):
                break

    def figures(self, name):
        kept, total = self.kept(name), self.pairs[name]
        pairs = kept or total
        ratios = [pair.ratio for pair in pairs]
        return Figures(statistics.median(pair.cost.us for pair in pairs),
                       statistics.median(ratios), min(ratios), max(ratios),
                       statistics.median(pair.cost.busy for pair in pairs),
                       statistics.median(pair.cost.foreign for pair in pairs),
                       len(kept), len(total), bool(kept))

    def reference_us(self):
        return statistics.median(
            pair.reference.us
            for pair in self.kept(self.main) or self.pairs[self.main])
