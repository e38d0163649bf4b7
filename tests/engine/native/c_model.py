"""A model behind the C interface, called through ctypes; and what Python says of the same quantities."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint32, c_void_p
from functools import cache
from pathlib import Path

import numpy as np

import limberjack as lj
from limberjack.engine.compile.library import library_path

OK, BAD_ARGUMENT, CANNOT_OPEN, NOT_FINITE, DIVERGED, OUT_OF_REACH = range(6)
ABI = 1


class Quantity(ctypes.Structure):
    _fields_ = (("name", c_char_p), ("unit", c_char_p), ("low", c_double), ("high", c_double), ("settable", c_int))


class Impact(ctypes.Structure):
    _fields_ = (
        ("energy_loss", c_double),
        ("distance", c_double),
        ("impulse", c_double * 6),
        ("n_impulse", c_int),
    )


_INDICES, _VALUES = POINTER(c_uint32), POINTER(c_double)
#: result and arguments of each function, the model first
_TYPES = {
    "lj_close": (None, ()),
    "lj_error": (c_char_p, ()),
    "lj_count": (c_size_t, ()),
    "lj_find": (c_int, (c_char_p, _INDICES)),
    "lj_describe": (c_int, (c_uint32, POINTER(Quantity))),
    "lj_get": (c_int, (_INDICES, c_size_t, _VALUES)),
    "lj_set": (c_int, (_INDICES, c_size_t, _VALUES)),
    "lj_step": (c_int, (c_int64,)),
    "lj_time": (c_double, ()),
    "lj_dt": (c_double, ()),
    "lj_reset": (c_int, (c_int,)),
    "lj_snapshot_size": (c_size_t, ()),
    "lj_snapshot": (c_int, (c_void_p, c_size_t)),
    "lj_restore": (c_int, (c_void_p, c_size_t)),
    "lj_attach": (c_int, (c_char_p, POINTER(Impact))),
    "lj_release": (c_int, (c_char_p, POINTER(Impact))),
}


@cache
def library() -> ctypes.CDLL:
    loaded = ctypes.CDLL(str(library_path()))
    for name, (result, arguments) in _TYPES.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, (c_void_p, *arguments)
    return loaded


class CModel:
    """One model. Statuses are returned; `values` and `find` assert that all went well."""

    def __init__(self, path: Path | str | None, abi: int = ABI) -> None:
        self.handle = c_void_p()
        given = None if path is None else str(path).encode()
        self.opened = library().lj_open_abi(given, abi, byref(self.handle))

    def call(self, name: str, *arguments: object) -> int:
        return getattr(library(), name)(self.handle, *arguments)

    @property
    def error(self) -> str:
        return self.call("lj_error").decode()

    def close(self) -> None:
        self.call("lj_close")

    def names(self) -> list[str]:
        return [self.quantity(i).name.decode() for i in range(self.call("lj_count"))]

    def quantity(self, index: int) -> Quantity:
        found = Quantity()
        assert self.call("lj_describe", index, byref(found)) == OK, self.error
        return found

    def find(self, name: str) -> int:
        index = c_uint32()
        assert self.call("lj_find", name.encode(), byref(index)) == OK, self.error
        return index.value

    def get(self, *indices: int) -> tuple[int, np.ndarray]:
        values = np.zeros(len(indices))
        places = (c_uint32 * len(indices))(*indices)
        return self.call("lj_get", places, len(indices), values.ctypes.data_as(_VALUES)), values

    def set(self, indices: Sequence[int], values: Sequence[float]) -> int:
        places = (c_uint32 * len(indices))(*indices)
        return self.call("lj_set", places, len(indices), (c_double * len(indices))(*values))

    def value(self, name: str) -> float:
        status, values = self.get(self.find(name))
        assert status == OK, self.error
        return float(values[0])

    def assign(self, name: str, value: float) -> int:
        return self.set([self.find(name)], [value])

    def step(self, n: int = 1) -> int:
        return self.call("lj_step", n)

    def snapshot(self) -> bytes:
        bytes_ = ctypes.create_string_buffer(self.call("lj_snapshot_size"))
        assert self.call("lj_snapshot", bytes_, len(bytes_)) == OK, self.error
        return bytes_.raw

    def restore(self, snapshot: bytes) -> int:
        return self.call("lj_restore", snapshot, len(snapshot))

    def switch(self, name: str, loop: str) -> tuple[int, Impact]:
        impact = Impact()
        return self.call(name, loop.encode(), byref(impact)), impact


def in_python(simulation: lj.Simulation) -> dict[str, float]:
    """Every quantity of the C interface, as Python has it."""
    vectors = {"tau": simulation.tau, "vdot": simulation.vdot, "output": simulation.output_vector}
    vectors |= {"survey": simulation.survey(), "time": np.array([simulation.time])}
    numbers = [number for number in lj.catalogue(simulation.system) if number.group != "qdot"]
    for vector in {number.vector for number in numbers} - vectors.keys():
        vectors[vector] = simulation.part(vector)
    found = {number.id: float(vectors[number.vector][number.place]) for number in numbers}
    return found | {f"parameter.{name}": value for name, value in simulation.parameters.items()}
