"""Modal bodies in large motion against the finite-segment model: pendulum, slewing manipulator, tumbling boom."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.model.system import Body, Hinge, Inertia, Pose
from tests.engine.kernels.flexible.beams import Strip, hung
from tests.engine.kernels.flexible.segments import Z, driven, history, segments, stable_step
from tests.validation.figures import figure

EVERY = 0.02


def motor(name: str, parent: str | None, at: float = 0.0) -> Body:
    """A small hub on a hinge about z: beams are clamped to it."""
    hinge = Hinge(name, "revolute", parent, inboard=Pose(np.eye(3), np.array([at, 0.0, 0.0])), axes=Z)
    return Body(f"{name} hub", Inertia(0.1, np.zeros(3), 0.02 * np.eye(3)), hinge)


def modal(strip: Strip, kind: str, modes: int, name: str, parent: str, **options: object) -> list[Body]:
    """The strip clamped to a body, with its bending modes."""
    return hung(strip.data(kind, modes), Hinge(f"{name} clamp", "fixed", parent), 3000.0 * strip.rate, name, **options)


def limit(coarse: np.ndarray, fine: np.ndarray) -> np.ndarray:
    """Richardson's extrapolation of errors that quarter."""
    return (4.0 * fine - coarse) / 3.0


def distance(a: np.ndarray, b: np.ndarray) -> float:
    """Largest difference of positions, m."""
    return float(np.abs(a - b)[:, 1:].max())


def test_a_pendulum_swings_as_segments_do():
    """Released level, half a turn, 5 mm of deflection at a length of 1 m: 0.1 mm, nearer to the limit than 40 segments.

    Without the terms of second order, and without foreshortening, it is ten times further off.
    """
    strip = Strip(0.5, 4.0, 1.0)

    def swung(**options: object) -> np.ndarray:
        bodies = [motor("pin", None), *modal(strip, "cantilever", 5, "strip", "pin hub", **options)]
        return history(driven(bodies, ["pin"], 9.81), {"strip.tip": np.zeros(3)}, None, 1.0, EVERY, 2.5e-4)

    coarse, fine = (
        history(
            driven([motor("pin", None), *segments(strip, count, "s", "pin hub")], ["pin"], 9.81),
            {f"s{count - 1}": np.array([strip.length / count, 0.0, 0.0])},
            None, 1.0, EVERY, stable_step(strip, count, EVERY),
        )
        for count in (20, 40)
    )  # fmt: skip
    expected = limit(coarse, fine)
    figure(
        "pendulum: distance from the segments' limit",
        distance(swung(), expected),
        unit="m",
        oracle="40 rigid segments, extrapolated",
        below=min(1.0e-4, distance(fine, expected)),
    )
    assert distance(swung(geometric=False), expected) > 1e-3
    assert distance(swung(variant="linearized"), expected) > 1e-3


def torques(t: float) -> Mapping[str, float]:
    """Of a manipulator's two motors, N·m."""
    return {"shoulder.drive": 1.5 * np.sin(np.pi * t), "elbow.drive": -0.6 * np.sin(2.0 * np.pi * t)}


@pytest.mark.long
def test_a_slewing_manipulator_moves_as_segments_do():
    """Two beams turn by 3 rad with 31 mm of deflection: both tips stay within 0.1 mm of the segments' limit for 3 s.

    The upper beam carries the lower one: with modes of a free tip alone (cantilever) it is five times further off.
    """
    strip = Strip(0.5, 20.0, 1.0)

    def modes(kind: str) -> np.ndarray:
        upper = [motor("shoulder", None), *modal(strip, kind, 4, "upper", "shoulder hub")]
        lower = [motor("elbow", "upper.tip"), *modal(strip, "cantilever", 5, "lower", "elbow hub")]
        tips = {"upper.tip": np.zeros(3), "lower.tip": np.zeros(3)}
        return history(driven(upper + lower, ["shoulder", "elbow"]), tips, torques, 3.0, EVERY, 2.5e-4)

    def rigid(count: int) -> np.ndarray:
        l = strip.length / count
        upper = [motor("shoulder", None), *segments(strip, count, "u", "shoulder hub")]
        lower = [motor("elbow", f"u{count - 1}", l), *segments(strip, count, "l", "elbow hub")]
        tips = {f"{name}{count - 1}": np.array([l, 0.0, 0.0]) for name in "ul"}
        dt = stable_step(strip, count, EVERY)
        return history(driven(upper + lower, ["shoulder", "elbow"]), tips, torques, 3.0, EVERY, dt)

    expected = limit(rigid(10), rigid(20))
    close, far = distance(modes("craig-bampton"), expected), distance(modes("cantilever"), expected)
    figure(
        "manipulator: distance from the segments' limit",
        close,
        unit="m",
        oracle="20 rigid segments, extrapolated",
        below=1.0e-4,
    )
    assert 3.0 * close < far < 1.0e-3


@pytest.mark.parametrize(("rate", "close"), [(0.5, 3e-5), (1.0, 2e-4)])
def test_a_tumbling_hub_with_a_boom_moves_as_segments_do(rate, close):
    """A free hub that turns about no principal axis; the boom bends in both planes, one twice as stiff.

    Deflections grow with the square of the rate, what modes of second order leave out with its fourth power and more.
    """
    strip = Strip(0.5, 4.0, 1.0, across=2.0)
    hub = Body("hub", Inertia(2.0, np.zeros(3), np.diag([0.05, 0.08, 0.1])), Hinge("base", "free", None))

    def start(simulation: lj.Simulation) -> None:
        simulation.v = np.concatenate([rate * np.array([2.0, 1.5, 1.0]), np.zeros(simulation.system.nv - 3)])

    def moved(bodies: list[Body], tip: str, at: float, dt: float) -> np.ndarray:
        points = {"hub": np.array([0.0, 0.3, 0.0]), tip: np.array([at, 0.0, 0.0])}
        return history(driven([hub, *bodies], []), points, None, 2.0, EVERY, dt, start)

    coarse, fine = (
        moved(segments(strip, n, "s", "hub", True), f"s{n - 1}", 1.0 / n, stable_step(strip, n, EVERY, True))
        for n in (10, 20)
    )
    expected = limit(coarse, fine)
    found = moved(modal(strip, "cantilever", 10, "strip", "hub"), "strip.tip", 0.0, 2.5e-4)
    figure(
        "tumbling boom: distance from the segments' limit",
        distance(found, expected),
        unit="m",
        oracle="20 rigid segments, extrapolated",
        below=close,
    )
