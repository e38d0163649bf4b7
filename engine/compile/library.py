"""The engine's compiled entries, in one library that is loaded when the first of them is requested.

A wheel contains the library in `binaries/`. A source tree builds it at first use and keeps it in the user's cache,
under a hash of its sources.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import accumulate
from operator import index
from pathlib import Path
from typing import Any

import numpy as np

from limberjack.engine.common.errors import LimberjackError
from limberjack.engine.compile.compiled import FLAG, FLOATS, INTS, MATRIX, REAL, VECTOR, WHOLE
from limberjack.engine.compile.sources import KERNELS, file_name, library_digest
from limberjack.engine.compile.targets import TARGETS, WORLDS_AT_ONCE, host

#: number of cells (engine.c) for an argument of each type
_CELLS = {INTS: 1, FLOATS: 1, VECTOR: 2, MATRIX: 3, WHOLE: 1, REAL: 1, FLAG: 1}
#: type and number of dimensions of arrays
_I8, _F8 = np.dtype(np.int64), np.dtype(np.float64)
_LAYOUT = {INTS: (_I8, 1), FLOATS: (_F8, 1), VECTOR: (_F8, 1), MATRIX: (_F8, 2)}
_from_buffer, _addressof = (ctypes.c_char * 0).from_buffer, ctypes.addressof


_RUN = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_EACH = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64
)


class LibraryError(LimberjackError, RuntimeError):
    """The engine's library cannot be used."""


class Call:
    """A call of an entry with some arguments already bound: `call(*others)`. Only one thread at a time may call it.

    Arrays are checked for type and layout, not for length. Other Python threads can run during the call.
    """

    def __init__(
        self, name: str, types: str, run: Callable[[int], None], each: Any, code: int, given: Sequence[Any]
    ) -> None:
        """given : an argument for each type; None for those that each call passes."""
        self._name, self._run, self._each, self._held = name, run, each, given
        *places, size = accumulate((_CELLS[kind] for kind in types), initial=1)
        self._whole = (ctypes.c_int64 * size)(code)
        self._real = (ctypes.c_double * size).from_buffer(self._whole)
        self._address = ctypes.addressof(self._whole)
        self._open, self._places, self.times = [], places, ctypes.c_int64(1)
        for kind, place, value in zip(types, places, given, strict=True):
            if value is None:
                self._open.append((kind, place))
            else:
                self._put(kind, place, value)
        self._numbers = self._open_numbers()

    def _open_numbers(self) -> slice | None:
        """The cells that each call fills, if it passes nothing but whole numbers side by side."""
        kinds, places = [kind for kind, _ in self._open], [place for _, place in self._open]
        if not places or set(kinds) != {WHOLE} or places != [*range(places[0], places[0] + len(places))]:
            return None
        return slice(places[0], places[0] + len(places))

    def __call__(self, *others: Any) -> None:
        if self._numbers is not None:  # a quarter of the time of the loop below; a step has two
            self._whole[self._numbers] = [*others]
        elif self._open or others:
            self._fill(others)
        self._run(self._address)

    def _fill(self, others: tuple[Any, ...]) -> None:
        """Put what a call passes into its cells. Raises TypeError, ValueError."""
        whole = self._whole
        for (kind, place), value in zip(self._open, others, strict=True):
            if kind == VECTOR and value.dtype is _F8 and value.ndim == 1 and value.flags.carray:
                whole[place], whole[place + 1] = _addressof(_from_buffer(value)), value.size
            elif kind == WHOLE and type(value) is int:  # this and the line before are the most frequent cases
                whole[place] = value
            else:
                self._put(kind, place, value)

    def over(self, moved: Mapping[int, int], skipped: np.ndarray) -> Call:
        """Make this call run the entry `times.value` times, and advance some arguments by a number of bytes each time.

        moved : argument → bytes; skipped : (most times,) int64, not zero for runs to leave out; read at every call
        """
        rows = [(self._places[argument], size) for argument, size in moved.items()]
        steps = (ctypes.c_int64 * (2 * len(rows)))(*(number for row in rows for number in row))
        skip, each = _address(self._name, INTS, skipped), self._each
        run = ctypes.cast(self._run, ctypes.c_void_p)  # type: ignore[arg-type]
        self._held = [*self._held, skipped, steps]
        # with a reference to self, the function would keep the call's arrays until garbage is collected
        times = self.times
        times.value = len(skipped)
        self._run = lambda address: each(run, address, times, skip, steps, len(rows))
        return self

    def _put(self, kind: str, place: int, value: Any) -> None:
        if kind == WHOLE or kind == FLAG:
            self._whole[place] = index(value)
        elif kind == REAL:
            self._real[place] = value
        else:
            self._whole[place] = _address(self._name, kind, value)
            for i in range(1, _CELLS[kind]):
                self._whole[place + i] = value.shape[i - 1]


def _address(name: str, kind: str, array: np.ndarray) -> int:
    """Address of the array's numbers. Raises TypeError for an array that compiled code would misread."""
    wanted, dimensions = _LAYOUT[kind]
    if array.dtype != wanted or array.ndim != dimensions or not array.flags.c_contiguous:
        raise TypeError(
            f"{name}: {array.dtype} {array.shape} with strides {array.strides} is no contiguous array of {wanted} with "
            f"{dimensions} dimensions"
        )
    if array.flags.writeable:
        return _addressof(_from_buffer(array.data))  # a fifth of the time of array.ctypes.data
    return int(array.ctypes.data)


class Entry:
    """A compiled function; see `Call` for what it takes."""

    def __init__(self, name: str, types: str, run: Callable[[int], None], each: Any, code: int) -> None:
        self._call = name, types, run, each, code

    def __call__(self, *arguments: Any) -> None:
        Call(*self._call, arguments)()

    def bind(self, *arguments: Any) -> Call:
        """A `Call` with these arguments bound; each call passes those that are None here."""
        return Call(*self._call, arguments)


class Library:
    """A library's entries, as attributes: `library.advance(…)`."""

    def __init__(self, path: Path, root: str = KERNELS, level: str | None = None) -> None:
        """level : of the processor, such as "v2"; None takes the best that it has. Raises LibraryError."""
        self.path = path
        loaded = _opened(path)
        names = _manifest(loaded, path, library_digest(root))
        code, self.level = _code(loaded, level)
        if code is None:
            raise LibraryError(_too_old(path, level))
        runs = (_RUN * len(names)).in_dll(loaded, "limberjack_calls")
        each = _EACH(("limberjack_each", loaded))
        self.entries = {name: Entry(name, types, run, each, code) for (name, types), run in zip(names, runs)}
        self.types = dict(names)

    @property
    def width(self) -> int:
        """How many worlds entries <name>_worlds take at once."""
        return WORLDS_AT_ONCE[self.level]

    def __getattr__(self, name: str) -> Entry:
        try:
            return self.entries[name]
        except KeyError:
            raise AttributeError(f"{self.path} has no entry '{name}'.") from None


def _code(loaded: ctypes.CDLL, wanted: str | None) -> tuple[int | None, str]:
    """Index of the code of a level, by default the best one that this processor runs; None if it runs none."""
    loaded.limberjack_entries.restype = ctypes.c_void_p
    levels = [wanted] if wanted else reversed(TARGETS[host()].processors)
    for level in levels:
        code: int | None = loaded.limberjack_entries(level.encode())
        if code is not None:
            return code, level
    return None, ""


def _opened(path: Path) -> ctypes.CDLL:
    if path.name != file_name(path, path.name.rpartition("-")[0]):  # the loader may crash on an incomplete library
        raise LibraryError(f"{path}: the engine's library is damaged. {_remedy(path)}")
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise LibraryError(f"{path}: the engine's library cannot be loaded ({error}). {_remedy(path)}") from error


def _manifest(loaded: ctypes.CDLL, path: Path, digest: str) -> list[tuple[str, str]]:
    """Name and types of each entry."""
    try:
        text = ctypes.string_at(ctypes.addressof(ctypes.c_char.in_dll(loaded, "limberjack_manifest")))
    except ValueError as error:
        raise LibraryError(f"{path}: this is not the engine's library. {_remedy(path)}") from error
    made_from, *lines = text.decode().split("\n")
    if made_from != digest:
        raise LibraryError(f"{path}: the library was made from other sources than these. {_remedy(path)}")
    return [(name, types) for name, types in (line.split(" ") for line in lines)]


def _remedy(path: Path) -> str:
    if path.parent == BINARIES:
        return "Install limberjack again: pip install --force-reinstall limberjack."
    return "Remove the file; it is built again at the next start."


def _too_old(path: Path, level: str | None) -> str:
    wanted = f"level {level}" if level else "x86-64-v2 (SSE4.2, of 2009)"
    return f"{path}: this processor does not run code of {wanted}, the least that the engine is compiled for."


#: where a wheel contains the library
BINARIES = Path(__file__).resolve().parent / "binaries"


def stem_of(root: str) -> str:
    """limberjack_<root>-<digest>: the stem of files with a library of the entries under `root` from these sources."""
    return f"limberjack_{root.rpartition('.')[2]}-{library_digest(root)}"


def library_path(root: str = KERNELS, platform: str = "") -> Path:
    """Path of the library of the entries under `root`, by default for this platform; builds it if it does not exist."""
    platform = platform or host()
    if platform not in TARGETS:
        raise LibraryError(f"the engine is not compiled for {platform}; it runs on {', '.join(TARGETS)}.")
    target = TARGETS[platform]
    stem = stem_of(root)
    for brought in BINARIES.glob(f"{stem}-*{target.suffix}"):
        return brought
    from limberjack.engine.compile.build import library

    return library(target, stem, root)


@cache
def load(root: str = KERNELS, level: str | None = None) -> Library:
    """The library of the entries under `root`, by default the engine's. Raises as `build.library`, and LibraryError."""
    return Library(library_path(root), root, level)
