"""A scenario whose progress tests watch: a pendulum, two faults, criteria that pass, fail and wait."""

from __future__ import annotations

from pathlib import Path

MODEL = """\
limberjack: 1
name: pendulum
simulation: {dt: 0.002, integrator: rk4}
bodies:
  - {name: rod, mass: 2, com: [0, 0, -0.5], inertia: {xx: 0, yy: 0, zz: 0},
     hinge: {name: swing, type: revolute, parent: world, axis: [0, 1, 0], damping: 0.2}}
actuators:
  - {name: swing, coordinate: swing}
"""
SCENARIO = """\
limberjack_scenario: 1
name: watched
model: pendulum.yaml
duration: 60
steps_per_frame: 5
pacing: {real_time: true, overrun_share: 1, most_late_s: 60}
initial: {coordinates: {swing: 0.3}}
faults:
  - {name: heavy, type: parameter, factors: {body.rod.mass: 2}}
timeline:
  - {at: 0.5, fault: heavy}
  - {at: 50, clear: heavy}
  - {at: 55, ramp: {to: {swing: 1.5}, duration: 2}}
criteria:
  - {name: near, type: bounds, signals: [q.swing], lower: -1, upper: 1}
  - {name: slow, type: bounds, signals: [v.swing], lower: -0.1, upper: 0.1}
  - {name: comes to rest, type: final, signals: [q.swing], target: 0, tolerance: 0.01}
"""


def write(folder: Path) -> Path:
    """Model and scenario; path of the scenario."""
    (folder / "pendulum.yaml").write_text(MODEL)
    path = folder / "watched.yaml"
    path.write_text(SCENARIO)
    return path
