"""Slender beams along x for the proofs: modal data in memory, systems with them, linear frequencies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigvals

import limberjack as lj
from limberjack.engine.model.flexible import modal_bodies
from limberjack.engine.model.system import Body, Hinge, Inertia, Pose, System
from limberjack.engine.model.validate import validate
from limberjack.engine.modes import ModalData, integrals
from limberjack.engine.modes.frame import Beam, Frame, Material, Section
from limberjack.engine.modes.frame_structure import frame_structure
from limberjack.engine.modes.reduction import Reduction, reduce_structure


@dataclass(frozen=True)
class Strip:
    """A uniform Euler-Bernoulli beam that bends in the plane x y: ρA (kg/m), EI (N·m²), length (m), EA (N).

    Bending in the other plane is `across` times stiffer, torsion a million times. Rotary inertia ρI (kg·m) comes with
    EA, for the section has unit area: it is next to nothing by default, as is extension.
    """

    line_mass: float = 1.2
    bending: float = 1.4e4
    length: float = 10.0
    axial: float = 1e13
    across: float = 1e6

    def data(self, kind: str, modes: int, elements: int = 40) -> ModalData:
        """Modal data with the nodes root and tip, the latter with static modes in Craig-Bampton's."""
        second = self.bending / self.axial
        section = Section(1.0, self.across * second, second, 1e6 * second)
        ends = np.array([[0.0, 0.0, 0.0], [self.length, 0.0, 0.0]])
        material = Material(self.axial, self.axial, self.line_mass)
        beam = Beam(("root", "tip"), section, material, np.array([0.0, 0.0, 1.0]), elements)
        structure = frame_structure(Frame("strip", ("root", "tip"), ends, (beam,)), "consistent")
        held = "" if kind == "free-free" else "root"
        return reduce_structure(structure, Reduction(kind, held, ("tip",) if kind == "craig-bampton" else (), modes))

    @property
    def rate(self) -> float:
        """√(EI / ρA L⁴), rad/s: what frequency parameters are times of."""
        return float(np.sqrt(self.bending / (self.line_mass * self.length**4)))

    @property
    def rotary(self) -> float:
        """ρI, kg·m."""
        return self.line_mass * self.bending / self.axial


def hung(data: ModalData, hinge: Hinge, below: float = np.inf, name: str = "strip", **options: object) -> list[Body]:
    """The bodies of a strip on a hinge, with its tip, in the modes below a frequency (rad/s)."""
    slow = [i for i, square in enumerate(np.diag(data.stiffness)) if square < below**2]
    return modal_bodies(name, hinge, integrals(data, "root", ["tip"], slow, **options))


def on_a_hub(data: ModalData, inertia: float, radius: float = 0.0, mass: float = 1.0, base: str = "revolute") -> System:
    """A hub (kg·m² about z) on a hinge about z, or free, and the strip clamped to it at a radius (m)."""
    axes = np.array([[0.0, 0.0, 1.0]]) if base == "revolute" else np.zeros((0, 3))
    hub = Body(
        "hub", Inertia(mass, np.zeros(3), inertia * np.diag([0.6, 0.6, 1.0])), Hinge("turn", base, None, axes=axes)
    )
    clamp = Hinge("clamp", "fixed", "hub", inboard=Pose(np.eye(3), np.array([radius, 0.0, 0.0])))
    return validate(System("hub and strip", (hub, *hung(data, clamp))))


def stiffness(system: System) -> np.ndarray:
    """(nv,) springs of hinges and modes."""
    return np.array([dof.stiffness for body in system.bodies for dof in body.hinge.dofs])


def modal(system: System) -> list[int]:
    """Velocities that are modal ones."""
    return [i for i, name in enumerate(system.velocity_names) if ".modes." in name]


def frequencies(system: System) -> np.ndarray:
    """ω (rad/s) of small motions about rest without gravity, ascending; rigid motions are about zero."""
    squares = eigvals(np.diag(stiffness(system)), lj.Dynamics(system).mass_matrix(system.q0)).real
    return np.sqrt(np.sort(np.maximum(squares, 0.0)))


def spinning(system: System, rate: float, kept: Sequence[int] | None = None) -> np.ndarray:
    """ω² (rad²/s²), ascending, of the modes while the first hinge turns steadily: M η̈ + (K + ∂b/∂η) η = 0.

    Slopes of the bias by central differences; there are no gyroscopic terms between modes of one plane.
    """
    dynamics, places, h = lj.Dynamics(system), list(kept or modal(system)), 1e-4
    v = np.eye(system.nv)[0] * rate
    slopes = [
        (dynamics.bias(h * unit, v) - dynamics.bias(-h * unit, v))[places] / (2.0 * h)
        for unit in np.eye(system.nq)[places]
    ]
    K = np.diag(stiffness(system)[places]) + np.array(slopes).T
    M = dynamics.mass_matrix(system.q0)[np.ix_(places, places)]
    return np.sort(eigvals(K, M).real)
