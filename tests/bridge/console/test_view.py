"""The 3-D view: what the server gives, and what a real browser draws from it, against Dynamics."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from scipy.spatial.transform import Rotation

import limberjack as lj
from limberjack.bridge.client import Client
from limberjack.bridge.console.access import Address
from limberjack.bridge.console.web_server import Console, Settings
from tests.bridge.console.chromium import Page
from tests.bridge.telemetry.engines import engine, gateway

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES, PICTURES = ROOT / "examples", ROOT / "results" / "console"
WEDGE = """
limberjack: 1
name: wedge
gravity: [0, 0, 0]
bodies:
  - {name: part, mass: 1, inertia: {xx: 1, yy: 1, zz: 1},
     hinge: {type: free, parent: world, initial: {position: [7e6, 0, 0]}}}
  - {name: ring, mass: 0, hinge: {type: fixed, parent: part}}
thrusters:
  - {name: jet, body: part, direction: [0, 0, 1], thrust: 2}
shapes:
  - {body: part, type: mesh, file: wedge.obj, scale: [0.1, -0.1, 0.1], position: [0, 0, 1]}
  - {body: ring, type: mesh, file: broken.obj}
"""
OBJ = "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


@pytest.fixture
def wedge(tmp_path):
    """Far from the inertial origin; one mesh that is good and one that is none."""
    (tmp_path / "wedge.yaml").write_text(WEDGE)
    (tmp_path / "wedge.obj").write_text(OBJ)
    (tmp_path / "broken.obj").mkdir()
    return lj.load(tmp_path / "wedge.yaml")


@pytest.mark.usefixtures("pretended")
def test_the_server_gives_scene_meshes_and_poses(serve, wedge):
    with serve(wedge, mode="lockstep") as bench, Client(bench.gateway.endpoint) as stepper, bench.ask.live() as ear:
        scene = bench.ask.json("/api/scene")
        assert [body["name"] for body in scene["bodies"]] == ["part", "ring"]
        assert scene["warnings"] == ["the mesh 'broken.obj' of 'ring' is not drawn: it is not found"]
        status, text, headers = bench.ask("/api/mesh/0")
        assert (status, text, headers["Content-Type"]) == (200, OBJ, "model/obj")
        for wrong in ("1", "x", "-1", "..%2Fwedge.yaml", "99999999999"):
            assert bench.ask(f"/api/mesh/{wrong}")[0] == 404
        state = stepper.step(100, command={"jet": 1.0})
        ear.say({"kind": "stream", "name": "poses", "on": True})
        while (message := ear.hear("poses"))["time"] < state.time - 1e-9:
            pass
        np.testing.assert_allclose(message["poses"], [*state.q[4:], *state.q[:4]] * 2, atol=1e-12)
        assert (message["jets"], message["modes"]) == ([0.5], [])


class Shown:
    """The page of the view."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def wait_for(self, state: Any) -> None:
        """Until this state is on the screen."""
        self.page.wait(f"view.drawn && view.drawn === view.frames.at(-1) && view.drawn.time > {state.time - 1e-9}")

    def point(self, name: str) -> np.ndarray:
        """Where a body is drawn, in the inertial frame."""
        return np.array(self.page.ask(f"view.world.point('{name}')"))

    def exaggerate(self, slider: float) -> None:
        """Move the slider."""
        self.page.ask(
            "(() => { const slider = document.getElementById('exaggeration');"
            f" slider.value = {slider}; slider.dispatchEvent(new Event('input')); }})()"
        )
        self.page.wait("view.drawn")

    def bending(self) -> float:
        """Largest way of any point of a flexible surface from its place at rest, m."""
        away = "(most, x, i) => Math.max(most, Math.abs(x - skin.rest[i]))"
        text = f"skin.geometry.attributes.position.array.reduce({away}, 0)"
        return float(self.page.ask(f"Math.max(...view.world.skins.map((skin) => {text}))"))

    def colours(self, keep: str) -> np.ndarray:
        """(pixels, 3) of the screen, a picture of which is kept."""
        self.page.shoot(PICTURES / keep)
        return np.asarray(Image.open(PICTURES / keep).convert("RGB")).reshape(-1, 3).astype(int)


def _blue(colours: np.ndarray) -> int:
    """Pixels of the solar panels: blue outweighs red by far."""
    return int((colours[:, 2] - colours[:, 0] > 45).sum())


@pytest.mark.long
def test_a_browser_draws_what_moves_and_bends(serve, browser):
    system = lj.load(EXAMPLES / "solar_satellite.yaml")
    dynamics = lj.Dynamics(system)
    with serve(system, mode="lockstep") as bench, Client(bench.gateway.endpoint) as stepper:
        view = Shown(browser.open(f"http://127.0.0.1:{bench.console.port}/view"))
        view.wait_for(stepper.step(1))
        still = view.colours("view-still.png")
        state = stepper.step(3000, command={"drive_north": 0.8, "wheel_1": 1.0})
        view.wait_for(state)
        for name in system.body_names:
            np.testing.assert_allclose(view.point(name), dynamics.pose(name, state.q)[1], atol=1e-9)
        colours = view.colours("view-moved.png")
        assert _blue(still) > 2000
        assert _blue(colours) > 500
        assert np.abs(colours - still).sum(axis=1).astype(bool).sum() > 5000

        (R, p), (R_tip, tip) = (dynamics.pose(name, state.q) for name in ("wing_north", "wing_north.tip"))
        rest = next(body.hinge.attachment for body in system.bodies if body.name == "wing_north.tip").p0
        twist = Rotation.from_matrix(R.T @ R_tip).as_rotvec()
        corner = R.T @ (tip - p) - rest + np.cross(twist, [1.3, 0.0, 0.0])  # of the last panel, 1.3 m beside the tip
        bending = view.bending()
        assert bending == pytest.approx(np.abs(corner).max(), rel=0.03)
        view.exaggerate(2)
        np.testing.assert_allclose(
            view.point("wing_north.tip"), p + R @ (rest + 100 * (R.T @ (tip - p) - rest)), atol=1e-6
        )
        np.testing.assert_allclose(view.point("hub"), dynamics.pose("hub", state.q)[1], atol=1e-9)
        assert view.bending() == pytest.approx(100 * bending, rel=1e-3)
        view.colours("view-exaggerated.png")

        place = system.body_names.index("wing_north")
        view.page.ask(f"document.getElementById('follow').value = {place}")
        view.page.ask("document.getElementById('follow').dispatchEvent(new Event('change'))")
        view.page.click("document.getElementById('turn')")
        view.page.wait("view.drawn && view.placed")
        shown = view.page.ask(
            f"[...view.world.groups[{place}].position.toArray(), ...view.world.groups[{place}].quaternion.toArray()]"
        )
        np.testing.assert_allclose(np.abs(shown), [0, 0, 0, 0, 0, 0, 1], atol=1e-9)
        assert view.page.faults == []


#: how many colours the canvas has
COLOURS = """(() => {
  ACTION
  const gl = view.renderer.getContext(), [width, height] = [gl.drawingBufferWidth, gl.drawingBufferHeight];
  const pixels = new Uint8Array(4 * width * height);
  gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
  return new Set(new Uint32Array(pixels.buffer)).size;
})()"""


#: drawn as it is between a new scene and its first state: the camera stands in the origin
EARLY = """
  const text = view.text;
  view.text = '';
  view.show(text);
  view.camera.position.set(0, 0, 0);
  view.renderer.render(view.scene, view.camera);
"""


@pytest.mark.long
def test_a_new_size_leaves_no_empty_canvas_and_a_new_model_no_view_from_within(serve, browser):
    system = lj.load(EXAMPLES / "solar_satellite.yaml")
    with serve(system, mode="lockstep") as bench, Client(bench.gateway.endpoint) as stepper:
        view = Shown(browser.open(f"http://127.0.0.1:{bench.console.port}/view"))
        view.wait_for(stepper.step(1))
        assert view.page.ask("view.world.root.visible")
        assert view.page.ask(COLOURS.replace("ACTION", "view.resize();")) > 10
        assert view.page.ask(COLOURS.replace("ACTION", EARLY)) == 1
        view.wait_for(stepper.step(1))
        assert view.page.ask("view.world.root.visible")


@pytest.mark.long
def test_a_browser_goes_on_with_another_model_and_draws_meshes(endpoint, browser, wedge):
    console = None
    with contextlib.ExitStack() as stack:
        with engine(lj.load(EXAMPLES / "delta_robot.yaml"), endpoint, rate_hz=100.0):
            running = stack.enter_context(gateway(endpoint))
            console = Console(Settings(Address(port=0), live_hz=20.0), running)
            running.add(console)
            view = Shown(browser.open(f"http://127.0.0.1:{console.port}/view"))
            view.page.wait("view.world.content.model === 'delta_robot' && view.drawn && view.placed")
            assert view.page.ask("view.world.rods.length") == 6
            assert view.page.ask("view.follow.body") is None
            assert len(np.unique(view.colours("view-delta.png"), axis=0)) > 50
            place = view.page.ask("view.world.places.get('platform')")
            view.page.ask(
                f"(() => {{ const p = view.world.groups[{place}].position.clone().project(view.camera);"
                " view.pick({ clientX: (p.x + 1) / 2 * innerWidth, clientY: (1 - p.y) / 2 * innerHeight }); })()"
            )
            assert view.page.ask("[view.follow.body, Number(document.getElementById('follow').value)]") == [place] * 2
        stack.enter_context(engine(wedge, endpoint, rate_hz=100.0))
        view.page.wait("view.world.content.model === 'wedge' && view.drawn && view.placed", 60.0)
        assert "broken.obj" in view.page.ask("document.getElementById('warnings').textContent")
        box = view.page.wait(
            "!view.world.box().isEmpty() && [view.world.box().min.toArray(), view.world.box().max.toArray()]"
        )
        np.testing.assert_allclose(box, [[0, -0.2, 1], [0.1, 0, 1.3]], atol=1e-6)
        view.page.wait("['live', 'slow'].includes(document.getElementById('link').className)")


def _red(colours: np.ndarray) -> int:
    """Pixels of arrows of forces."""
    return int(((colours[:, 0] > 200) & (colours[:, 1] < 130) & (colours[:, 2] < 130)).sum())


@pytest.mark.long
def test_a_browser_draws_the_force_of_a_contact_where_shapes_touch(serve, browser):
    system = lj.load(EXAMPLES / "docking" / "docking.yaml")
    before = lj.Simulation(system)
    before.step_until("touch", most=60_000)
    with serve(system, mode="lockstep") as bench, Client(bench.gateway.endpoint) as stepper:
        view = Shown(browser.open(f"http://127.0.0.1:{bench.console.port}/view"))
        view.wait_for(stepper.step(1))
        assert _red(view.colours("view-approach.png")) == 0
        stepper.step(before.step_count - 1)
        state = stepper.step(120)
        view.wait_for(state)
        colours = view.colours("view-contact.png")
        arrow = "view.world.arrows[0]"
        assert view.page.ask("view.world.arrows.length") == 1
        place = np.array(view.page.ask(f"{arrow}.position.toArray()"))
        tip = lj.Dynamics(system).pose("probe", state.q)[1]
        assert np.linalg.norm(place - tip) == pytest.approx(0.06, abs=5e-3)  # on the tip's surface
        force = state.output["load"]
        length = view.page.ask(f"{arrow}.scale.x") / view.page.ask("view.world.size")
        assert length == pytest.approx(0.5 * np.log10(1.0 + np.linalg.norm(force)) / 4.0, rel=1e-6)
        assert _red(colours) > 100
        assert view.page.faults == []
