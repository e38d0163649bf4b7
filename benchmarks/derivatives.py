"""Derivative kernels beside Pinocchio's in C++: `python -m benchmarks.derivatives [robot or length …]`.

Same models, states, batches and checks of agreement as `limberjack bench`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.engines import Engine, Timer, pinned
from benchmarks.measure import BATCH_SECONDS, Timing, compare
from benchmarks.models import ROBOTS, models
from benchmarks.ours import loops
from benchmarks.peer_build import PeerUnavailableError, version_of
from benchmarks.pinocchio_peer import MATRICES, CompiledPinocchio
from benchmarks.report import ratio_text
from benchmarks.states import COUNT, States, random_states
from benchmarks.trees import tree_of
from limberjack.engine.algebra.array_views import total
from limberjack.engine.common.errors import LimberjackError
from limberjack.engine.model.build import build
from limberjack.engine.model.plant import aligned_zeros
from limberjack.engine.model.system import System
from limberjack.engine.tables.plant import C_BODIES
from limberjack.engine.tables.slopes import slope_sections

OPERATIONS = {
    "inverse_derivatives": "derivatives of inverse dynamics",
    "forward_derivatives": "derivatives of forward dynamics",
}
CHAINS = (10, 50, 200)
REPEATS = 31
#: both sides invert M, whose condition for long chains is of the order of 1e7
AGREEMENT = 1e-8


class Derivatives:
    """The engine's derivative kernels, called in a compiled loop."""

    name = "Limberjack"

    def __init__(self, system: System, states: States) -> None:
        plant, nv = build(system), system.nv
        slopes = aligned_zeros(total(slope_sections(plant.count(C_BODIES), nv)))
        self._out = {name: np.empty((MATRICES[name], nv, nv)) for name in OPERATIONS}
        self._loops = {
            "forward_derivatives": loops().forward_slopes_loop,
            "inverse_derivatives": loops().inverse_slopes_loop,
        }
        self._third = {"forward_derivatives": states.tau, "inverse_derivatives": states.vdot}
        self._states, self._vectors = states, np.zeros((2, nv))
        self._model = plant.ints, plant.floats, plant.new_work(), slopes
        for name in OPERATIONS:  # compile before anything is timed
            self._run(name, COUNT, slice(None))
        self.timers: dict[str, Timer] = {name: partial(self._time, name) for name in OPERATIONS}
        self.note = f"numba {version_of('numba')}, LLVM of llvmlite {version_of('llvmlite')}"

    def _run(self, operation: str, calls: int, which: slice) -> None:
        s = self._states
        inputs = s.q[which], s.v[which], self._third[operation][which]
        self._loops[operation](calls, *self._model, *inputs, self._vectors, self._out[operation].reshape(-1))

    def _time(self, operation: str, calls: int) -> float:
        begin = time.thread_time()
        self._run(operation, calls, slice(None))
        return time.thread_time() - begin

    def result(self, operation: str, k: int) -> np.ndarray:
        """The matrices for state k, one above the other."""
        self._run(operation, 1, slice(k, k + 1))
        return np.concatenate(self._out[operation])


def measure(system: System, repeats: int, say: Callable[[str], None]) -> list[Timing]:
    """Timings of both engines for both operations; LimberjackError where their matrices differ."""
    tree = tree_of(system)
    states = random_states(tree)
    engines: list[Engine] = [Derivatives(system, states), CompiledPinocchio(tree, states, say)]
    found: list[Timing] = []
    for operation in OPERATIONS:
        _check(system, engines, operation)
        found += compare(engines, operation, repeats, BATCH_SECONDS)
    return found


def _check(system: System, engines: Sequence[Engine], operation: str) -> None:
    for k in range(COUNT):
        both = [np.split(engine.result(operation, k), MATRICES[operation]) for engine in engines]
        worst = max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(*both))
        if not worst <= AGREEMENT:
            raise LimberjackError(f"{system.name}: {OPERATIONS[operation]} differ from Pinocchio's by {worst:.1e}.")


def table(operation: str, rows: dict[str, list[Timing]]) -> Table:
    """Microseconds of both engines and their ratio, a row a model."""
    title = f"\n{OPERATIONS[operation]}, µs a call"
    out = Table(title=title, title_justify="left", box=None, padding=(0, 1, 0, 0), pad_edge=False)
    out.add_column("model", no_wrap=True)
    for heading in ("ours", "Pinocchio", "ratio"):
        out.add_column(heading, justify="right", no_wrap=True)
    for name, timings in rows.items():
        ours, theirs = (timing for timing in timings if timing.operation == operation)
        out.add_row(name, f"{ours.us.median:.4g}", f"{theirs.us.median:.4g}", ratio_text(theirs.ratio))
    return out


def main(
    robots: Sequence[str] = tuple(ROBOTS), chains: Sequence[int] = CHAINS, repeats: int = REPEATS
) -> dict[str, list[Timing]]:
    """Measure all models on one core and print the tables; the timings by model."""
    console, rows = Console(), {}
    with pinned():
        for name, make in models(tuple(robots), tuple(chains)):
            with console.status(f"{name}: timing", spinner="dots") as status:
                rows[name] = measure(make(), repeats, status.update)
    console.print("ratio: Pinocchio's time over ours, median (quartiles); above 1 ours is faster")
    for operation in OPERATIONS:
        console.print(table(operation, rows))
    return rows


if __name__ == "__main__":
    given = sys.argv[1:]
    robots = [name for name in given if not name.isdigit()] if given else tuple(ROBOTS)
    chains = [int(name) for name in given if name.isdigit()] if given else CHAINS
    try:
        main(robots, chains)
    except (LimberjackError, PeerUnavailableError) as error:
        sys.exit(str(error))
