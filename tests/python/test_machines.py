#!/usr/bin/python3
# gst-spdl: tests of the page about more machines
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the commands of docs/how-to/more-machines.md as Kubernetes and Slurm do,
and checks the manifest. The arguments are tools/make-dataset and the folder of
examples."""

import collections
import json
import os
import pathlib
import random
import re
import shlex
import signal
import subprocess
import sys
import textwrap
import time
import unittest

from support import ROOT, find_packages, make_dataset, make_folder

EXAMPLES = pathlib.Path(sys.argv.pop(1))
PAGE = (ROOT / "docs" / "how-to" / "more-machines.md").read_text()
HAS_SCHEMA = find_packages("yaml", "kubernetes_validate")
N_FILES = 90
N_ITEMS = 20 * N_FILES
N_EPOCHS = 3
FAILED = [i for i in range(N_ITEMS) if i % N_FILES == 7]


def find_block(start):
    """Returns the block of the page that begins with a text."""
    begin = PAGE.index(f"\n    {start}") + 1
    lines = PAGE[begin:].splitlines()
    end = next(i for i, line in enumerate(lines)
               if line and not line.startswith("    "))
    return textwrap.dedent("\n".join(lines[:end]))


class JobTest(unittest.TestCase):
    def setUp(self):
        self.folder = make_folder()
        for name in "use_once.py", "use_once_ranks.py":
            (self.folder / name).symlink_to(EXAMPLES / name)
        paths = sorted(make_dataset(N_FILES).glob("*/*.jpg"))
        paths[FAILED[0]].write_text("no image")
        (self.folder / "list.txt").write_text("".join(
            f"{paths[i % N_FILES]}\n" for i in range(N_ITEMS)))

    def count_steps(self):
        return sum(log.read_bytes().count(b"\n")
                   for log in self.folder.glob("out/*/*/log"))

    def run_job(self, command, environments, n_steps=None):
        """Runs a process in each environment. Kills them in a random order
        after this number of steps of all jobs."""
        base = {name: value for name, value in os.environ.items()
                if name not in ("RANK", "WORLD_SIZE")}
        command = [sys.executable if word == "python3" else word
                   for word in command]
        ranks = [subprocess.Popen(command, cwd=self.folder,
                                  stderr=subprocess.DEVNULL,
                                  env={**base, **environment})
                 for environment in environments]
        while n_steps and self.count_steps() < n_steps:
            self.assertIn(None, [rank.poll() for rank in ranks])
            time.sleep(0.002)
        random.shuffle(ranks)
        for rank in ranks:
            if n_steps:
                rank.kill()
            self.assertIn(rank.wait(),
                          [0, -signal.SIGKILL] if n_steps else [0])

    def check_logs(self):
        used, failed = collections.Counter(), collections.Counter()
        for log in self.folder.glob("out/*/*/log"):
            for line in log.read_text().splitlines():
                step = json.loads(line)
                used.update((step["epoch"], i) for i in step["used"])
                failed.update(map(tuple, step["failed"]))
        self.assertEqual(failed, {(epoch, i): 1 for epoch in range(N_EPOCHS)
                                  for i in FAILED})
        self.assertEqual(used, {(epoch, i): 1 for epoch in range(N_EPOCHS)
                                for i in range(N_ITEMS) if i not in FAILED})

    def check_job(self, command, list_environments):
        """Kills a job, resumes and kills it again, and goes on with other numbers
        of processes."""
        self.assertEqual(command[-1], "out/1")
        n_steps = 0
        worlds = [len(list_environments(None)), 2, 3]
        for number, world in enumerate(worlds, 1):
            arguments = [*command[:-1], f"out/{number}"]
            if number > 1:
                arguments.append(f"out/{number - 1}")
            environments = list_environments(world)
            self.assertEqual(len(environments), world)
            for _ in range(2):
                n_steps += 150
                self.run_job(arguments, environments, n_steps)
            self.finish_starts(arguments, environments, number)
        self.run_job(arguments, environments)
        self.check_logs()

    def finish_starts(self, command, environments, number):
        """Restarts processes that were killed before they had a state."""
        for rank, environment in enumerate(environments):
            folder = self.folder / "out" / str(number) / str(rank)
            if not (folder / "progress").exists():
                self.run_job(command, [environment], self.count_steps() + 1)

    def test_kubernetes(self):
        manifest = find_block("apiVersion: batch/v1")
        command = re.search(r"command: \[(.*)\]", manifest)[1].split(", ")
        completions = int(re.search(r"completions: (\d+)", manifest)[1])
        size = re.search(r'name: WORLD_SIZE\n\s+value: "(\d+)"', manifest)[1]
        self.assertEqual(int(size), completions)
        self.check_job(command, lambda world: [
            {"JOB_COMPLETION_INDEX": str(i),
             "WORLD_SIZE": str(world or completions)}
            for i in range(world or completions)])

    def test_slurm(self):
        script = find_block("#!/bin/sh\n    #SBATCH")
        n_tasks = int(re.search(r"--ntasks=(\d+)", script)[1])
        srun, *command = shlex.split(script.splitlines()[-1])
        self.assertEqual(srun, "srun")
        self.check_job(command, lambda world: [
            {"SLURM_PROCID": str(i), "SLURM_NTASKS": str(world or n_tasks)}
            for i in range(world or n_tasks)])


class ManifestTest(unittest.TestCase):
    @unittest.skipUnless(HAS_SCHEMA, "needs kubernetes-validate")
    def test_schema(self):
        import kubernetes_validate
        import yaml

        manifest = yaml.safe_load(find_block("apiVersion: batch/v1"))
        kubernetes_validate.validate(manifest, "1.33", strict=True)
        # The schema is really looked at.
        manifest["spec"]["completions"] = "many"
        with self.assertRaises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(manifest, "1.33", strict=True)


if __name__ == "__main__":
    unittest.main()
