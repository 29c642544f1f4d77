#!/usr/bin/env python3
# gst-spdl: test of whole pipelines on a GPU, with the wheel and PyTorch
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""check-wheel.py FOLDER: a folder with folders of JPEGs. Exits with 77 and a reason
on stderr if gstspdl, PyTorch or a GPU is missing. Prints a line of JSON."""

import json
import random
import sys
import threading
import warnings

try:
    import torch

    import gstspdl.torch
    from gstspdl.torch import Dataset
except ImportError as error:
    sys.exit(print(error, file=sys.stderr) or 77)
if not torch.cuda.is_available():
    sys.exit(print("PyTorch finds no GPU", file=sys.stderr) or 77)

FOLDER = sys.argv[1]
MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)


def describe(end, epochs=1, source="label=folder"):
    return (f"spdlsrc location={FOLDER} epochs={epochs} {source} ! spdlfetch "
            "! spdldecode width=224 height=224 "
            f"! spdlbatch batch-size=32 ! {end} ! spdlsink")


NORMALIZE = ('spdlcudaupload ! spdlcudanormalize '
             f'mean="<{",".join(map(str, MEAN))}>" '
             f'std="<{",".join(map(str, STD))}>"')


def load_on_cpu():
    """Returns the image and the label of each item by its index, since stages send
    items in the order in which they finish."""
    items = {}
    with gstspdl.Loader(describe("queue")) as loader:
        for batch in loader:
            images = torch.from_dlpack(batch["data"]).clone()
            for index, image, label in zip(batch.indices, images, batch.labels):
                items[index] = (image, label)
    return items


def stack(expected, indices):
    return torch.stack([expected[index][0] for index in indices])


def compare(expected, indices, images, labels):
    assert images.is_cuda
    assert torch.equal(images.cpu(), stack(expected, indices))
    assert labels == [expected[index][1] for index in indices]


def check_upload(expected):
    """Compares the bytes of each batch that is copied ahead with the CPU's."""
    with gstspdl.Loader(describe("spdlcudaupload")) as loader:
        found = [(list(batch.indices), torch.from_dlpack(batch["data"]),
                  list(batch.labels)) for batch in loader]
    assert sum(len(indices) for indices, _, _ in found) == len(expected)
    for batch in found:
        compare(expected, *batch)


def check_dataset(expected):
    """The same through Dataset, which takes tensors on the CPU, too."""
    for end in "queue", "spdlcudaupload":
        dataset = Dataset(describe(end))
        for batch in dataset:
            assert batch["labels"].is_cuda
            compare(expected, batch["indices"].tolist(), batch["data"],
                    batch["labels"].tolist())
        dataset.stop()


def check_normalize(expected):
    """Returns the largest difference to PyTorch's arithmetic."""
    worst = 0.0
    mean, std = (torch.tensor(value).view(1, 3, 1, 1) for value in (MEAN, STD))
    with gstspdl.Loader(describe(NORMALIZE)) as loader:
        for batch in loader:
            tensor = torch.from_dlpack(batch["data"])
            right = stack(expected, batch.indices).permute(0, 3, 1, 2)
            wanted = (right.float() / 255 - mean) / std
            worst = max(worst, (tensor.cpu() - wanted).abs().max().item())
    assert worst < 1e-5, worst
    return worst


def check_reuse(expected):
    """Releases each batch at once, while a slow stream still reads it."""
    streams = [torch.cuda.Stream() for _ in range(3)]
    sums = []
    rounds = 6
    with gstspdl.Loader(describe("spdlcudaupload prefetch=4", rounds)) as loader:
        for _ in range(rounds):
            for i, batch in enumerate(loader):
                wanted = stack(expected, batch.indices).sum(dtype=torch.int64)
                with torch.cuda.stream(streams[i % 3]):
                    tensor = torch.from_dlpack(batch["data"])
                    del batch
                    torch.cuda._sleep(2_000_000)
                    sums.append((tensor.sum(dtype=torch.int64), wanted))
                    del tensor
    torch.cuda.synchronize()
    assert len(sums) > rounds
    assert all(found.item() == wanted.item() for found, wanted in sums)


def check_capture(expected):
    """Captures a CUDA graph in one thread while the pipeline copies, and replays
    it on what was loaded."""
    static = torch.zeros(32, 224, 224, 3, dtype=torch.uint8, device="cuda")
    result = torch.zeros((), dtype=torch.int64, device="cuda")
    ended = threading.Event()
    captured = []

    def capture():
        while not ended.is_set() or not captured:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                result.copy_(static.sum(dtype=torch.int64))
            captured.append(graph)

    # The first reduction loads a kernel, which a capture forbids.
    static.sum(dtype=torch.int64)
    thread = threading.Thread(target=capture)
    rounds = 4
    found = []
    with gstspdl.Loader(describe("spdlcudaupload", rounds)) as loader:
        thread.start()
        for _ in range(rounds):
            for batch in loader:
                found.append((list(batch.indices), batch["data"]))
        ended.set()
        thread.join()
        graph = captured[-1]
        for indices, data in found:
            tensor = torch.from_dlpack(data)
            static.zero_()
            static[:len(tensor)].copy_(tensor)
            graph.replay()
            wanted = stack(expected, indices).sum(dtype=torch.int64)
            assert result.item() == wanted.item()
    return len(captured)


def check_training():
    """Trains a small model for some epochs, and returns the first and the last
    loss."""
    torch.manual_seed(0)
    dataset = Dataset(describe(NORMALIZE, epochs=8,
                               source="label=folder shuffle=true seed=1"))
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 7, 4), torch.nn.ReLU(),
        torch.nn.Conv2d(16, 32, 5, 4), torch.nn.ReLU(),
        torch.nn.AdaptiveAvgPool2d(4), torch.nn.Flatten(),
        torch.nn.Linear(512, 64)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), 2e-3)
    losses = []
    for _ in range(8):
        total = []
        for batch in dataset:
            loss = torch.nn.functional.cross_entropy(
                model(batch["data"]), batch["labels"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total.append(loss.detach())
        losses.append(torch.stack(total).mean().item())
    dataset.stop()
    assert losses[-1] < losses[0], losses
    return losses[0], losses[-1]


def check_stops():
    """Stops loaders at any moment. Returns how many bytes of the device stay in
    use after that."""
    draw = random.Random(3)
    kept = []
    free = None
    for i in range(60):
        loader = gstspdl.Loader(describe(
            f"spdlcudaupload prefetch={draw.randint(1, 8)}", epochs=-1))
        stopper = threading.Timer(draw.random() * 0.2, loader.stop)
        stopper.start()
        try:
            for batch in loader:
                kept[:] = [torch.from_dlpack(batch["data"])]
        except gstspdl.LoaderError as error:
            assert error.code == "stopped", error
        stopper.join()
        loader.stop()
        kept.clear()
        del loader
        torch.cuda.synchronize()
        if i == 9:
            free = torch.cuda.mem_get_info()[0]
    lost = free - torch.cuda.mem_get_info()[0]
    assert lost < 32 << 20, lost
    return lost


def check_processes(expected):
    """Uploads what another process has decoded, from the memory that both share."""
    child = describe("queue").replace("! queue ! spdlsink", "")
    with gstspdl.Loader(f"spdlworkersrc slabs=40 pipeline=\"{child}\" "
                        "! spdlcudaupload ! spdlsink") as loader:
        found = [(list(batch.indices), torch.from_dlpack(batch["data"]),
                  list(batch.labels)) for batch in loader]
    assert sum(len(indices) for indices, _, _ in found) == len(expected)
    for batch in found:
        compare(expected, *batch)


class Squares(torch.utils.data.Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, index):
        return {"value": torch.full((3, 64), index * index), "index": index}


def check_dataloader():
    """Compares pinned batches of worker processes with PyTorch's."""
    for n_workers in 0, 2:
        pairs = [list(cls(Squares(), batch_size=8, num_workers=n_workers,
                          pin_memory=True))
                 for cls in (torch.utils.data.DataLoader,
                             gstspdl.torch.DataLoader)]
        assert len(pairs[0]) == len(pairs[1]) == 13
        for right, found in zip(*pairs):
            assert right.keys() == found.keys()
            for key, tensor in right.items():
                assert tensor.is_pinned() and found[key].is_pinned(), key
                there = found[key].to("cuda", non_blocking=True)
                assert torch.equal(there.cpu(), tensor), key


def main():
    warnings.simplefilter("error")
    expected = load_on_cpu()
    assert len(expected) > 64
    check_upload(expected)
    check_dataset(expected)
    difference = check_normalize(expected)
    check_reuse(expected)
    graphs = check_capture(expected)
    losses = check_training()
    check_processes(expected)
    check_dataloader()
    lost = check_stops()
    print(json.dumps({
        "what": "wheel", "version": torch.__version__,
        "device": torch.cuda.get_device_name(), "items": len(expected),
        "normalize_difference": difference, "graphs": graphs, "bytes_lost": lost,
        "losses": [round(loss, 3) for loss in losses]}))


if __name__ == "__main__":
    main()
