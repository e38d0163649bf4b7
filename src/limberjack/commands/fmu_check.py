"""Repeats a run with the model's FMU: the same controller drives it through FMPy, and both logs are compared."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from limberjack.commands.controller import SAMPLES, Controller
from limberjack.engine.model.catalogue.catalogue import signal_names
from limberjack.engine.model.system import System


@dataclass(frozen=True)
class FmuState:
    """The state of an FMU as a controller reads it."""

    time: float
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray


@dataclass(frozen=True)
class Comparison:
    """Rows of a log beside the same rows from the FMU, (rows, columns): time, then q, v, tau of `names`."""

    names: tuple[str, ...]
    time: np.ndarray
    engine: np.ndarray
    fmu: np.ndarray

    @property
    def equal(self) -> bool:
        """Whether every number has the same bits."""
        return bool(np.array_equal(self.engine, self.fmu))

    @property
    def largest(self) -> float:
        """Largest difference."""
        return float(np.max(np.abs(self.engine - self.fmu), initial=0.0))


class Vectors:
    """The arrays q, v, tau and command of an FMI 3 FMU, by name."""

    def __init__(self, fmu: Any, description: Any) -> None:
        self._fmu = fmu
        self._references = {variable.name: variable.valueReference for variable in description.modelVariables}
        self._sizes = {
            variable.name: int(np.prod([int(d.start) for d in variable.dimensions]))
            for variable in description.modelVariables
            if variable.dimensions
        }

    def read(self, name: str) -> np.ndarray:
        """Values of an array."""
        if name not in self._sizes:
            return np.zeros(0)
        return np.array(self._fmu.getFloat64([self._references[name]], nValues=self._sizes[name]))

    def write(self, name: str, values: np.ndarray) -> None:
        """Set an array."""
        self._fmu.setFloat64([self._references[name]], values.tolist())


@contextmanager
def running(path: Path) -> Iterator[tuple[Any, Vectors]]:
    """A Co-Simulation instance of an FMU, initialised at time 0, and its arrays."""
    from fmpy import extract, read_model_description
    from fmpy.fmi3 import FMU3Slave

    description, folder = read_model_description(str(path)), extract(str(path))
    try:
        fmu = FMU3Slave(
            guid=description.guid,
            unzipDirectory=folder,
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName=path.stem,
        )
        fmu.instantiate()
        try:
            fmu.enterInitializationMode()
            fmu.exitInitializationMode()
            yield fmu, Vectors(fmu, description)
        finally:
            fmu.terminate()
            fmu.freeInstance()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def drive_fmu(path: Path, system: System, duration_s: float, period_s: float) -> dict[float, FmuState]:
    """Drive an FMU as `controller.drive` drives an engine process: time → state of the cycles that are logged."""
    controller = Controller(system, duration_s)
    cycles = max(1, round(duration_s / period_s))
    stride = max(1, -(-cycles // SAMPLES))
    rows = {}
    with running(path) as (fmu, vectors):
        for cycle in range(cycles + 1):
            time = cycle * period_s
            state = FmuState(time, vectors.read("q"), vectors.read("v"), vectors.read("tau"))
            if cycle % stride == 0 or cycle == cycles:
                rows[cycle] = state
            if cycle < cycles:
                vectors.write("command", controller.commands(state)[0])
                fmu.doStep(currentCommunicationPoint=time, communicationStepSize=period_s)
    return {state.time: state for state in rows.values()}


def compare(log: dict[str, np.ndarray], rows: dict[float, FmuState], system: System) -> Comparison:
    """The log of an engine process beside the rows of the FMU."""
    names = signal_names(system, "q", "v", "tau")
    fmu = np.array([np.concatenate([state.q, state.v, state.tau]) for state in rows.values()])
    return Comparison(names, log["time"], np.column_stack([log[name] for name in names]), fmu)


def plot_comparison(comparison: Comparison, driven: list[str], path: Path) -> None:
    """Joint coordinates of both, and their difference."""
    import matplotlib.pyplot as plt

    figure, (above, below) = plt.subplots(
        2, 1, figsize=(11, 6.5), layout="constrained", sharex=True, height_ratios=(3, 1)
    )
    figure.suptitle("The engine process (lines) and the FMU (dots), driven by the same controller", fontweight="bold")
    every = max(1, len(comparison.time) // 60)
    for name in driven:
        at = comparison.names.index(f"q.{name}")
        (line,) = above.plot(comparison.time, comparison.engine[:, at], lw=1.2, label=name)
        above.plot(comparison.time[::every], comparison.fmu[::every, at], ".", color=line.get_color(), ms=5)
        below.plot(comparison.time, comparison.fmu[:, at] - comparison.engine[:, at], color=line.get_color())
    above.set_ylabel("coordinate / rad or m")
    below.set_ylabel("FMU - engine")
    below.set_xlabel("time / s")
    words = "every bit is equal" if comparison.equal else f"largest difference {comparison.largest:.2g}"
    below.set_title(f"difference: {words}", fontsize=10)
    for axis in (above, below):
        axis.grid(alpha=0.3)
    if len(driven) <= 10:
        above.legend(ncols=4, fontsize=9, loc="lower right", bbox_to_anchor=(1.0, 1.0), frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)
