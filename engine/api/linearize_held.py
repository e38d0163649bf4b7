"""Velocities that touches hold: nearly rigid shapes do not part or approach, and those that stick do not slide, spin or
roll.

Of a touch with normal n, relative velocity u and angular velocity ω, and tangents t of the given state,

    nearly rigid: n · u = 0        slides: t · u - (n · t)(n · u) = 0 for both t
    spins: ℓ n · ω = 0             rolls: ℓ (t · ω - (n · t)(n · ω)) = 0 for both t,    ℓ: linearize_friction.py

are rows A(q) v = 0 like those of closed loops. Those of gaps hold positions too; the others hold velocities alone, as
of a wheel: what sticks may roll, and be displaced. With R (nv, k) the accelerations that unit forces along the rows
cause, and a those without, the forces are

    A dv/dt + (∂A/∂q q') v = 0,    dv/dt = a + R λ,    A R λ = -A a - (∂A/∂q q') v

A nearly rigid touch that slides rubs by its own force: its column of R is that of n - µ w / |w|.

Rows that depend on others at the given state are left out of the linear model: where a foot has been displaced alone,
they would hold more. Along motions that all rows allow, the others ensure them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from limberjack.engine.api.linearize_friction import ROLLS, SLIDES, SPINS

#: kind of the rows that hold gaps, beside those of friction
GAP = -1
#: displacement of the differences of rows along a motion, rad or m
_STEP = 1e-3
#: shares of the largest response: below, one is rounding; and a row that answers less than this depends on others
_NOISE, _DEPENDS = 1e-10, 1e-8
#: shares of the accelerations that forces may leave, and of the largest force that they may be outside of their bounds
_HELD, _OUTSIDE = 1e-6, 1e-6
#: projections that look for forces within their bounds
_PROJECTIONS = 3000


@dataclass(frozen=True, eq=False)
class Held:
    """Which velocities are held.

    touch (k,) : places among the touches that act
    kind (k,) : the friction, SLIDES, SPINS or ROLLS, or GAP;  tangent (k,) : 0 or 1, or -1 along the normal
    tangents (n, 2, 3) : of the touches that act, at the given state
    """

    touch: np.ndarray
    kind: np.ndarray
    tangent: np.ndarray
    tangents: np.ndarray

    @property
    def holonomic(self) -> np.ndarray:
        """Which rows hold positions too (k,)."""
        return np.asarray(self.kind == GAP)

    def directions(self, normal: np.ndarray) -> np.ndarray:
        """Where each row looks, in motions [ℓ ω; u] (k, 6), for normals (n, 3)."""
        n = normal[self.touch]
        t = self.tangents[self.touch, np.maximum(self.tangent, 0)]
        level = t - np.sum(n * t, axis=1)[:, None] * n
        way = np.where((self.tangent < 0)[:, None], n, level)
        turns = ((self.kind == SPINS) | (self.kind == ROLLS))[:, None]
        return np.hstack([np.where(turns, way, 0.0), np.where(turns, 0.0, way)])

    def idle(self, forces: np.ndarray) -> np.ndarray:
        """Touches whose load, of these forces (k,), is zero."""
        none = np.abs(forces) <= _OUTSIDE * np.abs(forces).max(initial=0.0)
        return np.asarray(self.touch[self.holonomic & none])

    def chosen(self, rows: np.ndarray) -> Held:
        """Only some of the rows."""
        return Held(self.touch[rows], self.kind[rows], self.tangent[rows], self.tangents)


def held(normal: np.ndarray, rigid: np.ndarray, sticks: np.ndarray) -> Held:
    """What touches with these normals (n, 3) hold. sticks (n, 3) : which do not slide, spin and roll"""
    listed = []
    for i, (gap, (slides, spins, rolls)) in enumerate(zip(rigid, sticks, strict=True)):
        listed += [(i, GAP, -1)] * int(gap) + [(i, SLIDES, c) for c in range(2) if slides]
        listed += [(i, SPINS, -1)] * int(spins) + [(i, ROLLS, c) for c in range(2) if rolls]
    touch, kind, tangent = np.array(listed, dtype=int).reshape(-1, 3).T
    tangents = np.zeros((len(normal), 2, 3))
    for i, n in enumerate(normal):
        first = np.cross(n, np.eye(3)[np.argmin(np.abs(n))])
        tangents[i, 0] = first / np.linalg.norm(first)
        tangents[i, 1] = np.cross(n, tangents[i, 0])
    return Held(touch, kind, tangent, tangents)


def drift(rates: Callable[[float], np.ndarray], v: np.ndarray) -> np.ndarray:
    """(∂A/∂q q') v (k,) by central differences of fourth order. rates: A v after so many seconds of the motion v"""
    fastest = float(np.abs(v).max(initial=0.0))
    if fastest == 0.0:
        return np.zeros_like(rates(0.0))
    h = _STEP / max(fastest, 1.0)
    return np.asarray((8.0 * (rates(h) - rates(-h)) - rates(2.0 * h) + rates(-2.0 * h)) / (12.0 * h))


@dataclass(frozen=True, eq=False)
class Loads:
    """Forces λ (k,) of the rows with G λ = b, the smallest where several do."""

    G: np.ndarray
    b: np.ndarray

    @property
    def found(self) -> np.ndarray:
        """λ."""
        return np.asarray(np.linalg.lstsq(self.G, self.b, rcond=_NOISE)[0])

    @property
    def hold(self) -> bool:
        """Whether they hold all rows."""
        left = np.abs(self.G @ self.found - self.b).max(initial=0.0)
        return bool(left <= _HELD * max(1.0, float(np.abs(self.b).max(initial=0.0))))

    @property
    def independent(self) -> np.ndarray:
        """Rows that do not depend on those before."""
        kept: list[int] = []
        for i in range(len(self.b)):
            tried = [*kept, i]
            s = np.linalg.svd(self.G[np.ix_(tried, tried)], compute_uv=False)
            if s[-1] > _DEPENDS * np.abs(self.G).max():
                kept = tried
        return np.array(kept, dtype=int)

    def outside(self, what: Held, coefficients: np.ndarray, given: np.ndarray) -> int:
        """The first touch whose forces must leave their bounds, -1 if some within hold all rows.

        coefficients (n, 3), given (n,) : of friction, and normal forces by laws, of the touches that act

        Projections on G λ = b and on the bounds in turn come to a common point if there is one. What a small
        coefficient bounds must be so much nearer to its bound.
        """
        inverse, x = np.linalg.pinv(self.G, rcond=_NOISE), self.found
        most = np.where(what.holonomic, 1.0, np.minimum(coefficients[what.touch, np.maximum(what.kind, 0)], 1.0))
        for _ in range(_PROJECTIONS):
            inside = _bounded(x, what, coefficients, given)
            away = np.abs(inside - x) / most
            if away.max(initial=0.0) <= _OUTSIDE * max(np.abs(x).max(initial=0.0), np.abs(given).max(initial=0.0)):
                return -1
            x = inside - inverse @ (self.G @ inside - self.b)
        return int(what.touch[np.argmax(away)])


def _bounded(x: np.ndarray, what: Held, coefficients: np.ndarray, given: np.ndarray) -> np.ndarray:
    """Forces within N ≥ 0 and |f| ≤ µ N for each kind of friction, by the nearest for one after the other; N is given
    where no row holds a gap."""
    found = x.copy()
    for i in np.unique(what.touch):
        normal = np.flatnonzero((what.touch == i) & what.holonomic)
        found[normal] = np.maximum(found[normal], 0.0)
        for kind in (SLIDES, SPINS, ROLLS):
            level = np.flatnonzero((what.touch == i) & (what.kind == kind))
            if level.size:
                _into_cone(found, normal, level, float(coefficients[i, kind]), float(given[i]))
    return found


def _into_cone(x: np.ndarray, normal: np.ndarray, level: np.ndarray, mu: float, given: float) -> None:
    """Move the forces of these rows to the nearest with |f| ≤ µ N; without a row for N it is given."""
    N = float(x[normal[0]]) if normal.size else given
    f = float(np.linalg.norm(x[level]))
    if f <= mu * N:
        return
    most = max(0.0, (N + mu * f) / (1.0 + mu * mu)) if normal.size else N
    x[normal] = most
    x[level] *= mu * most / f
