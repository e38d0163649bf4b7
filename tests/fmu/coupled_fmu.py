"""The shim of the process coupling, compiled here, and one instance of it; engines that pretend."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
import struct
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from ctypes import c_char_p, c_size_t
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import zmq

import limberjack as lj
from limberjack.engine.compile.targets import host
from limberjack.engine.model.build import build, new_state
from limberjack.engine.model.system import System
from limberjack.engine.native.plant_file import Region
from limberjack.fmu import process_coupling
from limberjack.fmu.binaries import shim_sources
from limberjack.fmu.plant_file import plant_file
from limberjack.fmu.variables.listing import variables_of
from limberjack.fmu.variables.variable import Variable
from tests.fmu.shim_build import CO_SIMULATION, OK, Fmu, Update, compile_c, location, vector

COMMAND = f"'{sys.executable}' -m limberjack run"
TOKEN = "coupled"
#: numbers of the arm's state
COUNTS = {"q": 10, "v": 9, "tau": 9, "outputs": 9, "command": 4}
NUMBERS = sum(COUNTS.values())
ARM = Path(__file__).resolve().parents[1] / "engine" / "model" / "arm.yaml"


def load_arm() -> System:
    return lj.load(ARM)


def build_library(folder: Path, *options: str) -> Path:
    """The shared library of an FMU of the process coupling."""
    return compile_c(folder / "coupled.so", shim_sources("process"), "-O2", "-shared", "-fPIC", *options, "-ldl")


def table(system: System) -> list[Variable]:
    """Every variable that this coupling can have; coordinates and velocities with start values."""
    plant = build(system)
    start = new_state(plant, system)[2:]
    listed = []
    for variable in variables_of(system, plant, "scalar", "process", ["*"], ["*"], ["*"]):
        if variable.region in (Region.Q, Region.V):
            first = variable.offset + (0 if variable.region is Region.Q else system.nq)
            variable = dataclasses.replace(variable, start=(float(start[first]),))
        listed.append(variable)
    return listed


def write_resources(folder: Path, system: System, **options: Any) -> Path:
    """The folder resources of an FMU of this model."""
    resources = folder / "resources"
    for name, content in process_coupling.files(system, [host()]).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    content = plant_file(system, build(system), table(system), TOKEN, coupling="process", **options)
    (resources / "plant.bin").write_bytes(content)
    return resources


class CoupledFmu(Fmu):
    """An instance with variables by name."""

    def __init__(
        self,
        library: Path,
        resources: Path,
        system: System,
        version: int = 3,
        update: Update | None = None,
        **settings: str,
    ) -> None:
        early = update is not None
        super().__init__(
            library,
            version,
            CO_SIMULATION,
            location(resources, version),
            TOKEN,
            "arm",
            early_return=early,
            update=update,
        )
        self.references = {variable.name: place for place, variable in enumerate(table(system))}
        assert self.c, self.log
        for name, value in {"command": COMMAND, **settings}.items():
            assert self.set_text(f"engine.{name}", value) == OK, self.log

    def set_text(self, name: str, value: str) -> int:
        texts = (c_char_p * 1)(value.encode())
        more = (c_size_t(1),) if self.version == 3 else ()
        return self.call("SetString", vector([self.references[name]]), c_size_t(1), texts, *more)

    def text(self, name: str) -> str:
        texts = (c_char_p * 1)()
        more = (c_size_t(1),) if self.version == 3 else ()
        assert self.call("GetString", vector([self.references[name]]), c_size_t(1), texts, *more) == OK
        return (texts[0] or b"").decode()

    def assign(self, name: str, value: float) -> int:
        return self.set([self.references[name]], [value])

    def value(self, name: str) -> float:
        status, values = self.get(self.references[name])
        assert status == OK, self.log
        return values[0]

    def values(self, names: Sequence[str]) -> np.ndarray:
        status, values = self.get(*(self.references[name] for name in names))
        assert status == OK, self.log
        return np.array(values)

    def names(self, region: Region, system: System) -> list[str]:
        """Names of the variables of a region, in the order of its vector."""
        found = [variable for variable in table(system) if variable.region is region]
        return [variable.name for variable in sorted(found, key=lambda variable: variable.offset)]

    def observed(self, simulation: lj.Simulation) -> tuple[np.ndarray, np.ndarray]:
        """Forces and sensors that are numbers: as the FMU shows them, and as the simulation has them."""
        found = [each for each in table(simulation.system) if each.region is Region.OBSERVED and not each.boolean]
        whole = np.concatenate([simulation.tau, simulation.vdot, simulation.output_vector])
        return self.values([each.name for each in found]), whole[[each.offset for each in found]]

    def last_error(self) -> str:
        errors = self.errors()
        assert errors, self.log
        return errors[-1]


def same(fmu: CoupledFmu, simulation: lj.Simulation) -> bool:
    """Every number that the engine sends is the simulation's, to the last bit."""
    system = simulation.system
    assert np.array_equal(fmu.values(fmu.names(Region.Q, system)), simulation.q)
    assert np.array_equal(fmu.values(fmu.names(Region.V, system)), simulation.v)
    assert np.array_equal(*fmu.observed(simulation))
    return True


@contextlib.contextmanager
def built(system: System, *options: str) -> Iterator[Path]:
    """A folder with the library and the resources of a system's FMU; its path is short enough for a local socket."""
    folder = Path(tempfile.mkdtemp(prefix="ljt"))
    try:
        build_library(folder, *options)
        write_resources(folder, system)
        yield folder
    finally:
        shutil.rmtree(folder)


def children() -> list[int]:
    """Process numbers of engines that this process started and that are not gone, dead ones included.

    Python's tracker of shared memory and semaphores, which lives as long as its process, is not one.
    """
    tasks = Path("/proc/self/task").iterdir()
    numbers = [number for task in tasks for number in (task / "children").read_text().split()]
    return [int(number) for number in numbers if b"resource_tracker" not in _command(number)]


def _command(number: str) -> bytes:
    return Path(f"/proc/{number}/cmdline").read_bytes()


class FakeEngine:
    """Answers every request with what `answer(kind, sequence, client)` gives: bytes, or None for silence."""

    def __init__(self, endpoint: str, answer: Callable[[str, int, int], bytes | list[bytes] | None]) -> None:
        self._answer, self._stop = answer, threading.Event()
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.ROUTER)
        self._socket.linger = 0
        self._socket.rcvtimeo = 50
        self._socket.bind(endpoint)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.kinds: list[str] = []
        self.bodies: list[Any] = []
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                identity, payload = self._socket.recv_multipart()
            except zmq.Again:
                continue
            _, kind, sequence, _, client, body = msgpack.unpackb(payload)
            self.kinds.append(kind)
            self.bodies.append(body)
            answer = self._answer(kind, sequence, client)
            for each in [answer] if isinstance(answer, bytes) else answer or []:
                self._socket.send_multipart([identity, each])

    def __enter__(self) -> FakeEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(10.0)
        self._socket.close()
        self._context.term()


def message(kind: str, sequence: int, client: int, body: Any, time: float = 0.0, version: int = 1) -> bytes:
    return msgpack.packb([version, kind, sequence, time, client, body])


def about(**changes: Any) -> dict[str, Any]:
    """What a fitting engine says of itself."""
    simulation = lj.Simulation(load_arm())
    return {
        "protocol": 1,
        "mode": "lockstep",
        "model": "arm",
        "model_hash": simulation.model_hash,
        "dt": simulation.dt,
        "integrator": "rk4",
        "substeps": 1,
        "steps_max": 1000,
        "shape": COUNTS,
        "lease_s": 3.0,
        "novelty": [{"a": None}, b"x", 1.5, -70000, True, 2**40, "ü" * 40],
    } | changes


def state(sequence: int, client: int, steps: int = 0, numbers: int = NUMBERS) -> bytes:
    """A reply that is a state."""
    return message("state", sequence, client, [steps, struct.pack(f"<{numbers}d", *range(numbers))])


SNAPSHOT = struct.pack("<8s32sdQ25d", b"LJSNAP02", b"0" * 32, 1e-3, 25, *range(25))


def right(kind: str, sequence: int, client: int) -> bytes:
    """Answers that a fitting engine could give; its states never move."""
    if kind == "hello":
        return message(kind, sequence, client, about())
    if kind == "snapshot":
        return message(kind, sequence, client, SNAPSHOT)
    if kind == "parameter":
        return message(kind, sequence, client, ["", 0.0])
    return state(sequence, client)
