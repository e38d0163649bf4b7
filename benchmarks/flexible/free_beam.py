"""A floating beam of point masses: our accelerations, and those of Exudyn's reduced-order floating frame."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.flexible.chain import ALUMINIUM, HEIGHT, LENGTH, WIDTH, States
from benchmarks.states import COUNT
from limberjack.engine.model.flexible import modal_bodies
from limberjack.engine.model.system import Hinge, System
from limberjack.engine.model.validate import validate
from limberjack.engine.modes.data import ModalData
from limberjack.engine.modes.frame import Beam, Frame, rectangle
from limberjack.engine.modes.frame_structure import frame_structure
from limberjack.engine.modes.integrals import integrals
from limberjack.engine.modes.reduction import Reduction, reduce_structure


def beam_data(modes: int, elements: int = 40) -> ModalData:
    """Free-free modes of a slender beam that is made of particles: four corners for each node, without rotary inertia.

    Floating frames of particles with displacements linear in η have the same equations in all engines, so that
    results can be compared to rounding. The frame is at the middle of the undeformed beam.
    """
    ends = np.array([[-0.5 * LENGTH, 0.0, 0.0], [0.5 * LENGTH, 0.0, 0.0]])
    beam = Beam(("root", "tip"), rectangle(WIDTH, HEIGHT), ALUMINIUM, np.array([0.0, 0.0, 1.0]), elements)
    structure = frame_structure(Frame("beam", ("root", "tip"), ends, (beam,)))
    line = reduce_structure(structure, Reduction("free-free", modes=modes))
    corners = 0.5 * np.array([[0.0, y, z] for y in (-WIDTH, WIDTH) for z in (-HEIGHT, HEIGHT)])
    turned, moved = line.shapes[:, None, :3], line.shapes[:, None, 3:] + np.zeros((1, 4, 1, 1))
    moved = moved + np.cross(turned, corners[None, :, :, None], axis=2)
    shapes = np.concatenate([turned + np.zeros_like(moved), moved], axis=2).reshape(-1, 6, modes)
    masses = np.repeat(0.25 * line.masses, 4)
    return replace(
        line,
        node_ids=np.arange(1, 1 + len(masses)),
        node_names=("",) * len(masses),
        positions=(line.positions[:, None] + corners).reshape(-1, 3),
        axes=np.tile(np.eye(3), (len(masses), 1, 1)),
        masses=masses,
        centres=np.zeros((len(masses), 3)),
        inertias=np.zeros((len(masses), 3, 3)),
        shapes=shapes,
        mass=np.einsum("j,jir,jis->rs", masses, shapes[:, 3:], shapes[:, 3:]),
        foreshortening=None,
        lines=np.zeros((0, 2), dtype=np.int64),
    )


def beam_system(data: ModalData) -> System:
    """The beam on a free hinge at the frame of its data."""
    made = integrals(data, None, (), None)
    bodies = modal_bodies("beam", Hinge("base", "free", None), made)
    return validate(System("free beam", tuple(bodies), gravity=np.zeros(3)))


class BeamStates(States):
    """States of the floating beam: turned anyhow, rates of 1 rad/s and 1 m/s; forces of the modes alone."""

    def __init__(self, system: System, seed: int = 5) -> None:
        rng = np.random.default_rng(seed)
        stiffness = np.array([dof.stiffness for dof in system.bodies[1].hinge.dofs])
        quaternion = rng.normal(size=(COUNT, 4))
        quaternion /= np.linalg.norm(quaternion, axis=1, keepdims=True)
        eta = 30.0 * rng.normal(size=(COUNT, len(stiffness))) / stiffness
        self.q = np.hstack([quaternion, rng.normal(size=(COUNT, 3)), eta])
        self.v = np.hstack([rng.normal(size=(COUNT, 6)), eta * np.sqrt(stiffness)])
        self.tau = np.hstack([np.zeros((COUNT, 6)), -stiffness * eta])
