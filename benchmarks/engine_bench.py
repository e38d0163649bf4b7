"""`limberjack bench`: our kernels beside Pinocchio and MuJoCo, in one run, on one core."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from rich.console import Console

from benchmarks import history, report
from benchmarks.engines import OPERATIONS, Engine, pinned
from benchmarks.measure import BATCH_SECONDS, QUICK_BATCH_SECONDS, Timing, compare
from benchmarks.models import ROBOTS, models
from benchmarks.mujoco_peer import MuJoCo
from benchmarks.ours import Limberjack
from benchmarks.peer_build import PeerUnavailableError
from benchmarks.pinocchio_peer import pinocchio
from benchmarks.result import BenchResult, ModelResult
from benchmarks.round_trip import measure as measure_round_trip
from benchmarks.states import COUNT, States, random_states
from benchmarks.trees import Tree, tree_of
from limberjack.engine.common.errors import LimberjackError, ModelError
from limberjack.engine.model.system import System

CHAINS = (10, 50, 200, 1000)
REPEATS, QUICK_REPEATS = 31, 3
#: engines whose results differ by more than this (relative) do not solve the same problem
AGREEMENT = 1e-9
COMPARED = ("forward", "inverse", "mass_matrix")
#: peers whose cost grows with the cube of a chain's length are left out of longer ones
LONGEST_MUJOCO_CHAIN = 200
ROUND_TRIPS, QUICK_ROUND_TRIPS = 5000, 200

Say = Callable[[str], None]


def bench(
    robots: Sequence[str] = tuple(ROBOTS),
    chains: Sequence[int] = CHAINS,
    *,
    repeats: int | None = None,
    quick: bool = False,
    round_trip: bool = True,
    out: Path = Path("bench-results"),
    history_path: Path | None = None,
    core: int | None = None,
    console: Console | None = None,
) -> BenchResult:
    """Measure, print the tables, write ``bench.json`` and ``bench.png`` to ``out`` and a line to the history.

    Parameters
    ----------
    robots : names from ROBOTS; chains : lengths of random chains
    repeats : batches of each engine for each number (default 31); quick : few and short batches, no history
    round_trip : measure the engine process over ipc as well
    out : folder for the results; history_path : default benchmarks/history.jsonl in a source tree, else out
    core : processor to run on, default the last allowed one
    console : where to print

    Raises ModelError for an unknown robot, a robot whose package is not installed or an impossible chain.
    """
    console = console or Console()
    repeats = repeats if repeats is not None else (QUICK_REPEATS if quick else REPEATS)
    if repeats < 1:
        raise ModelError(f"{repeats} repeats", where="bench", remedy="Give at least 1")
    with pinned(core) as used:
        result = BenchResult(history.machine(), history.commit(), used, repeats)
        _run_models(result, models(tuple(robots), tuple(chains)), quick, console)
    if round_trip:
        _run_round_trip(result, robots, quick, console)
    report.print_tables(result, console)
    history.write(result.as_dict(), out, "bench")
    report.draw(result, out / "bench.png")
    history.append(
        None if quick else history_path or history.default_path() or out / "history.jsonl", result.history_line
    )
    console.print(f"results in {out}", markup=False, highlight=False)
    return result


def _run_models(
    result: BenchResult, cases: Sequence[tuple[str, Callable[[], System]]], quick: bool, console: Console
) -> None:
    seconds = QUICK_BATCH_SECONDS if quick else BATCH_SECONDS
    for name, make in cases:
        with console.status(f"{name}: building", spinner="dots") as status:
            system = make()
            engines = _engines(system, result, status.update)
            status.update(f"{name}: timing")
            result.models.append(_run_model(name, system, engines, result.repeats, seconds))


def _engines(system: System, result: BenchResult, say: Say) -> list[Engine]:
    """Ours first, then every peer that is there; why others are not goes to the remarks."""
    tree = tree_of(system)
    states = random_states(tree)
    engines: list[Engine] = [Limberjack(system, states)]
    for name, make in (("Pinocchio", pinocchio), ("MuJoCo", _mujoco)):
        try:
            engines.append(make(tree, states, say))
        except PeerUnavailableError as error:
            remark = f"{system.name}: no {name}: {error}"
            result.remarks.append(remark)
    return engines


def _mujoco(tree: Tree, states: States, say: Say) -> MuJoCo:
    if len(tree.links) > LONGEST_MUJOCO_CHAIN:
        raise PeerUnavailableError(f"its factorisation of a chain of {len(tree.links)} bodies takes too long")
    return MuJoCo(tree, states, say)


def _run_model(name: str, system: System, engines: Sequence[Engine], repeats: int, seconds: float) -> ModelResult:
    agreement = {engine.name: _check(name, engines[0], engine) for engine in engines[1:]}
    timings: list[Timing] = []
    for operation in OPERATIONS:
        timings += compare(engines, operation, repeats, seconds)
    bodies = sum(body.hinge.type != "fixed" for body in system.bodies)
    return ModelResult(name, bodies, system.nv, name.startswith("chain "), tuple(timings), agreement)


def _check(name: str, ours: Engine, peer: Engine) -> dict[str, float]:
    """Disagreement of the operations that both do in comparable coordinates; LimberjackError beyond AGREEMENT."""
    found = {operation: _disagreement(ours, peer, operation) for operation in COMPARED}
    for operation, worst in found.items():
        if not worst <= AGREEMENT:
            what = f"{OPERATIONS[operation]} of {peer.name} differs from ours by {worst:.1e} (relative)"
            raise LimberjackError(f"{name}: {what}: the engines do not solve the same problem.")
    return found


def _disagreement(ours: Engine, peer: Engine, operation: str) -> float:
    """Largest difference over all states, relative to the largest number of ours in that state."""
    worst = 0.0
    for k in range(COUNT):
        mine, theirs = ours.result(operation, k), peer.result(operation, k)
        worst = max(worst, float(np.abs(mine - theirs).max() / np.abs(mine).max()))
    return worst


def _run_round_trip(result: BenchResult, robots: Sequence[str], quick: bool, console: Console) -> None:
    name, make = models((robots[0],), ())[0] if robots else models((), (10,))[0]
    requests = QUICK_ROUND_TRIPS if quick else ROUND_TRIPS
    with console.status("lockstep round trip over ipc"):
        for core in dict.fromkeys((result.core, None)):
            trip = measure_round_trip(make(), requests=requests, cpu=core)
            result.round_trips.append(asdict(trip) | {"model": name})
