"""Over-constrained linkages of random proportions: they move in space only because of their proportions.

A ring is given by where its revolute axes are now; its bodies, rods from axis to axis, are parallel to the inertial
frame.
Frames of Denavit and Hartenberg: side i goes along its common normal x by a_i, turned about it by α_i.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import least_squares

import limberjack as lj
from limberjack.engine.model.system import Body, Hinge, Inertia, Loop, Pose
from tests.engine.dense import turn
from tests.engine.kernels.loops.mechanisms.parts import assembled, at

_X, _Z = np.eye(3)[0], np.eye(3)[2]
Frames = list[Pose]


def side(length: float, twist: float) -> Pose:
    """From one axis to the next along the common normal x."""
    return Pose(turn(_X, twist), np.array([length, 0.0, 0.0]))


def about(angle: float, slide: float = 0.0) -> Pose:
    """A turn about z, and a distance along it."""
    return Pose(turn(_Z, angle), slide * _Z)


def _along(steps: Sequence[tuple[float, Pose]]) -> Frames:
    """The frames of all axes of a ring from (angle, side) pairs, whose last side leads back to the first axis."""
    frames, here = [], Pose()
    for angle, step in steps:
        frames.append(here)
        here = here @ about(angle) @ step
    closing = np.abs(here.rotation - np.eye(3)).max() + np.abs(here.position).max()
    assert closing < 1e-9, f"the ring stays open by {closing}"
    return frames


def _angles(first: float, a: float, b: float) -> tuple[float, float]:
    """θ1, θ2 of Bennett's linkage of twists a, b, a, b: tan(θ1/2) tan(θ2/2) = sin((b + a)/2) / sin((b - a)/2)."""
    ratio = np.sin(0.5 * (b + a)) / np.sin(0.5 * (b - a))
    return first, float(2.0 * np.arctan(ratio / np.tan(0.5 * first)))


def _twists(rng: np.random.Generator, count: int) -> np.ndarray:
    """Twists that differ from each other."""
    return np.linspace(0.5, 1.3, count) + rng.uniform(-0.1, 0.1, count)


def bennett(rng: np.random.Generator) -> Frames:
    """Four axes, sides equal in pairs: a / sin α = b / sin β."""
    a, b = _twists(rng, 2)
    first, second = _angles(rng.uniform(0.8, 2.0), a, b)
    sides = side(np.sin(a), a), side(np.sin(b), b)
    return _along(list(zip((first, second, -first, -second), sides * 2, strict=True)))


def goldberg(rng: np.random.Generator) -> Frames:
    """Five axes: two of Bennett's linkages D A B C and D E F C on a common side CD, their sides BC and CF welded,
    the common side left out (Goldberg 1943)."""
    a, b, c = _twists(rng, 3)[[1, 0, 2]]
    common, left, right = side(np.sin(a), a), side(np.sin(b), b), side(np.sin(c), c)
    t, s = _angles(rng.uniform(0.8, 1.6), b, a)
    weld = rng.uniform(0.5, 1.0)
    s2, t2 = _angles(s + weld, c, a)
    welded = left @ about(weld) @ right.inverse()
    return _along(
        [(t - t2, left), (s, common), (-t, welded), (t2, common.inverse()), (-s2, right.inverse())],
    )


def bricard(rng: np.random.Generator) -> Frames:
    """Six axes, symmetric about a line: opposite sides, offsets and angles are equal, whatever they are."""
    sides = [side(*x) for x in zip(rng.uniform(0.4, 0.9, 3), _twists(rng, 3), strict=True)]
    slides, first = rng.uniform(-0.2, 0.2, 3), rng.uniform(0.8, 1.6)

    def half(angles: np.ndarray) -> Pose:
        here = Pose()
        for angle, slide, step in zip(angles, slides, sides, strict=True):
            here = here @ about(angle, slide) @ step
        return here

    def gap(rest: np.ndarray) -> np.ndarray:
        twice = half(np.array([first, *rest])) @ half(np.array([first, *rest]))
        return np.array([*(twice.rotation - np.eye(3)).ravel(), *twice.position])

    for _ in range(50):
        found = least_squares(gap, rng.uniform(-2.5, 2.5, 2), xtol=1e-15, ftol=1e-15, gtol=1e-15)
        R = half(np.array([first, *found.x])).rotation
        if found.cost < 1e-20 and np.trace(R) < 0.0:
            steps = [about(0.0, z) @ step for z, step in zip(slides, sides, strict=True)]
            return _along(list(zip([first, *found.x] * 2, steps * 2, strict=True)))
    raise AssertionError("no such linkage closes")


def sarrus(rng: np.random.Generator) -> Frames:
    """Two legs of three parallel axes each, in two planes: the platform moves along a line."""
    frames = []
    for direction, order in ((0.0, 1), (rng.uniform(1.0, 2.0), -1)):
        R = turn(_Z, direction) @ turn(_X, 0.5 * np.pi)
        lower, upper = rng.uniform(0.6, 0.9, 2)
        height = 0.8
        x = (lower**2 - upper**2 + height**2) / (2.0 * height)
        knee = np.sqrt(lower**2 - x**2)
        foot = 0.4
        points = [[foot, 0.0, 0.0], [foot + knee, x, 0.0], [foot, height, 0.0]]
        frames += [Pose(R, R @ np.array(p)) for p in points][::order]
    return frames


RINGS = {"Bennett": bennett, "Goldberg": goldberg, "Bricard": bricard, "Sarrus": sarrus}


def ring(frames: Frames, rng: np.random.Generator, method: str | None = None, first: int = 0) -> lj.System:
    """The ring as a System at rest, cut at the last axis when counted from `first`; gravity in a random direction."""
    frames = frames[first:] + frames[:first]
    bodies, parent, below = [], None, np.zeros(3)
    for i, frame in enumerate(frames[:-1]):
        span = frames[i + 1].position - frame.position
        about_com = rng.uniform(0.002, 0.01, 3)
        place = Inertia(rng.uniform(0.5, 1.5), 0.5 * span + rng.uniform(-0.1, 0.1, 3), np.diag(about_com + 0.01))
        axis = frame.rotation[:, 2][None]
        hinge = Hinge(f"axis{i}", "revolute", parent, at(frame.position - below), axes=axis)
        bodies.append(Body(f"bar{i}", place, hinge))
        parent, below = f"bar{i}", frame.position
    last = frames[-1]
    cut = Hinge("cut", "revolute", parent, at(last.position - below), at(last.position), last.rotation[:, 2][None])
    gravity = rng.normal(size=3)
    gravity *= 9.81 / np.linalg.norm(gravity)
    return assembled("ring", bodies, [Loop("cut", "hinge", cut, None)], method, gravity)


def doubled_bars(rng: np.random.Generator, method: str | None = None) -> lj.System:
    """A plate on four equal cranks: two of them, and most rows of each hinge, are redundant."""
    crank, angle = rng.uniform(0.3, 0.6), rng.uniform(0.4, 2.4)
    feet = np.array([[0.0, 0.0], [1.0, 0.1], [0.4, 0.7], [0.8, 0.9]]) + rng.uniform(-0.1, 0.1, (4, 2))
    end = crank * np.array([np.cos(angle), np.sin(angle)])
    z, bodies, loops = _Z[None], [], []
    for i, foot in enumerate(feet):
        inertia = Inertia(rng.uniform(0.3, 0.8), at(0.5 * end).position, 0.01 * np.eye(3))
        bodies.append(Body(f"crank{i}", inertia, Hinge(f"crank{i}", "revolute", None, at(foot), axes=z)))
    plate = Inertia(2.0, np.array([0.5, 0.4, 0.0]), 0.1 * np.eye(3))
    bodies.append(Body("plate", plate, Hinge("plate", "revolute", "crank0", at(end), axes=z)))
    for i, foot in enumerate(feet[1:], start=1):
        pin = Hinge(f"pin{i}", "revolute", f"crank{i}", at(end), at(foot - feet[0]), z)
        loops.append(Loop(f"pin{i}", "hinge", pin, "plate"))
    return assembled("plate", bodies, loops, method)


def moving(system: lj.System, name: str, rate: float) -> lj.System:
    """The same system with one of its velocities given, all others as the loops have them."""
    v = np.zeros(system.nv)
    v[system.velocity_names.index(name)] = rate
    return lj.assemble(system, system.q0, v, hold=[name])
