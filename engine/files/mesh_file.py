"""Files of meshes: where they lie, and the corners and faces of those of type STL (binary or text) and OBJ."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.files.bounded_file import read_bytes
from limberjack.engine.files.numbers import LARGEST

#: files of meshes that views draw, by suffix
MESHES = (".stl", ".obj", ".dae")
#: those that are read here
READ = (".stl", ".obj")
_MOST_BYTES = 4 << 20
_STL = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
_STL_HEAD = 84


def find_mesh(file: str, source: str) -> Path | None:
    """The file of a mesh that a model in ``source`` names: absolute, beside it, file:// or package://."""
    folder = Path(source).absolute().parent
    if not file.lower().endswith(MESHES):
        return None
    if not file.startswith("package://"):
        path = folder / file.removeprefix("file://")
        return path if path.is_file() else None
    inside = file.removeprefix("package://").lstrip("/")  # of what others write, package:///…
    roots = [Path(each) for each in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if each]
    found = (root / inside for root in (folder, *folder.parents, *roots))
    return next((path for path in found if path.is_file()), None)


def read_mesh(path: Path) -> tuple[np.ndarray, list[list[int]]]:
    """(corners (V, 3) in the file's unit, faces: their corners by place). Corners of STL are one for each triangle.

    Raises ModelError for a file that cannot be read, is not such a mesh or is larger than 4 MiB.
    """
    data = read_bytes(path, _MOST_BYTES, "Make the mesh coarser: contacts need few corners")
    try:
        corners, faces = _stl(data) if path.suffix.lower() == ".stl" else _obj(data.decode("utf-8", "replace"))
    except (ValueError, IndexError) as error:
        what, remedy = f"this is not a mesh: {error}", "Write it again, as binary STL for example"
        raise ModelError(what, where=str(path), remedy=remedy) from None
    if not faces:
        raise ModelError("the mesh has no faces", where=str(path), remedy="Write its surface, as triangles")
    if not (np.abs(corners) <= LARGEST).all():
        what = "the mesh has coordinates that are not finite numbers"
        raise ModelError(what, where=str(path), remedy="Write the mesh again")
    return corners, faces


def _stl(data: bytes) -> tuple[np.ndarray, list[list[int]]]:
    """Binary if the number of triangles in the header fits the length: some binary files begin with "solid" too."""
    count = int.from_bytes(data[_STL_HEAD - 4 : _STL_HEAD], "little")
    if len(data) >= _STL_HEAD and len(data) == _STL_HEAD + _STL.itemsize * count:
        corners = np.frombuffer(data, _STL, offset=_STL_HEAD)["corners"].astype(float).reshape(-1, 3)
    else:
        words = data.decode("ascii", "replace").split()
        if not words or words[0].lower() != "solid":
            raise ValueError("its length does not fit the number of triangles in its header, and it is not text")
        places = [i for i, word in enumerate(words) if word.lower() == "vertex"]
        corners = np.array([[float(x) for x in words[i + 1 : i + 4]] for i in places]).reshape(-1, 3)
    if len(corners) % 3:
        raise ValueError("its last triangle is incomplete")
    return corners, np.arange(len(corners)).reshape(-1, 3).tolist()


def _obj(text: str) -> tuple[np.ndarray, list[list[int]]]:
    corners: list[list[float]] = []
    faces = []
    for line in text.replace("\\\n", " ").splitlines():
        words = line.split()
        if words and words[0] == "v":
            x, y, z = (float(word) for word in words[1:4])
            corners.append([x, y, z])
        elif words and words[0] == "f":
            places = [int(word.split("/")[0]) for word in words[1:]]
            faces.append([place - 1 if place > 0 else len(corners) + place for place in places])
            if len(places) < 3 or min(faces[-1]) < 0:
                raise ValueError(f"the face '{line.strip()[:60]}' does not have three valid corners")
    if faces and max(max(face) for face in faces) >= len(corners):
        raise ValueError("a face names a corner that the file does not have")
    return np.array(corners).reshape(-1, 3), faces
