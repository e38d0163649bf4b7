"""The example with every kind of instrument, motors and valves: equal bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import limberjack as lj

MODEL = Path(__file__).resolve().parents[4] / "examples" / "instruments" / "servicer.yaml"


def driven(integrator: str | None = None) -> lj.Simulation:
    simulation = lj.Simulation(lj.load(MODEL), integrator=integrator)
    simulation.command.update({"array_drive": 0.4, "thr_up": 0.8, "wheel_1": 0.05})
    return simulation


def test_a_snapshot_goes_on_with_the_same_bits():
    one = driven()
    one.step(333)
    snapshot = one.snapshot()
    one.step(200)
    two = lj.Simulation(lj.load(MODEL))
    two.restore(snapshot)
    two.step(200)
    assert np.array_equal(one.state, two.state)
    assert np.array_equal(one.output_vector, two.output_vector)
