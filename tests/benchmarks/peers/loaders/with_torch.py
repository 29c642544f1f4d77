# gst-spdl: PyTorch's DataLoader as a peer
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A Dataset with Pillow and torchvision's transforms, as in PyTorch's examples;
with torchvision.io; and with simplejpeg, which only decodes. Worker processes are
forked and persistent, which is the fastest; `method` selects another start
method. No module of another peer is imported, so that this also runs with the
newest PyTorch."""

import io

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, IterableDataset

torch.set_num_threads(1)
EPOCH = 4096


class Pillow(Dataset):
    """Decodes with Pillow, to uint8 of height, width, channels."""

    def __init__(self, job):
        self.job = job
        # Stored as ImageFolder does.
        self.items = [(item.path, item.label) for item in job.items()]
        self.transform = transform_of(job)

    def __len__(self):
        return len(self.items)

    def open(self, path):
        with Image.open(path) as image:
            return image.convert("RGB")

    def __getitem__(self, i):
        path, label = self.items[i]
        image = self.transform(self.open(path))
        return torch.from_numpy(np.array(image)), label, i


def transform_of(job):
    from torchvision import transforms
    from torchvision.transforms import InterpolationMode
    bilinear = InterpolationMode.BILINEAR
    if not job.train:
        return transforms.Resize((job.size, job.size), bilinear)
    return transforms.Compose([
        transforms.RandomResizedCrop(job.size, interpolation=bilinear),
        transforms.RandomHorizontalFlip()])


class SimpleJpeg(Pillow):
    def open(self, path):
        import simplejpeg
        with open(path, "rb") as file:
            return Image.fromarray(simplejpeg.decode_jpeg(file.read(), "RGB"))


class TensorImages(Pillow):
    """Decodes with torchvision and resizes tensors, with antialiasing."""

    def __init__(self, job):
        super().__init__(job)
        from torchvision import transforms
        resize = (transforms.RandomResizedCrop(job.size) if job.train else
                  transforms.Resize((job.size, job.size)))
        resize.antialias = True
        self.transform = transforms.Compose(
            [resize, transforms.RandomHorizontalFlip()] if job.train
            else [resize])

    def __getitem__(self, i):
        from torchvision.io import ImageReadMode, read_image
        path, label = self.items[i]
        image = self.transform(read_image(path, ImageReadMode.RGB))
        return image.permute(1, 2, 0).contiguous(), label, i


class Remote(Pillow):
    """Fetches over HTTP before decoding."""

    def open(self, path):
        from .connection import get
        return super().open(io.BytesIO(get(path)))


class RemoteBytes(Pillow):
    def __getitem__(self, i):
        from .connection import get
        path, label = self.items[i]
        return get(path), label, i


def bytes_collate(found):
    data, labels, indices = zip(*found)
    return data, torch.tensor(labels), torch.tensor(indices)


def passes(n):
    """Returns the indices of several passes as one epoch. The sets are small,
    and workers are idle at the end of an epoch."""
    return list(range(n)) * max(1, EPOCH // n)


def loader_of(job, dataset, workers=None, **more):
    """Makes a DataLoader. With HTTP, `workers` is the number of
    connections."""
    workers = job.workers if workers is None else workers
    return DataLoader(
        dataset, job.batch, sampler=passes(len(dataset)), num_workers=workers,
        persistent_workers=workers > 0,
        multiprocessing_context=(job.method or "fork") if workers else None,
        **more)


def iterate(loader):
    while True:
        for data, labels, indices in loader:
            yield data, labels.numpy(), indices.numpy()


def pillow(job):
    return iterate(loader_of(job, Pillow(job)))


def simplejpeg(job):
    return iterate(loader_of(job, SimpleJpeg(job)))


def tensors(job):
    return iterate(loader_of(job, TensorImages(job)))


def fetch(job):
    return iterate(loader_of(job, RemoteBytes(job), job.connections,
                             collate_fn=bytes_collate))


def fetch_images(job):
    return iterate(loader_of(job, Remote(job), job.connections))


class Numbers(IterableDataset):
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        return iter(range(self.count))


def tiny(job):
    loader = DataLoader(Numbers(job.count),
                        job.batch if job.batch > 1 else None,
                        num_workers=1, multiprocessing_context="fork")
    for found in loader:
        yield len(found) if job.batch > 1 else 1
