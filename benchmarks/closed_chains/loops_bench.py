"""`limberjack bench --loops`: forward dynamics and steps of closed chains beside Pinocchio and MuJoCo, in one run."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from rich.console import Console

from benchmarks import history
from benchmarks.closed_chains import report
from benchmarks.closed_chains.models import MECHANISMS, bars, by_method, four_bars, mesh
from benchmarks.closed_chains.pinocchio_peer import LoopPinocchio, relative
from benchmarks.closed_chains.reference import Reference
from benchmarks.closed_chains.result import EMBED, FORCE, OURS, LoopBenchResult, LoopResult
from benchmarks.engines import Engine, pinned
from benchmarks.measure import BATCH_SECONDS, QUICK_BATCH_SECONDS, Timing, calls_per_batch, compare
from benchmarks.mujoco_peer import MuJoCo
from benchmarks.ours import Limberjack
from benchmarks.peer_build import PeerUnavailableError
from benchmarks.states import COUNT, States
from benchmarks.trees import Tree, tree_of
from limberjack.engine.common.errors import LimberjackError, ModelWarning
from limberjack.engine.model.system import System

OPERATIONS = ("forward", "step")
REPEATS, QUICK_REPEATS = 31, 3
CHAINS, QUICK_CHAINS = (2, 5, 20, 50, 100), (2,)
BARS, QUICK_BARS = (4, 6, 8, 12, 16, 24, 32, 48), (6,)
MESHES, QUICK_MESHES = (1, 2, 3, 4, 6, 8, 12, 16), (3,)
#: exact engines whose accelerations are farther than this (relative) from the dense reference are not timed
AGREEMENT = 1e-8
#: the dense solvers of the peers grow with the cube of a chain
LONGEST_DENSE_CHAIN = 50

#: name, family, size, maker
Case = tuple[str, str, int, Callable[[], System]]
Say = Callable[[str], None]


def cases(chains: Sequence[int], bar_counts: Sequence[int], meshes: Sequence[int]) -> list[Case]:
    """The main models, chains of four-bars, and what embedding and forces are compared on."""
    found: list[Case] = [(name, "mechanisms", 0, make) for name, make in MECHANISMS.items()]
    found += [(f"{n} four-bars", "four-bars", n, partial(four_bars, n)) for n in chains]
    found += [(f"{n} bars", "bars", n, partial(bars, n)) for n in bar_counts]
    return found + [(f"mesh of {n}", "mesh", n, partial(mesh, n)) for n in meshes]


def bench(
    *,
    quick: bool = False,
    out: Path = Path("bench-results"),
    history_path: Path | None = None,
    core: int | None = None,
    console: Console | None = None,
    chosen: Sequence[Case] | None = None,
) -> LoopBenchResult:
    """Measure, print the tables, write ``loops.json`` and ``loops.png`` to ``out`` and a line to the history.

    quick : small models, few and short batches, no history; history_path : default
    benchmarks/closed_chains/history.jsonl in a source tree, else ``loops-history.jsonl`` in out; core : processor to
    run on, default the last allowed one; chosen : other models than all

    Raises LimberjackError when an engine's accelerations are not those of the dense reference.
    """
    console = console or Console()
    repeats, seconds = (QUICK_REPEATS, QUICK_BATCH_SECONDS) if quick else (REPEATS, BATCH_SECONDS)
    if chosen is None:
        chosen = cases(QUICK_CHAINS, QUICK_BARS, QUICK_MESHES) if quick else cases(CHAINS, BARS, MESHES)
    with pinned(core) as used:
        result = LoopBenchResult(history.machine(), history.commit(), used, repeats)
        for case in chosen:
            with console.status(f"{case[0]}: building", spinner="dots") as status:
                result.models.append(_run_case(case, result, seconds, status.update))
    report.print_tables(result, console)
    history.write(result.as_dict(), out, "loops")
    report.draw(result, out / "loops.png")
    history.append(
        None if quick else history_path or _history_path() or out / "loops-history.jsonl", result.history_line
    )
    console.print(f"results in {out}", markup=False, highlight=False)
    return result


def _run_case(case: Case, result: LoopBenchResult, seconds: float, say: Say) -> LoopResult:
    name, family, size, make = case
    system = Reference(make()).assembled()
    states = Reference(system).states()
    say(f"{name}: compiling")
    engines = _ours(system, states)
    if family in ("mechanisms", "four-bars"):
        engines += _peers(name, size, tree_of(system), states, result.remarks, say)
    errors = {engine.name: _error(engine, states) for engine in engines}
    for engine, error in errors.items():
        if engine != MuJoCo.name and not error <= AGREEMENT:
            raise LimberjackError(f"{name}: accelerations of {engine} differ from the dense reference by {error:.1e}.")
    say(f"{name}: timing")
    timings: list[Timing] = []
    for operation in OPERATIONS:
        timings += compare(_faster_first(engines, operation), operation, result.repeats, seconds)
    bodies = sum(body.hinge.type != "fixed" for body in system.bodies)
    return LoopResult(name, family, size, bodies, system.nv, len(system.loops), tuple(timings), errors)


def _ours(system: System, states: States) -> list[Engine]:
    found: list[Engine] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # a large group that is embedded because we ask for it
        for name, method in ((EMBED, "embed"), (FORCE, "force")):
            found.append(Limberjack(by_method(system, method), states, OPERATIONS, name))
    return found


def _peers(name: str, size: int, tree: Tree, states: States, remarks: list[str], say: Say) -> list[Engine]:
    """Every peer that is there and exact enough; why others are not goes to the remarks."""
    makers: dict[str, Callable[[], Engine]] = {
        "Pinocchio lcaba": lambda: LoopPinocchio("lcaba", tree, states, AGREEMENT, say),
        "Pinocchio constraintDynamics": lambda: LoopPinocchio("constraintDynamics", tree, states, AGREEMENT, say),
        "MuJoCo": lambda: MuJoCo(tree, states, say),
    }
    found: list[Engine] = []
    for peer, make in makers.items():
        try:
            if size > LONGEST_DENSE_CHAIN and peer != "Pinocchio lcaba":
                raise PeerUnavailableError(f"its factorisation for {size} loops takes too long")
            engine = make()
            error = _error(engine, states)
            if peer != MuJoCo.name and not error <= AGREEMENT:
                raise PeerUnavailableError(f"its accelerations differ from the dense reference by {error:.1e}")
            found.append(engine)
        except PeerUnavailableError as reason:
            remarks.append(f"{name}: no {peer}: {reason}")
    return found


def _error(engine: Engine, states: States) -> float:
    return max(relative(engine.result("forward", k), states.vdot[k]) for k in range(COUNT))


def _faster_first(engines: Sequence[Engine], operation: str) -> list[Engine]:
    """The faster of our methods in front: ratios are over it."""
    ours = [engine for engine in engines if engine.name in OURS]

    def cost(engine: Engine) -> float:
        calls = calls_per_batch(engine, operation, QUICK_BATCH_SECONDS)
        return min(engine.timers[operation](calls) for _ in range(3)) / calls

    return sorted(ours, key=cost) + [engine for engine in engines if engine.name not in OURS]


def _history_path() -> Path | None:
    path = history.default_path()
    return None if path is None else path.parent / "closed_chains" / "history.jsonl"
