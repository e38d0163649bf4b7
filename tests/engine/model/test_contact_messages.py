"""What is said of contacts and shapes that cannot be, in files and in Python; pairs that are named twice."""

from __future__ import annotations

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.model.elements.shape import SIZES
from tests.engine.contacts.scenes import FLOOR, ball, scene, sphere

FEET = [ball("a", (0, 0, 1)), ball("b", (0, 1, 1))]


def test_a_pair_that_a_contact_names_twice_is_one(tmp_path):
    law = "{name: c, first: [a, floor, b], second: [b, b, floor, a], stiffness: 1000}"
    system = scene(tmp_path, FEET, [FLOOR, sphere("a"), sphere("b")], [law])
    assert system.contacts[0].pairs() == [("a", "b"), ("a", "floor"), ("floor", "b")]
    assert lj.Contact("c", ("a", "a", "b")).pairs() == [("a", "b")]


@pytest.mark.parametrize(
    ("shape", "law", "text"),
    [
        (
            "{body: b, type: funnel, radius: [0.1, 0.2], length: 0.3, name: b}",
            "first: a, second: b",
            "Build one of them of other shapes: a funnel touches plane, sphere, capsule, box",
        ),
        ("{body: b, type: ellipsoid, radii: [1, 1, 2], name: b}", "first: a, second: b", "is an ellipsoid"),
        ("{body: b, type: box, size: [1, -1, 1], name: b}", "first: a, second: b", "size[1] is -1. Give a number"),
    ],
)
def test_files(tmp_path, shape, law, text):
    funnel = "{body: a, type: funnel, radius: [0.1, 0.2], length: 0.3, name: a}"
    with pytest.raises(lj.ModelError) as caught:
        lj.Simulation(scene(tmp_path, FEET, [funnel, shape], [f"{{name: c, {law}}}"]))
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("element", "text"),
    [
        (lj.Shape("world", "plane", np.ones(2)), "Name one of: 'a', 'b', or None for the world."),
        (lj.Contact("c", ("x",), ("y",)), "names 'x', which is not a shape. Give the model shapes with names."),
        (lj.Shape(None, "height_field", np.ones(2), heights=np.zeros(4)), "shapes[0], heights: the heights have the"),
    ],
)
def test_elements_made_in_python(tmp_path, element, text):
    with pytest.raises(lj.ModelError) as caught:
        lj.equip(scene(tmp_path, FEET, [], []), element)
    assert text in str(caught.value)


@pytest.mark.parametrize("kind", SIZES)
def test_the_text_of_shape_has_the_sizes_of_each_type(kind):
    assert f'"{kind}"' in lj.Shape.__doc__


def test_what_is_no_system_or_no_element(tmp_path):
    with pytest.raises(lj.ArgumentError, match="a System is needed, got str"):
        lj.equip("arm.yaml", lj.Alarm("time", lj.Bounds(0, 1)))
    with pytest.raises(lj.ArgumentError, match="a str is not an element; give a Wheel"):
        lj.equip(scene(tmp_path, FEET, [], []), "sphere")


@pytest.mark.parametrize("value", [2e15, 1e30])
def test_stiffness_that_no_number_can_hold_is_refused(tmp_path, value):
    """In files, in Python, and of a running model; bodies fell through contacts of 1e24 N/m."""
    with pytest.raises(lj.ModelError, match="at most 1e\\+15") as caught:
        scene(tmp_path, FEET, [FLOOR, sphere("a")], [f"{{name: c, first: floor, second: a, stiffness: {value!r}}}"])
    assert "scene.yaml" in str(caught.value)
    law = "{name: c, first: floor, second: a, stiffness: 1.0e15}"
    system = scene(tmp_path, FEET, [FLOOR, sphere("a")], [law])
    with pytest.raises(lj.ModelError, match="'c' is .*Give a number from 0, which is nearly rigid, to 1e\\+15"):
        lj.equip(scene(tmp_path, FEET, [FLOOR, sphere("a")], []), lj.Contact("c", ("floor",), ("a",), stiffness=value))
    for run in (lj.Simulation(system), lj.Batch(system, 2)):
        with pytest.raises(lj.ArgumentError, match="'contact.c.stiffness' must be at most 1e\\+15"):
            run.parameters["contact.c.stiffness"] = value
        assert np.all(np.asarray(run.parameters["contact.c.stiffness"]) == 1e15)


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("dissipation", [0.0, 1.0])
def test_the_largest_stiffness_holds(tmp_path, exponent, dissipation):
    """Of a milligram and of a thousand tonnes."""
    for mass in (1e-6, 1.0, 1e6):
        law = f"stiffness: 1.0e15, exponent: {exponent}, dissipation: {dissipation}"
        body = ball("a", (0, 0, 0.11), mass=mass)
        system = scene(tmp_path, [body], [FLOOR, sphere("a")], [f"{{name: c, first: floor, second: a, {law}}}"])
        simulation = lj.Simulation(system)
        simulation.step(2000)
        assert abs(simulation.q[6] - 0.1) < 0.011
