"""The mirror: what it computes from a state is what the engine's simulation computes."""

from __future__ import annotations

import importlib.resources

import numpy as np
import pytest

from limberjack.bridge.telemetry.mirror import Mirror
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.model.load import load

EXAMPLES = importlib.resources.files("limberjack.examples")


@pytest.mark.parametrize("model", ["space_manipulator.yaml", "cassini.yaml", "instruments/servicer.yaml"])
def test_the_survey_of_a_state_has_the_simulation_s_bits(model):
    """Bodies that bend, and motors whose rotors turn with their joints, among them."""
    system = load(str(EXAMPLES / model))
    mirror, twin, rng = Mirror(system), Simulation(system), np.random.default_rng(3)
    for _ in range(3):
        twin.part("q")[:] = q = twin.q + 1e-2 * rng.normal(size=system.nq)
        twin.part("v")[:] = v = rng.normal(size=system.nv)
        twin.changed()
        np.testing.assert_array_equal(mirror.survey(q, v), twin.survey())
        filled = np.zeros(10)
        mirror.fill(filled, memoryview(np.concatenate([q, v])).cast("B"))
        np.testing.assert_array_equal(filled, mirror.whole(q, v))
        assert filled[3] == twin.output["energy.total"]


def test_parameters_reach_the_survey():
    system = load(str(EXAMPLES / "space_manipulator.yaml"))
    mirror, twin = Mirror(system), Simulation(system)
    mirror.set_parameters({"gravity.z": -3.0, "not one of this model": 1.0})
    twin.parameters["gravity.z"] = -3.0
    assert mirror.whole(twin.q, twin.v)[1] == twin.output["energy.potential"] != 0.0
