"""A drawing as the browser gets it: what is packed is what was drawn."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.bridge.console.scene import poses_of, scene_of
from limberjack.bridge.scene.drawing import Drawing
from limberjack.bridge.scene.poses import Posed

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def unpacked(text: str, kind: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), kind)


@pytest.mark.parametrize("name", ["cassini", "long_arm"])
def test_a_scene_holds_its_drawing(name):
    drawing = Drawing(lj.load(EXAMPLES / f"{name}.yaml"))
    content = json.loads(json.dumps(scene_of(drawing)[0], allow_nan=False))
    parents = [body["parent"] for body in content["bodies"]]
    assert all(parent < i for i, parent in enumerate(parents))
    assert len(json.dumps(content)) < 4_000_000
    assert (len(content["jets"]), len(content["rods"])) == (len(drawing.jets), len(drawing.rods))
    for entry, painted in zip(content["surfaces"], drawing.surfaces, strict=True):
        assert (entry["body"], entry["colour"]) == (painted.body, painted.colour)
        np.testing.assert_array_equal(unpacked(entry["triangles"], "<u4"), painted.surface.triangles.ravel())
        np.testing.assert_allclose(unpacked(entry["points"], "<f4"), painted.surface.points.ravel(), rtol=1e-6)
        if painted.moved is not None:
            assert entry["modes"] == [painted.start, len(painted.moved)]
            np.testing.assert_allclose(unpacked(entry["moved"], "<f4"), painted.moved.ravel(), rtol=1e-6, atol=1e-30)


def test_a_state_that_is_not_finite_is_not_drawn():
    bodies = np.array([[1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0]])
    shown = poses_of(Posed(bodies, np.array([0.5]), np.zeros(0)))
    assert shown == {"poses": bodies.ravel().tolist(), "modes": [0.5], "jets": [], "pushes": []}
    nothing = {"poses": [], "modes": [], "jets": [], "pushes": []}
    assert poses_of(Posed(bodies, np.array([np.nan]), np.zeros(0))) == nothing
