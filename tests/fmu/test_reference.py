"""The reference result: what `Simulation` computes, over the default experiment, to the last bit."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common.errors import ModelWarning
from limberjack.engine.model.system import Body, Dof, Hinge, System
from limberjack.engine.model.validate import validate
from limberjack.fmu.description import reference
from limberjack.fmu.description.content import default_experiment, internal_steps
from tests.fmu import contents

#: role attribute of the layered standard's schema
_ROLES = re.compile(r"document|model|parameter|experiment(/(smoke-test|validation|uncertainty-analysis))?|result|other")


def columns(result: reference.Reference) -> dict[str, np.ndarray]:
    return dict(zip(result.names, result.values.T, strict=True))


@pytest.mark.parametrize("kind", contents.KINDS, ids="-".join)
def test_the_columns_are_the_outputs(kind):
    made = contents.short(contents.content("full", *kind))
    result = reference.compute(made)
    expected = ["time"]
    for at in made.outputs:
        variable = made.variables[at]
        indices = [f"[{i + 1}]" for i in range(variable.size)] if variable.array else [""]
        expected += [variable.name + index for index in indices]
    assert list(result.names) == expected
    assert result.values.shape == (21, len(expected))


def test_the_values_are_those_of_a_simulation():
    made = contents.content("space_manipulator", "3.0", "scalar")
    result = reference.compute(made)
    found = columns(result)
    sim = Simulation(made.system)
    assert result.values.shape[0] == 201
    assert (result.interval, result.step, result.ending) == (0.05, 0.01, "")
    for row in range(201):
        assert found["time"][row] == row * 5 * 0.01
        assert found["hinge.elbow_pitch.angle"][row] == sim.q[made.system.coordinate_names.index("elbow_pitch")]
        assert found["hinge.elbow_pitch.torque"][row] == sim.tau[made.system.velocity_names.index("elbow_pitch")]
        assert np.array_equal(
            [found[f"node.grasp_point.position[{i}]"][row] for i in (1, 2, 3)], sim.output["grasp_point.position"]
        )
        sim.step(50)


def test_chosen_derivatives_are_there_too():
    made = contents.short(contents.content("full", "3.0", "scalar"))
    variables = tuple(replace(v, causality="output") if v.derivative_of else v for v in made.variables)
    result = columns(reference.compute(replace(made, variables=variables)))
    sim = Simulation(made.system)
    names = [variable.name for variable in made.variables if variable.derivative_of]
    nq = made.system.nq
    start = np.array([result[name][0] for name in names])
    assert np.array_equal(start[nq:], sim.vdot)
    # a quaternion's rate by its definition, q' = q ∘ (0, ω) / 2, of the free base
    w, v = sim.q[:4], sim.v[:3]
    expected = 0.5 * np.array([-w[1:] @ v, *(w[0] * v + np.cross(w[1:], v))])
    np.testing.assert_allclose(start[:4], expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("h", "dt", "steps", "inner"),
    [
        (0.01, 1e-3, 10, 1e-3),
        (1e-3, 1e-3, 1, 1e-3),
        (0.003, 1e-3, 3, 1e-3),
        (0.0025, 1e-3, 3, 0.0025 / 3),
        (4e-4, 1e-3, 1, 4e-4),
    ],
)
def test_steps_inside_a_communication_step(h, dt, steps, inner):
    assert internal_steps(h, dt) == (steps, inner)


def test_a_communication_step_that_is_no_multiple():
    made = contents.content("plain", "3.0", "scalar")
    made = replace(made, experiment=default_experiment(made.dt, 0.05, 0.0025))
    result = columns(reference.compute(made))
    sim = Simulation(made.system, 0.0025 / 3)
    sim.step(3 * 20)
    assert result["hinge.pin.angle"][-1] == sim.q[0]
    assert result["time"][-1] == 20 * 0.0025


def test_the_file_reads_back_to_the_same_bits():
    made = contents.short(contents.content("awkward", "3.0", "scalar"))
    result = reference.compute(made)
    rows = list(csv.reader(result.csv.decode().splitlines()))
    assert tuple(rows[0]) == result.names
    assert np.array_equal(np.array(rows[1:], dtype=float), result.values)


def test_a_model_that_diverges_has_a_short_reference_and_a_warning():
    hinge = Hinge("pin", "revolute", None, axes=np.eye(3)[:1], dofs=(Dof(stiffness=1e9),), q0=np.array([1.0]))
    system = validate(System("stiff", (Body("bob", contents.SOLID, hinge),)))
    made = contents.content("plain", "3.0", "scalar")
    with pytest.warns(ModelWarning, match="'pin' of body 'bob'"):
        result = reference.compute(replace(made, system=system))
    assert "The model diverges" in result.ending
    assert len(result.values) == 1
    assert np.isfinite(result.values).all()


def test_long_experiments_are_cut():
    made = contents.content("plain", "3.0", "scalar")
    result = reference.compute(replace(made, experiment=default_experiment(made.dt, 1e7)))
    assert "too long" in result.ending
    assert len(result.values) <= reference.MOST_ROWS + 1
    assert 1000 * made.dt <= result.values[-1, 0] <= reference.MOST_WORK * made.dt


def test_one_step_that_takes_too_long_is_not_begun():
    made = contents.content("plain", "3.0", "scalar")
    result = reference.compute(replace(made, experiment=default_experiment(made.dt, 1e7, 1e6)))
    assert result.values.shape[0] == 1
    assert "too long" in result.ending
    assert reference.manifest(result)


def test_the_manifest():
    result = reference.compute(contents.short(contents.content("plain")))
    root = ElementTree.fromstring(reference.manifest(result))
    space = "{http://fmi-standard.org/fmi-ls-manifest}fmi-ls-"
    assert root.tag == "fmiReferences"
    assert root.attrib == {
        f"{space}name": "org.fmi-standard.fmi-ls-ref",
        f"{space}version": "1.0.0-alpha.1",
        f"{space}description": "Layered Standard providing information on related files included in an FMU.",
    }
    (related,) = root
    assert related.tag == "Related"
    assert _ROLES.fullmatch(related.get("role"))
    assert Path(related.get("source")).name == related.get("source") == reference.RESULT_NAME
    assert related.get("type") == "text/csv"
