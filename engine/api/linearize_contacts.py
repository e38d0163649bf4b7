"""Contacts of a linear model: touches are held as they are, and their forces follow the slopes of their laws.

What touches goes on to touch, and what is apart stays apart. The force on the second shape of a touch with gap g, gap
rate u, normal n and tangential velocity w is, with N of the law there (`kernels/contacts/laws.py`),

    f = N n - µ N w / |w|,    N = N₀ + ∂N/∂g (g - g₀) + ∂N/∂u (u - u₀),    N = k δ^p (1 - a u),  δ = -g

and w / |w| to first order in w. What n, g, and the places of forces do as shapes move is exact. Nearly rigid touches
and those that stick hold velocities, and have no such slopes: they are refused.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.kernels.entry_points import entries
from limberjack.engine.model.plant import split
from limberjack.engine.tables import contacts as at
from limberjack.engine.tables import plant as layout

#: nearly rigid shapes at rest are no farther apart than this, m
_RIGID = 1e-5
#: what slides no faster sticks, m/s
_STICKS = 1e-6
#: a displacement of a difference changes gaps by this at most, m: of what is farther apart no point is known
_MOST = 0.2 * at.NEARBY
#: and turns normals, and moves places on both shapes, by this at most, rad, or as a share of the smaller shape's size
_SMALL = 0.02
#: gaps of touches that are not there are larger, m
_ABSENT = 1e299
#: tries to come there, each with a quarter of the displacement before
_TRIES = 6


class HeldTouches:
    """The touches of a simulation at its state, which go on to act. ArgumentError where there is no slope."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation, plant = simulation, simulation.plant
        self._work, self._state = plant.new_work(), simulation.state
        sections = split(self._work, layout.work_sections(plant.ints))
        self._met, self._placed = sections["met"], sections["placed"]
        pairs = plant.sections["pair_int"]
        self._pair_of = np.repeat(np.arange(len(pairs)), pairs[:, at.PA_TOUCHES])
        self._shapes = pairs[self._pair_of][:, [at.PA_A, at.PA_B]]
        laws = plant.sections["contact"][pairs[self._pair_of, at.PA_CONTACT]]
        met = self._find(simulation.q, simulation.v)
        stiff = laws[:, at.K_STIFFNESS] > 0.0
        gaps = np.where(met[:, at.ME_NEAR] > 0.0, met[:, at.ME_GAP], np.inf)
        self._refuse_rigid(gaps, stiff)
        loaded = stiff & (gaps < 0.0)
        self.acting = np.flatnonzero(loaded)
        law, held = laws[loaded], met[loaded]
        normal, speed = _normal(held), held[:, at.ME_SPEED : at.ME_SPEED + 3]
        self._gap, self._rate = held[:, at.ME_GAP], np.sum(normal * speed, axis=1)
        self._normal, self._places, self._known = normal, self._on_shapes(met), gaps < _ABSENT
        reach = plant.sections["collider"][self._shapes, at.CL_REACH]
        self._size = np.where(reach > 0.0, reach, np.inf).min(axis=1)
        k, p, a = law[:, at.K_STIFFNESS], law[:, at.K_EXPONENT], law[:, at.K_DISSIPATION]
        left = 1.0 - a * self._rate
        self._force = k * (-self._gap) ** p * left
        self._by_gap, self._by_rate = -k * p * (-self._gap) ** (p - 1.0) * left, -k * a * (-self._gap) ** p
        self._refuse_parting()
        self._friction, self._slip = law[:, at.K_FRICTION], speed - self._rate[:, None] * normal
        self._pace = np.linalg.norm(self._slip, axis=1)
        self._refuse_sticking()
        self._refuse_moments(law)

    def put(self, simulation: Simulation) -> None:
        """Give a simulation of the model the forces of touches at its state."""
        met = self._find(simulation.q, simulation.v)
        rows = simulation.part("touch").reshape(-1, at.TOUCH)
        rows[:, at.TO_ACTS] = 0.0
        rows[:, at.TO_GAP] = met[:, at.ME_GAP]
        found, far = self._follow(met)
        self._require_near(far)
        held = met[found]
        normal, speed = _normal(held), held[:, at.ME_SPEED : at.ME_SPEED + 3]
        rate = np.sum(normal * speed, axis=1)
        force = self._force + self._by_gap * (held[:, at.ME_GAP] - self._gap) + self._by_rate * (rate - self._rate)
        slip = speed - rate[:, None] * normal
        rows[self.acting, at.TO_ACTS] = 1.0
        rows[self.acting, at.TO_POINT : at.TO_POINT + 3] = held[:, at.ME_POINT : at.ME_POINT + 3]
        rows[self.acting, at.TO_NORMAL : at.TO_NORMAL + 3] = normal
        rows[self.acting, at.TO_SLIP] = self._pace + np.sum(self._ways() * (slip - self._slip), axis=1)
        pull = (self._friction * force)[:, None] * self._direction(slip)
        rows[self.acting, at.TO_FORCE : at.TO_FORCE + 3] = force[:, None] * normal - pull
        simulation.changed()

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

    def _ways(self) -> np.ndarray:
        """(n, 3) directions in which touches slide; 0 where nothing rubs."""
        rubs = self._friction[:, None] > 0.0
        return np.where(rubs, self._slip / np.maximum(self._pace, _STICKS)[:, None], 0.0)

    def _direction(self, slip: np.ndarray) -> np.ndarray:
        """w / |w| to first order."""
        ways, change = self._ways(), slip - self._slip
        across = change - np.sum(ways * change, axis=1)[:, None] * ways
        direction: np.ndarray = ways + across / np.maximum(self._pace, _STICKS)[:, None]
        return direction

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

    def _refuse_rigid(self, gaps: np.ndarray, stiff: np.ndarray) -> None:
        found = np.flatnonzero(~stiff & (gaps <= _RIGID))
        if found.size:
            raise ArgumentError(
                f"{self._said(found[0])} touch here and are nearly rigid: they hold velocities and have no slope. Give "
                "the contact a stiffness and linearise where that bears the load, or hold the bodies by a loop."
            )

    def _refuse_parting(self) -> None:
        found = np.flatnonzero(self._force <= 0.0)
        if found.size:
            raise ArgumentError(
                f"{self._said(self.acting[found[0]])} penetrate but part so fast that their law has no force, so "
                "there is no contact to linearise about; give another v."
            )

    def _refuse_sticking(self) -> None:
        found = np.flatnonzero((self._friction > 0.0) & (self._pace <= _STICKS))
        if found.size:
            raise ArgumentError(
                f"{self._said(self.acting[found[0]])} stick here: friction holds their velocities and has no slope. "
                "Linearise with friction 0, where they slide, or hold the bodies by a loop in place of friction."
            )

    def _refuse_moments(self, law: np.ndarray) -> None:
        found = np.flatnonzero((law[:, at.K_TORSION] > 0.0) | (law[:, at.K_ROLLING] > 0.0))
        if found.size:
            raise ArgumentError(
                f"{self._said(self.acting[found[0]])} have torsional or rolling friction, whose moments have no slope "
                "here. Linearise with torsional_friction 0 and rolling_friction 0."
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
