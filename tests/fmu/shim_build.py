"""The shim compiled with the toy model's kernels, and its functions through ctypes."""

from __future__ import annotations

import atexit
import ctypes
import functools
import math
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from ctypes import CFUNCTYPE, POINTER, byref, c_bool, c_char_p, c_double, c_int, c_size_t, c_uint32, c_void_p
from pathlib import Path
from typing import Any

import pytest

from limberjack.engine.compile.link import C_FILES, write_entries
from limberjack.engine.compile.plan import Part
from limberjack.engine.compile.sources import NATIVE
from limberjack.engine.kernels.entry_points import entries
from limberjack.engine.native.layout import write_header
from limberjack.fmu.binaries import ENTRIES, shim_sources
from tests.fmu import shim_model as toy

ROOT = Path(__file__).resolve().parents[2]
SHIM = ROOT / "fmu" / "shim"
TOY = Path(__file__).resolve().parent / "shim"
FLAGS = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-fvisibility=hidden")
OK, WARNING, DISCARD, ERROR, FATAL = range(5)
CO_SIMULATION, MODEL_EXCHANGE = "cs", "me"


def shared_sources() -> list[Path]:
    """C files of the shim with the engine inside, but for the kernels."""
    return shim_sources("embedded")


def compiler() -> list[str]:
    """A C compiler: the machine's own, else Zig's; without one the tests are skipped."""
    found = shutil.which("gcc") or shutil.which("cc")
    if found is not None:
        return [found]
    pytest.importorskip("ziglang")
    return [sys.executable, "-m", "ziglang", "cc"]


@functools.cache
def header() -> Path:
    """A folder with the shim's generated headers."""
    folder = Path(tempfile.mkdtemp(prefix="layout"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    types = entries().types
    write_entries(folder, [Part(name, types[name], True, "", "") for name in ENTRIES], "")
    return write_header(folder)


def compile_c(output: Path, sources: Sequence[Path], *options: str) -> Path:
    """Compile and link; a warning fails the test."""
    command = [
        *compiler(),
        *FLAGS,
        f"-I{header()}",
        *(f"-I{folder}" for folder in (C_FILES, NATIVE, SHIM)),
        *options,
        *map(str, sources),
        "-o",
        str(output),
        "-lm",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return output


def build_library(folder: Path) -> Path:
    """The shim with the toy model as a shared library."""
    return compile_c(folder / "toy.so", [*shared_sources(), TOY / "toy_kernels.c"], "-O2", "-shared", "-fPIC")


_Log2 = CFUNCTYPE(None, c_void_p, c_char_p, c_int, c_char_p, c_char_p)
_Log3 = CFUNCTYPE(None, c_void_p, c_int, c_char_p, c_char_p)
_Update3 = CFUNCTYPE(None, c_void_p, c_double, *[c_bool] * 4, POINTER(c_bool), POINTER(c_double))
#: time, canReturnEarly → whether to return early
Update = Callable[[float, bool], bool]


class _Callbacks2(ctypes.Structure):
    _fields_ = (
        ("logger", _Log2),
        ("allocate", c_void_p),
        ("free", c_void_p),
        ("finished", c_void_p),
        ("environment", c_void_p),
    )


class Fmu:
    """One instance, with the same face for FMI 2 and FMI 3. Statuses are returned, log lines kept in `log`."""

    def __init__(
        self,
        library: Path,
        version: int,
        kind: str,
        resources: str | None,
        token: str | None = toy.TOKEN,
        name: str | None = "toy",
        logging: bool = True,
        event_mode: bool = False,
        early_return: bool = False,
        update: Update | None = None,
    ) -> None:
        self._early_return, self._update = early_return, update
        self.lib, self.version, self.kind = ctypes.CDLL(str(library)), version, kind
        self.log: list[tuple[int, str, str]] = []
        arguments = [None if text is None else text.encode() for text in (name, token, resources)]
        open_ = self._open2 if version == 2 else self._open3
        self.c = open_(*arguments, logging, event_mode)

    def _open2(self, name: object, token: object, resources: object, logging: bool, _: bool) -> int | None:
        def write(environment: object, name: bytes, status: int, category: bytes, message: bytes) -> None:
            self.log.append((status, category.decode(), message.decode()))

        self._keep = _Callbacks2(_Log2(write), None, None, None, None)
        open_ = self.lib.fmi2Instantiate
        open_.restype = c_void_p
        kind = 1 if self.kind == CO_SIMULATION else 0
        return open_(name, kind, token, resources, byref(self._keep), 0, int(logging))

    def _open3(self, name: object, token: object, resources: object, logging: bool, event_mode: bool) -> int | None:
        def write(environment: object, status: int, category: bytes, message: bytes) -> None:
            self.log.append((status, category.decode(), message.decode()))

        self._keep = _Log3(write)
        if self.kind == CO_SIMULATION:
            open_ = self.lib.fmi3InstantiateCoSimulation
            updated = self._updated()
            more: tuple[object, ...] = (event_mode, self._early_return, None, c_size_t(0), None, self._keep, updated)
        else:
            open_, more = self.lib.fmi3InstantiateModelExchange, (None, self._keep)
        open_.restype = c_void_p
        return open_(name, token, resources, False, logging, *more)

    def _updated(self) -> object:
        def update(environment: object, time: float, set_: bool, get: bool, finished: bool, *rest: Any) -> None:
            can_return, requested, when = rest
            assert (set_, get, finished) == (False, False, True)
            requested[0], when[0] = self._update(time, can_return), time

        self._keep_update = _Update3(update) if self._update else _Update3()
        return self._keep_update

    def call(self, name: str, *arguments: object) -> int:
        """fmi2<name> or fmi3<name> of this instance."""
        function = getattr(self.lib, f"fmi{self.version}{name}")
        return function(c_void_p(self.c), *arguments)

    def errors(self) -> list[str]:
        """Messages of the log with status error."""
        return [message for status, _, message in self.log if status >= ERROR]

    def free(self) -> None:
        self.lib[f"fmi{self.version}FreeInstance"](c_void_p(self.c))
        self.c = None

    def enter(self, start: float = 0.0, stop: float | None = None) -> int:
        """Set up the experiment and enter the initialisation."""
        times = (0, c_double(0.0), c_double(start), int(stop is not None), c_double(stop or 0.0))
        if self.version == 3:
            return self.call("EnterInitializationMode", *times)
        status = self.call("SetupExperiment", *times)
        return status or self.call("EnterInitializationMode")

    def start(self, start: float = 0.0, stop: float | None = None) -> int:
        """Through the initialisation; Model Exchange: into Continuous-Time Mode."""
        status = self.enter(start, stop) or self.call("ExitInitializationMode")
        if status == OK and self.kind == MODEL_EXCHANGE:
            status = self.call("EnterContinuousTimeMode")
        return status

    def get(self, *references: int, size: int | None = None) -> tuple[int, list[float]]:
        """Status and numbers."""
        values = (c_double * (len(references) if size is None else size))()
        more = (c_size_t(len(values)),) if self.version == 3 else ()
        name = "GetFloat64" if self.version == 3 else "GetReal"
        return self.call(name, vector(references), c_size_t(len(references)), values, *more), list(values)

    def set(self, references: Sequence[int], values: Sequence[float]) -> int:
        more = (c_size_t(len(values)),) if self.version == 3 else ()
        name = "SetFloat64" if self.version == 3 else "SetReal"
        numbers = (c_double * len(values))(*values)
        return self.call(name, vector(references), c_size_t(len(references)), numbers, *more)

    def value(self, name: str) -> float:
        status, values = self.get(toy.REFERENCE[name])
        assert status == OK
        return values[0]

    def assign(self, name: str, value: float) -> int:
        return self.set([toy.REFERENCE[name]], [value])

    def step(self, time: float, h: float) -> tuple[int, float]:
        """A communication step: status and the time that the FMU reached."""
        if self.version == 3:
            flags, reached = [ctypes.c_bool() for _ in range(3)], c_double(math.nan)
            status = self.call("DoStep", c_double(time), c_double(h), False, *map(byref, flags), byref(reached))
            assert not any(flag.value for flag in flags[:2])
            self.returned_early = flags[2].value
            return status, reached.value
        status, reached = self.call("DoStep", c_double(time), c_double(h), 1), c_double(math.nan)
        if status != ERROR:
            assert self.call("GetRealStatus", 2, byref(reached)) == OK
        return status, reached.value

    def numbers(self, name: str, size: int) -> tuple[int, list[float]]:
        """A vector that a Model Exchange function gives."""
        values = (c_double * size)()
        return self.call(name, values, c_size_t(size)), list(values)

    def set_states(self, states: Sequence[float]) -> int:
        return self.call("SetContinuousStates", (c_double * len(states))(*states), c_size_t(len(states)))

    def state_name(self, name: str) -> str:
        """The version's spelling: FMUstate or FMUState."""
        return name.replace("State", "state").replace("Deserialize", "DeSerialize") if self.version == 2 else name

    def save(self, into: int | None = None) -> tuple[int, c_void_p]:
        state = c_void_p(into)
        return self.call(self.state_name("GetFMUState"), byref(state)), state

    def restore(self, state: c_void_p) -> int:
        return self.call(self.state_name("SetFMUState"), state)

    def drop(self, state: c_void_p) -> int:
        return self.call(self.state_name("FreeFMUState"), byref(state))

    def serialized(self, state: c_void_p) -> bytes:
        size = c_size_t()
        assert self.call(self.state_name("SerializedFMUStateSize"), state, byref(size)) == OK
        content = ctypes.create_string_buffer(size.value)
        assert self.call(self.state_name("SerializeFMUState"), state, content, size) == OK
        return content.raw

    def deserialized(self, content: bytes) -> tuple[int, c_void_p]:
        state = c_void_p()
        name = self.state_name("DeserializeFMUState")
        return self.call(name, content, c_size_t(len(content)), byref(state)), state

    def derivative(
        self, unknowns: Sequence[int], knowns: Sequence[int], seed: Sequence[float], size: int, adjoint: bool = False
    ) -> tuple[int, list[float]]:
        """Directional (or adjoint) derivative with `size` numbers."""
        sensitivity, seeds = (c_double * size)(), (c_double * len(seed))(*seed)
        lists = (vector(unknowns), c_size_t(len(unknowns)), vector(knowns), c_size_t(len(knowns)))
        if self.version == 2:
            return self.call("GetDirectionalDerivative", *lists, seeds, sensitivity), list(sensitivity)
        name = "GetAdjointDerivative" if adjoint else "GetDirectionalDerivative"
        status = self.call(name, *lists, seeds, c_size_t(len(seed)), sensitivity, c_size_t(size))
        return status, list(sensitivity)


class Stepping(threading.Thread):
    """A first communication step of `h` on a thread of its own."""

    def __init__(self, fmu: Fmu, h: float) -> None:
        super().__init__(daemon=True)
        self._fmu, self._h, self.result = fmu, h, (ERROR, math.nan)
        assert fmu.start() == OK
        self.start()

    def computing(self) -> Stepping:
        """Returns once the step is in full swing: its thread has used the processor."""
        clock = time.pthread_getcpuclockid(self.ident or 0)
        while time.clock_gettime(clock) < 0.02:
            assert self.is_alive(), self._fmu.log
        return self

    def run(self) -> None:
        self.result = self._fmu.step(0.0, self._h)

    def ended(self) -> tuple[int, float]:
        """Status and the time that was reached."""
        self.join(60.0)
        assert not self.is_alive()
        return self.result


def vector(references: Sequence[int]) -> ctypes.Array[c_uint32]:
    return (c_uint32 * len(references))(*references)


def location(folder: Path, version: int) -> str:
    """The resources directory as an importer passes it."""
    return folder.as_uri() if version == 2 else f"{folder}/"
