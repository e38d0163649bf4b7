"""NumPy archives (.npz), looked at before they are unpacked: number, size and shape of their arrays."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.files.bounded_file import check_zip

#: bytes of a file of finite-element data, and of its arrays unpacked
MOST_BYTES = 2 * 1024**3
MOST_ARRAYS = 200
_SMALLER = f"Keep fewer nodes or modes: at most {MOST_BYTES >> 30} GiB"


def check_archive(path: Path) -> None:
    """ModelError for an archive that unpacks to more than MOST_BYTES or whose arrays are not as long as they say.

    Raises what `zipfile` and NumPy raise for damaged ones.
    """
    check_zip(path, MOST_BYTES, MOST_ARRAYS)
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        size = sum(item.file_size for item in members)
        if len(members) > MOST_ARRAYS:
            raise ModelError(
                f"holds more than {MOST_ARRAYS} arrays", where=str(path), remedy="Remove what is not needed"
            )
        if size > MOST_BYTES:
            raise ModelError(f"unpacks to {size / 1e9:.1f} GB", where=str(path), remedy=_SMALLER)
        for item in members:
            if item.filename.endswith(".npy"):
                _check_length(path, archive, item)


def _check_length(path: Path, archive: zipfile.ZipFile, item: zipfile.ZipInfo) -> None:
    """An array's header is checked before NumPy sets memory aside for it."""
    with archive.open(item) as stream:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(stream)
    if math.prod(shape) * dtype.itemsize > item.file_size and not dtype.hasobject:
        where = f"{path}, {item.filename.removesuffix('.npy')}"
        what = f"says that it has the shape {shape}, but is shorter"
        raise ModelError(what, where=where, remedy="Write the file again")
