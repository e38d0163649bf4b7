"""A torque-driven arm and a partner's controller FMU, co-simulated; writes results/cosimulate/cosimulate.png.

python examples/cosimulate.py [FOLDER]

The arm (torque_arm.yaml) runs in Limberjack with dt = 1 ms; the controller (joint_controller/, plain C) is compiled,
packed as an FMU and sampled every 5 ms. It gets the measured angles and rates, a reference that moves to a goal and
back, and the torques against gravity as feed-forward; it gives joint torques, clipped to its limits.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import limberjack as lj
from limberjack.examples.joint_controller.build import build
from limberjack.fmu.controller.schedule import Trace

MODEL = Path(__file__).resolve().parent / "torque_arm.yaml"
DURATION, PERIOD = 6.0, 0.005
START = np.array([0.0, 0.4, 0.0, -1.2, 0.0, 0.6, 0.0])
GOAL = np.array([1.2, 0.9, -0.5, -0.4, 0.8, 1.0, -1.0])
GAINS = {
    "kp": [600.0, 600.0, 400.0, 400.0, 150.0, 150.0, 100.0],
    "kd": [60.0, 60.0, 40.0, 40.0, 10.0, 10.0, 6.0],
    "limit": [8.0, 90.0, 12.0, 45.0, 10.0, 12.0, 5.0],
}
#: the way to the goal, and back, takes so long; in between and afterwards the arm rests
MOVE, REST = 2.0, 1.0


def progress(time: float) -> tuple[float, float]:
    """Place (0 to 1) on the way at a time, and its rate: quintic there, a rest, quintic back."""
    back = time > MOVE + REST
    s = min(max((time - (MOVE + REST if back else 0.0)) / MOVE, 0.0), 1.0)
    place = s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
    rate = 30.0 * s * s * (1.0 - s) ** 2 / MOVE
    return (1.0 - place, -rate) if back else (place, rate)


def angle_reference(simulation: lj.Simulation) -> np.ndarray:
    """Reference angles (7,), rad."""
    place, _ = progress(simulation.time)
    return np.asarray(START + place * (GOAL - START))


def rate_reference(simulation: lj.Simulation) -> np.ndarray:
    """Reference rates (7,), rad/s."""
    _, rate = progress(simulation.time)
    return np.asarray(rate * (GOAL - START))


def gravity_torque(simulation: lj.Simulation) -> np.ndarray:
    """Torques (7,) that hold the arm against gravity where it is, N·m."""
    return simulation.dynamics.bias(simulation.q, np.zeros(simulation.system.nv))


def run(fmu: Path, duration: float = DURATION) -> Trace:
    """Co-simulate arm and controller FMU."""
    simulation = lj.Simulation(lj.load(MODEL))
    names = simulation.command_names
    with lj.FmuController(
        fmu,
        inputs={
            "angle": "q",
            "rate": "v",
            "angle_reference": angle_reference,
            "rate_reference": rate_reference,
            "feed_forward": gravity_torque,
        },
        outputs={"torque": names},
        parameters=GAINS,
        period=PERIOD,
    ) as controller:
        log = {
            "angle": "q",
            "reference": angle_reference,
            "torque": lambda sim: sim.command_vector,
            "tool": "tool_position",
            "saturated": lambda _: controller.output["saturated"],
        }
        return controller.run(simulation, duration, log=log)


def plot(trace: Trace, path: Path) -> Path:
    """Angles beside their references, errors, torques with their limits."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 8.0), layout="constrained")
    axes = figure.subplots(3, 1, sharex=True)
    colours = [f"C{i}" for i in range(7)]
    error = trace["angle"] - trace["reference"]
    for i, colour in enumerate(colours):
        axes[0].plot(trace.time, np.rad2deg(trace["angle"][:, i]), color=colour, label=f"joint{i + 1}")
        axes[0].plot(trace.time, np.rad2deg(trace["reference"][:, i]), color=colour, linestyle=":", linewidth=2.0)
        axes[1].plot(trace.time, np.rad2deg(error[:, i]), color=colour)
        axes[2].step(trace.time, trace["torque"][:, i] / GAINS["limit"][i], color=colour, where="post")
    for level in (-1.0, 1.0):
        axes[2].axhline(level, color="black", linestyle="--", linewidth=0.8)
    axes[0].set_title(f"Torque-driven arm with a controller FMU sampled every {PERIOD * 1e3:g} ms")
    axes[0].set_ylabel("angle, ° (dotted: reference)")
    figure.legend(*axes[0].get_legend_handles_labels(), ncols=7, fontsize="small", loc="outside lower center")
    axes[1].set(ylabel="tracking error, °")
    axes[2].set(ylabel="torque / limit", xlabel="time, s")
    for axis in axes:
        axis.grid(alpha=0.3)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    return path


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "results/cosimulate")
    fmu = build(folder / "joint_controller.fmu")
    trace = run(fmu)
    error = np.rad2deg(np.abs(trace["angle"] - trace["reference"]).max())
    print(f"largest tracking error {error:.3f}°, joints at their limit at most {int(trace['saturated'].max())}")
    print(f"FMU {fmu}, plot {plot(trace, folder / 'cosimulate.png')}")


if __name__ == "__main__":
    main()
