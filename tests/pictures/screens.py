"""Pictures of pages, of the web console and of the monitor, taken by a headless browser."""

from __future__ import annotations

import contextlib
import io
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from PIL import Image
from rich.console import Console as Terminal

from limberjack.bridge.client import Client
from limberjack.bridge.console import assets
from limberjack.bridge.console.access import Address
from limberjack.bridge.console.web_server import Console
from limberjack.bridge.console.web_server import Settings as ConsoleSettings
from limberjack.bridge.process import EngineProcess
from limberjack.bridge.settings import Settings
from limberjack.bridge.telemetry.gateway import Gateway
from limberjack.commands.controller import Controller
from limberjack.commands.monitor_board import Board
from limberjack.commands.monitor_view import Choice, screen
from limberjack.engine.model.load import load
from limberjack.engine.model.system import System
from tests.bridge.console.chromium import Chromium, Page
from tests.bridge.telemetry.engines import gateway

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
#: s of simulated time in a request of steps
PERIOD_S = 0.05
#: columns and lines of the monitor's terminal
COLUMNS, LINES = 115, 34
_HEAD_PX = 40  # of the window that rich draws around the terminal


def report(width: int, height: int) -> Callable[[Path], None]:
    """Takes a picture of the upper part of a folder's report.html, pixels."""

    def work(folder: Path) -> None:
        with Chromium(width, height) as browser:
            page = browser.open((folder / "report.html").as_uri())
            _size(page, width, height)
            page.wait("document.readyState === 'complete'")
            _keep(page, folder / "report.png")

    return work


def _keep(page: Page, path: Path) -> None:
    """A screenshot in 256 colours, which takes a third of the space."""
    image = Image.open(io.BytesIO(page.picture())).convert("RGB")
    image.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


def _size(page: Page, width: int, height: int) -> None:
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)


@contextlib.contextmanager
def _stepped(system: System, name: str) -> Iterator[tuple[Client, Gateway]]:
    """An engine in lockstep, its gateway, and the client that steps it: no cycle is late, however busy the machine."""
    with (
        EngineProcess(system, Settings(endpoint="tcp://127.0.0.1:*")) as engine,
        gateway(engine.endpoints.request, most_hz=10.0) as running,
        Client(engine.endpoints.request, name=name) as client,
    ):
        yield client, running


def _steps(client: Client) -> int:
    return round(PERIOD_S / client.describe().dt)


@contextlib.contextmanager
def _going_on(client: Client, **commands: float) -> Iterator[None]:
    """Steps go on in a thread, since an engine that nobody steps is shown as paused."""
    done = threading.Event()

    def step() -> None:
        while not done.wait(PERIOD_S):
            client.step(_steps(client), command=commands)

    thread = threading.Thread(target=step, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _swing(client: Client, system: System, leg_s: float, until_s: float) -> None:
    """Move the joints along the test trajectory of `limberjack run`, at most as fast as the clock.

    leg_s : time of a trajectory out, back and home;  until_s : simulated time of the end
    """
    controller, count = Controller(system, leg_s), len(client.describe().names["command"])
    state = client.state()
    ahead = time.monotonic() - state.time
    while state.time < until_s:
        reference = controller.trajectory.at(state.time % leg_s)
        values = np.zeros(count)  # position, rate and force fed forward of each servo
        values[: 3 * len(controller.driven)].reshape(-1, 3)[:, :2] = np.transpose([reference.position, reference.rate])
        state = client.step(_steps(client), command=values)
        time.sleep(max(0.0, ahead + state.time - time.monotonic()))


def console(folder: Path) -> None:
    """The overview of the web console while the space manipulator swings."""
    assets.install()
    system = load(EXAMPLES / "space_manipulator.yaml")
    with _stepped(system, "arm_control") as (client, running), Chromium(1600, 828) as browser:
        page_of = Console(ConsoleSettings(Address(port=0), live_hz=10.0), running)
        running.add(page_of)
        page = browser.open(page_of.url)
        _size(page, 1600, 828)
        page.wait("document.querySelectorAll('.gl-plot canvas').length >= 10")
        _swing(client, system, 14.0, 50.0)
        with _going_on(client):
            _keep(page, folder / "console.png")


def view(folder: Path) -> None:
    """The 3-D view of a spacecraft whose antennas bend while its main engines burn."""
    assets.install()
    system = load(EXAMPLES / "cassini.yaml")
    with _stepped(system, "engine_burn") as (client, running), Chromium(1280, 800) as browser:
        server = Console(ConsoleSettings(Address(port=0), live_hz=10.0), running)
        running.add(server)
        page = browser.open(f"{server.url.rstrip('/')}/view")
        _size(page, 1280, 800)
        page.wait("Boolean(view.world)")
        with _going_on(client, main_a=445.0, main_b=445.0):
            page.wait("view.placed && Boolean(view.drawn) && view.drawn.time > 2.0")
            slider = "document.getElementById('exaggeration')"
            page.ask(f"{slider}.value = 1.2; {slider}.dispatchEvent(new Event('input'))")
            page.ask("view.camera.position.lerp(view.controls.target, 0.45); null")
            page.wait("view.drawn.time > 4.0")
            _keep(page, folder / "view3d.png")


def monitor(folder: Path) -> None:
    """`limberjack monitor` while the space manipulator swings."""
    system = load(EXAMPLES / "space_manipulator.yaml")
    with _stepped(system, "arm_control") as (client, running):
        board = Board(running.condition)
        running.add(board)
        _swing(client, system, 14.0, 5.0)
        client.parameter("actuator.wrist_roll.kp", 120.0)
        _swing(client, system, 14.0, 7.8)
        picture = board.picture()
        assert picture is not None
        where = running.endpoint
        choice = Choice(("q.*_*", "v.*_*", "output.base_rate.*", "energy.*"))
        terminal = Terminal(record=True, width=COLUMNS, height=LINES, file=io.StringIO(), force_terminal=True)
        terminal.print(screen(picture, choice, where, COLUMNS, LINES), end="")
    (folder / "monitor.svg").write_text(terminal.export_svg(title=f"limberjack monitor {where}"), encoding="utf-8")
    with Chromium(1434, 900) as browser:
        page = browser.open((folder / "monitor.svg").as_uri())
        page.wait("document.documentElement.viewBox.baseVal.width > 0")
        box = page.ask("(() => { const b = document.documentElement.viewBox.baseVal; return [b.width, b.height]; })()")
        width, height = 1434, round(1434 * box[1] / box[0])
        _size(page, width, height)
        _keep(page, folder / "monitor.png")
