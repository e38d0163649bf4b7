"""Our arm as an FMU and a partner's controller FMU, coupled by a third program; writes results/cosimulate_fmus/.

python examples/cosimulate_fmus.py [FOLDER]

The same loop as cosimulate.py, but the plant is an FMU too: the arm is exported with the engine inside, and FMPy alone
calls both FMUs, as any co-simulation tool would. The arm's motion has the same bits as in Limberjack.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from fmpy import extract, read_model_description
from fmpy.fmi3 import FMU3Slave

import limberjack as lj
from limberjack.examples import cosimulate
from limberjack.examples.joint_controller.build import build

JOINTS = 7


class Fmu:
    """A running FMI 3 Co-Simulation FMU whose vectors have names."""

    def __init__(self, path: Path, folder: str) -> None:
        description = read_model_description(str(path))
        self._references = {variable.name: variable.valueReference for variable in description.modelVariables}
        self._slave = FMU3Slave(
            guid=description.guid,
            unzipDirectory=folder,
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName=path.stem,
        )
        self._slave.instantiate()
        self._slave.enterInitializationMode()

    def __getitem__(self, name: str) -> np.ndarray:
        return np.array(self._slave.getFloat64([self._references[name]], nValues=JOINTS))

    def __setitem__(self, name: str, values: np.ndarray) -> None:
        self._slave.setFloat64([self._references[name]], np.asarray(values, dtype=float).tolist())

    def start(self) -> None:
        self._slave.exitInitializationMode()

    def step(self, time: float, period: float) -> None:
        self._slave.doStep(currentCommunicationPoint=time, communicationStepSize=period)

    def end(self) -> None:
        self._slave.terminate()
        self._slave.freeInstance()


@contextmanager
def loaded(path: Path) -> Iterator[Fmu]:
    """An FMU in initialisation mode; ended and removed afterwards."""
    folder = extract(str(path))
    try:
        fmu = Fmu(path, folder)
        try:
            yield fmu
        finally:
            fmu.end()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def couple(arm_path: Path, controller_path: Path, duration: float = cosimulate.DURATION) -> np.ndarray:
    """Time and joint angles (rows, 1 + 7) of the two FMUs in lockstep."""
    clock = lj.Simulation(lj.load(cosimulate.MODEL))  # the references and the feed-forward are functions of its state
    period, rows = cosimulate.PERIOD, []
    with loaded(arm_path) as arm, loaded(controller_path) as controller:
        for name, values in cosimulate.GAINS.items():
            controller[name] = np.array(values)
        arm.start()
        for i in range(round(duration / period) + 1):
            time = i * period
            if i > 0:
                arm["command"] = controller["torque"]
                arm.step(time - period, period)
                clock.step(round(period / clock.dt))
            clock.q, clock.v = arm["q"], arm["v"]
            controller["angle"], controller["rate"] = clock.q, clock.v
            controller["angle_reference"] = cosimulate.angle_reference(clock)
            controller["rate_reference"] = cosimulate.rate_reference(clock)
            controller["feed_forward"] = cosimulate.gravity_torque(clock)
            if i == 0:
                controller.start()
            else:
                controller.step(time - period, period)
            rows.append(np.concatenate([[time], clock.q]))
    return np.array(rows)


def plot(rows: np.ndarray, inside: np.ndarray, path: Path) -> Path:
    """Angles of the coupled FMUs (dots) on those of the arm inside Limberjack (lines)."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 4.6), layout="constrained")
    axis = figure.subplots()
    every = max(1, len(rows) // 60)
    for i in range(JOINTS):
        axis.plot(rows[:, 0], np.rad2deg(inside[:, i]), color=f"C{i}", label=f"joint{i + 1}")
        axis.plot(rows[::every, 0], np.rad2deg(rows[::every, 1 + i]), ".", color=f"C{i}")
    words = "the same bits" if np.array_equal(rows[:, 1:], inside) else "not the same bits"
    axis.set_title(f"Arm FMU and controller FMU (dots), arm in Limberjack (lines): {words}")
    axis.set(xlabel="time, s", ylabel="angle, °")
    axis.grid(alpha=0.3)
    figure.legend(ncols=JOINTS, fontsize="small", loc="outside lower center")
    figure.savefig(path, dpi=110)
    return path


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "results/cosimulate_fmus")
    folder.mkdir(parents=True, exist_ok=True)
    arm = lj.export_fmu(lj.load(cosimulate.MODEL), folder / "torque_arm.fmu", platforms="host", report=print)
    controller = build(folder / "joint_controller.fmu")
    rows = couple(arm, controller)
    trace = cosimulate.run(controller)
    inside = trace["angle"][:: len(trace.time) // (len(rows) - 1)]
    print(f"largest difference between FMU and Limberjack: {np.abs(rows[:, 1:] - inside).max():g} rad")
    print(f"FMUs {arm} and {controller}, plot {plot(rows, inside, folder / 'cosimulate_fmus.png')}")


if __name__ == "__main__":
    main()
