"""FMUs exported for a test, the C host that judges them, and what the engine itself gives for the same inputs."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest

import limberjack as lj
from benchmarks.fmu.host import HostBuildError, compile_host, describe, size, unpack
from limberjack.engine.model.system import System
from tests.engine.full_model import full_model
from tests.engine.kernels.flexible.models import MODELS as FLEXIBLE

DRIVER = Path(__file__).resolve().parent / "driver"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
#: the variants of an FMU, as arguments of export_fmu
VARIANTS: dict[str, dict[str, Any]] = {
    "fmi3": {"fmi": "3.0"},
    "scalar": {"fmi": "3.0", "scalar": True},
    "fmi2": {"fmi": "2.0"},
}


def model(name: str) -> System:
    """Model "full": every hinge type, drive and sensor; flexible models of the tests; else the shipped example."""
    made = {"full": full_model, **FLEXIBLE}
    return made[name]() if name in made else lj.load(EXAMPLES / f"{name}.yaml")


def example_names() -> list[str]:
    """The shipped models whose FMUs have every interface: rigid, without closed loops (they: test_loop_run.py) and
    without contacts (test_contact_run.py)."""
    return [name for name in _shipped() if not name.endswith(("(flexible)", "(loops)", "(contacts)"))]


def flexible_names() -> list[str]:
    """The shipped models with flexible bodies whose commands are all numbers, and those of the tests."""
    shipped = [name.removesuffix(" (flexible)") for name in _shipped() if name.endswith("(flexible)")]
    switched = {name for name in shipped if any(loop.switchable for loop in lj.load(EXAMPLES / f"{name}.yaml").loops)}
    return [*(name for name in shipped if name not in switched), *FLEXIBLE]


@cache
def _shipped() -> tuple[str, ...]:
    """Names of the shipped models, with a word on those of which little is tested here."""
    found = []
    for path in sorted(EXAMPLES.glob("*.yaml")):
        system = lj.load(path)
        words = {"contacts": system.contacts, "flexible": system.flexible_names, "loops": system.loops}
        found.append(path.stem + next((f" ({word})" for word, there in words.items() if there), ""))
    return tuple(found)


@dataclass(frozen=True)
class Judged:
    """An exported and unpacked FMU."""

    system: System
    path: Path
    unpacked: Path

    @property
    def description(self) -> Any:
        """What FMPy reads of it."""
        return fmpy.read_model_description(str(self.unpacked), validate=False)

    def numbers(self, causality: str) -> dict[str, slice]:
        """Where the Float64 variables of a causality stand when their values are put one behind the other."""
        found, at = {}, 0
        model_description = self.description
        for variable in model_description.modelVariables:
            if variable.causality == causality and variable.type in ("Real", "Float64"):
                count = size(model_description, variable)
                found[variable.name] = slice(at, at + count)
                at += count
        return found

    def run(
        self, driver: Path | Sequence[str], command: str, *options: object, **described: Any
    ) -> subprocess.CompletedProcess[str]:
        """A command of the driver (its path, or the words that start it) on this FMU."""
        facts = describe(self.unpacked, **described)
        start = [str(driver)] if isinstance(driver, Path) else driver
        words = [*start, command, str(facts), *map(str, options)]
        return subprocess.run(words, capture_output=True, text=True, check=False)

    def rows(self, path: Path) -> np.ndarray:
        """A trace that the driver wrote: time and outputs, a row a step."""
        numbers = list(self.numbers("output").values())
        return np.fromfile(path).reshape(-1, 1 + (numbers[-1].stop if numbers else 0))


def exported(name: str, variant: str, folder: Path, **options: Any) -> Judged:
    """Export a model for this machine and unpack it."""
    system = model(name)
    chosen = {"platforms": "host", **VARIANTS[variant], **options}
    path = lj.export_fmu(system, folder / f"{name}-{variant}.fmu", **chosen)
    return Judged(system, path, unpack(path, folder / f"{name}-{variant}"))


def compiled(program: Path, compiler: Sequence[str], flags: Sequence[str], *, windows: bool = False) -> Path:
    """The driver; the test is skipped where the compiler is missing and fails where it complains."""
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"no compiler {compiler[0]}")
    try:
        return compile_host(program, sorted(DRIVER.glob("*.c")), compiler, flags, windows=windows)
    except HostBuildError as error:
        pytest.fail(str(error))


def zig(target: str) -> list[str]:
    """The C compiler of the package ziglang for a target."""
    pytest.importorskip("ziglang")
    return [sys.executable, "-m", "ziglang", "cc", "-target", target]


def random_commands(system: System, steps: int) -> np.ndarray:
    """Small commands that change at every step, one row a step."""
    return 0.1 * np.random.default_rng(5).normal(size=(steps, len(system.command_names)))


def engine_rows(system: System, commands: np.ndarray, inner: int, **options: Any) -> Mapping[str, np.ndarray]:
    """Time, q, v, tau, numbers of sensors and total energy of lj.Simulation, before the first and after each command.

    inner : engine steps a command
    """
    simulation = lj.Simulation(system, **options)
    found: dict[str, list[np.ndarray]] = {name: [] for name in ("time", "q", "v", "tau", "sensors", "energy")}
    numbers = [i for i, name in enumerate(simulation.output_names) if not name.endswith(".valid")]  # a truth value
    for row in [None, *commands]:
        if row is not None:
            simulation.command_vector = row
            simulation.step(inner)
        values = (simulation.time, simulation.q, simulation.v, simulation.tau, simulation.output_vector[numbers])
        for name, value in zip(found, values):
            found[name].append(np.array(value, dtype=float))
        found["energy"].append(np.array(simulation.survey()[2]))
    return {name: np.array(rows) for name, rows in found.items()}
