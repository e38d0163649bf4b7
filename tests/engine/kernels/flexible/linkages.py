"""Mechanisms with flexible bars: a four-bar linkage whose coupler bends, two bending arms that hold one box."""

from __future__ import annotations

from functools import cache

import numpy as np

import limberjack as lj
from limberjack.engine.model.flexible import modal_bodies
from limberjack.engine.model.system import Body, Hinge, Inertia, Loop, Pose, System
from limberjack.engine.model.validate import validate
from limberjack.engine.modes import Integrals, integrals
from limberjack.engine.modes.frame import Beam, Frame, Material, rectangle
from limberjack.engine.modes.frame_structure import frame_structure
from limberjack.engine.modes.reduction import Reduction, reduce_structure

ALUMINIUM = Material(70e9, 26e9, 2700.0)
Y = np.array([[0.0, 1.0, 0.0]])


@cache
def beam(length: float, modes: int, kind: str, damping: float = 0.0) -> Integrals:
    """An aluminium bar along x from "root" to "tip", 20 mm wide along y and 8 mm thick along z."""
    section = rectangle(0.02, 0.008)
    bar = Beam(("root", "tip"), section, ALUMINIUM, np.array([0.0, 0.0, 1.0]), 10)
    frame = Frame("bar", ("root", "tip"), np.array([[0.0, 0, 0], [length, 0, 0]]), (bar,))
    data = reduce_structure(frame_structure(frame), Reduction(kind, "root", ("tip",), modes, damping=damping))
    return integrals(data, "root", attachments=("tip",))


def revolute(name: str, parent: str | None, position: tuple[float, float, float], q0: float, v0: float = 0.0) -> Hinge:
    """A hinge about y."""
    return Hinge(
        name, "revolute", parent, Pose(position=np.array(position)), axes=Y, q0=np.array([q0]), v0=np.array([v0])
    )


def rod(mass: float, length: float) -> Inertia:
    """A slender rigid rod along x."""
    J = mass * length**2 / 12.0
    return Inertia(mass, np.array([0.5 * length, 0, 0]), np.diag([1e-3 * J, J, J]))


def four_bar(modes: int = 4, kind: str = "cantilever", method: str | None = None, damping: float = 0.0) -> System:
    """Crank 0.12 m, flexible coupler 0.39 m, rocker 0.273 m, ground 0.40 m, in the x-z plane; the pin closes it."""
    coupler = revolute("elbow", "crank", (0.12, 0.0, 0.0), 1.176)
    bodies = [
        Body("crank", Inertia(2.0, np.zeros(3), 0.01 * np.eye(3)), revolute("crank", None, (0, 0, 0), -1.570796, 15.0)),
        *modal_bodies("coupler", coupler, beam(0.39, modes, kind, damping)),
        Body("rocker", rod(0.214, 0.273), revolute("rocker", None, (0.4, 0, 0), -1.718)),
    ]
    pin = Hinge("pin", "revolute", "coupler.tip", axes=Y, outboard=Pose(position=np.array([0.273, 0, 0])))
    loop = Loop("pin", "hinge", pin, "rocker", method=method)
    system = validate(System("four_bar", tuple(bodies), loops=(loop,)))
    return lj.assemble(system, hold=["crank"])


def parallelogram(method: str | None = None) -> System:
    """Crank and rocker of 0.2 m with a flexible coupler of 0.4 m, no gravity: all bars align twice a turn."""
    bodies = [
        Body("crank", rod(1.0, 0.2), revolute("crank", None, (0, 0, 0), -1.2, 8.0)),
        *modal_bodies("coupler", revolute("elbow", "crank", (0.2, 0, 0), 1.2), beam(0.4, 2, "craig-bampton", 0.02)),
        Body("rocker", rod(0.5, 0.2), revolute("rocker", None, (0.4, 0, 0), -1.2)),
    ]
    pin = Hinge("pin", "revolute", "coupler.tip", axes=Y, outboard=Pose(position=np.array([0.2, 0, 0])))
    loop = Loop("pin", "hinge", pin, "rocker", method=method)
    system = validate(System("parallelogram", tuple(bodies), loops=(loop,), gravity=np.zeros(3)))
    return lj.assemble(system, hold=["crank"])


def two_arms(modes: int = 4, method: str | None = None, damping: float = 0.0) -> System:
    """Two arms of two flexible links each, 0.5 m apart on the ground, which hold one box of 3 kg by hinges."""
    bodies: list[Body] = []
    for side, x, bend in (("left", -0.25, 1.0), ("right", 0.25, -1.0)):
        upper = revolute(f"{side}_shoulder", None, (x, 0, 0), -0.5 * np.pi - 0.33 * bend)
        fore = revolute(f"{side}_elbow", f"{side}_upper.tip", (0, 0, 0), bend)
        bodies += modal_bodies(f"{side}_upper", upper, beam(0.6, modes, "cantilever", damping))
        bodies += modal_bodies(f"{side}_fore", fore, beam(0.55, modes, "cantilever", damping))
    wrist = revolute("left_wrist", "left_fore.tip", (0, 0, 0), 0.9)
    bodies.append(Body("box", Inertia(3.0, np.array([0.1, 0, 0]), 0.02 * np.eye(3)), wrist))
    grip = Hinge("grip", "revolute", "right_fore.tip", axes=Y, outboard=Pose(position=np.array([0.2, 0, 0])))
    loop = Loop("grip", "hinge", grip, "box", method=method)
    system = validate(System("two_arms", tuple(bodies), loops=(loop,)))
    return lj.assemble(system, hold=["left_shoulder", "left_elbow"])
