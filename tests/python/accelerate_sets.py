# gst-spdl: datasets of accelerate_rank.py, in a module that workers import
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Datasets of accelerate_rank.py."""

import torch
from torch.utils.data import Dataset, IterableDataset


class Numbers(Dataset):
    def __len__(self):
        return 22

    def __getitem__(self, i):
        return {"x": torch.tensor([float(i), 1]), "labels": i % 2}


class Stream(IterableDataset):
    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        step = info.num_workers if info else 1
        for i in range(info.id if info else 0, 22, step):
            yield {"x": torch.tensor([float(i), 1])}
