"""Robots that touch: ANYmal stands for a minute without creep, a Panda pushes a box."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import limberjack as lj
from limberjack.engine.algebra.rigid import Inertia
from limberjack.engine.algebra.rotations import from_quaternion
from limberjack.engine.model.elements.hinge import Hinge
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.system import Actuator, Body
from tests.engine.robots import load_robot
from tests.validation.figures import figure

G = 9.80665
FEET = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")
STANCE = {"HAA": 0.0, "HFE": 0.7, "KFE": -1.4}
POSE, KP = np.array([0.0, 0.5, 0.0, -2.2, 0.0, 2.7, 0.8, 0.02, 0.02]), 4000.0


def standing(body: Body) -> Body:
    """ANYmal's body with a hinge that a spring holds in the stance."""
    if body.hinge.type != "revolute":
        return body
    angle = STANCE[body.hinge.name[-3:]] * (-1.0 if body.hinge.name[1] == "H" else 1.0)
    spring = replace(body.hinge.dofs[0], stiffness=400.0, damping=8.0, rest=angle)
    return replace(body, hinge=replace(body.hinge, dofs=(spring,), q0=np.array([angle])))


def anymal_on_its_feet(**law: float) -> lj.System:
    """On a floor that is not level (3.4 degrees)."""
    robot = load_robot("anymal")
    robot = replace(robot, bodies=tuple(map(standing, robot.bodies)), gravity=np.array([0.5, 0.3, -9.8]), shapes=())
    low = min(lj.Dynamics(robot).pose(foot, robot.q0)[1][2] for foot in FEET) - 0.03
    return lj.equip(
        robot,
        *(lj.Shape(foot, "sphere", np.array([0.03]), name=foot) for foot in FEET),
        lj.Shape(None, "plane", np.ones(2), position=np.array([0.0, 0.0, low]), name="floor"),
        lj.Contact("ground", ("floor",), FEET, friction=0.7, **law),
    )


def test_anymal_stands_for_a_minute_without_creep():
    robot = anymal_on_its_feet()
    simulation, dynamics = lj.Simulation(robot, dt=1e-3), lj.Dynamics(robot)
    simulation.step(5000)
    start = np.array([dynamics.pose(foot, simulation.q)[1] for foot in FEET])
    simulation.step(60_000)
    moved = np.array([dynamics.pose(foot, simulation.q)[1] for foot in FEET]) - start
    figure("creep of ANYmal's feet in 60 s", np.abs(moved), unit="m", oracle="it stands", below=1e-6)


def with_box(arm: lj.System, tool: str, size: float, mass: float) -> lj.System:
    """The arm at its first pose with a ball as its tool, and a box a millimetre beside it on a floor."""
    place = lj.Dynamics(arm).pose(tool, arm.q0)[1]
    beside = place + np.array([0.0, 0.5 * size + 0.031, 0.0])
    box = Body(
        "box",
        Inertia(mass, np.zeros(3), np.eye(3) * mass * size**2 / 6.0),
        Hinge("box", "free", None, q0=np.array([1.0, 0, 0, 0, *beside]), v0=np.zeros(6)),
    )
    joined = replace(arm, bodies=(*arm.bodies, box), shapes=(), sensors=())
    joined = lj.equip(
        joined,
        lj.Shape(tool, "sphere", np.array([0.03]), name="tool"),
        lj.Shape("box", "box", np.full(3, size), name="box"),
        lj.Shape(None, "plane", np.ones(2), position=place - [0.0, 0.0, 0.5 * size], name="floor"),
        lj.Contact("push", ("tool",), ("box",), friction=0.3),
        lj.Contact("ground", ("floor",), ("box",), friction=0.4),
    )
    return replace(joined, sensors=tuple(Sensor(name, "contact_force", name) for name in ("push", "ground")))


def posed(arm: lj.System, pose: np.ndarray) -> lj.System:
    """The arm at this pose, every joint with a servo of its name."""
    bodies, first = [], 0
    for body in arm.bodies:
        count = len(body.hinge.q0)
        bodies.append(replace(body, hinge=replace(body.hinge, q0=pose[first : first + count])))
        first += count
    servos = (Actuator(name, name, "servo", kp=KP, kd=0.03 * KP) for name in arm.velocity_names)
    return replace(arm, bodies=tuple(bodies), actuators=tuple(servos))


def test_a_panda_pushes_a_box():
    """Slowly: it pushes as hard as the box rubs, and the box's momentum is what both contacts gave it."""
    mass, rate, dt, size = 2.0, 0.15, 1e-3, 0.2
    arm = posed(load_robot("panda"), POSE)
    weight = lj.Dynamics(arm).inverse(POSE, np.zeros(9), np.zeros(9))
    simulation = lj.Simulation(with_box(arm, "panda_hand_tcp", size, mass), dt=dt, integrator="implicit")
    start, given, pushed = simulation.q, np.zeros(3), []
    for name, angle, load in zip(arm.velocity_names, POSE, weight):
        simulation.command[name] = angle + load / KP
    for step in range(2500):
        simulation.command["panda_joint1"] = weight[0] / KP + rate * max(0.0, step * dt - 0.2)
        simulation.step()
        push, ground = (np.asarray(simulation.output[name]) for name in ("push", "ground"))
        given += dt * (push + ground - [0.0, 0.0, mass * G])
        pushed.append(np.hypot(push[0], push[1]) / ground[2])
    momentum = mass * from_quaternion(simulation.q[9:13]) @ simulation.v[12:15]
    # a step of first order turns velocities in the body's axes late: by h ω v
    figure("momentum of a pushed box", momentum, given, unit="N·s", oracle="sensors' forces, summed", atol=5e-5)
    figure(
        "slow push over load of the floor",
        np.mean(pushed[-500:]),
        0.4,
        oracle="µ, of a box that hardly turns",
        rtol=0.02,
    )
    assert simulation.q[14] - start[14] > 0.1, "it did not move"
