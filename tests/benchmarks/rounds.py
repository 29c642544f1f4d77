# gst-spdl: interleaved measurements on a noisy machine
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Interleaves blocks of several ways to do a job, each between two short runs of
the floor. If the floor is more than 7 % slower than its best, another program
used the machine, and the block is discarded."""

import random
import statistics
from typing import NamedTuple

GUARD_SECONDS = 3
TOLERANCE = 1.07


class Cost(NamedTuple):
    """CPU time per image in us; the used share of as many cores as there are
    workers; the share of the machine that other programs used."""
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
    """The floor of one set and its best value in the session."""

    def __init__(self, floor, seconds=GUARD_SECONDS):
        self.floor, self.seconds = floor, seconds
        self.best = float("inf")

    def __call__(self):
        us = self.floor(self.seconds).us
        self.best = min(self.best, us)
        return us


class Figures(NamedTuple):
    """Results of the kept pairs, or of all pairs if quiet is False."""
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
    """Ways by name: functions that take a duration in seconds and return a
    Cost. One way is the reference, and another is measured next to it."""

    def __init__(self, guard, ways, reference, main):
        self.guard, self.ways = guard, ways
        self.reference, self.main = reference, main
        self.pairs = {name: [] for name in ways if name != reference}

    def order(self):
        """Returns a new random order, reversed every second time, with the
        main pair together."""
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
        """Runs until enough pairs of each way are kept, or up to a number of
        rounds."""
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
