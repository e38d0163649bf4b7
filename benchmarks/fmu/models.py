"""FMUs with 20 inputs and 20 outputs: ours, those of the Python exporters, and the least that an FMU can be."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import limberjack as lj
from benchmarks.fmu.host import SOURCES, WARNINGS, describe, unpack
from benchmarks.peer_build import PeerUnavailableError, require, version_of
from limberjack import children
from limberjack.engine.model.system import System

N = 20
DT = 1e-3
INTEGRATOR = "semi_implicit"
#: cycles after which a run begins again: the chain then hangs much as it began, with tame speeds
RESTART = 500
FLOOR = SOURCES.parent / "floor.c"
Names = Sequence[str]

_SCRIPT2 = """\
from pythonfmu import Fmi2Causality, Fmi2Slave, Real


class Lags(Fmi2Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.u, self.y = [0.0] * {n}, [0.0] * {n}
        for i in range({n}):
            self.add(Real, f"u{{i}}", Fmi2Causality.input, self.u, i)
            self.add(Real, f"y{{i}}", Fmi2Causality.output, self.y, i)
{rest}"""

_SCRIPT3 = """\
from pythonfmu3 import CoSimulation, Fmi3Causality, Fmi3Slave, Fmi3Variability, Float64


class Lags(Fmi3Slave, CoSimulation):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.time, self.u, self.y = 0.0, [0.0] * {n}, [0.0] * {n}
        independent = {{"causality": Fmi3Causality.independent, "variability": Fmi3Variability.continuous}}
        self.register_variable(Float64("time", **independent))
        for i in range({n}):
            self.add(Float64, f"u{{i}}", Fmi3Causality.input, self.u, i)
            self.add(Float64, f"y{{i}}", Fmi3Causality.output, self.y, i)
{rest}"""

_REST = """
    def add(self, kind, name, causality, numbers, i):
        def set_number(value):
            numbers[i] = value

        self.register_variable(kind(name, causality=causality, getter=lambda: numbers[i], setter=set_number))

    def do_step(self, current_time, step_size):
        for i, u in enumerate(self.u):
            self.y[i] += step_size * (u - self.y[i])
        return True
"""


@dataclass(frozen=True)
class Subject:
    """An FMU to be timed: what the host gets to know about it, and the environment and options the host needs.

    step : communication step, s; restart : cycles after which the host restarts it, 0 for never
    """

    name: str
    note: str
    facts: Path
    step: float = DT
    restart: int = 0
    environment: Mapping[str, str] = field(default_factory=dict)


def chain(system: System, folder: Path, fmi: str, outputs: str, *, scalar: bool = False) -> Subject:
    """Our FMU of a chain; sets every torque, gets every hinge's `outputs` ("angle": states, "torque": computed)."""
    name = f"Limberjack FMI {fmi[0]}" + (" scalar" if scalar else "") + ("" if outputs == "angle" else ", torques")
    file = folder / f"{name.replace(' ', '-').replace(',', '')}.fmu"
    lj.export_fmu(system, file, fmi=fmi, scalar=scalar, platforms="host", dt=DT, integrator=INTEGRATOR)
    arrays = fmi == "3.0" and not scalar
    got = [f"hinge.{body.hinge.name}.{outputs}" for body in system.bodies]
    if arrays:
        got = ["q" if outputs == "angle" else "tau"]
    sent = ["command"] if arrays else [f"hinge.{body.hinge.name}.torque_command" for body in system.bodies]
    unpacked = unpack(file, file.with_suffix(""))
    facts = describe(unpacked, step=DT, cycle=(sent, got))
    return Subject(name, f"chain of {N}, {INTEGRATOR}", facts, restart=RESTART)


def coupled(system: System, folder: Path, endpoint: str) -> Subject:
    """The thin FMU of the same chain, joined to the engine process at `endpoint`."""
    file = folder / "coupled.fmu"
    lj.export_fmu(system, file, fmi="2.0", coupling="process", dt=DT, integrator=INTEGRATOR)
    names = [body.hinge.name for body in system.bodies]
    cycle = [f"hinge.{name}.torque_command" for name in names], [f"hinge.{name}.angle" for name in names]
    starts: dict[str, float | str] = {"engine.endpoint": endpoint, "engine.timeout": 10.0}
    facts = describe(unpack(file, file.with_suffix("")), step=DT, starts=starts, cycle=cycle)
    return Subject("Limberjack, engine process", "FMI 2 over ZeroMQ ipc", facts, restart=RESTART)


def floor(folder: Path) -> Subject:
    """A lag for each input, in plain C."""
    require(["ziglang"])
    place = folder / "floor" / "binaries" / "linux64"
    place.mkdir(parents=True)
    command = [sys.executable, "-m", "ziglang", "cc", *WARNINGS, "-O2", "-shared", "-fPIC", "-fvisibility=hidden"]
    _build([*command, str(FLOOR), "-o", str(place / "floor.so")])
    lines = ["version 2", f"library {place / 'floor.so'}", f"resources {folder.as_uri()}", "token floor"]
    lines += ["flags - co_simulation", f"step {DT!r}"]
    lines += [f"cycle_set {i} 1" for i in range(N)] + [f"cycle_get {N + i} 1" for i in range(N)]
    facts = folder / "floor" / "host.txt"
    facts.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Subject("plain C", "20 lags, FMI 2", facts)


def python_fmu(package: str, folder: Path) -> Subject:
    """An FMU of 20 lags built by "pythonfmu" (FMI 2) or "pythonfmu3" (FMI 3)."""
    require([package])
    library = _python_library()
    script = folder / package / "lags.py"
    script.parent.mkdir()
    text = _SCRIPT2 if package == "pythonfmu" else _SCRIPT3
    script.write_text(text.format(n=N, rest=_REST), encoding="utf-8")
    _build([sys.executable, "-m", package, "build", "-f", str(script), "-d", str(script.parent)])
    names = [f"u{i}" for i in range(N)], [f"y{i}" for i in range(N)]
    facts = describe(unpack(script.parent / "Lags.fmu", script.parent / "unpacked"), step=DT, cycle=names)
    environment = {
        "LD_PRELOAD": str(library),
        "PYTHONHOME": sys.base_prefix,
        "PYTHONPATH": sysconfig.get_paths()["purelib"],
    }
    title = {"pythonfmu": "PythonFMU", "pythonfmu3": "PythonFMU3"}[package]
    note = f"{version_of(package)}, 20 lags in Python, FMI {3 if package.endswith('3') else 2}"
    return Subject(title, note, facts, environment=environment)


def _python_library() -> Path:
    """The interpreter as a shared library, which such FMUs expect in the host."""
    place, name = sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("LDLIBRARY")
    path = Path(place or "") / (name or "")
    if path.suffix == ".a" or not path.is_file():
        raise PeerUnavailableError("this Python has no shared library for a C host")
    return path


def _build(command: Sequence[str]) -> None:
    done = children.run(command)
    if done.returncode != 0:
        raise PeerUnavailableError(f"{command[2]}: {(done.stderr or done.stdout).strip()[-300:]}")


#: peers by name, in the order of the table
PEERS: dict[str, Callable[[Path], Subject]] = {
    "plain C": floor,
    "PythonFMU": lambda folder: python_fmu("pythonfmu", folder),
    "PythonFMU3": lambda folder: python_fmu("pythonfmu3", folder),
}
