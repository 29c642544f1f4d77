# gst-spdl: contact sheets of batches, for notebooks
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import base64
import html
import struct
import zlib
from typing import Any, Optional

# Pictures in a sheet, and the longest side of one in pixels.
_MAX_PICTURES = 32
_MAX_SIDE = 128


def make_sheet(batch: Any) -> Optional[str]:
    """Returns HTML with the first pictures of a batch, each with its label and
    the end of its path. None if the batch has no pictures in the memory of the
    CPU, or NumPy is missing."""
    pictures = None
    for name in batch.names:
        try:
            pictures = _find_pictures(batch[name])
        except (ImportError, TypeError):  # on a GPU, or bfloat16
            return None
        if pictures is not None:
            break
    if pictures is None:
        return None
    more = batch.num_items - len(pictures)
    return (f"<div>{html.escape(repr(batch))}</div>"
            '<div style="display:flex;flex-wrap:wrap;gap:8px">' + "".join(
                _write_figure(picture, batch, i)
                for i, picture in enumerate(pictures)) + "</div>" +
            (f"<div>and {more} more</div>" if more > 0 else ""))


def _find_pictures(tensor: Any) -> Any:
    """Returns small uint8 pictures of (number, height, width, channels), or None if
    the tensor contains no pictures. A clip becomes its middle frame."""
    import numpy as np

    pixels = np.asarray(tensor)[:_MAX_PICTURES]
    if pixels.ndim == 5:
        pixels = pixels[:, pixels.shape[1] // 2]
    if pixels.ndim != 4 or pixels.dtype.kind not in "uf" or not pixels.size:
        return None
    if pixels.shape[3] not in (1, 3):
        pixels = np.moveaxis(pixels, 1, 3)
    if pixels.shape[3] not in (1, 3):
        return None
    step = -(-max(pixels.shape[1:3]) // _MAX_SIDE)
    pixels = pixels[:, ::step, ::step]
    if pixels.dtype != np.uint8:
        # The batch does not know which mean and std were applied.
        pixels = np.nan_to_num(pixels.astype(np.float32))
        lowest, highest = pixels.min(), pixels.max()
        pixels = np.rint((pixels - lowest) * (255 / max(highest - lowest, 1e-9)))
    return pixels.astype(np.uint8)


def _write_figure(picture: Any, batch: Any, i: int) -> str:
    height, width = picture.shape[:2]
    key = batch.keys[i]
    data = base64.b64encode(_write_png(picture)).decode()
    end = "/".join(key.split("/")[-2:])
    return (f'<figure style="margin:0;width:{max(width, 64)}px">'
            f'<img src="data:image/png;base64,{data}" width="{width}" '
            f'height="{height}" title="{html.escape(key)}">'
            '<figcaption style="font-size:10px;overflow-wrap:anywhere">'
            f"<b>{_describe_label(batch, i)}</b> {html.escape(end)}"
            "</figcaption></figure>")


def _describe_label(batch: Any, i: int) -> str:
    """Returns the class, or the shares of the classes of a mixed label."""
    if "labels" in batch.names:
        import numpy as np

        label = np.asarray(batch["labels"])[i]
        if label.ndim == 1 and label.dtype.kind == "f":
            # Smoothing adds a small share of all classes.
            return ", ".join(f"{c}: {label[c]:.2f}"
                             for c in np.argsort(-label)[:2] if label[c] > 0.05)
    label = batch.labels[i]
    return str(label) if label >= 0 else ""


def _write_png(picture: Any) -> bytes:
    height, width, channels = picture.shape
    rows = b"".join(b"\0" + row.tobytes() for row in picture)
    header = struct.pack(">IIBBBBB", width, height, 8, 2 if channels == 3 else 0,
                         0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data +
        struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in ((b"IHDR", header), (b"IDAT", zlib.compress(rows)),
                           (b"IEND", b"")))
