"""Three flexible spacecraft at work; draws the pictures of docs/how-to/flexible-spacecraft.md.

python examples/flexible_spacecraft.py [FOLDER]

A satellite with large solar wings slews by its reaction wheels, along the quickest profile and along the same one
shaped to its modes; a long-reach manipulator carries a container, shaped, unshaped and as a rigid model would have it;
a Cassini-class spacecraft takes a mosaic of pictures while its wheels hold the bus.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

import limberjack as lj
from limberjack.examples.recording import Rows, draw, label, model, output, panels, record, smooth
from limberjack.examples.vibration import Reference, Wheels, apart, deflection, quickest, shaped

#: controllers act at 50 Hz
PERIOD = 0.02
ARCSEC = np.rad2deg(1.0) * 3600.0
#: the satellite's slew about x: angle, rad; from when, for how long, s
SLEW, SLEW_START, SLEW_TIME = np.deg2rad(20.0), 5.0, 240.0
#: the manipulator's joints: by how much they move, rad; from when, for how long, s
REACH = {"shoulder_yaw": 0.35, "shoulder_pitch": 0.25, "elbow": -0.45}
REACH_START, REACH_TIME = 2.0, 16.0
#: when the cameras step on to the next picture, s
STEP_EVERY = 20.0
STEPS = tuple(10.0 + STEP_EVERY * i for i in range(5))


def solar_wings(folder: Path) -> str:
    """A slew, and how long the wings shake the payload's view afterwards."""
    system = model("solar_satellite")
    plain = quickest(SLEW, SLEW_START, SLEW_TIME)
    chosen = _frequencies(system, "hub.wx")[:2]
    runs = {"quickest": _slew(system, plain), "shaped": _slew(system, shaped(plain, chosen))}
    figure, axes = panels("Satellite with 42 m of solar wings slews by its four reaction wheels", 2, 2)
    for name, run in runs.items():
        axes[0].plot(run["time"], np.rad2deg(run["angle"] + run["error"][:, 0]), label=name)
        axes[1].plot(run["time"], 1e3 * run["north"][:, 2], label=name, lw=0.8)
        axes[2].plot(run["time"], run["wheels"][:, 0] * 0.239, label=name)
        after = run["time"] > SLEW_START + SLEW_TIME - 10.0
        axes[3].plot(run["time"][after], ARCSEC * run["error"][after, 0], label=name, lw=0.8)
    label(axes[0], "attitude about x", "deg")
    label(axes[1], "tip of the northern wing, out of its plane", "mm")
    label(axes[2], "momentum of wheel 1", "N·m·s")
    label(axes[3], "pointing error as the slew ends", "arcsec")
    figure.savefig(folder / "spacecraft_wings.png", dpi=100)
    jitter = {name: _jitter(ARCSEC * run["error"][_late(run), 0]) for name, run in runs.items()}
    swing = {name: 1e3 * np.ptp(run["north"][_late(run), 2]) for name, run in runs.items()}
    return (
        f"solar wings: {SLEW_TIME:.0f} s slew of {np.rad2deg(SLEW):.0f}°; afterwards the wing swings over "
        f"{swing['quickest']:.2f} mm and the view moves by {jitter['quickest']:.1f} arcsec in a second; shaped to "
        f"{', '.join(f'{f:.3f}' for f in chosen)} Hz, {swing['shaped']:.2f} mm and {jitter['shaped']:.1f} arcsec"
    )


def _frequencies(system: lj.System, velocity: str) -> list[float]:
    """Of the lightly damped modes, Hz: those that move a velocity, by a twentieth or more of what the foremost does."""
    linear = lj.linearize(system)
    light = [mode for mode in linear.modes() if 0.0 < mode.damping < 0.3]
    row = len(linear.states) // 2 + system.velocity_names.index(velocity)
    moved = [abs(mode.shape[row]) for mode in light]
    return [mode.hertz for mode, by in zip(light, moved) if by > 0.05 * max(moved)]


def _jitter(error: np.ndarray) -> float:
    """How far it moves in a second, at most."""
    second = round(1.0 / PERIOD)
    return float(np.abs(error[second:] - error[:-second]).max())


def _late(run: Rows) -> np.ndarray:
    """From 5 s after the end of the quickest profile, when the shaped one has ended as well."""
    return np.asarray(run["time"] > SLEW_START + SLEW_TIME + 5.0)


def _slew(system: lj.System, turn: Reference) -> Rows:
    simulation = lj.Simulation(system)
    names = [f"wheel_{i}" for i in range(1, 5)]
    wheels = Wheels(simulation, "hub", names, bandwidth=0.01, period=PERIOD)
    at = [system.velocity_names.index(name) for name in names]
    seen = {
        "north": deflection("wing_north", "tip"),
        "wheels": lambda sim: sim.v[at],
        "angle": lambda sim: turn(sim.time)[0],
        "error": lambda sim: apart(sim.dynamics.pose("payload", sim.q)[0], np.array([turn(sim.time)[0], 0.0, 0.0])),
    }
    return record(simulation, SLEW_START + SLEW_TIME + 75.0, PERIOD, seen, lambda sim: wheels.hold(sim, turn=turn))


def long_arm(folder: Path) -> str:
    """A move of three joints: where the container goes, and how it swings."""
    system = model("long_arm")
    swinging = [mode.hertz for mode in lj.linearize(system).modes() if 0.0 < mode.damping < 0.3]
    along = partial(smooth, duration=REACH_TIME)

    def plain(time: float) -> tuple[float, float]:
        return along(time - REACH_START)

    runs = {
        "rigid model": _reach(_stiffened(system), plain),
        "flexible": _reach(system, plain),
        "flexible, shaped": _reach(system, shaped(plain, swinging[:2])),
    }
    ends = {name: run["tip"][-500:].mean(axis=0) for name, run in runs.items()}
    figure, axes = panels("Manipulator of 20 m on a free-flying base carries 400 kg", 2, 2)
    for name, run in runs.items():
        off = np.linalg.norm(run["tip"] - ends[name], axis=1)
        axes[0].plot(run["time"], off, label=name)
        axes[1].semilogy(run["time"], np.maximum(1e3 * off, 1e-2), label=name, lw=0.8)
        axes[2].plot(run["time"], 1e3 * run["boom"][:, 2], label=name, lw=0.8)
        axes[3].plot(run["time"], np.rad2deg(run["base"][:, 1]), label=name)
    label(axes[0], "container: way to its place of rest", "m")
    label(axes[1], "the same", "mm")
    label(axes[2], "tip of the upper boom, across it", "mm")
    label(axes[3], "the base answers: rate about y", "deg/s")
    figure.savefig(folder / "spacecraft_arm.png", dpi=100)
    done = {name: _settled(run, ends[name]) for name, run in runs.items()}
    return "long arm: within 10 mm of its place " + ", ".join(f"{at:.1f} s ({name})" for name, at in done.items())


def _settled(run: Rows, end: np.ndarray, within: float = 0.010) -> float:
    """Time after which the container stays near its place, s from the start of the move."""
    outside = np.linalg.norm(run["tip"] - end, axis=1) > within
    return float(run["time"][np.flatnonzero(outside)[-1]]) - REACH_START


def _reach(system: lj.System, move: Callable[[float], tuple[float, float]]) -> Rows:
    simulation = lj.Simulation(system)
    start = {actuator.name: actuator.initial for actuator in system.actuators}

    def drive(sim: lj.Simulation) -> None:
        place, rate = move(sim.time)
        for name, angle in REACH.items():
            sim.command[name], sim.command[f"{name}.rate"] = start[name] + place * angle, rate * angle

    seen = {"tip": _from_base, "boom": deflection("upper_boom", "tip"), "base": output("base_rate")}
    return record(simulation, 70.0, PERIOD, seen, drive)


def _from_base(simulation: lj.Simulation) -> np.ndarray:
    """Place of the container's far end (3,), base axes, m."""
    (R, p), (_, tip) = (simulation.dynamics.pose(name, simulation.q) for name in ("base", "tip"))
    return np.asarray(R.T @ (tip - p))


def _stiffened(system: lj.System) -> lj.System:
    """The same with modes a hundred times as fast: what a model of rigid booms shows. `implicit` does not mind."""
    bodies = []
    for body in system.bodies:
        dofs = body.hinge.dofs
        if body.hinge.modes is not None:
            dofs = tuple(replace(dof, stiffness=1e4 * dof.stiffness, damping=1e2 * dof.damping) for dof in dofs)
        bodies.append(replace(body, hinge=replace(body.hinge, dofs=dofs)))
    return replace(system, bodies=tuple(bodies))


def cassini(folder: Path) -> str:
    """A mosaic of pictures while the wheels hold the bus: what the cameras see of the appendages."""
    system = model("cassini")
    simulation = lj.Simulation(system)
    wheels = Wheels(simulation, "bus", [f"wheel_{i}" for i in range(1, 4)], bandwidth=0.015, period=PERIOD)
    seen = {
        "bus": lambda sim: apart(sim.dynamics.pose("bus", sim.q)[0], np.zeros(3)),
        "camera": lambda sim: apart(sim.dynamics.pose("camera", sim.q)[0], np.array([_mosaic(sim.time), 0.0, 0.0])),
        "wanted": lambda sim: _mosaic(sim.time),
        "boom": deflection("boom", "tip"),
        "antenna": deflection("antenna_1", "tip"),
        "torque": lambda sim: np.array([sim.command[name] for name in wheels.names]),
    }

    def drive(sim: lj.Simulation) -> None:
        ahead = sim.time + PERIOD
        sim.command["azimuth"], sim.command["azimuth.rate"] = (
            _mosaic(ahead),
            (_mosaic(ahead) - _mosaic(sim.time)) / PERIOD,
        )
        wheels.hold(sim)

    run = record(simulation, 130.0, PERIOD, seen, drive)
    _draw_cassini(run, folder / "spacecraft_cassini.png")
    pictures = _settled_pictures(run)
    return f"Cassini: bus within {1e6 * np.abs(run['bus']).max():.0f} µrad, cameras during pictures {pictures:.0f} µrad"


def _draw_cassini(run: Rows, path: Path) -> None:
    figure, axes = panels("Cassini-class spacecraft: the scan platform takes a mosaic, wheels hold the bus", 2, 2)
    axes[0].plot(run["time"], 1e3 * run["wanted"], label="command")
    axes[0].plot(run["time"], 1e3 * (run["wanted"] + run["camera"][:, 0]), "--", label="camera")
    axes[1].plot(run["time"], 1e6 * run["camera"][:, 0], label="camera about x", lw=0.8)
    axes[1].plot(run["time"], 1e6 * run["bus"][:, 0], label="bus about x", lw=0.8)
    axes[2].plot(run["time"], 1e3 * run["antenna"][:, 2], label="antenna 1, across", lw=0.8)
    axes[2].plot(run["time"], 1e3 * run["boom"][:, 2], label="magnetometer boom, along z", lw=0.8)
    for i in range(3):
        axes[3].plot(run["time"], 1e3 * run["torque"][:, i], label=f"wheel {i + 1}", lw=0.8)
    label(axes[0], "azimuth", "mrad")
    label(axes[1], "pointing errors", "µrad")
    label(axes[2], "tips of the appendages", "mm")
    label(axes[3], "torque of the wheels", "mN·m")
    figure.savefig(path, dpi=100)


def _settled_pictures(run: Rows) -> float:
    """Largest error of the cameras, µrad, from 5 s after each step to the next."""
    exposed = [(run["time"] > at + 5.0) & (run["time"] < at + STEP_EVERY) for at in STEPS]
    return float(1e6 * np.abs(run["camera"][np.any(exposed, axis=0), 0]).max())


def _mosaic(time: float) -> float:
    """Azimuth of the cameras: steps of 30 mrad in 1.5 s each."""
    return 0.03 * sum(smooth(time - at, 1.5)[0] for at in STEPS)


SCENES = (solar_wings, long_arm, cassini)


if __name__ == "__main__":
    draw(SCENES)
