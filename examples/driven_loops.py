"""Where a driven loop is between two commands, and what that does to all that it moves; the picture of the guide.

python examples/driven_loops.py [FOLDER]

The crank of driven_crank.yaml turns as φ = A sin ωt, commanded at the end of every call; the shaft behind it swings by
its own spring, for which there is a closed form.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

import limberjack as lj
from limberjack.examples.recording import draw, label, model, panels

#: amplitude, rad; frequency, rad/s; (shaft's own frequency)², 1/s²
A, W, OWN = 0.5, 9.0, 150.0
DURATION = 0.7


def prescribed(time: float) -> tuple[float, float, float]:
    """Position, velocity and acceleration of the crank."""
    return A * math.sin(W * time), A * W * math.cos(W * time), -A * W * W * math.sin(W * time)


def shaft(time: float) -> tuple[float, float]:
    """Angle and rate of the shaft that swings along."""
    swing = A * W * W / (OWN - W * W)
    return swing * math.sin(W * time), swing * W * math.cos(W * time)


def start(dt: float, integrator: str = "rk4") -> lj.Simulation:
    """The model with its shaft in the motion of `shaft`."""
    simulation = lj.Simulation(model("driven_crank"), dt, integrator)
    simulation.v = [*simulation.v[:1], shaft(0.0)[1]]
    return simulation


def command(simulation: lj.Simulation, time: float, whole: bool = True) -> None:
    """Give the commands that hold at a time; not whole: the position alone."""
    words = ("position", "velocity", "acceleration")
    for word, value in zip(words, prescribed(time), strict=True):
        simulation.command[f"turn.{word}"] = value if whole or word == "position" else 0.0


def between(period: float, whole: bool) -> np.ndarray:
    """(time, crank, its rate) at every millisecond, commanded once each period."""
    simulation, rows = start(1e-3), []
    together = round(period / simulation.dt)
    for call in range(1, round(DURATION / period) + 1):
        command(simulation, call * period, whole)
        for step in range(together):
            simulation.step(1, together - step)
            rows.append((simulation.time, simulation.q[0], simulation.v[0]))
    return np.array(rows)


def errors(integrator: str, steps: np.ndarray) -> np.ndarray:
    """Error of the shaft's rate at the end, for several steps."""
    found = []
    for dt in steps:
        simulation = start(dt, integrator)
        for k in range(1, round(DURATION / dt) + 1):
            command(simulation, k * dt)
            simulation.step()
        found.append(abs(simulation.v[1] - shaft(simulation.time)[1]))
    return np.array(found)


def path(folder: Path) -> str:
    """The way from command to command, and the orders."""
    figure, axes = panels("A driven loop is where its command has it when the call ends", 1, 2, 3.6)
    period, times = 0.1, np.linspace(0.0, DURATION, 500)
    ends = np.arange(1, round(DURATION / period) + 1) * period
    axes[0].plot(times, [prescribed(t)[0] for t in times], color="0.8", lw=4, label="φ = A sin ωt")
    for whole, name in ((True, "all three commands"), (False, "position alone")):
        rows = between(period, whole)
        axes[0].plot(rows[:, 0], rows[:, 1], lw=1.2, label=name)
    axes[0].plot(ends, [prescribed(t)[0] for t in ends], "k.", ms=7, label="commanded positions")
    label(axes[0], "crank: a command for every 100 steps", "rad")
    steps = np.array([0.02, 0.01, 0.005, 0.0025, 0.00125])
    found = {name: errors(name, steps) for name in ("rk4", "semi_implicit", "implicit")}
    for name, values in found.items():
        axes[1].loglog(steps, values, "o-", ms=4, label=name)
    label(axes[1], "rate of the shaft: error after 0.7 s", "rad/s", "step / s")
    figure.savefig(folder / "driven_loops.png", dpi=100)
    orders = {name: math.log2(values[-2] / values[-1]) for name, values in found.items()}
    return "orders: " + ", ".join(f"{name} {order:.2f}" for name, order in orders.items())


if __name__ == "__main__":
    draw((path,))
