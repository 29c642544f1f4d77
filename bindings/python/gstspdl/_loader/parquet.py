# gst-spdl: Parquet files as the dataset of a loader
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import fnmatch
import os
import sys
from typing import Any, List, Optional, Sequence, Tuple

from .._errors import LoaderError
from .._media.sample import uri_of

_ENDING = ".parquet"
_WILDCARDS = "*?["
# Footers that are read at the same time.
_MAX_FOOTERS = 16


def is_dataset(source: Any) -> bool:
    """Returns whether the source is a Dataset of pyarrow."""
    module = sys.modules.get("pyarrow.dataset")
    return module is not None and isinstance(source, module.Dataset)


def is_location(location: str, pattern: str) -> bool:
    """Returns whether a location of spdlsrc has Parquet files: their path, a
    pattern of paths, or a folder with such a pattern of names."""
    return (location.rstrip("/").endswith(_ENDING) or
            (location != "" and pattern.endswith(_ENDING)))


def open_location(location: str, pattern: str) -> Any:
    """Returns a Dataset of the files."""
    try:
        import pyarrow.dataset
    except ImportError as error:
        raise LoaderError(
            f"\"{location}\" cannot be read without the package pyarrow: "
            "install it with pip install pyarrow", code="source") from error
    try:
        filesystem, path = _find_filesystem(location)
        paths, partitioning = _list_files(filesystem, path, pattern)
        if not paths:
            raise FileNotFoundError("no Parquet file matches it")
        # Joined requests are faster for servers, but cost a copy of local files.
        file_format = pyarrow.dataset.ParquetFileFormat(
            pre_buffer=filesystem.type_name != "local")
        # Names of folders above the location must not become columns.
        return pyarrow.dataset.dataset(
            paths, format=file_format, filesystem=filesystem,
            partitioning=partitioning,
            partition_base_dir=path if partitioning else None)
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        raise LoaderError(
            f"\"{location}\" cannot be read as Parquet files: {error}",
            code="source") from error


def _find_filesystem(location: str) -> Tuple[Any, str]:
    from pyarrow import fs

    text = uri_of(location)
    if text.startswith("/"):
        return fs.LocalFileSystem(), text.rstrip("/") or "/"
    # FileSystem.from_uri() refuses wildcards.
    plain = location[:_find_wildcard(location)]
    filesystem, path = fs.FileSystem.from_uri(plain)
    if plain == location:
        return filesystem, path
    end = "/" if plain.endswith("/") and not path.endswith("/") else ""
    return filesystem, path + end + location[len(plain):]


def _find_wildcard(text: str) -> int:
    return min((text.find(c) for c in _WILDCARDS if c in text),
               default=len(text))


def _list_files(filesystem: Any, path: str,
                pattern: str) -> Tuple[List[str], Optional[str]]:
    """Returns the files in a reproducible order, and the scheme of their
    folders."""
    from pyarrow import fs

    wildcard = _find_wildcard(path)
    kind = filesystem.get_file_info(path).type
    # A name may have brackets.
    if wildcard < len(path) and kind == fs.FileType.NotFound:
        folder = path[:path.rfind("/", 0, wildcard)]
        found = _list_folder(filesystem, folder, path.find("/", wildcard) > 0)
        return [file for file in found if _matches(file, path)], None
    if kind != fs.FileType.Directory:
        return [path], None
    name = pattern if pattern.endswith(_ENDING) else "*" + _ENDING
    found = _list_folder(filesystem, path, True)
    return [file for file in found if fnmatch.fnmatchcase(
        os.path.basename(file).lower(), name.lower())], "hive"


def _list_folder(filesystem: Any, folder: str, recursive: bool) -> List[str]:
    """Returns the files in a folder, without files and folders whose names begin
    like those of temporary files."""
    from pyarrow import fs

    infos = filesystem.get_file_info(
        fs.FileSelector(folder, recursive=recursive))
    return sorted(info.path for info in infos
                  if info.type == fs.FileType.File and not any(
                      name.startswith((".", "_"))
                      for name in info.path[len(folder):].split("/")))


def _matches(path: str, pattern: str) -> bool:
    names, patterns = path.split("/"), pattern.split("/")
    return len(names) == len(patterns) and all(
        map(fnmatch.fnmatchcase, names, patterns))


def _uri_of(fragment: Any) -> str:
    kind = fragment.filesystem.type_name
    if kind == "local":
        import pathlib

        return pathlib.Path(fragment.path).absolute().as_uri()
    return f"{kind.rpartition('+')[2]}://{fragment.path}"


class RowGroups:
    """The row groups of a Dataset, which are the parts of a table."""

    def __init__(self, dataset: Any) -> None:
        # Most programs read no Parquet, and do not need to wait for this.
        from concurrent.futures import ThreadPoolExecutor

        self._schema = dataset.schema
        fragments = list(dataset.get_fragments())
        for fragment in fragments:
            if not hasattr(fragment, "ensure_complete_metadata"):
                raise TypeError(
                    "the dataset contains files that are not Parquet: pass a "
                    "table, such as dataset.to_table(), or an object whose "
                    "__arrow_c_stream__() returns a stream of its rows")
        with ThreadPoolExecutor(_MAX_FOOTERS) as pool:
            groups = list(pool.map(_read_groups, fragments))
        self._groups = [(fragment, group.id)
                        for fragment, of_one in zip(fragments, groups)
                        for group in of_one]
        #: the numbers of rows and bytes of each
        self.sizes = [(group.num_rows, group.total_byte_size)
                      for of_one in groups for group in of_one]

    def open(self, part: int, columns: Optional[Sequence[str]]) -> Any:
        """Returns the capsule of a stream of a row group; -1: of one without
        rows."""
        if part < 0:
            table = self._schema.empty_table()
            if columns is not None:
                table = table.select(columns)
        else:
            fragment, group = self._groups[part]
            # The thread that calls has nothing else to do.
            table = fragment.subset(row_group_ids=[group]).to_table(
                schema=self._schema, columns=columns, use_threads=False)
        return table.__arrow_c_stream__()

    def describe(self, part: int) -> str:
        if part < 0:
            return "the schema"
        fragment, group = self._groups[part]
        return f"{_uri_of(fragment)}, row group {group}"


def _read_groups(fragment: Any) -> List[Any]:
    """Reads the footer of a file."""
    try:
        fragment.ensure_complete_metadata()
        return list(fragment.row_groups)
    except (OSError, ValueError) as error:
        raise LoaderError(f"{_uri_of(fragment)} is not a complete Parquet "
                          f"file: {error}", code="source") from error


def get_classes(dataset: Any, label: str) -> Optional[List[str]]:
    """Returns the class names that Hugging Face datasets write, or None."""
    import json

    text = (dataset.schema.metadata or {}).get(b"huggingface")
    try:
        features = json.loads(text or "{}")["info"]["features"]
        names = features[label]["names"]
    except (ValueError, LookupError, TypeError):
        return None
    return list(map(str, names)) if isinstance(names, list) else None
