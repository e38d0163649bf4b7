"""`limberjack bench --contacts`: time of a step and error against closed forms, beside peers, in one run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import history
from benchmarks.contacts.engines import ENGINES, Stepped
from benchmarks.contacts.exudyn_peer import ExudynBalls
from benchmarks.contacts.robot_engines import ROBOT_ENGINES, Robot
from benchmarks.contacts.robots import RobotScene, robot_scenes
from benchmarks.contacts.scenes import Scene, scenes
from benchmarks.engines import pinned
from benchmarks.measure import BATCH_SECONDS, QUICK_BATCH_SECONDS, compare
from benchmarks.peer_build import PeerUnavailableError
from limberjack.engine.common.errors import ModelError

BALLS, BOXES, STACKS = (1, 4, 16, 64), (1, 4, 16), (2, 4, 10, 16, 64)
QUICK_BALLS, QUICK_BOXES, QUICK_STACKS = (4,), (1,), (2,)
REPEATS, QUICK_REPEATS = 31, 3


def bench(
    *,
    quick: bool = False,
    out: Path = Path("bench-results"),
    history_path: Path | None = None,
    core: int | None = None,
    console: Console | None = None,
) -> dict[str, Any]:
    """Measure, print the table and write ``contacts.json`` to ``out``, a line to the history if one is given.

    All engines of a scene take turns, a step of 1 ms each, while every body touches. The error is the largest distance
    of a body from where the closed form has it after half a second; robots' scenes say what theirs is.
    """
    console = console or Console()
    chosen = scenes(QUICK_BALLS, QUICK_BOXES, QUICK_STACKS) if quick else scenes(BALLS, BOXES, STACKS)
    result: dict[str, Any] = {"commit": history.commit(), "machine": history.machine(), "scenes": [], "remarks": []}
    with pinned(core):
        for scene in chosen:
            result["scenes"].append(_measured(scene, (*ENGINES, ExudynBalls), quick, result["remarks"]))
        for robot in robot_scenes(quick=quick):
            measured = _measured(robot, ROBOT_ENGINES, quick, result["remarks"])
            if measured["engines"]:
                result["scenes"].append(measured)
    console.print(_table(result["scenes"]))
    for remark in result["remarks"]:
        console.print(remark, markup=False, highlight=False)
    history.write(result, out, "contacts")
    if history_path is not None:
        history.record(history_path, result)
    return result


def _measured(
    scene: Scene | RobotScene, kinds: Sequence[Callable[[Any], Stepped | Robot]], quick: bool, remarks: list[str]
) -> dict[str, Any]:
    """Nothing under "engines" when even ours lacks the scene's model."""
    engines: list[Stepped | Robot] = []
    for kind in kinds:
        try:
            engines.append(kind(scene))
        except (PeerUnavailableError, ModelError) as missing:
            if str(missing) not in remarks:
                remarks.append(str(missing))
    if not engines:
        return {"scene": scene.name, "bodies": 0, "engines": []}
    repeats, seconds = (QUICK_REPEATS, QUICK_BATCH_SECONDS) if quick else (REPEATS, BATCH_SECONDS)
    timings = compare(engines, "step", repeats, seconds)
    found = [asdict(timing) | {"error_m": engine.error()} for timing, engine in zip(timings, engines, strict=True)]
    return {"scene": scene.name, "bodies": scene.count, "engines": found}


def _table(measured: list[dict[str, Any]]) -> Table:
    table = Table(title="a step with contacts, µs; error at the end of the scene, m")
    for head in ("scene", "engine", "µs", "over ours (quartiles)", "error, m"):
        table.add_column(head, justify="left" if head in ("scene", "engine") else "right")
    for scene in measured:
        for one in scene["engines"]:
            ratio = one["ratio"]
            spread = f"{ratio['median']:.2f} ({ratio['q1']:.2f}–{ratio['q3']:.2f})"
            table.add_row(scene["scene"], one["engine"], f"{one['us']['median']:.3g}", spread, f"{one['error_m']:.1g}")
    return table
