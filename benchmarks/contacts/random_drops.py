"""Drops of single bodies of random shape on random ground: `python -m benchmarks.contacts.random_drops RESULTS.jsonl`.

Each model has a body of random shape, size and law, and random ground; each of its worlds drops that body from another
attitude, with another spin and velocity. Counted are worlds whose step failed or that have a NaN, that gained
energy, and that were deeper in the ground than their law allows.

A line for each finished model is added to the results, so that an interrupted run continues. `--only NUMBER` runs one
model and prints what it found in each of its worlds.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import limberjack as lj
from benchmarks.contacts.random_models import RandomModel, random_model

#: worlds of a model, seconds of a drop, steps between two looks at it
WORLDS, SECONDS, LOOK = 500, 0.8, 8
#: largest gain of energy, as a share of the energy at the start and of m g times the body's size
GAIN = 1e-6


@dataclass(frozen=True)
class Found:
    """What the worlds of one model did.

    failed : worlds whose step failed or that have a NaN;  gained : worlds that gained energy
    deep : worlds deeper than their law allows;  gain : largest gain, beyond what it may be, as a share
    of the energy at the start
    depth : largest penetration, m;  allowed : its bound in that world, m;  seconds : how long it took
    """

    model: int
    shape: str
    ground: str
    law: str
    drops: int
    failed: list[int]
    gained: list[int]
    deep: list[int]
    gain: float
    depth: float
    allowed: float
    seconds: float


def starts(model: RandomModel, worlds: int) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates (worlds, 7) and velocities (worlds, 6) of the body above the ground."""
    random = np.random.default_rng([model.number, 1])
    q, v = random.normal(size=(worlds, 7)), random.normal(size=(worlds, 6))
    q[:, :4] /= np.linalg.norm(q[:, :4], axis=1)[:, None]
    q[:, 4:6] = random.uniform(-model.beside, model.beside, (worlds, 2))
    q[:, 6] = model.above + random.uniform(0.01, 0.2, worlds)
    spin = 10.0 * np.exp(random.uniform(-3.0, 0.0, worlds))[:, None]
    v[:, :3] *= spin
    v[:, 3:] *= 0.7
    return q, v


def drop(number: int, worlds: int = WORLDS) -> tuple[Found, dict[str, np.ndarray]]:
    """Drop the body of a model; also returns (worlds,) gains, depths, and depths beyond what is allowed."""
    begun, model = time.perf_counter(), random_model(number)
    batch = lj.Batch(loaded(model.text), worlds, dt=model.dt, integrator=model.integrator)
    batch.q, batch.v = starts(model, worlds)
    start = energies(batch)
    scale, allowed = np.abs(start) + model.mass * 9.81 * model.size, model.allowed(start)
    gain, over, depth = np.zeros(worlds), np.full(worlds, -np.inf), np.zeros(worlds)
    for _ in range(round(SECONDS / model.dt / LOOK)):
        batch.step(LOOK)
        gap, energy = batch.output["gap"], energies(batch)
        free = (gap > 0.0) | (model.stiffness == 0.0)  # springs hold energy that the survey does not have
        depth, over = np.fmax(depth, -gap), np.fmax(over, -gap - allowed)
        gain = np.where(free, np.fmax(gain, (energy - start - model.gains(depth)) / scale), gain)
    wrong = ~np.isfinite(batch.q).all(axis=1) | ~np.isfinite(batch.v).all(axis=1)
    wrong[list(batch.errors)] = True
    failed, gained, deep = (np.flatnonzero(which).tolist() for which in (wrong, gain > GAIN, over > 0.0))
    worst = int(np.argmax(over))
    figures = float(gain.max()), float(depth[worst]), float(allowed[worst]), time.perf_counter() - begun
    about = number, model.shape, model.ground, model.law
    found = Found(*about, worlds, failed, gained, deep, *figures)
    return found, {"gain": gain, "over": over, "depth": depth}


def energies(batch: lj.Batch) -> np.ndarray:
    """Kinetic and potential energy of each world, J."""
    energy: np.ndarray = batch.surveyed().get(slice(2, 3))[:, 0].copy()
    return energy


def loaded(text: str) -> lj.System:
    """The model of this text."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "drop.yaml"
        file.write_text(text)
        return lj.load(file)


def remaining(results: Path, models: int) -> Iterator[int]:
    """Numbers of models without a line in the results."""
    lines = results.read_text().splitlines() if results.exists() else []
    known = {json.loads(line)["model"] for line in lines}
    return (number for number in range(models) if number not in known)


def summary(results: Path) -> list[str]:
    """Drops and failures by shape and ground."""
    rows: dict[tuple[str, str], list[int]] = {}
    for line in results.read_text().splitlines():
        found: dict[str, Any] = json.loads(line)
        row = rows.setdefault((found["shape"], found["ground"]), [0, 0, 0, 0])
        for i, count in enumerate([found["drops"], *(len(found[name]) for name in ("failed", "gained", "deep"))]):
            row[i] += count
    total = [sum(column) for column in zip(*rows.values(), strict=True)]
    listed = [(*names, *row) for names, row in sorted(rows.items())] + [("all", "", *total)]
    head = ("shape", "ground", "drops", "failed", "gained", "deep")
    return ["{:10}{:14}{:>9}{:>8}{:>8}{:>8}".format(*row) for row in [head, *listed]]


def main() -> None:
    """Drop, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, help="file of JSON lines, one for each model")
    parser.add_argument("--models", type=int, default=2000, help="how many models of 500 drops each")
    parser.add_argument("--only", type=int, help="number of the one model to run, which prints its model file")
    options = parser.parse_args()
    if options.only is not None:
        print(random_model(options.only).text)
        found, worlds = drop(options.only)
        print(json.dumps(asdict(found)))
        for i in sorted({*found.failed, *found.gained, *found.deep}):
            print(f"world {i}: " + ", ".join(f"{name} {values[i]:.3e}" for name, values in worlds.items()))
        return
    for number in remaining(options.results, options.models):
        line = json.dumps(asdict(drop(number)[0]))
        with options.results.open("a") as file:
            file.write(f"{line}\n")
    print("\n".join(summary(options.results)))


if __name__ == "__main__":
    main()
