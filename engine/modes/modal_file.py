"""The modal-data file: a NumPy archive (.npz) of named arrays with its format, version and units inside.

docs/how-to/modes.md lists every array. Nothing in the file is executed: arrays of objects are refused.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.modes.data import ModalData
from limberjack.engine.modes.modal_fields import Stress
from limberjack.engine.modes.numpy_archive import check_archive

FORMAT, VERSION = "limberjack modal data", 1
UNITS = {
    "positions": "m",
    "masses": "kg",
    "centres": "m",
    "inertias": "kg*m^2",
    "shapes": "rad and m per unit modal coordinate",
    "mass": "J*s^2 per unit modal coordinate squared",
    "stiffness": "J per unit modal coordinate squared",
    "damping": "1",
}
_HEAD = ("format", "version", "units")

_TEXTS = ("name", "source", "kind", "inboard")
_NAMES = ("interface", "node_names")
_WITH_DEFAULT = ("node_names", "node_ids", "axes", "centres", "inertias")
_OPTIONAL = ("rigid", "participation", "foreshortening", "lines", *_WITH_DEFAULT)
_STRESS = tuple(f"stress_{item.name}" for item in fields(Stress))
_ARRAYS = tuple(item.name for item in fields(ModalData) if item.name not in (*_TEXTS, *_NAMES, "stress"))


def write_modal_data(data: ModalData, path: str | Path) -> Path:
    """Write modal data; the whole file or none of it. Returns its path.

    data : the modal data;  path : the file, ending in .npz. Raises ModelError for another suffix, OSError
    """
    path = Path(path)
    check_suffix(path)
    content: dict[str, Any] = {"format": FORMAT, "version": VERSION, "units": json.dumps(UNITS)}
    content |= {name: getattr(data, name) for name in _TEXTS}
    content |= {name: np.array(getattr(data, name), dtype=np.str_) for name in _NAMES}
    content |= {name: getattr(data, name) for name in _ARRAYS if getattr(data, name) is not None}
    if data.stress is not None:
        content |= {f"stress_{item.name}": getattr(data.stress, item.name) for item in fields(Stress)}
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with draft.open("wb") as stream:
            np.savez_compressed(stream, **content)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return path


def read_modal_data(path: str | Path) -> ModalData:
    """The modal data of a file.

    path : the file, .npz. Raises ModelError with file, array, cause and remedy for whatever does not fit
    """
    path = Path(path)
    check_suffix(path)
    arrays = _arrays(path)
    given: dict[str, Any] = {name: _text(path, name, arrays[name]) for name in _TEXTS}
    given |= {name: _names(path, name, arrays[name]) for name in _NAMES if name in arrays}
    given |= {name: _numbers(path, name, arrays[name]) for name in _ARRAYS if name in arrays}
    given["stress"] = _stress(path, arrays)
    nodes = np.shape(given["shapes"])[0] if np.ndim(given["shapes"]) else 0
    given.setdefault("node_ids", np.arange(1, nodes + 1))
    given.setdefault("node_names", ("",) * nodes)
    given.setdefault("axes", np.tile(np.eye(3), (nodes, 1, 1)))
    given.setdefault("centres", np.zeros((nodes, 3)))
    given.setdefault("inertias", np.zeros((nodes, 3, 3)))
    try:
        return ModalData(**given)
    except ModelError as error:
        field = error.where.removeprefix(f"modal data '{given['name']}', ")
        raise ModelError(error.what, where=f"{path}, {field}", remedy=error.remedy) from None


def _fail(path: Path, place: str, what: str, remedy: str) -> NoReturn:
    raise ModelError(what, where=f"{path}, {place}" if place else str(path), remedy=remedy)


def check_suffix(path: Path) -> None:
    """ModelError for a name that is not that of modal data."""
    if path.suffix.lower() != ".npz":
        _fail(path, "", "modal data are a NumPy archive", "Give a file name that ends in .npz")


def _arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file; its head and the names of all are checked before the others are unpacked."""
    try:
        check_archive(path)
        with np.load(path, allow_pickle=False) as archive:
            head = {name: archive[name] for name in _HEAD if name in archive.files}
            _check_header(path, head)
            _check_names(path, archive.files)
            return {name: archive[name] for name in archive.files}
    except ModelError:
        raise
    except (zipfile.BadZipFile, ValueError, EOFError, KeyError, OSError, MemoryError, NotImplementedError) as error:
        return _fail(path, "", f"is not a readable NumPy archive: {error}", "Write it again with 'limberjack modes'")
    except Exception as error:  # zlib.error and struct.error of a damaged archive have no common base
        return _fail(path, "", f"is a damaged NumPy archive: {error}", "Write it again with 'limberjack modes'")


def _check_names(path: Path, given: Sequence[str]) -> None:
    known = {*_HEAD, *_TEXTS, *_NAMES, *_ARRAYS, *_STRESS}
    for name in given:
        if name not in known:
            _fail(path, name, "is not an array of this format", "Remove it, or see docs/how-to/modes.md for the names")
    for name in (*_TEXTS, *_NAMES, *_ARRAYS):
        if name not in given and name not in _OPTIONAL:
            _fail(path, name, "is missing", "Add this array; nothing is assumed for it")


def _check_header(path: Path, arrays: dict[str, np.ndarray]) -> None:
    if "format" not in arrays or str(arrays["format"]) != FORMAT:
        remedy = f"Give a file of 'limberjack modes', or add format = '{FORMAT}' to a file as in docs/how-to/modes.md"
        _fail(path, "format", "the archive does not say that it holds modal data", remedy)
    if "version" not in arrays or str(arrays["version"]) != str(VERSION):
        version = arrays.get("version", "none")
        _fail(path, "version", f"is {version}, but this version reads {VERSION}", "Write the file again")
    if "units" not in arrays:
        _fail(path, "units", "is missing", f"Add units as JSON text: {json.dumps(UNITS)}")
    try:
        units = json.loads(str(arrays["units"]))
    except ValueError:
        units = None
    if not isinstance(units, dict):
        _fail(path, "units", "is not a JSON mapping of arrays to units", f"Write {json.dumps(UNITS)}")
    for name, unit in UNITS.items():
        if units.get(name) != unit:
            what = f"{name} are said to be in {units.get(name)!r}, but must be in {unit!r}"
            _fail(path, "units", what, "Convert the array to SI units, then say so here")


def _text(path: Path, name: str, array: np.ndarray) -> str:
    if array.dtype.kind != "U" or array.shape != ():
        _fail(path, name, "is not text", "Give one text")
    return str(array)


def _names(path: Path, name: str, array: np.ndarray) -> tuple[str, ...]:
    if array.ndim != 1 or (array.size and array.dtype.kind != "U"):
        _fail(path, name, "is not a list of names", "Give a one-dimensional array of texts")
    return tuple(str(item) for item in array)


def _numbers(path: Path, name: str, array: np.ndarray) -> np.ndarray:
    if array.dtype.kind not in "iuf":
        _fail(path, name, f"holds {array.dtype}, not numbers", "Give real numbers")
    if name in ("node_ids", "stress_nodes", "lines"):
        if array.dtype.kind == "f" and not np.all(array == np.round(array)):
            _fail(path, name, "holds numbers that are not whole", "Give whole numbers")
        return array.astype(np.int64)
    return np.ascontiguousarray(array, dtype=np.float64)


def _stress(path: Path, arrays: dict[str, np.ndarray]) -> Stress | None:
    given = [name for name in _STRESS if name in arrays]
    if not given:
        return None
    for name in _STRESS:
        if name not in arrays:
            _fail(path, name, "is missing, but other arrays of the stress stiffness are given", "Give all five or none")
    return Stress(**{name.removeprefix("stress_"): _numbers(path, name, arrays[name]) for name in _STRESS})
