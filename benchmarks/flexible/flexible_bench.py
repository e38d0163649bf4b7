"""`limberjack bench --flexible`: articulated against composite bodies (003 Fig. 2), growth, peers, spacecraft."""

from __future__ import annotations

import datetime
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import history
from benchmarks.engines import Engine, pinned
from benchmarks.flexible.chain import Articulated, Composite, States, chain
from benchmarks.flexible.lengths import Length, over_lengths
from benchmarks.flexible.peers import Comparison, beside_peers
from benchmarks.flexible.plots import draw
from benchmarks.flexible.point import Point
from benchmarks.flexible.spacecraft import RealTime, real_time, show
from benchmarks.measure import BATCH_SECONDS, QUICK_BATCH_SECONDS, compare
from benchmarks.states import COUNT
from limberjack.engine.common.errors import LimberjackError

BODIES = 10
MODES, QUICK_MODES = (0, 1, 2, 3, 5, 8, 10, 15, 20), (0, 2, 5)
#: modes of one body for the growth of the articulated route
GROWTH, QUICK_GROWTH = (1, 2, 4, 8, 16, 32, 64), (4, 16)
REPEATS, QUICK_REPEATS = 31, 3
#: both routes give the same accelerations to this share of the largest; slender chains cost seven digits
AGREEMENT = 1e-7
#: batches beside peers are longer: starting a run of theirs takes some hundred microseconds
PEER_BATCHES = 10
VARIANTS = ("full", "linearized")


@dataclass(frozen=True)
class Results:
    """What a run found: chains by both routes, chains of many bodies, problems beside peers, spacecraft."""

    points: list[Point]
    lengths: list[Length]
    compared: list[Comparison]
    spacecraft: list[RealTime]


def bench(
    *,
    quick: bool = False,
    out: Path = Path("bench-results"),
    history_path: Path | None = None,
    core: int | None = None,
    console: Console | None = None,
) -> Results:
    """Measure, print the tables, write ``flexible.json`` and ``flexible.png`` to ``out`` and a line to the history.

    quick : few chains and short batches, no history; history_path : default benchmarks/flexible/history.jsonl in a
    source tree, else ``flexible-history.jsonl`` in out; core : processor to run on, default the last allowed one

    Raises LimberjackError when the two routes, or a peer and ours, differ.
    """
    console = console or Console()
    repeats, seconds = (QUICK_REPEATS, QUICK_BATCH_SECONDS) if quick else (REPEATS, BATCH_SECONDS)
    with pinned(core):
        points = [
            _measure(variant, BODIES, modes, repeats, seconds)
            for variant in VARIANTS
            for modes in (QUICK_MODES if quick else MODES)
        ]
        points += [_measure("full", 1, modes, repeats, seconds) for modes in (QUICK_GROWTH if quick else GROWTH)]
        lengths = over_lengths(quick, repeats, seconds)
        compared, remarks = beside_peers(quick, repeats, PEER_BATCHES * seconds)
        spacecraft = real_time(repeats, seconds)
    results = Results(points, lengths, compared, spacecraft)
    _print(results, remarks, console)
    history.write({"machine": history.machine(), "commit": history.commit(), **asdict(results)}, out, "flexible")
    draw(points, lengths, compared, BODIES, out / "flexible.png")
    if not quick:
        history.record(history_path or _history_path() or out / "flexible-history.jsonl", _line(results))
    console.print(f"results in {out}", markup=False, highlight=False)
    return results


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


def _print(results: Results, remarks: list[str], console: Console) -> None:
    table = Table("bodies", "modes", "variant", "articulated, µs", "composite, µs", "measured", "counted", box=None)
    for point in results.points:
        ours, other = point.timings
        cells = point.bodies, point.modes, point.variant, f"{ours.us.median:.3g}", f"{other.us.median:.3g}"
        table.add_row(*map(str, cells), f"{other.ratio.median:.2f}", f"{point.counted:.2f}")
    console.print("forward dynamics of chains of flexible beams; measured and counted: composite over articulated")
    console.print(table)
    table = Table("bodies", "modes", "articulated, µs", "a body, µs", box=None)
    for length in results.lengths:
        median = length.us.median
        table.add_row(str(length.bodies), str(length.modes), f"{median:.3g}", f"{median / length.bodies:.3g}")
    console.print("the same over the number of bodies")
    console.print(table)
    table = Table("problem", "ours, µs", "peer", "peer, µs", "peer / ours (quartiles)", "difference", box=None)
    for compared in results.compared:
        ours, peer = compared.timings
        ratio = f"{peer.ratio.median:.3g} ({peer.ratio.q1:.3g}–{peer.ratio.q3:.3g})"
        times = f"{ours.us.median:.3g}", peer.engine, f"{peer.us.median:.3g}"
        table.add_row(compared.problem, *times, ratio, f"{compared.error:.0e}")
    console.print("beside peers, results compared first")
    console.print(table)
    for remark in remarks:
        console.print(remark, markup=False, highlight=False)
    show(results.spacecraft, console)


def _history_path() -> Path | None:
    path = history.default_path()
    return None if path is None else path.parent / "flexible" / "history.jsonl"


def _line(results: Results) -> dict[str, Any]:
    named = {f"{p.bodies} x {p.modes} {p.variant}": [t.us.median for t in p.timings] for p in results.points}
    named |= {f"{p.bodies} x {p.modes}, length": [p.us.median] for p in results.lengths}
    named |= {p.problem: [t.us.median for t in p.timings] for p in results.compared}
    named |= {f"step of {one.model}": [one.us.median] for one in results.spacecraft}
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return {"commit": history.commit(), "date": now, "machine": history.machine(), "us": named}
