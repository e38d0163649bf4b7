"""Random drops of six shapes on a floor: `python -m benchmarks.contacts.drops [COUNT]`, 1e6 of them if not said.

A ball, a capsule, a box, a cylinder, a cone and a mesh fall above each other in random order, turned and spinning
anyhow, for four seconds. Counted are worlds whose step failed or that have a NaN, and how deep shapes are at the end of
steps.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import limberjack as lj

CONTACTS = ("ground", "mutual")
BODIES = ("ball", "pill", "brick", "tin", "hat", "rock")
MODEL = """
limberjack: 1
name: drops
bodies:
{bodies}
shapes:
  - {{name: floor, body: world, type: plane}}
  - {{name: ball, body: ball, type: sphere, radius: 0.1}}
  - {{name: pill, body: pill, type: capsule, radius: 0.07, length: 0.2}}
  - {{name: brick, body: brick, type: box, size: [0.3, 0.2, 0.25]}}
  - {{name: tin, body: tin, type: cylinder, radius: 0.1, length: 0.2}}
  - {{name: hat, body: hat, type: cylinder, radius: [0.12, 0.04], length: 0.2}}
  - {{name: rock, body: rock, type: mesh, vertices: {corners}, faces: {faces}}}
contacts:
  - {{name: ground, first: floor, second: [{names}], friction: 0.5, restitution: 0.2}}
  - {{name: mutual, first: [{names}], friction: 0.5}}
sensors:
{sensors}
"""
BODY = (
    "  - {{name: {0}, mass: 1.0, inertia: {{xx: 0.006, yy: 0.008, zz: 0.007}}, "
    "hinge: {{name: {0}_free, type: free, parent: world}}}}\n"
)
GAP = "  - {{name: {0}, type: contact_gap, target: {0}}}\n"
#: the mesh, an octahedron whose three axes differ: corners, m, and faces counter-clockwise from outside
CORNERS = [[0.15, 0, 0], [-0.1, 0, 0], [0, 0.12, 0], [0, -0.12, 0], [0, 0, 0.1], [0, 0, -0.14]]
FACES = [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]]
#: worlds at a time; steps of 1 ms of a drop, and between two looks at it
WORLDS, STEPS, LOOK = 500, 4000, 50


@dataclass(frozen=True)
class Drops:
    """What `drop` found of `count` drops.

    failed : worlds whose step failed, or that have a NaN, of all groups;  seconds : how long it took
    deepest : (count,) at the end of all steps looked at, m;  last : (count,) at the end of the last step, m
    """

    count: int
    failed: int
    seconds: float
    deepest: np.ndarray
    last: np.ndarray


def model() -> lj.System:
    """The floor and the six bodies."""
    bodies, gaps = "".join(BODY.format(n) for n in BODIES), "".join(GAP.format(n) for n in CONTACTS)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "drops.yaml"
        names = ", ".join(BODIES)
        file.write_text(MODEL.format(bodies=bodies, sensors=gaps, names=names, corners=CORNERS, faces=FACES))
        return lj.load(file)


def starts(worlds: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates (worlds, 42) and velocities (worlds, 36) of bodies above each other in any order, turned anyhow."""
    random, n = np.random.default_rng(seed), len(BODIES)
    q = random.normal(size=(worlds, n, 7))
    q[:, :, :4] /= np.linalg.norm(q[:, :, :4], axis=2)[:, :, None]
    q[:, :, 4:6] = random.uniform(-0.1, 0.1, (worlds, n, 2))
    q[:, :, 6] = 0.3 + 0.45 * random.permuted(np.tile(np.arange(n), (worlds, 1)), axis=1)
    v = random.normal(size=(worlds, n, 6)) * [5.0, 5.0, 5.0, 0.3, 0.3, 1.0]
    return q.reshape(worlds, -1), v.reshape(worlds, -1)


def drop(count: int, seed: int = 1) -> Drops:
    """Drop `count` times, WORLDS at a time."""
    batch, start, failed = lj.Batch(model(), min(count, WORLDS)), time.perf_counter(), 0
    deepest, last = [], []
    for group in range(-(-count // batch.n)):
        batch.reset()
        batch.q, batch.v = starts(batch.n, seed + group)
        most = np.zeros(batch.n)
        for _ in range(STEPS // LOOK):
            batch.step(LOOK)
            most = np.maximum(most, _depth(batch))
        wrong = ~np.isfinite(batch.q).all(axis=1) | ~np.isfinite(batch.v).all(axis=1)
        wrong[list(batch.errors)] = True
        failed += int(np.count_nonzero(wrong))
        deepest.append(most)
        last.append(_depth(batch))
    found = [np.concatenate(depths)[:count] for depths in (deepest, last)]
    return Drops(count, failed, time.perf_counter() - start, *found)


def _depth(batch: lj.Batch) -> np.ndarray:
    """The largest penetration of each world, m."""
    depth: np.ndarray = -np.minimum.reduce([batch.output[name] for name in CONTACTS])
    return depth


def main() -> None:
    """Drop, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    found = drop(options.count, options.seed)
    print(f"{found.count} drops of {STEPS} steps in {found.seconds:.0f} s; {found.failed} failed or have a NaN")
    for when, depth in (("all steps looked at", found.deepest), ("the end", found.last)):
        print(f"deepest at {when} {depth.max():.2e} m, 99 % below {np.quantile(depth, 0.99):.2e} m")


if __name__ == "__main__":
    main()
