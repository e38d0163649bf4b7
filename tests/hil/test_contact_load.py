"""Steps with shapes in each other, timed by `hil --probe`."""

from __future__ import annotations

import pytest

import limberjack as lj
from limberjack.cli import main
from limberjack.hil.contact_load import contact_load
from tests.fmu.judged import EXAMPLES

BOXES = """
limberjack: 1
name: boxes
bodies:
  - {name: a, mass: 1, inertia: {xx: 0.1, yy: 0.1, zz: 0.1}, hinge: {type: free, parent: world,
     initial: {position: [0, 0, 5]}}}
  - {name: b, mass: 1, inertia: {xx: 0.1, yy: 0.1, zz: 0.1}, hinge: {type: free, parent: world,
     initial: {position: [9, 0, 5]}}}
shapes:
  - {name: floor, body: world, type: plane}
  - {name: a, body: a, type: box, size: [0.2, 0.2, 0.2]}
  - {name: b, body: b, type: sphere, radius: 0.1}
contacts: [{name: ground, first: floor, second: [a, b]}]
"""


def test_shapes_that_are_far_apart_are_brought_in_touch(tmp_path):
    """All eight corners of the box below the floor, and the ball."""
    (tmp_path / "boxes.yaml").write_text(BOXES)
    loaded = contact_load(lj.load(tmp_path / "boxes.yaml"), 1e-3)
    assert (loaded.touching, loaded.most, loaded.text) == (9, 9, "")
    assert 2 <= loaded.acting <= 9
    assert 0.0 < loaded.spread.p50 <= loaded.spread.max


def test_a_model_without_contacts_has_nothing_to_time():
    assert contact_load(lj.load(EXAMPLES / "torque_arm.yaml"), 1e-3) is None


def test_more_points_than_a_step_takes_are_reported(tmp_path):
    boxes = "".join(f"  - {{name: s{i}, body: a, type: box, size: [0.2, 0.2, 0.2]}}\n" for i in range(20))
    text = BOXES.replace("contacts:", boxes + "contacts:").replace("[a, b]", str([f"s{i}" for i in range(20)]))
    (tmp_path / "boxes.yaml").write_text(text)
    assert "128" in contact_load(lj.load(tmp_path / "boxes.yaml"), 1e-3).text


@pytest.mark.long
def test_the_command_and_info_count_points(capsys):
    model = str(EXAMPLES / "lander.yaml")
    assert main(["hil", "--probe", model, "--seconds", "0.01"]) == 0
    assert "contacts: 4 of 4 points overlap" in capsys.readouterr().out
    assert main(["info", model]) == 0
    assert "at most 4 points in all" in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.parametrize("name", ["debris", "docking/docking"])
def test_shipped_models_are_timed(name):
    loaded = contact_load(lj.load(EXAMPLES / f"{name}.yaml"), 1e-4)
    assert loaded.acting >= 1
    assert not loaded.text
