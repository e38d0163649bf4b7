"""The displays made from a model: complete, without references to nothing, also for models of every kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from limberjack.bridge.console.displays import objects_of
from limberjack.bridge.telemetry.dictionary import dictionary_of
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.model.load import load

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def references(content: object) -> list[str]:
    """Keys of all references to objects in a part of an object."""
    if isinstance(content, dict):
        own = [str(content["key"])] if set(content) == {"namespace", "key"} else []
        return own + [key for each in content.values() for key in references(each)]
    return [key for each in content for key in references(each)] if isinstance(content, list) else []


@pytest.mark.parametrize("name", ["space_manipulator", "cassini", "four_bar", "stewart_platform"])
def test_all_that_is_referred_to_is_there(name):
    system = load(EXAMPLES / f"{name}.yaml")
    dictionary = dictionary_of(Simulation(system))
    objects = objects_of(dictionary, system)
    for key, made in objects.items():
        assert made["identifier"]["key"] == key
        assert set(references(made)) <= set(objects)
    points = {made["quantity"]: made for made in objects.values() if made["type"] == "limberjack.point"}
    assert set(points) == {quantity.id for quantity in dictionary}
    for key, fewest in (("overview", 8), ("overview.narrow", 5)):
        containers = objects[key]["configuration"]["containers"]
        cells = [frame for container in containers for frame in container["frames"]]
        assert len(references([cell["domainObjectIdentifier"] for cell in cells])) >= fewest
        for container in containers:
            assert sum(frame["size"] for frame in container["frames"]) == pytest.approx(100.0)
        assert sum(container["size"] for container in containers) == pytest.approx(100.0)
    most = max(len(made["composition"]) for made in objects.values() if made["type"] == "telemetry.plot.overlay")
    assert most <= 7


def test_a_body_without_joints(tmp_path):
    """Free and alone: no drive, no joint; its attitude and turn rates take the first column."""
    path = tmp_path / "stone.yaml"
    body = "{name: stone, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}, hinge: {name: stone, type: free, parent: world}}"
    path.write_text(f"limberjack: 1\nname: stone\nbodies:\n  - {body}\n")
    system = load(path)
    objects = objects_of(dictionary_of(Simulation(system)), system)
    first = objects["overview"]["configuration"]["containers"][0]["frames"]
    assert [frame["domainObjectIdentifier"]["key"] for frame in first] == ["attitude.q.stone", "plot.rates.stone"]
