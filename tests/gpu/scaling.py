#!/usr/bin/env python3
# gst-spdl: benchmark of images per second by threads, beside DataLoader
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""scaling.py FOLDER: a folder with folders of JPEGs. Prints a line of JSON for
each number of threads (of spdldecode) or workers (of PyTorch's DataLoader with
torchvision and Pillow): images per second of 224x224, with and without the copy to
the GPU, and the CPU time of an image. Needs gstspdl, PyTorch and torchvision."""

import itertools
import json
import sys
import time

import torch
import torchvision

import gstspdl

FOLDER = sys.argv[1]
SECONDS = 4.0
BATCH = 64


def measure(batches, warm_up):
    """Returns images per second and CPU seconds of this process for each."""
    for _ in range(warm_up):
        next(batches)
    n, cpu, start = 0, time.process_time(), time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        n += next(batches)
    return (n / (time.perf_counter() - start),
            (time.process_time() - cpu) / n)


def run_spdl(n_threads, end):
    with gstspdl.Loader(
            f"spdlsrc location={FOLDER} epochs=-1 label=folder shuffle=true "
            "! spdlfetch ! spdldecode width=224 height=224 "
            f"concurrency={n_threads} ! spdlbatch batch-size={BATCH} ! {end} "
            "! spdlsink") as loader:
        epochs = itertools.chain.from_iterable(itertools.repeat(loader))
        return measure((batch.num_items for batch in epochs), 3)


class Repeated(torch.utils.data.Dataset):
    def __init__(self):
        self.images = torchvision.datasets.ImageFolder(
            FOLDER, torchvision.transforms.Compose([
                torchvision.transforms.Resize((224, 224)),
                torchvision.transforms.PILToTensor()]))

    def __len__(self):
        return 200 * len(self.images)

    def __getitem__(self, index):
        return self.images[index % len(self.images)]


def run_dataloader(n_workers):
    batches = iter(torch.utils.data.DataLoader(
        Repeated(), batch_size=BATCH, num_workers=n_workers, shuffle=True))
    return measure((len(labels) for _, labels in batches), 2 * n_workers)


def main():
    for n in 1, 2, 4, 8, 12, 16:
        rate, cpu = run_spdl(n, "queue")
        uploaded, _ = run_spdl(n, "spdlcudaupload")
        workers, _ = run_dataloader(n)
        print(json.dumps({
            "what": "scaling", "threads": n, "images_per_s": round(rate),
            "with_upload": round(uploaded), "cpu_ms": round(1e3 * cpu, 2),
            "dataloader_images_per_s": round(workers)}), flush=True)


if __name__ == "__main__":
    main()
