"""Flexible bodies of particles, and the dynamics of systems with them by direct sums over all particles."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

import limberjack as lj
from limberjack.engine.model.flexible import modal_bodies, normalised
from limberjack.engine.model.system import Body, Hinge, Inertia, Pose, System
from limberjack.engine.model.validate import validate
from limberjack.engine.modes.modal import Attachment, Integrals


def rotation(rng: np.random.Generator) -> np.ndarray:
    """A random rotation matrix."""
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return Q * np.sign(np.linalg.det(Q))


def exponential(t: np.ndarray) -> np.ndarray:
    """Exp(θ), by its series of squares."""
    X = np.array([[0.0, -t[2], t[1]], [t[2], 0.0, -t[0]], [-t[1], t[0], 0.0]])
    total, term = np.eye(3), np.eye(3)
    for i in range(1, 30):
        term = term @ X / i
        total = total + term
    return total


@dataclass(frozen=True, eq=False)
class Cloud:
    """Particles (mass, positions (N, 3)) that move by P (N, 3, n) η + ½ η* Q (N, 3, n, n) η."""

    mass: np.ndarray
    position: np.ndarray
    P: np.ndarray
    Q: np.ndarray
    attachments: tuple[Attachment, ...]
    stiffness: np.ndarray

    def at(self, eta: np.ndarray) -> np.ndarray:
        """Positions (N, 3) in the body frame."""
        return self.position + self.P @ eta + 0.5 * np.einsum("jirs,r,s->ji", self.Q, eta, eta)

    def integrals(self) -> Integrals:
        """The modal integrals, as the definition sums them."""
        m, p, P, Q = self.mass, self.position, np.moveaxis(self.P, 2, 1), np.moveaxis(self.Q, 1, 3)
        every, pairs = p[:, None, :], p[:, None, None, :]
        return Integrals(
            m=float(m.sum()),
            s0=m @ p,
            J0=0.5 * np.einsum("j,jkl->kl", m, spread(p, p)),
            S1=np.einsum("j,jri->ir", m, P),
            S2=np.einsum("j,jrsi->irs", m, Q),
            J1=np.einsum("j,jrkl->rkl", m, spread(every, P)),
            J2=np.einsum("j,jrskl->rskl", m, spread(P[:, :, None], P[:, None]) + spread(pairs, Q)),
            N0=np.einsum("j,jri->ir", m, np.cross(every, P)),
            N1=np.einsum("j,jrsi->irs", m, np.cross(pairs, Q) + np.cross(P[:, None], P[:, :, None])),
            Mff=np.einsum("j,jri,jsi->rs", m, P, P),
            K=self.stiffness,
            C=0.01 * self.stiffness,
            attachments=self.attachments,
        )


def spread(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """2 (a·b) 1 - a b* - b a*."""
    outer = a[..., :, None] * b[..., None, :]
    return 2.0 * np.sum(a * b, -1)[..., None, None] * np.eye(3) - outer - np.swapaxes(outer, -1, -2)


def cloud(rng: np.random.Generator, n: int, nodes: int, curved: float) -> Cloud:
    """A random one; its first particles are attachment nodes that also turn."""
    N = n + 3
    Q = curved * rng.normal(size=(N, 3, n, n))
    P, Q = 0.3 * rng.normal(size=(N, 3, n)), Q + np.swapaxes(Q, 2, 3)
    position = rng.normal(size=(N, 3))
    A = rng.normal(size=(n, n))
    kept = tuple(
        Attachment(f"node{j}", rotation(rng), position[j], 0.2 * rng.normal(size=(3, n)), P[j], Q[j])
        for j in range(nodes)
    )
    return Cloud(rng.uniform(0.5, 2.0, N), position, P, Q, kept, 100.0 * (A @ A.T + np.eye(n)))


@dataclass(frozen=True, eq=False)
class Flexible:
    """A system with modal bodies, and the clouds that they were made of, in the modes of `normalised`."""

    system: System
    clouds: dict[str, Cloud]


def in_modes(given: Cloud) -> Cloud:
    """The same cloud in modes of unit mass: least squares give the change of coordinates."""
    made, before = normalised(given.integrals()), given.integrals()
    T = np.linalg.lstsq(
        np.vstack([before.S1, before.N0, *(a.Pt for a in before.attachments), *(a.Pr for a in before.attachments)]),
        np.vstack([made.S1, made.N0, *(a.Pt for a in made.attachments), *(a.Pr for a in made.attachments)]),
        rcond=None,
    )[0]
    return replace(
        given,
        P=given.P @ T,
        Q=np.einsum("jirs,ra,sb->jiab", given.Q, T, T),
        attachments=made.attachments,
        stiffness=made.K,
    )


def rigid(rng: np.random.Generator) -> Inertia:
    """A random rigid body."""
    A = rng.normal(size=(3, 3))
    second = A @ A.T
    return Inertia(float(rng.uniform(0.5, 2.0)), 0.2 * rng.normal(size=3), np.trace(second) * np.eye(3) - second)


AXES = {"revolute": 1, "prismatic": 1, "universal": 2, "spherical": 0, "free": 0}


def hinge(rng: np.random.Generator, name: str, kind: str, parent: str | None) -> Hinge:
    """A random hinge."""
    axes = rotation(rng)[: AXES[kind]]
    return Hinge(
        name, kind, parent, Pose(rotation(rng), rng.normal(size=3)), Pose(rotation(rng), 0.3 * rng.normal(size=3)), axes
    )


def random_flexible(rng: np.random.Generator, curved: float = 0.0, base: str = "free") -> Flexible:
    """A flexible base or a flexible limb, bodies and another flexible body on its nodes."""
    kinds = ("revolute", "prismatic", "universal", "spherical")
    first, second = (cloud(rng, int(rng.integers(1, 11)), 2, curved) for _ in range(2))
    bodies = [Body("base", rigid(rng), hinge(rng, "root", base, None))]
    bodies += modal_bodies("panel", hinge(rng, "drive", str(rng.choice(kinds)), "base"), first.integrals())
    arm = Body("arm", rigid(rng), hinge(rng, "elbow", str(rng.choice(kinds)), "panel.node0"))
    boom = modal_bodies("boom", hinge(rng, "wrist", str(rng.choice(kinds)), "arm"), second.integrals())
    hand = Body("hand", rigid(rng), hinge(rng, "grip", str(rng.choice(kinds)), "boom.node1"))
    wheel = Body("wheel", rigid(rng), hinge(rng, "spin", "revolute", "panel.node1"))
    system = validate(System("flexible", (*bodies, arm, *boom, hand, wheel)))
    return Flexible(system, {"panel": in_modes(first), "boom": in_modes(second)})


def random_state(system: System, rng: np.random.Generator, deformed: float) -> tuple[np.ndarray, np.ndarray]:
    """q and v; modal coordinates of size `deformed`."""
    q = system.q0
    start = 0
    for body in system.bodies:
        kind = body.hinge.kind
        q[start : start + kind.nq] += (deformed if body.hinge.modes else 0.5) * rng.normal(size=kind.nq)
        if kind.q[:1] == ("qw",):
            q[start : start + 4] /= np.linalg.norm(q[start : start + 4])
        start += kind.nq
    return q, rng.normal(size=system.nv)


class Sums:
    """Positions of all mass of a system, by poses that the engine gives for rigid bodies and clouds alike."""

    def __init__(self, made: Flexible) -> None:
        self._made, self._dynamics = made, lj.Dynamics(made.system)
        names = made.system.coordinate_names
        self._modes = {
            name: [names.index(f"{name}.modes.{i + 1}") for i in range(c.P.shape[2])] for name, c in made.clouds.items()
        }

    def points(self, q: np.ndarray, of: Collection[str] | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Masses (K,) and positions (K, 3) of particles that move as the system does; rigid bodies become six.

        of : names of the bodies whose particles are asked for; all if None
        """
        masses, places = [], []
        for body in self._made.system.bodies:
            if of is not None and body.name not in of:
                continue
            R, p = self._dynamics.pose(body.name, q)
            if body.hinge.modes is not None:
                given = self._made.clouds[body.hinge.parent]
                masses.append(given.mass)
                places.append(p + given.at(q[self._modes[body.hinge.parent]]) @ R.T)
            elif body.inertia.mass > 0.0:
                m, r = particles_of(body.inertia)
                masses.append(m)
                places.append(p + r @ R.T)
        return np.concatenate(masses), np.vstack(places)


def particles_of(inertia: Inertia) -> tuple[np.ndarray, np.ndarray]:
    """Particles with the same mass properties: six on the principal axes around the centre of mass."""
    moments, axes = np.linalg.eigh(inertia.about_com)
    second = 0.5 * moments.sum() - moments  # Σ m x² along each axis
    masses = np.full(6, inertia.mass / 6.0)
    arms = np.sqrt(np.maximum(second, 0.0) / (2.0 * masses[0]))
    offsets = np.vstack([axes.T * arms[:, None], -axes.T * arms[:, None]])
    return masses, inertia.com + offsets
