"""Wheels that roll without slip: the benchmark bicycle's poles over its speed, and its way after a push.

python examples/rolling.py [FOLDER]

The bicycle of bicycle.yaml is stable by itself between the weave's and the capsize's speed: pushed at 5 m/s it leans,
steers into the lean, and rides on upright in another direction.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import limberjack as lj
from limberjack.examples.recording import coordinate, draw, energy, label, model, output, panels, record

#: what Meijaard, Papadopoulos, Ruina and Schwab (2007) publish for 5 m/s, 1/s
PUBLISHED = (-0.775341882195845 + 4.464867713788230j, -0.322866429004087, -14.078389692798218)
SPEED, PUSH = 5.0, 0.5


def poles(system: lj.System, speeds: np.ndarray) -> np.ndarray:
    """The poles (speeds, 10) at upright riding, those of least size first."""
    return np.array([lj.linearize(system, system.q0, system.v0 * (speed / SPEED)).poles for speed in speeds])


def pushed(system: lj.System) -> lj.System:
    """The bicycle whose frame rolls sideways at PUSH rad/s at the start."""
    v = system.v0
    v[system.velocity_names.index("frame.wx")] = PUSH
    return lj.assemble(system, system.q0, v, hold=["frame.wx", "frame.vx", *system.coordinate_names])


def bicycle(folder: Path) -> str:
    """Poles and a push."""
    system, speeds = model("bicycle"), np.linspace(0.0, 10.0, 101)
    found = poles(system, speeds)
    rows = {name: coordinate(f"frame.{name}") for name in ("x", "y", "qx")}
    rows |= {"steer": coordinate("steer"), "load": output("rear_load"), "energy": energy}
    run = record(lj.Simulation(pushed(system)), 8.0, 0.02, rows)
    figure, axes = panels("Benchmark bicycle: wheels as discs that roll", 2, 2)
    for column in found[:, 6:].T:
        axes[0].plot(speeds, column.real, "C0.", ms=2)
        axes[1].plot(speeds, column.imag, "C0.", ms=2)
    for axis, part in ((axes[0], np.real), (axes[1], np.imag)):
        axis.plot([SPEED] * len(PUBLISHED), part(np.array(PUBLISHED)), "k+", ms=9, label="published at 5 m/s")
    axes[0].set_ylim(-10.0, 10.0)
    label(axes[0], "poles: real parts", "1/s", "speed / (m/s)")
    axes[1].set_ylim(bottom=0.0)
    label(axes[1], "poles: imaginary parts", "1/s", "speed / (m/s)")
    axes[2].plot(run["x"], run["y"])
    label(axes[2], f"way of the rear wheel, pushed to the right with {PUSH} rad/s", "y / m", "x / m")
    axes[3].plot(run["time"], np.rad2deg(2.0 * np.arcsin(run["qx"])), label="lean")
    axes[3].plot(run["time"], np.rad2deg(run["steer"]), label="steer")
    label(axes[3], "lean and steer", "deg")
    figure.savefig(folder / "rolling.png", dpi=100)
    own = lj.linearize(system).poles
    worst = max(float(np.abs(own - pole).min()) for pole in PUBLISHED)
    return f"bicycle: poles off by {worst:.0e} 1/s, energy by {np.ptp(run['energy']):.0e} of {run['energy'][0]:.0f} J"


if __name__ == "__main__":
    draw((bicycle,))
