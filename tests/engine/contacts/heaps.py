"""Random heaps of bodies in which every kind of shape occurs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import limberjack as lj
from tests.engine.contacts.scenes import FLOOR, box, free, scene, sphere
from tests.engine.contacts.test_meshes import cloud, mesh

BODIES = ("ball", "pill", "brick", "tin", "hat", "rock", "hoop")
TABLE = "{body: world, name: table, type: box, size: [4, 4, 1], position: [0, 0, -0.495]}"
FUNNEL = "{body: world, name: funnel, type: funnel, radius: [0.05, 0.4], length: 0.3, position: [0, 0, 0.3]}"
SENSORS = "sensors:\n" + "".join(
    f"  - {{name: {contact}_{kind}, type: contact_{kind}, target: {contact}}}\n"
    for contact in ("ground", "mutual", "throat")
    for kind in ("force", "gap", "slip", "touching")
)


def shapes(random: np.random.Generator) -> list[str]:
    """One of each kind that moves, as lines of YAML."""
    size = random.uniform(0.06, 0.12, 8)
    return [
        sphere("ball", size[0]),
        f"{{body: pill, name: pill, type: capsule, radius: {size[1]}, length: 0.15}}",
        box("brick", 2.0 * size[2:5]),
        f"{{body: tin, name: tin, type: cylinder, radius: {size[5]}, length: 0.2}}",
        f"{{body: hat, name: hat, type: cylinder, radius: [{size[6]}, {0.4 * size[7]}], length: 0.2}}",
        mesh("rock", 0.5 * cloud(random, 14)),
        f"{{body: hoop, name: hoop, type: ring, radius: {random.uniform(0.08, 0.14)}, tube: 0.03}}",
    ]


def heap(folder: Path, seed: int, more: str = "", law: str = "friction: 0.4") -> lj.System:
    """Bodies above each other in random order, over a floor of which one half is a box; the ball and the ring also
    touch a funnel. more: further lines of the file; law: of the bodies with each other."""
    random = np.random.default_rng(seed)
    bodies = []
    for i, name in enumerate(random.permutation(BODIES)):
        place = [*random.uniform(-0.06, 0.06, 2), 0.2 + 0.25 * i]
        spin, way = random.uniform(-3.0, 3.0, 3), random.uniform(-0.3, 0.3, 3) - [0.0, 0.0, 0.5 * i]
        velocity = dict(zip(("wx", "wy", "wz", "vx", "vy", "vz"), map(float, (*spin, *way))))
        written = "{" + ", ".join(f"{key}: {value}" for key, value in velocity.items()) + "}"
        bodies.append(free(str(name), float(random.uniform(0.5, 2.0)), (0.006, 0.007, 0.008), place, written))
    names = ", ".join(BODIES)
    contacts = [
        f"{{name: ground, first: [floor, table], second: [{names}], friction: 0.5}}",
        f"{{name: mutual, first: [{names}], {law}}}",
        "{name: throat, first: funnel, second: [ball, hoop], friction: 0.1}",
    ]
    return scene(folder, bodies, [FLOOR, TABLE, FUNNEL, *shapes(random)], contacts, more + SENSORS)
