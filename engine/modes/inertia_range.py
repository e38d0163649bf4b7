"""How far a flexible body may deform before its inertia, an expansion to second order, is no longer positive definite.

Kinetic energy of second order keeps M_ff constant, while the coupling C = [N; S] of the modes with the body's motion
grows with η. What is left of the rigid inertia where the modes give way, R(η) = M_rr(η) - C(η) M_ff⁻¹ C(η)*, shrinks
and changes its sign at last. Cantilever modes leave near nothing of a body that nothing carries; what carries it adds
its own inertia. Along η = t d, R is a quadratic polynomial in t, singular first at the least t > 0 with
det(1 + t A + t² B) = 0, A and B being its coefficients scaled by R(0): an eigenvalue problem in 1/t.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limberjack.engine.modes.data import ModalData
from limberjack.engine.modes.effective_mass import eigen_data
from limberjack.engine.modes.integrals import integrals
from limberjack.engine.modes.modal import Integrals
from limberjack.engine.modes.reference import cross_matrix

#: directions of each kind, and steps of improvement, in the search for the worst one
STARTS, STEPS = 8, 40
#: a root 1/t with a smaller imaginary part, relative to the largest, is real
REAL = 1e-6
#: share of the body's own rigid inertia that carries it, in the report
CARRIER = 0.1
#: a larger displacement beside the extent of the body, or rotation in rad, is no limit; nor a mode that reaches so much
#: further than the worst
FAR = 100.0


@dataclass(frozen=True, eq=False)
class Ranges:
    """How far each eigenmode alone may go until the inertia becomes singular; infinite where it does not matter.

    alone : (n,) of the body by itself;  carried : (n,) with CARRIER of its own inertia fixed at the inboard node, or
        None for free-free modes
    turned : (n,) whether these are the largest rotation of any node, rad, in modes that only twist the lines of nodes;
        else they are its largest displacement, m
    together : ρ of `InertiaRange.together`, the same two
    """

    alone: np.ndarray
    carried: np.ndarray | None
    turned: np.ndarray
    together: tuple[float, float]


def ranges(data: ModalData) -> Ranges:
    """How far the body may deform in each of its eigenmodes."""
    own = eigen_data(data) if data.modes else data
    made = integrals(own, own.inboard or None)
    halves = own.shapes[:, :3], own.shapes[:, 3:]
    turn, move = (np.linalg.norm(half, axis=1).max(axis=0, initial=0.0) for half in halves)
    extent = float(np.ptp(own.positions, axis=0).max())
    turned = move < 1e-6 * turn * extent
    largest = np.where(turned, turn, move)

    def sizes(reach: InertiaRange) -> np.ndarray:
        found = reach.modes() * largest
        return np.where(found > FAR * np.where(turned, 1.0, extent), np.inf, found)

    alone, carried = InertiaRange(made), InertiaRange(made, CARRIER)
    if not own.inboard:
        return Ranges(sizes(alone), None, turned, (alone.together(), 1.0))
    return Ranges(sizes(alone), sizes(carried), turned, (alone.together(), carried.together()))


class InertiaRange:
    """How far from the undeformed state the inertia of a body stays positive definite.

    carrier : rigid inertia fixed at the body's frame, as a share of the body's own
    """

    def __init__(self, made: Integrals, carrier: float = 0.0) -> None:
        self._made = made
        self._give = np.linalg.inv(made.Mff)
        self._coupling = np.vstack([made.N0, made.S1])
        rigid = (1.0 + carrier) * _rigid(made.J0, made.s0, made.m)
        values, vectors = np.linalg.eigh(rigid - self._coupling @ self._give @ self._coupling.T)
        self._definite = bool(values[0] > 1e-12 * np.abs(rigid).max())
        self._scale = vectors / np.sqrt(np.maximum(values, 1e-300)) @ vectors.T
        self._constant = not any(np.any(part) for part in (made.S2, made.J1, made.J2, made.N1))

    def reach(self, direction: np.ndarray) -> float:
        """The least t > 0 for which t d makes it singular; infinite if there is none, 0 if it is so at rest."""
        return self._root(direction)[0]

    def modes(self) -> np.ndarray:
        """(n,) reach of every mode alone, the worse of both senses."""
        return np.array([min(self.reach(d), self.reach(-d)) for d in np.eye(len(self._give))])

    def together(self) -> float:
        """ρ ≤ 1: it stays positive definite where Σ (η_r / reach of mode r)² < ρ²; by search, not by proof.

        The search goes down from the modes that reach least and from directions at random: where M is singular, the
        worst η of that length for its vector z makes z* M z smaller still, which shortens t.
        """
        alone = self.modes()
        if not alone.size or not np.isfinite(alone).any() or not alone.all():
            return 1.0
        scale = np.where(alone <= FAR * alone.min(), alone, 0.0)  # modes that reach so much further stay at rest
        worst = np.eye(len(scale))[np.argsort(alone)[:STARTS]]
        starts = np.vstack([worst, -worst, np.random.default_rng(0).standard_normal((STARTS, len(scale)))])
        return min(1.0, *(self._descend(start, scale) for start in starts * (scale > 0.0)))

    def _root(self, d: np.ndarray) -> tuple[float, np.ndarray]:
        """t, and the vector [ω; v; η̇] without kinetic energy there."""
        made, none = self._made, np.zeros(6 + len(self._give))
        if self._constant or not self._definite:
            return (np.inf if self._definite else 0.0), none
        growth = np.vstack([made.N1 @ d, made.S2 @ d])
        cross = growth @ self._give @ self._coupling.T
        A = self._scaled(_rigid(np.tensordot(d, made.J1, 1), made.S1 @ d, 0.0) - cross - cross.T)
        second = _rigid(np.einsum("r,s,rsij->ij", d, d, made.J2), made.S2 @ d @ d, 0.0)
        B = self._scaled(0.5 * second - growth @ self._give @ growth.T)
        values, vectors = np.linalg.eig(np.block([[-A, -B], [np.eye(6), np.zeros((6, 6))]]))
        most = np.abs(values).max()
        real = np.where(np.abs(values.imag) <= REAL * most, values.real, -np.inf)
        first = int(np.argmax(real))
        if real[first] <= 1e-9 * most:
            return np.inf, none
        t = 1.0 / float(real[first])
        rigid = self._scale @ np.real(vectors[:6, first])
        return t, np.concatenate([rigid, -self._give @ (self._coupling + t * growth).T @ rigid])

    def _scaled(self, matrix: np.ndarray) -> np.ndarray:
        return np.asarray(self._scale @ matrix @ self._scale)

    def _descend(self, u: np.ndarray, scale: np.ndarray) -> float:
        """From a direction u, in units of `scale`, to one whose t is a minimum."""
        best, u = np.inf, u / max(float(np.linalg.norm(u)), 1e-300)
        for _ in range(STEPS):
            t, z = self._root(scale * u)
            if not t < best * (1.0 - 1e-3):
                break
            best = t
            slope, curve = self._along(z)
            slope, curve = scale * slope, scale[:, None] * curve * scale
            # a quadratic of the largest curvature bounds z* M z from above; its least on the sphere
            down = max(float(np.linalg.eigvalsh(curve)[-1]), 0.0) * t * u - slope - t * curve @ u
            u = down / max(float(np.linalg.norm(down)), 1e-300)
        return best

    def _along(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """z* M(η) z = const + slope·η + ½ η* curve η: slope (n,), curve (n, n)."""
        made, turn, move, rate = self._made, z[:3], z[3:6], z[6:]
        arm = np.cross(move, turn)  # v·(ω × s) = s·(v × ω)
        slope = made.J1 @ turn @ turn + 2.0 * arm @ made.S1
        slope += 2.0 * np.einsum("i,irs,r->s", turn, made.N1, rate) + 2.0 * np.einsum("i,irs,r->s", move, made.S2, rate)
        return slope, made.J2 @ turn @ turn + 2.0 * np.tensordot(arm, made.S2, 1)


def _rigid(J: np.ndarray, s: np.ndarray, m: float) -> np.ndarray:
    """[J, s~; -s~, m]."""
    tilde = cross_matrix(s)
    return np.block([[J, tilde], [tilde.T, m * np.eye(3)]])
