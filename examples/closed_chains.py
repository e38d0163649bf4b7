"""The closed mechanisms of this folder in motion; draws the pictures of docs/how-to/closed-chains.md.

python examples/closed_chains.py [FOLDER]

Four-bar linkage (cut at a hinge, cut inside a bar, and with the wrong coordinate independent), geared arm, double
wishbone, Stewart platform, delta robot, dual-arm grasp and solar array: each is driven for some seconds, what should
hold is printed, and what an engineer would look at is plotted.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import limberjack as lj
from limberjack.examples.recording import (
    Rows,
    coordinate,
    draw,
    energy,
    label,
    model,
    output,
    panels,
    record,
    size,
    smooth,
    turned,
)

#: what each strut of the Stewart platform carries at rest, N
WEIGHT = 280.0


def four_bar(folder: Path) -> str:
    """Crank and rocker: three ways to write it, one motion."""
    hinge_cut = model("four_bar")
    wrong = replace(hinge_cut, loops=(replace(hinge_cut.loops[0], independent=("rocker",)),))
    runs = {}
    for name, system, gap in (
        ("cut at a hinge", hinge_cut, "pin_gap"),
        ("cut inside the coupler", model("four_bar_internal"), "cut_gap"),
        ("rocker independent", wrong, "pin_gap"),
    ):
        angles = {joint: coordinate(joint) for joint in ("crank", "elbow", "rocker")}
        runs[name] = record(lj.Simulation(system), 2.0, 0.002, angles | {"energy": energy, "gap": output(gap)})
    first = runs["cut at a hinge"]
    figure, axes = panels("Four-bar linkage, crank and rocker", 2, 2)
    for joint in ("crank", "elbow", "rocker"):
        axes[0].plot(first["time"], turned(first[joint]), label=joint)
    label(axes[0], "angles from the assembled start", "deg", columns=3)
    for name, run in list(runs.items())[1:]:
        axes[1].semilogy(run["time"], size(run["crank"] - first["crank"]), label=name)
    label(axes[1], "crank: difference to the cut at a hinge", "rad")
    for name, run in runs.items():
        axes[2].semilogy(run["time"], size(run["energy"] / run["energy"][0] - 1.0), label=name)
        axes[3].semilogy(run["time"], size(run["gap"]), label=name)
    label(axes[2], "energy: relative change", "1")
    label(axes[3], "gap of the loop", "m or rad")
    figure.savefig(folder / "closed_chains_four_bar.png", dpi=100)
    worst = max(np.abs(run["crank"] - first["crank"]).max() for run in runs.values())
    return f"four-bar: {first['crank'][-1] / (2 * np.pi):.1f} turns, the three cranks differ by at most {worst:.1e} rad"


def geared_arm(folder: Path) -> str:
    """A step of the elbow, with rotors as bodies and with `armature` in their place."""
    system = model("geared_arm")
    rotors = [body for body in system.bodies if body.name.endswith("_rotor")]
    ratios = {"shoulder": 100.0, "elbow": 80.0, "pitch": 50.0, "roll": 50.0}

    def drive(simulation: lj.Simulation) -> None:
        place, rate = smooth(simulation.time, 0.8)
        for motor, way in (("shoulder_motor", 60.0), ("elbow_motor", 64.0), ("left_motor", 40.0), ("right_motor", 0.0)):
            simulation.command[motor], simulation.command[f"{motor}.rate"] = way * place, way * rate

    joints = {joint: coordinate(joint) for joint in ratios}
    motors = {body.hinge.name: coordinate(body.hinge.name) for body in rotors}
    seen = joints | motors | {"tooth": output("elbow_gear_torque")}
    run = record(lj.Simulation(system), 2.0, 0.005, seen, drive)
    figure, axes = panels("Geared arm: rotors as bodies, a differential wrist", 1, 3, 3.6)
    for joint in joints:
        axes[0].plot(run["time"], np.rad2deg(run[joint]), label=joint)
    label(axes[0], "joints", "deg", columns=2)
    for motor in motors:
        axes[1].plot(run["time"], run[motor] / (2.0 * np.pi), label=motor)
    label(axes[1], "motors", "turns", columns=2)
    axes[2].plot(run["time"], run["tooth"])
    label(axes[2], "torque of the elbow's gear on its rotor", "N·m")
    figure.savefig(folder / "closed_chains_geared_arm.png", dpi=100)
    slip = np.abs(run["elbow_motor"] - ratios["elbow"] * run["elbow"]).max()
    return f"geared arm: the gears slip by at most {slip:.1e} rad"


def wishbone(folder: Path) -> str:
    """The rig clamps the body and moves the wheel: camber, toe and track over travel. Then a bump, body free."""
    system = model("wishbone")
    standing = system.actuators[1].initial
    seen = {"hub": output("hub"), "wheel": output("wheel"), "heave": coordinate("heave")}

    def sweep(simulation: lj.Simulation) -> None:
        simulation.command["clamp.closed"] = 1.0
        simulation.command["shaker"] = standing + 0.08 * np.sin(0.25 * np.pi * simulation.time)

    def bump(simulation: lj.Simulation) -> None:
        place = min(max((simulation.time - 0.5) / 0.25, 0.0), 1.0)
        simulation.command["shaker"] = standing + 0.025 * (1.0 - np.cos(2.0 * np.pi * place))

    path = record(lj.Simulation(system), 8.0, 0.01, seen, sweep)
    ride = record(lj.Simulation(system), 3.0, 0.005, seen | {"rod": output("tie_rod_force")}, bump)
    figure, axes = panels("Double wishbone on a post rig", 1, 3, 3.8)
    travel, (w, x, y, z) = (path["hub"][:, 2] - 0.31) * 1e3, path["wheel"].T
    angles = (
        np.rad2deg(-np.arcsin(2.0 * (y * z + w * x))),
        np.rad2deg(-np.arctan2(2 * (x * y + w * z), 1 - 2 * (y * y + z * z))),
    )
    for name, angle in zip(("camber", "toe-in"), angles, strict=True):
        axes[0].plot(angle, travel, label=name)
    label(axes[0], "wheel angles, body clamped", "wheel travel / mm", "deg")
    for name, values in (("wheel", ride["hub"][:, 2] - 0.31), ("body", ride["heave"])):
        axes[1].plot(ride["time"], 1e3 * values, label=name)
    label(axes[1], "a bump of 50 mm, body free: height", "mm")
    axes[2].plot(ride["time"], ride["rod"])
    label(axes[2], "force of the tie rod", "N")
    figure.savefig(folder / "closed_chains_wishbone.png", dpi=100)
    camber, toe = map(np.ptp, angles)
    return f"wishbone: {np.ptp(travel):.0f} mm of travel, camber {camber:.2f} deg, toe {toe:.2f} deg"


def strut_lengths(system: lj.System, position: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """Inverse kinematics of the Stewart platform: each strut's coordinate (6,), m, for a pose of the platform."""
    feet = [body.hinge.inboard.position for body in system.bodies if body.hinge.type == "universal"]
    balls = [loop.hinge for loop in system.loops if loop.hinge]
    return np.array(
        [
            np.linalg.norm(position + rotation @ ball.outboard.position - foot) - ball.inboard.position[2]
            for foot, ball in zip(feet, balls, strict=True)
        ]
    )


def circle(time: float) -> tuple[np.ndarray, np.ndarray]:
    """Position (3,) and rotation (3, 3) of the Stewart platform: a circle that bobs and rolls, from a soft start."""
    grown, phase = smooth(time, 1.5)[0], np.pi * time
    roll = 0.12 * grown * np.sin(phase)
    c, s = np.cos(roll), np.sin(roll)
    place = [0.06 * grown * np.cos(phase), 0.06 * grown * np.sin(phase), 0.6 + 0.03 * grown * np.sin(2.0 * phase)]
    return np.array(place), np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def stewart_platform(folder: Path) -> str:
    """Struts follow the inverse kinematics of a path: the platform follows the path."""
    system = model("stewart_platform")
    struts = [actuator.name for actuator in system.actuators]

    def drive(simulation: lj.Simulation) -> None:
        here, there = (strut_lengths(system, *circle(simulation.time + h)) for h in (0.0, 1e-4))
        for name, length, rate in zip(struts, here, (there - here) / 1e-4, strict=True):
            simulation.command[name], simulation.command[f"{name}.rate"] = length, rate
            simulation.command[f"{name}.torque"] = WEIGHT

    seen = {"load": output("ball_1_load"), "gap": output("ball_1_gap"), "place": output("position")}
    run = record(lj.Simulation(system), 6.0, 0.005, seen | {name: coordinate(name) for name in struts}, drive)
    wanted = np.array([circle(time)[0] for time in run["time"]])
    figure, axes = panels("Gough-Stewart platform: six struts follow a path of the platform", 2, 2)
    for name in struts:
        axes[0].plot(run["time"], 1e3 * run[name], label=name)
    label(axes[0], "struts", "mm", columns=3)
    for i, name in enumerate("xyz"):
        axes[1].plot(run["time"], 1e3 * (run["place"][:, i] - [0.0, 0.0, 0.6][i]), color=f"C{i}", label=name)
        axes[1].plot(run["time"], 1e3 * (wanted[:, i] - [0.0, 0.0, 0.6][i]), "k", lw=0.8, dashes=(4, 4))
    label(axes[1], "platform (dashed: asked for)", "mm", columns=3)
    axes[2].plot(run["time"], np.linalg.norm(run["load"][:, 3:], axis=1))
    label(axes[2], "force of ball joint 1", "N")
    axes[3].semilogy(run["time"], size(run["gap"]))
    label(axes[3], "gap of ball joint 1", "m")
    figure.savefig(folder / "closed_chains_stewart_platform.png", dpi=100)
    error = 1e3 * np.linalg.norm(run["place"] - wanted, axis=1)[300:].max()
    return f"Stewart platform: at most {error:.1f} mm off its path, gap at most {run['gap'].max():.1e} m"


def delta_robot(folder: Path) -> str:
    """The three arms turn, each in its own way: the platform moves and keeps its attitude."""
    system = model("delta_robot")

    def drive(simulation: lj.Simulation) -> None:
        for i, actuator in enumerate(system.actuators):
            reach, phase = smooth(simulation.time, 0.5)[0], 2.0 * np.pi * (simulation.time + i / 3.0)
            simulation.command[actuator.name] = actuator.initial + 0.25 * reach * np.sin(phase)

    seen = {"tool": output("tool"), "turn": output("turn"), "rod": output("rod_1_left_force")}
    arms = {actuator.name: coordinate(actuator.name) for actuator in system.actuators}
    run = record(lj.Simulation(system), 3.0, 0.005, seen | arms, drive)
    figure, axes = panels("Delta robot: three arms, a platform that does not turn", 1, 3, 3.8)
    for name in arms:
        axes[0].plot(run["time"], np.rad2deg(run[name]), label=name)
    label(axes[0], "arms", "deg", columns=2)
    axes[1].plot(1e3 * run["tool"][:, 0], 1e3 * run["tool"][:, 1])
    axes[1].set_aspect("equal", adjustable="datalim")
    label(axes[1], "tool from above", "y / mm", "x / mm")
    tilt = 2.0 * np.arcsin(np.linalg.norm(run["turn"][:, 1:], axis=1))
    axes[2].semilogy(run["time"], size(tilt))
    axes[2].set_ylim(1e-16, 1e-8)
    label(axes[2], "turn of the platform", "rad")
    figure.savefig(folder / "closed_chains_delta_robot.png", dpi=100)
    return f"delta robot: the platform turns by at most {tilt.max():.1e} rad while the tool moves {_span(run):.0f} mm"


def _span(run: Rows) -> float:
    return float(1e3 * np.ptp(run["tool"], axis=0).max())


def dual_arm_grasp(folder: Path) -> str:
    """The arms carry the box aside, in and up, and turn it; the free base answers, the hands share the load."""
    system = model("dual_arm_grasp")
    joints = [actuator.name for actuator in system.actuators]
    reference = np.zeros(len(joints))

    def drive(simulation: lj.Simulation) -> None:
        rates = smooth(simulation.time, 5.0)[1] * np.concatenate(
            [
                _carrying_rates(simulation, side, turn=0.4, way=np.array([-0.12, 0.12, 0.08]))
                for side in ("left", "right")
            ]
        )
        reference[:] += 0.01 * rates
        for name, angle, rate in zip(joints, reference.tolist(), rates.tolist(), strict=True):
            simulation.command[name], simulation.command[f"{name}.rate"] = angle, rate

    seen = {"box": output("box_position"), "left": output("left_hold"), "right": output("right_hold")}
    base = {f"base.{c}": coordinate(f"base.{c}") for c in "xyz"}
    run = record(lj.Simulation(system), 7.0, 0.01, seen | base | {"momentum": output("momentum")}, drive)
    figure, axes = panels("Two arms on a free base move one box", 2, 2)
    for i, name in enumerate("xyz"):
        axes[0].plot(run["time"], run["box"][:, i], color=f"C{i}", label=f"box {name}")
        axes[0].plot(run["time"], run[f"base.{name}"], color=f"C{i}", ls="--", label=f"base {name}")
    label(axes[0], "position", "m")
    for side in ("left", "right"):
        axes[1].plot(run["time"], np.linalg.norm(run[side][:, 3:], axis=1), label=f"{side} hand")
        axes[2].plot(run["time"], np.linalg.norm(run[side][:, :3], axis=1), label=f"{side} hand")
    label(axes[1], "force of the grasp", "N")
    label(axes[2], "moment of the grasp", "N·m")
    for name, part in (("linear / (N·s)", slice(3, 6)), ("angular / (N·m·s)", slice(0, 3))):
        axes[3].semilogy(run["time"], size(np.linalg.norm(run["momentum"][:, part], axis=1)), label=name)
    label(axes[3], "total momentum (it should be 0)", "magnitude")
    figure.savefig(folder / "closed_chains_dual_arm_grasp.png", dpi=100)
    return f"dual-arm grasp: momentum at most {np.abs(run['momentum']).max():.1e} N·s or N·m·s"


def _carrying_rates(simulation: lj.Simulation, side: str, turn: float, way: np.ndarray) -> np.ndarray:
    """Rates of one arm (7,) at which its hand moves with a box that turns about the base's z axis and goes its way."""
    dynamics, q, names = simulation.dynamics, simulation.q, simulation.system.velocity_names
    R, _ = dynamics.pose("base", q)
    _, centre = dynamics.pose("box", q)
    _, hand = dynamics.pose(f"{side}_grip", q)
    turning = turn * R[:, 2]
    twist = np.concatenate([turning, R @ way + np.cross(turning, hand - centre)])
    arm = [i for i, name in enumerate(names) if name.startswith(f"{side}_")]
    return np.asarray(np.linalg.pinv(dynamics.jacobian(f"{side}_grip", q)[:, arm]) @ twist)


def solar_array(folder: Path) -> str:
    """Hold-down opens, springs unfold the array, the latch closes when the root has turned by 90 degrees."""
    system = model("solar_array")

    def drive(simulation: lj.Simulation) -> None:
        simulation.command["hold_down.closed"] = float(simulation.time < 2.0)
        if coordinate("root")(simulation) >= 0.5 * np.pi:
            simulation.command["latch.closed"] = 1.0

    angles = {name: coordinate(name) for name in ("root", "fold_1", "fold_2", "fold_3")}
    seen = {name: output(name) for name in ("cable_tension", "latched", "latch_shock")}
    seen |= {"tip": output("tip"), "rate": output("satellite_rate"), "energy": _kinetic}
    run = record(lj.Simulation(system), 25.0, 0.02, angles | seen, drive)
    latched = float(run["time"][np.argmax(run["latched"] > 0.5)])
    figure, axes = panels(
        "Solar array: springs unfold four panels, cables keep their pace, a latch catches the root", 2, 2
    )
    for name in angles:
        axes[0].plot(run["time"], np.rad2deg(run[name]), label=name, ls="--" if name == "fold_3" else "-")
    label(axes[0], "hinges", "deg")
    axes[1].plot(run["time"], np.rad2deg(run["rate"][:, 2]))
    label(axes[1], "the satellite turns the other way, and stops with the array", "deg/s")
    axes[2].plot(run["time"], run["cable_tension"])
    label(axes[2], "torque that cable 1 carries", "N·m")
    axes[3].plot(run["time"], run["energy"])
    label(axes[3], f"kinetic energy: {run['latch_shock'][-1]:.2f} J lost as the latch closes", "J")
    for axis in axes:
        axis.axvline(latched, color="0.4", lw=0.8, ls=":")
    figure.savefig(folder / "closed_chains_solar_array.png", dpi=100)
    return f"solar array: latched at {latched:.1f} s, {run['latch_shock'][-1]:.2f} J lost, at rest afterwards"


def _kinetic(simulation: lj.Simulation) -> float:
    return simulation.dynamics.energy(simulation.q, simulation.v)[0]


MECHANISMS = (four_bar, geared_arm, wishbone, stewart_platform, delta_robot, dual_arm_grasp, solar_array)


if __name__ == "__main__":
    draw(MECHANISMS)
