"""The longest steps of random drops: `python -m benchmarks.contacts.slowest_steps --models 300`.

Each step of a drop is timed by the processor time of its thread. One that took longer than all before is repeated from
the same state; the shortest of these times counts, so that interruptions do not.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import numpy as np

import limberjack as lj
from benchmarks.contacts.random_drops import SECONDS, loaded, starts
from benchmarks.contacts.random_models import random_model
from limberjack.engine.tables.contacts import TO_ACTS, TOUCH

#: drops of a model, and how often a long step is repeated
DROPS, REPEATS = 2, 4


@dataclass(frozen=True)
class Slowest:
    """Of the drops of one model: its longest step and the points that touched in it, and the median of all steps, s."""

    model: int
    shape: str
    ground: str
    integrator: str
    longest: float
    points: int
    median: float


def slowest(number: int) -> Slowest:
    """Drop the body of a model."""
    model = random_model(number)
    simulation = lj.Simulation(loaded(model.text), dt=model.dt, integrator=model.integrator)
    longest, points, times = 0.0, 0, []
    for q, v in zip(*starts(model, DROPS), strict=True):
        simulation.reset()
        simulation.q, simulation.v = q, v
        for _ in range(round(SECONDS / model.dt)):
            before = simulation.snapshot()
            times.append(_timed(simulation))
            if times[-1] > longest:
                times[-1] = min(times[-1], *(_again(simulation, before) for _ in range(REPEATS)))
            if times[-1] > longest:
                touches = simulation.part("touch").reshape(-1, TOUCH)
                longest, points = times[-1], int(np.count_nonzero(touches[:, TO_ACTS]))
    median = float(np.median(times))
    return Slowest(number, model.shape, model.ground, model.integrator, longest, points, median)


def _timed(simulation: lj.Simulation) -> float:
    """The processor time of a step, s."""
    begun = time.thread_time()
    simulation.step()
    return time.thread_time() - begun


def _again(simulation: lj.Simulation, before: bytes) -> float:
    simulation.restore(before)
    return _timed(simulation)


def main() -> None:
    """Drop, and print the slowest."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=300, help="how many models")
    parser.add_argument("--first", type=int, default=0, help="number of the first model")
    options = parser.parse_args()
    found = [slowest(number) for number in range(options.first, options.first + options.models)]
    print(f"median step of all: {1e6 * np.median([each.median for each in found]):.1f} µs; the longest:")
    for each in sorted(found, key=lambda each: -each.longest)[:12]:
        what = f"{each.model:6} {each.shape:9} {each.ground:7} {each.integrator:14}"
        print(f"{what} {1e6 * each.longest:7.1f} µs, {each.points} points, median {1e6 * each.median:6.1f} µs")


if __name__ == "__main__":
    main()
