"""Straight beam elements, Euler-Bernoulli or Timoshenko, in their own axes: x along the beam, sections in y, z.

The displacement along an element of length L, at s = x/L, with Φ = 12 E I/(κ G A L²) (Φ = 0 is Euler-Bernoulli):
u and θx are linear; v and its turn θz are
    v (1+Φ)  = [1-3s²+2s³+Φ(1-s)] v1 + L [s-2s²+s³+Φ(s-s²)/2] θ1 + [3s²-2s³+Φ s] v2 + L [s³-s²-Φ(s-s²)/2] θ2
    θz (1+Φ) = 6(s²-s)/L v1 + [1-4s+3s²+Φ(1-s)] θ1 + 6(s-s²)/L v2 + [3s²-2s+Φ s] θ2
and w likewise with θy = -θ. Matrices are integrals over Gauss points, exact for these polynomials.

Degrees of freedom of an element: [θ1 (3), u1 (3), θ2 (3), u2 (3)], as spatial vectors of its two nodes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limberjack.engine.modes.frame import Frame, Mesh
from limberjack.engine.modes.reference import cross_matrix

_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(5)
STATIONS, WEIGHTS = 0.5 * (_POINTS + 1.0), 0.5 * _WEIGHTS
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(4)
#: where the bodies of a consistent mass sit: four points integrate products of displacements, and second-order ones
#: times positions, without error
BODIES, SHARES = 0.5 * (_POINTS + 1.0), 0.5 * _WEIGHTS


@dataclass(frozen=True, eq=False)
class Properties:
    """Of E elements, each (E,): length, bending and other stiffnesses, masses per length (SI)."""

    length: np.ndarray
    axial: np.ndarray
    twist: np.ndarray
    bend_y: np.ndarray
    bend_z: np.ndarray
    shear_y: np.ndarray
    shear_z: np.ndarray
    mass: np.ndarray
    inertia_y: np.ndarray
    inertia_z: np.ndarray


@dataclass(frozen=True, eq=False)
class Fields:
    """Interpolation at the Gauss points: (E, Q, 3, 12) each, in beam axes.

    displacement, turn : u and θ;  slope : turn of the centre line, [θx, -w', v'];  bending : θ' (twist, curvatures)
    stretch, shear : [u', 0, 0] and [0, v' - θz, w' + θy]
    """

    displacement: np.ndarray
    turn: np.ndarray
    slope: np.ndarray
    bending: np.ndarray
    stretch: np.ndarray
    shear: np.ndarray


def properties(frame: Frame, mesh: Mesh) -> Properties:
    """Stiffness and mass of every element."""
    beams = [frame.beams[i] for i in mesh.beam]
    rows = []
    for beam in beams:
        s, E, G, rho = beam.section, beam.material.young, beam.material.shear, beam.material.density
        rows.append([E * s.area, G * s.torsion, E * s.y, E * s.z, G * s.shear_y, G * s.shear_z,
                     rho * s.area, rho * s.y, rho * s.z])  # fmt: skip
    return Properties(mesh.lengths, *np.array(rows).T)


def fields(p: Properties, stations: np.ndarray = STATIONS) -> Fields:
    """Interpolation of all elements at stations x/L (Q,)."""
    shape = (len(p.length), len(stations), 3, 12)
    made = Fields(*(np.zeros(shape) for _ in range(6)))
    L, s = p.length[:, None], stations[None, :]
    for end, (value, rate) in enumerate(((1.0 - s, -1.0 / L), (s, 1.0 / L))):
        made.displacement[:, :, 0, 6 * end + 3] = value
        made.stretch[:, :, 0, 6 * end + 3] = rate
        made.turn[:, :, 0, 6 * end] = made.slope[:, :, 0, 6 * end] = value
        made.bending[:, :, 0, 6 * end] = rate
    # v with θz, then w with -θy
    _bending_plane(made, p, stations, p.bend_z, p.shear_y, across=1, about=2, sign=1.0)
    _bending_plane(made, p, stations, p.bend_y, p.shear_z, across=2, about=1, sign=-1.0)
    return made


def _bending_plane(
    made: Fields,
    p: Properties,
    stations: np.ndarray,
    bend: np.ndarray,
    shear: np.ndarray,
    across: int,
    about: int,
    sign: float,
) -> None:
    """Fill one bending plane: `across` is the displacement's axis, `about` the turn's, sign θ's sense."""
    L, s = p.length[:, None], stations[None, :]
    phi = np.where(shear > 0.0, 12.0 * bend / (np.where(shear > 0.0, shear, 1.0) * p.length**2), 0.0)[:, None]
    f = 1.0 / (1.0 + phi)
    v = (f * (1 - 3 * s**2 + 2 * s**3 + phi * (1 - s)), f * L * (s - 2 * s**2 + s**3 + phi * (s - s**2) / 2),
         f * (3 * s**2 - 2 * s**3 + phi * s), f * L * (s**3 - s**2 - phi * (s - s**2) / 2))  # fmt: skip
    dv = (f * (-6 * s + 6 * s**2 - phi) / L, f * (1 - 4 * s + 3 * s**2 + phi * (1 - 2 * s) / 2),
          f * (6 * s - 6 * s**2 + phi) / L, f * (3 * s**2 - 2 * s - phi * (1 - 2 * s) / 2))  # fmt: skip
    t = (f * 6 * (s**2 - s) / L, f * (1 - 4 * s + 3 * s**2 + phi * (1 - s)),
         f * 6 * (s - s**2) / L, f * (3 * s**2 - 2 * s + phi * s))  # fmt: skip
    dt = (f * 6 * (2 * s - 1) / L**2, f * (6 * s - 4 - phi) / L, f * 6 * (1 - 2 * s) / L**2, f * (6 * s - 2 + phi) / L)
    for i, place in enumerate((3 + across, about, 9 + across, 6 + about)):
        own = sign if i % 2 else 1.0  # θ1 and θ2 enter by their sense
        made.displacement[:, :, across, place] = own * v[i]
        made.slope[:, :, about, place] = sign * own * dv[i]
        made.turn[:, :, about, place] = sign * own * t[i]
        made.bending[:, :, about, place] = sign * own * dt[i]
        made.shear[:, :, across, place] = own * (dv[i] - t[i])


def stiffness(p: Properties, f: Fields) -> np.ndarray:
    """(E, 12, 12): strain energy of stretch, twist, bending and shear."""
    zero = np.zeros_like(p.axial)
    return np.asarray(
        _form(p.length, f.stretch, np.stack([p.axial, zero, zero], axis=1))
        + _form(p.length, f.bending, np.stack([p.twist, p.bend_y, p.bend_z], axis=1))
        + _form(p.length, f.shear, np.stack([zero, p.shear_y, p.shear_z], axis=1))
    )


def consistent_mass(p: Properties, f: Fields) -> np.ndarray:
    """(E, 12, 12): kinetic energy of the interpolated displacement, with the rotary inertia of the sections."""
    rotary = np.stack([p.inertia_y + p.inertia_z, p.inertia_y, p.inertia_z], axis=1)
    translation = np.repeat(p.mass[:, None], 3, axis=1)
    return np.asarray(_form(p.length, f.displacement, translation) + _form(p.length, f.turn, rotary))


def geometric_stiffness(p: Properties, f: Fields, tension: np.ndarray) -> np.ndarray:
    """(E, 12, 12): N ∫ (v'² + w'²) dx of axial forces N (E,), N, tension positive."""
    return _form(p.length, f.slope, tension[:, None] * np.array([0.0, 1.0, 1.0]))


def _form(length: np.ndarray, field: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Σ over Gauss points of L w field* diag(weight) field."""
    return np.asarray(np.einsum("e,q,eqia,ei,eqib->eab", length, WEIGHTS, field, weight, field, optimize=True))


def second_order(p: Properties, displacements: np.ndarray, station: float = 1.0) -> np.ndarray:
    """How far the station x/L moves from the first node at second order, in beam axes: (E, 3, n, n) G of each element.

    The centre line keeps its length and direction Exp(φ) e_x, φ its turn: its second-order part ½ φ × (φ × e_x)
    = ½ (φ φ_x - φ² e_x) integrated along the element. displacements : (E, 12, n) of the modes, beam axes.
    """
    slope = np.einsum("eqia,ear->eqir", fields(p, station * STATIONS).slope, displacements)
    length = station * p.length
    outer = np.einsum("e,q,eqir,eqs->eirs", length, WEIGHTS, slope, slope[:, :, 0], optimize=True)
    square = np.einsum("e,q,eqir,eqis->ers", length, WEIGHTS, slope, slope, optimize=True)
    G = 0.5 * (outer + np.swapaxes(outer, 2, 3))
    G[:, 0] -= square
    return np.asarray(G)


def section_bodies(mesh: Mesh, p: Properties) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bodies at the stations BODIES of every element: positions (4 E, 3), masses (4 E,), inertias (4 E, 3, 3).

    Each is the part of the beam that its Gauss point stands for, with its sections' rotary inertia
    ρ diag(I_y + I_z, I_y, I_z). Displaced as the element is there they have the kinetic energy of the consistent mass.
    """
    start, along = mesh.positions[mesh.ends[:, 0]], mesh.turn[:, :, 0] * p.length[:, None]
    positions = start[:, None] + BODIES[:, None] * along[:, None]
    share = p.length[:, None] * SHARES
    rotary = np.stack([p.inertia_y + p.inertia_z, p.inertia_y, p.inertia_z], axis=1)
    turned = np.einsum("eik,ek,ejk->eij", mesh.turn, rotary, mesh.turn)
    inertias = share[:, :, None, None] * turned[:, None]
    return positions.reshape(-1, 3), (share * p.mass[:, None]).ravel(), inertias.reshape(-1, 3, 3)


def lumped_bodies(mesh: Mesh, p: Properties) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nodal bodies: masses (N,), first moments (N, 3), inertias about the nodes (N, 3, 3), frame axes.

    By Euler-Maclaurin, ∫ μ v² dx over an element is half its mass on each node, set inwards by L/6; then rigid
    motions have the exact mass and centre, and smooth ones an error of fourth order. The sections' rotary inertia
    ρ diag(I_y + I_z, I_y, I_z) goes to the nodes by halves; each node's mass is a point at its own centre.
    """
    nodes = len(mesh.positions)
    half = 0.5 * p.mass * p.length
    inward = (half * p.length / 6.0)[:, None] * mesh.turn[:, :, 0]
    rotary = 0.5 * p.length[:, None] * np.stack([p.inertia_y + p.inertia_z, p.inertia_y, p.inertia_z], axis=1)
    turned = np.einsum("eik,ek,ejk->eij", mesh.turn, rotary, mesh.turn)
    masses, moments, inertias = np.zeros(nodes), np.zeros((nodes, 3)), np.zeros((nodes, 3, 3))
    for end, sign in ((0, 1.0), (1, -1.0)):
        np.add.at(masses, mesh.ends[:, end], half)
        np.add.at(moments, mesh.ends[:, end], sign * inward)
        np.add.at(inertias, mesh.ends[:, end], turned)
    hat = cross_matrix(moments)
    with_mass = masses > 0.0
    inertias[with_mass] -= (hat @ hat)[with_mass] / masses[with_mass, None, None]
    return masses, moments, inertias
