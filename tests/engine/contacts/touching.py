"""Models that touch once and again, and one that docks."""

from __future__ import annotations

from pathlib import Path

import limberjack as lj
from tests.engine.contacts.scenes import FLOOR, ball, scene, sensors, sphere

LATCHED = """
limberjack: 1
name: catch
gravity: [0, 0, 0]
bodies:
  - {name: target, mass: 100, inertia: {xx: 10, yy: 10, zz: 10}, hinge: {name: target, type: free, parent: world}}
  - {name: probe, mass: 10, inertia: {xx: 1, yy: 1, zz: 1}, hinge: {name: probe, type: free, parent: world,
     initial: {position: [0, 0, 0.31], velocity: {vz: -0.1}}}}
nodes:
  - {name: seat, body: target, position: [0, 0, 0.29]}
loops:
  - {name: latch, type: weld, method: force, switchable: true, closed: false, reach: REACH, from: {body: seat},
     to: {body: probe}}
shapes:
  - {name: plate, body: target, type: sphere, radius: 0.2}
  - {name: tip, body: probe, type: sphere, radius: 0.1}
contacts:
  - {name: guide, first: plate, second: tip, stiffness: 1.0e4, dissipation: 1.0}
sensors:
  - {name: load, type: contact_force, target: guide}
  - {name: seat, type: node_position, target: seat}
  - {name: seat_turn, type: node_orientation, target: seat}
  - {name: tip, type: node_position, target: probe}
  - {name: tip_turn, type: node_orientation, target: probe}
"""


def latched(folder: Path, reach: float = 0.0095) -> lj.System:
    """The tip touches 1 cm before its place; the latch closes on command within its reach."""
    file = folder / "catch.yaml"
    file.write_text(LATCHED.replace("REACH", str(reach)))
    return lj.load(file)


def bouncing(folder: Path, height: float = 0.5, restitution: float = 0.8) -> lj.System:
    """A ball that falls on a floor; dt 1 ms."""
    contact = f"{{name: bounce, first: floor, second: ball, restitution: {restitution}}}"
    return scene(folder, [ball("ball", (0, 0, 0.1 + height))], [FLOOR, sphere("ball")], [contact], sensors("bounce"))
