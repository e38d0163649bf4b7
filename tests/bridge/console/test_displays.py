"""Every display at the widths of laptops, desks and walls: no control is cut off, no texts lie upon each other."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from limberjack.bridge.console.access import Address
from limberjack.bridge.console.web_server import Console, Settings
from limberjack.bridge.process import EngineProcess
from limberjack.bridge.settings import Settings as EngineSettings
from limberjack.engine.model.load import load
from tests.bridge.console.chromium import Chromium, Page
from tests.bridge.console.geometry import CLIPPED, OVERLAPPING, SHORTENED
from tests.bridge.telemetry.engines import gateway
from tests.hil.progress_runs import write
from tests.hil.test_progress_served import connected

pytestmark = pytest.mark.long
ROOT = Path(__file__).resolve().parents[3]
PICTURES = ROOT / "results" / "console"
SIZES = ((1024, 768), (1280, 720), (1600, 1000), (2560, 1440))
PLACE = "limberjack:root/limberjack:"
#: displays of every model, and of a bench and a model with many joints
DISPLAYS = ("overview", "overview.narrow", "values", "duty", "health", "view", "commands", "orders", "alarms")
DISPLAYS += ("alarms.history", "log", "plots", "telemetry")
MORE = {"scenario": ("progress", "joints"), "cassini": ("joints.1", "joints.2")}
#: rows of messages that are longer than their column; pointing at them shows the whole
LONG_MESSAGES = "text table cell"
#: after a change of size until the page is looked at, and at most until it must be in order, s
_DRAWN_S, _SETTLED_S = 0.4, 30.0


@contextmanager
def _engine(name: str, folder: Path) -> Iterator[str]:
    """Where the engine of an example listens, or a bench that plays a scenario."""
    if name != "scenario":
        settings = EngineSettings(endpoint="tcp://127.0.0.1:*", mode="free-running", rate_hz=100.0)
        with EngineProcess(load(ROOT / "examples" / f"{name}.yaml"), settings) as engine:
            yield engine.endpoints.request
        return
    endpoint = f"ipc://{folder}/b"
    command = [sys.executable, "-m", "limberjack", "hil", str(write(folder)), "--out", "out", "--serve", endpoint]
    bench = subprocess.Popen([*command, "--set", "pacing.overrun_share=1", "--set", "duration=900"], cwd=folder)
    try:
        connected(endpoint).close()
        yield endpoint
    finally:
        bench.kill()
        bench.wait()


@pytest.fixture(
    scope="module", params=["space_manipulator", "satellite_grasp", "cassini", "solar_satellite", "scenario"]
)
def shown(
    browser: Chromium, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Page]]:
    """A page of the console of an engine."""
    name: str = request.param
    with _engine(name, tmp_path_factory.mktemp(name)) as endpoint, gateway(endpoint) as running:
        console = Console(Settings(Address(port=0), live_hz=4.0), running)
        running.add(console)
        page = browser.open(console.url)
        page.wait("document.querySelectorAll('.lj-commands button[data-command]').length >= 1")
        yield name, page
        page.go("about:blank")


def test_nothing_is_cut_off_and_no_texts_overlap(shown):
    name, page = shown
    for display in DISPLAYS + MORE.get(name, ("joints",)):
        page.ask(f"location.hash = '#/browse/{PLACE}{display}'")
        page.wait(f"location.hash.includes('{display}') && document.querySelector('.l-shell__main-container')")
        for width, height in SIZES:
            page.call(
                "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
            )
            page.wait(f"innerWidth === {width}")
            time.sleep(_DRAWN_S)
            found = settled(page)
            page.shoot(PICTURES / f"{name}_{display}_{width}.png")
            assert found == ([], [], []), f"{display} at {width} px: cut off, overlapping, shortened"
    assert page.faults == []


def settled(page: Page) -> tuple[list[str], list[str], list[str]]:
    """What is cut off, overlaps and is shortened once the page has settled; it is drawn a few times a second."""
    deadline = time.monotonic() + _SETTLED_S
    while True:
        short = [each for each in page.ask(SHORTENED) if LONG_MESSAGES not in each]
        found = page.ask(CLIPPED), page.ask(OVERLAPPING), short
        if not any(found) or time.monotonic() > deadline:
            return found
        time.sleep(0.2)


@pytest.mark.parametrize("shown", ["scenario"], indirect=True)
def test_a_live_event_is_one_row_of_the_table(shown):
    """It comes live and in the past that the table asks for; Open MCT takes equal rows for one."""
    _, page = shown
    page.ask(f"location.hash = '#/browse/{PLACE}health'")
    rows = "[...document.querySelectorAll('.js-telemetry-table__content tr')].map(e => e.innerText)"
    page.wait(f"{rows}.length >= 3")
    assert page.ask(f"{rows}.filter((row, i, all) => all.indexOf(row) !== i)") == []
