"""Two problems beside peers: a floating beam beside Exudyn, a hub with two hinged panels beside Basilisk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

import numpy as np

from benchmarks.engines import Engine
from benchmarks.flexible.chain import Articulated
from benchmarks.flexible.exudyn_peer import Exudyn
from benchmarks.flexible.free_beam import BeamStates, beam_data, beam_system
from benchmarks.flexible.panels import Basilisk, Ours
from benchmarks.measure import Timing, compare
from benchmarks.states import COUNT
from limberjack.engine.common.errors import LimberjackError

MODES, QUICK_MODES = (4, 8, 16, 32, 64), (8,)
#: largest difference of the results, relative to the largest number in them; both are at rounding
AGREEMENT = 1e-9
#: steps after which the two spacecraft are compared
STEPS = 1000


@dataclass(frozen=True)
class Comparison:
    """One problem, ours first. error: largest relative difference of the peer's results from ours."""

    problem: str
    error: float
    timings: tuple[Timing, ...]


def beside_peers(quick: bool, repeats: int, seconds: float) -> tuple[list[Comparison], list[str]]:
    """The comparisons with the peers that are installed, and remarks on those that are not.

    Raises LimberjackError where results differ.
    """
    wanted: list[tuple[str, str, Callable[[], Comparison]]] = [
        ("exudyn", f"floating beam, {modes} modes", partial(floating_beam, modes, repeats, seconds))
        for modes in (QUICK_MODES if quick else MODES)
    ]
    wanted.append(("Basilisk", "hub with two panels", partial(hinged_panels, repeats, seconds)))
    there = {module for module, _, _ in wanted if find_spec(module) is not None}
    missing = sorted({module for module, _, _ in wanted} - there)
    remarks = [f'{name} is not installed and left out: pip install "limberjack[bench]"' for name in missing]
    return [compared() for module, _, compared in wanted if module in there], remarks


def floating_beam(modes: int, repeats: int, seconds: float) -> Comparison:
    """Accelerations of a floating beam of particles, displacements linear in its free-free modes."""
    data = beam_data(modes)
    system = beam_system(data)
    states = BeamStates(system)
    ours, peer = Articulated(system, states), Exudyn(data, system, states)
    pairs = [(ours.result("forward", k), peer.result("forward", k)) for k in range(COUNT)]
    return _compared(f"floating beam, {modes} modes: accelerations", pairs, [ours, peer], "forward", repeats, seconds)


def hinged_panels(repeats: int, seconds: float) -> Comparison:
    """One RK4 step of a hub with two hinged panels."""
    peer = Basilisk()
    ours = Ours(peer.start)
    pairs = [(ours.result("step", STEPS), peer.result("step", STEPS))]
    return _compared("hub with two hinged panels: RK4 step", pairs, [ours, peer], "step", repeats, seconds)


def _compared(
    problem: str,
    pairs: Sequence[tuple[np.ndarray, np.ndarray]],
    engines: list[Engine],
    operation: str,
    repeats: int,
    seconds: float,
) -> Comparison:
    error = max(float(np.abs(a - b).max() / np.abs(a).max()) for a, b in pairs)
    if not error <= AGREEMENT:
        raise LimberjackError(f"{problem}: {engines[1].name} differs from ours by {error:.1e}.")
    return Comparison(problem, error, tuple(compare(engines, operation, repeats, seconds)))
