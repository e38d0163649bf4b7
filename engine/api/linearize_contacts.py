"""Contacts of a linear model: touches are held as they are, and their forces follow the slopes of their laws.

What touches goes on to touch, and what is apart stays apart. The force on the second shape of a touch with gap g, gap
rate u, normal n and tangential velocity w is, with N of the law there (`kernels/contacts/laws.py`),

    f = N n - µ N w / |w|,    N = N₀ + ∂N/∂g (g - g₀) + ∂N/∂u (u - u₀),    N = k δ^p (1 - a u),  δ = -g

and w / |w| to first order in w. What n, g, and the places of forces do as shapes move is exact. Nearly rigid touches
and those that stick hold velocities, and have no such slopes: they are refused.
"""

from __future__ import annotations

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


class HeldTouches:
    """The touches of a simulation at its state, which go on to act. ArgumentError where there is no slope."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation, plant = simulation, simulation.plant
        self._work, self._state = plant.new_work(), simulation.state
        self._met = split(self._work, layout.work_sections(plant.ints))["met"]
        pairs = plant.sections["pair_int"]
        self._pair_of = np.repeat(np.arange(len(pairs)), pairs[:, at.PA_TOUCHES])
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
        self._normal, self._place = normal, held[:, at.ME_POINT : at.ME_POINT + 3]
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
        held = met[self.acting]
        self._require_near(held)
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

    def largest_step(self, motion: np.ndarray) -> float:
        """How far shapes may be displaced along a motion (nv,) of unit size, twice of which is tried."""
        met = self._find(self._simulation.q, motion)[self.acting]
        rates = np.abs(np.sum(_normal(met) * met[:, at.ME_SPEED : at.ME_SPEED + 3], axis=1))
        fastest = float(rates.max(initial=0.0))
        return _MOST / fastest if fastest > 0.0 else np.inf

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

    def _require_near(self, held: np.ndarray) -> None:
        """Touches are told apart by their places in a table, which change hands where boxes meet boxes."""
        jumped = np.linalg.norm(held[:, at.ME_POINT : at.ME_POINT + 3] - self._place, axis=1) > 0.1
        turned = np.sum(_normal(held) * self._normal, axis=1) < 0.9
        found = np.flatnonzero((held[:, at.ME_NEAR] <= 0.0) | jumped | turned)
        if found.size:
            raise ArgumentError(
                f"{self._said(self.acting[found[0]])} do not stay in touch at the same place when they are displaced "
                "a little: there is an edge or a corner, and no slope."
            )


def _normal(met: np.ndarray) -> np.ndarray:
    return met[:, at.ME_NORMAL : at.ME_NORMAL + 3]
