"""The finite-segment oracle: a beam as rigid segments on hinges with springs, by the kernels of rigid trees alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

import limberjack as lj
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.system import Body, Dof, Hinge, Inertia, Pose, System
from limberjack.engine.model.validate import validate
from tests.engine.kernels.flexible.beams import Strip

Z = np.array([[0.0, 0.0, 1.0]])
YZ = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])


def segments(strip: Strip, count: int, name: str, parent: str, spatial: bool = False) -> list[Body]:
    """`count` rigid segments name0, name1, … of length l along x, clamped to the origin of a body.

    Springs EI / l about z (spatial: and about y) between neighbours, of half a segment at the clamp. A beam that
    bends so has errors of the order of l².
    """
    l, bodies = strip.length / count, []
    moment = strip.line_mass * l**3 / 12.0 + strip.rotary * l
    inertia = Inertia(strip.line_mass * l, np.array([0.5 * l, 0.0, 0.0]), np.diag([1e-3 * moment, moment, moment]))
    for k in range(count):
        spring = strip.bending / l * (1.0 if k else 2.0)
        dofs = (Dof(stiffness=spring * strip.across), Dof(stiffness=spring)) if spatial else (Dof(stiffness=spring),)
        kind, axes = ("universal", YZ) if spatial else ("revolute", Z)
        at = Pose(np.eye(3), np.array([l if k else 0.0, 0.0, 0.0]))
        hinge = Hinge(f"{name}{k}", kind, f"{name}{k - 1}" if k else parent, inboard=at, axes=axes, dofs=dofs)
        bodies.append(Body(f"{name}{k}", inertia, hinge))
    return bodies


def stable_step(strip: Strip, count: int, longest: float, spatial: bool = False) -> float:
    """A step (s) below RK4's limit 2.8 / ω for the zigzag of the segments, ω² = 48 EI / (ρA l⁴); parts `longest`."""
    stiffest = strip.bending * (strip.across if spatial else 1.0)
    fastest = np.sqrt(48.0 * stiffest / strip.line_mass) * (count / strip.length) ** 2
    return float(longest / np.ceil(longest * fastest / 2.0))


def driven(bodies: list[Body], hinges: list[str], gravity: float = 0.0) -> System:
    """A system with torques at some hinges, called as they are; gravity along -y."""
    drives = tuple(Actuator(f"{name}.drive", name, "torque") for name in hinges)
    return validate(System("driven", tuple(bodies), actuators=drives, gravity=np.array([0.0, -gravity, 0.0])))


def history(
    system: System,
    points: Mapping[str, np.ndarray],
    torques: Callable[[float], Mapping[str, float]] | None,
    end: float,
    every: float,
    dt: float,
    start: Callable[[lj.Simulation], None] | None = None,
) -> np.ndarray:
    """(times, 1 + 3 points): first coordinate, positions (m) of points of bodies; torques held over steps of RK4."""
    simulation, dynamics = lj.Simulation(system, dt=dt, integrator="rk4"), lj.Dynamics(system)
    if start is not None:
        start(simulation)
    found = []
    for _ in range(round(end / every)):
        if torques is None:
            simulation.step(round(every / dt))
        for _ in range(round(every / dt) if torques else 0):
            for name, torque in torques(simulation.time + 0.5 * dt).items():
                simulation.command[name] = torque
            simulation.step(1)
        places = [p + R @ at for name, at in points.items() for R, p in (dynamics.pose(name, simulation.q),)]
        found.append(np.concatenate([simulation.q[:1], *places]))
    return np.array(found)
