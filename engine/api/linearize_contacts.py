"""Contacts of a linear model: touches are held as they are, and their forces follow the slopes of their laws.

What touches goes on to touch, and what is apart stays apart. The force on the second shape of a touch with gap g, gap
rate u, normal n and tangential velocity w is, with N of the law there (`kernels/contacts/laws.py`),

    f = N n - µ N w / |w|,    N = N₀ + ∂N/∂g (g - g₀) + ∂N/∂u (u - u₀),    N = k δ^p (1 - a u),  δ = -g

and w / |w| to first order in w, as are the moments of torsional and rolling friction (`linearize_friction.py`). What n,
g, and the places of forces do as shapes move is exact. Nearly rigid touches and those that stick hold velocities
(`linearize_held.py`); forces within the bounds of their laws must do so.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from limberjack.engine.api.linearize_friction import Friction, ways_of_friction
from limberjack.engine.api.linearize_held import Loads, drift, held
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.kernels.entry_points import entries
from limberjack.engine.model.frames import assemble
from limberjack.engine.model.loops.joint_tree import Tree
from limberjack.engine.model.plant import split
from limberjack.engine.tables import contacts as at
from limberjack.engine.tables import plant as layout

#: nearly rigid shapes at rest are no farther apart than this, m
_RIGID = 1e-5
#: a displacement of a difference changes gaps by this at most, m: of what is farther apart no point is known
_MOST = 0.2 * at.NEARBY
#: and turns normals, and moves places on both shapes, by this at most, rad, or as a share of the smaller shape's size
_SMALL = 0.02
#: gaps of touches that are not there are larger, m
_ABSENT = 1e299
#: tries to come there, each with a quarter of the displacement before
_TRIES = 6
#: columns of a touch with the moment and the force
_WRENCH = [*range(at.TO_MOMENT, at.TO_MOMENT + 3), *range(at.TO_FORCE, at.TO_FORCE + 3)]


class HeldTouches:
    """The touches of a simulation at its state, which go on to act. ArgumentError where there is no slope."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation, plant = simulation, simulation.plant
        self._work, self._state = plant.new_work(), simulation.state
        self._tree = Tree(assemble(simulation.system))
        sections = split(self._work, layout.work_sections(plant.ints))
        self._met, self._placed = sections["met"], sections["placed"]
        self._links, self._poses = sections["rows"], sections["pose"]
        pairs = plant.sections["pair_int"]
        self._pair_of = np.repeat(np.arange(len(pairs)), pairs[:, at.PA_TOUCHES])
        self._shapes = pairs[self._pair_of][:, [at.PA_A, at.PA_B]]
        self._rows = plant.sections["collider_int"][self._shapes, at.CO_ROW]
        reach = plant.sections["collider"][self._shapes, at.CL_REACH]
        self._size = np.where(reach > 0.0, reach, np.inf).min(axis=1)
        laws = plant.sections["contact"][pairs[self._pair_of, at.PA_CONTACT]]
        met = self._find(simulation.q, simulation.v)
        stiff = laws[:, at.K_STIFFNESS] > 0.0
        gaps = np.where(met[:, at.ME_NEAR] > 0.0, met[:, at.ME_GAP], np.inf)
        loaded = gaps < np.where(stiff, 0.0, _RIGID)
        self.acting = np.flatnonzero(loaded)
        law, acts, self._rigid = laws[loaded], met[loaded], ~stiff[loaded]
        normal, motion, size = _normal(acts), self._motions(met)[loaded], self._size[loaded]
        self._gap, self._rate = acts[:, at.ME_GAP], np.sum(normal * motion[:, 3:], axis=1)
        self._normal, self._places, self._known = normal, self._on_shapes(met), gaps < _ABSENT
        self._arms = np.repeat(np.stack([size, np.ones_like(size)], axis=1), 3, axis=1)
        k, p, a = law[:, at.K_STIFFNESS], law[:, at.K_EXPONENT], law[:, at.K_DISSIPATION]
        left, depth = 1.0 - a * self._rate, np.where(self._rigid, 1.0, -self._gap)
        self._force = k * depth**p * left
        self._by_gap, self._by_rate = -k * p * depth ** (p - 1.0) * left, -k * a * depth**p
        self._refuse_parting()
        lengths = np.stack([np.ones_like(size), size, size], axis=1)
        coefficients = law[:, [at.K_FRICTION, at.K_TORSION, at.K_ROLLING]] / lengths
        self._friction = Friction(coefficients, ways_of_friction(normal, motion))
        self._held = held(normal, self._rigid, self._friction.sticks)
        self._loads = Loads(np.zeros((0, 0)), np.zeros(0))

    def put(self, simulation: Simulation) -> None:
        """Give a simulation of the model the forces of touches at its state."""
        met = self._find(simulation.q, simulation.v)
        rows = simulation.part("touch").reshape(-1, at.TOUCH)
        rows[:, at.TO_ACTS] = 0.0
        rows[:, at.TO_GAP] = met[:, at.ME_GAP]
        found, far = self._follow(met)
        self._require_near(far)
        acts, motion = met[found], self._motions(met)[found]
        normal = _normal(acts)
        rate = np.sum(normal * motion[:, 3:], axis=1)
        force = self._force + self._by_gap * (acts[:, at.ME_GAP] - self._gap) + self._by_rate * (rate - self._rate)
        x = ways_of_friction(normal, motion)
        rows[self.acting, at.TO_ACTS] = 1.0
        rows[self.acting, at.TO_POINT : at.TO_POINT + 3] = acts[:, at.ME_POINT : at.ME_POINT + 3]
        rows[self.acting, at.TO_NORMAL : at.TO_NORMAL + 3] = normal
        rows[self.acting, at.TO_SLIP] = self._friction.slip(x)
        pull = self._friction.pull(x)
        wrench = force[:, None] * (np.hstack([np.zeros_like(normal), normal]) - pull)
        rows[self.acting[:, None], _WRENCH] = self._arms * wrench
        simulation.changed()
        if self._held.touch.size:
            self._hold(simulation, rows, normal, pull)

    def _hold(self, simulation: Simulation, rows: np.ndarray, normal: np.ndarray, pull: np.ndarray) -> None:
        """Add the forces that hold the rows. pull (n, 6) : friction of the touches that act, for a unit of load"""
        q, v, touch = simulation.q, simulation.v, self._held.touch
        A, before = self.rows(q)[1], simulation.vdot
        ways = self._held.directions(normal) - self._held.holonomic[:, None] * pull[touch]
        wrenches = self._arms[touch] * ways
        R = np.zeros((len(v), len(ways)))
        for c, (row, wrench) in enumerate(zip(self.acting[touch], wrenches, strict=True)):
            known = rows[row].copy()
            rows[row, _WRENCH] += wrench
            simulation.changed()
            R[:, c] = simulation.vdot - before
            rows[row] = known
        moved = drift(lambda s: self._rates(self._tree.moved(q, s * v), v), v)
        self._loads = Loads(A @ R, -A @ before - moved)
        np.add.at(rows, (self.acting[touch][:, None], _WRENCH), self._loads.found[:, None] * wrenches)
        simulation.changed()

    def settle(self) -> None:
        """Hold only rows that do not depend on others from now on. ArgumentError if laws do not allow the forces that
        held the rows at the last `put`, and for touches without load."""
        loads = self._loads
        if not loads.b.size:
            return
        coefficients = self._friction.coefficients
        touch = loads.outside(self._held, coefficients, self._force) if loads.hold else self._held.touch[0]
        if touch >= 0:
            raise ArgumentError(
                f"{self._said(self.acting[touch])} touch, and no load and friction within their law would keep them "
                "there: they are about to part or slide, or to spin or roll. Linearise where they rest, or move."
            )
        if (idle := self._held.idle(loads.found)).size:
            raise ArgumentError(
                f"{self._said(self.acting[idle[0]])} touch without load, where they may part at once, and no "
                f"slope describes that. Linearise with more than {_RIGID:g} m between them, or under load."
            )
        self._held = self._held.chosen(loads.independent)

    @property
    def holonomic(self) -> np.ndarray:
        """Which of the rows hold positions (k,)."""
        return self._held.holonomic

    def rows(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Changes of held gaps, 0 for other rows (k,), and the rows (k, nv) at q."""
        touch, still = self._held.touch, np.zeros(self._simulation.system.nv)
        met = self._find(q, still)
        found, far = self._follow(met)
        self._require_near(far)
        ways, A = self._held.directions(_normal(met[found])), np.zeros((len(touch), len(still)))
        for j in range(len(still) if touch.size else 0):
            still[j] = 1.0
            motion = self._motions(self._find(q, still))[found]
            A[:, j] = np.sum(ways * motion[touch], axis=1)
            still[j] = 0.0
        return np.where(self.holonomic, (met[found, at.ME_GAP] - self._gap)[touch], 0.0), A

    def _rates(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """What the rows are at q times v (k,)."""
        met = self._find(q, v)
        found = self._follow(met)[0]
        motion = self._motions(met)[found][self._held.touch]
        return np.asarray(np.sum(self._held.directions(_normal(met[found])) * motion, axis=1))

    def named(self, row: int) -> str:
        """The shapes of a row, in messages."""
        return self._said(self.acting[self._held.touch[row]])

    def largest_step(self, motion: np.ndarray, h: float, displaced: Callable[[float], np.ndarray]) -> float:
        """How far shapes may be displaced, h at most, twice of which is tried. motion: (nv,) along which, of unit size;
        displaced: q for a displacement"""
        speed = self._find(self._simulation.q, motion)[self.acting]
        rates = np.abs(np.sum(self._normal * speed[:, at.ME_SPEED : at.ME_SPEED + 3], axis=1))
        fastest = float(rates.max(initial=0.0))
        h = min(h, _MOST / fastest) if fastest > 0.0 else h
        still = np.zeros_like(motion)
        for _ in range(_TRIES):
            far = [self._follow(self._find(displaced(side * h), still))[1] for side in (-2.0, 2.0)]
            if not self.acting.size or np.max(far) < _SMALL:
                break
            h *= 0.25
        return h

    def _motions(self, met: np.ndarray) -> np.ndarray:
        """[ℓ ω; u] (touches, 6) of the second shape against the first, ℓ the size of the smaller one, inertial axes."""
        R = self._poses[:, :9].reshape(-1, 3, 3)
        turn = np.einsum("rij,rj->ri", R, self._links[:, layout.W_V : layout.W_V + 3])[self._rows]
        spin = self._size[:, None] * (turn[:, 1] - turn[:, 0])
        return np.hstack([spin, met[:, at.ME_SPEED : at.ME_SPEED + 3]])

    def _on_shapes(self, met: np.ndarray) -> np.ndarray:
        """(touches, 2, 3) places of touches in the axes of both shapes."""
        placed = self._placed[self._shapes]
        R = placed[..., at.PC_R : at.PC_R + 9].reshape(-1, 2, 3, 3)
        away = met[:, None, at.ME_POINT : at.ME_POINT + 3] - placed[..., at.PC_P : at.PC_P + 3]
        return np.asarray(np.einsum("tsij,tsi->tsj", R, away))

    def _are_new(self, met: np.ndarray) -> np.ndarray:
        """(touches,) which are at no place where one of their pair was at first."""
        away = np.linalg.norm(self._on_shapes(met)[:, None] - self._places, axis=3).min(axis=2)
        known = self._known & (self._pair_of[:, None] == self._pair_of)
        share = np.where(known, away / self._size[:, None], np.inf)
        return np.asarray(share.min(axis=1) > _SMALL)

    def _follow(self, met: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which touches are now those that are held: (n,) rows that have their places on one of their shapes, and how
        far they are from there, as a share of the shape's size, or turned, rad; infinite where there are none, or where
        others have begun beside them. Rows change hands: corners that touch are sorted by how far they reach."""
        if not self.acting.size:
            return self.acting, np.zeros(0)
        there = (met[:, at.ME_NEAR] > 0.0) & (met[:, at.ME_GAP] < at.NEARBY)
        own = (self._pair_of[self.acting][:, None] == self._pair_of) & there
        away = np.linalg.norm(self._on_shapes(met) - self._places[self.acting, None], axis=3).min(axis=2)
        share = np.where(own, away / self._size[self.acting, None], np.inf)
        found = share.argmin(axis=1)
        far, rows = share.min(axis=1), list(found)
        begun = self._pair_of[there & (met[:, at.ME_GAP] < 0.0) & self._are_new(met)]
        far[[rows.count(row) > 1 for row in rows] | np.isin(self._pair_of[self.acting], begun)] = np.inf
        return found, np.maximum(far, np.linalg.norm(_normal(met[found]) - self._normal, axis=1))

    def _find(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        plant = self._simulation.plant
        self._state[layout.S_Q : layout.S_Q + len(q)] = q
        self._state[layout.S_Q + len(q) : layout.S_Q + len(q) + len(v)] = v
        entries().gaps(plant.ints, plant.floats, self._work, self._state)
        return self._met.copy()

    def _said(self, touch: int) -> str:
        """A touch in messages."""
        a, b = self._simulation.plant.touching[self._pair_of[touch]]
        pair = self._simulation.plant.sections["pair_int"][self._pair_of[touch]]
        return f"'{a}' and '{b}' of contact '{self._simulation.system.contacts[pair[at.PA_CONTACT]].name}'"

    def _refuse_parting(self) -> None:
        found = np.flatnonzero((self._force <= 0.0) & ~self._rigid)
        if found.size:
            raise ArgumentError(
                f"{self._said(self.acting[found[0]])} penetrate but part so fast that their law has no force, so "
                "there is no contact to linearise about; give another v."
            )

    def _require_near(self, far: np.ndarray) -> None:
        found = np.flatnonzero(far > 10.0 * _SMALL)
        if found.size:
            raise ArgumentError(
                f"{self._said(self.acting[found[0]])} do not stay in touch at the same place when they are displaced "
                "a little: there is an edge or a corner, and no slope."
            )


def _normal(met: np.ndarray) -> np.ndarray:
    return met[:, at.ME_NORMAL : at.ME_NORMAL + 3]
