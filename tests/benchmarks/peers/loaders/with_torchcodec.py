# gst-spdl: torchcodec as a peer
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""torchcodec's decoders in a Dataset for DataLoader, since torchcodec has no loader of
its own."""

import torch
from torch.utils.data import Dataset
from torchcodec.decoders import AudioDecoder, VideoDecoder
from torchcodec.transforms import Resize

from .with_torch import iterate, loader_of


class Sounds(Dataset):
    def __init__(self, job):
        self.job, self.items = job, job.items()

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        decoder = AudioDecoder(self.items[i].path, num_channels=1,
                               sample_rate=self.job.rate)
        return decoder.get_all_samples().data.T, self.items[i].label, i


class Clips(Sounds):
    """Decodes the middle frame of each of a number of segments."""

    def __getitem__(self, i):
        job = self.job
        decoder = VideoDecoder(
            self.items[i].path, dimension_order="NHWC", num_ffmpeg_threads=1,
            transforms=[Resize((job.size, job.size))])
        n = len(decoder)
        frames = decoder.get_frames_at([(2 * k + 1) * n // (2 * job.frames)
                                        for k in range(job.frames)])
        return frames.data, self.items[i].label, i


def pad(found):
    data, labels, indices = zip(*found)
    return (torch.nn.utils.rnn.pad_sequence(data, batch_first=True),
            torch.tensor(labels), torch.tensor(indices))


def sounds(job):
    return iterate(loader_of(job, Sounds(job), collate_fn=pad))


def clips(job):
    return iterate(loader_of(job, Clips(job)))
