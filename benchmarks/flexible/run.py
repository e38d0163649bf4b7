"""`limberjack bench --flexible`: articulated against composite bodies over the number of modes (003 Fig. 2)."""

from __future__ import annotations

import datetime
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from limberjack.benchmarks import history
from limberjack.benchmarks.engines import Engine, pinned
from limberjack.benchmarks.flexible.chain import Articulated, Composite, States, chain
from limberjack.benchmarks.flexible.operations import articulated_body, composite_body
from limberjack.benchmarks.measure import BATCH_SECONDS, QUICK_BATCH_SECONDS, Timing, compare
from limberjack.benchmarks.states import COUNT
from limberjack.engine.errors import LimberjackError

BODIES = 10
MODES, QUICK_MODES = (0, 1, 2, 3, 5, 8, 10, 15, 20), (0, 2, 5)
#: modes of one body for the growth of the articulated route
GROWTH, QUICK_GROWTH = (1, 2, 4, 8, 16, 32, 64), (4, 16)
REPEATS, QUICK_REPEATS = 31, 3
#: both routes give the same accelerations to this share of the largest; slender chains cost seven digits
AGREEMENT = 1e-7
VARIANTS = ("full", "linearized")


@dataclass(frozen=True)
class Point:
    """One chain: articulated first. errors: largest difference of the two routes, relative."""

    variant: str
    bodies: int
    modes: int
    error: float
    timings: tuple[Timing, ...]

    @property
    def counted(self) -> float:
        """The paper's operations of the composite route over those of the articulated one."""
        return composite_body(self.bodies, self.modes) / articulated_body(self.bodies, self.modes)


def bench(
    *,
    quick: bool = False,
    out: Path = Path("bench-results"),
    history_path: Path | None = None,
    core: int | None = None,
    console: Console | None = None,
) -> list[Point]:
    """Measure, print the tables, write ``flexible.json`` and ``flexible.png`` to ``out`` and a line to the history.

    quick : few chains and short batches, no history; history_path : default benchmarks/flexible/history.jsonl in a
    source tree, else ``flexible-history.jsonl`` in out; core : processor to run on, default the last allowed one

    Raises LimberjackError when the two routes differ.
    """
    console = console or Console()
    repeats, seconds = (QUICK_REPEATS, QUICK_BATCH_SECONDS) if quick else (REPEATS, BATCH_SECONDS)
    points: list[Point] = []
    with pinned(core):
        for variant in VARIANTS:
            for modes in QUICK_MODES if quick else MODES:
                points.append(_measure(variant, BODIES, modes, repeats, seconds))
        for modes in QUICK_GROWTH if quick else GROWTH:
            points.append(_measure("full", 1, modes, repeats, seconds))
    _print(points, console)
    out.mkdir(parents=True, exist_ok=True)
    content = {"machine": history.machine(), "commit": history.commit(), "points": [asdict(p) for p in points]}
    (out / "flexible.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    _draw(points, out / "flexible.png")
    if not quick:
        history.record(history_path or _history_path() or out / "flexible-history.jsonl", _line(points))
    console.print(f"results in {out}", markup=False, highlight=False)
    return points


def _measure(variant: str, bodies: int, modes: int, repeats: int, seconds: float) -> Point:
    system = chain(bodies, modes, variant)
    states = States(system)
    engines: list[Engine] = [Articulated(system, states), Composite(system, states)]
    error = max(_difference(*(engine.result("forward", k) for engine in engines)) for k in range(COUNT))
    if not error <= AGREEMENT:
        raise LimberjackError(f"{system.name}: articulated and composite bodies differ by {error:.1e}.")
    return Point(variant, bodies, modes, error, tuple(compare(engines, "forward", repeats, seconds)))


def _difference(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).max() / np.abs(b).max())


def _print(points: list[Point], console: Console) -> None:
    table = Table("bodies", "modes", "variant", "articulated, µs", "composite, µs", "measured", "counted", box=None)
    for point in points:
        ours, other = point.timings
        cells = point.bodies, point.modes, point.variant, f"{ours.us.median:.3g}", f"{other.us.median:.3g}"
        table.add_row(*map(str, cells), f"{other.ratio.median:.2f}", f"{point.counted:.2f}")
    console.print("forward dynamics of chains of flexible beams; measured and counted: composite over articulated")
    console.print(table)


def _draw(points: list[Point], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4.5), layout="constrained")
    cost, gain, growth = figure.subplots(1, 3)
    for variant, style in zip(VARIANTS, ("o-", "o:")):
        found = [p for p in points if p.bodies == BODIES and p.variant == variant]
        modes = [p.modes for p in found]
        for i, (name, colour) in enumerate((("articulated", "tab:blue"), ("composite", "tab:orange"))):
            times = [p.timings[i].us.median for p in found]
            cost.plot(modes, times, style, color=colour, label=f"{name}, {variant}", markersize=3)
        gain.plot(modes, [p.timings[1].ratio.median for p in found], style, label=f"measured, {variant}", markersize=3)
    gain.plot(modes, [p.counted for p in found], "k--", label="operations counted in the paper")
    alone = [p for p in points if p.bodies == 1]
    growth.loglog([p.modes for p in alone], [p.timings[0].us.median for p in alone], "o-", markersize=3)
    for axes, title, label in (
        (cost, f"{BODIES} bodies", "µs, forward dynamics"),
        (gain, f"{BODIES} bodies", "composite over articulated"),
        (growth, "one body, articulated, full", "µs, forward dynamics"),
    ):
        axes.set(title=title, xlabel="modes a body", ylabel=label)
        axes.grid(True, which="both", linewidth=0.3)
    cost.legend(fontsize=7)
    gain.legend(fontsize=7)
    figure.savefig(path, dpi=120)


def _history_path() -> Path | None:
    path = history.default_path()
    return None if path is None else path.parent / "flexible" / "history.jsonl"


def _line(points: list[Point]) -> dict[str, Any]:
    named = {f"{p.bodies} x {p.modes} {p.variant}": [t.us.median for t in p.timings] for p in points}
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return {"commit": history.commit(), "date": now, "machine": history.machine(), "us": named}
