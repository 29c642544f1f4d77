# gst-spdl: training recipes by name
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Arguments of datasets that published recipes use. docs/reference/spdlaugment.md
lists them as pipelines."""

from typing import Any, Dict, Literal, Optional

from .._arguments import suggest

RecipeName = Literal["torchvision-resnet50-v2", "timm-a1", "timm-a2", "timm-a3",
                     "deit", "simclr", "open-clip", "cifar10"]

# "validation" has what differs in validation. Arguments that only training has
# are ignored there.
_Recipe = Dict[str, Any]


def _timm(augment: str, mixup: float, cutmix: float = 1.0, smoothing: float = 0.0,
          **more: Any) -> _Recipe:
    return {"interpolation": "bicubic", "augment": augment, "mixup_alpha": mixup,
            "cutmix_alpha": cutmix, "label_smoothing": smoothing, **more}


# timm resizes to 235 of 224 / 0.95 = 235.8 pixels.
_A = {"crop": 224 / 235}

_RECIPES: Dict[str, _Recipe] = {
    "torchvision-resnet50-v2": {
        "size": 176, "augment": "trivial-augment-wide", "mixup_alpha": 0.2,
        "cutmix_alpha": 1.0, "label_smoothing": 0.1, "erase_prob": 0.1,
        "validation": {"size": 224, "crop": 224 / 232}},
    "timm-a1": _timm("rand-m7-mstd0.5-inc1", 0.2, smoothing=0.1, **_A),
    "timm-a2": _timm("rand-m7-mstd0.5-inc1", 0.1, **_A),
    "timm-a3": _timm("rand-m6-mstd0.5-inc1", 0.1, size=160,
                     validation={"size": 224, **_A}),
    "deit": _timm("rand-m9-mstd0.5-inc1", 0.8, smoothing=0.1, erase_prob=0.25,
                  erase_noise=True),
    "simclr": {
        "augment": "color-jitter(brightness=0.8,contrast=0.8,saturation=0.8,"
                   "hue=0.2,p=0.8); grayscale(p=0.2); "
                   "gaussian-blur(kernel-size=23,p=0.5)"},
    "open-clip": {
        "interpolation": "bicubic", "crop_scale": (0.9, 1.0), "flip": 0.0,
        "mean": (0.48145466, 0.4578275, 0.40821073),
        "std": (0.26862954, 0.26130258, 0.27577711), "crop": 1.0},
    "cifar10": {
        "size": 32, "crop_scale": None, "flip": 0.0, "crop": 1.0,
        "augment": "random-crop(size=32,padding=4); horizontal-flip; "
                   "auto-augment(cifar10)",
        "mean": (0.4914, 0.4822, 0.4465), "std": (0.2470, 0.2435, 0.2616)},
}


def find_recipe(name: Optional[str], train: bool) -> _Recipe:
    """Returns the arguments of a recipe for training or validation. Returns no
    arguments for None."""
    if name is None:
        return {}
    if name not in _RECIPES:
        raise ValueError(
            f"recipe={name!r} must be one of {', '.join(map(repr, _RECIPES))}"
            f"{suggest(str(name), _RECIPES)}")
    recipe = dict(_RECIPES[name])
    validation = recipe.pop("validation", {})
    return recipe if train else {**recipe, **validation}
