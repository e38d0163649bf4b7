"""What a loop asks of positions and velocities: its frames on the tree, residuals and rows.

For a loop that joins frame a on body A and frame b on body B let R and d be pose and position of b in a, and
[w; u] the velocity of b relative to a, in the axes of a. Residuals and rows are those of the kernels
(`kernels/groups/loop_rows.py`, `couplings.py`), run by the interpreter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from limberjack.engine.algebra.array_views import LANES
from limberjack.engine.algebra.ranks import complement
from limberjack.engine.compile.interpreted import interpreted
from limberjack.engine.kernels.groups import couplings, loop_rows
from limberjack.engine.model.frames import Frames, canonical_rotation, rotation_to_z
from limberjack.engine.model.loops.joint_tree import Tree
from limberjack.engine.model.system import Loop, Pose, System
from limberjack.engine.tables import loops as lp
from limberjack.engine.tables.hinge_types import CUSTOM, FIXED, PRISMATIC, UNIVERSAL
from limberjack.engine.tables.loops import BALL, COUPLING, DISC, DISTANCE, LOCK


def _between(x: np.ndarray, start: int, stop: int) -> np.ndarray:
    return np.where((np.arange(LANES) >= start) & (np.arange(LANES) < stop), x, 0.0)


#: eight numbers side by side where kernels are not compiled (algebra/lanes.py)
_LANES = (
    ("load_lanes", lambda a, at: a[at : at + LANES]),
    ("equal_lanes", lambda x: np.full(LANES, x)),
    ("between_lanes", _between),
)
_residual, _rows = interpreted(loop_rows.joined_residual, *_LANES), interpreted(loop_rows.joined_rows, *_LANES)
_value, _slope = interpreted(couplings.term_value), interpreted(couplings.term_slope)
#: 1 + cos θ of frames whose axes z are opposed
_OPPOSED = 5e-13
#: beside a coordinate of this size, rad or m, one of zero is known to `ranks.NOISE`
USUAL = 1e-3
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
    kind, x, canonical = loop.code, loop.parameter, Pose(rotation=canonical_rotation(hinge))
    axle = canonical
    if loop.wheel is not None and len(loop.wheel.axis):
        axle = Pose(rotation=rotation_to_z(loop.wheel.axis))
    a, at_a = _frame(tree.frames, hinge.parent, hinge.inboard @ canonical)
    b, at_b = _frame(tree.frames, loop.body, hinge.outboard @ axle)
    vectors, names = _vectors(loop, x)
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


def _vectors(loop: Loop, x: float) -> tuple[np.ndarray, tuple[str, ...]]:
    """The constant rows a (rows, 6) of a loop that joins frames, and what each forbids."""
    if loop.hinge is not None and loop.hinge.map is not None:
        across = complement(np.asarray(loop.hinge.map, dtype=float)).T
        return across, tuple(f"motion {i + 1}" for i in range(len(across)))
    names = tuple(name.rstrip("+-") for name in loop.forbids)
    vectors = np.array([[float(name == direction) for direction in _DIRECTIONS] for name in names]).reshape(-1, 6)
    for row, name in zip(vectors, loop.forbids):
        if name != name.rstrip("+-"):
            row[2] = x if name.endswith("+") else -x
    return vectors, names


def _between_coordinates(loop: Loop, system: System, tree: Tree) -> Closure:
    """A coupling or a lock: it constrains coordinates; its bodies are those of the hinges."""
    terms = _coupling_terms(loop, system, tree) if loop.type == "coupling" else _locked_terms(loop, system, tree)
    kind = loop.code
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


class Tables(NamedTuple):
    """Tables of loops, as far as the kernels of residuals and rows look."""

    loop_int: np.ndarray
    loop: np.ndarray
    drive: np.ndarray


class _Seen(NamedTuple):
    """Plant and Work for these kernels."""

    loops: Tables


def _seen(closure: Closure, drive: float) -> _Seen:
    """A Plant and a Work of one loop, whose rows are all kept; drive: the position of a driven one."""
    loop_int, loop = np.full((1, lp.LOOP_INT), -1), np.zeros((1, lp.LOOP))
    loop_int[0, lp.L_KIND], loop_int[0, lp.L_DRIVE] = closure.kind, 0 if drive else -1
    loop[0, lp.LP_X] = closure.names.index("axes") if closure.kind == UNIVERSAL else closure.x
    lanes = loop[0, lp.LP_ROWS : lp.LP_ROWS + 6 * LANES].reshape(6, LANES)
    lanes[:, : len(closure.names)] = closure.vectors.T
    return _Seen(Tables(loop_int, loop, np.array([[drive, 0.0, 0.0]])))


def rows_at(loops: Tables, place: int, R: np.ndarray, d: np.ndarray) -> np.ndarray:
    """The rows (LANES, 6) over [w; u] in the axes of a, b being at (R, d) in a, of a loop in these tables."""
    n, f = _rows(_Seen(loops), place, R.ravel(), d)
    return np.stack([*n, *f], axis=1)


def joined(closure: Closure, R: np.ndarray, d: np.ndarray, drive: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Residuals (rows,), m and rad, and rows (rows, 6) over [w; u] in the axes of a, of a loop that joins frames.

    drive : the position of a driven loop, m
    """
    seen, count = _seen(closure, drive), len(closure.names)
    r = np.asarray(_residual(seen, seen, 0, R.ravel(), d))[:count]
    tilts = closure.kind not in (FIXED, PRISMATIC)
    if tilts and 1.0 + R[2, 2] < _OPPOSED:  # the kernel's tilt ends there, as 2 sin(θ/2) z × R z would
        r = r + 2.0 * closure.vectors[:, 0]
    return r, rows_at(seen.loops, 0, R, d)[:count]


def _four(factors: tuple[float, ...]) -> tuple[float, ...]:
    return (*factors, 0.0, 0.0, 0.0)[:4]


def slope(factors: tuple[float, ...], x: float) -> float:
    """dp/dx of a coupling's term at a coordinate x."""
    return float(_slope(_four(factors), x))


def coupled_sum(closure: Closure, q: np.ndarray) -> float:
    """Σ terms of a coupling, without its offset."""
    return float(sum(_value(_four(term.factors), q[term.q]) for term in closure.terms))


def coordinate_residual(closure: Closure, q: np.ndarray, drive: float = 0.0) -> np.ndarray:
    """Residuals of a coupling or a lock; drive: the position of a coupling that is driven."""
    if closure.kind == COUPLING:
        return np.array([coupled_sum(closure, q) - closure.x - drive])
    return np.array([0.0 if t.q < 0 else q[t.q] - t.factors[0] for t in closure.terms])


def coordinate_rows(closure: Closure, q: np.ndarray) -> list[tuple[int, int, float]]:
    """The entries (row, velocity, factor) of a coupling or a lock."""
    if closure.kind == LOCK:
        return [(i, term.v, 1.0) for i, term in enumerate(closure.terms)]
    return [(0, term.v, slope(term.factors, q[term.q])) for term in closure.terms]


def coordinate_terms(closure: Closure, q: np.ndarray) -> list[tuple[int, int, float]]:
    """The sizes (row, velocity, size) of the terms of `coordinate_rows`, none smaller than at a usual coordinate."""
    if closure.kind == LOCK:
        return coordinate_rows(closure, q)
    sizes = ((term.v, _four(tuple(map(abs, term.factors))), max(abs(q[term.q]), USUAL)) for term in closure.terms)
    return [(0, v, float(_slope(factors, size))) for v, factors, size in sizes]


def prescribed_rate(closure: Closure, position: float, rate: float) -> float:
    """What Y v of a driven loop's row is when its drive is at a position and has a rate."""
    return rate * (1.0 + position / closure.x) if closure.kind == DISTANCE else rate


def captured(closure: Closure, R: np.ndarray, d: np.ndarray) -> Pose:
    """Frame b on its body as it is held when the loop closes with b at (R, d) in a: it then lies on a."""
    return closure.at_b @ Pose(R, d).inverse()
