"""Random closed graphs: a random tree at random q, and loops whose frames are put where they close at that q.

Frame a sits anywhere on body A. Frame b is placed where the cut hinge at random coordinates brings it, seen from body
B. A loop is kept if all its rows are independent of those before and something can still move; redundant loops are
added on purpose (`twice`). Velocities are what the oracle's impulse leaves of random ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from hypothesis import strategies as st

import limberjack as lj
from limberjack.engine.model.system import Loop, Pose, Term, Wheel
from limberjack.engine.model.validate import validate
from limberjack.engine.tables.hinge_types import HINGE_TYPES
from tests.engine.dense import hinge_pose
from tests.engine.kernels.loops.closures import contact
from tests.engine.kernels.loops.oracle import Oracle
from tests.engine.motions import hinges
from tests.engine.random_systems import ALL_TYPES, MOVING, coordinates, random_hinge, random_state, random_system

#: hinge types that a loop may cut and that forbid something
CUTS = tuple(name for name in HINGE_TYPES if name != "free")
#: every kind of loop; "cut <hinge type>" for type "hinge"
KINDS = ("point", "weld", "distance", "coupling", "lock", *(f"cut {name}" for name in CUTS))
#: places tried for one loop, and the worst condition number of all rows
_TRIES, _WORST = 12, 300.0
#: wheels, which hold velocities beside positions; drawn only where asked for
WHEELS = ("roll disc", "roll ball")
EMBEDDABLE = tuple(kind for kind in KINDS if kind != "lock")


@dataclass
class Closed:
    """A system with loops, a state at which they are closed, its oracle and the generator for more."""

    system: lj.System
    q: np.ndarray
    v: np.ndarray
    oracle: Oracle
    rng: np.random.Generator

    def by(self, method: str | None) -> lj.System:
        """The same with all loops by one method; locks stay by force."""
        loops = (k if k.type == "lock" else replace(k, method=method) for k in self.system.loops)
        return replace(self.system, loops=tuple(loops))


def set_state(system: lj.System, q: np.ndarray, v: np.ndarray) -> lj.System:
    """The system with this initial state."""
    parts = [replace(h, q0=q[i].copy(), v0=v[j].copy()) for h, i, j in hinges(system)]
    return replace(system, bodies=tuple(replace(b, hinge=h) for b, h in zip(system.bodies, parts, strict=True)))


def joining_loop(
    name: str, kind: str, system: lj.System, q: np.ndarray, ends: Sequence[str | None], rng: np.random.Generator
) -> Loop:
    """A hinge, point, weld or distance loop between two bodies (None: the ground) that is closed at q."""
    if kind in WHEELS:
        return _wheel(name, kind.removeprefix("roll "), system, q, ends, rng)
    cut = {"point": "spherical", "weld": "fixed", "distance": "free"}.get(kind, kind.removeprefix("cut "))
    hinge = random_hinge(name, cut, ends[0], rng, armature=False, merge=False)
    X_ab = hinge_pose(hinge, coordinates(cut, rng)) if HINGE_TYPES[cut].nq else Pose()
    X_A, X_B = (_body_pose(system, end, q) for end in ends)
    outboard = X_B.inverse() @ X_A @ hinge.inboard @ X_ab
    empty = np.zeros(0)
    hinge = replace(hinge, outboard=outboard, dofs=(), q0=empty, v0=empty)
    length = float(np.linalg.norm(X_ab.position)) if kind == "distance" else 0.0
    return Loop(name, kind.split()[0].replace("cut", "hinge"), hinge, ends[1], length=length)


def _wheel(
    name: str, shape: str, system: lj.System, q: np.ndarray, ends: Sequence[str | None], rng: np.random.Generator
) -> Loop:
    """A wheel on the second body that stands leaning on a plane of the first."""
    axis = rng.normal(size=3) if shape == "disc" else np.zeros(0)
    wheel = Wheel(shape, float(rng.uniform(0.2, 0.6)), axis / np.linalg.norm(axis) if axis.size else axis)
    hinge = random_hinge(name, "free", ends[0], rng, armature=False, merge=False)
    R = hinge_pose(hinge, coordinates("free", rng)).rotation
    X_ab = Pose(R, np.array([*rng.normal(size=2), -contact(wheel, R)[2]]))
    X_A, X_B = (_body_pose(system, end, q) for end in ends)
    outboard = X_B.inverse() @ X_A @ hinge.inboard @ X_ab
    empty = np.zeros(0)
    return Loop(name, "rolling", replace(hinge, outboard=outboard, dofs=(), q0=empty, v0=empty), ends[1], wheel=wheel)


def _body_pose(system: lj.System, body: str | None, q: np.ndarray) -> Pose:
    """Pose of a body in the inertial frame, from the poses of the hinges below it."""
    at = {b.name: (b, i) for b, (_, i, _) in zip(system.bodies, hinges(system), strict=True)}
    X = Pose()
    while body is not None:
        b, i = at[body]
        h = b.hinge
        X = h.inboard @ hinge_pose(h, q[i]) @ h.outboard.inverse() @ X
        body = h.parent
    return X


def coupling(name: str, system: lj.System, q: np.ndarray, rng: np.random.Generator) -> Loop | None:
    """Two to four coordinates, each with a polynomial of one to four factors; None where the tree has too few."""
    names = [n for h, _, _ in hinges(system) if not h.kind.quasi for n in h.coordinate_names]
    if len(names) < 2:
        return None
    count = int(rng.integers(2, min(4, len(names)) + 1))
    chosen = rng.choice(len(names), size=count, replace=False)
    scale = np.array([1.0, 0.3, 0.05, 0.01])
    terms = tuple(
        Term(names[i], tuple(float(x) for x in scale[:n] * rng.uniform(0.4, 1.0, n) * rng.choice([-1, 1], n)))
        for i, n in zip(chosen, rng.integers(1, 5, size=count), strict=True)
    )
    at = {n: q[k] for k, n in enumerate(system.coordinate_names)}
    offset = sum(float(np.polynomial.Polynomial([0.0, *t.factors])(at[t.coordinate])) for t in terms)
    return Loop(name, "coupling", terms=terms, offset=offset)


def random_loop(name: str, kind: str, system: lj.System, q: np.ndarray, rng: np.random.Generator) -> Loop | None:
    """One loop of this kind between two different bodies, or a body and the ground."""
    if kind == "coupling":
        return coupling(name, system, q, rng)
    if kind == "lock":
        free = [body.hinge.name for body in system.bodies if body.hinge.nv]
        return Loop(name, "lock", locked=str(rng.choice(free)))
    ends: list[str | None] = [None, *system.body_names]
    a, b = rng.choice(len(ends), size=2, replace=False)
    return joining_loop(name, kind, system, q, (ends[a], ends[b]), rng)


def close_tree(
    system: lj.System, q: np.ndarray, kinds: Sequence[str], rng: np.random.Generator, *, twice: bool = False
) -> Closed:
    """Loops of these kinds on a tree at q, those that would stop it left out; `twice` repeats the first one."""
    system, loops = set_state(system, q, np.zeros(system.nv)), []
    for i, kind in enumerate(kinds):
        tries = (random_loop(f"loop{i}", kind, system, q, rng) for _ in range(_TRIES))
        fit = (k for k in tries if k is not None and _moves(system, q, (*loops, k)))
        loops += [*islice(fit, 1)]
    if twice and loops:
        again = loops[0]
        hinge = None if again.hinge is None else replace(again.hinge, name="again")
        loops.append(replace(again, name="again", hinge=hinge))
    closed = replace(system, loops=tuple(loops))
    oracle = Oracle(closed)
    v = oracle.impulse(q, rng.normal(size=system.nv))[0]
    return Closed(validate(set_state(closed, q, v)), q, v, oracle, rng)


def _moves(system: lj.System, q: np.ndarray, loops: tuple[Loop, ...]) -> bool:
    """Whether the rows are independent, not nearly dependent (both sides lose the digits of the condition number),
    and something of what each loop holds can still move, as embedding asks."""
    oracle = Oracle(replace(system, loops=loops))
    rows = oracle.rows(q, np.zeros(system.nv))
    C = rows.C
    if len(C) and (len(C) >= system.nv or float(np.linalg.cond(C)) > _WORST):
        return False
    N = oracle.null_space(q)
    held = [np.any(np.abs(C[part]) > 1e-9, axis=0) for name, part in rows.of.items() if _joined(loops, name)]
    return all(np.abs(N[columns]).max(initial=0.0) > 1e-6 for columns in held)


def _joined(loops: tuple[Loop, ...], name: str) -> bool:
    """Whether the loop is no lock, which holds all of its hinge."""
    return next(loop for loop in loops if loop.name == name).type != "lock"


def random_closed(
    rng: np.random.Generator,
    *,
    bodies: int = 6,
    kinds: Sequence[str] = KINDS,
    loops: int = 2,
    types: Sequence[str] = MOVING,
    twice: bool = False,
    root: str | None = None,
) -> Closed:
    """A random tree of these hinge types with up to `loops` loops of these kinds."""
    chosen = [root if root and i == 0 else str(rng.choice(types)) for i in range(bodies)]
    if all(name == "fixed" for name in chosen):
        chosen[0] = "revolute"
    tree = random_system(chosen, rng)
    q, _ = random_state(tree, rng)
    return close_tree(tree, q, [str(rng.choice(kinds)) for _ in range(loops)], rng, twice=twice)


@st.composite
def graphs(
    draw: st.DrawFn, *, kinds: Sequence[str] = KINDS, most_bodies: int = 7, most_loops: int = 3, twice: bool = False
) -> Closed:
    """A random tree of all hinge types with one to `most_loops` loops; shrinks towards few bodies and loops."""
    types = [draw(st.sampled_from(list(ALL_TYPES))) for _ in range(draw(st.integers(1, most_bodies)))]
    parents: list[int | None] = [None]
    for i in range(1, len(types)):
        above = draw(st.integers(-1, i - 1))
        parents.append(None if above < 0 else above)
    if all(name == "fixed" for name in types):
        types[0] = "revolute"
    wanted = [draw(st.sampled_from(list(kinds))) for _ in range(draw(st.integers(1, most_loops)))]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    tree = random_system(types, rng, parents=parents)
    return close_tree(tree, random_state(tree, rng)[0], wanted, rng, twice=twice)


def held(system: lj.System, loop: Loop, q: np.ndarray) -> Loop:
    """The loop as it holds what is there when it closes at q: frame b on frame a, or the length or offset there is."""
    if loop.type == "coupling":
        at = {name: q[i] for i, name in enumerate(system.coordinate_names)}
        polys = (np.polynomial.Polynomial([0.0, *term.factors])(at[term.coordinate]) for term in loop.terms)
        return replace(loop, offset=float(sum(polys)), closed=True)
    if loop.hinge is None:
        return replace(loop, closed=True)
    X_a = _body_pose(system, loop.hinge.parent, q) @ loop.hinge.inboard
    X_B = _body_pose(system, loop.body, q)
    if loop.type == "distance":
        ends = X_B @ loop.hinge.outboard
        return replace(loop, length=float(np.linalg.norm(ends.position - X_a.position)), closed=True)
    return replace(loop, hinge=replace(loop.hinge, outboard=X_B.inverse() @ X_a), closed=True)
