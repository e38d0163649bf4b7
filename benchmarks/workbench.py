"""What the operator workbench costs: `python -m benchmarks.workbench [folder]`.

Products with φ and ψ against the number of bodies; Ω and the inverse mass matrix as whole arrays beside the same
expressions in dense numpy, where φ and ψ are full matrices. Writes ``workbench.png`` and prints one table.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.engines import pinned
from benchmarks.models import chain_system
from limberjack.engine.operators import Operators

SIZES = (10, 20, 50, 100, 200, 500, 1000)
#: dense matrices of (6 N)² numbers, and products of three of them, are measured up to here
LARGEST_DENSE = 500
BATCHES, BATCH_SECONDS = 7, 0.05
AGREEMENT = 1e-9

#: column → (label, dense numpy?)
COLUMNS = {
    "phi x": "φ x",
    "psi x": "ψ x",
    "omega": "Ω",
    "omega dense": "Ω, dense numpy",
    "inverse": "M⁻¹",
    "inverse dense": "M⁻¹, dense numpy",
}


def seconds(call: Callable[[], object]) -> float:
    """Median CPU seconds of one call over a few batches."""
    call()
    batches = []
    for _ in range(BATCHES):
        calls, begin = 0, time.thread_time()
        while calls == 0 or time.thread_time() - begin < BATCH_SECONDS:
            call()
            calls += 1
        batches.append((time.thread_time() - begin) / calls)
    return float(np.median(batches))


def measure(bodies: int) -> dict[str, float]:
    """Seconds of everything in COLUMNS for a chain of this many bodies; ValueError if both roads disagree."""
    system = chain_system(bodies)
    ops = Operators(system, np.linspace(-1.0, 1.0, system.nq))
    x = np.linspace(-1.0, 1.0, 6 * bodies)
    factor = ops.I - ops.H * ops.psi * ops.K
    calls: dict[str, Callable[[], np.ndarray]] = {
        "phi x": lambda: np.asarray(ops.phi * x),
        "psi x": lambda: np.asarray(ops.psi * x),
        "omega": ops.Omega.to_array,
        "inverse": (factor.T * ops.D_inverse * factor).to_array,
    }
    if bodies <= LARGEST_DENSE:
        calls |= dense(ops)
        for name in ("omega", "inverse"):
            _agree(name, calls[name](), calls[f"{name} dense"]())
    return {name: seconds(call) for name, call in calls.items()}


def dense(ops: Operators) -> dict[str, Callable[[], np.ndarray]]:
    """Ω and M⁻¹ from E_psi, E_phi, H, M and D as full matrices."""
    E_phi, E_psi, H, M = (X.to_array() for X in (ops.E_phi, ops.E_psi, ops.H, ops.M))
    J, D_inverse, one = ops.J.to_array(), ops.D_inverse.to_array(), np.eye(len(E_phi))

    def omega() -> np.ndarray:
        V = H @ np.linalg.inv(one - E_psi)
        return np.asarray(V.T @ D_inverse @ V)

    def inverse() -> np.ndarray:
        F = H @ np.linalg.inv(one - E_phi)
        return np.asarray(np.linalg.inv(F @ M @ F.T + J))

    return {"omega dense": omega, "inverse dense": inverse}


def _agree(name: str, ours: np.ndarray, theirs: np.ndarray) -> None:
    difference = np.max(np.abs(ours - theirs)) / np.max(np.abs(ours))
    if not difference <= AGREEMENT:
        raise ValueError(f"{name} and dense numpy differ by {difference:.1e}; nothing was timed.")


def table(results: dict[int, dict[str, float]]) -> Table:
    """Milliseconds, one row a number of bodies."""
    made = Table(title="milliseconds", title_justify="left", box=None)
    for heading in ("bodies", *COLUMNS.values()):
        made.add_column(heading, justify="right")
    for bodies, row in results.items():
        cells = [f"{1e3 * row[name]:.3g}" if name in row else "–" for name in COLUMNS]
        made.add_row(str(bodies), *cells)
    return made


def plot(results: dict[int, dict[str, float]], path: Path) -> None:
    """Times against bodies, both axes logarithmic: products on the left, whole matrices on the right."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    sizes = np.array(list(results), dtype=float)
    for name, colour in {"phi x": "tab:blue", "psi x": "tab:orange"}.items():
        left.loglog(sizes, [1e3 * row[name] for row in results.values()], "o-", color=colour, label=COLUMNS[name])
    slope = 1e3 * results[max(results)]["phi x"] / sizes[-1]
    left.loglog(sizes, slope * sizes, "k:", label="∝ N")
    for name, colour in {"omega": "tab:green", "inverse": "tab:red"}.items():
        for column, style in ((name, "o-"), (f"{name} dense", "s--")):
            points = [(n, 1e3 * row[column]) for n, row in results.items() if column in row]
            right.loglog(*zip(*points), style, color=colour, label=COLUMNS[column])
    for axes, title in ((left, "product with a vector"), (right, "whole matrix")):
        axes.set(xlabel="bodies", ylabel="milliseconds", title=title)
        axes.grid(True, which="both", alpha=0.3)
        axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main(folder: Path, sizes: tuple[int, ...] = SIZES) -> dict[int, dict[str, float]]:
    """Measure, print the table, write the plot to `folder`; returns seconds by bodies and column."""
    with pinned():
        results = {bodies: measure(bodies) for bodies in sizes}
    Console().print(table(results))
    plot(results, folder / "workbench.png")
    return results


if __name__ == "__main__":
    if "OPENBLAS_NUM_THREADS" not in os.environ:  # several threads on one core would only wait for each other
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
        os.execv(sys.executable, [sys.executable, "-m", "benchmarks.workbench", *sys.argv[1:]])
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "bench-results"))
