"""The files that an MJCF file names, looked at before MuJoCo opens them.

MuJoCo opens whatever is there: a named pipe would hold it for ever, and a small picture can unpack to gigabytes.
"""

from __future__ import annotations

import contextlib
import struct
import zlib
from pathlib import Path

from limberjack.engine.common.errors import ModelError
from limberjack.engine.files.bounded_file import is_special, is_there, size_of
from limberjack.engine.files.xml_document import Element

#: bytes of one mesh, height field, texture or skin, and of all together
MOST_BYTES = 32 * 1024 * 1024
MOST_TOTAL = 4 * MOST_BYTES
#: folders that <compiler> elements may name
MOST_FOLDERS = 32
#: picture elements of a texture or height field
MOST_PIXELS = 1 << 26

_FOLDERS = ("meshdir", "texturedir", "assetdir")
_PNG = b"\x89PNG\r\n\x1a\n"
_SMALLER = "Give a smaller file"
_PIECE = 1 << 20


class Assets:
    """Files by the element that names them, and the folders in which MuJoCo may look for them."""

    def __init__(self, folder: Path) -> None:
        self._folders = {folder: None}
        self._inside = {"": None}
        self._named: dict[str, Element] = {}
        self._total = 0

    def see(self, element: Element, folder: Path) -> None:
        """Note what an element of a file in ``folder`` names."""
        self._folders[folder] = None
        for name, value in element.attributes.items():
            if name.startswith("file") and value.strip():
                self._named.setdefault(value.strip(), element)
            elif element.tag == "compiler" and name in _FOLDERS:
                self._inside[value.strip()] = None
        if len(self._inside) > MOST_FOLDERS or len(self._folders) > MOST_FOLDERS:
            element.fail(f"the model is spread over more than {MOST_FOLDERS} folders", "Keep its files together")

    def check(self) -> None:
        """ModelError for a file that is none, or too large; a missing one is left for MuJoCo to report."""
        seen: set[Path] = set()
        for name, element in self._named.items():
            found = [path for path in self._places(name) if path not in seen and is_there(path)]
            seen.update(found)
            files = [path for path in found if path.is_file()]
            for path in found:
                if is_special(path) or not files:
                    self._bounded(path, element)
            for path in files:
                self._bounded(path, element)
                _check_picture(path, element)

    def _places(self, name: str) -> dict[Path, None]:
        """Where MuJoCo may look for a file; with strippath="true" without the folder in its name."""
        ends = dict.fromkeys((name, Path(name.replace("\\", "/")).name))
        return {folder / inside / end: None for folder in self._folders for inside in self._inside for end in ends}

    def _bounded(self, path: Path, element: Element) -> None:
        try:
            self._total += size_of(path, MOST_BYTES, _SMALLER)
        except ModelError as error:
            element.fail(f"{path}: {error.what}", error.remedy)
        if self._total > MOST_TOTAL:
            element.fail(f"the files of the model have more than {MOST_TOTAL >> 20} MiB", _SMALLER)


def _check_picture(path: Path, element: Element) -> None:
    """ModelError for a PNG file of more than MOST_PIXELS, or that unpacks to more than its points."""
    content = path.read_bytes() if path.suffix.lower() == ".png" else b""
    if content[:8] != _PNG or len(content) < 33:
        return
    width, height, depth = struct.unpack_from(">IIB", content, 16)
    if width * height > MOST_PIXELS:
        element.fail(f"{path}: the picture has {width} x {height} points, more than {MOST_PIXELS}", _SMALLER)
    most = 4 * max(1, depth // 8) * width * height + 8 * height + 64  # four channels, a filter byte a line and pass
    if _unpacks_beyond(content, most):
        element.fail(f"{path}: the picture unpacks to more than its {width} x {height} points", "Write it again")


def _unpacks_beyond(content: bytes, most: int) -> bool:
    """Whether the data of a PNG file are more than ``most`` bytes."""
    unpack, place = zlib.decompressobj(), 8
    with contextlib.suppress(zlib.error, struct.error):  # MuJoCo says what is damaged
        while place + 12 <= len(content):
            size, kind = struct.unpack_from(">I4s", content, place)
            data = content[place + 8 : place + 8 + size] if kind == b"IDAT" else b""
            while data and most >= 0:
                most -= len(unpack.decompress(data, _PIECE))
                data = unpack.unconsumed_tail
            place += 12 + size
    return most < 0
