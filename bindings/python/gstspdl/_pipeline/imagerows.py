# gst-spdl: loader of rows of tokens with images
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""An image takes as many tokens of a row as its size demands, which its header
tells. Rows carry the files of their images, which are decoded when a batch is
complete, so that nothing is decoded that no row has."""

import itertools
import math
import warnings
from typing import (Any, Callable, Dict, Iterator, Literal, Mapping, NamedTuple,
                    Optional, Tuple, Union)

from .._arguments import check_integer
from .._errors import LoaderError, LoaderWarning
from .._loader.loader import Loader
from .._media.batch import Batch
from .._media.decode import decode, image_size
from .._media.sample import Sample
from .elements import DecodeInterpolation, Function, Path
from .tokens import list_documents, map_documents

# SPDL_MAX_SIDE
_MAX_SIDE = 65535
_Size = Tuple[int, int]
# Names of the parts with the files of a document's images, and with the number
# of bytes, the width, the height and the first token of each.
_FILES = "image_files"
_PLACES = "image_places"
_LENGTHS = "_lengths"
# Parts that all rows have.
_ROW = ("tokens", "segment_ids", "positions", "loss_mask", "cu_seqlens",
        "num_documents")
# Tensors of a batch that collate() adds.
_MADE = ("patches", "image_grids", "image_index", "image_token_start")
_TAKEN = frozenset((*_ROW, *_MADE, _FILES, _PLACES)) - {"tokens", "loss_mask"}
# A PNM of one black pixel.
_PIXEL = b"P6 1 1 255\n\0\0\0"
# Properties that llava_packing() sets.
_SET = ("width", "height", "format", "media", "part", "size_only", "views")


class _Images:
    """The rules of a model for images. Processes get copies."""

    def __init__(self, function: Function, token: int, fit: Any, patch: int,
                 limits: _Size, tokens: Optional[Callable[[int, int], int]],
                 properties: Mapping[str, Any]) -> None:
        if not callable(function):
            raise TypeError(f"tokenize={function!r} must be a function")
        self.function = function
        self.token = check_integer("image_token", token, -2**63, 2**63 - 1)
        self.fit = fit
        self.patch = check_integer("patch_size", patch, 1, _MAX_SIDE)
        self.limits = (check_integer("min_pixels", limits[0], 0, 2**63 - 1),
                       check_integer("max_pixels", limits[1], 1, 2**63 - 1))
        if limits[0] > limits[1]:
            raise ValueError(f"min_pixels={limits[0]} must not be greater than "
                             f"max_pixels={limits[1]}")
        self.tokens = tokens
        self.properties = properties
        # A wrong property would otherwise make every image black.
        if self._decode(_PIXEL, 1, 1).shape != (1, 1, 3):
            raise ValueError(f"decode_options={properties!r} must make one picture "
                             "of an image")

    def _decode(self, file: Any, width: int, height: int, **key: int) -> Any:
        return decode(file, width=width, height=height, format="RGB",
                      media="image", **key, **self.properties)

    def tokenize(self, sample: Sample) -> Optional[Dict[str, Any]]:
        """Calls the user's function, and makes room for the images."""
        import numpy as np

        result: Any = self.function(sample)
        if result is None:
            return None
        document: Dict[str, Any] = (dict(result) if isinstance(result, Mapping)
                                    else {"tokens": result})
        taken = sorted(_TAKEN.intersection(document))
        if taken:
            raise ValueError(f"the function returned {taken[0]!r}, which is the name "
                             "of a tensor that batches have: use another name")
        images = document.pop("images", None)
        # Not bytes(i), which makes zeros of a number.
        files = ([bytes(sample)] if images is None else
                 [bytes(memoryview(i)) for i in images])
        sizes = [self._find_size(file) for file in files]
        tokens = np.asarray(document["tokens"])
        if tokens.ndim != 1:
            raise ValueError(f"tokens must have one dimension, not {tokens.ndim}")
        is_image = tokens == self.token
        places = np.flatnonzero(is_image)
        if len(places) != len(files):
            raise ValueError(f"the tokens have image_token {self.token} "
                             f"{len(places)} times, but there are {len(files)} "
                             "images")
        mask = _read_mask(document.get("loss_mask", ~is_image), len(tokens))
        repeats = np.ones(len(tokens), "int64")
        repeats[places] = [self._count(*size) for size in sizes]
        begins = np.cumsum(repeats) - repeats
        document["tokens"] = np.repeat(tokens, repeats)
        # No model predicts the tokens of an image.
        document["loss_mask"] = np.repeat(mask & ~is_image, repeats)
        document[_FILES] = np.frombuffer(b"".join(files), "uint8")
        document[_PLACES] = np.array(
            [(len(file), *size, begin) for file, size, begin in
             zip(files, sizes, begins[places])], "int64").reshape(-1, 4)
        return document

    def _find_size(self, file: bytes) -> _Size:
        """Returns the width and the height to which an image is resized."""
        size = image_size(file, **{name: value for name, value in
                                   self.properties.items()
                                   if name in ("orientation", "max_pixels")})
        width, height = (self._fit_area(*size) if self.fit is None else
                         self.fit(*size) if callable(self.fit) else self.fit)
        if min(width, height) <= 0 or width % self.patch or height % self.patch:
            raise ValueError(f"an image of {size[0]} by {size[1]} pixels would be "
                             f"resized to {width} by {height}, but each side must "
                             f"be a multiple of patch_size, {self.patch}")
        if max(width, height) > _MAX_SIDE:
            raise ValueError(f"an image of {size[0]} by {size[1]} pixels would be "
                             f"resized to {width} by {height}, more than the limit "
                             f"of {_MAX_SIDE} pixels a side")
        return width, height

    def _fit_area(self, width: int, height: int) -> _Size:
        """Rounds the sides to whole patches within the limits of the area."""
        least, most = self.limits
        rounded = [round(side / self.patch) * self.patch
                   for side in (width, height)]
        area = rounded[0] * rounded[1]
        if least <= area <= most:
            return rounded[0], rounded[1]
        to, turn = (most, math.floor) if area > most else (least, math.ceil)
        scale = math.sqrt(to / (width * height))
        return (max(1, turn(width * scale / self.patch)) * self.patch,
                max(1, turn(height * scale / self.patch)) * self.patch)

    def _count(self, width: int, height: int) -> int:
        rows, columns = height // self.patch, width // self.patch
        return rows * columns if self.tokens is None else check_integer(
            "image_tokens(rows, columns)", self.tokens(rows, columns), 1, 2**31 - 1)

    def collate(self, group: Sample) -> Dict[str, Any]:
        """Stacks rows, and decodes their images to patches."""
        import numpy as np

        rows = [row.tensors for row in group.items]
        batch: Dict[str, Any] = {}
        # Other data of the user has any length. The lengths follow each.
        names = rows[0].names
        fixed = {*_ROW, *names[len(_ROW) + 1::2]}
        for name in names:
            if name.removesuffix(_LENGTHS) not in (_FILES, _PLACES):
                join: Any = np.stack if name in fixed else np.concatenate
                batch[name] = join([row[name].numpy() for row in rows])
        images = [image for i, row in enumerate(rows)
                  for image in _find_images(i, row)]
        grids = np.array([(image.height, image.width) for image in images],
                         "int32").reshape(-1, 2) // self.patch
        ends = np.cumsum(grids.prod(axis=1, dtype="int64"), dtype="int64")
        patches = np.empty((int(ends[-1]) if images else 0, self.patch,
                            self.patch, 3), "uint8")
        begin = 0
        for image, end in zip(images, ends.tolist()):
            self._draw(image, patches[begin:end], batch["loss_mask"][image.row],
                       rows[image.row])
            begin = end
        batch["patches"] = patches
        batch["image_grids"] = grids
        batch["image_index"] = np.array([i.row for i in images], "int32")
        batch["image_token_start"] = np.array([i.begin for i in images], "int32")
        return batch

    def _draw(self, image: "_Image", out: Any, mask: Any, row: Batch) -> None:
        """Writes the patches of an image, row by row."""
        side = self.patch
        try:
            pixels = self._decode(image.file, image.width, image.height,
                                  epoch=row.epoch,
                                  index=row.indices[image.document])
        except LoaderError as error:
            out[:] = 0
            mask[row["segment_ids"].numpy() == image.document + 1] = 0
            warnings.warn(LoaderWarning(
                f"{row.keys[image.document]}: an image cannot be decoded, so its "
                "pixels are 0 and the loss counts no token of its conversation: "
                f"{error}"))
            return
        rows, columns = image.height // side, image.width // side
        out.reshape(rows, columns, side, side, 3)[:] = pixels.numpy().reshape(
            rows, side, columns, side, 3).swapaxes(1, 2)


def _read_mask(mask: Any, n: int) -> Any:
    """Returns which of n tokens the loss counts."""
    import numpy as np

    mask = np.asarray(mask)
    if mask.shape != (n,) or mask.dtype.kind not in "biu":
        raise ValueError(f"loss_mask must have a bool or an integer for each of the "
                         f"{n} tokens that the function returned, but is {mask.dtype} "
                         f"of shape {mask.shape}")
    return mask != 0


class _Image(NamedTuple):
    row: int
    document: int
    file: Any
    width: int
    height: int
    begin: int  # first token in the row


def _find_images(number: int, row: Batch) -> Iterator[_Image]:
    """Finds the images of row number `number` of a batch."""
    files, ends = row[_FILES].numpy(), row["cu_seqlens"].numpy()
    places = iter(row[_PLACES].numpy().tolist())
    offset = 0
    for document, n in enumerate(row[_PLACES + _LENGTHS].numpy().tolist()):
        for n_bytes, width, height, first in itertools.islice(places, n):
            yield _Image(number, document, files[offset:offset + n_bytes],
                         width, height, int(ends[document]) + first)
            offset += n_bytes


def llava_packing(location: Path, tokenize: Function, row_length: int, *,
                  image_token: int, batch_size: int = 8, patch_size: int = 28,
                  fit: Union[_Size, Callable[[int, int], _Size], None] = None,
                  min_pixels: int = 56 * 56, max_pixels: int = 1280 * 28 * 28,
                  image_tokens: Optional[Callable[[int, int], int]] = None,
                  interpolation: DecodeInterpolation = "bicubic",
                  mode: Literal["best-fit", "pad"] = "best-fit",
                  eos_id: Optional[int] = None, pad_id: int = 0,
                  pattern: str = "*", train: bool = True, seed: int = 0,
                  drop_last: bool = False,
                  shard_mode: Literal["pad", "drop", "uneven"] = "pad",
                  concurrency: Optional[int] = None, processes: int = 0,
                  decode_options: Optional[Mapping[str, Any]] = None,
                  **options: Any) -> Loader:
    """Loads rows of conversations about images.

        def tokenize(sample):
            ids, mask = encode(json.loads(sample.extra["conversations"]))
            return {"tokens": ids, "loss_mask": mask}

        train = llava_packing("train.jsonl", tokenize, 8192, image_token=151655)

    A batch has the tensors of pretrain_tokens(), and those of its n images:
    `patches`, uint8 of (patches of all images, patch_size, patch_size, 3), the
    patches of an image row by row; `image_grids`, (n, 2): rows and columns of
    patches; `image_index`, (n,): the row of the batch that has the image;
    `image_token_start`, (n,): its first token in that row.

    `location`: a list whose items are image files, shards or a folder.
    `tokenize`: called with each item, a Sample, in several threads. Returns
    `tokens`, in which image_token stands once for each image, and if wanted
    `loss_mask`, and `images`, a list of encoded images. Without `images`, the
    item itself is the only one. The loss counts no token of an image.
    `row_length`: number of tokens in a row.
    `image_token`: token that is repeated for each token of an image.
    `batch_size`: number of rows in a batch.
    `patch_size`: side in pixels of a patch.
    `fit`: (width, height) of all images, or a function that is called with the
    width and the height of an image and returns those to which it is resized,
    multiples of patch_size. None: sides are rounded to whole patches, with at
    least min_pixels and at most max_pixels, as for Qwen2-VL.
    `image_tokens`: called with the rows and columns of patches, returns the
    number of tokens of an image. None: one for each patch.
    `interpolation`: filter for resizing.
    `mode`: "best-fit": rows have several conversations, and none is cut. "pad":
    each has a row.
    `eos_id`, `pad_id`, `pattern`, `train`, `seed`, `drop_last`, `shard_mode`: as
    for chat_packing().
    `concurrency`: number of threads that tokenize, and that decode. None: the
    number of cores.
    `processes`: number of processes that tokenize. 0: threads do.
    `decode_options`: other properties of spdldecode, such as
    {"orientation": "ignore"}.
    `options`: other arguments of Pipeline.pack(), such as window.

    A conversation that is longer than a row fails. If an image cannot be
    decoded, a LoaderWarning names it, its pixels are 0, and the loss mask of its
    conversation is 0."""
    if mode not in ("best-fit", "pad"):
        raise ValueError(f"mode={mode!r} must be 'best-fit' or 'pad', because an "
                         "image cannot be cut")
    for name in _SET:
        if name in (decode_options or {}):
            raise ValueError(f"decode_options has {name!r}, which llava_packing() "
                             "sets: remove it")
    check_integer("batch_size", batch_size, 1, 2**32 - 1)
    images = _Images(tokenize, image_token, fit, patch_size,
                     (min_pixels, max_pixels), image_tokens,
                     {"interpolation": interpolation, **(decode_options or {})})
    texts = list_documents(location, train, seed, shard_mode, pattern)
    documents = map_documents(texts, images.tokenize, concurrency, processes)
    rows = documents.pack(row_length, mode=mode, eos_id=eos_id, pad_id=pad_id,
                          **options)
    return rows.aggregate(batch_size, drop_last=drop_last).map(
        images.collate, output_order="input", concurrency=concurrency).loader()
