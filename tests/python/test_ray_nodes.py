#!/usr/bin/python3
# gst-spdl: tests of loaders on Ray whose nodes are lost
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset, the second one the number of nodes
to kill for each transfer."""

import random
import statistics
import time
import unittest

from ray_support import N_LOSSES, Tally, digest, load, load_here, ray


def find_links(loader):
    """Returns the links by the nodes of their actors."""
    links = {ray.get(link.actor.__ray_call__.remote(
        lambda _: ray.get_runtime_context().get_node_id())): link
        for link in loader._links}
    assert len(links) == len(loader._links)
    return links


def kill_raylet(node):
    """Its workers end when they notice. They do not notice a zombie."""
    process = node.all_processes["raylet"][0].process
    process.kill()
    process.wait()


class NodeTest(unittest.TestCase):
    def setUp(self):
        from ray.cluster_utils import Cluster

        self.cluster = Cluster(
            initialize_head=True, connect=True,
            head_node_args={"num_cpus": 2, "include_dashboard": False,
                            "object_store_memory": 200_000_000})
        self.addCleanup(self.cluster.shutdown)
        self.addCleanup(ray.shutdown)

    def check(self, transfer):
        """Kills the raylet of a second node again and again, and continues
        until its loader is back on the first node."""
        tally, found, times = Tally(), [], []
        with load(num_loaders=2, transfer=transfer,
                  options={"num_cpus": 1}) as loader:
            n_epochs = 0
            while len(times) < N_LOSSES:
                node = self.cluster.add_node(
                    num_cpus=2, object_store_memory=200_000_000)
                self.cluster.wait_for_nodes()
                loader.resize(2)  # one loader for each node
                lost = find_links(loader)[node.node_id]
                lost_at = None
                moment = random.randrange(15)
                while len(times) < N_LOSSES and lost_at != 0:
                    for i, batch in enumerate(loader):
                        tally.add(batch)
                        tally.take(loader)
                        found.append(digest(batch))
                        time.sleep(0.02)
                        if lost_at is None and i == moment:
                            lost_at = time.monotonic()
                            kill_raylet(node)
                        if lost_at and lost.n_restarts and not lost._n_losses:
                            times.append(time.monotonic() - lost_at)
                            lost_at = 0
                    tally.take(loader)
                    n_epochs += 1
                self.cluster.remove_node(node)
        tally.check(self, n_epochs)
        self.assertEqual(found, load_here(n_epochs=n_epochs))
        # Ray's health check takes 15 s.
        self.assertLess(statistics.median(times), 8)
        print(f"{transfer}: {N_LOSSES} raylets killed, recovery "
              f"{statistics.median(times):.2f} s, at most {max(times):.2f} s",
              flush=True)

    def test_direct(self):
        self.check("direct")

    def test_store(self):
        self.check("store")


if __name__ == "__main__":
    unittest.main(warnings="ignore")
