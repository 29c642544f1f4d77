# gst-spdl: DataLoader for Hugging Face Accelerate and Trainer
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""DataLoader for Hugging Face Accelerate and Trainer.

    import gstspdl.accelerate

    gstspdl.accelerate.use()
    loader = accelerator.prepare(torch.utils.data.DataLoader(dataset, ...))

Accelerate makes a new loader from the one that prepare() or skip_first_batches()
gets, always of PyTorch's class. After use(), Accelerate makes a
gstspdl.torch.DataLoader. Trainer calls prepare() itself.
"""

from accelerate import __version__ as _version
from accelerate import data_loader as _module
import torch.utils.data

from ._dataloader.dataloader import DataLoader

#: what Accelerate makes without use()
_theirs = getattr(_module, "DataLoader", None)


def use() -> None:
    """Lets Accelerate make gstspdl.torch.DataLoader in this process, from now
    on, whatever class a script gives it. Calling it again does nothing.

    With use_stateful_dataloader=True, Accelerate still makes loaders of torchdata.

    Raises RuntimeError if this version of Accelerate makes its loaders in an
    unknown way."""
    if _theirs is not torch.utils.data.DataLoader:
        raise RuntimeError(
            f"gstspdl.accelerate.use() does not know how Accelerate {_version} "
            "makes its loaders: update gstspdl, or iterate "
            "gstspdl.torch.DataLoader without prepare()")
    _module.DataLoader = DataLoader


def is_used() -> bool:
    """Returns whether use() was called."""
    return _module.DataLoader is DataLoader
