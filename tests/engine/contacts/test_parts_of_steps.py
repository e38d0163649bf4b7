"""Steps in several parts, with contacts: the bits of smaller steps, and nothing of a step that fails."""

from __future__ import annotations

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.tables.reports import FASTEST
from tests.engine.contacts.scenes import FLOOR, ball, box, free, scene, solid_box, sphere

SIZE = (0.3, 0.2, 0.1)
#: falls spinning, so that impacts add energy at first
BOX = free("box", 1.0, solid_box(SIZE, 1.0), (0, 0, 0.3), "{wx: 9, wy: -12, wz: 7, vz: -2}")
LAWS = ["restitution: 0.9, friction: 0.8", "stiffness: 1.0e5, dissipation: 0.5, friction: 0.4"]


def falling(tmp_path, law) -> lj.System:
    contact = f"{{name: c, first: floor, second: box, {law}}}"
    return scene(tmp_path, [BOX], [FLOOR, box("box", SIZE)], [contact])


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit", "implicit"])
@pytest.mark.parametrize("law", LAWS)
def test_parts_have_the_bits_of_smaller_steps(tmp_path, law, integrator):
    """h = dt / 4 is exact in binary."""
    system = falling(tmp_path, law)
    whole = lj.Simulation(system, dt=2.0**-9, integrator=integrator, substeps=4)
    small = lj.Simulation(system, dt=2.0**-11, integrator=integrator)
    whole.step(400)
    small.step(1600)
    assert np.array_equal(whole.q, small.q)
    assert np.array_equal(whole.v, small.v)
    assert whole.part("touch").any()
    assert np.array_equal(whole.part("touch"), small.part("touch"))


def test_a_step_that_fails_in_its_second_part_changes_no_touch(tmp_path):
    """A ball comes to rest while another body becomes too fast in the second of four parts."""
    rocket, law = free("rocket", 1.0, [1, 1, 1], (0, 0, 5)), "{name: c, first: floor, second: ball, restitution: 0.5}"
    thrust = "nodes:\n  - {name: nozzle, body: rocket}\nexternal_forces: [{name: thrust, node: nozzle}]\n"
    system = scene(tmp_path, [ball("ball", (0, 0, 0.11)), rocket], [FLOOR, sphere("ball")], [law], thrust)
    simulation = lj.Simulation(system, dt=1e-3, substeps=4)
    simulation.step(46)  # the impact: its force is another one in each part
    before, touches = simulation.state, simulation.part("touch").copy()
    assert touches.any()
    simulation.command["thrust.fx"] = FASTEST / (1.5 * 2.5e-4)
    commanded = simulation.state
    with pytest.raises(lj.SimulationError, match="'rocket'"):
        simulation.step()
    assert np.array_equal(simulation.part("touch"), touches)
    assert np.array_equal(simulation.state, commanded)
    simulation.command["thrust.fx"] = 0.0
    assert np.array_equal(simulation.state, before)
