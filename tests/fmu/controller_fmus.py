"""FMUs for the tests of lj.FmuController, made from C at test time."""

from __future__ import annotations

import zipfile
from pathlib import Path

import fmpy
import numpy as np

import limberjack as lj
from limberjack.examples.joint_controller import build

EXAMPLE = Path(build.__file__).parent
PID2 = Path(__file__).parent / "controllers" / "pid2"

PENDULUM = """
limberjack: 1
name: pendulum
simulation: {dt: 0.001, integrator: rk4}
bodies:
  - name: upper
    mass: 2.0
    com: [0, 0, -0.3]
    inertia: {xx: 0.06, yy: 0.06, zz: 0.01}
    hinge: {name: shoulder, type: revolute, parent: world, axis: [0, 1, 0], initial: {position: 0.7}}
  - name: lower
    mass: 1.0
    com: [0, 0, -0.2]
    inertia: {xx: 0.02, yy: 0.02, zz: 0.005}
    hinge: {name: elbow, type: revolute, parent: upper, position: [0, 0, -0.6], axis: [0, 1, 0]}
nodes: [{name: tip, body: lower, position: [0, 0, -0.4]}]
actuators: [{name: shoulder, coordinate: shoulder}, {name: elbow, coordinate: elbow}]
sensors:
  - {name: tip_place, type: node_position, target: tip}
  - {name: tip_acceleration, type: accelerometer, target: tip}
"""


def pendulum(folder: Path) -> lj.Simulation:
    """A double pendulum with two torque drives."""
    path = folder / "pendulum.yaml"
    path.write_text(PENDULUM, encoding="utf-8")
    return lj.Simulation(lj.load(path))


def pack(
    folder: Path, source: Path, changes: dict[str, str] | None = None, xml: dict[str, str] | None = None, name: str = ""
) -> Path:
    """FMU of the C file and description in `source`, with texts of the code and of the description replaced."""
    (original,) = source.glob("*.c")
    code, description = original.read_text(encoding="utf-8"), (source / "modelDescription.xml").read_text("utf-8")
    for old, new in (changes or {}).items():
        assert old in code, old
        code = code.replace(old, new)
    for old, new in (xml or {}).items():
        assert old in description, old
        description = description.replace(old, new)
    folder.mkdir(parents=True, exist_ok=True)
    changed = folder / original.name
    changed.write_text(code, encoding="utf-8")
    library = folder / f"{original.stem}{fmpy.sharedLibraryExtension}"
    build.compile_library(changed, library)
    place = fmpy.platform if 'fmiVersion="2.0"' in description else fmpy.platform_tuple
    path = folder / f"{name or original.stem}.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", description)
        archive.write(library, f"binaries/{place}/{library.name}")
    return path


def pid_torque(
    angle: float, rate: float, integral: float, kp: float, kd: float, ki: float, *, gear: int = 1
) -> tuple[float, float]:
    """The law of pid2.c in Python: torque in N·m from SI measurements, and the angle in degrees that it integrates."""
    degrees = (angle - 0.0) / 0.017453292519943295
    torque = -kp * degrees - kd * rate - ki * integral
    return gear * torque * 1000.0, degrees


def seven_joint_torque(
    gains: dict[str, list[float]], angle: np.ndarray, rate: np.ndarray, *references: np.ndarray
) -> np.ndarray:
    """The law of joint_controller.c in Python; references are angles, rates, feed-forward torques."""
    angles, rates, feed_forward = references
    torque = feed_forward + np.array(gains["kp"]) * (angles - angle) + np.array(gains["kd"]) * (rates - rate)
    limit = np.array(gains["limit"])
    return np.where(np.abs(torque) > limit, np.copysign(limit, torque), torque)
