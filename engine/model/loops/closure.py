"""What a loop asks of positions and velocities: its frames on the tree, residuals and rows, in numpy.

For a loop that joins frame a on body A and frame b on body B let R and d be pose and position of b in a, and
[w; u] the velocity of b relative to a, in the axes of a. Each row is a · [w; u] = 0 and its residual a · [e; d], with
e the rotation R as `rotation_error` measures it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from limberjack.engine.algebra.ranks import complement
from limberjack.engine.algebra.rotations import to_quaternion
from limberjack.engine.model.frames import Frames, canonical_rotation, rotation_to_z
from limberjack.engine.model.loops.joint_tree import Tree
from limberjack.engine.model.system import Loop, Pose, System
from limberjack.engine.tables.hinge_types import (
    CUSTOM,
    CYLINDRICAL,
    FIXED,
    FREE,
    GIMBAL,
    HELICAL,
    PLANAR,
    PRISMATIC,
    REVOLUTE,
    ROLLING,
    SPHERICAL,
    UNIVERSAL,
)
from limberjack.engine.tables.loops import BALL, COUPLING, DISC, DISTANCE, LOCK

#: the directions [w; u] that each hinge type forbids, in canonical axes; u along z of a helical, along x of a rolling
#: hinge goes with the angle, and universal has a fourth row that depends on the configuration
_FORBIDDEN: dict[int, str] = {
    FIXED: "wx wy wz ux uy uz",
    REVOLUTE: "wx wy ux uy uz",
    PRISMATIC: "wx wy wz ux uy",
    CYLINDRICAL: "wx wy ux uy",
    HELICAL: "wx wy ux uy uz",
    SPHERICAL: "ux uy uz",
    GIMBAL: "ux uy uz",
    UNIVERSAL: "ux uy uz axes",
    PLANAR: "wx wy uz",
    ROLLING: "wx wy uy uz ux",
    FREE: "",
    DISTANCE: "length",
    DISC: "uz ux uy",
    BALL: "uz ux uy",
}
#: beside a coordinate of this size, rad or m, one of zero is known to `ranks.NOISE`
USUAL = 1e-3
#: kinds of wheels by their shape
_WHEELS = {"disc": DISC, "ball": BALL}
_DIRECTIONS = ("wx", "wy", "wz", "ux", "uy", "uz")


@dataclass(frozen=True)
class CoupledTerm:
    """A coordinate of a coupling, or a velocity of a locked hinge: q is -1 for a quasi-velocity.

    factors : of a coupling; of a locked hinge the coordinate's value
    """

    q: int
    v: int
    row: int
    factors: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Closure:
    """One loop on the tree.

    kind : hinge type code, DISC, BALL, DISTANCE, COUPLING or LOCK; a, b : rows of the bodies A and B, 0 the ground
    at_a, at_b : frames a and b on their bodies, canonical axes; x : pitch, radius, length or offset
    vectors : (rows, 6), zero where the row depends on the configuration, as the angular part of wheels does; names :
        what each row forbids
    angular : which rows measure angles; common : row of the body that carries all the loop's hinges
    above : rows of the bodies that the loop moves against each other, ascending
    """

    loop: Loop
    kind: int
    a: int
    b: int
    at_a: Pose
    at_b: Pose
    x: float
    vectors: np.ndarray
    names: tuple[str, ...]
    angular: tuple[bool, ...]
    terms: tuple[CoupledTerm, ...]
    common: int
    chain_a: tuple[int, ...]
    chain_b: tuple[int, ...]
    above: tuple[int, ...]

    @property
    def joins(self) -> bool:
        """Whether it joins two frames."""
        return self.kind not in (COUPLING, LOCK)

    @property
    def holonomic(self) -> tuple[bool, ...]:
        """Which rows constrain positions, the others velocities alone."""
        rolls = self.kind in (DISC, BALL)
        return tuple(self.kind != CUSTOM and not (rolls and name != "uz") for name in self.names)


def where_is(loop: Loop) -> str:
    """Where a loop was written."""
    return loop.where or f"loop '{loop.name}'"


def closures(system: System, tree: Tree) -> list[Closure]:
    """Every loop of the model, in order."""
    return [_joining(loop, tree) if loop.joins else _between_coordinates(loop, system, tree) for loop in system.loops]


def _joining(loop: Loop, tree: Tree) -> Closure:
    hinge = loop.hinge
    assert hinge is not None
    kind, x, canonical = hinge.kind.code, hinge.parameter, Pose(rotation=canonical_rotation(hinge))
    axle = canonical
    if loop.type == "distance":
        kind, x = DISTANCE, loop.length
    elif loop.wheel is not None:
        kind, x = _WHEELS[loop.wheel.shape], loop.wheel.radius
        axle = Pose(rotation=rotation_to_z(loop.wheel.axis)) if kind == DISC else canonical
    a, at_a = _frame(tree.frames, hinge.parent, hinge.inboard @ canonical)
    b, at_b = _frame(tree.frames, loop.body, hinge.outboard @ axle)
    kind = REVOLUTE if kind == HELICAL and x == 0.0 else kind
    vectors, names = _vectors(kind, x, hinge.map)
    common = tree.common([a, b])
    chain_a, chain_b = tuple(tree.chain(a, common)), tuple(tree.chain(b, common))
    angular = tuple(not vector[3:].any() and name != "length" for vector, name in zip(vectors, names))
    above = _with_modes({*chain_a, *chain_b}, tree)
    common = _carrier(above, tree)
    return Closure(loop, kind, a, b, at_a, at_b, x, vectors, names, angular, (), common, chain_a, chain_b, above)


def _with_modes(rows: set[int], tree: Tree) -> tuple[int, ...]:
    """Rows and those of modal bodies whose nodes are among them: nodes move by coordinates that stand there."""
    nodes = (tree.joints[row - 1] for row in rows)
    return tuple(sorted(rows | {joint.parent for joint in nodes if joint.attachment is not None}))


def _carrier(above: tuple[int, ...], tree: Tree) -> int:
    """Row of the body that carries those of a loop: of nodes of one body alone, what carries that body's modes."""
    return tree.joints[above[0] - 1].parent if above else 0


def _frame(frames: Frames, body: str | None, pose: Pose) -> tuple[int, Pose]:
    row, on_link = frames.of_body[body]
    return row, on_link @ pose


def _vectors(kind: int, x: float, map_: np.ndarray | None) -> tuple[np.ndarray, tuple[str, ...]]:
    """The constant rows a (rows, 6) of a loop that joins frames, and what each forbids."""
    if kind == CUSTOM:
        assert map_ is not None
        across = complement(np.asarray(map_, dtype=float)).T
        return across, tuple(f"motion {i + 1}" for i in range(len(across)))
    names = tuple(_FORBIDDEN[kind].split())
    vectors = np.array([[float(name == direction) for direction in _DIRECTIONS] for name in names]).reshape(-1, 6)
    if kind == HELICAL:
        vectors[4, 2] = -x
    elif kind == ROLLING:
        vectors[4, 2] = x
    return vectors, names


def _between_coordinates(loop: Loop, system: System, tree: Tree) -> Closure:
    """A coupling or a lock: it constrains coordinates; its bodies are those of the hinges."""
    terms = _coupling_terms(loop, system, tree) if loop.type == "coupling" else _locked_terms(loop, system, tree)
    kind = COUPLING if loop.type == "coupling" else LOCK
    rows = [term.row for term in terms]
    parents = [tree.joints[row - 1].parent for row in rows]
    common = tree.common(parents)
    above = _with_modes({row for tip in rows for row in tree.chain(tip, common)}, tree)
    count = 1 if kind == COUPLING else len(terms)
    names = ("coupling",) if kind == COUPLING else tuple(system.velocity_names[term.v] for term in terms)
    angular = tuple(_angular(tree, term.v) for term in terms[:count])
    return Closure(
        loop,
        kind,
        0,
        0,
        Pose(),
        Pose(),
        loop.offset,
        np.zeros((count, 6)),
        names,
        angular,
        terms,
        _carrier(above, tree),
        (),
        (),
        above,
    )


def _angular(tree: Tree, v: int) -> bool:
    joint = tree.joint_of_velocity[v]
    kinds = tree.frames.links[joint.body].body.hinge.kind.angular
    return bool(kinds[v - joint.vi]) if kinds else False


def _coupling_terms(loop: Loop, system: System, tree: Tree) -> tuple[CoupledTerm, ...]:
    terms = []
    for term in loop.terms:
        q = system.coordinate_names.index(term.coordinate)
        joint = next(joint for joint in tree.joints if joint.qi <= q < joint.qi + joint.nq)
        terms.append(CoupledTerm(q, joint.vi + q - joint.qi, joint.body + 1, term.factors))
    return tuple(terms)


def _locked_terms(loop: Loop, system: System, tree: Tree) -> tuple[CoupledTerm, ...]:
    joint = next(joint for joint, link in zip(tree.joints, tree.frames.links) if link.body.hinge.name == loop.locked)
    q0 = system.q0
    row = joint.body + 1
    if joint.quasi:
        return tuple(CoupledTerm(-1, joint.vi + i, row, ()) for i in range(joint.nv))
    return tuple(CoupledTerm(joint.qi + i, joint.vi + i, row, (float(q0[joint.qi + i]),)) for i in range(joint.nv))


def rotation_error(kind: int, R: np.ndarray, along: float) -> np.ndarray:
    """e (3,): how far R is from what the kind of hinge allows, a rotation vector to first order.

    Where the turn about z is free, e is the tilt z × R z scaled to the length 2 sin(θ/2) of its angle θ, and its third
    component the turn about z, unwound to the whole turn next to `along`; else twice the vector part of the
    quaternion with w ≥ 0.
    """
    if kind in (FIXED, PRISMATIC):
        return 2.0 * to_quaternion(R)[1:]
    x, y, cosine = -R[1, 2], R[0, 2], R[2, 2]
    squared = 2.0 + 2.0 * cosine  # (2 cos(θ/2))²
    tilt = (2.0, 0.0) if squared < 1e-12 else (2.0 * x / math.sqrt(squared), 2.0 * y / math.sqrt(squared))
    angle = math.atan2(R[1, 0] - R[0, 1], R[0, 0] + R[1, 1])
    return np.array([*tilt, along - math.remainder(along - angle, 2.0 * math.pi)])


def up_along(kind: int, R: np.ndarray) -> np.ndarray:
    """ρ (3,): from where a wheel touches its plane, normal to e_z, up to its centre; R e_z is the axle of a disc."""
    if kind == BALL:
        return np.array([0.0, 0.0, 1.0])
    n = R[:, 2]
    s = max(math.hypot(n[0], n[1]), 1e-9)
    return np.array([-n[2] * n[0] / s, -n[2] * n[1] / s, s])


def joined_residual(closure: Closure, R: np.ndarray, d: np.ndarray, drive: float = 0.0) -> np.ndarray:
    """Residuals (rows,) of a loop that joins frames, m and rad; drive: the position of one that is driven, m."""
    kind, x = closure.kind, closure.x
    if kind == DISTANCE:
        return np.array([(d @ d - (x + drive) ** 2) / (2.0 * x)])
    if kind == CUSTOM:
        return np.zeros(len(closure.names))
    if kind in (DISC, BALL):
        return np.asarray(closure.vectors[:, 5] * (d[2] - x * up_along(kind, R)[2]))
    along = 0.0
    if x and kind in (HELICAL, ROLLING):
        along = d[2] / x if kind == HELICAL else -d[0] / x
    residual = closure.vectors @ np.concatenate([rotation_error(kind, R, along), d])
    if kind == UNIVERSAL:
        residual[3] = R[2, 1]
    return np.asarray(residual)


def rows_at(kind: int, x: float, rows: np.ndarray, R: np.ndarray, d: np.ndarray, across: int) -> np.ndarray:
    """The rows (rows, 6) over [w; u] in the axes of a, b being at (R, d) in a, from those of `Closure.vectors`.

    across : the row of a universal hinge that keeps its axes at right angles, or -1
    """
    if kind == CUSTOM:
        return np.asarray(np.hstack([rows[:, :3] @ R.T, rows[:, 3:] @ R.T]))
    rows = rows.copy()
    if kind == DISTANCE:
        rows[0, 3:] = d / x
    elif kind in (DISC, BALL):
        rows[:, :3] = x * np.cross(rows[:, 3:], up_along(kind, R))
    elif kind == UNIVERSAL and across >= 0:
        rows[across, :2] = R[1, 1], -R[0, 1]
    return rows


def joined_rows(closure: Closure, R: np.ndarray, d: np.ndarray) -> np.ndarray:
    """The rows (rows, 6) over [w; u] in the axes of a."""
    return rows_at(closure.kind, closure.x, closure.vectors, R, d, 3)


def coupled_sum(closure: Closure, q: np.ndarray) -> float:
    """Σ terms of a coupling, without its offset."""
    return float(sum(f * q[t.q] ** (i + 1) for t in closure.terms for i, f in enumerate(t.factors)))


def coordinate_residual(closure: Closure, q: np.ndarray, drive: float = 0.0) -> np.ndarray:
    """Residuals of a coupling or a lock; drive: the position of a coupling that is driven."""
    if closure.kind == COUPLING:
        return np.array([coupled_sum(closure, q) - closure.x - drive])
    return np.array([0.0 if t.q < 0 else q[t.q] - t.factors[0] for t in closure.terms])


def coordinate_rows(closure: Closure, q: np.ndarray) -> list[tuple[int, int, float]]:
    """The entries (row, velocity, factor) of a coupling or a lock."""
    if closure.kind == LOCK:
        return [(i, term.v, 1.0) for i, term in enumerate(closure.terms)]
    return [
        (0, term.v, float(sum((i + 1) * f * q[term.q] ** i for i, f in enumerate(term.factors))))
        for term in closure.terms
    ]


def coordinate_terms(closure: Closure, q: np.ndarray) -> list[tuple[int, int, float]]:
    """The sizes (row, velocity, size) of the terms of `coordinate_rows`, none smaller than at a usual coordinate."""
    if closure.kind == LOCK:
        return [(i, term.v, 1.0) for i, term in enumerate(closure.terms)]
    return [
        (0, term.v, float(sum((i + 1) * abs(f) * max(abs(q[term.q]), USUAL) ** i for i, f in enumerate(term.factors))))
        for term in closure.terms
    ]


def prescribed_rate(closure: Closure, position: float, rate: float) -> float:
    """What Y v of a driven loop's row is when its drive is at a position and has a rate."""
    return rate * (1.0 + position / closure.x) if closure.kind == DISTANCE else rate


def captured(closure: Closure, R: np.ndarray, d: np.ndarray) -> Pose:
    """Frame b on its body as it is held when the loop closes with b at (R, d) in a: it then lies on a."""
    return closure.at_b @ Pose(R, d).inverse()
