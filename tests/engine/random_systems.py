"""Random trees of every hinge type, with random mass properties, frames and states.

`random_system` builds one from a numpy generator; `trees` is the hypothesis strategy, which shrinks towards few
bodies and simple hinges. Everything passes through the public `validate`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from limberjack.engine.model.system import Body, Dof, Hinge, Inertia, Node, Pose, System
from limberjack.engine.model.validate import validate
from limberjack.engine.tables.hinge_types import HINGE_TYPES

#: every type that moves; "free" last, so that hypothesis shrinks to the simple ones
MOVING = tuple(name for name in HINGE_TYPES if name != "fixed")
ALL_TYPES = tuple(HINGE_TYPES)
#: an Euler-angle hinge is singular where its middle angle is ±90 degrees; keep this far from it, rad
MIDDLE_ANGLE = 1.1


def rotation(rng: np.random.Generator) -> np.ndarray:
    """A rotation matrix (3, 3), any orientation."""
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return Q * np.sign(np.linalg.det(Q))


def pose(rng: np.random.Generator) -> Pose:
    """Any orientation, position within about half a metre."""
    return Pose(rotation(rng), rng.uniform(-0.5, 0.5, 3))


def inertia(rng: np.random.Generator) -> Inertia:
    """A real body's: the triangle inequality holds by construction (second moments of mass are positive)."""
    mass = rng.uniform(0.3, 3.0)
    axes = rotation(rng)
    second_moments = axes @ np.diag(rng.uniform(0.005, 0.05, 3)) @ axes.T
    about_com = mass * (np.trace(second_moments) * np.eye(3) - second_moments)
    return Inertia(mass, rng.uniform(-0.2, 0.2, 3), 0.5 * (about_com + about_com.T))


def unit_quaternion(rng: np.random.Generator) -> np.ndarray:
    """Uniform over orientations, (4,), w x y z, either sign."""
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def coordinates(hinge_type: str, rng: np.random.Generator) -> np.ndarray:
    """Coordinates (nq,) of one hinge, angles over two turns, clear of singular ones."""
    kind = HINGE_TYPES[hinge_type]
    if kind.quasi:
        return np.concatenate([unit_quaternion(rng), rng.uniform(-0.5, 0.5, kind.nq - 4)])
    q = np.where(kind.angular, rng.uniform(-6.0, 6.0, kind.nq), rng.uniform(-0.5, 0.5, kind.nq))
    if hinge_type in ("universal", "gimbal"):
        q[1] = rng.uniform(-MIDDLE_ANGLE, MIDDLE_ANGLE)
    return q


def dof(rng: np.random.Generator, passive: bool) -> Dof:
    """Armature on half of the velocities; with `passive`, damping as well."""
    armature = float(rng.choice([0.0, rng.uniform(0.01, 0.3)]))
    return Dof(armature=armature, damping=rng.uniform(0.0, 0.3) if passive else 0.0)


def random_hinge(
    name: str, hinge_type: str, parent: str | None, rng: np.random.Generator, *, armature: bool, merge: bool
) -> Hinge:
    """A hinge of this type with random frames, axes, parameters and initial state."""
    kind = HINGE_TYPES[hinge_type]
    axes = rotation(rng)[: kind.axes] * rng.choice([-1.0, 1.0], size=(kind.axes, 1))
    matrix = rng.normal(size=(6, int(rng.integers(1, 7)))) if hinge_type == "custom" else None
    nv = kind.nv if matrix is None else matrix.shape[1]
    return Hinge(
        name,
        hinge_type,
        parent,
        pose(rng),
        pose(rng),
        axes,
        pitch=rng.uniform(-0.5, 0.5) if hinge_type == "helical" else 0.0,
        radius=rng.uniform(0.1, 0.5) if hinge_type == "rolling" else 0.0,
        map=matrix,
        dofs=tuple(dof(rng, False) for _ in range(nv)) if armature else (),
        q0=coordinates(hinge_type, rng),
        v0=rng.normal(size=nv),
        merge=merge,
    )


def random_system(
    types: Sequence[str],
    rng: np.random.Generator,
    *,
    parents: Sequence[int | None] | None = None,
    armature: bool = True,
    merge: bool = True,
    gravity: np.ndarray | None = None,
) -> System:
    """Body i hangs by a hinge of types[i] on body parents[i] (None: the ground; default: one of the three before).

    Every body carries one node "n<i>" in a random pose, and node "anchor" is fixed in the inertial frame.
    """
    bodies, nodes = [], [Node("anchor", None, pose(rng))]
    for i, hinge_type in enumerate(types):
        above = parents[i] if parents is not None else (int(rng.integers(max(0, i - 3), i)) if i else None)
        parent = None if above is None else f"b{above}"
        hinge = random_hinge(f"h{i}", hinge_type, parent, rng, armature=armature, merge=merge)
        bodies.append(Body(f"b{i}", inertia(rng), hinge))
        nodes.append(Node(f"n{i}", f"b{i}", pose(rng)))
    g = rng.normal(scale=6.0, size=3) if gravity is None else gravity
    return validate(System("random", tuple(bodies), tuple(nodes), gravity=g))


def random_state(system: System, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates (nq,) and velocities (nv,)."""
    q = [coordinates(body.hinge.type, rng) for body in system.bodies]
    return np.concatenate([np.zeros(0), *q]), rng.normal(size=system.nv)


@st.composite
def trees(
    draw: st.DrawFn,
    *,
    most_bodies: int = 8,
    types: Sequence[str] = ALL_TYPES,
    root: str | None = None,
    armature: bool = True,
    gravity: np.ndarray | None = None,
) -> tuple[System, np.random.Generator]:
    """A random tree that moves, and a generator for states; `root` fixes the type of the one root hinge."""
    count = draw(st.integers(1, most_bodies))
    chosen = [draw(st.sampled_from(list(types))) for _ in range(count)]
    parents: list[int | None] = [None]
    for i in range(1, count):
        lowest = 0 if root else -1
        above = draw(st.integers(lowest, i - 1))
        parents.append(None if above < 0 else above)
    if root:
        chosen[0] = root
    elif all(name == "fixed" for name in chosen):
        chosen[0] = "revolute"
    merge = draw(st.booleans())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    system = random_system(chosen, rng, parents=parents, armature=armature, merge=merge, gravity=gravity)
    return system, rng
