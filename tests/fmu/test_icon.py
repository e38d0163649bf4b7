"""Pictures of models: the right points, always the same bytes, nothing about this machine."""

from __future__ import annotations

import io
import zlib

import numpy as np
import pytest

from limberjack.engine.api.dynamics import Dynamics
from limberjack.engine.model.system import Body, Hinge, Inertia, Pose, System
from limberjack.engine.model.validate import validate
from limberjack.fmu.description import icon
from tests.fmu import contents


def chunks(png: bytes) -> dict[bytes, bytes]:
    """Chunks of a PNG by name; their checksums are verified."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    found, at = {}, 8
    while at < len(png):
        size = int.from_bytes(png[at : at + 4], "big")
        name, body = png[at + 4 : at + 8], png[at + 8 : at + 8 + size]
        assert int.from_bytes(png[at + 8 + size : at + 12 + size], "big") == zlib.crc32(name + body)
        found[name] = found.get(name, b"") + body
        at += 12 + size
    return found


@pytest.mark.parametrize("name", contents.MODELS)
def test_pictures_repeat_and_carry_no_marks_of_their_making(name):
    drawn = icon.skeleton(contents.model(name))
    for draw, size in ((icon.icon_png, (256, 256)), (icon.diagram_png, icon.DIAGRAM_PIXELS)):
        png = draw(drawn)
        assert png == draw(drawn)
        found = chunks(png)
        assert set(found) <= {b"IHDR", b"IDAT", b"IEND", b"pHYs"}
        assert (int.from_bytes(found[b"IHDR"][:4], "big"), int.from_bytes(found[b"IHDR"][4:8], "big")) == size


def test_a_users_style_changes_nothing():
    import matplotlib

    drawn = icon.skeleton(contents.model("plain"))
    plain = icon.icon_png(drawn)
    with matplotlib.rc_context({"lines.dash_capstyle": "round", "savefig.dpi": 30, "savefig.facecolor": "red"}):
        assert icon.icon_png(drawn) == plain


def test_the_points_are_those_of_the_model():
    system = contents.model("space_manipulator")
    drawn, dynamics = icon.skeleton(system), Dynamics(system)
    hinges = dict(drawn.hinges)
    assert set(hinges) == {body.hinge.name for body in system.bodies}
    for body in system.bodies[1:]:
        _, position = dynamics.pose(body.name, system.q0)
        np.testing.assert_allclose(hinges[body.hinge.name], position, atol=1e-12)
    assert [name for name, _ in drawn.nodes] == ["grasp_point", "star_tracker"]
    assert drawn.grounds == [], "the base is free"


def test_something_is_drawn_inside_the_tile():
    image = _pixels(icon.icon_png(icon.skeleton(contents.model("space_manipulator"))))
    assert image.shape == (256, 256, 4)
    assert image[0, 0, 3] == 0, "the corners are transparent"
    inside = image[20:-20, 20:-20, :3].reshape(-1, 3)
    assert len(np.unique(inside, axis=0)) > 20
    paper = np.array([0xF4, 0xF1, 0xE8])
    covered = (np.abs(inside.astype(int) - paper).max(axis=1) > 12).mean()
    assert 0.02 < covered < 0.6


@pytest.mark.parametrize("scale", [0.0, 1e-6, 1e6])
def test_models_of_any_size_can_be_drawn(scale):
    ahead = Pose(position=np.array([scale, 0.0, 0.0]))
    first = Hinge("a", "free", None)
    second = Hinge("b", "spherical", "one", inboard=ahead)
    solid = Inertia(1.0, np.zeros(3), np.eye(3))
    drawn = icon.skeleton(validate(System("m", (Body("one", solid, first), Body("two", solid, second)))))
    image = _pixels(icon.icon_png(drawn))
    assert len(np.unique(image.reshape(-1, 4), axis=0)) > 5


def _pixels(png: bytes) -> np.ndarray:
    from matplotlib.image import imread

    return np.round(imread(io.BytesIO(png)) * 255).astype(np.uint8)
