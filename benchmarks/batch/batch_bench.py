"""`limberjack bench --batch`: many worlds of ours, of MuJoCo's rollout and of Pinocchio's parallel routine, in turns.

Steps of `Batch`, of `Simulation`, of MuJoCo and, if it is installed, of MJX; forward dynamics of many states by
`Batch` and by Pinocchio.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import history
from benchmarks.batch import many_states, mjx_peer
from benchmarks.closed_chains.models import four_bars, stewart
from benchmarks.flexible.free_beam import beam_data, beam_system
from benchmarks.measure import Spread, spread
from benchmarks.models import chain_system, robot_system
from benchmarks.mujoco_peer import model_of
from benchmarks.peer_build import PeerUnavailableError, require
from benchmarks.trees import tree_of
from limberjack.engine.api.batch import Batch
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.model.load import load
from limberjack.engine.model.loops.assembly import assemble
from limberjack.engine.model.system import System

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MODELS: dict[str, Callable[[], System]] = {
    "panda": lambda: robot_system("panda"),
    "anymal": lambda: robot_system("anymal"),
    "talos": lambda: robot_system("talos"),
    "chain of 50": lambda: chain_system(50),
    "ten four-bars": lambda: assemble(four_bars(10)),
    "Stewart": lambda: assemble(stewart(free=True)),
    "free beam, 8 modes": lambda: beam_system(beam_data(8)),
    "solar_satellite": lambda: load(EXAMPLES / "solar_satellite.yaml"),
    "cassini": lambda: load(EXAMPLES / "cassini.yaml"),
}
QUICK_MODELS = ("panda", "ten four-bars")
WORLDS, STEPS, ROUNDS, STATES_OF_A_WORLD = 512, 32, 15, 4
QUICK_WORLDS, QUICK_ROUNDS = 16, 2
#: s; until threads have spread over cores, and those of peers have come to rest
_SPREAD = 0.2
#: the only model that MJX steps, since a step takes it seconds
_OF_MJX = "panda"
#: steps of all engines: symplectic Euler
DT = 1e-4

#: runs one batch of steps; returns worlds × steps
Run = Callable[[], int]


def bench(
    *,
    quick: bool = False,
    out: Path = Path("bench-results"),
    history_path: Path | None = None,
    core: int | None = None,
    console: Console | None = None,
) -> dict[str, Any]:
    """Measure, print the table and write ``batch.json`` to ``out``, a line to the history if one is given.

    All engines of a model take turns, so what else the machine does meets them all. Figures are worlds × steps a
    second of wall time; the ratio is that of `Batch` to `Simulation` on one core, round by round.
    core : processor of the runs on one core, default the last allowed one
    """
    console = console or Console()
    cores = sorted(os.sched_getaffinity(0))
    about = {"commit": history.commit(), "machine": history.machine(), "cores": len(cores)}
    result: dict[str, Any] = {**about, "models": []}
    many, rounds = (QUICK_WORLDS, QUICK_ROUNDS) if quick else (WORLDS, ROUNDS)
    for name in QUICK_MODELS if quick else MODELS:
        with console.status(name), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            system, last = MODELS[name](), core if core is not None else cores[-1]
            runs, notes = _runs(system, many, len(cores))
            notes += _mjx(system) if name == _OF_MJX and not quick else []
            rates = _measured(runs, rounds, last, cores)
            states, more = _states(system, STATES_OF_A_WORLD * many, len(cores))
            found = _measured(states, rounds, last, cores) if states else {}
        result["models"].append({"model": name, "rates": rates, "states": found, "notes": [*notes, *more]})
    console.print(_table(result["models"], len(cores)))
    console.print(_states_table(result["models"], len(cores)))
    for found in result["models"]:
        for note in found["notes"]:
            console.print(f"{found['model']}: {note}", markup=False, highlight=False)
    history.write(result, out, "batch")
    if history_path is not None:
        history.record(history_path, result)
    return result


def _runs(system: System, worlds: int, cores: int) -> tuple[dict[str, Run], list[str]]:
    """What is timed, by name, and what this machine or the peer lacks."""
    runs = {
        "one": _alone(system),
        "batch": _together(system, worlds, 1),
        "batch, all cores": _together(system, worlds, cores),
    }
    try:
        runs |= {
            "MuJoCo": _rollout(system, worlds, 1),
            "MuJoCo, all cores": _rollout(system, worlds, cores),
        }
    except (PeerUnavailableError, ValueError) as error:
        return runs, [f"without MuJoCo: {error}"]
    return runs, []


def _mjx(system: System) -> list[str]:
    """What MJX does, or why it is missing. It does not take turns: a call of 32 steps takes it minutes."""
    try:
        return [mjx_peer.measured(system, WORLDS, DT)]
    except PeerUnavailableError as error:
        return [f"without MJX: {error}"]


def _states(system: System, states: int, cores: int) -> tuple[dict[str, Run], list[str]]:
    """Forward dynamics of many states: what is timed, by name, and what this machine or the peer lacks."""
    try:
        return many_states.runs(system, states, cores), []
    except (PeerUnavailableError, ValueError) as error:
        return {}, [f"without Pinocchio: {error}"]


def _alone(system: System) -> Run:
    simulation = Simulation(system, DT, "semi_implicit")

    def run() -> int:
        simulation.reset()
        simulation.step(8 * STEPS)
        return 8 * STEPS

    return run


def _together(system: System, worlds: int, threads: int) -> Run:
    """A batch, whose worlds differ in their velocities where the model has no loops that forbid it."""
    batch = Batch(system, worlds, DT, "semi_implicit", threads=threads)
    if not system.loops:
        batch.v = batch.v + 0.01 * np.random.default_rng(5).normal(size=(worlds, system.nv))
    states = batch.states.data.copy()

    def run() -> int:
        np.copyto(batch.states.data, states)
        batch.step(STEPS)
        if batch.errors:
            raise AssertionError(f"worlds stopped: {batch.errors}")
        return worlds * STEPS

    return run


def _rollout(system: System, worlds: int, threads: int) -> Run:
    """MuJoCo's rollout of the same tree with its own threads. ValueError for models that it does not have."""
    require(["mujoco"])
    import mujoco
    import mujoco.rollout

    model = model_of(mujoco, tree_of(system))
    model.opt.timestep = DT
    data = [mujoco.MjData(model) for _ in range(threads)]
    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    start = np.zeros(size)
    mujoco.mj_getState(model, data[0], start, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    starts, states = np.tile(start, (worlds, 1)), np.zeros((worlds, STEPS, size))
    pool = mujoco.rollout.Rollout(nthread=threads if threads > 1 else 0)

    def run() -> int:
        pool.rollout(model, data if threads > 1 else data[0], starts, nstep=STEPS, state=states)
        return worlds * STEPS

    return run


def _measured(runs: dict[str, Run], rounds: int, core: int, cores: list[int]) -> dict[str, Any]:
    """What each does a second, and the ratio of the batch to one world at a time, or to the peer on one core."""
    rates: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            together = name.endswith("all cores")
            os.sched_setaffinity(0, cores if together else {core})
            _warm(run, together)
            begin = time.perf_counter()
            done = run()
            rates[name].append(done / (time.perf_counter() - begin))
    os.sched_setaffinity(0, cores)
    ratio = np.array(rates["batch"]) / np.array(rates["one" if "one" in rates else "Pinocchio"])
    spreads = {name: spread(sample) for name, sample in rates.items()} | {"ratio": spread(ratio)}
    return {name: vars(each) for name, each in spreads.items()}


def _warm(run: Run, together: bool) -> None:
    """Run once, so that caches are warm; on all cores until threads have spread over them.

    The system spreads them tens of milliseconds after a run on one core, and threads of OpenMP loop on a core of their
    own for as long after a peer's run.
    """
    end = time.perf_counter() + _SPREAD * together
    run()
    while time.perf_counter() < end:
        run()


def _table(models: list[dict[str, Any]], cores: int) -> Table:
    table = Table(title="thousand worlds × steps a second, symplectic Euler, median", title_justify="left", box=None)
    table.add_column("model", no_wrap=True)
    for heading in ("one world", "batch", "ratio", f"batch, {cores} cores", "MuJoCo", f"MuJoCo, {cores} cores"):
        table.add_column(heading, justify="right")
    for found in models:
        rates = {name: Spread(**each) for name, each in found["rates"].items()}
        ratio = rates["ratio"]
        cells = [_thousands(rates.get(name)) for name in ("one", "batch", "batch, all cores", "MuJoCo")]
        cells.insert(2, f"{ratio.median:.2f} ({ratio.q1:.2f}–{ratio.q3:.2f})")
        table.add_row(found["model"], *cells, _thousands(rates.get("MuJoCo, all cores")))
    return table


def _states_table(models: list[dict[str, Any]], cores: int) -> Table:
    table = Table(title="thousand states' forward dynamics a second, median", title_justify="left", box=None)
    table.add_column("model", no_wrap=True)
    for heading in ("batch", "Pinocchio", "ratio", f"batch, {cores} cores", f"Pinocchio, {cores} cores"):
        table.add_column(heading, justify="right")
    for found in models:
        if rates := {name: Spread(**each) for name, each in found["states"].items()}:
            cells = [
                _thousands(rates[name]) for name in ("batch", "Pinocchio", "batch, all cores", "Pinocchio, all cores")
            ]
            cells.insert(2, f"{rates['ratio'].median:.2f} ({rates['ratio'].q1:.2f}–{rates['ratio'].q3:.2f})")
            table.add_row(found["model"], *cells)
    return table


def _thousands(rate: Spread | None) -> str:
    return f"{1e-3 * rate.median:.0f}" if rate else "–"
