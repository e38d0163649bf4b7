"""Matrices and arrays from files: Matrix Market (.mtx), NumPy (.npz, .npy), HDF5 (.h5:dataset), tables (.csv)."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from limberjack.engine.common.errors import MissingExtraError, ModelError
from limberjack.engine.files.bounded_file import size_of
from limberjack.engine.modes.numpy_archive import MOST_BYTES, check_archive

#: most rows of a matrix
MOST_ROWS = 5_000_000


def read_matrix(name: str, folder: Path) -> Any:
    """A square symmetric sparse matrix (CSR, float64). ModelError with file, cause and remedy.

    `name` is "K.mtx", "K.npz" (scipy.sparse.save_npz, or one array), "model.npz:K" or "model.h5:group/K": a dense
    dataset, or a group of data, indices, indptr (compressed sparse rows).
    """
    import scipy.sparse

    path, part = _split(name, folder)
    found = _guarded(path, lambda: _READERS[path.suffix.lower()](path, part))
    matrix = scipy.sparse.csr_matrix(found)
    if np.iscomplexobj(matrix) or matrix.dtype.kind not in "iuf":
        _fail(path, part, f"holds {matrix.dtype}", "Give a real matrix")
    if matrix.shape[0] != matrix.shape[1]:
        _fail(path, part, f"has the shape {matrix.shape}", "Give a square matrix")
    matrix = matrix.astype(np.float64)
    if not np.all(np.isfinite(matrix.data)):
        _fail(path, part, "holds numbers that are not finite", "Write it again")
    size = abs(matrix).max()
    if abs(matrix - matrix.T).max() > 1e-8 * size:
        remedy = "Give the whole matrix, or a Matrix Market file that says 'symmetric'"
        _fail(path, part, "is not symmetric", remedy)
    return (0.5 * (matrix + matrix.T)).tocsr()


def read_nodes(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Ids (N,) and positions (N, 3) of a .csv with columns id, x, y, z, of the *NODE blocks of an .inp file, or of an
    array (N, 3) with ids 1, 2, …"""
    path, part = _split(name, folder)
    if path.suffix.lower() == ".csv":
        rows = _table(path, ("id", "x", "y", "z"))
        table = np.array([[_number(path, i, value) for value in row] for i, row in enumerate(rows, start=2)])
        ids, positions = table[:, 0], table[:, 1:]
        if np.any(ids != np.round(ids)):
            _fail(path, "", "an id is not a whole number", "Give whole numbers")
    elif path.suffix.lower() == ".inp":
        ids, positions = _inp_nodes(path)
    else:
        positions = np.asarray(_guarded(path, lambda: _READERS[path.suffix.lower()](path, part)))
        if positions.ndim != 2 or positions.shape[1] != 3 or positions.dtype.kind not in "iuf":
            _fail(path, part, f"has the shape {positions.shape}", "Give numbers of shape (nodes, 3)")
        ids = np.arange(1, len(positions) + 1)
    if not np.all(np.isfinite(positions)) or len(set(ids.tolist())) < len(ids) or not len(ids):
        _fail(path, part, "has an id twice, a number that is not finite, or no nodes", "Correct the nodes")
    return ids.astype(np.int64), positions.astype(np.float64)


def read_rows(name: str, folder: Path) -> list[tuple[int, str]]:
    """Node id and freedom of every row: a .csv with columns node, freedom, or lines "node.1" to "node.6"."""
    path, _ = _split(name, folder)
    if path.suffix.lower() == ".csv":
        return [(int(_number(path, i, a)), b.strip()) for i, (a, b) in enumerate(_table(path, ("node", "freedom")), 2)]
    rows = []
    for i, line in enumerate(_guarded(path, lambda: path.read_text(encoding="utf-8")).split(), start=1):
        node, _, number = line.partition(".")
        if not node.isdigit() or number not in tuple("123456"):
            _fail(
                path,
                f"line {i}",
                f"{line!r:.20} does not name node and freedom",
                "Write node.1 to node.6: x, y, z, rx, ry, rz",
            )
        rows.append((int(node), ("x", "y", "z", "rx", "ry", "rz")[int(number) - 1]))
    return rows


def read_masses(name: str, folder: Path, ids: np.ndarray) -> np.ndarray:
    """(N,) masses of the nodes with these ids, from a .csv with the columns node, mass; 0 for nodes not in it."""
    path, _ = _split(name, folder)
    if path.suffix.lower() != ".csv":
        _fail(path, "", "is not a table", "Give a .csv file with the columns node,mass")
    index = {int(identity): i for i, identity in enumerate(ids)}
    masses = np.zeros(len(ids))
    for line, (node, mass) in enumerate(_table(path, ("node", "mass")), start=2):
        value, number = _number(path, line, mass), _number(path, line, node)
        if number not in index or not 0.0 <= value < np.inf:
            _fail(path, f"line {line}", f"node {node}, mass {mass}", "Give nodes of the mesh, and masses of 0 or more")
        masses[index[int(number)]] += value
    if not masses.any():
        _fail(path, "", "holds no mass", "Give the masses of the nodes")
    return masses


def _split(name: str, folder: Path) -> tuple[Path, str]:
    file, _, part = name.partition(":")
    path = folder / file
    if path.suffix.lower() not in (*_READERS, ".csv", ".dof", ".inp"):
        remedy = f"Use one of: {', '.join(_READERS)}, or .csv, .inp for nodes, .csv, .dof for rows"
        _fail(path, "", f"files that end in '{path.suffix}' are not known", remedy)
    size_of(path, MOST_BYTES, "Give a smaller model")
    return path, part


def _fail(path: Path, part: str, what: str, remedy: str) -> NoReturn:
    raise ModelError(what, where=f"{path}, {part}" if part else str(path), remedy=remedy)


def _guarded(path: Path, read: Callable[[], Any]) -> Any:
    """What a reader gives; its errors as a ModelError."""
    try:
        return read()
    except (ModelError, MissingExtraError):
        raise
    except Exception as error:  # each library has its own errors for damaged files
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        return _fail(path, "", f"cannot be read: {text:.120}", "Write the file again, or give another")


def _market(path: Path, part: str) -> Any:
    from scipy.io import mminfo, mmread

    if part:
        _fail(path, part, "a Matrix Market file has no parts", "Remove ':' and what follows")
    rows, columns, entries, kind, *_ = mminfo(path)
    if max(rows, columns) > MOST_ROWS:
        _fail(path, "", f"has more than {MOST_ROWS} rows", "Give a smaller model")
    least = 2 * rows * columns if kind == "array" else 4 * entries  # "1\\n"; "1 1\\n" of a pattern
    if least > 2 * path.stat().st_size:  # of a symmetric array half is written
        _fail(path, "", f"says that it has {entries} entries, but is shorter", "Write the file again")
    return mmread(path)


def _numpy(path: Path, part: str) -> Any:
    import scipy.sparse

    if path.suffix.lower() == ".npy":
        return np.array(np.load(path, mmap_mode="r", allow_pickle=False))  # mapped: no longer than the file
    check_archive(path)
    with np.load(path, allow_pickle=False) as archive:
        if not part and "format" in archive.files and "data" in archive.files:
            return scipy.sparse.load_npz(path)
        return _one_of(path, part, archive.files, lambda name: archive[name])


def _hdf5(path: Path, part: str) -> Any:
    try:
        import h5py
    except ImportError:
        raise MissingExtraError("reading HDF5 files", "h5py", "hdf5") from None
    import scipy.sparse

    with h5py.File(path, "r") as file:
        if part and part not in file:
            _fail(path, part, "is not in the file", f"Use one of: {', '.join(list(file)[:20])}")
        item = file[part] if part else _one_of(path, part, list(file), lambda name: file[name])
        for each in [item] if isinstance(item, h5py.Dataset) else item.values():
            if isinstance(each, h5py.Dataset) and each.size * each.dtype.itemsize > MOST_BYTES:
                _fail(path, part, f"holds more than {MOST_BYTES >> 30} GiB", "Give a smaller model")
        if isinstance(item, h5py.Dataset):
            return item[()]
        missing = [name for name in ("data", "indices", "indptr") if name not in item]
        if missing:
            _fail(
                path, part, f"the group has no {missing[0]}", "Give a dataset, or data, indices, indptr of sparse rows"
            )
        size = len(item["indptr"]) - 1
        return scipy.sparse.csr_matrix((item["data"][()], item["indices"][()], item["indptr"][()]), (size, size))


def _one_of(path: Path, part: str, names: list[str], get: Callable[[str], Any]) -> Any:
    if not part and len(names) == 1:
        return get(names[0])
    if part not in names:
        what = f"there is no array '{part}'" if part else "holds several arrays"
        _fail(path, "", what, f"Add ':' and one of: {', '.join(names[:20])}")
    return get(part)


def _triplets(path: Path, part: str) -> Any:
    """CalculiX's .sti and .mas: lines "row column value" of one triangle, counted from 1."""
    import scipy.sparse

    if part:
        _fail(path, part, "CalculiX's matrices have no parts", "Remove ':' and what follows")
    table = np.loadtxt(path, ndmin=2)
    rows, columns = table[:, 0].astype(np.int64) - 1, table[:, 1].astype(np.int64) - 1
    size = int(max(rows.max(), columns.max())) + 1
    if min(rows.min(), columns.min()) < 0 or size > MOST_ROWS:
        _fail(path, "", f"a row is not from 1 to {MOST_ROWS}", "Write the matrices by SOLVER=MATRIXSTORAGE")
    triangle = scipy.sparse.csr_matrix((table[:, 2], (rows, columns)), shape=(size, size))
    return triangle + triangle.T - scipy.sparse.diags(triangle.diagonal())


def read_element_numbers(name: str, folder: Path) -> np.ndarray:
    """(E,) numbers of the elements of a CalculiX (Abaqus) input file. ModelError if there are none."""
    path, _ = _split(name, folder)
    if path.suffix.lower() != ".inp":
        _fail(path, "", "holds no elements", "Name the deck itself as nodes: an .inp file")
    numbers, inside, goes_on = [], False, False
    lines = _guarded(path, lambda: path.read_text(encoding="latin-1")).splitlines()
    for row, line in enumerate(lines, start=1):
        if line.startswith("*"):
            inside = inside if line.startswith("**") else line.split(",")[0].strip().upper() == "*ELEMENT"
        elif inside and line.strip():
            if not goes_on:
                numbers.append(int(_number(path, row, line.split(",")[0])))
            goes_on = line.rstrip().endswith(",")
    if not numbers:
        _fail(path, "", "has no *ELEMENT block", "Name the file that holds the elements")
    return np.array(numbers)


def _inp_nodes(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Ids and positions of the *NODE blocks of a CalculiX (Abaqus) input file."""
    rows, inside = [], False
    for number, line in enumerate(_guarded(path, lambda: path.read_text(encoding="latin-1")).splitlines(), start=1):
        if line.startswith("*"):
            inside = inside if line.startswith("**") else line.split(",")[0].strip().upper() == "*NODE"
        elif inside and line.strip():
            cells = [cell for cell in line.split(",") if cell.strip()]
            rows.append([_number(path, number, cell) for cell in (cells + ["0"] * 3)[:4]])
    if not rows:
        _fail(path, "", "has no *NODE block", "Name the file that holds the nodes")
    table = np.array(rows)
    return table[:, 0], table[:, 1:]


_READERS: dict[str, Callable[[Path, str], Any]] = {
    ".mtx": _market,
    ".npz": _numpy,
    ".npy": _numpy,
    ".h5": _hdf5,
    ".hdf5": _hdf5,
    ".sti": _triplets,
    ".mas": _triplets,
}


def _table(path: Path, columns: tuple[str, ...]) -> list[list[str]]:
    """Rows of a .csv file with a header, in the order of `columns`."""
    lines = _guarded(path, lambda: path.read_text(encoding="utf-8-sig").splitlines())
    rows = list(csv.reader(lines))
    header = [cell.strip().lower() for cell in rows[0]] if rows else []
    missing = [name for name in columns if name not in header]
    if missing:
        _fail(path, "line 1", f"there is no column '{missing[0]}'", f"Begin with the header {','.join(columns)}")
    places = [header.index(name) for name in columns]
    for i, row in enumerate(rows[1:], start=2):
        if len(row) < len(header):
            _fail(path, f"line {i}", f"has {len(row)} of {len(header)} cells", "Complete or remove the line")
    return [[row[place] for place in places] for row in rows[1:]]


def _number(path: Path, line: int, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return _fail(path, f"line {line}", f"{text!r:.30} is not a number", "Give a number")
