"""Random flexible trees closed to loops where they stand, and their accelerations by the dense system."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

import limberjack as lj
from limberjack.engine.model.system import Hinge, Loop, Pose, System
from limberjack.engine.model.validate import validate
from tests.engine.kernels.flexible.particles import random_flexible, random_state, rotation

#: rows of a loop over [angular; linear], in the axes of frame b
ROWS = {"weld": np.eye(6), "point": np.eye(6)[3:], "pin": np.eye(6)[[0, 1, 3, 4, 5]]}
#: both on a flexible body, between two nodes of one, from a flexible body to the ground or to a rigid one
PLACES = (
    [("hand", "wheel")],
    [("hand", None)],
    [("wheel", "arm")],
    [("panel.node1", "boom.node1")],
    [("hand", "base"), ("wheel", "arm")],
    [("hand", "arm"), ("wheel", None)],
    [("boom.node0", "panel.node1"), ("wheel", "hand")],
)


@dataclass(frozen=True, eq=False)
class Closed:
    """A system with loops that are closed at q, where its modes are deformed; v does not fit the loops."""

    system: System
    q: np.ndarray
    v: np.ndarray
    rng: np.random.Generator

    def by(self, *methods: str) -> System:
        """The same with loops by these methods, in turn."""
        loops = (replace(loop, method=methods[i % len(methods)]) for i, loop in enumerate(self.system.loops))
        return replace(self.system, loops=tuple(loops))

    @property
    def open(self) -> System:
        """The tree without loops."""
        return replace(self.system, loops=())


def closed(seed: int, places: list[tuple[str, str | None]], kind: str, base: str = "free") -> Closed:
    """A random flexible tree whose bodies are tied to each other, or to the ground, as they stand."""
    rng = np.random.default_rng(seed)
    system = random_flexible(rng, 0.05, base).system
    q, v = random_state(system, rng, 0.03)
    dynamics, loops = lj.Dynamics(system), []
    for i, (at, to) in enumerate(places):
        a = Pose(rotation(rng), 0.3 * rng.normal(size=3))
        place = Pose(*dynamics.pose(at, q)) @ a
        other = Pose(*dynamics.pose(to, q)) if to else Pose()
        name = f"tie{i + 1}" if i else "tie"
        cut = {"weld": "fixed", "point": "spherical", "pin": "revolute"}[kind]
        axes = np.array([[0.0, 0.0, 1.0]]) if kind == "pin" else np.zeros((0, 3))
        hinge = Hinge(name, cut, at, inboard=a, outboard=other.inverse() @ place, axes=axes)
        loops.append(Loop(name, "hinge" if kind == "pin" else kind, hinge, to))
    return Closed(validate(replace(starting_at(system, q), loops=tuple(loops))), q, v, rng)


def looped(seed: int, kind: str) -> tuple[System, np.ndarray, np.ndarray, np.random.Generator]:
    """One loop "tie": a hand on two flexible bodies is tied to a wheel on one of them or to the ground."""
    made = closed(seed, [("hand", "wheel" if seed % 2 else None)], kind)
    return made.system, made.q, made.v, made.rng


def starting_at(system: System, q: np.ndarray) -> System:
    """The system with q as its initial coordinates."""
    bodies, start = [], 0
    for body in system.bodies:
        end = start + body.hinge.kind.nq
        bodies.append(replace(body, hinge=replace(body.hinge, q0=q[start:end])))
        start = end
    return replace(system, bodies=tuple(bodies))


def frames(loop: Loop) -> tuple[tuple[float, str | None, Pose], tuple[float, str | None, Pose]]:
    """(sign, body, frame on it) of both sides of a loop."""
    return (-1.0, loop.hinge.parent, loop.hinge.inboard), (1.0, loop.body, loop.hinge.outboard)


def gaps(system: System, dynamics: lj.Dynamics, q: np.ndarray) -> np.ndarray:
    """By how much the frames of every loop lie apart."""
    found = []
    for loop in system.loops:
        a, b = (Pose(*dynamics.pose(body, q)) @ at if body else at for _, body, at in frames(loop))
        found.append(a.position - b.position)
    return np.array(found)


def rows(system: System, dynamics: lj.Dynamics, q: np.ndarray) -> np.ndarray:
    """J (rows, nv) of all loops: velocity of frame b against frame a where they coincide, in the axes of b."""
    return np.vstack([_rows(loop, dynamics, q, lambda body: dynamics.jacobian(body, q)) for loop in system.loops])


def rate(system: System, dynamics: lj.Dynamics, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(dJ/dt) v: what accelerations of the frames leave for dv/dt = 0, where the loops are closed and stay so."""
    found = []
    for loop in system.loops:
        total = np.zeros(6)
        for sign, body, pose in frames(loop):
            if body is not None:
                w, (a, u) = dynamics.velocity(body, q, v)[:3], dynamics.jacobian_rate(body, q, v).reshape(2, 3)
                lever = dynamics.pose(body, q)[0] @ pose.position
                total += sign * np.concatenate([a, u + np.cross(a, lever) + np.cross(w, np.cross(w, lever))])
        axes, spin = _axes(loop, dynamics, q)
        wa, wb = (dynamics.velocity(body, q, v)[:3] if body else np.zeros(3) for _, body, _ in frames(loop))
        total[:3] -= np.cross(wa, wb - wa) if spin else 0.0
        found.append(ROWS[_kind(loop)] @ np.concatenate([axes.T @ total[:3], axes.T @ total[3:]]))
    return np.concatenate(found)


def _kind(loop: Loop) -> str:
    return "pin" if loop.type == "hinge" else loop.type


def _axes(loop: Loop, dynamics: lj.Dynamics, q: np.ndarray) -> tuple[np.ndarray, bool]:
    """Axes of frame a, which its loop's rows are constant in."""
    _, body, at = frames(loop)[0]
    return (dynamics.pose(body, q)[0] if body else np.eye(3)) @ at.rotation, _kind(loop) == "pin"


def _rows(loop: Loop, dynamics: lj.Dynamics, q: np.ndarray, jacobian) -> np.ndarray:
    total = 0.0
    for sign, body, pose in frames(loop):
        if body is not None:
            J, lever = jacobian(body), dynamics.pose(body, q)[0] @ pose.position
            total = total + sign * np.vstack([J[:3], J[3:] - np.cross(lever, J[:3].T).T])
    axes, _ = _axes(loop, dynamics, q)
    return np.asarray(ROWS[_kind(loop)] @ np.vstack([axes.T @ total[:3], axes.T @ total[3:]]))


def onto(J: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The nearest velocities that keep the loops closed."""
    return v - np.linalg.pinv(J) @ (J @ v)


def accelerations(made: Closed, v: np.ndarray, tau: np.ndarray, add: np.ndarray | float = 0.0) -> np.ndarray:
    """dv/dt by the dense system; add (nv,): inertia that hinges have besides."""
    free, q = lj.Dynamics(made.open), made.q
    J = rows(made.system, free, q)
    W = np.linalg.inv(free.mass_matrix(q) + np.diag(np.broadcast_to(add, len(v))))
    left = tau - free.bias(q, v)
    f = np.linalg.lstsq(J @ W @ J.T, -J @ W @ left - rate(made.system, free, q, v), rcond=1e-11)[0]
    return np.asarray(W @ (left + J.T @ f))
