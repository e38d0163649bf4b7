"""Velocities that touches hold: nearly rigid shapes do not part or approach, and those that stick do not slide.

Of a touch with normal n and relative velocity w = S v, S (3, nv), with tangents t of the given state,

    nearly rigid: n · w = 0        sticks: t · w - (n · t)(n · w) = 0 for both t

are rows A(q) v = 0 like those of closed loops. Those of gaps hold positions too; those across hold velocities alone, as
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

    touch (k,) : places among the touches that act;  across (k,) : the tangent, 0 or 1, or -1 for the normal
    tangents (n, 2, 3) : of the touches that act, at the given state
    """

    touch: np.ndarray
    across: np.ndarray
    tangents: np.ndarray

    @property
    def holonomic(self) -> np.ndarray:
        """Which rows hold positions too (k,)."""
        return np.asarray(self.across < 0)

    def directions(self, normal: np.ndarray) -> np.ndarray:
        """Where each row looks (k, 3), for normals (n, 3)."""
        n = normal[self.touch]
        t = self.tangents[self.touch, np.maximum(self.across, 0)]
        level = t - np.sum(n * t, axis=1)[:, None] * n
        return np.asarray(np.where(self.holonomic[:, None], n, level))

    def idle(self, forces: np.ndarray) -> np.ndarray:
        """Touches whose load, of these forces (k,), is zero."""
        none = np.abs(forces) <= _OUTSIDE * np.abs(forces).max(initial=0.0)
        return np.asarray(self.touch[self.holonomic & none])

    def chosen(self, rows: np.ndarray) -> Held:
        """Only some of the rows."""
        return Held(self.touch[rows], self.across[rows], self.tangents)


def held(normal: np.ndarray, rigid: np.ndarray, sticks: np.ndarray) -> Held:
    """What touches with these normals (n, 3) hold."""
    touch = [i for i in range(len(normal)) for _ in range(int(rigid[i]) + 2 * int(sticks[i]))]
    across = [c for i in range(len(normal)) for c in [-1] * int(rigid[i]) + [0, 1] * int(sticks[i])]
    tangents = np.zeros((len(normal), 2, 3))
    for i, n in enumerate(normal):
        first = np.cross(n, np.eye(3)[np.argmin(np.abs(n))])
        tangents[i, 0] = first / np.linalg.norm(first)
        tangents[i, 1] = np.cross(n, tangents[i, 0])
    return Held(np.array(touch, dtype=int), np.array(across, dtype=int), tangents)


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

    def outside(self, what: Held, friction: np.ndarray, given: np.ndarray) -> int:
        """The first touch whose forces must leave their bounds, -1 if some within hold all rows.

        friction (n,), given (n,) : coefficients and normal forces by laws, of the touches that act

        Projections on G λ = b and on the bounds in turn come to a common point if there is one.
        """
        inverse, x = np.linalg.pinv(self.G, rcond=_NOISE), self.found
        for _ in range(_PROJECTIONS):
            inside = _bounded(x, what, friction, given)
            away = np.abs(inside - x)
            if away.max(initial=0.0) <= _OUTSIDE * max(np.abs(x).max(initial=0.0), np.abs(given).max(initial=0.0)):
                return -1
            x = inside - inverse @ (self.G @ inside - self.b)
        return int(what.touch[np.argmax(away)])


def _bounded(x: np.ndarray, what: Held, friction: np.ndarray, given: np.ndarray) -> np.ndarray:
    """The nearest forces with N ≥ 0 and |f| ≤ µ N; N is given where no row holds a gap."""
    found = x.copy()
    for i in np.unique(what.touch):
        normal, level = (np.flatnonzero((what.touch == i) & (what.holonomic == up)) for up in (True, False))
        N = float(x[normal[0]]) if normal.size else float(given[i])
        f, mu = float(np.linalg.norm(x[level])), float(friction[i]) if level.size else 0.0
        most = N if not normal.size or f <= mu * N else max(0.0, (N + mu * f) / (1.0 + mu * mu))
        found[normal] = max(most, 0.0)
        if f > mu * max(most, 0.0):
            found[level] *= mu * max(most, 0.0) / f
    return found
