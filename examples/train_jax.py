#!/usr/bin/python3
# gst-spdl: training with JAX, with batches through DLPack
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""    train_jax.py TRAIN

TRAIN contains a folder of images for each class. JAX receives the images without
a copy, and compiles the step once, because all batches have the same shape.
"""

import argparse
from typing import Any, Tuple

import jax
import jax.numpy as jnp

from gstspdl import image_folder


def loss_of(weights: Any, images: Any, labels: Any) -> Any:
    scores = images.reshape(len(images), -1) @ weights
    return -jnp.mean(jax.nn.log_softmax(scores)[jnp.arange(len(labels)),
                                                labels])


@jax.jit  # type: ignore[misc]
def step(weights: Any, images: Any, labels: Any) -> Tuple[Any, Any]:
    loss, gradient = jax.value_and_grad(loss_of)(weights, images, labels)
    return weights - 0.001 * gradient, loss


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("train")
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=2)
    options = parser.parse_args()

    with image_folder(options.train, size=options.size, seed=1,
                      batch_size=options.batch_size,
                      drop_last=True) as loader:
        weights = jnp.zeros((3 * options.size**2, len(loader.classes or ())))
        for epoch in range(options.epochs):
            for batch in loader:
                images = jax.dlpack.from_dlpack(batch["data"])
                labels = jnp.array(batch.labels, dtype=jnp.int32)
                weights, loss = step(weights, images, labels)
            print(f"epoch {epoch}: loss {float(loss):.3f}")


if __name__ == "__main__":
    main()
