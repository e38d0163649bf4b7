"""A lander comes down on a slope and crushes its struts: strokes, load, and where the energy goes.

python examples/lander.py [FOLDER]
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import limberjack as lj
from limberjack.engine.algebra.rotations import from_quaternion
from limberjack.examples.recording import draw, label, model, output, panels, record

STRUTS = range(1, 5)


def tilt(simulation: lj.Simulation) -> float:
    """Of the lander's axis from the slope's normal, degrees."""
    return float(np.degrees(np.arccos(min(1.0, from_quaternion(simulation.q[:4])[2, 2]))))


def energy(simulation: lj.Simulation) -> float:
    """Kinetic and potential, J."""
    return float(simulation.survey()[2])


def lander(folder: Path) -> str:
    """Two seconds from release to rest."""
    rows = {f"stroke_{i}": output(f"stroke_{i}") for i in STRUTS}
    rows |= {"load": output("load"), "tilt": tilt, "energy": energy}
    simulation = lj.Simulation(model("lander"))
    crush = sum(body.hinge.dofs[0].friction for body in simulation.system.bodies[1:]) / len(STRUTS)
    run = record(simulation, 2.0, 0.002, rows)
    strokes = np.array([run[f"stroke_{i}"] for i in STRUTS])
    figure, axes = panels("A lander on a slope of 8 degrees: struts that are crushed", 2, 2)
    for i, stroke in zip(STRUTS, strokes):
        axes[0].plot(run["time"], stroke, "--" if i > 2 else "-", label=f"strut {i}")
    label(axes[0], "stroke of the struts", "m")
    axes[1].plot(run["time"], 1e-3 * run["load"][:, 2])
    label(axes[1], "load of the ground", "kN")
    axes[2].plot(run["time"], run["tilt"])
    label(axes[2], "tilt from the slope's normal", "degrees")
    axes[3].plot(run["time"], 1e-3 * (run["energy"][0] - run["energy"]), label="lost")
    path = np.abs(np.diff(strokes, axis=1)).sum(axis=0).cumsum()
    axes[3].plot(run["time"][1:], 1e-3 * crush * path, "--", label="crushing force × stroke")
    label(axes[3], "energy", "kJ")
    figure.savefig(folder / "lander.png", dpi=100)
    most = -strokes[:, -1].min()
    return f"lander: longest stroke {most:.3f} m, largest load {1e-3 * run['load'][:, 2].max():.1f} kN"


if __name__ == "__main__":
    draw((lander,))
